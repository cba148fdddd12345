//! COPY: rows from and to the client.
//!
//! Rows come in pieces of any size: [`CopyIn`] keeps what is not yet a whole row. What is checked
//! at the end of a statement is checked when the client has sent all.

mod format;
mod input;
mod output;
mod split;

pub use format::CopyFormat;
pub use input::CopyIn;
pub use output::CopyOut;

use super::{Reply, Session};
use crate::catalog::{Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use crate::parse::ast::{Copy, CopyWhat, Name};
use crate::parse::{self, Parsed};
use std::sync::Arc;

impl Session {
    /// COPY
    pub(super) fn copy(&mut self, copy: &Copy, text: &str) -> Result<Reply> {
        if copy.file {
            return Err(SqlError::unsupported("COPY from or to a file of the server"));
        }
        let format = CopyFormat::of(&copy.options, copy.from)?;
        match &copy.what {
            CopyWhat::Query(query) => self.copy_out(query, format, text),
            CopyWhat::Table(name, columns) if copy.from => {
                self.copy_in(name, columns, format, copy.filter.as_deref(), text)
            }
            CopyWhat::Table(name, columns) => {
                let query = self.table_query(name, columns)?;
                self.copy_out(&query, format, text)
            }
        }
    }

    fn copied_table(&self, name: &Name, from: bool) -> Result<Arc<Table>> {
        let env = self.env();
        let schema = match &name.schema {
            Some(schema) => Some(env.catalog.need_schema(schema)?),
            None => None,
        };
        let found = env.catalog.find_relation(schema, &name.name, &env.path);
        let wrong = |what: &str| {
            let verb = if from { "to" } else { "from" };
            SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("cannot copy {verb} {what} \"{}\"", name.name),
            )
        };
        match found.and_then(|oid| env.catalog.relation_by_oid(oid)) {
            Some(Relation::Table(table)) if table.materialized.is_some() && from => {
                Err(wrong("materialized view"))
            }
            Some(Relation::Table(table)) => Ok(table),
            Some(Relation::View(_)) if from => Err(wrong("view")
                .hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")),
            Some(Relation::View(_)) => {
                Err(wrong("view").hint("Try the COPY (SELECT ...) TO variant."))
            }
            Some(Relation::Sequence(_)) => Err(wrong("sequence")),
            Some(Relation::Index(_)) => Err(wrong("index")),
            None => Err(SqlError::new(
                code::UNDEFINED_TABLE,
                format!("relation \"{}\" does not exist", name.shown()),
            )),
        }
    }

    /// The numbers of the columns that are meant.
    fn copied_columns(&self, table: &Table, names: &[String]) -> Result<Vec<u16>> {
        let is_generated =
            |number: u16| table.column(number).default.as_ref().is_some_and(|it| it.generated);
        if names.is_empty() {
            let all = table.live().map(|(number, _)| number);
            return Ok(all.filter(|&number| !is_generated(number)).collect());
        }
        let mut columns = Vec::new();
        for name in names {
            let number = table.find(name).ok_or_else(|| {
                SqlError::new(
                    code::UNDEFINED_COLUMN,
                    format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
                )
            })?;
            if is_generated(number) {
                return Err(SqlError::new(
                    code::INVALID_COLUMN_REFERENCE,
                    format!("column \"{name}\" is a generated column"),
                )
                .detail("Generated columns cannot be used in COPY."));
            }
            if columns.contains(&number) {
                return Err(SqlError::new(
                    code::DUPLICATE_COLUMN,
                    format!("column \"{name}\" specified more than once"),
                ));
            }
            columns.push(number);
        }
        Ok(columns)
    }

    /// The rows of a table as a query.
    fn table_query(&self, name: &Name, columns: &[String]) -> Result<Parsed> {
        let table = self.copied_table(name, false)?;
        let numbers = self.copied_columns(&table, columns)?;
        let names: Vec<String> =
            numbers.iter().map(|&number| quote_ident(&table.column(number).name)).collect();
        let schema = quote_ident(&self.env().catalog.schema_name(table.schema));
        let text =
            format!("SELECT {} FROM ONLY {schema}.{}", names.join(", "), quote_ident(&table.name));
        let text = text.replace("FROM ONLY ", "FROM ");
        let mut parsed = parse::statements(&text)?;
        parsed.pop().ok_or_else(|| SqlError::internal("a query"))
    }

    fn copy_out(&mut self, query: &Parsed, format: CopyFormat, text: &str) -> Result<Reply> {
        let reply = self.copied_query(query, text)?;
        let Reply::Rows { columns, rows, .. } = reply else {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "COPY query must have a RETURNING clause",
            ));
        };
        let all: Vec<&str> = columns.iter().map(|it| &*it.name).collect();
        format.check_columns(&all)?;
        Ok(Reply::CopyOut(CopyOut { columns, rows, format }))
    }

    fn copied_query(&mut self, query: &Parsed, text: &str) -> Result<Reply> {
        use sqlparser::ast::Statement;
        let env = self.env();
        let mut binder = env.binder(&query.whole);
        let bound = match &query.statement {
            Statement::Query(query) => binder.bind_query(query)?,
            Statement::UnlockTables => {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "COPY query must be a query",
                ));
            }
            other => binder.bind_modify(other)?,
        };
        self.run_query(&env, &bound, text, &[], &[])
    }

    fn copy_in(
        &mut self,
        name: &Name,
        columns: &[String],
        format: CopyFormat,
        filter: Option<&str>,
        text: &str,
    ) -> Result<Reply> {
        let table = self.copied_table(name, true)?;
        let columns = self.copied_columns(&table, columns)?;
        let names: Vec<&str> = columns.iter().map(|&it| &*table.column(it).name).collect();
        format.check_columns(&names)?;
        let env = self.env();
        if let Some(filter) = filter {
            env.binder("").check_expr(&table, filter)?;
        }
        let Some(txn) = &mut self.txn else { return Err(SqlError::internal("no transaction")) };
        let is_permanent = table.persistence == crate::catalog::Persistence::Permanent;
        if txn.read_only && is_permanent {
            return Err(crate::transaction::read_only("COPY FROM"));
        }
        txn.started = true;
        let reads = crate::cells::Reads::Snapshot;
        txn.cells.begin_statement(&crate::cells::Statement {
            text,
            params: &[],
            reads,
            latest: false,
        })?;
        let mut exec = crate::execute::Exec::new(&env, txn, &[]);
        exec.lock_table(table.oid, crate::locks::Mode::RowExclusive)?;
        Ok(Reply::CopyIn(CopyIn::new(table, columns, format, filter.map(str::to_owned))))
    }
}
