//! For people: the verdict first, then the smallest explanation of each kind of anomaly, then
//! details.
//!
//! The text carries colours ([`crate::style`]); strip them where they are not wanted.

mod anomaly;
mod operations;
mod verdict;

pub use anomaly::violation;
#[cfg(feature = "pages")]
pub(crate) use anomaly::{names_and_levels, title as anomaly_title};
#[cfg(feature = "predicted")]
pub(crate) use verdict::titled;
pub use verdict::{headline, overall, undecided};

use crate::checked::{Checked, Unread, Unreadable};
use crate::effort;
pub(crate) use crate::numbers::seconds;
pub use crate::numbers::{grouped, plural};
use crate::prose::{self, clean};
use crate::style::{self, BAD, BOLD, DIM, OPEN, paint};
use crate::wrap::wrap;
use anomaly::anomaly;
use anstyle::Style;
use seriatim_check::{Answer, Undecided, Verdict};
use seriatim_isolation::{Anomaly, Level};
use std::fmt::Write as _;
use verdict::{levels, verdict_line};

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

/// What is said if a limit ended the search for further anomalies.
const STOPPED: &str = "The search for further anomalies of the strong levels stopped at its limit: \
                       there may be others, also of other kinds.";
/// What is said if it ended before any was found.
const UNEXPLAINED: &str = "The search for anomalies of the strong levels stopped at its limit: \
                           what violates them could not be explained.";

/// What is said of a search that a limit ended, or of levels that nothing explains; nothing where
/// nothing is known to be wrong.
fn ended_early(checked: &Checked) -> Option<String> {
    let report = &checked.report;
    let is_filtered = report.kind.is_some() || !checked.kinds.is_empty();
    let is_bare = |verdict: &&Verdict| {
        let is_shown = verdict.violation().is_some() || report.exemplar(verdict.level).is_some();
        verdict.is_violated() && !is_shown
    };
    let unexplained: Vec<Level> =
        report.verdicts.iter().filter(is_bare).map(|verdict| verdict.level).collect();
    let is_ambiguous =
        |verdict: &Verdict| matches!(verdict.undecided(), Some(Undecided::DuplicateValue { .. }));
    if !unexplained.is_empty() && report.verdicts.iter().any(is_ambiguous) {
        return Some(format!(
            "What violates {} could not be explained: elements were appended twice to a list, and \
             no order of commits fits, whichever append each list shows.",
            prose::levels(&unexplained)
        ));
    }
    let is_violated = report.verdicts.iter().any(Verdict::is_violated);
    match (report.search_ended_early, report.anomalies.is_empty() && !is_filtered) {
        (true, false) => Some(STOPPED.to_owned()),
        (true, true) if is_violated => Some(UNEXPLAINED.to_owned()),
        (false, true) if !unexplained.is_empty() => {
            let levels = prose::levels(&unexplained);
            Some(format!("What violates {levels} could not be explained."))
        }
        _ => None,
    }
}

/// The page about one input.
pub fn render(checked: &Checked, layout: &Layout) -> String {
    let mut page = verdict_line(checked, layout);
    if layout.detail == Detail::Verdict {
        return if layout.timings { page.trim_end().to_owned() + &times(checked) } else { page };
    }
    page += &dimmed(&size_line(checked), "  ", layout.width);
    page += &levels(checked, layout);
    for group in &checked.report.anomalies {
        page.push('\n');
        page += &anomaly(&checked.report, group, layout);
    }
    page += &none_of_the_kinds(checked, layout);
    if let Some(ended) = ended_early(checked) {
        page.push('\n');
        page += &dimmed(&ended, "", layout.width);
    }
    if layout.timings {
        page.push('\n');
        page += &times(checked);
        page += &efforts(checked, layout);
    }
    page
}

/// That nothing of the kinds that were looked for was found.
fn none_of_the_kinds(checked: &Checked, layout: &Layout) -> String {
    if checked.kinds.is_empty() || !checked.report.anomalies.is_empty() {
        return String::new();
    }
    let told = |kind: &Anomaly| match kind {
        Anomaly::StaleRead | Anomaly::RealTimeCycle if !checked.counts.has_times => {
            format!("{}: not looked for, the history has no times", kind.info().name)
        }
        _ => format!("{}: none found", kind.info().name),
    };
    let lines = checked.kinds.iter().map(|kind| wrap(&told(kind), "", layout.width));
    String::from("\n") + &lines.collect::<String>()
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

/// What there is to be said of an input beside its levels and anomalies, a line each.
#[cfg(feature = "pages")]
pub(crate) fn remarks(checked: &Checked) -> String {
    let layout = Layout { width: usize::MAX, ..Layout::default() };
    let ended = ended_early(checked).unwrap_or_default();
    verdict::remarks(checked, &layout) + &none_of_the_kinds(checked, &layout) + &ended
}

/// Operations in program order: transaction, session, what it does, where it stands.
#[cfg(feature = "pages")]
pub(crate) fn operation_rows(ops: &[seriatim_check::OpRef]) -> Vec<[String; 4]> {
    operations::rows(ops)
}

pub(crate) fn size_line(checked: &Checked) -> String {
    let counts = &checked.counts;
    let mut line = format!(
        "{} format, {}, {}, {}",
        checked.format,
        plural(counts.sessions as u64, "session"),
        plural(counts.transactions as u64, "transaction"),
        plural(counts.operations as u64, "operation"),
    );
    if counts.skipped > 0 {
        let _ = match checked.format {
            "elle" | "elle-json" => {
                write!(line, ", {} of the nemesis", plural(counts.skipped, "event"))
            }
            _ => write!(line, ", {} skipped", plural(counts.skipped, "unknown line")),
        };
    }
    if counts.unknown_content > 0 {
        let unknown = plural(counts.unknown_content, "transaction");
        let _ = write!(line, ", {unknown} of unknown content");
    }
    line
}

/// A paragraph of what is secondary.
fn painted(style: Style, text: &str, first: &str, width: usize) -> String {
    paint(style, wrap(text, first, width).trim_end_matches('\n')) + "\n"
}

fn dimmed(text: &str, first: &str, width: usize) -> String {
    painted(DIM, text, first, width)
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
