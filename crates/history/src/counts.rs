//! How large a history is.

use crate::model::History;

/// How large a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sessions.
    pub sessions: usize,
    /// Transactions, aborted and unknown ones included.
    pub transactions: usize,
    /// Operations.
    pub operations: usize,
    /// Keys.
    pub keys: usize,
    /// Lines or records that the reader passed over because they match nothing.
    pub skipped: u64,
    /// Transactions of clients that are missing because it is not known what they did.
    pub unknown_content: u64,
    /// Whether it says when transactions began and ended.
    pub has_times: bool,
}

impl History {
    /// How large it is.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            sessions: self.session_count(),
            transactions: self.txn_count(),
            operations: self.op_count(),
            keys: self.keys_that_occur(),
            skipped: self.skipped(),
            unknown_content: self.unknown_content(),
            has_times: self.has_times(),
        }
    }
}
