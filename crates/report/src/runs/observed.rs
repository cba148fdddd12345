//! What `seriatim observe` recorded.

use crate::text::plural;

/// A serializable run that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed<'a> {
    /// The name of the application.
    pub app: &'a str,
    /// Transactions of the run.
    pub transactions: usize,
    /// Their operations.
    pub operations: usize,
}

/// The line, with its end.
pub fn render(observed: &Observed<'_>) -> String {
    let txns = plural(observed.transactions as u64, "transaction");
    let ops = plural(observed.operations as u64, "operation");
    format!("recorded {txns} and {ops} of {}\n", observed.app)
}
