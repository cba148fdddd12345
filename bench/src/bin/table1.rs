//! Mean iterations until an assertion breaks, for each application, with random versions and with
//! the adversary.
//!
//! Usage: table1 [RUNS [LEVEL [interleaved]]]

use seriatim::apps::{APPS, App};
use seriatim::isolation::Level;
use seriatim::runs::{Fuzz, Setting};
use seriatim::store::ChooserKind;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let level: Level = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(Level::Causal);
    let interleaved = arguments.next().is_some();
    println!(
        "| application | assertion | random | adversary | adversary/random |\n|---|---|---|---|---|"
    );
    for app in APPS {
        let setting = Setting { level, interleaved };
        let random = mean(app, setting, ChooserKind::Random, runs)?;
        let adversary = mean(app, setting, ChooserKind::Adversary, runs)?;
        let (name, assertion) = (app.name(), app.assertion());
        let ratio = random.zip(adversary).map(|(random, adversary)| adversary / random);
        println!(
            "| {name} | {assertion} | {} | {} | {} |",
            text(random),
            text(adversary),
            text(ratio)
        );
    }
    Ok(())
}

fn text(mean: Option<f64>) -> String {
    mean.map_or("never".to_owned(), |mean| format!("{mean:.2}"))
}

/// Runs for each failure; after a failure the adversary begins without experience. `None` if there
/// is none.
fn mean(
    app: &dyn App,
    setting: Setting,
    strategy: ChooserKind,
    runs: u64,
) -> Result<Option<f64>, Box<dyn std::error::Error>> {
    let mut failures = 0;
    let mut fuzz = Fuzz::new(app, setting, strategy, 0);
    for number in 0..runs {
        if fuzz.run(number)?.failure.is_some() {
            failures += 1;
            if strategy == ChooserKind::Adversary {
                fuzz = Fuzz::new(app, setting, strategy, number + 1);
            }
        }
    }
    Ok((failures > 0).then(|| runs as f64 / f64::from(failures)))
}
