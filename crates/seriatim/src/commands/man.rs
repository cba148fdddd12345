//! `seriatim man`: man pages, from the definition of the flags.

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::{output, staged};
use clap::CommandFactory;
use clap_mangen::Man;
use std::io;
use std::path::{Path, PathBuf};

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Write seriatim.1 and a page for each command into this directory, instead of printing seriatim.1
    dir: Option<PathBuf>,
}

/// Prints the page of the program, or writes all pages.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    match &args.dir {
        None => output::raw(&page(command, "seriatim")?)?,
        Some(dir) => write_all(&command, dir).map_err(|error| Failure::about(dir.display(), error))?,
    }
    Ok(Exit::Holds)
}

fn page(command: clap::Command, title: &str) -> io::Result<Vec<u8>> {
    let mut roff = Vec::new();
    Man::new(command).title(title).render(&mut roff)?;
    Ok(roff)
}

fn write_all(command: &clap::Command, dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    write(command.clone(), "seriatim", dir)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let title = format!("seriatim-{}", sub.get_name());
        write(sub.clone(), &title, dir)?;
    }
    Ok(())
}

fn write(command: clap::Command, title: &str, dir: &Path) -> io::Result<()> {
    let roff = page(command, title)?;
    staged::write(&dir.join(format!("{title}.1")), |path| std::fs::write(path, &roff))
}
