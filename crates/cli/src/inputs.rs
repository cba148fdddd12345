//! From the arguments to inputs: files, standard input, directories that are a history, directories
//! that hold some.

use crate::exit::Failure;
use crate::output;
use crate::progress::Progress;
use seriatim_history::formats::{self, Format, ReadOptions, is_history_directory};
use seriatim_history::{History, ReadError, Spot, is_special};
use seriatim_report::text::{self, plural};
use seriatim_report::{Unreadable, clean};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many files that were passed over are named.
const NAMED_MAX: usize = 5;
const NOTHING_FOUND: &str = "no histories found in this directory";

/// How an input came to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user named it.
    Named,
    /// It was found in this directory, which the user named; files that are no histories are passed
    /// over there.
    Found(Arc<Path>),
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

    /// Whether it is passed over unopened: a pipe that was only found in a directory may never have
    /// a writer.
    pub fn is_skipped(&self) -> bool {
        self.origin != Origin::Named && is_special(&self.path)
    }
}

/// An input, or a directory that could not be listed.
pub type Expanded = Result<Input, (String, ReadError)>;

/// The inputs that `args` name, in this order; those of a directory sorted by name.
pub fn expand(args: &[PathBuf]) -> Result<Vec<Expanded>, Failure> {
    if args.iter().filter(|arg| is_stdin(arg)).count() > 1 {
        return Err(Failure::Message(
            "only one of the inputs can be standard input; name `-` once".to_owned(),
        ));
    }
    Ok(args
        .iter()
        .flat_map(|arg| if is_collection(arg) { walk(arg) } else { vec![Ok(named(arg))] })
        .collect())
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn named(arg: &Path) -> Input {
    Input::new(arg.to_owned(), Origin::Named)
}

/// Whether `path` is a directory that is not itself a history.
fn is_collection(path: &Path) -> bool {
    !is_stdin(path) && path.is_dir() && !is_history_directory(path)
}

fn walk(root: &Path) -> Vec<Expanded> {
    let named: Arc<Path> = root.into();
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        if !path.is_dir() || is_history_directory(&path) {
            found.push(Ok(Input::new(path, Origin::Found(Arc::clone(&named)))));
            continue;
        }
        match children(&path) {
            Ok(children) => waiting.extend(children.into_iter().rev()),
            Err(source) => found.push(Err(unlisted(&path, source))),
        }
    }
    if found.is_empty() {
        found.push(Err(empty(root)));
    }
    found
}

/// Visible entries of a directory, by name. Links to directories are left out: they may lead in
/// circles.
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

/// A directory without files is a mistake, not a history less.
fn empty(dir: &Path) -> (String, ReadError) {
    let shown = dir.display().to_string();
    let spot = Spot { file: Some(shown.as_str().into()), ..Spot::default() };
    let hint = Some("it has no files; is it the right one?".to_owned());
    (shown, ReadError::Syntax { spot, problem: NOTHING_FOUND.to_owned(), hint })
}

fn unlisted(dir: &Path, source: std::io::Error) -> (String, ReadError) {
    let shown = dir.display().to_string();
    let file = shown.as_str().into();
    (shown, ReadError::Io { file, source })
}

/// What became of the files in the directories that were searched.
pub struct InputSearch {
    /// For each directory how many of its files have not been passed over.
    left: BTreeMap<Arc<Path>, usize>,
    passed_over: Vec<String>,
}

impl InputSearch {
    /// Before any input is read.
    pub fn new(inputs: &[Expanded]) -> Self {
        let mut left = BTreeMap::new();
        for input in inputs.iter().flatten() {
            if let Origin::Found(directory) = &input.origin {
                *left.entry(Arc::clone(directory)).or_default() += 1;
            }
        }
        InputSearch { left, passed_over: Vec::new() }
    }

    /// `input` turned out to be no history.
    pub fn pass_over(&mut self, input: &Input) {
        if let Origin::Found(directory) = &input.origin {
            self.passed_over.push(input.shown.clone());
            self.left.entry(Arc::clone(directory)).and_modify(|left| *left -= 1);
        }
    }

    /// Which files were passed over, in a line; `None` if none was.
    pub fn note(&self) -> Option<String> {
        let count = self.passed_over.len();
        if count == 0 {
            return None;
        }
        let named = clean(&self.passed_over[..count.min(NAMED_MAX)].join(", "));
        let more = if count > NAMED_MAX {
            format!(" and {} more", count - NAMED_MAX)
        } else {
            String::new()
        };
        Some(format!(
            "note: passed over {} without a history: {named}{more}\n",
            plural(count as u64, "file")
        ))
    }

    /// The directories in which nothing else was found.
    pub fn barren(&self) -> impl Iterator<Item = Unreadable> {
        let barren = self.left.iter().filter(|(_, left)| **left == 0);
        barren.map(|(directory, _)| {
            let shown = directory.display().to_string();
            let spot = Spot { file: Some(shown.as_str().into()), ..Spot::default() };
            let hint = Some("name one of its files to see what is wrong with it".to_owned());
            Unreadable { input: shown, message: NOTHING_FOUND.to_owned(), spot, hint }
        })
    }
}

/// Reads one history and says what it does; `None` if it cannot be read, which is said too.
pub fn read_input(
    path: &Path,
    options: ReadOptions,
    progress: Option<&Progress>,
) -> Option<(History, Format)> {
    let read = try_input(path, options, progress);
    let shown = path.display().to_string();
    read.map_err(|error| output::message(&text::render_error(&Unreadable::new(&shown, &error))))
        .ok()
}

/// Reads one history and says what it does.
pub fn try_input(
    path: &Path,
    options: ReadOptions,
    progress: Option<&Progress>,
) -> Result<(History, Format), ReadError> {
    let shown = path.display().to_string();
    if let Some(progress) = progress {
        progress.stage().now(format!("reading {shown}"));
    }
    let meter = progress.map(|progress| progress.stage().meter());
    formats::read_path(path, &shown, &ReadOptions { meter, ..options })
}
