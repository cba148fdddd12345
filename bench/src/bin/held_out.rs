//! Mean iterations until an assertion breaks, with random versions and with the adversary, for
//! clients that were drawn by chance.
//!
//! Usage: held_out [FIRST_SEED [PROGRAMS [RUNS]]]
//!
//! For each assertion, programs are drawn from FIRST_SEED on; those that chance does not break
//! within RUNS are left out. One that the adversary does not break counts as RUNS.

use seriatim::apps::clients::Clients;
use seriatim::apps::{App, SmallApp};
use seriatim::isolation::Level;
use seriatim::runs::{Fuzz, Setting};
use seriatim::store::ChooserKind;

type Failure = Box<dyn std::error::Error>;

/// So many seeds are tried for one program.
const SEEDS_A_PROGRAM: u64 = 100;
const CAUSAL: Setting = Setting { level: Level::Causal, interleaved: false };

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (first, programs, runs) = (number(1_000_000)?, number(20)?, number(1_000)?);
    let each = std::env::var_os("EACH").is_some();
    println!(
        "| application | random | adversary | adversary/random | of them within the target | \
         worse than chance | left out |"
    );
    println!("|---|---|---|---|---|---|---|");
    for which in SmallApp::ALL {
        let app = which.app();
        let (mut means, mut left_out) = (Vec::new(), 0);
        for seed in first..first.saturating_add(SEEDS_A_PROGRAM * programs) {
            if means.len() as u64 == programs {
                break;
            }
            let drawn = Clients::asserted(which, seed);
            let Some(random) = mean(&drawn, ChooserKind::Random, runs, seed)? else {
                left_out += 1;
                continue;
            };
            let adversary =
                mean(&drawn, ChooserKind::Adversary, runs, seed)?.unwrap_or(runs as f64);
            if each {
                eprintln!("{} {seed}: {random:.2} {adversary:.2}", app.name());
            }
            means.push((random, adversary));
        }
        print_row(app.name(), &means, left_out);
    }
    Ok(())
}

fn print_row(name: &str, means: &[(f64, f64)], left_out: u32) {
    let count = means.len() as f64;
    let random = means.iter().map(|(random, _)| random).sum::<f64>() / count;
    let adversary = means.iter().map(|(_, adversary)| adversary).sum::<f64>() / count;
    let within =
        means.iter().filter(|(random, adversary)| *adversary <= (random / 3.0).max(1.5)).count();
    let worse = means.iter().filter(|(random, adversary)| adversary > random).count();
    println!(
        "| {name} | {random:.2} | {adversary:.2} | {:.2} | {within} of {count} | {worse} | \
         {left_out} |",
        adversary / random
    );
}

/// Runs for each failure; after a failure the adversary begins without experience. `None` if none
/// of the runs fails.
fn mean(
    app: &dyn App,
    strategy: ChooserKind,
    runs: u64,
    seed: u64,
) -> Result<Option<f64>, Failure> {
    let mut failures = 0;
    let mut fuzz = Fuzz::new(app, CAUSAL, strategy, seed);
    for number in 0..runs {
        if fuzz.run(number)?.failure.is_some() {
            failures += 1;
            if strategy == ChooserKind::Adversary {
                fuzz = Fuzz::new(app, CAUSAL, strategy, seed.wrapping_add(number + 1));
            }
        }
    }
    Ok((failures > 0).then(|| runs as f64 / f64::from(failures)))
}
