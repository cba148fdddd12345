//! information_schema: constraints of tables and what they are about.

use super::information::{database, number, schema_of, tables};
use super::maker::{Maker, maybe, text, yes};
use crate::catalog::{
    Action, Constraint, ConstraintKind, ForeignKey, IndexedExpr, Object, Table, UserTypeKind,
};
use crate::deparse;
use crate::env::Env;
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// Constraints of tables; that a column is not null is one, too.
pub(super) fn table_constraints(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        let mut add = |name: &str, kind: &str, deferrable: bool, deferred: bool, nulls: Datum| {
            maker.add([
                ("constraint_catalog", database(env)),
                ("constraint_schema", schema_of(env, table.schema)),
                ("constraint_name", text(name)),
                ("table_catalog", database(env)),
                ("table_schema", schema_of(env, table.schema)),
                ("table_name", text(&table.name)),
                ("constraint_type", text(kind)),
                ("is_deferrable", yes(deferrable)),
                ("initially_deferred", yes(deferred)),
                ("enforced", yes(true)),
                ("nulls_distinct", nulls),
            ]);
        };
        for it in &table.constraints {
            let (kind, nulls) = match &it.kind {
                ConstraintKind::PrimaryKey { .. } => ("PRIMARY KEY", Datum::Null),
                ConstraintKind::Unique { index, .. } => {
                    let same = env.catalog.index(*index).is_some_and(|it| it.nulls_not_distinct);
                    ("UNIQUE", yes(!same))
                }
                ConstraintKind::Check { .. } => ("CHECK", Datum::Null),
                ConstraintKind::ForeignKey(_) => ("FOREIGN KEY", Datum::Null),
            };
            add(&it.name, kind, it.deferrable, it.deferred, nulls);
        }
        for (place, _) in table.live().filter(|(_, column)| column.not_null) {
            add(&not_null_name(table, place), "CHECK", false, false, Datum::Null);
        }
    }
}

/// The name that the standard's views give to `NOT NULL`.
fn not_null_name(table: &Table, column: u16) -> String {
    format!("{}_{}_{column}_not_null", table.schema.0, table.oid.0)
}

/// Conditions of constraints.
pub(super) fn check_constraints(env: &Env, maker: &mut Maker) {
    let mut add = |schema: Oid, name: &str, clause: String| {
        maker.add([
            ("constraint_catalog", database(env)),
            ("constraint_schema", schema_of(env, schema)),
            ("constraint_name", text(name)),
            ("check_clause", Datum::text(clause)),
        ]);
    };
    for table in tables(env) {
        for it in &table.constraints {
            if let ConstraintKind::Check { text, .. } = &it.kind {
                add(table.schema, &it.name, format!("({})", deparse::check(env, table, text)));
            }
        }
        for (place, column) in table.live().filter(|(_, column)| column.not_null) {
            let clause = format!("{} IS NOT NULL", column.name);
            add(table.schema, &not_null_name(table, place), clause);
        }
    }
    for (_, object) in env.catalog.objects() {
        let Object::Type(ty) = object else { continue };
        let UserTypeKind::Domain(domain) = &ty.kind else { continue };
        for (_, name, check) in &domain.checks {
            let clause = deparse::domain_check(env, domain.base, check);
            add(ty.schema, name, format!("({clause})"));
        }
    }
}

/// The columns of a constraint that is a key.
fn key_columns(constraint: &Constraint) -> Option<(&[u16], Option<&ForeignKey>)> {
    match &constraint.kind {
        ConstraintKind::PrimaryKey { columns, .. } | ConstraintKind::Unique { columns, .. } => {
            Some((columns, None))
        }
        ConstraintKind::ForeignKey(key) => Some((&key.columns, Some(key))),
        ConstraintKind::Check { .. } => None,
    }
}

/// Columns of keys.
pub(super) fn key_column_usage(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for constraint in &table.constraints {
            let Some((columns, key)) = key_columns(constraint) else { continue };
            for (place, &column) in columns.iter().enumerate() {
                let in_unique = key.and_then(|key| unique_place(env, key, place));
                maker.add([
                    ("constraint_catalog", database(env)),
                    ("constraint_schema", schema_of(env, table.schema)),
                    ("constraint_name", text(&constraint.name)),
                    ("table_catalog", database(env)),
                    ("table_schema", schema_of(env, table.schema)),
                    ("table_name", text(&table.name)),
                    ("column_name", text(&table.column(column).name)),
                    ("ordinal_position", Datum::Int4(place as i32 + 1)),
                    ("position_in_unique_constraint", number(in_unique)),
                ]);
            }
        }
    }
}

/// The place of a column in the key that a foreign key refers to.
fn unique_place(env: &Env, key: &ForeignKey, place: usize) -> Option<i32> {
    let index = env.catalog.index(key.index)?;
    let wanted = *key.referenced.get(place)?;
    let is_it = |what: &IndexedExpr| matches!(what, IndexedExpr::Column(it) if *it == wanted);
    index.keys.iter().position(|it| is_it(&it.what)).map(|place| place as i32 + 1)
}

/// The columns that a constraint is about: for a foreign key those that it refers to.
fn used<'t>(
    env: &'t Env,
    table: &'t Arc<Table>,
    constraint: &'t Constraint,
) -> Option<(&'t Arc<Table>, &'t [u16])> {
    Some(match &constraint.kind {
        ConstraintKind::PrimaryKey { columns, .. }
        | ConstraintKind::Unique { columns, .. }
        | ConstraintKind::Check { columns, .. } => (table, columns),
        ConstraintKind::ForeignKey(key) => (env.catalog.table(key.table)?, &key.referenced),
    })
}

/// Columns that constraints use.
pub(super) fn constraint_column_usage(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for constraint in &table.constraints {
            let Some((of, columns)) = used(env, table, constraint) else { continue };
            for &column in columns {
                maker.add([
                    ("table_catalog", database(env)),
                    ("table_schema", schema_of(env, of.schema)),
                    ("table_name", text(&of.name)),
                    ("column_name", text(&of.column(column).name)),
                    ("constraint_catalog", database(env)),
                    ("constraint_schema", schema_of(env, table.schema)),
                    ("constraint_name", text(&constraint.name)),
                ]);
            }
        }
    }
}

/// Tables that keys are of or refer to.
pub(super) fn constraint_table_usage(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for constraint in &table.constraints {
            if matches!(constraint.kind, ConstraintKind::Check { .. }) {
                continue;
            }
            let Some((of, _)) = used(env, table, constraint) else { continue };
            maker.add([
                ("table_catalog", database(env)),
                ("table_schema", schema_of(env, of.schema)),
                ("table_name", text(&of.name)),
                ("constraint_catalog", database(env)),
                ("constraint_schema", schema_of(env, table.schema)),
                ("constraint_name", text(&constraint.name)),
            ]);
        }
    }
}

fn rule(action: Action) -> &'static str {
    match action {
        Action::NoAction => "NO ACTION",
        Action::Restrict => "RESTRICT",
        Action::Cascade => "CASCADE",
        Action::SetNull => "SET NULL",
        Action::SetDefault => "SET DEFAULT",
    }
}

/// Foreign keys.
pub(super) fn referential_constraints(env: &Env, maker: &mut Maker) {
    for table in tables(env) {
        for constraint in &table.constraints {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            let unique = env.catalog.table(key.table).and_then(|other| {
                let mut all = other.constraints.iter();
                all.find(|it| match it.kind {
                    ConstraintKind::PrimaryKey { index, .. }
                    | ConstraintKind::Unique { index, .. } => index == key.index,
                    _ => false,
                })
                .map(|it| (other.schema, &it.name))
            });
            maker.add([
                ("constraint_catalog", database(env)),
                ("constraint_schema", schema_of(env, table.schema)),
                ("constraint_name", text(&constraint.name)),
                ("unique_constraint_catalog", unique.map_or(Datum::Null, |_| database(env))),
                (
                    "unique_constraint_schema",
                    unique.map_or(Datum::Null, |(schema, _)| schema_of(env, schema)),
                ),
                ("unique_constraint_name", maybe(unique.map(|(_, name)| name))),
                ("match_option", text(if key.match_full { "FULL" } else { "NONE" })),
                ("update_rule", text(rule(key.on_update))),
                ("delete_rule", text(rule(key.on_delete))),
            ]);
        }
    }
}
