//! Statements of transactions, as JSON.
//!
//! ```text
//! "statements":[{"sql":"SELECT stock FROM item WHERE id = $1","params":["7"],
//!                "rows":[["3"]],"count":1,"first":0,"ops":2}]
//! ```
//!
//! `first` is the index of the first of its operations, `ops` how many there are.

use super::super::json::{Json, Members};
use crate::columns::{Mark, StatementMeta};
use crate::ids::TxnId;
use crate::model::History;
use crate::statements::{Returned, Statement, StatementContent};
use std::sync::Arc;

/// Reads the member `statements` of transaction `txn`, whose operations have these marks between
/// them.
pub(super) fn read(field: Json, txn: u32, marks: &[Mark]) -> Result<Vec<StatementMeta>, String> {
    let Json::Array(items) = field else {
        return Err("`statements` must be an array of statements".to_owned());
    };
    let mut end = 0;
    let mut statements = Vec::new();
    for (number, item) in items.into_iter().enumerate() {
        let Json::Object(mut fields) = item else {
            return Err(format!("statement {number} must be an object with \"sql\""));
        };
        let in_statement = |problem: String| format!("statement {number}: {problem}");
        let (first, ops) = range(&mut fields, end, marks).map_err(in_statement)?;
        end = first + ops;
        let content = Arc::new(content(&mut fields).map_err(in_statement)?);
        if let Some(strange) = fields.names().next() {
            return Err(in_statement(format!("`{strange}` is not known")));
        }
        statements.push(StatementMeta { txn, from: marks[first], to: marks[end], content });
    }
    Ok(statements)
}

/// The first operation and how many there are, behind `end` and no more than there are.
fn range(fields: &mut Members, end: usize, marks: &[Mark]) -> Result<(usize, usize), String> {
    let all = marks.len() - 1;
    let number = |name: &str, field: Option<Json>, other: usize| match field {
        None => Ok(other),
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| format!("`{name}` must be a number, found {value}"))
        }
    };
    let first = number("first", fields.remove("first"), end)?;
    let ops = number("ops", fields.remove("ops"), 0)?;
    if first < end {
        return Err(format!("its first operation ({first}) belongs to the statement before it"));
    }
    match first.checked_add(ops).is_some_and(|last| last <= all) {
        true => Ok((first, ops)),
        false => Err(format!("the transaction has {all} operations, and not {ops} from {first}")),
    }
}

fn content(fields: &mut Members) -> Result<StatementContent, String> {
    let Some(Json::String(text)) = fields.remove("sql") else {
        return Err("expected its text, \"sql\"".to_owned());
    };
    let params = match fields.remove("params") {
        None => Vec::new(),
        Some(params) => texts("params", &params)?,
    };
    let rows = match fields.remove("rows") {
        None => Vec::new(),
        Some(Json::Array(rows)) => {
            rows.iter().map(|row| texts("rows", row)).collect::<Result<_, _>>()?
        }
        Some(other) => return Err(format!("`rows` must be an array of rows, found {other}")),
    };
    let count = match fields.remove("count") {
        None => None,
        Some(count) => {
            Some(count.as_u64().ok_or_else(|| format!("`count` must be a number, found {count}"))?)
        }
    };
    let returned = match (fields.remove("done"), count) {
        (Some(Json::String(done)), None) if rows.is_empty() => Some(Returned::Done(done.into())),
        (None, Some(count)) if count >= rows.len() as u64 => {
            Some(Returned::Rows { count, first: rows })
        }
        (None, None) if rows.is_empty() => None,
        _ => return Err("expected \"rows\" with their \"count\", or what was \"done\"".to_owned()),
    };
    let latest = match fields.remove("latest") {
        None => false,
        Some(Json::Bool(latest)) => latest,
        Some(other) => return Err(format!("`latest` must be true or false, found {other}")),
    };
    Ok(StatementContent { text: text.into(), params, returned, latest })
}

/// An array of texts, or null for NULL.
fn texts(name: &str, field: &Json) -> Result<Vec<Option<Box<str>>>, String> {
    let bad = || format!("`{name}` must be texts or null, found {field}");
    let text = |value: &Json| match value {
        Json::Null => Ok(None),
        Json::String(text) => Ok(Some(text.as_str().into())),
        _ => Err(bad()),
    };
    field.as_array().ok_or_else(bad)?.iter().map(text).collect()
}

/// The member `statements` of a transaction.
pub(super) fn json(history: &History, txn: TxnId) -> Vec<Json> {
    history.statements_of(txn).iter().map(|statement| statement_json(history, statement)).collect()
}

fn statement_json(history: &History, statement: &Statement) -> Json {
    let first = index(history, statement.txn, statement.ops.start, statement.scans.start);
    let end = index(history, statement.txn, statement.ops.end, statement.scans.end);
    let mut fields = Vec::new();
    let mut add = |name: &str, value: Json| fields.push((name.to_owned(), value));
    add("sql", (&*statement.content.text).into());
    if !statement.content.params.is_empty() {
        add("params", texts_json(&statement.content.params));
    }
    match &statement.content.returned {
        None => {}
        Some(Returned::Done(done)) => add("done", (&**done).into()),
        Some(Returned::Rows { count, first }) => {
            add("rows", Json::Array(first.iter().map(|row| texts_json(row)).collect()));
            add("count", Json::Int((*count).into()));
        }
    }
    if statement.content.latest {
        add("latest", Json::Bool(true));
    }
    add("first", Json::Int(first.into()));
    add("ops", Json::Int((end - first).into()));
    Json::Object(Members::new(fields).unwrap_or_default())
}

/// Texts, or null for NULL.
fn texts_json(texts: &[Option<Box<str>>]) -> Json {
    let text = |text: &Option<Box<str>>| text.as_deref().map_or(Json::Null, Json::from);
    Json::Array(texts.iter().map(text).collect())
}

/// How many operations of the file come before operation `op` and behind so many scans: a scan is
/// one, whatever it reads.
fn index(history: &History, txn: TxnId, op: u32, scans: u32) -> u32 {
    let before = &history.scans_of(txn)[..scans as usize];
    let reads: u32 = before.iter().map(|scan| scan.ops.len() as u32).sum();
    op - history.ops_of(txn).start - reads + scans
}
