//! The way of a decision: build the graph, go through the rounds, read off the answer.

use super::facts::Facts;
use super::guilty;
use super::ids::PointId;
use super::point_graph::PointGraph;
use super::rounds::Rounds;
use crate::index::Index;
use crate::limits::Limits;
use crate::outcome::Effort;
use seriatim_history::{History, TxnId};
use seriatim_isolation::Guarantee;
use seriatim_verify::Point;
use std::time::Instant;

/// The answer for a strong level.
#[derive(Debug)]
pub(crate) enum Decision {
    /// The points of the transactions in an order that satisfies the level.
    Holds(Vec<Point>),
    /// These transactions alone violate the level.
    Violated(Vec<TxnId>),
    /// The time or the memory ran out; [`Limits::reason`] knows which.
    OutOfBudget,
    /// Beyond what this search can do: an ambiguous read may come from a transaction that perhaps
    /// did not commit.
    Unsupported,
}

/// Decides a strong level of a history whose reads are all well formed.
pub(crate) fn decide(
    history: &History,
    index: &Index,
    asked: Guarantee,
    limits: Limits,
    threads: usize,
) -> (Decision, Effort) {
    let start = Instant::now();
    let facts = Facts::new(history, index);
    if facts.doubtful {
        return (Decision::Unsupported, Effort::default());
    }
    let mut graph = PointGraph::new(&facts, asked);
    let mut rounds = Rounds::new(&facts, limits, threads);
    rounds.effort.build = start.elapsed();
    let result = rounds.run(&mut graph);
    let decision = match result {
        Ok(Some(order)) => Decision::Holds(as_points(&graph, &order)),
        Ok(None) => Decision::OutOfBudget,
        Err(contradiction) => Decision::Violated(guilty::transactions(
            &facts,
            &graph,
            &rounds.knowledge(),
            &contradiction,
        )),
    };
    (decision, rounds.effort)
}

fn as_points(graph: &PointGraph, order: &[PointId]) -> Vec<Point> {
    let timeline = graph.timeline;
    let mut points = Vec::with_capacity(order.len());
    for &point in order.iter().filter(|&&point| graph.is_of_txn(point)) {
        let txn = timeline.txn(point);
        if point == timeline.begin(txn) {
            points.push(Point::Begin(txn));
        }
        if point == timeline.commit(txn) {
            points.push(Point::Commit(txn));
        }
    }
    points
}
