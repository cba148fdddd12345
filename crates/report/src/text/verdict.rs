//! The verdict: in one sentence, level by level, and why levels are undecided.

use super::operations::operations;
use super::{Detail, Layout, dimmed, grouped, plural};
use crate::checked::Checked;
use crate::effort;
use crate::notes::notes;
use crate::prose::{self, and, clean};
use crate::style::{self, BOLD, paint};
use crate::wrap::wrap;
use anstyle::Style;
use seriatim_check::{Answer, Duplicate, Report, Undecided, Verdict};
use seriatim_isolation::{Level, Order};
use std::fmt::Write as _;

/// The widest page on which the verdict is wrapped. On wider ones, and where one line is asked for,
/// it is one line, as tools that look for it expect.
const WRAPPED_MAX: usize = 80;

/// The input and the verdict, painted line by line.
pub(super) fn verdict_line(checked: &Checked, layout: &Layout) -> String {
    let style = style::of(overall(&checked.report));
    titled(&checked.input, &headline(&checked.report), style, layout)
}

/// An input and what is said of it in one sentence, painted line by line.
pub(crate) fn titled(input: &str, sentence: &str, style: Style, layout: &Layout) -> String {
    let input = format!("{}:", clean(input));
    let is_wrapped = layout.width <= WRAPPED_MAX && layout.detail != Detail::Verdict;
    let width = if is_wrapped { layout.width.saturating_sub(2) } else { usize::MAX };
    let text = wrap(&format!("{input} {sentence}"), "", width);
    let lines = text.trim_end().lines().enumerate().map(|(number, line)| {
        match line.strip_prefix(&input).filter(|_| number == 0) {
            Some(rest) => {
                let name = paint(BOLD, input.trim_end_matches(':'));
                match rest.trim_start() {
                    "" => format!("{name}:\n"),
                    rest => format!("{name}: {}\n", paint(style, rest)),
                }
            }
            None => format!("  {}\n", paint(style, line)),
        }
    });
    lines.collect()
}

/// The verdict over all levels of a report: violated if one is, else undecided if one is.
pub fn overall(report: &Report) -> Answer {
    let any = |outcome| report.verdicts.iter().any(|verdict| verdict.answer() == outcome);
    if any(Answer::Violated) {
        return Answer::Violated;
    }
    if any(Answer::Undecided) { Answer::Undecided } else { Answer::Holds }
}

/// The verdict in one sentence: on the ladder if all of its levels were checked, else level by
/// level. Strict serializability may be missing: most histories have no times.
pub fn headline(report: &Report) -> String {
    match report.order {
        Order::Sessions => verdicts(report),
        order => format!("{}: {}", order.phrase(), verdicts(report)),
    }
}

fn verdicts(report: &Report) -> String {
    let needless = |level: Level| level == Level::StrictSerializable;
    if Level::LADDER.iter().all(|&level| report.verdict(level).is_some() || needless(level)) {
        return on_the_ladder(report);
    }
    let each = report.verdicts.iter().map(|verdict| match verdict.answer() {
        Answer::Holds => format!("{} holds", verdict.level),
        Answer::Violated => format!("{} is violated", verdict.level),
        Answer::Undecided => format!("{} is undecided", verdict.level),
    });
    each.collect::<Vec<_>>().join("; ")
}

fn on_the_ladder(report: &Report) -> String {
    if overall(report) == Answer::Holds {
        return format!("holds at every level, up to {}", top(report));
    }
    let holds = report.strongest().map(|level| format!("holds up to {level}"));
    let violated = violated_levels(report);
    let violates = (!violated.is_empty()).then(|| format!("violates {}", and(&violated)));
    let open: Vec<String> =
        with_outcome(report, Answer::Undecided).map(|level| level.to_string()).collect();
    let undecided = (!open.is_empty()).then(|| format!("undecided at {}", and(&open)));
    [holds, violates, undecided].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The strongest level that was checked.
fn top(report: &Report) -> Level {
    report.verdicts.last().map_or(Level::StrictSerializable, |verdict| verdict.level)
}

fn violated_levels(report: &Report) -> Vec<String> {
    let top = top(report);
    let beside = with_outcome(report, Answer::Violated).find(|&level| level == Level::CutIsolation);
    let ladder = report.weakest_violated().map(|level| match level == top {
        true => level.to_string(),
        false => format!("{level} (and above)"),
    });
    beside.map(|level| level.to_string()).into_iter().chain(ladder).collect()
}

fn with_outcome(report: &Report, outcome: Answer) -> impl Iterator<Item = Level> {
    report
        .verdicts
        .iter()
        .filter(move |verdict| verdict.answer() == outcome)
        .map(|verdict| verdict.level)
}

/// How far a verdict reaches behind the names of the levels, with what is around it.
fn word_width(verdict: &Verdict) -> usize {
    verdict.answer().word().len() + 4
}

/// What is said of cut isolation.
const BESIDE: &str = " (stands apart: it asks only that reads repeat)";

pub(super) fn levels(checked: &Checked, layout: &Layout) -> String {
    let report = &checked.report;
    let mut page = String::from("\n");
    let longest =
        report.verdicts.iter().map(|verdict| verdict.level.name().len()).max().unwrap_or(0);
    // Cut isolation is no rung of the ladder: between the others it would look like a mistake.
    let is_beside = |verdict: &&Verdict| verdict.level == Level::CutIsolation;
    let ladder = report.verdicts.iter().filter(|verdict| !is_beside(verdict));
    for verdict in ladder.chain(report.verdicts.iter().filter(is_beside)) {
        let word = paint(style::of(verdict.answer()), verdict.answer().word());
        let has_room = longest + word_width(verdict) + BESIDE.len() < layout.width;
        let note = if is_beside(&verdict) && has_room { BESIDE } else { "" };
        let _ = writeln!(page, "  {:<1$}  {word}{note}", verdict.level.name(), longest);
    }
    page + &remarks(checked, layout)
}

/// What is to be said beside the levels.
pub(crate) fn remarks(checked: &Checked, layout: &Layout) -> String {
    let report = &checked.report;
    let mut page = String::new();
    if is_silent_about_times(checked) {
        page += &dimmed(
            "strict serializability: not checked, the history has no times",
            "  ",
            layout.width,
        );
    }
    page += &open_verdicts(checked, layout);
    if let Some(hint) = with_real_time(report) {
        page += &dimmed(&hint, "  ", layout.width);
    }
    for note in notes(checked) {
        page += &dimmed(&note, "  ", layout.width);
    }
    page
}

/// What real time would change: reads that are stale by themselves violate every level with it, and
/// so do cycles.
fn with_real_time(report: &Report) -> Option<String> {
    if report.order != Order::Sessions {
        return None;
    }
    let stale = report.stale.map(|stale| {
        let age = prose::age(stale.age_max);
        format!("{}, up to {age} old", plural(stale.reads, "stale read"))
    });
    let cycles = (report.time_cycles > 0).then(|| plural(report.time_cycles, "real-time cycle"));
    let found: Vec<String> = stale.into_iter().chain(cycles).collect();
    if found.is_empty() {
        return None;
    }
    let holds = |level: &Level| report.verdict(*level).is_some_and(Verdict::holds);
    let mut held = Level::LADDER.into_iter().filter(holds);
    let (first, others) = (held.next()?, held.next().is_some());
    let above = if others { " (and above)" } else { "" };
    let found = found.join("; ");
    Some(format!("with real time: {first}{above} violated: {found} (--order real-time)"))
}

/// Whether strict serializability is missing although all levels were asked for.
fn is_silent_about_times(checked: &Checked) -> bool {
    let is_there = |level: Level| checked.report.verdict(level).is_some();
    let others =
        Level::ALL.into_iter().filter(|&level| level != Level::StrictSerializable).all(is_there);
    others && !is_there(Level::StrictSerializable) && !checked.counts.has_times
}

/// Why verdicts are open, each reason once.
fn open_verdicts(checked: &Checked, layout: &Layout) -> String {
    let report = &checked.report;
    let mut page = String::new();
    let mut told = Vec::new();
    for reason in report.verdicts.iter().filter_map(|verdict| verdict.undecided()) {
        if !told.contains(&reason) {
            let known =
                effort::so_far(report, reason).map(|known| format!(" {known}")).unwrap_or_default();
            let more = why_searched(report, reason)
                .map_or_else(|| memory_needed(report, reason), str::to_owned);
            let why = match (reason, report.order) {
                (Undecided::NoTimes, Order::RealTime) => NO_REAL_TIME.to_owned(),
                _ => undecided(reason, checked.duplicate.as_ref()),
            };
            let text = why + &more + &known;
            page += &wrap(&text, "  ", layout.width);
            told.push(reason);
        }
    }
    if let (false, Some(duplicate)) = (told.is_empty(), &checked.duplicate) {
        page += &operations(&duplicate.writes, layout.width);
    }
    page
}

/// Weak levels are searched for one reason only, which is not obvious.
fn why_searched(report: &Report, reason: &Undecided) -> Option<&'static str> {
    let is_open = report
        .verdicts
        .iter()
        .any(|verdict| !verdict.level.is_strong() && verdict.undecided() == Some(reason));
    (is_open && *reason == Undecided::Budget).then_some(
        " Levels below prefix consistency need a search here because values were written several \
         times and read: a read may \
         come from any of the writes.",
    )
}

/// How much memory would have been enough, if that is known.
fn memory_needed(report: &Report, reason: &Undecided) -> String {
    match (reason, report.memory_needed) {
        (Undecided::Memory, Some(bytes)) => {
            format!(" About {} would have been needed to go on.", plural(bytes, "byte"))
        }
        _ => String::new(),
    }
}

const NO_REAL_TIME: &str = "Undecided, because the history has no begin and end times, and real \
                            time was asked for. Record times, or check without --order real-time.";

/// Why a verdict is open, and what to do about it.
pub fn undecided(reason: &Undecided, duplicate: Option<&Duplicate>) -> String {
    match reason {
        Undecided::DuplicateValue { key, value, reads } => format!(
            "Undecided, because {}, so that a read of it may come from any of them ({} of such \
             values in all). Let every \
             append to a key append a value of its own, and record again.",
            written_twice(&prose::assignment(key, value), duplicate),
            plural(*reads, "read"),
        ),
        Undecided::Budget => {
            "Undecided, because the search used up its budget and was given up.".to_owned()
        }
        Undecided::ManyWithoutSessions => {
            "Undecided, because what violates it with sessions needs them, and without sessions \
             so many transactions, or so many reads of scans, are not searched."
                .to_owned()
        }
        Undecided::Memory => {
            "Undecided, because of the memory limit: going on would have taken more.".to_owned()
        }
        Undecided::UnknownContent { transactions } => format!(
            "Undecided, because it is not known what {} did: as far as the others go nothing is \
             wrong, but what was passed over may be.",
            plural(*transactions, "transaction"),
        ),
        Undecided::NoTimes => {
            "Strict serializability is undecided, because the history has no begin and end times."
                .to_owned()
        }
        other => format!("Undecided: {other:?}."),
    }
}

/// The writer of a value that was read, as far as that is known.
fn written_twice(read: &str, duplicate: Option<&Duplicate>) -> String {
    let Some(duplicate) = duplicate else {
        return format!("several transactions wrote {read} and it was read");
    };
    let mut writers: Vec<String> = Vec::new();
    for write in &duplicate.writes {
        let writer = prose::txn(&write.txn);
        if !writers.contains(&writer) {
            writers.push(writer);
        }
    }
    if duplicate.more > 0 {
        writers.push(format!("{} more", grouped(duplicate.more)));
    }
    let item = duplicate.writes.first().map_or(read.to_owned(), prose::item);
    if duplicate.is_initial {
        return format!("{item} is the initial value, and {} wrote it as well", and(&writers));
    }
    let wrote = duplicate.writes.first().map_or(format!("wrote {item}"), prose::did);
    format!("{} {} {wrote}", and(&writers), if writers.len() == 2 { "both" } else { "all" })
}
