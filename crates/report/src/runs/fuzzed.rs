//! What `seriatim fuzz` found.

use super::{Application, BlamedRead, Line, SearchObject, blamed, explained, failed};
use crate::checked::Checked;
use crate::prose::clean;
use crate::style::{BAD, GOOD, OPEN, paint};
use crate::text::{grouped, plural};
use crate::wrap::wrap;
use seriatim_isolation::Level;

/// What was done, and what came of it.
#[derive(Clone, Debug)]
pub struct Fuzzed<'a> {
    /// The application.
    pub app: Application<'a>,
    /// The level of its transactions.
    pub level: Level,
    /// The short name of the chooser.
    pub chooser: &'a str,
    /// Whether transactions ran one at a time.
    pub serial: bool,
    /// What decided everything that is random.
    pub seed: u64,
    /// How many runs were done.
    pub runs: u64,
    /// How many were asked for.
    pub runs_max: u64,
    /// What came of it.
    pub ending: Ending,
}

/// How a search for a failure ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// The assertion broke in the last run.
    Broke(Box<Failed>),
    /// It held in all runs.
    Held,
    /// It held until the search was stopped.
    Stopped(Stop),
}

/// Why a search stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget is spent.
    Budget,
    /// The user interrupted it.
    Interrupted,
}

/// A run in which the assertion broke, with only the old versions that the failure needs.
#[derive(Clone, Debug)]
pub struct Failed {
    /// What was seen instead of what the assertion says, as a clause.
    pub failure: String,
    /// The reads that it takes.
    pub blame: Vec<BlamedRead>,
    /// What the checker says of the history.
    pub checked: Checked,
    /// Where the run is kept.
    pub kept: Kept,
}

/// Where a run is kept for `seriatim replay`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nowhere.
    Nowhere,
    /// On standard output.
    StandardOutput,
    /// In a file.
    File(String),
}

/// The page.
pub fn render(fuzzed: &Fuzzed<'_>, width: usize) -> String {
    match &fuzzed.ending {
        Ending::Broke(failed) => broke(fuzzed, failed, width),
        Ending::Held => held(fuzzed),
        Ending::Stopped(stop) => stopped(fuzzed, *stop),
    }
}

fn broke(fuzzed: &Fuzzed<'_>, run: &Failed, width: usize) -> String {
    let Fuzzed { app, level, seed, .. } = fuzzed;
    let number = grouped(fuzzed.runs);
    let verdict =
        format!("{}: the assertion broke in run {number} at {level} (seed {seed})", app.name);
    let mut page = format!("{}\n", paint(BAD, wrap(&verdict, "", width).trim_end()));
    page += &failed(*app, &run.failure, width);
    page += &blamed(&run.blame, width);
    page += &explained(&run.checked, width);
    page + "\n" + &wrap(&next_step(&run.kept), "", width)
}

fn next_step(kept: &Kept) -> String {
    match kept {
        Kept::StandardOutput => "The run is on standard output, for `seriatim replay`.".to_owned(),
        Kept::File(path) => format!("See it again with `seriatim replay {}`.", clean(path)),
        Kept::Nowhere => {
            "Keep the run with --output RUN, and see it again with `seriatim replay RUN`."
                .to_owned()
        }
    }
}

fn held(fuzzed: &Fuzzed<'_>) -> String {
    let Fuzzed { app, level, runs, .. } = fuzzed;
    let held = format!("{}: the assertion held in {} at {level}", app.name, plural(*runs, "run"));
    format!("{}\n  {}\n", paint(GOOD, &held), app.assertion)
}

fn stopped(fuzzed: &Fuzzed<'_>, stop: Stop) -> String {
    let Fuzzed { app, level, .. } = fuzzed;
    let (runs, all) = (grouped(fuzzed.runs), plural(fuzzed.runs_max, "run"));
    let held = format!("{}: the assertion held in the first {runs} of {all} at {level}", app.name);
    let why = match stop {
        Stop::Budget => "The budget is spent",
        Stop::Interrupted => "Interrupted",
    };
    format!(
        "{}\n  {}\n  {why}; the same seed would do the same runs again.\n",
        paint(OPEN, &held),
        app.assertion
    )
}

/// The line, without a line end, as [`crate::schema::FUZZ`] describes it.
pub fn json(fuzzed: &Fuzzed<'_>) -> String {
    let run = match &fuzzed.ending {
        Ending::Broke(failed) => Some(failed),
        Ending::Held | Ending::Stopped(_) => None,
    };
    let failure = run.map(|run| run.failure.as_str());
    let mut line = Line::new(fuzzed.app, fuzzed.level.code(), failure);
    if let Some(run) = run {
        line = Line { blame: Some(&run.blame), ..line.with_check(&run.checked) };
    }
    let stopped = match fuzzed.ending {
        Ending::Stopped(Stop::Budget) => Some("budget"),
        Ending::Stopped(Stop::Interrupted) => Some("interrupted"),
        Ending::Broke(_) | Ending::Held => None,
    };
    if stopped.is_some() {
        line.outcome = "undecided";
    }
    line.search = Some(SearchObject {
        chooser: fuzzed.chooser,
        serial: fuzzed.serial,
        seed: fuzzed.seed,
        runs: fuzzed.runs,
        stopped,
    });
    line.render()
}
