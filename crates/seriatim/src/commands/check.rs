//! `seriatim check`: which isolation levels a history satisfies, and what is wrong if it does not.

use crate::cli::{LevelArg, Style, format_parser};
use crate::exit::{Exit, Failure};
use crate::inputs::{self, Expanded, Input, Origin};
use crate::progress::{Progress, Stage};
use crate::{output, staged, workers};
use seriatim_check::{Options, Outcome};
use seriatim_history::formats::{self, Format, ReadOptions};
use seriatim_history::{History, ReadError};
use seriatim_report::text::{Detail, Layout};
use seriatim_report::{Checked, Counts, Times, Unreadable, dot, json, text};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// More threads than this only cost memory.
const THREADS_MAX: i64 = 64;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Histories: files, directories (a history, or searched for histories), or - for standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// Levels to check, separated by commas; without it all, with the strongest that holds and the weakest violated
    #[arg(long, short, value_enum, ignore_case = true, value_delimiter = ',')]
    level: Vec<LevelArg>,
    /// The format of the inputs, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    /// How to write the results
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Also write the smallest instance of each anomaly as a Graphviz graph to this file
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// List every instance of each anomaly, not only the smallest
    #[arg(long)]
    all: bool,
    /// List at most N instances of each anomaly
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    /// Use at most N threads, up to 64 [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=THREADS_MAX))]
    threads: Option<u16>,
    /// Say where the time went
    #[arg(long)]
    timings: bool,
    /// Only one line for each input
    #[arg(long, short, conflicts_with_all = ["all", "max"])]
    quiet: bool,
}

impl Args {
    fn detail(&self) -> Detail {
        match (self.quiet, self.all || self.max.is_some()) {
            (true, _) => Detail::Verdict,
            (false, true) => Detail::Instances,
            (false, false) => Detail::Exemplars,
        }
    }

    fn instances(&self) -> usize {
        self.max.unwrap_or(if self.all { usize::MAX } else { 0 })
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        self.threads.map_or_else(|| cores().min(THREADS_MAX as usize), usize::from)
    }
}

/// Checks every input and prints the results in the order of the arguments.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let inputs = inputs::expand(&args.inputs);
    let count = inputs.len();
    let progress = Progress::start(count);
    let work = Work::new(args, count, progress.stage());
    let mut printer = Printer::new(args, count);
    workers::in_order(
        inputs,
        work.workers,
        move |input| work.examine(input),
        |result| {
            progress.advance();
            progress.aside(|| printer.add(result))
        },
    )?;
    drop(progress);
    printer.finish(args.dot.as_deref())
}

/// What happened to one input.
enum Examined {
    Checked(Box<Checked>),
    Unreadable(Unreadable),
    /// A file of a directory that is no history.
    PassedOver,
}

/// How to read and check one input.
struct Work {
    read: ReadOptions,
    check: Options,
    workers: usize,
    /// The program ends after this input: giving its memory back piece by piece would only cost time.
    alone: bool,
    stage: Stage,
}

impl Work {
    /// One input gets all threads; several inputs get one each.
    fn new(args: &Args, inputs: usize, stage: Stage) -> Self {
        let alone = inputs == 1;
        let (workers, threads) = if alone { (1, args.threads()) } else { (args.threads(), 1) };
        Work {
            read: ReadOptions { format: args.from, threads },
            check: Options {
                levels: LevelArg::levels(&args.level),
                instances: args.instances(),
                threads,
                ..Options::default()
            },
            workers,
            alone,
            stage,
        }
    }

    fn examine(&self, input: &Expanded) -> Examined {
        let input = match input {
            Ok(input) => input,
            Err((shown, error)) => return Examined::Unreadable(Unreadable::new(shown, error)),
        };
        self.stage.now(format!("reading {}", input.shown));
        let start = Instant::now();
        match formats::read_path(&input.path, &input.shown, &self.read) {
            Ok((history, format)) => Examined::Checked(Box::new(self.check(input, history, format, start))),
            Err(ReadError::UnknownFormat { .. }) if input.origin == Origin::Found => Examined::PassedOver,
            Err(error) => Examined::Unreadable(Unreadable::new(&input.shown, &error)),
        }
    }

    fn check(&self, input: &Input, history: History, format: Format, start: Instant) -> Checked {
        let read = start.elapsed();
        let operations = text::plural(history.op_count() as u64, "operation");
        self.stage.now(format!("checking {} ({operations})", input.shown));
        let report = seriatim_check::check(&history, &self.check);
        let times = Times { read, total: start.elapsed() };
        let counts = Counts::of(&history);
        if self.alone {
            std::mem::forget(history);
        }
        Checked { input: input.shown.clone(), format: format.code(), counts, report, times }
    }
}

/// Prints results as they come, and keeps what the end needs.
struct Printer {
    style: Style,
    layout: Layout,
    several: bool,
    /// Exemplars for the graph; kept only if one is asked for.
    keep: bool,
    kept: Vec<Checked>,
    outcomes: Vec<Result<Outcome, ()>>,
    passed_over: usize,
}

impl Printer {
    fn new(args: &Args, inputs: usize) -> Self {
        Printer {
            style: args.format,
            layout: Layout { width: output::width(), detail: args.detail(), timings: args.timings, why: false },
            several: inputs > 1,
            keep: args.dot.is_some(),
            kept: Vec::new(),
            outcomes: Vec::new(),
            passed_over: 0,
        }
    }

    fn add(&mut self, examined: Examined) -> Result<(), Failure> {
        match examined {
            Examined::PassedOver => self.passed_over += 1,
            Examined::Unreadable(unreadable) => self.unreadable(&unreadable)?,
            Examined::Checked(checked) => self.checked(*checked)?,
        }
        Ok(())
    }

    fn unreadable(&mut self, unreadable: &Unreadable) -> Result<(), Failure> {
        self.outcomes.push(Err(()));
        match self.style {
            Style::Human => output::message(&text::render_error(unreadable)),
            Style::Json => output::raw((json::render_error(unreadable) + "\n").as_bytes())?,
        }
        Ok(())
    }

    fn checked(&mut self, checked: Checked) -> Result<(), Failure> {
        self.outcomes.push(Ok(text::overall(&checked.report)));
        match self.style {
            Style::Human => output::text(&self.page(&checked))?,
            Style::Json => output::raw((json::render(&checked) + "\n").as_bytes())?,
        }
        if self.keep {
            self.kept.push(checked);
        }
        Ok(())
    }

    fn page(&self, checked: &Checked) -> String {
        let page = text::render(checked, &self.layout);
        if self.several && self.layout.detail != Detail::Verdict { page + "\n" } else { page }
    }

    fn finish(self, dot: Option<&Path>) -> Result<Exit, Failure> {
        if let Some(path) = dot {
            let graph = dot::render(&self.kept);
            staged::write(path, |path| std::fs::write(path, &graph))
                .map_err(|error| Failure::about(path.display(), error))?;
        }
        if self.passed_over > 0 {
            let files = text::plural(self.passed_over as u64, "file");
            output::message(&format!("note: passed over {files} without a history\n"));
        }
        if self.outcomes.is_empty() {
            return Err(Failure::Message("no histories found in the directories given".to_owned()));
        }
        if self.several && self.style == Style::Human {
            output::text(&text::tally(&self.outcomes))?;
        }
        Ok(self.exit())
    }

    fn exit(&self) -> Exit {
        let exits = self.outcomes.iter().map(|outcome| outcome.map_or(Exit::BadInput, Exit::from));
        exits.fold(Exit::Holds, Exit::and)
    }
}
