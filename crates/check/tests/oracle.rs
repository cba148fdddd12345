//! Every fast verdict against the literal definitions, every "holds" against the independent
//! verifier, and every anomaly against its own sub-history, on random small histories.

use proptest::prelude::*;
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

/// How a random history is made.
#[derive(Clone, Copy, Debug)]
struct Shape {
    keys: usize,
    /// Writes get distinct values if false, values from 1 to 3 otherwise.
    duplicates: bool,
    /// Whether transactions may be aborted or unknown.
    outcomes: bool,
    /// Keys start with values that a write of the same value does not replace, and that some writes
    /// do write.
    initial: bool,
    /// Whether transactions have begin and end times.
    times: bool,
    txns_max: usize,
    ops_max: usize,
}

/// The initial values of the keys, if the shape has any: small, so that writes hit them.
const INITIAL: [usize; 4] = [2, 50, 3, 4];

#[derive(Clone, Debug)]
struct Raw {
    session: usize,
    outcome: u8,
    times: (u8, u8),
    ops: Vec<(bool, usize, usize)>,
}

fn raw_history(shape: Shape) -> impl Strategy<Value = Vec<Raw>> {
    let op = (any::<bool>(), 0..shape.keys, 0..64usize);
    let txn =
        (0..3usize, 0..16u8, (0..12u8, 0..8u8), proptest::collection::vec(op, 0..=shape.ops_max))
            .prop_map(|(session, outcome, times, ops)| Raw { session, outcome, times, ops });
    proptest::collection::vec(txn, 1..=shape.txns_max)
}

/// Writes the random transactions in the notation: a write gets a value, a read one of those
/// written to its key (by any transaction), rarely 0 where that is not initial, rarely a value that
/// none wrote.
fn text_of(raw: &[Raw], shape: Shape) -> String {
    let mut written: Vec<Vec<usize>> = vec![Vec::new(); shape.keys];
    let mut next = 0;
    let mut values = Vec::new();
    for txn in raw {
        let mut of_txn = Vec::new();
        for &(write, key, choice) in &txn.ops {
            next += 1;
            let value = if shape.duplicates { choice % 3 + 1 } else { next };
            if write {
                written[key].push(value);
            }
            of_txn.push(value);
        }
        values.push(of_txn);
    }
    let mut sessions = vec![Vec::new(); 3];
    for (txn, of_txn) in raw.iter().zip(values) {
        let ops = txn.ops.iter().zip(of_txn).map(|(&(write, key, choice), value)| {
            let readable = &written[key];
            let read = match choice {
                0 => 99,
                1..=8 if shape.initial && choice % 3 > 0 => INITIAL[key],
                1..=8 => 0,
                _ if readable.is_empty() => 0,
                _ => readable[choice % readable.len()],
            };
            if write { format!("w(k{key},{value})") } else { format!("r(k{key},{read})") }
        });
        let mark = if shape.outcomes { mark(txn) } else { "" };
        let times = if shape.times {
            times_of(sessions[txn.session].len(), txn.times)
        } else {
            String::new()
        };
        sessions[txn.session].push(format!("{}{mark}{times}", ops.collect::<Vec<_>>().join(" ")));
    }
    let initial = (0..shape.keys)
        .filter(|_| shape.initial)
        .map(|key| format!("initial k{key}={}\n", INITIAL[key]));
    initial.chain([lines(&sessions)]).collect()
}

fn mark(txn: &Raw) -> &'static str {
    match txn.outcome {
        0 => "!",
        1 | 2 => "?",
        _ => "",
    }
}

fn lines(sessions: &[Vec<String>]) -> String {
    let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join(" | "))).collect()
}

/// Times that mostly run forward in a session; some are not known.
fn times_of(place: usize, (begin, length): (u8, u8)) -> String {
    let begin = 4 * place + usize::from(begin);
    let end = begin + usize::from(length);
    match length {
        0 => String::new(),
        1 => format!(" @{begin}-"),
        2 => format!(" @-{end}"),
        _ => format!(" @{begin}-{end}"),
    }
}

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

/// List histories: each key has one order of all that is appended to it, reads return prefixes of
/// it; with `disorder` some lists are changed. With duplicates few different elements are appended.
fn list_text(raw: &[Raw], shape: Shape, shuffle: u64, disorder: bool) -> String {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new(); shape.keys];
    let mut next = 0;
    let element = |next: usize, choice: usize| if shape.duplicates { choice % 5 + 1 } else { next };
    for &(write, key, choice) in raw.iter().flat_map(|txn| &txn.ops) {
        next += 1;
        if write {
            let length = orders[key].len();
            let anywhere = (choice as u64 ^ shuffle) as usize % (length + 1);
            orders[key].insert(
                if shuffle.is_multiple_of(3) { anywhere } else { length },
                element(next, choice),
            );
        }
    }
    // An append that no list shows.
    for order in orders.iter_mut().filter(|order| shuffle % 4 == 1 && !order.is_empty()) {
        order.remove((shuffle >> 8) as usize % order.len());
    }
    next = 0;
    let mut sessions = vec![Vec::new(); 3];
    for txn in raw {
        let ops = txn.ops.iter().map(|&(write, key, choice)| {
            next += 1;
            if write {
                return format!("a(k{key},{})", element(next, choice));
            }
            let mut list = orders[key][..choice % (orders[key].len() + 1)].to_vec();
            if disorder && choice > 48 {
                list.reverse();
            }
            if disorder && choice == 40 {
                list.extend(list.clone().first());
            }
            let list: Vec<String> = list.iter().map(usize::to_string).collect();
            if list.is_empty() {
                format!("r(k{key},nil)")
            } else {
                format!("r(k{key},[{}])", list.join(" "))
            }
        });
        let mark = if shape.outcomes { mark(txn) } else { "" };
        let times = match shape.times {
            true => times_of(sessions[txn.session].len(), txn.times),
            false => String::new(),
        };
        let ops = ops.collect::<Vec<_>>().join(" ");
        sessions[txn.session].push(format!("{ops}{mark}{times}"));
    }
    lines(&sessions)
}

/// What a store of snapshots answers when the sessions begin and commit in the order of `schedule`,
/// with the read number `wrong` changed. Conflicting writers both commit, so prefix consistency
/// holds, and often more.
fn snapshot_text(raw: &[Raw], schedule: &[usize], wrong: usize) -> String {
    let mut sessions: Vec<Vec<&Raw>> = vec![Vec::new(); 3];
    raw.iter().for_each(|txn| sessions[txn.session].push(txn));
    let mut store = SnapshotStore { current: vec![0; 4], next_value: 0, reads: 0, wrong };
    let mut texts = vec![Vec::new(); 3];
    let mut open: Vec<Option<Answered>> = vec![None; 3];
    let rounds = (0..2 * raw.len()).flat_map(|_| 0..3);
    for session in schedule.iter().copied().chain(rounds) {
        match open[session].take() {
            Some((text, writes)) => {
                texts[session].push(text);
                writes.into_iter().for_each(|(key, value)| store.current[key] = value);
            }
            None if !sessions[session].is_empty() => {
                open[session] = Some(store.answer(sessions[session].remove(0)))
            }
            None => {}
        }
    }
    lines(&texts)
}

/// What a store answers that runs the transactions one after the other, in which a read goes back
/// to an older version now and then. Begins and ends reach up to `slack` into each other, so that
/// some of these reads are stale and others are not.
fn fresh_text(raw: &[Raw], slack: usize) -> String {
    let mut versions: Vec<Vec<usize>> = vec![vec![0]; 4];
    let (mut next, mut texts) = (0, vec![Vec::new(); 3]);
    let mut free = [0; 3];
    for (place, txn) in raw.iter().enumerate() {
        let mut ops = Vec::new();
        for &(write, key, choice) in &txn.ops {
            next += 1;
            if write {
                versions[key].push(next);
                ops.push(format!("w(k{key},{next})"));
            } else {
                let back = if choice < 12 { choice % versions[key].len() } else { 0 };
                let seen = versions[key][versions[key].len() - 1 - back];
                ops.push(format!("r(k{key},{seen})"));
            }
        }
        let reach = |time: u8| slack * usize::from(time) / 12;
        let begin = (10 * place + 40).saturating_sub(reach(txn.times.0)).max(free[txn.session]);
        let end = (10 * place + 45 + reach(txn.times.1)).max(begin);
        free[txn.session] = end + 1;
        texts[txn.session].push(format!("{} @{begin}-{end}", ops.join(" ")));
    }
    lines(&texts)
}

/// A transaction as text, and what it writes: keys with values.
type Answered = (String, Vec<(usize, usize)>);

struct SnapshotStore {
    current: Vec<usize>,
    next_value: usize,
    reads: usize,
    wrong: usize,
}

impl SnapshotStore {
    fn answer(&mut self, txn: &Raw) -> Answered {
        let mut writes: Vec<(usize, usize)> = Vec::new();
        let mut ops = Vec::new();
        for &(write, key, _) in &txn.ops {
            if write {
                self.next_value += 1;
                writes.push((key, self.next_value));
                ops.push(format!("w(k{key},{})", self.next_value));
                continue;
            }
            self.reads += 1;
            let own = writes.iter().rev().find(|write| write.0 == key).map(|write| write.1);
            let seen = own.unwrap_or(self.current[key]);
            let value = if self.reads == self.wrong { self.next_value } else { seen };
            ops.push(format!("r(k{key},{value})"));
        }
        (ops.join(" "), writes)
    }
}

const PLAIN: Shape = Shape {
    keys: 2,
    duplicates: false,
    outcomes: false,
    initial: false,
    times: false,
    txns_max: 6,
    ops_max: 4,
};
const OUTCOMES: Shape = Shape { outcomes: true, ..PLAIN };
const DUPLICATES: Shape =
    Shape { duplicates: true, outcomes: true, txns_max: 5, ops_max: 3, ..PLAIN };
const INITIALS: Shape = Shape { initial: true, outcomes: true, ..PLAIN };
const INITIALS_AND_DUPLICATES: Shape = Shape { initial: true, ..DUPLICATES };
const LISTS: Shape = Shape { outcomes: true, txns_max: 5, ops_max: 3, ..PLAIN };
const LISTS_AND_DUPLICATES: Shape = Shape { duplicates: true, ..LISTS };
const TIMED: Shape = Shape { outcomes: true, times: true, ops_max: 3, ..PLAIN };
const TIMED_DUPLICATES: Shape = Shape { duplicates: true, txns_max: 5, ..TIMED };
const TIMED_LISTS: Shape = Shape { times: true, ..LISTS };
const FRESH: Shape = Shape { txns_max: 6, ops_max: 3, ..PLAIN };
const SMALL: Shape = Shape { times: true, txns_max: 5, ops_max: 3, ..PLAIN };
const SNAPSHOTS: Shape = Shape { keys: 3, txns_max: 7, ..PLAIN };
const MANY_KEYS: Shape = Shape { keys: 4, txns_max: 7, ops_max: 3, ..PLAIN };

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
