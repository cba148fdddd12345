//! What `audit` found, as a page: the matrix first, then for each setting what was seen over time
//! with the faults, and the first round that shows it with its pictures.

use super::check::{CheckedInput, input};
use super::diagram::{Area, short};
use super::draw::n;
use super::frame::{self, Room};
use crate::audited::{self, Audited, Fault, Hermitage, Scenario};
use crate::style;
use crate::text::grouped;
use maud::{Markup, html};

/// The size of the picture over time.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 160.0;
/// Above and below it.
const MARGIN: f64 = 20.0;
/// How many bars there are at most: rounds are added up.
const BARS_MAX: usize = 200;
/// How wide a bar is at most.
const BAR_MAX: f64 = 60.0;
/// Characters of a name and of a line.
const NAME_MAX: usize = 200;
const LINE_MAX: usize = 2_000;
/// How many faults are drawn and told.
const FAULTS_MAX: usize = 500;
/// How wide the text is, in columns.
const TEXT_WIDTH: usize = 100;

/// The page.
pub fn audited(all: &[Audited], hermitage: Option<&Hermitage>) -> String {
    let product = all.first().map(|it| it.product.as_str());
    let product = product.or(hermitage.map(|it| it.product.as_str())).unwrap_or_default();
    let title = format!("{}: isolation, audited", frame::title(product));
    let mut room = Room::of_a_page();
    let content = html! {
        article {
            h1 { (title) }
            @if !all.is_empty() { (room.share(4, |room| levels(all, room))) }
            @if let Some(hermitage) = hermitage {
                (room.share(4, |room| scenarios(hermitage, room)))
            }
        }
        @for (place, it) in all.iter().enumerate() {
            // What a setting does not use is for those that follow.
            (room.share((all.len() - place).min(4), |room| setting(it, room)))
        }
    };
    frame::page(&title, &content)
}

fn class(kept: Option<bool>) -> &'static str {
    match kept {
        Some(true) => "good",
        Some(false) => "bad",
        None => "open",
    }
}

/// The mark of a cell and how it is read out.
fn mark(kept: Option<bool>) -> (&'static str, &'static str) {
    match kept {
        Some(true) => ("·", "not seen violated"),
        Some(false) => ("x", "violated"),
        None => ("?", "undecided"),
    }
}

fn name(text: &str) -> String {
    short(text, NAME_MAX)
}

fn levels(all: &[Audited], room: &mut Room) -> Markup {
    let (rows, more) = room.rows(all, row);
    let names = all.first().map(|first| first.levels.as_slice()).unwrap_or_default();
    html! {
        h2 { "Levels" }
        div.table tabindex="0" {
            table.grid.matrix {
                thead {
                    tr {
                        th scope="col" { "setting" }
                        @for (level, _) in names { th scope="col" { (level) } }
                        th scope="col" { "promises" }
                        th scope="col" { "seen" }
                    }
                }
                tbody { (rows) }
            }
        }
        @if more > 0 { p.soft { "… and " (more) " more." } }
        p.soft { "x violated, · not seen violated, ? undecided" }
    }
}

fn row(audited: &Audited) -> Markup {
    let seen = audited.anomalies.iter().map(|(name, count)| format!("{name} {}", grouped(*count)));
    html! {
        tr {
            th scope="row" { (name(&audited.setting)) }
            @for (_, kept) in &audited.levels {
                @let (mark, word) = mark(*kept);
                td.(class(*kept)) aria-label=(word) { (mark) }
            }
            td.told { (audited.promise) }
            td.told { (short(&seen.collect::<Vec<_>>().join(", "), LINE_MAX)) }
        }
    }
}

fn scenarios(hermitage: &Hermitage, room: &mut Room) -> Markup {
    let names = html! {
        @for it in &hermitage.settings { th scope="col" { (name(it)) } }
    };
    let Some(names) = room.fit(names) else { return html! {} };
    let row = |scenario: &Scenario| {
        html! {
            tr {
                th scope="row" { (name(&scenario.name)) }
                @for happened in &scenario.happened {
                    td.(class(happened.map(|it| !it))) aria-label=(told_of(*happened)) {
                        (mark(happened.map(|it| !it)).0)
                    }
                }
            }
        }
    };
    let (rows, more) = room.rows(&hermitage.scenarios, row);
    html! {
        h2 { "Hermitage" }
        div.table tabindex="0" {
            table.grid.matrix {
                thead { tr { th scope="col" { "scenario" } (names) } }
                tbody { (rows) }
            }
        }
        @if more > 0 { p.soft { "… and " (more) " more." } }
        p.soft { "x happened, · did not, ? was not played" }
    }
}

/// How a cell of a scenario is read out.
fn told_of(happened: Option<bool>) -> &'static str {
    match happened {
        Some(true) => "happened",
        Some(false) => "did not happen",
        None => "was not played",
    }
}

fn setting(audited: &Audited, room: &mut Room) -> Markup {
    let text = style::strip(&audited::found(audited, TEXT_WIDTH));
    // The verdict is wrapped, what follows is indented.
    let is_verdict = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    let verdict: Vec<&str> = text.lines().take_while(is_verdict).collect();
    let rest: Vec<&str> = text.lines().skip(verdict.len()).collect();
    let verdict = verdict.join(" ");
    let head = html! {
        h2 { (name(&audited.setting)) }
        p.verdict.(class(audited.keeps_promise())) { (short(&verdict, LINE_MAX)) }
        (over_time(audited))
    };
    let Some(head) = room.fit(head) else { return html! {} };
    html! {
        article {
            (head)
            (room.share(4, |room| found(&rest, room)))
            @if !audited.faults.is_empty() { (room.share(4, |room| faults(audited, room))) }
            @if let Some((workload, checked)) = &audited.exemplar {
                p { "The first round that shows it (workload " (workload) "):" }
                (input(&CheckedInput { checked, overview: None }, room))
            }
        }
    }
}

fn found(lines: &[&str], room: &mut Room) -> Markup {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let line = |line: &&str| html! { (short(line, LINE_MAX)) "\n" };
    let (shown, more) = room.rows(&lines[..end], line);
    html! {
        pre tabindex="0" { (shown) }
        @if more > 0 { p.soft { "… and " (more) " lines more." } }
    }
}

fn faults(audited: &Audited, room: &mut Room) -> Markup {
    let line = |fault: &Fault| {
        html! {
            li {
                (format!("{:.1} s: ", fault.at)) code { (short(&fault.what, LINE_MAX)) }
                (format!(" ({:.1} s)", fault.seconds))
                @if let Some(problem) = &fault.problem {
                    strong.bad { " " (short(problem, LINE_MAX)) }
                }
            }
        }
    };
    let (lines, left_out) = room.rows(audited.faults.iter().take(FAULTS_MAX), line);
    let more = left_out + audited.faults.len().saturating_sub(FAULTS_MAX);
    html! {
        details {
            summary { "Faults" }
            ol { (lines) }
            @if more > 0 { p.soft { "… and " (more) " more." } }
        }
    }
}

/// A part of the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateBar {
    /// Where it stands.
    pub area: Area,
    /// Anomalies of a thousand commits.
    pub rate: f64,
}

/// Anomalies of a thousand commits over time, before that is drawn; nothing if no time passed.
pub fn rates(audited: &Audited) -> Vec<RateBar> {
    let end = audited.timeline.last().map_or(0.0, |moment| moment.at);
    if end <= 0.0 {
        return Vec::new();
    }
    let mut bars = vec![(0, 0); BARS_MAX.min(audited.timeline.len())];
    let count = bars.len();
    for moment in &audited.timeline {
        let place = ((moment.at / end * count as f64).ceil() as usize).clamp(1, count) - 1;
        bars[place].0 += moment.anomalies;
        bars[place].1 += moment.committed;
    }
    let rate = |(seen, committed): (u64, u64)| seen as f64 * 1000.0 / committed.max(1) as f64;
    let rates: Vec<f64> = bars.into_iter().map(rate).collect();
    // Few anomalies do not fill the picture.
    let most = rates.iter().copied().fold(1.0, f64::max);
    let slot = WIDTH / count as f64;
    let width = (slot * 0.9).clamp(0.5, BAR_MAX);
    let bar = |(place, rate): (usize, f64)| {
        let height = rate / most * HEIGHT;
        let area = Area { x: place as f64 * slot, y: HEIGHT - height, width, height };
        RateBar { area, rate }
    };
    rates.into_iter().enumerate().map(bar).collect()
}

/// A rate with as many digits as say something.
fn told_rate(rate: f64) -> String {
    match rate {
        ..0.095 if rate > 0.0 => format!("{rate:.3}"),
        ..10.0 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

fn told_seconds(seconds: f64) -> String {
    match seconds {
        ..0.001 => format!("{:.0} µs", seconds * 1_000_000.0),
        ..1.0 => format!("{:.0} ms", seconds * 1000.0),
        ..10.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

/// Anomalies of a thousand commits, over time, and where faults were.
fn over_time(audited: &Audited) -> Markup {
    let end = audited.timeline.last().map_or(0.0, |moment| moment.at);
    let bars = rates(audited);
    if bars.is_empty() {
        return html! {};
    }
    let most = bars.iter().map(|bar| bar.rate).fold(0.0, f64::max);
    let area = format!("0 {} {WIDTH} {}", -MARGIN, HEIGHT + 2.0 * MARGIN);
    html! {
        figure tabindex="0" {
            svg.wide viewBox=(area) role="img" aria-label="anomalies over time"
                fill="currentColor" {
                @for bar in &bars {
                    rect x=(n(bar.area.x)) y=(n(bar.area.y)) width=(n(bar.area.width))
                        height=(n(bar.area.height)) fill="var(--bad)" {
                        title { (format!("{:.1} of 1,000 commits", bar.rate)) }
                    }
                }
                @for fault in audited.faults.iter().take(FAULTS_MAX) {
                    @let x = n((fault.at / end * WIDTH).min(WIDTH));
                    line x1=(x) x2=(x) y1=(n(2.0 - MARGIN)) y2=(n(HEIGHT)) stroke="var(--open)"
                        stroke-width="2" { title { (name(&fault.what)) } }
                }
                text x="0" y=(n(HEIGHT + MARGIN - 3.0)) { "0 s" }
                text x=(n(WIDTH)) y=(n(HEIGHT + MARGIN - 3.0)) text-anchor="end" {
                    (told_seconds(end))
                }
            }
            figcaption {
                (format!("Anomalies of 1,000 commits over time, {} at most", told_rate(most)))
                @if !audited.faults.is_empty() { "; lines are faults" }
            }
        }
    }
}
