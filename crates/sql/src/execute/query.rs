//! Queries: what a SELECT does with its rows, set operations, WITH, order and limits.

use super::row_locks::Marked;
use super::rows::{Seen, compare_rows};
use super::{Exec, Row};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Cte, Distinct, Expr, From, Query, Select, SetCall, SetOp};
use crate::plan;
use crate::types::{Datum, HashKey, Oid};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::Arc;

/// How many rounds a recursive query may take.
const ROUNDS_MAX: usize = 10_000_000;

impl Exec<'_> {
    /// The rows of a query; `most` is how many the caller looks at. Rows may have further columns
    /// behind those of the result.
    pub fn run(&mut self, query: &Query, most: Option<usize>) -> Result<Vec<Row>> {
        self.run_ctes(&query.ctes)?;
        let offset = self.count(query.offset.as_ref(), "OFFSET")?.unwrap_or(0);
        let limit = self.count(query.limit.as_ref(), "LIMIT")?;
        if limit == Some(0) {
            return Ok(Vec::new());
        }
        let wanted = match (limit, most) {
            (Some(limit), Some(most)) => Some(limit.min(most)),
            (limit, most) => limit.or(most),
        };
        let enough = wanted.map(|wanted| wanted.saturating_add(offset));
        let mut rows = self.body_rows(query, enough.filter(|_| !query.with_ties))?;
        let types = row_types(query);
        self.sort(&mut rows, &query.sort, &types)?;
        if let Body::Select(select) = &query.body
            && let Distinct::On(places) = &select.distinct
        {
            rows = first_of_each(rows, places, &types);
        }
        if !query.locks.is_empty() {
            // Rows that are skipped do not count.
            rows = self.lock_rows(query, rows, enough)?;
        }
        if offset > 0 {
            rows.drain(..offset.min(rows.len()));
        }
        if let Some(wanted) = wanted {
            let mut end = wanted.min(rows.len());
            if query.with_ties && end > 0 {
                let same = |row: &Row| {
                    compare_rows(&query.sort, &types, row, &rows[end - 1]) == Ordering::Equal
                };
                end += rows[end..].iter().take_while(|row| same(row)).count();
            }
            rows.truncate(end);
        }
        Ok(rows)
    }

    pub(super) fn count(&mut self, expr: Option<&Expr>, what: &str) -> Result<Option<usize>> {
        let Some(expr) = expr else { return Ok(None) };
        match self.eval(expr, &[])? {
            Datum::Int8(count) if count >= 0 => {
                Ok(Some(usize::try_from(count).unwrap_or(usize::MAX)))
            }
            Datum::Int8(_) => {
                let code = if what == "LIMIT" {
                    code::INVALID_ROW_COUNT_IN_LIMIT
                } else {
                    code::INVALID_ROW_COUNT_IN_OFFSET
                };
                Err(SqlError::new(code, format!("{what} must not be negative")))
            }
            _ => Ok(None),
        }
    }

    /// Runs those queries of WITH that change something, which the others, and the query itself,
    /// do not see; the others run when they are asked for.
    pub fn run_ctes(&mut self, ctes: &[Cte]) -> Result<()> {
        if ctes.iter().any(|cte| matches!(cte.query.body, Body::Modify(_))) {
            self.keep_snapshot();
        }
        for cte in ctes.iter().filter(|cte| !matches!(cte.query.body, Body::Modify(_))) {
            let has_run = self.ctes.remove(&cte.number).is_some();
            let waited = self.waiting.insert(cte.number, (cte.clone(), self.levels.len()));
            // For another row of the query around: what was made of the old rows is not true.
            if has_run || waited.is_some() {
                self.forget_results();
            }
        }
        let mut changes = ctes.iter().filter(|cte| matches!(cte.query.body, Body::Modify(_)));
        changes.try_for_each(|cte| self.run_one_cte(cte, None))
    }

    /// Of a recursive query that only this one names, and of which it looks at so many rows, no
    /// more are made: without that `LIMIT` would not end a recursion that does not end itself.
    fn begin_recursion(&mut self, select: &Select, node: &plan::Node, enough: usize) -> Result<()> {
        let plan::NodeKind::Source { from: From::Cte { number, .. }, .. } = &node.kind else {
            return Ok(());
        };
        let Some((cte, depth)) = self.waiting.get(number) else { return Ok(()) };
        let shows_all = node.filters.is_empty() && node.once.is_empty() && select.sets.is_empty();
        let is_own = cte.is_once && *depth == self.levels.len();
        if !shows_all || !is_own || cte.recursive.is_none() || select.distinct != Distinct::No {
            return Ok(());
        }
        let Some((cte, _)) = self.waiting.remove(number) else { return Ok(()) };
        self.run_one_cte(&cte, Some(enough))
    }

    /// The rows of a query of WITH, without the values of columns that nothing looks at; those
    /// that do not satisfy conditions (over columns from a place of the row on) may be missing.
    pub(super) fn cte_rows(
        &mut self,
        number: usize,
        unused: &[usize],
        (start, conditions): (usize, &[Expr]),
    ) -> Result<Arc<Vec<Row>>> {
        if let Some((mut cte, depth)) = self.waiting.remove(&number) {
            if cte.is_inlined {
                for condition in conditions.iter().filter(|it| plan::stands_alone(it)) {
                    plan::push(&mut cte.query, start, condition);
                }
                plan::leave_out(&mut cte.query, &|column| !unused.contains(&column));
            }
            let inner = self.levels.split_off(depth);
            let done = self.run_one_cte(&cte, None);
            self.levels.extend(inner);
            done?;
        }
        let rows = self.ctes.get(&number).cloned();
        rows.ok_or_else(|| SqlError::internal(format!("query {number} of WITH has not run")))
    }

    /// Runs a query of WITH; of a recursive one, until there are enough rows.
    fn run_one_cte(&mut self, cte: &Cte, enough: Option<usize>) -> Result<()> {
        let rows = self.run_inside(&cte.query, &[], None)?;
        let width = cte.query.columns.len();
        let cut = |mut rows: Vec<Row>| {
            rows.iter_mut().for_each(|row| row.truncate(width));
            rows
        };
        let mut rows = cut(rows);
        let Some((step, distinct)) = &cte.recursive else {
            self.ctes.insert(cte.number, Arc::new(rows));
            return Ok(());
        };
        let types: Vec<Oid> = cte.query.columns.iter().map(|column| column.ty).collect();
        let mut seen = Seen::default();
        if *distinct {
            rows.retain(|row| seen.add(row, &types));
        }
        let mut all = rows.clone();
        for _ in 0..ROUNDS_MAX {
            if rows.is_empty() || enough.is_some_and(|enough| all.len() >= enough) {
                break;
            }
            self.interrupt().check()?;
            self.ctes.insert(cte.number, Arc::new(rows));
            // What was kept of subqueries inside was over the rows before.
            self.forget_results();
            rows = cut(self.run_inside(step, &[], None)?);
            if *distinct {
                rows.retain(|row| seen.add(row, &types));
            }
            all.extend(rows.iter().cloned());
            self.bound(all.len() + rows.len(), width)?;
        }
        self.forget_results();
        self.ctes.insert(cte.number, Arc::new(all));
        Ok(())
    }

    fn body_rows(&mut self, query: &Query, enough: Option<usize>) -> Result<Vec<Row>> {
        match &query.body {
            Body::Select(select) => self.select_rows(query, select, enough),
            Body::Values(rows) => {
                let mut all = Vec::with_capacity(rows.len());
                for row in rows {
                    self.tick()?;
                    all.push(self.eval_all(row, &[])?);
                }
                Ok(all)
            }
            Body::SetOp { op, all, left, right } => {
                let types: Vec<Oid> = query.columns.iter().map(|column| column.ty).collect();
                let width = types.len();
                let cut = |mut rows: Vec<Row>| {
                    rows.iter_mut().for_each(|row| row.truncate(width));
                    rows
                };
                let left = cut(self.run_inside(left, &[], None)?);
                let right = cut(self.run_inside(right, &[], None)?);
                self.bound(left.len() + right.len(), width)?;
                Ok(set_operation(*op, *all, left, right, &types))
            }
            Body::Modify(modify) => Ok(self.modify(modify)?.0),
        }
    }

    fn select_rows(
        &mut self,
        query: &Query,
        select: &Select,
        enough: Option<usize>,
    ) -> Result<Vec<Row>> {
        let mut used = Vec::new();
        used_places(select, &mut used);
        let mut filter = select.filter.clone();
        let mut having = Vec::new();
        if let (Some(condition), Some(grouping)) = (&select.having, &select.grouping) {
            let (before, after) = plan::before_groups(condition, grouping);
            before.iter().for_each(|condition| plan::places(condition, &mut used));
            before.into_iter().for_each(|condition| plan::add(&mut filter, condition));
            having = after;
        }
        filter.iter_mut().for_each(|filter| self.make_arrays(filter));
        let mut node = plan::plan(&self.env.catalog, select.from.as_ref(), filter.as_ref(), &used);
        let is_locked = !query.locks.is_empty();
        if is_locked && self.is_innodb() {
            super::row_locks::mark(&mut node, &query.locks, Marked::All);
        } else if is_locked && !self.has_snapshots() {
            super::row_locks::mark(&mut node, &query.locks, Marked::ByKey);
        }
        if select.grouping.is_some() || !select.windows.is_empty() {
            return self.grouped_rows(select, &having, &node);
        }
        let enough = enough.filter(|_| self.is_ended_early(query, select, &mut node));
        if let Some(enough) = enough {
            self.begin_recursion(select, &node, enough)?;
        }
        let types: Vec<Oid> = select.targets.iter().map(|target| target.ty).collect();
        let shown = query.columns.len();
        let mut rows = Vec::new();
        let mut seen = Seen::default();
        let mut row: Row = vec![Datum::Null; select.width];
        let distinct = select.distinct == Distinct::All;
        self.each(&node, &mut row, &mut |exec, row| {
            for mut target in exec.expand(select, row)? {
                if is_locked {
                    target.extend_from_slice(row);
                }
                if !distinct || seen.add(&target[..shown], &types) {
                    rows.push(target);
                }
            }
            exec.bound(rows.len(), types.len())?;
            Ok(enough.is_none_or(|enough| rows.len() < enough))
        })?;
        if let Some(enough) = enough {
            rows.truncate(enough);
        }
        Ok(rows)
    }

    /// A result that is larger than memory is an error before it is a crash.
    pub(super) fn bound(&self, rows: usize, columns: usize) -> Result<()> {
        // A row takes as much room as two values besides its own.
        if rows.saturating_mul(columns + 2) <= self.env.values_max {
            return Ok(());
        }
        let error = SqlError::new(code::OUT_OF_MEMORY, "out of memory");
        Err(error.detail(format!("A query has more than {rows} rows of {columns} columns.")))
    }

    /// The results for a row: one, or as many as set-returning functions have.
    fn expand(&mut self, select: &Select, row: &mut Row) -> Result<Vec<Row>> {
        if select.sets.is_empty() {
            return Ok(vec![self.eval_all(&select.targets, row)?]);
        }
        let rows = self.multiply(&select.sets, row.len(), row)?;
        rows.iter().map(|row| self.eval_all(&select.targets, row)).collect()
    }

    /// A row once for each of what sets return, with that behind its first `width` values.
    pub(super) fn multiply(
        &mut self,
        sets: &[SetCall],
        width: usize,
        row: &[Datum],
    ) -> Result<Vec<Row>> {
        let mut first = row[..width].to_vec();
        first.resize(width + sets.len(), Datum::Null);
        let mut rows = vec![first];
        // A set inside of the arguments of another one is gone through before it.
        for layer in set_layers(sets, width) {
            let mut next = Vec::new();
            for row in rows {
                self.expand_layer(sets, &layer, width, row, &mut next)?;
            }
            rows = next;
        }
        Ok(rows)
    }

    /// Goes through sets side by side; those that are shorter have nulls in the end.
    fn expand_layer(
        &mut self,
        sets: &[SetCall],
        layer: &[usize],
        width: usize,
        row: Row,
        rows: &mut Vec<Row>,
    ) -> Result<()> {
        let mut values: Vec<Vec<Datum>> = Vec::with_capacity(layer.len());
        for &set in layer {
            let mut own: Vec<Datum> = Vec::new();
            for found in self.set_rows(&sets[set], &row)? {
                self.tick()?;
                let mut found = found?;
                own.push(if found.len() == 1 {
                    found.swap_remove(0)
                } else {
                    record_of(&sets[set], found)
                });
                self.bound(rows.len() + own.len(), row.len())?;
            }
            values.push(own);
        }
        let longest = values.iter().map(Vec::len).max().unwrap_or(0);
        for place in 0..longest {
            let mut row = row.clone();
            for (&set, values) in layer.iter().zip(&values) {
                row[width + set] = values.get(place).cloned().unwrap_or(Datum::Null);
            }
            rows.push(row);
        }
        Ok(())
    }

    /// Grouping and window functions need all rows first.
    fn grouped_rows(
        &mut self,
        select: &Select,
        having: &[Expr],
        node: &plan::Node,
    ) -> Result<Vec<Row>> {
        let mut rows = match &select.grouping {
            Some(grouping) => self.group(select, grouping, node)?,
            None => {
                let mut rows = Vec::new();
                let mut row: Row = vec![Datum::Null; select.width];
                self.each(node, &mut row, &mut |exec, row| {
                    rows.push(row.clone());
                    exec.bound(rows.len(), row.len())?;
                    Ok(true)
                })?;
                rows
            }
        };
        if !having.is_empty() {
            let mut kept = Vec::new();
            for row in rows {
                if self.passes(having, &row)? {
                    kept.push(row);
                }
            }
            rows = kept;
        }
        self.add_windows(&select.windows, &mut rows)?;
        let types: Vec<Oid> = select.targets.iter().map(|target| target.ty).collect();
        let mut seen = Seen::default();
        let mut all = Vec::new();
        for mut row in rows {
            for target in self.expand(select, &mut row)? {
                if select.distinct != Distinct::All || seen.add(&target, &types) {
                    all.push(target);
                }
            }
        }
        Ok(all)
    }
}

/// The sets by how many others are inside of each other in their arguments. The result of a set
/// stands behind the row, from `width` on.
fn set_layers(sets: &[SetCall], width: usize) -> Vec<Vec<usize>> {
    let mut depths: Vec<usize> = Vec::with_capacity(sets.len());
    for call in sets {
        let mut used = Vec::new();
        call.args.iter().for_each(|arg| plan::places(arg, &mut used));
        let inside = used.iter().filter_map(|place| place.checked_sub(width));
        let inside = inside.filter_map(|set| depths.get(set));
        depths.push(inside.map(|depth| depth + 1).max().unwrap_or(0));
    }
    let deepest = depths.iter().copied().max().unwrap_or(0);
    let of = |depth| (0..sets.len()).filter(|&set| depths[set] == depth).collect();
    (0..=deepest).map(of).collect()
}

fn record_of(call: &SetCall, fields: Row) -> Datum {
    let names = crate::bind::output_columns(call.callee.proc)
        .into_iter()
        .map(|(name, _)| name.into())
        .collect();
    let record = crate::types::RecordValue { types: call.columns.clone(), names, fields };
    Datum::Record(Arc::new(record))
}

/// The types of the rows of a query, with what is behind the result's columns.
fn row_types(query: &Query) -> Vec<Oid> {
    match &query.body {
        Body::Select(select) => select.targets.iter().map(|target| target.ty).collect(),
        _ => query.columns.iter().map(|column| column.ty).collect(),
    }
}

fn first_of_each(rows: Vec<Row>, places: &[usize], types: &[Oid]) -> Vec<Row> {
    let mut seen = Seen::default();
    let types: Vec<Oid> = places.iter().map(|&place| types[place]).collect();
    rows.into_iter()
        .filter(|row| {
            let values: Row = places.iter().map(|&place| row[place].clone()).collect();
            seen.add(&values, &types)
        })
        .collect()
}

fn set_operation(op: SetOp, all: bool, left: Vec<Row>, right: Vec<Row>, types: &[Oid]) -> Vec<Row> {
    let mut seen = Seen::default();
    if op == SetOp::Union {
        let rows = left.into_iter().chain(right);
        return rows.filter(|row| all || seen.add(row, types)).collect();
    }
    let mut counts: FxHashMap<Vec<HashKey>, usize> = FxHashMap::default();
    for row in &right {
        *counts.entry(super::keys::row_key(row, types)).or_default() += 1;
    }
    left.into_iter()
        .filter(|row| {
            if !all && !seen.add(row, types) {
                return false;
            }
            let count = counts.get_mut(&super::keys::row_key(row, types));
            let is_there = match count {
                Some(count) if *count > 0 => {
                    if all {
                        *count -= 1;
                    }
                    true
                }
                _ => false,
            };
            is_there == (op == SetOp::Intersect)
        })
        .collect()
}

/// The places of the row of FROM that are looked at behind it.
fn used_places(select: &Select, used: &mut Vec<usize>) {
    let mut add = |expr: &Expr| plan::places(expr, used);
    match &select.grouping {
        Some(grouping) => {
            grouping.keys.iter().for_each(&mut add);
            grouping.dependent.iter().for_each(&mut add);
            grouping.expanded.iter().flat_map(|call| &call.args).for_each(&mut add);
            for call in &grouping.aggregates {
                call.args.iter().for_each(&mut add);
                call.direct.iter().for_each(&mut add);
                call.order.iter().for_each(|(expr, _)| add(expr));
                call.filter.iter().for_each(&mut add);
            }
        }
        None => {
            select.targets.iter().for_each(&mut add);
            for call in &select.windows {
                call.args.iter().for_each(&mut add);
                call.partition.iter().for_each(&mut add);
                call.order.iter().for_each(|(expr, _)| add(expr));
                call.filter.iter().for_each(&mut add);
            }
            for call in &select.sets {
                call.args.iter().for_each(&mut add);
            }
        }
    }
}
