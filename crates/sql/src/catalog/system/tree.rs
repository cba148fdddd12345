//! References to expressions: what stands in the columns of the catalog that PostgreSQL keeps trees
//! of expressions in, and what `pg_get_expr` follows.

use crate::types::Oid;
use std::fmt;

/// An expression of the catalog.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tree {
    /// The default of a column, or how it is generated.
    Default(Oid, u16),
    /// The condition of a constraint, of a table or a domain.
    Check(Oid),
    /// The expressions of an index.
    IndexExprs(Oid),
    /// Which rows an index is of.
    Predicate(Oid),
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Default(table, column) => write!(f, "{{DEFAULT {table} {column}}}"),
            Tree::Check(constraint) => write!(f, "{{CHECK {constraint}}}"),
            Tree::IndexExprs(index) => write!(f, "{{INDEXEXPRS {index}}}"),
            Tree::Predicate(index) => write!(f, "{{PREDICATE {index}}}"),
        }
    }
}

impl Tree {
    /// The reference in a text, if it is one.
    pub fn parse(text: &str) -> Option<Tree> {
        let mut words = text.strip_prefix('{')?.strip_suffix('}')?.split(' ');
        let (kind, object) = (words.next()?, Oid(words.next()?.parse().ok()?));
        Some(match kind {
            "DEFAULT" => Tree::Default(object, words.next()?.parse().ok()?),
            "CHECK" => Tree::Check(object),
            "INDEXEXPRS" => Tree::IndexExprs(object),
            "PREDICATE" => Tree::Predicate(object),
            _ => return None,
        })
    }
}
