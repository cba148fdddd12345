//! Queries inside of expressions.

use super::eval::Quantifier;
use super::{Exec, Row};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, Quantified, Subquery};
use crate::types::{Array, Datum, Oid, RecordValue};
use std::sync::Arc;

impl Exec<'_> {
    /// Runs a query one level further in.
    pub(super) fn run_inside(
        &mut self,
        query: &crate::ir::Query,
        row: &[Datum],
        limit: Option<usize>,
    ) -> Result<Vec<Row>> {
        if self.levels.len() > 400 {
            return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        self.levels.push(row.to_vec());
        let rows = self.run(query, limit);
        self.levels.pop();
        rows
    }

    /// The rows of a subquery: once for all if it looks at nothing around it.
    fn subquery_rows(
        &mut self,
        query: &Subquery,
        row: &[Datum],
        limit: Option<usize>,
    ) -> Result<Arc<Vec<Row>>> {
        if let Some(rows) = self.results.get(&query.number) {
            return Ok(Arc::clone(rows));
        }
        if query.correlated || is_volatile(query) {
            return Ok(Arc::new(self.run_inside(&query.query, row, limit)?));
        }
        let rows = Arc::new(self.run_inside(&query.query, row, limit)?);
        self.results.insert(query.number, Arc::clone(&rows));
        Ok(rows)
    }

    pub(super) fn scalar(&mut self, query: &Subquery, _ty: Oid, row: &[Datum]) -> Result<Datum> {
        let rows = self.subquery_rows(query, row, Some(2))?;
        let width = query.query.columns.len();
        match &rows[..] {
            [] => Ok(Datum::Null),
            [only] if width == 1 => Ok(only[0].clone()),
            [only] => {
                let columns = &query.query.columns;
                Ok(Datum::Record(Arc::new(RecordValue {
                    types: columns.iter().map(|column| column.ty).collect(),
                    names: columns.iter().map(|column| Arc::clone(&column.name)).collect(),
                    fields: only[..width].to_vec(),
                })))
            }
            _ => Err(SqlError::new(
                code::CARDINALITY_VIOLATION,
                "more than one row returned by a subquery used as an expression",
            )),
        }
    }

    /// What was kept of subqueries is no longer true.
    pub(super) fn forget_results(&mut self) {
        self.results.clear();
        self.searches.clear();
    }

    pub(super) fn exists(&mut self, query: &Subquery, row: &[Datum]) -> Result<Datum> {
        if let Some(found) = self.search(query, row)? {
            return Ok(Datum::Bool(found));
        }
        let rows = self.subquery_rows(query, row, Some(1))?;
        Ok(Datum::Bool(!rows.is_empty()))
    }

    pub(super) fn array_of(&mut self, query: &Subquery, ty: Oid, row: &[Datum]) -> Result<Datum> {
        let rows = self.subquery_rows(query, row, None)?;
        let values: Vec<Datum> = rows.iter().map(|row| row[0].clone()).collect();
        let element = self.env.catalog.element_of(ty).unwrap_or(Oid::TEXT);
        let array = if query.query.columns[0].ty == ty {
            super::array::array_of_arrays(element, values)?
        } else {
            Array::of(element, values)
        };
        Ok(Datum::Array(Arc::new(array)))
    }

    pub(super) fn quantified_query(
        &mut self,
        left: &[Expr],
        test: &Expr,
        quantified: Quantified,
        query: &Subquery,
        row: &[Datum],
    ) -> Result<Datum> {
        let rows = self.subquery_rows(query, row, None)?;
        if rows.is_empty() {
            // There is nothing to compare the left side with, and it is not worked out.
            return Ok(Quantifier::new(quantified).value());
        }
        let mut values = self.eval_all(left, row)?;
        let count = values.len();
        let is_same_for_all =
            || self.results.get(&query.number).is_some_and(|it| Arc::ptr_eq(it, &rows));
        if quantified == Quantified::Any
            && is_same_for_all()
            && let Some(known) = self.is_member(query.number, test, &values, &rows)?
        {
            return Ok(known);
        }
        let mut result = Quantifier::new(quantified);
        for found in rows.iter() {
            self.tick()?;
            values.truncate(count);
            values.extend_from_slice(&found[..query.query.columns.len()]);
            if result.add(&self.eval(test, &values)?) {
                break;
            }
        }
        Ok(result.value())
    }
}

/// Whether each run may give other rows.
fn is_volatile(query: &Subquery) -> bool {
    let mut found = false;
    query.query.clone().walk(0, &mut |expr, _| {
        if let crate::ir::ExprKind::Call { callee, .. } = &expr.kind {
            found |= callee.proc.volatility == b'v';
        }
        found |= matches!(expr.kind, crate::ir::ExprKind::NextValue(_));
        !found
    });
    found
}
