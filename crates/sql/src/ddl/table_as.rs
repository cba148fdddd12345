//! CREATE TABLE … AS, SELECT … INTO and materialized views: relations that are filled by a query.

use super::Ddl;
use crate::catalog::{Column, Materialized, Table};
use crate::error::{Result, SqlError, code};
use crate::execute::RowWriter;
use crate::ir::{OutColumn, Query};
use crate::locks::Mode;
use crate::parse::ast::{CreateTableAs, CreateView, Name};

impl Ddl<'_> {
    pub(super) fn create_table_as(&mut self, create: &CreateTableAs) -> Result<String> {
        let schema = self.target_schema(&create.name, create.lifetime)?;
        if self.skip_existing(schema, &create.name, create.if_not_exists)? {
            return Ok("CREATE TABLE AS".to_owned());
        }
        let query = self.env.binder(self.text).bind_query(&create.query)?;
        let mut table = self.empty_table(schema, &create.name.name, create.lifetime);
        self.columns_from(&mut table, &query, &create.columns)?;
        self.fill(table, &query, create.with_data, "CREATE TABLE AS")
    }

    pub(super) fn create_materialized_view(&mut self, create: &CreateView) -> Result<String> {
        const TAG: &str = "CREATE MATERIALIZED VIEW";
        let schema = self.target_schema(&create.name, create.lifetime)?;
        if self.skip_existing(schema, &create.name, create.if_not_exists)? {
            return Ok(TAG.to_owned());
        }
        let query = self.env.binder(self.text).bind_query(&create.query)?;
        let mut table = self.empty_table(schema, &create.name.name, create.lifetime);
        self.columns_from(&mut table, &query, &create.columns)?;
        table.materialized = Some(Materialized {
            text: create.text.as_str().into(),
            depends_on: self.relations_of(&create.query),
            populated: create.with_data,
        });
        self.fill(table, &query, create.with_data, TAG)
    }

    pub(super) fn refresh(&mut self, name: &Name, with_data: bool) -> Result<()> {
        let mut table = Table::clone(&*self.need_relation(name, Mode::AccessExclusive)?);
        let Some(view) = &mut table.materialized else {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                format!("\"{}\" is not a materialized view", name.name),
            ));
        };
        view.populated = with_data;
        let query = crate::parse::query(&view.text)?;
        let query = self.env.binder(self.text).bind_query(&query)?;
        // As TRUNCATE does: the old rows are there again if this is rolled back.
        self.txn.dropped_heaps.push(table.heap);
        table.heap = self.env.database.new_heap().id;
        self.fill(table, &query, with_data, "").map(drop)
    }

    /// Gives a new table the columns of a query, by other names if there are any.
    fn columns_from(&self, table: &mut Table, query: &Query, names: &[String]) -> Result<()> {
        if names.len() > query.columns.len() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "too many column names were specified"));
        }
        for (place, column) in query.columns.iter().enumerate() {
            let name = names.get(place).map_or(&*column.name, String::as_str);
            self.add_column_to(table, plain_column(name, column))?;
        }
        Ok(())
    }

    /// Puts a table there, with the rows of a query: how many, or what was done without them.
    fn fill(&mut self, table: Table, query: &Query, with_data: bool, tag: &str) -> Result<String> {
        self.txn.started = true;
        let reads = crate::cells::Reads::Snapshot;
        let statement =
            crate::cells::Statement { text: self.text, params: &[], reads, latest: false };
        self.txn.cells.begin_statement(&statement)?;
        let rows = if with_data { self.exec().run(query, None)? } else { Vec::new() };
        let width = table.columns.len();
        let table = self.put_table(table);
        let count = rows.len();
        let mut exec = self.exec();
        let writer = RowWriter::new(&mut exec, &table)?;
        for mut row in rows {
            row.truncate(width);
            writer.insert(&mut exec, row)?;
        }
        let taken = std::mem::take(&mut exec.notices);
        self.notices.extend(taken);
        Ok(if with_data { format!("SELECT {count}") } else { tag.to_owned() })
    }
}

/// A column with nothing but a name and a type.
pub(super) fn plain_column(name: &str, of: &OutColumn) -> Column {
    Column {
        name: name.into(),
        ty: of.ty,
        typmod: of.typmod,
        not_null: false,
        default: None,
        identity: None,
        missing: None,
        dropped: false,
        collation: of.collation.as_ref().map(|it| it.oid),
        comment: None,
    }
}
