//! Mean iterations until an assertion breaks, for each application.
//!
//! Usage: table1 [RUNS [LEVEL]]

use seriatim_apps::{APPS, Setting, run};
use seriatim_check::Level;
use seriatim_store::Random;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let level: Level = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(Level::Causal);
    for app in APPS {
        let start = std::time::Instant::now();
        let mut failures = 0;
        for seed in 0..runs {
            let setting = Setting { level, seed, interleaved: false };
            failures += u64::from(run(app, &setting, Random::new(seed ^ 0x5eed))?.failure.is_some());
        }
        let mean = runs as f64 / failures as f64;
        println!("{} {failures} of {runs} fail, mean {mean:.1}, {:?}", app.name(), start.elapsed());
    }
    Ok(())
}
