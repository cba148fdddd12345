//! Values and their types: what a cell holds, how it is written as text and as bytes, how it is
//! compared. Types are named by PostgreSQL's object identifiers.

pub mod binary;
pub mod compare;
pub mod datetime;
mod datum;
pub mod inet;
pub mod io;
pub mod json;
mod lookup;
pub mod numeric;
mod oid;
pub mod zone;

pub use binary::{recv, send};
pub use compare::{HashKey, compare, compare_as, not_distinct};
pub use datum::{Array, Datum, Dimension, EnumValue, Interval, RecordValue};
pub use inet::Inet;
pub use io::{Modifier, apply_typmod, input, output, typmod_in, typmod_out};
pub use lookup::{Field, NoTypes, TypeKind, TypeLookup};
pub use oid::Oid;
pub use zone::{Zone, ZoneInfo};
