//! Mean iterations until an assertion breaks, for each application.
//!
//! Usage: table1 [RUNS [LEVEL]]

use seriatim_apps::{APPS, Setting, run};
use seriatim_check::Level;
use seriatim_store::{Adversary, Random};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let level: Level = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(Level::Causal);
    for app in APPS {
        let setting = |seed| Setting { level, seed, interleaved: false };
        let (mut random, mut clever) = (0, 0);
        let start = std::time::Instant::now();
        for seed in 0..runs {
            random += u64::from(run(app, &setting(seed), Random::new(seed ^ 0x5eed))?.failure.is_some());
        }
        // Until the first failure, then with a new adversary.
        let mut adversary = Adversary::new(0);
        for seed in 0..runs {
            if run(app, &setting(seed), adversary.run(seed))?.failure.is_some() {
                clever += 1;
                adversary = Adversary::new(seed);
            }
        }
        let mean = |failures: u64| runs as f64 / failures as f64;
        println!("{}: random {:.2}, adversary {:.2}, {:?}", app.name(), mean(random), mean(clever), start.elapsed());
    }
    Ok(())
}
