//! `seriatim fuzz`: an application on the mock store, run until its assertion breaks.

use crate::cli::{Style, chooser_parser, store_level_parser};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::progress::Progress;
use crate::runs::{self, Search, Told};
use crate::staged;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seriatim_apps::{APPS, App, Fuzz, Recording, Setting};
use seriatim_check::Level;
use seriatim_report::clean;
use seriatim_report::style::{BAD, GOOD, paint};
use seriatim_report::text::{grouped, plural};
use seriatim_store::ChooserKind;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
The application runs on a mock store that may return any version of a cell that the level allows. What the assertion itself reads \
are the latest versions, so that only the application's own reads are weak. The same seed does the same runs again.

Exit codes: 0 the assertion held in all runs, 1 it broke, 3 bad input or usage.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The application
    #[arg(value_name = "APP", value_parser = app_parser())]
    app: &'static str,
    /// The level of its transactions
    #[arg(long, short, value_name = "LEVEL", value_parser = store_level_parser(), default_value = "cc")]
    level: Level,
    /// Who picks the versions that reads return
    #[arg(long, value_name = "NAME", value_parser = chooser_parser(), default_value = "adversary")]
    chooser: ChooserKind,
    /// How many runs to do at most
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// What decides everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// One transaction at a time; without it transactions of different clients overlap
    #[arg(long)]
    serial: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Where to keep the run that failed, for `seriatim replay`
    #[arg(long, short, value_name = "RUN")]
    output: Option<PathBuf>,
}

/// Runs the application until it fails, and says why.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let Some((page, recording)) = search(args)? else {
        output::text(&held(find(args.app)?, args))?;
        return Ok(Exit::Holds);
    };
    // What was found is told even if it cannot be kept.
    output::text(&page)?;
    keep(args.output.as_ref(), &recording)?;
    Ok(Exit::Violated)
}

/// What `seriatim fuzz cart` tells.
pub fn cart() -> Result<String, Failure> {
    let args = Args {
        app: "cart",
        level: Level::Causal,
        chooser: ChooserKind::Adversary,
        runs: 1000,
        seed: 0,
        serial: false,
        format: Style::Human,
        output: None,
    };
    let found = search(&args)?;
    Ok(found.map_or_else(String::new, |(page, _)| page))
}

fn find(name: &str) -> Result<&'static dyn App, Failure> {
    seriatim_apps::find(name).ok_or_else(|| Failure::about(name, "no such application"))
}

/// The page about the first run that fails, and the run.
fn search(args: &Args) -> Result<Option<(String, Recording)>, Failure> {
    let app = find(args.app)?;
    let setting = Setting { level: args.level, interleaved: !args.serial };
    let progress = Progress::over(args.runs as usize, "runs");
    let mut fuzz = Fuzz::new(app, setting, args.chooser, args.seed);
    for number in 0..args.runs {
        let run = fuzz.run(number).map_err(|error| Failure::about(args.app, error))?;
        if run.failure.is_some() {
            drop(progress);
            let recording = Recording::of(app, setting, &run);
            return Ok(Some((broke(app, number + 1, args, &recording)?, recording)));
        }
        progress.advance();
    }
    Ok(None)
}

fn keep(path: Option<&PathBuf>, recording: &Recording) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(recording).map_err(|error| Failure::about(path.display(), error))?;
    staged::write(path, |path| std::fs::write(path, text + "\n")).map_err(|error| Failure::about(path.display(), error))
}

/// What is told about a run that failed.
fn broke(app: &dyn App, number: u64, args: &Args, recording: &Recording) -> Result<String, Failure> {
    let blamed = recording.to_blame().map_err(|error| Failure::about(app.name(), error))?;
    let failure = recording.failure.as_deref().unwrap_or_default();
    if args.format == Style::Json {
        let mut told = Told::new(app, args.level.code(), Some(failure), blamed.as_ref().map(|(_, run)| run));
        told.search = Some(args.search(number));
        told.blame = blamed.as_ref().map(|(weak, run)| runs::blamed(weak, &run.history));
        return Ok(told.line());
    }
    let verdict = format!("{}: the assertion broke in run {} at {}", app.name(), grouped(number), args.level);
    let mut page = format!("{} (seed {})\n", paint(BAD, &verdict), args.seed);
    page += &runs::failure(app, failure);
    if let Some((weak, run)) = blamed {
        page += &runs::blame(&weak, &run.history);
        page += &runs::explained(app, &run);
    }
    page += &match &args.output {
        Some(path) => format!("\nSee it again with `seriatim replay {}`.\n", clean(&path.display().to_string())),
        None => "\nKeep the run with --output RUN, and see it again with `seriatim replay RUN`.\n".to_owned(),
    };
    Ok(page)
}

fn held(app: &dyn App, args: &Args) -> String {
    if args.format == Style::Json {
        let mut told = Told::new(app, args.level.code(), None, None);
        told.search = Some(args.search(args.runs));
        return told.line();
    }
    let held = format!("{}: the assertion held in {} at {}", app.name(), plural(args.runs, "run"), args.level);
    format!("{}\n  {}\n", paint(GOOD, &held), app.assertion())
}

impl Args {
    fn search(&self, runs: u64) -> Search<'_> {
        Search { chooser: self.chooser.code(), serial: self.serial, seed: self.seed, runs }
    }
}

fn app_parser() -> impl TypedValueParser<Value = &'static str> {
    let names = APPS.map(|app| PossibleValue::new(app.name()).help(app.assertion()));
    PossibleValuesParser::new(names).try_map(|name| {
        let app = seriatim_apps::find(&name);
        app.map(|app| app.name()).ok_or_else(|| format!("unknown application {name}"))
    })
}
