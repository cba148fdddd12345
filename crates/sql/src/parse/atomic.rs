//! Whether an UPDATE writes a value that its client has computed from what a SELECT returned, so
//! that it could compute it itself.

use super::{fold, statements};
use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, Expr, ObjectName, Query, Select, SelectItem, SetExpr,
    Statement, TableFactor, TableWithJoins, Value,
};
use std::collections::BTreeSet;

/// A statement with its parameters, `$1` first.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'s> {
    /// Its text.
    pub text: &'s str,
    /// Its parameters.
    pub params: &'s [Option<Box<str>>],
}

/// A column that is read from a row and then written to the same row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadAndWritten {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// Which column of the result it is, if that is clear.
    pub place: Option<usize>,
    /// What is written; `None` is NULL.
    pub written: Option<String>,
}

/// The columns that a SELECT reads of a row, and an UPDATE of the same row sets to values that do
/// not depend on what is in the row then.
pub fn read_and_written(read: Sent<'_>, update: Sent<'_>) -> Vec<ReadAndWritten> {
    found(read, update).unwrap_or_default()
}

fn found(read: Sent<'_>, update: Sent<'_>) -> Option<Vec<ReadAndWritten>> {
    let select = select(read.text)?;
    let [from] = &select.from[..] else { return None };
    let table = table(from)?;
    let Statement::Update(change) = one(update.text)? else { return None };
    let has_only_one = change.from.is_none() && self::table(&change.table)? == table;
    let key = keys(change.selection.as_ref()?, update)?;
    if !has_only_one || key.is_empty() || !key.is_subset(&equalities(&select, read)?) {
        return None;
    }
    let columns = columns(&select);
    let mut all = Vec::new();
    for assignment in &change.assignments {
        let AssignmentTarget::ColumnName(name) = &assignment.target else { continue };
        let (Some(column), Some(written)) = (last(name), value(&assignment.value, update)) else {
            continue;
        };
        let place = columns.as_ref().map(|all| all.iter().position(|it| *it == column));
        // A column that was not asked for was not computed from.
        if place == Some(None) {
            continue;
        }
        let table = table.clone();
        all.push(ReadAndWritten { table, column, place: place.flatten(), written });
    }
    Some(all)
}

fn one(text: &str) -> Option<Statement> {
    let mut all = statements(text).ok()?;
    let last = all.pop()?;
    (all.is_empty() && last.utility.is_none()).then_some(last.statement)
}

/// A SELECT that is nothing else.
fn select(text: &str) -> Option<Select> {
    let Statement::Query(query) = one(text)? else { return None };
    let Query { body, .. } = *query;
    match *body {
        SetExpr::Select(select) => Some(*select),
        _ => None,
    }
}

fn table(from: &TableWithJoins) -> Option<String> {
    match &from.relation {
        TableFactor::Table { name, .. } if from.joins.is_empty() => last(name),
        _ => None,
    }
}

/// The last part of a name.
fn last(name: &ObjectName) -> Option<String> {
    Some(fold(name.0.last()?.as_ident()?))
}

/// The columns of a result by their names; `None` if it has all.
fn columns(select: &Select) -> Option<Vec<String>> {
    let name = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
            Some(column(expr).unwrap_or_default())
        }
        _ => None,
    };
    select.projection.iter().map(name).collect()
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(fold(name)),
        Expr::CompoundIdentifier(names) => names.last().map(fold),
        Expr::Nested(inner) => column(inner),
        _ => None,
    }
}

/// A column that is to be equal to a value.
type Equality = (String, Option<String>);

/// What a condition asks for, if that is nothing but equalities.
fn keys(condition: &Expr, sent: Sent<'_>) -> Option<BTreeSet<Equality>> {
    let (found, is_all) = conjunction(condition, sent);
    is_all.then_some(found)
}

/// The equalities among what a query asks for.
fn equalities(select: &Select, sent: Sent<'_>) -> Option<BTreeSet<Equality>> {
    Some(conjunction(select.selection.as_ref()?, sent).0)
}

/// The equalities of a condition, and whether there is nothing else in it.
fn conjunction(condition: &Expr, sent: Sent<'_>) -> (BTreeSet<Equality>, bool) {
    let (mut open, mut found, mut is_all) = (vec![condition], BTreeSet::new(), true);
    while let Some(next) = open.pop() {
        match next {
            Expr::Nested(inner) => open.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                open.extend([&**left, &**right]);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                match (column(left), value(right, sent)) {
                    (Some(column), Some(value)) => {
                        found.insert((column, value));
                    }
                    _ => is_all = false,
                }
            }
            _ => is_all = false,
        }
    }
    (found, is_all)
}

/// What a constant or a parameter stands for; `None` if it is neither.
fn value(expr: &Expr, sent: Sent<'_>) -> Option<Option<String>> {
    match expr {
        Expr::Nested(inner) => value(inner, sent),
        Expr::Cast { expr, .. } => value(expr, sent),
        Expr::UnaryOp { op: sqlparser::ast::UnaryOperator::Minus, expr } => {
            Some(value(expr, sent)?.map(|number| format!("-{number}")))
        }
        Expr::Value(constant) => match &constant.value {
            Value::Null => Some(None),
            Value::Boolean(it) => Some(Some(if *it { "t" } else { "f" }.to_owned())),
            Value::Number(number, _) => Some(Some(number.clone())),
            Value::Placeholder(name) => {
                let number: usize = name.strip_prefix('$')?.parse().ok()?;
                let given = sent.params.get(number.checked_sub(1)?)?;
                Some(given.as_ref().map(ToString::to_string))
            }
            other => Some(Some(other.clone().into_string()?)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(read: &str, update: &str) -> Vec<(String, Option<usize>, Option<String>)> {
        let params = [Some("7".into()), Some("0".into())];
        let sent = |text| Sent { text, params: &params };
        let all = read_and_written(sent(read), sent(update));
        all.into_iter().map(|it| (it.column, it.place, it.written)).collect()
    }

    #[test]
    fn a_value_that_was_computed_by_the_client_is_seen() {
        let stock = |place| vec![("stock".to_owned(), place, Some("0".to_owned()))];
        let read = "SELECT \"item\".\"id\", \"item\".\"stock\" FROM \"item\" \
                    WHERE \"item\".\"id\" = 7 LIMIT 21";
        assert_eq!(told(read, "UPDATE item SET stock = 0 WHERE id = 7"), stock(Some(1)));
        let read = "SELECT * FROM item WHERE id = $1 FOR SHARE";
        assert_eq!(told(read, "UPDATE item SET stock = $2 WHERE (id = $1)"), stock(None));
        assert_eq!(told(read, "update item i set stock = 1 - 1 where id = 7"), []);
    }

    #[test]
    fn other_rows_and_other_conditions_are_no_such_update() {
        let read = "SELECT stock FROM item WHERE id = 7";
        for update in [
            "UPDATE item SET stock = 0 WHERE id = 8",
            "UPDATE item SET stock = 0 WHERE id = 7 AND version = 3",
            "UPDATE item SET stock = stock - 1 WHERE id = 7",
            "UPDATE item SET name = 'x' WHERE id = 7",
            "UPDATE thing SET stock = 0 WHERE id = 7",
            "UPDATE item SET stock = 0",
            "DELETE FROM item WHERE id = 7",
            "no statement at all",
        ] {
            assert_eq!(told(read, update), [], "{update}");
        }
        assert_eq!(told("SELECT 1", "UPDATE item SET stock = 0 WHERE id = 7"), []);
        assert_eq!(told("no statement", "UPDATE item SET stock = 0 WHERE id = 7"), []);
    }
}
