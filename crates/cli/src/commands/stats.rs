//! `seriatim stats`: what is in a history, counted.

use crate::exit::{Exit, Failure};
use crate::inputs::{self, Expanded, InputSearch, Origin};
use crate::loss_notes::skipped_note;
use crate::output;
use crate::parsers::{Style, Unknown, format_parser};
use crate::progress::Progress;
use seriatim_history::formats::{self, Format, ReadOptions};
use seriatim_history::{History, OpKind, ReadError, Status};
use seriatim_report::stats::{self, Stats};
use seriatim_report::{Unreadable, json, text};
use std::path::PathBuf;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Histories: files, directories (a history, or searched for histories), or - for standard
    /// input
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// The format of the inputs, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    unknown: Unknown,
    /// How to write the results
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
}

/// Counts each input, one after the other.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let inputs = inputs::expand(&args.inputs)?;
    let progress = Progress::start(inputs.len());
    let mut search = InputSearch::new(&inputs);
    let mut worst = Exit::Holds;
    for input in inputs {
        worst = worst.and(one(&input, args, &progress, &mut search)?);
        progress.advance();
    }
    drop(progress);
    if let Some(note) = search.note() {
        output::message(&note);
    }
    for barren in search.barren() {
        worst = worst.and(unreadable(&barren, args.format)?);
    }
    Ok(worst)
}

fn one(
    input: &Expanded,
    args: &Args,
    progress: &Progress,
    search: &mut InputSearch,
) -> Result<Exit, Failure> {
    let input = match input {
        Ok(input) => input,
        Err((shown, error)) => return unreadable(&Unreadable::new(shown, error), args.format),
    };
    if input.is_skipped() {
        search.pass_over(input);
        return Ok(Exit::Holds);
    }
    progress.stage().now(format!("reading {}", input.shown));
    let options = ReadOptions {
        format: args.from,
        meter: Some(progress.stage().meter()),
        skip_unknown: args.unknown.is_skipped,
        ..ReadOptions::default()
    };
    match formats::read_path(&input.path, &input.shown, &options) {
        Ok((history, format)) => {
            if let Some(note) = skipped_note(&input.shown, format.code(), history.skipped()) {
                progress.aside(|| output::message(&note));
            }
            let stats = count(&history, &input.shown, format);
            progress.aside(|| print(&stats, args.format))
        }
        Err(ReadError::UnknownFormat { .. }) if input.origin != Origin::Named => {
            search.pass_over(input);
            Ok(Exit::Holds)
        }
        Err(error) => unreadable(&Unreadable::new(&input.shown, &error), args.format),
    }
}

fn unreadable(unreadable: &Unreadable, style: Style) -> Result<Exit, Failure> {
    match style {
        Style::Human => output::message(&text::render_error(unreadable)),
        Style::Json => output::raw((json::render_error(unreadable) + "\n").as_bytes())?,
    }
    Ok(Exit::BadInput)
}

fn print(stats: &Stats, style: Style) -> Result<Exit, Failure> {
    match style {
        Style::Human => output::text(&stats::render(stats, output::width()))?,
        Style::Json => output::raw((stats::json(stats) + "\n").as_bytes())?,
    }
    Ok(Exit::Holds)
}

/// Counts what is in a history.
fn count(history: &History, input: &str, format: Format) -> Stats {
    let status = |wanted| history.txns().filter(|&txn| history.status(txn) == wanted).count();
    let kind = |wanted| history.kinds().iter().filter(|&&kind| kind == wanted).count();
    let sizes = || history.txns().map(|txn| history.ops_of(txn).len());
    let sessions = history.sessions().map(|session| history.txns_of(session).len());
    Stats {
        input: input.to_owned(),
        format: format.code(),
        sessions: history.session_count(),
        transactions: history.txn_count(),
        committed: status(Status::Committed),
        aborted: status(Status::Aborted),
        unknown: status(Status::Unknown),
        empty: sizes().filter(|&size| size == 0).count(),
        operations: history.op_count(),
        reads: kind(OpKind::Read),
        writes: kind(OpKind::Write),
        appends: kind(OpKind::Append),
        keys: history.keys_that_occur(),
        skipped: history.skipped(),
        unknown_content: history.unknown_content(),
        duplicate_values: duplicate_values(history),
        operations_per_transaction_max: sizes().max().unwrap_or(0),
        transactions_per_session_max: sessions.max().unwrap_or(0),
        times: history.has_times(),
    }
}

/// How many pairs of key and value were written more than once.
fn duplicate_values(history: &History) -> usize {
    let ops = history.kinds().iter().zip(history.keys()).zip(history.values());
    let writes = ops.filter(|((kind, _), _)| kind.is_write());
    let mut writes: Vec<(u32, u64)> =
        writes.map(|((_, key), value)| (key.0, value.raw())).collect();
    writes.sort_unstable();
    writes.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).count()
}
