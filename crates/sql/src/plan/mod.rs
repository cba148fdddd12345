//! How the parts of FROM are gone through: in which order, by which keys, and where each condition
//! is tested.
//!
//! A node fills its places of the row, for each of its rows, and hands on. Conditions are tested as
//! soon as the row has what they look at. Which cells a statement reads, and in which order, is
//! decided here: conditions over one table are tested before its other columns are read.

mod access;
mod columns;
mod cost;
mod joins;
mod push;
mod reduce;
mod semi;

pub use access::{Access, KeyPart, is_given};
pub use columns::{leave_out, places};
pub use joins::width;
pub(crate) use joins::{element_pair, equal_pairs};
pub use push::{add, before_groups, push, stands_alone};
pub use semi::{Semi, semi};

use crate::catalog::Catalog;
use crate::ir::{Expr, From, JoinKind, LockStrength, TableRef, WaitPolicy};

/// A part of a plan.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it goes through.
    pub kind: NodeKind,
    /// Its places in the row.
    pub start: usize,
    /// Where these end.
    pub end: usize,
    /// Conditions over it and what comes before it.
    pub filters: Vec<Expr>,
    /// Conditions that are the same for all its rows: without them there are none, and nothing
    /// else is looked at.
    pub once: Vec<Expr>,
}

/// What a node goes through.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// The rows of a table.
    Scan(Scan),
    /// Anything else that FROM may have.
    Source {
        /// What.
        from: From,
        /// Whether its rows depend on the row so far.
        dependent: bool,
    },
    /// A join.
    Join {
        /// Which.
        kind: JoinKind,
        /// What comes first.
        left: Box<Node>,
        /// What is looked for.
        right: Box<Node>,
        /// Equal on both sides: over the left, and over the right.
        hash: Vec<(Expr, Expr)>,
        /// Other conditions of an outer join.
        on: Vec<Expr>,
        /// Whether the right side depends on the row of the left one.
        dependent: bool,
    },
    /// One row without columns.
    Nothing,
}

/// A table that is gone through.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The table.
    pub table: TableRef,
    /// How rows are found.
    pub access: Access,
    /// Columns that are looked at first, for the conditions.
    pub first: Vec<u16>,
    /// The columns that are looked at if these hold.
    pub rest: Vec<u16>,
    /// Whether the rows are locked, and read as they are then.
    pub lock: Option<(LockStrength, WaitPolicy)>,
    /// Whether a scan in the order of the primary key begins at its end.
    pub is_backwards: bool,
}

/// Plans FROM with the conditions of WHERE; `used` says which columns are looked at elsewhere.
pub fn plan(catalog: &Catalog, from: Option<&From>, filter: Option<&Expr>, used: &[usize]) -> Node {
    let conditions = filter.map(|filter| access::conjuncts(filter.clone())).unwrap_or_default();
    let mut node = match from {
        Some(from) if reduce::has_outer(from) => {
            let mut from = from.clone();
            reduce::reduce(&mut from, &reduce::not_null(&conditions));
            joins::plan(catalog, &from, conditions)
        }
        Some(from) => joins::plan(catalog, from, conditions),
        None => Node {
            kind: NodeKind::Nothing,
            start: 0,
            end: 0,
            filters: conditions,
            once: Vec::new(),
        },
    };
    cheapest_first(&mut node);
    let mut needed: Vec<usize> = used.to_vec();
    columns::collect(&node, &mut needed);
    needed.sort_unstable();
    needed.dedup();
    columns::assign(&mut node, &needed);
    node
}

/// What costs less is tested first, in PostgreSQL's order: a condition that would fail, or that
/// asks another query, is not tested for rows that are not meant anyway.
fn cheapest_first(node: &mut Node) {
    cost::sort(&mut node.filters);
    if let NodeKind::Join { left, right, on, .. } = &mut node.kind {
        cost::sort(on);
        cheapest_first(left);
        cheapest_first(right);
    }
}
