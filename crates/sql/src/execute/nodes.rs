//! Plans: each node fills its places of the row and hands on.

use super::keys::key;
use super::{Exec, Row};
use crate::catalog::builtin::builtin;
use crate::error::{Result, SqlError, code};
use crate::ir::{CallKind, Expr, ExprKind, From, FromFunction, JoinKind, SetCall};
use crate::plan::{Node, NodeKind};
use crate::types::{Datum, HashKey, Oid, TypeLookup};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Gets each row; false ends it.
pub(super) type Sink<'s> = dyn FnMut(&mut Exec<'_>, &mut Row) -> Result<bool> + 's;

/// The rows of the right side of a join.
struct Inner {
    rows: Vec<Row>,
    /// By the values that must be equal.
    by_key: Option<FxHashMap<Vec<HashKey>, Vec<usize>>>,
    /// Those that were joined, for outer joins.
    joined: Vec<bool>,
}

/// PostgreSQL joins fully by values that are equal, or without a condition, and in no other way.
fn check_full_join(on: &[Expr]) -> Result<()> {
    let is_equality = |expr: &Expr| match &expr.kind {
        ExprKind::Call { callee, .. } => {
            builtin().operators_named("=").any(|it| it.proc == callee.proc.oid)
        }
        _ => false,
    };
    let is_constant = |expr: &Expr| !expr.any(|it, _| matches!(it.kind, ExprKind::Column { .. }));
    if on.iter().all(is_constant) || on.iter().any(is_equality) {
        return Ok(());
    }
    Err(SqlError::new(
        code::FEATURE_NOT_SUPPORTED,
        "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions",
    ))
}

impl Exec<'_> {
    /// Goes through the rows of a plan; false if the sink has ended it.
    pub(super) fn each(&mut self, node: &Node, row: &mut Row, sink: &mut Sink<'_>) -> Result<bool> {
        if !self.passes(&node.once, row)? {
            return Ok(true);
        }
        let filters = &node.filters;
        match &node.kind {
            // A scan tests its own conditions, before it reads all columns.
            NodeKind::Scan(scan) => self.each_scanned(scan, filters, row, sink),
            NodeKind::Nothing => {
                if self.passes(filters, row)? {
                    sink(self, row)
                } else {
                    Ok(true)
                }
            }
            NodeKind::Source { from: From::System { table, .. }, .. } => {
                let rows = self.system_rows(table)?;
                for found in rows.iter() {
                    self.tick()?;
                    row[node.start..node.start + found.len()].clone_from_slice(found);
                    if self.passes(filters, row)? && !sink(self, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            NodeKind::Source { from, .. } => {
                let rows = self.source_rows(from, row)?;
                for found in rows {
                    self.tick()?;
                    fill(row, node.start, found);
                    if self.passes(filters, row)? && !sink(self, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            NodeKind::Join { .. } => self.each_joined(node, row, &mut |exec, row| {
                if exec.passes(filters, row)? { sink(exec, row) } else { Ok(true) }
            }),
        }
    }

    pub(super) fn passes(&mut self, filters: &[Expr], row: &[Datum]) -> Result<bool> {
        for filter in filters {
            if !self.holds(filter, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn each_joined(&mut self, node: &Node, row: &mut Row, sink: &mut Sink<'_>) -> Result<bool> {
        let NodeKind::Join { kind, left, right, hash, on, dependent } = &node.kind else {
            return Err(SqlError::internal("a join"));
        };
        if *dependent {
            return self.each_dependent(*kind, left, right, on, row, sink);
        }
        if *kind == JoinKind::Full && hash.is_empty() {
            check_full_join(on)?;
        }
        let (start, end) = (right.start, right.end);
        let keep_left = matches!(kind, JoinKind::Left | JoinKind::Full);
        let keep_right = matches!(kind, JoinKind::Right | JoinKind::Full);
        // The right side is looked at when there is a row to join, and the left one only as long as
        // there is something to join it with.
        let mut known = if keep_right { Some(self.inner_rows(right, hash, row)?) } else { None };
        if !keep_left && known.as_ref().is_some_and(|inner| inner.rows.is_empty()) {
            return Ok(true);
        }
        let mut is_empty = false;
        let going = self.each(left, row, &mut |exec, row| {
            let mut found = false;
            let inner = match &mut known {
                Some(inner) => inner,
                none => none.insert(exec.inner_rows(right, hash, row)?),
            };
            if inner.rows.is_empty() && !keep_left {
                is_empty = true;
                return Ok(false);
            }
            for place in exec.matching(inner, hash, row)? {
                exec.tick()?;
                row[start..end].clone_from_slice(&inner.rows[place]);
                if !exec.passes(on, row)? {
                    continue;
                }
                found = true;
                inner.joined[place] = true;
                if !sink(exec, row)? {
                    return Ok(false);
                }
            }
            if !found && keep_left {
                row[start..end].fill(Datum::Null);
                return sink(exec, row);
            }
            Ok(true)
        })?;
        let going = going || is_empty;
        let Some(inner) = known.filter(|_| going && keep_right) else { return Ok(going) };
        let mut places = Vec::new();
        left_places(left, &mut places);
        for (from, to) in places {
            row[from..to].fill(Datum::Null);
        }
        for place in 0..inner.rows.len() {
            if inner.joined[place] {
                continue;
            }
            row[start..end].clone_from_slice(&inner.rows[place]);
            if !sink(self, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A join whose right side is found anew for each row of the left one.
    fn each_dependent(
        &mut self,
        kind: JoinKind,
        left: &Node,
        right: &Node,
        on: &[Expr],
        row: &mut Row,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            return Err(SqlError::new(
                code::INVALID_COLUMN_REFERENCE,
                "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or \
                 LEFT for a LATERAL reference",
            ));
        }
        self.each(left, row, &mut |exec, row| {
            let mut found = false;
            let going = exec.each(right, row, &mut |exec, row| {
                if !exec.passes(on, row)? {
                    return Ok(true);
                }
                found = true;
                sink(exec, row)
            })?;
            if !going {
                return Ok(false);
            }
            if !found && kind == JoinKind::Left {
                row[right.start..right.end].fill(Datum::Null);
                return sink(exec, row);
            }
            Ok(true)
        })
    }

    fn inner_rows(&mut self, right: &Node, hash: &[(Expr, Expr)], row: &mut Row) -> Result<Inner> {
        let (start, end) = (right.start, right.end);
        let mut rows: Vec<Row> = Vec::new();
        let mut keys: Vec<Option<Vec<HashKey>>> = Vec::new();
        self.each(right, row, &mut |exec, row| {
            if !hash.is_empty() {
                keys.push(exec.key_of(hash.iter().map(|(_, right)| right), row)?);
            }
            rows.push(row[start..end].to_vec());
            exec.bound(rows.len(), end - start)?;
            Ok(true)
        })?;
        let by_key = (!hash.is_empty()).then(|| {
            let mut by_key: FxHashMap<Vec<HashKey>, Vec<usize>> = FxHashMap::default();
            for (place, key) in keys.into_iter().enumerate() {
                if let Some(key) = key {
                    by_key.entry(key).or_default().push(place);
                }
            }
            by_key
        });
        let joined = vec![false; rows.len()];
        Ok(Inner { rows, by_key, joined })
    }

    /// The values of expressions as a key; none if one is null, which equals nothing.
    pub(super) fn key_of<'x>(
        &mut self,
        exprs: impl Iterator<Item = &'x Expr>,
        row: &[Datum],
    ) -> Result<Option<Vec<HashKey>>> {
        let mut values = Vec::new();
        for expr in exprs {
            let value = self.eval(expr, row)?;
            if value.is_null() {
                return Ok(None);
            }
            values.push(key(&value, expr.ty));
        }
        Ok(Some(values))
    }

    fn matching(
        &mut self,
        inner: &Inner,
        hash: &[(Expr, Expr)],
        row: &[Datum],
    ) -> Result<Vec<usize>> {
        let Some(by_key) = &inner.by_key else { return Ok((0..inner.rows.len()).collect()) };
        let key = self.key_of(hash.iter().map(|(left, _)| left), row)?;
        Ok(key.and_then(|key| by_key.get(&key).cloned()).unwrap_or_default())
    }

    /// The rows of something in FROM that is no table.
    fn source_rows(&mut self, from: &From, row: &Row) -> Result<Vec<Row>> {
        match from {
            From::System { table, .. } => Ok(self.system_rows(table)?.to_vec()),
            From::Query { query, .. } => {
                let width = query.columns.len();
                let mut rows = self.run_inside(query, row, None)?;
                rows.iter_mut().for_each(|row| row.truncate(width));
                Ok(rows)
            }
            From::Cte { number, start, width, unused, conditions } => {
                let rows = self.cte_rows(*number, unused, (*start, conditions))?;
                Ok(rows.iter().map(|row| row[..*width].to_vec()).collect())
            }
            From::Functions { functions, ordinality, .. } => {
                self.function_rows(functions, *ordinality, row)
            }
            From::Table(_) | From::Join { .. } => Err(SqlError::internal("planned otherwise")),
        }
    }

    /// The rows of a system table, made once for the statement.
    fn system_rows(
        &mut self,
        table: &crate::catalog::system::SystemTable,
    ) -> Result<Arc<Vec<Row>>> {
        if let Some(rows) = self.system.get(&table.oid) {
            return Ok(Arc::clone(rows));
        }
        let rows = crate::virtual_tables::rows(self.env, table)?;
        self.system.insert(table.oid, Arc::clone(&rows));
        Ok(rows)
    }

    /// The rows of functions, side by side; a shorter one has nulls in the end.
    fn function_rows(
        &mut self,
        functions: &[FromFunction],
        ordinality: bool,
        row: &Row,
    ) -> Result<Vec<Row>> {
        let mut parts: Vec<(Vec<Row>, usize)> = Vec::new();
        for function in functions {
            parts.push(match function {
                FromFunction::Set(call) => {
                    let mut rows = Vec::new();
                    for found in self.set_rows(call, row)? {
                        self.tick()?;
                        let found = found?;
                        if call.ty == Oid::RECORD {
                            self.check_record(&found, &call.columns)?;
                        }
                        rows.push(spread(found, &call.columns));
                        self.bound(rows.len(), call.columns.len())?;
                    }
                    (rows, call.columns.len())
                }
                FromFunction::Scalar(expr, columns) => {
                    let value = self.eval(expr, row)?;
                    (vec![spread(vec![value], columns)], columns.len())
                }
            });
        }
        if let ([(rows, _)], false) = (&mut parts[..], ordinality) {
            return Ok(std::mem::take(rows));
        }
        let count = parts.iter().map(|(rows, _)| rows.len()).max().unwrap_or(0);
        let mut joined = Vec::with_capacity(count);
        for place in 0..count {
            let mut values = Row::new();
            for (rows, width) in &parts {
                match rows.get(place) {
                    Some(found) => values.extend_from_slice(found),
                    None => values.extend(std::iter::repeat_n(Datum::Null, *width)),
                }
            }
            if ordinality {
                values.push(Datum::Int8(place as i64 + 1));
            }
            joined.push(values);
        }
        Ok(joined)
    }

    /// A function that returns any record must return what the query says it does.
    fn check_record(&self, values: &[Datum], columns: &[Oid]) -> Result<()> {
        let (count, types) = match values {
            // A null row is one of nulls.
            [Datum::Null] => return Ok(()),
            [Datum::Record(record)] => (record.fields.len(), &record.types[..]),
            values => (values.len(), &[][..]),
        };
        let wanted = columns.len();
        let detail = if count != wanted {
            let s = if count == 1 { "" } else { "s" };
            format!("Returned row contains {count} attribute{s}, but query expects {wanted}.")
        } else {
            let mut pairs = types.iter().zip(columns).enumerate();
            let Some((place, (found, wanted))) = pairs.find(|(_, (found, wanted))| found != wanted)
            else {
                return Ok(());
            };
            let name = |ty: &Oid| TypeLookup::type_name(self.env, *ty, -1);
            format!(
                "Returned type {} at ordinal position {}, but query expects {}.",
                name(found),
                place + 1,
                name(wanted)
            )
        };
        let message = "function return row and query-specified return row do not match";
        Err(SqlError::new(code::DATATYPE_MISMATCH, message).detail(detail))
    }

    /// The rows of a set-returning function.
    pub(super) fn set_rows(
        &mut self,
        call: &SetCall,
        row: &[Datum],
    ) -> Result<crate::functions::Rows> {
        let args = self.eval_all(&call.args, row)?;
        if call.callee.proc.strict && args.iter().any(Datum::is_null) {
            return Ok(Box::new(std::iter::empty()));
        }
        let types: Vec<Oid> = call.args.iter().map(|arg| arg.ty).collect();
        match call.callee.run {
            CallKind::Set(function) => function(&self.call(&types, call.ty), &args),
            _ => self.session_set(call.callee.proc, &types, &args),
        }
    }
}

fn fill(row: &mut Row, start: usize, values: Row) {
    for (place, value) in values.into_iter().enumerate() {
        row[start + place] = value;
    }
}

/// Where the parts of a node are in the row.
fn left_places(node: &Node, places: &mut Vec<(usize, usize)>) {
    match &node.kind {
        NodeKind::Join { left, right, .. } => {
            left_places(left, places);
            left_places(right, places);
        }
        _ => places.push((node.start, node.end)),
    }
}

/// A row value in one column becomes its fields.
fn spread(values: Row, columns: &[Oid]) -> Row {
    if values.len() == columns.len() && columns.len() != 1 {
        return values;
    }
    match values.as_slice() {
        [Datum::Record(record)] if columns.len() > 1 || is_plain_record(columns) => {
            let mut fields = record.fields.clone();
            fields.resize(columns.len(), Datum::Null);
            fields
        }
        [Datum::Null] => vec![Datum::Null; columns.len()],
        _ => values,
    }
}

fn is_plain_record(columns: &[Oid]) -> bool {
    columns.len() == 1 && columns[0] != Oid::RECORD
}
