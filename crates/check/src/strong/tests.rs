//! Compared with the search over frontiers, rule by rule.

use super::decide::{Decision, decide};
use super::mutation::{Rule, without};
use crate::frontier::{self, Frontier};
use crate::index::Index;
use crate::limits::Limits;
use crate::outcome::Effort;
use seriatim_history::{
    Columns, History, KeyId, KeyNames, OpId, OpKind, Status, TxnId, Value, notation,
};
use seriatim_isolation::{Guarantee, Level, Order};
use seriatim_verify::verify_points;
use std::time::{Duration, Instant};

/// How a random history is made.
#[derive(Clone, Copy)]
struct Shape {
    sessions: u64,
    keys: u64,
    txns: u64,
    ops: u64,
    /// Values are below this; then several transactions write the same.
    values: Option<u64>,
    /// One of so many reads is of any version instead of one of the newest.
    stale: u64,
    /// A transaction takes less than this, and begins one tick after the one before it; without it
    /// there are no times.
    ticks: Option<u64>,
}

fn random_history(seed: u64, shape: Shape) -> History {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut columns =
        Columns { key_names: KeyNames::Numbers { count: shape.keys as u32 }, ..Columns::default() };
    let mut written: Vec<Vec<u64>> = vec![Vec::new(); shape.keys as usize];
    let mut next = 0;
    for _ in 0..shape.txns {
        let txn = columns.push_txn(random(shape.sessions) as u32, Status::Committed);
        let mut touched = vec![false; shape.keys as usize];
        let mut writes = Vec::new();
        for _ in 0..=random(shape.ops) {
            let key = random(shape.keys) as usize;
            if touched[key] {
                continue;
            }
            touched[key] = true;
            let kind = if random(2) == 0 { OpKind::Write } else { OpKind::Read };
            next += 1;
            let value = match kind {
                OpKind::Read if random(shape.stale) == 0 => {
                    match random(written[key].len() as u64 + 1) {
                        0 => 0,
                        place => written[key][place as usize - 1],
                    }
                }
                OpKind::Read => {
                    written[key].iter().rev().nth(random(2) as usize).copied().unwrap_or(0)
                }
                _ => shape.values.map_or(next, |values| 1 + random(values)),
            };
            if kind == OpKind::Write {
                writes.push((key, value));
            }
            let value = if value == 0 { Value::NULL } else { Value::from_raw(value) };
            columns.push_op(txn, kind, KeyId(key as u32), value);
        }
        for (key, value) in writes {
            written[key].push(value);
        }
    }
    if let Some(ticks) = shape.ticks {
        let times = (0..shape.txns).map(|txn| (txn as i64, (txn + 1 + random(ticks)) as i64));
        columns.txn_times = Some(times.collect());
    }
    columns.finish().unwrap()
}

const LEVELS: [Level; 3] =
    [Level::PrefixConsistency, Level::SnapshotIsolation, Level::Serializable];

fn decide_alone(
    history: &History,
    index: &Index,
    asked: impl Into<Guarantee>,
) -> (Decision, Effort) {
    let limits =
        Limits { deadline: Some(Instant::now() + Duration::from_secs(20)), ..Limits::default() };
    decide(history, index, asked.into(), limits, 1)
}

/// Compares with the search over frontiers, has every order verified and every set of guilty
/// transactions re-checked.
fn compare(shape: Shape, seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut holding, mut violated) = (0, 0);
    for seed in seeds {
        let history = random_history(seed, shape);
        let index = Index::build(&history, 1);
        assert!(index.faults.is_empty(), "seed {seed}");
        if !index.unrepeated.is_empty() {
            continue;
        }
        let order = if shape.ticks.is_some() { Order::RealTime } else { Order::Sessions };
        for level in LEVELS.map(|level| Guarantee::new(level, order)) {
            let (decision, effort) = decide_alone(&history, &index, level);
            match (frontier::search(&history, level, 10_000_000), decision) {
                (Frontier::Holds(_), Decision::Holds(points)) => {
                    verify_points(&history, level, &points)
                        .unwrap_or_else(|e| panic!("{e}: seed {seed} at {level}"));
                    holding += 1;
                }
                (Frontier::Violated, Decision::Violated(txns)) => {
                    assert_core(&history, level, &txns, seed);
                    violated += 1;
                }
                (found, decision) => {
                    panic!("{found:?} but {decision:?} {effort:?}: seed {seed} at {level}")
                }
            }
        }
    }
    (holding, violated)
}

fn assert_core(history: &History, level: Guarantee, txns: &[TxnId], seed: u64) {
    let ops: Vec<OpId> = txns.iter().flat_map(|&txn| history.ops_of(txn)).map(OpId).collect();
    let written = |op: OpId| {
        let op = history.op(op);
        op.value == Value::NULL
            || !op.kind.is_write()
                && !history.txns().any(|txn| {
                    history.ops_of(txn).any(|id| {
                        let other = history.op(OpId(id));
                        other.kind.is_write()
                            && other.key == op.key
                            && other.value == op.value
                            && !txns.contains(&txn)
                    })
                })
            || op.kind.is_write()
    };
    let ops: Vec<OpId> = ops.into_iter().filter(|&op| written(op)).collect();
    let part = history.restricted_to(&ops);
    let found = frontier::search(&part, level, 10_000_000);
    // A transaction that may be there for its times alone is lost with its last operation.
    let is_whole = part.txn_count() == txns.len() || level.order != Order::RealTime;
    assert!(
        !is_whole || matches!(found, Frontier::Violated),
        "the core {txns:?} is not violated: seed {seed} at {level}"
    );
}

const FEW: Shape =
    Shape { sessions: 3, keys: 3, txns: 7, ops: 4, values: None, stale: 3, ticks: None };
const MORE: Shape =
    Shape { sessions: 4, keys: 4, txns: 14, ops: 5, values: None, stale: 12, ticks: None };
const DUPLICATES: Shape =
    Shape { sessions: 3, keys: 2, txns: 7, ops: 3, values: Some(3), stale: 4, ticks: None };
const MORE_DUPLICATES: Shape =
    Shape { sessions: 4, keys: 4, txns: 14, ops: 4, values: Some(4), stale: 12, ticks: None };

#[test]
fn agrees_with_the_search_over_frontiers() {
    for shape in [FEW, MORE, DUPLICATES, MORE_DUPLICATES, TIMED, MORE_TIMED, TIMED_DUPLICATES] {
        let (holding, violated) = compare(shape, 0..1500);
        assert!(holding > 300 && violated > 300, "{holding} hold, {violated} do not");
    }
}

/// `FILE=… LEVEL=ser|si|pc cargo test --release -p seriatim-check measure -- --ignored --nocapture`
#[test]
#[ignore = "for measurements by hand"]
fn measure() {
    let path = std::env::var("FILE").unwrap();
    let level = match std::env::var("LEVEL").as_deref() {
        Ok("si") => Level::SnapshotIsolation,
        Ok("pc") => Level::PrefixConsistency,
        _ => Level::Serializable,
    };
    let (history, _) = seriatim_history::formats::read_path(
        std::path::Path::new(&path),
        &path,
        &Default::default(),
    )
    .unwrap();
    let start = Instant::now();
    let index = Index::build(&history, 2);
    println!(
        "index {:?}, ambiguous {}, faults {}",
        start.elapsed(),
        index.ambiguous.len(),
        index.faults.len()
    );
    let limits =
        Limits { deadline: Some(Instant::now() + Duration::from_secs(100)), ..Limits::default() };
    let (decision, effort) = decide(&history, &index, level.into(), limits, 2);
    println!("{:?}: {effort:?}", start.elapsed());
    match decision {
        Decision::Holds(points) => println!("holds, {} points", points.len()),
        other => println!("{other:?}"),
    }
}

/// A violation that only the search finds, each transaction in a session of its own; with `missing`
/// one of its reads is left out, and it is none.
fn gadget(missing: Option<usize>) -> History {
    let mut text = String::new();
    let mut links = 0;
    for i in 0..2 {
        for side in ["p", "q"] {
            text +=
                &format!("{side}{i}: w(x{i},{side}) w({side}{i},1)\n{side}{i}r: r(x{i},{side})");
            for writer in ["p", "q"] {
                if missing != Some(links) {
                    text += &format!(" r({writer}{},1)", 1 - i);
                }
                links += 1;
            }
            text += "\n";
        }
    }
    notation::parse(&text).unwrap()
}

const TIMED: Shape = Shape { ticks: Some(4), ..FEW };
const MORE_TIMED: Shape = Shape { ticks: Some(12), ..MORE };
const TIMED_DUPLICATES: Shape = Shape { ticks: Some(6), ..DUPLICATES };

/// Small histories on which a broken rule shows, the likeliest first, with the levels to look at.
fn subjects() -> impl Iterator<Item = (History, Vec<Level>)> {
    let gadgets = std::iter::once(None)
        .chain((0..8).map(Some))
        .map(|missing| (gadget(missing), LEVELS.to_vec()));
    let random = (0..400).flat_map(|seed| {
        let plain = [FEW, MORE, DUPLICATES, MORE_DUPLICATES]
            .map(|shape| (random_history(seed, shape), LEVELS.to_vec()));
        plain.into_iter().chain([(random_history(seed, TIMED), vec![Level::StrictSerializable])])
    });
    gadgets.chain(random)
}

/// Whether the answers are right.
fn is_right(history: &History, levels: &[Level]) -> bool {
    let index = Index::build(history, 1);
    if !index.unrepeated.is_empty() {
        return true;
    }
    levels.iter().all(|&level| {
        let found = frontier::search(history, level, 10_000_000);
        match (found, decide_alone(history, &index, level).0) {
            (Frontier::Holds(_), Decision::Holds(points)) => {
                verify_points(history, level, &points).is_ok()
            }
            (Frontier::Violated, Decision::Violated(_)) => true,
            _ => false,
        }
    })
}

#[test]
fn the_rules_are_enough() {
    for (number, (history, levels)) in subjects().enumerate() {
        assert!(is_right(&history, &levels), "subject {number}");
    }
}

/// Each rule that is broken makes an answer wrong, or ends in a failed assertion.
#[test]
fn every_rule_is_needed() {
    let shows = |rule: Rule| {
        subjects().position(|(history, levels)| {
            let right = || without(rule, || is_right(&history, &levels));
            !std::panic::catch_unwind(std::panic::AssertUnwindSafe(right)).unwrap_or(false)
        })
    };
    let shown = Rule::ALL.map(|rule| (rule, shows(rule)));
    println!("first subject that shows each broken rule: {shown:?}");
    for (rule, subject) in shown {
        assert!(subject.is_some(), "nothing shows that {rule:?} is broken");
    }
}
