//! Every fast verdict against the literal definitions, every "holds" against the independent
//! verifier, and every anomaly against its own sub-history, on random small histories.

mod random;

use proptest::prelude::*;
use random::*;
use seriatim_check::frontier::{self, Frontier};
use seriatim_check::{
    Answer, Checker, Reason, Refs, Report, TxnRef, Undecided, Verdict, Violation,
};
use seriatim_history::{History, OpId, TxnId, notation};
use seriatim_isolation::{Guarantee, Level, Order, oracle};
use seriatim_verify::{
    Point, Proof, commit_order, completed, verify_cut_isolation, verify_order, verify_points,
    verify_proof, verify_violation,
};

fn compare_with_oracle(text: &str, duplicates: bool) {
    compare_in_order(text, duplicates, Order::Sessions);
}

/// Some transaction has no operations: what shows a violation cannot name it.
fn has_empty_txns(history: &History) -> bool {
    history.txns().any(|txn| history.ops_of(txn).is_empty())
}

fn compare_in_order(text: &str, duplicates: bool, order: Order) {
    let history = notation::parse(text).unwrap();
    if order == Order::RealTime && !history.has_times() {
        return;
    }
    compare_strong_levels(&history, duplicates, order, text);
    for threads in [1, 2] {
        let checker = Checker::new().instances(usize::MAX).threads(threads);
        let report = checker.order(order).check(&history);
        assert_eq!(report.order, order);
        for verdict in &report.verdicts {
            let holds = oracle::satisfies(&history, Guarantee::new(verdict.level, order));
            match verdict.answer() {
                Answer::Undecided if order == Order::RealTime && has_empty_txns(&history) => {
                    assert!(duplicates, "{verdict:?} on\n{text}");
                }
                Answer::Undecided => {
                    assert!(duplicates && history.has_lists(), "{verdict:?} on\n{text}");
                    assert!(
                        matches!(verdict.undecided(), Some(Undecided::DuplicateValue { .. })),
                        "{verdict:?}"
                    );
                }
                outcome => {
                    let level = verdict.level;
                    assert_eq!(outcome == Answer::Holds, holds, "{level}, {order} on\n{text}")
                }
            }
            if verdict.answer() == Answer::Holds && verdict.level != Level::CutIsolation {
                assert_certified(&history, verdict, duplicates, order, text);
            }
        }
        for verdict in report.verdicts.iter().filter(|verdict| verdict.is_violated()) {
            // With real time, or with values of registers that were written twice, it may rest on
            // transactions that no operation shows.
            let is_shown = report.exemplar(verdict.level).is_some();
            assert!(
                is_shown || !history.has_lists() || order == Order::RealTime,
                "{verdict:?} on\n{text}"
            );
        }
        for group in &report.anomalies {
            assert!(group.count >= 1);
            assert_eq!(group.instances.len() as u64, group.count, "{:?} on\n{text}", group.kind);
            for violation in group.instances.iter().chain([&group.exemplar]) {
                assert_still_violated(&history, violation, order, text);
            }
        }
        if threads == 1 {
            compare_levels_alone(&history, &report, duplicates, order, text);
            compare_confirmations(&history, &report, text);
            assert_names(&history, &report, text);
        }
    }
}

/// A level that is asked for alone gets the same verdict as among all. Violations that were found
/// are confirmed, and nothing is that is not one, whatever operations are named.
fn compare_confirmations(history: &History, report: &Report, text: &str) {
    let order = report.order;
    let satisfied: Vec<Guarantee> = Level::ALL
        .map(|level| Guarantee::new(level, order))
        .into_iter()
        .filter(|&asked| oracle::satisfies(history, asked))
        .collect();
    let cut = satisfied.contains(&Guarantee::new(Level::CutIsolation, order));
    assert_eq!(verify_cut_isolation(history).is_ok(), cut, "cut isolation on\n{text}");
    for violation in report.anomalies.iter().map(|group| &group.exemplar) {
        let ops: Vec<OpId> = violation.ops.iter().filter_map(|op| op.id).collect();
        let ops = completed(history, &ops);
        for &level in &violation.levels {
            let confirmed = verify_violation(history, Guarantee::new(level, order), &ops);
            assert_eq!(confirmed, Ok(()), "{level}, {:?} of\n{text}", violation.kind);
        }
    }
    let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    let without =
        all.iter().map(|gone| all.iter().copied().filter(|op| op != gone).collect::<Vec<_>>());
    let masks = (1..24u32).map(|seed| {
        let mask = seed.wrapping_mul(0x9e37_79b9);
        all.iter().copied().filter(|op| mask >> (op.0 % 32) & 1 == 1).collect::<Vec<_>>()
    });
    for part in without.chain(masks).flat_map(|part| [completed(history, &part), part]) {
        for &level in &satisfied {
            let confirmed = verify_violation(history, level, &part);
            assert!(confirmed.is_err(), "{level}, {part:?} of\n{text}");
        }
    }
}

/// Explanations name transactions and operations of the history as it was given.
fn assert_names(history: &History, report: &Report, text: &str) {
    for violation in report.anomalies.iter().flat_map(|group| &group.instances) {
        for op in &violation.ops {
            let expected = op.id.map(|id| Refs(history).op(id));
            assert!(expected.is_none_or(|expected| expected.txn == op.txn), "{op:?} of\n{text}");
        }
        for edge in &violation.cycle {
            for txn in [&edge.from, &edge.to] {
                let expected = txn.id.map(|id| Refs(history).txn(id));
                assert!(expected.is_none_or(|expected| expected == *txn), "{txn:?} of\n{text}");
            }
            if let Reason::RealTime { end, begin } = edge.reason {
                let times = |txn: &TxnRef| history.times(txn.id.unwrap()).unwrap();
                assert_eq!((times(&edge.from).1, times(&edge.to).0), (end, begin));
                assert!(end < begin, "{edge:?} of\n{text}");
            }
        }
    }
}

fn compare_levels_alone(
    history: &History,
    report: &Report,
    duplicates: bool,
    order: Order,
    text: &str,
) {
    for verdict in &report.verdicts {
        let level = verdict.level;
        let alone = Checker::new().levels([level]).order(order).threads(1).check(history);
        let (alone, together) = (alone.verdicts[0].answer(), verdict.answer());
        // Among all levels a strong one may settle what duplicate values leave open.
        let settled = history.has_lists()
            && duplicates
            && alone == Answer::Undecided
            && together == Answer::Holds;
        assert!(alone == together || settled, "{level} alone on\n{text}");
    }
}

/// A verdict that holds has an order or points that the verifier accepts.
fn assert_certified(
    history: &History,
    verdict: &Verdict,
    duplicates: bool,
    order: Order,
    text: &str,
) {
    let level = verdict.level;
    let asked = Guarantee::new(level, order);
    let proof =
        verdict.proof().unwrap_or_else(|| panic!("a certificate was asked for at {level}\n{text}"));
    assert!(
        !level.is_strong() || matches!(proof, Proof::Points(_)),
        "{level} is shown by points on\n{text}"
    );
    verify_proof(history, asked, proof).unwrap_or_else(|e| panic!("{e} at {asked} on\n{text}"));
    // An order alone does not say which of several writers of a value was read.
    if let Some(order) = verdict.commit_order().filter(|_| level.is_strong() && !duplicates) {
        verify_order(history, asked, &order)
            .unwrap_or_else(|e| panic!("{e} at {level} on\n{text}"));
    }
}

/// The second algorithm agrees with the definitions, its certificates are accepted, and what holds
/// at a level holds below it. Where an element of a list may come from several appends, it may find
/// points that are not right.
fn compare_strong_levels(history: &History, duplicates: bool, order: Order, text: &str) {
    let ladder = Level::LADDER.map(|level| Guarantee::new(level, order));
    let satisfied = ladder.map(|asked| oracle::satisfies(history, asked));
    assert!(
        satisfied.is_sorted_by(|weaker, stronger| weaker >= stronger),
        "no ladder: {satisfied:?} on\n{text}"
    );
    for (level, holds) in
        ladder.into_iter().zip(satisfied).filter(|(asked, _)| asked.level.is_strong())
    {
        match frontier::search(history, level, 1_000_000) {
            Frontier::OutOfBudget => panic!("a long search for {level} on\n{text}"),
            Frontier::Violated => assert!(!holds, "the frontier does not find {level} on\n{text}"),
            Frontier::Holds(points) if duplicates && history.has_lists() => {
                if verify_points(history, level, &points).is_ok() {
                    assert!(holds, "{points:?} is accepted at {level} on\n{text}");
                    compare_mutations(history, level, &points, text);
                }
            }
            Frontier::Holds(points) => {
                assert!(holds, "the frontier finds {level} with {points:?} on\n{text}");
                verify_points(history, level, &points)
                    .unwrap_or_else(|e| panic!("{e} at {level} on\n{text}"));
                compare_mutations(history, level, &points, text);
            }
        }
    }
}

/// Points of which one is left out or repeated are rejected. Points of which two are exchanged may
/// be accepted, but only if the definition accepts the commit order in them.
fn compare_mutations(history: &History, level: Guarantee, points: &[Point], text: &str) {
    for i in 0..points.len() {
        let mut without = points.to_vec();
        without.remove(i);
        assert!(
            verify_points(history, level, &without).is_err(),
            "{without:?} at {level} on\n{text}"
        );
        let mut twice = points.to_vec();
        twice.push(points[i]);
        assert!(verify_points(history, level, &twice).is_err(), "{twice:?} at {level} on\n{text}");
        for j in 0..i {
            let mut exchanged = points.to_vec();
            exchanged.swap(i, j);
            let accepted = verify_points(history, level, &exchanged).is_ok();
            let right = oracle::accepts(history, level, &commit_order(&exchanged));
            assert!(!accepted || right, "{exchanged:?} at {level} on\n{text}");
        }
    }
}

/// The verifier and the definition accept the same commit orders.
fn compare_orders(text: &str, order: &[TxnId]) {
    let history = notation::parse(text).unwrap();
    for asked in Order::ALL.map(|order| Level::LADDER.map(|level| Guarantee::new(level, order))) {
        for asked in asked {
            let accepted = verify_order(&history, asked, order);
            let right = oracle::accepts(&history, asked, order);
            assert_eq!(accepted.is_ok(), right, "{accepted:?}: {order:?} at {asked} on\n{text}");
        }
    }
}

/// The operations of a violation, and nothing else, violate all the levels that forbid its kind.
fn assert_still_violated(history: &History, violation: &Violation, order: Order, text: &str) {
    let ops: Vec<OpId> = violation.ops.iter().filter_map(|op| op.id).collect();
    let part = history.restricted_to(&ops);
    let levels = violation.levels.clone();
    for verdict in Checker::new().levels(levels).order(order).threads(1).check(&part).verdicts {
        let (kind, level) = (violation.kind, verdict.level);
        assert_eq!(
            verdict.answer(),
            Answer::Violated,
            "{kind:?} at {level} of\n{text}\n{violation:#?}"
        );
    }
    for pair in violation.cycle.windows(2) {
        assert_eq!(pair[0].to, pair[1].from, "a broken cycle on\n{text}");
    }
    if let (Some(first), Some(last)) = (violation.cycle.first(), violation.cycle.last()) {
        assert_eq!(last.to, first.from, "an open cycle on\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn plain_histories(raw in raw_history(PLAIN)) {
        compare_with_oracle(&text_of(&raw, PLAIN), PLAIN.duplicates);
    }

    #[test]
    fn lists(raw in raw_history(LISTS), shuffle: u64, disorder: bool) {
        compare_with_oracle(&list_text(&raw, LISTS, shuffle, disorder), false);
    }

    #[test]
    fn lists_with_elements_appended_twice(
        raw in raw_history(LISTS_AND_DUPLICATES),
        shuffle: u64,
        disorder: bool,
    ) {
        compare_with_oracle(&list_text(&raw, LISTS_AND_DUPLICATES, shuffle, disorder), true);
    }

    #[test]
    fn initial_values_that_do_not_yield(raw in raw_history(INITIALS)) {
        // A write of the initial value makes reads of it ambiguous.
        compare_with_oracle(&text_of(&raw, INITIALS), true);
    }

    #[test]
    fn initial_values_and_duplicates(raw in raw_history(INITIALS_AND_DUPLICATES)) {
        compare_with_oracle(&text_of(&raw, INITIALS_AND_DUPLICATES), true);
    }

    #[test]
    fn aborted_and_unknown_transactions(raw in raw_history(OUTCOMES)) {
        compare_with_oracle(&text_of(&raw, OUTCOMES), OUTCOMES.duplicates);
    }

    #[test]
    fn duplicate_values(raw in raw_history(DUPLICATES)) {
        compare_with_oracle(&text_of(&raw, DUPLICATES), DUPLICATES.duplicates);
    }

    #[test]
    fn many_keys(raw in raw_history(MANY_KEYS)) {
        compare_with_oracle(&text_of(&raw, MANY_KEYS), MANY_KEYS.duplicates);
    }

    #[test]
    fn real_time(raw in raw_history(TIMED)) {
        compare_with_oracle(&text_of(&raw, TIMED), TIMED.duplicates);
    }

    #[test]
    fn weak_levels_and_real_time(raw in raw_history(TIMED)) {
        compare_in_order(&text_of(&raw, TIMED), false, Order::RealTime);
    }

    #[test]
    fn fresh_reads_and_real_time(raw in raw_history(FRESH), slack in 0..40usize) {
        compare_in_order(&fresh_text(&raw, slack), false, Order::RealTime);
    }

    #[test]
    fn duplicates_and_real_time(raw in raw_history(TIMED_DUPLICATES)) {
        compare_in_order(&text_of(&raw, TIMED_DUPLICATES), true, Order::RealTime);
    }

    #[test]
    fn lists_and_real_time(raw in raw_history(TIMED_LISTS), shuffle: u64, disorder: bool) {
        let text = list_text(&raw, TIMED_LISTS, shuffle, disorder);
        compare_in_order(&text, false, Order::RealTime);
    }

    #[test]
    fn without_sessions(raw in raw_history(TIMED)) {
        compare_in_order(&text_of(&raw, TIMED), false, Order::None);
    }

    #[test]
    fn duplicates_without_sessions(raw in raw_history(DUPLICATES)) {
        compare_in_order(&text_of(&raw, DUPLICATES), true, Order::None);
    }

    #[test]
    fn lists_without_sessions(raw in raw_history(LISTS), shuffle: u64, disorder: bool) {
        compare_in_order(&list_text(&raw, LISTS, shuffle, disorder), false, Order::None);
    }

    #[test]
    fn snapshots(
        raw in raw_history(SNAPSHOTS),
        schedule in proptest::collection::vec(0..3usize, 12),
        wrong in 0..12usize,
    ) {
        let text = snapshot_text(&raw, &schedule, wrong);
        compare_with_oracle(&text, false);
        let history = notation::parse(&text).unwrap();
        prop_assert!(wrong > 0 || oracle::satisfies(&history, Level::PrefixConsistency));
    }

    #[test]
    fn commit_orders(
        raw in raw_history(SMALL),
        shuffle in proptest::collection::vec(any::<u8>(), 5),
        lists: u64,
        disorder: bool,
    ) {
        let mut order: Vec<TxnId> = (0..raw.len() as u32).map(TxnId).collect();
        order.sort_by_key(|txn| shuffle[txn.index()] % 4);
        compare_orders(&text_of(&raw, SMALL), &order);
        compare_orders(&list_text(&raw, SMALL, 0, false), &order);
        compare_orders(&list_text(&raw, SMALL, lists, disorder), &order);
    }
}

#[test]
fn an_unknown_transaction_whose_element_stands_inside_a_list() {
    compare_with_oracle("s0: a(y,1) r(x,[2 3]) | r(y,[1]) r(y,nil) a(x,2)? | a(x,3)", false);
}

#[test]
fn an_element_that_only_an_aborted_transaction_appended_twice() {
    compare_with_oracle("s0: a(k0,3) a(k0,3)! | r(k0,[3 3])", true);
}
