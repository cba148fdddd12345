//! `seriatim convert`: a history in another format. The output appears whole or not at all.

use crate::cli::format_parser;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::progress::Progress;
use crate::save::save;
use seriatim_history::formats::{self, Format, ReadOptions};
use seriatim_report::{Unreadable, text};
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
    /// The format of the output
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), default_value = "jsonl")]
    to: Format,
}

/// Reads, writes.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let shown = args.input.display().to_string();
    let progress = Progress::towards(&args.output);
    let now = |doing: String| {
        if let Some(progress) = &progress {
            progress.stage().now(doing);
        }
    };
    now(format!("reading {shown}"));
    let options = ReadOptions { format: args.from, ..ReadOptions::default() };
    let history = match formats::read_path(&args.input, &shown, &options) {
        Ok((history, _)) => history,
        Err(error) => {
            output::message(&text::render_error(&Unreadable::new(&shown, &error)));
            return Ok(Exit::BadInput);
        }
    };
    now(format!("writing {}", args.output.display()));
    save(&history, args.to, &args.output)?;
    Ok(Exit::Holds)
}
