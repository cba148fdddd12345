//! The whole history in a strip, and the neighbourhood of an anomaly, as they are drawn. Where bars
//! stand is decided in `timeline.rs`.

use super::counted::{Lasting, Mark, Neighbour, Overview, Strip, Window};
use super::diagram::{cut, short};
use super::draw::n;
use super::frame::Room;
use super::timeline::{ACROSS, Bar, PLANE, Timeline};
use crate::prose::clean;
use crate::text::{grouped, plural};
use maud::{Markup, html};
use seriatim_history::TimeUnit;

const WIDTH: f64 = NAME + PLANE + 10.0;
const NAME: f64 = 130.0;
const LINE: f64 = 16.0;
/// Parts that are drawn with different strength.
const SHADES: f64 = 5.0;
/// How many anomalies are told in the text below the strip.
const TOLD_MAX: usize = 30;
/// Characters of what an anomaly is about, and of a name or a cell.
const ABOUT_MAX: usize = 300;

/// A time in words, from the beginning of the history.
pub(super) fn moment(at: f64, unit: TimeUnit) -> String {
    let TimeUnit::Nanoseconds = unit else { return format!("{}", at.round()) };
    let (size, name, digits) = match at.abs() {
        1e9.. => (1e9, "s", 6),
        1e6.. => (1e6, "ms", 3),
        1e3.. => (1e3, "µs", 3),
        _ => (1.0, "ns", 0),
    };
    let text = format!("{:.digits$}", at / size);
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {name}")
}

impl Overview {
    /// Times are told from the beginning of the history if they have a unit.
    fn origin(&self) -> f64 {
        match (self.unit, self.span) {
            (TimeUnit::Nanoseconds, Some((first, _))) => first as f64,
            _ => 0.0,
        }
    }

    fn at(&self, time: i64) -> String {
        moment(time as f64 - self.origin(), self.unit)
    }

    fn unit_code(&self) -> &'static str {
        match self.unit {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Unknown => "",
        }
    }

    fn parts(&self) -> usize {
        self.sessions.iter().map(|it| it.counts.len()).max().unwrap_or(0).max(1)
    }

    /// The first and the last part in which an anomaly is.
    fn parts_of(&self, anomaly: usize) -> Option<(u32, u32)> {
        let all = self.sessions.iter().chain(&self.others).flat_map(|it| &it.marks);
        let own = || all.clone().filter(|mark| mark.anomaly == anomaly).map(|mark| mark.part);
        Some((own().min()?, own().max()?))
    }
}

/// A heading of an axis: values at fifths of it, which a script writes anew when it looks closer.
fn ticks(first: f64, last: f64, unit: TimeUnit, y: f64) -> Markup {
    let at = |place: usize| place as f64 * ACROSS / 4.0;
    // Between few places there is nothing to be told.
    let is_coarse = unit == TimeUnit::Unknown && last - first < 8.0;
    html! {
        @for place in (0..=4).filter(|place| !is_coarse || place % 4 == 0) {
            text.tick data-at=(n(at(place))) y=(n(y))
                x=(n(NAME + at(place) / ACROSS * PLANE))
                text-anchor=(["start", "middle", "middle", "middle", "end"][place]) {
                (moment(first + (last - first) * at(place) / ACROSS, unit))
            }
        }
    }
}

/// Buttons that look closer, and a choice of what to look at.
fn zoom(picks: &[(String, String)]) -> Markup {
    html! {
        nav.zoom aria-label="zoom" {
            button type="button" data-zoom="closer" { "closer" }
            button type="button" data-zoom="wider" { "wider" }
            button type="button" data-zoom="all" { "all" }
            @if !picks.is_empty() {
                select aria-label="around which anomaly" {
                    option value="" { "the whole history" }
                    @for (value, name) in picks { option value=(value) { (name) } }
                }
            }
        }
    }
}

/// The strip over all transactions; `kinds` are those of the anomalies, the first of which has
/// this number on the page.
pub(crate) fn strip(overview: &Overview, kinds: &[&str], first: usize) -> Markup {
    let single = overview.sessions.iter().flat_map(|it| &it.counts).copied().max().unwrap_or(0);
    let lines = overview.sessions.len() + usize::from(overview.others.is_some());
    let plane = lines as f64 * LINE;
    let axis = if overview.span.is_some() { "time" } else { "place in the session" };
    let (start, end) = match overview.span {
        Some((start, end)) => (start as f64 - overview.origin(), end as f64 - overview.origin()),
        None => (0.0, f64::from(overview.longest)),
    };
    let unit = if overview.span.is_some() { overview.unit } else { TimeUnit::Unknown };
    let code = if overview.span.is_some() { overview.unit_code() } else { "" };
    let id = format!("s{first}");
    let name = |place: usize| format!("anomaly {} ({})", place + 1, kinds[place]);
    let step = ACROSS / overview.parts() as f64;
    let picks = (0..kinds.len().min(TOLD_MAX)).filter_map(|place| {
        let (from, to) = overview.parts_of(place)?;
        let around = [f64::from(from), f64::from(to + 1)].map(|part| n(part * step));
        Some((around.join(" "), name(place)))
    });
    let marks = Marks { overview, kinds, first, id: &id };
    html! {
        figure.overview tabindex="0" data-first=(start) data-last=(end) data-unit=(code) {
            (zoom(&picks.collect::<Vec<_>>()))
            svg.picture.wide viewBox=(format!("0 0 {} {}", n(WIDTH), n(plane + 22.0)))
                role="group" aria-label=(format!("all transactions by session and {axis}")) {
                @let sessions = overview.sessions.iter().chain(&overview.others);
                @for (line, session) in sessions.enumerate() {
                    text x="0" y=(n(line as f64 * LINE + 12.0)) {
                        (short(&session.name, 17))
                        title { (short(&session.name, ABOUT_MAX)) }
                    }
                }
                svg.plane x=(n(NAME)) y="0" width=(n(PLANE)) height=(n(plane))
                    preserveAspectRatio="none"
                    viewBox=(format!("0 0 {ACROSS} {}", n(plane))) {
                    @for (line, session) in overview.sessions.iter().enumerate() {
                        (session_strip(session, line, single, step, &marks))
                    }
                    @if let Some(others) = &overview.others {
                        @let most = others.counts.iter().copied().max().unwrap_or(0);
                        (session_strip(others, overview.sessions.len(), most, step, &marks))
                    }
                }
                (ticks(start, end, unit, plane + 16.0))
            }
            figcaption {
                (plural(overview.transactions, "transaction")) " by session and " (axis)
                "; the darker, the more (the darkest part of a session has "
                (plural(u64::from(single), "transaction")) "). "
                @if overview.others.is_some() { "The others have a scale of their own. " }
                @if overview.timeless > 0 {
                    (plural(overview.timeless, "transaction")) " without a time: not shown. "
                }
                "Frames are where the anomalies below are."
            }
        }
        @if !kinds.is_empty() {
            label { "Only with " input type="search" data-filters=(id)
                placeholder="a session, a key, a kind"; }
            ul.where {
                @for place in 0..kinds.len().min(TOLD_MAX) { (whereabouts(&marks, place)) }
            }
        }
    }
}

/// What frames are about.
struct Marks<'m> {
    overview: &'m Overview,
    kinds: &'m [&'m str],
    /// The number of the first anomaly on the page.
    first: usize,
    id: &'m str,
}

impl Marks<'_> {
    /// What an anomaly is about, for a filter.
    fn about(&self, anomaly: usize) -> String {
        let kind = self.kinds.get(anomaly).copied().unwrap_or_default();
        let window = self.overview.windows.get(anomaly);
        let names = window.map(|it| [it.sessions.join(" "), it.keys.join(" ")].join(" "));
        short(&format!("{kind} {}", names.unwrap_or_default()), ABOUT_MAX)
    }
}

/// A sentence: where an anomaly is.
fn whereabouts(marks: &Marks<'_>, place: usize) -> Markup {
    let Marks { overview, kinds, first, .. } = *marks;
    let Some(window) = overview.windows.get(place) else { return html! {} };
    let known = || {
        let guilty = window.txns.iter().filter(|txn| txn.is_guilty);
        guilty.filter_map(|txn| txn.times.and_then(Lasting::known))
    };
    let times = known().map(|it| it.0).min().zip(known().map(|it| it.1).max());
    let sessions: Vec<String> = window.sessions.iter().map(|it| clean(it)).collect();
    let keys: Vec<String> = window.keys.iter().map(|it| clean(it)).collect();
    html! {
        li data-of=(marks.id) data-about=(marks.about(place)) {
            a href=(format!("#a{}", first + place)) { (kinds[place]) }
            @if let Some((from, to)) = times {
                ": from " (overview.at(from)) " to " (overview.at(to))
                @if overview.unit == TimeUnit::Nanoseconds { " after the beginning" }
            }
            @if !sessions.is_empty() {
                ", sessions " (cut(&sessions.join(", "), ABOUT_MAX))
            }
            @if !keys.is_empty() { ", keys " (cut(&keys.join(", "), ABOUT_MAX)) }
        }
    }
}

fn session_strip(session: &Strip, line: usize, most: u32, step: f64, marks: &Marks<'_>) -> Markup {
    let y = line as f64 * LINE;
    let x = |part: usize| part as f64 * step;
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
        g data-of=(marks.id) data-about=(short(&session.name, ABOUT_MAX)) {
            @for (start, end, strength) in runs.into_iter().filter(|run| run.2 > 0.0) {
                rect.cell x=(n(x(start))) y=(n(y + 2.0)) width=(n(x(end) - x(start)))
                    height=(n(LINE - 4.0)) opacity=(n(0.15 + 0.85 * strength)) {}
            }
        }
        @for (place, mark) in session.marks.iter().enumerate() {
            // Marks of several anomalies share their part.
            @let same = |it: &&Mark| it.part == mark.part;
            @let wide = step / session.marks.iter().filter(same).count() as f64;
            @let before = session.marks[..place].iter().filter(same).count() as f64;
            @let kind = marks.kinds.get(mark.anomaly).copied().unwrap_or_default();
            a href=(format!("#a{}", marks.first + mark.anomaly))
                aria-label=(format!("to anomaly {}: {kind}", mark.anomaly + 1))
                data-of=(marks.id) data-about=(marks.about(mark.anomaly)) {
                rect.mark x=(n(x(mark.part as usize) + before * wide)) y=(n(y + 1.0))
                    width=(n(wide))
                    height=(n(LINE - 2.0)) {}
            }
        }
    }
}

/// Transactions as bars on an axis of time; nothing if no times are known.
pub(crate) fn timeline(overview: &Overview, window: &Window, number: usize) -> Option<Markup> {
    let drawn = Timeline::of(window)?;
    let (start, end) = (drawn.first as f64, drawn.last as f64);
    let origin = overview.origin();
    let id = format!("n{number}");
    let focus = format!("{} {}", n(drawn.guilty.0), n(drawn.guilty.1));
    Some(html! {
        figure.timeline tabindex="0" data-first=(start - origin) data-last=(end - origin)
            data-unit=(overview.unit_code()) data-focus=(focus) {
            (zoom(&[]))
            svg.picture.wide viewBox=(format!("0 0 {} {}", n(WIDTH), n(drawn.height + 26.0)))
                role="group" aria-label="transactions on an axis of time" {
                @for (y, name) in &drawn.names {
                    text x="0" y=(n(*y)) {
                        (short(name, 17))
                        title { (short(name, ABOUT_MAX)) }
                    }
                }
                svg.plane x=(n(NAME)) y="0" width=(n(PLANE)) height=(n(drawn.height))
                    preserveAspectRatio="none"
                    viewBox=(format!("0 0 {ACROSS} {}", n(drawn.height))) {
                    @for bar in &drawn.bars { (timed(overview, window, bar, &id)) }
                }
                line.axis x1=(n(NAME)) x2=(n(NAME + PLANE)) y1=(n(drawn.height + 4.0))
                    y2=(n(drawn.height + 4.0)) {}
                (ticks(start - origin, end - origin, overview.unit, drawn.height + 20.0))
            }
            figcaption {
                "When transactions began and ended; those of the anomaly stand out. "
                @if drawn.bars.iter().any(|bar| bar.is_endless) {
                    "Bars with a dashed frame have no known begin or never ended. "
                }
                @if overview.unit == TimeUnit::Nanoseconds {
                    "Times are from the beginning of the history."
                }
            }
        }
    })
}

fn timed(overview: &Overview, window: &Window, bar: &Bar, id: &str) -> Markup {
    let txn = &window.txns[bar.txn];
    let [begin, end] = lasting(overview, txn);
    html! {
        rect.bar.guilty[txn.is_guilty].endless[bar.is_endless] x=(n(bar.area.x))
            y=(n(bar.area.y)) width=(n(bar.area.width)) height=(n(bar.area.height))
            data-of=(id) data-row=(bar.txn) {
            title { (short(&txn.name, ABOUT_MAX)) ": " (begin) " to " (end) }
        }
    }
}

/// Begin and end in words.
fn lasting(overview: &Overview, txn: &Neighbour) -> [String; 2] {
    let told = |time: Option<i64>, missing: &str| match time {
        Some(time) => overview.at(time),
        None => missing.to_owned(),
    };
    match txn.times {
        None => [String::new(), String::new()],
        Some(times) => [told(times.begin, "unknown"), told(times.end, "never ended")],
    }
}

/// The transactions around an anomaly, with what they did.
pub(crate) fn neighbours(
    overview: &Overview,
    window: &Window,
    number: usize,
    room: &mut Room,
) -> Markup {
    let id = format!("n{number}");
    let has_times = window.txns.iter().any(|txn| txn.times.is_some());
    let row = |txn: &Neighbour| {
        html! {
            tr.guilty[txn.is_guilty] {
                td { (short(&txn.session, ABOUT_MAX)) }
                td {
                    (short(&txn.name, ABOUT_MAX))
                    @if let Some(note) = txn.note { " (" (note) ")" }
                }
                @if has_times { @for time in lasting(overview, txn) { td.number { (time) } } }
                td.act {
                    @for act in &txn.acts { div { (short(act, ABOUT_MAX)) } }
                    @if txn.more > 0 {
                        div.soft { "… and " (grouped(txn.more)) " more" }
                    }
                }
            }
        }
    };
    let (rows, left_out) = room.rows(&window.txns, row);
    let more = window.more + left_out as u64;
    html! {
        details {
            summary { "Around it: " (plural(window.txns.len() as u64, "transaction")) }
            label { "Only with " input type="search" data-filters=(id)
                placeholder="a session, a key, a value"; }
            div.table tabindex="0" {
                table id=(id) {
                    thead {
                        tr {
                            th scope="col" { "session" }
                            th scope="col" { "transaction" }
                            @if has_times { th scope="col" { "begin" } th scope="col" { "end" } }
                            th scope="col" { "what it did" }
                        }
                    }
                    tbody { (rows) }
                }
            }
            @if more > 0 { p.soft { "… and " (plural(more, "other transaction")) "." } }
        }
    }
}
