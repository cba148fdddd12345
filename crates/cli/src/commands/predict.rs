//! `seriatim predict`: how an observed run could have gone wrong at a weak level.

use crate::exit::{Exit, Failure};
use crate::inputs::read_input;
use crate::loss_notes::{skipped_note, unknown_note};
use crate::parsers::{Style, Unknown, format_parser, predict_level_parser};
use crate::progress::{self, Progress};
use crate::quantities::{count, duration};
use crate::write_history::may_write;
use crate::{interrupt, output, whole_files};
use clap::ValueEnum;
use seriatim_history::History;
use seriatim_history::formats::{Format, ReadOptions};
use seriatim_isolation::Level;
use seriatim_predict::{
    Answer, Boundary, Effort, Open, Options, Outlook, PredictError, Prediction, is_of_sql, predict,
    predict_all,
};
use seriatim_report::predicted::{self, Predicted};
use seriatim_report::text::{Layout, plural};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
The run must be serializable and say who read from whom; a list is read from the transaction that \
                          appended its last element. A prediction is a history of the same \
                          application that the level allows and \
that is not serializable: each session keeps a prefix of what it did and ends where a read \
                          returns something else than observed, with \
that read (strict) or with its transaction (relaxed), because nobody knows what the application \
                          does then. Strict, a transaction may \
also end with a read that is as observed, and what it would have written next need not fit: such \
                          predictions, which the application \
may not get to, are looked for after all others and marked; that none exists means not even one \
                          of these. In runs of SQL clients a session sees what it committed itself \
                          at rc, too, as on every SQL server. `seriatim replay` runs a \
shipped application accordingly.

Exit codes: 0 none exists within the boundary, 1 a prediction was found (or the run itself is not \
                          serializable), 2 undecided, 3 bad \
input or usage, 4 a mistake of seriatim's.";

/// The flags.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The observed run: a file, a directory, or - for standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The level that predictions satisfy
    #[arg(long, short, value_name = "LEVEL", value_parser = predict_level_parser())]
    level: Level,
    /// Where a session ends when a read returns something else than observed
    #[arg(long, value_enum, default_value_t = BoundaryArg::Strict)]
    boundary: BoundaryArg,
    /// What counts as not serializable
    #[arg(long, value_enum, default_value_t = ModeArg::Exact)]
    mode: ModeArg,
    /// All predictions that differ in their cycle, small cycles first
    #[arg(long)]
    all: bool,
    /// With --all: no more than the N predictions that are found first
    #[arg(
        long,
        value_name = "N",
        requires = "all",
        value_parser = count::<u32>(u32::MAX.into(), "--max 10")
    )]
    max: Option<u32>,
    /// Give up after this long, like 30s, 500ms or 2m
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_hyphen_values = true,
        default_value = "10m"
    )]
    budget: Duration,
    /// The format of the input, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    unknown: Unknown,
    /// How to write the result
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Also write the result as JSON to this file, for `seriatim replay`
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write the predictions as a Graphviz graph to this file
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Also draw the first prediction into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Also write a page to look at to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Where sessions end.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum BoundaryArg {
    /// With the read
    Strict,
    /// With the transaction, whose writes are taken to be those observed
    Relaxed,
}

/// What counts as not serializable.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ModeArg {
    /// No commit order exists
    Exact,
    /// What all commit orders have in common has a cycle
    Approx,
}

impl Args {
    fn options(&self, is_of_sql: bool) -> Options {
        Options {
            level: self.level,
            boundary: match self.boundary {
                BoundaryArg::Strict => Boundary::Strict,
                BoundaryArg::Relaxed => Boundary::Relaxed,
            },
            mode: match self.mode {
                ModeArg::Exact => seriatim_predict::Mode::Exact,
                ModeArg::Approx => seriatim_predict::Mode::Approx,
            },
            sessions_at_rc: is_of_sql,
            budget: Some(self.budget),
        }
    }
}

/// Reads the run, predicts, prints.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let files = [&args.output, &args.dot, &args.svg, &args.html];
    if files.into_iter().flatten().any(|path| path == Path::new("-")) {
        let message =
            "standard output is for the result; let --output, --dot, --svg and --html name files";
        return Err(Failure::Message(message.to_owned()));
    }
    may_write(files.into_iter().flatten(), &[&args.input])?;
    let progress = Progress::start(1);
    let read = ReadOptions {
        format: args.from,
        skip_unknown: args.unknown.is_skipped,
        ..ReadOptions::default()
    };
    let Some((history, format)) = read_input(&args.input, read, Some(&progress)) else {
        return Ok(Exit::BadInput);
    };
    let shown = args.input.display().to_string();
    let notes =
        [skipped_note(&shown, format.code(), history.skipped()), unknown_note(&shown, &history)];
    notes.iter().flatten().for_each(|note| progress.aside(|| output::message(note)));
    let source = Source {
        input: shown,
        format: format.code(),
        extra: history.extra().map(str::to_owned),
        is_of_sql: is_of_sql(&history),
    };
    let so_far = SoFar::default();
    so_far.tell_at_signal(args, &source);
    let searched = search(args, &history, &progress, &so_far);
    drop(progress);
    match searched {
        Ok(searched) => {
            let found = source.predicted(args, searched);
            print(args, &found)?;
            Ok(exit(&found))
        }
        Err(error) => failed(&source.input, &error),
    }
}

/// What was read.
#[derive(Clone)]
struct Source {
    input: String,
    format: &'static str,
    extra: Option<String>,
    is_of_sql: bool,
}

impl Source {
    fn predicted(
        &self,
        args: &Args,
        Searched { mut predictions, answer, relaxed }: Searched,
    ) -> Predicted {
        // The search goes by the cycle in the observed order of versions; what a person is shown
        // may be smaller.
        predictions.sort_by_key(|prediction| {
            let size = prediction.violation.as_ref().map_or(usize::MAX, |why| why.cycle.len());
            (size, prediction.outlook == Outlook::CutShort)
        });
        let (input, format, extra) = (self.input.clone(), self.format, self.extra.clone());
        let options = args.options(self.is_of_sql);
        Predicted { input, format, options, predictions, answer, relaxed, extra }
    }
}

/// The predictions so far. Either the search tells them when it has ended, or a signal before.
#[derive(Clone, Default)]
struct SoFar {
    predictions: Arc<Mutex<Vec<Prediction>>>,
    /// How the search within the strict boundary ended, while the relaxed one is tried.
    strict: Arc<Mutex<Option<Answer>>>,
    is_told: Arc<AtomicBool>,
}

impl SoFar {
    fn lock(&self) -> MutexGuard<'_, Vec<Prediction>> {
        self.predictions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next signal tells of what was found so far and ends the program; the search cannot be
    /// asked to end.
    fn tell_at_signal(&self, args: &Args, source: &Source) {
        let (so_far, args, source) = (self.clone(), args.clone(), source.clone());
        interrupt::call_next(move |signal| {
            if so_far.is_told.swap(true, Ordering::SeqCst) {
                interrupt::end(signal);
            }
            let predictions = std::mem::take(&mut *so_far.lock());
            let strict = so_far.strict.lock().unwrap_or_else(PoisonError::into_inner).take();
            progress::wipe();
            let is_any = !predictions.is_empty() || strict.is_some();
            output::message(if is_any {
                "interrupted; found so far:\n"
            } else {
                "interrupted; nothing was found so far\n"
            });
            let stopped = Answer::Undecided(Open::Stopped, Effort::default());
            let answer = strict.unwrap_or(stopped);
            let found = source.predicted(&args, Searched { predictions, answer, relaxed: None });
            let told = if is_any { print(&args, &found) } else { Ok(()) };
            if let Err(Failure::Message(problem)) = told {
                output::message(&format!("error: {problem}\n"));
            }
            std::process::exit(Exit::from(signal) as i32);
        });
    }

    /// From now on the search tells; waits for the end of the program if a signal was first.
    fn take_over(&self) {
        if self.is_told.swap(true, Ordering::SeqCst) {
            loop {
                std::thread::park();
            }
        }
    }
}

/// The predictions that were asked for, and how the search ended.
struct Searched {
    predictions: Vec<Prediction>,
    answer: Answer,
    /// How a search within the relaxed boundary ended, if nothing exists within the strict one.
    relaxed: Option<Answer>,
}

fn search(
    args: &Args,
    history: &History,
    progress: &Progress,
    so_far: &SoFar,
) -> Result<Searched, PredictError> {
    let (options, start) = (args.options(is_of_sql(history)), Instant::now());
    let operations = plural(history.op_count() as u64, "operation");
    progress.stage().now(format!("predicting from {} ({operations})", args.input.display()));
    if !args.all {
        let answer = predict(history, &options)?;
        let predictions = match &answer {
            Answer::Found(prediction) => vec![(**prediction).clone()],
            _ => Vec::new(),
        };
        let relaxed = relaxed(history, &options, start, &answer, so_far)?;
        so_far.take_over();
        return Ok(Searched { predictions, answer, relaxed });
    }
    let answer = predict_all(history, &options, &mut |prediction| {
        let mut predictions = so_far.lock();
        predictions.push(prediction);
        let count = plural(predictions.len() as u64, "prediction");
        progress.stage().now(format!("{count} from {} so far", args.input.display()));
        match args.max {
            Some(max) if predictions.len() >= max as usize => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })?;
    let is_nothing = so_far.lock().is_empty();
    let relaxed = match is_nothing {
        true => relaxed(history, &options, start, &answer, so_far)?,
        false => None,
    };
    // Before they are taken: a signal has told them, or does not any more.
    so_far.take_over();
    let predictions = std::mem::take(&mut *so_far.lock());
    Ok(Searched { predictions, answer, relaxed })
}

/// If nothing exists within the strict boundary: what the relaxed one has, in the rest of the
/// budget. The strict one trusts no write behind a read that returns something else, so that it
/// finds nothing in applications that read before they write.
fn relaxed(
    history: &History,
    options: &Options,
    start: Instant,
    answer: &Answer,
    so_far: &SoFar,
) -> Result<Option<Answer>, PredictError> {
    if options.boundary != Boundary::Strict || !matches!(answer, Answer::NoneExists(_)) {
        return Ok(None);
    }
    // A signal from now on tells at least this.
    *so_far.strict.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.clone());
    let budget = options.budget.map(|budget| budget.saturating_sub(start.elapsed()));
    predict(history, &Options { boundary: Boundary::Relaxed, budget, ..*options }).map(Some)
}

/// A prediction that does not pass its checker is our mistake; everything else is about the input.
fn failed(shown: &str, error: &PredictError) -> Result<Exit, Failure> {
    match error {
        PredictError::Unconfirmed(_) => {
            output::message(&format!(
                "internal error: {shown}: {error}\nThis is a bug in seriatim. Please report it \
                 with the input.\n"
            ));
            Ok(Exit::Internal)
        }
        other => Err(Failure::about(shown, other)),
    }
}

fn print(args: &Args, found: &Predicted) -> Result<(), Failure> {
    let told = match args.format {
        Style::Human => {
            let layout = Layout { width: output::width(), ..Layout::default() };
            output::text(&predicted::text::render(found, &layout))
        }
        Style::Json => output::raw((predicted::json::render(found) + "\n").as_bytes()),
    };
    // Files are written even if the reader of the result is gone.
    write_files(args, found)?;
    Ok(told?)
}

fn write_files(args: &Args, found: &Predicted) -> Result<(), Failure> {
    write(args.output.as_deref(), || predicted::json::render(found) + "\n")?;
    write(args.dot.as_deref(), || predicted::dot::render(found))?;
    write(args.html.as_deref(), || predicted::html::render(found))?;
    let Some(path) = &args.svg else { return Ok(()) };
    match predicted::svg(&found.predictions) {
        Some(picture) => write(Some(path), || picture),
        None => {
            output::message(&format!(
                "note: {} is not written, because there is nothing to draw",
                path.display()
            ));
            Ok(())
        }
    }
}

fn write(path: Option<&Path>, content: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let content = content();
    whole_files::write(path, |path| std::fs::write(path, &content))
        .map_err(|error| Failure::about(path.display(), error))
}

fn exit(found: &Predicted) -> Exit {
    match &found.answer {
        _ if !found.predictions.is_empty() => Exit::Violated,
        Answer::Found(_) | Answer::AlreadyUnserializable { .. } => Exit::Violated,
        Answer::NoneExists(_) => Exit::Holds,
        Answer::Undecided(..) => Exit::Undecided,
    }
}
