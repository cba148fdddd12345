//! Explanations as data: what went wrong, between which transactions and operations, and why each
//! edge must hold.
//!
//! A [`Violation`] carries everything that a report needs, with the names of the input; nothing
//! downstream looks at the history again. Its operations alone (everything else removed from the
//! history) still violate the level.

use seriatim_history::{OpId, OpKind, Place, StatementContent, TimeUnit, TxnId};
use seriatim_isolation::{Anomaly, Level};
use std::fmt;
use std::sync::Arc;

/// A transaction as a report names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnRef {
    /// Its number in the history; `None` for the initial transaction.
    pub id: Option<TxnId>,
    /// Its name in the input (`t7`); `initial` for the initial transaction.
    pub name: String,
    /// The name of its session; empty for the initial transaction.
    pub session: String,
    /// Its place in its session, from 0.
    pub index: u32,
    /// Whether the input does not say how it ended.
    pub is_unknown: bool,
}

/// An operation as a report names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpRef {
    /// Its number in the history; `None` for a write of the initial transaction.
    pub id: Option<OpId>,
    /// The transaction that it belongs to.
    pub txn: TxnRef,
    /// What it does.
    pub kind: OpKind,
    /// The key.
    pub key: String,
    /// What it read, wrote or appended.
    pub value: ValueRef,
    /// Where it stands in the input.
    pub place: Option<Place>,
    /// The element of the list that was read that is to blame, if it is a single one.
    pub element: Option<Element>,
    /// What the client asked for, if that is known.
    pub statement: Option<Arc<StatementContent>>,
    /// The group that was read, if it is a read of a scan: all keys of it, this one among them.
    pub scan: Option<Arc<str>>,
}

impl OpRef {
    /// What it does, in a word: `read`, `write` or `append`.
    pub fn action(&self) -> &'static str {
        match self.kind {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Append => "append",
        }
    }
}

/// A value as a report names it. Displayed as a person writes it: `nil`, `7`, `[1 2]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueRef {
    /// No value.
    Null,
    /// A number or a text.
    Scalar(String),
    /// A list, element by element.
    List(Vec<String>),
}

impl fmt::Display for ValueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueRef::Null => f.write_str("nil"),
            ValueRef::Scalar(text) => f.write_str(text),
            ValueRef::List(elements) => write!(f, "[{}]", elements.join(" ")),
        }
    }
}

/// An element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Where it stands in the list, from 1.
    pub position: u64,
    /// The element.
    pub value: String,
}

/// Why one transaction must come before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `from` is earlier in the same session.
    SessionOrder,
    /// `from` is the initial transaction, which precedes every other.
    Initial,
    /// `to` read what `from` wrote.
    WriteRead {
        /// The write in `from`.
        write: OpRef,
        /// The read in `to`.
        read: OpRef,
        /// How one knows that it came from there.
        origin: Origin,
    },
    /// Inferred by the level's axiom: a reader saw `from` (see `visible`), yet read the key from
    /// `to`, which `from` also wrote; so `from` must have committed before `to`.
    Overwritten {
        /// The read by the third transaction that returned the value of `to`.
        read: OpRef,
        /// The write in `to` that was read.
        source: OpRef,
        /// The write in `from` to the same key.
        other: OpRef,
        /// How `from` is visible to the reader: a path of session-order and write-read edges from
        /// `from` to the reader.
        visible: Vec<Edge>,
    },
    /// The lists that were read show that `from` appended before `to`.
    VersionOrder {
        /// The append in `from`.
        earlier: OpRef,
        /// The append in `to`.
        later: OpRef,
        /// A read whose list shows both in this order.
        read: OpRef,
    },
    /// `from` ended before `to` began.
    RealTime {
        /// When `from` ended, in the unit of the input.
        end: i64,
        /// When `to` began.
        begin: i64,
    },
    /// `from` and `to` wrote the same key, `from` first.
    WriteWrite {
        /// The write in `from`.
        earlier: OpRef,
        /// The write in `to`.
        later: OpRef,
        /// How one knows which came first.
        why: Why,
    },
    /// `from` read a version that `to` overwrote, so it did not see `to`.
    ReadWrite {
        /// The read in `from`.
        read: OpRef,
        /// The write that it returned.
        source: OpRef,
        /// How one knows that it came from there.
        origin: Origin,
        /// The write in `to`.
        overwrite: OpRef,
        /// How one knows that `source` came before `overwrite`.
        why: Why,
    },
}

/// How one knows that one version of a key precedes another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The earlier version is the initial one.
    Initial,
    /// These edges, all of which were observed, lead from the earlier writer to the later one.
    Known(Vec<Edge>),
    /// This read returned a list that shows both, or the earlier one and not the later.
    Listed(Box<OpRef>),
    /// None: it is supposed, and the cycle that it stands in refutes it.
    Supposed,
    /// The opposite order, which is supposed in it, would close this cycle.
    Otherwise(Vec<Edge>),
    /// It was derived before, for the same two transactions.
    Repeated,
    /// The derivation is left out: it is nested too deeply to be followed.
    TooDeep,
}

/// How one knows which write a read returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No other transaction wrote the value.
    Only,
    /// Others wrote it too, and each of these possibilities is refuted.
    Others(Vec<Excluded>),
    /// Others wrote it too; this one is supposed, and the cycle that it stands in refutes it.
    Supposed,
    /// It was derived before, for the same read.
    Repeated,
    /// The derivation is left out: it is nested too deeply to be followed.
    TooDeep,
}

/// A write that a read cannot have returned although the value would fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The write.
    pub write: OpRef,
    /// The cycle that it would close.
    pub cycle: Vec<Edge>,
}

/// `from` must come before `to` in every commit order, because of `reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The earlier transaction.
    pub from: TxnRef,
    /// The later transaction.
    pub to: TxnRef,
    /// Why.
    pub reason: Reason,
}

impl Edge {
    /// Whether it, or what it rests on, is session order.
    fn speaks_of_sessions(&self) -> bool {
        let any = |edges: &[Edge]| edges.iter().any(Edge::speaks_of_sessions);
        let why = |why: &Why| match why {
            Why::Known(edges) | Why::Otherwise(edges) => any(edges),
            _ => false,
        };
        let origin = |origin: &Origin| match origin {
            Origin::Others(excluded) => excluded.iter().any(|excluded| any(&excluded.cycle)),
            _ => false,
        };
        match &self.reason {
            Reason::SessionOrder => true,
            Reason::Initial | Reason::VersionOrder { .. } | Reason::RealTime { .. } => false,
            Reason::WriteRead { origin: from, .. } => origin(from),
            Reason::Overwritten { visible, .. } => any(visible),
            Reason::WriteWrite { why: by, .. } => why(by),
            Reason::ReadWrite { origin: from, why: by, .. } => origin(from) || why(by),
        }
    }
}

/// One instance of an anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which anomaly.
    pub kind: Anomaly,
    /// The operations that show it, in the order in which a person should read them. The history
    /// that consists of these operations alone violates every level of `levels`.
    pub ops: Vec<OpRef>,
    /// The levels that forbid it: those of `kind.info().forbidden_by`, and weaker ones that this
    /// instance violates too.
    pub levels: Vec<Level>,
    /// The contradiction: a cycle of edges (each `to` is the next `from`, the last closes on the
    /// first). Empty for anomalies that need no order: kinds a to f, j, and those of lists.
    pub cycle: Vec<Edge>,
    /// Of a read that is stale by itself: the time from the end of the last transaction that it
    /// should have seen to the begin of its own.
    pub age: Option<Age>,
    /// If it rests on elements that were appended several times to a list: what is wrong by each
    /// choice of which appends they are. `kind` and `cycle` are those of the first one.
    pub alternatives: Vec<Alternative>,
}

/// What is wrong if elements of lists are these appends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The appends of elements that were appended several times, in the order of the lists.
    pub appends: Vec<OpRef>,
    /// What is wrong then.
    pub violation: Violation,
}

/// How old something is. Displayed as `36 ms` if the unit is known, else as the number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// The difference of two times of the input.
    pub amount: u64,
    /// What these times count.
    pub unit: TimeUnit,
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimeUnit::Nanoseconds = self.unit else { return write!(f, "{}", self.amount) };
        // What rounds to a thousand of a unit is one of the next.
        let (divisor, unit) = match self.amount {
            0..1_000 => (1, "ns"),
            1_000..999_500 => (1_000, "µs"),
            999_500..999_500_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let rounded = |amount: u128| (amount + divisor / 2) / divisor;
        let amount = u128::from(self.amount);
        let tenths = rounded(amount * 10);
        // One digit after the point, if it says something.
        match (tenths / 10, tenths % 10) {
            (whole @ 0..10, tenths @ 1..) => write!(f, "{whole}.{tenths} {unit}"),
            _ => write!(f, "{} {unit}", rounded(amount)),
        }
    }
}

impl Violation {
    /// An instance that violates the levels that forbid its kind, and no other.
    pub fn new(kind: Anomaly, ops: Vec<OpRef>, cycle: Vec<Edge>) -> Violation {
        let levels = kind.info().forbidden_by.to_vec();
        Violation { kind, ops, levels, cycle, age: None, alternatives: Vec::new() }
    }

    /// The same instance, which violates these levels.
    #[must_use]
    pub(crate) fn at(self, levels: Vec<Level>) -> Violation {
        Violation { levels, ..self }
    }

    /// Whether session order is a part of the contradiction.
    pub(crate) fn speaks_of_sessions(&self) -> bool {
        self.cycle.iter().any(Edge::speaks_of_sessions)
    }

    /// How many transactions are involved.
    pub fn txn_count(&self) -> usize {
        let mut txns: Vec<Option<TxnId>> = self.ops.iter().map(|op| op.txn.id).collect();
        txns.sort_unstable();
        txns.dedup();
        txns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit_if_the_input_has_one() {
        let shown = |amount, unit| Age { amount, unit }.to_string();
        assert_eq!(shown(36, TimeUnit::Unknown), "36");
        let nanoseconds = |amount| shown(amount, TimeUnit::Nanoseconds);
        assert_eq!(nanoseconds(36), "36 ns");
        assert_eq!(nanoseconds(1_500), "1.5 µs");
        assert_eq!(nanoseconds(36_900_000), "37 ms");
        assert_eq!(nanoseconds(5_998_000_000), "6 s");
        assert_eq!(nanoseconds(9_960), "10 µs");
        assert_eq!(nanoseconds(999_600_000), "1 s");
        assert_eq!(nanoseconds(u64::MAX), "18446744074 s");
        assert_eq!(nanoseconds(2_000_000_000), "2 s");
    }
}
