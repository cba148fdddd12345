//! A run that `seriatim fuzz` kept, once more.

use super::{Application, BlamedRead, Line, blamed, explained, failed};
use crate::checked::Checked;
use crate::style::{BAD, GOOD, OPEN, paint};
use crate::wrap::wrap;

/// How a recorded run went this time.
#[derive(Clone, Debug)]
pub struct Replayed<'a> {
    /// The application.
    pub app: Application<'a>,
    /// The level, as the recording names it.
    pub level: &'a str,
    /// How the assertion broke, if it did.
    pub failure: Option<&'a str>,
    /// Where the run left the recording, if it did.
    pub departure: Option<String>,
    /// The reads that the failure needs, if they are known.
    pub blame: Option<Vec<BlamedRead>>,
    /// What the checker says of the history.
    pub checked: Checked,
}

/// The page.
pub fn render(replayed: &Replayed<'_>, width: usize) -> String {
    let app = replayed.app;
    let verdict = match replayed.failure {
        Some(_) => paint(BAD, &format!("{}: the assertion broke again", app.name)),
        None => paint(GOOD, &format!("{}: the assertion held this time", app.name)),
    };
    let mut page = format!("{verdict}\n");
    if let Some(failure) = replayed.failure {
        page += &failed(app, failure, width);
    }
    if let Some(departure) = &replayed.departure {
        let left = wrap(&format!("The run left the recording: {departure}."), "  ", width);
        page += &paint(OPEN, &left);
    }
    if let Some(blame) = &replayed.blame {
        page += &blamed(blame, width);
    }
    page + &explained(&replayed.checked, width)
}

/// The line, without a line end, as [`crate::schema::FUZZ`] describes it.
pub fn json(replayed: &Replayed<'_>) -> String {
    let line = Line::new(replayed.app, replayed.level, replayed.failure);
    let line = Line {
        divergence: replayed.departure.as_deref(),
        blame: replayed.blame.as_deref(),
        ..line.with_check(&replayed.checked)
    };
    line.render()
}
