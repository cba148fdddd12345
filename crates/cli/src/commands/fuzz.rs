//! `seriatim fuzz`: an application on the mock store, run until its assertion breaks.

use super::fuzz_command::{self, CommandArgs};
use crate::exit::{Exit, Failure};
use crate::page_file::refuse_standard_output;
use crate::parsers::{Style, chooser_parser, store_level_parser};
use crate::progress::Progress;
use crate::quantities::{count, duration};
use crate::run_page::{self, PAGE_WIDTH, RunPage};
use crate::write_history::{may_write, save};
use crate::{describe_run, interrupt, output, whole_files};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seriatim_apps::{APPS, App, BENCHMARK_APPS};
use seriatim_check::Answer;
use seriatim_history::formats::Format;
use seriatim_isolation::Level;
use seriatim_report::runs::fuzzed::{self, Ending, Failed, Fuzzed, Kept, Stop};
use seriatim_runs::{Fuzz, Recording, Run, Setting};
use seriatim_store::{Choice, ChooserKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
The application runs on a mock store that may return any version of a cell that the level allows. \
                          What the assertion itself reads \
are the latest versions, so that only the application's own reads are weak. (Most assertions are \
                          about what clients saw.)

The same seed does the same runs again, with the same histories, byte by byte: clients take turns \
                          that the seed decides, and depend on nothing but what they read. In \
                          smallbank, voter, tpcc and wikipedia it also decides what clients do, \
                          otherwise in each run. With --budget only the number of runs depends on \
                          the machine.

Exit codes: 0 the assertion held in all runs, 1 it broke, 2 it held until the budget was spent, 3 \
                          bad input or usage, 130, 143 or 129 ended by a signal, 141 output closed \
by its reader.";

const USAGE: &str = "\
seriatim fuzz [OPTIONS] <APP>
       seriatim fuzz [OPTIONS] -- <CMD>...";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub struct Args {
    /// One of the applications that come with the program; a command of your own stands behind
    /// `--` instead
    #[arg(
        value_name = "APP or -- CMD",
        value_parser = app_parser(),
        required_unless_present = "command"
    )]
    app: Option<&'static str>,
    /// The level of its transactions: cc if it is not named; transactions of a command that ask
    /// for another level get that
    #[arg(long, short, value_name = "LEVEL", value_parser = store_level_parser())]
    pub level: Option<Level>,
    /// Who picks the versions that reads return: the adversary if nobody is named; runs of a
    /// command take turns with all
    #[arg(long, value_name = "NAME", value_parser = chooser_parser())]
    pub chooser: Option<ChooserKind>,
    /// How many runs to do at most: 1000, of a command 100
    #[arg(long, value_name = "N", value_parser = count::<u64>(u64::MAX, "--runs 1000"))]
    pub runs: Option<u64>,
    /// How long to go on at most, like 30s or 5m; a run that has begun ends first. With a command
    /// its set-up does not count, and a failure is explained for as long again at most
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// What decides everything that is random: turns, versions, and what benchmark applications do
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// One transaction at a time; without it transactions of different clients overlap
    #[arg(long, conflicts_with = "command")]
    serial: bool,
    /// How the result is written
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    pub format: Style,
    /// Where to keep the run that failed, with only the old versions that the failure needs, for
    /// `seriatim replay`
    #[arg(long, short, value_name = "RUN")]
    pub output: Option<PathBuf>,
    /// Where to write the history of that run as JSON Lines, for `seriatim check` and the others
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Also write a page to look at to this file: a failing run statement by statement, with what
    /// is to blame, and its anomalies with their pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write the pictures of its anomalies alone to this file, for papers and slides
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub own: CommandArgs,
}

/// How many runs an application does if nothing else is said.
const RUNS: u64 = 1000;

/// What to do with an application that comes with the program.
struct Shipped {
    app: &'static str,
    level: Level,
    chooser: ChooserKind,
    runs: u64,
    budget: Option<Duration>,
    seed: u64,
    serial: bool,
    format: Style,
    output: Option<PathBuf>,
    save: Option<PathBuf>,
}

/// Runs the application until it fails, and says why.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let Some(app) = args.app else { return fuzz_command::run(args) };
    let (pages, args) = (args, &args.shipped(app));
    refuse_standard_output(pages.pages())?;
    may_write(args.output.iter().chain(&args.save).chain(pages.pages()), &[])?;
    let FuzzSearch { fuzzed, broken } = search(args, interrupt::ask_next())?;
    let page = told(&fuzzed, args.format);
    write_page(pages, &fuzzed, broken.as_ref())?;
    let Some(broken) = broken else {
        output::text(&page)?;
        return Ok(exit(&fuzzed.ending));
    };
    // What was found is told even if it cannot be kept, and kept even if its reader is gone.
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
        keep(path, &broken.recording)?;
    }
    if let Some(path) = &args.save {
        let history = broken.run.history.with_extra(&args.origin(fuzzed.runs));
        save(&history, Format::Jsonl, path)?;
    }
    told?;
    Ok(Exit::Violated)
}

/// The run as a page and as pictures, as far as they are wanted.
fn write_page(args: &Args, fuzzed: &Fuzzed<'_>, broken: Option<&BrokenRun>) -> Result<(), Failure> {
    let (answer, checked) = match &fuzzed.ending {
        Ending::Broke(failed) => (Answer::Violated, Some(&failed.checked)),
        Ending::Held => (Answer::Holds, None),
        Ending::Stopped(_) => (Answer::Undecided, None),
    };
    let sequence = broken.map(|broken| run_page::operations(&broken.run.history, &broken.weak));
    let about = RunPage {
        title: fuzzed.app.name,
        answer,
        text: &fuzzed::render(fuzzed, PAGE_WIDTH),
        sequence: sequence.as_ref(),
        run: checked.zip(broken.map(|broken| &broken.run.history)),
    };
    run_page::write(&args.html, &args.svg, &about)
}

/// What `seriatim fuzz cart` tells.
pub fn cart() -> Result<String, Failure> {
    let args = Shipped {
        app: "cart",
        level: Level::Causal,
        chooser: ChooserKind::Adversary,
        runs: RUNS,
        budget: None,
        seed: 0,
        serial: false,
        format: Style::Human,
        output: None,
        save: None,
    };
    let FuzzSearch { fuzzed, broken } = search(&args, &AtomicBool::new(false))?;
    Ok(broken.map_or_else(String::new, |_| told(&fuzzed, args.format)))
}

fn told(fuzzed: &Fuzzed<'_>, style: Style) -> String {
    match style {
        Style::Human => fuzzed::render(fuzzed, output::width()),
        Style::Json => fuzzed::json(fuzzed) + "\n",
    }
}

/// What a search came to.
struct FuzzSearch {
    /// For the report.
    fuzzed: Fuzzed<'static>,
    /// The run in which the assertion broke, if it did.
    broken: Option<BrokenRun>,
}

/// A run that failed, with only the reads that the failure needs.
struct BrokenRun {
    recording: Recording,
    run: Run,
    weak: Vec<Choice>,
}

/// The first run that fails.
fn search(args: &Shipped, is_asked_to_end: &AtomicBool) -> Result<FuzzSearch, Failure> {
    let deadline = args.budget.and_then(|budget| Instant::now().checked_add(budget));
    let app = seriatim_apps::find(args.app)
        .ok_or_else(|| Failure::about(args.app, "no such application"))?;
    let setting = Setting { level: args.level, interleaved: !args.serial };
    let progress = Progress::over(args.runs as usize, "runs");
    let mut fuzz = Fuzz::new(app, setting, args.chooser, args.seed).with_own_workloads();
    for number in 0..args.runs {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || is_asked_to_end.load(Ordering::Relaxed) {
            let ending = Ending::Stopped(why_stopped());
            return Ok(FuzzSearch { fuzzed: args.fuzzed(app, number, ending), broken: None });
        }
        let run = fuzz.run(number).map_err(|error| Failure::about(args.app, error))?;
        if run.failure.is_some() {
            interrupt::release();
            drop(progress);
            return blame(args, app, number + 1, setting, run);
        }
        progress.advance();
    }
    let fuzzed = args.fuzzed(app, args.runs, Ending::Held);
    Ok(FuzzSearch { fuzzed, broken: None })
}

fn why_stopped() -> Stop {
    if interrupt::asked().is_some() { Stop::Interrupted } else { Stop::Budget }
}

/// Leaves out the old versions that a failure does not need, and explains what is left.
fn blame(
    args: &Shipped,
    app: &'static dyn App,
    number: u64,
    setting: Setting,
    run: Run,
) -> Result<FuzzSearch, Failure> {
    let recording = Recording::of(app, setting, &run);
    let blamed = recording.to_blame().map_err(|error| Failure::about(app.name(), error))?;
    let (weak, run) = blamed.unwrap_or((Vec::new(), run));
    let failed = Failed {
        failure: run.failure.clone().unwrap_or_default(),
        blame: describe_run::blamed(&weak, &run.history),
        checked: describe_run::checked(app.name(), &run.history),
        kept: args.kept(),
    };
    let recording = Recording::of(app, setting, &run);
    let fuzzed = args.fuzzed(app, number, Ending::Broke(Box::new(failed)));
    Ok(FuzzSearch { fuzzed, broken: Some(BrokenRun { recording, run, weak }) })
}

fn exit(ending: &Ending) -> Exit {
    match (ending, interrupt::asked()) {
        (Ending::Broke(_), _) => Exit::Violated,
        (Ending::Held, _) => Exit::Holds,
        (Ending::Stopped(_), Some(signal)) => signal.into(),
        (Ending::Stopped(_), None) => Exit::Undecided,
    }
}

fn keep(path: &Path, recording: &Recording) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(recording)
        .map_err(|error| Failure::about(path.display(), error))?;
    if path == Path::new("-") {
        return Ok(output::text(&(text + "\n"))?);
    }
    whole_files::write(path, |path| std::fs::write(path, text + "\n"))
        .map_err(|error| Failure::about(path.display(), error))
}

impl Args {
    /// The files of pages and pictures.
    pub fn pages(&self) -> impl Iterator<Item = &PathBuf> {
        self.html.iter().chain(&self.svg)
    }

    fn shipped(&self, app: &'static str) -> Shipped {
        Shipped {
            app,
            level: self.level.unwrap_or(Level::Causal),
            chooser: self.chooser.unwrap_or(ChooserKind::Adversary),
            runs: self.runs.unwrap_or(RUNS),
            budget: self.budget,
            seed: self.seed,
            serial: self.serial,
            format: self.format,
            output: self.output.clone(),
            save: self.save.clone(),
        }
    }
}

impl Shipped {
    /// The report about `runs` runs.
    fn fuzzed(&self, app: &'static dyn App, runs: u64, ending: Ending) -> Fuzzed<'static> {
        Fuzzed {
            app: describe_run::application(app),
            level: self.level,
            chooser: self.chooser.code(),
            serial: self.serial,
            seed: self.seed,
            runs,
            runs_max: self.runs,
            ending,
        }
    }

    /// What it takes to come to run number `run` again, from 1, as its history keeps it.
    fn origin(&self, run: u64) -> String {
        let origin = serde_json::json!({
            "source": "fuzz",
            "app": self.app,
            "level": self.level.code(),
            "chooser": self.chooser.code(),
            "serial": self.serial,
            "seed": self.seed,
            "run": run,
        });
        origin.to_string()
    }

    fn kept(&self) -> Kept {
        match &self.output {
            None => Kept::Nowhere,
            Some(path) if path == Path::new("-") => Kept::StandardOutput,
            Some(path) => Kept::File(path.display().to_string()),
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
