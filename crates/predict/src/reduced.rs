//! A history of the conflicting accesses alone: one key a class, one value a writer. It is
//! serializable iff the whole history is.

use crate::encode::Assignment;
use crate::problem::Problem;
use seriatim_check::{Answer, Checker};
use seriatim_history::{Columns, History, KeyId, KeyNames, OpKind, Status, Value};
use seriatim_isolation::Level;
use std::time::Instant;

/// What the checker says about a history.
pub(crate) enum Serial {
    /// Serializable, in this order of the kept transactions.
    Order(Vec<u32>),
    /// Not serializable.
    None,
    OutOfTime,
}

/// Asks the serializability checker.
pub(crate) fn serial_order(
    problem: &Problem,
    assignment: &Assignment,
    deadline: Option<Instant>,
) -> Serial {
    let (history, nodes) = history(problem, assignment);
    let checker = Checker::new().levels([Level::Serializable]).deadline(deadline).threads(1);
    let report = checker.check(&history);
    let Some(verdict) = report.verdicts.into_iter().next() else { return Serial::OutOfTime };
    match (verdict.answer(), verdict.commit_order()) {
        (Answer::Violated, _) => Serial::None,
        (Answer::Holds, Some(order)) => {
            Serial::Order(order.into_iter().map(|txn| nodes[txn.index()]).collect())
        }
        _ => Serial::OutOfTime,
    }
}

/// The history, and the node of each of its transactions.
fn history(problem: &Problem, assignment: &Assignment) -> (History, Vec<u32>) {
    let classes = problem.classes.len() as u32;
    let mut columns =
        Columns { key_names: KeyNames::Numbers { count: classes }, ..Columns::default() };
    let value = |node: Option<u32>| {
        node.and_then(|node| Value::small(u64::from(node) + 1)).unwrap_or(Value::NULL)
    };
    let mut writes: Vec<Vec<(u32, u32)>> = vec![Vec::new(); problem.nodes.len()];
    for (class, content) in problem.classes.iter().enumerate() {
        for &(writer, slot) in &content.writers {
            writes[writer as usize].push((class as u32, slot));
        }
    }
    let mut nodes = Vec::new();
    for number in (0..problem.nodes.len() as u32).filter(|&node| assignment.kept[node as usize] > 0)
    {
        nodes.push(number);
        let txn = columns.push_txn(problem.nodes[number as usize].session, Status::Committed);
        for read in problem.reads_of(number) {
            if let Some(source) = assignment.source[read] {
                columns.push_op(txn, OpKind::Read, KeyId(problem.reads[read].class), value(source));
            }
        }
        for &(class, slot) in &writes[number as usize] {
            if slot < assignment.kept[number as usize] {
                columns.push_op(txn, OpKind::Write, KeyId(class), value(Some(number)));
            }
        }
    }
    let history =
        columns.finish().expect("a part of a run is not larger than the history that it is of");
    (history, nodes)
}
