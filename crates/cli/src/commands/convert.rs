//! `seriatim convert`: a history in another format. The output appears whole or not at all.

use crate::exit::{Exit, Failure};
use crate::inputs::read_input;
use crate::loss_notes::{lost_note, skipped_note, unknown_note};
use crate::output;
use crate::parsers::{Unknown, format_parser};
use crate::progress::Progress;
use crate::write_history::{format_for, may_write_history, save};
use seriatim_history::formats::{Format, ReadOptions};
use std::path::PathBuf;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The history to read: a file, a directory, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write it, or - for standard output; a name that ends in .gz or .zst is compressed
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The format of the input, if the content should not decide
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    unknown: Unknown,
    /// The format of the output; without it the ending of OUT decides (.jsonl, .edn, .hist,
    /// .bincode, .txt for plume; before .gz or .zst), and if that says nothing it is jsonl
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    to: Option<Format>,
}

/// Reads, writes.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let to = format_for(args.to, &args.output, Format::Jsonl)?;
    may_write_history(&args.output, to, &[&args.input])?;
    let shown = args.input.display().to_string();
    let progress = Progress::towards(&args.output);
    let now = |doing: String| {
        if let Some(progress) = &progress {
            progress.stage().now(doing);
        }
    };
    let read = ReadOptions {
        format: args.from,
        skip_unknown: args.unknown.is_skipped,
        ..ReadOptions::default()
    };
    let Some((history, from)) = read_input(&args.input, read, progress.as_ref()) else {
        return Ok(Exit::BadInput);
    };
    now(format!("writing {}", args.output.display()));
    save(&history, to, &args.output)?;
    drop(progress);
    let notes = [
        skipped_note(&shown, from.code(), history.skipped()),
        unknown_note(&shown, &history),
        lost_note(&history, to),
    ];
    notes.iter().flatten().for_each(|note| output::message(note));
    Ok(Exit::Holds)
}
