//! For pictures: the exemplar of each anomaly as a Graphviz graph, one cluster for each session.
//!
//! Solid edges were observed (session order, reads, real time) or follow from that at once; dashed
//! ones are inferred.

use crate::checked::Checked;
use crate::prose::{act, clean, item, txn};
use seriatim_check::{AnomalyGroup, Edge, OpRef, Reason, TxnRef, Violation, Why};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The graph of all exemplars of `inputs`.
pub fn render(inputs: &[Checked]) -> String {
    let mut page = String::from(
        "digraph seriatim {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n",
    );
    let groups = inputs
        .iter()
        .flat_map(|checked| checked.report.anomalies.iter().map(move |group| (checked, group)));
    for (number, (checked, group)) in groups.enumerate() {
        page += &exemplar(number, &checked.input, group);
    }
    page.push_str("}\n");
    page
}

fn exemplar(number: usize, input: &str, group: &AnomalyGroup) -> String {
    let title = format!("{}: {}", input, group.kind.info().name);
    let mut page = format!("  subgraph cluster_{number} {{\n    label={};\n", quoted(&title));
    for (i, (session, txns)) in sessions(&group.exemplar).iter().enumerate() {
        page += &session_cluster(number, i, *session, txns);
    }
    for edge in all_edges(&group.exemplar.cycle) {
        page += &edge_line(number, edge);
    }
    page.push_str("  }\n");
    page
}

/// A transaction's box: its name, and the operations that matter.
struct Node<'a> {
    txn: &'a TxnRef,
    ops: Vec<&'a OpRef>,
}

/// A session: whether it has transactions of the history, which the initial one is not, and its
/// name.
type Session<'a> = (bool, &'a str);

/// The transactions of a violation by session.
fn sessions(violation: &Violation) -> BTreeMap<Session<'_>, Vec<Node<'_>>> {
    let mut nodes: BTreeMap<Session<'_>, Vec<Node<'_>>> = BTreeMap::new();
    for txn in all_edges(&violation.cycle).into_iter().flat_map(|edge| [&edge.from, &edge.to]) {
        node(&mut nodes, txn);
    }
    for op in &violation.ops {
        let ops = &mut node(&mut nodes, &op.txn).ops;
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    for txns in nodes.values_mut() {
        txns.sort_by_key(|node| node.txn.index);
    }
    nodes
}

fn node<'n, 'a>(
    nodes: &'n mut BTreeMap<Session<'a>, Vec<Node<'a>>>,
    txn: &'a TxnRef,
) -> &'n mut Node<'a> {
    let session = nodes.entry((txn.id.is_some(), txn.session.as_str())).or_default();
    let at = session.iter().position(|node| node.txn.id == txn.id).unwrap_or_else(|| {
        session.push(Node { txn, ops: Vec::new() });
        session.len() - 1
    });
    &mut session[at]
}

fn session_cluster(
    number: usize,
    index: usize,
    (named, session): Session<'_>,
    nodes: &[Node<'_>],
) -> String {
    let mut page = String::new();
    if named {
        let label = quoted(&format!("session {session}"));
        let _ = writeln!(
            page,
            "    subgraph cluster_{number}_{index} {{\n      label={label}; style=dashed;"
        );
    }
    for node in nodes {
        let _ =
            writeln!(page, "      {} [label={}];", id(number, node.txn), quoted(&node_label(node)));
    }
    if named {
        page.push_str("    }\n");
    }
    page
}

fn node_label(node: &Node<'_>) -> String {
    let ops = node.ops.iter().map(|op| match op.statement {
        Some(_) => format!("\n{}", act(op)),
        None => format!("\n{} {}", op.action(), item(op)),
    });
    std::iter::once(txn(node.txn)).chain(ops).collect()
}

/// The edges of the cycle, and the observed ones that the inferred ones rest on; each once.
pub(crate) fn all_edges(cycle: &[Edge]) -> Vec<&Edge> {
    served_edges(cycle).into_iter().map(|(_, edge)| edge).collect()
}

/// The same edges, each with the place in the cycle of the first one that it is or serves.
pub(crate) fn served_edges(cycle: &[Edge]) -> Vec<(usize, &Edge)> {
    let mut edges: Vec<(usize, &Edge)> = Vec::new();
    for (place, edge) in cycle.iter().enumerate() {
        for edge in std::iter::once(edge).chain(grounds(&edge.reason)) {
            if !edges.iter().any(|(_, known)| *known == edge) {
                edges.push((place, edge));
            }
        }
    }
    edges
}

/// What an inferred edge rests on directly.
fn grounds(reason: &Reason) -> Vec<&Edge> {
    let edges = match reason {
        Reason::Overwritten { visible, .. } => visible,
        Reason::WriteWrite { why: Why::Known(edges) | Why::Otherwise(edges), .. }
        | Reason::ReadWrite { why: Why::Known(edges) | Why::Otherwise(edges), .. } => edges,
        _ => return Vec::new(),
    };
    let observed = |edge: &&Edge| {
        matches!(
            edge.reason,
            Reason::SessionOrder | Reason::WriteRead { .. } | Reason::RealTime { .. }
        )
    };
    edges.iter().filter(observed).collect()
}

/// Whether this order was not observed: it follows from a contradiction.
pub(crate) fn is_inferred(reason: &Reason) -> bool {
    match reason {
        Reason::Overwritten { .. } => true,
        Reason::WriteWrite { why, .. } | Reason::ReadWrite { why, .. } => {
            !matches!(why, Why::Initial | Why::Known(_) | Why::Listed(_))
        }
        _ => false,
    }
}

fn edge_line(number: usize, edge: &Edge) -> String {
    let style = if is_inferred(&edge.reason) { ", style=dashed, color=red" } else { "" };
    let (from, to) = (id(number, &edge.from), id(number, &edge.to));
    format!("    {from} -> {to} [label={}{style}];\n", quoted(&edge_label(edge)))
}

pub(crate) fn edge_label(edge: &Edge) -> String {
    match &edge.reason {
        Reason::SessionOrder => "so".to_owned(),
        Reason::Initial => "initial".to_owned(),
        Reason::WriteRead { read, .. } => format!("wr({})", read.key),
        Reason::Overwritten { read, .. } => {
            format!("commit order: {} reads {}", txn(&read.txn), item(read))
        }
        Reason::VersionOrder { earlier, .. } => format!("version order({})", earlier.key),
        Reason::RealTime { .. } => "rt".to_owned(),
        Reason::WriteWrite { earlier, .. } => format!("ww({})", earlier.key),
        Reason::ReadWrite { read, .. } => format!("rw({})", read.key),
    }
}

fn id(number: usize, txn: &TxnRef) -> String {
    match txn.id {
        Some(id) => format!("a{number}_t{}", id.0),
        None => format!("a{number}_initial"),
    }
}

/// A string of DOT: quotes and backslashes escaped, line breaks as `\n`.
pub(crate) fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| clean(line).replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    format!("\"{}\"", lines.join("\\n"))
}
