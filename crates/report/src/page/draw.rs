//! Pictures as SVG. Everything that a file may have named passes through the template, which
//! escapes it; colours are classes, so that one style serves pages and pictures by themselves.

use super::diagram::{Arrow, Diagram, PILL, ROW, TxnBox, cut, described, more};
use maud::{Markup, PreEscaped, html};
use unicode_width::UnicodeWidthStr;

/// What a picture by itself needs of the style.
pub(crate) const STYLE: &str = include_str!("picture.css");

/// A picture that is not wider than this can be made smaller and read all the same.
const FITS_MAX: f64 = 1_700.0;
/// Characters of a title.
const TITLE_MAX: usize = 160;

/// A number as SVG has it: a tenth of a point is precise enough.
pub(crate) fn n(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}

/// The picture of a violation. `id` tells it apart from others of its page.
pub(crate) fn diagram(diagram: &Diagram, title: &str, id: &str) -> Markup {
    let (width, height) = (n(diagram.width), n(diagram.height));
    html! {
        svg.picture.fits[diagram.width <= FITS_MAX] xmlns="http://www.w3.org/2000/svg"
            viewBox=(format!("0 0 {width} {height}"))
            width=(width) height=(height) role="group"
            aria-labelledby=(format!("p{id}t")) aria-describedby=(format!("p{id}d")) {
            title id=(format!("p{id}t")) { (cut(title, TITLE_MAX)) }
            desc id=(format!("p{id}d")) { (described(diagram)) }
            (heads(id))
            @for lane in &diagram.lanes {
                rect.lane x=(n(lane.area.x)) y="4" width=(n(lane.area.width))
                    height=(n(lane.area.height)) rx="6" {}
                text.lane-name x=(n(lane.area.x + lane.area.width / 2.0)) y="24" { (lane.name) }
            }
            @for it in &diagram.boxes { (transaction(it)) }
            // What the proof itself speaks of lies in front.
            @for arrow in diagram.arrows.iter().filter(|arrow| arrow.step.is_none()) {
                (line(diagram, arrow, id))
            }
            @for arrow in diagram.arrows.iter().filter(|arrow| arrow.step.is_some()) {
                (line(diagram, arrow, id))
            }
        }
    }
}

/// The tips of arrows: a class cannot colour a tip by its line, so that each kind has its own.
fn heads(id: &str) -> Markup {
    html! {
        defs {
            @for kind in ["so", "initial", "wr", "ww", "rw", "co", "rt"] {
                marker.head.(kind) id=(format!("h{id}{kind}")) viewBox="0 0 10 8"
                    refX="9" refY="4"
                    markerWidth="10" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto" {
                    path d="M0 0L10 4L0 8z" {}
                }
            }
        }
    }
}

fn transaction(it: &TxnBox) -> Markup {
    let (x, y) = (it.area.x, it.area.y);
    let base = |line: usize| n(y + 4.0 + (line as f64 + 0.7) * ROW);
    html! {
        g.txn {
            rect x=(n(x)) y=(n(y)) width=(n(it.area.width)) height=(n(it.area.height)) rx="4" {}
            text.name x=(n(x + 8.0)) y=(base(0)) { (it.name) }
            @for (line, row) in it.rows.iter().enumerate() {
                text x=(n(x + 8.0)) y=(base(line + 1)) {
                    (row.text)
                    @if row.full != row.text { title { (row.full) } }
                }
            }
            @if it.more > 0 {
                text.more x=(n(x + 8.0)) y=(base(it.rows.len() + 1)) { (more(it.more)) }
            }
        }
    }
}

/// What an edge says to people who do not see it.
fn spoken(diagram: &Diagram, arrow: &Arrow) -> String {
    let (from, to) = (&diagram.boxes[arrow.from].name, &diagram.boxes[arrow.to].name);
    let inferred = if arrow.is_inferred { ", inferred" } else { "" };
    let step = match (arrow.step, arrow.serves) {
        (Some(step), _) => format!(", step {}", step + 1),
        (None, Some(step)) => format!(", a reason of step {}", step + 1),
        (None, None) => String::new(),
    };
    format!("{} from {from} to {to}{inferred}{step}", arrow.label)
}

fn line(diagram: &Diagram, arrow: &Arrow, id: &str) -> Markup {
    let kind = arrow.kind.word();
    let [start, turn, back, end] = arrow.path.map(|(x, y)| format!("{} {}", n(x), n(y)));
    let class = format!(
        "edge {kind}{}{}",
        if arrow.is_inferred { " inferred" } else { "" },
        if arrow.step.is_some() { "" } else { " ground" },
    );
    let step = arrow.serves.map(|step| step + 1);
    html! {
        g class=(class) data-step=[step] aria-label=(spoken(diagram, arrow)) {
            path d=(format!("M{start}L{turn}L{back}L{end}"))
                marker-end=(format!("url(#h{id}{kind})")) {}
            rect x=(n(arrow.pill.x)) y=(n(arrow.pill.y)) width=(n(arrow.pill.width))
                height=(n(PILL)) rx="10" {}
            text x=(n(arrow.pill.x + arrow.pill.width / 2.0)) y=(n(arrow.pill.y + 14.0)) {
                (arrow.label)
                @if arrow.full != arrow.label { title { (arrow.full) } }
            }
        }
    }
}

/// How wide a character of a title is: it is larger than the others, and bold.
const TITLE_CHAR: f64 = 8.7;
/// The height of a title.
const HEAD: f64 = 34.0;

/// Pictures one below the other, each with its title, as a file of their own. What is too large to
/// be drawn is named.
pub(crate) fn file(pictures: &[(String, Option<Diagram>)]) -> String {
    let titled = |title: &str| cut(title, TITLE_MAX).width() as f64 * TITLE_CHAR + 16.0;
    let size = |it: &Option<Diagram>| it.as_ref().map_or((0.0, 0.0), |it| (it.width, it.height));
    let note = |it: &Option<Diagram>| if it.is_some() { 0.0 } else { NOTE_WIDTH };
    let width = pictures.iter().map(|(title, it)| size(it).0.max(titled(title) + note(it)));
    let width = width.fold(120.0, f64::max);
    let mut tops = Vec::new();
    let mut height = 0.0;
    for (_, it) in pictures {
        tops.push(height);
        height += size(it).1 + HEAD;
    }
    let height = height.max(HEAD);
    let page = html! {
        svg.picture xmlns="http://www.w3.org/2000/svg"
            viewBox=(format!("0 0 {} {}", n(width), n(height)))
            width=(n(width)) height=(n(height)) {
            style { (PreEscaped(STYLE)) }
            rect.paper width="100%" height="100%" {}
            @if pictures.is_empty() {
                text.title x="8" y="24" { "no anomaly" }
            }
            @for (number, ((title, it), top)) in pictures.iter().zip(&tops).enumerate() {
                text.title x="8" y=(n(top + 24.0)) {
                    (cut(title, TITLE_MAX))
                    @if it.is_none() { " (too many transactions to draw)" }
                }
                @if let Some(it) = it {
                    g transform=(format!("translate(0 {})", n(top + HEAD))) {
                        (diagram(it, title, &number.to_string()))
                    }
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// Room for the note behind a title.
const NOTE_WIDTH: f64 = 240.0;
