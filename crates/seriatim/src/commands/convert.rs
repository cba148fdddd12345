//! `seriatim convert`: a history in another format. The output appears whole or not at all.

use crate::cli::format_parser;
use crate::exit::{Exit, Failure};
use crate::{output, staged};
use seriatim_history::formats::{self, Format, ReadOptions};
use seriatim_history::{History, WriteError};
use seriatim_report::{Unreadable, text};
use std::path::{Path, PathBuf};

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
    let options = ReadOptions { format: args.from, ..ReadOptions::default() };
    let history = match formats::read_path(&args.input, &shown, &options) {
        Ok((history, _)) => history,
        Err(error) => {
            output::message(&text::render_error(&Unreadable::new(&shown, &error)));
            return Ok(Exit::BadInput);
        }
    };
    if args.output == Path::new("-") {
        return to_stdout(&history, args.to);
    }
    staged::write(&args.output, |path| write_file(&history, args.to, path))
        .map_err(|error: WriteError| Failure::about(args.output.display(), error))?;
    Ok(Exit::Holds)
}

fn write_file(history: &History, format: Format, path: &Path) -> Result<(), WriteError> {
    formats::write(history, format, &mut std::fs::File::create(path)?)
}

fn to_stdout(history: &History, format: Format) -> Result<Exit, Failure> {
    let mut stdout = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = formats::write(history, format, &mut stdout);
    let flushed = stdout.into_inner().map(drop).map_err(|error| error.into_error());
    match written {
        Ok(()) => flushed?,
        Err(WriteError::Io(error)) => return Err(error.into()),
        Err(error) => return Err(Failure::about("standard output", error)),
    }
    Ok(Exit::Holds)
}
