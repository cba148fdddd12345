//! What there is, as MySQL tells it: information_schema, and what SHOW takes from it. The rows are
//! made from the catalog when they are asked for; weak isolation has no part in them.

use super::super::error::MysqlError;
use super::build::{null, number, text};
use super::comments;
use super::information_keys::{checks, constraints, key_columns, referential, statistics, views};
use super::known::Known;
use super::names::{exact, index_shown};
use seriatim_sql::catalog::{Column, Index, IndexedExpr, Object, Table};
use sqlparser::ast::{
    Expr, Parens, Query, SetExpr, TableAlias, TableAliasColumnDef, Values,
    helpers::attached_token::AttachedToken,
};
use std::sync::Arc;

/// A value that is told.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::mysql) enum Fact {
    Null,
    Number(u64),
    Text(String),
}

impl From<&str> for Fact {
    fn from(value: &str) -> Fact {
        Fact::Text(value.to_owned())
    }
}

impl From<String> for Fact {
    fn from(value: String) -> Fact {
        Fact::Text(value)
    }
}

impl From<u64> for Fact {
    fn from(value: u64) -> Fact {
        Fact::Number(value)
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(value: Option<T>) -> Fact {
        value.map_or(Fact::Null, Into::into)
    }
}

/// A table of facts: the names of its columns, and its rows.
#[derive(Debug)]
pub(in crate::mysql) struct Facts {
    pub columns: &'static [&'static str],
    pub rows: Vec<Vec<Fact>>,
}

/// A row of facts.
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::mysql::dialect::information::Fact::from($value)),*]
    };
}
pub(super) use row;

/// Nothing is known.
pub(super) const NONE: Option<u64> = None;

/// The databases of users.
pub(in crate::mysql) fn databases(known: &Known<'_>) -> Vec<String> {
    let schema = |(_, object): (_, &Object)| match object {
        Object::Schema(schema) => Some(schema.name.to_string()),
        _ => None,
    };
    let hidden = |name: &String| name.starts_with("pg_") || name == "public";
    let mut all: Vec<String> = known.catalog.objects().filter_map(schema).collect();
    all.retain(|name| !hidden(name));
    all.push("information_schema".to_owned());
    all.sort();
    all.dedup();
    all
}

/// The tables and views of a database: name and whether it is a view.
pub(in crate::mysql) fn relations(known: &Known<'_>, database: &str) -> Vec<(String, bool)> {
    let Some(schema) = known.catalog.schema(database) else { return Vec::new() };
    let found = |(_, object): (_, &Object)| match object {
        Object::Table(it) if it.schema == schema => Some((it.name.to_string(), false)),
        Object::View(it) if it.schema == schema => Some((it.name.to_string(), true)),
        _ => None,
    };
    let mut all: Vec<(String, bool)> = known.catalog.objects().filter_map(found).collect();
    all.sort();
    all
}

/// The indexes of a table: its primary key first, then unique ones.
pub(in crate::mysql) fn indexes(known: &Known<'_>, table: &Table) -> Vec<(String, Arc<Index>)> {
    let mut all: Vec<(String, Arc<Index>)> = table
        .indexes
        .iter()
        .filter_map(|&oid| known.catalog.index(oid))
        .map(|it| (index_shown(&it.name).unwrap_or(&it.name).to_owned(), Arc::clone(it)))
        .collect();
    all.sort_by_key(|(_, it)| (!it.primary, !it.unique, it.oid));
    all
}

/// The columns of an index.
pub(in crate::mysql) fn index_columns<'t>(index: &Index, table: &'t Table) -> Vec<&'t Column> {
    let column = |what: &IndexedExpr| match what {
        IndexedExpr::Column(number) => Some(table.column(*number)),
        IndexedExpr::Expr(_) => None,
    };
    index.keys.iter().filter_map(|key| column(&key.what)).collect()
}

/// What is told of a column.
pub(in crate::mysql) struct ColumnFacts {
    pub ty: String,
    pub key: &'static str,
    pub default: Option<String>,
    pub extra: String,
}

/// The type of a column that has no declaration: of a view, or of a query.
fn undeclared(column: &Column) -> String {
    use seriatim_sql::Oid;
    match column.ty {
        Oid::BOOL => "int(1)",
        Oid::INT2 => "smallint(6)",
        Oid::INT4 => "int(11)",
        Oid::INT8 => "bigint(20)",
        Oid::FLOAT4 => "float",
        Oid::FLOAT8 => "double",
        Oid::NUMERIC => "decimal(65,4)",
        Oid::DATE => "date",
        Oid::TIME => "time",
        Oid::TIMESTAMP | Oid::TIMESTAMPTZ => "datetime",
        Oid::BYTEA => "longblob",
        _ => "longtext",
    }
    .to_owned()
}

pub(in crate::mysql) fn column_facts(
    known: &Known<'_>,
    table: &Table,
    column: &Column,
) -> ColumnFacts {
    let ty = comments::declared(column).map_or_else(|| undeclared(column), str::to_owned);
    let at = |index: &Index| {
        index_columns(index, table).first().is_some_and(|it| it.name == column.name)
    };
    let inside =
        |index: &Index| index_columns(index, table).iter().any(|it| it.name == column.name);
    let all = indexes(known, table);
    let key = if all.iter().any(|(_, it)| it.primary && inside(it)) {
        "PRI"
    } else if all.iter().any(|(_, it)| it.unique && it.keys.len() == 1 && at(it)) {
        "UNI"
    } else if all.iter().any(|(_, it)| at(it)) {
        "MUL"
    } else {
        ""
    };
    let mut extra = Vec::new();
    if column.identity.is_some() {
        extra.push("auto_increment");
    }
    if comments::is_on_update(column) {
        extra.push("on update current_timestamp()");
    }
    let default = column.default.as_ref().filter(|it| !it.generated).map(|it| shown(&it.text));
    ColumnFacts { ty, key, default, extra: extra.join(" ") }
}

/// A default in MySQL's words.
fn shown(text: &str) -> String {
    if text.contains("statement_timestamp") {
        return "current_timestamp()".to_owned();
    }
    // A type that was written behind a literal.
    let text = text.split_once("'::").map_or(text.to_owned(), |(literal, _)| format!("{literal}'"));
    text.strip_prefix("'")
        .and_then(|it| it.strip_suffix("'"))
        .map_or(text.clone(), |inner| inner.replace("''", "'"))
}

const TABLES: &[&str] = &[
    "TABLE_CATALOG",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "TABLE_TYPE",
    "ENGINE",
    "VERSION",
    "ROW_FORMAT",
    "TABLE_ROWS",
    "AVG_ROW_LENGTH",
    "DATA_LENGTH",
    "MAX_DATA_LENGTH",
    "INDEX_LENGTH",
    "DATA_FREE",
    "AUTO_INCREMENT",
    "CREATE_TIME",
    "UPDATE_TIME",
    "CHECK_TIME",
    "TABLE_COLLATION",
    "CHECKSUM",
    "CREATE_OPTIONS",
    "TABLE_COMMENT",
];

fn tables(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for database in databases(known) {
        for (name, is_view) in relations(known, &database) {
            let kind = if is_view { "VIEW" } else { "BASE TABLE" };
            let engine = (!is_view).then_some("InnoDB");
            let collation = (!is_view).then_some("utf8mb4_bin");
            rows.push(row![
                "def",
                database.clone(),
                name,
                kind,
                engine,
                10,
                "Dynamic",
                0,
                0,
                16384,
                0,
                0,
                0,
                NONE,
                NONE,
                NONE,
                NONE,
                collation,
                NONE,
                "",
                if is_view { "VIEW" } else { "" },
            ]);
        }
    }
    Facts { columns: TABLES, rows }
}

const COLUMNS: &[&str] = &[
    "TABLE_CATALOG",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "COLUMN_NAME",
    "ORDINAL_POSITION",
    "COLUMN_DEFAULT",
    "IS_NULLABLE",
    "DATA_TYPE",
    "CHARACTER_MAXIMUM_LENGTH",
    "CHARACTER_OCTET_LENGTH",
    "NUMERIC_PRECISION",
    "NUMERIC_SCALE",
    "DATETIME_PRECISION",
    "CHARACTER_SET_NAME",
    "COLLATION_NAME",
    "COLUMN_TYPE",
    "COLUMN_KEY",
    "EXTRA",
    "PRIVILEGES",
    "COLUMN_COMMENT",
    "IS_GENERATED",
    "GENERATION_EXPRESSION",
];

fn columns(known: &Known<'_>) -> Facts {
    let mut rows = Vec::new();
    for table in known.tables() {
        let schema = known.catalog.schema_name(table.schema).to_string();
        for (place, (_, column)) in table.live().enumerate() {
            rows.push(column_row(known, &schema, &table, place as u64 + 1, column));
        }
    }
    Facts { columns: COLUMNS, rows }
}

fn column_row(
    known: &Known<'_>,
    schema: &str,
    table: &Table,
    place: u64,
    column: &Column,
) -> Vec<Fact> {
    let facts = column_facts(known, table, column);
    let word = facts.ty.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let inside = facts.ty.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let numbers: Vec<u64> = inside
        .map(|(inside, _)| inside.split(',').filter_map(|it| it.parse().ok()).collect())
        .unwrap_or_default();
    let first = numbers.first().copied();
    let is_text = matches!(word.as_str(), "char" | "varchar" | "enum") || word.ends_with("text");
    let length = match word.as_str() {
        "tinytext" => Some(255),
        "text" => Some(65_535),
        "mediumtext" => Some(16_777_215),
        "longtext" => Some(4_294_967_295),
        "char" | "varchar" | "binary" | "varbinary" => first,
        _ => None,
    };
    let precision = match word.as_str() {
        "tinyint" => Some(3),
        "smallint" => Some(5),
        "mediumint" => Some(7),
        "int" => Some(10),
        "bigint" => Some(19),
        "double" => Some(22),
        "float" => Some(12),
        "decimal" => first,
        _ => None,
    };
    let scale = match word.as_str() {
        "decimal" => numbers.get(1).copied(),
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Some(0),
        _ => None,
    };
    let digits =
        matches!(word.as_str(), "datetime" | "timestamp" | "time").then(|| first.unwrap_or(0));
    let default = facts.default.map(|text| {
        let is_plain = text == "current_timestamp()" || text.parse::<f64>().is_ok();
        if is_plain { text } else { format!("'{text}'") }
    });
    let nullable = if column.not_null { "NO" } else { "YES" };
    let default = default.or_else(|| (!column.not_null).then(|| "NULL".to_owned()));
    let charset = is_text.then_some("utf8mb4");
    let collation = is_text.then_some("utf8mb4_bin");
    row![
        "def",
        schema,
        table.name.to_string(),
        column.name.to_string(),
        place,
        default,
        nullable,
        word,
        length,
        length,
        precision,
        scale,
        digits,
        charset,
        collation,
        facts.ty,
        facts.key,
        facts.extra,
        "select,insert,update,references",
        comments::comment(column),
        "NEVER",
        NONE,
    ]
}

/// A table of information_schema.
pub(in crate::mysql) fn facts(name: &str, known: &Known<'_>) -> Result<Facts, MysqlError> {
    Ok(match name {
        "tables" => tables(known),
        "columns" => columns(known),
        "statistics" => statistics(known),
        "table_constraints" => constraints(known),
        "key_column_usage" => key_columns(known),
        "referential_constraints" => referential(known),
        "check_constraints" => checks(known),
        "views" => views(known),
        "schemata" => Facts {
            columns: &[
                "CATALOG_NAME",
                "SCHEMA_NAME",
                "DEFAULT_CHARACTER_SET_NAME",
                "DEFAULT_COLLATION_NAME",
                "SQL_PATH",
                "SCHEMA_COMMENT",
            ],
            rows: databases(known)
                .into_iter()
                .map(|name| row!["def", name, "utf8mb4", "utf8mb4_bin", NONE, ""])
                .collect(),
        },
        "engines" => Facts {
            columns: &["ENGINE", "SUPPORT", "COMMENT", "TRANSACTIONS", "XA", "SAVEPOINTS"],
            rows: vec![row!["InnoDB", "DEFAULT", "Simulated by Seriatim", "YES", "NO", "YES"]],
        },
        "character_sets" => Facts {
            columns: &["CHARACTER_SET_NAME", "DEFAULT_COLLATE_NAME", "DESCRIPTION", "MAXLEN"],
            rows: vec![row!["utf8mb4", "utf8mb4_bin", "UTF-8 Unicode", 4]],
        },
        "collations" => Facts {
            columns: &[
                "COLLATION_NAME",
                "CHARACTER_SET_NAME",
                "ID",
                "IS_DEFAULT",
                "IS_COMPILED",
                "SORTLEN",
            ],
            rows: vec![row!["utf8mb4_bin", "utf8mb4", 46, "Yes", "Yes", 1]],
        },
        "routines" => Facts {
            columns: &["ROUTINE_SCHEMA", "ROUTINE_NAME", "ROUTINE_TYPE", "SPECIFIC_NAME"],
            rows: Vec::new(),
        },
        "triggers" => Facts {
            columns: &["TRIGGER_SCHEMA", "TRIGGER_NAME", "EVENT_OBJECT_TABLE"],
            rows: Vec::new(),
        },
        "partitions" => {
            Facts { columns: &["TABLE_SCHEMA", "TABLE_NAME", "PARTITION_NAME"], rows: Vec::new() }
        }
        other => {
            return Err(MysqlError::unsupported(format!("information_schema.{other}")));
        }
    })
}

/// A table of information_schema as a query in FROM, with the name that its columns are under.
pub(super) fn table(
    name: &str,
    known: &Known<'_>,
    alias: Option<TableAlias>,
) -> Result<(Query, TableAlias), MysqlError> {
    let facts = facts(name, known)?;
    let column = |it: &&str| TableAliasColumnDef { name: exact(*it), data_type: None };
    let columns: Vec<TableAliasColumnDef> = facts.columns.iter().map(column).collect();
    let named = alias.map_or_else(|| exact(name), |alias| alias.name);
    let alias = TableAlias { explicit: true, name: named, columns, at: None };
    let width = facts.columns.len();
    let body = match facts.rows.is_empty() {
        true => nothing(width)?,
        false => SetExpr::Values(Values {
            explicit_row: false,
            value_keyword: false,
            rows: facts.rows.iter().map(|row| parens(row.iter().map(literal).collect())).collect(),
        }),
    };
    Ok((super::plain_query(body), alias))
}

/// A row of VALUES.
pub(super) fn parens(content: Vec<Expr>) -> Parens<Vec<Expr>> {
    let (opening_token, closing_token) = (AttachedToken::empty(), AttachedToken::empty());
    Parens { opening_token, content, closing_token }
}

fn literal(fact: &Fact) -> Expr {
    match fact {
        Fact::Null => null(),
        Fact::Number(value) => number(value),
        Fact::Text(value) => text(value.clone()),
    }
}

/// A query of no rows.
fn nothing(width: usize) -> Result<SetExpr, MysqlError> {
    let column = "CAST(NULL AS text)";
    let text = format!("SELECT {} WHERE false", vec![column; width].join(", "));
    let query = seriatim_sql::parse::query(&text).map_err(|error| MysqlError::of(&error, ""))?;
    Ok(*query.body)
}
