//! Queries and changes, with names and types resolved.
//!
//! A SELECT works on one flat row: the columns of all parts of FROM, one after the other. Grouping
//! replaces it by the grouping expressions and the aggregates; window functions and set-returning
//! functions append their results. The results are computed from that row.

use super::expr::{Callee, Expr};
use crate::catalog::Table;
use crate::catalog::system::SystemTable;
use crate::functions::AggregateKind;
use crate::types::{Collation, Datum, Oid};
use std::sync::Arc;

/// A column of a result.
#[derive(Clone, PartialEq, Debug)]
pub struct OutColumn {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Oid,
    /// The modifier of its type.
    pub typmod: i32,
    /// The column of a table that it is.
    pub origin: Option<(Oid, u16)>,
    /// Its collation, unless it is the order of bytes.
    pub collation: Option<Arc<Collation>>,
}

/// A query.
#[derive(Clone, PartialEq, Debug)]
pub struct Query {
    /// Queries that others refer to by name.
    pub ctes: Vec<Cte>,
    /// What makes the rows.
    pub body: Body,
    /// The order of the rows, by places of their columns.
    pub sort: Vec<SortKey>,
    /// LIMIT
    pub limit: Option<Expr>,
    /// OFFSET
    pub offset: Option<Expr>,
    /// FETCH … WITH TIES
    pub with_ties: bool,
    /// FOR UPDATE and the like.
    pub locks: Vec<RowLock>,
    /// The columns of the result. Rows have more behind these if they are sorted by something else.
    pub columns: Vec<OutColumn>,
}

/// WITH name AS (…).
#[derive(Clone, PartialEq, Debug)]
pub struct Cte {
    /// Its number in the statement.
    pub number: usize,
    /// What it is called.
    pub name: Arc<str>,
    /// The query, or the part of a recursive one that does not refer to itself.
    pub query: Query,
    /// The part that does, and whether rows that were there are left out.
    pub recursive: Option<(Box<Query>, bool)>,
    /// Whether it is as if it stood where it is named: once, and not MATERIALIZED.
    pub is_inlined: bool,
    /// Whether it is named once.
    pub is_once: bool,
}

/// What makes the rows of a query.
#[derive(Clone, PartialEq, Debug)]
pub enum Body {
    /// SELECT
    Select(Box<Select>),
    /// UNION and the like.
    SetOp {
        /// Which.
        op: SetOp,
        /// Whether rows that are alike count each.
        all: bool,
        /// The left query.
        left: Box<Query>,
        /// The right query.
        right: Box<Query>,
    },
    /// VALUES
    Values(Vec<Vec<Expr>>),
    /// INSERT and the like, with RETURNING.
    Modify(Box<Modify>),
}

/// Whose values an identity column gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overriding {
    /// Those that are given, also where they are always generated.
    System,
    /// Those of its sequence, also where others are given.
    User,
}

/// UNION, INTERSECT, EXCEPT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// One key of an order.
#[derive(Clone, PartialEq, Debug)]
pub struct SortKey {
    /// The place in the row.
    pub column: usize,
    /// From the greatest to the smallest.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

/// SELECT
#[derive(Clone, PartialEq, Debug)]
pub struct Select {
    /// FROM, if there is one.
    pub from: Option<From>,
    /// How many columns the parts of FROM have together.
    pub width: usize,
    /// WHERE
    pub filter: Option<Expr>,
    /// GROUP BY, or aggregates without it.
    pub grouping: Option<Grouping>,
    /// HAVING
    pub having: Option<Expr>,
    /// Window functions.
    pub windows: Vec<WindowCall>,
    /// Set-returning functions in the list of results.
    pub sets: Vec<SetCall>,
    /// The results, followed by what is sorted by.
    pub targets: Vec<Expr>,
    /// DISTINCT
    pub distinct: Distinct,
}

/// DISTINCT
#[derive(Clone, PartialEq, Debug)]
pub enum Distinct {
    /// All rows.
    No,
    /// Of rows that are alike one.
    All,
    /// Of rows that are alike in these results the first.
    On(Vec<usize>),
}

/// GROUP BY
#[derive(Clone, PartialEq, Debug)]
pub struct Grouping {
    /// What is grouped by in any set.
    pub keys: Vec<Expr>,
    /// The grouping sets, by places of keys.
    pub sets: Vec<Vec<usize>>,
    /// The aggregates. The row after grouping: keys, aggregates, and a number that says which keys
    /// are not in the set.
    pub aggregates: Vec<AggCall>,
    /// Columns that depend on the keys, from any row of the group.
    pub dependent: Vec<Expr>,
    /// Sets that keys are made of: rows are multiplied by them before they are grouped.
    pub expanded: Vec<SetCall>,
    /// Where the results of these stand, behind the row of FROM.
    pub start: usize,
}

/// An aggregate.
#[derive(Clone, PartialEq, Debug)]
pub struct AggCall {
    /// The function.
    pub proc: Callee,
    /// How it is computed.
    pub kind: AggregateKind,
    /// Arguments that are the same for all rows (of ordered-set aggregates).
    pub direct: Vec<Expr>,
    /// The arguments.
    pub args: Vec<Expr>,
    /// Whether values that are alike count once.
    pub distinct: bool,
    /// In which order: expressions, with the order's directions by place.
    pub order: Vec<(Expr, SortKey)>,
    /// FILTER
    pub filter: Option<Expr>,
    /// The type of the result.
    pub ty: Oid,
    /// The types of the arguments.
    pub arg_types: Vec<Oid>,
}

/// A window function, or an aggregate over a window.
#[derive(Clone, PartialEq, Debug)]
pub struct WindowCall {
    /// The function.
    pub function: FunctionCall,
    /// PARTITION BY
    pub partition: Vec<Expr>,
    /// ORDER BY
    pub order: Vec<(Expr, SortKey)>,
    /// The frame.
    pub frame: Frame,
    /// FILTER
    pub filter: Option<Expr>,
    /// The type of the result.
    pub ty: Oid,
    /// The arguments.
    pub args: Vec<Expr>,
    /// Their types.
    pub arg_types: Vec<Oid>,
}

/// What is called over a window.
#[derive(Clone, PartialEq, Debug)]
pub enum FunctionCall {
    /// row_number and the like, by its name inside of PostgreSQL.
    Window(&'static str),
    /// An aggregate.
    Aggregate(AggregateKind),
}

/// ROWS, RANGE or GROUPS BETWEEN … AND ….
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// What is counted.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
    /// What is left out.
    pub exclusion: FrameExclusion,
}

/// EXCLUDE
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameExclusion {
    None,
    CurrentRow,
    Group,
    Ties,
}

/// What a frame counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameUnit {
    Rows,
    Range,
    Groups,
}

/// Where a frame begins or ends. In RANGE the offset is an expression over the sort key (as a
/// placeholder) that gives the bound.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// A set-returning function.
#[derive(Clone, PartialEq, Debug)]
pub struct SetCall {
    /// The function.
    pub callee: Callee,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// The types of the columns of its result.
    pub columns: Vec<Oid>,
    /// The type of its result.
    pub ty: Oid,
}

/// A part of FROM, or several that are joined. Each has its place in the row.
#[derive(Clone, PartialEq, Debug)]
pub enum From {
    /// A table.
    Table(TableRef),
    /// A table of the catalog.
    System {
        /// Which.
        table: SystemTable,
        /// Where its columns begin in the row.
        start: usize,
    },
    /// A query.
    Query {
        /// The query.
        query: Box<Query>,
        /// Whether it sees the parts before it; then these are one level out.
        lateral: bool,
        /// Where its columns begin in the row.
        start: usize,
        /// Whether it sees them in fact, or anything else around it.
        correlated: bool,
    },
    /// A query of WITH.
    Cte {
        /// Its number.
        number: usize,
        /// Where its columns begin in the row.
        start: usize,
        /// How many columns.
        width: usize,
        /// Those that nothing looks at, which a plan says.
        unused: Vec<usize>,
        /// Conditions over its columns, which a plan says.
        conditions: Vec<Expr>,
    },
    /// Functions, whose rows stand side by side. Arguments see the parts before as the row itself.
    Functions {
        /// The functions.
        functions: Vec<FromFunction>,
        /// WITH ORDINALITY
        ordinality: bool,
        /// Where its columns begin in the row.
        start: usize,
    },
    /// A join.
    Join {
        /// Which.
        kind: JoinKind,
        /// The left part.
        left: Box<From>,
        /// The right part.
        right: Box<From>,
        /// ON
        on: Option<Expr>,
    },
}

/// A function in FROM.
#[derive(Clone, PartialEq, Debug)]
pub enum FromFunction {
    /// One that returns a set.
    Set(SetCall),
    /// Any other expression: one row; the columns of a row value, or one.
    Scalar(Expr, Vec<Oid>),
}

/// A table in FROM.
#[derive(Clone, Debug)]
pub struct TableRef {
    /// The table.
    pub table: Arc<Table>,
    /// What it is called here.
    pub alias: Arc<str>,
    /// Where its columns begin in the row: one for each column ever, dropped ones too, and behind
    /// these the number of the row.
    pub start: usize,
}

impl PartialEq for TableRef {
    fn eq(&self, other: &TableRef) -> bool {
        (self.table.oid, self.start) == (other.table.oid, other.start)
    }
}

impl TableRef {
    /// How many places it takes in the row.
    pub fn width(&self) -> usize {
        self.table.columns.len() + 1
    }
}

/// How parts are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
}

/// FOR UPDATE and the like.
#[derive(Clone, PartialEq, Debug)]
pub struct RowLock {
    /// How strong.
    pub strength: LockStrength,
    /// The parts of FROM that it is about, by where they begin; none for all.
    pub of: Vec<usize>,
    /// What to do about rows that others have locked.
    pub wait: WaitPolicy,
}

/// How strong a lock of a row is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// What to do about rows that others have locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum WaitPolicy {
    Wait,
    NoWait,
    SkipLocked,
}

/// INSERT, UPDATE, DELETE or MERGE.
#[derive(Clone, PartialEq, Debug)]
pub struct Modify {
    /// The table.
    pub target: TableRef,
    /// What is done.
    pub kind: ModifyKind,
    /// ORDER BY, which MySQL has: over the row as RETURNING; the places of the keys mean nothing.
    pub order: Vec<(Expr, SortKey)>,
    /// LIMIT, likewise.
    pub limit: Option<Expr>,
    /// RETURNING, over the row of the target and of what else there is.
    pub returning: Vec<Expr>,
    /// How many columns the target and the parts of FROM have together.
    pub width: usize,
    /// What the check options of views ask of rows that are written, with the views' names.
    pub checks: Vec<(Arc<str>, Expr)>,
}

/// What is done to a table.
#[derive(Clone, PartialEq, Debug)]
pub enum ModifyKind {
    /// INSERT
    Insert {
        /// Where the rows come from: values for `columns`.
        source: InsertSource,
        /// The columns that are given, by number.
        columns: Vec<u16>,
        /// What columns get that are not given, over no row.
        defaults: Vec<(u16, Expr)>,
        /// ON CONFLICT
        on_conflict: Option<OnConflict>,
        /// OVERRIDING SYSTEM VALUE or USER VALUE.
        overriding: Option<Overriding>,
    },
    /// UPDATE
    Update {
        /// The other parts of FROM.
        from: Option<From>,
        /// WHERE
        filter: Option<Expr>,
        /// SET
        set: Vec<Assignment>,
    },
    /// DELETE
    Delete {
        /// USING
        from: Option<From>,
        /// WHERE
        filter: Option<Expr>,
    },
    /// MERGE
    Merge {
        /// USING
        source: Box<From>,
        /// ON
        on: Expr,
        /// WHEN …
        arms: Vec<MergeArm>,
    },
}

/// Where rows that are inserted come from.
#[derive(Clone, PartialEq, Debug)]
pub enum InsertSource {
    /// A query.
    Query(Box<Query>),
    /// One row of defaults.
    Defaults,
}

/// SET column = value.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// The column.
    pub column: u16,
    /// Its new value.
    pub value: Expr,
}

/// ON CONFLICT
#[derive(Clone, PartialEq, Debug)]
pub struct OnConflict {
    /// The unique indexes that are meant; none for any.
    pub target: ConflictTarget,
    /// What is done.
    pub action: ConflictAction,
}

/// Which conflicts are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConflictTarget {
    /// Any.
    Any,
    /// Those with these indexes.
    Indexes(Vec<Oid>),
}

/// What is done about a conflict.
#[derive(Clone, PartialEq, Debug)]
pub enum ConflictAction {
    /// Nothing.
    Nothing,
    /// The row that is there is changed. Expressions are over that row followed by the row that was
    /// to be inserted.
    Update {
        /// SET
        set: Vec<Assignment>,
        /// WHERE
        filter: Option<Expr>,
    },
}

/// WHEN (NOT) MATCHED.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeArm {
    /// When.
    pub when: MergeWhen,
    /// AND …
    pub condition: Option<Expr>,
    /// What then.
    pub action: MergeAction,
}

/// When an arm of MERGE is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum MergeWhen {
    Matched,
    NotMatched,
}

/// What an arm of MERGE does.
#[derive(Clone, PartialEq, Debug)]
pub enum MergeAction {
    /// Nothing.
    Nothing,
    /// DELETE
    Delete,
    /// UPDATE SET
    Update(Vec<Assignment>),
    /// INSERT: values by column number.
    Insert(Vec<(u16, Expr)>),
}

impl PartialEq for AggregateKind {
    fn eq(&self, other: &AggregateKind) -> bool {
        self.skips_nulls == other.skips_nulls && std::ptr::fn_addr_eq(self.start, other.start)
    }
}

impl Query {
    /// A query of constant rows.
    pub fn values(rows: Vec<Vec<Datum>>, columns: Vec<OutColumn>) -> Query {
        let types: Vec<Oid> = columns.iter().map(|column| column.ty).collect();
        let row = |row: Vec<Datum>| {
            let cells = row.into_iter().zip(&types);
            cells.map(|(value, &ty)| Expr::constant(value, ty)).collect()
        };
        Query {
            ctes: Vec::new(),
            body: Body::Values(rows.into_iter().map(row).collect()),
            sort: Vec::new(),
            limit: None,
            offset: None,
            with_ties: false,
            locks: Vec::new(),
            columns,
        }
    }
}
