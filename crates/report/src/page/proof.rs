//! A violation as part of a page: the story, its picture, the proof step by step, with what each
//! step rests on, and its operations.

use super::diagram::{cut, diagram, operations_of, short};
use super::draw;
use super::frame::Room;
use crate::prose::{self, strong};
use crate::text;
use maud::{Markup, html};
use seriatim_check::{Edge, OpRef, Origin, Reason, Violation, Why};

/// Larger contradictions have no picture: nobody could look at it.
const BOXES_MAX: usize = 40;
/// Steps of a proof and rows of operations that are shown, and choices that are told.
const STEPS_MAX: usize = 200;
const ROWS_MAX: usize = 400;
pub(crate) const CHOICES_MAX: usize = 6;
/// Characters of what happened, of a step, and of a cell.
const SUMMARY_MAX: usize = 6_000;
const STEP_MAX: usize = 2_000;
const CELL_MAX: usize = 1_000;
/// Operations of a picture.
const OPS_MAX: usize = 400;
/// Bytes of the buttons and the heads of tables around a proof.
const AROUND: usize = 1_500;
/// Bytes of what a step opens to.
const DERIVATION_MAX: usize = 100_000;
/// How deeply derivations are opened.
const DEPTH_MAX: usize = 40;

/// A violation. `id` tells its pictures from others of the page.
pub(crate) fn violation(violation: &Violation, title: &str, id: &str, room: &mut Room) -> Markup {
    let told = summary(violation, room);
    if room.is_full() || !room.take(AROUND) {
        return told;
    }
    html! {
        (told)
        @if violation.alternatives.is_empty() {
            (proof(violation, title, id, room))
        } @else {
            (choices(violation, id, room))
        }
        (operations(violation, room))
    }
}

/// What happened, as much as there is room for.
pub(super) fn summary(violation: &Violation, room: &mut Room) -> Markup {
    let text = cut(&prose::summary(violation), SUMMARY_MAX);
    room.fit(html! { p { (text) } }).unwrap_or_default()
}

/// A violation that does not depend on which appends the elements of lists are: each choice is a
/// violation with a proof of its own.
fn choices(violation: &Violation, id: &str, room: &mut Room) -> Markup {
    let told = prose::steps(violation);
    let count = violation.alternatives.len();
    html! {
        @for (place, choice) in violation.alternatives.iter().enumerate().take(CHOICES_MAX) {
            @let title = choice.violation.kind.info().name;
            @let text = told.get(place).map(|text| cut(text, SUMMARY_MAX)).unwrap_or_default();
            @if let (Some(text), true) = (room.fit(html! { p { (text) } }), room.take(AROUND)) {
                section.choice {
                    h3 { "Choice " (place + 1) " of " (count) ": " (title) }
                    (text)
                    (proof(&choice.violation, title, &format!("{id}c{place}"), room))
                }
            }
        }
        @if count > CHOICES_MAX {
            p.soft { "So it is with " (count - CHOICES_MAX) " more." }
        }
    }
}

/// The picture and the steps.
fn proof(violation: &Violation, title: &str, id: &str, room: &mut Room) -> Markup {
    let steps = prose::steps(violation);
    html! {
        div.proven {
            (picture(violation, title, id, room))
            @if !steps.is_empty() {
                nav.steps aria-label="steps of the proof" {
                    button type="button" data-by="-1" { "← back" }
                    button type="button" data-by="1" { "next →" }
                    button type="button" data-by="0" { "all" }
                    output { "all steps" }
                    span.soft { "keys n and p" }
                }
                p.said aria-live="polite" {}
                @let shown = steps.iter().enumerate().take(STEPS_MAX);
                @let (shown, more) = room.rows(shown, |(place, step)| {
                    html! { li { (proof_step(violation, place, step)) } }
                });
                ol.steps { (shown) }
                @if more > 0 || steps.len() > STEPS_MAX {
                    p.soft { "… and more steps, which `check` tells." }
                }
            }
        }
    }
}

/// Whether anybody could look at its picture.
pub(crate) fn has_picture(violation: &Violation) -> bool {
    violation.ops.len() <= OPS_MAX && violation.txn_count() <= BOXES_MAX
}

fn picture(violation: &Violation, title: &str, id: &str, room: &mut Room) -> Markup {
    if !has_picture(violation) {
        return html! { p.soft { "This is too large for a picture." } };
    }
    let drawn = html! {
        figure.proof tabindex="0" {
            (draw::diagram(&diagram(violation), title, id))
            figcaption {
                "so session order, wr a read of a write, ww one write after the other, rw a read "
                "that missed a write, co order of commits, rt real time. Dashed: not observed, but "
                "inferred. Thin: what an inferred one rests on."
            }
        }
    };
    let none = || html! { p.soft { "There is no room left for a picture on this page." } };
    room.fit(drawn).unwrap_or_else(none)
}

fn proof_step(violation: &Violation, place: usize, step: &str) -> Markup {
    let cycle = prose::told_cycle(violation);
    let step = cut(step, STEP_MAX);
    let opened = cycle.get(place).map(|edge| opened(&step, edge, 0));
    // Rather the step alone than neither it nor those that follow.
    opened.filter(|it| it.0.len() <= DERIVATION_MAX).unwrap_or_else(|| html! { (step) })
}

/// A statement about an edge, which opens to what it rests on, down to operations.
fn opened(told: &str, edge: &Edge, depth: usize) -> Markup {
    let ops = operations_of(&edge.reason);
    if ops.is_empty() || depth >= DEPTH_MAX {
        return html! { (told) };
    }
    html! {
        details {
            summary { (told) }
            ul.why {
                @for op in ops { (premise(op)) }
                (reasons(&edge.reason, depth + 1))
            }
        }
    }
}

/// An operation with the statement that did it and its place.
fn premise(op: &OpRef) -> Markup {
    let place = op.place.as_ref().map(|place| short(&place.to_string(), CELL_MAX));
    let statement = op.statement.as_ref().map(|it| short(&it.text, CELL_MAX));
    html! {
        li.premise {
            (cut(&prose::txn(&op.txn), CELL_MAX)) ": " code { (cut(&prose::act(op), CELL_MAX)) }
            @if let Some(statement) = statement { ", by " code { (statement) } }
            @if let Some(place) = place { " " span.place { (place) } }
        }
    }
}

/// What an inferred edge rests on beside its own operations.
fn reasons(reason: &Reason, depth: usize) -> Markup {
    let (origin, order) = match reason {
        Reason::WriteRead { read, origin, .. } => (Some((read, origin)), None),
        Reason::WriteWrite { earlier, later, why } => (None, Some((earlier, later, why))),
        Reason::ReadWrite { read, source, origin, overwrite, why } => {
            (Some((read, origin)), Some((source, overwrite, why)))
        }
        Reason::Overwritten { visible, .. } => return edges(visible, depth, false),
        _ => (None, None),
    };
    html! {
        @if let Some((read, Origin::Others(others))) = origin {
            @for other in others {
                (refuted(&strong::supposed_source(read, other), &other.cycle, depth))
            }
        }
        @match order {
            Some((_, _, Why::Known(path))) => (edges(path, depth, false)),
            Some((_, _, Why::Listed(read))) => (premise(read)),
            Some((earlier, later, Why::Otherwise(cycle))) => {
                (refuted(&strong::supposed_order(earlier, later), cycle, depth))
            }
            _ => "",
        }
    }
}

fn edges(edges: &[Edge], depth: usize, is_refutation: bool) -> Markup {
    let last = edges.len().saturating_sub(1);
    html! {
        @for (place, edge) in edges.iter().enumerate() {
            @let end = if is_refutation && place == last { ": a contradiction." } else { "." };
            li { (opened(&(cut(&prose::step(edge), STEP_MAX) + end), edge, depth)) }
        }
    }
}

/// What is supposed, and the cycle that shows that it is wrong.
fn refuted(supposed: &str, cycle: &[Edge], depth: usize) -> Markup {
    if depth >= DEPTH_MAX {
        return html! { li { (cut(supposed, STEP_MAX)) " …" } };
    }
    html! {
        li {
            details {
                summary { (cut(supposed, STEP_MAX)) }
                ul.why { (edges(cycle, depth + 1, true)) }
            }
        }
    }
}

fn operations(violation: &Violation, room: &mut Room) -> Markup {
    let rows = text::operation_rows(&violation.ops);
    let all = rows.len();
    let row = |row: [String; 4]| {
        let [txn, session, act, place] = row.map(|cell| cut(&cell, CELL_MAX));
        html! { tr { td { (txn) } td { (session) } td.act { (act) } td.place { (place) } } }
    };
    let (shown, _) = room.rows(rows.into_iter().take(ROWS_MAX), row);
    let more = all - shown.0.matches("<tr>").count();
    html! {
        details open {
            summary { "Operations" }
            div.table tabindex="0" {
                table {
                    thead {
                        tr {
                            @for name in ["transaction", "session", "operation", "where"] {
                                th scope="col" { (name) }
                            }
                        }
                    }
                    tbody { (shown) }
                }
            }
            @if more > 0 { p.soft { "… and " (more) " more." } }
        }
    }
}
