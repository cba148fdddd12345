//! What the columns of an index are called.

use crate::catalog::{Index, IndexedExpr, Table};
use crate::parse::{expression, name_parts};
use sqlparser::ast::Expr;
use std::sync::Arc;

/// The names of the columns of an index, as pg_attribute has them.
pub(super) fn index_columns(table: &Table, index: &Index) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let fresh = |names: &[Arc<str>], wanted: &str| {
        let mut name = wanted.to_owned();
        let mut number = 1;
        while names.iter().any(|it| **it == *name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        Arc::from(name)
    };
    for key in &index.keys {
        let wanted = match &key.what {
            IndexedExpr::Column(number) => table.column(*number).name.to_string(),
            IndexedExpr::Expr(text) => function_name(text).unwrap_or_else(|| "expr".to_owned()),
        };
        let name = fresh(&names, &wanted);
        names.push(name);
    }
    for number in &index.include {
        let name = fresh(&names, &table.column(*number).name);
        names.push(name);
    }
    names
}

/// A call of a function names the column of an index that is over it.
fn function_name(text: &str) -> Option<String> {
    let mut expr = expression(text).ok()?;
    while let Expr::Nested(inner) = expr {
        expr = *inner;
    }
    match expr {
        Expr::Function(call) => name_parts(&call.name).ok()?.pop(),
        _ => None,
    }
}
