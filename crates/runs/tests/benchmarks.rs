//! The benchmark applications: their books agree in serial runs and under serializability, and get
//! wrong below it.

use seriatim_apps::{BENCHMARKS, Workload, benchmark};
use seriatim_check::{Answer, check};
use seriatim_isolation::Level;
use seriatim_runs::{Fuzz, Recording, ReplayError, Run, Setting, run};
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

/// The first run of `name` with workloads of their own that breaks, within `runs`.
fn first_broken(name: &str, seed: u64, runs: u64) -> Option<Run> {
    let app = seriatim_apps::find(name)?;
    let setting = Setting { level: Level::Causal, interleaved: true };
    let mut fuzz = Fuzz::new(app, setting, ChooserKind::Adversary, seed).with_own_workloads();
    (0..runs).map(|number| fuzz.run(number).unwrap()).find(|run| run.failure.is_some())
}

/// The workload that all runs had has one writer, so that nothing could break in any of them.
#[test]
fn wikipedia_breaks_because_each_run_has_a_workload_of_its_own() {
    assert!(first_broken("wikipedia", 0, 200).is_some());
    let app = seriatim_apps::find("wikipedia").unwrap();
    let setting = Setting { level: Level::Causal, interleaved: true };
    let mut fixed = Fuzz::new(app, setting, ChooserKind::Adversary, 0);
    assert!((0..50).all(|number| fixed.run(number).unwrap().failure.is_none()));
}

#[test]
fn a_run_with_its_own_workload_is_recorded_and_replayed_with_it() {
    for name in BENCHMARKS {
        let Some(run) = first_broken(name, 1, 200) else { panic!("{name} does not break") };
        let app = seriatim_apps::find(name).unwrap();
        let setting = Setting { level: Level::Causal, interleaved: true };
        let recording = Recording::of(app, setting, &run);
        let kept: Recording =
            serde_json::from_str(&serde_json::to_string(&recording).unwrap()).unwrap();
        assert_eq!(kept, recording);
        let again = kept.replay().unwrap();
        assert_eq!(again.departure, None, "{name}");
        assert_eq!(again.run.failure, run.failure, "{name}");
        assert!(kept.to_blame().unwrap().is_some(), "{name}");
    }
}

#[test]
fn a_recording_of_an_earlier_version_has_the_workload_that_all_had() {
    let app = seriatim_apps::find("smallbank").unwrap();
    let setting = Setting { level: Level::Causal, interleaved: false };
    let run = run(app, setting, Latest, by_chance(3)).unwrap();
    let mut kept = serde_json::to_value(Recording::of(app, setting, &run)).unwrap();
    kept.as_object_mut().unwrap().remove("workload").unwrap();
    let kept: Recording = serde_json::from_value(kept).unwrap();
    assert_eq!(kept.replay().unwrap().departure, None);
}

#[test]
fn a_recording_with_a_workload_that_nobody_runs_is_refused() {
    let app = seriatim_apps::find("voter").unwrap();
    let setting = Setting { level: Level::Causal, interleaved: false };
    let run = run(app, setting, Latest, by_chance(3)).unwrap();
    let mut recording = Recording::of(app, setting, &run);
    for (sessions, transactions) in [(0, 4), (usize::MAX, 4), (3, usize::MAX)] {
        recording.workload = Some(Workload { seed: 1, sessions, transactions });
        assert!(matches!(recording.replay(), Err(ReplayError::Workload(_))), "{sessions}");
    }
}
