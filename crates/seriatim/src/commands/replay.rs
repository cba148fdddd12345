//! `seriatim replay`: a run that `fuzz` kept, once more; or an application as `predict` says that it could go wrong.

use crate::commands::fuzz::{self, app_parser};
use crate::commands::observe::{FIELD, Observed};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::save::save;
use serde::Deserialize;
use seriatim_apps::{Directed, PlannedEvent, PlannedTxn, Recording, run_directed};
use seriatim_check::Level;
use seriatim_history::formats::Format;
use seriatim_report::style::{BAD, BOLD, GOOD, OPEN, paint};
use seriatim_report::text::Layout;
use seriatim_report::{clean, text, wrap};
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
With APP, FILE is what `seriatim predict --output` wrote from a run that `seriatim observe` recorded. The application runs on a mock \
store, transactions one at a time in an order that fits the prediction; each read returns what is predicted if the level allows \
it, else the latest version. A prediction is validated if the run was as predicted and is not serializable.

Exit codes of a run: 0 the assertion held this time, 1 it broke again, 3 bad input or usage. Exit codes of a prediction: 0 the run is \
serializable, 1 it is not (validated, or diverged but not serializable), 2 undecided, 3 bad input or usage. Over several predictions 1 \
wins over 2, 2 over 0.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// What `seriatim fuzz --output` or `seriatim predict --output` wrote
    #[arg(value_name = "FILE")]
    run: PathBuf,
    /// The application that a prediction is about
    #[arg(value_name = "APP", value_parser = app_parser())]
    app: Option<&'static str>,
    /// Where to write the history of the run of the first prediction
    #[arg(long, value_name = "FILE", requires = "app")]
    save: Option<PathBuf>,
}

/// Runs it again, and says whether it went the same way.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let bytes = std::fs::read(&args.run).map_err(|error| Failure::about(args.run.display(), error))?;
    match args.app {
        None => recording(&args.run, &bytes),
        Some(app) => predictions(args, app, &bytes),
    }
}

fn recording(path: &Path, bytes: &[u8]) -> Result<Exit, Failure> {
    let shown = path.display();
    let recording: Recording = serde_json::from_slice(bytes).map_err(|error| not_a_run(path, bytes, &error))?;
    let (again, divergence) = recording.replay().map_err(|error| Failure::about(&shown, error))?;
    let app = seriatim_apps::find(&recording.app).ok_or_else(|| Failure::about(&shown, "no such application"))?;
    let mut page = match &again.failure {
        Some(_) => format!("{}\n", paint(BAD, &format!("{}: the assertion broke again", app.name()))),
        None => format!("{}\n", paint(GOOD, &format!("{}: the assertion held this time", app.name()))),
    };
    if let Some(failure) = &again.failure {
        page += &fuzz::failure(app, failure);
    }
    if let Some(divergence) = divergence {
        let left = format!("The run left the recording: {divergence}.");
        page += &format!("{}\n", paint(OPEN, &wrap(&left, "  ", output::width())));
    }
    page += &fuzz::explained(app, &again);
    output::text(&page)?;
    Ok(if again.failure.is_some() { Exit::Violated } else { Exit::Holds })
}

fn not_a_run(path: &Path, bytes: &[u8], error: &serde_json::Error) -> Failure {
    let problem = match serde_json::from_slice::<Predicted>(bytes) {
        Ok(_) => "this is a prediction; name the application too: `seriatim replay FILE APP`".to_owned(),
        Err(_) => format!("not a run that `seriatim fuzz --output` wrote: {error}"),
    };
    Failure::about(path.display(), problem)
}

/// What `predict --output` wrote, as far as it matters here.
#[derive(Deserialize)]
struct Predicted {
    level: String,
    observed: Option<serde_json::Value>,
    predictions: Vec<Prediction>,
}

#[derive(Deserialize)]
struct Prediction {
    sessions: Vec<Session>,
    transactions: Vec<PlannedTxn>,
}

#[derive(Deserialize)]
struct Session {
    /// Its name, which is its number in the store.
    session: String,
}

impl Prediction {
    /// The transactions with the numbers that sessions have in the store; a file may have them in another order.
    fn plan(&self) -> Option<Vec<PlannedTxn>> {
        let numbers: Vec<u32> = self.sessions.iter().map(|one| one.session.parse().ok()).collect::<Option<_>>()?;
        let number = |session: u32| numbers.get(session as usize).copied();
        let mut plan = self.transactions.clone();
        for txn in &mut plan {
            txn.session = number(txn.session)?;
            for writer in txn.events.iter_mut().filter_map(PlannedEvent::writer_mut) {
                writer.session = number(writer.session)?;
            }
        }
        Some(plan)
    }
}

fn predictions(args: &Args, app: &str, bytes: &[u8]) -> Result<Exit, Failure> {
    let shown = args.run.display();
    let predicted: Predicted = serde_json::from_slice(bytes)
        .map_err(|error| Failure::about(&shown, format!("not what `seriatim predict --output` wrote: {error}")))?;
    let level: Level = predicted.level.parse().map_err(|error| Failure::about(&shown, error))?;
    let runnable = observed(args, app, predicted.observed.as_ref())?.runnable()?;
    if predicted.predictions.is_empty() {
        return Err(Failure::about(&shown, "there is no prediction in it"));
    }
    let several = predicted.predictions.len() > 1;
    let mut exit = Exit::Holds;
    for (number, prediction) in predicted.predictions.iter().enumerate() {
        let plan = prediction.plan().ok_or_else(|| {
            Failure::about(&shown, "its sessions are not numbered as `seriatim observe` numbers them")
        })?;
        let directed = run_directed(runnable.app(), level, &plan).map_err(|error| Failure::about(app, error))?;
        if several {
            output::text(&format!("{}\n", paint(BOLD, &format!("prediction {}", number + 1))))?;
        }
        output::text(&page(app, &directed))?;
        if let Some(path) = args.save.as_ref().filter(|_| number == 0) {
            save(&directed.history, Format::Jsonl, path)?;
        }
        exit = exit.and(match directed.is_serializable {
            Some(true) => Exit::Holds,
            Some(false) => Exit::Violated,
            None => Exit::Undecided,
        });
    }
    Ok(exit)
}

/// What was observed, as the prediction says.
fn observed(args: &Args, app: &str, extra: Option<&serde_json::Value>) -> Result<Observed, Failure> {
    let shown = args.run.display();
    let kept = extra.and_then(|extra| extra.get(FIELD)).cloned();
    let observed: Observed = match kept {
        Some(kept) => serde_json::from_value(kept).map_err(|error| Failure::about(&shown, error))?,
        None => {
            let problem =
                "it does not say how the application was run; predict from a file that `seriatim observe` wrote";
            return Err(Failure::about(&shown, problem));
        }
    };
    match observed.app == app {
        true => Ok(observed),
        false => Err(Failure::about(&shown, format!("the prediction is about {}, not {app}", clean(&observed.app)))),
    }
}

fn page(app: &str, directed: &Directed) -> String {
    let (style, verdict) = match (&directed.left, directed.is_serializable) {
        (None, Some(false)) => (BAD, "validated: the run was as predicted and is not serializable"),
        (Some(_), Some(false)) => (BAD, "diverged but not serializable"),
        (Some(_), Some(true)) => (GOOD, "diverged and serializable"),
        (None, Some(true)) => (GOOD, "the run was as predicted, as far as it goes, and is serializable"),
        (_, None) => (OPEN, "whether the run is serializable is undecided"),
    };
    let mut page = format!("{app}: {}\n", paint(style, verdict));
    if let Some(left) = &directed.left {
        page += &wrap(&format!("The run left the prediction first where {left}."), "  ", output::width());
    }
    let layout = Layout { width: output::width(), ..Layout::default() };
    page += &format!("\n{}", text::render(&fuzz::checked(app, &directed.history), &layout));
    page
}
