//! `seriatim fuzz`: an application on the mock store, run until its assertion breaks.

use crate::cli::{Style, chooser_parser, store_level_parser};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::quantities::duration;
use crate::runs::{self, Search, Told};
use crate::save::{may_write, save};
use crate::{interrupt, output, staged};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seriatim_apps::{APPS, App, BENCHMARK_APPS, Fuzz, Recording, Run, Setting};
use seriatim_history::formats::Format;
use seriatim_isolation::Level;
use seriatim_report::style::{BAD, GOOD, OPEN, paint};
use seriatim_report::text::{grouped, plural};
use seriatim_report::{clean, wrap};
use seriatim_store::{Choice, ChooserKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
The application runs on a mock store that may return any version of a cell that the level allows. \
                          What the assertion itself reads \
are the latest versions, so that only the application's own reads are weak. (Most assertions are \
                          about what clients saw.) The same seed does the same runs again.

Exit codes: 0 the assertion held in all runs, 1 it broke, 2 it held until the budget was spent, 3 \
                          bad input or usage, 130, 143 or 129 ended by a signal, 141 output closed \
by its reader.";

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
    /// How long to go on at most, like 30s or 5m; a run that has begun ends first
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    budget: Option<Duration>,
    /// What decides everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// One transaction at a time; without it transactions of different clients overlap
    #[arg(long)]
    serial: bool,
    /// How the result is written
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Where to keep the run that failed, with only the old versions that the failure needs, for
    /// `seriatim replay`
    #[arg(long, short, value_name = "RUN")]
    output: Option<PathBuf>,
    /// Where to write the history of that run as JSON Lines, for `seriatim check` and the others
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// Runs the application until it fails, and says why.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    may_write(args.output.iter().chain(&args.save), &[])?;
    let Found { page, recording, run } = match search(args, interrupt::ask_next())? {
        Searched::Broke(found) => *found,
        Searched::Held(runs) => {
            output::text(&held(find(args.app)?, args, runs))?;
            return Ok(exit(args, runs));
        }
    };
    // What was found is told even if it cannot be kept, and kept even if nobody reads it any more.
    let is_output_taken =
        [&args.output, &args.save].into_iter().flatten().any(|path| path == Path::new("-"));
    let told = match is_output_taken {
        true => {
            output::message(&page);
            Ok(())
        }
        false => output::text(&page),
    };
    if let Some(path) = &args.output {
        keep(path, &recording)?;
    }
    if let Some(path) = &args.save {
        save(&run.history, Format::Jsonl, path)?;
    }
    told?;
    Ok(Exit::Violated)
}

/// What `seriatim fuzz cart` tells.
pub fn cart() -> Result<String, Failure> {
    let args = Args {
        app: "cart",
        level: Level::Causal,
        chooser: ChooserKind::Adversary,
        runs: 1000,
        budget: None,
        seed: 0,
        serial: false,
        format: Style::Human,
        output: None,
        save: None,
    };
    Ok(match search(&args, &AtomicBool::new(false))? {
        Searched::Broke(found) => found.page,
        Searched::Held(_) => String::new(),
    })
}

fn find(name: &str) -> Result<&'static dyn App, Failure> {
    seriatim_apps::find(name).ok_or_else(|| Failure::about(name, "no such application"))
}

/// A run that failed, with only the reads that the failure needs.
struct Found {
    page: String,
    recording: Recording,
    run: Run,
}

/// How a search ended.
enum Searched {
    Broke(Box<Found>),
    /// After so many runs.
    Held(u64),
}

/// The first run that fails.
fn search(args: &Args, is_asked_to_end: &AtomicBool) -> Result<Searched, Failure> {
    let deadline = args.budget.and_then(|budget| Instant::now().checked_add(budget));
    let app = find(args.app)?;
    let setting = Setting { level: args.level, interleaved: !args.serial };
    let progress = Progress::over(args.runs as usize, "runs");
    let mut fuzz = Fuzz::new(app, setting, args.chooser, args.seed);
    for number in 0..args.runs {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || is_asked_to_end.load(Ordering::Relaxed) {
            return Ok(Searched::Held(number));
        }
        let run = fuzz.run(number).map_err(|error| Failure::about(args.app, error))?;
        if run.failure.is_some() {
            interrupt::release();
            drop(progress);
            let recording = Recording::of(app, setting, &run);
            let blamed = recording.to_blame().map_err(|error| Failure::about(app.name(), error))?;
            let (weak, run) = blamed.unwrap_or((Vec::new(), run));
            let page = broke(app, number + 1, args, &weak, &run);
            let recording = Recording::of(app, setting, &run);
            return Ok(Searched::Broke(Box::new(Found { page, recording, run })));
        }
        progress.advance();
    }
    Ok(Searched::Held(args.runs))
}

fn exit(args: &Args, runs: u64) -> Exit {
    match interrupt::asked() {
        _ if runs == args.runs => Exit::Holds,
        Some(signal) => signal.into(),
        None => Exit::Undecided,
    }
}

fn keep(path: &Path, recording: &Recording) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(recording)
        .map_err(|error| Failure::about(path.display(), error))?;
    if path == Path::new("-") {
        return Ok(output::text(&(text + "\n"))?);
    }
    staged::write(path, |path| std::fs::write(path, text + "\n"))
        .map_err(|error| Failure::about(path.display(), error))
}

/// What is told about a run that failed, with only the reads that the failure needs.
fn broke(app: &dyn App, number: u64, args: &Args, weak: &[Choice], run: &Run) -> String {
    let failure = run.failure.as_deref().unwrap_or_default();
    if args.format == Style::Json {
        let mut told = Told::new(app, args.level.code(), Some(failure), Some(run));
        told.search = Some(args.search(number));
        told.blame = Some(runs::blamed(weak, &run.history));
        return told.line();
    }
    let width = output::width();
    let verdict =
        format!("{}: the assertion broke in run {} at {}", app.name(), grouped(number), args.level);
    let verdict = wrap(&format!("{verdict} (seed {})", args.seed), "", width);
    let mut page = format!("{}\n", paint(BAD, verdict.trim_end()));
    page += &runs::failure(app, failure);
    page += &runs::blame(weak, &run.history);
    page += &runs::explained(app, run);
    let next = match &args.output {
        Some(path) if path == Path::new("-") => {
            "The run is on standard output, for `seriatim replay`.".to_owned()
        }
        Some(path) => {
            format!("See it again with `seriatim replay {}`.", clean(&path.display().to_string()))
        }
        None => "Keep the run with --output RUN, and see it again with `seriatim replay RUN`."
            .to_owned(),
    };
    page + "\n" + &wrap(&next, "", width)
}

fn held(app: &dyn App, args: &Args, runs: u64) -> String {
    let is_whole = runs == args.runs;
    let why = if interrupt::asked().is_some() { "interrupted" } else { "budget" };
    if args.format == Style::Json {
        let mut told = Told::new(app, args.level.code(), None, None);
        told.search = Some(Search { stopped: (!is_whole).then_some(why), ..args.search(runs) });
        if !is_whole {
            told.outcome = "undecided";
        }
        return told.line();
    }
    if is_whole {
        let held = format!(
            "{}: the assertion held in {} at {}",
            app.name(),
            plural(runs, "run"),
            args.level
        );
        return format!("{}\n  {}\n", paint(GOOD, &held), app.assertion());
    }
    let of = plural(args.runs, "run");
    let held = format!(
        "{}: the assertion held in the first {} of {of} at {}",
        app.name(),
        grouped(runs),
        args.level
    );
    let why = if why == "budget" { "The budget is spent" } else { "Interrupted" };
    format!(
        "{}\n  {}\n  {why}; the same seed would do the same runs again.\n",
        paint(OPEN, &held),
        app.assertion()
    )
}

impl Args {
    fn search(&self, runs: u64) -> Search<'_> {
        Search {
            chooser: self.chooser.code(),
            serial: self.serial,
            seed: self.seed,
            runs,
            stopped: None,
        }
    }
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
