//! Writing a history where the user wants it, in the format that a flag or the name of the file asks for. A file appears whole
//! or not at all.

use crate::exit::Failure;
use crate::staged;
use seriatim_history::formats::{self, Format};
use seriatim_history::{History, WriteError};
use std::path::Path;

/// The format to write: the one that was named, else the one that the ending of `target` asks for, else `otherwise`.
pub fn format_for(named: Option<Format>, target: &Path, otherwise: Format) -> Result<Format, Failure> {
    match (named, formats::formats_of_name(target)) {
        (Some(format), _) => Ok(format),
        (None, []) => Ok(otherwise),
        (None, [format]) => Ok(*format),
        (None, several) => {
            let choices: Vec<String> = several.iter().map(|format| format!("--to {format}")).collect();
            let problem = format!("the name does not say which format to write; add {}", choices.join(" or "));
            Err(Failure::about(target.display(), problem))
        }
    }
}

/// Whether the folder of a file to be written is there: better said before long work than after it.
pub fn has_folder(path: &Path) -> bool {
    path.parent().is_none_or(|folder| folder == Path::new("") || folder.is_dir())
}

/// Writes `history` to `target`; `-` is standard output.
pub fn save(history: &History, format: Format, target: &Path) -> Result<(), Failure> {
    if target == Path::new("-") {
        return to_stdout(history, format);
    }
    staged::write(target, |path| formats::write_path(history, format, path))
        .map_err(|error: WriteError| Failure::about(target.display(), error))
}

fn to_stdout(history: &History, format: Format) -> Result<(), Failure> {
    let mut stdout = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    match formats::write(history, format, &mut stdout) {
        Ok(()) => {}
        Err(WriteError::Io(error)) => return Err(error.into()),
        Err(error) => return Err(Failure::about("standard output", error)),
    }
    drop(stdout.into_inner().map_err(|error| error.into_error())?);
    Ok(())
}
