//! The assertions hold under serializability and break under causal consistency, and a run that broke can be had again.

use seriatim_apps::{APPS, Fuzz, Recording, Setting};
use seriatim_check::{Level, Options, Outcome, check};
use seriatim_store::{ChooserKind, LEVELS};

const STRATEGIES: [ChooserKind; 3] = [ChooserKind::Random, ChooserKind::Adversary, ChooserKind::Stale];

#[test]
fn no_assertion_breaks_under_serializability() {
    for app in APPS {
        for (strategy, interleaved) in STRATEGIES.into_iter().flat_map(|s| [(s, false), (s, true)]) {
            let setting = Setting { level: Level::Serializable, interleaved };
            let mut fuzz = Fuzz::new(app, setting, strategy, 7);
            for number in 0..40 {
                let run = fuzz.run(number).unwrap();
                assert_eq!(run.failure, None, "{} with {strategy:?}, run {number}", app.name());
            }
        }
    }
}

#[test]
fn every_history_satisfies_its_level() {
    for app in APPS {
        for (level, strategy) in LEVELS.into_iter().flat_map(|level| STRATEGIES.map(|strategy| (level, strategy))) {
            let mut fuzz = Fuzz::new(app, Setting { level, interleaved: true }, strategy, 1);
            for number in 0..6 {
                let run = fuzz.run(number).unwrap();
                let report = check(&run.history, &Options { levels: vec![level], ..Options::default() });
                let outcome = report.verdict(level).map(|verdict| verdict.outcome);
                assert_eq!(outcome, Some(Outcome::Holds), "{} at {level} with {strategy:?}, run {number}", app.name());
            }
        }
    }
}

#[test]
fn every_assertion_breaks_under_causal_consistency_and_breaks_again_in_a_replay() {
    for app in APPS {
        for strategy in [ChooserKind::Random, ChooserKind::Adversary] {
            let setting = Setting { level: Level::Causal, interleaved: false };
            let mut fuzz = Fuzz::new(app, setting, strategy, 3);
            let run = (0..500).map(|number| fuzz.run(number).unwrap()).find(|run| run.failure.is_some());
            let run = run.unwrap_or_else(|| panic!("{} does not break with {strategy:?}", app.name()));
            let recording = Recording::of(app, setting, &run);
            let (again, divergence) = recording.replay().unwrap();
            assert_eq!(divergence, None, "{}", app.name());
            assert_eq!((again.failure, again.seen, again.choices), (run.failure, run.seen, run.choices));
        }
    }
}

#[test]
fn the_reads_to_blame_are_all_needed() {
    let app = seriatim_apps::find("cart").unwrap();
    let setting = Setting { level: Level::Causal, interleaved: false };
    let mut fuzz = Fuzz::new(app, setting, ChooserKind::Random, 3);
    let run = (0..500).map(|number| fuzz.run(number).unwrap()).find(|run| run.failure.is_some()).unwrap();
    let recording = Recording::of(app, setting, &run);
    let (weak, blamed) = recording.to_blame().unwrap().unwrap();
    assert!(blamed.failure.is_some());
    assert!(!weak.is_empty() && weak.len() <= run.choices.iter().filter(|choice| !choice.latest).count());
    // With the latest versions only, one transaction after the other, nothing breaks.
    let mut well_behaved = Fuzz::new(app, setting, ChooserKind::Latest, 3);
    assert!((0..200).all(|number| well_behaved.run(number).unwrap().failure.is_none()));
}

#[test]
fn the_same_seed_does_the_same_runs() {
    for app in APPS {
        for strategy in STRATEGIES {
            let setting = Setting { level: Level::Causal, interleaved: true };
            let runs = || {
                let mut fuzz = Fuzz::new(app, setting, strategy, 11);
                (0..5).map(|number| fuzz.run(number).unwrap()).map(|run| (run.turns, run.choices)).collect::<Vec<_>>()
            };
            assert_eq!(runs(), runs(), "{} with {strategy:?}", app.name());
        }
    }
}
