//! What `seriatim stats` counts in a history, as text and JSON. The caller counts.

use crate::json::is_zero;
use crate::prose::clean;
use crate::style::{BOLD, paint};
use crate::text::grouped;
use serde::Serialize;

/// The counts of one history. The fields are the interface of `--format json`, described by
/// [`crate::schema::STATS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Default)]
pub struct Stats {
    /// The input as the user named it.
    pub input: String,
    /// The short name of its format.
    pub format: &'static str,
    /// Sessions.
    pub sessions: usize,
    /// Transactions, whatever became of them.
    pub transactions: usize,
    /// Those that committed.
    pub committed: usize,
    /// Those that did not.
    pub aborted: usize,
    /// Those of which the input does not say how they ended.
    pub unknown: usize,
    /// Transactions without operations.
    pub empty: usize,
    /// Operations.
    pub operations: usize,
    /// Operations that read.
    pub reads: usize,
    /// Operations that write a register.
    pub writes: usize,
    /// Operations that append to a list.
    pub appends: usize,
    /// Keys that occur.
    pub keys: usize,
    /// Lines or records that the reader passed over.
    pub skipped: u64,
    /// Transactions that the reader passed over because it does not understand what they did.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown_content: u64,
    /// Pairs of key and value that were written more than once.
    pub duplicate_values: usize,
    /// Operations in the longest transaction.
    pub operations_per_transaction_max: usize,
    /// Transactions in the longest session.
    pub transactions_per_session_max: usize,
    /// Whether transactions have begin and end times.
    pub times: bool,
}

/// The page, `width` characters wide.
pub fn render(stats: &Stats, width: usize) -> String {
    let (input, format) = (clean(&stats.input), format!("({} format)", stats.format));
    let has_room = input.chars().count() + 1 + format.len() <= width;
    let between = if has_room { " " } else { "\n  " };
    let mut page = format!("{}{between}{format}\n", paint(BOLD, &input));
    let row = |name: &str, value: &str| row(name, value, width);
    let counts = [
        ("sessions", stats.sessions),
        ("transactions", stats.transactions),
        ("  committed", stats.committed),
        ("  aborted", stats.aborted),
        ("  of unknown outcome", stats.unknown),
        ("  without operations", stats.empty),
        ("operations", stats.operations),
        ("  reads", stats.reads),
        ("  writes", stats.writes),
        ("  appends", stats.appends),
        ("keys", stats.keys),
        ("values written more than once", stats.duplicate_values),
        ("longest transaction", stats.operations_per_transaction_max),
        ("longest session", stats.transactions_per_session_max),
        ("lines passed over", stats.skipped as usize),
    ];
    for (name, count) in counts {
        page += &row(name, &grouped(count as u64));
    }
    if stats.unknown_content > 0 {
        page += &row("transactions of unknown content", &grouped(stats.unknown_content));
    }
    page + &row("begin and end times", if stats.times { "yes" } else { "no" })
}

/// How wide names and numbers are where there is room for both.
const NAME_WIDTH: usize = 32;
const VALUE_WIDTH: usize = 14;

fn row(name: &str, value: &str, width: usize) -> String {
    let room = width.saturating_sub(2 + NAME_WIDTH).min(VALUE_WIDTH);
    format!("  {name:<NAME_WIDTH$}{value:>room$}\n")
}

/// The line, without a line end.
pub fn json(stats: &Stats) -> String {
    // Strings and numbers always serialise; no error can occur.
    serde_json::to_string(stats).unwrap_or_default()
}
