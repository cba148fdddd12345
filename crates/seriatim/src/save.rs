//! Writing a history where the user wants it. A file appears whole or not at all.

use crate::exit::Failure;
use crate::staged;
use seriatim_history::formats::{self, Format};
use seriatim_history::{History, WriteError};
use std::path::Path;

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
