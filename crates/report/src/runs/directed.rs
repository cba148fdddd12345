//! What became of a prediction: an application that was run as `seriatim predict` says that it
//! could go wrong.

use super::explained;
use crate::checked::Checked;
use crate::json;
use crate::style::{BAD, BOLD, GOOD, OPEN, paint};
use crate::wrap::wrap;

/// One prediction and its run.
#[derive(Clone, Debug)]
pub struct Directed<'a> {
    /// The name of the application.
    pub app: &'a str,
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
    /// What the checker says of the history.
    pub checked: Checked,
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
    page += &format!("{}: {}\n", directed.app, paint(style, verdict(directed).1));
    if let Some(left) = &directed.divergence {
        let text = format!("The run left the prediction first where {left}.");
        page += &wrap(&text, "  ", width);
    }
    page + &explained(&directed.checked, width)
}

/// The line, without a line end, as [`crate::schema::REPLAY`] describes it.
pub fn json(directed: &Directed<'_>) -> String {
    let line = serde_json::json!({
        "app": directed.app,
        "level": directed.level,
        "prediction": directed.number,
        "outcome": verdict(directed).0,
        "serializable": directed.is_serializable,
        "divergence": directed.divergence,
        "check": json::object(&directed.checked),
    });
    line.to_string()
}
