//! What INSERT, UPDATE, DELETE and MERGE change: a table, or a view that stands for one.
//!
//! A view of one table or view without grouping and the like can be changed: its columns that are
//! columns of the table are these, and its condition is one more condition.

use super::names::NamedTable;
use super::query::Unknowns;
use super::{Binder, Clause, Item, Level, Visible, fold};
use crate::catalog::{CheckOption, Relation, Table, View};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, TableRef};
use crate::types::{Dialect, Oid};
use sqlparser::ast::{self, SetExpr, TableFactor};
use std::sync::Arc;

/// What is done to a relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Insert,
    Update,
    Delete,
    Merge,
}

impl Change {
    /// As in `cannot insert into view`.
    fn verb(self) -> &'static str {
        match self {
            Change::Insert => "insert into",
            Change::Update => "update",
            Change::Delete => "delete from",
            Change::Merge => "merge into",
        }
    }

    fn hint(self) -> String {
        let (doing, word) = match self {
            Change::Insert => ("inserting into", "INSERT"),
            Change::Update => ("updating", "UPDATE"),
            Change::Delete | Change::Merge => ("deleting from", "DELETE"),
        };
        format!(
            "To enable {doing} the view, provide an INSTEAD OF {word} trigger or an unconditional \
             ON {word} DO INSTEAD rule."
        )
    }
}

/// A table that is changed, and the views through which it is.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub table: Arc<Table>,
    change: Change,
    dialect: Dialect,
    /// The outermost first, each with its query.
    views: Vec<(Arc<View>, Arc<ast::Query>)>,
    /// The columns of the outermost view, and which columns of the table they are.
    columns: Vec<(Arc<str>, Option<u16>)>,
}

/// A target in its place in the row.
pub(super) struct Placed {
    pub reference: TableRef,
    /// The conditions of the views, the outermost first.
    filters: Vec<Option<Expr>>,
}

impl Target {
    fn name(&self) -> &Arc<str> {
        self.views.first().map_or(&self.table.name, |(view, _)| &view.name)
    }

    /// The columns in their order: their names, and which columns of the table they are.
    pub(super) fn columns(&self) -> Vec<(Arc<str>, Option<u16>)> {
        if !self.views.is_empty() {
            return self.columns.clone();
        }
        self.table.live().map(|(number, it)| (Arc::clone(&it.name), Some(number))).collect()
    }

    /// The error about a column of a view that is no column of the table.
    pub(super) fn computed(&self, name: &str) -> SqlError {
        let message = match self.change {
            Change::Insert => "cannot insert into column",
            _ => "cannot update column",
        };
        let message = format!("{message} \"{name}\" of view \"{}\"", self.name());
        SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
            .detail("View columns that are not columns of their base relation are not updatable.")
    }

    /// The same in any case of letters, in MySQL.
    fn find_folded(&self, name: &str) -> Option<u16> {
        if self.dialect != Dialect::Mysql {
            return None;
        }
        let mut live = self.table.live();
        live.find(|(_, it)| it.name.eq_ignore_ascii_case(name)).map(|(number, _)| number)
    }

    /// A column of the table by the name that it has here.
    pub(super) fn find(&self, name: &str, position: u32) -> Result<u16> {
        let found = if self.views.is_empty() {
            self.table.find(name).or_else(|| self.find_folded(name)).map(Some)
        } else {
            self.columns.iter().find(|(it, _)| **it == *name).map(|(_, number)| *number)
        };
        match found {
            Some(Some(number)) => Ok(number),
            Some(None) => Err(self.computed(name)),
            None => Err(SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", self.name()),
            )
            .at(position)),
        }
    }

    /// What rows must be that are written through views with a check option: the innermost first.
    pub(super) fn checks(&self, placed: &Placed) -> Vec<(Arc<str>, Expr)> {
        let mut checks = Vec::new();
        let mut cascaded = false;
        for ((view, _), filter) in self.views.iter().zip(&placed.filters) {
            cascaded |= view.check == Some(CheckOption::Cascaded);
            let is_checked = cascaded || view.check.is_some();
            if let Some(filter) = filter.as_ref().filter(|_| is_checked) {
                checks.push((Arc::clone(&view.name), filter.clone()));
            }
        }
        checks.reverse();
        checks
    }
}

impl Placed {
    /// The conditions of the views and another one.
    pub(super) fn filter(&self, own: Option<Expr>) -> Option<Expr> {
        let views = self.filters.iter().rev().flatten().cloned();
        views.chain(own).reduce(|left, right| super::expr::join_logic(left, right, true))
    }
}

/// Why a view cannot be changed, as far as its query says so.
fn obstacle(query: &ast::Query) -> Option<&'static str> {
    let SetExpr::Select(select) = &*query.body else {
        return Some(match &*query.body {
            SetExpr::SetOperation { .. } => {
                "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable."
            }
            _ => SINGLE,
        });
    };
    let groups = match &select.group_by {
        ast::GroupByExpr::Expressions(list, _) => !list.is_empty(),
        ast::GroupByExpr::All(_) => true,
    };
    if select.distinct.is_some() {
        Some("Views containing DISTINCT are not automatically updatable.")
    } else if groups {
        Some("Views containing GROUP BY are not automatically updatable.")
    } else if select.having.is_some() {
        Some("Views containing HAVING are not automatically updatable.")
    } else if query.with.is_some() {
        Some("Views containing WITH are not automatically updatable.")
    } else if query.limit_clause.is_some() || query.fetch.is_some() {
        Some("Views containing LIMIT or OFFSET are not automatically updatable.")
    } else {
        base(query).is_none().then_some(SINGLE)
    }
}

const SINGLE: &str =
    "Views that do not select from a single table or view are not automatically updatable.";

/// The only relation that a query reads.
fn base(query: &ast::Query) -> Option<(&ast::ObjectName, Option<&ast::TableAlias>)> {
    let SetExpr::Select(select) = &*query.body else { return None };
    match &select.from[..] {
        [
            ast::TableWithJoins {
                relation: TableFactor::Table { name, alias, args: None, sample: None, .. },
                joins,
            },
        ] if joins.is_empty() => Some((name, alias.as_ref())),
        _ => None,
    }
}

impl Binder<'_> {
    pub(super) fn change_target(
        &mut self,
        name: &ast::ObjectName,
        change: Change,
    ) -> Result<Target> {
        match self.find_table(name)? {
            NamedTable::Relation(Relation::View(view)) if change == Change::Merge => {
                let message = format!("cannot execute MERGE on relation \"{}\"", view.name);
                Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
                    .detail("This operation is not supported for views."))
            }
            NamedTable::Relation(Relation::View(view)) => self.view_target(view, change),
            _ => {
                let table = self.target_table(name)?;
                {
                    let dialect = self.style.dialect;
                    let (views, columns) = (Vec::new(), Vec::new());
                    Ok(Target { table, change, dialect, views, columns })
                }
            }
        }
    }

    fn view_target(&mut self, view: Arc<View>, change: Change) -> Result<Target> {
        let refused = |detail: &str| {
            let message = format!("cannot {} view \"{}\"", change.verb(), view.name);
            SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                .detail(detail)
                .hint(change.hint())
        };
        let query = crate::parse::query(&view.text)?;
        if let Some(detail) = obstacle(&query) {
            return Err(refused(detail));
        }
        let Some((name, _)) = base(&query) else { return Err(refused(SINGLE)) };
        let found = self.on_path_of(view.oid, |binder| binder.find_table(name))?;
        let inner = match found {
            NamedTable::System(_) => return Err(refused(SINGLE)),
            NamedTable::Relation(Relation::Sequence(_) | Relation::Index(_)) => {
                return Err(refused(SINGLE));
            }
            NamedTable::Relation(Relation::Table(it)) if it.materialized.is_some() => {
                return Err(refused(SINGLE));
            }
            _ => self.nested(|binder| {
                binder.on_path_of(view.oid, |binder| binder.change_target(name, change))
            })?,
        };
        let mut target = Target {
            dialect: self.style.dialect,
            table: inner.table,
            change,
            views: vec![(Arc::clone(&view), Arc::new(query))],
            columns: Vec::new(),
        };
        target.views.extend(inner.views);
        let (columns, _) = self.view_columns(&target, 0)?;
        target.columns = columns
            .iter()
            .filter(|it| !it.system)
            .map(|it| {
                let number = match it.expr.kind {
                    ExprKind::Column { depth: 0, index } if index < target.table.columns.len() => {
                        Some(index as u16 + 1)
                    }
                    _ => None,
                };
                (Arc::clone(&it.name), number)
            })
            .collect();
        let is_computed = target.columns.iter().all(|(_, number)| number.is_none());
        if change != Change::Delete && is_computed {
            return Err(refused(
                "Views that have no updatable columns are not automatically updatable.",
            ));
        }
        Ok(target)
    }

    /// The columns of the outermost view over the row of the table, which begins at a place, and
    /// the conditions of the views.
    fn view_columns(
        &mut self,
        target: &Target,
        start: usize,
    ) -> Result<(Vec<Visible>, Vec<Option<Expr>>)> {
        // The names in views are those of their makers: what stands around is not seen.
        let ctes = std::mem::take(&mut self.ctes);
        let source = std::mem::take(&mut self.source);
        let levels = std::mem::take(&mut self.levels);
        let bound = self.bind_views(target, start);
        self.ctes = ctes;
        self.source = source;
        self.levels = levels;
        bound
    }

    fn bind_views(
        &mut self,
        target: &Target,
        start: usize,
    ) -> Result<(Vec<Visible>, Vec<Option<Expr>>)> {
        self.levels.push(Level { width: start, ..Level::default() });
        self.table_ref(Arc::clone(&target.table), None)?;
        let width = self.level().width;
        let mut item = self.level().items.remove(0);
        let mut filters = Vec::new();
        for (view, query) in target.views.iter().rev() {
            let SetExpr::Select(select) = &*query.body else { continue };
            if let Some((_, Some(alias))) = base(query) {
                item.name = fold(&alias.name).into();
                item.schema = None;
                super::joins::rename_visible(&mut item.columns, alias)?;
            }
            self.levels.clear();
            let visible = item.columns.clone();
            let items = vec![item];
            self.levels.push(Level { width, visible, items, ..Level::default() });
            let (targets, filter) = self.on_path_of(view.oid, |binder| {
                let (_, targets) = binder.targets(&select.projection, Unknowns::Resolve)?;
                let filter = select.selection.as_ref();
                let filter = filter
                    .map(|ast| binder.in_clause(Clause::Where, |it| it.condition(ast, "WHERE")));
                Ok::<_, SqlError>((targets, filter.transpose()?))
            })?;
            filters.push(filter);
            let level = self.level();
            let detail = if !level.aggregates.is_empty() {
                "Views that return aggregate functions are not automatically updatable."
            } else if !level.windows.is_empty() {
                "Views that return window functions are not automatically updatable."
            } else if !level.sets.is_empty() {
                "Views that return set-returning functions are not automatically updatable."
            } else {
                ""
            };
            if !detail.is_empty() {
                let message = format!("cannot {} view \"{}\"", target.change.verb(), view.name);
                return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                    .detail(detail)
                    .hint(target.change.hint()));
            }
            let columns = (1..).zip(&view.columns).zip(targets);
            let columns = columns.map(|((number, column), expr)| Visible {
                name: Arc::clone(&column.name),
                expr,
                origin: Some((view.oid, number)),
                system: false,
            });
            item = Item {
                schema: Some(self.schema_name(view.schema)),
                name: Arc::clone(&view.name),
                columns: columns.collect(),
                row_type: view.row_type,
                start,
                table: None,
                lock_only: false,
            };
        }
        filters.reverse();
        Ok((item.columns, filters))
    }

    /// The target as a part of FROM.
    pub(super) fn target_ref(
        &mut self,
        target: &Target,
        alias: Option<&ast::TableAlias>,
    ) -> Result<Placed> {
        let Some((view, _)) = target.views.first() else {
            let reference = self.table_ref(Arc::clone(&target.table), alias)?;
            return Ok(Placed { reference, filters: Vec::new() });
        };
        let start = self.level().width;
        let (mut columns, filters) = self.view_columns(target, start)?;
        let name: Arc<str> = match alias {
            Some(alias) => fold(&alias.name).into(),
            None => Arc::clone(&view.name),
        };
        if let Some(alias) = alias {
            super::joins::rename_visible(&mut columns, alias)?;
        }
        let table = Arc::clone(&target.table);
        let reference = TableRef { table, alias: Arc::clone(&name), start };
        let schema = alias.is_none().then(|| self.schema_name(view.schema));
        let level = self.level();
        level.width += reference.width();
        level.visible.extend(columns.iter().cloned());
        level.items.push(Item {
            schema,
            name,
            columns,
            row_type: view.row_type,
            start,
            table: None,
            lock_only: false,
        });
        Ok(Placed { reference, filters })
    }

    /// Which columns of a view can be given values; none if the view cannot be changed at all.
    pub fn updatable(&mut self, view: Oid) -> Option<Vec<bool>> {
        let Some(Relation::View(view)) = self.catalog.relation_by_oid(view) else { return None };
        let target = self.view_target(view, Change::Update).ok()?;
        Some(target.columns.iter().map(|(_, number)| number.is_some()).collect())
    }
}
