//! How fast sessions are with and without a recording and its check, and how much memory that
//! takes:
//!
//! ```sh
//! cargo run --release -p seriatim-audit --example rate -- URL SESSIONS SECONDS TIMES
//! ```

use seriatim_audit::{Audit, Setting, Workload, audit, open};
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
    let mut number = |usual: u64| words.next().map_or(Ok(usual), |word| word.parse());
    let (sessions, seconds, times) = (number(16)?, number(10)?, number(3)?);
    let driver = open(&[url])?;
    for time in 0..times {
        for is_recorded in [false, true] {
            let output = std::env::temp_dir().join(format!("rate-{}.jsonl", std::process::id()));
            let asked = Audit {
                sessions: u32::try_from(sessions)?,
                duration: Duration::from_secs(seconds),
                workload: Some(Workload::General),
                seed: time,
                is_recorded,
                output: is_recorded.then(|| output.clone()),
                ..Audit::new(Setting::ReadCommitted)
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
