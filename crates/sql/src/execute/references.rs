//! References to other tables: that the row is there, and what happens to rows that refer to one
//! that goes away. As uniqueness, they are checked against the latest committed state.

use super::constraints::Rules;
use super::keys::key;
use super::{Exec, Row};
use crate::catalog::{Action, Constraint, ForeignKey, IndexedExpr, Table};
use crate::cells::RowNo;
use crate::error::{Result, SqlError, code};
use crate::ir::{Assignment, Expr, LockStrength, WaitPolicy};
use crate::transaction::PendingCheck;
use crate::types::{Datum, HashKey, Oid};
use std::sync::Arc;

impl Exec<'_> {
    /// A row that refers to others: that these are there is checked later.
    pub(super) fn refer(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        values: &Row,
        before: Option<&Row>,
    ) -> Result<()> {
        for (constraint, reference) in &rules.references {
            let keys = reference_key(&rules.table, &reference.columns, values);
            if let Some(before) = before
                && reference_key(&rules.table, &reference.columns, before) == keys
            {
                continue;
            }
            let entries = self.database().entries(constraint.oid, rules.heap.id);
            entries.add(keys.into(), number);
            if rules.is_silent(constraint.oid) {
                continue;
            }
            self.checks.push(PendingCheck::Reference {
                table: rules.table.oid,
                constraint: constraint.oid,
                row: number,
            });
        }
        Ok(())
    }

    /// A row that others refer to has gone, or has another key.
    pub(super) fn propagate(
        &mut self,
        rules: &Arc<Rules>,
        old: &Row,
        new: Option<&Row>,
    ) -> Result<()> {
        for (table, constraint, reference) in &rules.referenced {
            let of = |row: &Row| reference_key(&rules.table, &reference.referenced, row);
            if new.is_some_and(|new| of(new) == of(old)) || rules.is_silent(constraint.oid) {
                continue;
            }
            let gone: Row = reference
                .referenced
                .iter()
                .map(|&column| old[column as usize - 1].clone())
                .collect();
            if gone.iter().any(Datum::is_null) {
                continue;
            }
            let action = if new.is_some() { reference.on_update } else { reference.on_delete };
            if action == Action::NoAction {
                self.checks.push(PendingCheck::Referenced {
                    table: table.oid,
                    constraint: constraint.oid,
                    key: gone,
                });
                continue;
            }
            let child = self.rules(table)?;
            for row in self.referring(&child, constraint, reference, &gone)? {
                self.act(&child, constraint, reference, action, row, &gone, new)?;
            }
        }
        Ok(())
    }

    /// The rows that refer to a key.
    fn referring(
        &mut self,
        child: &Arc<Rules>,
        constraint: &Constraint,
        reference: &ForeignKey,
        gone: &Row,
    ) -> Result<Vec<RowNo>> {
        let entries = self.database().entries(constraint.oid, child.heap.id);
        let keys: Vec<HashKey> = gone
            .iter()
            .zip(&reference.columns)
            .map(|(value, &column)| key(value, child.table.column(column).ty))
            .collect();
        let (_, rows) = entries.get(keys.clone().into());
        let mut found = Vec::new();
        for row in rows {
            if !self.exists_now(&child.heap, row) {
                continue;
            }
            let values = self.current_values(child, row);
            if reference_key(&child.table, &reference.columns, &values) == keys {
                found.push(row);
            }
        }
        Ok(found)
    }

    #[allow(clippy::too_many_arguments)]
    fn act(
        &mut self,
        child: &Arc<Rules>,
        constraint: &Constraint,
        reference: &ForeignKey,
        action: Action,
        row: RowNo,
        gone: &Row,
        new: Option<&Row>,
    ) -> Result<()> {
        let heap = Arc::clone(&child.heap);
        let name = Arc::clone(&child.table.name);
        self.lock_row(&heap, row, LockStrength::Update, WaitPolicy::Wait, &name)?;
        self.refuse_newer(child, row)?;
        let old = self.current_values(child, row);
        let mut values = old.clone();
        let sets = match new {
            None if !reference.set_columns.is_empty() => &reference.set_columns,
            _ => &reference.columns,
        };
        match (action, new) {
            (Action::Restrict | Action::NoAction, _) => {
                return Err(self.still_referenced(child, constraint, reference, gone));
            }
            (Action::Cascade, None) => {
                self.touched.insert((heap.id, row));
                return self.delete_row(child, row, &old);
            }
            (Action::Cascade, Some(new)) => {
                for (&column, &there) in reference.columns.iter().zip(&reference.referenced) {
                    values[column as usize - 1] = new[there as usize - 1].clone();
                }
            }
            (Action::SetNull, _) => {
                for &column in sets {
                    values[column as usize - 1] = Datum::Null;
                }
            }
            (Action::SetDefault, _) => {
                for &column in sets {
                    let default = self.env.binder("").column_default(child.table.column(column))?;
                    let value = match default {
                        Some(default) => self.eval(&default, &[])?,
                        None => Datum::Null,
                    };
                    values[column as usize - 1] = value;
                }
                // The default is the key that is gone.
                if reference_key(&child.table, &reference.columns, &values)
                    == reference_key(&child.table, &reference.columns, &old)
                {
                    return Err(self.still_referenced(child, constraint, reference, gone));
                }
            }
        }
        let set: Vec<Assignment> = reference
            .columns
            .iter()
            .map(|&column| Assignment { column, value: Expr::null(Oid::UNKNOWN) })
            .collect();
        self.update_row(child, row, &old, values, &set)?;
        Ok(())
    }

    fn still_referenced(
        &self,
        child: &Rules,
        constraint: &Constraint,
        reference: &ForeignKey,
        gone: &Row,
    ) -> SqlError {
        let (parent, names, types) = self.parent_key(reference);
        let mut error = SqlError::new(
            code::FOREIGN_KEY_VIOLATION,
            format!(
                "update or delete on table \"{parent}\" violates foreign key constraint \"{}\" on \
                 table \"{}\"",
                constraint.name, child.table.name
            ),
        )
        .detail(format!(
            "Key ({names})=({}) is still referenced from table \"{}\".",
            self.key_values_shown(gone, types.into_iter()),
            child.table.name
        ));
        self.about(&mut error, &child.table);
        error.fields_mut().constraint = Some(constraint.name.to_string());
        error
    }

    fn parent_key(&self, reference: &ForeignKey) -> (String, String, Vec<Oid>) {
        let Some(parent) = self.env.catalog.table(reference.table) else {
            return (String::new(), String::new(), Vec::new());
        };
        let columns = || reference.referenced.iter().map(|&column| parent.column(column));
        let names: Vec<String> =
            columns().map(|it| crate::functions::quote_ident(&it.name)).collect();
        let types = columns().map(|it| it.ty).collect();
        (parent.name.to_string(), names.join(", "), types)
    }

    pub(super) fn check_reference(
        &mut self,
        table: Oid,
        constraint: Oid,
        row: RowNo,
    ) -> Result<()> {
        let Some(table) = self.env.catalog.table(table).cloned() else { return Ok(()) };
        let rules = self.rules(&table)?;
        let Some((constraint, reference)) =
            rules.references.iter().find(|(it, _)| it.oid == constraint)
        else {
            return Ok(());
        };
        if !self.exists_now(&rules.heap, row) {
            return Ok(());
        }
        let values = self.current_values(&rules, row);
        let key: Row =
            reference.columns.iter().map(|&it| values[it as usize - 1].clone()).collect();
        let nulls = key.iter().filter(|value| value.is_null()).count();
        let is_full = reference.match_full;
        if nulls == key.len() || (nulls > 0 && !is_full) {
            return Ok(());
        }
        if nulls == 0 && self.has_parent(reference, &key)? {
            return Ok(());
        }
        let (parent, _, _) = self.parent_key(reference);
        let columns = || reference.columns.iter().map(|&column| table.column(column));
        let names: Vec<String> =
            columns().map(|it| crate::functions::quote_ident(&it.name)).collect();
        let mut error = SqlError::new(
            code::FOREIGN_KEY_VIOLATION,
            format!(
                "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                table.name, constraint.name
            ),
        )
        .detail(if nulls > 0 {
            "MATCH FULL does not allow mixing of null and nonnull key values.".to_owned()
        } else {
            format!(
                "Key ({})=({}) is not present in table \"{parent}\".",
                names.join(", "),
                self.key_values_shown(&key, columns().map(|it| it.ty))
            )
        });
        self.about(&mut error, &table);
        error.fields_mut().constraint = Some(constraint.name.to_string());
        Err(error)
    }

    /// Whether there is a row with this key, which then stays until the transaction ends.
    fn has_parent(&mut self, reference: &ForeignKey, values: &Row) -> Result<bool> {
        let Some(parent) = self.env.catalog.table(reference.table).cloned() else {
            return Ok(false);
        };
        let rules = self.rules(&parent)?;
        let Some(rule) = rules.indexes.iter().find(|rule| rule.index.oid == reference.index) else {
            return Ok(false);
        };
        // The columns of the index may come in another order.
        let keys: Vec<HashKey> = rule
            .index
            .keys
            .iter()
            .zip(&rule.keys)
            .filter_map(|(part, expr)| {
                let IndexedExpr::Column(column) = part.what else { return None };
                let place = reference.referenced.iter().position(|&it| it == column)?;
                Some(key(&values[place], expr.ty))
            })
            .collect();
        let (_, rows) = rule.entries.get(keys.clone().into());
        for row in rows {
            let there = |exec: &mut Self| -> Result<bool> {
                if !exec.exists_now(&rules.heap, row) {
                    return Ok(false);
                }
                let values = exec.current_values(&rules, row);
                let found = exec.index_key(rule, &values)?;
                Ok(found.is_some_and(|found| Self::hash_keys(rule, &found) == keys))
            };
            let heap = Arc::clone(&rules.heap);
            let name = Arc::clone(&parent.name);
            self.lock_row(&heap, row, LockStrength::KeyShare, WaitPolicy::Wait, &name)?;
            if !self.was_there(&heap, row)? {
                continue;
            }
            if there(self)? {
                return Ok(true);
            }
            // One that the snapshot shows is gone.
            self.refuse_newer(&rules, row)?;
        }
        Ok(false)
    }

    pub(super) fn check_referenced(
        &mut self,
        table: Oid,
        constraint: Oid,
        gone: &Row,
    ) -> Result<()> {
        let Some(table) = self.env.catalog.table(table).cloned() else { return Ok(()) };
        let child = self.rules(&table)?;
        let Some((constraint, reference)) =
            child.references.iter().find(|(it, _)| it.oid == constraint)
        else {
            return Ok(());
        };
        if self.referring(&child, constraint, reference, gone)?.is_empty()
            || self.has_parent(reference, gone)?
        {
            return Ok(());
        }
        Err(self.still_referenced(&child, constraint, reference, gone))
    }
}

/// The columns of a reference as a key.
fn reference_key(table: &Table, columns: &[u16], values: &Row) -> Vec<HashKey> {
    columns
        .iter()
        .map(|&column| key(&values[column as usize - 1], table.column(column).ty))
        .collect()
}
