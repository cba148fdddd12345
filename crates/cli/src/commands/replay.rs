//! `seriatim replay`: a run that `fuzz` kept, once more; or an application as `predict` says that
//! it could go wrong.

mod command;
mod pause;
mod predicted_command;
mod prediction;
mod recording;

use crate::commands::application::ApplicationArgs;
use crate::commands::fuzz::app_parser;
use crate::exit::{Exit, Failure};
use crate::page_file::refuse_standard_output;
use crate::parsers::Style;
use crate::write_history::may_write;
use std::io::Read;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Behind `--` stands the command that `seriatim fuzz -- CMD` kept a run of; its set-up, its check \
                          and the number of its clients are those of the run unless they are said \
                          again. A prediction from a run that `seriatim observe -- CMD` \
                          recorded is tried on the command in the same way.

With APP, FILE is what `seriatim predict --output` wrote from a run that `seriatim observe` \
                          recorded. The application runs on a mock \
store, transactions one at a time in an order that fits the prediction; each read returns what is \
                          predicted if the level allows \
it, else the latest version. Two rules help a prediction to come true: a transaction that nobody \
                          has to wait for stays open after its \
last predicted read until all others have read, and one that aborted in the observed run is made \
                          to abort again. A prediction is \
validated if the run was as predicted and is not serializable.

Exit codes of a run: 0 the assertion held this time, 1 it broke again, 3 bad input or usage. Exit \
                          codes of a prediction: 0 the run is \
serializable, 1 it is not (validated, or diverged but not serializable), 2 undecided, 3 bad input \
                          or usage. Over several predictions 1 \
wins over 2, 2 over 0.";

const USAGE: &str = "\
seriatim replay [OPTIONS] <FILE> [APP]
       seriatim replay [OPTIONS] <FILE> -- <CMD>...";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub struct Args {
    /// What `seriatim fuzz --output` or `seriatim predict --output` wrote, or - for standard input
    #[arg(value_name = "FILE")]
    run: PathBuf,
    /// The application that a prediction is about
    #[arg(value_name = "APP", value_parser = app_parser())]
    app: Option<&'static str>,
    /// How the result is written
    #[arg(long, short, value_enum, default_value_t = Style::Human)]
    format: Style,
    /// Where to write the history of the run, as JSON Lines; of several predictions that of the
    /// first
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Also write a page to look at to this file: the run statement by statement, and its anomalies
    /// with their pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the pictures of its anomalies alone to this file, for papers and slides
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Stop before each weak read of the command, or where another connection goes on if no read
    /// is weak, until Enter is pressed
    #[arg(long, requires = "command")]
    pause: bool,
    #[command(flatten)]
    own: ApplicationArgs,
}

/// Runs it again, and says whether it went the same way.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let pages = || args.html.iter().chain(&args.svg);
    refuse_standard_output(pages())?;
    may_write(args.save.iter().chain(pages()), &[&args.run])?;
    let bytes = read(&args.run).map_err(|error| Failure::about(args.run.display(), error))?;
    match args.app {
        None if args.own.is_given() => match serde_json::from_slice(&bytes) {
            Ok(predicted) => predicted_command::run(args, &predicted),
            Err(_) => command::run(args, &bytes),
        },
        None => recording::run(args, &bytes),
        Some(app) => prediction::run(args, app, &bytes),
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}
