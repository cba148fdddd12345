//! Histories that are a directory: which of its files belong to it, and in which format.

use super::text::Source;
use super::{Format, ReadOptions, cobra, read_path, viper};
use crate::atom::Atom;
use crate::error::ReadError;
use crate::input::{Entry, Input, list_directory, number_in};
use crate::model::History;
use rustc_hash::FxHashSet;
use std::path::Path;

/// Files that hold a whole history, in a directory of other things.
const WHOLE: &[&str] =
    &["history.bincode", "history.edn", "history.jsonl", "history.json", "history.hist", "history.txt"];

/// How many directories inside each other are opened if each holds nothing but the next.
const DEPTH_MAX: usize = 4;

/// The file of a session.
pub(super) struct LogFile<'a> {
    /// The name of the session.
    pub session: Atom,
    pub source: Source,
    pub bytes: &'a [u8],
}

/// Reads the history in a directory.
pub(super) fn read(path: &Path, shown_as: &str, options: &ReadOptions) -> Result<(History, Format), ReadError> {
    let mut entries = list_directory(path, shown_as)?;
    for _ in 0..DEPTH_MAX {
        match entries.as_slice() {
            [only] if only.path.is_dir() => entries = list_directory(&only.path, &only.shown_as)?,
            _ => break,
        }
    }
    entries.retain(|entry| !entry.path.is_dir());
    let wants = |format: Format| options.format.is_none_or(|wanted| wanted == format);
    if wants(Format::Viper) {
        let logs = open(&entries, |name| name.starts_with('J'))?;
        if logs.iter().any(|(_, input)| input.trim_ascii_start().starts_with(b"{")) {
            return Ok((viper::read(&log_files(&logs), &Source::new(shown_as))?, Format::Viper));
        }
    }
    if wants(Format::Cobra) {
        let logs = open(&entries, |name| name.ends_with(".log"))?;
        if !logs.is_empty() {
            return Ok((cobra::read(&log_files(&logs), &Source::new(shown_as))?, Format::Cobra));
        }
    }
    let whole = entries.iter().find(|entry| WHOLE.contains(&entry.name.as_str()));
    match (whole, entries.as_slice()) {
        (Some(entry), _) | (None, [entry]) => read_path(&entry.path, &entry.shown_as, options),
        _ => Err(no_history(&entries, shown_as)),
    }
}

fn open(entries: &[Entry], is_log: impl Fn(&str) -> bool) -> Result<Vec<(&Entry, Input)>, ReadError> {
    let logs = entries.iter().filter(|entry| is_log(&entry.name));
    logs.map(|entry| Ok((entry, Input::open(&entry.path, &entry.shown_as)?))).collect()
}

fn log_files<'a>(logs: &'a [(&Entry, Input)]) -> Vec<LogFile<'a>> {
    // Names must tell the sessions apart: T1.log beside T1.log.gz, say, or J1.log.
    let mut seen = FxHashSet::default();
    let unique = logs.iter().all(|(entry, _)| seen.insert(session_name(&entry.name)));
    let file = |(entry, input): &'a (&Entry, Input)| LogFile {
        session: if unique { session_name(&entry.name) } else { Atom::Str((&*entry.shown_as).into()) },
        source: Source { name: entry.shown_as.clone() },
        bytes: input,
    };
    logs.iter().map(file).collect()
}

/// `T12.log` is session 12; a file that is called otherwise gives the session its own name.
fn session_name(file: &str) -> Atom {
    let stem = file.strip_suffix(".log").unwrap_or(file);
    let digits = stem.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    match number_in(digits) {
        Some(number) if number.to_string() == digits && stem.len() - digits.len() == 1 => Atom::Int(number.into()),
        _ => Atom::Str(stem.into()),
    }
}

fn no_history(entries: &[Entry], shown_as: &str) -> ReadError {
    let names: Vec<&str> = entries.iter().take(3).map(|entry| entry.name.as_str()).collect();
    let more = if entries.len() > 3 { ", …" } else { "" };
    let detail = match names.as_slice() {
        [] => "the directory has no files".to_owned(),
        names => format!("a directory with {}{more}, but no T*.log, J*.log or history.*", names.join(", ")),
    };
    ReadError::UnknownFormat { file: shown_as.into(), detail }
}
