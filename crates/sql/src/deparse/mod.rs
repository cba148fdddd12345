//! Bound expressions and definitions as SQL, in the form that PostgreSQL's catalog functions write:
//! every conversion that a literal or column needed stands in the text, so that it means the same
//! wherever it is read again.
//!
//! A bound expression no longer says whether a conversion was written by its user: all are written
//! out, except the last one of a default to the type of its column.

mod constant;
mod definitions;
mod operators;
mod simple;
mod view;
mod writer;

pub use definitions::{
    check, constraint, default, domain_check, index, index_column, predicate, tree,
};
pub use view::view;
pub use writer::Writer;

/// Where there are parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Around every operator.
    Plain,
    /// Where the meaning asks for them.
    Pretty,
}
