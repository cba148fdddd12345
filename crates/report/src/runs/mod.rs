//! What is told about runs of an application on the mock store, as text and JSON.
//!
//! * [`fuzzed`] – what `seriatim fuzz` found,
//! * [`replayed`] – a run that `fuzz` kept, once more,
//! * [`directed`] – an application that was run as `seriatim predict` says,
//! * [`retried`] – a command that ran once more,
//! * [`tried`] – what `seriatim fuzz -- CMD` found,
//! * [`observed`] – what `seriatim observe` recorded.
//!
//! The data is the caller's; nothing here knows how an application runs.

pub mod directed;
pub mod fuzzed;
pub mod observed;
pub mod replayed;
pub mod retried;
pub mod tried;

use crate::checked::Checked;
use crate::prose::clean;
use crate::style::{BOLD, paint};
use crate::text::{self, Layout};
use crate::{json, wrap};
use serde::Serialize;

/// An application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application<'a> {
    /// Its name.
    pub name: &'a str,
    /// What should hold of it, as a clause.
    pub assertion: &'a str,
}

/// A read that a failure needs. The fields are the interface of `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlamedRead {
    /// The transaction that read.
    pub reader: StoreTxn,
    /// How many reads from others its transaction has done before.
    pub read: u32,
    /// The key.
    pub key: String,
    /// Whose version it returned; `None` for the initial one.
    pub writer: Option<StoreTxn>,
}

/// A transaction of the store. The fields are the interface of `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreTxn {
    /// Under the name that a report uses, if it is in the history.
    pub id: Option<String>,
    /// Its session, as the store counts.
    pub session: u32,
    /// Its place in the session, as the store counts.
    pub number: u32,
}

/// What should have held, and what was seen instead.
fn failed(app: Application<'_>, failure: &str, width: usize) -> String {
    wrap(&format!("Expected: {}. Instead, {failure}.", app.assertion), "  ", width)
}

/// The reads that a failure needs.
fn blamed(reads: &[BlamedRead], width: usize) -> String {
    if reads.is_empty() {
        let text =
            "It fails even if every read returns the latest version: the transactions overlap.";
        return format!("\n{}", wrap(text, "  ", width));
    }
    let title = wrap("The reads that it takes; all others return the latest version:", "", width);
    let mut page = format!("\n{}\n", paint(BOLD, title.trim_end()));
    for read in reads {
        let from = read.writer.as_ref().map_or("the initial state".to_owned(), called);
        let line = format!("{} reads {} from {from}", called(&read.reader), clean(&read.key));
        page += &wrap(&line, "  ", width);
    }
    page
}

fn called(txn: &StoreTxn) -> String {
    format!("{} (session {})", txn.id.as_deref().unwrap_or("?"), txn.session)
}

/// The history of a run, with its anomalies.
pub(crate) fn explained(checked: &Checked, width: usize) -> String {
    format!("\n{}", text::render(checked, &Layout { width, ..Layout::default() }))
}

/// A run for machines, as [`crate::schema::FUZZ`] and [`crate::schema::REPLAY`] describe it.
#[derive(Serialize)]
struct Line<'a> {
    app: &'a str,
    assertion: &'a str,
    level: &'a str,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchObject<'a>>,
    failure: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<&'a [BlamedRead]>,
    /// The run as `check --format json` tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<serde_json::Value>,
}

/// What `fuzz` did.
#[derive(Serialize)]
struct SearchObject<'a> {
    chooser: &'a str,
    serial: bool,
    seed: u64,
    runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn new(app: Application<'a>, level: &'a str, failure: Option<&'a str>) -> Self {
        Line {
            app: app.name,
            assertion: app.assertion,
            level,
            outcome: if failure.is_some() { "broke" } else { "held" },
            search: None,
            failure,
            divergence: None,
            blame: None,
            check: None,
        }
    }

    fn with_check(self, checked: &Checked) -> Self {
        Line { check: Some(json::object(checked)), ..self }
    }

    fn render(&self) -> String {
        // Strings, numbers and lists always serialise; no error can occur.
        serde_json::to_string(self).unwrap_or_default()
    }
}
