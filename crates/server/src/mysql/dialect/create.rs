//! CREATE and DROP of MySQL as the definitions that SQL has here; `alter.rs` has ALTER TABLE.

use super::super::error::MysqlError;
use super::known::Known;
use super::names::{LABELS, PRIMARY, RANGE, index_name, parts};
use super::types::{ColumnType, column_type};
use super::{alter, changes, comments, rewrite};
use seriatim_sql::catalog::Action;
use seriatim_sql::parse::ast::{
    ColumnDef, CommentOn, ConstraintDef, CreateIndex, CreateTable, CreateTableAs, CreateView, Drop,
    ForeignKeyDef, IdentityDef, IndexKeyDef, Lifetime, Like, Name, ObjectKind, TableConstraint,
    Utility,
};
use sqlparser::ast::{
    self, ColumnOption, Expr, IndexColumn, ObjectName, ObjectType, ReferentialAction, Statement,
    Value,
};

pub(super) type Made<T> = Result<T, MysqlError>;

/// The definitions that a statement stands for, in their order.
pub(super) fn definitions(statement: Statement, known: &Known<'_>) -> Made<Vec<Utility>> {
    match statement {
        Statement::CreateTable(create) => create_table(create, known),
        Statement::CreateIndex(create) => Ok(vec![create_index(create, known)?]),
        Statement::AlterTable(alter) => alter::alter_table(alter, known),
        Statement::CreateView(view) => create_view(view, known),
        Statement::CreateDatabase { db_name, if_not_exists, .. } => {
            Ok(vec![create_database(parts(&db_name).1, if_not_exists)])
        }
        Statement::CreateSchema { schema_name, if_not_exists, .. } => {
            let name = schema_name.to_string().replace('`', "");
            Ok(vec![create_database(name, if_not_exists)])
        }
        Statement::Drop { object_type, if_exists, names, table, .. } => {
            dropped(object_type, if_exists, &names, table.as_ref(), known)
        }
        Statement::Truncate(truncate) => {
            let tables = truncate.table_names.iter().map(|it| name(&it.name, known)).collect();
            Ok(vec![Utility::Truncate { tables, restart: true, cascade: false }])
        }
        Statement::RenameTable(renames) => Ok(renames
            .iter()
            .map(|it| rename(name(&it.old_name, known), parts(&it.new_name).1))
            .collect()),
        other => Err(MysqlError::unsupported(first_words(&other.to_string()))),
    }
}

pub(super) fn first_words(text: &str) -> String {
    text.split_whitespace().take(2).collect::<Vec<&str>>().join(" ")
}

fn create_database(name: String, if_not_exists: bool) -> Utility {
    Utility::CreateSchema { name: Some(name), if_not_exists, elements: Vec::new() }
}

pub(super) fn rename(table: Name, to: String) -> Utility {
    Utility::Rename { kind: ObjectKind::Table, name: table, if_exists: false, to }
}

/// A table by its database, which is the one that is selected unless it is named.
pub(super) fn name(name: &ObjectName, known: &Known<'_>) -> Name {
    let (schema, name) = parts(name);
    let schema = schema.or_else(|| known.selected.map(str::to_owned));
    Name { schema, name, position: 0 }
}

fn plain(name: Option<String>, kind: ConstraintDef) -> TableConstraint {
    TableConstraint { name, kind, deferrable: false, deferred: false, not_valid: false }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A column with what belongs to it.
pub(super) struct Column {
    pub def: ColumnDef,
    pub constraints: Vec<TableConstraint>,
    pub indexes: Vec<(String, Vec<String>, bool)>,
    pub comment: String,
    pub is_primary: bool,
}

fn checks(column: &str, ty: &ColumnType) -> Vec<TableConstraint> {
    let name = quoted(column);
    let range = ty.range.map(|(least, most)| {
        let text = match most {
            i64::MAX => format!("{name} >= {least}"),
            most => format!("{name} BETWEEN {least} AND {most}"),
        };
        plain(Some(format!("{RANGE}{column}")), ConstraintDef::Check(text))
    });
    let labels = (!ty.labels.is_empty()).then(|| {
        let all: Vec<String> = ty.labels.iter().map(|label| literal(label)).collect();
        let text = format!("{name} IN ({})", all.join(", "));
        plain(Some(format!("{LABELS}{column}")), ConstraintDef::Check(text))
    });
    range.into_iter().chain(labels).collect()
}

pub(super) fn column(
    table: &str,
    name: &str,
    ty: &ast::DataType,
    options: impl Iterator<Item = ColumnOption>,
    known: &Known<'_>,
) -> Made<Column> {
    let kind = column_type(ty)?;
    let mut made = Column {
        constraints: checks(name, &kind),
        def: ColumnDef {
            name: name.to_owned(),
            ty: kind.ty.clone(),
            collation: None,
            not_null: None,
            default: None,
            generated: None,
            identity: None,
            constraints: Vec::new(),
        },
        indexes: Vec::new(),
        comment: String::new(),
        is_primary: false,
    };
    let (mut on_update, mut said) = (false, String::new());
    for option in options {
        match option {
            ColumnOption::Null => made.def.not_null = Some(false),
            ColumnOption::NotNull => made.def.not_null = Some(true),
            ColumnOption::Default(expr) => made.def.default = default(expr, &kind, known)?,
            ColumnOption::PrimaryKey(_) => made.is_primary = true,
            ColumnOption::Unique(_) => {
                made.indexes.push((name.to_owned(), vec![name.to_owned()], true));
            }
            ColumnOption::ForeignKey(key) => {
                // As in MySQL before 9 and not as in MariaDB, references of columns are kept.
                let columns = vec![name.to_owned()];
                made.constraints.push(foreign_key(table, &key, columns, known)?);
            }
            ColumnOption::Check(check) => {
                let name = check.name.map(|name| name.value);
                made.constraints
                    .push(plain(name, ConstraintDef::Check(shown(*check.expr, known)?)));
            }
            ColumnOption::DialectSpecific(tokens) => {
                let words: Vec<String> =
                    tokens.iter().map(|token| token.to_string().to_uppercase()).collect();
                match words.join(" ").as_str() {
                    "AUTO_INCREMENT" => made.def.identity = Some(identity()),
                    "ON UPDATE CURRENT_TIMESTAMP" => on_update = true,
                    other => return Err(MysqlError::unsupported(other)),
                }
            }
            ColumnOption::OnUpdate(_) => on_update = true,
            ColumnOption::Comment(text) => said = text,
            ColumnOption::CharacterSet(_) | ColumnOption::Collation(_) => {}
            ColumnOption::Generated { generation_expr: Some(expr), .. } => {
                made.def.generated = Some(shown(expr, known)?);
            }
            other => return Err(MysqlError::unsupported(other)),
        }
    }
    made.comment = comments::written(&kind.shown, on_update, &said);
    Ok(made)
}

fn identity() -> IdentityDef {
    IdentityDef { always: false, options: Vec::new() }
}

/// An expression in the words that definitions are kept in.
pub(super) fn shown(mut expr: Expr, known: &Known<'_>) -> Made<String> {
    rewrite::rewrite_expr(&mut expr, known)?;
    Ok(expr.to_string())
}

fn default(expr: Expr, ty: &ColumnType, known: &Known<'_>) -> Made<Option<String>> {
    let expr = match expr {
        Expr::Nested(inner) => *inner,
        other => other,
    };
    Ok(match &expr {
        Expr::Value(value) => match &value.value {
            Value::Null => None,
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                Some(literal(text))
            }
            Value::Boolean(value) => Some(u8::from(*value).to_string()),
            Value::Number(digits, _) if ty.ty == ast::DataType::Text => Some(literal(digits)),
            Value::Number(digits, _) => Some(digits.clone()),
            _ => Some(shown(expr, known)?),
        },
        _ => Some(shown(expr, known)?),
    })
}

/// The columns of an index; how much of them is indexed does not matter.
fn key_columns(columns: &[IndexColumn]) -> Made<Vec<String>> {
    let key = |it: &IndexColumn| match &it.column.expr {
        Expr::Identifier(ident) => Ok(ident.value.clone()),
        Expr::Function(function) => Ok(parts(&function.name).1),
        other => Err(MysqlError::unsupported(format!("an index on {other}"))),
    };
    columns.iter().map(key).collect()
}

fn action(action: Option<ReferentialAction>) -> Action {
    match action {
        Some(ReferentialAction::Cascade) => Action::Cascade,
        Some(ReferentialAction::SetNull) => Action::SetNull,
        Some(ReferentialAction::SetDefault) => Action::SetDefault,
        Some(ReferentialAction::Restrict) => Action::Restrict,
        Some(ReferentialAction::NoAction) | None => Action::NoAction,
    }
}

fn foreign_key(
    table: &str,
    key: &ast::ForeignKeyConstraint,
    columns: Vec<String>,
    known: &Known<'_>,
) -> Made<TableConstraint> {
    let own = key.name.as_ref().or(key.index_name.as_ref()).map(|name| name.value.clone());
    let referenced = key.referred_columns.iter().map(|it| it.value.clone()).collect();
    let def = ForeignKeyDef {
        columns: columns.clone(),
        table: name(&key.foreign_table, known),
        referenced,
        on_delete: action(key.on_delete),
        on_update: action(key.on_update),
        set_columns: Vec::new(),
        match_full: false,
    };
    let own = own.unwrap_or_else(|| format!("{table}_ibfk_{}", columns.join("_")));
    Ok(plain(Some(own), ConstraintDef::ForeignKey(def)))
}

/// Constraints and indexes of a table.
#[derive(Default)]
pub(super) struct Keys {
    pub constraints: Vec<TableConstraint>,
    /// Name, columns, whether it is unique.
    pub indexes: Vec<(String, Vec<String>, bool)>,
}

impl Keys {
    pub fn add(
        &mut self,
        table: &str,
        constraint: ast::TableConstraint,
        known: &Known<'_>,
    ) -> Made<()> {
        match constraint {
            ast::TableConstraint::PrimaryKey(key) => {
                self.primary(table, key_columns(&key.columns)?);
            }
            ast::TableConstraint::Unique(key) => {
                let columns = key_columns(&key.columns)?;
                let name = key.index_name.or(key.name).map(|name| name.value);
                let name = name.unwrap_or_else(|| columns.first().cloned().unwrap_or_default());
                self.indexes.push((name, columns, true));
            }
            ast::TableConstraint::Index(key) => {
                let columns = key_columns(&key.columns)?;
                let name = key.name.map(|name| name.value);
                let name = name.unwrap_or_else(|| columns.first().cloned().unwrap_or_default());
                self.indexes.push((name, columns, false));
            }
            ast::TableConstraint::ForeignKey(key) => {
                let columns = key.columns.iter().map(|it| it.value.clone()).collect();
                self.constraints.push(foreign_key(table, &key, columns, known)?);
            }
            ast::TableConstraint::Check(check) => {
                let text = shown(*check.expr, known)?;
                let name = check.name.map(|name| name.value);
                self.constraints.push(plain(name, ConstraintDef::Check(text)));
            }
            other => return Err(MysqlError::unsupported(first_words(&other.to_string()))),
        }
        Ok(())
    }

    fn primary(&mut self, table: &str, columns: Vec<String>) {
        let kind = ConstraintDef::PrimaryKey { columns, include: Vec::new() };
        self.constraints.push(plain(Some(index_name(table, PRIMARY)), kind));
    }

    pub fn column(&mut self, table: &str, column: Column) -> (ColumnDef, String) {
        self.constraints.extend(column.constraints);
        self.indexes.extend(column.indexes);
        if column.is_primary {
            self.primary(table, vec![column.def.name.clone()]);
        }
        (column.def, column.comment)
    }
}

pub(super) fn index(table: &Name, name: &str, columns: Vec<String>, unique: bool) -> Utility {
    let key = |column: String| IndexKeyDef {
        column: Some(column),
        expr: None,
        collation: None,
        class: None,
        descending: false,
        nulls_first: None,
    };
    Utility::CreateIndex(CreateIndex {
        name: Some(index_name(&table.name, name)),
        table: table.clone(),
        unique,
        concurrently: false,
        if_not_exists: false,
        method: "btree".to_owned(),
        keys: columns.into_iter().map(key).collect(),
        include: Vec::new(),
        nulls_not_distinct: false,
        predicate: None,
    })
}

pub(super) fn commented(table: &Name, column: &str, text: String) -> Utility {
    Utility::Comment { on: CommentOn::Column(table.clone(), column.to_owned()), text: Some(text) }
}

fn create_table(create: ast::CreateTable, known: &Known<'_>) -> Made<Vec<Utility>> {
    let table = name(&create.name, known);
    let lifetime = if create.temporary { Lifetime::Temporary } else { Lifetime::Permanent };
    let place =
        if create.temporary { Name { schema: None, ..table.clone() } } else { table.clone() };
    let exists = changes::find_table(&create.name, known).is_some();
    if create.if_not_exists && exists {
        return Ok(Vec::new());
    }
    if let Some(query) = create.query {
        let mut statement = Statement::Query(query);
        rewrite::rewrite(&mut statement, known)?;
        let Statement::Query(query) = statement else { return Ok(Vec::new()) };
        return Ok(vec![Utility::CreateTableAs(CreateTableAs {
            name: place,
            lifetime,
            if_not_exists: create.if_not_exists,
            columns: Vec::new(),
            query,
            with_data: true,
            is_into: false,
        })]);
    }
    let mut likes = Vec::new();
    if let Some(like) = create.like {
        use ast::CreateTableLikeKind as Kind;
        let (Kind::Plain(like) | Kind::Parenthesized(like)) = like;
        let of = Like {
            table: name(&like.name, known),
            defaults: true,
            constraints: true,
            identity: true,
            generated: true,
            indexes: true,
            comments: true,
        };
        likes.push((0, of));
    }
    let (mut keys, mut columns, mut said) = (Keys::default(), Vec::new(), Vec::new());
    for def in create.columns {
        let options = def.options.into_iter().map(|it| it.option);
        let made = column(&table.name, &def.name.value, &def.data_type, options, known)?;
        let (def, comment) = keys.column(&table.name, made);
        said.push((def.name.clone(), comment));
        columns.push(def);
    }
    for constraint in create.constraints {
        keys.add(&table.name, constraint, known)?;
    }
    let made = Utility::CreateTable(CreateTable {
        name: place.clone(),
        lifetime,
        if_not_exists: create.if_not_exists,
        columns,
        constraints: keys.constraints,
        likes,
    });
    let indexes =
        keys.indexes.into_iter().map(|(it, columns, unique)| index(&place, &it, columns, unique));
    let said = said.into_iter().map(|(column, text)| commented(&place, &column, text));
    Ok([made].into_iter().chain(indexes).chain(said).collect())
}

fn create_index(create: ast::CreateIndex, known: &Known<'_>) -> Made<Utility> {
    let columns = key_columns(&create.columns)?;
    let own = create.name.map(|name| parts(&name).1).unwrap_or_default();
    Ok(index(&name(&create.table_name, known), &own, columns, create.unique))
}

fn create_view(view: ast::CreateView, known: &Known<'_>) -> Made<Vec<Utility>> {
    let place = name(&view.name, known);
    let mut statement = Statement::Query(view.query);
    rewrite::rewrite(&mut statement, known)?;
    let Statement::Query(query) = statement else { return Ok(Vec::new()) };
    Ok(vec![Utility::CreateView(CreateView {
        name: place,
        or_replace: view.or_replace,
        if_not_exists: view.if_not_exists,
        materialized: false,
        lifetime: Lifetime::Permanent,
        columns: view.columns.iter().map(|it| it.name.value.clone()).collect(),
        text: query.to_string(),
        query,
        with_data: true,
        check: None,
    })])
}

fn dropped(
    kind: ObjectType,
    if_exists: bool,
    names: &[ObjectName],
    table: Option<&ObjectName>,
    known: &Known<'_>,
) -> Made<Vec<Utility>> {
    let drop = |kind, names, cascade| Utility::Drop(Drop { kind, names, if_exists, cascade });
    let plain = || names.iter().map(|it| name(it, known)).collect::<Vec<Name>>();
    Ok(vec![match (kind, table) {
        (ObjectType::Table, _) => drop(ObjectKind::Table, plain(), false),
        (ObjectType::View, _) => drop(ObjectKind::View, plain(), false),
        (ObjectType::Schema | ObjectType::Database, _) => {
            let names = names.iter().map(|it| parts(it).1);
            let names = names.map(|name| Name { schema: None, name, position: 0 }).collect();
            drop(ObjectKind::Schema, names, true)
        }
        (ObjectType::Index, Some(table)) => {
            let table = name(table, known);
            let index = |it: &ObjectName| Name {
                schema: table.schema.clone(),
                name: index_name(&table.name, &parts(it).1),
                position: 0,
            };
            drop(ObjectKind::Index, names.iter().map(index).collect(), false)
        }
        (other, _) => return Err(MysqlError::unsupported(format!("DROP {other}"))),
    }])
}
