//! How fast sessions are with and without a recording and its check, and how much memory that
//! takes; the numbers are sessions, seconds and times:
//!
//! ```sh
//! cargo run --release -p seriatim-audit --example rate -- URL SETTING WORKLOAD 16 6 3
//! ```

use seriatim_audit::{Audit, Setting, Shape, Workload, audit, open};
use std::time::Duration;

/// The most memory that this process has had, in MB.
fn memory_max() -> u64 {
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = about.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0_u64) / 1024
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("which URL?")?;
    let setting: Setting = words.next().ok_or("which setting?")?.parse()?;
    let workload: Workload = words.next().ok_or("which workload?")?.parse()?;
    let mut number = |usual: u64| words.next().map_or(Ok(usual), |word| word.parse());
    let (sessions, seconds, times) = (number(16)?, number(10)?, number(3)?);
    let driver = open(&[url])?;
    for time in 0..times {
        for is_recorded in [false, true] {
            let output = std::env::temp_dir().join(format!("rate-{}.jsonl", std::process::id()));
            let asked = Audit {
                sessions: u32::try_from(sessions)?,
                duration: Duration::from_secs(seconds),
                workload: Some(workload),
                // As fast as they can: nobody pauses, and few meet.
                shape: Some(Shape { keys: 20, pause_max: 0, ..Shape::default() }),
                seed: time,
                is_recorded,
                output: is_recorded.then(|| output.clone()),
                ..Audit::new(setting)
            };
            let audited = audit(driver.as_ref(), &asked)?;
            let rate = audited.tally.attempted() as f64 / audited.time.as_secs_f64();
            let word = if is_recorded { "recorded" } else { "alone" };
            println!("{word:<8} {rate:>8.0} transactions/s  {} MB at most", memory_max());
            drop(std::fs::remove_file(&output));
        }
    }
    Ok(())
}
