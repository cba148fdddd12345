//! jsonpath: the path language of SQL/JSON, as a type. A path is kept as its canonical text;
//! [`parse()`] makes the tree, which writes itself. What paths find is for functions to say.

mod ast;
mod lex;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use ast::{Chain, Comparison, Depth, Method, Operator, Path, Predicate, Start, Step};
pub use parse::parse;
