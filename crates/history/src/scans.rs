//! Scans: reads of all keys of a group, also of those that were absent.
//!
//! A transaction that reads the rows of a table has read the existence of every row that the table
//! will ever have: those that are inserted later it read as absent. A *group* is such a set of
//! keys, in an order of its own, in which sets of neighbours are [`Intervals`]. A [`Scan`] is about
//! all keys of its group or about some. Of these it says which ones the transaction read by
//! operations of their own (`seen`), and which ones it found as the only transaction that ever
//! wrote them had left them (`unchanged`). All others it read as absent: in their initial version.
//!
//! A scan of a hundred thousand rows is not a hundred thousand operations. [`crate::Columns`] adds
//! to the operations of the transaction only those reads of the scan that the verdict of some level
//! can depend on (`columns/expand` has the rules and the proof), so that everything that looks at a
//! history sees plain reads. The scan itself stays in a table beside the operations; it is what
//! is written to a file, and [`crate::History::written_out`] has all of its reads.

use crate::ids::{KeyId, TxnId};
use crate::intervals::Intervals;
use std::ops::Range;

/// Keys that are read together. A key is in one group at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What people call it: a table, one of its columns, or a key of an index.
    pub name: Box<str>,
    /// The keys that ever were in it. Scans name them by their positions here.
    pub keys: Vec<KeyId>,
}

/// Which keys a scan is about, and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanContent {
    /// The number of its group.
    pub group: u32,
    /// Of which keys; of all if there is no set.
    pub members: Option<Intervals>,
    /// Those that the transaction read by operations of their own.
    pub seen: Intervals,
    /// Those that it found as the only transaction that wrote them, and did not abort, had left
    /// them at that time.
    pub unchanged: Intervals,
}

impl ScanContent {
    /// The keys that it found absent, of a group of `len` keys.
    pub fn absent(&self, len: usize) -> Intervals {
        let all = || Intervals::below(len as u32);
        let members = self.members.clone().unwrap_or_else(all);
        members.without(&self.seen).without(&self.unchanged)
    }
}

/// A scan of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// The transaction.
    pub txn: TxnId,
    /// What it read.
    pub content: ScanContent,
    /// Its reads among the operations: those that verdicts can depend on.
    pub ops: Range<u32>,
}

/// The scans of a history and what they speak of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scans {
    pub groups: Vec<Group>,
    /// In the order of their operations.
    pub scans: Vec<Scan>,
    pub need_sessions: bool,
}
