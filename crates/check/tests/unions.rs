//! Two histories side by side that share no key and no session: nothing of one hides anything of
//! the other.

#[allow(dead_code, reason = "the oracle's tests use the rest")]
mod random;

use proptest::prelude::*;
use random::*;
use seriatim_check::{Checker, Counted, Report};
use seriatim_history::notation;
use seriatim_isolation::{Anomaly, Level, Order};
use std::collections::BTreeMap;

/// Both histories, the second with other names.
fn union(one: &str, other: &str) -> String {
    let renamed = other.replace("(k", "(m").replace("s0:", "t0:");
    format!("{one}{}", renamed.replace("s1:", "t1:").replace("s2:", "t2:"))
}

fn report(text: &str, order: Order) -> Report {
    Checker::new().order(order).threads(1).check(&notation::parse(text).unwrap())
}

/// How many there are of each kind, and whether that is all of them.
fn counts(report: &Report) -> BTreeMap<Anomaly, (u64, Counted)> {
    report.anomalies.iter().map(|group| (group.kind, (group.count, group.counted))).collect()
}

/// Whether another kind stands for this one. What no scan counts of real time is found one by one,
/// and of those that share transactions only the first: it may have one or several reads that miss
/// something.
fn is_told_as_other(
    kind: Anomaly,
    found: &[(u64, Counted)],
    told: &BTreeMap<Anomaly, (u64, Counted)>,
) -> bool {
    let timed = [Anomaly::StaleRead, Anomaly::RealTimeCycle];
    timed.contains(&kind)
        && found.iter().all(|(_, counted)| *counted != Counted::Exactly)
        && timed.iter().any(|other| told.contains_key(other))
}

/// A level is violated iff one part violates it. Every kind of a part is shown, and what is counted
/// exactly is the sum.
fn compare_union(one: &str, other: &str, order: Order) {
    let text = union(one, other);
    if order == Order::RealTime && !(one.contains('@') && other.contains('@')) {
        return;
    }
    let parts = [report(one, order), report(other, order)];
    let whole = report(&text, order);
    for level in Level::ALL {
        let violated = parts.iter().any(|part| part.violates(level));
        assert_eq!(whole.violates(level), violated, "{level}, {order} of\n{text}");
    }
    // What shows an anomaly cannot name a transaction without operations.
    let history = notation::parse(&text).unwrap();
    let all_named = history.txns().all(|txn| !history.ops_of(txn).is_empty());
    let of_whole = counts(&whole);
    let of_parts = parts.map(|part| counts(&part));
    for kind in Anomaly::ALL {
        let count = |counts: &BTreeMap<Anomaly, (u64, Counted)>| counts.get(&kind).copied();
        let found: Vec<(u64, Counted)> = of_parts.iter().filter_map(count).collect();
        let told = of_whole.get(&kind);
        let is_shown = told.is_some() || is_told_as_other(kind, &found, &of_whole);
        assert!(is_shown || found.is_empty(), "{kind:?}, {order} of\n{text}");
        let counted: Vec<(u64, Counted)> = told.copied().into_iter().collect();
        let is_of_part =
            !found.is_empty() || of_parts.iter().any(|part| is_told_as_other(kind, &counted, part));
        assert!(is_of_part || told.is_none() || !all_named, "no {kind:?}, {order} of\n{text}");
        let is_exact = |counted: &&(u64, Counted)| counted.1 == Counted::Exactly;
        if let Some((count, _)) = told.filter(is_exact).filter(|_| all_named) {
            let sum: u64 = found.iter().map(|(count, _)| count).sum();
            assert_eq!(*count, sum, "{kind:?}, {order} of\n{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn registers(one in raw_history(TIMED), other in raw_history(TIMED)) {
        for order in Order::ALL {
            compare_union(&text_of(&one, TIMED), &text_of(&other, TIMED), order);
        }
    }

    #[test]
    fn lists(
        one in raw_history(TIMED_LISTS),
        other in raw_history(TIMED_LISTS),
        shuffle: u64,
        disorder: bool,
    ) {
        let text = |raw: &[Raw]| list_text(raw, TIMED_LISTS, shuffle, disorder);
        for order in Order::ALL {
            compare_union(&text(&one), &text(&other), order);
        }
    }

    #[test]
    fn fresh_and_other_reads(
        one in raw_history(FRESH),
        other in raw_history(TIMED),
        slack in 0..40usize,
    ) {
        for order in Order::ALL {
            compare_union(&fresh_text(&one, slack), &text_of(&other, TIMED), order);
        }
    }
}
