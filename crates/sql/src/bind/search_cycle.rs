//! SEARCH and CYCLE of a recursive query, which are written out: as in PostgreSQL, a row carries
//! the rows that led to it, or its depth, and a row that was met on the way ends it there.
//!
//! `t AS (start UNION step)` becomes `inner AS (start with more columns UNION step with more
//! columns)` and `t AS (SELECT … FROM inner)`; the step reads `inner` as `t`.

use super::fold;
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use crate::parse::{Cycle, Search, SearchCycle};
use sqlparser::ast::{self, SelectItem, SetExpr, TableFactor};

/// The two queries that a query of WITH becomes: the recursive one and the one that shows it.
pub(super) struct Written {
    pub inner_name: String,
    pub inner_columns: Vec<String>,
    pub inner: ast::Query,
    pub shown_columns: Vec<String>,
    pub shown: ast::Query,
}

/// Writes it out; `columns` are those of the query itself.
pub(super) fn write_out(
    name: &str,
    columns: &[String],
    query: &ast::Query,
    clauses: &SearchCycle,
) -> Result<Written> {
    check_names(columns, clauses)?;
    let mut inner = query.clone();
    let SetExpr::SetOperation { left, right, .. } = &mut *inner.body else {
        return Err(needs_select());
    };
    let inner_name = format!("{name}{}inner", crate::parse::MARK);
    let carried = carried(clauses);
    let reader = read_inner(right, name, &inner_name)?;
    let SetExpr::Select(step) = &mut **right else { return Err(needs_select()) };
    for column in &carried {
        step.projection.push(item(&format!("{}.{}", quoted(&reader), quoted(column)))?);
    }
    if let Some(cycle) = &clauses.cycle {
        let open = format!("{}.{} <> {}", quoted(&reader), quoted(&cycle.mark), cycle.value);
        let open = crate::parse::expression(&open)?;
        step.selection = Some(match step.selection.take() {
            None => open,
            Some(before) => ast::Expr::BinaryOp {
                left: Box::new(ast::Expr::Nested(Box::new(before))),
                op: ast::BinaryOperator::And,
                right: Box::new(open),
            },
        });
    }
    let all: Vec<String> = columns.iter().cloned().chain(carried.iter().cloned()).collect();
    **left = around(left, columns, columns, &started(clauses))?;
    **right = around(right, &all, columns, &stepped(clauses))?;
    let mut shown_columns = columns.to_vec();
    shown_columns.extend(clauses.search.iter().map(|it| it.set.clone()));
    shown_columns.extend(clauses.cycle.iter().flat_map(|it| [it.mark.clone(), it.path.clone()]));
    let list: Vec<String> = shown_columns.iter().map(|it| quoted(it)).collect();
    let shown =
        crate::parse::query(&format!("SELECT {} FROM {}", list.join(", "), quoted(&inner_name)))?;
    Ok(Written { inner_name, inner_columns: all, inner, shown_columns, shown })
}

fn needs_select() -> SqlError {
    SqlError::new(
        code::FEATURE_NOT_SUPPORTED,
        "with a SEARCH or CYCLE clause, both sides of the UNION must be a SELECT",
    )
}

/// Always in quotes, because names of this module have characters of their own.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The depth of a row, for SEARCH BREADTH FIRST.
fn depth() -> String {
    format!("{}depth", crate::parse::MARK)
}

/// The columns that a row carries beside those of the query.
fn carried(clauses: &SearchCycle) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(search) = &clauses.search {
        names.push(search.set.clone());
        names.extend(search.breadth.then(depth));
    }
    if let Some(cycle) = &clauses.cycle {
        names.extend([cycle.mark.clone(), cycle.path.clone()]);
    }
    names
}

fn row(columns: &[String]) -> String {
    let list: Vec<String> = columns.iter().map(|it| quoted(it)).collect();
    format!("ROW({})", list.join(", "))
}

/// What the carried columns are in the beginning.
fn started(clauses: &SearchCycle) -> Vec<String> {
    let mut exprs = Vec::new();
    match &clauses.search {
        Some(Search { breadth: true, by, .. }) => {
            let list: Vec<String> = by.iter().map(|it| quoted(it)).collect();
            exprs.extend([format!("ROW(0::int8, {})", list.join(", ")), "0::int8".to_owned()]);
        }
        Some(search) => exprs.push(format!("ARRAY[{}]", row(&search.by))),
        None => {}
    }
    if let Some(cycle) = &clauses.cycle {
        exprs.extend([cycle.default.clone(), format!("ARRAY[{}]", row(&cycle.columns))]);
    }
    exprs
}

/// What they are behind another row.
fn stepped(clauses: &SearchCycle) -> Vec<String> {
    let mut exprs = Vec::new();
    match &clauses.search {
        Some(Search { breadth: true, by, .. }) => {
            let list: Vec<String> = by.iter().map(|it| quoted(it)).collect();
            let next = format!("({} + 1)", quoted(&depth()));
            exprs.extend([format!("ROW({next}, {})", list.join(", ")), next]);
        }
        Some(search) => exprs.push(format!("{} || {}", quoted(&search.set), row(&search.by))),
        None => {}
    }
    if let Some(Cycle { columns, value, default, path, .. }) = &clauses.cycle {
        let (row, path) = (row(columns), quoted(path));
        exprs.push(format!("CASE WHEN {row} = ANY ({path}) THEN {value} ELSE {default} END"));
        exprs.push(format!("{path} || {row}"));
    }
    exprs
}

/// `SELECT shown, exprs FROM (body) AS a (columns)`.
fn around(
    body: &SetExpr,
    columns: &[String],
    shown: &[String],
    exprs: &[String],
) -> Result<SetExpr> {
    let list = |names: &[String]| names.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    let text = format!(
        "SELECT {}, {} FROM (SELECT) AS {} ({})",
        list(shown),
        exprs.join(", "),
        quote_ident("rows"),
        list(columns)
    );
    let mut query = crate::parse::query(&text)?;
    if let SetExpr::Select(select) = &mut *query.body
        && let Some(table) = select.from.first_mut()
        && let TableFactor::Derived { subquery, .. } = &mut table.relation
    {
        *subquery.body = body.clone();
    }
    Ok(*query.body)
}

fn item(text: &str) -> Result<SelectItem> {
    Ok(SelectItem::UnnamedExpr(crate::parse::expression(text)?))
}

/// Lets the step read the inner query; what it is called there.
fn read_inner(step: &mut SetExpr, name: &str, inner: &str) -> Result<String> {
    let SetExpr::Select(select) = step else { return Err(needs_select()) };
    let is_all =
        |it: &SelectItem| matches!(it, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    if select.projection.iter().any(is_all) {
        return Err(SqlError::unsupported("* in a recursive term with SEARCH or CYCLE"));
    }
    for table in &mut select.from {
        let joined = table.joins.iter_mut().map(|join| &mut join.relation);
        for factor in std::iter::once(&mut table.relation).chain(joined) {
            let TableFactor::Table { name: own, alias, .. } = factor else { continue };
            let [ast::ObjectNamePart::Identifier(ident)] = &mut own.0[..] else { continue };
            if fold(ident) != name {
                continue;
            }
            let called = alias.as_ref().map_or_else(|| name.to_owned(), |it| fold(&it.name));
            if alias.is_none() {
                *alias = Some(ast::TableAlias {
                    explicit: true,
                    name: ast::Ident::with_quote('"', name),
                    columns: Vec::new(),
                    at: None,
                });
            }
            *ident = ast::Ident::with_quote('"', inner);
            return Ok(called);
        }
    }
    Err(SqlError::new(
        code::FEATURE_NOT_SUPPORTED,
        format!(
            "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" \
                 must be at the top level of its right-hand SELECT"
        ),
    ))
}

/// Columns that are named must be there, and names that are given must not.
fn check_names(columns: &[String], clauses: &SearchCycle) -> Result<()> {
    let refused = |message: String| Err(SqlError::new(code::SYNTAX_ERROR, message));
    let checks = [
        clauses.search.as_ref().map(|it| ("search", &it.by)),
        clauses.cycle.as_ref().map(|it| ("cycle", &it.columns)),
    ];
    for (kind, named) in checks.into_iter().flatten() {
        for (place, name) in named.iter().enumerate() {
            if !columns.contains(name) {
                return refused(format!("{kind} column \"{name}\" not in WITH query column list"));
            }
            if named[..place].contains(name) {
                let message = format!("{kind} column \"{name}\" specified more than once");
                return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
            }
        }
    }
    let given = [
        clauses.search.as_ref().map(|it| ("search sequence column", &it.set)),
        clauses.cycle.as_ref().map(|it| ("cycle mark column", &it.mark)),
        clauses.cycle.as_ref().map(|it| ("cycle path column", &it.path)),
    ];
    for (kind, name) in given.into_iter().flatten() {
        if columns.contains(name) {
            let message = format!("{kind} name \"{name}\" already used in WITH query column list");
            return refused(message);
        }
    }
    match &clauses.cycle {
        Some(cycle) if cycle.mark == cycle.path => {
            refused("cycle mark column name and cycle path column name are the same".to_owned())
        }
        _ => Ok(()),
    }
}
