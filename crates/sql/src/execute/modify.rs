//! INSERT, UPDATE, DELETE and MERGE.

use super::constraints::Rules;
use super::found_rows::RowWish;
use super::new_values::whole;
use super::row_locks::Marked;
use super::rows::compare_by;
use super::scan::row_of_tid;
use super::{Exec, Row};
use crate::catalog::Table;
use crate::cells::RowNo;
use crate::env::Env;
use crate::error::{Result, SqlError, code};
use crate::ir::{
    Assignment, Body, ConflictAction, ConflictTarget, Expr, ExprKind, From, InsertSource, JoinKind,
    LockStrength, MergeAction, MergeArm, MergeWhen, Modify, ModifyKind, OnConflict, Overriding,
    SortKey, TableRef, WaitPolicy,
};
use crate::plan;
use crate::types::{Datum, Dialect, HashKey, Oid, apply_typmod};
use std::cmp::Ordering;
use std::sync::Arc;

/// Something that writes rows of a table with all that belongs to it, for COPY and the like.
#[derive(Debug)]
pub struct RowWriter {
    rules: Arc<Rules>,
}

impl RowWriter {
    /// A writer for a table.
    pub fn new(exec: &mut Exec<'_>, table: &Arc<Table>) -> Result<RowWriter> {
        Ok(RowWriter { rules: exec.rules(table)? })
    }

    /// Inserts a row with a value for each column ever.
    pub fn insert(&self, exec: &mut Exec<'_>, values: Row) -> Result<()> {
        exec.insert_row(&self.rules, values).map(|_| ())
    }
}

/// What the history calls the row of a key.
pub(super) fn key_name(env: &Env, table: &Table, values: &[HashKey]) -> Arc<str> {
    let _ = table;
    let call =
        crate::functions::Call { args: &[], result: Oid::TEXT, style: &env.style, types: env };
    crate::cell_names::key_text(values, &call).into()
}

impl Exec<'_> {
    /// Makes a change: the rows of RETURNING, and how many rows were changed.
    pub fn modify(&mut self, modify: &Modify) -> Result<(Vec<Row>, u64)> {
        self.txn.check_writable(modify)?;
        self.lock_table(modify.target.table.oid, crate::locks::Mode::RowExclusive)?;
        let rules = self.rules(&modify.target.table)?;
        if asks_while_it_changes(modify) {
            self.keep_snapshot();
        }
        match &modify.kind {
            ModifyKind::Insert { source, columns, defaults, on_conflict, .. } => {
                self.insert(modify, &rules, source, columns, defaults, on_conflict.as_ref())
            }
            ModifyKind::Update { from, filter, set } => {
                self.update(modify, &rules, from.as_ref(), filter.as_ref(), set)
            }
            ModifyKind::Delete { from, filter } => {
                self.delete(modify, &rules, from.as_ref(), filter.as_ref())
            }
            ModifyKind::Merge { source, on, arms } => self.merge(modify, &rules, source, on, arms),
        }
    }

    fn insert(
        &mut self,
        modify: &Modify,
        rules: &Arc<Rules>,
        source: &InsertSource,
        columns: &[u16],
        defaults: &[(u16, Expr)],
        on_conflict: Option<&OnConflict>,
    ) -> Result<(Vec<Row>, u64)> {
        let table = &modify.target.table;
        let overriding = match &modify.kind {
            ModifyKind::Insert { overriding, .. } => *overriding,
            _ => None,
        };
        let rows = self.source_values(table, source, columns, defaults, overriding)?;
        let (mut returned, mut count) = (Vec::new(), 0);
        for values in rows {
            self.tick()?;
            let mut flat = vec![Datum::Null; modify.width.max(modify.target.width())];
            let written = match on_conflict {
                Some(conflict) => self.insert_or(modify, rules, values, conflict, &mut flat)?,
                None => Some(self.insert_row(rules, values)?),
            };
            let Some((number, values)) = written else { continue };
            count += 1;
            self.txn.changes.inserted = count - self.txn.changes.matched;
            self.check_view(modify, rules, number, &values, &mut flat)?;
            if !modify.returning.is_empty() {
                place(&modify.target, number, &values, &mut flat);
                returned.push(self.eval_all(&modify.returning, &flat)?);
            }
        }
        Ok((returned, count))
    }

    /// The rows that are to be inserted, with a value for each column.
    fn source_values(
        &mut self,
        table: &Table,
        source: &InsertSource,
        columns: &[u16],
        defaults: &[(u16, Expr)],
        overriding: Option<Overriding>,
    ) -> Result<Vec<Row>> {
        let given: Vec<Vec<Option<Datum>>> = match source {
            InsertSource::Defaults => vec![Vec::new()],
            InsertSource::Query(query) => match &query.body {
                Body::Values(rows) if query.sort.is_empty() && query.ctes.is_empty() => {
                    let mut all = Vec::with_capacity(rows.len());
                    self.levels.push(Row::new());
                    for row in rows {
                        let values = row.iter().map(|expr| match expr.kind {
                            ExprKind::Default => Ok(None),
                            _ => self.eval(expr, &[]).map(Some),
                        });
                        let values = values.collect::<Result<Vec<Option<Datum>>>>();
                        if values.is_err() {
                            self.levels.pop();
                        }
                        all.push(values?);
                    }
                    self.levels.pop();
                    all
                }
                _ => {
                    let rows = self.run_inside(query, &[], None)?;
                    rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect()
                }
            },
        };
        let mut rows = Vec::with_capacity(given.len());
        for values in given {
            rows.push(self.complete(table, columns, values, defaults, overriding)?);
        }
        Ok(rows)
    }

    /// Puts given values into their columns, and defaults into the others.
    fn complete(
        &mut self,
        table: &Table,
        columns: &[u16],
        given: Vec<Option<Datum>>,
        defaults: &[(u16, Expr)],
        overriding: Option<Overriding>,
    ) -> Result<Row> {
        let mut row: Vec<Option<Datum>> = vec![None; table.columns.len()];
        for (&number, value) in columns.iter().zip(given) {
            let column = table.column(number);
            let by_sequence = column.identity.is_some() && overriding == Some(Overriding::User);
            let value = if by_sequence { None } else { self.numbered(column, value)? };
            let is_default = value.is_none();
            let generated = column.default.as_ref().is_some_and(|it| it.generated);
            let always = column.identity.is_some_and(|identity| identity.always)
                && overriding != Some(Overriding::System);
            if (generated || always) && !is_default {
                return Err(cannot_give(&column.name, generated));
            }
            row[number as usize - 1] = match value {
                Some(value) if !value.is_null() && column.typmod >= 0 => {
                    let types = [column.ty];
                    let call = self.call(&types, column.ty);
                    Some(apply_typmod(value, column.ty, column.typmod, false, &call)?)
                }
                value => value,
            };
        }
        for (number, default) in defaults {
            let cell = &mut row[*number as usize - 1];
            if cell.is_none() {
                let value = self.eval(default, &[])?;
                if table.column(*number).identity.is_some() {
                    self.txn.changes.generated = self.txn.changes.generated.or(whole(&value));
                }
                *cell = Some(value);
            }
        }
        Ok(row.into_iter().map(|value| value.unwrap_or(Datum::Null)).collect())
    }

    /// INSERT … ON CONFLICT.
    fn insert_or(
        &mut self,
        modify: &Modify,
        rules: &Arc<Rules>,
        values: Row,
        conflict: &OnConflict,
        flat: &mut Row,
    ) -> Result<Option<(RowNo, Row)>> {
        let indexes = match &conflict.target {
            ConflictTarget::Any => None,
            ConflictTarget::Indexes(indexes) => Some(&indexes[..]),
        };
        let values = self.finish_values(rules, values)?;
        let Some(other) = self.find_conflict(rules, &values, indexes)? else {
            return self.insert_row(rules, values).map(Some);
        };
        self.refuse_newer(rules, other)?;
        let ConflictAction::Update { set, filter } = &conflict.action else { return Ok(None) };
        let (target, heap) = (&modify.target, Arc::clone(&rules.heap));
        let is_mysql = self.env.style.dialect == Dialect::Mysql;
        if !self.touched.insert((heap.id, other)) && !is_mysql {
            return Err(SqlError::new(
                code::CARDINALITY_VIOLATION,
                "ON CONFLICT DO UPDATE command cannot affect row a second time",
            )
            .hint(
                "Ensure that no rows proposed for insertion within the same command have \
                 duplicate constrained values.",
            ));
        }
        self.lock_row(&heap, other, LockStrength::Update, WaitPolicy::Wait, &target.table.name)?;
        self.refuse_newer(rules, other)?;
        let columns: Vec<u16> = target.table.live().map(|(number, _)| number).collect();
        if !self.refresh(target, &heap, other, &columns, flat)? {
            return self.insert_row(rules, values).map(Some);
        }
        let excluded = target.start + target.width();
        flat.resize(flat.len().max(excluded + target.width()), Datum::Null);
        flat[excluded..excluded + values.len()].clone_from_slice(&values);
        flat[target.start + target.width() - 1] = super::scan::tid(other);
        if let Some(filter) = filter
            && !self.holds(filter, flat)?
        {
            return Ok(None);
        }
        let old = self.current_values(rules, other);
        let new = self.assigned(modify.target.start, set, &old, flat)?;
        self.count_change(&old, &new);
        let (number, new) = self.update_row(rules, other, &old, new, set)?;
        self.touched.insert((heap.id, number));
        Ok(Some((number, new)))
    }

    /// Whether a row that was written is one of the views that it was written through.
    fn check_view(
        &mut self,
        modify: &Modify,
        rules: &Rules,
        number: RowNo,
        values: &Row,
        flat: &mut Row,
    ) -> Result<()> {
        if modify.checks.is_empty() {
            return Ok(());
        }
        place(&modify.target, number, values, flat);
        for (view, check) in &modify.checks {
            if !self.holds(check, flat)? {
                let message = format!("new row violates check option for view \"{view}\"");
                return Err(SqlError::new(code::CHECK_OPTION_VIOLATION, message)
                    .detail(self.failing_row(rules, values)));
            }
        }
        Ok(())
    }

    /// The rows of the target with what they are joined to, locked and as they are then.
    fn targets(
        &mut self,
        modify: &Modify,
        from: Option<&From>,
        filter: Option<&Expr>,
        also: &[&Expr],
        strength: LockStrength,
    ) -> Result<Vec<(RowNo, Row)>> {
        let target = From::Table(modify.target.clone());
        let joined = match from {
            Some(from) => From::Join {
                kind: JoinKind::Inner,
                left: Box::new(target),
                right: Box::new(from.clone()),
                on: None,
            },
            None => target,
        };
        let mut used = Vec::new();
        also.iter().for_each(|expr| plan::places(expr, &mut used));
        modify.returning.iter().for_each(|expr| plan::places(expr, &mut used));
        modify.order.iter().for_each(|(expr, _)| plan::places(expr, &mut used));
        let most = self.count(modify.limit.as_ref(), "LIMIT")?.unwrap_or(usize::MAX);
        if most == 0 {
            return Ok(Vec::new());
        }
        let mut filter = filter.cloned();
        filter.iter_mut().for_each(|filter| self.make_arrays(filter));
        let filter = filter.as_ref();
        let mut node = plan::plan(&self.env.catalog, Some(&joined), filter, &used);
        let lock =
            crate::ir::RowLock { strength, of: vec![modify.target.start], wait: WaitPolicy::Wait };
        if self.is_innodb() {
            super::row_locks::mark(&mut node, &[lock], Marked::All);
        } else if !self.has_snapshots() {
            super::row_locks::mark(&mut node, &[lock], Marked::ByKey);
        }
        let place = modify.target.start + modify.target.table.columns.len();
        let sort: Vec<_> = modify.order.iter().map(|(it, key)| (it, key.descending)).collect();
        let enough = if self.comes_in_order(&sort, &mut node) { most } else { usize::MAX };
        let mut found: Vec<(RowNo, Row)> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut row = vec![Datum::Null; modify.width];
        self.each(&node, &mut row, &mut |_, row| {
            if let Some(number) = row_of_tid(&row[place])
                && seen.insert(number)
            {
                found.push((number, row.clone()));
            }
            Ok(found.len() < enough)
        })?;
        self.put_in_order(&mut found, &modify.order)?;
        found.truncate(most);
        let heap = self.database().heap(modify.target.table.heap)?;
        let mut columns: Vec<u16> = Vec::new();
        let mut places: Vec<usize> = used;
        filter.iter().for_each(|filter| plan::places(filter, &mut places));
        let count = modify.target.table.columns.len();
        for place in places {
            let start = modify.target.start;
            if (start..start + count).contains(&place) {
                columns.push((place - start) as u16 + 1);
            }
        }
        columns.sort_unstable();
        columns.dedup();
        let mut kept = Vec::with_capacity(found.len());
        let wish = RowWish { strength, wait: WaitPolicy::Wait, changes: true };
        for (number, mut row) in found {
            if self.touched.contains(&(heap.id, number)) {
                continue;
            }
            let locked = self.lock_found(&modify.target, &heap, number, wish)?;
            let Some(number) = locked else { continue };
            row[place] = super::scan::tid(number);
            if !self.refresh(&modify.target, &heap, number, &columns, &mut row)? {
                continue;
            }
            if let Some(filter) = filter
                && !self.holds(filter, &row)?
            {
                continue;
            }
            kept.push((number, row));
        }
        Ok(kept)
    }

    /// Puts rows that are to be changed into the order in which that is done.
    fn put_in_order(
        &mut self,
        rows: &mut Vec<(RowNo, Row)>,
        order: &[(Expr, SortKey)],
    ) -> Result<()> {
        if order.is_empty() {
            return Ok(());
        }
        let mut keyed = Vec::with_capacity(rows.len());
        for (number, row) in rows.drain(..) {
            let keys = order.iter().map(|(expr, _)| self.eval(expr, &row));
            keyed.push((keys.collect::<Result<Row>>()?, number, row));
        }
        keyed.sort_by(|one, other| {
            let orders = order.iter().enumerate().map(|(place, (expr, key))| {
                compare_by(key, expr.ty, &one.0[place], &other.0[place])
            });
            orders.fold(Ordering::Equal, Ordering::then)
        });
        rows.extend(keyed.into_iter().map(|(_, number, row)| (number, row)));
        Ok(())
    }

    fn update(
        &mut self,
        modify: &Modify,
        rules: &Arc<Rules>,
        from: Option<&From>,
        filter: Option<&Expr>,
        set: &[Assignment],
    ) -> Result<(Vec<Row>, u64)> {
        let changes_key = set.iter().any(|assignment| rules.is_key(assignment.column));
        let is_whole = changes_key || self.is_innodb();
        let strength = if is_whole { LockStrength::Update } else { LockStrength::NoKeyUpdate };
        let also: Vec<&Expr> = set.iter().map(|assignment| &assignment.value).collect();
        let rows = self.targets(modify, from, filter, &also, strength)?;
        let (mut returned, mut count) = (Vec::new(), 0);
        // All new values are computed from what was there before.
        let mut changes = Vec::with_capacity(rows.len());
        for (number, flat) in rows {
            let old = self.current_values(rules, number);
            let new = self.assigned(modify.target.start, set, &old, &flat)?;
            self.count_change(&old, &new);
            changes.push((number, flat, old, new));
        }
        for (number, mut flat, old, new) in changes {
            self.tick()?;
            self.touched.insert((rules.heap.id, number));
            let (number, new) = self.update_row(rules, number, &old, new, set)?;
            self.touched.insert((rules.heap.id, number));
            count += 1;
            self.check_view(modify, rules, number, &new, &mut flat)?;
            if !modify.returning.is_empty() {
                place(&modify.target, number, &new, &mut flat);
                returned.push(self.eval_all(&modify.returning, &flat)?);
            }
        }
        Ok((returned, count))
    }

    fn delete(
        &mut self,
        modify: &Modify,
        rules: &Arc<Rules>,
        from: Option<&From>,
        filter: Option<&Expr>,
    ) -> Result<(Vec<Row>, u64)> {
        let rows = self.targets(modify, from, filter, &[], LockStrength::Update)?;
        let (mut returned, mut count) = (Vec::new(), 0);
        for (number, mut flat) in rows {
            self.tick()?;
            let old = self.current_values(rules, number);
            self.touched.insert((rules.heap.id, number));
            self.delete_row(rules, number, &old)?;
            count += 1;
            if !modify.returning.is_empty() {
                place(&modify.target, number, &old, &mut flat);
                returned.push(self.eval_all(&modify.returning, &flat)?);
            }
        }
        Ok((returned, count))
    }

    fn merge(
        &mut self,
        modify: &Modify,
        rules: &Arc<Rules>,
        source: &From,
        on: &Expr,
        arms: &[MergeArm],
    ) -> Result<(Vec<Row>, u64)> {
        let joined = From::Join {
            kind: JoinKind::Left,
            left: Box::new(source.clone()),
            right: Box::new(From::Table(modify.target.clone())),
            on: Some(on.clone()),
        };
        let used: Vec<usize> = (0..modify.width).collect();
        let node = plan::plan(&self.env.catalog, Some(&joined), None, &used);
        let place = modify.target.start + modify.target.table.columns.len();
        let mut rows: Vec<Row> = Vec::new();
        let mut row = vec![Datum::Null; modify.width];
        self.each(&node, &mut row, &mut |_, row| {
            rows.push(row.clone());
            Ok(true)
        })?;
        let mut count = 0;
        for row in rows {
            let number = row_of_tid(&row[place]);
            count += u64::from(self.merge_row(modify, rules, number, row, arms)?);
        }
        Ok((Vec::new(), count))
    }

    fn merge_row(
        &mut self,
        modify: &Modify,
        rules: &Arc<Rules>,
        number: Option<RowNo>,
        mut row: Row,
        arms: &[MergeArm],
    ) -> Result<bool> {
        let when = if number.is_some() { MergeWhen::Matched } else { MergeWhen::NotMatched };
        if let Some(number) = number {
            let heap = Arc::clone(&rules.heap);
            let wish =
                RowWish { strength: LockStrength::Update, wait: WaitPolicy::Wait, changes: true };
            if self.lock_found(&modify.target, &heap, number, wish)? != Some(number) {
                return Ok(false);
            }
            let columns: Vec<u16> = modify.target.table.live().map(|(it, _)| it).collect();
            if !self.refresh(&modify.target, &heap, number, &columns, &mut row)? {
                return Ok(false);
            }
        }
        for arm in arms.iter().filter(|arm| arm.when == when) {
            if let Some(condition) = &arm.condition
                && !self.holds(condition, &row)?
            {
                continue;
            }
            return self.merge_action(rules, number, &row, &arm.action);
        }
        Ok(false)
    }

    fn merge_action(
        &mut self,
        rules: &Arc<Rules>,
        number: Option<RowNo>,
        row: &Row,
        action: &MergeAction,
    ) -> Result<bool> {
        if let Some(number) = number
            && !matches!(action, MergeAction::Nothing)
            && !self.touched.insert((rules.heap.id, number))
        {
            return Err(SqlError::new(
                code::CARDINALITY_VIOLATION,
                "MERGE command cannot affect row a second time",
            )
            .hint("Ensure that not more than one source row matches any one target row."));
        }
        match (action, number) {
            (MergeAction::Nothing, _) => return Ok(false),
            (MergeAction::Delete, Some(number)) => {
                let old = self.current_values(rules, number);
                self.delete_row(rules, number, &old)?;
            }
            (MergeAction::Update(set), Some(number)) => {
                let old = self.current_values(rules, number);
                // MERGE sets all columns at once in every dialect that has it.
                let new = self.assigned(rules.table.columns.len(), set, &old, row)?;
                self.update_row(rules, number, &old, new, set)?;
            }
            (MergeAction::Insert(values), None) => {
                let mut new = vec![Datum::Null; rules.table.columns.len()];
                for (column, value) in values {
                    new[*column as usize - 1] = self.eval(value, row)?;
                }
                self.insert_row(rules, new)?;
            }
            _ => return Err(SqlError::internal("an arm of MERGE that does not fit")),
        }
        Ok(true)
    }
}

/// Whether there are queries that run when rows have been changed, of which they see nothing.
fn asks_while_it_changes(modify: &Modify) -> bool {
    let asks = |set: &[Assignment]| set.iter().any(|it| it.value.has_query());
    let meanwhile = match &modify.kind {
        ModifyKind::Insert { on_conflict: Some(conflict), .. } => match &conflict.action {
            ConflictAction::Update { set, filter } => {
                asks(set) || filter.as_ref().is_some_and(Expr::has_query)
            }
            ConflictAction::Nothing => false,
        },
        ModifyKind::Merge { arms, .. } => arms.iter().any(|arm| {
            arm.condition.as_ref().is_some_and(Expr::has_query)
                || match &arm.action {
                    MergeAction::Update(set) => asks(set),
                    MergeAction::Insert(values) => values.iter().any(|(_, it)| it.has_query()),
                    MergeAction::Nothing | MergeAction::Delete => false,
                }
        }),
        _ => false,
    };
    meanwhile
        || modify.returning.iter().any(Expr::has_query)
        || modify.checks.iter().any(|(_, check)| check.has_query())
}

fn cannot_give(column: &str, generated: bool) -> SqlError {
    let message = format!("cannot insert a non-DEFAULT value into column \"{column}\"");
    let error = SqlError::new(code::GENERATED_ALWAYS, message);
    if generated {
        error.detail(format!("Column \"{column}\" is a generated column."))
    } else {
        error
            .detail(format!(
                "Column \"{column}\" is an identity column defined as GENERATED ALWAYS."
            ))
            .hint("Use OVERRIDING SYSTEM VALUE to override.")
    }
}

/// Puts a row of the target into its places.
fn place(target: &TableRef, number: RowNo, values: &Row, flat: &mut Row) {
    let end = target.start + values.len();
    flat[target.start..end].clone_from_slice(values);
    flat[end] = super::scan::tid(number);
}
