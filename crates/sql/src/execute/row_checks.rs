//! What a row must be by itself: generated columns, columns that are not null, checks.

use super::constraints::Rules;
use super::{Exec, Row};
use crate::catalog::Table;
use crate::error::{Result, SqlError, code};
use crate::types::{Datum, Oid, output};

impl Exec<'_> {
    /// Computes generated columns.
    pub(super) fn finish_values(&mut self, rules: &Rules, mut values: Row) -> Result<Row> {
        for (number, expr) in &rules.generated {
            values.push(Datum::Null);
            let value = self.eval(expr, &values)?;
            values.pop();
            values[*number as usize - 1] = value;
        }
        Ok(values)
    }

    /// Tests what a row must be by itself.
    pub(super) fn check_row(&mut self, rules: &Rules, values: &Row) -> Result<()> {
        for (number, column) in rules.table.live() {
            if column.not_null && values[number as usize - 1].is_null() {
                let mut error = SqlError::new(
                    code::NOT_NULL_VIOLATION,
                    format!(
                        "null value in column \"{}\" of relation \"{}\" violates not-null \
                         constraint",
                        column.name, rules.table.name
                    ),
                )
                .detail(self.failing_row(rules, values));
                self.about(&mut error, &rules.table);
                error.fields_mut().column = Some(column.name.to_string());
                return Err(error);
            }
        }
        if rules.checks.is_empty() {
            return Ok(());
        }
        let mut row = values.clone();
        row.push(Datum::Null);
        for (name, check) in &rules.checks {
            if matches!(self.eval(check, &row)?, Datum::Bool(false)) {
                let mut error = SqlError::new(
                    code::CHECK_VIOLATION,
                    format!(
                        "new row for relation \"{}\" violates check constraint \"{name}\"",
                        rules.table.name
                    ),
                )
                .detail(self.failing_row(rules, values));
                self.about(&mut error, &rules.table);
                error.fields_mut().constraint = Some(name.to_string());
                return Err(error);
            }
        }
        Ok(())
    }

    pub(super) fn about(&self, error: &mut SqlError, table: &Table) {
        let fields = error.fields_mut();
        fields.schema = Some(self.env.catalog.schema_name(table.schema).to_string());
        fields.table = Some(table.name.to_string());
    }

    pub(super) fn failing_row(&self, rules: &Rules, values: &Row) -> String {
        let shown: Vec<String> = rules
            .table
            .live()
            .map(|(number, column)| self.shown(&values[number as usize - 1], column.ty))
            .map(|text| {
                // Long values are shortened, as there.
                if text.chars().count() > 64 {
                    format!("{}...", text.chars().take(64).collect::<String>())
                } else {
                    text
                }
            })
            .collect();
        format!("Failing row contains ({}).", shown.join(", "))
    }

    pub(super) fn shown(&self, value: &Datum, ty: Oid) -> String {
        if value.is_null() {
            return "null".to_owned();
        }
        let types = [ty];
        output(value, ty, &self.call(&types, ty))
    }
}
