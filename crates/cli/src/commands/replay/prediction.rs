//! An application as `seriatim predict` says that it could go wrong.

use super::Args;
use crate::cli::Style;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::runs;
use crate::save::save;
use seriatim_apps::observed::Observed;
use seriatim_apps::{Directed, Predicted, Recording, run_directed};
use seriatim_history::formats::Format;
use seriatim_isolation::Level;
use seriatim_report::style::{BAD, BOLD, GOOD, OPEN, paint};
use seriatim_report::text::Layout;
use seriatim_report::{clean, text, wrap};

/// Runs the application as each prediction says.
pub fn run(args: &Args, app: &str, bytes: &[u8]) -> Result<Exit, Failure> {
    let shown = args.run.display();
    let predicted: Predicted = serde_json::from_slice(bytes)
        .map_err(|error| Failure::about(&shown, not_a_prediction(bytes, &error)))?;
    let level: Level = predicted.level.parse().map_err(|error| Failure::about(&shown, error))?;
    if !seriatim_predict::LEVELS.contains(&level) {
        return Err(Failure::about(
            &shown,
            seriatim_predict::PredictError::UnsupportedLevel(level),
        ));
    }
    let observed = observed(args, app, &predicted)?;
    let runnable = observed.runnable().map_err(|problem| Failure::about(&shown, problem))?;
    if predicted.predictions.is_empty() {
        return Err(Failure::about(&shown, "there is no prediction in it"));
    }
    let several = predicted.predictions.len() > 1;
    let mut exit = Exit::Holds;
    for (number, prediction) in predicted.predictions.iter().enumerate() {
        let plan = prediction.plan().ok_or_else(|| {
            Failure::about(
                &shown,
                "its sessions are not numbered as `seriatim observe` numbers them",
            )
        })?;
        let directed = run_directed(runnable.app(), level, &plan).map_err(|error| {
            Failure::about(format!("{shown}: prediction {}", number + 1), error)
        })?;
        if args.format == Style::Json {
            output::text(&line(app, &predicted.level, number + 1, &directed))?;
        } else {
            if several {
                output::text(&format!("{}\n", paint(BOLD, &format!("prediction {}", number + 1))))?;
            }
            output::text(&page(app, &directed))?;
        }
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

/// Why it is none.
fn not_a_prediction(bytes: &[u8], error: &serde_json::Error) -> String {
    if serde_json::from_slice::<Recording>(bytes).is_ok() {
        return "this is a run of `seriatim fuzz`; leave out the application".to_owned();
    }
    format!("not what `seriatim predict --output` wrote: {error}")
}

/// What was observed, as the prediction says.
fn observed<'p>(args: &Args, app: &str, predicted: &'p Predicted) -> Result<&'p Observed, Failure> {
    let shown = args.run.display();
    let Some(observed) = predicted.application() else {
        let problem = "it does not say how the application was run; predict from a file that \
                       `seriatim observe` wrote";
        return Err(Failure::about(shown, problem));
    };
    match observed.app == app {
        true => Ok(observed),
        false => Err(Failure::about(
            shown,
            format!("the prediction is about {}, not {app}", clean(&observed.app)),
        )),
    }
}

/// What became of a prediction, for machines and for people.
fn verdict(directed: &Directed) -> (&'static str, &'static str) {
    match (&directed.left, directed.is_serializable) {
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

/// For machines; `seriatim schema replay` prints the schema.
fn line(app: &str, level: &str, number: usize, directed: &Directed) -> String {
    let line = serde_json::json!({
        "app": app,
        "level": level,
        "prediction": number,
        "outcome": verdict(directed).0,
        "serializable": directed.is_serializable,
        "divergence": directed.left.as_ref().map(ToString::to_string),
        "check": runs::checked_json(app, &directed.history),
    });
    format!("{line}\n")
}

fn page(app: &str, directed: &Directed) -> String {
    let style = match directed.is_serializable {
        Some(true) => GOOD,
        Some(false) => BAD,
        None => OPEN,
    };
    let mut page = format!("{app}: {}\n", paint(style, verdict(directed).1));
    if let Some(left) = &directed.left {
        page += &wrap(
            &format!("The run left the prediction first where {left}."),
            "  ",
            output::width(),
        );
    }
    let layout = Layout { width: output::width(), ..Layout::default() };
    page += &format!("\n{}", text::render(&runs::checked(app, &directed.history), &layout));
    page
}
