//! What users make: schemas, tables, indexes, constraints, sequences, views and types.

use super::SearchPath;
use super::extensions::KnownExtension;
use crate::cells::HeapId;
use crate::types::{Collation, Datum, EnumValue, Field, Oid};
use std::sync::Arc;

/// Anything in the catalog.
#[derive(Clone, Debug)]
pub enum Object {
    /// A schema.
    Schema(Arc<Schema>),
    /// A table.
    Table(Arc<Table>),
    /// A view.
    View(Arc<View>),
    /// An index.
    Index(Arc<Index>),
    /// A sequence.
    Sequence(Arc<Sequence>),
    /// A type.
    Type(Arc<UserType>),
    /// A collation.
    Collation(Arc<NamedCollation>),
    /// An extension.
    Extension(Extension),
}

/// An extension that was created.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Its identifier.
    pub oid: Oid,
    /// The schema of its functions.
    pub schema: Oid,
    /// What it brings.
    pub known: &'static KnownExtension,
}

/// A schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
}

/// How long a relation lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Persistence {
    /// Until it is dropped.
    Permanent,
    /// As long as its session.
    Temporary,
    /// As long as its session; the rows until the end of the transaction.
    TemporaryRows,
    /// As long as the transaction.
    TemporaryDrop,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its identifier.
    pub oid: Oid,
    /// The identifier of its row type.
    pub row_type: Oid,
    /// The identifier of the type of arrays of its rows.
    pub row_array_type: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// How long it lives.
    pub persistence: Persistence,
    /// Where its rows are: another one after TRUNCATE and where all rows are written anew.
    pub heap: HeapId,
    /// Its columns by number, from 1; dropped ones stay.
    pub columns: Vec<Column>,
    /// Its constraints, except those that are not null.
    pub constraints: Vec<Constraint>,
    /// Its indexes.
    pub indexes: Vec<Oid>,
    /// The foreign keys, its own or of tables that refer to it, whose triggers on this table are
    /// disabled.
    pub silent: Vec<Oid>,
    /// The query that its rows come from, if it is a materialized view.
    pub materialized: Option<Materialized>,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// The query of a materialized view.
#[derive(Clone, Debug)]
pub struct Materialized {
    /// As SQL.
    pub text: Arc<str>,
    /// The relations that it stands on.
    pub depends_on: Vec<Oid>,
    /// Whether the view may be read: it has been filled.
    pub populated: bool,
}

/// A column of a table or a view.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Oid,
    /// The modifier of its type.
    pub typmod: i32,
    /// Whether null is refused.
    pub not_null: bool,
    /// Its default, or how it is generated.
    pub default: Option<ColumnDefault>,
    /// Whether it is an identity column.
    pub identity: Option<Identity>,
    /// What rows have that were there before the column was.
    pub missing: Option<Datum>,
    /// Whether it was dropped.
    pub dropped: bool,
    /// Its collation, if it is not the one of its type.
    pub collation: Option<Oid>,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// The default of a column.
#[derive(Clone, Debug)]
pub struct ColumnDefault {
    /// As SQL.
    pub text: Arc<str>,
    /// Whether it is `GENERATED ALWAYS AS … STORED`.
    pub generated: bool,
    /// The sequence that it takes numbers from, if it belongs to the column.
    pub sequence: Option<Oid>,
}

/// Whether values may be given for an identity column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// `GENERATED ALWAYS`.
    pub always: bool,
    /// Where its numbers come from.
    pub sequence: Oid,
}

/// A constraint of a table.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// What it asks for.
    pub kind: ConstraintKind,
    /// Whether it may be checked at the end of the transaction.
    pub deferrable: bool,
    /// Whether it is, unless `SET CONSTRAINTS` says otherwise.
    pub deferred: bool,
    /// Whether the rows that were there have been checked.
    pub validated: bool,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// What a constraint asks for.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// The columns identify a row and are not null.
    PrimaryKey {
        /// Their numbers.
        columns: Vec<u16>,
        /// The index that keeps it.
        index: Oid,
    },
    /// No two rows have the same values.
    Unique {
        /// Their numbers.
        columns: Vec<u16>,
        /// The index that keeps it.
        index: Oid,
    },
    /// The expression is not false.
    Check {
        /// As SQL.
        text: Arc<str>,
        /// The columns in it.
        columns: Vec<u16>,
    },
    /// There is such a row.
    ForeignKey(ForeignKey),
}

/// A reference to another table.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// The columns that refer.
    pub columns: Vec<u16>,
    /// The table that they refer to.
    pub table: Oid,
    /// Its columns.
    pub referenced: Vec<u16>,
    /// The index over these.
    pub index: Oid,
    /// What happens when the row there is deleted.
    pub on_delete: Action,
    /// What happens when its key changes.
    pub on_update: Action,
    /// The columns that are set when the row there is deleted; none for all.
    pub set_columns: Vec<u16>,
    /// Whether some columns may be null and others not.
    pub match_full: bool,
}

/// What happens to rows that refer to one that goes away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// An error, at the end of the statement or transaction.
    NoAction,
    /// An error at once.
    Restrict,
    /// They go or change too.
    Cascade,
    /// They refer to nothing.
    SetNull,
    /// They refer to what their defaults say.
    SetDefault,
}

/// An index: it keeps uniqueness, and it is there to be looked at.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its schema.
    pub schema: Oid,
    /// Its table.
    pub table: Oid,
    /// What it is over.
    pub keys: Vec<IndexKey>,
    /// Columns that are in it besides.
    pub include: Vec<u16>,
    /// Whether its keys are unique.
    pub unique: bool,
    /// Whether nulls are equal.
    pub nulls_not_distinct: bool,
    /// Whether it is of the primary key.
    pub primary: bool,
    /// Of which rows it is, as SQL.
    pub predicate: Option<Arc<str>>,
    /// The method, `btree`.
    pub method: Arc<str>,
    /// The constraint that it keeps.
    pub constraint: Option<Oid>,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// A part of an index.
#[derive(Clone, Debug)]
pub struct IndexKey {
    /// A column, or an expression as SQL.
    pub what: IndexedExpr,
    /// From the greatest to the smallest.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
    /// The operator class, if one was named.
    pub class: Option<Arc<str>>,
    /// The collation, if one was named.
    pub collation: Option<Oid>,
}

/// What a part of an index is over.
#[derive(Clone, Debug)]
pub enum IndexedExpr {
    /// A column.
    Column(u16),
    /// An expression, as SQL.
    Expr(Arc<str>),
}

/// A sequence. Its numbers are in the database, outside of transactions.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its schema.
    pub schema: Oid,
    /// How long it lives.
    pub persistence: Persistence,
    /// The type of its numbers.
    pub ty: Oid,
    /// The first number.
    pub start: i64,
    /// The step.
    pub increment: i64,
    /// The smallest number.
    pub min: i64,
    /// The greatest number.
    pub max: i64,
    /// How many are taken at once.
    pub cache: i64,
    /// Whether it begins anew when it is through.
    pub cycle: bool,
    /// The column that it belongs to, and whether that is an identity column.
    pub owner: Option<(Oid, u16, bool)>,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// A collation that users made.
#[derive(Clone, Debug)]
pub struct NamedCollation {
    /// Its identifier.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Whose it is: `i` of ICU, `c` of the C library.
    pub provider: char,
    /// The locale.
    pub locale: Option<Arc<str>>,
    /// What it does.
    pub collation: Arc<Collation>,
}

/// Which conditions rows must meet that are written through a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckOption {
    /// Its own.
    Local,
    /// Also those of the views below.
    Cascaded,
}

/// A view.
#[derive(Clone, Debug)]
pub struct View {
    /// Its identifier.
    pub oid: Oid,
    /// The identifier of its row type.
    pub row_type: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its query, as SQL.
    pub text: Arc<str>,
    /// The relations that it stands on.
    pub depends_on: Vec<Oid>,
    /// Where the names in its query are looked for.
    pub path: SearchPath,
    /// Whether rows that are written through it must be rows of it.
    pub check: Option<CheckOption>,
    /// Whether it lives as long as its session.
    pub persistence: Persistence,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// A type that users made.
#[derive(Clone, Debug)]
pub struct UserType {
    /// Its identifier.
    pub oid: Oid,
    /// The identifier of the type of arrays of it.
    pub array: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// What it is.
    pub kind: UserTypeKind,
    /// What was said about it.
    pub comment: Option<Arc<str>>,
}

/// What a type of users is.
#[derive(Clone, Debug)]
pub enum UserTypeKind {
    /// One of these labels.
    Enum(Arc<[Arc<EnumValue>]>),
    /// Another type with constraints.
    Domain(Domain),
    /// A row.
    Composite(Arc<[Field]>),
}

/// A domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The type that it stands for.
    pub base: Oid,
    /// The modifier of that.
    pub typmod: i32,
    /// Whether null is refused.
    pub not_null: bool,
    /// Its default, as SQL.
    pub default: Option<Arc<str>>,
    /// Its checks: identifier, name and SQL over `VALUE`.
    pub checks: Vec<(Oid, Arc<str>, Arc<str>)>,
}

impl Table {
    /// What messages call it.
    pub fn kind(&self) -> &'static str {
        if self.materialized.is_some() { "materialized view" } else { "table" }
    }

    /// A column by its number.
    pub fn column(&self, number: u16) -> &Column {
        &self.columns[number as usize - 1]
    }

    /// The number of a column that is not dropped.
    pub fn find(&self, name: &str) -> Option<u16> {
        let is_it = |column: &Column| !column.dropped && &*column.name == name;
        self.columns.iter().position(is_it).map(|place| place as u16 + 1)
    }

    /// The columns that are not dropped, with their numbers.
    pub fn live(&self) -> impl Iterator<Item = (u16, &Column)> {
        (1..).zip(&self.columns).filter(|(_, column)| !column.dropped)
    }

    /// The columns of the primary key.
    pub fn primary_key(&self) -> Option<(&[u16], Oid)> {
        self.constraints.iter().find_map(|constraint| match &constraint.kind {
            ConstraintKind::PrimaryKey { columns, index } => Some((&columns[..], *index)),
            _ => None,
        })
    }
}

impl Object {
    /// The query of a view, materialized or not, and the relations that it stands on.
    pub fn query(&self) -> Option<(&Arc<str>, &[Oid])> {
        match self {
            Object::View(it) => Some((&it.text, &it.depends_on)),
            Object::Table(it) => it.materialized.as_ref().map(|it| (&it.text, &it.depends_on[..])),
            _ => None,
        }
    }

    /// Its schema and name, unless it is a schema itself.
    pub fn place(&self) -> Option<(Oid, &Arc<str>)> {
        match self {
            Object::Schema(_) | Object::Extension(_) => None,
            Object::Table(it) => Some((it.schema, &it.name)),
            Object::View(it) => Some((it.schema, &it.name)),
            Object::Index(it) => Some((it.schema, &it.name)),
            Object::Sequence(it) => Some((it.schema, &it.name)),
            Object::Type(it) => Some((it.schema, &it.name)),
            Object::Collation(it) => Some((it.schema, &it.name)),
        }
    }
}
