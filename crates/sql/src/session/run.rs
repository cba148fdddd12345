//! Statements: what is done for each kind.

use super::{Reply, Session, Status};
use crate::bind::Params;
use crate::cells;
use crate::env::Env;
use crate::error::{Result, SqlError, code};
use crate::execute::{Exec, Row};
use crate::ir::{Body, ModifyKind, OutColumn, Query};
use crate::parse::{self, Parsed};
use crate::transaction::Changes;
use crate::types::{Datum, Oid, output};
use sqlparser::ast::Statement;
use std::time::Instant;

impl Session {
    /// Runs the statements of a text, one after the other, as one transaction unless they say
    /// otherwise. The replies so far come with an error.
    pub fn simple(&mut self, text: &str) -> (Vec<Reply>, Option<SqlError>) {
        let mut replies = Vec::new();
        let parsed = match self.read(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.fail();
                return (replies, Some(error));
            }
        };
        if parsed.is_empty() {
            replies.push(Reply::Empty);
        }
        let mut values = 0;
        for statement in &parsed {
            let reply = self.statement(statement, &[], &[]);
            // All replies of a text wait until the last of its statements has run.
            values += reply.as_ref().map_or(0, Reply::size);
            match reply.and_then(|reply| self.bound(values).map(|()| reply)) {
                Ok(reply) => replies.push(reply),
                Err(error) => {
                    self.fail();
                    return (replies, Some(error));
                }
            }
            // The client has to send its rows before anything else happens.
            if matches!(replies.last(), Some(Reply::CopyIn(_))) {
                return (replies, None);
            }
        }
        match self.finish_implicit() {
            Ok(()) => (replies, None),
            Err(error) => {
                // The last statement is complete when its transaction is committed, and not before.
                replies.pop();
                (replies, Some(error))
            }
        }
    }

    /// Replies that are larger than memory are an error before they are a crash.
    fn bound(&self, values: usize) -> Result<()> {
        if values <= self.values_max {
            return Ok(());
        }
        let detail = "The results of the statements of one message are too large together.";
        Err(SqlError::new(code::OUT_OF_MEMORY, "out of memory").detail(detail))
    }

    /// The statements of a text of the client.
    pub(super) fn read(&self, text: &str) -> Result<Vec<Parsed>> {
        if self.settings.escapes_strings() {
            return parse::statements(&parse::old_strings::with_escapes(text));
        }
        parse::statements(text)
    }

    /// Commits a transaction that was begun for statements without one: when all statements of a
    /// simple query have run, and at Sync.
    pub fn finish_implicit(&mut self) -> Result<()> {
        match &self.txn {
            Some(txn) if txn.implicit => self.commit_transaction(),
            _ => Ok(()),
        }
    }

    /// A statement has failed: the transaction is in its failed state, or over.
    pub fn failed(&mut self) {
        self.fail();
    }

    /// Runs one statement.
    pub(super) fn statement(
        &mut self,
        parsed: &Parsed,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Reply> {
        let timeout = self.settings.time("statement_timeout");
        self.interrupt.begin(timeout.map(|timeout| Instant::now() + timeout));
        self.interrupt.check()?;
        let application = self.settings.find("application_name").unwrap_or_default();
        let _running = self.entry.run(&parsed.text, &application, crate::types::datetime::now());
        if self.status == Status::Failed && !ends_failure(&parsed.statement) {
            return Err(SqlError::new(
                code::IN_FAILED_SQL_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        if let Some(reply) = self.transaction_statement(&parsed.statement)? {
            return Ok(reply);
        }
        self.need_transaction()?;
        self.see_catalog();
        if let Some(reply) = self.utility(parsed, params, types)? {
            return Ok(reply);
        }
        let reply = self.data_statement(parsed, params, types)?;
        Ok(reply)
    }

    /// BEGIN, COMMIT and the like.
    fn transaction_statement(&mut self, statement: &Statement) -> Result<Option<Reply>> {
        let done = |tag: &str| Ok(Some(Reply::Done(tag.to_owned())));
        match statement {
            Statement::StartTransaction { modes, begin, .. } => {
                self.begin(modes)?;
                done(if *begin { "BEGIN" } else { "START TRANSACTION" })
            }
            Statement::Commit { chain: true, .. } if self.status == Status::Idle => {
                Err(only_in_block("COMMIT AND CHAIN"))
            }
            Statement::Rollback { chain: true, .. } if self.status == Status::Idle => {
                Err(only_in_block("ROLLBACK AND CHAIN"))
            }
            Statement::Commit { chain, .. } => {
                let tag = self.commit()?;
                if *chain {
                    self.begin(&[])?;
                }
                done(tag)
            }
            Statement::Rollback { savepoint: Some(name), .. } => {
                self.rollback_to(&crate::parse::fold(name))?;
                done("ROLLBACK")
            }
            Statement::Rollback { chain, .. } => {
                self.rollback();
                if *chain {
                    self.begin(&[])?;
                }
                done("ROLLBACK")
            }
            Statement::Savepoint { name } => {
                self.savepoint(crate::parse::fold(name))?;
                done("SAVEPOINT")
            }
            Statement::ReleaseSavepoint { name } => {
                self.release(&crate::parse::fold(name))?;
                done("RELEASE")
            }
            _ => Ok(None),
        }
    }

    /// Queries and changes.
    fn data_statement(
        &mut self,
        parsed: &Parsed,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Reply> {
        let env = self.env();
        let mut binder =
            env.binder_with(&parsed.whole, Params::new(types)).with_lines(&parsed.lines);
        let query = match &parsed.statement {
            Statement::Query(query) => binder.bind_query(query)?,
            Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_) => binder.bind_modify(&parsed.statement)?,
            other => return Err(unsupported_statement(other)),
        };
        self.run_query(&env, &query, &parsed.text, params, types)
    }

    /// Runs a query or change.
    pub(super) fn run_query(
        &mut self,
        env: &Env,
        query: &Query,
        text: &str,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Reply> {
        self.raise(shown_text(text))?;
        let Some(txn) = &mut self.txn else { return Err(SqlError::internal("no transaction")) };
        txn.started = true;
        txn.changes = Changes::default();
        let shown = shown_params(env, params, types);
        let text = shown_text(text);
        let latest = env.settings.reads_latest() || parse::asks_for_latest(text);
        let reads = crate::execute::reads(query, txn);
        txn.cells.begin_statement(&cells::Statement { text, params: &shown, reads, latest })?;
        let mut exec = Exec::new(env, txn, params);
        exec.begin_reading(query);
        let (rows, tag) = match &query.body {
            Body::Modify(modify) => {
                exec.run_ctes(&query.ctes)?;
                let (rows, count) = exec.modify(modify)?;
                let tag = match modify.kind {
                    ModifyKind::Insert { .. } => format!("INSERT 0 {count}"),
                    ModifyKind::Update { .. } => format!("UPDATE {count}"),
                    ModifyKind::Delete { .. } => format!("DELETE {count}"),
                    ModifyKind::Merge { .. } => format!("MERGE {count}"),
                };
                (rows, tag)
            }
            _ => {
                let mut rows = exec.run(query, None)?;
                let width = query.columns.len();
                rows.iter_mut().for_each(|row| row.truncate(width));
                let tag = format!("SELECT {}", rows.len());
                (rows, tag)
            }
        };
        let due = exec.take_checks();
        exec.run_checks(due)?;
        let notices = std::mem::take(&mut exec.notices);
        let has_rows = !matches!(query.body, Body::Modify(_)) || !query.columns.is_empty();
        match has_rows {
            true => {
                let shown = shown_rows(env, &rows, &query.columns);
                txn.cells.end_statement(&cells::Returned::Rows(rows.len() as u64, &shown));
            }
            false => txn.cells.end_statement(&cells::Returned::Done(&tag)),
        }
        self.after_statement(notices);
        match has_rows {
            true => Ok(Reply::Rows { columns: query.columns.clone(), rows, tag }),
            false => Ok(Reply::Done(tag)),
        }
    }

    /// What a statement leaves to the session.
    pub(super) fn after_statement(&mut self, notices: Vec<SqlError>) {
        self.notices.extend(notices);
        if let Some(txn) = &mut self.txn {
            for (sequence, value) in std::mem::take(&mut txn.values) {
                self.values.insert(sequence, value);
                self.last_value = Some(sequence);
            }
            let changes = std::mem::take(&mut txn.setting_changes);
            changes.into_iter().for_each(|change| self.change_setting(change));
        }
    }
}

impl Session {
    /// Sets what a function has set; it has been checked already.
    fn change_setting(&mut self, change: crate::transaction::SettingChange) {
        let before = self.settings.find(&change.name);
        if self.settings.set(&change.name, Some(&change.value)).is_ok() && change.local {
            self.local.push((change.name, before));
        }
    }
}

/// Parameters as the history shows them.
fn shown_params(env: &Env, params: &[Datum], types: &[Oid]) -> Vec<Option<String>> {
    let call =
        crate::functions::Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
    params
        .iter()
        .zip(types)
        .map(|(value, &ty)| (!value.is_null()).then(|| cut(output(value, ty, &call))))
        .collect()
}

/// The most rows, columns and characters of a value that the history has of a result.
const SHOWN_ROWS_MAX: usize = 3;
const SHOWN_COLUMNS_MAX: usize = 8;
const SHOWN_CHARS_MAX: usize = 60;
/// The most bytes of a statement that the history has.
const SHOWN_TEXT_MAX: usize = 10_000;

/// The beginning of a statement, if it is very long.
fn shown_text(text: &str) -> &str {
    let end = (0..=SHOWN_TEXT_MAX.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The first rows as the history shows them.
fn shown_rows(env: &Env, rows: &[Row], columns: &[OutColumn]) -> Vec<Vec<Option<String>>> {
    let call =
        crate::functions::Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
    let value = |(value, column): (&Datum, &OutColumn)| {
        (!value.is_null()).then(|| cut(output(value, column.ty, &call)))
    };
    let row = |row: &Row| row.iter().zip(columns).take(SHOWN_COLUMNS_MAX).map(value).collect();
    rows.iter().take(SHOWN_ROWS_MAX).map(row).collect()
}

fn cut(text: String) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether a statement may run in a failed transaction.
fn ends_failure(statement: &Statement) -> bool {
    matches!(statement, Statement::Rollback { .. } | Statement::Commit { .. })
}

pub(super) fn unsupported_statement(statement: &Statement) -> SqlError {
    let text = statement.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    SqlError::unsupported(format!("the statement {}", words.join(" ")))
}

fn only_in_block(what: &str) -> SqlError {
    let message = format!("{what} can only be used in transaction blocks");
    SqlError::new(code::NO_ACTIVE_SQL_TRANSACTION, message)
}
