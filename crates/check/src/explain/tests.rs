//! Refutations, smallest parts and explanations against the definitions, on random small histories.

use super::budget::Budget;
use super::explanation::explain;
use super::instance::{self, Instance};
use super::path;
use super::refute::{Refutation, refute, refute_instance};
use super::shrink::shrink;
use super::state::Saturation;
use crate::index::Index;
use crate::limits::Limits;
use crate::outcome::{Edge, Origin, Reason, Why};
use crate::{Answer, Checker, check};
use seriatim_history::{History, OpId};
use seriatim_history::{OpKind, TxnId, notation};
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use seriatim_isolation::oracle;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A generator of numbers that needs nothing.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// What a random history is like.
#[derive(Clone, Copy, Debug)]
struct Make {
    txns: u64,
    ops: u64,
    keys: u64,
    sessions: u64,
    /// Values are 1 and 2 only.
    duplicates: bool,
    unknown: bool,
    times: bool,
    /// Transactions read only from those before them, so that the causal order is acyclic.
    orderly: bool,
}

const PLAIN: Make = Make {
    txns: 6,
    ops: 4,
    keys: 3,
    sessions: 4,
    duplicates: false,
    unknown: false,
    times: false,
    orderly: false,
};

/// A random history in the notation: reads return what a transaction writes to the key, or 0.
fn random_text(make: Make, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
    let txns = 2 + random.below(make.txns - 1);
    let mut next = 0;
    let mut written: Vec<(usize, u64, u64)> = Vec::new();
    let mut plan: Vec<Vec<(bool, u64, u64)>> = Vec::new();
    for txn in 0..txns as usize {
        let mut ops: Vec<(bool, u64, u64)> = Vec::new();
        for _ in 0..1 + random.below(make.ops) {
            let (write, key) = (random.one_in(2), random.below(make.keys));
            if ops.iter().any(|op| op.1 == key && (op.0 || !write)) {
                continue;
            }
            next += 1;
            let value = if make.duplicates { 1 + random.below(2) } else { next };
            if write {
                written.push((txn, key, value));
            }
            ops.push((write, key, value));
        }
        plan.push(ops);
    }
    let mut sessions = vec![Vec::new(); make.sessions as usize];
    let mut clock = 0;
    for (txn, ops) in plan.iter().enumerate() {
        let mut text = String::new();
        for &(write, key, value) in ops {
            let readable = |writer: usize| writer < txn || (writer > txn && !make.orderly);
            let others: Vec<u64> =
                written.iter().filter(|w| readable(w.0) && w.1 == key).map(|w| w.2).collect();
            let read = match random.below(3) {
                0 => 0,
                _ if others.is_empty() => 0,
                _ => others[random.below(others.len() as u64) as usize],
            };
            text +=
                &if write { format!("w(k{key},{value}) ") } else { format!("r(k{key},{read}) ") };
        }
        if make.unknown && random.one_in(4) {
            text.push('?');
        }
        if make.times {
            let begin = clock + random.below(3);
            let end = begin + random.below(6);
            clock += random.below(3);
            text += &format!(" @{begin}-{end}");
        }
        sessions[random.below(make.sessions) as usize].push(text);
    }
    let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join("| "))).collect()
}

/// A random history of lists: each key has one order, reads return prefixes of it.
fn random_lists(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xDEAD);
    let mut orders: [Vec<u64>; 2] = Default::default();
    let mut plan = Vec::new();
    let mut next = 0;
    for _ in 0..2 + random.below(4) {
        let mut ops: Vec<(bool, usize, u64)> = Vec::new();
        for _ in 0..1 + random.below(3) {
            let (append, key) = (random.one_in(2), random.below(2) as usize);
            if ops.iter().any(|op| op.1 == key && (op.0 || !append)) {
                continue;
            }
            next += 1;
            if append {
                let place = random.below(orders[key].len() as u64 + 1) as usize;
                orders[key].insert(place, next);
            }
            ops.push((append, key, next));
        }
        plan.push(ops);
    }
    let mut sessions = vec![Vec::new(); 4];
    for ops in &plan {
        let mut text = String::new();
        for &(append, key, value) in ops {
            let own = ops.iter().find(|op| op.0 && op.1 == key).map(|op| op.2);
            let ceiling = own.and_then(|own| orders[key].iter().position(|&item| item == own));
            let length = random.below(ceiling.unwrap_or(orders[key].len()) as u64 + 1) as usize;
            let list: Vec<String> = orders[key][..length].iter().map(u64::to_string).collect();
            text += &match (append, list.is_empty()) {
                (true, _) => format!("a(k{key},{value}) "),
                (false, true) => format!("r(k{key},nil) "),
                (false, false) => format!("r(k{key},[{}]) ", list.join(" ")),
            };
        }
        sessions[random.below(4) as usize].push(text);
    }
    let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join("| "))).collect()
}

fn violated(history: &History, level: Level) -> bool {
    match refute(history, level, &mut Budget::default()) {
        Refutation::Violated(_) => true,
        Refutation::Consistent => false,
        Refutation::OutOfBudget => panic!("a small history needs no large budget"),
    }
}

/// Compares with the definition at each strong level; how often each answer was given.
fn compare(texts: impl Iterator<Item = String>) -> (usize, usize) {
    let (mut holding, mut violating) = (0, 0);
    for text in texts {
        let history = notation::parse(&text).unwrap();
        if !Index::build(&history, 1).faults.is_empty() {
            continue;
        }
        for level in Level::STRONG {
            let found = violated(&history, level);
            assert_eq!(found, !oracle::satisfies(&history, level), "{level} of\n{text}");
            if found { violating += 1 } else { holding += 1 }
        }
    }
    (holding, violating)
}

fn assert_both(counts: (usize, usize)) {
    assert!(counts.0 > 300 && counts.1 > 300, "{counts:?}");
}

#[test]
fn plain_histories_are_refuted_iff_the_definition_rejects_them() {
    assert_both(compare((0..3000).map(|seed| random_text(PLAIN, seed))));
}

#[test]
fn real_time_counts_at_strict_serializability() {
    assert_both(compare((0..2000).map(|seed| random_text(Make { times: true, ..PLAIN }, seed))));
}

#[test]
fn duplicate_values_are_excused_by_any_source() {
    let make = Make { duplicates: true, txns: 5, ops: 3, keys: 2, ..PLAIN };
    assert_both(compare((0..3000).map(|seed| random_text(make, seed))));
}

#[test]
fn transactions_of_unknown_outcome_count_only_if_somebody_read_from_them() {
    let make = Make { unknown: true, txns: 5, ops: 3, keys: 2, ..PLAIN };
    assert_both(compare((0..2000).map(|seed| random_text(make, seed))));
    let make = Make { duplicates: true, ..make };
    assert_both(compare((0..2000).map(|seed| random_text(make, seed))));
}

#[test]
fn lists_show_the_order_of_versions() {
    assert_both(compare((0..3000).map(random_lists)));
}

/// Two writers of a key for each of `choices` keys, and a reader of each version. Whichever of the
/// writers of key i comes first, its reader precedes the other writer, and all writers of key i are
/// read by the readers of key i+1 (around the corner): every way to choose orders closes a cycle,
/// through all of the choices.
fn gadget(choices: usize) -> String {
    let mut text = String::new();
    for i in 0..choices {
        let before = (i + choices - 1) % choices;
        for side in ["p", "q"] {
            text += &format!("w{i}{side}: w(x{i},{side}) w({side}{i},1)\n");
            text += &format!("r{i}{side}: r(x{i},{side}) r(p{before},1) r(q{before},1)\n");
        }
    }
    text
}

#[test]
fn choices_that_are_all_wrong_are_refuted_although_each_is_possible() {
    for choices in [2, 3] {
        let history = notation::parse(&gadget(choices)).unwrap();
        assert_eq!(history.txn_count(), 4 * choices);
        for level in Level::STRONG {
            assert!(violated(&history, level), "{choices} choices at {level}");
            let ops: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
            let instance = Instance::new(&history, &ops);
            let mut state =
                Saturation::new(&instance, level.into(), &mut Budget::default()).unwrap();
            let saturated = state.saturate(path::Preference::Short, &mut Budget::default());
            assert!(matches!(saturated, Ok(None)), "saturation alone is not enough");
            for gone in history.txns() {
                let rest: Vec<OpId> =
                    ops.iter().copied().filter(|&op| history.txn_of(op) != gone).collect();
                assert!(
                    !violated(&history.restricted_to(&rest), level),
                    "{gone:?} is not needed at {level}"
                );
            }
        }
    }
}

/// A long fork whose writers and readers are `between` transactions apart in their sessions.
fn distant_fork(between: usize) -> String {
    let session = |name: &str, write: &str, read: &str| {
        let others = (0..between).map(|i| format!("w({name}{i},1)"));
        let txns: Vec<String> =
            [write.to_owned()].into_iter().chain(others).chain([read.to_owned()]).collect();
        format!("{name}: {}\n", txns.join(" | "))
    };
    session("a", "w(x,1)", "r(y,0)") + &session("b", "w(y,1)", "r(x,0)")
}

/// A chain of orders, each of which is forced by the one before; the last one is contradicted.
fn chain(links: usize) -> String {
    let mut text =
        "z: r(m0,1) r(end,0)\ny: w(end,1) w(over,1)\n".replace("m0", &format!("m{}", links - 1));
    text += "v: r(over,1) r(last,0)\n";
    for i in 0..links {
        let (before, after) = (
            i.wrapping_sub(1),
            if i + 1 < links { format!("r(l{i},1)") } else { "w(last,1)".to_owned() },
        );
        let (first, second) = if i == 0 {
            ("w(begin,1)".to_owned(), "r(begin,1) ")
        } else {
            (format!("w(l{before},1)"), "")
        };
        text += &format!(
            "a{i}: w(x{i},1) {first}\nb{i}: {second}w(x{i},2) w(m{i},1)\nr{i}: r(x{i},1) {after}\n"
        );
        if i > 0 {
            text += &format!("s{i}: r(m{before},1) r(x{i},2)\n");
        }
    }
    text
}

#[test]
fn what_a_session_has_in_between_is_skipped() {
    let history = notation::parse(&distant_fork(600)).unwrap();
    let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    let start = Instant::now();
    let told = explain(&history, &all, Level::Serializable, &mut Budget::default()).unwrap();
    assert_eq!((told.ops.len(), told.cycle.len()), (4, 4));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn a_long_session_is_no_part_of_a_violation() {
    let history = notation::parse(&distant_fork(1100)).unwrap();
    let levels = [Level::PrefixConsistency, Level::Serializable];
    let report = Checker::new().levels(levels).check(&history);
    assert_eq!(report.verdicts[1].answer(), Answer::Violated);
    assert_eq!(
        report.anomalies.iter().map(|group| group.exemplar.ops.len()).collect::<Vec<_>>(),
        [4]
    );
}

#[test]
fn long_transactions_are_read_once() {
    let count = 20_000;
    let writes = (0..count)
        .map(|key| format!("w(k{key},1)"))
        .chain((0..count).map(|key| format!("r(k{key},1)")));
    let reads = (0..count).map(|key| format!("r(k{key},1)"));
    let join = |ops: &mut dyn Iterator<Item = String>| ops.collect::<Vec<_>>().join(" ");
    let text = format!(
        "a: r(x,0) r(y,0) w(x,1) {}\nb: r(x,0) r(y,0) w(y,1)\nc: {}\n",
        join(&mut writes.into_iter()),
        join(&mut reads.into_iter())
    );
    let history = notation::parse(&text).unwrap();
    let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    let start = Instant::now();
    let told = explain(&history, &all, Level::Serializable, &mut Budget::default()).unwrap();
    assert_eq!((told.kind, told.ops.len()), (Anomaly::WriteSkew, 4));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn explanations_end_in_time() {
    let history = notation::parse(&chain(60)).unwrap();
    let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    assert!(violated(&history, Level::Serializable));
    let start = Instant::now();
    let limits = Limits { deadline: Some(start + Duration::from_millis(300)), memory: None };
    // Whether there is an explanation then depends on the machine; if there is one, it is right.
    if let Some(told) = explain(&history, &all, Level::Serializable, &mut Budget::within(limits)) {
        let ops: Vec<OpId> = told.ops.iter().filter_map(|op| op.id).collect();
        assert!(violated(&history.restricted_to(&ops), Level::Serializable));
    }
    assert!(start.elapsed() < Duration::from_millis(800), "{:?}", start.elapsed());
}

#[test]
fn a_lost_update_stays_one_if_a_read_shows_that_it_was_committed() {
    let history = notation::parse("a: r(x,0) w(x,1) ?\nb: r(x,0) w(x,2)\nc: r(x,1)").unwrap();
    let report = check(&history, Level::SnapshotIsolation);
    assert_eq!(
        report.anomalies.iter().map(|group| group.kind).collect::<Vec<_>>(),
        [Anomaly::LostUpdate]
    );
    assert_eq!(report.anomalies[0].exemplar.ops.len(), 5);
}

/// Also in any order of the lines, and of the operations.
#[test]
fn who_updates_two_keys_at_once_loses_updates() {
    let one = ["a: r(x,0) r(y,0) w(x,1) w(y,1)", "a: r(y,0) r(x,0) w(y,1) w(x,1)"];
    let two = ["b: r(x,0) r(y,0) w(x,2) w(y,2)", "b: r(y,0) w(y,2) r(x,0) w(x,2)"];
    for text in one
        .iter()
        .flat_map(|one| two.map(|two| [format!("{one}\n{two}"), format!("{two}\n{one}")]))
        .flatten()
    {
        let report = Checker::new().check(&notation::parse(&text).unwrap());
        assert_eq!(
            report.anomalies.iter().map(|group| group.kind).collect::<Vec<_>>(),
            [Anomaly::LostUpdate],
            "{text}"
        );
        assert_eq!(report.anomalies[0].exemplar.ops.len(), 4, "{text}");
    }
}

/// The same history, but some of its transactions are of unknown outcome.
fn with_unknown(text: &str, seed: u64) -> String {
    let mut random = Random(seed);
    let mut mark = |txn: &str| if random.one_in(3) { format!("{txn}?") } else { txn.to_owned() };
    let mut marked = |line: &str| {
        let (session, txns) = line.split_once(": ").unwrap();
        format!("{session}: {}\n", txns.split("| ").map(&mut mark).collect::<Vec<_>>().join("| "))
    };
    text.lines().map(&mut marked).collect()
}

/// Every violated strong level has an anomaly, whose operations violate the level by themselves;
/// how often that was so.
fn shows_every_violation(texts: impl Iterator<Item = String>) -> usize {
    let mut shown = 0;
    for text in texts {
        let history = notation::parse(&text).unwrap();
        let report = Checker::new().threads(1).check(&history);
        let is_violated = |level: &Level| report.verdict(*level).is_some_and(|v| v.is_violated());
        for level in Level::STRONG.into_iter().filter(is_violated) {
            let told = report
                .anomalies
                .iter()
                .flat_map(|group| group.instances.iter().chain([&group.exemplar]));
            let ops =
                told.map(|told| told.ops.iter().filter_map(|op| op.id).collect::<Vec<OpId>>());
            let parts: Vec<History> = ops.map(|ops| history.restricted_to(&ops)).collect();
            assert!(!parts.is_empty(), "{level} is violated without anomaly:\n{text}");
            assert!(
                parts.iter().any(|part| !oracle::satisfies(part, level)),
                "{level} holds in its anomaly:\n{text}"
            );
            shown += 1;
        }
    }
    shown
}

#[test]
fn every_violation_of_a_strong_level_is_shown() {
    let seeds = 800;
    let make = Make { unknown: true, orderly: true, txns: 7, ops: 3, ..PLAIN };
    assert!(shows_every_violation((0..seeds).map(|seed| random_text(make, seed))) > 100);
    assert!(
        shows_every_violation(
            (0..seeds).map(|seed| random_text(Make { times: true, ..make }, seed))
        ) > 100
    );
    let lists =
        (0..seeds).flat_map(|seed| [random_lists(seed), with_unknown(&random_lists(seed), seed)]);
    assert!(shows_every_violation(lists) > 100);
    let make = Make { duplicates: true, keys: 2, times: false, ..make };
    assert!(shows_every_violation((0..2000).map(|seed| random_text(make, seed))) > 100);
}

/// What is left of `ops` without transaction `gone`: the reads that need it go too.
fn without_txn(history: &History, ops: &[OpId], gone: TxnId) -> Vec<OpId> {
    let of_gone: Vec<_> = history
        .ops_of(gone)
        .map(|op| history.op(OpId(op)))
        .filter(|op| op.kind.is_write())
        .collect();
    let needs = |op: OpId| {
        let op = history.op(op);
        let last = instance::elements(history, op.value)
            .and_then(|items| items.last().copied())
            .unwrap_or(op.value);
        op.kind == OpKind::Read
            && of_gone.iter().any(|write| write.key == op.key && write.value == last)
    };
    ops.iter().copied().filter(|&op| history.txn_of(op) != gone && !needs(op)).collect()
}

fn shrinks_well(texts: impl Iterator<Item = String>) {
    let mut shrunk = 0;
    for text in texts {
        let history = notation::parse(&text).unwrap();
        let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        for level in Level::STRONG.into_iter().filter(|&level| violated(&history, level)) {
            let ops = shrink(&history, &all, level.into(), &mut Budget::default());
            let part = history.restricted_to(&ops);
            assert!(violated(&part, level), "{ops:?} at {level} of\n{text}");
            // Restriction would decide unknown outcomes, so the rest is looked at in the history
            // itself.
            for txn in history.txns().filter(|&txn| ops.iter().any(|&op| history.txn_of(op) == txn))
            {
                let rest = Instance::new(&history, &without_txn(&history, &ops, txn));
                let refuted = refute_instance(&rest, level.into(), &mut Budget::default());
                let name = history.txn_name(txn);
                assert!(
                    matches!(refuted, Refutation::Consistent),
                    "{name} of {ops:?} at {level} of\n{text}"
                );
            }
            shrunk += 1;
        }
    }
    assert!(shrunk > 300, "{shrunk}");
}

#[test]
fn what_is_left_is_violated_and_needs_every_transaction() {
    let make = Make { txns: 10, ..PLAIN };
    shrinks_well((0..400).map(|seed| random_text(make, seed)));
    shrinks_well((0..400).map(|seed| random_text(Make { times: true, ..make }, seed)));
    shrinks_well((0..800).map(random_lists));
}

#[test]
fn with_duplicate_values_no_candidate_is_left_out() {
    let make = Make { duplicates: true, txns: 8, keys: 2, ..PLAIN };
    shrinks_well((0..600).map(|seed| random_text(make, seed)));
    let make = Make { unknown: true, ..make };
    shrinks_well((0..1200).map(|seed| random_text(make, seed)));
}

/// Every cycle is closed, those of derivations too.
fn assert_closed(cycle: &[Edge], text: &str) {
    assert!(!cycle.is_empty());
    for (i, edge) in cycle.iter().enumerate() {
        assert_eq!(edge.to, cycle[(i + 1) % cycle.len()].from, "an open cycle on\n{text}");
        let (origin, why) = match &edge.reason {
            Reason::WriteRead { origin, .. } => (Some(origin), None),
            Reason::WriteWrite { why, .. } => (None, Some(why)),
            Reason::ReadWrite { origin, why, .. } => (Some(origin), Some(why)),
            _ => (None, None),
        };
        if let Some(Why::Otherwise(cycle)) = why {
            assert_closed(cycle, text);
        }
        if let Some(Origin::Others(others)) = origin {
            others.iter().for_each(|other| assert_closed(&other.cycle, text));
        }
    }
}

fn explains_well(texts: impl Iterator<Item = String>, kinds: &mut BTreeMap<Anomaly, usize>) {
    for text in texts {
        let history = notation::parse(&text).unwrap();
        let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        for level in Level::STRONG.into_iter().filter(|&level| violated(&history, level)) {
            let told = explain(&history, &all, level, &mut Budget::default()).unwrap();
            let ops: Vec<OpId> = told.ops.iter().filter_map(|op| op.id).collect();
            let part = history.restricted_to(&ops);
            assert!(told.levels.contains(&level), "{level} of\n{text}");
            for &level in told.levels.iter().filter(|level| level.is_strong()) {
                assert!(violated(&part, level), "{:?} at {level} of\n{text}", told.kind);
            }
            assert!(
                told.kind.info().forbidden_by.iter().all(|level| told.levels.contains(level)),
                "{told:?}"
            );
            assert_closed(&told.cycle, &text);
            *kinds.entry(told.kind).or_default() += 1;
        }
    }
}

#[test]
fn explanations_are_violated_by_themselves() {
    let mut kinds = BTreeMap::new();
    let make = Make { txns: 9, ops: 3, orderly: true, ..PLAIN };
    explains_well((0..1500).map(|seed| random_text(make, seed)), &mut kinds);
    explains_well(
        (0..2000).map(|seed| random_text(Make { keys: 5, sessions: 9, ..make }, seed)),
        &mut kinds,
    );
    explains_well((0..500).map(|seed| random_text(Make { times: true, ..make }, seed)), &mut kinds);
    explains_well(
        (0..500).map(|seed| random_text(Make { duplicates: true, unknown: true, ..make }, seed)),
        &mut kinds,
    );
    explains_well((0..500).map(random_lists), &mut kinds);
    explains_well([2, 3].into_iter().map(gadget), &mut kinds);
    let long_fork = "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,0)\nd: r(y,1) r(x,0)";
    explains_well([long_fork.to_owned()].into_iter(), &mut kinds);
    for kind in Anomaly::ALL.into_iter().filter(|&kind| kind >= Anomaly::DirtyWrite) {
        assert!(kinds.contains_key(&kind), "{kind:?} not in {kinds:?}");
    }
}
