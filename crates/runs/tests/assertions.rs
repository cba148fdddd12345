//! The assertions hold under serializability and break under causal consistency, and a run that
//! broke can be had again.

use seriatim_apps::clients::Clients;
use seriatim_apps::{APPS, Value};
use seriatim_check::{Answer, check};
use seriatim_isolation::Level;
use seriatim_runs::{Fuzz, Recording, Setting, run};
use seriatim_store::{AllRuns, ChooserKind, LEVELS};
use std::collections::HashSet;

const STRATEGIES: [ChooserKind; 3] =
    [ChooserKind::Random, ChooserKind::Adversary, ChooserKind::Stale];

#[test]
fn no_assertion_breaks_under_serializability() {
    for app in APPS {
        for (strategy, interleaved) in STRATEGIES.into_iter().flat_map(|s| [(s, false), (s, true)])
        {
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
        for (level, strategy) in
            LEVELS.into_iter().flat_map(|level| STRATEGIES.map(|strategy| (level, strategy)))
        {
            let mut fuzz = Fuzz::new(app, Setting { level, interleaved: true }, strategy, 1);
            for number in 0..6 {
                let run = fuzz.run(number).unwrap();
                let report = check(&run.history, level);
                let outcome = report.verdict(level).map(|verdict| verdict.answer());
                assert_eq!(
                    outcome,
                    Some(Answer::Holds),
                    "{} at {level} with {strategy:?}, run {number}",
                    app.name()
                );
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
            let run =
                (0..500).map(|number| fuzz.run(number).unwrap()).find(|run| run.failure.is_some());
            let run =
                run.unwrap_or_else(|| panic!("{} does not break with {strategy:?}", app.name()));
            let recording = Recording::of(app, setting, &run);
            let replayed = recording.replay().unwrap();
            assert_eq!(replayed.departure, None, "{}", app.name());
            let again = replayed.run;
            assert_eq!(
                (again.failure, again.seen, again.choices),
                (run.failure, run.seen, run.choices)
            );
        }
    }
}

#[test]
fn the_reads_to_blame_are_all_needed() {
    let (mut blamed_some, mut blamed_none) = (0, 0);
    for app in APPS {
        for (level, seed) in [
            (Level::ReadCommitted, 1),
            (Level::Causal, 3),
            (Level::Causal, 4),
            (Level::PrefixConsistency, 5),
        ] {
            let setting = Setting { level, interleaved: seed != 3 };
            let mut fuzz = Fuzz::new(app, setting, ChooserKind::Random, seed);
            let broken =
                (0..60).map(|number| fuzz.run(number).unwrap()).find(|run| run.failure.is_some());
            let Some(run) = broken else { continue };
            let (weak, blamed) = Recording::of(app, setting, &run).to_blame().unwrap().unwrap();
            assert!(blamed.failure.is_some());
            // What is kept is the run that is explained, and it blames the same reads again.
            let kept = Recording::of(app, setting, &blamed);
            assert_eq!(kept.replay().unwrap().departure, None);
            for spared in 0..weak.len() {
                let mut fewer = kept.clone();
                let place =
                    fewer.choices.iter().position(|choice| *choice == weak[spared]).unwrap();
                fewer.choices[place].latest = true;
                let (less, _) = fewer
                    .to_blame()
                    .unwrap()
                    .unwrap_or_else(|| (weak.clone(), fewer.replay().unwrap().run));
                assert_eq!(
                    less.len(),
                    weak.len(),
                    "{} at {level}: {:?} can be spared",
                    app.name(),
                    weak[spared]
                );
            }
            *(if weak.is_empty() { &mut blamed_none } else { &mut blamed_some }) += 1;
        }
    }
    assert!(blamed_some > 5 && blamed_none > 0, "{blamed_some} {blamed_none}");
}

#[test]
fn a_recording_that_was_changed_is_left_with_a_reason() {
    let app = seriatim_apps::find("cart").unwrap();
    let setting = Setting { level: Level::Causal, interleaved: true };
    let mut fuzz = Fuzz::new(app, setting, ChooserKind::Adversary, 3);
    let run =
        (0..500).map(|number| fuzz.run(number).unwrap()).find(|run| run.failure.is_some()).unwrap();
    let recording = Recording::of(app, setting, &run);
    let left = |change: &dyn Fn(&mut Recording)| {
        let mut changed = recording.clone();
        change(&mut changed);
        changed.replay().unwrap().departure.map(|departure| departure.to_string())
    };
    assert_eq!(left(&|_| {}), None);
    let changes: [&dyn Fn(&mut Recording); 5] = [
        &|changed| changed.turns.clear(),
        &|changed| changed.turns.truncate(5),
        &|changed| changed.turns.extend([0; 50]),
        &|changed| changed.interleaved = false,
        &|changed| changed.failure = None,
    ];
    for change in changes {
        assert!(left(change).is_some());
    }
    assert!(left(&|changed| changed.turns[0] = 9).unwrap().starts_with("turn 0 is that of client"));
}

#[test]
fn the_same_seed_does_the_same_runs() {
    for app in APPS {
        for strategy in STRATEGIES {
            let setting = Setting { level: Level::Causal, interleaved: true };
            let runs = || {
                let mut fuzz = Fuzz::new(app, setting, strategy, 11);
                (0..5)
                    .map(|number| fuzz.run(number).unwrap())
                    .map(|run| (run.turns, run.choices))
                    .collect::<Vec<_>>()
            };
            assert_eq!(runs(), runs(), "{} with {strategy:?}", app.name());
        }
    }
}

/// What clients see in all runs of an explorer.
fn all_states(
    harness: &Clients,
    mut explorer: AllRuns,
    most: usize,
) -> Option<HashSet<Vec<Vec<Value>>>> {
    let setting = Setting { level: Level::Causal, interleaved: false };
    let mut states = HashSet::new();
    for _ in 0..most {
        let Some(plot) = explorer.run() else { return Some(states) };
        states.insert(run(harness, setting, plot.chooser, plot.schedule).unwrap().seen);
    }
    None
}

#[test]
fn merging_states_loses_none_and_random_runs_show_no_other() {
    let (mut compared, mut several) = (0, 0);
    for seed in 0..24 {
        let harness = Clients::anything(seed);
        let Some(all) = all_states(&harness, AllRuns::new(), 1500) else { continue };
        assert_eq!(
            all_states(&harness, AllRuns::merging(), 1500).as_ref(),
            Some(&all),
            "harness {seed}"
        );
        let mut fuzz = Fuzz::new(
            &harness,
            Setting { level: Level::Causal, interleaved: false },
            ChooserKind::Random,
            1,
        );
        assert!(
            (0..50).all(|number| all.contains(&fuzz.run(number).unwrap().seen)),
            "harness {seed}"
        );
        compared += 1;
        several += usize::from(all.len() > 3);
    }
    assert!(compared > 3 && several > 1, "{compared} {several}");
}

#[test]
fn the_adversary_repeats_less_and_breaks_more_than_chance() {
    let app = seriatim_apps::find("cart").unwrap();
    let setting = Setting { level: Level::Causal, interleaved: false };
    let different = |kind| {
        let mut fuzz = Fuzz::new(app, setting, kind, 5);
        let reads = |number| {
            let choices = fuzz.run(number).unwrap().choices;
            let mut reads: Vec<_> =
                choices.iter().map(|one| (one.reader, one.read, one.writer)).collect();
            reads.sort_unstable();
            reads
        };
        (0..40).map(reads).collect::<HashSet<_>>().len()
    };
    let (random, adversary) = (different(ChooserKind::Random), different(ChooserKind::Adversary));
    assert!(
        adversary > random + 3,
        "{adversary} different runs of 40 with the adversary, {random} with chance"
    );
    let failures = |kind| {
        let fails = |seed: &u64| {
            let mut fuzz = Fuzz::new(app, setting, kind, *seed);
            (0..4).any(|number| fuzz.run(number).unwrap().failure.is_some())
        };
        (0..100u64).filter(fails).count()
    };
    let (random, adversary) = (failures(ChooserKind::Random), failures(ChooserKind::Adversary));
    assert!(
        adversary > 2 * random,
        "{adversary} of 100 fail within four runs with the adversary, {random} with chance"
    );
}
