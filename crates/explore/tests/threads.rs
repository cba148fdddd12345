//! What is reported of an exploration does not depend on how many threads made it, in how many
//! goes, or in how many parts.

use seriatim_explore::{Algorithm, End, Explorer, Part, Program, Work};
use seriatim_isolation::Level;
use std::time::Duration;

type Seen = Vec<i64>;

/// Three sessions that read and change two keys, in several hundred ways at causal consistency.
fn program() -> Program<i64, Seen> {
    let mut program = Program::new();
    for session in 1..=3i64 {
        program
            .session()
            .transaction(move |tx, seen: &mut Seen| {
                let x = tx.read("x")?;
                seen.push(x);
                tx.write("x", x * 10 + session)
            })
            .transaction(move |tx, seen: &mut Seen| {
                seen.push(tx.read(if session == 1 { "x" } else { "y" })?);
                tx.write("y", session)
            });
    }
    program
}

/// Every so many behaviours, spread over the tree, is a counterexample. It takes its time, so that
/// there are many slices of work, and each thread has its share.
fn property(every: i64) -> impl Fn(&End<'_, i64, Seen>) -> Result<(), String> + Sync {
    move |end| {
        std::thread::sleep(Duration::from_millis(1));
        let mixed =
            end.locals().iter().flatten().fold(7i64, |mixed, seen| (mixed * 31 + seen) % 1_000_003);
        if mixed % every == 0 { Err(format!("{mixed} is a multiple of {every}")) } else { Ok(()) }
    }
}

/// All that is reported: verdict, numbers, counterexample and token.
type Reported = (Option<bool>, u64, u64, u64, Option<(String, String, Vec<Seen>)>);

fn reported(explorer: &Explorer<'_, i64, Seen>, every: i64) -> Reported {
    resumed(explorer, explorer.begin().unwrap(), every)
}

fn resumed(explorer: &Explorer<'_, i64, Seen>, work: Work, every: i64) -> Reported {
    let result = explorer.resume(work, &property(every), &mut |_| {}).unwrap();
    assert!(result.is_done);
    assert_eq!(
        result.is_complete,
        result.counterexample.is_none(),
        "what is behind a counterexample is left out"
    );
    let found = result
        .counterexample
        .as_ref()
        .map(|found| (found.token.clone(), found.reason.clone(), found.locals.clone()));
    (result.holds(), result.tally.histories, result.tally.ends, result.tally.counterexamples, found)
}

/// One in so many is a counterexample: many, some, a few, none. With some of these a thread comes
/// to a later one first.
const DENSITIES: [i64; 6] = [11, 71, 199, 401, 601, 1_000_003];

#[test]
fn any_number_of_threads_reports_the_same() {
    let program = program();
    for level in [Level::Causal, Level::SnapshotIsolation] {
        for every in DENSITIES {
            let one = reported(&Explorer::new(&program, level), every);
            for threads in [2, 4] {
                let many = reported(&Explorer::new(&program, level).threads(threads), every);
                assert_eq!(many, one, "{threads} threads, {level}, 1 in {every}");
            }
        }
    }
}

#[test]
fn every_counterexample_is_counted_once_by_any_number_of_threads() {
    let program = program();
    let groups = |threads| {
        let result = Explorer::new(&program, Level::Causal)
            .threads(threads)
            .all()
            .run(&property(11))
            .unwrap();
        (
            result.tally.histories,
            result.tally.counterexamples,
            result.groups,
            result.counterexample.map(|found| found.token),
        )
    };
    let one = groups(1);
    assert!(one.1 > 10 && one.2.len() > 1, "{one:?}");
    assert_eq!(groups(2), one);
    assert_eq!(groups(4), one);
}

#[test]
fn work_that_was_kept_at_any_moment_reports_the_same() {
    let program = program();
    for every in DENSITIES {
        let explorer = Explorer::new(&program, Level::Causal);
        let whole = reported(&explorer, every);
        let mut moments = Vec::new();
        let two = Explorer::new(&program, Level::Causal).threads(2);
        let _ = two
            .resume(two.begin().unwrap(), &property(every), &mut |work| moments.push(work.clone()))
            .unwrap();
        assert!(moments.len() > 1 || whole.1 < 50, "{} moments", moments.len());
        for work in moments.into_iter().step_by(3) {
            assert_eq!(resumed(&explorer, work, every), whole, "1 in {every}");
        }
    }
}

#[test]
fn one_of_the_parts_has_the_first_counterexample() {
    let program = program();
    for every in DENSITIES {
        let (verdict, .., first) = reported(&Explorer::new(&program, Level::Causal), every);
        for of in [2, 5] {
            let part = |number, threads| {
                let explorer = Explorer::new(&program, Level::Causal)
                    .part(Part { number, of })
                    .threads(threads);
                reported(&explorer, every)
            };
            let parts: Vec<Reported> = (1..=of).map(|number| part(number, 1)).collect();
            assert_eq!(
                parts,
                (1..=of).map(|number| part(number, 3)).collect::<Vec<_>>(),
                "1 in {every}"
            );
            assert_eq!(
                parts.iter().all(|part| part.0 == Some(true)),
                verdict == Some(true),
                "1 in {every}"
            );
            assert!(
                first.is_none() || parts.iter().any(|part| part.4 == first),
                "1 in {every}: {parts:?}"
            );
        }
    }
}

#[test]
fn the_baseline_too() {
    let program = program();
    let baseline = |threads| {
        let explorer =
            Explorer::new(&program, Level::Serializable).algorithm(Algorithm::Dfs).threads(threads);
        reported(&explorer, 97)
    };
    assert_eq!(baseline(1), baseline(3));
}

#[test]
fn there_is_something_to_keep_after_the_first_histories() {
    let program = program();
    let slow = |_: &End<'_, i64, Seen>| {
        std::thread::sleep(Duration::from_millis(5));
        Ok(())
    };
    let explorer = Explorer::new(&program, Level::Causal);
    let mut kept = Vec::new();
    let _ = explorer
        .resume(explorer.begin().unwrap(), &slow, &mut |work| kept.push(work.tally().histories))
        .unwrap();
    // The clock is looked at every 16 histories, and those take longer than the first slice.
    assert_eq!(kept[0], 16, "{kept:?}");
    assert!(kept.is_sorted_by(|earlier, later| earlier < later), "{kept:?}");
}
