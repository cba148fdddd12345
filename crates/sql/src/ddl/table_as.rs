//! CREATE TABLE … AS and SELECT … INTO.

use super::Ddl;
use crate::catalog::Column;
use crate::error::{Result, SqlError, code};
use crate::execute::RowWriter;
use crate::ir::OutColumn;
use crate::parse::ast::CreateTableAs;

impl Ddl<'_> {
    pub(super) fn create_table_as(&mut self, create: &CreateTableAs) -> Result<String> {
        let schema = self.target_schema(&create.name, create.lifetime)?;
        if self.skip_existing(schema, &create.name, create.if_not_exists)? {
            return Ok("CREATE TABLE AS".to_owned());
        }
        let query = self.env.binder(self.text).bind_query(&create.query)?;
        let mut table = self.empty_table(schema, &create.name.name, create.lifetime);
        if create.columns.len() > query.columns.len() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "too many column names were specified"));
        }
        for (place, column) in query.columns.iter().enumerate() {
            let name = create.columns.get(place).map_or(&*column.name, String::as_str);
            self.add_column_to(&mut table, plain_column(name, column))?;
        }
        self.txn.started = true;
        let statement = crate::cells::Statement { text: self.text, params: &[] };
        self.txn.cells.begin_statement(&statement)?;
        let rows = match create.with_data {
            true => self.exec().run(&query, None)?,
            false => Vec::new(),
        };
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
        Ok(match create.with_data {
            true => format!("SELECT {count}"),
            false => "CREATE TABLE AS".to_owned(),
        })
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
        collation: None,
        comment: None,
    }
}
