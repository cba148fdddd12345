//! Rounds of a recording may be checked one by one: what holds in each of them holds in all of them
//! together, and what is violated in one is violated in all.

use proptest::prelude::*;
use serde_json::json;
use seriatim_audit::{Outcome, RecordedTxn, Recorder, Recording};
use seriatim_check::{Answer, Checker};
use seriatim_history::History;
use seriatim_history::formats::{Format, ReadOptions, read_bytes};
use seriatim_isolation::{Level, Order};
use std::path::Path;

const LEVELS: [Level; 7] = [
    Level::ReadCommitted,
    Level::CutIsolation,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// Of a transaction: its session, its operations (a key, and which of the values that the round
/// writes to it is read; none is a write), and how long it takes.
type Txn = (u8, Vec<(u8, Option<u8>)>, u8);

fn rounds() -> impl Strategy<Value = Vec<Vec<Txn>>> {
    let op = (0_u8..2, proptest::option::of(0_u8..4));
    let txn = (0_u8..3, proptest::collection::vec(op, 1..4), 1_u8..30);
    let round = proptest::collection::vec(txn, 1..6);
    proptest::collection::vec(round, 1..4)
}

/// Records rounds, as an audit does: each has registers of its own and begins after the one before.
fn record(path: &Path, rounds: &[Vec<Txn>]) {
    let recorder = Recorder::new(path, &json!({ "source": "audit" })).unwrap();
    for (number, round) in rounds.iter().enumerate() {
        let register = |key: u8| number * 20 + usize::from(key);
        let counts = [0, 1].map(|key| {
            let ops = round.iter().flat_map(|(_, ops, _)| ops);
            ops.filter(|(other, read)| *other == key && read.is_none()).count()
        });
        let begun = 10_000 * number as u64;
        let txn = |session: String, begin, end, ops| RecordedTxn {
            session,
            begin: begun + begin,
            end: begun + end,
            outcome: Outcome::Committed,
            ops,
            statements: Vec::new(),
        };
        let made = [0, 1].map(|key| json!(["w", register(key), 0]));
        recorder.record(&txn(format!("{number}.set-up"), 0, 0, made.to_vec()));
        let (mut clocks, mut written) = ([1_u64; 3], [0_usize; 2]);
        for (session, ops, time) in round {
            let ops = ops.iter().map(|&(key, read)| match read {
                Some(which) => {
                    let value = usize::from(which) % (counts[usize::from(key)] + 1);
                    json!(["r", register(key), value])
                }
                None => {
                    written[usize::from(key)] += 1;
                    json!(["w", register(key), written[usize::from(key)]])
                }
            });
            let clock = &mut clocks[usize::from(*session)];
            let (begin, end) = (*clock, *clock + u64::from(*time));
            *clock = end + 1;
            recorder.record(&txn(format!("{number}.{session}"), begin, end, ops.collect()));
        }
    }
    recorder.finish().unwrap();
}

fn verdict(history: &History, level: Level, order: Order) -> Answer {
    let report = Checker::new().levels([level]).order(order).check(history);
    report.verdict(level).unwrap().answer()
}

proptest! {
    #[test]
    fn rounds_one_by_one_are_the_whole_recording(rounds in rounds()) {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("seriatim-rounds-{}.jsonl", std::process::id()));
        record(&path, &rounds);
        let bytes = std::fs::read(&path).unwrap();
        let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
        let (whole, _) = read_bytes(&bytes, "whole", &options).unwrap();
        let mut recording = Recording::open(&path).unwrap();
        let mut parts = Vec::new();
        while let Some(round) = recording.round().unwrap() {
            parts.push(round.history().unwrap());
        }
        std::fs::remove_file(&path).unwrap();
        prop_assert_eq!(parts.len(), rounds.len());
        for order in [Order::Sessions, Order::RealTime] {
            for level in LEVELS {
                let holds = |history: &History| verdict(history, level, order) == Answer::Holds;
                prop_assert_eq!(parts.iter().all(holds), holds(&whole), "{} {:?}", level, order);
            }
        }
    }
}

#[test]
fn what_is_no_line_of_a_recording_is_named() {
    let path = std::env::temp_dir().join(format!("seriatim-broken-{}.jsonl", std::process::id()));
    let lines = [
        r#"{"seriatim":1,"source":"audit"}"#,
        r#"{"session":"0.1","ops":[["w",1,1]]}"#,
        r#"{"session":"1.1","ops":[["w",2,1]]}"#,
        r#"{"session":"1.2","ops":[["w",]]}"#,
        r#"{"session":"none","ops":[]}"#,
        "",
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let mut recording = Recording::open(&path).unwrap();
    recording.round().unwrap().unwrap().history().unwrap();
    let problem = recording.round().unwrap_err().to_string();
    assert!(problem.starts_with("line 5 of the recording: expected a transaction"), "{problem}");
    std::fs::write(&path, lines[..4].join("\n") + "\n").unwrap();
    let mut recording = Recording::open(&path).unwrap();
    recording.round().unwrap();
    let round = recording.round().unwrap().unwrap();
    let problem = round.history().unwrap_err().to_string();
    assert!(problem.starts_with("line 4 of the recording: "), "{problem}");
    std::fs::remove_file(&path).unwrap();
}
