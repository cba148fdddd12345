//! `seriatim explore`: every behaviour of a transactional program, each exactly once.

use crate::checkpoint::Keeper;
use crate::commands::program_file::{located, read};
use crate::coverage::Coverage;
use crate::exit::{Exit, Failure};
use crate::parsers::{Style, base_parser, explore_level_parser};
use crate::progress::Progress;
use crate::quantities::{count, duration};
use crate::write_history::may_write;
use crate::{checkpoint, interrupt, output, page_file};
use clap::ValueEnum;
use seriatim::stories;
use seriatim_apps::clients::{self, ClientProgram};
use seriatim_check::Answer;
use seriatim_explore::lang::Source;
use seriatim_explore::{
    Algorithm, Counterexample, End, Exploration, ExploreError, Explorer, Local, Part, Program,
    Property, Value, replay,
};
use seriatim_isolation::Level;
use seriatim_report::explored::{self, Behaviour, Branch, Cycle, Explored, Question, Stopped};
use seriatim_report::page;
use seriatim_report::text::plural;
use seriatim_report::{Checked, Times, clean};
use seriatim_runs::explore as apps;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
A program is a file in a small language (`seriatim explain language`), or a shipped application. \
                          Random clients draw every kind of \
transaction of their application equally likely, with few different parameters. Transactions run \
                          at --level unless the file gives \
them one of their own. At levels up to causal consistency every history is visited once and no \
                          step is in vain; above, the histories \
of --base are visited and those that the level does not allow are passed over. What an aborted \
                          transaction wrote has no effect; what it \
read obeys the level. Behaviours have at most 128 transactions, which the clients of an \
                          application share equally: one that tries again \
and again is cut there, and then nothing is known to hold.

Exit codes: 0 the assertions hold in every history (or with --robust every history is \
                          serializable; or there is nothing to check), 1 \
they do not, 2 undecided within the budget or because behaviours were cut, 3 bad input or usage, \
                          4 internal error, 130, 143 or 129 ended \
by a signal, 141 output closed by its reader.";

/// Sessions of random clients, and transactions in each.
const SIZE: (usize, usize) = (3, 3);
/// More threads than this only cost memory.
const THREADS_MAX: u64 = 64;

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A program (a file like lost-update.tx, or - for standard input), an application (stack,
    /// courseware-overflow, courseware-removed, cart, twitter, smallbank, voter, tpcc, wikipedia),
    /// or random clients of an application (cart:1, twitter:1, courseware:1, wikipedia:1, tpcc:1,
    /// where the number is the seed)
    #[arg(value_name = "FILE|APP|APP:SEED")]
    program: String,
    /// How many sessions random clients have and how many transactions in each, where an edit of
    /// Wikipedia, which is two or four, counts as one; each from 1 to 10 [default: 3x3]
    #[arg(long, value_name = "SxT", value_parser = sizes)]
    size: Option<(usize, usize)>,
    /// The level of transactions that have none of their own
    #[arg(
        long,
        short,
        value_name = "LEVEL",
        value_parser = explore_level_parser(),
        default_value = "cc"
    )]
    level: Level,
    /// The level that histories are kept consistent with on the way
    #[arg(long, value_name = "LEVEL", value_parser = base_parser(), default_value = "cc")]
    base: Level,
    /// How to search
    #[arg(long, value_enum, default_value_t = AlgorithmArg::Ce)]
    algorithm: AlgorithmArg,
    /// Ask whether every history is serializable, instead of whether the assertions hold
    #[arg(long)]
    robust: bool,
    /// Go on after the first counterexample, and group all by the cycle of dependencies that they
    /// show
    #[arg(long)]
    all: bool,
    /// Use at most N threads, up to 64 [default: one for each core]
    #[arg(long, value_name = "N", value_parser = count::<u16>(THREADS_MAX, "--threads 4"))]
    threads: Option<u16>,
    /// Give up after this long, like 30s, 500ms or 2m
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    budget: Option<Duration>,
    /// Keep in this file how far the exploration has come; if it is there, go on from there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Visit part M of N only; the parts are disjoint and together complete
    #[arg(long, value_name = "M/N", default_value = "1/1")]
    partition: Part,
    /// Run the one behaviour that a result named
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["all", "checkpoint", "partition"])]
    replay: Option<String>,
    /// How to write the result
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Also write a page to look at to this file: what was explored, and the counterexample with
    /// its picture
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the picture of the counterexample alone to this file, for papers and slides
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn page(explored: &Explored) -> String {
    page::explored(explored)
}

/// The algorithms by name.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum AlgorithmArg {
    /// EXPLORE-CE and EXPLORE-CE*: every history once
    Ce,
    /// Every order of transactions, without reduction: for comparison
    Dfs,
}

impl AlgorithmArg {
    fn name(self) -> &'static str {
        match self {
            AlgorithmArg::Ce => "ce",
            AlgorithmArg::Dfs => "dfs",
        }
    }

    fn algorithm(self) -> Algorithm {
        match self {
            AlgorithmArg::Ce => Algorithm::Ce,
            AlgorithmArg::Dfs => Algorithm::Dfs,
        }
    }
}

/// Explores the program and says what came of it.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let random = random_clients(args)?;
    if args.size.is_some() && random.is_none() {
        let problem =
            "only random clients have a --size; remove the flag, or name clients like cart:1";
        return Err(Failure::about(&args.program, problem));
    }
    // Refuses a checkpoint that is the program, or that cannot be written.
    let pages = || args.html.iter().chain(&args.svg);
    page_file::refuse_standard_output(pages())?;
    may_write(args.checkpoint.iter().chain(pages()), &[Path::new(&args.program)])?;
    if let Some(app) = seriatim_apps::find(&args.program) {
        let subject = Subject {
            program: apps::program(app),
            question: Question::Assertions,
            property: &|end| apps::verify(app, end),
            shown: &|_, seen| shown_values(seen),
            text: None,
            coverage: Mutex::default(),
        };
        return subject.run(args);
    }
    if let Some(clients) = random {
        let text = Some(clients.lines().join("\n"));
        let subject = Subject {
            program: apps::client_program(clients),
            question: Question::Count,
            property: &|_| Ok(()),
            shown: &|_, progress| shown_values(&progress.seen),
            text,
            coverage: Mutex::default(),
        };
        return subject.run(args);
    }
    let text = read(&args.program)?;
    let source = Source::parse(&text).map_err(|error| located(&args.program, &text, &error))?;
    let question = if source.has_assertions() { Question::Assertions } else { Question::Count };
    let shown = |session: usize, locals: &seriatim_explore::lang::Registers| {
        let pair = |(number, name): (usize, &String)| {
            format!("{name} = {}", locals.values.get(number).copied().unwrap_or_default())
        };
        source.locals_of(session).iter().enumerate().map(pair).collect::<Vec<_>>().join(", ")
    };
    let property = |end: &End<'_, i64, _>| source.check(end);
    Subject {
        program: source.program(),
        question,
        property: &property,
        shown: &shown,
        text: Some(text.clone()),
        coverage: Mutex::default(),
    }
    .run(args)
}

/// Random clients, if the program is an application with a seed.
fn random_clients(args: &Args) -> Result<Option<ClientProgram>, Failure> {
    let Some((app, seed)) = args.program.split_once(':') else { return Ok(None) };
    if !clients::names().any(|name| name == app) {
        return Ok(None);
    }
    let seed = seed.parse().map_err(|_| {
        Failure::about(
            &args.program,
            format!("the seed of random clients is a number up to {}, as in {app}:1", u64::MAX),
        )
    })?;
    let (sessions, txns) = args.size.unwrap_or(SIZE);
    Ok(ClientProgram::new(app, seed, sessions, txns))
}

/// A number of sessions and one of transactions.
fn sizes(text: &str) -> Result<(usize, usize), String> {
    let expected = || "expected sessions and transactions, like 3x3, each from 1 to 10".to_owned();
    let (sessions, txns) = text.split_once('x').ok_or_else(expected)?;
    let number = |text: &str| {
        text.parse().ok().filter(|number| (1..=10).contains(number)).ok_or_else(expected)
    };
    Ok((number(sessions)?, number(txns)?))
}

fn shown_values(seen: &[seriatim_apps::Value]) -> String {
    format!("saw {}", seriatim_apps::Value::from(seen.to_vec()))
}

/// What is explored, and what is asked of it.
struct Subject<'s, V, L> {
    program: Program<V, L>,
    question: Question,
    property: Property<'s, V, L>,
    /// The local state of a session as text.
    shown: &'s (dyn Fn(usize, &L) -> String + Sync),
    /// The text of the program, which a checkpoint belongs to, if there is one.
    text: Option<String>,
    /// What was visited, for a page.
    coverage: Mutex<Coverage>,
}

impl<V: Value, L: Local> Subject<'_, V, L> {
    fn run(self, args: &Args) -> Result<Exit, Failure> {
        let fail = |error: ExploreError| Failure::about(&args.program, error);
        let (explored, kept) = match &args.replay {
            Some(token) => (self.replayed(args, token).map_err(fail)?, Ok(())),
            None => {
                let (exploration, kept) = self.explore(args)?;
                (self.explored(args, exploration, kept.is_ok()), kept)
            }
        };
        match args.format {
            Style::Human => output::text(&explored::render(&explored, output::width()))?,
            Style::Json => output::raw((explored::json(&explored) + "\n").as_bytes())?,
        }
        page_file::write(&args.html, || page(&explored))?;
        let checked = || explored.behaviour.as_ref().map(|it| &it.checked);
        page_file::write(&args.svg, || page::svg(checked()))?;
        // What was found is told even if it cannot be kept.
        kept?;
        Ok(match interrupt::asked() {
            Some(signal) if explored.stopped.is_some() => signal.into(),
            _ => explored.outcome.into(),
        })
    }

    /// What must hold of a behaviour.
    fn check(&self, args: &Args, end: &End<'_, V, L>) -> Result<(), String> {
        let verdict = match args.robust {
            true if end.is_serializable() => Ok(()),
            true => Err("it is not serializable".to_owned()),
            false => (self.property)(end),
        };
        if args.html.is_some() {
            let token = end.token();
            let mut coverage = self.coverage.lock().unwrap_or_else(PoisonError::into_inner);
            coverage.count(&token, verdict.is_err());
        }
        verdict
    }

    /// What was visited, if a page is asked for.
    fn tree(&self) -> Option<Branch> {
        let sessions: Vec<&str> = self.program.session_names().collect();
        let coverage = self.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        coverage.tree(&sessions)
    }

    fn explorer(&self, args: &Args) -> Explorer<'_, V, L> {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let mut explorer = Explorer::new(&self.program, args.level)
            .base(args.base)
            .algorithm(args.algorithm.algorithm())
            .threads(args.threads.map_or_else(cores, usize::from))
            .part(args.partition)
            .interrupt(interrupt::ask_next());
        if let Some(budget) = args.budget {
            explorer = explorer.budget(budget);
        }
        if args.all { explorer.all() } else { explorer }
    }

    /// Explores; also whether the checkpoint was written, if one was asked for.
    fn explore(&self, args: &Args) -> Result<(Exploration<L>, Result<(), Failure>), Failure> {
        let fail = |error: ExploreError| Failure::about(&args.program, error);
        let explorer = self.explorer(args);
        let path = args.checkpoint.as_deref();
        let of = path.map_or_else(|| Ok(String::new()), |_| self.identity(args).map_err(fail))?;
        let kept = path.map(|path| checkpoint::load(path, &of)).transpose()?.flatten();
        let work = kept.map_or_else(|| explorer.begin().map_err(fail), Ok)?;
        let mut keeper = path.map(|path| Keeper::begin(path, of, &work)).transpose()?;
        let progress = Progress::start(1);
        let stage = progress.stage();
        let result = explorer.resume(work, &|end| self.check(args, end), &mut |work| {
            let tally = work.tally();
            let seconds = work.elapsed().as_secs_f64();
            stage.now(explored::progress(tally.histories, tally.ends, seconds));
            keeper.iter_mut().for_each(|keeper| keeper.note(work));
        });
        drop(progress);
        let kept = keeper.map_or(Ok(()), |mut keeper| keeper.save());
        Ok((result.map_err(fail)?, kept))
    }

    /// What a checkpoint must agree with.
    fn identity(&self, args: &Args) -> Result<String, ExploreError> {
        let what = format!(
            "seriatim {}, level {}, base {}, algorithm {}, part {}/{}, all {}, robust {}",
            env!("CARGO_PKG_VERSION"),
            args.level.code(),
            args.base.code(),
            args.algorithm.name(),
            args.partition.number,
            args.partition.of,
            args.all,
            args.robust
        );
        let program = match &self.text {
            Some(text) => format!("{text}\n{}", self.program.outline()?),
            None => format!("{}\n{}", args.program, self.program.outline()?),
        };
        Ok(format!("{what}, program {:016x}", fingerprint(&program)))
    }

    /// The level, and those of single transactions that have another one.
    fn level(&self, args: &Args) -> String {
        let own = self.program.own_levels().into_iter().filter(|(level, _)| *level != args.level);
        let own: Vec<String> = own
            .map(|(level, count)| format!("{} at {level}", plural(count as u64, "transaction")))
            .collect();
        if own.is_empty() {
            args.level.to_string()
        } else {
            format!("{} ({})", args.level, own.join(", "))
        }
    }

    fn question(&self, args: &Args) -> Question {
        if args.robust { Question::Robust } else { self.question }
    }

    fn explored(&self, args: &Args, exploration: Exploration<L>, is_kept: bool) -> Explored {
        let outcome = match exploration.holds() {
            Some(true) => Answer::Holds,
            Some(false) => Answer::Violated,
            None => Answer::Undecided,
        };
        let group = |group: &seriatim_explore::Group| Cycle {
            cycle: match group.anomaly {
                Some(name) => format!("{name}: {}", group.cycle),
                None => group.cycle.to_string(),
            },
            count: group.count,
            reason: group.first.reason.clone(),
            token: group.first.token.clone(),
        };
        Explored {
            input: args.program.clone(),
            level: self.level(args),
            command: command(args),
            has_repetitions: args.algorithm == AlgorithmArg::Dfs && args.replay.is_none(),
            level_code: args.level.code(),
            base_code: args.base.min(args.level).code(),
            algorithm: args.algorithm.name(),
            question: self.question(args),
            outcome,
            histories: exploration.tally.histories,
            ends: exploration.tally.ends,
            blocked: exploration.tally.blocked,
            cut: exploration.tally.cut,
            counterexamples: exploration.tally.counterexamples,
            share: exploration.tally.share,
            is_complete: exploration.is_complete,
            is_replay: false,
            part: (args.partition.number, args.partition.of),
            elapsed: exploration.elapsed,
            stopped: (!exploration.is_done).then(|| Stopped {
                is_interrupted: interrupt::asked().is_some(),
                checkpoint: args
                    .checkpoint
                    .as_ref()
                    .filter(|_| is_kept)
                    .map(|path| path.display().to_string()),
            }),
            groups: exploration.groups.iter().map(group).collect(),
            tree: self.tree(),
            behaviour: exploration.counterexample.map(|found| self.behaviour(args, found)),
        }
    }

    fn behaviour(&self, args: &Args, found: Counterexample<L>) -> Behaviour {
        let local = |(number, (name, local)): (usize, (&str, &L))| {
            (name.to_owned(), (self.shown)(number, local))
        };
        let reason = (!found.reason.is_empty()).then_some(found.reason);
        Behaviour {
            reason,
            locals: self
                .program
                .session_names()
                .zip(&found.locals)
                .enumerate()
                .map(local)
                .collect(),
            sessions: stories(&found.history),
            checked: Checked {
                input: format!("the history of {}", args.program),
                format: "explored",
                counts: found.history.counts(),
                report: found.report,
                times: Times::default(),
                duplicate: None,
                kinds: Vec::new(),
            },
            token: found.token,
        }
    }

    /// One behaviour, as if it were an exploration.
    fn replayed(&self, args: &Args, token: &str) -> Result<Explored, ExploreError> {
        let start = Instant::now();
        let (found, verdict) = replay(&self.program, args.level, token, |end| {
            let verdict = self.check(args, end);
            let reason = verdict.as_ref().err().cloned().unwrap_or_default();
            (Counterexample::of(end, reason), verdict)
        })?;
        Ok(Explored {
            input: args.program.clone(),
            level: self.level(args),
            command: command(args),
            has_repetitions: args.algorithm == AlgorithmArg::Dfs && args.replay.is_none(),
            level_code: args.level.code(),
            base_code: args.level.min(Level::Causal).code(),
            algorithm: args.algorithm.name(),
            question: self.question(args),
            outcome: if verdict.is_ok() { Answer::Holds } else { Answer::Violated },
            histories: 1,
            ends: 1,
            blocked: 0,
            cut: 0,
            counterexamples: u64::from(verdict.is_err()),
            share: 1.0,
            is_complete: true,
            is_replay: true,
            part: (1, 1),
            elapsed: start.elapsed(),
            stopped: None,
            behaviour: Some(self.behaviour(args, found)),
            groups: Vec::new(),
            tree: None,
        })
    }
}

/// The command that explores the same, without what a replay does not take.
fn command(args: &Args) -> String {
    let mut command =
        format!("seriatim explore {} --level {}", shell_word(&args.program), args.level.code());
    if let Some((sessions, txns)) = args.size {
        command += &format!(" --size {sessions}x{txns}");
    }
    if args.base != Level::Causal {
        command += &format!(" --base {}", args.base.code());
    }
    if args.robust {
        command += " --robust";
    }
    command
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    match word.chars().all(is_plain) && !word.is_empty() {
        // A name like a flag would be taken for one.
        true if word.starts_with('-') && word != "-" => format!("./{word}"),
        true => word.to_owned(),
        false => clean(&format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// A number that tells texts apart (FNV-1a).
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
