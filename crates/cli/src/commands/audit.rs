//! `seriatim audit`: transactions of a real database, recorded and checked.

use crate::exit::{Exit, Failure};
use crate::parsers::Style;
use crate::progress::Progress;
use crate::quantities::{count, duration};
use crate::write_history::may_write;
use crate::{interrupt, output, whole_files};
use clap::builder::TypedValueParser;
use seriatim_audit::{Audit, AuditError, Audited, Driver, Kept, Setting, Workload};
use seriatim_report::audited;
use seriatim_report::{Checked, Times};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

const AFTER_HELP: &str = "\
Tables are made under a name that nobody can guess, and taken away afterwards; nothing else is \
                          touched. Transactions are short and meet on few rows: all workloads \
                          first, then every second round the one that shows most.

That a level was not seen violated is no proof that it holds; that it was violated is one, and \
                          the recording shows it again: `seriatim check RUN`.

Exit codes: 0 what is promised (or asked for by --check) was not seen violated, 1 it was, 2 \
                          undecided, 3 bad input or usage, or the database cannot be reached, 130 \
                          or 143 ended by a signal.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The database: postgres://user:password@host:port/database or mysql://…
    #[arg(value_name = "URL")]
    url: String,
    /// What transactions ask for: ru, rc, rr, ser, or all that the database has
    #[arg(long, value_name = "LEVEL", default_value = "all", value_parser = settings_parser())]
    isolation: Settings,
    /// How many sessions there are
    #[arg(
        long,
        value_name = "N",
        default_value = "16",
        value_parser = count::<u32>(1000, "--sessions 16")
    )]
    sessions: u32,
    /// How long to go on with each level, like 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    duration: Duration,
    /// How many transactions to attempt at each level at most
    #[arg(long, value_name = "N", value_parser = count::<u64>(u64::MAX, "--transactions 20000"))]
    transactions: Option<u64>,
    /// What sessions do: adaptive, general, read-modify-write, blind-writes, write-skew, long-fork
    /// or predicates
    #[arg(long, value_name = "NAME", default_value = "adaptive", value_parser = workload_parser())]
    workload: WorkloadChoice,
    /// The level to judge by, instead of what the database promises
    #[arg(long, value_name = "LEVEL", value_parser = crate::parsers::store_level_parser())]
    check: Option<seriatim_isolation::Level>,
    /// What decides what sessions do
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where to write what was recorded, as JSON Lines; of several levels that of the last, of
    /// the others with their names before the ending
    #[arg(long, short, value_name = "RUN")]
    output: Option<PathBuf>,
    /// Where to write the table of all levels as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// How the result is written
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
}

/// One setting, or all.
#[derive(Clone, Copy, Debug)]
enum Settings {
    One(Setting),
    All,
}

fn settings_parser() -> impl TypedValueParser<Value = Settings> {
    clap::builder::StringValueParser::new().try_map(|text| match text.as_str() {
        "all" => Ok(Settings::All),
        other => other
            .parse()
            .map(Settings::One)
            .map_err(|error: seriatim_audit::NoSetting| format!("{error}, or all")),
    })
}

/// One workload, or what shows most.
#[derive(Clone, Copy, Debug)]
struct WorkloadChoice(Option<Workload>);

fn workload_parser() -> impl TypedValueParser<Value = WorkloadChoice> {
    clap::builder::StringValueParser::new().try_map(|text| match text.as_str() {
        "adaptive" => Ok(WorkloadChoice(None)),
        other => other.parse().map(|it| WorkloadChoice(Some(it))).map_err(
            |error: seriatim_audit::NoWorkload| {
                let all: Vec<&str> = Workload::ALL.into_iter().map(Workload::code).collect();
                format!("{error}; there are adaptive, {}", all.join(", "))
            },
        ),
    })
}

/// Audits the database at each level.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    if args.output.iter().chain(&args.markdown).any(|path| path == Path::new("-")) {
        let problem =
            "--output and --markdown need names of files: the result is on standard output";
        return Err(Failure::Message(problem.to_owned()));
    }
    may_write(args.output.iter().chain(&args.markdown), &[])?;
    let is_asked_to_end = interrupt::ask_next();
    let driver = seriatim_audit::open(&args.url).map_err(told)?;
    let settings = match args.isolation {
        Settings::One(setting) => vec![setting],
        Settings::All => driver.settings(),
    };
    let mut all = Vec::new();
    let mut exit = Exit::Holds;
    for (place, &setting) in settings.iter().enumerate() {
        if is_asked_to_end.load(Ordering::Relaxed) {
            break;
        }
        let is_last = place + 1 == settings.len();
        let audited = one(args, driver.as_ref(), setting, is_last)?;
        exit = exit.and(judged(args, &audited));
        let report = report(args, audited);
        let page = match args.format {
            Style::Human => audited::render(&report, output::width()) + "\n",
            Style::Json => audited::json(&report) + "\n",
        };
        output::text(&page)?;
        all.push(report);
    }
    interrupt::release();
    if all.len() > 1 && matches!(args.format, Style::Human) {
        output::text(&audited::matrix(&all))?;
    }
    if let Some(path) = &args.markdown {
        let text = audited::markdown(&all);
        whole_files::write(path, |path| std::fs::write(path, &text))
            .map_err(|error| Failure::about(path.display(), error))?;
    }
    Ok(interrupt::asked().map_or(exit, Exit::from))
}

/// One level.
fn one(
    args: &Args,
    driver: &dyn Driver,
    setting: Setting,
    is_last: bool,
) -> Result<Audited, Failure> {
    let output = args.output.as_ref().map(|path| match is_last {
        true => path.clone(),
        false => path.with_extension(format!("{}.jsonl", setting.code())),
    });
    let audit = Audit {
        setting,
        workload: args.workload.0,
        sessions: args.sessions,
        duration: args.duration,
        transactions: args.transactions,
        seed: args.seed,
        output,
    };
    let progress = Progress::over(args.duration.as_millis() as usize, "ms");
    let watch = |so_far: &Audited| {
        let done = so_far.time.as_millis() as u64;
        let anomalies: u64 = so_far.anomalies.values().sum();
        let known = format!("{} committed, {anomalies} anomalies", so_far.tally.committed);
        progress.reach(done, known);
    };
    let is_asked_to_end = interrupt::ask_next();
    let audited = audit.run(driver, &watch, is_asked_to_end).map_err(told)?;
    if let Some(problem) = &audited.problem {
        output::message(&format!("warning: {problem}\n"));
    }
    if let Some(problem) = &audited.unwritten {
        output::message(&format!("warning: not all of the recording is on disk: {problem}\n"));
    }
    Ok(audited)
}

fn judged(args: &Args, audited: &Audited) -> Exit {
    if audited.is_empty() {
        output::message("warning: no transaction committed, so that nothing was seen\n");
        return Exit::Undecided;
    }
    let kept = args.check.map_or_else(|| audited.keeps_promise(), |level| audited.kept(level));
    match kept {
        Kept::Yes => Exit::Holds,
        Kept::No => Exit::Violated,
        Kept::Unknown => Exit::Undecided,
    }
}

fn report(args: &Args, audited: Audited) -> audited::Audited {
    let kept = |kept| match kept {
        Kept::Yes => Some(true),
        Kept::No => Some(false),
        Kept::Unknown => None,
    };
    let exemplar = audited.exemplar.map(|mut exemplar| {
        // One is enough to see what is wrong; `check` shows the others.
        if matches!(args.format, Style::Human) {
            exemplar.report.anomalies.truncate(1);
        }
        let checked = Checked {
            input: "the round".to_owned(),
            format: "jsonl",
            counts: exemplar.counts,
            report: exemplar.report,
            times: Times::default(),
            duplicate: None,
            kinds: Vec::new(),
        };
        (exemplar.workload.code(), checked)
    });
    audited::Audited {
        product: audited.product,
        setting: audited.setting.to_string(),
        promise: audited.promise,
        levels: audited.levels.iter().map(|(level, it)| (*level, kept(*it))).collect(),
        anomalies: audited.anomalies.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect(),
        committed: audited.tally.committed,
        aborted: audited.tally.aborted,
        unknown: audited.tally.unknown,
        sessions: args.sessions,
        seed: args.seed,
        seconds: audited.time.as_secs_f64(),
        exemplar,
    }
}

fn told(error: AuditError) -> Failure {
    Failure::Message(error.to_string())
}
