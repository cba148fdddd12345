//! What became of a prediction: an application that was run as `seriatim predict` says that it
//! could go wrong.

use super::{Application, explained, failed};
use crate::checked::Checked;
use crate::json;
use crate::prose::clean;
use crate::style::{BAD, BOLD, GOOD, OPEN, paint};
use crate::wrap::wrap;

/// One prediction and its run.
#[derive(Clone, Debug)]
pub struct Directed<'a> {
    /// The application.
    pub app: Application<'a>,
    /// The level, as the prediction names it.
    pub level: &'a str,
    /// Which prediction of its file, from 1.
    pub number: usize,
    /// Whether there are others in the file.
    pub has_others: bool,
    /// Where the run left the prediction first, if it did.
    pub divergence: Option<String>,
    /// Whether the run is serializable; `None` if that is undecided.
    pub is_serializable: Option<bool>,
    /// Whether the assertion of the application broke when its clients went on to their ends.
    pub assertion: Assertion<'a>,
    /// Of several tries the number of this one, from 1, and how many there were.
    pub tries: (u32, u32),
    /// What the checker says of the history.
    pub checked: Checked,
}

/// What became of the assertion of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assertion<'a> {
    /// It held.
    Held,
    /// It broke: what was seen.
    Broke(&'a str),
    /// That cannot be known: why not.
    Unknown(&'a str),
}

/// What became of it, for machines and for people.
fn verdict(directed: &Directed<'_>) -> (&'static str, &'static str) {
    match (&directed.divergence, directed.is_serializable) {
        (None, Some(false)) => {
            ("validated", "validated: the run was as predicted and is not serializable")
        }
        (Some(_), Some(false)) => ("diverged-unserializable", "diverged but not serializable"),
        (Some(_), Some(true)) => ("diverged-serializable", "diverged and serializable"),
        (None, Some(true)) => (
            "as-predicted-serializable",
            "the run was as predicted, as far as it goes, and is serializable",
        ),
        (_, None) => ("undecided", "whether the run is serializable is undecided"),
    }
}

/// The page.
pub fn render(directed: &Directed<'_>, width: usize) -> String {
    let style = match directed.is_serializable {
        Some(true) => GOOD,
        Some(false) => BAD,
        None => OPEN,
    };
    let mut page = String::new();
    if directed.has_others {
        page += &format!("{}\n", paint(BOLD, &format!("prediction {}", directed.number)));
    }
    page += &format!("{}: {}\n", directed.app.name, paint(style, verdict(directed).1));
    if let Some(left) = &directed.divergence {
        let text = format!("The run left the prediction first where {}.", clean(left));
        page += &wrap(&text, "  ", width);
    }
    page += &told_tries(directed.tries, width);
    page += &told_assertion(directed, width);
    page + &explained(&directed.checked, width)
}

/// Which try this is, if there were several.
fn told_tries((number, tries): (u32, u32), width: usize) -> String {
    match tries {
        0 | 1 => String::new(),
        _ => {
            let text = format!(
                "This is try {number} of {tries}, the one that shows most: which connection is \
                 which may differ from try to try."
            );
            wrap(&text, "  ", width)
        }
    }
}

/// What became of the assertion, in a sentence or two.
fn told_assertion(directed: &Directed<'_>, width: usize) -> String {
    let told = match directed.assertion {
        Assertion::Broke(failure) => {
            let first = "The assertion broke when the clients went on from there to their ends.";
            return wrap(first, "  ", width) + &failed(directed.app, failure, width);
        }
        Assertion::Held => format!(
            "The assertion held when the clients went on from there to their ends: {}.",
            directed.app.assertion
        ),
        Assertion::Unknown(why) => format!("Whether the assertion broke is not known: {why}."),
    };
    wrap(&told, "  ", width)
}

/// The line, without a line end, as [`crate::schema::REPLAY`] describes it.
pub fn json(directed: &Directed<'_>) -> String {
    let line = serde_json::json!({
        "app": directed.app.name,
        "level": directed.level,
        "prediction": directed.number,
        "outcome": verdict(directed).0,
        "serializable": directed.is_serializable,
        "divergence": directed.divergence,
        "assertion": match directed.assertion {
            Assertion::Held => "held",
            Assertion::Broke(_) => "broke",
            Assertion::Unknown(_) => "unknown",
        },
        "failure": match directed.assertion {
            Assertion::Held => None,
            Assertion::Broke(why) | Assertion::Unknown(why) => Some(why),
        },
        "try": directed.tries.0,
        "tries": directed.tries.1,
        "check": json::object(&directed.checked),
    });
    line.to_string()
}
