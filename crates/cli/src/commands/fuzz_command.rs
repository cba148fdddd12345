//! `seriatim fuzz -- CMD`: a command of the user, run against the mock database until it fails.

use super::application::{ApplicationArgs, Known, told};
use super::fuzz::Args;
use super::serve_sql::Like;
use crate::describe_run;
use crate::exit::{Exit, Failure};
use crate::page_file::refuse_standard_output;
use crate::parsers::{Style, order_parser};
use crate::progress::Progress;
use crate::quantities::count;
use crate::run_page::{self, PAGE_WIDTH, RunPage, sequence};
use crate::sent_by::sent_by;
use crate::write_history::{may_write, save};
use crate::{interrupt, output, whole_files};
use seriatim_check::Answer;
use seriatim_history::History;
use seriatim_history::formats::Format;
use seriatim_isolation::{Level, Order};
use seriatim_report::page::{Asked, Sequence};
use seriatim_report::runs::fuzzed::{Kept, Stop};
use seriatim_report::runs::tried::{
    self, Blamed, BlamedStatement, FailedCommand, OneServer, Outcome, Seen, TrialEnding, Tried,
    TriedFix,
};
use seriatim_sql::parse::may_lock;
use seriatim_store::{Node, TxnName};
use seriatim_trial::{
    Application, AtomicUpdate, Blame, Family, Fix, FixKind, Found, Fuzz, Protocol, Recording, Run,
    TrialError, Verdict,
};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many runs a command does if nothing else is said.
const RUNS: u64 = 100;
/// How many runs it takes, at least, to say that one server does not show a failure.
const ONE_SERVER_RUNS: u64 = 50;
/// For how long.
const ONE_SERVER_MAX: Duration = Duration::from_secs(60);
/// On how many runs each fix is tried, at least, and how many times as many as it took to see a
/// failure.
const FIX_RUNS: u64 = 20;
const FIX_FACTOR: u64 = 3;
/// How many failures that do not come again are passed over, looking for one that does.
const UNEXPLAINED_MAX: usize = 5;

/// The flags of a search with a command of the user.
#[derive(clap::Args, Debug)]
pub struct CommandArgs {
    #[command(flatten)]
    pub application: ApplicationArgs,
    /// The server of which the command meets one node, on which only timing is free; postgres is
    /// taken if neither it nor --level is named. It also says whose URL DATABASE_URL is
    #[arg(long, value_enum, value_name = "SERVER", requires = "command", conflicts_with = "level")]
    like: Option<Like>,
    /// Which transactions a later one must see: those of its own session, or (`real-time`) all that
    /// ended before it began, as on one node of an engine that nobody knows
    #[arg(long, value_name = "ORDER", value_parser = order_parser(), requires = "level")]
    order: Option<Order>,
    /// Transactions have the level whatever they ask for
    #[arg(long, requires = "level")]
    force_level: bool,
    /// How many runs are done at once; as many as there are cores if nothing is said
    #[arg(
        long,
        value_name = "N",
        requires = "command",
        value_parser = count::<usize>(256, "--jobs 2")
    )]
    jobs: Option<usize>,
    /// Where to write the result as JUnit's XML, for CI
    #[arg(long, value_name = "FILE", requires = "command")]
    junit: Option<PathBuf>,
}

impl CommandArgs {
    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(cores)
    }
}

/// Runs the command until it fails, and says why.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let own = &args.own;
    let pages = || args.pages();
    refuse_standard_output(pages())?;
    may_write(args.output.iter().chain(&args.save).chain(&own.junit).chain(pages()), &[])?;
    let is_asked_to_end = interrupt::ask_next();
    let application = own.application.application(&args.known());
    let family = args.family()?;
    let state = application.set_up(is_asked_to_end).map_err(told)?;
    let mut fuzz = Fuzz {
        application: &application,
        state: &state,
        family,
        chooser: args.chooser,
        seed: args.seed,
        first: 0,
        runs: args.runs.unwrap_or(RUNS),
        jobs: own.jobs(),
        deadline: None,
        hold_points: Vec::new(),
        forgives_refusals: false,
    };
    let baseline = fuzz.baseline(is_asked_to_end).map_err(told)?;
    fuzz.hold_points = baseline.hold_points();
    // A set-up may take longer than all runs.
    fuzz.deadline = deadline_of(args);
    if args.is_any_server() {
        fuzz.family = one_server_of(baseline.spoken);
    }
    let (seen, ending, kept) = until_explained(args, fuzz.clone(), is_asked_to_end)?;
    let tried = tried_by(&fuzz, &seen, ending);
    finish(args, &tried, kept, begun.elapsed())
}

/// The end of a budget that begins now.
fn deadline_of(args: &Args) -> Option<Instant> {
    args.budget.and_then(|budget| Instant::now().checked_add(budget))
}

/// Searches until a failure is found that comes again, so that it can be explained; of those that
/// do not the first one is told if there is no other.
fn until_explained(
    args: &Args,
    mut fuzz: Fuzz<'_>,
    is_asked_to_end: &AtomicBool,
) -> Result<(seriatim_trial::Seen, TrialEnding, Option<KeptRun>), Failure> {
    let mut seen = seriatim_trial::Seen::default();
    let mut unexplained = None;
    for _ in 0..UNEXPLAINED_MAX {
        let found = search(&fuzz, is_asked_to_end)?;
        seen = found.seen.after(&seen);
        let Some((number, run)) = &found.failed else {
            let (ending, kept) = unexplained.unwrap_or_else(|| match found.is_complete {
                true => (TrialEnding::Passed, None),
                false => (TrialEnding::Stopped(why_stopped()), None),
            });
            return Ok((seen, ending, kept));
        };
        let (ending, kept) = failed(args, &fuzz, *number, run, is_asked_to_end)?;
        let is_explained = match &ending {
            TrialEnding::Failed(told) => told.blame.is_some() || told.is_interrupted,
            _ => true,
        };
        if is_explained {
            return Ok((seen, ending, kept));
        }
        fuzz.first = number + 1;
        unexplained.get_or_insert((ending, kept));
    }
    let (ending, kept) = unexplained.unwrap_or((TrialEnding::Passed, None));
    Ok((seen, ending, kept))
}

fn why_stopped() -> Stop {
    if interrupt::asked().is_some() { Stop::Interrupted } else { Stop::Budget }
}

fn search(fuzz: &Fuzz<'_>, is_asked_to_end: &AtomicBool) -> Result<Found, Failure> {
    let progress = Progress::over(fuzz.runs as usize, "runs");
    let advance = |seen: &seriatim_trial::Seen| {
        let (histories, pairs) = (seen.histories, seen.pairs);
        progress.advance_with(format!("{histories} distinct, {pairs} write–read pairs"));
    };
    fuzz.search(&[], &advance, is_asked_to_end).map_err(told)
}

/// What is kept of a failure.
struct KeptRun {
    recording: Recording,
    history: History,
    sequence: Sequence,
}

/// A failure, confirmed, with only what it needs, and with what helps.
fn failed(
    args: &Args,
    fuzz: &Fuzz<'_>,
    number: u64,
    run: &Run,
    is_asked_to_end: &AtomicBool,
) -> Result<(TrialEnding, Option<KeptRun>), Failure> {
    let failure = run.failure.clone();
    let mut told_of = FailedCommand {
        run: number + 1,
        command: failure.as_ref().map(|it| it.command.clone()).unwrap_or_default(),
        what: failure.as_ref().map(|it| it.what.clone()).unwrap_or_default(),
        output: failure.map(|it| it.output).unwrap_or_default(),
        blame: None,
        on_one_server: None,
        is_interrupted: false,
        kept: kept(args),
    };
    if std::io::stderr().is_terminal() {
        let text = format!("failed in run {}; looking for what it needs …\n", number + 1);
        output::message(&text);
    }
    // A failure is explained for as long as it was looked for, at most.
    let deadline = deadline_of(args);
    let fuzz = &Fuzz { deadline, ..fuzz.clone() };
    let mut kept = None;
    let blame = match fuzz.blame(run, is_asked_to_end) {
        Ok(blame) => blame,
        // What was found so far is told.
        Err(TrialError::Interrupted) => {
            told_of.is_interrupted = true;
            None
        }
        Err(error) => {
            output::message(&format!("note: what the failure needs is not known: {error}\n"));
            None
        }
    };
    if blame.is_none() {
        let recording = Recording::unconfirmed(fuzz, run);
        let sequence = sequence_of(run, &[]);
        kept = Some(KeptRun { recording, history: run.history.clone(), sequence });
    }
    if let Some(blame) = blame {
        // A command that fails now and then, whatever the database does, is told so.
        if blame.statements.is_empty() {
            match fuzz.baseline_of(number, is_asked_to_end) {
                Ok(_) | Err(TrialError::Interrupted) => {}
                Err(error) => return Err(told(error)),
            }
        }
        let runs = (FIX_FACTOR * (number + 1)).max(FIX_RUNS).min(fuzz.runs.max(FIX_RUNS));
        let fixes = match fuzz.fixes(&blame, runs, is_asked_to_end) {
            Ok(fixes) => fixes,
            Err(TrialError::Interrupted) => Vec::new(),
            Err(error) => {
                output::message(&format!("note: fixes were not tried: {error}\n"));
                Vec::new()
            }
        };
        if let Some(failure) = &blame.run.failure {
            told_of.command = failure.command.clone();
            told_of.what = failure.what.clone();
            told_of.output = failure.output.clone();
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            output::message("note: the budget is spent; more was not tried against the failure\n");
        }
        told_of.on_one_server =
            on_one_server(fuzz, run.spoken, runs, is_asked_to_end).unwrap_or_default();
        told_of.blame = Some(blamed(&blame, fixes, fuzz));
        let recording = Recording::of(fuzz, &blame);
        let sequence = sequence_of(&blame.run, &blame.statements);
        kept = Some(KeptRun { recording, history: blame.run.history, sequence });
    }
    Ok((TrialEnding::Failed(Box::new(told_of)), kept))
}

/// The statements of a run, and which of them are to blame.
fn sequence_of(run: &Run, blamed: &[seriatim_trial::BlamedStatement]) -> Sequence {
    let called = |session: u32| run.called.get(&session).cloned();
    let mut all = sequence(&run.history, &run.statements, called);
    for it in blamed {
        let is_it = |asked: &&mut Asked| {
            asked.client == it.session as usize
                && (asked.number, asked.statement) == (it.number, it.statement)
        };
        if let Some(asked) = all.asked.iter_mut().find(is_it) {
            asked.is_blamed = true;
            asked.otherwise = it.otherwise.as_ref().map(ToString::to_string);
        }
    }
    all
}

/// Whether one server could show a failure that was found with any database that keeps a level.
fn on_one_server(
    fuzz: &Fuzz<'_>,
    spoken: Protocol,
    runs: u64,
    is_asked_to_end: &AtomicBool,
) -> Result<Option<OneServer>, Failure> {
    if !matches!(fuzz.family, Family::Level { .. }) {
        return Ok(None);
    }
    let family = one_server_of(spoken);
    let until = Instant::now() + ONE_SERVER_MAX;
    let deadline = Some(fuzz.deadline.map_or(until, |deadline| deadline.min(until)));
    let application =
        &Application { uses_locks: true, forces_level: false, ..fuzz.application.clone() };
    let runs = runs.max(ONE_SERVER_RUNS);
    let other = Fuzz { application, family, first: 0, runs, deadline, ..fuzz.clone() };
    let found = other.search(&[], &|_: &seriatim_trial::Seen| (), is_asked_to_end).map_err(told)?;
    let failed = found.failed.map(|(number, _)| number + 1);
    if failed.is_none() && (found.seen.runs == 0 || is_asked_to_end.load(Ordering::Relaxed)) {
        return Ok(None);
    }
    Ok(Some(OneServer { database: family.text(), runs: found.seen.runs, failed }))
}

fn kept(args: &Args) -> Kept {
    match &args.output {
        None => Kept::Nowhere,
        Some(path) if path == Path::new("-") => Kept::StandardOutput,
        Some(path) => Kept::File(path.display().to_string()),
    }
}

fn blamed(blame: &Blame, fixes: Vec<Fix>, fuzz: &Fuzz<'_>) -> Blamed {
    let (family, command) = (fuzz.family, fuzz.application.command.text());
    let history = &blame.run.history;
    let named = |name: TxnName| {
        describe_run::id(history, name)
            .unwrap_or_else(|| format!("transaction {} of connection {}", name.txn, name.session))
    };
    let statement = |it: &seriatim_trial::BlamedStatement| BlamedStatement {
        session: it.session,
        transaction: it.number,
        id: describe_run::id(history, TxnName { session: it.session, txn: it.number }),
        statement: it.content.text.to_string(),
        parameters: it
            .content
            .params
            .iter()
            .map(|it| it.as_ref().map(ToString::to_string))
            .collect(),
        returned: it.content.returned.as_ref().map(ToString::to_string),
        otherwise: it.otherwise.as_ref().map(ToString::to_string),
        sent_by: sent_by(&it.content.text),
        application: blame.run.called.get(&it.session).cloned(),
        saw: it.missed.iter().map(|it| (it.key.clone(), it.seen.map(named))).collect(),
    };
    Blamed {
        statements: blame.statements.iter().map(statement).collect(),
        is_overlap: blame.is_overlap,
        replays: blame.replays,
        no_lock_helps: has_no_lock_that_helps(blame, &fixes),
        fixes: fixes.iter().map(|fix| tried_fix(fix, family)).collect(),
        untried: blame.atomic_updates().iter().map(atomic_update).collect(),
        checked: describe_run::checked(&command, history),
    }
}

/// Whether no lock helps: all that were tried have failed, or nothing that is to blame can be
/// locked.
fn has_no_lock_that_helps(blame: &Blame, fixes: &[Fix]) -> bool {
    let locks = || fixes.iter().filter(|fix| matches!(fix.kind, FixKind::ForUpdate(_)));
    let may_lock = |it: &seriatim_trial::BlamedStatement| may_lock(&it.content.text);
    match locks().count() {
        0 => !blame.statements.is_empty() && !blame.statements.iter().any(may_lock),
        _ => !locks().any(Fix::helps),
    }
}

fn tried_fix(fix: &Fix, family: Family) -> TriedFix {
    let on_one_line = |it: &String| it.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = |statements: &[String]| {
        statements.iter().map(on_one_line).collect::<Vec<_>>().join(" and ")
    };
    let what = match &fix.kind {
        FixKind::ForUpdate(statements) => format!("FOR UPDATE on {}", all(statements)),
        FixKind::Serializable(statements) => {
            format!("SERIALIZABLE for transactions that begin with {}", all(statements))
        }
        FixKind::Level(level) => format!("all transactions at {}", family.level_name(*level)),
    };
    let failed = fix.failed.as_ref();
    let failed = failed.map(|(number, what)| format!("run {} {what}", number + 1));
    let outcome = match fix.verdict() {
        Verdict::Helps => Outcome::Helps,
        Verdict::HelpsWithRetries => Outcome::HelpsWithRetries,
        Verdict::Fails => Outcome::Fails,
        Verdict::Unclear => Outcome::Unclear,
    };
    TriedFix { what, runs: fix.runs, failed, outcome, refused: fix.given_up }
}

/// An UPDATE that computes itself what the application computes from what it has read.
fn atomic_update(update: &AtomicUpdate) -> String {
    let AtomicUpdate { table, column, read, written } = update;
    let number = |text: &Option<String>| text.as_ref()?.parse::<i64>().ok();
    let (was, is) = (read.as_ref().and_then(number), number(written));
    let Some(is) = is.filter(|_| read.is_none() || was.is_some()) else {
        let was = match read {
            Some(Some(was)) => format!("= '{was}'"),
            Some(None) => "IS NULL".to_owned(),
            None => "= what was read".to_owned(),
        };
        return format!(
            "let the UPDATE of {table} ask for what was read (WHERE … AND {column} {was}), and \
             look at how many rows it changes"
        );
    };
    let change = match was.and_then(|was| is.checked_sub(was)) {
        Some(change) if change < 0 => format!("- {}", change.unsigned_abs()),
        Some(change) => format!("+ {change}"),
        None => "+ …".to_owned(),
    };
    format!(
        "let the UPDATE of {table} compute {column} from what is there then (SET {column} = \
         {column} {change}), with what your code asks of the value first in its WHERE, and \
         look at how many rows it changes"
    )
}

fn tried_by(fuzz: &Fuzz<'_>, seen: &seriatim_trial::Seen, ending: TrialEnding) -> Tried {
    Tried {
        command: fuzz.application.command.text(),
        database: match (fuzz.family, fuzz.application.innodb_snapshot_isolation) {
            (family @ Family::Node(Node::Mysql, _), true) => {
                format!("{} with innodb_snapshot_isolation", family.text())
            }
            (family, _) => family.text(),
        },
        is_one_server: matches!(fuzz.family, Family::Node(..)),
        seed: fuzz.seed,
        runs_max: fuzz.runs,
        seen: Seen {
            runs: seen.runs,
            histories: seen.histories,
            pairs: seen.pairs,
            overlap: seen.has_overlap,
            connections: seen.sessions,
            left_processes: seen.left,
            refused: seen.refused,
        },
        ending,
    }
}

/// Tells what was found, and keeps it.
fn finish(
    args: &Args,
    tried: &Tried,
    kept: Option<KeptRun>,
    time: Duration,
) -> Result<Exit, Failure> {
    interrupt::release();
    // The failing run comes first: it is what cannot be had again.
    let all = [
        write_recording(args, kept.as_ref()),
        save_history(args, kept.as_ref()),
        show(args, tried),
        write_junit(args, tried, time),
        write_page(args, tried, kept.as_ref()),
    ];
    // One that cannot be written takes nothing from the others.
    let mut problems: Vec<Failure> = all.into_iter().filter_map(Result::err).collect();
    problems.sort_by_key(|problem| matches!(problem, Failure::Message(_)));
    if let Some(last) = problems.pop() {
        for problem in problems.iter().filter(|it| matches!(it, Failure::Message(_))) {
            problem.report();
        }
        return Err(last);
    }
    Ok(match (&tried.ending, interrupt::asked()) {
        (TrialEnding::Failed(_), _) => Exit::Violated,
        (TrialEnding::Passed, _) => Exit::Holds,
        (TrialEnding::Stopped(_), Some(signal)) => signal.into(),
        (TrialEnding::Stopped(_), None) => Exit::Undecided,
    })
}

/// Keeps the failing run.
fn write_recording(args: &Args, kept: Option<&KeptRun>) -> Result<(), Failure> {
    let (Some(kept), Some(path)) = (kept, &args.output) else { return Ok(()) };
    let text = serde_json::to_string_pretty(&kept.recording)
        .map_err(|error| Failure::about(path.display(), error))?;
    write(path, &(text + "\n"))
}

/// Keeps its history.
fn save_history(args: &Args, kept: Option<&KeptRun>) -> Result<(), Failure> {
    let (Some(kept), Some(path)) = (kept, &args.save) else { return Ok(()) };
    save(&kept.history, Format::Jsonl, path)
}

/// Shows what was found, beside what standard output is taken for.
fn show(args: &Args, tried: &Tried) -> Result<(), Failure> {
    let page = match args.format {
        Style::Human => tried::render(tried, output::width()),
        Style::Json => tried::json(tried) + "\n",
    };
    let mut files = [&args.output, &args.save].into_iter().flatten();
    if files.any(|path| path == Path::new("-")) {
        output::message(&page);
        return Ok(());
    }
    Ok(output::text(&page)?)
}

fn write_junit(args: &Args, tried: &Tried, time: Duration) -> Result<(), Failure> {
    let Some(path) = &args.own.junit else { return Ok(()) };
    let plain = anstream::adapter::strip_str(&tried::render(tried, usize::MAX)).to_string();
    write(path, &tried::junit(tried, &plain, time.as_secs_f64()))
}

fn write_page(args: &Args, tried: &Tried, kept: Option<&KeptRun>) -> Result<(), Failure> {
    let text = tried::render(tried, PAGE_WIDTH);
    let (answer, checked) = match &tried.ending {
        TrialEnding::Failed(failed) => {
            (Answer::Violated, failed.blame.as_ref().map(|blame| &blame.checked))
        }
        TrialEnding::Passed => (Answer::Holds, None),
        TrialEnding::Stopped(_) => (Answer::Undecided, None),
    };
    let about = RunPage {
        title: &tried.command,
        answer,
        text: &text,
        sequence: kept.map(|kept| &kept.sequence),
        run: checked.zip(kept.map(|kept| &kept.history)),
    };
    run_page::write(&args.html, &args.svg, &about)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(output::text(text)?);
    }
    whole_files::write(path, |path| std::fs::write(path, text))
        .map_err(|error| Failure::about(path.display(), error))
}

impl Args {
    /// Whether the server is the one whose protocol the command speaks.
    fn is_any_server(&self) -> bool {
        self.level.is_none() && self.own.like.is_none()
    }

    fn family(&self) -> Result<Family, Failure> {
        if let Some(level) = self.level {
            return Ok(Family::Level { level, order: self.own.order.unwrap_or_default() });
        }
        if self.own.application.is_without_locks() {
            let what = "--locks off needs --level: no server works without locks";
            return Err(Failure::Message(what.to_owned()));
        }
        if let Some(problem) = self.own.application.contradicts(self.own.like) {
            return Err(Failure::Message(problem.to_owned()));
        }
        Ok(one_server_of(self.protocol()))
    }

    fn protocol(&self) -> Protocol {
        match self.own.like {
            Some(Like::Mysql) => Protocol::Mysql,
            Some(Like::Postgres) | None => Protocol::Postgres,
        }
    }

    fn known(&self) -> Known {
        let (protocol, forced_level) = (Some(self.protocol()), self.own.force_level);
        Known { protocol, forced_level, ..Known::default() }
    }
}

/// One node of a server that speaks this, at the level that it has if nobody asks for another.
fn one_server_of(protocol: Protocol) -> Family {
    match protocol {
        Protocol::Postgres => Family::Node(Node::Postgres, Level::ReadCommitted),
        Protocol::Mysql => Family::Node(Node::Mysql, Level::SnapshotIsolation),
    }
}
