//! Scans: the reads that a history has of them against all reads that they stand for, by the
//! literal definitions, and the fast verdicts against both.

use proptest::prelude::*;
use seriatim_check::{Answer, Checker, Undecided};
use seriatim_history::{
    Atom, Columns, Group, History, Intervals, KeyId, KeyNames, OpKind, ScanContent, Status, Value,
};
use seriatim_isolation::{Guarantee, Level, Order, oracle};
use seriatim_verify::{Proof, verify_proof};

/// Keys 0 to 4 are a group, 5 and 6 are by themselves.
const IN_GROUP: u32 = 5;
const KEYS: u32 = 7;
const TXNS_MAX: usize = 5;

#[derive(Clone, Debug)]
enum Act {
    Write(u32),
    /// The version of a key that is one of so many behind the last.
    Read(u32, usize),
    /// Which members; how far behind the last version each is; which ones are told one by one.
    Scan {
        members: u8,
        lags: [usize; IN_GROUP as usize],
        one_by_one: u8,
    },
}

#[derive(Clone, Debug)]
struct Txn {
    session: u32,
    status: u8,
    times: (i64, i64),
    acts: Vec<Act>,
}

/// Mostly the last version, so that many histories satisfy strong levels.
fn lag() -> impl Strategy<Value = usize> {
    prop_oneof![5 => Just(0usize), 2 => Just(1), 1 => 2..4usize]
}

fn act() -> impl Strategy<Value = Act> {
    let lags = proptest::array::uniform5(lag());
    prop_oneof![
        3 => (0..KEYS).prop_map(Act::Write),
        2 => (0..KEYS, lag()).prop_map(|(key, lag)| Act::Read(key, lag)),
        4 => (any::<u8>(), lags, any::<u8>())
            .prop_map(|(members, lags, one_by_one)| Act::Scan { members, lags, one_by_one }),
    ]
}

fn txn() -> impl Strategy<Value = Txn> {
    let acts = proptest::collection::vec(act(), 1..4);
    (0..3u32, 0..10u8, (0..10i64, 0..6i64), acts).prop_map(|(session, status, times, acts)| Txn {
        session,
        status,
        times,
        acts,
    })
}

fn program() -> impl Strategy<Value = Vec<Txn>> {
    proptest::collection::vec(txn(), 2..=TXNS_MAX)
}

/// Runs the transactions one after the other on versions of keys; reads may return older ones.
struct Run {
    columns: Columns,
    /// For each key the versions so far: the transaction, its status and its last value.
    versions: Vec<Vec<(u32, Value)>>,
    next: u64,
    /// Whether values are written more than once.
    duplicates: bool,
}

fn status(txn: &Txn) -> Status {
    match txn.status {
        0 => Status::Aborted,
        1 => Status::Unknown,
        _ => Status::Committed,
    }
}

impl Run {
    fn new(duplicates: bool) -> Run {
        let keys = (0..IN_GROUP).map(KeyId).collect();
        let names = (0..KEYS).map(|key| Atom::Str(format!("k{key}").into())).collect();
        Run {
            columns: Columns {
                key_names: KeyNames::Table(names),
                groups: vec![Group { name: "group".into(), keys }],
                session_count: 3,
                ..Columns::default()
            },
            versions: vec![Vec::new(); KEYS as usize],
            next: 0,
            duplicates,
        }
    }

    /// What is read: own writes are seen (mostly), of the others the one that is `lag` behind the
    /// last.
    fn version(&self, txn: u32, key: u32, lag: usize) -> Option<(u32, Value)> {
        let versions = &self.versions[key as usize];
        match versions.last() {
            Some(last) if last.0 == txn && lag < 3 => Some(*last),
            _ => versions.len().checked_sub(lag + 1).map(|at| versions[at]),
        }
    }

    fn read(&mut self, txn: u32, key: u32, lag: usize) {
        let value = self.version(txn, key, lag).map_or(Value::NULL, |version| version.1);
        self.columns.push_op(txn, OpKind::Read, KeyId(key), value);
    }

    fn write(&mut self, txn: u32, key: u32) {
        self.next += 1;
        let value = if self.duplicates { self.next % 2 + 1 } else { self.next };
        let value = Value::small(value).unwrap();
        self.columns.push_op(txn, OpKind::Write, KeyId(key), value);
        let versions = &mut self.versions[key as usize];
        if versions.last().is_some_and(|last| last.0 == txn) {
            versions.pop();
        }
        versions.push((txn, value));
    }

    /// Keys with one writer are told as unchanged, unless they are to be told one by one.
    fn scan(&mut self, txn: u32, scan: (u8, [usize; 5], u8), writers: &[usize], aborted: bool) {
        let (members, lags, one_by_one) = scan;
        let bit = |bits: u8, key: u32| bits >> key & 1 == 1;
        let all = members >= 128;
        let (mut seen, mut unchanged) = (Vec::new(), Vec::new());
        for key in (0..IN_GROUP).filter(|&key| all || bit(members, key)) {
            let lag = lags[key as usize];
            match self.version(txn, key, lag) {
                None if !bit(one_by_one, key) => {}
                Some((writer, _))
                    if writers[key as usize] == 1
                        && !bit(one_by_one, key)
                        && !(aborted && writer == txn) =>
                {
                    unchanged.push(key);
                }
                _ => {
                    self.read(txn, key, lag);
                    seen.push(key);
                }
            }
        }
        let members =
            (!all).then(|| (0..IN_GROUP).filter(|&key| bit(members, key)).collect::<Intervals>());
        let (seen, unchanged) = (seen.into_iter().collect(), unchanged.into_iter().collect());
        let content = ScanContent { group: 0, members, seen, unchanged };
        self.columns.push_scan(txn, content, 0);
    }
}

/// How many transactions that do not abort write each key.
fn writers(program: &[Txn]) -> Vec<usize> {
    let writes = |txn: &&Txn, key: u32| {
        let mut acts = txn.acts.iter();
        status(txn) != Status::Aborted
            && acts.any(|act| matches!(act, Act::Write(written) if *written == key))
    };
    (0..KEYS).map(|key| program.iter().filter(|txn| writes(txn, key)).count()).collect()
}

fn history(program: &[Txn], duplicates: bool, limit: Option<u64>) -> History {
    let writers = writers(program);
    let mut run = Run::new(duplicates);
    let mut times = Vec::new();
    for plan in program {
        let before = run.versions.clone();
        let txn = run.columns.push_txn(plan.session, status(plan));
        times.push((plan.times.0, plan.times.0 + plan.times.1));
        for act in &plan.acts {
            match *act {
                Act::Write(key) => run.write(txn, key),
                Act::Read(key, lag) => run.read(txn, key, lag),
                Act::Scan { members, lags, one_by_one } => {
                    let aborted = status(plan) == Status::Aborted;
                    run.scan(txn, (members, lags, one_by_one), &writers, aborted);
                }
            }
        }
        if status(plan) == Status::Aborted {
            run.versions = before;
        }
    }
    run.columns.txn_times = Some(times);
    run.columns.reads_without_sessions_max = limit;
    run.columns.finish().unwrap()
}

const ORDERS: [Order; 3] = [Order::None, Order::Sessions, Order::RealTime];

fn told(history: &History) -> String {
    let txn = |txn| {
        let ops = history.ops_of(txn).map(|op| {
            let op = history.op(seriatim_history::OpId(op));
            format!("{:?} {} {}", op.kind, history.key_name(op.key), history.value_text(op.value))
        });
        let session = history.session_of(txn).0;
        let (status, times) = (history.status(txn), history.times(txn));
        format!("{session} {status:?} {times:?}: {}", ops.collect::<Vec<_>>().join(", "))
    };
    let txns = history.txns().map(txn).collect::<Vec<_>>().join("\n");
    format!("{txns}\n{:?}", history.scans())
}

/// The definition, on what the history has and on all that it stands for; and the checker.
fn compare(history: &History, order: Order, duplicates: bool) {
    let all = history.written_out(u64::MAX).unwrap();
    assert!(all.scans().is_empty());
    let report = Checker::new().order(order).threads(1).check(history);
    for verdict in &report.verdicts {
        let asked = Guarantee::new(verdict.level, order);
        let expected = oracle::satisfies(&all, asked);
        let is_complete = order != Order::None || !history.scans_need_sessions();
        if is_complete {
            let found = oracle::satisfies(history, asked);
            assert_eq!(found, expected, "{asked:?} of\n{}\n{}", told(history), told(&all));
        }
        match verdict.answer() {
            Answer::Undecided => {
                let many = Some(&Undecided::ManyWithoutSessions);
                assert!(!is_complete && verdict.undecided() == many, "{verdict:?}");
            }
            answer => {
                let holds = answer == Answer::Holds;
                assert_eq!(holds, expected, "{asked:?} of\n{}\n{}", told(history), told(&all));
            }
        }
        // An order alone does not say from which of several writes a value was read.
        let is_shown = |proof: &&Proof| !duplicates && !matches!(proof, Proof::CutIsolation);
        if let Some(proof) = verdict.proof().filter(is_shown) {
            assert!(verify_proof(history, asked, proof).is_ok(), "{asked:?} of\n{}", told(history));
            assert!(verify_proof(&all, asked, proof).is_ok(), "{asked:?} of\n{}", told(&all));
        }
    }
    // Strict serializability is among the levels that are asked for.
    assert!(report.verdicts.iter().any(|verdict| verdict.level == Level::StrictSerializable));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_reads_of_scans_that_are_kept_decide_every_level(program in program()) {
        for (duplicates, limit) in [(false, None), (false, Some(0)), (true, None), (true, Some(0))]
        {
            let history = history(&program, duplicates, limit);
            ORDERS.into_iter().for_each(|order| compare(&history, order, duplicates));
        }
    }
}
