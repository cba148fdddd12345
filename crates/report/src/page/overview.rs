//! The whole history in a strip, and the neighbourhood of an anomaly: what a caller who has the
//! history has counted and picked, and how it is drawn.

use super::diagram::cut;
use super::draw::n;
use crate::prose::clean;
use crate::text::{grouped, plural};
use maud::{Markup, html};

/// A history, counted: how many transactions of each session fall into each part of it.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// How many transactions there are.
    pub transactions: u64,
    /// The sessions that are shown by themselves, and one for all others if there are too many.
    pub sessions: Vec<Strip>,
    /// Whether the parts are parts of the time from the first begin to the last end, and not of
    /// the sessions.
    pub by_time: bool,
    /// What is around each anomaly, in the order of the report.
    pub windows: Vec<Window>,
}

/// A session, from its beginning to its end.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    /// What it is called.
    pub name: String,
    /// How many transactions fall into each part.
    pub counts: Vec<u32>,
    /// The parts in which transactions of anomalies are.
    pub marks: Vec<u32>,
}

/// Transactions that were at work when an anomaly happened, and those of the anomaly.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The transactions, by their sessions and in session order.
    pub txns: Vec<Neighbour>,
    /// How many others fall into the same time and are not shown.
    pub more: u64,
}

/// A transaction of a window.
#[derive(Clone, Debug, Default)]
pub struct Neighbour {
    /// What it is called.
    pub name: String,
    /// Its session.
    pub session: String,
    /// When it began and ended.
    pub times: Option<(i64, i64)>,
    /// What it did, with values, or its statements.
    pub acts: Vec<String>,
    /// How many operations are not told.
    pub more: u64,
    /// Whether it is part of the anomaly.
    pub is_guilty: bool,
    /// Whether it aborted, or nobody knows.
    pub note: Option<&'static str>,
}

const WIDTH: f64 = 960.0;
const NAME: f64 = 130.0;
const LINE: f64 = 16.0;
/// Parts that are drawn with different strength.
const SHADES: f64 = 5.0;

/// The strip over all transactions.
pub(crate) fn strip(overview: &Overview) -> Markup {
    let most = overview.sessions.iter().flat_map(|it| &it.counts).copied().max().unwrap_or(0);
    let height = overview.sessions.len() as f64 * LINE + 22.0;
    let axis = if overview.by_time { "time" } else { "place in the session" };
    html! {
        figure tabindex="0" {
            svg.picture.wide viewBox=(format!("0 0 {} {}", n(WIDTH), n(height)))
                role="img" aria-label=(format!("all transactions by session and {axis}")) {
                @for (line, session) in overview.sessions.iter().enumerate() {
                    (session_strip(session, line as f64 * LINE, most))
                }
                text.tick x=(n((NAME + WIDTH) / 2.0)) y=(n(height - 6.0)) { (axis) " →" }
            }
            figcaption {
                (plural(overview.transactions, "transaction"))
                "; the darker, the more; frames are where the anomalies below are."
            }
        }
    }
}

fn session_strip(session: &Strip, y: f64, most: u32) -> Markup {
    let step = (WIDTH - NAME) / session.counts.len().max(1) as f64;
    let x = |part: usize| NAME + part as f64 * step;
    // Runs of parts that look alike are one rectangle.
    let shade = |count: u32| match count {
        0 => 0.0,
        count => (f64::from(count) / f64::from(most.max(1)) * SHADES).ceil() / SHADES,
    };
    let mut runs: Vec<(usize, usize, f64)> = Vec::new();
    for (part, &count) in session.counts.iter().enumerate() {
        let strength = shade(count);
        match runs.last_mut() {
            Some((_, end, known)) if *known == strength && *end == part => *end = part + 1,
            _ => runs.push((part, part + 1, strength)),
        }
    }
    html! {
        text x="0" y=(n(y + 12.0)) {
            (cut(&clean(&session.name), 17))
            title { (clean(&session.name)) }
        }
        @for (start, end, strength) in runs.into_iter().filter(|run| run.2 > 0.0) {
            rect.cell x=(n(x(start))) y=(n(y + 2.0)) width=(n(x(end) - x(start)))
                height=(n(LINE - 4.0)) opacity=(n(0.15 + 0.85 * strength)) {}
        }
        @for &mark in &session.marks {
            rect.mark x=(n(x(mark as usize) - 2.0)) y=(n(y + 1.0)) width=(n(step.max(2.0) + 4.0))
                height=(n(LINE - 2.0)) {}
        }
    }
}

/// Transactions as bars on an axis of time; nothing if no times are known.
pub(crate) fn timeline(window: &Window) -> Option<Markup> {
    let times = || window.txns.iter().filter_map(|txn| txn.times);
    let (start, end) = (times().map(|it| it.0).min()?, times().map(|it| it.1).max()?);
    let span = (end as f64 - start as f64).max(1.0);
    let x = |time: i64| NAME + (time as f64 - start as f64) / span * (WIDTH - NAME - 10.0);
    let mut sessions: Vec<&str> = Vec::new();
    for txn in &window.txns {
        if !sessions.contains(&txn.session.as_str()) {
            sessions.push(&txn.session);
        }
    }
    let line = |session: &str| sessions.iter().position(|it| *it == session).unwrap_or(0) as f64;
    let height = sessions.len() as f64 * (LINE + 4.0) + 26.0;
    Some(html! {
        figure tabindex="0" {
            svg.picture.wide viewBox=(format!("0 0 {} {}", n(WIDTH), n(height)))
                role="img" aria-label="transactions on an axis of time" {
                @for session in &sessions {
                    text x="0" y=(n(line(session) * (LINE + 4.0) + 13.0)) {
                        (cut(&clean(session), 17))
                    }
                }
                @for txn in &window.txns {
                    @if let Some((begin, end)) = txn.times {
                        rect.bar.guilty[txn.is_guilty] x=(n(x(begin)))
                            y=(n(line(&txn.session) * (LINE + 4.0) + 3.0))
                            width=(n((x(end) - x(begin)).max(2.0))) height=(n(LINE - 4.0)) rx="2" {
                            title { (clean(&txn.name)) ": " (begin) " to " (end) }
                        }
                    }
                }
                line.axis x1=(n(NAME)) x2=(n(WIDTH - 10.0)) y1=(n(height - 22.0))
                    y2=(n(height - 22.0)) {}
                text.tick x=(n(NAME + 30.0)) y=(n(height - 6.0)) { (start) }
                text.tick x=(n(WIDTH - 60.0)) y=(n(height - 6.0)) { (end) }
            }
            figcaption { "When transactions began and ended; those of the anomaly stand out." }
        }
    })
}

/// The transactions around an anomaly, with what they did.
pub(crate) fn neighbours(window: &Window, number: usize) -> Markup {
    let id = format!("n{number}");
    html! {
        details {
            summary { "Around it: " (plural(window.txns.len() as u64, "transaction")) }
            label { "Only with " input type="search" data-filters=(id)
                placeholder="a session, a key, a value"; }
            div.table {
                table id=(id) {
                    thead { tr { th { "session" } th { "transaction" } th { "what it did" } } }
                    tbody {
                        @for txn in &window.txns {
                            tr.guilty[txn.is_guilty] {
                                td { (clean(&txn.session)) }
                                td {
                                    (clean(&txn.name))
                                    @if let Some(note) = txn.note { " (" (note) ")" }
                                }
                                td.act {
                                    @for act in &txn.acts { div { (clean(act)) } }
                                    @if txn.more > 0 {
                                        div.soft { "… and " (grouped(txn.more)) " more" }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if window.more > 0 {
                p.soft { "… and " (plural(window.more, "other transaction")) "." }
            }
        }
    }
}
