//! The benchmark applications: their books agree in serial runs and under serializability, and get
//! wrong below it.

use seriatim_apps::{BENCHMARKS, Workload, benchmark};
use seriatim_check::{Answer, check};
use seriatim_isolation::Level;
use seriatim_runs::{Fuzz, Setting, run};
use seriatim_store::{ChooserKind, Latest, by_chance};

#[test]
fn serial_runs_are_serializable_and_keep_the_assertions() {
    for name in BENCHMARKS {
        for seed in 0..20 {
            for workload in [Workload::small(seed), Workload::large(seed)] {
                let app = benchmark(name, workload).unwrap();
                let setting = Setting { level: Level::ReadCommitted, interleaved: false };
                let run = run(app.as_ref(), setting, Latest, by_chance(seed)).unwrap();
                assert_eq!(run.failure, None, "{name} with seed {seed}");
                assert!(
                    run.seen.iter().all(|seen| seen.len() == workload.transactions),
                    "{name} with seed {seed}"
                );
                let report = check(&run.history, Level::Serializable);
                assert_eq!(report.verdicts[0].answer(), Answer::Holds, "{name} with seed {seed}");
            }
        }
    }
}

#[test]
fn no_assertion_breaks_under_serializability() {
    for name in ["smallbank", "voter", "wikipedia"] {
        for seed in 0..3 {
            let app = benchmark(name, Workload::small(seed)).unwrap();
            for interleaved in [false, true] {
                let setting = Setting { level: Level::Serializable, interleaved };
                let mut fuzz = Fuzz::new(app.as_ref(), setting, ChooserKind::Random, seed);
                for number in 0..3 {
                    let run = fuzz.run(number).unwrap();
                    assert_eq!(run.failure, None, "{name} with seed {seed}, run {number}");
                }
            }
        }
    }
}

/// In Wikipedia it takes two edits of the same user, which are rare.
#[test]
fn assertions_break_below_serializability() {
    for (name, level) in [
        ("smallbank", Level::Causal),
        ("voter", Level::Causal),
        ("tpcc", Level::Causal),
        ("smallbank", Level::ReadCommitted),
        ("voter", Level::ReadCommitted),
        ("tpcc", Level::ReadCommitted),
        ("wikipedia", Level::Causal),
        ("wikipedia", Level::ReadCommitted),
    ] {
        let size = if name == "wikipedia" { Workload::large } else { Workload::small };
        let breaks = |seed: u64| {
            let app = benchmark(name, size(seed)).unwrap();
            let mut fuzz = Fuzz::new(
                app.as_ref(),
                Setting { level, interleaved: false },
                ChooserKind::Random,
                seed,
            );
            (0..10).any(|number| fuzz.run(number).unwrap().failure.is_some())
        };
        assert!((0..10).any(breaks), "{name} at {level}");
    }
}

#[test]
fn a_seed_decides_what_clients_do_and_seeds_differ() {
    let choices = |name: &str, seed: u64| {
        let app = benchmark(name, Workload::small(seed)).unwrap();
        let setting = Setting { level: Level::ReadCommitted, interleaved: false };
        run(app.as_ref(), setting, Latest, by_chance(1)).unwrap().choices
    };
    for name in BENCHMARKS {
        assert_eq!(choices(name, 5), choices(name, 5), "{name}");
        // All votes are the same.
        assert!(
            name == "voter" || (0..5).any(|seed| choices(name, seed) != choices(name, 5)),
            "{name}"
        );
    }
    assert!(benchmark("smallbonk", Workload::small(0)).is_none());
}
