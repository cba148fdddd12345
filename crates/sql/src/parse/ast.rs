//! Statements that are neither queries nor changes of rows, as they are written: PostgreSQL's
//! grammar for them is its own, so that they have a tree of their own here. Expressions keep their
//! text, because that is what the catalog keeps.
#![allow(missing_docs)]

use super::Parsed;
use crate::catalog::CheckOption;
use crate::roles::Attribute;
use sqlparser::ast::{DataType, Expr, Query, TransactionMode};

/// A name with its schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub schema: Option<String>,
    pub name: String,
    /// Where it stands, in characters from 1.
    pub position: u32,
}

impl Name {
    /// As messages show it.
    pub fn shown(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// A role, by its name or by a word for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoleName {
    Named(String),
    Current,
    Session,
    Public,
}

/// What CREATE ROLE and ALTER ROLE say of a role.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RoleChange {
    pub attributes: Vec<(Attribute, bool)>,
    pub limit: Option<i32>,
    /// Roles that are named as its members, or as those it is a member of.
    pub roles: Vec<RoleName>,
}

/// What lives how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    Permanent,
    Temporary,
    DeleteRows,
    Drop,
}

#[derive(Clone, Debug)]
pub enum Utility {
    CreateTable(CreateTable),
    CreateTableAs(CreateTableAs),
    CreateIndex(CreateIndex),
    CreateSequence(CreateSequence),
    AlterSequence {
        name: Name,
        if_exists: bool,
        options: Vec<SequenceOption>,
    },
    CreateView(CreateView),
    RefreshView {
        name: Name,
        with_data: bool,
    },
    CreateSchema {
        name: Option<String>,
        if_not_exists: bool,
        elements: Vec<Utility>,
    },
    CreateEnum {
        name: Name,
        labels: Vec<String>,
    },
    CreateComposite {
        name: Name,
        fields: Vec<(String, DataType)>,
    },
    CreateDomain(CreateDomain),
    AlterTable(AlterTable),
    AlterType {
        name: Name,
        change: TypeChange,
    },
    AlterDomain {
        name: Name,
        change: DomainChange,
    },
    Rename {
        kind: ObjectKind,
        name: Name,
        if_exists: bool,
        to: String,
    },
    SetSchema {
        kind: ObjectKind,
        name: Name,
        if_exists: bool,
        schema: String,
    },
    Drop(Drop),
    Comment {
        on: CommentOn,
        text: Option<String>,
    },
    Truncate {
        tables: Vec<Name>,
        restart: bool,
        cascade: bool,
    },
    CreateDatabase {
        name: String,
        template: Option<String>,
    },
    DropDatabase {
        name: String,
        if_exists: bool,
        force: bool,
    },
    /// Of which nothing matters here.
    AlterDatabase {
        name: String,
    },
    RenameDatabase {
        name: String,
        to: String,
    },
    CreateCollation(CreateCollation),
    DropCollation {
        names: Vec<Name>,
        if_exists: bool,
        cascade: bool,
    },
    CreateExtension {
        name: String,
        if_not_exists: bool,
        schema: Option<String>,
    },
    /// Done by doing nothing.
    Accepted(&'static str),
    /// Done by doing nothing, if these are there; only outside of transactions.
    Vacuum(Vec<Name>),
    /// ANALYZE, CLUSTER, REINDEX: the same, also inside.
    Maintain {
        tag: &'static str,
        relations: Vec<Name>,
    },
    CreateRole {
        name: String,
        change: RoleChange,
    },
    AlterRole {
        name: RoleName,
        change: RoleChange,
    },
    RenameRole {
        name: RoleName,
        to: String,
    },
    DropRole {
        names: Vec<RoleName>,
        if_exists: bool,
    },
    /// GRANT and REVOKE: what must be there.
    Grant {
        tag: &'static str,
        roles: Vec<RoleName>,
        relations: Vec<Name>,
        schemas: Vec<String>,
    },
    Unsupported(&'static str),
    Set {
        name: String,
        value: SetValue,
        local: bool,
    },
    Reset(String),
    ResetAll,
    Show(String),
    SetTransaction(Vec<TransactionMode>),
    SetCharacteristics(Vec<TransactionMode>),
    SetConstraints {
        names: Option<Vec<Name>>,
        deferred: bool,
    },
    Discard(DiscardWhat),
    Listen(String),
    /// All channels if none is named.
    Unlisten(Option<String>),
    Notify {
        channel: String,
        payload: String,
    },
    Prepare {
        name: String,
        types: Vec<DataType>,
        statement: Box<Parsed>,
    },
    Execute {
        name: String,
        args: Vec<Expr>,
    },
    Deallocate(Option<String>),
    Declare(Declare),
    Fetch {
        name: String,
        direction: Direction,
        is_move: bool,
    },
    Close(Option<String>),
    Lock {
        tables: Vec<Name>,
        mode: LockMode,
        nowait: bool,
    },
    Copy(Copy),
    Explain {
        statement: Box<Parsed>,
        analyze: bool,
        format: String,
        costs: bool,
    },
}

#[derive(Clone, Debug)]
pub struct CreateCollation {
    pub name: Name,
    pub if_not_exists: bool,
    pub from: Option<Name>,
    pub provider: String,
    pub locale: Option<String>,
    pub lc_collate: Option<String>,
    pub lc_ctype: Option<String>,
    pub deterministic: bool,
}

#[derive(Clone, Debug)]
pub struct CreateTable {
    pub name: Name,
    pub lifetime: Lifetime,
    pub if_not_exists: bool,
    pub columns: Vec<ColumnDef>,
    pub constraints: Vec<TableConstraint>,
    /// LIKE, with the place among the columns that it stands at.
    pub likes: Vec<(usize, Like)>,
}

#[derive(Clone, Debug)]
pub struct Like {
    pub table: Name,
    pub defaults: bool,
    pub constraints: bool,
    pub identity: bool,
    pub generated: bool,
    pub indexes: bool,
    pub comments: bool,
}

#[derive(Clone, Debug)]
pub struct ColumnDef {
    pub name: String,
    pub ty: DataType,
    pub collation: Option<Name>,
    pub not_null: Option<bool>,
    pub default: Option<String>,
    pub generated: Option<String>,
    pub identity: Option<IdentityDef>,
    pub constraints: Vec<TableConstraint>,
}

#[derive(Clone, Debug)]
pub struct IdentityDef {
    pub always: bool,
    pub options: Vec<SequenceOption>,
}

#[derive(Clone, Debug)]
pub struct TableConstraint {
    pub name: Option<String>,
    pub kind: ConstraintDef,
    pub deferrable: bool,
    pub deferred: bool,
    pub not_valid: bool,
}

#[derive(Clone, Debug)]
pub enum ConstraintDef {
    PrimaryKey {
        columns: Vec<String>,
        include: Vec<String>,
    },
    Unique {
        columns: Vec<String>,
        include: Vec<String>,
        nulls_not_distinct: bool,
    },
    /// PRIMARY KEY or UNIQUE of an index that is there.
    UsingIndex {
        index: String,
        primary: bool,
    },
    Check(String),
    ForeignKey(ForeignKeyDef),
}

#[derive(Clone, Debug)]
pub struct ForeignKeyDef {
    pub columns: Vec<String>,
    pub table: Name,
    pub referenced: Vec<String>,
    pub on_delete: crate::catalog::Action,
    pub on_update: crate::catalog::Action,
    /// The columns that ON DELETE SET is about; none for all.
    pub set_columns: Vec<String>,
    pub match_full: bool,
}

#[derive(Clone, Debug)]
pub struct CreateTableAs {
    pub name: Name,
    pub lifetime: Lifetime,
    pub if_not_exists: bool,
    pub columns: Vec<String>,
    pub query: Box<Query>,
    pub with_data: bool,
    /// The tag of SELECT INTO is another one.
    pub is_into: bool,
}

#[derive(Clone, Debug)]
pub struct CreateIndex {
    pub name: Option<String>,
    pub table: Name,
    pub unique: bool,
    pub concurrently: bool,
    pub if_not_exists: bool,
    pub method: String,
    pub keys: Vec<IndexKeyDef>,
    pub include: Vec<String>,
    pub nulls_not_distinct: bool,
    pub predicate: Option<String>,
}

#[derive(Clone, Debug)]
pub struct IndexKeyDef {
    /// A column's name, or an expression.
    pub column: Option<String>,
    pub expr: Option<String>,
    pub collation: Option<Name>,
    pub class: Option<String>,
    pub descending: bool,
    pub nulls_first: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct CreateSequence {
    pub name: Name,
    pub lifetime: Lifetime,
    pub if_not_exists: bool,
    pub options: Vec<SequenceOption>,
}

#[derive(Clone, Debug)]
pub enum SequenceOption {
    Type(DataType),
    Increment(i64),
    Min(Option<i64>),
    Max(Option<i64>),
    Start(i64),
    Restart(Option<i64>),
    Cache(i64),
    Cycle(bool),
    OwnedBy(Option<(Name, String)>),
    Name(Name),
}

#[derive(Clone, Debug)]
pub struct CreateView {
    pub name: Name,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub materialized: bool,
    pub lifetime: Lifetime,
    pub columns: Vec<String>,
    pub query: Box<Query>,
    pub text: String,
    pub with_data: bool,
    pub check: Option<CheckOption>,
}

#[derive(Clone, Debug)]
pub struct CreateDomain {
    pub name: Name,
    pub ty: DataType,
    pub default: Option<String>,
    pub not_null: bool,
    pub checks: Vec<(Option<String>, String)>,
}

#[derive(Clone, Debug)]
pub enum TypeChange {
    AddValue { label: String, if_not_exists: bool, place: Option<(bool, String)> },
    RenameValue { from: String, to: String },
    RenameAttribute { from: String, to: String },
    AddAttribute { name: String, ty: DataType },
    DropAttribute { name: String, if_exists: bool },
}

#[derive(Clone, Debug)]
pub enum DomainChange {
    Default(Option<String>),
    NotNull(bool),
    AddCheck { name: Option<String>, text: String, not_valid: bool },
    DropConstraint { name: String, if_exists: bool },
    RenameConstraint { from: String, to: String },
    Validate(String),
}

#[derive(Clone, Debug)]
pub struct AlterTable {
    pub name: Name,
    pub if_exists: bool,
    pub kind: ObjectKind,
    pub changes: Vec<TableChange>,
}

#[derive(Clone, Debug)]
pub enum TableChange {
    /// ENABLE or DISABLE TRIGGER ALL.
    SwitchTriggers {
        enabled: bool,
    },
    /// The same for one trigger or rule, of which there are none that have names.
    SwitchNamed {
        what: &'static str,
        name: String,
    },
    AddColumn {
        column: Box<ColumnDef>,
        if_not_exists: bool,
    },
    DropColumn {
        name: String,
        if_exists: bool,
        cascade: bool,
    },
    SetType {
        column: String,
        ty: DataType,
        collation: Option<Name>,
        using: Option<String>,
    },
    SetDefault {
        column: String,
        default: Option<String>,
    },
    NotNull {
        column: String,
        not_null: bool,
    },
    AddIdentity {
        column: String,
        identity: IdentityDef,
    },
    SetIdentity {
        column: String,
        always: Option<bool>,
        options: Vec<SequenceOption>,
    },
    DropIdentity {
        column: String,
        if_exists: bool,
    },
    DropExpression {
        column: String,
        if_exists: bool,
    },
    AddConstraint(TableConstraint),
    DropConstraint {
        name: String,
        if_exists: bool,
        cascade: bool,
    },
    AlterConstraint {
        name: String,
        deferrable: bool,
        deferred: bool,
    },
    Validate(String),
    RenameColumn {
        from: String,
        to: String,
    },
    RenameConstraint {
        from: String,
        to: String,
    },
    Unsupported(&'static str),
    /// OWNER TO, SET (…), SET STATISTICS and the like.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    Table,
    View,
    MaterializedView,
    Index,
    Sequence,
    Schema,
    Type,
    Domain,
    Extension,
}

impl ObjectKind {
    /// The word of messages.
    pub fn word(self) -> &'static str {
        match self {
            ObjectKind::Table => "table",
            ObjectKind::View => "view",
            ObjectKind::MaterializedView => "materialized view",
            ObjectKind::Index => "index",
            ObjectKind::Sequence => "sequence",
            ObjectKind::Schema => "schema",
            ObjectKind::Extension => "extension",
            ObjectKind::Type => "type",
            ObjectKind::Domain => "domain",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Drop {
    pub kind: ObjectKind,
    pub names: Vec<Name>,
    pub if_exists: bool,
    pub cascade: bool,
}

#[derive(Clone, Debug)]
pub enum CommentOn {
    Relation(ObjectKind, Name),
    Column(Name, String),
    Constraint { name: String, table: Name },
    Type(Name),
    Other,
}

#[derive(Clone, Debug)]
pub enum SetValue {
    Default,
    Text(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiscardWhat {
    All,
    Plans,
    Sequences,
    Temporary,
}

#[derive(Clone, Debug)]
pub struct Declare {
    pub name: String,
    pub binary: bool,
    pub scroll: Option<bool>,
    pub hold: bool,
    pub query: Box<Query>,
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// So many rows on; backwards if negative, all if extreme.
    By(i64),
    Absolute(i64),
    Relative(i64),
}

pub use crate::locks::Mode as LockMode;

#[derive(Clone, Debug)]
pub struct Copy {
    pub what: CopyWhat,
    pub from: bool,
    /// A file or program on the server instead of the client.
    pub file: bool,
    pub options: Vec<(String, Option<String>, Vec<String>)>,
    pub filter: Option<String>,
}

#[derive(Clone, Debug)]
pub enum CopyWhat {
    Table(Name, Vec<String>),
    Query(Box<Parsed>),
}
