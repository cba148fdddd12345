//! `seriatim minimize`: the smallest part of a history that still violates a level.

use crate::commands::check::bytes_max;
use crate::exit::{Exit, Failure};
use crate::inputs::try_input;
use crate::loss_notes::{lost_note, skipped_note, unknown_note};
use crate::overview::overview;
use crate::page_file::{self, PageArgs};
use crate::parsers::{LevelArg, Unknown, format_parser, level_parser, order_parser};
use crate::progress::Progress;
use crate::quantities::{duration, size};
use crate::write_history::{format_for, may_write_history_beside, save};
use crate::{interrupt, output};
use seriatim_check::{Answer, Checker, Report, Undecided};
use seriatim_history::formats::{Format, ReadOptions};
use seriatim_history::{History, ReadError};
use seriatim_isolation::{Guarantee, Level, Order};
use seriatim_report::page::{self, CheckedInput};
use seriatim_report::text::{self, grouped, plural};
use seriatim_report::{Checked, Times, Unreadable, clean};
use std::path::PathBuf;
use std::time::Duration;

const AFTER_HELP: &str = "\
The part is the smallest violation that was found: nothing else is in it, and it alone violates \
                          the level. Transactions of unknown \
outcome in it are written as committed, because that is known from what was read of them.

Exit codes: 0 the part was written; nothing is written with 2 (the level is undecided, or no part \
                          was found) and 3 (the level \
holds, bad input or usage).";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The history to read: a file, a directory, or - for standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The level that the part violates
    #[arg(long, short, value_name = "LEVEL", value_parser = level_parser())]
    level: LevelArg,
    /// The order that the level is meant with
    #[arg(long, value_name = "ORDER", value_parser = order_parser(), default_value = "sessions")]
    order: Order,
    /// Where to write the part, or - for standard output; a name that ends in .gz or .zst is
    /// compressed
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// The format of the input, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    unknown: Unknown,
    /// The format of the output; without it the ending of OUT decides, and if that says nothing it
    /// is jsonl
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    to: Option<Format>,
    /// Give up after this long on a level that needs a search, like 30s, 500ms or 2m
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    budget: Option<Duration>,
    /// Give up what would take more memory than this, like 4G, 512M or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    #[command(flatten)]
    page: PageArgs,
}

/// Reads, checks, writes the part.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let LevelArg::One(level) = args.level else {
        return Err(Failure::Message(
            "a part is minimal for one level; name one with --level".to_owned(),
        ));
    };
    let to = format_for(args.to, &args.output, Format::Jsonl)?;
    args.page.refuse_standard_output()?;
    may_write_history_beside(&args.output, to, args.page.paths(), &[&args.input])?;
    let shown = args.input.display().to_string();
    interrupt::call_next(|signal| {
        let told = "interrupted: nothing was written; --budget TIME gives up in time";
        interrupt::end_saying(signal, told);
    });
    let progress = Progress::towards(&args.output);
    let now = |doing: String| {
        if let Some(progress) = &progress {
            progress.stage().now(doing);
        }
    };
    let read = ReadOptions {
        format: args.from,
        bytes_max: args.memory.map(bytes_max),
        skip_unknown: args.unknown.is_skipped,
        ..ReadOptions::default()
    };
    let (history, from) = match try_input(&args.input, read, progress.as_ref()) {
        Ok(read) => read,
        Err(error) => {
            drop(progress);
            let too_large = matches!(error, ReadError::OverLimit { .. });
            output::message(&text::render_error(&Unreadable::new(&shown, &error)));
            return Ok(if too_large { Exit::Undecided } else { Exit::BadInput });
        }
    };
    let notes =
        [skipped_note(&shown, from.code(), history.skipped()), unknown_note(&shown, &history)];
    notes.iter().flatten().for_each(|note| output::message(note));
    now(format!("checking {shown}"));
    let checker = Checker::new().levels([level]).order(args.order);
    let checker = checker.memory(args.memory).budget(args.budget);
    let asked = Guarantee::new(level, args.order);
    let small = match part(&history, level, &checker) {
        Minimized::Part(small) => small,
        Minimized::Nothing(exit, problem) => {
            output::message(&format!(
                "{}: {asked} {problem}; nothing was written\n",
                clean(&shown)
            ));
            return Ok(exit);
        }
    };
    now(format!("writing {}", args.output.display()));
    save(&small, to, &args.output)?;
    drop(progress);
    if args.page.is_given() {
        write_pages(args, &small, to)?;
    }
    if let Some(note) = lost_note(&small, to) {
        output::message(&note);
    }
    output::message(&left(&history, &small, asked));
    Ok(Exit::Holds)
}

/// The part as a page and as a picture.
fn write_pages(args: &Args, small: &History, format: Format) -> Result<(), Failure> {
    let start = std::time::Instant::now();
    let report = Checker::new().order(args.order).check(small);
    let times = Times { total: start.elapsed(), ..Times::default() };
    let checked = Checked {
        input: args.output.display().to_string(),
        format: format.code(),
        counts: small.counts(),
        report,
        times,
        duplicate: None,
        kinds: Vec::new(),
    };
    let overview = overview(small, &checked.report);
    let input = CheckedInput { checked: &checked, overview: Some(&overview) };
    page_file::write(&args.page.html, || page::render(&[input], &[]))?;
    page_file::write(&args.page.svg, || page::svg([&checked]))
}

enum Minimized {
    Part(Box<History>),
    Nothing(Exit, &'static str),
}

fn part(history: &History, level: Level, checker: &Checker) -> Minimized {
    let report = checker.check(history);
    match report.verdict(level).map(|verdict| verdict.answer()) {
        Some(Answer::Holds) => return Minimized::Nothing(Exit::BadInput, "holds"),
        Some(Answer::Violated) => {}
        _ => return Minimized::Nothing(Exit::Undecided, undecided(&report, level)),
    }
    let small = report.exemplar(level).map(|violation| history.restricted_to(&violation.op_ids()));
    // What is written is checked once more, with time of its own: a part that shows nothing would
    // mislead, and the search for it may have used up its time.
    let violates = |small: &History| checker.check(small).violates(level);
    match small.filter(violates) {
        Some(small) => Minimized::Part(Box::new(small)),
        None => Minimized::Nothing(
            Exit::Undecided,
            "is violated, but no small part was found that violates it",
        ),
    }
}

fn undecided(report: &Report, level: Level) -> &'static str {
    match report.verdict(level).and_then(|verdict| verdict.undecided()) {
        Some(Undecided::Budget) => "is undecided, because the search used up its budget",
        Some(Undecided::UnknownContent { .. }) => {
            "is undecided, because transactions of unknown content were passed over"
        }
        Some(Undecided::ManyWithoutSessions) => {
            "is undecided, because without sessions so many transactions or scans are not searched"
        }
        Some(Undecided::NoTimes) => "is undecided, because the history has no times",
        Some(Undecided::Memory) => "is undecided, because of the memory limit",
        _ => "is undecided",
    }
}

fn left(history: &History, small: &History, asked: Guarantee) -> String {
    let of = |small: usize, all: usize, what: &str| {
        format!("{} of {}", grouped(small as u64), plural(all as u64, what))
    };
    let txns = of(small.txn_count(), history.txn_count(), "transaction");
    let ops = of(small.op_count(), history.op_count(), "operation");
    format!("{txns} and {ops} are left; they violate {asked}\n")
}
