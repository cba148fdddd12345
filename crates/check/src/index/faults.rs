//! Reads that are wrong whatever the order of the transactions.

use seriatim_history::OpId;
use seriatim_isolation::Anomaly;

/// A read that is wrong by itself (Plume's a to f, and the anomalies of lists).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: Anomaly,
    /// The operations that show it, in the order that [`Anomaly`] documents.
    pub ops: Vec<OpId>,
    /// Which element of the list that was read is to blame, from 0, if it is not the last one.
    pub element: Option<u32>,
}

/// Two external reads of one key in one transaction that returned different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unrepeated {
    pub second: OpId,
    pub first: OpId,
}

impl Fault {
    pub fn new(kind: Anomaly, ops: Vec<OpId>) -> Fault {
        Fault { kind, ops, element: None }
    }

    /// The read that shows the fault.
    pub fn reader(&self) -> OpId {
        match self.kind {
            Anomaly::ThinAirRead
            | Anomaly::FutureRead
            | Anomaly::DuplicateElement
            | Anomaly::IncompatibleOrder => self.ops[0],
            _ => self.ops[self.ops.len() - 1],
        }
    }
}

/// Sorts by kind, then by read; what is alike stays in its order.
pub(super) fn sort_faults(faults: &mut [Fault]) {
    faults.sort_by_key(|fault| (fault.kind, fault.reader()));
}
