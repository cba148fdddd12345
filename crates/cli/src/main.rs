//! The command line. Thin: each subcommand is a file in `commands/`, everything it knows is in the
//! library crates.

mod checkpoint;
mod children;
mod cli;
mod commands;
mod coverage;
mod describe_run;
mod exit;
mod inputs;
mod interrupt;
mod kinds;
mod language;
mod loss_notes;
mod output;
mod overview;
mod page_file;
mod parsers;
mod progress;
mod quantities;
mod run_page;
mod sent_by;
mod whole_files;
mod workers;
mod write_history;

use clap::Parser;
use cli::Cli;
use exit::Exit;
use seriatim_history::large_columns;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    large_columns::keep_freed();
    report_panics();
    interrupt::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => return usage(&message),
    };
    match cli.command.run() {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}

/// Prints help and versions (exit code 0) and mistakes in the arguments (3).
fn usage(message: &clap::Error) -> ExitCode {
    let exit = if message.use_stderr() { Exit::BadInput } else { Exit::Holds };
    match message.print() {
        Ok(()) => exit.into(),
        Err(error) => exit::Failure::from(error).report(),
    }
}

/// A panic is our mistake, wherever it happens: say so briefly, leave no half-written file, exit
/// with code 4. In a connection of a server it ends that connection: others are connected, too.
fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(
            std::io::stderr(),
            "seriatim: internal error: {panic}\nThis is a bug in seriatim. Please report it with \
             the command and, if you can, the input."
        );
        if seriatim_server::is_contained() {
            return;
        }
        interrupt::abandon();
        interrupt::tell_left();
        std::process::exit(Exit::Internal as i32);
    }));
}
