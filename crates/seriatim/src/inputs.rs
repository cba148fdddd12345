//! From the arguments to inputs: files, standard input, directories that are a history, directories that hold some.

use seriatim_history::ReadError;
use seriatim_history::formats::is_history_directory;
use std::fs;
use std::path::{Path, PathBuf};

/// How an input came to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user named it.
    Named,
    /// It was found in a directory that the user named; files that are no histories are passed over there.
    Found,
}

/// One history to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The file or directory; `-` is standard input.
    pub path: PathBuf,
    /// The path as messages show it.
    pub shown: String,
    /// How it came to be an input.
    pub origin: Origin,
}

impl Input {
    fn new(path: PathBuf, origin: Origin) -> Self {
        Input { shown: path.display().to_string(), path, origin }
    }
}

/// An input, or a directory that could not be listed.
pub type Expanded = Result<Input, (String, ReadError)>;

/// The inputs that `args` name, in this order; those of a directory sorted by name.
pub fn expand(args: &[PathBuf]) -> Vec<Expanded> {
    args.iter().flat_map(|arg| if is_collection(arg) { walk(arg) } else { vec![Ok(named(arg))] }).collect()
}

fn named(arg: &Path) -> Input {
    Input::new(arg.to_owned(), Origin::Named)
}

/// Whether `path` is a directory that is not itself a history.
fn is_collection(path: &Path) -> bool {
    path != Path::new("-") && path.is_dir() && !is_history_directory(path)
}

fn walk(root: &Path) -> Vec<Expanded> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        if !path.is_dir() || is_history_directory(&path) {
            found.push(Ok(Input::new(path, Origin::Found)));
            continue;
        }
        match children(&path) {
            Ok(children) => waiting.extend(children.into_iter().rev()),
            Err(source) => found.push(Err(unlisted(&path, source))),
        }
    }
    found
}

/// Visible entries of a directory, by name. Links to directories are left out: they may lead in circles.
fn children(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut children = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let linked = entry.file_type()?.is_symlink() && entry.path().is_dir();
        if !hidden && !linked {
            children.push(entry.path());
        }
    }
    children.sort();
    Ok(children)
}

fn unlisted(dir: &Path, source: std::io::Error) -> (String, ReadError) {
    let shown = dir.display().to_string();
    let file = shown.as_str().into();
    (shown, ReadError::Io { file, source })
}
