//! The one definition of commands and flags, from which the parser, the help, the man pages and the
//! completions come.

use crate::commands::{
    audit, check, completions, convert, demo, explain, explore, fuzz, generate, man, minimize,
    observe, play, predict, replay, schema, serve, stats, verify,
};
use crate::exit::{Exit, Failure};
use clap::{CommandFactory, Parser, Subcommand};

const AFTER_HELP: &str = "\
Exit codes: 0 every level asked for holds, 1 one is violated, 2 undecided, 3 bad input or usage, \
                          4 internal error, \
130 interrupted, 141 output closed by its reader, 143 terminated. Over several inputs 3 wins over \
                          1, 1 over 2, 2 over 0.

Text is wrapped to the width of the terminal, from 40 to 100 columns; if the output goes \
                          elsewhere, to COLUMNS if that is set, \
else to 100.

Try `seriatim demo` first.";

/// Tells what weak transaction isolation does: checks histories of databases, and fuzzes, explores
/// and predicts applications.
#[derive(Parser, Debug)]
#[command(name = "seriatim", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Task,
}

/// The subcommands, one file each.
#[derive(Subcommand, Debug)]
pub enum Task {
    /// Check histories against isolation levels
    Check(check::Args),
    /// Confirm or reject the verdicts of a certificate that `check --certificate` wrote
    Verify(verify::Args),
    /// Write the smallest part of a history that still violates a level
    Minimize(minimize::Args),
    /// Record a serializable run of an application, to predict from
    Observe(observe::Args),
    /// Predict from an observed run how it could have gone wrong at a weak level
    Predict(predict::Args),
    /// Record transactions of a real database, and say whether it keeps what it promises
    Audit(audit::Args),
    /// Run an application on a mock database until its assertion breaks
    Fuzz(fuzz::Args),
    /// Run once more what `fuzz` kept, or run an application as `predict` says that it could go
    /// wrong
    Replay(replay::Args),
    /// Explore every behaviour of a transactional program at an isolation level, each exactly once
    Explore(explore::Args),
    /// Play with a program in the browser: lead its sessions by hand, and pick what reads return
    Play(play::Args),
    /// Explain an anomaly, a level, or the language of programs for `explore`
    Explain(explain::Args),
    /// Convert a history to another format
    Convert(convert::Args),
    /// Make a history, valid at a level or with anomalies planted
    Generate(generate::Args),
    /// Serve a database that may return anything its isolation level allows, and record what
    /// happens
    Serve(serve::Args),
    /// Count what is in histories
    Stats(stats::Args),
    /// Show the tool on examples
    Demo(demo::Args),
    /// Print the JSON Schema of an output or of our JSON Lines
    Schema(schema::Args),
    /// Print the man page, or write all man pages into a directory
    Man(man::Args),
    /// Print completions for a shell
    Completions(completions::Args),
}

impl Task {
    /// Does it.
    pub fn run(&self) -> Result<Exit, Failure> {
        match self {
            Task::Check(args) => check::run(args),
            Task::Verify(args) => verify::run(args),
            Task::Minimize(args) => minimize::run(args),
            Task::Observe(args) => observe::run(args),
            Task::Predict(args) => predict::run(args),
            Task::Audit(args) => audit::run(args),
            Task::Fuzz(args) => fuzz::run(args),
            Task::Replay(args) => replay::run(args),
            Task::Explore(args) => explore::run(args),
            Task::Play(args) => play::run(args),
            Task::Explain(args) => explain::run(args),
            Task::Convert(args) => convert::run(args),
            Task::Generate(args) => generate::run(args),
            Task::Serve(args) => serve::run(args),
            Task::Stats(args) => stats::run(args),
            Task::Demo(args) => demo::run(args),
            Task::Schema(args) => schema::run(args),
            Task::Man(args) => man::run(args, Cli::command()),
            Task::Completions(args) => completions::run(args, Cli::command()),
        }
    }
}
