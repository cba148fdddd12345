//! Expressions with their types.

use super::query::Query;
use crate::catalog::builtin::Proc;
use crate::functions::{Function, SetFunction};
use crate::types::{Collation, Datum, Oid};
use std::sync::Arc;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Oid,
    /// The modifier of that, -1 if there is none.
    pub typmod: i32,
}

/// A function that was found.
#[derive(Clone, Copy)]
pub struct Callee {
    /// What the catalog says of it.
    pub proc: &'static Proc,
    /// What runs it.
    pub run: CallKind,
}

/// What runs a function.
#[derive(Clone, Copy, Debug)]
pub enum CallKind {
    /// It needs its arguments only.
    Plain(Function),
    /// It returns a set.
    Set(SetFunction),
    /// It looks at the session, the catalog or sequences: the executor knows it by its name.
    Session,
}

impl PartialEq for Callee {
    fn eq(&self, other: &Callee) -> bool {
        self.proc.oid == other.proc.oid
    }
}

impl std::fmt::Debug for Callee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.proc.name, self.proc.oid)
    }
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A value.
    Const(Datum),
    /// A parameter, from 0.
    Param(usize),
    /// A column of the row of this query, or of the query so many levels further out.
    Column {
        /// How many levels out.
        depth: u32,
        /// Its place in the row there.
        index: usize,
    },
    /// A function, operator or cast.
    Call {
        /// Which.
        callee: Callee,
        /// With what.
        args: Vec<Expr>,
        /// Whether the last argument is the array of a variadic one.
        variadic: bool,
    },
    /// The same representation under another type.
    Relabel(Box<Expr>),
    /// A text with its collation, or what that makes of it.
    Collated {
        /// The text.
        arg: Box<Expr>,
        /// The collation.
        collation: Arc<Collation>,
        /// What it is about.
        by: Collated,
    },
    /// Written as text and read as the other type.
    ThroughText(Box<Expr>),
    /// Each element of an array is converted as the expression over [`ExprKind::Placeholder`] says.
    ArrayCast {
        /// The array.
        array: Box<Expr>,
        /// The conversion of an element.
        element: Box<Expr>,
    },
    /// A row is converted field by field, each as the expression over a placeholder says.
    RowCast {
        /// The row.
        row: Box<Expr>,
        /// The conversions of the fields.
        fields: Vec<Expr>,
    },
    /// The modifier of the type is applied.
    Typmod {
        /// The value.
        arg: Box<Expr>,
        /// Whether the cast was written.
        explicit: bool,
    },
    /// The constraints of a domain are checked.
    CheckDomain(Box<Expr>),
    /// All are true.
    And(Vec<Expr>),
    /// One is true.
    Or(Vec<Expr>),
    /// The opposite.
    Not(Box<Expr>),
    /// Null, or a row of nulls.
    IsNull(Box<Expr>),
    /// Not null, or a row without nulls.
    IsNotNull(Box<Expr>),
    /// IS TRUE and the like.
    BoolTest(Box<Expr>, BoolTest),
    /// IS DISTINCT FROM, by an equality.
    IsDistinct {
        /// The equality over both.
        equal: Box<Expr>,
        /// The left side.
        left: Box<Expr>,
        /// The right side.
        right: Box<Expr>,
    },
    /// CASE; an operand is evaluated once and compared as the conditions over the placeholder say.
    Case {
        /// The operand.
        operand: Option<Box<Expr>>,
        /// Conditions and results.
        arms: Vec<(Expr, Expr)>,
        /// What else.
        otherwise: Box<Expr>,
    },
    /// What stands for the operand of CASE, an element, a field or the value of a domain.
    Placeholder,
    /// The first that is not null.
    Coalesce(Vec<Expr>),
    /// Null if the equality holds, else the first.
    NullIf {
        /// The equality.
        equal: Box<Expr>,
        /// The value.
        value: Box<Expr>,
    },
    /// GREATEST or LEAST of those that are not null.
    Extreme {
        /// Whether it is the greatest.
        greatest: bool,
        /// The values.
        args: Vec<Expr>,
    },
    /// The one value of a query of one row, or null.
    Scalar(Box<Subquery>),
    /// Whether the query has a row.
    Exists(Box<Subquery>),
    /// The values of a query as an array.
    ArrayOf(Box<Subquery>),
    /// ANY and ALL of a query.
    QuantifiedQuery {
        /// The comparison of [`ExprKind::Column`]s at depth 0 (the row of the query, appended to
        /// the left side).
        left: Vec<Expr>,
        /// Over a row of the left side's values followed by the query's.
        test: Box<Expr>,
        /// Which.
        quantified: Quantified,
        /// The query.
        query: Box<Subquery>,
    },
    /// ANY and ALL of an array: the test is over a row of the left side and an element.
    QuantifiedArray {
        /// The left side.
        left: Box<Expr>,
        /// Over a row of both.
        test: Box<Expr>,
        /// Which.
        quantified: Quantified,
        /// The array.
        array: Box<Expr>,
    },
    /// ARRAY[…]; of arrays if `nested`.
    Array {
        /// The elements.
        elements: Vec<Expr>,
        /// Whether these are arrays, so that there is one dimension more.
        nested: bool,
    },
    /// ROW(…).
    Row {
        /// The fields.
        fields: Vec<Expr>,
        /// Their names.
        names: Vec<Arc<str>>,
    },
    /// The whole row of a part of FROM: null if an outer join found none.
    WholeRow {
        /// How many levels out.
        depth: u32,
        /// Where it begins in the row.
        start: usize,
        /// The places of its columns.
        columns: Vec<usize>,
        /// Their names.
        names: Vec<Arc<str>>,
        /// Their types.
        types: Vec<Oid>,
    },
    /// Subscripts of an array or of jsonb.
    Subscript {
        /// The value.
        base: Box<Expr>,
        /// The subscripts.
        parts: Vec<SubscriptPart>,
    },
    /// An array or jsonb in which an element or a slice is another one.
    SetElement {
        /// What it was.
        base: Box<Expr>,
        /// The subscripts.
        parts: Vec<SubscriptPart>,
        /// The new part.
        value: Box<Expr>,
    },
    /// A row in which a field is another one.
    SetField {
        /// What it was.
        base: Box<Expr>,
        /// The place of the field.
        index: usize,
        /// Its new value.
        value: Box<Expr>,
        /// The names of all fields.
        names: Vec<Arc<str>>,
        /// Their types.
        types: Vec<Oid>,
    },
    /// A field of a row.
    Field {
        /// The row.
        base: Box<Expr>,
        /// Its place.
        index: usize,
    },
    /// An aggregate of the query so many levels out, by its place there.
    Aggregate {
        /// How many levels out.
        depth: u32,
        /// Its place.
        index: usize,
    },
    /// A window function of this query, by its place.
    Window(usize),
    /// A set-returning function in the list of results, by its place.
    SetReturning(usize),
    /// GROUPING(…) of places of grouping expressions.
    Grouping(Vec<Expr>),
    /// The next number of the sequence of an identity column.
    NextValue(Oid),
    /// DEFAULT, in VALUES of an INSERT.
    Default,
}

/// What a collation stands at a text for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collated {
    /// The column has it.
    Implicit,
    /// COLLATE says it.
    Explicit,
    /// Bytes in the order of the texts.
    Key,
    /// Small letters.
    Lower,
    /// Capital letters.
    Upper,
}

/// ANY (SOME) or ALL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Quantified {
    Any,
    All,
}

/// IS (NOT) TRUE, FALSE, UNKNOWN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BoolTest {
    True,
    NotTrue,
    False,
    NotFalse,
    Unknown,
    NotUnknown,
}

/// One subscript.
#[derive(Clone, PartialEq, Debug)]
pub enum SubscriptPart {
    /// `[i]`
    Index(Expr),
    /// `[from:to]`
    Slice(Option<Expr>, Option<Expr>),
}

/// A query inside of an expression.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// The query.
    pub query: Query,
    /// Whether it looks at rows of queries around it.
    pub correlated: bool,
    /// Names it, so that the result of one that does not look around is kept for the statement.
    pub number: usize,
}

/// The same query written twice is the same expression.
impl PartialEq for Subquery {
    fn eq(&self, other: &Subquery) -> bool {
        self.correlated == other.correlated && self.query == other.query
    }
}

impl Expr {
    /// A value of a type.
    pub fn constant(value: Datum, ty: Oid) -> Expr {
        Expr { kind: ExprKind::Const(value), ty, typmod: -1 }
    }

    /// Null of a type.
    pub fn null(ty: Oid) -> Expr {
        Expr::constant(Datum::Null, ty)
    }

    /// A truth value.
    pub fn bool(kind: ExprKind) -> Expr {
        Expr { kind, ty: Oid::BOOL, typmod: -1 }
    }

    /// A column of the row at hand.
    pub fn column(index: usize, ty: Oid, typmod: i32) -> Expr {
        Expr { kind: ExprKind::Column { depth: 0, index }, ty, typmod }
    }

    /// Whether it is the constant null.
    pub fn is_null_constant(&self) -> bool {
        matches!(&self.kind, ExprKind::Const(Datum::Null))
    }
}
