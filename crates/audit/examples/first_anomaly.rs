//! How long it takes until an audit sees what a level forbids: adaptive, and with one workload, on
//! ten seeds each.
//!
//! ```sh
//! cargo run --release -p seriatim-audit --example first_anomaly -- SETTING LEVEL ORDER URL…
//! ```

use seriatim_audit::{Audit, Setting, Shape, Workload, audit, open};
use std::time::Duration;

/// How long an audit may look.
const LOOK_MAX: Duration = Duration::from_secs(30);
const SEEDS: u64 = 10;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [setting, level, order, urls @ ..] = &words[..] else {
        return Err("SETTING LEVEL ORDER URL…".into());
    };
    let setting: Setting = setting.parse()?;
    let (level, order) = (level.parse()?, order.parse()?);
    let driver = open(urls)?;
    for workload in [None, Some(Workload::General)] {
        let mut times = Vec::new();
        let mut found = 0;
        for seed in 1..=SEEDS {
            let asked = Audit {
                workload,
                shape: workload.map(|_| Shape::default()),
                seed,
                check: Some(level),
                order,
                duration: LOOK_MAX,
                until_violation: true,
                ..Audit::new(setting)
            };
            let audited = audit(driver.as_ref(), &asked)?;
            found += u32::from(audited.first_violation.is_some());
            times.push(audited.first_violation.unwrap_or(LOOK_MAX).as_secs_f64());
        }
        let name = workload.map_or("adaptive", Workload::code);
        println!(
            "{name:<10} found {found} of {SEEDS}, median {:.2} s  {times:.2?}",
            median(times.clone())
        );
    }
    Ok(())
}
