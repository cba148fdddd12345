//! Files to look at that commands write beside what they print: pages and pictures.

use crate::exit::Failure;
use crate::{output, whole_files};
use std::path::{Path, PathBuf};

/// The flags of commands that explain anomalies.
#[derive(clap::Args, Debug, Default)]
pub struct PageArgs {
    /// Also write a page to look at to this file: the verdict, each anomaly with its picture and
    /// its proof step by step, the whole history in a strip; it needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write the pictures alone to this file, for papers and slides
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

impl PageArgs {
    /// Whether a page or a picture is asked for.
    pub fn is_given(&self) -> bool {
        self.html.is_some() || self.svg.is_some()
    }

    /// The files that are to be written.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.html.iter().chain(&self.svg)
    }

    /// Standard output has one use.
    pub fn refuse_standard_output(&self) -> Result<(), Failure> {
        refuse_standard_output(self.paths())
    }
}

/// Standard output is for results: pages and pictures need names.
pub fn refuse_standard_output<'p>(
    paths: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), Failure> {
    match paths.into_iter().any(|path| path == Path::new("-")) {
        true => Err(Failure::Message(
            "standard output is for the results; let --html and --svg name files".to_owned(),
        )),
        false => Ok(()),
    }
}

/// Writes a file that is wanted, whole or not at all, and says so.
pub fn write(path: &Option<PathBuf>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = text();
    whole_files::write(path, |path| std::fs::write(path, &text))
        .map_err(|error| Failure::about(path.display(), error))?;
    output::message(&format!("wrote {}\n", path.display()));
    Ok(())
}
