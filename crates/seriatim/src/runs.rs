//! What people and machines are told about a run of an application on the mock store.

use crate::output;
use serde::Serialize;
use seriatim_apps::{App, Run};
use seriatim_history::{History, SessionId, TxnId};
use seriatim_report::style::{BOLD, paint};
use seriatim_report::text::{self, Layout};
use seriatim_report::{Checked, Counts, Times, clean, json, wrap};
use seriatim_store::{Choice, TxnName};

/// What should have held, and what was seen instead.
pub fn failure(app: &dyn App, failure: &str) -> String {
    wrap(&format!("Expected: {}. Instead, {failure}.", app.assertion()), "  ", output::width())
}

/// The reads that a failure needs, under the names that `history` gives to the transactions.
pub fn blame(weak: &[Choice], history: &History) -> String {
    if weak.is_empty() {
        let text =
            "It fails even if every read returns the latest version: the transactions overlap.";
        return format!("\n{}", wrap(text, "  ", output::width()));
    }
    let title =
        wrap("The reads that it takes; all others return the latest version:", "", output::width());
    let mut page = format!("\n{}\n", paint(BOLD, title.trim_end()));
    for choice in weak {
        let from =
            choice.writer.map_or("the initial state".to_owned(), |writer| called(history, writer));
        let line =
            format!("{} reads {} from {from}", called(history, choice.reader), clean(&choice.key));
        page += &wrap(&line, "  ", output::width());
    }
    page
}

/// A transaction of the store as the history calls it.
fn called(history: &History, name: TxnName) -> String {
    format!("{} (session {})", id(history, name).unwrap_or_else(|| "?".to_owned()), name.session)
}

fn id(history: &History, name: TxnName) -> Option<String> {
    if name.session as usize >= history.session_count() {
        return None;
    }
    let txn = history.txns_of(SessionId(name.session)).nth(name.txn as usize)?;
    Some(format!("t{}", history.txn_name(TxnId(txn))))
}

/// The history of a run, with its anomalies.
pub fn explained(app: &dyn App, run: &Run) -> String {
    let layout = Layout { width: output::width(), ..Layout::default() };
    format!("\n{}", text::render(&checked(app.name(), &run.history), &layout))
}

/// The history of a run, checked at every level.
pub fn checked(name: &str, history: &History) -> Checked {
    let start = std::time::Instant::now();
    let report = seriatim_check::Checker::new().check(history);
    let times = Times { total: start.elapsed(), ..Times::default() };
    let input = format!("the run of {name}");
    Checked { input, format: "store", counts: Counts::of(history), report, times, duplicate: None }
}

/// The same for machines.
pub fn checked_json(name: &str, history: &History) -> Option<serde_json::Value> {
    // What `check` tells is JSON.
    serde_json::from_str(&json::render(&checked(name, history))).ok()
}

/// A run for machines; `seriatim schema fuzz` prints the schema.
#[derive(Serialize)]
pub struct Told<'a> {
    app: &'a str,
    assertion: &'a str,
    level: &'a str,
    /// `held`, `broke`, or `undecided` if it held until the search was stopped.
    pub outcome: &'a str,
    /// What `fuzz` did to get there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search<'a>>,
    failure: Option<&'a str>,
    /// Where a replay left its recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<Vec<Blamed<'a>>>,
    /// The run as `check --format json` tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<serde_json::Value>,
}

/// What `fuzz` did.
#[derive(Serialize)]
pub struct Search<'a> {
    pub chooser: &'a str,
    pub serial: bool,
    pub seed: u64,
    pub runs: u64,
    /// Why there were not as many as asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'a str>,
}

/// A read that a failure needs.
#[derive(Serialize)]
pub struct Blamed<'a> {
    reader: Named,
    /// How many reads from others its transaction has done before.
    read: u32,
    key: &'a str,
    writer: Option<Named>,
}

/// A transaction: under the name that `check` uses, and as the store counts.
#[derive(Serialize)]
struct Named {
    id: Option<String>,
    session: u32,
    number: u32,
}

impl Named {
    fn new(history: &History, name: TxnName) -> Named {
        Named { id: id(history, name), session: name.session, number: name.txn }
    }
}

/// The reads that a failure needs.
pub fn blamed<'a>(weak: &'a [Choice], history: &History) -> Vec<Blamed<'a>> {
    let one = |choice: &'a Choice| Blamed {
        reader: Named::new(history, choice.reader),
        read: choice.read,
        key: &choice.key,
        writer: choice.writer.map(|writer| Named::new(history, writer)),
    };
    weak.iter().map(one).collect()
}

impl<'a> Told<'a> {
    /// About a run of `app`; without one, all runs held.
    pub fn new(
        app: &'a dyn App,
        level: &'a str,
        failure: Option<&'a str>,
        run: Option<&Run>,
    ) -> Told<'a> {
        Told {
            app: app.name(),
            assertion: app.assertion(),
            level,
            outcome: if failure.is_some() { "broke" } else { "held" },
            search: None,
            failure,
            divergence: None,
            blame: None,
            check: run.and_then(|run| checked_json(app.name(), &run.history)),
        }
    }

    /// The line, with its end.
    pub fn line(&self) -> String {
        // Strings, numbers and lists always serialise.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}
