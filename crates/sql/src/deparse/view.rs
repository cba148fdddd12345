//! The query of a view as PostgreSQL writes it: columns with their tables, every clause on a line
//! of its own. What is not covered (queries in FROM, WITH, set operations, windows, USING) is shown
//! as it was written.

use super::Layout;
use super::writer::Writer;
use crate::bind::{Binder, Params};
use crate::catalog::type_names::relation_name;
use crate::catalog::{Object, SearchPath};
use crate::env::Env;
use crate::functions::quote_ident;
use crate::ir::{AggCall, Body, Distinct, Expr, ExprKind, From, Grouping, JoinKind, Query, Select};
use crate::types::{Datum, Oid};
use sqlparser::ast::{self, JoinConstraint, JoinOperator, SetExpr, TableFactor};
use std::sync::Arc;

/// How far what a result is made of stands in.
const INDENT: usize = 8;

/// The query of a view, materialized or not.
pub fn view(env: &Env, object: &Object, layout: Layout) -> Option<String> {
    let (text, _) = object.query()?;
    let written = || format!(" {};", text.trim().trim_end_matches(';').trim_end());
    let (names, path): (Vec<Arc<str>>, &SearchPath) = match object {
        Object::View(it) => (it.columns.iter().map(|it| it.name.clone()).collect(), &it.path),
        Object::Table(it) => (it.live().map(|(_, it)| it.name.clone()).collect(), &env.path),
        _ => return None,
    };
    Some(View { env, layout }.whole(text, path, &names).unwrap_or_else(written))
}

struct View<'v> {
    env: &'v Env,
    layout: Layout,
}

/// A part of FROM: its text, and the columns that it puts into the row, from a place on.
struct Leaf {
    shown: String,
    start: usize,
    columns: Vec<(String, Arc<str>)>,
}

impl View<'_> {
    fn whole(&self, text: &str, path: &SearchPath, names: &[Arc<str>]) -> Option<String> {
        let ast = crate::parse::query(text).ok()?;
        let SetExpr::Select(written) = &*ast.body else { return None };
        let mut binder = Binder::new(
            &self.env.catalog,
            path,
            &self.env.style,
            self.env,
            text,
            Params::default(),
        );
        let query = binder.bind_query(&ast).ok()?;
        let Body::Select(select) = &query.body else { return None };
        let is_plain = query.ctes.is_empty()
            && query.locks.is_empty()
            && !query.with_ties
            && select.windows.is_empty()
            && select.sets.is_empty()
            && !matches!(select.distinct, Distinct::On(_))
            && query.columns.len() == names.len();
        if !is_plain {
            return None;
        }
        let leaves = self.leaves(written, select.from.as_ref(), path)?;
        let row = row_names(&leaves, select.width);
        let grouped = match &select.grouping {
            Some(grouping) => Some(self.grouped_names(grouping, &row)?),
            None => None,
        };
        let after = grouped.as_deref().unwrap_or(&row);
        let mut out = String::from(" SELECT ");
        if select.distinct == Distinct::All {
            out.push_str("DISTINCT ");
        }
        out = self.targets(out, select, names, &leaves, after)?;
        if let Some(from) = &select.from {
            out.push_str("\n   FROM ");
            out.push_str(&self.from(from, &mut leaves.iter(), &row)?);
        }
        if let Some(filter) = &select.filter {
            out.push_str(&format!("\n  WHERE {}", self.expr(filter, &row)?));
        }
        self.group_by(&mut out, select, &row, after)?;
        self.order_by(&mut out, &query, select, after)?;
        out.push(';');
        Some(out)
    }

    fn expr(&self, expr: &Expr, columns: &[Arc<str>]) -> Option<String> {
        Writer::qualified(self.env, columns, self.layout, INDENT, expr)
    }

    /// The parts of FROM, as far as they are tables and views that joins with ON connect.
    fn leaves(
        &self,
        written: &ast::Select,
        from: Option<&From>,
        path: &SearchPath,
    ) -> Option<Vec<Leaf>> {
        let Some(from) = from else { return Some(Vec::new()) };
        let [table] = &written.from[..] else { return None };
        let is_on = |join: &ast::Join| match &join.join_operator {
            JoinOperator::Join(it)
            | JoinOperator::Inner(it)
            | JoinOperator::Left(it)
            | JoinOperator::LeftOuter(it)
            | JoinOperator::Right(it)
            | JoinOperator::RightOuter(it)
            | JoinOperator::FullOuter(it) => matches!(it, JoinConstraint::On(_)),
            _ => false,
        };
        if !table.joins.iter().all(is_on) {
            return None;
        }
        let factors = std::iter::once(&table.relation);
        let factors = factors.chain(table.joins.iter().map(|join| &join.relation));
        let mut bound = Vec::new();
        flatten(from, &mut bound);
        let pairs: Vec<_> = factors.zip(bound).collect();
        if pairs.len() != table.joins.len() + 1 {
            return None;
        }
        pairs.into_iter().map(|(factor, from)| self.leaf(factor, from, path)).collect()
    }

    fn leaf(&self, factor: &TableFactor, from: &From, path: &SearchPath) -> Option<Leaf> {
        let TableFactor::Table { name, alias, args: None, sample: None, .. } = factor else {
            return None;
        };
        if alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
            return None;
        }
        let (schema, name) = crate::parse::split_name(name).ok()?;
        let schema = match schema {
            Some(schema) => Some(self.env.catalog.schema(&schema)?),
            None => None,
        };
        let oid = self.env.catalog.find_relation(schema, &name, path)?;
        let (_, own) = self.env.catalog.get(oid)?.place()?;
        let called =
            alias.as_ref().map_or_else(|| own.to_string(), |it| crate::parse::fold(&it.name));
        let mut shown = relation_name(&self.env.catalog, &self.env.path, oid)?;
        if called != **own {
            shown.push_str(&format!(" {}", quote_ident(&called)));
        }
        let (start, names): (usize, Vec<Arc<str>>) = match from {
            From::Table(it) => {
                (it.start, it.table.columns.iter().map(|it| it.name.clone()).collect())
            }
            From::Query { query, start, lateral: false, .. } => {
                (*start, query.columns.iter().map(|it| it.name.clone()).collect())
            }
            _ => return None,
        };
        let columns = names.into_iter().map(|name| (quote_ident(&called), name)).collect();
        Some(Leaf { shown, start, columns })
    }

    /// The results, each with its name where it has another one by itself.
    fn targets(
        &self,
        mut out: String,
        select: &Select,
        names: &[Arc<str>],
        leaves: &[Leaf],
        columns: &[Arc<str>],
    ) -> Option<String> {
        for (place, (target, name)) in select.targets.iter().zip(names).enumerate() {
            if place > 0 {
                out.push_str(",\n    ");
            }
            let text = self.expr(target, columns)?;
            if text.starts_with('\n') {
                out.truncate(out.trim_end_matches(' ').len());
            }
            out.push_str(&text);
            let own = match &select.grouping {
                None => column_name(target, leaves),
                Some(grouping) => grouped_name(target, grouping, leaves),
            };
            if own.as_ref() != Some(name) {
                out.push_str(&format!(" AS {}", quote_ident(name)));
            }
        }
        Some(out)
    }

    fn from<'l>(
        &self,
        from: &From,
        leaves: &mut impl Iterator<Item = &'l Leaf>,
        row: &[Arc<str>],
    ) -> Option<String> {
        // Joins hang to the left: walked down first, then written from the innermost on.
        let mut joins = Vec::new();
        let mut first = from;
        while let From::Join { kind, left, on, .. } = first {
            joins.push((*kind, on.as_ref()?));
            first = left;
        }
        let mut out = leaves.next()?.shown.clone();
        for (kind, on) in joins.into_iter().rev() {
            let word = match kind {
                JoinKind::Inner => "JOIN",
                JoinKind::Left => "LEFT JOIN",
                JoinKind::Right => "RIGHT JOIN",
                JoinKind::Full => "FULL JOIN",
            };
            let (table, on) = (&leaves.next()?.shown, self.expr(on, row)?);
            out = match self.layout {
                Layout::Plain => format!("({out}\n     {word} {table} ON ({on}))"),
                Layout::Pretty => format!("{out}\n     {word} {table} ON {on}"),
            };
        }
        Some(out)
    }

    /// What the columns of the row after grouping are: keys, aggregates, a number, and columns that
    /// depend on the keys.
    fn grouped_names(&self, grouping: &Grouping, row: &[Arc<str>]) -> Option<Vec<Arc<str>>> {
        let all: Vec<usize> = (0..grouping.keys.len()).collect();
        if grouping.sets != [all] {
            return None;
        }
        let mut names = Vec::new();
        for key in &grouping.keys {
            names.push(self.expr(key, row)?.into());
        }
        for call in &grouping.aggregates {
            names.push(self.aggregate(call, row)?.into());
        }
        names.push("?column?".into());
        for column in &grouping.dependent {
            names.push(self.expr(column, row)?.into());
        }
        Some(names)
    }

    fn aggregate(&self, call: &AggCall, row: &[Arc<str>]) -> Option<String> {
        if !call.direct.is_empty() || !call.order.is_empty() || call.proc.proc.variadic != Oid::NONE
        {
            return None;
        }
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(self.expr(arg, row)?);
        }
        let mut list = if args.is_empty() { "*".to_owned() } else { args.join(", ") };
        if call.distinct {
            list.insert_str(0, "DISTINCT ");
        }
        let mut out = format!("{}({list})", quote_ident(call.proc.proc.name));
        if let Some(filter) = &call.filter {
            out.push_str(&format!(" FILTER (WHERE {})", self.expr(filter, row)?));
        }
        Some(out)
    }

    fn group_by(
        &self,
        out: &mut String,
        select: &Select,
        row: &[Arc<str>],
        after: &[Arc<str>],
    ) -> Option<()> {
        let Some(grouping) = &select.grouping else { return Some(()) };
        let mut keys = Vec::new();
        for key in &grouping.keys {
            keys.push(self.expr(key, row)?);
        }
        if !keys.is_empty() {
            out.push_str(&format!("\n  GROUP BY {}", keys.join(", ")));
        }
        if let Some(having) = &select.having {
            out.push_str(&format!("\n HAVING {}", self.expr(having, after)?));
        }
        Some(())
    }

    fn order_by(
        &self,
        out: &mut String,
        query: &Query,
        select: &Select,
        columns: &[Arc<str>],
    ) -> Option<()> {
        let mut keys = Vec::new();
        for key in &query.sort {
            let expr = self.expr(select.targets.get(key.column)?, columns)?;
            let direction = match (key.descending, key.nulls_first) {
                (false, false) => "",
                (false, true) => " NULLS FIRST",
                (true, true) => " DESC",
                (true, false) => " DESC NULLS LAST",
            };
            keys.push(format!("{expr}{direction}"));
        }
        if !keys.is_empty() {
            out.push_str(&format!("\n  ORDER BY {}", keys.join(", ")));
        }
        for (word, count) in [("OFFSET", &query.offset), ("LIMIT", &query.limit)] {
            if let Some(count) = count {
                out.push_str(&format!("\n {word} {}", constant_count(count)?));
            }
        }
        Some(())
    }
}

/// A number, without what makes it an eight-byte one.
fn constant_count(count: &Expr) -> Option<i64> {
    match &count.kind {
        ExprKind::Const(Datum::Int4(count)) => Some((*count).into()),
        ExprKind::Const(Datum::Int8(count)) => Some(*count),
        ExprKind::Call { args, .. } => match &args[..] {
            [Expr { kind: ExprKind::Const(Datum::Int4(count)), .. }] => Some((*count).into()),
            _ => None,
        },
        _ => None,
    }
}

/// The leaves of joins, from left to right. Of joins that hang to the left only.
fn flatten<'f>(from: &'f From, leaves: &mut Vec<&'f From>) {
    let mut first = from;
    while let From::Join { left, right, .. } = first {
        leaves.push(right);
        first = left;
    }
    leaves.push(first);
    leaves.reverse();
}

fn row_names(leaves: &[Leaf], width: usize) -> Vec<Arc<str>> {
    // With groups the width is that of the row behind them, which may be less.
    let ends = leaves.iter().map(|leaf| leaf.start + leaf.columns.len());
    let width = ends.chain([width]).max().unwrap_or(0);
    let mut names: Vec<Arc<str>> = vec!["?column?".into(); width];
    for leaf in leaves {
        for (place, (table, column)) in leaf.columns.iter().enumerate() {
            if let Some(name) = names.get_mut(leaf.start + place) {
                *name = format!("{table}.{}", quote_ident(column)).into();
            }
        }
    }
    names
}

/// The name of a column, if it is nothing else.
fn column_name(expr: &Expr, leaves: &[Leaf]) -> Option<Arc<str>> {
    let ExprKind::Column { index, depth: 0 } = &expr.kind else { return None };
    let of = |leaf: &Leaf| Some(leaf.columns.get(index.checked_sub(leaf.start)?)?.1.clone());
    leaves.iter().rev().find_map(of)
}

/// The same behind a grouping, where keys and columns that depend on them are columns.
fn grouped_name(expr: &Expr, grouping: &Grouping, leaves: &[Leaf]) -> Option<Arc<str>> {
    let ExprKind::Column { index, depth: 0 } = &expr.kind else { return None };
    let behind = grouping.keys.len() + grouping.aggregates.len() + 1;
    let own = match grouping.keys.get(*index) {
        Some(key) => key,
        None => grouping.dependent.get(index.checked_sub(behind)?)?,
    };
    column_name(own, leaves)
}
