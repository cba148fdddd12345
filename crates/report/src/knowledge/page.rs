//! Entries as text for people.

use super::{Entry, Sort, Subject, entries};
use crate::prose::{and, levels};
use crate::style::{BOLD, DIM, paint};
use crate::wrap::wrap;
use seriatim_isolation::{Anomaly, Level};

/// The page about one entry.
pub fn render(entry: &Entry, width: usize) -> String {
    let names = wrap(&format!("{} ({})", entry.name(), other_names(entry)), "", width);
    let others = names.trim_end().strip_prefix(entry.name()).unwrap_or_default();
    let mut page = format!("{}{}\n", paint(BOLD, entry.name()), paint(DIM, others));
    page += &wrap(entry.definition, "  ", width);
    page += &heading(levels_title(entry), width);
    page += &wrap(&forbidden_by(entry), "    ", width);
    page += &heading("Smallest example", width);
    page += &wrap(&legend(entry.example.history), "    ", width);
    for line in named_lines(entry.example.history) {
        page += &format!("    {line}\n");
    }
    page += &wrap(entry.example.remark, "    ", width);
    page += &heading(databases_title(entry), width);
    for fact in entry.databases {
        page += &wrap(fact, "    - ", width);
    }
    page
}

fn heading(title: &str, width: usize) -> String {
    format!("\n{}\n", paint(BOLD, wrap(title, "  ", width).trim_end()))
}

/// The narrowest page on which names stand beside codes.
const TWO_COLUMNS_MIN: usize = 70;

/// The list of all entries.
pub fn index(width: usize) -> String {
    let mut page = section("Levels, weakest first (cut isolation stands apart)", width, |entry| {
        matches!(entry.subject, Subject::Level(_))
    });
    page += &section("Anomalies", width, |entry| matches!(entry.subject, Subject::Anomaly(_)));
    page += &section("Further anomalies", width, |entry| is_beyond(entry, Sort::Anomaly));
    page += &section("Further levels", width, |entry| is_beyond(entry, Sort::Level));
    let more = "`seriatim explain NAME` tells more; letters (h, tap-h) and names such as G1a work \
                too.";
    page + &wrap(more, "", width)
}

fn is_beyond(entry: &Entry, sort: Sort) -> bool {
    matches!(entry.subject, Subject::Beyond { .. }) && entry.sort() == sort
}

/// The lines of an example, each with the names of its transactions as a comment of the notation.
fn named_lines(history: &str) -> Vec<String> {
    let widest = history.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    let mut last = 0;
    let mut named = Vec::new();
    for line in history.lines() {
        let first = last + 1;
        last += line.split('|').count();
        let names: Vec<String> = (first..=last).map(|number| format!("t{number}")).collect();
        named.push(format!("{line:<widest$}  # {}", names.join(" | ")));
    }
    named
}

/// What a reader needs to know to read an example.
fn legend(history: &str) -> String {
    let signs = [
        ("|", "| separates transactions"),
        ("nil", "nil is the initial value"),
        ("a(", "a appends to a list"),
        ("!", "! marks an aborted transaction"),
        ("@", "@1-2 is when a transaction begins and ends"),
    ];
    let used =
        signs.into_iter().filter(|(sign, _)| history.contains(sign)).map(|(_, meaning)| meaning);
    let parts: Vec<&str> = ["One session a line"].into_iter().chain(used).collect();
    parts.join("; ") + ":"
}

fn section(title: &str, width: usize, belongs: impl Fn(&Entry) -> bool) -> String {
    let mut page = format!("{}\n", paint(BOLD, wrap(title, "", width).trim_end()));
    for entry in entries().filter(|entry| belongs(entry)) {
        let names = format!("{} ({})", entry.name(), summary_names(entry));
        page += &match width < TWO_COLUMNS_MIN {
            true => format!("  {}\n{}", entry.code(), wrap(&names, "    ", width)),
            false => wrap(&names, &format!("  {:<28}", entry.code()), width),
        };
    }
    page.push('\n');
    page
}

fn summary_names(entry: &Entry) -> String {
    match entry.subject {
        Subject::Anomaly(kind) => names_of_kind(kind)
            .into_iter()
            .chain([level_codes(kind)])
            .collect::<Vec<_>>()
            .join(", "),
        Subject::Level(_) => {
            and(&entry.aliases.iter().map(|&alias| alias.to_owned()).collect::<Vec<_>>())
        }
        Subject::Beyond { sort: Sort::Anomaly, levels, .. } => format!("forbidden by {levels}"),
        Subject::Beyond { sort: Sort::Level, levels, .. } => levels.to_owned(),
    }
}

fn level_codes(kind: Anomaly) -> String {
    let levels = kind.info().forbidden_by;
    let beside = levels
        .iter()
        .find(|&&level| level == Level::CutIsolation)
        .map(|level| format!("{}, ", level.code()));
    let lowest =
        levels.iter().find(|&&level| level != Level::CutIsolation).map_or("", |level| level.code());
    let above = if levels.len() > 1 { " and above" } else { "" };
    format!("forbidden by {}{lowest}{above}", beside.unwrap_or_default())
}

fn names_of_kind(kind: Anomaly) -> Vec<String> {
    let info = kind.info();
    info.tap
        .map(|letter| format!("TAP-{letter}"))
        .into_iter()
        .chain(info.adya.map(str::to_owned))
        .collect()
}

fn other_names(entry: &Entry) -> String {
    let mut names = vec![entry.code().to_owned()];
    if let Subject::Anomaly(kind) = entry.subject {
        names.extend(names_of_kind(kind));
    }
    names.extend(entry.aliases.iter().map(|&alias| alias.to_owned()));
    names.dedup();
    names.join(", ")
}

fn forbidden_by(entry: &Entry) -> String {
    match entry.subject {
        Subject::Anomaly(kind) => levels(kind.info().forbidden_by),
        Subject::Level(Level::StrictSerializable) => {
            "The strongest level: it forbids what any other level forbids.".to_owned()
        }
        Subject::Level(level) => {
            let violated = levels(&entry.violated_by_example());
            format!("A history that violates {level} like the example below violates {violated}.")
        }
        Subject::Beyond { levels, .. } => levels.to_owned(),
    }
}

fn levels_title(entry: &Entry) -> &'static str {
    match entry.sort() {
        Sort::Anomaly => "Forbidden by",
        Sort::Level => "Among the levels",
    }
}

fn databases_title(entry: &Entry) -> &'static str {
    match entry.sort() {
        Sort::Anomaly => "Who allows it (by documentation and published tests)",
        Sort::Level => "Offered by (by documentation and published tests)",
    }
}
