//! What may help and is a change of code, so that it cannot be tried: only the application knows
//! what it asks of a value before it writes the next one.

use crate::blame::{Blame, BlamedStatement};
use seriatim_history::{Returned, StatementContent};
use seriatim_sql::parse::{ReadAndWritten, Sent, read_and_written};

/// An UPDATE that could compute itself what its client computed from what it had read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtomicUpdate {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// What was read, if that is clear; NULL is `Some(None)`.
    pub read: Option<Option<String>>,
    /// What was written; NULL is `None`.
    pub written: Option<String>,
}

/// So many are told.
const TOLD_MAX: usize = 3;

impl Blame {
    /// The updates that follow a statement that is to blame, in its transaction, and write what was
    /// computed from it.
    pub fn atomic_updates(&self) -> Vec<AtomicUpdate> {
        let mut all: Vec<AtomicUpdate> = Vec::new();
        for blamed in &self.statements {
            for found in self.updates_after(blamed) {
                let is_known =
                    |it: &AtomicUpdate| (&it.table, &it.column) == (&found.table, &found.column);
                if all.len() < TOLD_MAX && !all.iter().any(is_known) {
                    all.push(found);
                }
            }
        }
        all
    }

    fn updates_after(&self, blamed: &BlamedStatement) -> Vec<AtomicUpdate> {
        let Some(txn) = blamed.txn else { return Vec::new() };
        let later = self.run.history.statements_of(txn).iter().skip(blamed.statement as usize + 1);
        let found = later.flat_map(|it| read_and_written(sent(&blamed.content), sent(&it.content)));
        let told = found.map(|it| {
            let read = it.place.and_then(|place| cell(&blamed.content, place));
            let ReadAndWritten { table, column, written, .. } = it;
            AtomicUpdate { table, column, read, written }
        });
        // What is written as it was read is no change.
        told.filter(|it| it.read.as_ref() != Some(&it.written)).collect()
    }
}

fn sent(content: &StatementContent) -> Sent<'_> {
    Sent { text: &content.text, params: &content.params }
}

/// A column of the only row that was returned.
fn cell(content: &StatementContent, place: usize) -> Option<Option<String>> {
    match content.returned.as_ref()? {
        Returned::Rows { count: 1, first } => {
            first.first()?.get(place).map(|value| value.as_ref().map(ToString::to_string))
        }
        _ => None,
    }
}
