//! For pictures: each prediction as a Graphviz graph. Changed reads are red, the reads that they
//! replace grey, the cycle bold.

use super::{Predicted, fate, observed, predicted, short_label};
use crate::dot::quoted;
use crate::prose::txn;
use seriatim_check::TxnRef;
use seriatim_predict::{Prediction, ShownTxn};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The graph of all predictions.
pub fn render(found: &Predicted) -> String {
    let mut page = String::from(
        "digraph seriatim {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n",
    );
    for (number, prediction) in found.predictions.iter().enumerate() {
        page += &one(number, &found.input, prediction);
    }
    page.push_str("}\n");
    page
}

fn one(number: usize, input: &str, prediction: &Prediction) -> String {
    let kind = prediction
        .violation
        .as_ref()
        .map_or("not serializable", |violation| violation.kind.info().name);
    let mut page = format!(
        "  subgraph cluster_{number} {{\n    label={};\n",
        quoted(&format!("{input}: {kind}"))
    );
    let mut sessions: BTreeMap<&str, Vec<&ShownTxn>> = BTreeMap::new();
    for shown in &prediction.shown {
        sessions.entry(&shown.txn.session).or_default().push(shown);
    }
    for (index, (session, txns)) in sessions.iter().enumerate() {
        let label = quoted(&format!("session {session}"));
        let _ = writeln!(
            page,
            "    subgraph cluster_{number}_{index} {{\n      label={label}; style=dashed;"
        );
        for shown in txns {
            let _ = writeln!(
                page,
                "      {} [label={}];",
                id(number, &shown.txn),
                quoted(&label_of(shown))
            );
        }
        page.push_str("    }\n");
    }
    let _ = writeln!(page, "    p{number}_initial [label=\"initial\"];");
    page += &edges(number, prediction);
    page.push_str("  }\n");
    page
}

fn label_of(shown: &ShownTxn) -> String {
    let note = match fate(shown.fate) {
        "" => String::new(),
        word => format!(" ({word})"),
    };
    let events = shown.events.iter().map(|event| match predicted(event) {
        Some(text) if event.is_changed() => format!("\n* {text}"),
        Some(text) => format!("\n{text}"),
        None => format!("\n– {}", observed(event)),
    });
    std::iter::once(format!("{}{note}", txn(&shown.txn))).chain(events).collect()
}

fn edges(number: usize, prediction: &Prediction) -> String {
    let mut page = String::new();
    for changed in &prediction.changed {
        let (reader, key) = (id(number, &changed.read.txn), &changed.read.key);
        let line = |from: &TxnRef, label: String, color: &str| {
            format!(
                "    {} -> {reader} [label={}, color={color}];\n",
                id(number, from),
                quoted(&label)
            )
        };
        page += &line(&changed.observed, format!("observed wr({key})"), "grey");
        page += &line(&changed.predicted, format!("wr({key})"), "red");
    }
    for edge in prediction.violation.iter().flat_map(|violation| &violation.cycle) {
        let (from, to) = (id(number, &edge.from), id(number, &edge.to));
        let _ = writeln!(
            page,
            "    {from} -> {to} [label={}, style=bold];",
            quoted(&short_label(edge))
        );
    }
    page
}

fn id(number: usize, txn: &TxnRef) -> String {
    match txn.id {
        Some(_) => format!("p{number}_{}", quoted_part(&format!("{}_{}", txn.session, txn.name))),
        None => format!("p{number}_initial"),
    }
}

/// Letters and digits as they are, everything else by its number.
fn quoted_part(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("_{:x}", c as u32) })
        .collect()
}
