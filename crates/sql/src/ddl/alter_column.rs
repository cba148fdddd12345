//! ALTER TABLE … ALTER COLUMN.

use super::Ddl;
use super::depend::Thing;
use crate::catalog::{Column, Identity, Table};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{IdentityDef, SequenceOption};
use crate::types::{Datum, Oid, TypeLookup};
use sqlparser::ast::DataType;

impl Ddl<'_> {
    pub(super) fn set_type(
        &mut self,
        oid: Oid,
        name: &str,
        ty: &DataType,
        using: Option<&str>,
    ) -> Result<()> {
        let old = self.table(oid)?;
        let number = self.need_column(&old, name)?;
        let (ty, typmod) = self.env.binder(self.text).data_type(ty)?;
        let column = old.column(number).clone();
        let is_generated = column.default.as_ref().is_some_and(|it| it.generated);
        self.check_type_change(&old, name)?;
        let conversion = self.env.binder("").conversion(&old, number, using, (ty, typmod))?;
        let Some(expr) = conversion else {
            let shown = self.env.type_name(ty, typmod);
            let quoted = crate::functions::quote_ident(name);
            return Err(match using {
                Some(_) => SqlError::new(
                    code::DATATYPE_MISMATCH,
                    format!(
                        "result of USING clause for column \"{name}\" cannot be cast \
                         automatically to type {shown}"
                    ),
                )
                .hint("You might need to add an explicit cast."),
                None => SqlError::new(
                    code::DATATYPE_MISMATCH,
                    format!("column \"{name}\" cannot be cast automatically to type {shown}"),
                )
                .hint(format!("You might need to specify \"USING {quoted}::{shown}\".")),
            });
        };
        let mut table = Table::clone(&old);
        let changed = &mut table.columns[number as usize - 1];
        (changed.ty, changed.typmod) = (ty, typmod);
        if using.is_none() && is_wider(&column, ty, typmod) {
            self.put_table(table);
            return Ok(());
        }
        if let Some(missing) = changed.missing.take() {
            let _: Datum = missing;
        }
        let table = std::sync::Arc::new(table);
        if !is_generated
            && column.default.as_ref().is_some_and(|it| it.sequence.is_none())
            && self.env.binder("").column_default(table.column(number)).is_err()
        {
            return Err(SqlError::new(
                code::DATATYPE_MISMATCH,
                format!(
                    "default for column \"{name}\" cannot be cast automatically to type {}",
                    self.env.type_name(ty, typmod)
                ),
            ));
        }
        self.rewrite(&old, Table::clone(&table), |exec, mut row| {
            row.push(Datum::Null);
            let value = exec.eval(&expr, &row)?;
            row.pop();
            row[number as usize - 1] = value;
            Ok(row)
        })?;
        self.sequence_follows(oid, number, ty)
    }

    /// The sequence of an identity column has the type of the column.
    fn sequence_follows(&mut self, oid: Oid, number: u16, ty: Oid) -> Result<()> {
        let table = self.table(oid)?;
        let Some(identity) = table.column(number).identity else { return Ok(()) };
        let Some(sequence) = self.catalog().sequence(identity.sequence).cloned() else {
            return Ok(());
        };
        let data_type = crate::parse::data_type(&self.env.type_name(ty, -1))?;
        self.change_sequence(&sequence, &[SequenceOption::Type(data_type)])
    }

    fn check_type_change(&self, table: &Table, name: &str) -> Result<()> {
        for (view, text) in self.catalog().views_on(table.oid) {
            if super::rename::mentions(text, name) {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "cannot alter type of a column used by a view or rule",
                )
                .detail(format!(
                    "rule _RETURN on {} depends on column \"{name}\"",
                    self.described(Thing::Object(view))
                )));
            }
        }
        for (_, column) in table.live() {
            let Some(default) = column.default.as_ref().filter(|it| it.generated) else { continue };
            if super::rename::mentions(&default.text, name) {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "cannot alter type of a column used by a generated column",
                )
                .detail(format!(
                    "Column \"{name}\" is used by generated column \"{}\".",
                    column.name
                )));
            }
        }
        Ok(())
    }

    pub(super) fn set_default(&mut self, oid: Oid, name: &str, text: Option<&str>) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, name)?;
        let column = table.column(number);
        let named = format!("column \"{name}\" of relation \"{}\"", table.name);
        if column.identity.is_some() {
            let error = SqlError::new(code::SYNTAX_ERROR, format!("{named} is an identity column"));
            return Err(match text {
                None => error.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."),
                Some(_) => error,
            });
        }
        if column.default.as_ref().is_some_and(|it| it.generated) {
            let error = SqlError::new(code::SYNTAX_ERROR, format!("{named} is a generated column"));
            return Err(match text {
                None => error.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead."),
                Some(_) => error,
            });
        }
        let default = text.and_then(|text| self.default_of(text));
        let table = self.change_column(oid, name, |column| column.default = default)?;
        self.env.binder("").column_default(table.column(number))?;
        Ok(())
    }

    pub(super) fn set_not_null(&mut self, oid: Oid, name: &str, not_null: bool) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, name)?;
        if !not_null {
            if table.primary_key().is_some_and(|(columns, _)| columns.contains(&number)) {
                return Err(SqlError::new(
                    code::INVALID_TABLE_DEFINITION,
                    format!("column \"{name}\" is in a primary key"),
                ));
            }
            if table.column(number).identity.is_some() {
                return Err(SqlError::new(
                    code::SYNTAX_ERROR,
                    format!(
                        "column \"{name}\" of relation \"{}\" is an identity column",
                        table.name
                    ),
                ));
            }
        }
        let table = self.change_column(oid, name, |column| column.not_null = not_null)?;
        if not_null {
            let rows = self.exec().all_rows(&table)?;
            if rows.iter().any(|row| row[number as usize - 1].is_null()) {
                return Err(crate::execute::contains_null(&table, name));
            }
        }
        Ok(())
    }

    pub(super) fn add_identity(&mut self, oid: Oid, name: &str, def: &IdentityDef) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, name)?;
        let column = table.column(number);
        if !matches!(column.ty, Oid::INT2 | Oid::INT4 | Oid::INT8) {
            return Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                "identity column type must be smallint, integer, or bigint",
            ));
        }
        let named = format!("column \"{name}\" of relation \"{}\"", table.name);
        let refused = |what: &str| {
            SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{named} {what}"))
        };
        if !column.not_null {
            return Err(refused("must be declared NOT NULL before identity can be added"));
        }
        if column.identity.is_some() {
            return Err(refused("is already an identity column"));
        }
        if column.default.is_some() {
            return Err(refused("already has a default value"));
        }
        let sequence = self.column_sequence(&table, name, column.ty, &def.options, true, &[])?;
        let identity = Identity { always: def.always, sequence: sequence.oid };
        let table = self.change_column(oid, name, |it| it.identity = Some(identity))?;
        self.own_sequences(&table, vec![sequence]);
        Ok(())
    }

    pub(super) fn set_identity(
        &mut self,
        oid: Oid,
        name: &str,
        always: Option<bool>,
        options: &[SequenceOption],
    ) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, name)?;
        let Some(identity) = table.column(number).identity else {
            return Err(not_identity(&table, name));
        };
        if let Some(always) = always {
            let changed = Identity { always, ..identity };
            self.change_column(oid, name, |it| it.identity = Some(changed))?;
        }
        match self.catalog().sequence(identity.sequence).cloned() {
            Some(sequence) if !options.is_empty() => self.change_sequence(&sequence, options),
            _ => Ok(()),
        }
    }

    pub(super) fn drop_identity(&mut self, oid: Oid, name: &str, if_exists: bool) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, name)?;
        let Some(identity) = table.column(number).identity else {
            let error = not_identity(&table, name);
            if if_exists {
                self.notice("00000", format!("{}, skipping", error.message()));
                return Ok(());
            }
            return Err(error);
        };
        self.change_column(oid, name, |it| it.identity = None)?;
        self.remove(identity.sequence);
        Ok(())
    }

    pub(super) fn drop_expression(&mut self, oid: Oid, name: &str, if_exists: bool) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, name)?;
        if !table.column(number).default.as_ref().is_some_and(|it| it.generated) {
            let message = format!(
                "column \"{name}\" of relation \"{}\" is not a stored generated column",
                table.name
            );
            if if_exists {
                self.notice("00000", format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        self.change_column(oid, name, |it| it.default = None)?;
        Ok(())
    }
}

fn not_identity(table: &Table, name: &str) -> SqlError {
    SqlError::new(
        code::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("column \"{name}\" of relation \"{}\" is not an identity column", table.name),
    )
}

/// Whether all values of a column are values of the other type as they are.
fn is_wider(column: &Column, ty: Oid, typmod: i32) -> bool {
    let is_text = |ty: Oid| matches!(ty, Oid::VARCHAR | Oid::TEXT);
    let fits = typmod < 0 || (column.typmod >= 0 && column.typmod <= typmod);
    let same = column.ty == ty && (column.typmod == typmod || typmod < 0);
    same || (is_text(column.ty) && is_text(ty) && fits && (ty == Oid::VARCHAR || typmod < 0))
}
