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
//! can depend on (module `expand` has the rules and the proof), so that everything that looks at a
//! history sees plain reads. The scan itself stays in a table beside the operations; it is what
//! is written to a file, and [`History::written_out`] has all of its reads.

mod expand;
mod insert;
mod intervals;
mod write_out;

pub(crate) use insert::insert_reads;
pub use intervals::Intervals;
pub use write_out::TooManyReads;

use crate::ids::{KeyId, OpId, TxnId};
use crate::model::History;
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

impl History {
    /// The groups of keys.
    pub fn groups(&self) -> &[Group] {
        self.scans.as_ref().map_or(&[], |scans| &scans.groups)
    }

    /// The scans, in the order of their operations.
    pub fn scans(&self) -> &[Scan] {
        self.scans.as_ref().map_or(&[], |scans| &scans.scans)
    }

    /// The scans of a transaction, in program order.
    pub fn scans_of(&self, txn: TxnId) -> &[Scan] {
        let scans = self.scans();
        let first = scans.partition_point(|scan| scan.txn < txn);
        let after = scans.partition_point(|scan| scan.txn <= txn);
        &scans[first..after]
    }

    /// The scan that an operation belongs to.
    pub fn scan_of(&self, op: OpId) -> Option<&Scan> {
        let scans = self.scans();
        let after = scans.partition_point(|scan| scan.ops.end <= op.0);
        scans.get(after).filter(|scan| scan.ops.contains(&op.0))
    }

    /// Whether only those reads of scans are among the operations that matter where session order
    /// counts: there would be too many others. A level may then hold without sessions for the
    /// operations alone, and yet not for all that the scans read.
    pub fn scans_need_sessions(&self) -> bool {
        self.scans.as_ref().is_some_and(|scans| scans.need_sessions)
    }
}
