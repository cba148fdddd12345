//! `seriatim fuzz`: an application on the mock store, run until its assertion breaks.

use crate::cli::{chooser_parser, store_level_parser};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::progress::Progress;
use crate::staged;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seriatim_apps::{APPS, App, BENCHMARK_APPS, Fuzz, Recording, Run, Setting};
use seriatim_check::{Level, Options};
use seriatim_history::History;
use seriatim_report::style::{BAD, BOLD, GOOD, paint};
use seriatim_report::text::{self, Layout, grouped, plural};
use seriatim_report::{Checked, Counts, Times, clean, wrap};
use seriatim_store::{Choice, ChooserKind, TxnName};
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
    /// Where to keep the run that failed, for `seriatim replay`
    #[arg(long, short, value_name = "RUN")]
    output: Option<PathBuf>,
}

/// Runs the application until it fails, and says why.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let app = seriatim_apps::find(args.app).ok_or_else(|| Failure::about(args.app, "no such application"))?;
    let setting = Setting { level: args.level, interleaved: !args.serial };
    let progress = Progress::over(args.runs as usize, "runs");
    let mut fuzz = Fuzz::new(app, setting, args.chooser, args.seed);
    for number in 0..args.runs {
        let run = fuzz.run(number).map_err(|error| Failure::about(args.app, error))?;
        if run.failure.is_some() {
            drop(progress);
            let recording = Recording::of(app, setting, &run);
            // What was found is told even if it cannot be kept.
            output::text(&broke(app, setting, number + 1, args, &recording)?)?;
            keep(args.output.as_ref(), &recording)?;
            return Ok(Exit::Violated);
        }
        progress.advance();
    }
    drop(progress);
    let held = format!("{}: the assertion held in {} at {}", app.name(), plural(args.runs, "run"), setting.level);
    output::text(&format!("{}\n  {}\n", paint(GOOD, &held), app.assertion()))?;
    Ok(Exit::Holds)
}

fn keep(path: Option<&PathBuf>, recording: &Recording) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(recording).map_err(|error| Failure::about(path.display(), error))?;
    staged::write(path, |path| std::fs::write(path, text + "\n")).map_err(|error| Failure::about(path.display(), error))
}

/// The page about a run that failed.
fn broke(app: &dyn App, setting: Setting, number: u64, args: &Args, recording: &Recording) -> Result<String, Failure> {
    let verdict = format!("{}: the assertion broke in run {} at {}", app.name(), grouped(number), setting.level);
    let mut page = format!("{} (seed {})\n", paint(BAD, &verdict), args.seed);
    page += &failure(app, recording.failure.as_deref().unwrap_or_default());
    let blamed = recording.to_blame().map_err(|error| Failure::about(app.name(), error))?;
    if let Some((weak, run)) = blamed {
        page += &reads(&weak);
        page += &explained(app, &run);
    }
    page += &match &args.output {
        Some(path) => format!("\nSee it again with `seriatim replay {}`.\n", clean(&path.display().to_string())),
        None => "\nKeep the run with --output RUN, and see it again with `seriatim replay RUN`.\n".to_owned(),
    };
    Ok(page)
}

/// What should have held, and what was seen instead.
pub fn failure(app: &dyn App, failure: &str) -> String {
    wrap(&format!("Expected: {}. But {failure}.", app.assertion()), "  ", output::width()) + "\n"
}

fn reads(weak: &[Choice]) -> String {
    if weak.is_empty() {
        return "\n  It fails even if every read returns the latest version: the transactions overlap.\n".to_owned();
    }
    let mut page = format!("\n{}\n", paint(BOLD, "The reads that it takes; all others return the latest version:"));
    for choice in weak {
        let from = choice.writer.map_or("the initial state".to_owned(), name);
        page += &format!("  {} reads {} from {from}\n", name(choice.reader), clean(&choice.key));
    }
    page
}

fn name(txn: TxnName) -> String {
    format!("transaction {} of session {}", txn.txn, txn.session)
}

/// The history of a run, with its anomalies.
pub fn explained(app: &dyn App, run: &Run) -> String {
    let checked = checked(app.name(), &run.history);
    let layout = Layout { width: output::width(), ..Layout::default() };
    format!("\n{}", text::render(&checked, &layout))
}

/// The history of a run, checked at every level.
pub fn checked(name: &str, history: &History) -> Checked {
    let start = std::time::Instant::now();
    let report = seriatim_check::check(history, &Options::default());
    let times = Times { total: start.elapsed(), ..Times::default() };
    let input = format!("the run of {name}");
    Checked { input, format: "store", counts: Counts::of(history), report, times, duplicate: None }
}

/// Parses the name of a shipped application.
pub fn app_parser() -> impl TypedValueParser<Value = &'static str> {
    let apps = APPS.into_iter().chain(BENCHMARK_APPS);
    let names = apps.map(|app| PossibleValue::new(app.name()).help(app.assertion()));
    PossibleValuesParser::new(names).try_map(|name| {
        let app = seriatim_apps::find(&name);
        app.map(|app| app.name()).ok_or_else(|| format!("unknown application {name}"))
    })
}
