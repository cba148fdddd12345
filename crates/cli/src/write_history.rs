//! Writing a history where the user wants it, in the format that a flag or the name of the file
//! asks for. A file appears whole or not at all.

use crate::exit::Failure;
use crate::whole_files;
use nix::unistd::AccessFlags;
use seriatim_history::formats::{self, Format};
use seriatim_history::{History, WriteError};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The format to write: the one that was named, else the one that the ending of `target` asks for,
/// else `otherwise`.
pub fn format_for(
    named: Option<Format>,
    target: &Path,
    otherwise: Format,
) -> Result<Format, Failure> {
    match (named, formats::formats_of_name(target)) {
        (Some(format), _) => Ok(format),
        (None, []) => Ok(otherwise),
        (None, [format]) => Ok(*format),
        (None, several) => {
            let choices: Vec<String> =
                several.iter().map(|format| format!("--to {format}")).collect();
            let problem = format!(
                "the name does not say which format to write; add {}",
                choices.join(" or ")
            );
            Err(Failure::about(target.display(), problem))
        }
    }
}

/// Whether all of these can be written, as far as that can be seen: better said before long work
/// than after it. Nothing is written over what is read (`inputs`), nor twice; `-` is standard
/// output.
pub fn may_write<'p>(
    outputs: impl IntoIterator<Item = &'p PathBuf>,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let mut known: Vec<(PathBuf, &str)> = inputs
        .iter()
        .filter_map(|path| Some((path.canonicalize().ok()?, "is what is read; name another file")))
        .collect();
    for path in outputs.into_iter().filter(|path| *path != Path::new("-")) {
        let Some(place) = place(path) else {
            return Err(Failure::about(path.display(), "there is no such folder to write to"));
        };
        if let Some(problem) = obstacle(&place) {
            return Err(Failure::about(path.display(), problem));
        }
        if let Some((_, problem)) = known.iter().find(|(other, _)| *other == place) {
            return Err(Failure::about(path.display(), problem));
        }
        known.push((place, "is named twice as a file to write; name different files"));
    }
    Ok(())
}

/// Where a file is or will be; `None` if its folder is not there.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = path.canonicalize() {
        return Some(place);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir())?;
    Some(folder.join(path.file_name()?))
}

/// Why a file cannot be written there, as far as that can be seen.
fn obstacle(place: &Path) -> Option<String> {
    let found = std::fs::metadata(place);
    if found.as_ref().is_ok_and(Metadata::is_dir) {
        return Some("is a folder; name a file to write".to_owned());
    }
    // Devices and pipes are written as they are.
    if found.is_ok_and(|found| !found.is_file()) {
        return None;
    }
    // The file is made beside its place and then moved there.
    let folder = place.parent()?;
    let error = nix::unistd::access(folder, AccessFlags::W_OK | AccessFlags::X_OK).err()?;
    Some(format!("cannot write into its folder: {}", std::io::Error::from(error)))
}

/// Writes `history` to `target`; `-` is standard output.
pub fn save(history: &History, format: Format, target: &Path) -> Result<(), Failure> {
    if target == Path::new("-") {
        return to_stdout(history, format);
    }
    whole_files::write(target, |path| formats::write_path(history, format, path))
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
