//! Writing a history to a path so that nothing half-written stands under its name.
//!
//! A file is written beside its destination and takes its name only when everything, the last
//! buffer included, has arrived on the disk. A directory must be new or empty, because stray logs
//! would become sessions.

use super::advice::advised;
use super::{Format, cobra, refuse_unknown_content, viper, without_scans, write};
use crate::compression::Compression;
use crate::error::WriteError;
use crate::ids::SessionId;
use crate::model::History;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a history to a file, or to a directory if the format is one; `.gz` and `.zst` compress.
pub fn write_path(history: &History, format: Format, path: &Path) -> Result<(), WriteError> {
    refuse_unknown_content(history, format).map_err(|error| advised(history, error))?;
    let history = &*without_scans(history, format).map_err(|error| advised(history, error))?;
    match format {
        Format::Cobra => write_cobra(history, path).map_err(|error| advised(history, error)),
        Format::Viper => write_viper(history, path).map_err(|error| advised(history, error)),
        _ => write_file(path, |out| write(history, format, out)),
    }
}

fn write_file(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    // A pipe or a device has no name to take over.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return write_compressed(File::create(path)?, path, content).map(drop);
    }
    let draft = draft_path(path);
    let written = File::create(&draft)
        .map_err(WriteError::from)
        .and_then(|file| write_compressed(file, path, content))
        .and_then(|file| Ok(file.sync_all()?))
        .and_then(|()| Ok(fs::rename(&draft, path)?));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn draft_path(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Writes through the compression that the name of the file asks for, and returns the file with
/// nothing left behind.
fn write_compressed(
    file: File,
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<File, WriteError> {
    let mut buffer = BufWriter::with_capacity(1 << 18, file);
    let Some(compression) = Compression::of_name(path) else {
        content(&mut buffer)?;
        return Ok(unbuffered(buffer)?);
    };
    let refusal = WriteError::Compressed { compression: compression.name() };
    let mut encoder = BufWriter::new(compression.encoder(buffer)?.ok_or(refusal)?);
    content(&mut encoder)?;
    Ok(unbuffered(unbuffered(encoder)?.finish()?)?)
}

/// What is behind a buffer, after the buffer is written.
fn unbuffered<W: Write>(buffer: BufWriter<W>) -> io::Result<W> {
    buffer.into_inner().map_err(io::IntoInnerError::into_error)
}

fn write_cobra(history: &History, path: &Path) -> Result<(), WriteError> {
    let logs = cobra::LogWriter::new(history)?;
    make_directory(path)?;
    for (session, number) in session_numbers(history) {
        write_file(&path.join(format!("T{number}.log")), |out| logs.write(session, out))?;
    }
    Ok(())
}

fn write_viper(history: &History, path: &Path) -> Result<(), WriteError> {
    let logs = viper::LogWriter::new(history)?;
    make_directory(path)?;
    if logs.needs_initial {
        write_file(&path.join("Jinitial.log"), |out| logs.write_initial(out))?;
    }
    for (session, number) in session_numbers(history) {
        write_file(&path.join(format!("J{number}.log")), |out| logs.write(session, out))?;
    }
    Ok(())
}

/// The numbers for file names: those of the input if the sessions have different ones.
fn session_numbers(history: &History) -> Vec<(SessionId, u64)> {
    let names = super::refusals::distinct_integers(
        history.sessions().map(|session| history.session_name(session)),
    );
    let numbers: Option<Vec<u64>> =
        names.and_then(|names| names.into_iter().map(|n| u64::try_from(n).ok()).collect());
    let numbers = numbers.unwrap_or_else(|| (1..=history.session_count() as u64).collect());
    history.sessions().zip(numbers).collect()
}

fn make_directory(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path)?;
    if fs::read_dir(path)?.next().is_some() {
        let message = format!("{}: the directory is not empty; name a new one", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message).into());
    }
    Ok(())
}
