//! An application as `seriatim predict` says that it could go wrong.

use super::Args;
use crate::exit::{Exit, Failure};
use crate::parsers::Style;
use crate::run_page::{self, PAGE_WIDTH, RunPage, operations};
use crate::write_history::save;
use crate::{describe_run, output};
use seriatim_check::Answer;
use seriatim_history::formats::Format;
use seriatim_isolation::Level;
use seriatim_report::clean;
use seriatim_report::runs::directed;
use seriatim_runs::observe::Observed;
use seriatim_runs::{
    Assertion, Directed, PlannedTxn, Predicted, PredictedRun, Recording, run_directed,
};

/// Runs the application as each prediction says.
pub fn run(args: &Args, app: &str, bytes: &[u8]) -> Result<Exit, Failure> {
    let shown = args.run.display();
    let predicted: Predicted = serde_json::from_slice(bytes)
        .map_err(|error| Failure::about(&shown, not_a_prediction(bytes, &error)))?;
    let level = level_of(args, &predicted)?;
    let observed = observed(args, app, &predicted)?;
    let runnable = observed.runnable().map_err(|problem| Failure::about(&shown, problem))?;
    let mut exit = Exit::Holds;
    for (number, prediction) in predicted.predictions.iter().enumerate() {
        let plan = plan_of(args, prediction)?;
        let directed = run_directed(runnable.app(), level, &plan).map_err(|error| {
            Failure::about(format!("{shown}: prediction {}", number + 1), error)
        })?;
        let report = directed::Directed {
            app: describe_run::application(runnable.app()),
            level: &predicted.level,
            number: number + 1,
            has_others: predicted.predictions.len() > 1,
            divergence: divergence(prediction, &directed),
            is_serializable: directed.is_serializable,
            assertion: match &directed.assertion {
                Assertion::Held => directed::Assertion::Held,
                Assertion::Broke(failure) => directed::Assertion::Broke(failure),
                Assertion::Unknown(why) => directed::Assertion::Unknown(why),
            },
            tries: (1, 1),
            checked: describe_run::checked(app, &directed.history),
        };
        output::text(&match args.format {
            Style::Human => directed::render(&report, output::width()),
            Style::Json => directed::json(&report) + "\n",
        })?;
        if number == 0 {
            write_page(args, app, &report, &directed)?;
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

/// The first run as a page and as pictures, as far as they are wanted.
fn write_page(
    args: &Args,
    app: &str,
    report: &directed::Directed<'_>,
    run: &Directed,
) -> Result<(), Failure> {
    let about = RunPage {
        title: app,
        answer: match run.is_serializable {
            Some(true) => Answer::Holds,
            Some(false) => Answer::Violated,
            None => Answer::Undecided,
        },
        text: &directed::render(report, PAGE_WIDTH),
        sequence: Some(&operations(&run.history, &[])),
        run: Some((&report.checked, &run.history)),
    };
    run_page::write(&args.html, &args.svg, &about)
}

/// The level of a file that has a prediction.
pub(super) fn level_of(args: &Args, predicted: &Predicted) -> Result<Level, Failure> {
    let shown = args.run.display();
    let level: Level = predicted.level.parse().map_err(|error| Failure::about(&shown, error))?;
    if !seriatim_predict::LEVELS.contains(&level) {
        let problem = seriatim_predict::PredictError::UnsupportedLevel(level);
        return Err(Failure::about(&shown, problem));
    }
    if predicted.predictions.is_empty() {
        return Err(Failure::about(&shown, "there is no prediction in it"));
    }
    Ok(level)
}

pub(super) fn plan_of(args: &Args, prediction: &PredictedRun) -> Result<Vec<PlannedTxn>, Failure> {
    let problem = "its sessions are not numbered as `seriatim observe` numbers them";
    prediction.plan().ok_or_else(|| Failure::about(args.run.display(), problem))
}

/// Where a run left its prediction, with the names that its transactions have there.
fn divergence(prediction: &PredictedRun, directed: &Directed) -> Option<String> {
    let departure = directed.departure.as_ref()?;
    Some(departure.told(|txn| prediction.called(txn)))
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
