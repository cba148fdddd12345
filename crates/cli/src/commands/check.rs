//! `seriatim check`: which isolation levels a history satisfies, and what is wrong if it does not.

use crate::exit::{Exit, Failure};
use crate::inputs::{self, Expanded, Input, InputSearch, Origin};
use crate::interrupt;
use crate::kinds::{Kinds, KindsParser};
use crate::loss_notes::skipped_note;
use crate::overview::overview;
use crate::page_file::{self, PageArgs};
use crate::parsers::{LevelArg, Style, Unknown, format_parser, level_parser, order_parser};
use crate::progress::{Progress, Stage};
use crate::quantities::{count, duration, size};
use crate::write_history::may_write;
use crate::{output, whole_files, workers};
use seriatim_check::{Answer, Checker};
use seriatim_history::formats::{self, Format, ReadOptions};
use seriatim_history::{History, ReadError};
use seriatim_isolation::{Anomaly, Level, Order};
use seriatim_report::page::{self, CheckedInput, Overview, Unchecked};
use seriatim_report::text::{Detail, Layout};
use seriatim_report::{
    Checked, Duplicate, Size, Times, Unread, Unreadable, certificate, dot, json, text,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// More threads than this only cost memory.
const THREADS_MAX: u64 = 64;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Histories: files, directories (a history, or searched for histories), or - for standard
    /// input
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// Levels to check, separated by commas; without it all, with the strongest that holds and the
    /// weakest violated
    #[arg(long, short, value_name = "LEVEL", value_parser = level_parser(), value_delimiter = ',')]
    level: Vec<LevelArg>,
    /// Look for these kinds of anomalies, like lost-update or G1a, separated by commas, and report
    /// no other; the verdicts are the same
    #[arg(
        long,
        value_name = "ANOMALY",
        value_parser = KindsParser::any(),
        value_delimiter = ','
    )]
    kind: Vec<Kinds>,
    /// The order that the levels are meant with
    #[arg(long, value_name = "ORDER", value_parser = order_parser(), default_value = "sessions")]
    order: Order,
    /// The format of the inputs, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    unknown: Unknown,
    /// How to write the results
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Also write the smallest instance of each anomaly as a Graphviz graph to this file; with -
    /// the graph goes to standard output and the text to standard error
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
    /// Also write a certificate of every verdict to this file, for `seriatim verify`; for one input
    /// only
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// List every instance of each anomaly, not only the smallest
    #[arg(long)]
    all: bool,
    /// List at most N instances of each anomaly
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max: Option<usize>,
    /// Tell for each inferred step how it is known, down to what was read
    #[arg(long)]
    why: bool,
    /// Give up after this long on an input whose levels need a search, like 30s, 500ms or 2m; what
    /// is open then is undecided
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_hyphen_values = true,
        default_value = "10m"
    )]
    budget: Duration,
    /// Give up what would take more memory than this, like 4G, 512M or 2GiB; what is open then is
    /// undecided. It bounds the resident memory of the program: an input of more than a third of it
    /// is not read, clocks and graphs are sized before they are made, and a search watches what it
    /// uses. Several inputs are then checked one after the other
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Use at most N threads, up to 64 [default: one for each core]
    #[arg(long, value_name = "N", value_parser = count::<u16>(THREADS_MAX, "--threads 4"))]
    threads: Option<u16>,
    /// Say where the time went and, for each level that needs a search, how much there was to do;
    /// in JSON it always stands
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

    /// Whether standard output is for the graph.
    fn graph_to_stdout(&self) -> bool {
        self.dot.as_deref() == Some(Path::new("-"))
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        self.threads.map_or_else(|| cores().min(THREADS_MAX as usize), usize::from)
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err(
            "at least one instance is listed; without --all and --max only the smallest is shown"
                .to_owned(),
        ),
        Ok(number) => Ok(number),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks every input and prints the results in the order of the arguments.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    if args.graph_to_stdout() && args.format == Style::Json {
        let message = "--dot - and --format json both want standard output; let --dot name a file";
        return Err(Failure::Message(message.to_owned()));
    }
    if args.certificate.as_deref() == Some(Path::new("-")) {
        let message = "standard output is for the results; let --certificate name a file";
        return Err(Failure::Message(message.to_owned()));
    }
    args.page.refuse_standard_output()?;
    let inputs = inputs::expand(&args.inputs)?;
    if args.certificate.is_some() && inputs.len() != 1 {
        let message = format!("--certificate is for one input, here are {}", inputs.len());
        return Err(Failure::Message(message));
    }
    let paths: Vec<&Path> = inputs.iter().flatten().map(|input| input.path.as_path()).collect();
    may_write(args.dot.iter().chain(&args.certificate).chain(args.page.paths()), &paths)?;
    let progress = Progress::start(inputs.len());
    let done = tell_if_interrupted(inputs.len());
    let work = Work::new(args, inputs.len(), progress.stage());
    let mut printer = Printer::new(args, &inputs);
    workers::in_order(
        inputs,
        work.workers,
        move |input| work.examine(input),
        |result| {
            progress.advance();
            // An interrupt waits until the result is written.
            done.fetch_add(1, Ordering::Relaxed);
            progress.aside(|| printer.add(result))
        },
    )?;
    drop(progress);
    interrupt::release();
    printer.finish(args)
}

/// Lets a signal say how far the check has come before it ends the program; returns what counts
/// the inputs that are done.
fn tell_if_interrupted(inputs: usize) -> Arc<AtomicUsize> {
    let done = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&done);
    interrupt::call_next(move |signal| {
        let done = told.load(Ordering::Relaxed);
        let known = match (inputs, done) {
            (1, 0) => {
                "no level is decided yet; with --budget TIME what is known then is told".to_owned()
            }
            _ => {
                let were = if done == 1 { "was" } else { "were" };
                format!("{done} of {} {were} checked", text::plural(inputs as u64, "input"))
            }
        };
        interrupt::end_saying(signal, &format!("interrupted: {known}"));
    });
    done
}

/// What happened to one input.
enum Examined {
    Checked(Box<Done>),
    Unreadable(Unreadable),
    /// It would fill the memory.
    Unread(Unread),
    /// A file of a directory that is no history.
    PassedOver(Input),
}

/// An input that was checked.
struct Done {
    checked: Checked,
    /// If one is asked for.
    certificate: Option<String>,
    /// If a page is asked for.
    overview: Option<Overview>,
}

/// The size of a file that is larger than `bytes_max` as it stands on the disk.
fn size_of(path: &Path, bytes_max: u64) -> Option<Size> {
    let bytes = std::fs::metadata(path).ok().filter(|file| file.is_file())?.len();
    (bytes > bytes_max).then(|| Size { bytes, memory: bytes.saturating_mul(MEMORY_PER_BYTE) })
}

/// How much memory an input takes for each of its bytes: its content is there with the history made
/// of it, which is larger by half.
const MEMORY_PER_BYTE: u64 = 3;

/// How large an input may be.
pub fn bytes_max(memory: u64) -> u64 {
    memory / MEMORY_PER_BYTE
}

/// How to read and check one input.
struct Work {
    read: ReadOptions,
    check: Checker,
    levels: Vec<Level>,
    /// The kinds of anomalies to report; none if all are.
    kinds: Vec<Anomaly>,
    has_certificate: bool,
    has_page: bool,
    workers: usize,
    /// The program ends after this input: giving its memory back piece by piece would only cost
    /// time.
    alone: bool,
    stage: Stage,
}

impl Work {
    /// One input gets all threads; several inputs get one each.
    fn new(args: &Args, inputs: usize, stage: Stage) -> Self {
        let alone = inputs == 1;
        // The memory of the process is that of all inputs at once.
        let one_by_one = alone || args.memory.is_some();
        let (workers, threads) = if one_by_one { (1, args.threads()) } else { (args.threads(), 1) };
        let levels = LevelArg::levels(&args.level);
        let has_certificate = args.certificate.is_some();
        let check = Checker::new()
            .levels(levels.iter().copied())
            .order(args.order)
            .instances(args.instances())
            .budget(args.budget)
            .memory(args.memory)
            .threads(threads);
        Work {
            read: ReadOptions {
                format: args.from,
                threads,
                meter: alone.then(|| stage.meter()),
                bytes_max: args.memory.map(bytes_max),
                skip_unknown: args.unknown.is_skipped,
            },
            check,
            levels,
            kinds: Kinds::all(&args.kind),
            has_certificate,
            has_page: args.page.html.is_some(),
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
        if input.is_skipped() {
            return Examined::PassedOver(input.clone());
        }
        self.stage.now(format!("reading {}", input.shown));
        let start = Instant::now();
        match formats::read_path(&input.path, &input.shown, &self.read) {
            Ok((history, format)) => {
                Examined::Checked(Box::new(self.check(input, history, format, start)))
            }
            Err(ReadError::UnknownFormat { .. }) if input.origin != Origin::Named => {
                Examined::PassedOver(input.clone())
            }
            Err(ReadError::OverLimit { bytes_max, .. }) => {
                let (shown, levels) = (input.shown.clone(), self.levels.clone());
                Examined::Unread(Unread {
                    input: shown,
                    levels,
                    bytes_max,
                    size: size_of(&input.path, bytes_max),
                })
            }
            Err(error) => Examined::Unreadable(Unreadable::new(&input.shown, &error)),
        }
    }

    fn check(&self, input: &Input, history: History, format: Format, start: Instant) -> Done {
        let read = start.elapsed();
        let operations = text::plural(history.op_count() as u64, "operation");
        self.stage.now(format!("checking {} ({operations})", input.shown));
        let mut report = self.check.check(&history);
        let times = Times { read, total: start.elapsed() };
        let counts = history.counts();
        let duplicate = Duplicate::of(&history, &report);
        let certificate = self.has_certificate.then(|| {
            certificate::render(&seriatim::certificate::certify(&input.shown, &history, &report))
        });
        // Afterwards: the verdicts and their certificate need what shows them.
        let is_asked = |kind: Anomaly| self.kinds.is_empty() || self.kinds.contains(&kind);
        report.anomalies.retain(|group| is_asked(group.kind));
        let overview = self.has_page.then(|| overview(&history, &report));
        if self.alone {
            std::mem::forget(history);
        }
        let (input, kinds) = (input.shown.clone(), self.kinds.clone());
        let format = format.code();
        let checked = Checked { input, format, counts, report, times, duplicate, kinds };
        Done { checked, certificate, overview }
    }
}

/// Prints results as they come, and keeps what the end needs.
struct Printer {
    style: Style,
    layout: Layout,
    several: bool,
    /// Standard output is for something else.
    aside: bool,
    /// Exemplars for graphs and pages; kept only if one is asked for.
    keep: bool,
    kept: Vec<Checked>,
    overviews: Vec<Option<Overview>>,
    /// Inputs that could not be checked, under the same condition.
    unchecked: Vec<Unchecked>,
    certificate: Option<String>,
    outcomes: Vec<Result<Answer, ()>>,
    search: InputSearch,
}

impl Printer {
    fn new(args: &Args, inputs: &[Expanded]) -> Self {
        Printer {
            style: args.format,
            layout: Layout {
                width: output::width(),
                detail: args.detail(),
                timings: args.timings,
                why: args.why,
            },
            several: inputs.len() > 1,
            aside: args.graph_to_stdout(),
            keep: args.dot.is_some() || args.page.is_given(),
            kept: Vec::new(),
            overviews: Vec::new(),
            unchecked: Vec::new(),
            certificate: None,
            outcomes: Vec::new(),
            search: InputSearch::new(inputs),
        }
    }

    fn add(&mut self, examined: Examined) -> Result<(), Failure> {
        match examined {
            Examined::PassedOver(input) => self.search.pass_over(&input),
            Examined::Unreadable(unreadable) => {
                self.unreadable(&unreadable)?;
                self.keep_unchecked([Unchecked::Unreadable(unreadable)]);
            }
            Examined::Unread(unread) => {
                self.unread(&unread)?;
                self.keep_unchecked([Unchecked::Unread(unread)]);
            }
            Examined::Checked(done) => {
                let Done { checked, certificate, overview } = *done;
                self.certificate = certificate;
                self.checked(checked, overview)?;
            }
        }
        Ok(())
    }

    /// For pages, which tell of what could not be checked, too.
    fn keep_unchecked(&mut self, unchecked: impl IntoIterator<Item = Unchecked>) {
        if self.keep {
            self.unchecked.extend(unchecked);
        }
    }

    fn unreadable(&mut self, unreadable: &Unreadable) -> Result<(), Failure> {
        self.outcomes.push(Err(()));
        match self.style {
            Style::Human => output::message(&text::render_error(unreadable)),
            Style::Json => output::raw((json::render_error(unreadable) + "\n").as_bytes())?,
        }
        Ok(())
    }

    fn unread(&mut self, unread: &Unread) -> Result<(), Failure> {
        self.outcomes.push(Ok(Answer::Undecided));
        match self.style {
            Style::Human => self.show(&text::render_unread(unread, &self.layout)),
            Style::Json => Ok(output::raw((json::render_unread(unread) + "\n").as_bytes())?),
        }
    }

    fn checked(&mut self, checked: Checked, overview: Option<Overview>) -> Result<(), Failure> {
        self.outcomes.push(Ok(text::overall(&checked.report)));
        if let Some(note) = skipped_note(&checked.input, checked.format, checked.counts.skipped) {
            output::message(&note);
        }
        match self.style {
            Style::Human => self.show(&self.page(&checked))?,
            Style::Json => output::raw((json::render(&checked) + "\n").as_bytes())?,
        }
        if self.keep {
            self.kept.push(checked);
            self.overviews.push(overview);
        }
        Ok(())
    }

    fn page(&self, checked: &Checked) -> String {
        let page = text::render(checked, &self.layout);
        if self.several && self.layout.detail != Detail::Verdict { page + "\n" } else { page }
    }

    fn show(&self, page: &str) -> Result<(), Failure> {
        match self.aside {
            true => output::message(page),
            false => output::text(page)?,
        }
        Ok(())
    }

    fn finish(mut self, args: &Args) -> Result<Exit, Failure> {
        if let Some(path) = &args.dot {
            self.graph(path)?;
        }
        let barren: Vec<Unreadable> = self.search.barren().collect();
        self.keep_unchecked(barren.iter().cloned().map(Unchecked::Unreadable));
        page_file::write(&args.page.html, || self.html())?;
        page_file::write(&args.page.svg, || page::svg(&self.kept))?;
        if let (Some(path), Some(certificate)) = (&args.certificate, &self.certificate) {
            whole_files::write(path, |path| std::fs::write(path, certificate))
                .map_err(|error| Failure::about(path.display(), error))?;
        }
        if let Some(note) = self.search.note() {
            output::message(&note);
        }
        for barren in &barren {
            self.unreadable(barren)?;
        }
        if self.several && self.style == Style::Human {
            self.show(&text::tally(&self.outcomes))?;
        }
        Ok(self.exit())
    }

    fn html(&self) -> String {
        let inputs = self.kept.iter().zip(&self.overviews);
        let inputs: Vec<CheckedInput<'_>> = inputs
            .map(|(checked, overview)| CheckedInput { checked, overview: overview.as_ref() })
            .collect();
        page::render(&inputs, &self.unchecked)
    }

    fn graph(&self, path: &Path) -> Result<(), Failure> {
        let graph = dot::render(&self.kept);
        if self.aside {
            return Ok(output::raw(graph.as_bytes())?);
        }
        whole_files::write(path, |path| std::fs::write(path, &graph))
            .map_err(|error| Failure::about(path.display(), error))
    }

    fn exit(&self) -> Exit {
        let exits = self.outcomes.iter().map(|outcome| outcome.map_or(Exit::BadInput, Exit::from));
        exits.fold(Exit::Holds, Exit::and)
    }
}
