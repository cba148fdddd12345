//! Every fast verdict against the literal definitions, every "holds" against the independent verifier, and every anomaly
//! against its own sub-history, on random small histories.

use proptest::prelude::*;
use seriatim_check::{Level, Options, Outcome, Violation, check, oracle, verify};
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId, Value, ValueKind, notation};
use std::collections::BTreeMap;

/// How a random history is made.
#[derive(Clone, Copy, Debug)]
struct Shape {
    keys: usize,
    /// Writes get distinct values if false, values from 1 to 3 otherwise.
    duplicates: bool,
    /// Whether transactions may be aborted or unknown.
    outcomes: bool,
    /// Keys start with values that a write of the same value does not replace, and that some writes do write.
    initial: bool,
    txns_max: usize,
    ops_max: usize,
}

/// The initial values of the keys, if the shape has any: small, so that writes hit them.
const INITIAL: [usize; 4] = [2, 50, 3, 4];

#[derive(Clone, Debug)]
struct Raw {
    session: usize,
    outcome: u8,
    ops: Vec<(bool, usize, usize)>,
}

fn raw_history(shape: Shape) -> impl Strategy<Value = Vec<Raw>> {
    let op = (any::<bool>(), 0..shape.keys, 0..64usize);
    let txn = (0..3usize, 0..16u8, proptest::collection::vec(op, 0..=shape.ops_max))
        .prop_map(|(session, outcome, ops)| Raw { session, outcome, ops });
    proptest::collection::vec(txn, 1..=shape.txns_max)
}

/// Writes the random transactions in the notation: a write gets a value, a read one of those written to its key (by
/// anybody), rarely 0 where that is not initial, rarely a value that nobody wrote.
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
        sessions[txn.session].push(format!("{}{mark}", ops.collect::<Vec<_>>().join(" ")));
    }
    let initial = (0..shape.keys).filter(|_| shape.initial).map(|key| format!("initial k{key}={}\n", INITIAL[key]));
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

fn compare_with_oracle(text: &str, duplicates: bool) {
    compare(text, duplicates, oracle::satisfies);
}

fn compare(text: &str, duplicates: bool, satisfies: impl Fn(&History, Level) -> bool) {
    let history = notation::parse(text).unwrap();
    for threads in [1, 2] {
        let options = Options { instances: usize::MAX, keep_orders: true, threads, ..Options::default() };
        let report = check(&history, &options);
        for verdict in &report.verdicts {
            let holds = satisfies(&history, verdict.level);
            match verdict.outcome {
                Outcome::Undecided => assert!(duplicates && verdict.undecided.is_some(), "undecided on\n{text}"),
                outcome => assert_eq!(outcome == Outcome::Holds, holds, "{} on\n{text}", verdict.level),
            }
            if verdict.outcome == Outcome::Holds && verdict.level != Level::CutIsolation {
                let order = verdict.order.as_ref().expect("an order was asked for");
                verify(&history, verdict.level, order)
                    .unwrap_or_else(|e| panic!("{e} at {} on\n{text}", verdict.level));
            }
        }
        for group in &report.anomalies {
            assert!(group.count >= 1);
            assert_eq!(group.instances.len() as u64, group.count, "{:?} on\n{text}", group.kind);
            for violation in group.instances.iter().chain([&group.exemplar]) {
                assert_still_violated(&history, violation, text);
            }
        }
        for level in Level::ALL {
            let alone = check(&history, &Options { levels: vec![level], threads, ..Options::default() });
            assert_eq!(alone.verdicts[0].outcome, report.verdict(level).unwrap().outcome, "{level} alone on\n{text}");
        }
    }
}

/// The operations of a violation, and nothing else, violate all the levels that forbid its kind.
fn assert_still_violated(history: &History, violation: &Violation, text: &str) {
    let ops: Vec<OpId> = violation.ops.iter().filter_map(|op| op.id).collect();
    let part = history.restricted_to(&ops);
    for &level in violation.kind.info().forbidden_by {
        let outcome = check(&part, &Options { levels: vec![level], ..Options::default() }).verdicts[0].outcome;
        assert_eq!(outcome, Outcome::Violated, "{:?} at {level} of\n{text}\n{violation:#?}", violation.kind);
    }
    for pair in violation.cycle.windows(2) {
        assert_eq!(pair[0].to, pair[1].from, "a broken cycle on\n{text}");
    }
    if let (Some(first), Some(last)) = (violation.cycle.first(), violation.cycle.last()) {
        assert_eq!(last.to, first.from, "an open cycle on\n{text}");
    }
}

/// List histories: each key has one order of all that is appended to it, reads return prefixes of it; with `disorder` some
/// lists are changed. With duplicates few different elements are appended.
fn list_text(raw: &[Raw], shape: Shape, shuffle: u64, disorder: bool) -> String {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new(); shape.keys];
    let mut next = 0;
    let element = |next: usize, choice: usize| if shape.duplicates { choice % 5 + 1 } else { next };
    for &(write, key, choice) in raw.iter().flat_map(|txn| &txn.ops) {
        next += 1;
        if write {
            let length = orders[key].len();
            let anywhere = (choice as u64 ^ shuffle) as usize % (length + 1);
            orders[key].insert(if shuffle.is_multiple_of(3) { anywhere } else { length }, element(next, choice));
        }
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
            if list.is_empty() { format!("r(k{key},nil)") } else { format!("r(k{key},[{}])", list.join(" ")) }
        });
        let mark = if shape.outcomes { mark(txn) } else { "" };
        sessions[txn.session].push(ops.collect::<Vec<_>>().join(" ") + mark);
    }
    lines(&sessions)
}

/// The oracle of lists takes elements to be appended once. Where they are not, a level holds if it holds after all appends got
/// elements of their own, for some choice of which append each element of a list comes from.
fn satisfies_by_some_naming(history: &History, level: Level) -> bool {
    // Which append an element comes from does not matter to it.
    if level == Level::CutIsolation {
        return oracle::satisfies(history, level);
    }
    let mut longest: BTreeMap<KeyId, &[Value]> = BTreeMap::new();
    for (key, list) in lists_of(history) {
        let known = longest.entry(key).or_default();
        let (shorter, longer) = if list.len() > known.len() { (*known, list) } else { (list, *known) };
        if !longer.starts_with(shorter) {
            return false;
        }
        *known = longer;
    }
    let places: Vec<(KeyId, Value)> =
        longest.iter().flat_map(|(&key, list)| list.iter().map(move |&element| (key, element))).collect();
    some_naming(history, level, &places, &mut Vec::new())
}

fn lists_of(history: &History) -> impl Iterator<Item = (KeyId, &[Value])> {
    let ops = (0..history.op_count() as u32).map(|op| history.op(OpId(op)));
    ops.filter_map(|op| match op.value.kind() {
        ValueKind::List(number) => Some((op.key, history.list(number))),
        _ => None,
    })
}

/// Whether some way to complete `chosen`, the appends of the first of `places`, satisfies the level.
fn some_naming(history: &History, level: Level, places: &[(KeyId, Value)], chosen: &mut Vec<OpId>) -> bool {
    let Some(&(key, element)) = places.get(chosen.len()) else {
        return oracle::satisfies(&notation::parse(&named(history, places, chosen)).unwrap(), level);
    };
    (0..history.op_count() as u32).map(OpId).any(|append| {
        let op = history.op(append);
        if op.kind != OpKind::Append || (op.key, op.value) != (key, element) || chosen.contains(&append) {
            return false;
        }
        chosen.push(append);
        let found = some_naming(history, level, places, chosen);
        chosen.pop();
        found
    })
}

/// The history with the number of each append as its element.
fn named(history: &History, places: &[(KeyId, Value)], chosen: &[OpId]) -> String {
    let list = |key: KeyId, length: usize| {
        let of_key = places.iter().zip(chosen).filter(|((other, _), _)| *other == key);
        of_key.take(length).map(|(_, append)| append.0.to_string()).collect::<Vec<_>>().join(" ")
    };
    let op = |id: u32| {
        let op = history.op(OpId(id));
        let key = history.key_name(op.key);
        match op.value.kind() {
            _ if op.kind == OpKind::Append => format!("a({key},{id})"),
            ValueKind::List(number) => format!("r({key},[{}])", list(op.key, history.list(number).len())),
            _ => format!("r({key},nil)"),
        }
    };
    let txn = |txn: u32| history.ops_of(TxnId(txn)).map(op).collect::<Vec<_>>().join(" ");
    let sessions: Vec<Vec<String>> =
        history.sessions().map(|session| history.txns_of(session).map(txn).collect()).collect();
    lines(&sessions)
}

const PLAIN: Shape = Shape { keys: 2, duplicates: false, outcomes: false, initial: false, txns_max: 6, ops_max: 4 };
const OUTCOMES: Shape = Shape { outcomes: true, ..PLAIN };
const DUPLICATES: Shape = Shape { duplicates: true, outcomes: true, txns_max: 5, ops_max: 3, ..PLAIN };
const INITIALS: Shape = Shape { initial: true, outcomes: true, ..PLAIN };
const INITIALS_AND_DUPLICATES: Shape = Shape { initial: true, ..DUPLICATES };
const LISTS: Shape = Shape { txns_max: 5, ops_max: 3, ..PLAIN };
// Without aborted and unknown transactions, because of the two tests that are ignored below.
const LISTS_AND_DUPLICATES: Shape = Shape { duplicates: true, ..LISTS };
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
    fn lists_with_elements_appended_twice(raw in raw_history(LISTS_AND_DUPLICATES), shuffle: u64, disorder: bool) {
        compare(&list_text(&raw, LISTS_AND_DUPLICATES, shuffle, disorder), true, satisfies_by_some_naming);
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
}

#[test]
#[ignore = "the oracle does not count an inner element of a list as a read from the unknown transaction that appended it"]
fn an_unknown_transaction_whose_element_stands_inside_a_list() {
    compare_with_oracle("s0: a(y,1) r(x,[2 3]) | r(y,[1]) r(y,nil) a(x,2)? | a(x,3)", false);
}

#[test]
#[ignore = "the verdict is right, but the explanation names none of the aborted appends"]
fn an_element_that_only_an_aborted_transaction_appended_twice() {
    compare_with_oracle("s0: a(k0,3) a(k0,3)! | r(k0,[3 3])", true);
}
