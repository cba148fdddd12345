//! Tables of information_schema about keys, constraints and views.

use super::information::{Facts, NONE, index_columns, indexes, row};
use super::known::Known;
use super::names::PRIMARY;
use seriatim_sql::catalog::{Action, ConstraintKind, Object};

const STATISTICS: &[&str] = &[
    "TABLE_CATALOG",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "NON_UNIQUE",
    "INDEX_SCHEMA",
    "INDEX_NAME",
    "SEQ_IN_INDEX",
    "COLUMN_NAME",
    "COLLATION",
    "CARDINALITY",
    "SUB_PART",
    "PACKED",
    "NULLABLE",
    "INDEX_TYPE",
    "COMMENT",
    "INDEX_COMMENT",
    "IGNORED",
];

pub(super) fn statistics(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for table in known.tables() {
        let schema = known.catalog.schema_name(table.schema).to_string();
        for (name, index) in indexes(known, &table) {
            for (place, column) in index_columns(&index, &table).iter().enumerate() {
                rows.push(row![
                    "def",
                    schema.clone(),
                    table.name.to_string(),
                    u64::from(!index.unique),
                    schema.clone(),
                    name.clone(),
                    place as u64 + 1,
                    column.name.to_string(),
                    "A",
                    0,
                    NONE,
                    NONE,
                    if column.not_null { "" } else { "YES" },
                    "BTREE",
                    "",
                    "",
                    "NO",
                ]);
            }
        }
    }
    Facts { columns: STATISTICS, rows }
}

const CONSTRAINTS: &[&str] = &[
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "CONSTRAINT_NAME",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "CONSTRAINT_TYPE",
];

pub(super) fn constraints(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for table in known.tables() {
        let schema = known.catalog.schema_name(table.schema).to_string();
        let mut put = |name: String, kind: &str| {
            rows.push(row![
                "def",
                schema.clone(),
                name,
                schema.clone(),
                table.name.to_string(),
                kind,
            ]);
        };
        for (name, index) in indexes(known, &table).into_iter().filter(|(_, it)| it.unique) {
            put(name, if index.primary { "PRIMARY KEY" } else { "UNIQUE" });
        }
        for constraint in &table.constraints {
            match &constraint.kind {
                ConstraintKind::ForeignKey(_) => put(constraint.name.to_string(), "FOREIGN KEY"),
                ConstraintKind::Check { .. } if !constraint.name.contains('\u{1f}') => {
                    put(constraint.name.to_string(), "CHECK");
                }
                _ => {}
            }
        }
    }
    Facts { columns: CONSTRAINTS, rows }
}

const KEY_COLUMNS: &[&str] = &[
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "CONSTRAINT_NAME",
    "TABLE_CATALOG",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "COLUMN_NAME",
    "ORDINAL_POSITION",
    "POSITION_IN_UNIQUE_CONSTRAINT",
    "REFERENCED_TABLE_SCHEMA",
    "REFERENCED_TABLE_NAME",
    "REFERENCED_COLUMN_NAME",
];

pub(super) fn key_columns(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for table in known.tables() {
        let schema = known.catalog.schema_name(table.schema).to_string();
        for (name, index) in indexes(known, &table).into_iter().filter(|(_, it)| it.unique) {
            for (place, column) in index_columns(&index, &table).iter().enumerate() {
                rows.push(row![
                    "def",
                    schema.clone(),
                    name.clone(),
                    "def",
                    schema.clone(),
                    table.name.to_string(),
                    column.name.to_string(),
                    place as u64 + 1,
                    NONE,
                    NONE,
                    NONE,
                    NONE,
                ]);
            }
        }
        for constraint in &table.constraints {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            let Some(other) = known.catalog.table(key.table) else { continue };
            let other_schema = known.catalog.schema_name(other.schema).to_string();
            for (place, (&own, &theirs)) in key.columns.iter().zip(&key.referenced).enumerate() {
                rows.push(row![
                    "def",
                    schema.clone(),
                    constraint.name.to_string(),
                    "def",
                    schema.clone(),
                    table.name.to_string(),
                    table.column(own).name.to_string(),
                    place as u64 + 1,
                    place as u64 + 1,
                    other_schema.clone(),
                    other.name.to_string(),
                    other.column(theirs).name.to_string(),
                ]);
            }
        }
    }
    Facts { columns: KEY_COLUMNS, rows }
}

const REFERENTIAL: &[&str] = &[
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "CONSTRAINT_NAME",
    "UNIQUE_CONSTRAINT_CATALOG",
    "UNIQUE_CONSTRAINT_SCHEMA",
    "UNIQUE_CONSTRAINT_NAME",
    "MATCH_OPTION",
    "UPDATE_RULE",
    "DELETE_RULE",
    "TABLE_NAME",
    "REFERENCED_TABLE_NAME",
];

/// What MySQL calls an action.
pub(in crate::mysql) fn rule(action: Action) -> &'static str {
    match action {
        Action::NoAction | Action::Restrict => "RESTRICT",
        Action::Cascade => "CASCADE",
        Action::SetNull => "SET NULL",
        Action::SetDefault => "SET DEFAULT",
    }
}

pub(super) fn referential(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for table in known.tables() {
        let schema = known.catalog.schema_name(table.schema).to_string();
        for constraint in &table.constraints {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            let Some(other) = known.catalog.table(key.table) else { continue };
            rows.push(row![
                "def",
                schema.clone(),
                constraint.name.to_string(),
                "def",
                schema.clone(),
                PRIMARY,
                "NONE",
                rule(key.on_update),
                rule(key.on_delete),
                table.name.to_string(),
                other.name.to_string(),
            ]);
        }
    }
    Facts { columns: REFERENTIAL, rows }
}

const CHECKS: &[&str] = &[
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "TABLE_NAME",
    "CONSTRAINT_NAME",
    "LEVEL",
    "CHECK_CLAUSE",
];

pub(super) fn checks(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for table in known.tables() {
        let schema = known.catalog.schema_name(table.schema).to_string();
        for constraint in &table.constraints {
            let ConstraintKind::Check { text, .. } = &constraint.kind else { continue };
            if constraint.name.contains('\u{1f}') {
                continue;
            }
            rows.push(row![
                "def",
                schema.clone(),
                table.name.to_string(),
                constraint.name.to_string(),
                "Table",
                text.replace('"', "`"),
            ]);
        }
    }
    Facts { columns: CHECKS, rows }
}

const VIEWS: &[&str] = &[
    "TABLE_CATALOG",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "VIEW_DEFINITION",
    "CHECK_OPTION",
    "IS_UPDATABLE",
];

pub(super) fn views(known: &Known<'_>) -> Facts {
    let view = |(_, object): (_, &Object)| match object {
        Object::View(it) => {
            let schema = known.catalog.schema_name(it.schema).to_string();
            Some(row!["def", schema, it.name.to_string(), it.text.to_string(), "NONE", "NO"])
        }
        _ => None,
    };
    Facts { columns: VIEWS, rows: known.catalog.objects().filter_map(view).collect() }
}
