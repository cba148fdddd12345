//! `seriatim completions`: completions for a shell, from the definition of the flags.

use crate::exit::{Exit, Failure};
use crate::output;
use clap::Command;
use clap_complete::Shell;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &Args, mut command: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "seriatim", &mut script);
    output::raw(&script)?;
    Ok(Exit::Holds)
}
