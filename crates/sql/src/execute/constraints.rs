//! Rows that are written with all that their table asks for: generated columns, constraints, keys
//! of indexes, and what happens to rows that refer to them.
//!
//! Uniqueness and references are checked against the latest committed state and the own
//! transaction, as databases do at every level; these are no reads of the application.

use super::keys::key;
use super::row_locks::initial;
use super::{Exec, Row};
use crate::catalog::{Action, Constraint, ConstraintKind, ForeignKey, Index, IndexedExpr, Table};
use crate::cells::{Cell, Group, RowNo};
use crate::error::{Result, SqlError, code};
use crate::heap::{Heap, IndexEntries};
use crate::ir::{Assignment, Expr, LockStrength, WaitPolicy};
use crate::locks::{Mode, Outcome, Target};
use crate::transaction::PendingCheck;
use crate::types::{Datum, HashKey, Oid, output};
use std::sync::Arc;

/// What the rows of a table have to satisfy.
#[derive(Debug)]
pub struct Rules {
    /// The table.
    pub table: Arc<Table>,
    /// Its rows.
    pub heap: Arc<Heap>,
    generated: Vec<(u16, Expr)>,
    checks: Vec<(Arc<str>, Expr)>,
    indexes: Vec<IndexRule>,
    /// References of this table.
    references: Vec<(Constraint, ForeignKey)>,
    /// References to this table: the table that refers, and how.
    referenced: Vec<(Arc<Table>, Constraint, ForeignKey)>,
}

#[derive(Debug)]
struct IndexRule {
    index: Arc<Index>,
    keys: Vec<Expr>,
    predicate: Option<Expr>,
    entries: Arc<IndexEntries>,
    /// Whether it is checked when the statement or transaction ends, and the constraint.
    deferrable: Option<Oid>,
}

impl Rules {
    /// Whether a column is part of a unique key.
    pub fn is_key(&self, column: u16) -> bool {
        self.indexes.iter().any(|rule| {
            rule.index.unique
                && rule.index.keys.iter().any(|key| match key.what {
                    IndexedExpr::Column(number) => number == column,
                    IndexedExpr::Expr(_) => false,
                })
        })
    }
}

impl Exec<'_> {
    /// The rules of a table, made once a statement.
    pub(super) fn rules(&mut self, table: &Arc<Table>) -> Result<Arc<Rules>> {
        if let Some(rules) = self.rules.get(&table.oid) {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(self.make_rules(table)?);
        self.rules.insert(table.oid, Arc::clone(&rules));
        Ok(rules)
    }

    fn make_rules(&mut self, table: &Arc<Table>) -> Result<Rules> {
        let heap = self.database().heap(table.heap)?;
        let mut binder = self.env.binder("");
        let mut generated = Vec::new();
        for (number, column) in table.live() {
            if let Some(default) = &column.default
                && default.generated
            {
                generated.push((number, binder.generated_expr(table, column)?));
            }
        }
        let mut checks = Vec::new();
        let mut references = Vec::new();
        for constraint in &table.constraints {
            match &constraint.kind {
                ConstraintKind::Check { text, .. } => {
                    let expr = binder.check_expr(table, text)?;
                    checks.push((Arc::clone(&constraint.name), expr));
                }
                ConstraintKind::ForeignKey(it) => {
                    references.push((constraint.clone(), it.clone()));
                }
                _ => {}
            }
        }
        checks.sort_by(|left, right| left.0.cmp(&right.0));
        let mut indexes = Vec::new();
        for &oid in &table.indexes {
            let Some(index) = self.env.catalog.index(oid) else { continue };
            let mut keys = Vec::new();
            for key in &index.keys {
                keys.push(binder.index_expr(table, &key.what)?);
            }
            let predicate = match &index.predicate {
                Some(text) => Some(binder.check_expr(table, text)?),
                None => None,
            };
            let constraint = table.constraints.iter().find(|it| Some(it.oid) == index.constraint);
            indexes.push(IndexRule {
                index: Arc::clone(index),
                keys,
                predicate,
                entries: self.database().entries(oid, table.heap),
                deferrable: constraint.filter(|it| it.deferrable).map(|it| it.oid),
            });
        }
        let referenced = self.referenced_by(table.oid);
        Ok(Rules {
            table: Arc::clone(table),
            heap,
            generated,
            checks,
            indexes,
            references,
            referenced,
        })
    }

    fn referenced_by(&self, oid: Oid) -> Vec<(Arc<Table>, Constraint, ForeignKey)> {
        let mut found = Vec::new();
        for (_, object) in self.env.catalog.objects() {
            let crate::catalog::Object::Table(table) = object else { continue };
            for constraint in &table.constraints {
                if let ConstraintKind::ForeignKey(it) = &constraint.kind
                    && it.table == oid
                {
                    found.push((Arc::clone(table), constraint.clone(), it.clone()));
                }
            }
        }
        found
    }

    /// What a row holds now: the own transaction's or the latest committed values.
    pub(super) fn current_values(&self, rules: &Rules, row: RowNo) -> Row {
        (1..=rules.table.columns.len() as u16)
            .map(|column| self.current(&rules.heap, &rules.table, row, column))
            .collect()
    }

    pub(super) fn current(&self, heap: &Heap, table: &Table, row: RowNo, column: u16) -> Datum {
        let cell = Cell { heap: heap.id, row, column };
        self.txn.cells.peek(cell).unwrap_or_else(|| initial(heap, row, column, table))
    }

    pub(super) fn exists_now(&self, heap: &Heap, row: RowNo) -> bool {
        let cell = Cell { heap: heap.id, row, column: Cell::EXISTENCE };
        match self.txn.cells.peek(cell) {
            Some(value) => matches!(value, Datum::Bool(true)),
            None => heap.rows().initial(row).is_some(),
        }
    }

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
    fn check_row(&mut self, rules: &Rules, values: &Row) -> Result<()> {
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

    fn about(&self, error: &mut SqlError, table: &Table) {
        let fields = error.fields_mut();
        fields.schema = Some(self.env.catalog.schema_name(table.schema).to_string());
        fields.table = Some(table.name.to_string());
    }

    fn failing_row(&self, rules: &Rules, values: &Row) -> String {
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

    fn shown(&self, value: &Datum, ty: Oid) -> String {
        if value.is_null() {
            return "null".to_owned();
        }
        let types = [ty];
        output(value, ty, &self.call(&types, ty))
    }

    /// The key of a row in an index; none if the index is not about the row.
    fn index_key(&mut self, rule: &IndexRule, values: &Row) -> Result<Option<Vec<Datum>>> {
        let mut row = values.clone();
        row.push(Datum::Null);
        if let Some(predicate) = &rule.predicate
            && !self.holds(predicate, &row)?
        {
            return Ok(None);
        }
        self.eval_all(&rule.keys, &row).map(Some)
    }

    fn hash_keys(rule: &IndexRule, values: &[Datum]) -> Vec<HashKey> {
        values.iter().zip(&rule.keys).map(|(value, expr)| key(value, expr.ty)).collect()
    }

    /// Another row that has the same key in a unique index, once no other transaction can decide
    /// about that any more.
    fn other_with_key(
        &mut self,
        rules: &Rules,
        rule: &IndexRule,
        values: &[Datum],
        own: Option<RowNo>,
    ) -> Result<Option<RowNo>> {
        if values.iter().any(Datum::is_null) && !rule.index.nulls_not_distinct {
            return Ok(None);
        }
        let keys = Self::hash_keys(rule, values);
        let (number, rows) = rule.entries.get(keys.clone().into());
        self.hold_key(rule, number)?;
        // Others may have come while this one waited.
        let (_, rows_now) = rule.entries.get(keys.clone().into());
        let _ = rows;
        for row in rows_now {
            if Some(row) == own || !self.exists_now(&rules.heap, row) {
                continue;
            }
            let there = self.current_values(rules, row);
            let Some(found) = self.index_key(rule, &there)? else { continue };
            if Self::hash_keys(rule, &found) == keys {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn hold_key(&mut self, rule: &IndexRule, number: crate::cells::KeyNo) -> Result<()> {
        let target = Target::Key(rule.entries.id, number);
        let patience = self.env.patience();
        let locks = &self.database().locks;
        let held =
            locks.acquire(self.txn.owner, target, Mode::Update, patience, self.interrupt())?;
        let _: Outcome = held;
        Ok(())
    }

    /// The row that an insertion would be in conflict with.
    pub(super) fn find_conflict(
        &mut self,
        rules: &Arc<Rules>,
        values: &Row,
        indexes: Option<&[Oid]>,
    ) -> Result<Option<RowNo>> {
        for rule in rules.indexes.iter().filter(|rule| rule.index.unique) {
            if indexes.is_some_and(|indexes| !indexes.contains(&rule.index.oid)) {
                continue;
            }
            let Some(key) = self.index_key(rule, values)? else { continue };
            if let Some(other) = self.other_with_key(rules, rule, &key, None)? {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Tests uniqueness, and lets indexes know of the row.
    fn enter_indexes(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        values: &Row,
        before: Option<&Row>,
    ) -> Result<()> {
        for rule in &rules.indexes {
            let Some(found) = self.index_key(rule, values)? else { continue };
            if let Some(before) = before
                && let Some(old) = self.index_key(rule, before)?
                && Self::hash_keys(rule, &old) == Self::hash_keys(rule, &found)
            {
                continue;
            }
            if rule.index.unique {
                match rule.deferrable {
                    None => {
                        if self.other_with_key(rules, rule, &found, Some(number))?.is_some() {
                            return Err(self.duplicate(rules, rule, &found));
                        }
                    }
                    Some(_) => {
                        let (table, index) = (rules.table.oid, rule.index.oid);
                        self.checks.push(PendingCheck::Unique { table, index, row: number });
                    }
                }
            }
            let keys = Self::hash_keys(rule, &found);
            if let Some(place) = rule.entries.add(keys.into(), number) {
                self.txn.cells.enter_group(Group::Key(rule.entries.id, place), number)?;
            }
        }
        Ok(())
    }

    fn duplicate(&self, rules: &Rules, rule: &IndexRule, values: &[Datum]) -> SqlError {
        let mut error = SqlError::new(
            code::UNIQUE_VIOLATION,
            format!("duplicate key value violates unique constraint \"{}\"", rule.index.name),
        )
        .detail(format!(
            "Key ({})=({}) already exists.",
            self.key_names(rules, rule),
            self.key_values_shown(values, rule.keys.iter().map(|expr| expr.ty))
        ));
        self.about(&mut error, &rules.table);
        error.fields_mut().constraint = Some(rule.index.name.to_string());
        error
    }

    fn key_names(&self, rules: &Rules, rule: &IndexRule) -> String {
        let names: Vec<String> = rule
            .index
            .keys
            .iter()
            .map(|key| match &key.what {
                IndexedExpr::Column(number) => {
                    crate::catalog::type_names::quote_ident(&rules.table.column(*number).name)
                }
                IndexedExpr::Expr(text) => text.to_string(),
            })
            .collect();
        names.join(", ")
    }

    fn key_values_shown(&self, values: &[Datum], types: impl Iterator<Item = Oid>) -> String {
        let shown: Vec<String> =
            values.iter().zip(types).map(|(value, ty)| self.shown(value, ty)).collect();
        shown.join(", ")
    }

    /// Inserts a row: its number, and its values with those that were generated.
    pub(super) fn insert_row(&mut self, rules: &Arc<Rules>, values: Row) -> Result<(RowNo, Row)> {
        let values = self.finish_values(rules, values)?;
        self.check_row(rules, &values)?;
        let number = self.row_number(rules, &values)?;
        if self.exists_now(&rules.heap, number) {
            // Its primary key is taken; a deferred one is looked at later, under another number.
            self.enter_indexes(rules, number, &values, None)?;
            let primary = rules.indexes.iter().find(|rule| rule.index.primary);
            if let Some(rule) = primary {
                let found = self.index_key(rule, &values)?.unwrap_or_default();
                return Err(self.duplicate(rules, rule, &found));
            }
        }
        self.enter_indexes(rules, number, &values, None)?;
        let heap = rules.heap.id;
        let existence = Cell { heap, row: number, column: Cell::EXISTENCE };
        self.txn.cells.enter_group(Group::Heap(heap), number)?;
        self.txn.cells.write(existence, Datum::Bool(true))?;
        for (column, _) in rules.table.live() {
            let value = values[column as usize - 1].clone();
            self.txn.cells.write(Cell { heap, row: number, column }, value)?;
        }
        self.touched.insert((heap, number));
        self.refer(rules, number, &values, None)?;
        Ok((number, values))
    }

    /// The number of a row: by its primary key, or a new one.
    fn row_number(&mut self, rules: &Arc<Rules>, values: &Row) -> Result<RowNo> {
        let Some((columns, _)) = rules.table.primary_key() else {
            return Ok(rules.heap.rows_mut().row_of(None, None));
        };
        let keys: Vec<HashKey> = columns
            .iter()
            .map(|&column| key(&values[column as usize - 1], rules.table.column(column).ty))
            .collect();
        // Others that insert the same key are waited for first.
        if let Some(rule) = rules.indexes.iter().find(|rule| rule.index.primary) {
            let (number, _) = rule.entries.get(keys.clone().into());
            self.hold_key(rule, number)?;
        }
        let name = super::modify::key_name(self.env, &rules.table, &keys);
        Ok(rules.heap.rows_mut().row_of(Some(keys.into()), Some(name)))
    }

    /// Changes a row: its number, which is another one if its primary key changes, and its values.
    pub(super) fn update_row(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        old: &Row,
        new: Row,
        set: &[Assignment],
    ) -> Result<(RowNo, Row)> {
        let new = self.finish_values(rules, new)?;
        self.check_row(rules, &new)?;
        if let Some((columns, _)) = rules.table.primary_key() {
            let of = |row: &Row| -> Vec<HashKey> {
                let columns = columns.iter();
                columns.map(|&it| key(&row[it as usize - 1], rules.table.column(it).ty)).collect()
            };
            if of(old) != of(&new) {
                return self.move_row(rules, number, old, new);
            }
        }
        self.enter_indexes(rules, number, &new, Some(old))?;
        let heap = rules.heap.id;
        for (column, _) in rules.table.live() {
            let is_set = set.iter().any(|assignment| assignment.column == column)
                || rules.generated.iter().any(|(it, _)| *it == column);
            if is_set {
                let value = new[column as usize - 1].clone();
                self.txn.cells.write(Cell { heap, row: number, column }, value)?;
            }
        }
        self.refer(rules, number, &new, Some(old))?;
        self.propagate(rules, old, Some(&new))?;
        Ok((number, new))
    }

    /// A changed primary key: a deletion and an insertion.
    fn move_row(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        old: &Row,
        new: Row,
    ) -> Result<(RowNo, Row)> {
        let heap = rules.heap.id;
        let existence = Cell { heap, row: number, column: Cell::EXISTENCE };
        self.txn.cells.write(existence, Datum::Bool(false))?;
        let (number, new) = self.insert_row(rules, new)?;
        self.propagate(rules, old, Some(&new))?;
        Ok((number, new))
    }

    /// Deletes a row.
    pub(super) fn delete_row(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        old: &Row,
    ) -> Result<()> {
        let existence = Cell { heap: rules.heap.id, row: number, column: Cell::EXISTENCE };
        self.txn.cells.write(existence, Datum::Bool(false))?;
        self.propagate(rules, old, None)
    }

    /// A row that refers to others: that these are there is checked later.
    fn refer(
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
            self.checks.push(PendingCheck::Reference {
                table: rules.table.oid,
                constraint: constraint.oid,
                row: number,
            });
        }
        Ok(())
    }

    /// A row that others refer to has gone, or has another key.
    fn propagate(&mut self, rules: &Arc<Rules>, old: &Row, new: Option<&Row>) -> Result<()> {
        for (table, constraint, reference) in &rules.referenced {
            let of = |row: &Row| reference_key(&rules.table, &reference.referenced, row);
            if new.is_some_and(|new| of(new) == of(old)) {
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
        let old = self.current_values(child, row);
        let mut values = old.clone();
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
                for &column in &reference.columns {
                    values[column as usize - 1] = Datum::Null;
                }
            }
            (Action::SetDefault, _) => {
                for &column in &reference.columns {
                    let default = self.env.binder("").column_default(child.table.column(column))?;
                    let value = match default {
                        Some(default) => self.eval(&default, &[])?,
                        None => Datum::Null,
                    };
                    values[column as usize - 1] = value;
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
            columns().map(|it| crate::catalog::type_names::quote_ident(&it.name)).collect();
        let types = columns().map(|it| it.ty).collect();
        (parent.name.to_string(), names.join(", "), types)
    }

    /// Makes the checks that are due: those that are not deferred, or all.
    pub fn run_checks(&mut self, pending: Vec<PendingCheck>) -> Result<()> {
        for check in pending {
            self.tick()?;
            match check {
                PendingCheck::Reference { table, constraint, row } => {
                    self.check_reference(table, constraint, row)?;
                }
                PendingCheck::Referenced { table, constraint, key } => {
                    self.check_referenced(table, constraint, &key)?;
                }
                PendingCheck::Unique { table, index, row } => {
                    self.check_unique(table, index, row)?;
                }
            }
        }
        Ok(())
    }

    /// What is to be checked when the statement ends; what is deferred stays for later.
    pub fn take_checks(&mut self) -> Vec<PendingCheck> {
        let all = std::mem::take(&mut self.checks);
        let (now, later): (Vec<PendingCheck>, Vec<PendingCheck>) = all
            .into_iter()
            .partition(|check| !self.txn.is_deferred(&self.env.catalog, check.constraint()));
        self.txn.pending.extend(later);
        now
    }

    fn check_reference(&mut self, table: Oid, constraint: Oid, row: RowNo) -> Result<()> {
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
            columns().map(|it| crate::catalog::type_names::quote_ident(&it.name)).collect();
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
            if there(self)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_referenced(&mut self, table: Oid, constraint: Oid, gone: &Row) -> Result<()> {
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

    fn check_unique(&mut self, table: Oid, index: Oid, row: RowNo) -> Result<()> {
        let Some(table) = self.env.catalog.table(table).cloned() else { return Ok(()) };
        let rules = self.rules(&table)?;
        let Some(rule) = rules.indexes.iter().find(|rule| rule.index.oid == index) else {
            return Ok(());
        };
        if !self.exists_now(&rules.heap, row) {
            return Ok(());
        }
        let values = self.current_values(&rules, row);
        let Some(found) = self.index_key(rule, &values)? else { return Ok(()) };
        match self.other_with_key(&rules, rule, &found, Some(row))? {
            Some(_) => Err(self.duplicate(&rules, rule, &found)),
            None => Ok(()),
        }
    }

    /// Locks a table.
    pub fn lock_table(&mut self, table: Oid, mode: Mode) -> Result<()> {
        let target = Target::Object(table);
        let patience = self.env.patience();
        let locks = &self.database().locks;
        locks.acquire(self.txn.owner, target, mode, patience, self.interrupt())?;
        Ok(())
    }

    /// Lets indexes and references know of all rows of a table that exist, and checks them: after
    /// one was added.
    pub fn index_all(&mut self, table: &Arc<Table>) -> Result<()> {
        self.rules.remove(&table.oid);
        let rules = self.rules(table)?;
        let count = rules.heap.rows().count();
        for number in (0..count).map(RowNo) {
            self.tick()?;
            if !self.exists_now(&rules.heap, number) {
                continue;
            }
            let values = self.current_values(&rules, number);
            self.check_row(&rules, &values)?;
            self.enter_indexes(&rules, number, &values, None)?;
            self.refer(&rules, number, &values, None)?;
        }
        Ok(())
    }
}

/// The columns of a reference as a key.
fn reference_key(table: &Table, columns: &[u16], values: &Row) -> Vec<HashKey> {
    columns
        .iter()
        .map(|&column| key(&values[column as usize - 1], table.column(column).ty))
        .collect()
}
