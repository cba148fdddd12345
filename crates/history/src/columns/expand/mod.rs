//! Which reads of a scan verdicts depend on.
//!
//! Let T scan, and let C be the keys that it found absent: their initial versions. By the formula
//! of the levels, a read of the initial version of x in T asks one thing only: that no transaction
//! W ≠ T that writes x is *seen* by that read, φ(W, T), for nothing commits before the initial
//! transaction. So the scan asks that no writer of a key of C is seen, and whichever key of C a
//! writer wrote, one read of one such key says so. What is left out asks nothing that is not
//! asked by what is there:
//!
//! - With session order, let V be the first transaction of a session that writes a key of C. At
//!   causal consistency, prefix consistency, snapshot isolation and serializability what precedes
//!   a seen transaction in its session is seen: (so ∪ wr)+ and co are closed under that, since co
//!   contains so. So if some writer of the session is seen, V is. Read atomic sees so ∪ wr: if a
//!   writer of T's own session precedes T, V does. Writers in T's session behind T are never seen.
//!   What T read from is seen by itself, at read atomic and, if it was read before, at read
//!   committed: one key of C for each transaction that T read from is there as well.
//! - In real time, rt joins so. If a transaction ended before T began, so did those that ended
//!   earlier. Read committed and read atomic look at rt alone; so sessions whose transactions do
//!   not end one after the other are cut into pieces that do, and the first of each piece counts.
//! - Without sessions each transaction is a piece of its own.
//! - A transaction of unknown outcome may not have committed; it never stands for others.
//! - Cut isolation asks that two reads of a key in T return the same. Keys of C that T read
//!   otherwise by another operation are there.
//! - Internal reads: keys of C that T wrote before are there.
//!
//! A key that the scan found *unchanged* has one writer W that did not abort. A read of it from W
//! asks that W commits before T, and nothing of others, since no other writes the key: one read for
//! each W says so. If T read the key otherwise (by an operation, or in a scan that found it
//! absent), one such key is there in both.
//!
//! Within a scan, all that it found comes before all that it missed, as if it had looked at the
//! latter last. O(s·k) reads for s scans and k sessions, instead of one for each scan and row; in
//! time O(n log n + s·k·i·log n), where i is the number of intervals of a scan.

mod lines;
mod reader;
mod writes;

use crate::atom::Value;
use crate::columns::{Columns, ColumnsError};
use crate::ids::KeyId;
use lines::Lines;
use reader::readers;
use writes::GroupWrites;

/// As many reads are worth having so that levels without sessions can be decided, too.
const READS_WITHOUT_SESSIONS_MAX: u64 = 1 << 16;

/// The reads of the scans.
pub(super) struct Reads {
    /// For each scan what it read from which key.
    pub of_scans: Vec<Vec<(KeyId, Value)>>,
    /// Whether session order is needed to know the rest.
    pub need_sessions: bool,
}

/// The reads of the scans of these columns.
pub(super) fn reads(columns: &Columns) -> Result<Reads, ColumnsError> {
    let writes = GroupWrites::of(columns);
    check_unchanged(columns, &writes)?;
    let usual = READS_WITHOUT_SESSIONS_MAX.max(columns.op_kind.len() as u64);
    let limit = columns.reads_without_sessions_max.unwrap_or(usual);
    let need_sessions = writes.pairs(columns) > limit;
    let lines = Lines::of(columns, need_sessions);
    let firsts = writes.firsts(&lines);
    let mut of_scans = vec![Vec::new(); columns.scans.len()];
    for reader in readers(columns, &writes) {
        for (scan, found) in reader.reads(columns, &writes, &lines, &firsts) {
            of_scans[scan] = found;
        }
    }
    Ok(Reads { of_scans, need_sessions })
}

/// Each scan must speak of keys of its group, and those that it found unchanged need one writer.
fn check_unchanged(columns: &Columns, writes: &GroupWrites) -> Result<(), ColumnsError> {
    for (number, scan) in columns.scans.iter().enumerate() {
        let group = scan.content.group as usize;
        let Some(position) = writes.groups[group].not_written_once(&scan.content.unchanged) else {
            continue;
        };
        let key = columns.groups[group].keys[position as usize];
        return Err(ColumnsError::NotUnchanged { scan: number, key });
    }
    Ok(())
}
