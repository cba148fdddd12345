//! Single cases, each with its reason.

use seriatim_history::{History, OpId, notation};
use seriatim_isolation::Level;
use seriatim_predict::confirm::{Doubt, confirm};
use seriatim_predict::{
    Answer, Boundary, Cut, Mode, Options, Outlook, PredictError, Prediction, predict, predict_all,
};
use std::ops::ControlFlow;
use std::time::Duration;

fn found(history: &History, options: &Options) -> Prediction {
    match predict(history, options).unwrap() {
        Answer::Found(prediction) => *prediction,
        other => panic!("{other:?}"),
    }
}

fn relaxed(level: Level) -> Options {
    Options { boundary: Boundary::Relaxed, ..Options::new(level) }
}

#[test]
fn empty_transactions_are_no_part_of_a_prediction() {
    let run =
        notation::parse("a: | r(x,nil) w(x,1) | w(z,1)\nb: r(x,1) w(x,2) |  | w(z,2)").unwrap();
    let prediction = found(&run, &relaxed(Level::Causal));
    assert_eq!(prediction.changed.len(), 1);
}

#[test]
fn a_lost_update_needs_the_relaxed_boundary_and_a_level_below_snapshot_isolation() {
    let run = notation::parse("a: r(x,nil) w(x,1)\nb: r(x,1) w(x,2)").unwrap();
    for level in [Level::ReadCommitted, Level::ReadAtomic, Level::Causal, Level::PrefixConsistency]
    {
        let prediction = found(&run, &relaxed(level));
        assert_eq!(prediction.violation.unwrap().kind.info().code, "lost-update", "{level}");
        assert!(matches!(prediction.sessions[1].cut, Some(Cut::AtTxn(_))));
        assert!(
            matches!(predict(&run, &Options::new(level)).unwrap(), Answer::NoneExists(_)),
            "{level}"
        );
    }
    assert!(matches!(
        predict(&run, &relaxed(Level::SnapshotIsolation)).unwrap(),
        Answer::NoneExists(_)
    ));
}

#[test]
fn a_write_skew_is_predicted_at_snapshot_isolation() {
    let run = notation::parse("a: r(x,nil) r(y,nil) w(x,1)\nb: r(x,1) r(y,nil) w(y,2)").unwrap();
    let prediction = found(&run, &relaxed(Level::SnapshotIsolation));
    assert_eq!(prediction.violation.unwrap().kind.info().code, "write-skew");
}

/// Both go on to write z after the read that would have to change, and the database would refuse
/// one of them.
#[test]
fn what_snapshot_isolation_would_refuse_is_cut_short() {
    let strict = Options::new(Level::SnapshotIsolation);
    // Without a write in common it is a write skew.
    let skew = notation::parse("a: r(y,nil) w(x,1)\nb: w(y,1) r(x,1)").unwrap();
    assert_eq!(found(&skew, &strict).outlook, Outlook::GoesOn);
    let refused = notation::parse("a: r(y,nil) w(x,1) w(z,1)\nb: w(y,1) r(x,1) w(z,2)").unwrap();
    let prediction = found(&refused, &strict);
    assert_eq!(prediction.outlook, Outlook::CutShort);
    assert!(matches!(prediction.sessions[1].cut, Some(Cut::AtRead(_))));
    // Prefix consistency refuses neither.
    assert_eq!(found(&refused, &Options::new(Level::PrefixConsistency)).outlook, Outlook::GoesOn);
}

/// Nothing makes t end with its read, which is as observed; but if it does, r may miss what it
/// writes next.
#[test]
fn a_strict_boundary_may_be_a_read_that_is_as_observed() {
    let run =
        notation::parse("v: w(a,1) w(x,5)\nt: w(p,1) r(a,1) w(x,6)\nr: r(p,1) r(x,6)").unwrap();
    let prediction = found(&run, &Options::new(Level::ReadAtomic));
    assert_eq!(prediction.outlook, Outlook::CutShort);
    assert!(matches!(prediction.sessions[1].cut, Some(Cut::Short(_))));
    assert_eq!(prediction.changed.len(), 1);
}

/// The read between the writes is of a key that no transaction writes; a transaction may end with
/// it nevertheless.
#[test]
fn a_strict_boundary_may_be_a_read_that_cannot_change() {
    let run =
        notation::parse("v: w(a,1) w(x,5)\nt: r(a,1) w(p,1) r(c,nil) w(x,6)\nr: r(p,1) r(x,6)")
            .unwrap();
    let prediction = found(&run, &Options::new(Level::ReadAtomic));
    assert_eq!(prediction.outlook, Outlook::CutShort);
}

/// Of two reads that could be changed, the one that still finds something is: applications ask
/// whether there is something.
#[test]
fn what_is_likely_to_come_true_comes_first() {
    let run = notation::parse(
        "initial x=5 y=5\na: r(x,5) w(x,0) | r(y,5) w(y,7)\nb: r(x,0) w(x,8) | r(y,7) w(y,9)\nc: \
         r(x,8) w(x,4)",
    )
    .unwrap();
    let prediction = found(&run, &relaxed(Level::Causal));
    let values: Vec<String> =
        prediction.changed.iter().map(|changed| changed.value.to_string()).collect();
    assert!(!values.contains(&"0".to_owned()), "{values:?}");
}

#[test]
fn sessions_that_need_no_end_run_to_theirs() {
    let run = notation::parse(
        "a: r(x,nil) w(x,1) | w(y,1) | r(y,1)\nb: r(x,1) w(x,2)\nc: w(q,1) | r(q,1)",
    )
    .unwrap();
    let prediction = found(&run, &relaxed(Level::Causal));
    assert_eq!(prediction.sessions[0].cut, None);
    assert_eq!(prediction.sessions[2].cut, None);
}

#[test]
fn what_aborted_is_no_part_of_the_prediction_but_of_its_plan() {
    let run = notation::parse("a: r(x,nil) w(x,1)\nb: r(x,1)! | r(x,1) w(x,2)").unwrap();
    let prediction = found(&run, &relaxed(Level::Causal));
    assert_eq!(prediction.history.txn_count(), 2);
    let aborted: Vec<bool> = prediction.plan.iter().map(|txn| txn.aborted).collect();
    assert_eq!(aborted, [false, true, false]);
}

#[test]
fn a_run_that_is_not_serializable_gets_no_prediction() {
    let run = notation::parse("a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)").unwrap();
    let answer = predict(&run, &Options::new(Level::Causal)).unwrap();
    assert!(matches!(answer, Answer::AlreadyUnserializable { violates_level: false }));
    let answer = predict(&run, &Options::new(Level::SnapshotIsolation)).unwrap();
    assert!(matches!(answer, Answer::AlreadyUnserializable { violates_level: true }));
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let ambiguous = notation::parse("a: w(x,1)\nb: w(x,1)\nc: r(x,1)").unwrap();
    let error = predict(&ambiguous, &Options::new(Level::Causal)).unwrap_err();
    assert!(error.to_string().contains("x=1 was written more than once"), "{error}");
    let run = notation::parse("a: w(x,1)").unwrap();
    let error = predict(&run, &Options::new(Level::Serializable)).unwrap_err();
    assert_eq!(error, PredictError::UnsupportedLevel(Level::Serializable));
}

#[test]
fn budget_that_is_used_up_is_undecided() {
    let run = notation::parse("a: r(x,nil) w(x,1)\nb: r(x,1) w(x,2)").unwrap();
    let options = Options { budget: Some(Duration::ZERO), ..Options::new(Level::Causal) };
    assert!(matches!(predict(&run, &options).unwrap(), Answer::Undecided(..)));
}

#[test]
fn all_predictions_differ_in_their_cycle() {
    let run = notation::parse(
        "a: r(x,nil) w(x,1) | r(y,nil) w(y,1)\nb: r(x,1) w(x,2) | r(y,1) w(y,2)\nc: r(x,2) r(y,2)",
    )
    .unwrap();
    let mut circles = Vec::new();
    let answer = predict_all(&run, &relaxed(Level::Causal), &mut |prediction| {
        let violation = prediction.violation.unwrap();
        let edge = |edge: &seriatim_check::Edge| (edge.from.name.clone(), edge.to.name.clone());
        let mut reads: Vec<String> = violation
            .ops
            .iter()
            .filter(|op| !op.kind.is_write())
            .map(|op| format!("{} {}={}", op.txn.name, op.key, op.value))
            .collect();
        reads.sort();
        circles.push((violation.cycle.iter().map(edge).collect::<Vec<_>>(), reads));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(matches!(answer, Answer::NoneExists(_)), "{answer:?}");
    let distinct: std::collections::HashSet<_> = circles.iter().collect();
    assert!(circles.len() > 1 && distinct.len() == circles.len(), "{circles:?}");
}

#[test]
fn long_runs_are_searched_in_windows() {
    // 60 rounds of deposits by three sessions: far more than is searched as a whole.
    let mut lines = vec![Vec::new(); 3];
    let mut value = 0;
    for _ in 0..60 {
        for line in &mut lines {
            line.push(format!(
                "r(x,{}) w(x,{})",
                if value == 0 { "nil".to_owned() } else { value.to_string() },
                value + 1
            ));
            value += 1;
        }
    }
    let text: Vec<String> =
        lines.iter().enumerate().map(|(i, line)| format!("s{i}: {}", line.join(" | "))).collect();
    let run = notation::parse(&text.join("\n")).unwrap();
    let prediction = found(&run, &relaxed(Level::Causal));
    confirm(&run, &prediction.history, &relaxed(Level::Causal)).unwrap();
    // Strict, nothing is found in any window; that says nothing about the whole.
    let answer =
        predict(&run, &Options { mode: Mode::Approx, ..Options::new(Level::Causal) }).unwrap();
    assert!(matches!(answer, Answer::Undecided(seriatim_predict::Open::Size, _)), "{answer:?}");
}

/// The independent checker refuses what is no prediction.
#[test]
fn the_checker_refuses_what_is_wrong() {
    let observed = notation::parse("a: r(x,nil) w(x,1)\nb: r(x,1) w(x,2)").unwrap();
    let refused = |text: &str, level, boundary| {
        confirm(
            &observed,
            &notation::parse(text).unwrap(),
            &Options { boundary, ..Options::new(level) },
        )
    };
    let lost = "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)";
    assert_eq!(refused(lost, Level::Causal, Boundary::Relaxed), Ok(Outlook::GoesOn));
    // The write after a changed read is not known.
    assert!(matches!(refused(lost, Level::Causal, Boundary::Strict), Err(Doubt::Changed { .. })));
    assert_eq!(
        refused(lost, Level::SnapshotIsolation, Boundary::Relaxed),
        Err(Doubt::Level(Level::SnapshotIsolation))
    );
    let same = "a: r(x,nil) w(x,1)\nb: r(x,1) w(x,2)";
    assert_eq!(refused(same, Level::Causal, Boundary::Relaxed), Err(Doubt::Serializable));
    let cut = "a: r(x,nil) w(x,1)\nb: r(x,nil)";
    assert!(matches!(refused(cut, Level::Causal, Boundary::Relaxed), Err(Doubt::NoPrefix { .. })));
    let other = "a: r(x,nil) w(y,1)\nb: r(x,nil) w(x,2)";
    assert!(matches!(
        refused(other, Level::Causal, Boundary::Relaxed),
        Err(Doubt::NoPrefix { .. })
    ));
    // Two changed reads in a row, of which the first is not the last event.
    let two = notation::parse("a: w(x,1) w(y,1)\nb: r(x,1) r(y,1)").unwrap();
    let both = notation::parse("a: w(x,1) w(y,1)\nb: r(x,nil) r(y,nil)").unwrap();
    assert!(matches!(
        confirm(&two, &both, &Options::new(Level::ReadCommitted)),
        Err(Doubt::Changed { .. })
    ));
    // A transaction does not end with a write.
    let writes = notation::parse("a: r(y,nil) w(x,1) w(z,1)\nb: w(y,1) r(x,1)").unwrap();
    let between = notation::parse("a: r(y,nil) w(x,1)\nb: w(y,1) r(x,nil)").unwrap();
    assert!(matches!(
        confirm(&writes, &between, &Options::new(Level::Causal)),
        Err(Doubt::NoPrefix { .. })
    ));
    // No transaction may read from one whose reads have changed.
    let chain = notation::parse("a: w(x,1)\nb: r(x,1) w(y,1)\nc: r(y,1) r(x,1)").unwrap();
    let after = notation::parse("a: w(x,1)\nb: r(x,nil) w(y,1)\nc: r(y,1) r(x,1)").unwrap();
    assert!(matches!(
        confirm(&chain, &after, &relaxed(Level::ReadCommitted)),
        Err(Doubt::AfterBoundary { .. })
    ));
}

#[test]
fn a_list_is_read_from_its_last_appender() {
    let run = notation::parse("a: r(l,nil) a(l,1) a(l,2)\nb: r(l,[1 2]) a(l,3)").unwrap();
    let relaxed = Options { boundary: Boundary::Relaxed, ..Options::new(Level::Causal) };
    let Answer::Found(found) = predict(&run, &relaxed).unwrap() else {
        panic!("an append may be done without having seen the other")
    };
    let [changed] = &found.changed[..] else { panic!("{:?}", found.changed) };
    assert_eq!(changed.observed.session, "a");
    assert_eq!(changed.predicted.id, None, "the empty list");
    // At snapshot isolation one of the two would fail.
    let si = Options { level: Level::SnapshotIsolation, ..relaxed };
    assert!(matches!(predict(&run, &si).unwrap(), Answer::NoneExists(_)));
}

#[test]
fn a_list_of_another_writer_has_what_was_appended_before_it() {
    let run =
        notation::parse("a: a(l,1) | a(l,2) | a(l,3)\nb: r(l,[1 2 3]) r(m,nil) a(m,1)").unwrap();
    let relaxed = Options { boundary: Boundary::Relaxed, ..Options::new(Level::ReadCommitted) };
    let answer = predict(&run, &relaxed).unwrap();
    // Nothing can go wrong here, whatever is read.
    assert!(matches!(answer, Answer::NoneExists(_)), "{answer:?}");
    let run =
        notation::parse("a: a(l,1) | a(l,2) | r(m,nil) a(l,3)\nb: r(l,[1 2 3]) a(m,1)").unwrap();
    let Answer::Found(found) = predict(&run, &relaxed).unwrap() else { panic!("a write skew") };
    let read = found.changed.iter().find(|changed| changed.read.key == "l").unwrap();
    assert!(["[]", "nil", "[1]", "[1 2]"].contains(&read.value.to_string().as_str()), "{read:?}");
}

#[test]
fn a_list_that_lost_an_element_is_not_as_observed() {
    let run = notation::parse("a: a(l,1)\nb: a(l,2)\nc: r(l,[1 2])").unwrap();
    let ops: Vec<OpId> = (1..3).map(OpId).collect();
    let without_the_first = run.restricted_to(&ops);
    let doubt = confirm(&run, &without_the_first, &Options::new(Level::Causal)).unwrap_err();
    assert!(matches!(doubt, Doubt::Changed { .. }), "{doubt}");
}

/// The axiom of read committed lets a session miss what it wrote itself; a connection of SQL does
/// not.
#[test]
fn over_sql_a_session_sees_its_own_writes_at_read_committed() {
    let run = notation::parse("a: w(x,1) | r(x,1)").unwrap();
    let plain = relaxed(Level::ReadCommitted);
    assert_eq!(found(&run, &plain).changed.len(), 1);
    let over_sql = Options { sessions_at_rc: true, ..plain };
    assert!(matches!(predict(&run, &over_sql).unwrap(), Answer::NoneExists(_)));
}
