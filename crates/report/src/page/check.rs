//! What `check` says, as a page: the verdict first, then the levels, then each kind of anomaly with
//! its picture and its proof.

use super::counted::Overview;
use super::diagram::cut;
use super::frame::{self, Room};
use super::overview::{neighbours, strip, timeline};
use super::proof;
use crate::checked::{Checked, Unread, Unreadable};
use crate::prose;
use crate::style;
use crate::text::{self, plural};
use maud::{Markup, html};
use seriatim_check::{AnomalyGroup, Answer};

/// Characters of a paragraph that a file may make long.
const LINE_MAX: usize = 2_000;
/// Inputs that are told one by one.
const INPUTS_MAX: usize = 200;
/// Inputs that could not be checked and are told one by one.
const UNCHECKED_MAX: usize = 500;

/// An input that was checked, with what is known of the whole of it.
#[derive(Clone, Copy, Debug)]
pub struct CheckedInput<'c> {
    /// What the check says.
    pub checked: &'c Checked,
    /// The history, counted; nothing if it is gone.
    pub overview: Option<&'c Overview>,
}

/// An input that was not checked.
#[derive(Clone, Debug)]
pub enum Unchecked {
    /// It could not be read.
    Unreadable(Unreadable),
    /// It is too large to be read.
    Unread(Unread),
}

/// The page about inputs, and about those that could not be checked.
pub fn render(inputs: &[CheckedInput<'_>], unchecked: &[Unchecked]) -> String {
    let title = match inputs {
        [one] if unchecked.is_empty() => {
            format!("{}: isolation", frame::title(&one.checked.input))
        }
        _ => format!("{}: isolation", plural((inputs.len() + unchecked.len()) as u64, "input")),
    };
    let mut room = Room::of_a_page();
    let shown = inputs.len().min(INPUTS_MAX);
    let content = html! {
        (not_checked(unchecked, &mut room))
        @if inputs.len() > 1 { (contents(inputs, &mut room)) }
        @for (place, input) in inputs.iter().take(INPUTS_MAX).enumerate() {
            // What an input does not use is for those that follow.
            @let parts = if shown > 1 { (shown - place).min(8) } else { 1 };
            (room.share(parts, |room| one(input, room)))
        }
        @if inputs.len() > INPUTS_MAX {
            p.soft { "… and " (plural((inputs.len() - INPUTS_MAX) as u64, "other input")) "." }
        }
    };
    frame::page(&title, &content)
}

/// All inputs in a line each, before they are told one by one.
fn contents(inputs: &[CheckedInput<'_>], room: &mut Room) -> Markup {
    let line = |input: &CheckedInput<'_>| {
        let report = &input.checked.report;
        html! {
            li {
                (frame::title(&input.checked.input)) ": "
                strong.(class(text::overall(report))) { (text::headline(report)) }
            }
        }
    };
    let (lines, more) = room.share(4, |room| room.rows(inputs, line));
    html! {
        nav aria-label="inputs" {
            ul.inputs { (lines) }
            @if more > 0 { p.soft { "… and " (plural(more as u64, "other input")) "." } }
        }
    }
}

/// What could not be read, with what is wrong.
fn not_checked(unchecked: &[Unchecked], room: &mut Room) -> Markup {
    if unchecked.is_empty() {
        return html! {};
    }
    let line = |it: &Unchecked| {
        let (name, problem) = match it {
            Unchecked::Unreadable(it) => (&it.input, style::strip(&text::render_error(it))),
            Unchecked::Unread(it) => (&it.input, text::too_large(it)),
        };
        html! {
            li { strong { (frame::title(name)) } ": " (cut(problem.trim(), LINE_MAX)) }
        }
    };
    let shown = unchecked.iter().take(UNCHECKED_MAX);
    let (lines, _) = room.share(4, |room| room.rows(shown, line));
    html! {
        article.unchecked {
            h1.bad { (plural(unchecked.len() as u64, "input")) " could not be checked" }
            ul { (lines) }
        }
    }
}

/// One input as part of another page.
pub(super) fn input(input: &CheckedInput<'_>, room: &mut Room) -> Markup {
    one(input, room)
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
    let head = if room.is_full() { None } else { room.fit(head(checked)) };
    let Some(head) = head else {
        return html! { p.soft { (frame::title(&checked.input)) ": no room left" } };
    };
    let first = room.pictures();
    html! {
        article {
            (head)
            @if report.anomalies.len() > 1 {
                (toc(checked, first, room))
            }
            (strip_of(input, first, room))
            @for (place, group) in report.anomalies.iter().enumerate() {
                (anomaly(input, group, place, room))
            }
        }
    }
}

/// The verdict, and what belongs to it.
fn head(checked: &Checked) -> Markup {
    let report = &checked.report;
    html! {
        h1 { (frame::title(&checked.input)) }
        p.verdict.(class(text::overall(report))) { (cut(&text::headline(report), LINE_MAX)) }
        p.soft { (text::size_line(checked)) }
        (levels(checked))
        @for line in lines(&text::remarks(checked)) { p.soft { (cut(&line, LINE_MAX)) } }
    }
}

fn toc(checked: &Checked, first: usize, room: &mut Room) -> Markup {
    let line = |(place, group): (usize, &AnomalyGroup)| {
        html! {
            li { a href=(format!("#a{}", first + place)) { (heading(checked, group)) } }
        }
    };
    let (lines, _) = room.rows(checked.report.anomalies.iter().enumerate(), line);
    html! { ul.toc { (lines) } }
}

/// The strip over the history, if there is room for it.
fn strip_of(input: &CheckedInput<'_>, first: usize, room: &mut Room) -> Markup {
    let Some(overview) = input.overview else { return html! {} };
    let groups = &input.checked.report.anomalies;
    let kinds: Vec<&str> = groups.iter().map(|group| group.kind.info().name).collect();
    room.fit(strip(overview, &kinds, first)).unwrap_or_default()
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
    let number = room.next_picture();
    if room.is_full() {
        return html! {};
    }
    let head = html! {
        h2 { (heading(input.checked, group)) }
        p.soft { (text::names_and_levels(group)) }
    };
    let Some(head) = room.fit(head) else { return html! {} };
    html! {
        section.anomaly id=(format!("a{number}")) {
            (head)
            (told(input, group, place, number, room))
        }
    }
}

/// An anomaly, its neighbours, and other instances.
fn told(
    input: &CheckedInput<'_>,
    group: &AnomalyGroup,
    place: usize,
    number: usize,
    room: &mut Room,
) -> Markup {
    let around = input.overview.and_then(|all| Some((all, all.windows.get(place)?)));
    let (title, id) = (group.kind.info().name, number.to_string());
    html! {
        (proof::violation(&group.exemplar, title, &id, room))
        @if let Some((overview, window)) = around {
            (timeline(overview, window, number).and_then(|it| room.fit(it)).unwrap_or_default())
            (neighbours(overview, window, number, room))
        }
        @if group.instances.len() > 1 { (instances(group, room)) }
    }
}

/// Instances beside the smallest, as far as the report holds them.
fn instances(group: &AnomalyGroup, room: &mut Room) -> Markup {
    const SHOWN_MAX: usize = 50;
    let others = || group.instances.iter().filter(|it| **it != group.exemplar);
    let told = |it| html! { li { (cut(&prose::summary(it), LINE_MAX)) } };
    let (shown, more) = room.share(4, |room| room.rows(others().take(SHOWN_MAX), told));
    html! {
        details {
            summary { (plural(others().count() as u64, "other instance")) }
            ol { (shown) }
            @if more > 0 || others().count() > SHOWN_MAX {
                p.soft { "… and more, which `check --all` tells." }
            }
        }
    }
}
