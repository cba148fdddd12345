//! What `check` says, as a page: the verdict first, then the levels, then each kind of anomaly with
//! its picture and its proof.

use super::diagram::{cut, diagram};
use super::overview::{Overview, neighbours, strip, timeline};
use super::{draw, frame};
use crate::checked::Checked;
use crate::prose::{self, clean, strong};
use crate::style;
use crate::text::{self, plural};
use maud::{Markup, html};
use seriatim_check::{AnomalyGroup, Answer, Violation};

/// Larger contradictions have no picture: nobody could look at it.
pub(super) const BOXES_MAX: usize = 40;
/// Steps of a proof and rows of operations that are shown.
const STEPS_MAX: usize = 200;
const ROWS_MAX: usize = 400;
/// Characters of what happened, where there is no room for more.
const SUMMARY_MAX: usize = 2_000;
/// From so many bytes on, further anomalies are told without pictures and proofs: a page stays
/// below two megabytes.
const BYTES_MAX: usize = 1_500_000;
/// Inputs that are told one by one.
const INPUTS_MAX: usize = 200;

/// An input that was checked, with what is known of the whole of it.
#[derive(Clone, Copy, Debug)]
pub struct CheckedInput<'c> {
    /// What the check says.
    pub checked: &'c Checked,
    /// The history, counted; nothing if it is gone.
    pub overview: Option<&'c Overview>,
}

/// The page about inputs.
pub fn render(inputs: &[CheckedInput<'_>]) -> String {
    let title = match inputs {
        [one] => format!("{}: isolation", clean(&one.checked.input)),
        _ => format!("{}: isolation", plural(inputs.len() as u64, "input")),
    };
    let mut room = Room { number: 0, left: BYTES_MAX };
    let content = html! {
        @for input in inputs.iter().take(INPUTS_MAX) { (one(input, &mut room)) }
        @if inputs.len() > INPUTS_MAX {
            p.soft { "… and " (plural((inputs.len() - INPUTS_MAX) as u64, "other input")) "." }
        }
    };
    frame::page(&title, &content)
}

/// One input as part of another page.
pub(super) fn input(input: &CheckedInput<'_>) -> Markup {
    one(input, &mut Room { number: 0, left: BYTES_MAX })
}

/// One of several on a page: `number` is how many anomalies come before its own.
#[cfg(feature = "json")]
pub(super) fn input_from(input: &CheckedInput<'_>, number: &mut usize) -> Markup {
    // They share the room of the page as well as they can.
    let mut room = Room { number: *number, left: BYTES_MAX / 4 };
    let told = one(input, &mut room);
    *number = room.number;
    told
}

/// How many anomalies there are before, and how much a page may still grow.
struct Room {
    number: usize,
    left: usize,
}

pub(super) fn class(answer: Answer) -> &'static str {
    match answer {
        Answer::Holds => "good",
        Answer::Violated => "bad",
        Answer::Undecided => "open",
    }
}

fn one(input: &CheckedInput<'_>, room: &mut Room) -> Markup {
    let checked = input.checked;
    let report = &checked.report;
    let first = room.number;
    html! {
        article {
            h1 { (clean(&checked.input)) }
            p.verdict.(class(text::overall(report))) { (text::headline(report)) }
            p.soft { (text::size_line(checked)) }
            (levels(checked))
            @for line in lines(&text::remarks(checked)) { p.soft { (line) } }
            @if report.anomalies.len() > 1 {
                ul.toc {
                    @for (place, group) in report.anomalies.iter().enumerate() {
                        li { a href=(format!("#a{}", first + place)) { (heading(checked, group)) } }
                    }
                }
            }
            (strip_of(input, room))
            @for (place, group) in report.anomalies.iter().enumerate() {
                (anomaly(input, group, place, room))
            }
        }
    }
}

/// The strip over the history, if there is room for it.
fn strip_of(input: &CheckedInput<'_>, room: &mut Room) -> Markup {
    match input.overview.map(strip) {
        Some(strip) if strip.0.len() <= room.left => {
            room.left -= strip.0.len();
            strip
        }
        _ => html! {},
    }
}

/// What the terminal shows, as paragraphs.
fn lines(text: &str) -> Vec<String> {
    let plain = style::strip(text);
    plain.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn levels(checked: &Checked) -> Markup {
    html! {
        ul.ladder aria-label="isolation levels, from the weakest" {
            @for verdict in &checked.report.verdicts {
                li.(class(verdict.answer())) {
                    span { (verdict.level) } " " strong { (verdict.answer().word()) }
                }
            }
        }
    }
}

fn heading(checked: &Checked, group: &AnomalyGroup) -> String {
    text::anomaly_title(&checked.report, group)
}

fn anomaly(
    input: &CheckedInput<'_>,
    group: &AnomalyGroup,
    place: usize,
    room: &mut Room,
) -> Markup {
    let number = room.number;
    room.number += 1;
    let told = match room.left {
        0 => None,
        _ => Some(whole(input, group, place, number)),
    };
    let told = told.filter(|told| told.0.len() <= room.left);
    let told = told.unwrap_or_else(|| {
        room.left = 0;
        html! { p { (cut(&prose::summary(&group.exemplar), SUMMARY_MAX)) } }
    });
    room.left = room.left.saturating_sub(told.0.len());
    html! {
        section.anomaly id=(format!("a{number}")) {
            h2 { (heading(input.checked, group)) }
            p.soft { (text::names_and_levels(group)) }
            (told)
        }
    }
}

fn whole(input: &CheckedInput<'_>, group: &AnomalyGroup, place: usize, number: usize) -> Markup {
    let window = input.overview.and_then(|overview| overview.windows.get(place));
    html! {
        (violation(&group.exemplar, group.kind.info().name, number))
        @if let Some(window) = window {
            @if let Some(timeline) = timeline(window) { (timeline) }
            (neighbours(window, number))
        }
        @if group.instances.len() > 1 { (instances(group)) }
    }
}

/// A violation: the story, its picture, the proof step by step, its operations.
pub(crate) fn violation(violation: &Violation, title: &str, number: usize) -> Markup {
    let steps = prose::steps(violation);
    html! {
        p { (prose::summary(violation)) }
        @if violation.txn_count() <= BOXES_MAX { figure.proof tabindex="0" {
            (draw::diagram(&diagram(violation), title, number))
            figcaption {
                "so session order, wr a read of a write, ww one write after the other, rw a read "
                "that missed a write, co order of commits, rt real time. Dashed: not observed, but "
                "inferred."
            }
        } }
        @if !steps.is_empty() {
            nav.steps aria-label="steps of the proof" {
                button type="button" data-by="-1" { "← back" }
                button type="button" data-by="1" { "next →" }
                button type="button" data-by="0" { "all" }
                output { "all steps" }
            }
            ol.steps {
                @for (place, step) in steps.iter().enumerate().take(STEPS_MAX) {
                    li { (proof_step(violation, place, step)) }
                }
            }
            @if steps.len() > STEPS_MAX { p.soft { "… and more steps, which `check` tells." } }
        }
        (operations(violation))
    }
}

fn proof_step(violation: &Violation, place: usize, step: &str) -> Markup {
    let cycle = prose::told_cycle(violation);
    let edge = cycle.get(place).filter(|_| violation.alternatives.is_empty());
    let why = edge.map(strong::derivation).unwrap_or_default();
    html! {
        @if why.is_empty() {
            (step)
        } @else {
            details {
                summary { (step) }
                (nested(&why))
            }
        }
    }
}

/// Lines with depths as lists in lists.
fn nested(lines: &[(usize, String)]) -> Markup {
    let Some((depth, _)) = lines.first() else { return html! {} };
    let starts: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at].0 <= *depth).chain([lines.len()]).collect();
    html! {
        ul.why {
            @for pair in starts.windows(2) {
                li {
                    (lines[pair[0]].1)
                    @if pair[1] > pair[0] + 1 { (nested(&lines[pair[0] + 1..pair[1]])) }
                }
            }
        }
    }
}

fn operations(violation: &Violation) -> Markup {
    let rows = text::operation_rows(&violation.ops);
    html! {
        details open {
            summary { "Operations" }
            div.table {
                table {
                    thead {
                        tr {
                            @for name in ["transaction", "session", "operation", "where"] {
                                th { (name) }
                            }
                        }
                    }
                    tbody {
                        @for row in rows.into_iter().take(ROWS_MAX) {
                            tr {
                                td { (row[0]) }
                                td { (row[1]) }
                                td.act { (row[2]) }
                                td.place { (row[3]) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Instances beside the smallest, as far as the report holds them.
fn instances(group: &AnomalyGroup) -> Markup {
    const SHOWN_MAX: usize = 50;
    let others = || group.instances.iter().filter(|it| **it != group.exemplar);
    html! {
        details {
            summary { (plural(others().count() as u64, "other instance")) }
            ol {
                @for instance in others().take(SHOWN_MAX) { li { (prose::summary(instance)) } }
            }
            @if others().count() > SHOWN_MAX {
                p.soft { "… and more, which `check --all` tells." }
            }
        }
    }
}
