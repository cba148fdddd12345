//! `seriatim audit`: transactions of a real database, recorded and checked.

use crate::exit::{Exit, Failure};
use crate::parsers::Style;
use crate::progress::Progress;
use crate::quantities::{count, duration};
use crate::write_history::may_write;
use crate::{interrupt, output, whole_files};
use clap::builder::TypedValueParser;
use seriatim_audit::hermitage::{self, Played};
use seriatim_audit::{
    Audit, AuditError, Audited, Driver, Fault, FaultDone, Kept, Moment, ServerProcess, Setting,
    Shape, Template, Workload,
};
use seriatim_isolation::{Level, Order};
use seriatim_report::audited::{self, Hermitage};
use seriatim_report::{Checked, Times, clean, page};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
Tables are made under a name that nobody can guess, and taken away afterwards; nothing else is \
                          touched. Transactions are short and meet on few rows: all workloads \
                          first, then every second round the one that shows most.

That a level was not seen violated is no proof that it holds; that it was violated is one, and \
                          the recording shows it again: `seriatim check RUN`.

Exit codes: 0 what is promised (or asked for by --check) was not seen violated, 1 it was, 2 \
                          undecided, 3 bad input or usage, the database cannot be reached (any \
                          more), or the recording not be written, 130 or 143 ended by a signal.";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The database: postgres://user:password@host:port/database, mysql://…, redis://host:port,
    /// sqlite:FILE or duckdb:FILE; of several nodes each, and `read=URL` where sessions only read
    #[arg(value_name = "URL", required_unless_present = "again")]
    urls: Vec<String>,
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
    /// What sessions do: adaptive, general, read-modify-write, blind-writes, list-append,
    /// write-skew, long-fork, bank, predicates, counters, or a file of SQL (see docs/auditing.md)
    #[arg(long, value_name = "NAME", default_value = "adaptive", value_parser = workload_parser())]
    workload: WorkloadChoice,
    /// How many registers transactions meet on, from 3 to 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(3..=20))]
    keys: Option<u64>,
    /// How many steps a transaction has at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=50))]
    length: Option<u64>,
    /// The longest pause between two steps, like 2ms or 0s
    #[arg(long, value_name = "TIME", value_parser = pause)]
    pause: Option<Duration>,
    /// The level to judge by, instead of what the database promises
    #[arg(long, value_name = "LEVEL", value_parser = crate::parsers::store_level_parser())]
    check: Option<Level>,
    /// With which order levels are judged: sessions, real-time (what was acknowledged is visible)
    /// or none
    #[arg(long, value_name = "ORDER", default_value = "sessions")]
    order: Order,
    /// End with the first violation of what is promised
    #[arg(long)]
    until_violation: bool,
    /// What is done to the servers meanwhile: `every 10s: COMMAND` or `at 5s: COMMAND`, with a
    /// command of the shell, or kill, restart, pause TIME (of --server), partition NAMESPACE TIME,
    /// delay NAMESPACE TIME TIME (of a network namespace); may be given several times
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
    /// How to start the server, in the foreground; it is ended afterwards
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// Play the scenarios of Hermitage, too: which anomalies happen at which level
    #[arg(long)]
    hermitage: bool,
    /// Check a recording of an audit again, round by round, instead of auditing a database
    #[arg(long, value_name = "RUN", conflicts_with_all = ["urls", "hermitage", "server"])]
    again: Option<PathBuf>,
    /// What decides what sessions do
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where to write what was recorded, as JSON Lines; of several levels that of the last, of
    /// the others with their names before the ending
    #[arg(long, short, value_name = "RUN")]
    output: Option<PathBuf>,
    /// Where to write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Where to write all of it as a page to look at
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the pictures of the anomalies alone to this file, for papers and slides
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How the result is written
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
}

/// How long a pause may be.
fn pause(text: &str) -> Result<Duration, String> {
    if ["0", "0s", "0ms"].contains(&text) {
        return Ok(Duration::ZERO);
    }
    duration(text)
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

/// One workload, what shows most, or a file of SQL.
#[derive(Clone, Debug)]
enum WorkloadChoice {
    Adaptive,
    One(Workload),
    Own(Template),
}

fn workload_parser() -> impl TypedValueParser<Value = WorkloadChoice> {
    clap::builder::StringValueParser::new().try_map(|text| match text.as_str() {
        "adaptive" => Ok(WorkloadChoice::Adaptive),
        name => match name.parse() {
            Ok(workload) => Ok(WorkloadChoice::One(workload)),
            Err(_) if Path::new(name).exists() => own(name),
            Err(error) => {
                let error: seriatim_audit::NoWorkload = error;
                let all: Vec<&str> = Workload::ALL.into_iter().map(Workload::code).collect();
                Err(format!("{error}; there are adaptive, {} and files of SQL", all.join(", ")))
            }
        },
    })
}

fn own(name: &str) -> Result<WorkloadChoice, String> {
    let text = std::fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?;
    let template = Template::parse(&text).map_err(|error| format!("{name}, {error}"))?;
    Ok(WorkloadChoice::Own(template))
}

/// Audits the database at each level.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    check_flags(args)?;
    let mut found = Found::default();
    let done = match &args.again {
        Some(path) => again(args, path, &mut found),
        None => databases(args, &mut found),
    };
    interrupt::release();
    // What was found before something went wrong is told all the same.
    let told = if found.is_empty() { Ok(()) } else { found.tell(args) };
    let exit = match done {
        Err(Failure::Message(problem)) if found.is_violated => {
            output::message(&format!("error: {problem}\n"));
            Exit::Violated
        }
        done => done?,
    };
    told?;
    Ok(interrupt::asked().map_or(exit, Exit::from))
}

/// Whether the flags fit together.
fn check_flags(args: &Args) -> Result<(), Failure> {
    let files = || args.output.iter().chain(&args.markdown).chain(&args.html).chain(&args.svg);
    if files().any(|path| path == Path::new("-")) {
        let problem = "--output, --markdown, --html and --svg need names of files: the result is \
                       on standard output";
        return Err(Failure::Message(problem.to_owned()));
    }
    let recordings = recordings(args);
    let others = args.markdown.iter().chain(&args.html).chain(&args.svg);
    let inputs: Vec<&Path> = args.again.iter().map(PathBuf::as_path).collect();
    may_write(recordings.iter().chain(others), &inputs)?;
    if args.server.is_none() && args.faults.iter().any(Fault::needs_server) {
        let problem = "kill, restart and pause need --server COMMAND, which says how to start the \
                       server; other servers are stopped by a command: --fault 'every 10s: CMD'";
        return Err(Failure::Message(problem.to_owned()));
    }
    Ok(())
}

/// The files that recordings go to: of several levels each has one.
fn recordings(args: &Args) -> Vec<PathBuf> {
    let Some(path) = &args.output else { return Vec::new() };
    let of_levels = Setting::ALL.map(|setting| of_level(path, setting));
    match args.isolation {
        Settings::One(_) => vec![path.clone()],
        Settings::All => [path.clone()].into_iter().chain(of_levels).collect(),
    }
}

/// The file of a level that is not the last one.
fn of_level(path: &Path, setting: Setting) -> PathBuf {
    path.with_extension(format!("{}.jsonl", setting.code()))
}

/// All that was found.
#[derive(Default)]
struct Found {
    all: Vec<audited::Audited>,
    hermitage: Option<Hermitage>,
    /// Whether a promise was seen broken.
    is_violated: bool,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.hermitage.is_none()
    }

    /// The page of a setting.
    fn add(&mut self, args: &Args, report: audited::Audited) -> Result<(), Failure> {
        let page = match args.format {
            Style::Human => audited::render(&report, output::width()) + "\n",
            Style::Json => audited::json(&report) + "\n",
        };
        output::text(&page)?;
        self.is_violated |= report.keeps_promise() == Some(false);
        self.all.push(report);
        Ok(())
    }

    /// The tables.
    fn tell(&self, args: &Args) -> Result<(), Failure> {
        let hermitage = self.hermitage.as_ref();
        match args.format {
            Style::Human => {
                if self.all.len() > 1 {
                    output::text(&audited::matrix(&self.all))?;
                }
                hermitage.map_or(Ok(()), |it| output::text(&it.text()))?;
            }
            Style::Json => {
                hermitage.map_or(Ok(()), |it| output::text(&(it.json() + "\n")))?;
            }
        }
        if let Some(path) = &args.markdown {
            let scenarios = hermitage.map(|it| format!("\n{}", it.markdown()));
            write(path, &(audited::markdown(&self.all) + &scenarios.unwrap_or_default()))?;
        }
        if let Some(path) = &args.html {
            write(path, &page::audited(&self.all, hermitage))?;
        }
        if let Some(path) = &args.svg {
            let shown = self.all.iter().filter_map(|it| it.exemplar.as_ref());
            write(path, &page::svg(shown.map(|(_, checked)| checked)))?;
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    whole_files::write(path, |path| std::fs::write(path, text))
        .map_err(|error| Failure::about(path.display(), error))
}

/// Audits a database at each level.
fn databases(args: &Args, found: &mut Found) -> Result<Exit, Failure> {
    interrupt::ask_next();
    let server = args.server.as_deref().map(ServerProcess::start).transpose();
    let server = server.map_err(Failure::Message)?.map(Mutex::new);
    let driver = open(args, server.as_ref())?;
    if args.hermitage && !driver.can(Workload::Own) {
        let product = driver.product();
        let problem = format!("the scenarios of --hermitage are in SQL, which {product} has not");
        return Err(Failure::Message(problem));
    }
    interrupt::leaves(left_by(driver.as_ref()));
    let exit = levels(args, driver.as_ref(), server.as_ref(), found);
    interrupt::leaves(None);
    exit
}

/// What is there while it is audited, if people can see it.
fn left_by(driver: &dyn Driver) -> Option<String> {
    let prefix = Some(driver.prefix()).filter(|prefix| !prefix.is_empty())?;
    Some(format!("what begins with {prefix} in the database"))
}

/// Each level, and the scenarios.
fn levels(
    args: &Args,
    driver: &dyn Driver,
    server: Option<&Mutex<ServerProcess>>,
    found: &mut Found,
) -> Result<Exit, Failure> {
    let is_asked_to_end = interrupt::ask_next();
    let settings = match args.isolation {
        Settings::One(setting) => vec![setting],
        Settings::All => driver.settings(),
    };
    let mut exit = Exit::Holds;
    for (place, &setting) in settings.iter().enumerate() {
        if is_asked_to_end.load(Ordering::Relaxed) {
            break;
        }
        let is_last = place + 1 == settings.len();
        let audited = one(args, driver, server, setting, is_last)?;
        exit = exit.and(judged(&audited));
        found.add(args, report(args, audited))?;
    }
    if args.hermitage {
        found.hermitage = Some(play(driver, &settings)?);
    }
    Ok(exit)
}

/// How long a server that was just started may take until it can be reached.
const START_MAX: Duration = Duration::from_secs(60);

fn open(args: &Args, server: Option<&Mutex<ServerProcess>>) -> Result<Box<dyn Driver>, Failure> {
    let begun = Instant::now();
    loop {
        let opened = seriatim_audit::open(&args.urls).map_err(told);
        let is_waited_for = server.is_some_and(|server| {
            let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
            begun.elapsed() < START_MAX && !server.has_ended()
        });
        if opened.is_ok() || interrupt::asked().is_some() {
            return opened;
        }
        if !is_waited_for {
            return opened.map_err(|error| with_last_words(error, server));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Why a server cannot be reached, and what it said last if it has ended.
fn with_last_words(error: Failure, server: Option<&Mutex<ServerProcess>>) -> Failure {
    let said = server.and_then(|server| {
        let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
        server.has_ended().then(|| server.last_words())
    });
    match (error, said) {
        (Failure::Message(text), Some(lines)) => {
            let lines: String = lines.iter().map(|line| format!("\n  {}", clean(line))).collect();
            let said = if lines.is_empty() { " and said nothing" } else { "; it said last:" };
            Failure::Message(format!("{text}\nthe server has ended{said}{lines}"))
        }
        (error, _) => error,
    }
}

/// Plays the scenarios of Hermitage at each setting.
fn play(driver: &dyn Driver, settings: &[Setting]) -> Result<Hermitage, Failure> {
    let is_asked_to_end = interrupt::ask_next();
    let played: Vec<Played> = settings
        .iter()
        .map(|&setting| hermitage::play(driver, setting, is_asked_to_end).map_err(told))
        .collect::<Result<_, _>>()?;
    let happened = |name: &str, played: &Played| {
        let found = played.scenarios.iter().find(|(scenario, ..)| *scenario == name);
        found.map(|(_, happened, _)| *happened)
    };
    let scenarios = hermitage::SCENARIOS.iter().map(|scenario| audited::Scenario {
        name: scenario.name.to_owned(),
        happened: played.iter().map(|played| happened(scenario.name, played)).collect(),
    });
    Ok(Hermitage {
        product: driver.product(),
        settings: played.iter().map(|played| played.setting.clone()).collect(),
        scenarios: scenarios.collect(),
    })
}

/// Checks a recording again.
fn again(args: &Args, path: &Path, found: &mut Found) -> Result<Exit, Failure> {
    let is_asked_to_end = interrupt::ask_next();
    let length = std::fs::metadata(path).map_or(0, |about| about.len());
    let progress = Progress::over(usize::try_from(length).unwrap_or(usize::MAX), "bytes");
    let watch = |so_far: &Audited| {
        let anomalies: u64 = so_far.anomalies.values().sum();
        progress.reach(so_far.bytes_checked, format!("{anomalies} anomalies"));
    };
    let audited =
        seriatim_audit::audit_again(path, args.check, args.order, &watch, is_asked_to_end)
            .map_err(|error| Failure::about(path.display(), error))?;
    drop(progress);
    let exit = judged(&audited);
    found.add(args, report(args, audited))?;
    Ok(exit)
}

/// One level.
fn one(
    args: &Args,
    driver: &dyn Driver,
    server: Option<&Mutex<ServerProcess>>,
    setting: Setting,
    is_last: bool,
) -> Result<Audited, Failure> {
    let output = args.output.as_ref().map(|path| match is_last {
        true => path.clone(),
        false => of_level(path, setting),
    });
    let (workload, template) = match &args.workload {
        WorkloadChoice::Adaptive => (None, None),
        WorkloadChoice::One(workload) => (Some(*workload), None),
        WorkloadChoice::Own(template) => (Some(Workload::Own), Some(template.clone())),
    };
    let audit = Audit {
        setting,
        workload,
        shape: shape(args),
        template,
        sessions: args.sessions,
        duration: args.duration,
        transactions: args.transactions,
        seed: args.seed,
        check: args.check,
        order: args.order,
        until_violation: args.until_violation,
        faults: args.faults.clone(),
        output,
        is_recorded: true,
    };
    let progress = Progress::over(args.duration.as_millis() as usize, "ms");
    let watch = |so_far: &Audited| {
        let done = so_far.time.as_millis() as u64;
        let anomalies: u64 = so_far.anomalies.values().sum();
        let known = format!("{} committed, {anomalies} anomalies", so_far.tally.committed);
        progress.reach(done, known);
    };
    let is_asked_to_end = interrupt::ask_next();
    let audited = audit.run(driver, server, &watch, is_asked_to_end).map_err(told)?;
    if let Some(problem) = &audited.problem {
        output::message(&format!("warning: {problem}\n"));
    }
    if let Some(problem) = &audited.unwritten {
        output::message(&format!("warning: not all of the recording is on disk: {problem}\n"));
    }
    Ok(audited)
}

/// The sizes that were asked for.
fn shape(args: &Args) -> Option<Shape> {
    if args.keys.is_none() && args.length.is_none() && args.pause.is_none() {
        return None;
    }
    let usual = Shape::default();
    let micros = |pause: Duration| u64::try_from(pause.as_micros()).unwrap_or(u64::MAX);
    Some(Shape {
        keys: args.keys.unwrap_or(usual.keys),
        steps_max: args.length.unwrap_or(usual.steps_max),
        pause_max: args.pause.map_or(usual.pause_max, micros),
        ..usual
    })
}

fn judged(audited: &Audited) -> Exit {
    if audited.is_empty() {
        output::message("warning: no transaction committed, so that nothing was seen\n");
        return Exit::Undecided;
    }
    let is_whole = audited.problem.is_none() && audited.unwritten.is_none();
    match audited.keeps_promise() {
        Kept::No => Exit::Violated,
        // Not all was done that was asked for: that is no pass.
        _ if !is_whole => Exit::BadInput,
        Kept::Yes => Exit::Holds,
        Kept::Unknown => Exit::Undecided,
    }
}

fn report(args: &Args, audited: Audited) -> audited::Audited {
    let kept = |kept| match kept {
        Kept::Yes => Some(true),
        Kept::No => Some(false),
        Kept::Unknown => None,
    };
    let stale = audited.stale_age_median().map(|age_median| audited::Stale {
        reads: audited.stale_reads,
        age_median,
        age_max: audited.stale_age_max,
    });
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
    let late = (audited.decided_late, audited.left_open);
    audited::Audited {
        product: audited.product,
        setting: audited.setting,
        promise: audited.promise,
        levels: audited.levels.iter().map(|(level, it)| (*level, kept(*it))).collect(),
        anomalies: audited.anomalies.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect(),
        committed: audited.tally.committed,
        aborted: audited.tally.aborted,
        unknown: audited.tally.unknown,
        sessions: audited.sessions.unwrap_or(args.sessions),
        seed: audited.seed.unwrap_or(args.seed),
        seconds: audited.time.as_secs_f64(),
        stale,
        lost_count: audited.lost_count,
        unread_ends: audited.unread_ends,
        lost: audited.lost.into_iter().map(|lost| (lost.key, lost.value)).collect(),
        totals: (audited.tally.totals, audited.tally.wrong_totals),
        faults: audited.faults.into_iter().map(fault).collect(),
        timeline: audited.timeline.iter().map(moment).collect(),
        first_violation: audited.first_violation.map(|time| time.as_secs_f64()),
        decided: (audited.rounds - late.0 - late.1, late.0, late.1),
        exemplar,
    }
}

fn fault(done: FaultDone) -> audited::Fault {
    audited::Fault {
        at: done.at.as_secs_f64(),
        seconds: done.took.as_secs_f64(),
        what: done.what,
        problem: done.problem,
    }
}

fn moment(moment: &Moment) -> audited::Moment {
    audited::Moment {
        at: moment.at.as_secs_f64(),
        workload: moment.workload.map_or("several", |it| it.code()),
        committed: moment.committed,
        anomalies: moment.anomalies,
        forbidden: moment.forbidden,
    }
}

fn told(error: AuditError) -> Failure {
    Failure::Message(error.to_string())
}
