//! Corners that existing tools get wrong, by name, and histories that must simply be answered.

use seriatim_check::frontier::{self, Frontier};
use seriatim_check::{Answer, Checker, Counted, Report, Undecided, Verdict, check};
use seriatim_history::{Columns, History, KeyId, KeyNames, OpKind, Status, Value, notation};
use seriatim_isolation::{Anomaly, Level, Order};

fn report(text: &str) -> Report {
    Checker::new().check(&notation::parse(text).unwrap())
}

fn kinds(report: &Report) -> Vec<Anomaly> {
    report.anomalies.iter().map(|group| group.kind).collect()
}

/// Verdicts at RC, CI, RA, CC, then PC, SI, SER, SSER (if there are times) as letters: h(olds),
/// v(iolated), u(ndecided).
fn letters(text: &str) -> String {
    let report = report(text);
    let letters = |verdicts: &[Verdict]| -> String {
        verdicts.iter().map(|verdict| verdict.answer().word().chars().next().unwrap()).collect()
    };
    let (weak, strong) = report.verdicts.split_at(4);
    format!("{} {}", letters(weak), letters(strong))
}

#[test]
fn the_initial_transaction_precedes_everything() {
    let lost = report("a: w(x,1) | r(x,0)");
    assert_eq!(lost.strongest(), Some(Level::ReadCommitted));
    assert_eq!(kinds(&lost), [Anomaly::FracturedReadCausal]);
    assert_eq!(letters("a: w(x,1) w(y,1)\nb: r(y,1) r(x,0)"), "vhvv vvv");
}

#[test]
fn repeated_reads_from_one_writer_are_one_read() {
    assert_eq!(letters("a: w(x,1)\nb: r(x,1) r(x,1) r(x,1)"), "hhhh hhh");
}

#[test]
fn repeated_reads_from_several_writers_may_go_forward_but_not_back() {
    assert_eq!(letters("a: w(x,1)\nb: w(x,2)\nc: r(x,1) r(x,2)"), "hvvv vvv");
    let back = report("a: w(x,1)\nb: w(x,2)\nc: r(x,1) r(x,2) r(x,1)");
    assert_eq!(back.weakest_violated(), Some(Level::ReadCommitted));
    assert!(kinds(&back).contains(&Anomaly::NonMonotonicReadCommit));
}

#[test]
fn session_order_is_transitive() {
    assert_eq!(letters("a: w(x,1)\nb: r(x,1) w(x,2) | w(y,1) | w(z,1) | r(x,1)"), "hhvv vvv");
}

#[test]
fn aborted_transactions_between_do_not_break_session_order() {
    assert_eq!(letters("a: w(x,1)\nb: r(x,1) w(x,2) | w(y,1)! | w(z,1)! | r(x,1)"), "hhvv vvv");
}

#[test]
fn edges_are_those_of_the_level_not_of_a_stronger_one() {
    // Causally t1 < t3 by way of t2 -> t5; at RA only t3 < t1 is required.
    assert_eq!(
        letters("a: w(x,1) | w(z,1)\nb: w(x,2) w(y,2)\nc: r(x,1) r(y,2)\nd: r(z,1) r(x,2)"),
        "hhhv vvv"
    );
}

#[test]
fn aborted_writes_are_nobodys_source_and_nobodys_obstacle() {
    assert_eq!(letters("a: w(x,1)!\nb: r(x,1)"), "vhvv vvv");
    // The aborted overwrite of x is in the reader's session, but it is not there.
    assert_eq!(letters("a: w(x,1)\nb: r(x,1) | w(x,2)! | r(x,1)"), "hhhh hhh");
    // A value that an aborted and a committed transaction wrote was read from the committed one.
    assert_eq!(letters("a: w(x,1)!\nb: w(x,1)\nc: r(x,1)"), "hhhh hhh");
}

#[test]
fn unknown_transactions_count_iff_somebody_reads_from_them() {
    assert_eq!(letters("a: w(x,1) w(y,1)?\nb: r(y,0) r(x,1)"), "hhvv vvv");
    assert_eq!(letters("a: w(x,1)\nb: r(x,1) | w(x,2)? | r(x,1)"), "hhhh hhh");
    // Read only by another unknown transaction that no other reads from.
    assert_eq!(letters("a: w(x,1) w(z,9)?\nb: r(x,1) w(y,1)?\nc: r(x,0) r(y,0)"), "hhhh hhh");
    assert_eq!(letters("a: w(x,1)?\nb: r(x,1) w(y,1)?\nc: r(y,1) r(x,0)"), "hhhv vvv");
}

#[test]
fn cyclic_histories_are_answered_and_checking_goes_on() {
    let both = report("a: r(x,1) w(y,1)\nb: r(y,1) w(x,1)\nc: w(p,1) | r(p,0)");
    assert_eq!(kinds(&both), [Anomaly::CyclicCausality, Anomaly::FracturedReadCausal]);
    assert_eq!(both.anomalies[0].exemplar.cycle.len(), 2);
}

#[test]
fn reads_of_a_value_that_was_written_twice_may_come_from_either_write() {
    let text = "a: w(x,1)\nb: w(x,1)\nc: r(x,1)";
    let weak: Vec<Level> = Level::ALL.into_iter().filter(|level| !level.is_strong()).collect();
    let duplicate = Checker::new().levels(weak).check(&notation::parse(text).unwrap());
    assert!(
        duplicate.verdicts.iter().all(|verdict| verdict.answer() == Answer::Holds),
        "{:?}",
        duplicate.verdicts
    );
    // Reading x from t1 is stale because of t2, from t3 because of t4: no choice is left at read
    // atomic.
    let neither = "a: w(x,1) | w(x,2) w(y,1)\nb: w(x,1) | w(x,3) w(z,1)\nc: r(y,1) r(z,1) r(x,1)";
    assert_eq!(letters(neither), "vhvv vvv");
    let report = report(neither);
    assert!(
        report.anomalies.iter().any(|group| group.exemplar.levels.contains(&Level::ReadCommitted))
    );
    // The strong levels try both, and what holds there holds below.
    assert_eq!(letters(text), "hhhh hhh");
    assert_eq!(letters("a: w(x,1) | w(y,1)\nb: w(x,1)\nc: r(y,1) r(x,0)"), "hhhv vvv");
    assert_eq!(letters("a: w(x,1) | r(x,0)\nb: w(x,1)\nc: r(x,1)"), "hhvv vvv");
    assert_eq!(letters("a: w(x,1)\nb: w(x,1)\nc: r(x,1) r(y,9)"), "vhvv vvv");
    // Never read: no question.
    assert_eq!(letters("a: w(x,1)\nb: w(x,1)\nc: r(y,0)"), "hhhh hhh");
    // A reader's own later write is no source.
    assert_eq!(letters("a: w(x,1)\nb: r(x,1) w(x,1)"), "hhhh hhh");
}

#[test]
fn each_fault_is_reported_as_its_own_anomaly() {
    let cases = [
        ("a: r(x,9)", Anomaly::ThinAirRead),
        ("a: w(x,1)!\nb: r(x,1)", Anomaly::AbortedRead),
        ("a: r(x,1) w(x,1)", Anomaly::FutureRead),
        ("a: w(x,1)\nb: w(x,2) r(x,1)", Anomaly::NotMyOwnWrite),
        ("a: w(x,2) r(x,nil)", Anomaly::NotMyOwnWrite),
        ("a: w(x,1) w(x,2) r(x,1)", Anomaly::NotMyLastWrite),
        ("a: w(x,1) w(x,2)\nb: r(x,1)", Anomaly::IntermediateRead),
    ];
    for (text, kind) in cases {
        assert_eq!(kinds(&report(text)), [kind], "{text}");
        assert_eq!(letters(text), "vhvv vvv", "{text}");
    }
    let all: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let renamed: Vec<String> =
        all.iter().enumerate().map(|(i, text)| text.replace("(x", &format!("(x{i}"))).collect();
    let all = report(&renamed.join("\n"));
    assert_eq!(all.anomalies.iter().map(|group| group.count).sum::<u64>(), cases.len() as u64);
}

#[test]
fn lists_give_the_version_order() {
    assert_eq!(letters("a: a(x,1)\nb: a(x,2)\nc: r(x,[1])\nd: r(x,[1 2])"), "hhhh hhh");
    let incompatible = report("a: a(x,1)\nb: a(x,2)\nc: r(x,[1 2])\nd: r(x,[2])");
    assert_eq!(kinds(&incompatible), [Anomaly::IncompatibleOrder]);
    let duplicate = report("a: a(x,1)\nb: r(x,[1 1])");
    assert_eq!(kinds(&duplicate), [Anomaly::DuplicateElement]);
    let aborted = report("a: a(x,1)!\nb: a(x,2)\nc: r(x,[1 2])");
    assert_eq!(kinds(&aborted), [Anomaly::AbortedRead]);
    let own_order = report("a: a(x,1) a(x,2)\nb: r(x,[2 1 3])\nc: a(x,3)");
    assert_eq!(kinds(&own_order), [Anomaly::IncompatibleOrder]);
    let own_future = report("a: a(x,1) r(x,[2 1]) a(x,2)");
    assert_eq!(kinds(&own_future), [Anomaly::FutureRead, Anomaly::IncompatibleOrder]);
    // The session appends 1 before 2, the list has them the other way round.
    let write_cycle = report("a: a(x,1) | a(x,2)\nb: r(x,[2 1])");
    assert_eq!(kinds(&write_cycle), [Anomaly::WriteCycle]);
    // t3 sees t2 and then the older list: the list itself shows the order.
    let back = report("a: a(x,1)\nb: a(x,2) a(y,1)\nc: r(y,[1]) r(x,[1])\nd: r(x,[1 2])");
    assert_eq!(kinds(&back), [Anomaly::NonMonotonicReadCommit]);
}

#[test]
fn a_list_that_was_read_lacks_nothing_that_came_before() {
    let lost = |text: &str| {
        let report = report(text);
        assert_eq!(kinds(&report), [Anomaly::LostElement], "{text}");
        assert_eq!(letters(text), "vhvv vvv", "{text}");
        report.anomalies[0].count
    };
    // In the session of the appends, by what another transaction read, and inside a transaction.
    assert_eq!(lost("a: a(x,1) | a(x,2) | r(x,[2])"), 1);
    assert_eq!(lost("a: a(x,1) | a(x,2) | a(x,3)\nb: r(x,[3])"), 2);
    assert_eq!(lost("a: a(x,1) a(y,1)\nb: r(y,[1]) a(x,2)\nc: r(x,[2])"), 1);
    assert_eq!(lost("a: a(x,1) a(x,2)\nb: r(x,[2])"), 1);
    // An append that nothing orders before the list comes after it, and then was to be seen.
    assert_eq!(letters("a: a(x,1)\nb: a(x,2)\nc: r(x,[2])"), "hhhh hhh");
    assert_eq!(letters("a: a(x,1) | r(x,[2])\nb: a(x,2)"), "hhvv vvv");
    assert_eq!(letters("a: a(y,1) r(y,[1])\nb: r(y,nil) a(y,2)"), "hhhh hvv");
    assert_eq!(letters("a: r(x,[1]) a(x,2) r(x,[1 3 2])\nb: a(x,1)\nc: a(x,3)"), "hvvv vvv");
    let again = report("a: r(x,[1]) a(x,2) r(x,[1 3 2])\nb: a(x,1)\nc: a(x,3)");
    assert_eq!(kinds(&again)[0], Anomaly::NonRepeatableRead);
}

#[test]
fn the_ladder_by_its_classics() {
    let long_fork = "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,0)\nd: r(y,1) r(x,0)";
    assert_eq!(letters(long_fork), "hhhh vvv");
    let lost_update = "a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)";
    assert_eq!(letters(lost_update), "hhhh hvv");
    let write_skew = "a: r(x,0) r(y,0) w(x,1)\nb: r(x,0) r(y,0) w(y,1)";
    assert_eq!(letters(write_skew), "hhhh hhv");
    // A reader that sees the second of two commits but not the first, which only a serial order
    // excludes.
    let read_only = "a: r(x,0) r(y,0) w(x,1)\nb: r(y,0) w(y,1)\nc: r(x,0) r(y,1)";
    assert_eq!(letters(read_only), "hhhh hhv");
    let stale = "a: w(x,1) @1-2\nb: r(x,0) @3-4";
    assert_eq!(letters(stale), "hhhh hhhv");
    assert_eq!(letters("a: w(x,1) @1-3\nb: r(x,0) @3-4"), "hhhh hhhh");
}

#[test]
fn a_session_that_writes_a_key_does_not_read_its_initial_value() {
    for text in [
        "a: w(x,1) | r(x,0)",
        "a: w(x,1) | r(x,nil) w(x,2)",
        "a: w(x,1) | w(y,1) | r(x,0)\nb: r(y,1)",
    ] {
        assert_eq!(letters(text), "hhvv vvv", "{text}");
    }
}

#[test]
fn strict_serializability_needs_times() {
    let text = "a: w(x,1)\nb: r(x,0)";
    let history = notation::parse(text).unwrap();
    let asked = |levels: &[Level]| Checker::new().levels(levels.to_vec()).check(&history);
    assert!(asked(&Level::ALL).verdict(Level::StrictSerializable).is_none());
    let alone = asked(&[Level::StrictSerializable]);
    assert_eq!(alone.verdicts[0].answer(), Answer::Undecided);
    assert_eq!(alone.verdicts[0].undecided(), Some(&Undecided::NoTimes));
    let named = asked(&[Level::Serializable, Level::StrictSerializable]);
    assert_eq!(named.verdicts[0].answer(), Answer::Holds);
    assert_eq!(named.verdicts[1].undecided(), Some(&Undecided::NoTimes));
    // What is not serializable needs no times.
    let lost = notation::parse("a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)").unwrap();
    let level = Level::StrictSerializable;
    assert_eq!(check(&lost, level).verdicts[0].answer(), Answer::Violated);
}

#[test]
fn the_search_over_frontiers_ends_with_the_budget() {
    // A value that was written twice, once by a transaction that perhaps did not commit.
    let history = notation::parse("a: w(x,1)?\nb: w(x,1)\nc: r(x,1)").unwrap();
    let checker = Checker::new().levels([Level::Serializable]);
    assert_eq!(checker.check(&history).verdicts[0].answer(), Answer::Holds);
    let late = checker.clone().deadline(std::time::Instant::now());
    assert_eq!(late.check(&history).verdicts[0].undecided(), Some(&Undecided::Budget));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_memory_leaves_every_level_undecided() {
    let history = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
    let report = Checker::new().memory(1 << 16).check(&history);
    assert!(report.verdicts.iter().all(|verdict| verdict.undecided() == Some(&Undecided::Memory)));
    let report = Checker::new().memory(1 << 40).check(&history);
    assert!(report.verdicts.iter().all(|verdict| verdict.answer() == Answer::Holds));
}

#[test]
fn a_search_has_a_limit() {
    let history = notation::parse("a: w(x,1) | w(x,2)\nb: r(x,1) | r(x,2)").unwrap();
    for level in Level::STRONG {
        assert_eq!(frontier::search(&history, level, 3), Frontier::OutOfBudget);
        assert!(matches!(frontier::search(&history, level, 100), Frontier::Holds(_)));
    }
}

fn one_session(txns: u32, ops: impl Fn(u32) -> Vec<(OpKind, u32, u32)>) -> History {
    let mut columns = Columns { key_names: KeyNames::Numbers { count: 4 }, ..Columns::default() };
    columns.initial.default = Value::small(0);
    for txn in 0..txns {
        let id = columns.push_txn(0, Status::Committed);
        for (kind, key, value) in ops(txn) {
            columns.push_op(id, kind, KeyId(key), Value::small(u64::from(value)).unwrap());
        }
    }
    columns.finish().unwrap()
}

#[test]
fn a_session_of_a_million_transactions_overflows_no_stack() {
    let chain =
        one_session(1_000_000, |txn| vec![(OpKind::Read, 0, txn), (OpKind::Write, 0, txn + 1)]);
    assert_eq!(Checker::new().check(&chain).strongest(), Some(Level::Serializable));
    // Each transaction reads what the next one writes: one cycle for each pair.
    let cycle =
        one_session(1_000_000, |txn| vec![(OpKind::Read, 0, txn + 2), (OpKind::Write, 0, txn + 1)]);
    let report = Checker::new().check(&cycle);
    assert_eq!(report.weakest_violated(), Some(Level::ReadCommitted));
}

/// The time that a history of a few hundred thousand operations may take here, far above what a
/// linear algorithm needs on a slow machine and far below what a quadratic one needs on a fast one.
const FEW_SECONDS: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn a_transaction_that_reads_every_key_is_not_quadratic() {
    let start = std::time::Instant::now();
    let mut columns =
        Columns { key_names: KeyNames::Numbers { count: 300_000 }, ..Columns::default() };
    columns.initial.default = Value::small(0);
    for writer in 0..300_000 {
        let txn = columns.push_txn(writer % 3, Status::Committed);
        columns.push_op(txn, OpKind::Write, KeyId(writer), Value::small(1).unwrap());
        columns.push_op(
            txn,
            OpKind::Write,
            KeyId((writer + 1) % 300_000),
            Value::small(2).unwrap(),
        );
    }
    let reader = columns.push_txn(3, Status::Committed);
    for key in 0..300_000 {
        columns.push_op(reader, OpKind::Read, KeyId(key), Value::small(1).unwrap());
    }
    let history = columns.finish().unwrap();
    let report = Checker::new().check(&history);
    assert_eq!(report.weakest_violated(), Some(Level::ReadAtomic), "{:?}", report.verdicts);
    assert!(start.elapsed() < FEW_SECONDS);
}

#[test]
fn a_transaction_that_polls_one_key_is_not_quadratic() {
    let start = std::time::Instant::now();
    let polls = 300_000;
    let mut columns = Columns { key_names: KeyNames::Numbers { count: 1 }, ..Columns::default() };
    for version in 1..=polls {
        let txn = columns.push_txn(version % 3, Status::Committed);
        columns.push_op(txn, OpKind::Write, KeyId(0), Value::small(u64::from(version)).unwrap());
    }
    let reader = columns.push_txn(3, Status::Committed);
    for version in 1..=polls {
        columns.push_op(reader, OpKind::Read, KeyId(0), Value::small(u64::from(version)).unwrap());
    }
    let history = columns.finish().unwrap();
    assert_eq!(check(&history, Level::ReadCommitted).strongest(), Some(Level::ReadCommitted));
    assert!(start.elapsed() < FEW_SECONDS);
}

#[test]
fn a_cycle_through_a_hundred_thousand_sessions_is_answered() {
    let start = std::time::Instant::now();
    let sessions = 100_000;
    let mut columns =
        Columns { key_names: KeyNames::Numbers { count: sessions }, ..Columns::default() };
    for session in 0..sessions {
        let txn = columns.push_txn(session, Status::Committed);
        columns.push_op(
            txn,
            OpKind::Read,
            KeyId((session + 1) % sessions),
            Value::small(1).unwrap(),
        );
        columns.push_op(txn, OpKind::Write, KeyId(session), Value::small(1).unwrap());
    }
    let report = Checker::new().check(&columns.finish().unwrap());
    assert_eq!(kinds(&report), [Anomaly::CyclicCausality]);
    assert_eq!(report.anomalies[0].exemplar.cycle.len(), sessions as usize);
    assert!(start.elapsed() < FEW_SECONDS);
}

#[test]
fn an_order_that_is_mended_one_edge_at_a_time_is_found_all_the_same() {
    let start = std::time::Instant::now();
    // Every round of mending would move one more of the writers before the one that was read.
    let writers = 20_000;
    let mut columns =
        Columns { key_names: KeyNames::Numbers { count: writers + 1 }, ..Columns::default() };
    let read = columns.push_txn(0, Status::Committed);
    columns.push_op(read, OpKind::Write, KeyId(0), Value::small(1).unwrap());
    for writer in 1..=writers {
        let txn = columns.push_txn(writer, Status::Committed);
        columns.push_op(txn, OpKind::Write, KeyId(0), Value::small(u64::from(writer) + 1).unwrap());
        columns.push_op(txn, OpKind::Write, KeyId(writer), Value::small(1).unwrap());
    }
    let reader = columns.push_txn(writers + 1, Status::Committed);
    for writer in 1..=writers {
        columns.push_op(reader, OpKind::Read, KeyId(writer), Value::small(1).unwrap());
    }
    columns.push_op(reader, OpKind::Read, KeyId(0), Value::small(1).unwrap());
    let report = check(&columns.finish().unwrap(), Level::ReadCommitted);
    assert_eq!(report.strongest(), Some(Level::ReadCommitted));
    assert!(start.elapsed() < FEW_SECONDS);
}

#[test]
fn elements_that_were_appended_twice_are_ambiguous_and_aborted_appends_do_not_count() {
    assert_eq!(letters("a: a(x,1)!\nb: a(x,2) | a(x,1)\nc: r(x,[1 2])"), "vhvv vvv");
    // The weak levels do not ask which of the appends was seen; at the strong ones some order
    // explains the list.
    assert_eq!(letters("a: a(l,1)\nb: a(l,1)\nc: r(l,[1 1])"), "hhhh hhh");
    assert_eq!(letters("a: a(k,3)\nb: a(k,1)\nc: a(k,1)\nd: r(k,[1 3])"), "hhhh hhh");
    assert_eq!(
        letters("a: a(l,1)\nb: a(l,2)\nc: a(l,1)\nd: r(l,[1 1]) | r(l,[1 1 2]) | r(l,[1 1])"),
        "uhuv vvv"
    );
    assert_eq!(letters("a: a(l,1)\nb: a(l,1)\nc: r(l,[1 1 1])"), "vhvv vvv");
    // The 1 in front of the 2 is the same for both readers; the one that was appended later does
    // not explain the second.
    assert_eq!(letters("a: a(l,1)\nb: a(l,2)\nc: a(l,1)\nd: r(l,[1 2]) | r(l,[1])"), "uhuv vvv");
}

/// A history that lacks transactions of unknown content, in our own format.
fn lacking(lines: &str) -> History {
    let text = format!("{{\"seriatim\":1,\"unknown_content\":2}}\n{lines}");
    let options = seriatim_history::formats::ReadOptions::default();
    seriatim_history::formats::read_bytes(text.as_bytes(), "h", &options).unwrap().0
}

#[test]
fn nothing_holds_that_depends_on_transactions_of_unknown_content() {
    let report = Checker::new().check(&lacking(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n{\"session\":2,\"ops\":[[\"r\",\"x\",1]]}\n",
    ));
    let unknown = Undecided::UnknownContent { transactions: 2 };
    assert!(report.verdicts.iter().all(|verdict| verdict.undecided() == Some(&unknown)));
    assert_eq!((report.strongest(), report.proved.holds), (None, None));
}

#[test]
fn what_the_known_transactions_violate_is_violated() {
    let report = Checker::new().check(&lacking(
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]}\n\
         {\"session\":2,\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]}\n",
    ));
    assert!(report.violates(Level::SnapshotIsolation));
    assert!(!report.holds(Level::ReadCommitted));
    let verdict = report.verdict(Level::PrefixConsistency).unwrap();
    assert!(matches!(verdict.undecided(), Some(Undecided::UnknownContent { .. })));
}

#[test]
fn a_value_that_an_unknown_transaction_may_have_written_is_not_out_of_thin_air() {
    let lines = "{\"session\":1,\"ops\":[[\"r\",\"x\",9]]}\n";
    assert!(!Checker::new().check(&lacking(lines)).violates(Level::ReadCommitted));
}

/// If c read from a, which nobody knows to have committed, then a counts, and it read one of two
/// writes of 1: that was no choice, and a was judged without its read.
#[test]
fn reads_of_a_transaction_that_counts_by_a_choice_are_chosen_too() {
    let text = "a: r(x,1) w(x,2)?\nb: r(x,1) w(x,1) | w(x,2)\nc: r(x,2) w(x,1)";
    let history = notation::parse(text).unwrap();
    let report = Checker::new().check(&history);
    for verdict in &report.verdicts {
        let expected = seriatim_isolation::oracle::satisfies(&history, verdict.level);
        assert_eq!(verdict.holds(), expected, "{}", verdict.level);
        assert_eq!(verdict.is_violated(), !expected, "{}", verdict.level);
    }
}

/// What the strong levels forbid is found whatever else a stronger level forbids: each of these was
/// missing.
#[test]
fn a_violation_of_a_weaker_level_is_not_hidden_by_one_of_a_stronger() {
    let counts = |text: &str| -> Vec<(Anomaly, u64)> {
        report(text).anomalies.iter().map(|group| (group.kind, group.count)).collect()
    };
    // Reads that are stale in real time are also those of a long fork and of a read skew.
    let timed = "a: a(d,1) @1-2\nb: a(e,1) @3-4\nc: r(d,[1]) r(e,nil) @5-6\n\
                 d: r(d,nil) r(e,[1]) @7-8\nf: a(f,1) a(g,1) @9-10\ng: a(f,2) r(g,nil) @11-12\n\
                 h: r(f,[1 2]) @13-14";
    let (skew, fork) = ((Anomaly::ReadSkew, 1), (Anomaly::LongFork, 1));
    assert_eq!(counts(timed), [skew, fork, (Anomaly::StaleRead, 3)]);
    // A lost update elsewhere explains snapshot isolation as well.
    let skewed = "a: a(a,1) a(c,2) r(b,nil)\nb: a(c,3) a(b,4) r(a,nil)";
    assert_eq!(counts(skewed), [skew, (Anomaly::WriteSkew, 1)]);
    let both = format!("{skewed}\nc: r(y,nil) a(y,1)\nd: r(y,nil) a(y,2)");
    let (lost, written) = ((Anomaly::LostUpdate, 1), (Anomaly::WriteSkew, 1));
    assert_eq!(counts(&both), [skew, lost, written]);
    // A lost update that is also something else counts whatever else there is.
    let twice = "a: r(x,nil) a(x,1) | r(x,nil) a(x,2)";
    assert_eq!(counts(twice), [(Anomaly::FracturedReadCausal, 1), lost]);
}

/// A read from the future and an inversion of writes were called stale reads, and beside a read
/// that is wrong by itself they were missing.
#[test]
fn what_real_time_forbids_is_found_beside_other_anomalies() {
    let inverted = "a: a(l,1) @1-2\nb: a(l,2) @3-4\nc: r(l,[2 1]) @5-6\n";
    let future = "d: r(x,1) @1-2\ne: w(x,1) @3-4\n";
    let stale = "f: w(y,1) @1-2\ng: r(y,nil) @3-4\n";
    let wrong = "h: r(z,9) @1-2\n";
    let counts = |text: &str| -> Vec<(Anomaly, u64, Counted)> {
        let history = notation::parse(text).unwrap();
        let report = Checker::new().order(Order::RealTime).check(&history);
        report.anomalies.iter().map(|group| (group.kind, group.count, group.counted)).collect()
    };
    let exactly = |kind: Anomaly, count: u64| (kind, count, Counted::Exactly);
    assert_eq!(counts(inverted), [exactly(Anomaly::RealTimeCycle, 1)]);
    assert_eq!(counts(future), [exactly(Anomaly::RealTimeCycle, 1)]);
    assert_eq!(counts(stale), [exactly(Anomaly::StaleRead, 1)]);
    assert_eq!(
        counts(&format!("{inverted}{future}{stale}{wrong}")),
        [
            exactly(Anomaly::ThinAirRead, 1),
            exactly(Anomaly::StaleRead, 1),
            exactly(Anomaly::RealTimeCycle, 2),
        ]
    );
}

/// The lists of a key were compared with the longest of them, also if something is wrong with that
/// one: then each of the others seemed to contradict it, or, where it agrees with them as far as
/// they go, the two that contradict each other were not compared.
#[test]
fn a_list_that_is_wrong_by_itself_is_no_measure_for_others() {
    let counts = |text: &str| -> Vec<(Anomaly, u64)> {
        report(text).anomalies.iter().map(|group| (group.kind, group.count)).collect()
    };
    let appends = "a: a(x,1)\nb: a(x,2)\nc: a(x,3)\n";
    let right = "d: r(x,[1 2 3])\ne: r(x,[1 2])\nf: r(x,[1])\n";
    let wrong = "g: r(x,[9 1 2 3])\n";
    let (thin_air, order) = (Anomaly::ThinAirRead, Anomaly::IncompatibleOrder);
    assert_eq!(counts(&format!("{appends}{right}{wrong}")), [(thin_air, 1), (order, 1)]);
    let other = "h: r(x,[2 1])\n";
    let twice = "g: r(x,[1 2 3 3])\n";
    let (duplicate, one) = (Anomaly::DuplicateElement, (order, 1));
    assert_eq!(counts(&format!("{appends}{right}{other}{twice}")), [one, (duplicate, 1)]);
}

/// Two transactions that each come before the other by the orders of lists do so for a reader of
/// both, too: that was told once more, as a fractured read.
#[test]
fn what_follows_from_a_write_cycle_is_not_told_again() {
    let cycle = "a: a(x,1) a(y,1)\nb: a(x,2) a(y,2)\nc: r(x,[1 2]) r(y,[2 1])\n";
    assert_eq!(kinds(&report(cycle)), [Anomaly::WriteCycle]);
    let other = "d: w(u,1) w(v,1)\ne: w(u,2) w(v,2)\nf: r(u,1) r(v,2)\n";
    let found = kinds(&report(&format!("{cycle}{other}")));
    assert_eq!(found, [Anomaly::WriteCycle, Anomaly::FracturedReadCommit]);
}
