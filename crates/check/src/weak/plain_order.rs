//! Commit orders of no isolation: they extend session order (or real time), reads and lists, and
//! nothing is asked of what a reader saw. O(n).

use super::edges::{Edges, known_edges};
use super::graph::Graph;
use crate::index::{Index, first_guess};
use crate::outcome::Options;
use seriatim_history::{History, TxnId};
use seriatim_isolation::Order;

/// Such an order of a history whose sessions are those that count, or `None` if there is none.
pub(crate) fn plain_order(
    history: &History,
    index: &Index,
    options: &Options,
) -> Option<Vec<TxnId>> {
    if options.order != Order::RealTime {
        return extension(history, index, options.threads);
    }
    // Reads of moments lead from what ended to what began later.
    let moments = history.with_moments().ok()?;
    let index = Index::build(&moments.history, options.threads);
    let mut order = extension(&moments.history, &index, options.threads)?;
    order.retain(|&txn| !moments.is_moment(txn));
    Some(order)
}

fn extension(history: &History, index: &Index, threads: usize) -> Option<Vec<TxnId>> {
    let edges = Edges::new(Vec::new(), history.txn_count());
    let graph = Graph { history, index, edges: &edges };
    let causal = graph.causal_order(first_guess(history, index), threads)?;
    let edges = Edges::new(known_edges(index), history.txn_count());
    Graph { history, index, edges: &edges }.topological(&causal)
}
