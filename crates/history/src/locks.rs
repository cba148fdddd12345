//! Keys that stand for locks. A holder of a lock reads its key and writes it, so that what the last
//! holder committed is visible to the next one by the axioms alone. They are told by their names,
//! because files have nothing else.

use crate::ids::{KeyId, OpId};
use crate::model::{History, OpKind};
use rustc_hash::FxHashMap;
use std::fmt::Display;

const LOCK_OF: &str = "lock of ";
const ADVISORY_LOCK: &str = "advisory lock ";

/// The name of the key of a lock of something.
pub fn lock_of(what: impl Display) -> String {
    format!("{LOCK_OF}{what}")
}

/// The name of the key of a lock that stands for nothing in the database.
pub fn advisory_lock(what: impl Display) -> String {
    format!("{ADVISORY_LOCK}{what}")
}

/// Whether a key with this name stands for a lock: who reads it gets the latest version, whatever
/// the level allows.
pub fn is_lock(key: &str) -> bool {
    key.starts_with(LOCK_OF) || key.starts_with(ADVISORY_LOCK)
}

impl History {
    /// For each operation whether it is a read of the latest version, whatever the level allows: of
    /// a lock, of a row that its statement has locked, or in a statement that asked for that.
    pub fn reads_of_the_latest(&self) -> Vec<bool> {
        let names: Vec<String> =
            (0..self.key_count()).map(|key| self.key_name(KeyId::from(key)).to_string()).collect();
        let rows: FxHashMap<&str, usize> = names
            .iter()
            .enumerate()
            .filter_map(|(key, name)| Some((name.strip_prefix(LOCK_OF)?, key)))
            .filter(|(row, _)| row.ends_with(']'))
            .collect();
        // `item[7]` and `item[7].stock` belong to a row.
        let lock = |name: &String| {
            let end = name.rfind(']').map_or(0, |end| end + 1);
            rows.get(&name[..end]).copied()
        };
        let locks: Vec<Option<usize>> = names.iter().map(lock).collect();
        let mut latest: Vec<bool> = (0..self.op_count())
            .map(|op| self.op(OpId::from(op)))
            .map(|op| op.kind == OpKind::Read && is_lock(&names[op.key.index()]))
            .collect();
        for statement in self.statements() {
            let mut held: Vec<usize> = Vec::new();
            for op in statement.ops.clone() {
                let (kind, key) = (self.op(OpId(op)).kind, self.op(OpId(op)).key.index());
                if is_lock(&names[key]) {
                    held.push(key);
                } else if kind == OpKind::Read {
                    let is_held = locks[key].is_some_and(|lock| held.contains(&lock));
                    latest[op as usize] |= statement.content.latest || is_held;
                }
            }
        }
        latest
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::{ReadOptions, read_bytes};

    #[test]
    fn what_a_statement_reads_behind_a_lock_is_the_latest() {
        let text = r#"{"session":0,"txn":0,"status":"committed","ops":[["r","item[7].stock",null],
            ["r","lock of item[7]",null],["w","lock of item[7]",1],["r","item[7].stock",null],
            ["r","item[8].stock",null],["r","item[7].stock",null],["r","item[8].stock",null]],
            "statements":[{"sql":"a","first":0,"ops":5},{"sql":"b","first":5,"ops":1},
            {"sql":"c","first":6,"ops":1,"latest":true}]}"#
            .replace('\n', " ");
        let read = read_bytes(text.as_bytes(), "run.jsonl", &ReadOptions::default());
        let latest = read.unwrap().0.reads_of_the_latest();
        assert_eq!(latest, [false, true, false, true, false, false, true]);
    }
}
