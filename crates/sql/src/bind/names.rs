//! Names of columns and tables.

use super::{Binder, Clause, Item, Visible, fold, split_name};
use crate::catalog::{Relation, schema};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind};
use crate::types::Oid;
use sqlparser::ast;
use sqlparser::tokenizer::Span;
use std::sync::Arc;

/// What the name of a table stands for.
pub(super) enum NamedTable {
    Relation(Relation),
    System(crate::catalog::system::SystemTable),
}

impl Binder<'_> {
    /// A column by its name alone.
    pub(super) fn column_named(&mut self, ident: &ast::Ident) -> Result<Expr> {
        let name = fold(ident);
        self.refuse_in_default(ident)?;
        let found = self.find_named(&name, Some(ident));
        match found.map_err(|error| error.at(self.position(ident.span)))? {
            Some(expr) => Ok(expr),
            None => {
                if let Some(expr) = self.whole_row_named(&name) {
                    return Ok(expr);
                }
                Err(SqlError::new(
                    code::UNDEFINED_COLUMN,
                    format!("column \"{name}\" does not exist"),
                )
                .at(self.position(ident.span)))
            }
        }
    }

    /// A default has no row.
    fn refuse_in_default(&mut self, ident: &ast::Ident) -> Result<()> {
        if self.level().clause != super::Clause::Default {
            return Ok(());
        }
        let message = "cannot use column reference in DEFAULT expression";
        Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message).at(self.position(ident.span)))
    }

    /// Looks for a column from the innermost level outwards.
    pub(super) fn find_column(&mut self, name: &str) -> Result<Option<Expr>> {
        self.find_named(name, None)
    }

    fn find_named(&mut self, name: &str, ident: Option<&ast::Ident>) -> Result<Option<Expr>> {
        let innermost = self.levels.len();
        for depth in 0..innermost {
            let level = &self.levels[innermost - 1 - depth];
            if depth > 0 && level.sealed {
                continue;
            }
            let is_it = |it: &&Visible| self.is_same(&it.name, name);
            let mut matching = level.visible.iter().filter(|it| !it.system && is_it(it));
            let found = matching.next().cloned();
            if found.is_some() && matching.next().is_some() {
                return Err(SqlError::new(
                    code::AMBIGUOUS_COLUMN,
                    format!("column reference \"{name}\" is ambiguous"),
                ));
            }
            let found = found.or_else(|| {
                level.visible.iter().find(|it| it.system && *it.name == *name).cloned()
            });
            if let Some(found) = found {
                if let Some(ident) = ident {
                    self.note_column(ident, depth, &found);
                    self.note_named(&found.expr, depth, ident.span);
                }
                return Ok(Some(self.at_depth(found.expr, depth)));
            }
        }
        Ok(None)
    }

    /// The same for a column that a star stands for.
    pub(super) fn note_star_at(&mut self, expr: &Expr, span: Span) {
        if let ExprKind::Column { depth: 0, index } = expr.kind {
            self.level().named_at.push((index, span));
        }
    }

    /// Remembers where a column of a level is named, as far as grouping may find fault with it.
    fn note_named(&mut self, expr: &Expr, depth: usize, span: Span) {
        let own = self.levels.len() - 1 - depth;
        let level = &mut self.levels[own];
        let is_behind = matches!(level.clause, Clause::Targets | Clause::Having | Clause::OrderBy);
        if let ExprKind::Column { depth: 0, index } = expr.kind
            && is_behind
            && !level.in_aggregate
        {
            level.named_at.push((index, span));
        }
    }

    /// An expression over the row of a level, seen from so many levels further in.
    fn at_depth(&mut self, mut expr: Expr, depth: usize) -> Expr {
        if depth > 0 {
            let own = self.levels.len() - 1 - depth;
            self.levels[own].looked_at = true;
            shift_depth(&mut expr, depth as u32);
        }
        expr
    }

    /// The whole row of a part of FROM, by its name.
    pub(super) fn whole_row_named(&mut self, name: &str) -> Option<Expr> {
        let innermost = self.levels.len();
        for depth in 0..innermost {
            let level = &self.levels[innermost - 1 - depth];
            if depth > 0 && level.sealed {
                continue;
            }
            let is_it = |item: &&Item| !item.lock_only && *item.name == *name;
            if let Some(item) = level.items.iter().find(is_it).cloned() {
                let expr = whole_row(&item);
                return Some(self.at_depth(expr, depth));
            }
        }
        None
    }

    fn find_item(&self, schema: Option<&str>, name: &str) -> Option<(usize, &Item)> {
        let innermost = self.levels.len();
        for depth in 0..innermost {
            let level = &self.levels[innermost - 1 - depth];
            if depth > 0 && level.sealed {
                continue;
            }
            let is_it = |item: &&Item| {
                let same_schema =
                    schema.is_none_or(|schema| item.schema.as_deref() == Some(schema));
                !item.lock_only && *item.name == *name && same_schema
            };
            if let Some(item) = level.items.iter().find(is_it) {
                return Some((depth, item));
            }
        }
        None
    }

    /// `table.column`, `schema.table.column`, or a field of a column that is a row.
    pub(super) fn compound(&mut self, parts: &[ast::Ident]) -> Result<Expr> {
        let names: Vec<String> = parts.iter().map(fold).collect();
        let position = parts.first().map_or(0, |part| self.position(part.span));
        let (qualifier, rest) = match &names[..] {
            [table, column] => ((None, table), column),
            [schema, table, column] => ((Some(schema.as_str()), table), column),
            [_, schema, table, column] => ((Some(schema.as_str()), table), column),
            _ => return Err(SqlError::new(code::SYNTAX_ERROR, "improper qualified name")),
        };
        if let Some((depth, item)) = self.find_item(qualifier.0, qualifier.1) {
            let level = &self.levels[self.levels.len() - 1 - depth];
            let named = |it: &&Item| !it.lock_only && it.name == item.name;
            if qualifier.0.is_none() && level.items.iter().filter(named).count() > 1 {
                let message = format!("table reference \"{}\" is ambiguous", qualifier.1);
                return Err(SqlError::new(code::AMBIGUOUS_ALIAS, message).at(position));
            }
            let mut matching = item.columns.iter().filter(|it| self.is_same(&it.name, rest));
            let found = matching.next().cloned();
            if found.is_some() && matching.next().is_some() {
                let message = format!("column reference \"{rest}\" is ambiguous");
                return Err(SqlError::new(code::AMBIGUOUS_COLUMN, message).at(position));
            }
            return match found {
                Some(found) => {
                    if let Some(ident) = parts.last() {
                        self.note_column(ident, depth, &found);
                    }
                    self.note_named(&found.expr, depth, parts[0].span);
                    Ok(self.at_depth(found.expr, depth))
                }
                None => Err(SqlError::new(
                    code::UNDEFINED_COLUMN,
                    format!("column {}.{rest} does not exist", qualifier.1),
                )
                .at(position)),
            };
        }
        self.field_of_column(&names, qualifier.1, position)
    }

    fn field_of_column(&mut self, names: &[String], table: &str, at: u32) -> Result<Expr> {
        if let [column, field] = names
            && let Some(base) = self.find_column(column)?
        {
            return self.field(base, field);
        }
        Err(self.no_entry(table).at(at))
    }

    /// No part of FROM has this name; perhaps a table has it that was given another one there.
    fn no_entry(&self, table: &str) -> SqlError {
        let is_it = |item: &&Item| {
            let found = item.table.and_then(|oid| self.catalog.table(oid));
            found.is_some_and(|found| *found.name == *table)
        };
        let renamed = self.levels.iter().rev().flat_map(|level| &level.items).find(is_it);
        let Some(item) = renamed else {
            let message = format!("missing FROM-clause entry for table \"{table}\"");
            return SqlError::new(code::UNDEFINED_TABLE, message);
        };
        let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
        let hint = format!("Perhaps you meant to reference the table alias \"{}\".", item.name);
        SqlError::new(code::UNDEFINED_TABLE, message).hint(hint)
    }

    /// What `*` or `table.*` stands for.
    pub(super) fn star(&mut self, of: Option<&ast::ObjectName>) -> Result<Vec<StarColumn>> {
        let column = |it: &Visible, expr: Expr| StarColumn {
            name: Arc::clone(&it.name),
            expr,
            origin: it.origin,
        };
        let Some(of) = of else {
            let visible = self.level().visible.clone();
            if visible.is_empty() && self.level().items.is_empty() {
                return Err(SqlError::new(
                    code::SYNTAX_ERROR,
                    "SELECT * with no tables specified is not valid",
                ));
            }
            let shown = visible.iter().filter(|it| !it.system);
            return Ok(shown.map(|it| column(it, it.expr.clone())).collect());
        };
        let (schema, name) = split_name(of)?;
        let Some((depth, item)) = self.find_item(schema.as_deref(), &name) else {
            return Err(self.no_entry(&name));
        };
        let columns = item.columns.clone();
        let shown = columns.iter().filter(|it| !it.system);
        Ok(shown.map(|it| column(it, self.at_depth(it.expr.clone(), depth))).collect())
    }

    /// The table, view or system table of a name.
    pub(super) fn find_table(&self, name: &ast::ObjectName) -> Result<NamedTable> {
        let (schema_name, table) = split_name(name)?;
        let position = match name.0.first() {
            Some(ast::ObjectNamePart::Identifier(ident)) => self.position(ident.span),
            _ => 0,
        };
        let in_schema = match &schema_name {
            Some(name) => Some(self.schema_oid(name).map_err(|error| error.at(position))?),
            None => None,
        };
        if let Some(found) = self.catalog.find_relation(in_schema, &table, self.path)
            && let Some(relation) = self.catalog.relation_by_oid(found)
        {
            return Ok(NamedTable::Relation(relation));
        }
        let system = match in_schema {
            Some(schema) => crate::catalog::system::find(schema, &table),
            None => self.path.all().find_map(|it| crate::catalog::system::find(it, &table)),
        };
        if let Some(system) = system {
            return Ok(NamedTable::System(system));
        }
        let shown = match schema_name {
            Some(schema) => format!("{schema}.{table}"),
            None => table,
        };
        let message = format!("relation \"{shown}\" does not exist");
        Err(SqlError::new(code::UNDEFINED_TABLE, message).at(position))
    }

    fn schema_oid(&self, name: &str) -> Result<Oid> {
        if name == "pg_temp" {
            return self.path.temporary.ok_or_else(|| {
                let message = "schema \"pg_temp\" does not exist";
                SqlError::new(code::INVALID_SCHEMA_NAME, message)
            });
        }
        // As PostgreSQL has it: a table in a schema that is not there is not there.
        match self.catalog.schema(name) {
            Some(oid) => Ok(oid),
            None => Ok(Oid(u32::MAX)),
        }
    }

    /// The name of a schema.
    pub(super) fn schema_name(&self, oid: Oid) -> Arc<str> {
        if oid == schema::PG_CATALOG { "pg_catalog".into() } else { self.catalog.schema_name(oid) }
    }
}

/// A column that `*` stands for.
#[derive(Clone, Debug)]
pub(super) struct StarColumn {
    pub name: Arc<str>,
    pub expr: Expr,
    pub origin: Option<(Oid, u16)>,
}

/// The whole row of a part of FROM as a value.
fn whole_row(item: &Item) -> Expr {
    let shown = || item.columns.iter().filter(|it| !it.system);
    let place = |it: &Visible| match it.expr.kind {
        ExprKind::Column { depth: 0, index } => Some(index),
        _ => None,
    };
    // A function that returns one plain value is named like its only column.
    if item.row_type == Oid::NONE
        && let [only] = &item.columns[..]
        && only.name == item.name
    {
        return only.expr.clone();
    }
    let names: Vec<Arc<str>> = shown().map(|it| Arc::clone(&it.name)).collect();
    let ty = if item.row_type == Oid::NONE { Oid::RECORD } else { item.row_type };
    match shown().map(place).collect::<Option<Vec<usize>>>() {
        Some(columns) => {
            let types = shown().map(|it| it.expr.ty).collect();
            let kind = ExprKind::WholeRow { depth: 0, start: item.start, columns, names, types };
            Expr { kind, ty, typmod: -1 }
        }
        None => {
            let fields = shown().map(|it| it.expr.clone()).collect();
            Expr { kind: ExprKind::Row { fields, names }, ty, typmod: -1 }
        }
    }
}

/// Moves columns of the row at hand so many levels out.
pub(super) fn shift_depth(expr: &mut Expr, by: u32) {
    expr.walk(0, &mut |expr, level| {
        if let ExprKind::Column { depth, .. }
        | ExprKind::WholeRow { depth, .. }
        | ExprKind::Aggregate { depth, .. } = &mut expr.kind
            && *depth >= level
        {
            *depth += by;
        }
        true
    });
}
