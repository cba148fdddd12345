//! What came of a command of the user that ran once more with the choices of a run that failed.

use super::explained;
use crate::checked::Checked;
use crate::json;
use crate::prose::clean;
use crate::style::{BAD, GOOD, paint};
use crate::wrap::wrap;
use serde::Serialize;

/// What came of it.
#[derive(Clone, Debug)]
pub struct Retried {
    /// The command.
    pub command: String,
    /// Which database it met, as a phrase.
    pub database: String,
    /// How it failed when the run was kept, as a clause.
    pub expected: String,
    /// How it failed now, and the end of what it wrote.
    pub failure: Option<(String, String)>,
    /// Where it left the run that was kept, if it did.
    pub divergence: Option<String>,
    /// What the checker says of the history.
    pub checked: Checked,
}

/// The page.
pub fn render(retried: &Retried, width: usize) -> String {
    let (command, database) = (clean(&retried.command), &retried.database);
    let mut page = match &retried.failure {
        Some((what, output)) => {
            let verdict = format!("{command}: failed again with {database}");
            let mut page = format!("{}\n", paint(BAD, wrap(&verdict, "", width).trim_end()));
            page += &wrap(&format!("It {what}; the end of what it wrote:"), "  ", width);
            output.lines().for_each(|line| page += &format!("    {}\n", clean(line)));
            page
        }
        None => {
            let verdict = format!("{command}: passed this time with {database}");
            let mut page = format!("{}\n", paint(GOOD, wrap(&verdict, "", width).trim_end()));
            let text = format!("In the run that was kept it {}.", clean(&retried.expected));
            page += &wrap(&text, "  ", width);
            page
        }
    };
    if let Some(divergence) = &retried.divergence {
        let text = format!("It left the run that was kept: {}.", clean(divergence));
        page += &wrap(&text, "  ", width);
    }
    if retried.failure.is_some() {
        page += &explained(&retried.checked, width);
    }
    page
}

#[derive(Serialize)]
struct Line<'a> {
    command: &'a str,
    database: &'a str,
    outcome: &'a str,
    expected: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<&'a str>,
    check: serde_json::Value,
}

/// The line, without a line end, as [`crate::schema::RETRIAL`] describes it.
pub fn json(retried: &Retried) -> String {
    let line = Line {
        command: &retried.command,
        database: &retried.database,
        outcome: if retried.failure.is_some() { "failed" } else { "passed" },
        expected: &retried.expected,
        what: retried.failure.as_ref().map(|(what, _)| what.as_str()),
        output: retried.failure.as_ref().map(|(_, output)| output.as_str()),
        divergence: retried.divergence.as_deref(),
        check: json::object(&retried.checked),
    };
    // Strings, numbers and lists always serialise; no error can occur.
    serde_json::to_string(&line).unwrap_or_default()
}
