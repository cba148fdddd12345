//! `seriatim schema`: the JSON Schemas of what machines read and write.

use crate::exit::{Exit, Failure};
use crate::output;
use clap::ValueEnum;
use seriatim_report::schema;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Of what
    #[arg(value_enum, default_value_t = Which::Check)]
    which: Which,
}

/// Which schema.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Which {
    /// A line of `check --format json`
    Check,
    /// A line of a certificate that `check --certificate` writes
    Certificate,
    /// A line of `fuzz --format json` and of `replay RUN --format json`
    Fuzz,
    /// A line of `fuzz --format json -- CMD`
    Trial,
    /// A line of `replay RUN --format json -- CMD`
    Retrial,
    /// A line of `audit --format json`
    Audit,
    /// A line of `replay PREDICTION APP --format json`
    Replay,
    /// The line of `explore --format json`
    Explore,
    /// A line of a history in our JSON Lines
    History,
    /// A line of `stats --format json`
    Stats,
    /// The object of `predict --format json`
    Predict,
}

/// Prints the schema.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let text = match args.which {
        Which::Check => schema::CHECK,
        Which::Certificate => schema::CERTIFICATE,
        Which::Fuzz => schema::FUZZ,
        Which::Trial => schema::TRIAL,
        Which::Retrial => schema::RETRIAL,
        Which::Audit => schema::AUDIT,
        Which::Replay => schema::REPLAY,
        Which::Explore => schema::EXPLORE,
        Which::History => schema::HISTORY,
        Which::Stats => schema::STATS,
        Which::Predict => schema::PREDICT,
    };
    output::raw(text.as_bytes())?;
    Ok(Exit::Holds)
}
