//! What `audit` found, as a page: the matrix first, then for each setting what was seen over time
//! with the faults, and the first round that shows it with its pictures.

use super::check::{CheckedInput, input_from};
use super::draw::n;
use super::frame;
use crate::audited::{self, Audited, Hermitage};
use crate::prose::clean;
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
/// How many faults are drawn and told.
const FAULTS_MAX: usize = 500;
/// How wide the text is, in columns.
const TEXT_WIDTH: usize = 100;

/// The page.
pub fn audited(all: &[Audited], hermitage: Option<&Hermitage>) -> String {
    let product = all.first().map(|it| it.product.as_str());
    let product = product.or(hermitage.map(|it| it.product.as_str())).unwrap_or_default();
    let title = format!("{}: isolation, audited", clean(product));
    let content = html! {
        article {
            h1 { (title) }
            @if !all.is_empty() { (levels(all)) }
            @if let Some(hermitage) = hermitage { (scenarios(hermitage)) }
        }
        @let mut number = 0;
        @for it in all { (setting(it, &mut number)) }
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

fn levels(all: &[Audited]) -> Markup {
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
                tbody { @for it in all { (row(it)) } }
            }
        }
        p.soft { "x violated, · not seen violated, ? undecided" }
    }
}

fn row(audited: &Audited) -> Markup {
    let seen = audited.anomalies.iter().map(|(name, count)| format!("{name} {}", grouped(*count)));
    html! {
        tr {
            th scope="row" { (clean(&audited.setting)) }
            @for (_, kept) in &audited.levels {
                @let (mark, word) = mark(*kept);
                td.(class(*kept)) aria-label=(word) { (mark) }
            }
            td.told { (audited.promise) }
            td.told { (clean(&seen.collect::<Vec<_>>().join(", "))) }
        }
    }
}

fn scenarios(hermitage: &Hermitage) -> Markup {
    html! {
        h2 { "Hermitage" }
        div.table tabindex="0" {
            table.grid.matrix {
                thead {
                    tr {
                        th scope="col" { "scenario" }
                        @for name in &hermitage.settings { th scope="col" { (clean(name)) } }
                    }
                }
                tbody {
                    @for scenario in &hermitage.scenarios {
                        tr {
                            th scope="row" { (clean(&scenario.name)) }
                            @for happened in &scenario.happened {
                                @let kept = happened.map(|it| !it);
                                td.(class(kept)) { (mark(kept).0) }
                            }
                        }
                    }
                }
            }
        }
        p.soft { "x happened, · did not, ? was not played" }
    }
}

fn setting(audited: &Audited, number: &mut usize) -> Markup {
    let text = style::strip(&audited::found(audited, TEXT_WIDTH));
    // The verdict is wrapped, what follows is indented.
    let is_verdict = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    let verdict: Vec<&str> = text.lines().take_while(is_verdict).collect();
    let rest: Vec<&str> = text.lines().skip(verdict.len()).collect();
    let verdict = verdict.join(" ");
    html! {
        article {
            h2 { (clean(&audited.setting)) }
            p.verdict.(class(audited.keeps_promise())) { (clean(&verdict)) }
            (over_time(audited))
            pre tabindex="0" { (clean_lines(&rest)) }
            @if !audited.faults.is_empty() { (faults(audited)) }
            @if let Some((workload, checked)) = &audited.exemplar {
                p { "The first round that shows it (workload " (workload) "):" }
                (input_from(&CheckedInput { checked, overview: None }, number))
            }
        }
    }
}

fn clean_lines(lines: &[&str]) -> String {
    let text: String = lines.iter().map(|line| clean(line) + "\n").collect();
    text.trim_end().to_owned()
}

fn faults(audited: &Audited) -> Markup {
    html! {
        details {
            summary { "Faults" }
            ol {
                @for fault in audited.faults.iter().take(FAULTS_MAX) {
                    li {
                        (format!("{:.1} s: ", fault.at)) code { (clean(&fault.what)) }
                        (format!(" ({:.1} s)", fault.seconds))
                        @if let Some(problem) = &fault.problem {
                            strong.bad { " " (clean(problem)) }
                        }
                    }
                }
            }
            @if audited.faults.len() > FAULTS_MAX {
                p.soft { "… and " (audited.faults.len() - FAULTS_MAX) " more." }
            }
        }
    }
}

/// Anomalies and commits of each part of the time.
fn bars(audited: &Audited, end: f64) -> Vec<(u64, u64)> {
    let mut bars = vec![(0, 0); BARS_MAX.min(audited.timeline.len())];
    let count = bars.len();
    for moment in &audited.timeline {
        let place = ((moment.at / end * count as f64).ceil() as usize).clamp(1, count) - 1;
        bars[place].0 += moment.anomalies;
        bars[place].1 += moment.committed;
    }
    bars
}

fn told_seconds(seconds: f64) -> String {
    match seconds {
        ..1.0 => format!("{:.0} ms", seconds * 1000.0),
        ..10.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

/// Anomalies of a thousand commits, over time, and where faults were.
fn over_time(audited: &Audited) -> Markup {
    let end = audited.timeline.last().map_or(0.0, |moment| moment.at);
    if end <= 0.0 {
        return html! {};
    }
    let bars = bars(audited, end);
    let rate = |(seen, committed): (u64, u64)| seen as f64 * 1000.0 / committed.max(1) as f64;
    let most = bars.iter().map(|bar| rate(*bar)).fold(1.0, f64::max);
    let slot = WIDTH / bars.len() as f64;
    let wide = (slot * 0.9).clamp(0.5, BAR_MAX);
    let area = format!("0 {} {WIDTH} {}", -MARGIN, HEIGHT + 2.0 * MARGIN);
    html! {
        figure {
            svg.wide viewBox=(area) role="img" aria-label="anomalies over time"
                fill="currentColor" {
                @for (place, bar) in bars.iter().enumerate() {
                    @let high = rate(*bar) / most * HEIGHT;
                    rect x=(n(place as f64 * slot)) y=(n(HEIGHT - high))
                        width=(n(wide)) height=(n(high)) fill="var(--bad)" {
                        title { (format!("{:.1} of 1,000 commits", rate(*bar))) }
                    }
                }
                @for fault in audited.faults.iter().take(FAULTS_MAX) {
                    @let x = n((fault.at / end * WIDTH).min(WIDTH));
                    line x1=(x) x2=(x) y1=(n(2.0 - MARGIN)) y2=(n(HEIGHT)) stroke="var(--open)"
                        stroke-width="2" { title { (clean(&fault.what)) } }
                }
                text x="0" y=(n(HEIGHT + MARGIN - 3.0)) { "0 s" }
                text x=(n(WIDTH)) y=(n(HEIGHT + MARGIN - 3.0)) text-anchor="end" {
                    (told_seconds(end))
                }
            }
            figcaption {
                (format!("Anomalies of 1,000 commits over time, {most:.0} at most"))
                @if !audited.faults.is_empty() { "; lines are faults" }
            }
        }
    }
}
