//! One value. Its type is known from where it stands (an expression, a column), so that types with
//! the same representation share a variant: text, varchar, bpchar, name and unknown are `Text`.

use super::Oid;
use super::json::Json;
use super::numeric::Numeric;
use std::sync::Arc;

/// The values of a row.
pub type Row = Vec<Datum>;

/// A value of some type, or null. At most 24 bytes.
#[derive(Clone, Debug)]
pub enum Datum {
    /// Null, of any type.
    Null,
    /// boolean
    Bool(bool),
    /// smallint
    Int2(i16),
    /// integer
    Int4(i32),
    /// bigint, xid8, pg_lsn
    Int8(i64),
    /// oid and what is represented by one: regclass, regtype, regproc, xid, cid.
    Oid(u32),
    /// real
    Float4(f32),
    /// double precision
    Float8(f64),
    /// numeric
    Numeric(Arc<Numeric>),
    /// text, varchar, bpchar (with the blanks behind it), name, "char", unknown, cstring, and
    /// jsonpath and tid in their canonical form
    Text(Arc<str>),
    /// bytea, macaddr, macaddr8
    Bytea(Arc<[u8]>),
    /// Days since 2000-01-01; `i32::MIN` and `i32::MAX` are the infinities.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since midnight, and seconds west of UTC as PostgreSQL keeps them.
    TimeTz(i64, i32),
    /// timestamp, and timestamptz in UTC: microseconds since 2000-01-01; `i64::MIN` and `i64::MAX`
    /// are the infinities.
    Timestamp(i64),
    /// interval
    Interval(Interval),
    /// uuid
    Uuid([u8; 16]),
    /// json: its text, as it was given.
    Json(Arc<str>),
    /// jsonb
    Jsonb(Arc<Json>),
    /// Any array type, and int2vector and oidvector.
    Array(Arc<Array>),
    /// A row.
    Record(Arc<RecordValue>),
    /// A value of an enumerated type.
    Enum(Arc<EnumValue>),
    /// bit and varbit: the bits as `0` and `1`.
    Bits(Arc<str>),
    /// inet and cidr
    Inet(Arc<super::inet::Inet>),
}

/// An interval: three numbers that are not converted into each other.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

/// An array of any number of dimensions, row by row.
#[derive(Clone, Debug)]
pub struct Array {
    /// The type of its elements.
    pub element: Oid,
    /// Its dimensions; none if it is empty.
    pub dimensions: Vec<Dimension>,
    /// Its elements.
    pub elements: Vec<Datum>,
}

/// One dimension of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dimension {
    /// How many elements.
    pub length: i32,
    /// The subscript of the first one, mostly 1.
    pub lower: i32,
}

impl Array {
    /// An array of one dimension, or the empty one.
    pub fn of(element: Oid, elements: Vec<Datum>) -> Array {
        let length = elements.len() as i32;
        let dimensions =
            if length == 0 { Vec::new() } else { vec![Dimension { length, lower: 1 }] };
        Array { element, dimensions, elements }
    }
}

/// A row as a value.
#[derive(Clone, Debug)]
pub struct RecordValue {
    /// The types of its fields.
    pub types: Vec<Oid>,
    /// The names of its fields (`f1`, … where there are none).
    pub names: Vec<Arc<str>>,
    /// Its fields.
    pub fields: Vec<Datum>,
}

/// A label of an enumerated type with its place in it.
#[derive(Clone, Debug)]
pub struct EnumValue {
    /// Its place in the order of the type.
    pub order: f32,
    /// The label.
    pub label: Arc<str>,
}

impl Datum {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Datum {
        Datum::Text(text.into())
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }
}

const _: () = assert!(size_of::<Datum>() <= 24);
