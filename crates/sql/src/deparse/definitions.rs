//! Definitions of constraints, indexes, defaults and views as SQL.

use super::Layout;
use super::writer::Writer;
use crate::catalog::system::{Tree, op_class};
use crate::catalog::type_names::relation_name;
use crate::catalog::{
    Action, Column, Constraint, ConstraintKind, ForeignKey, Index, IndexKey, IndexedExpr, Object,
    Table, UserTypeKind,
};
use crate::env::Env;
use crate::error::Result;
use crate::functions::quote_ident;
use crate::ir::{Expr, ExprKind};
use crate::types::Oid;
use std::sync::Arc;

/// The names of the columns of a table, as expressions over its row name them.
fn names(table: &Table) -> Vec<Arc<str>> {
    table.columns.iter().map(|column| Arc::clone(&column.name)).collect()
}

/// An expression over a table's row; what cannot be bound any more stands as it was written.
fn over_table(env: &Env, table: &Table, layout: Layout, bound: Result<Expr>, text: &str) -> String {
    match bound {
        Ok(expr) => Writer::text(env, &names(table), layout, &expr),
        Err(_) => text.to_owned(),
    }
}

/// The default of a column, or how it is generated.
pub fn default(env: &Env, table: &Arc<Table>, column: &Column) -> String {
    let Some(default) = &column.default else { return String::new() };
    let mut binder = env.binder("");
    let bound = if default.generated {
        binder.generated_source(table, column)
    } else {
        binder.default_source(column)
    };
    over_table(env, table, Layout::Plain, bound, &default.text)
}

fn check_in(env: &Env, table: &Arc<Table>, text: &str, layout: Layout) -> String {
    over_table(env, table, layout, env.binder("").check_expr(table, text), text)
}

/// The condition of a constraint.
pub fn check(env: &Env, table: &Arc<Table>, text: &str) -> String {
    check_in(env, table, text, Layout::Plain)
}

fn domain_check_in(env: &Env, base: Oid, text: &str, layout: Layout) -> String {
    match env.binder("").domain_check(text, base) {
        Ok(expr) => Writer::text(env, &[], layout, &expr),
        Err(_) => text.to_owned(),
    }
}

/// The condition of a domain.
pub fn domain_check(env: &Env, base: Oid, text: &str) -> String {
    domain_check_in(env, base, text, Layout::Plain)
}

/// Which rows an index is of.
pub fn predicate(env: &Env, index: &Index, layout: Layout) -> Option<String> {
    let text = index.predicate.as_ref()?;
    let table = env.catalog.table(index.table)?;
    Some(check_in(env, table, text, layout))
}

/// The expression that a reference of the catalog stands for.
pub fn tree(env: &Env, tree: Tree, layout: Layout) -> Option<String> {
    match tree {
        Tree::Default(table, number) => {
            let table = env.catalog.table(table)?;
            let column = table.columns.get(usize::from(number).checked_sub(1)?)?;
            column.default.as_ref()?;
            let mut binder = env.binder("");
            let default = column.default.as_ref()?;
            let bound = if default.generated {
                binder.generated_source(table, column)
            } else {
                binder.default_source(column)
            };
            Some(over_table(env, table, layout, bound, &default.text))
        }
        Tree::Check(constraint) => check_by_oid(env, constraint, layout),
        Tree::Predicate(index) => predicate(env, env.catalog.index(index)?, layout),
        Tree::IndexExprs(index) => {
            let index = env.catalog.index(index)?;
            let table = env.catalog.table(index.table)?;
            let exprs = index.keys.iter().filter(|it| matches!(it.what, IndexedExpr::Expr(_)));
            let texts: Vec<String> =
                exprs.map(|key| key_expression(env, table, key, layout).0).collect();
            Some(texts.join(", "))
        }
    }
}

fn check_by_oid(env: &Env, oid: Oid, layout: Layout) -> Option<String> {
    env.catalog.objects().find_map(|(_, object)| match object {
        Object::Table(table) => {
            let found = table.constraints.iter().find(|it| it.oid == oid)?;
            match &found.kind {
                ConstraintKind::Check { text, .. } => Some(check_in(env, table, text, layout)),
                _ => None,
            }
        }
        Object::Type(ty) => match &ty.kind {
            UserTypeKind::Domain(domain) => {
                let (_, _, text) = domain.checks.iter().find(|(it, ..)| *it == oid)?;
                Some(domain_check_in(env, domain.base, text, layout))
            }
            _ => None,
        },
        _ => None,
    })
}

fn column_list(table: &Table, columns: &[u16]) -> String {
    let names: Vec<String> =
        columns.iter().map(|&number| quote_ident(&table.column(number).name)).collect();
    names.join(", ")
}

/// A constraint as ALTER TABLE … ADD takes it.
pub fn constraint(env: &Env, oid: Oid, layout: Layout) -> Option<String> {
    env.catalog.objects().find_map(|(_, object)| match object {
        Object::Table(table) => {
            let found = table.constraints.iter().find(|it| it.oid == oid)?;
            Some(table_constraint(env, table, found, layout))
        }
        Object::Type(_) => {
            let text = check_by_oid(env, oid, layout)?;
            let Object::Type(ty) = object else { return None };
            let UserTypeKind::Domain(domain) = &ty.kind else { return None };
            domain.checks.iter().any(|(it, ..)| *it == oid).then(|| format!("CHECK ({text})"))
        }
        _ => None,
    })
}

fn table_constraint(env: &Env, table: &Arc<Table>, it: &Constraint, layout: Layout) -> String {
    let mut out = match &it.kind {
        ConstraintKind::PrimaryKey { columns, index } => {
            format!("PRIMARY KEY ({}){}", column_list(table, columns), include(env, table, *index))
        }
        ConstraintKind::Unique { columns, index } => {
            let same = env.catalog.index(*index).is_some_and(|it| it.nulls_not_distinct);
            let nulls = if same { "NULLS NOT DISTINCT " } else { "" };
            let columns = column_list(table, columns);
            format!("UNIQUE {nulls}({columns}){}", include(env, table, *index))
        }
        ConstraintKind::Check { text, .. } => {
            format!("CHECK ({})", check_in(env, table, text, layout))
        }
        ConstraintKind::ForeignKey(key) => foreign_key(env, table, key),
    };
    if it.deferrable {
        out.push_str(" DEFERRABLE");
    }
    if it.deferred {
        out.push_str(" INITIALLY DEFERRED");
    }
    if !it.validated {
        out.push_str(" NOT VALID");
    }
    out
}

fn include(env: &Env, table: &Table, index: Oid) -> String {
    match env.catalog.index(index) {
        Some(index) if !index.include.is_empty() => {
            format!(" INCLUDE ({})", column_list(table, &index.include))
        }
        _ => String::new(),
    }
}

fn foreign_key(env: &Env, table: &Table, key: &ForeignKey) -> String {
    let name = relation_name(&env.catalog, &env.path, key.table).unwrap_or_default();
    let referenced = env
        .catalog
        .table(key.table)
        .map_or_else(String::new, |it| column_list(it, &key.referenced));
    let mut out = format!(
        "FOREIGN KEY ({}) REFERENCES {name}({referenced})",
        column_list(table, &key.columns)
    );
    if key.match_full {
        out.push_str(" MATCH FULL");
    }
    if let Some(action) = action(key.on_update) {
        out.push_str(&format!(" ON UPDATE {action}"));
    }
    if let Some(action) = action(key.on_delete) {
        out.push_str(&format!(" ON DELETE {action}"));
        if !key.set_columns.is_empty() {
            out.push_str(&format!(" ({})", column_list(table, &key.set_columns)));
        }
    }
    out
}

fn action(action: Action) -> Option<&'static str> {
    match action {
        Action::NoAction => None,
        Action::Restrict => Some("RESTRICT"),
        Action::Cascade => Some("CASCADE"),
        Action::SetNull => Some("SET NULL"),
        Action::SetDefault => Some("SET DEFAULT"),
    }
}

/// A part of an index, and whether it can stand without parentheses.
fn key_expression(env: &Env, table: &Arc<Table>, key: &IndexKey, layout: Layout) -> (String, bool) {
    let text = match &key.what {
        IndexedExpr::Column(number) => return (quote_ident(&table.column(*number).name), true),
        IndexedExpr::Expr(text) => text,
    };
    let Ok(expr) = env.binder("").index_expr(table, &key.what) else {
        return (text.to_string(), false);
    };
    let written = Writer::text(env, &names(table), layout, &expr);
    let is_call = super::simple::shape(&expr) == super::simple::Shape::Atom
        && matches!(
            expr.kind,
            ExprKind::Call { .. }
                | ExprKind::Coalesce(_)
                | ExprKind::Extreme { .. }
                | ExprKind::NullIf { .. }
        );
    (written, is_call)
}

/// One column of an index, from 1; empty if there is none.
pub fn index_column(env: &Env, index: &Index, number: usize, layout: Layout) -> String {
    let Some(table) = env.catalog.table(index.table) else { return String::new() };
    let Some(place) = number.checked_sub(1) else { return String::new() };
    match index.keys.get(place) {
        Some(key) => bare_key(env, table, key, layout),
        None => match index.include.get(place - index.keys.len()) {
            Some(&column) => quote_ident(&table.column(column).name),
            None => String::new(),
        },
    }
}

fn bare_key(env: &Env, table: &Arc<Table>, key: &IndexKey, layout: Layout) -> String {
    match key_expression(env, table, key, layout) {
        (text, true) => text,
        (text, false) => format!("({text})"),
    }
}

fn full_key(
    env: &Env,
    table: &Arc<Table>,
    index: &Index,
    key: &IndexKey,
    layout: Layout,
) -> String {
    let mut out = bare_key(env, table, key, layout);
    if let Some(collation) = key.collation.and_then(|it| env.catalog.collation_name(it)) {
        out.push_str(&format!(" COLLATE {}", quote_ident(&collation)));
    }
    let (ty, _) = env.binder("").key_type(table, &key.what);
    let usual = op_class(&env.catalog, &index.method, None, ty);
    if let Some(class) = &key.class
        && usual.is_none_or(|usual| *usual.name != **class)
    {
        out.push_str(&format!(" {}", quote_ident(class)));
    }
    out.push_str(match (key.descending, key.nulls_first) {
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
        (false, true) => " NULLS FIRST",
        (false, false) => "",
    });
    out
}

/// The statement that makes an index.
pub fn index(env: &Env, index: &Index, layout: Layout) -> String {
    let Some(table) = env.catalog.table(index.table) else { return String::new() };
    let name = match layout {
        Layout::Plain => {
            let schema = quote_ident(&env.catalog.schema_name(table.schema));
            format!("{schema}.{}", quote_ident(&table.name))
        }
        Layout::Pretty => relation_name(&env.catalog, &env.path, table.oid).unwrap_or_default(),
    };
    let keys: Vec<String> =
        index.keys.iter().map(|key| full_key(env, table, index, key, layout)).collect();
    let unique = if index.unique { "UNIQUE " } else { "" };
    let mut out = format!(
        "CREATE {unique}INDEX {} ON {name} USING {} ({})",
        quote_ident(&index.name),
        index.method,
        keys.join(", ")
    );
    out.push_str(&include(env, table, index.oid));
    if index.nulls_not_distinct {
        out.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(predicate) = predicate(env, index, layout) {
        out.push_str(&format!(" WHERE {predicate}"));
    }
    out
}
