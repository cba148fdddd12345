//! A prediction as a picture without any tool: a lane for each session, a box for each transaction
//! that matters, the cycle as arrows.

use super::{fate, observed, predicted, short_label};
use crate::prose::{clean, txn};
use seriatim_check::TxnRef;
use seriatim_predict::{Prediction, ShownTxn};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const LANE: usize = 340;
const BOX: usize = 300;
const LINE: usize = 18;
const TOP: usize = 50;
const GAP: usize = 46;
/// Events of a transaction that are shown.
const EVENTS_MAX: usize = 10;

/// Where a box stands.
struct Spot {
    x: usize,
    y: usize,
    height: usize,
}

/// The picture.
pub fn render(prediction: &Prediction) -> String {
    let mut lanes: Vec<&str> = Vec::new();
    let mut bottom: Vec<usize> = Vec::new();
    let mut spots: BTreeMap<Option<u32>, Spot> = BTreeMap::new();
    let mut boxes = String::new();
    for shown in &prediction.shown {
        let lane = lanes.iter().position(|lane| *lane == shown.txn.session).unwrap_or_else(|| {
            lanes.push(&shown.txn.session);
            bottom.push(TOP);
            lanes.len() - 1
        });
        let lines =
            shown.events.len().min(EVENTS_MAX) + 1 + usize::from(shown.events.len() > EVENTS_MAX);
        let spot = Spot { x: 20 + lane * LANE, y: bottom[lane], height: lines * LINE + 14 };
        bottom[lane] += spot.height + GAP;
        boxes += &transaction(shown, &spot);
        spots.insert(shown.txn.id.map(|id| id.0), spot);
    }
    let width = 20 + lanes.len().max(1) * LANE;
    let height = bottom.iter().copied().max().unwrap_or(TOP) + 10;
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"12\" role=\"img\">\n<defs><marker id=\"head\" \
         markerWidth=\"9\" markerHeight=\"7\" \
         refX=\"8\" refY=\"3.5\" orient=\"auto\"><polygon points=\"0 0, 9 3.5, 0 7\" \
         fill=\"#c0392b\"/></marker></defs>\n"
    );
    for (lane, session) in lanes.iter().enumerate() {
        let x = 20 + lane * LANE + BOX / 2;
        let _ = writeln!(
            page,
            "<text x=\"{x}\" y=\"28\" text-anchor=\"middle\" font-weight=\"bold\">session \
             {}</text>",
            escape(session)
        );
    }
    page + &boxes + &arrows(prediction, &spots) + "</svg>\n"
}

fn transaction(shown: &ShownTxn, spot: &Spot) -> String {
    let mut page = format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{BOX}\" height=\"{}\" rx=\"4\" fill=\"#fff\" \
         stroke=\"#555\"/>\n",
        spot.x, spot.y, spot.height
    );
    let mut y = spot.y + LINE;
    let mut line = |text: &str, style: &str| {
        let _ = writeln!(
            page,
            "<text x=\"{}\" y=\"{y}\" {style}>{}</text>",
            spot.x + 8,
            escape(&cut(text))
        );
        y += LINE;
    };
    line(&format!("{} {}", txn(&shown.txn), fate(shown.fate)), "font-weight=\"bold\"");
    for event in shown.events.iter().take(EVENTS_MAX) {
        match predicted(event) {
            Some(text) if event.is_changed() => line(&format!("* {text}"), "fill=\"#c0392b\""),
            Some(text) => line(&format!("  {text}"), ""),
            None => line(
                &format!("  {}", observed(event)),
                "fill=\"#999\" text-decoration=\"line-through\"",
            ),
        }
    }
    if shown.events.len() > EVENTS_MAX {
        line(&format!("  … and {} more", shown.events.len() - EVENTS_MAX), "fill=\"#999\"");
    }
    page
}

/// As much of `text` as fits into a box.
fn cut(text: &str) -> String {
    const CHARS_MAX: usize = 39;
    if text.chars().count() <= CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(CHARS_MAX - 1).chain(['…']).collect()
}

fn arrows(prediction: &Prediction, spots: &BTreeMap<Option<u32>, Spot>) -> String {
    let mut page = String::new();
    // The explanation numbers transactions as the prediction does, the boxes as the run does: they
    // have names in common.
    let spot = |wanted: &TxnRef| {
        let shown = prediction
            .shown
            .iter()
            .find(|shown| shown.txn.name == wanted.name && shown.txn.session == wanted.session);
        shown.and_then(|shown| spots.get(&shown.txn.id.map(|id| id.0)))
    };
    for (number, edge) in
        prediction.violation.iter().flat_map(|violation| &violation.cycle).enumerate()
    {
        let (Some(from), Some(to)) = (spot(&edge.from), spot(&edge.to)) else { continue };
        let offset = 14 * (number % 3) + 10;
        let (x1, x2) = match from.x.cmp(&to.x) {
            std::cmp::Ordering::Less => (from.x + BOX, to.x),
            std::cmp::Ordering::Greater => (from.x, to.x + BOX),
            std::cmp::Ordering::Equal => (from.x + BOX - 30, to.x + BOX - 30),
        };
        let (y1, y2) = match (from.x == to.x, from.y < to.y) {
            (true, true) => (from.y + from.height, to.y),
            (true, false) => (from.y, to.y + to.height),
            (false, _) => (from.y + offset, to.y + offset),
        };
        let _ = writeln!(
            page,
            "<path d=\"M{x1} {y1} L{x2} {y2}\" stroke=\"#c0392b\" stroke-width=\"2\" \
             fill=\"none\" marker-end=\"url(#head)\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"#c0392b\" text-anchor=\"middle\">{}</text>",
            (x1 + x2) / 2,
            (y1 + y2) / 2 - 4,
            escape(&cut(&short_label(edge))),
        );
    }
    page
}

/// Text for XML and HTML.
pub(super) fn escape(text: &str) -> String {
    clean(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
