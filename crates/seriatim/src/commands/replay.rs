//! `seriatim replay`: a run that `fuzz` kept, once more.

use crate::cli::Style;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::runs::{self, Told};
use seriatim_apps::{App, Recording, Run};
use seriatim_report::style::{BAD, GOOD, OPEN, paint};
use seriatim_report::wrap;
use seriatim_store::Divergence;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Exit codes: 0 the assertion held this time, 1 it broke again, 3 bad input or usage.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// What `seriatim fuzz --output` wrote
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Style::Human)]
    format: Style,
}

/// Runs it again, and says whether it went the same way.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let shown = args.run.display();
    let bytes = std::fs::read(&args.run).map_err(|error| Failure::about(&shown, error))?;
    let recording: Recording = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::about(&shown, format!("not a run that `seriatim fuzz --output` wrote: {error}")))?;
    let (again, divergence) = recording.replay().map_err(|error| Failure::about(&shown, error))?;
    let app = seriatim_apps::find(&recording.app).ok_or_else(|| Failure::about(&shown, "no such application"))?;
    let told = match args.format {
        Style::Human => page(app, &again, divergence.as_ref()),
        Style::Json => {
            let mut told = Told::new(app, &recording.level, again.failure.as_deref(), Some(&again));
            told.divergence = divergence.map(|divergence| divergence.to_string());
            told.line()
        }
    };
    output::text(&told)?;
    Ok(if again.failure.is_some() { Exit::Violated } else { Exit::Holds })
}

fn page(app: &dyn App, again: &Run, divergence: Option<&Divergence>) -> String {
    let mut page = match &again.failure {
        Some(_) => format!("{}\n", paint(BAD, &format!("{}: the assertion broke again", app.name()))),
        None => format!("{}\n", paint(GOOD, &format!("{}: the assertion held this time", app.name()))),
    };
    if let Some(failure) = &again.failure {
        page += &runs::failure(app, failure);
    }
    if let Some(divergence) = divergence {
        let left = format!("The run left the recording: {divergence}.");
        page += &format!("{}\n", paint(OPEN, &wrap(&left, "  ", output::width())));
    }
    page + &runs::explained(app, again)
}
