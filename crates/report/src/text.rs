//! For people: the verdict first, then the smallest explanation of each kind of anomaly, then
//! details.
//!
//! The text carries colours ([`crate::style`]); strip them where they are not wanted.

use crate::checked::{Checked, Duplicate, Unread, Unreadable};
use crate::effort;
use crate::prose::{self, and, clean};
use crate::scenario;
use crate::style::{self, BAD, BOLD, DIM, OPEN, paint};
use crate::wrap::wrap;
use seriatim_check::{AnomalyGroup, Answer, Edge, OpRef, Reason, Report, Undecided, Violation};
use seriatim_isolation::{Anomaly, Level};
use std::fmt::Write as _;
use std::time::Duration;

/// How much to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Detail {
    /// One line for each input.
    Verdict,
    /// The smallest instance of each anomaly.
    #[default]
    Exemplars,
    /// Every instance that the report holds.
    Instances,
}

/// How the page looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Characters in a line.
    pub width: usize,
    /// How much to say.
    pub detail: Detail,
    /// Whether to say where the time went.
    pub timings: bool,
    /// Whether to tell the whole derivation of each inferred step.
    pub why: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { width: 100, detail: Detail::Exemplars, timings: false, why: false }
    }
}

/// The page about one input.
pub fn render(checked: &Checked, layout: &Layout) -> String {
    let mut page = verdict_line(checked);
    if layout.detail == Detail::Verdict {
        return if layout.timings { page.trim_end().to_owned() + &times(checked) } else { page };
    }
    page += &dimmed(&size_line(checked), "  ", layout.width);
    page += &levels(checked, layout);
    for group in &checked.report.anomalies {
        page.push('\n');
        page += &anomaly(group, layout);
    }
    if layout.timings {
        page.push('\n');
        page += &times(checked);
        page += &efforts(checked, layout);
    }
    page
}

/// The page about an input that is too large to be read: one line, or two.
pub fn render_unread(unread: &Unread, layout: &Layout) -> String {
    let page = format!(
        "{}: {}\n",
        paint(BOLD, &clean(&unread.input)),
        paint(OPEN, "undecided at every level")
    );
    if layout.detail == Detail::Verdict {
        page
    } else {
        page + &wrap(&too_large(unread), "  ", layout.width)
    }
}

/// Why an input was not read.
pub fn too_large(unread: &Unread) -> String {
    let bytes = plural(unread.bytes_max, "byte");
    let because = format!(
        "Undecided, because of the memory limit: it lets an input have {bytes}, and this one has"
    );
    match unread.size {
        None => format!("{because} more. Nothing was read."),
        Some(size) => format!(
            "{because} at least {}, for which the limit would have to be {} or more. Nothing was \
             read.",
            grouped(size.bytes),
            plural(size.memory, "byte"),
        ),
    }
}

/// The line about an input that could not be read: `error: file:line:column: what is wrong; what to
/// do`.
pub fn render_error(unreadable: &Unreadable) -> String {
    let hint = unreadable.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let problem = format!("{}: {}{hint}", unreadable.spot, unreadable.message);
    format!("{} {}\n", paint(BAD, "error:"), clean(&problem))
}

fn verdict_line(checked: &Checked) -> String {
    let style = style::of(overall(&checked.report));
    format!(
        "{}: {}\n",
        paint(BOLD, &clean(&checked.input)),
        paint(style, &headline(&checked.report))
    )
}

/// The verdict over all levels of a report: violated if one is, else undecided if one is.
pub fn overall(report: &Report) -> Answer {
    let any = |outcome| report.verdicts.iter().any(|verdict| verdict.answer() == outcome);
    if any(Answer::Violated) {
        Answer::Violated
    } else if any(Answer::Undecided) {
        Answer::Undecided
    } else {
        Answer::Holds
    }
}

/// The verdict in one sentence: on the ladder if all of its levels were checked, else level by
/// level. Strict serializability may be missing: most histories have no times.
pub fn headline(report: &Report) -> String {
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

fn size_line(checked: &Checked) -> String {
    let counts = &checked.counts;
    let mut line = format!(
        "{} format, {}, {}, {}",
        checked.format,
        plural(counts.sessions as u64, "session"),
        plural(counts.transactions as u64, "transaction"),
        plural(counts.operations as u64, "operation"),
    );
    if counts.skipped > 0 {
        let _ = write!(line, ", {} skipped", plural(counts.skipped, "unknown line"));
    }
    line
}

/// A paragraph of what is secondary.
fn dimmed(text: &str, first: &str, width: usize) -> String {
    paint(DIM, wrap(text, first, width).trim_end_matches('\n')) + "\n"
}

fn levels(checked: &Checked, layout: &Layout) -> String {
    let report = &checked.report;
    let mut page = String::from("\n");
    let longest =
        report.verdicts.iter().map(|verdict| verdict.level.name().len()).max().unwrap_or(0);
    for verdict in &report.verdicts {
        let word = paint(style::of(verdict.answer()), verdict.answer().word());
        let _ = writeln!(page, "  {:<1$}  {word}", verdict.level.name(), longest);
    }
    if is_silent_about_times(checked) {
        page += &dimmed(
            "strict serializability: not checked, the history has no times",
            "  ",
            layout.width,
        );
    }
    page += &open_verdicts(checked, layout);
    page
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
            let text = undecided(reason, checked.duplicate.as_ref()) + &more + &known;
            page += &wrap(&text, "  ", layout.width);
            told.push(reason);
        }
    }
    if let (false, Some(duplicate)) = (told.is_empty(), &checked.duplicate) {
        page += &operations(&duplicate.writes, layout.width);
    }
    page
}

/// Weak levels are searched for one reason only, which nobody would guess.
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
        Undecided::Memory => {
            "Undecided, because of the memory limit: going on would have taken more.".to_owned()
        }
        Undecided::NoTimes => {
            "Strict serializability is undecided, because the history has no begin and end times."
                .to_owned()
        }
        other => format!("Undecided: {other:?}."),
    }
}

/// Who wrote a value that was read, as far as that is known.
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
    format!("{} {} wrote {item}", and(&writers), if writers.len() == 2 { "both" } else { "all" })
}

fn anomaly(group: &AnomalyGroup, layout: &Layout) -> String {
    let (title, names) = (title(group), format!("({})", names_and_levels(group)));
    let mut page = match title.chars().count() + 1 + names.chars().count() > layout.width {
        true => format!("{}\n{}", paint(BAD, &title), dimmed(&names, "  ", layout.width)),
        false => format!("{} {}\n", paint(BAD, &title), paint(DIM, &names)),
    };
    page += &violation(&group.exemplar, layout);
    if layout.detail == Detail::Instances {
        page += &instances(group, layout);
    }
    page
}

/// The name of a group and its size. A session that does not see its own write is a fractured read
/// by definition, but nobody would call it so: if all instances that are known are of this sort,
/// the heading says it.
fn title(group: &AnomalyGroup) -> String {
    let by_read = if group.count > 1 && is_seen_by_several(&group.exemplar) {
        ", counted by read"
    } else {
        ""
    };
    let (name, count) = (group.kind.info().name, plural(group.count, "instance") + by_read);
    if !prose::is_stale_in_session(&group.exemplar) {
        return format!("{name}: {count}");
    }
    let all_known = group.count == 1 || group.instances.len() as u64 == group.count;
    match all_known && group.instances.iter().all(prose::is_stale_in_session) {
        true => format!("stale read in its own session ({name}): {count}"),
        false => format!("{name}: {count}, the smallest a stale read in its own session"),
    }
}

/// Whether several reads show the same cycle, each of which counts: only cycles of two transactions
/// are counted once.
fn is_seen_by_several(violation: &Violation) -> bool {
    let is_inferred = |edge: &&Edge| matches!(edge.reason, Reason::Overwritten { .. });
    violation.cycle.len() > 2 && violation.cycle.iter().filter(is_inferred).count() > 1
}

fn names_and_levels(group: &AnomalyGroup) -> String {
    let info = group.kind.info();
    let tap = info.tap.map(|letter| format!("TAP-{letter}"));
    let names: Vec<String> = tap.into_iter().chain(info.adya.map(str::to_owned)).collect();
    let forbidden = format!("forbidden by {}", prose::levels(&group.exemplar.levels));
    if group.kind == Anomaly::DirtyWrite {
        // Whoever knows G0 knows it as what the weakest level forbids.
        return format!(
            "G0, which Adya forbids from PL-1 on; registers do not show the order of writes, so \
             here it is {forbidden}"
        );
    }
    if names.is_empty() { forbidden } else { format!("{}; {forbidden}", names.join(", ")) }
}

/// One instance: the story, the contradiction step by step, the operations with their places.
pub fn violation(violation: &Violation, layout: &Layout) -> String {
    let mut page = wrap(&prose::summary(violation), "  ", layout.width);
    let steps = prose::steps(violation);
    for (i, (step, edge)) in steps.iter().zip(&violation.cycle).enumerate() {
        page += &wrap(step, &format!("  {}. ", i + 1), layout.width);
        if layout.why {
            page += &derivation(edge, layout);
        }
    }
    if !layout.why && steps.iter().any(|step| step.contains(scenario::IMPOSSIBLE)) {
        page += &dimmed(
            "(`check --why` tells why an opposite order is impossible.)",
            "     ",
            layout.width,
        );
    }
    page + &operations(&violation.ops, layout.width)
}

/// Why an inferred step holds, indented as it is nested.
fn derivation(edge: &Edge, layout: &Layout) -> String {
    let lines = scenario::derivation(edge).into_iter();
    lines
        .map(|(depth, line)| wrap(&line, &format!("  {}- ", "   ".repeat(depth)), layout.width))
        .collect()
}

fn instances(group: &AnomalyGroup, layout: &Layout) -> String {
    let mut page = String::new();
    for (i, instance) in group.instances.iter().enumerate() {
        if *instance == group.exemplar {
            page += &format!("  #{} is told above\n", i + 1);
            continue;
        }
        page += &wrap(&prose::summary(instance), &format!("  #{} ", i + 1), layout.width);
        let places: Vec<String> =
            in_program_order(&instance.ops).into_iter().filter_map(place).collect();
        if !places.is_empty() {
            let _ = writeln!(page, "{}", paint(DIM, &format!("     at {}", places.join(", "))));
        }
    }
    let rest = group.count.saturating_sub(group.instances.len() as u64);
    if rest > 0 {
        let _ = writeln!(page, "  … and {rest} more; --max raises the limit");
    }
    page
}

/// The operations as a table; if that is too wide, each place stands on a line of its own.
fn operations(ops: &[OpRef], width: usize) -> String {
    let rows: Vec<[String; 4]> = in_program_order(ops).into_iter().map(operation_row).collect();
    let widest =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    let table =
        TABLE_INDENT.len() + widths.iter().map(|width| width + TABLE_GAP.len()).sum::<usize>();
    if table - TABLE_GAP.len() > width {
        return rows.iter().map(|row| stacked(row, width)).collect();
    }
    let gap = if table + widest(3) > width {
        format!("\n{TABLE_INDENT}  ")
    } else {
        TABLE_GAP.to_owned()
    };
    let mut page = String::new();
    for [txn, session, act, place] in &rows {
        let row = format!(
            "{TABLE_INDENT}{txn:<0$}{TABLE_GAP}{session:<1$}{TABLE_GAP}{act}",
            widths[0], widths[1]
        );
        page += &row;
        if !place.is_empty() {
            let filling = if gap == TABLE_GAP { widths[2] - act.chars().count() } else { 0 };
            page += &format!("{}{gap}{}", " ".repeat(filling), paint(DIM, place));
        }
        page.push('\n');
    }
    page
}

/// The operations session by session and as they were done there, which is how they are numbered: a
/// list that follows the story would have to contradict that.
fn in_program_order(ops: &[OpRef]) -> Vec<&OpRef> {
    let mut real: Vec<&OpRef> = ops.iter().filter(|op| op.id.is_some()).collect();
    real.sort_by_key(|op| op.id);
    real
}

const TABLE_INDENT: &str = "    ";
const TABLE_GAP: &str = "  ";

/// An operation where there is no room for a table: its transaction, what it does, its place, a
/// line each.
fn stacked([txn, session, act, place]: &[String; 4], width: usize) -> String {
    let indent = format!("{TABLE_INDENT}  ");
    let place =
        if place.is_empty() { String::new() } else { format!("{indent}{}\n", paint(DIM, place)) };
    wrap(&format!("{txn}, {session}:"), TABLE_INDENT, width) + &wrap(act, &indent, width) + &place
}

fn operation_row(op: &OpRef) -> [String; 4] {
    let session = format!("session {}", clean(&op.txn.session));
    let act = format!("{} {}", op.action, prose::item(op));
    [prose::txn(&op.txn), session, act, place(op).unwrap_or_default()]
}

fn place(op: &OpRef) -> Option<String> {
    op.place.as_ref().map(|place| clean(&place.to_string()))
}

fn times(checked: &Checked) -> String {
    let timings = &checked.report.timings;
    let line = format!(
        "  read {}, index {}, decide {}, explain {}; total {}",
        seconds(checked.times.read),
        seconds(timings.index),
        seconds(timings.decide),
        seconds(timings.explain),
        seconds(checked.times.total),
    );
    paint(DIM, &line) + "\n"
}

/// A line for each strong level that was looked at.
fn efforts(checked: &Checked, layout: &Layout) -> String {
    let efforts = checked.report.timings.efforts.iter();
    efforts
        .map(|(level, effort)| dimmed(&effort::line(*level, effort), "  ", layout.width))
        .collect()
}

pub(crate) fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        return format!("{:.1} ms", time.as_secs_f64() * 1e3);
    }
    format!("{:.2} s", time.as_secs_f64())
}

/// `1 read`, `2 reads`; thousands are grouped.
pub fn plural(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(count))
}

/// A number with its thousands grouped: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The closing line over several inputs.
pub fn tally(inputs: &[Result<Answer, ()>]) -> String {
    let count =
        |wanted: Result<Answer, ()>| inputs.iter().filter(|&&input| input == wanted).count();
    let holding = count(Ok(Answer::Holds));
    let parts = [
        (holding, style::GOOD, if holding == 1 { "holds" } else { "hold" }),
        (count(Ok(Answer::Violated)), BAD, "violated"),
        (count(Ok(Answer::Undecided)), OPEN, "undecided"),
        (count(Err(())), BAD, "unreadable"),
    ];
    let shown = parts.iter().filter(|part| part.0 > 0);
    let words: Vec<String> =
        shown.map(|(count, style, word)| paint(*style, &format!("{count} {word}"))).collect();
    format!("{}: {}\n", plural(inputs.len() as u64, "input"), words.join(", "))
}
