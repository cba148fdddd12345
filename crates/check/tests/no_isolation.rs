//! No isolation, against its definition, on random small histories.

#[expect(dead_code, reason = "the other tests use the rest")]
mod random;

use proptest::prelude::*;
use random::{LISTS_AND_DUPLICATES, TIMED_LISTS, list_text, raw_history};
use seriatim_check::{Answer, Checker, check};
use seriatim_history::notation;
use seriatim_isolation::{Anomaly, Guarantee, Level, Order, oracle};
use seriatim_verify::{completed, verify_proof, verify_violation};

/// An operation: whether it writes, its key, and which value.
type Op = (bool, usize, usize);
/// A transaction: its session, whether it ended well, its begin and length, its operations.
type Txn = (usize, u8, (usize, usize), Vec<Op>);

fn txns() -> impl Strategy<Value = Vec<Txn>> {
    let op = (any::<bool>(), 0..2usize, 0..24usize);
    let txn = (0..3usize, 0..12u8, (0..12usize, 1..6usize), proptest::collection::vec(op, 1..4));
    proptest::collection::vec(txn, 1..5)
}

/// The transactions in the notation: writes have values of their own, or 1 to 3 if they repeat;
/// reads return one of those, the initial value or, rarely, what no transaction wrote.
fn text(txns: &[Txn], repeats: bool) -> String {
    let mut sessions = vec![Vec::new(); 3];
    let count: usize = txns.iter().map(|txn| txn.3.len()).sum();
    let mut next = 0;
    for (session, outcome, (begin, length), ops) in txns {
        let told = ops.iter().map(|&(writes, key, choice)| {
            next += 1;
            match (writes, repeats, choice) {
                (true, false, _) => format!("w(k{key},{next})"),
                (true, true, _) => format!("w(k{key},{})", choice % 3 + 1),
                (false, _, 0) => format!("r(k{key},99)"),
                (false, _, 1..=7) => format!("r(k{key},nil)"),
                (false, false, _) => format!("r(k{key},{})", choice % count + 1),
                (false, true, _) => format!("r(k{key},{})", choice % 3 + 1),
            }
        });
        let told: Vec<String> = told.collect();
        let mark = ["!", "?"].get(usize::from(*outcome)).unwrap_or(&"");
        let begin = begin + 6 * sessions[*session].len();
        let times = format!("@{begin}-{}", begin + length);
        sessions[*session].push(format!("{}{mark} {times}", told.join(" ")));
    }
    let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    lines.map(|(number, txns)| format!("s{number}: {}\n", txns.join(" | "))).collect()
}

/// The answer is that of the definition, and what shows it is accepted.
fn compare(text: &str, order: Order) -> Answer {
    let history = notation::parse(text).unwrap();
    let asked = Guarantee::new(Level::Unconstrained, order);
    let report = Checker::new().levels([Level::Unconstrained]).order(order).check(&history);
    let verdict = report.verdict(Level::Unconstrained).unwrap();
    let is_satisfied = oracle::satisfies(&history, asked);
    match verdict.answer() {
        Answer::Holds => assert!(is_satisfied, "{order:?} of\n{text}"),
        Answer::Violated => assert!(!is_satisfied, "{order:?} of\n{text}"),
        Answer::Undecided => {}
    }
    if let Some(proof) = verdict.proof() {
        assert_eq!(verify_proof(&history, asked, proof), Ok(()), "{order:?} of\n{text}");
    }
    if let Some(violation) = verdict.violation() {
        let ops = completed(&history, &violation.op_ids());
        assert_eq!(verify_violation(&history, asked, &ops), Ok(()), "{order:?} of\n{text}");
    }
    verdict.answer()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_is_that_of_the_definition(txns in txns()) {
        for order in Order::ALL {
            prop_assert_ne!(compare(&text(&txns, false), order), Answer::Undecided);
        }
    }

    #[test]
    fn it_is_never_wrong_where_values_were_written_twice(txns in txns()) {
        for order in Order::ALL {
            let _ = compare(&text(&txns, true), order);
        }
    }

    #[test]
    fn the_answer_is_that_of_the_definition_for_lists(
        raw in raw_history(TIMED_LISTS),
        shuffle: u64,
        disorder: bool,
    ) {
        let text = list_text(&raw, TIMED_LISTS, shuffle, disorder);
        let has_times = notation::parse(&text).unwrap().has_times();
        for order in Order::ALL.into_iter().filter(|&order| order != Order::RealTime || has_times) {
            prop_assert_ne!(compare(&text, order), Answer::Undecided, "{:?} of\n{}", order, text);
        }
    }

    #[test]
    fn it_is_never_wrong_where_elements_were_appended_twice(
        raw in raw_history(LISTS_AND_DUPLICATES),
        shuffle: u64,
        disorder: bool,
    ) {
        let text = list_text(&raw, LISTS_AND_DUPLICATES, shuffle, disorder);
        for order in [Order::None, Order::Sessions] {
            let _ = compare(&text, order);
        }
    }
}

#[test]
fn a_read_that_goes_back_in_time_is_allowed_and_one_from_thin_air_is_not() {
    let back = notation::parse("a: w(x,1) w(y,1)\nb: r(y,1) r(x,nil)").unwrap();
    let report = check(&back, Level::Unconstrained);
    assert!(report.holds(Level::Unconstrained) && report.anomalies.is_empty());
    assert!(!report.holds(Level::ReadCommitted));

    let thin_air = notation::parse("a: r(x,7)").unwrap();
    let report = check(&thin_air, Level::Unconstrained);
    assert!(report.violates(Level::Unconstrained) && report.violates(Level::Causal));
    assert_eq!(report.anomalies[0].kind, Anomaly::ThinAirRead);
}

#[test]
fn beside_other_levels_it_comes_first_and_changes_nothing() {
    let history = notation::parse("a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)").unwrap();
    let plain = Checker::new().check(&history);
    let levels = Level::ALL.into_iter().chain([Level::Unconstrained]);
    let report = Checker::new().levels(levels).check(&history);
    assert_eq!(report.verdicts[0].level, Level::Unconstrained);
    assert!(report.verdicts[0].holds());
    assert_eq!((&report.verdicts[1..], &report.anomalies), (&plain.verdicts[..], &plain.anomalies));
}
