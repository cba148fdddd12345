//! Hand-made explanations, one of each shape, so that the renderers are tested without any
//! algorithm.

use seriatim_check::{
    AnomalyGroup, Answer, Breach, Budget, Counted, Edge, OpRef, Origin, Outcome, Proof, Reason,
    Report, Timings, TxnRef, Undecided, ValueRef, Verdict, Violation, explain_violation,
};
use seriatim_history::{History, OpId, OpKind, Place, PlaceUnit, TxnId, notation};
use seriatim_isolation::{Anomaly, Level, Order};
use seriatim_report::knowledge::{Subject, entries};
use seriatim_report::{Checked, Counts, Times};
use std::sync::Arc;
use std::time::Duration;

pub fn txn(number: u32, session: &str, index: u32) -> TxnRef {
    TxnRef {
        id: Some(TxnId(number)),
        name: number.to_string(),
        session: session.to_owned(),
        index,
        is_unknown: false,
    }
}

pub fn initial() -> TxnRef {
    TxnRef {
        id: None,
        name: "initial".to_owned(),
        session: String::new(),
        index: 0,
        is_unknown: false,
    }
}

/// `action` is `read`, `write` or `append`, `value` a scalar or a list (`[1 2]`).
pub fn op(line: u32, txn: &TxnRef, action: &str, key: &str, value: &str) -> OpRef {
    let place = Place { file: "h.txt".into(), unit: PlaceUnit::Line, number: u64::from(line) };
    let real = txn.id.is_some();
    OpRef {
        id: real.then_some(OpId(line)),
        txn: txn.clone(),
        kind: match action {
            "read" => OpKind::Read,
            "append" => OpKind::Append,
            _ => OpKind::Write,
        },
        key: key.to_owned(),
        value: match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
            Some(list) => ValueRef::List(list.split_whitespace().map(str::to_owned).collect()),
            None => ValueRef::Scalar(value.to_owned()),
        },
        place: real.then_some(place),
        element: None,
        statement: None,
        scan: None,
    }
}

pub fn edge(from: &TxnRef, to: &TxnRef, reason: Reason) -> Edge {
    Edge { from: from.clone(), to: to.clone(), reason }
}

pub fn write_read(write: &OpRef, read: &OpRef) -> Edge {
    edge(
        &write.txn,
        &read.txn,
        Reason::WriteRead { write: write.clone(), read: read.clone(), origin: Origin::Only },
    )
}

pub fn overwritten(read: &OpRef, source: &OpRef, other: &OpRef, visible: Vec<Edge>) -> Edge {
    let reason = Reason::Overwritten {
        read: read.clone(),
        source: source.clone(),
        other: other.clone(),
        visible,
    };
    edge(&other.txn, &source.txn, reason)
}

pub fn violation(kind: Anomaly, ops: &[&OpRef], cycle: Vec<Edge>) -> Violation {
    Violation::new(kind, ops.iter().map(|&op| op.clone()).collect(), cycle)
}

/// One violation of each kind.
pub fn each_kind() -> Vec<Violation> {
    Anomaly::ALL.into_iter().map(of_kind).collect()
}

pub fn of_kind(kind: Anomaly) -> Violation {
    match kind {
        Anomaly::NonMonotonicReadCausal
        | Anomaly::FracturedReadCausal
        | Anomaly::CausalityViolation => stale(kind),
        Anomaly::NonMonotonicReadCommit
        | Anomaly::FracturedReadCommit
        | Anomaly::ConflictingCommitOrder => conflict(kind),
        kind if kind >= Anomaly::DirtyWrite => strong(kind),
        _ => unordered(kind),
    }
}

/// What the strong levels forbid, as it is really explained: the example of its entry.
fn strong(kind: Anomaly) -> Violation {
    let entry = entries().find(|entry| entry.subject == Subject::Anomaly(kind)).unwrap();
    let told = explained(&notation::parse(entry.example.history).unwrap()).unwrap();
    assert_eq!(told.kind, kind);
    told
}

/// The explanation of a history at the weakest strong level that it violates.
pub fn explained(history: &History) -> Option<Violation> {
    let ops: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
    let told = |level: Level| explain_violation(history, &ops, level, &mut Budget::default());
    Level::STRONG.into_iter().find_map(told)
}

fn unordered(kind: Anomaly) -> Violation {
    let (t1, t2) = (txn(1, "0", 0), txn(2, "1", 0));
    let (w1, w2) = (op(1, &t1, "write", "x", "1"), op(2, &t1, "write", "x", "2"));
    let (r1, r2) = (op(3, &t2, "read", "x", "1"), op(4, &t2, "read", "x", "2"));
    let own = |line, action, value| op(line, &t2, action, "x", value);
    let list = |line, txn, value| op(line, txn, "read", "l", value);
    match kind {
        Anomaly::ThinAirRead => violation(kind, &[&r1], vec![]),
        Anomaly::AbortedRead => violation(kind, &[&w1, &r1], vec![]),
        Anomaly::FutureRead => violation(kind, &[&r1, &own(4, "write", "1")], vec![]),
        Anomaly::NotMyOwnWrite => violation(kind, &[&own(2, "write", "7"), &w1, &r1], vec![]),
        Anomaly::NotMyLastWrite => {
            violation(kind, &[&own(1, "write", "1"), &own(2, "write", "2"), &r1], vec![])
        }
        Anomaly::IntermediateRead => violation(kind, &[&w1, &w2, &r1], vec![]),
        Anomaly::NonRepeatableRead => violation(kind, &[&r1, &r2, &w1, &w2], vec![]),
        Anomaly::IncompatibleOrder => {
            violation(kind, &[&list(5, &t1, "[1 2]"), &list(6, &t2, "[2 1]")], vec![])
        }
        Anomaly::DuplicateElement => {
            violation(kind, &[&list(5, &t1, "[1 1]"), &op(1, &t2, "append", "l", "1")], vec![])
        }
        Anomaly::LostElement => {
            let append = |line, value| op(line, &t1, "append", "l", value);
            violation(kind, &[&append(1, "1"), &append(2, "2"), &list(5, &t2, "[2]")], vec![])
        }
        Anomaly::WriteCycle => write_cycle(kind),
        _ => {
            let (wy, ry) = (op(5, &t2, "write", "y", "1"), op(6, &t1, "read", "y", "1"));
            violation(kind, &[&w1, &r1, &wy, &ry], vec![write_read(&w1, &r1), write_read(&wy, &ry)])
        }
    }
}

/// Two lists that show opposite orders of t1 and t2.
fn write_cycle(kind: Anomaly) -> Violation {
    let (t1, t2, t3) = (txn(1, "0", 0), txn(2, "1", 0), txn(3, "2", 0));
    let append = |line, txn, key, value| op(line, txn, "append", key, value);
    let (l1, l2) = (append(1, &t1, "l", "1"), append(2, &t2, "l", "2"));
    let (m1, m2) = (append(3, &t1, "m", "1"), append(4, &t2, "m", "2"));
    let (rl, rm) = (op(5, &t3, "read", "l", "[1 2]"), op(6, &t3, "read", "m", "[2 1]"));
    let version = |earlier: &OpRef, later: &OpRef, read: &OpRef| {
        let reason = Reason::VersionOrder {
            earlier: earlier.clone(),
            later: later.clone(),
            read: read.clone(),
        };
        edge(&earlier.txn, &later.txn, reason)
    };
    let cycle = vec![version(&l1, &l2, &rl), version(&m2, &m1, &rm)];
    violation(kind, &[&l1, &l2, &m1, &m2, &rl, &rm], cycle)
}

/// t7 reads y from t5, then x from t2, which t5 overwrote (or, for a causality violation, the
/// initial x).
fn stale(kind: Anomaly) -> Violation {
    let (t2, t5, t6, t7) = (txn(2, "3", 0), txn(5, "3", 1), txn(6, "3", 2), txn(7, "4", 0));
    let other = op(2, &t5, "write", "x", "4");
    let wy = op(3, &t5, "write", "y", "3");
    let ry = op(if kind == Anomaly::FracturedReadCausal { 9 } else { 7 }, &t7, "read", "y", "3");
    let source = op(1, &t2, "write", "x", "1");
    let read = op(8, &t7, "read", "x", "1");
    if kind != Anomaly::CausalityViolation {
        let so = edge(&t2, &t5, Reason::SessionOrder);
        let back = overwritten(&read, &source, &other, vec![write_read(&wy, &ry)]);
        return violation(kind, &[&source, &other, &wy, &ry, &read], vec![so, back]);
    }
    let source = op(0, &initial(), "write", "x", "0");
    let read = op(8, &t7, "read", "x", "0");
    let wz = op(4, &t6, "write", "z", "6");
    let rz = op(7, &t7, "read", "z", "6");
    let visible = vec![edge(&t5, &t6, Reason::SessionOrder), write_read(&wz, &rz)];
    let cycle =
        vec![edge(&initial(), &t5, Reason::Initial), overwritten(&read, &source, &other, visible)];
    violation(kind, &[&other, &wz, &rz, &read], cycle)
}

/// Two readers that ask for opposite orders of t1 and t2.
fn conflict(kind: Anomaly) -> Violation {
    let (t1, t2, t3, t4) = (txn(1, "0", 0), txn(2, "1", 0), txn(3, "2", 0), txn(4, "3", 0));
    let w = |line, txn, key, value| op(line, txn, "write", key, value);
    let (x1, y1, x2, y2) =
        (w(1, &t1, "x", "1"), w(2, &t1, "y", "1"), w(3, &t2, "x", "2"), w(4, &t2, "y", "2"));
    let (r3y, r3x) = (op(5, &t3, "read", "y", "2"), op(6, &t3, "read", "x", "1"));
    let (r4y, r4x) = (op(7, &t4, "read", "y", "1"), op(8, &t4, "read", "x", "2"));
    let first = overwritten(&r3x, &x1, &x2, vec![write_read(&y2, &r3y)]);
    let second = overwritten(&r4x, &x2, &x1, vec![write_read(&y1, &r4y)]);
    violation(kind, &[&x1, &y1, &x2, &y2, &r3y, &r3x, &r4y, &r4x], vec![first, second])
}

pub fn verdict(level: Level, answer: Answer) -> Verdict {
    let outcome = match answer {
        Answer::Holds => Outcome::Holds(Arc::new(Proof::CutIsolation)),
        Answer::Violated => Outcome::Violated(Breach::Unexplained(Vec::new())),
        Answer::Undecided => Outcome::Undecided(Undecided::DuplicateValue {
            key: "x".to_owned(),
            value: ValueRef::Scalar("1".to_owned()),
            reads: 3,
        }),
    };
    Verdict::new(level, outcome)
}

/// Verdicts at RC, CI, RA and CC, and that of CC at all levels above.
pub fn verdicts(answers: [Answer; 4]) -> Vec<Verdict> {
    let above = std::iter::repeat(answers[3]);
    let answers = answers.into_iter().chain(above);
    Level::ALL.into_iter().zip(answers).map(|(level, answer)| verdict(level, answer)).collect()
}

pub fn checked(verdicts: Vec<Verdict>, violations: Vec<Violation>) -> Checked {
    let group = |exemplar: Violation| AnomalyGroup {
        counted: Counted::Exactly,
        kind: exemplar.kind,
        count: 2,
        instances: vec![exemplar.clone()],
        exemplar,
    };
    let timings = Timings {
        index: Duration::from_micros(1500),
        decide: Duration::from_millis(20),
        explain: Duration::from_millis(3),
        ..Timings::default()
    };
    Checked {
        input: "h.txt".to_owned(),
        format: "plume",
        counts: Counts {
            sessions: 4,
            transactions: 7,
            committed: 7,
            operations: 1234,
            keys: 3,
            skipped: 0,
            unknown_content: 0,
            has_times: false,
            ..Counts::default()
        },
        report: Report {
            order: Order::Sessions,
            verdicts,
            anomalies: violations.into_iter().map(group).collect(),
            kind: None,
            search_ended_early: false,
            stale: None,
            time_cycles: 0,
            proved: Default::default(),
            timings,
            memory_needed: None,
        },
        times: Times { read: Duration::from_millis(7), total: Duration::from_millis(1234) },
        duplicate: None,
        kinds: Vec::new(),
    }
}
