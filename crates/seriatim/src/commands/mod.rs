//! The subcommands, one file each.

pub mod check;
pub mod completions;
pub mod convert;
pub mod demo;
pub mod explain;
pub mod generate;
pub mod man;
pub mod schema;
pub mod stats;

use crate::cli::Command;
use crate::exit::{Exit, Failure};

/// Does what the command says.
pub fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => check::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Man(args) => man::run(args),
        Command::Completions(args) => completions::run(args),
    }
}
