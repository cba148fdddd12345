//! A session of MySQL on one of SQL: which database is selected, variables, transactions with
//! autocommit, and what the last statement has done.

use super::answer::{Column, Done};
use super::config::MysqlConfig;
use super::dialect::known::Known;
use super::dialect::{self, Meaning, Piece};
use super::error::MysqlError;
use super::frontend::Param;
use super::variables::{Globals, UserValue, Variables};
use seriatim_sql::cells::TxnLevel;
use seriatim_sql::env::Env;
use seriatim_sql::parse::Parsed;
use seriatim_sql::session::{Extent, Reply, Session, Status};
use seriatim_sql::types::Row;
use seriatim_sql::{Datum, Oid, SqlError};
use sqlparser::ast::Statement;
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many warnings are remembered.
const WARNINGS_MAX: usize = 64;

/// What a statement came to.
#[derive(Debug)]
pub(super) enum Outcome {
    Rows(Vec<Column>, Vec<Row>),
    Done(Done),
}

/// A warning of the last statement.
#[derive(Clone, Debug)]
pub(super) struct Warning {
    pub level: &'static str,
    pub number: u16,
    pub message: String,
}

/// What was said about the next transaction alone.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Next {
    pub level: Option<TxnLevel>,
    pub read_only: Option<bool>,
}

/// A session.
pub(super) struct MysqlSession {
    pub sql: Session,
    pub user: String,
    pub selected: Option<String>,
    pub variables: Variables,
    pub globals: Arc<Globals>,
    pub user_variables: BTreeMap<String, UserValue>,
    pub last_insert_id: u64,
    pub row_count: i64,
    pub found_rows: u64,
    pub warnings: Vec<Warning>,
    /// Whether the variable says which level transactions have.
    pub has_level: bool,
    /// The level of transactions, whatever they ask for.
    pub forced: Option<TxnLevel>,
    pub next: Next,
    /// Whether updates count the rows that they find, and not those that they change.
    pub counts_found: bool,
}

pub(super) type Made<T> = Result<T, MysqlError>;

/// What variables call a level.
pub(super) fn level_name(level: TxnLevel) -> &'static str {
    match level {
        TxnLevel::ReadUncommitted => "READ-UNCOMMITTED",
        TxnLevel::ReadCommitted => "READ-COMMITTED",
        TxnLevel::RepeatableRead => "REPEATABLE-READ",
        TxnLevel::Serializable => "SERIALIZABLE",
    }
}

/// The level of a name as variables have it.
fn level_of(name: &str) -> TxnLevel {
    match name {
        "READ-UNCOMMITTED" => TxnLevel::ReadUncommitted,
        "READ-COMMITTED" => TxnLevel::ReadCommitted,
        "SERIALIZABLE" => TxnLevel::Serializable,
        _ => TxnLevel::RepeatableRead,
    }
}

impl MysqlSession {
    pub fn new(mut sql: Session, globals: Arc<Globals>, config: &MysqlConfig) -> MysqlSession {
        sql.speak_mysql();
        let variables = Variables::new(&globals);
        MysqlSession {
            has_level: config.default_level.is_some(),
            forced: config.default_level.filter(|_| config.is_level_forced),
            sql,
            user: String::new(),
            selected: None,
            variables,
            globals,
            user_variables: BTreeMap::new(),
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            warnings: Vec::new(),
            next: Next::default(),
            counts_found: false,
        }
    }

    /// The session is as new.
    pub fn reset(&mut self, config: &MysqlConfig) {
        self.sql.abort_open();
        self.variables = Variables::new(&self.globals);
        self.user_variables.clear();
        self.warnings.clear();
        self.next = Next::default();
        self.has_level = config.default_level.is_some();
        (self.last_insert_id, self.row_count) = (0, 0);
    }

    pub fn is_in_transaction(&self) -> bool {
        self.sql.status() != Status::Idle
    }

    pub fn is_autocommit(&self) -> bool {
        self.variables.is_on("autocommit")
    }

    pub fn database(&self) -> String {
        self.selected.clone().unwrap_or_default()
    }

    pub fn refused(&self, error: &SqlError) -> MysqlError {
        MysqlError::of(error, &self.database())
    }

    pub fn env(&self) -> Env {
        self.sql.env()
    }

    /// What statements may ask for.
    pub fn known<'s>(&'s self, params: Option<&'s [Param]>) -> Known<'s> {
        Known {
            selected: self.selected.as_deref(),
            user: &self.user,
            connection: self.sql.number(),
            last_insert_id: self.last_insert_id,
            row_count: self.row_count,
            found_rows: self.found_rows,
            variables: &self.variables,
            user_variables: &self.user_variables,
            catalog: Arc::clone(&self.sql.env().catalog),
            params,
        }
    }

    /// USE
    pub fn select_database(&mut self, name: &str) -> Made<()> {
        if self.sql.env().catalog.schema(name).is_none() && name != "information_schema" {
            return Err(MysqlError::unknown_database(name));
        }
        let path = format!("\"{}\"", name.replace('"', ""));
        self.sql.set("search_path", &path).map_err(|error| self.refused(&error))?;
        self.selected = Some(name.to_owned());
        Ok(())
    }

    pub fn warn(&mut self, level: &'static str, number: u16, message: impl Into<String>) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(Warning { level, number, message: message.into() });
        }
    }

    /// Runs one statement.
    pub fn run(&mut self, piece: &Piece, params: Option<&[Param]>) -> Made<Outcome> {
        let meaning = dialect::meaning(piece)?;
        let is_show =
            piece.text.len() >= 4 && piece.text.as_bytes()[..4].eq_ignore_ascii_case(b"show");
        if !is_show {
            self.warnings.clear();
        }
        let outcome = match meaning {
            Meaning::Data(statement) => self.data(statement, &piece.text, params),
            Meaning::Definition(statement) => self.define(statement, &piece.text),
            Meaning::Session(words) => self.about_session(words),
        };
        if let Err(error) = &outcome {
            self.row_count = -1;
            self.warn("Error", error.number, error.message.clone());
        }
        outcome
    }

    /// The columns of the result of a statement that is prepared.
    pub fn columns(&mut self, piece: &Piece) -> Made<Vec<Column>> {
        let Meaning::Data(statement) = dialect::meaning(piece)? else { return Ok(Vec::new()) };
        if !matches!(*statement, Statement::Query(_)) {
            return Ok(Vec::new());
        }
        let parsed = dialect::data(statement, &piece.text, &self.known(None))?;
        let found = self.sql.columns_of(&parsed).map_err(|error| self.refused(&error))?;
        let env = self.env();
        Ok(found.unwrap_or_default().iter().map(|column| Column::new(column, &env)).collect())
    }

    /// The level of the next transaction, if one was asked for.
    fn level(&self) -> Option<TxnLevel> {
        let name = self.variables.get("transaction_isolation").unwrap_or_default();
        if self.forced.is_some() {
            return self.forced;
        }
        self.next.level.or_else(|| self.has_level.then(|| level_of(&name)))
    }

    /// Begins a transaction unless one is open.
    pub fn open(&mut self, extent: Extent) -> Made<()> {
        if !self.is_in_transaction() {
            let read_only = self
                .next
                .read_only
                .unwrap_or_else(|| self.variables.is_on("transaction_read_only"));
            let level = self.level();
            self.tell_settings();
            let opened = self.sql.open_at(level, read_only, extent);
            self.next = Next::default();
            return opened.map_err(|error| self.refused(&error));
        }
        Ok(())
    }

    /// Settings of SQL that variables of MySQL decide.
    fn tell_settings(&mut self) {
        let wait: u64 = self
            .variables
            .get("innodb_lock_wait_timeout")
            .and_then(|text| text.parse().ok())
            .unwrap_or(50);
        let _ = self.sql.set("lock_timeout", &format!("{}ms", wait.clamp(1, 100_000) * 1000));
        let refuses = self.variables.is_on("innodb_snapshot_isolation");
        let _ = self.sql.set("seriatim.refuse_changed", if refuses { "on" } else { "off" });
    }

    pub fn commit(&mut self) -> Made<()> {
        self.sql.commit_open().map_err(|error| self.refused(&error))
    }

    /// Runs a statement in the open transaction, or in one of its own.
    fn in_transaction(&mut self, parsed: &Parsed, params: &[Datum], types: &[Oid]) -> Made<Reply> {
        let extent = if self.is_autocommit() { Extent::Statement } else { Extent::Block };
        self.open(extent)?;
        let reply = self.sql.run_parsed(parsed, params, types);
        let reply = reply.map_err(|error| self.refused(&error))?;
        for notice in self.sql.take_notices() {
            let told = self.refused(&notice);
            self.warn("Note", told.number, told.message);
        }
        if !self.is_in_transaction() {
            self.commit()?;
        }
        Ok(reply)
    }

    fn data(
        &mut self,
        statement: Box<Statement>,
        text: &str,
        params: Option<&[Param]>,
    ) -> Made<Outcome> {
        let is_upsert =
            matches!(&*statement, Statement::Insert(it) if it.on.is_some() || it.replace_into);
        let is_update = matches!(*statement, Statement::Update(_));
        let is_insert = matches!(*statement, Statement::Insert(_));
        let parsed = dialect::data(statement, text, &self.known(params))?;
        let (values, types) = shown_params(params.unwrap_or_default());
        let reply = self.in_transaction(&parsed, &values, &types)?;
        Ok(match reply {
            Reply::Rows { columns, rows, .. } => {
                self.found_rows = rows.len() as u64;
                self.row_count = -1;
                let env = self.env();
                let columns = columns.iter().map(|column| Column::new(column, &env)).collect();
                Outcome::Rows(columns, rows)
            }
            Reply::Done(tag) => {
                let mut done = self.counted(&tag, is_upsert, is_update);
                if is_insert {
                    done.insert_id = self.numbered();
                }
                self.row_count = done.affected as i64;
                Outcome::Done(done)
            }
            _ => return Err(MysqlError::unsupported("COPY")),
        })
    }

    /// How many rows a change is said to affect.
    fn counted(&self, tag: &str, is_upsert: bool, is_update: bool) -> Done {
        let count: u64 = tag.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
        let changes = self.sql.changes();
        let warnings = self.warnings.len() as u16;
        let mut done = Done { affected: count, warnings, ..Done::default() };
        if is_upsert {
            let unchanged = changes.matched - changes.changed;
            let found = if self.counts_found { unchanged } else { 0 };
            done.affected = changes.inserted + 2 * changes.changed + found;
        }
        if is_update {
            done.affected = if self.counts_found { changes.matched } else { changes.changed };
            let (matched, changed) = (changes.matched, changes.changed);
            done.info =
                format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}");
        }
        done
    }

    /// The number that a new row gave itself.
    fn numbered(&mut self) -> u64 {
        let changes = self.sql.changes();
        if let Some(generated) = changes.generated {
            self.last_insert_id = generated as u64;
        }
        changes.generated.or(changes.given).map_or(0, |number| number as u64)
    }

    /// A definition, which is no part of a transaction: what is open is committed.
    fn define(&mut self, statement: Box<Statement>, text: &str) -> Made<Outcome> {
        if self.is_in_transaction() {
            self.commit()?;
        }
        if self.selected.is_none() && !is_about_database(&statement) && !text.contains('.') {
            return Err(MysqlError::no_database());
        }
        let drops = matches!(*statement, Statement::Drop { .. });
        let all = dialect::definitions(statement, text, &self.known(None))?;
        self.define_all(&all).map_err(|error| match error.number {
            1146 if drops => {
                MysqlError::new(1051, "42S02", error.message.replace("Table", "Unknown table"))
            }
            _ => error,
        })
    }

    pub fn define_all(&mut self, all: &[Parsed]) -> Made<Outcome> {
        self.open(Extent::Block)?;
        for parsed in all {
            if let Err(error) = self.sql.run_parsed(parsed, &[], &[]) {
                let told = self.refused(&error);
                self.sql.abort_open();
                return Err(told);
            }
        }
        for notice in self.sql.take_notices() {
            let told = self.refused(&notice);
            self.warn("Note", told.number, told.message);
        }
        self.commit()?;
        self.row_count = 0;
        Ok(self.done())
    }

    /// Nothing was changed, and all is well.
    pub fn done(&self) -> Outcome {
        Outcome::Done(Done { warnings: self.warnings.len() as u16, ..Done::default() })
    }
}

fn is_about_database(statement: &Statement) -> bool {
    matches!(statement, Statement::CreateDatabase { .. } | Statement::CreateSchema { .. })
        || matches!(statement, Statement::Drop { object_type, .. }
            if matches!(object_type, sqlparser::ast::ObjectType::Schema))
}

/// Parameters as the history shows them.
fn shown_params(params: &[Param]) -> (Vec<Datum>, Vec<Oid>) {
    let shown = |param: &Param| match param {
        Param::Null => Datum::Null,
        Param::Int(value) => Datum::text(value.to_string()),
        Param::Unsigned(value) => Datum::text(value.to_string()),
        Param::Float(value) => Datum::text(value.to_string()),
        Param::Text(value) => Datum::text(value.clone()),
        Param::Bytes(value) => Datum::text(format!("{} bytes", value.len())),
    };
    (params.iter().map(shown).collect(), vec![Oid::TEXT; params.len()])
}
