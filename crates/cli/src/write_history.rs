//! Writing a history where the user wants it, in the format that a flag or the name of the file
//! asks for. A file appears whole or not at all.

use crate::exit::Failure;
use crate::whole_files;
use seriatim_history::formats::{self, Format};
use seriatim_history::{History, WriteError};
use std::os::unix::fs::MetadataExt;
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

/// Whether all of these files can be written: better said before long work than after it. Nothing
/// is written over what is read (`inputs`), nor twice; `-` is standard output.
pub fn may_write<'p>(
    outputs: impl IntoIterator<Item = &'p PathBuf>,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let mut taken = Taken::by(inputs);
    outputs.into_iter().try_for_each(|path| taken.add(path, Made::File))
}

/// The same for a history, which is a folder in some formats.
pub fn may_write_history(output: &Path, format: Format, inputs: &[&Path]) -> Result<(), Failure> {
    may_write_history_beside(output, format, [], inputs)
}

/// The same for a history and files that are written beside it.
pub fn may_write_history_beside<'p>(
    output: &Path,
    format: Format,
    others: impl IntoIterator<Item = &'p PathBuf>,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let made = if format.is_directory_format() { Made::Folder } else { Made::File };
    let mut taken = Taken::by(inputs);
    taken.add(output, made)?;
    others.into_iter().try_for_each(|path| taken.add(path, Made::File))
}

/// What an output becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    File,
    Folder,
}

/// Files and folders that nothing may be written over.
struct Taken(Vec<TakenPlace>);

struct TakenPlace {
    path: PathBuf,
    identity: Option<Identity>,
    /// What is wrong with writing there.
    problem: &'static str,
}

/// Device and number of a file: the same under all of its names.
type Identity = (u64, u64);

impl Taken {
    fn by(inputs: &[&Path]) -> Taken {
        let named = inputs.iter().filter(|path| **path != Path::new("-"));
        let places = named.filter_map(|path| {
            let path = path.canonicalize().ok()?;
            let identity = identity(&path);
            Some(TakenPlace { path, identity, problem: "is what is read; name another file" })
        });
        Taken(places.collect())
    }

    fn add(&mut self, path: &Path, made: Made) -> Result<(), Failure> {
        if path == Path::new("-") {
            return Ok(());
        }
        let about = |problem: &str| Failure::about(path.display(), problem);
        let place = place(path).ok_or_else(|| about("there is no such folder to write to"))?;
        let identity = identity(&place);
        if let Some(taken) = self.0.iter().find(|taken| taken.is(&place, identity)) {
            return Err(about(taken.problem));
        }
        if let Some(problem) = obstacle(&place, made) {
            return Err(about(&problem));
        }
        let problem = "is named twice as a file to write; name different files";
        self.0.push(TakenPlace { path: place, identity, problem });
        Ok(())
    }
}

impl TakenPlace {
    /// Whether this is it: by path, as the same file under another name, or as a file of a folder
    /// that is read.
    fn is(&self, place: &Path, identity: Option<Identity>) -> bool {
        let is_part = identity.is_some() && place.starts_with(&self.path);
        self.path == place || is_part || (identity.is_some() && self.identity == identity)
    }
}

fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
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

/// Why nothing can be written there, which is tried.
fn obstacle(place: &Path, made: Made) -> Option<String> {
    let is_folder = place.is_dir();
    if is_folder && made == Made::File {
        return Some("is a folder; name a file to write".to_owned());
    }
    let is_empty = || std::fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_none());
    if is_folder && !is_empty() {
        return Some("is a folder with something in it; name a new or an empty one".to_owned());
    }
    let error = whole_files::try_out(place).err()?;
    Some(format!("cannot write into its folder: {error}"))
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
