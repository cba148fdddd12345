//! What clients asked: the statements of transactions, beside the operations that they did.
//!
//! A check looks at operations alone; statements are there so that it can be told to people what
//! was done. They know nothing of SQL: a text, its parameters and a few rows of what it returned.

use crate::ids::TxnId;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The text of a statement and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementContent {
    /// The text, as the client sent it.
    pub text: Box<str>,
    /// Its parameters, `$1` first; `None` is NULL.
    pub params: Vec<Option<Box<str>>>,
    /// What it returned, if that is known.
    pub returned: Option<Returned>,
    /// Whether it asked for the latest versions, whatever the level allows.
    pub latest: bool,
}

/// What a statement returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// Rows.
    Rows {
        /// How many.
        count: u64,
        /// The first of them; `None` is NULL. Values may be cut.
        first: Vec<Vec<Option<Box<str>>>>,
    },
    /// What was done, in the words of the database: `UPDATE 1`.
    Done(Box<str>),
}

/// A statement of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The transaction.
    pub txn: TxnId,
    /// Its operations; there may be none.
    pub ops: Range<u32>,
    /// Its scans, by their places among those of the transaction.
    pub scans: Range<u32>,
    /// What it is.
    pub content: Arc<StatementContent>,
}

/// The statements of a history, in the order of their operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statements(pub Vec<Statement>);

/// `3`, `(1, a)`, `3 rows: 1, 2, …`, `no rows`, `UPDATE 1`.
impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, first) = match self {
            Returned::Done(tag) => return f.write_str(tag),
            Returned::Rows { count: 0, .. } => return f.write_str("no rows"),
            Returned::Rows { count, first } => (*count, first),
        };
        let rows: Vec<String> = first.iter().map(|row| row_text(row)).collect();
        let more = if (rows.len() as u64) < count { ", …" } else { "" };
        match count {
            1 if rows.len() == 1 => f.write_str(&rows[0]),
            1 => f.write_str("1 row"),
            _ if rows.is_empty() => write!(f, "{count} rows"),
            _ => write!(f, "{count} rows: {}{more}", rows.join(", ")),
        }
    }
}

fn row_text(row: &[Option<Box<str>>]) -> String {
    let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
    match values.as_slice() {
        [only] => (*only).to_owned(),
        values => format!("({})", values.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_in_short() {
        let rows = |count, first: &[&[Option<&str>]]| {
            let row =
                |row: &&[Option<&str>]| row.iter().map(|value| value.map(Into::into)).collect();
            Returned::Rows { count, first: first.iter().map(row).collect() }.to_string()
        };
        assert_eq!(rows(0, &[]), "no rows");
        assert_eq!(rows(1, &[&[Some("3")]]), "3");
        assert_eq!(rows(1, &[&[Some("3"), None]]), "(3, NULL)");
        assert_eq!(rows(2, &[&[Some("3")], &[Some("4")]]), "2 rows: 3, 4");
        assert_eq!(rows(9, &[&[Some("3")], &[Some("4")]]), "9 rows: 3, 4, …");
        assert_eq!(rows(9, &[]), "9 rows");
        assert_eq!(Returned::Done("UPDATE 1".into()).to_string(), "UPDATE 1");
    }
}
