//! The scans against literal counts.

use super::*;
use crate::index::{Index, Source};
use crate::stale_reads::stale_reads;
use crate::weak::{CausalOrder, TimeCycles, WeakLevels};
use seriatim_history::{
    Atom, Columns, History, KeyId, KeyNames, OpId, OpKind, Status, TxnId, Value,
};
use seriatim_isolation::Level;
use std::collections::{BTreeMap, BTreeSet};

/// Transactions of three sessions that mostly read and write the same few keys.
fn random_history(seed: u64) -> History {
    let mut state = seed;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let keys = 1 + random(4);
    let mut columns =
        Columns { key_names: KeyNames::Numbers { count: keys as u32 }, ..Columns::default() };
    let mut newest = vec![0; keys as usize];
    for _ in 0..2 + random(7) {
        let txn = columns.push_txn(random(3) as u32, Status::Committed);
        let mut written = vec![false; keys as usize];
        for _ in 0..1 + random(4) {
            let key = random(keys) as usize;
            let is_write = random(2) == 0;
            if written[key] {
                continue;
            }
            newest[key] += u64::from(is_write);
            written[key] |= is_write;
            let value = if is_write { newest[key] } else { random(newest[key] + 1) };
            let kind = if is_write { OpKind::Write } else { OpKind::Read };
            let value = if value == 0 { Value::NULL } else { Value::from_raw(value) };
            columns.push_op(txn, kind, KeyId(key as u32), value);
        }
    }
    columns.finish().unwrap()
}

/// The external reads of a transaction, as (key, source), and the keys that it writes.
type ReadsAndWrites = (BTreeSet<(KeyId, Source)>, BTreeSet<KeyId>);

fn operations(history: &History, index: &Index) -> Vec<ReadsAndWrites> {
    let of_txn = |txn: TxnId| {
        let ops = || history.ops_of(txn).map(|op| (OpId(op), history.op(OpId(op))));
        let source = |op: OpId| index.source_of(op);
        let reads = ops().filter(|(op, _)| !source(*op).is_none());
        let writes = ops().filter(|(_, op)| op.kind.is_write());
        (
            reads.map(|(number, op)| (op.key, source(number))).collect(),
            writes.map(|(_, op)| op.key).collect(),
        )
    };
    history.txns().map(of_txn).collect()
}

/// Of the transactions that read one version of a key and write the key, all but one.
fn literal_lost_updates(history: &History, index: &Index) -> u64 {
    let mut updates: BTreeMap<(KeyId, Source), u64> = BTreeMap::new();
    for (reads, writes) in operations(history, index) {
        for read in reads.into_iter().filter(|(key, _)| writes.contains(key)) {
            *updates.entry(read).or_default() += 1;
        }
    }
    updates.values().map(|count| count - 1).sum()
}

/// (so ∪ wr)+.
fn causal(history: &History, index: &Index) -> Vec<Vec<bool>> {
    let n = history.txn_count();
    let mut order = vec![vec![false; n]; n];
    for txn in history.txns() {
        for earlier in history.txns().filter(|&earlier| earlier < txn) {
            order[earlier.index()][txn.index()] =
                history.session_of(earlier) == history.session_of(txn);
        }
        for source in index.sources_of(history, txn) {
            order[source.index()][txn.index()] = true;
        }
    }
    for middle in 0..n {
        for a in 0..n {
            for b in 0..n {
                order[a][b] |= order[a][middle] && order[middle][b];
            }
        }
    }
    order
}

/// Pairs of transactions that evidently miss each other by different keys and lose no update.
fn literal_write_skews(history: &History, index: &Index) -> u64 {
    let (order, ops) = (causal(history, index), operations(history, index));
    let missed = |a: usize, b: usize| -> BTreeSet<KeyId> {
        let is_before = |source: Source| source.txn().is_none_or(|txn| order[txn.index()][b]);
        let reads = ops[a].0.iter().filter(|(key, _)| ops[b].1.contains(key));
        reads
            .filter(|(_, s)| *s != TxnId::from(b).into() && is_before(*s))
            .map(|(key, _)| *key)
            .collect()
    };
    let loses = |a: usize, b: usize| {
        ops[a]
            .0
            .intersection(&ops[b].0)
            .any(|(key, _)| ops[a].1.contains(key) && ops[b].1.contains(key))
    };
    let is_skew = |a: usize, b: usize| {
        let (by_a, by_b) = (missed(a, b), missed(b, a));
        by_a.iter().any(|x| by_b.iter().any(|y| x != y)) && !loses(a, b)
    };
    let n = history.txn_count();
    (0..n).map(|a| (0..a).filter(|&b| is_skew(a, b)).count() as u64).sum()
}

#[test]
fn lost_updates_are_counted_as_the_literal_count_does() {
    let mut some = 0;
    for seed in 0..8000 {
        let history = random_history(seed);
        let index = Index::build(&history, 1);
        let found = lost_updates(&history, &index);
        assert_eq!(found.count(), literal_lost_updates(&history, &index), "seed {seed}");
        assert_eq!(found.pairs(&history).count() as u64, found.count());
        assert!(found.to_blame().count() as u64 >= found.count());
        some += u64::from(found.count() > 0);
    }
    assert!(some > 500, "{some}");
}

#[test]
fn the_lost_update_that_is_shown_changes_something() {
    // Both write the whole row back; only the stock is another one. A scan says null of what is
    // initial.
    for (name, stock) in [("\"lamp\"", "1"), ("null", "null")] {
        let line = |session: &str, written: [&str; 2]| {
            format!(
                "{{\"session\":\"{session}\",\"ops\":[[\"r\",\"name\",{name}],\
                 [\"r\",\"stock\",{stock}],[\"w\",\"name\",\"{}\"],[\"w\",\"stock\",\"{}\"]]}}\n",
                written[0], written[1]
            )
        };
        let text = format!(
            "{{\"seriatim\":1,\"initial\":{{\"name\":\"lamp\",\"stock\":1}}}}\n{}{}",
            line("a", ["lamp#2", "0"]),
            line("b", ["lamp#3", "0#2"])
        );
        let options = seriatim_history::formats::ReadOptions::default();
        let read = seriatim_history::formats::read_bytes(text.as_bytes(), "a run", &options);
        let (history, _) = read.unwrap();
        let index = Index::build(&history, 1);
        let found = lost_updates(&history, &index);
        let shown: Vec<Atom> = found
            .pairs(&history)
            .map(|Pair(ops)| history.key_name(history.op(ops[0]).key))
            .collect();
        assert_eq!(shown, ["stock", "name"].map(|name| Atom::Str(name.into())));
    }
}

#[test]
fn write_skews_are_counted_as_the_literal_count_does() {
    let mut some = 0;
    for seed in 0..30_000 {
        let history = random_history(seed);
        let index = Index::build(&history, 1);
        let options = crate::outcome::Options { threads: 1, ..Default::default() };
        let weak = WeakLevels::new(&history, &options, Level::WEAK.to_vec());
        let (order, index) = weak.decide(index, Some(Level::Causal));
        let Some(order) = order else { continue };
        let order = CausalOrder::new(&history, &index, &order, 1);
        let found = write_skews(&history, &index, &order);
        assert!(!found.is_cut);
        assert_eq!(found.count(), literal_write_skews(&history, &index), "seed {seed}");
        assert_eq!(found.pairs(&history, &index).count() as u64, found.count());
        some += u64::from(found.count() > 0);
    }
    assert!(some > 500, "{some}");
}

/// Random transactions with times, each in a session of its own, over two keys.
fn timed_text(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let txn = |number: u64| {
        let ops = match random(2) {
            0 => format!("w(k{},{number})", random(2)),
            _ => format!("r(k{},{})", random(2), random(7)),
        };
        let begin = random(12);
        match random(6) {
            0 => format!("s{number}: {ops} @{begin}-\n"),
            1 => format!("s{number}: {ops} @-{begin}\n"),
            2 => format!("s{number}: {ops}? @{begin}-{}\n", begin + 1),
            _ => format!("s{number}: {ops} @{begin}-{}\n", begin + random(6)),
        }
    };
    (1..=6).map(txn).collect()
}

/// The ages of the stale reads, by the definition.
fn literal_ages(history: &History, index: &Index) -> Vec<(OpId, u64)> {
    let times = |txn: TxnId| history.times(txn).unwrap();
    let mut ages = Vec::new();
    for (read, &source) in index.source_txn.iter().enumerate() {
        let (read, reader) = (OpId::from(read), history.txn_of(OpId::from(read)));
        if source.is_none() || !index.counts[reader.index()] {
            continue;
        }
        let missed = history.txns().filter(|&txn| {
            let mut ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
            ops.any(|op| op.kind.is_write() && op.key == history.op(read).key)
                && index.counts[txn.index()]
                && times(txn).1 < times(reader).0
                && source.txn().is_none_or(|source| times(source).1 < times(txn).0)
        });
        let newest = missed.map(|txn| times(txn).1).max();
        ages.extend(newest.map(|end| (read, (times(reader).0 - end) as u64)));
    }
    ages
}

#[test]
fn stale_reads_are_those_of_the_definition_with_their_ages() {
    let mut some = 0;
    for seed in 0..8000 {
        let text = timed_text(seed);
        let history = seriatim_history::notation::parse(&text).unwrap();
        if !history.has_times() {
            continue;
        }
        let index = Index::build(&history, 1);
        let found: Vec<(OpId, u64)> =
            stale_reads(&history, &index).iter().map(|stale| (stale.read, stale.age)).collect();
        assert_eq!(found, literal_ages(&history, &index), "{text}");
        some += usize::from(!found.is_empty());
    }
    assert!(some > 500, "{some}");
}

/// The same in two sessions, with lists, of which the longest shows the order of appends.
fn timed_sessions(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut sessions = [Vec::new(), Vec::new(), vec!["r(l,[3 1 2])".to_owned()]];
    for number in 1..=6 {
        let ops = match random(3) {
            0 => format!("w(k{},{number})", random(2)),
            1 if number <= 3 => format!("a(l,{number})"),
            _ => format!("r(k{},{})", random(2), random(7)),
        };
        let begin = random(12);
        let end = if random(6) == 0 { String::new() } else { (begin + random(6)).to_string() };
        sessions[random(2) as usize].push(format!("{ops} @{begin}-{end}"));
    }
    let line = |(number, txns): (usize, &Vec<String>)| format!("s{number}: {}\n", txns.join(" | "));
    let filled = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    filled.map(line).collect()
}

/// The transactions that ended before one began that comes before them, by the definition; `None`
/// if transactions come before each other without real time.
fn literal_early(history: &History, index: &Index) -> Option<Vec<TxnId>> {
    let mut order = causal(history, index);
    for edge in index.lists.version_edges.iter().filter(|edge| !edge.is_missing) {
        order[edge.from.index()][edge.to.index()] = true;
    }
    let n = history.txn_count();
    for middle in 0..n {
        for a in 0..n {
            for b in 0..n {
                order[a][b] |= order[a][middle] && order[middle][b];
            }
        }
    }
    if (0..n).any(|txn| order[txn][txn]) {
        return None;
    }
    let times = |txn: TxnId| history.times(txn).unwrap();
    let is_early = |txn: &TxnId| {
        let mut before = history.txns().filter(|earlier| order[earlier.index()][txn.index()]);
        before.any(|earlier| times(*txn).1 < times(earlier).0)
    };
    Some(history.txns().filter(is_early).collect())
}

#[test]
fn real_time_cycles_are_counted_as_the_literal_count_does() {
    let mut some = 0;
    for seed in 0..8000 {
        let text = timed_sessions(seed);
        let history = seriatim_history::notation::parse(&text).unwrap();
        let index = Index::build(&history, 1);
        let Some(expected) = literal_early(&history, &index) else { continue };
        let cycles = TimeCycles::new(&history, &index);
        assert_eq!(cycles.early, expected, "{text}");
        some += usize::from(!expected.is_empty());
        // Without what is to blame there are none.
        let (reads, txns) = cycles.to_blame();
        let ops = (0..history.op_count()).map(OpId::from);
        let left = |op: &OpId| !reads.contains(op) && !txns.contains(&history.txn_of(*op));
        let rest = history.restricted_to(&ops.filter(left).collect::<Vec<_>>());
        let index = Index::build(&rest, 1);
        assert!(TimeCycles::new(&rest, &index).is_empty(), "{text}");
    }
    assert!(some > 500, "{some}");
}
