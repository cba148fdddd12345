//! Values and their types: what a cell holds, how it is written as text and as bytes, how it is
//! compared. Types are named by PostgreSQL's object identifiers. What reads and writes a value
//! knows the session's [`Style`] and, through [`TypeLookup`], the types that users made.

pub mod binary;
mod call;
mod collation;
pub mod compare;
pub mod datetime;
mod datum;
pub mod inet;
pub mod io;
pub mod json;
pub(crate) mod jsonpath;
mod lookup;
pub mod numeric;
mod oid;
mod style;
pub mod zone;

pub use binary::{recv, send};
pub use call::Call;
pub use collation::Collation;
pub use compare::{HashKey, compare, compare_as, not_distinct};
pub use datum::{Array, Datum, Dimension, EnumValue, Interval, RecordValue, Row};
pub use inet::Inet;
pub use io::{Modifier, apply_typmod, input, output, typmod_in, typmod_out};
pub use lookup::{Field, NoTypes, TypeKind, TypeLookup};
pub use oid::Oid;
pub use style::{DateOrder, DateStyle, Dialect, IntervalStyle, Style};
pub use zone::{Zone, ZoneInfo};
