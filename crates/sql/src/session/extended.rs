//! Prepared statements and portals: the extended protocol, and PREPARE and EXECUTE.

use super::{Reply, Session};
use crate::bind::Params;
use crate::env::{Listed, ListedCursor, ListedStatement};
use crate::error::{Result, SqlError, code};
use crate::execute::Row;
use crate::functions::Call;
use crate::ir::OutColumn;
use crate::parse::Parsed;
use crate::parse::ast::Utility;
use crate::types::datetime::now;
use crate::types::{Datum, Oid, input, recv};
use sqlparser::ast::Statement;
use std::sync::Arc;

/// A statement that was prepared.
#[derive(Debug)]
pub struct Prepared {
    /// The statement; none if the text was empty.
    pub parsed: Option<Parsed>,
    /// The types of its parameters.
    pub params: Vec<Oid>,
    /// The columns of its result, if it has one.
    pub columns: Option<Vec<OutColumn>>,
    /// Whether it was prepared by PREPARE.
    pub from_sql: bool,
    /// When it was prepared.
    pub at: i64,
}

impl Prepared {
    /// What was planned stands for what was described: clients rely on that.
    pub(super) fn check_columns(&self, found: &[OutColumn]) -> Result<()> {
        let Some(described) = &self.columns else { return Ok(()) };
        let alike = |(a, b): (&OutColumn, &OutColumn)| {
            (&a.name, a.ty, a.typmod) == (&b.name, b.ty, b.typmod)
        };
        if described.len() == found.len() && described.iter().zip(found).all(alike) {
            return Ok(());
        }
        let message = "cached plan must not change result type";
        // Drivers (JDBC) prepare again when this function says so, not when others say 0A000.
        let error = SqlError::new(code::FEATURE_NOT_SUPPORTED, message);
        Err(error.routine("RevalidateCachedQuery"))
    }
}

/// A statement with its parameters, that runs or has run.
#[derive(Debug)]
pub(super) struct Portal {
    prepared: Arc<Prepared>,
    params: Vec<Datum>,
    rows: Option<std::vec::IntoIter<Row>>,
    pub columns: Option<Vec<OutColumn>>,
    tag: String,
    /// Whether it has run, and returned no rows.
    is_done: bool,
    /// Whether it outlives the transaction.
    pub hold: bool,
    /// The rows of a cursor, and where it stands: before the first row is 0.
    pub cursor: Option<(Vec<Row>, i64)>,
    /// What is listed of a cursor.
    pub listed: Option<ListedCursor>,
}

impl Portal {
    /// Whether it outlives the transaction.
    pub fn is_held(&self) -> bool {
        self.hold
    }

    /// A cursor over rows.
    pub fn of_cursor(columns: Vec<OutColumn>, rows: Vec<Row>, listed: ListedCursor) -> Portal {
        Portal {
            prepared: Arc::new(Prepared {
                parsed: None,
                params: Vec::new(),
                columns: Some(columns.clone()),
                from_sql: true,
                at: listed.at,
            }),
            params: Vec::new(),
            rows: None,
            columns: Some(columns),
            tag: String::new(),
            is_done: false,
            hold: listed.hold,
            cursor: Some((rows, 0)),
            listed: Some(listed),
        }
    }
}

/// What a portal gave.
#[derive(Debug)]
pub struct PortalRows {
    /// The columns, if it returns rows.
    pub columns: Option<Vec<OutColumn>>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What was done; none if there are more rows.
    pub tag: Option<String>,
}

impl Session {
    /// Prepares a statement. An empty name is replaced without asking.
    pub fn prepare(&mut self, name: &str, text: &str, types: &[Oid]) -> Result<()> {
        if !name.is_empty() && self.prepared.contains_key(name) {
            return Err(SqlError::new(
                code::DUPLICATE_PREPARED_STATEMENT,
                format!("prepared statement \"{name}\" already exists"),
            ));
        }
        let mut parsed = self.read(text)?;
        if parsed.len() > 1 {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "cannot insert multiple commands into a prepared statement",
            ));
        }
        let prepared = match parsed.pop() {
            Some(parsed) => self.analyze(parsed, types, false)?,
            None => Prepared {
                parsed: None,
                params: Vec::new(),
                columns: None,
                from_sql: false,
                at: now(),
            },
        };
        self.keep_statement(name, prepared);
        Ok(())
    }

    pub(super) fn keep_statement(&mut self, name: &str, prepared: Prepared) {
        self.prepared.insert(name.to_owned(), Arc::new(prepared));
        if !name.is_empty() {
            self.list_again();
        }
    }

    /// What is prepared or declared has changed.
    pub(super) fn list_again(&mut self) {
        let named = self.prepared.iter().filter(|(name, _)| !name.is_empty());
        let statements = named.map(|(name, it)| ListedStatement {
            name: name.clone(),
            text: it.parsed.as_ref().map(|parsed| parsed.text.clone()).unwrap_or_default(),
            at: it.at,
            params: it.params.clone(),
            from_sql: it.from_sql,
        });
        let cursors = self.portals.values().filter_map(|portal| portal.listed.clone());
        let listed = Listed { statements: statements.collect(), cursors: cursors.collect() };
        self.listed = Arc::new(listed);
    }

    /// Finds the types of parameters and results.
    pub(super) fn analyze(
        &mut self,
        parsed: Parsed,
        types: &[Oid],
        from_sql: bool,
    ) -> Result<Prepared> {
        let is_data = matches!(
            parsed.statement,
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Merge(_)
        );
        if !is_data {
            let columns = self.utility_columns(&parsed)?;
            let params = match parsed.utility.as_deref() {
                // The parameters are those of what is explained.
                Some(Utility::Explain { statement, .. }) => {
                    self.analyze(Parsed::clone(statement), types, from_sql)?.params
                }
                _ => Params::new(types).types(),
            };
            return Ok(Prepared { parsed: Some(parsed), params, columns, from_sql, at: now() });
        }
        if self.status == super::Status::Failed {
            return Err(SqlError::new(
                code::IN_FAILED_SQL_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        self.see_catalog();
        let env = self.env();
        let mut binder =
            env.binder_with(&parsed.whole, Params::new(types)).with_lines(&parsed.lines);
        let query = match &parsed.statement {
            Statement::Query(query) => binder.bind_query(query)?,
            other => binder.bind_modify(other)?,
        };
        let params = binder.params.found()?;
        let is_query = matches!(parsed.statement, Statement::Query(_));
        let columns = (is_query || !query.columns.is_empty()).then_some(query.columns);
        Ok(Prepared { parsed: Some(parsed), params, columns, from_sql, at: now() })
    }

    /// A prepared statement.
    pub fn prepared(&self, name: &str) -> Result<Arc<Prepared>> {
        self.prepared.get(name).cloned().ok_or_else(|| {
            let shown = if name.is_empty() {
                "unnamed prepared statement does not exist".to_owned()
            } else {
                format!("prepared statement \"{name}\" does not exist")
            };
            SqlError::new(code::INVALID_SQL_STATEMENT_NAME, shown)
        })
    }

    /// Gives a statement its parameters, each with its format (0 text, 1 binary).
    pub fn bind(
        &mut self,
        portal: &str,
        statement: &str,
        params: &[Option<Vec<u8>>],
        formats: &[i16],
    ) -> Result<()> {
        let prepared = self.prepared(statement)?;
        if params.len() != prepared.params.len() {
            return Err(SqlError::new(
                code::PROTOCOL_VIOLATION,
                format!(
                    "bind message supplies {} parameters, but prepared statement \"{statement}\" \
                     requires {}",
                    params.len(),
                    prepared.params.len()
                ),
            ));
        }
        let env = self.env();
        let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: &env };
        let mut values = Vec::with_capacity(params.len());
        for (place, (param, &ty)) in params.iter().zip(&prepared.params).enumerate() {
            let format = match formats {
                [] => 0,
                [one] => *one,
                many => many.get(place).copied().unwrap_or(0),
            };
            let value = match param {
                None => Ok(Datum::Null),
                Some(bytes) => parameter(bytes, format, ty, &call),
            };
            values.push(value.map_err(|(error, shown)| {
                let whose = match portal {
                    "" => "unnamed portal".to_owned(),
                    name => format!("portal \"{name}\""),
                };
                error.context(format!("{whose} parameter ${}{shown}", place + 1))
            })?);
        }
        let columns = prepared.columns.clone();
        let made = Portal {
            prepared,
            params: values,
            rows: None,
            columns,
            tag: String::new(),
            is_done: false,
            hold: false,
            cursor: None,
            listed: None,
        };
        self.portals.insert(portal.to_owned(), made);
        Ok(())
    }

    /// The columns of what a portal returns.
    pub fn portal_columns(&self, name: &str) -> Result<Option<Vec<OutColumn>>> {
        Ok(self.portal(name)?.columns.clone())
    }

    /// The text of the statement of a portal; none if there is no such portal.
    pub fn portal_text(&self, name: &str) -> String {
        let parsed = self.portals.get(name).and_then(|portal| portal.prepared.parsed.as_ref());
        parsed.map(|parsed| parsed.text.clone()).unwrap_or_default()
    }

    fn portal(&self, name: &str) -> Result<&Portal> {
        self.portals.get(name).ok_or_else(|| {
            SqlError::new(code::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
        })
    }

    /// Runs a portal, or takes more rows of it. `most` of 0 is all.
    pub fn execute(&mut self, name: &str, most: usize) -> Result<ExecuteReply> {
        let portal = self.portal(name)?;
        if portal.rows.is_none() {
            let (prepared, params) = (Arc::clone(&portal.prepared), portal.params.clone());
            let Some(parsed) = &prepared.parsed else {
                return Ok(ExecuteReply::Plain(Reply::Empty));
            };
            if portal.is_done {
                let message = format!("portal \"{name}\" cannot be run");
                return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
            }
            let reply = self.statement(parsed, &params, &prepared.params)?;
            let Reply::Rows { columns, rows, tag } = reply else {
                self.portals.entry(name.to_owned()).and_modify(|portal| portal.is_done = true);
                return Ok(ExecuteReply::Plain(reply));
            };
            prepared.check_columns(&columns)?;
            let Some(portal) = self.portals.get_mut(name) else {
                let rows = PortalRows { columns: Some(columns), rows, tag: Some(tag) };
                return Ok(ExecuteReply::Rows(rows));
            };
            portal.rows = Some(rows.into_iter());
            portal.columns = Some(columns);
            portal.tag = tag;
        }
        let Some(portal) = self.portals.get_mut(name) else {
            return Err(SqlError::internal("the portal is gone"));
        };
        let Some(rest) = &mut portal.rows else { return Err(SqlError::internal("no rows")) };
        let rows: Vec<Row> = match most {
            0 => rest.collect(),
            most => rest.take(most).collect(),
        };
        // A portal that gave as many rows as it was asked for does not know that it is at its end.
        let is_done = most == 0 || rows.len() < most;
        let tag = is_done.then(|| match portal.tag.split_once(' ') {
            Some(("SELECT", _)) => format!("SELECT {}", rows.len()),
            _ => portal.tag.clone(),
        });
        Ok(ExecuteReply::Rows(PortalRows { columns: portal.columns.clone(), rows, tag }))
    }

    /// Forgets a prepared statement.
    pub fn close_statement(&mut self, name: &str) {
        if self.prepared.remove(name).is_some() && !name.is_empty() {
            self.list_again();
        }
    }

    /// Forgets a portal.
    pub fn close_portal(&mut self, name: &str) {
        self.portals.remove(name);
    }
}

/// The value of a parameter; an error comes with how the parameter is shown.
fn parameter(
    bytes: &[u8],
    format: i16,
    ty: Oid,
    call: &Call<'_>,
) -> std::result::Result<Datum, (SqlError, &'static str)> {
    match format {
        0 => {
            let text = text_of(bytes).map_err(|error| (error, ""))?;
            input(text, ty, -1, call).map_err(|error| (error, " = '...'"))
        }
        1 => recv(bytes, ty, -1, call).map_err(|error| (error, "")),
        other => {
            let message = format!("unsupported format code: {other}");
            Err((SqlError::new(code::INVALID_PARAMETER_VALUE, message), ""))
        }
    }
}

/// Bytes as text; an error names the bytes of the character that is none.
fn text_of(bytes: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(bytes);
    let wrong = match (&text, bytes.iter().position(|&byte| byte == 0)) {
        (Ok(text), None) => return Ok(*text),
        (Err(error), zero) => zero.map_or(error.valid_up_to(), |at| at.min(error.valid_up_to())),
        (Ok(_), Some(zero)) => zero,
    };
    let length = match bytes[wrong] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    let shown: Vec<String> =
        bytes[wrong..].iter().take(length).map(|byte| format!("0x{byte:02x}")).collect();
    Err(SqlError::new(
        code::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    ))
}

/// What came of executing a portal.
#[derive(Debug)]
pub enum ExecuteReply {
    /// Rows.
    Rows(PortalRows),
    /// Anything else.
    Plain(Reply),
}
