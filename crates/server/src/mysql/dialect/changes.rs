//! INSERT, REPLACE, UPDATE and DELETE of MySQL as those of PostgreSQL. The parts of the statement
//! have been translated already.

use super::super::error::MysqlError;
use super::build::{both, call, cast, excluded, target};
use super::comments;
use super::known::Known;
use super::names::parts;
use seriatim_sql::catalog::Table;
use sqlparser::ast::{
    Assignment, AssignmentTarget, DataType, Delete, DoUpdate, Expr, FromTable, Insert, Join,
    JoinConstraint, JoinOperator, ObjectName, OnConflict, OnConflictAction, OnInsert, Query,
    SetExpr, Statement, TableFactor, TableObject, TableWithJoins, TimezoneInfo, Update,
    UpdateTableFromKind, Values,
};
use std::sync::Arc;

/// Translates the statement itself.
pub(super) fn change(statement: &mut Statement, known: &Known<'_>) -> Result<(), MysqlError> {
    match statement {
        Statement::Insert(insert) => inserted(insert, known),
        Statement::Update(update) => updated(update, known),
        Statement::Delete(delete) => deleted(delete),
        _ => Ok(()),
    }
}

/// A table of users by its name.
pub(super) fn find_table(name: &ObjectName, known: &Known<'_>) -> Option<Arc<Table>> {
    let (schema, table) = parts(name);
    let schema = schema.or_else(|| known.selected.map(str::to_owned))?;
    known.table(&schema, &table)
}

fn inserted(insert: &mut Insert, known: &Known<'_>) -> Result<(), MysqlError> {
    // The binder has its own use for it.
    insert.priority = None;
    insert.optimizer_hints.clear();
    insert.into = true;
    if insert.insert_alias.is_some() || insert.partitioned.is_some() {
        return Err(MysqlError::unsupported("an alias or PARTITION in INSERT"));
    }
    for name in &mut insert.columns {
        *name = last_part(name);
    }
    let assignments = std::mem::take(&mut insert.assignments);
    if !assignments.is_empty() {
        let mut row = Vec::new();
        for Assignment { target, value } in assignments {
            let AssignmentTarget::ColumnName(name) = target else {
                return Err(MysqlError::unsupported("a row in SET"));
            };
            insert.columns.push(last_part(&name));
            row.push(value);
        }
        insert.source = Some(Box::new(values(vec![row])));
    }
    if let Some(query) = &insert.source
        && let SetExpr::Values(Values { rows, .. }) = query.body.as_ref()
        && rows.iter().all(|row| row.content.is_empty())
    {
        // Rows of defaults: one column says so for all.
        let table = target_table(insert, known)?;
        let first = table.live().next().map(|(_, column)| column.name.to_string());
        let defaults = || vec![Expr::Identifier(sqlparser::ast::Ident::new("default"))];
        let rows = rows.iter().map(|_| defaults()).collect();
        insert.columns = first.iter().map(|name| target(name)).collect();
        insert.source = Some(Box::new(values(rows)));
    }
    let on = insert.on.take();
    insert.on = match (on, insert.replace_into, insert.ignore) {
        (None, true, _) => Some(conflict(replaced(insert, known)?)),
        (None, false, true) => Some(OnInsert::OnConflict(OnConflict {
            conflict_target: None,
            action: OnConflictAction::DoNothing,
        })),
        (Some(OnInsert::DuplicateKeyUpdate(set)), ..) => {
            Some(conflict(set.into_iter().map(unqualified).collect()))
        }
        (other, ..) => other,
    };
    (insert.replace_into, insert.ignore) = (false, false);
    Ok(())
}

fn conflict(assignments: Vec<Assignment>) -> OnInsert {
    let action = OnConflictAction::DoUpdate(DoUpdate { assignments, selection: None });
    OnInsert::OnConflict(OnConflict { conflict_target: None, action })
}

/// The table that rows come to.
fn target_table(insert: &Insert, known: &Known<'_>) -> Result<Arc<Table>, MysqlError> {
    let TableObject::TableName(name) = &insert.table else {
        return Err(MysqlError::unsupported("INSERT into this"));
    };
    find_table(name, known).ok_or_else(|| {
        let message = format!("Table '{}.{}' doesn't exist", known.database(), parts(name).1);
        MysqlError::new(1146, "42S02", message)
    })
}

/// REPLACE: every column is what it would be in a new row.
fn replaced(insert: &Insert, known: &Known<'_>) -> Result<Vec<Assignment>, MysqlError> {
    let table = target_table(insert, known)?;
    let set = |name: &str| Assignment {
        target: AssignmentTarget::ColumnName(target(name)),
        value: excluded(name),
    };
    Ok(table.live().map(|(_, column)| set(&column.name)).collect())
}

fn values(rows: Vec<Vec<Expr>>) -> Query {
    super::plain_query(SetExpr::Values(Values {
        explicit_row: false,
        value_keyword: false,
        rows: rows.into_iter().map(super::information::parens).collect(),
    }))
}

fn last_part(name: &ObjectName) -> ObjectName {
    target(&parts(name).1)
}

fn unqualified(assignment: Assignment) -> Assignment {
    match assignment.target {
        AssignmentTarget::ColumnName(name) => {
            let target = AssignmentTarget::ColumnName(last_part(&name));
            Assignment { target, value: assignment.value }
        }
        other => Assignment { target: other, value: assignment.value },
    }
}

/// Inner joins as a list of tables and a condition.
fn flattened(joins: Vec<Join>) -> Result<(Vec<TableWithJoins>, Option<Expr>), MysqlError> {
    let (mut tables, mut condition) = (Vec::new(), None);
    for join in joins {
        let on = match join.join_operator {
            JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::CrossJoin(on) => on,
            _ => return Err(MysqlError::unsupported("an outer join in UPDATE or DELETE")),
        };
        condition = match on {
            JoinConstraint::On(expr) => both(condition, Some(expr)),
            JoinConstraint::None => condition,
            _ => return Err(MysqlError::unsupported("USING in UPDATE or DELETE")),
        };
        tables.push(TableWithJoins { relation: join.relation, joins: Vec::new() });
    }
    Ok((tables, condition))
}

fn updated(update: &mut Update, known: &Known<'_>) -> Result<(), MysqlError> {
    let is_joined = !update.table.joins.is_empty();
    if is_joined && (!update.order_by.is_empty() || update.limit.is_some()) {
        return Err(MysqlError::unsupported("ORDER BY or LIMIT in UPDATE of several tables"));
    }
    update.optimizer_hints.clear();
    let (mut tables, condition) = flattened(std::mem::take(&mut update.table.joins))?;
    // The table of the first assignment is the one that changes.
    let owner = update.assignments.first().and_then(|it| match &it.target {
        AssignmentTarget::ColumnName(name) => parts(name).0,
        AssignmentTarget::Tuple(_) => None,
    });
    if let Some(owner) = owner
        && !is_called(&update.table.relation, &owner)
        && let Some(place) = tables.iter().position(|it| is_called(&it.relation, &owner))
    {
        std::mem::swap(&mut update.table.relation, &mut tables[place].relation);
    }
    if !tables.is_empty() {
        update.from = Some(UpdateTableFromKind::AfterSet(tables));
        update.selection = both(condition, update.selection.take());
    }
    let set = std::mem::take(&mut update.assignments);
    update.assignments = set.into_iter().map(unqualified).collect();
    if let TableFactor::Table { name, .. } = &update.table.relation
        && let Some(table) = find_table(name, known)
    {
        touched(update, &table);
    }
    Ok(())
}

/// Columns that are set to the time of each update.
fn touched(update: &mut Update, table: &Table) {
    for (_, it) in table.live().filter(|(_, it)| comments::is_on_update(it)) {
        let is_set = update.assignments.iter().any(|assignment| match &assignment.target {
            AssignmentTarget::ColumnName(name) => parts(name).1.eq_ignore_ascii_case(&it.name),
            AssignmentTarget::Tuple(_) => false,
        });
        if !is_set {
            let now = call("statement_timestamp", Vec::new());
            let now = cast(now, DataType::Timestamp(Some(6), TimezoneInfo::None));
            let value = call("date_trunc", vec![super::build::text("second"), now]);
            let target = AssignmentTarget::ColumnName(target(&it.name));
            update.assignments.push(Assignment { target, value });
        }
    }
}

fn is_called(factor: &TableFactor, name: &str) -> bool {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } => alias.name.value == name,
        TableFactor::Table { name: table, alias: None, .. } => parts(table).1 == name,
        _ => false,
    }
}

fn deleted(delete: &mut Delete) -> Result<(), MysqlError> {
    delete.optimizer_hints.clear();
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &mut delete.from;
    let named = std::mem::take(&mut delete.tables);
    if named.is_empty() && from.iter().all(|it| it.joins.is_empty()) && delete.using.is_none() {
        return Ok(());
    }
    if !delete.order_by.is_empty() || delete.limit.is_some() {
        return Err(MysqlError::unsupported("ORDER BY or LIMIT in DELETE from several tables"));
    }
    // DELETE a FROM a JOIN b …, and DELETE FROM a USING a JOIN b ….
    let (mut sources, target_names) = match delete.using.take() {
        Some(using) => {
            let names = from.iter().filter_map(|it| match &it.relation {
                TableFactor::Table { name, .. } => Some(parts(name).1),
                _ => None,
            });
            (using, names.collect::<Vec<String>>())
        }
        None => (std::mem::take(from), named.iter().map(|name| parts(name).1).collect()),
    };
    let [wanted] = &target_names[..] else {
        return Err(MysqlError::unsupported("DELETE from several tables"));
    };
    let (mut tables, mut condition) = (Vec::new(), None);
    for source in &mut sources {
        let (more, on) = flattened(std::mem::take(&mut source.joins))?;
        tables.push(source.clone());
        tables.extend(more);
        condition = both(condition, on);
    }
    let place = tables.iter().position(|it| is_called(&it.relation, wanted));
    let Some(place) = place else {
        let message = format!("Unknown table '{wanted}' in MULTI DELETE");
        return Err(MysqlError::new(1109, "42S02", message));
    };
    let main = tables.remove(place);
    delete.from = FromTable::WithFromKeyword(vec![main]);
    delete.using = (!tables.is_empty()).then_some(tables);
    delete.selection = both(condition, delete.selection.take());
    Ok(())
}
