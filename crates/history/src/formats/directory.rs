//! Histories that are a directory: which of its files belong to it, and in which format.

use super::text::Source;
use super::{Format, ReadOptions, cobra, detect, read_path, viper};
use crate::atom::Atom;
use crate::error::{ReadError, Spot};
use crate::input::{Entry, Input, head, is_special, list_directory, number_in};
use crate::model::History;
use rustc_hash::FxHashSet;
use std::path::Path;

/// Files that hold a whole history, in a directory of other things.
const WHOLE: &[&str] = &[
    "history.bincode",
    "history.edn",
    "history.jsonl",
    "history.json",
    "history.hist",
    "history.txt",
];

/// Those among them that a program leaves beside other files of the same run, which are no
/// histories.
const OF_A_RUN: &[&str] = &["history.bincode", "history.edn"];

/// How many directories inside each other are opened if each holds nothing but the next.
const DEPTH_MAX: usize = 4;

/// The file of a session.
pub(super) struct LogFile<'a> {
    /// The name of the session.
    pub session: Atom,
    pub source: Source,
    pub bytes: &'a [u8],
}

/// What makes a directory a history.
enum DirectoryLayout<'a> {
    Viper(Vec<&'a Entry>),
    Cobra(Vec<&'a Entry>),
    /// One file is all of it.
    Whole(&'a Entry),
}

/// Whether a directory is one history: client logs of Cobra or Viper, or what dbcop or Jepsen leave
/// of a run. A directory that cannot be listed is none, and neither is one that holds several
/// histories.
pub fn is_history_directory(path: &Path) -> bool {
    let shown_as = path.to_string_lossy();
    let Ok(mut entries) = list_directory(path, &shown_as) else { return false };
    entries.retain(may_belong);
    match find(&entries, None) {
        Some(DirectoryLayout::Whole(entry)) => OF_A_RUN.contains(&entry.name.as_str()),
        found => found.is_some(),
    }
}

/// Reads the history in a directory.
pub(super) fn read(
    path: &Path,
    shown_as: &str,
    options: &ReadOptions,
) -> Result<(History, Format), ReadError> {
    let mut entries = list_directory(path, shown_as)?;
    for _ in 0..DEPTH_MAX {
        match entries.as_slice() {
            [only] if only.path.is_dir() => entries = list_directory(&only.path, &only.shown_as)?,
            _ => break,
        }
    }
    entries.retain(may_belong);
    let source = Source::new(shown_as);
    match (find(&entries, options.format), entries.as_slice()) {
        (Some(DirectoryLayout::Viper(logs)), _) => Ok((
            viper::read(&log_files(&open(&logs, options.byte_limit())?), &source)?,
            Format::Viper,
        )),
        (Some(DirectoryLayout::Cobra(logs)), _) => Ok((
            cobra::read(&log_files(&open(&logs, options.byte_limit())?), &source)?,
            Format::Cobra,
        )),
        (Some(DirectoryLayout::Whole(entry)), _) | (None, [entry]) => {
            read_path(&entry.path, &entry.shown_as, options)
        }
        _ => Err(no_history(&entries, shown_as)),
    }
}

/// Whether an entry is a file, or is named like a session: a session that cannot be read must be an
/// error, not one less.
fn may_belong(entry: &Entry) -> bool {
    !entry.path.is_dir() && (is_client(&entry.name) || !is_special(&entry.path))
}

/// Looks at the names of the files, and at the beginnings of those that may be logs. One that
/// cannot be opened may be a log; the reader of the history will say why it cannot.
fn find(entries: &[Entry], wanted: Option<Format>) -> Option<DirectoryLayout<'_>> {
    let wants = |format: Format| wanted.is_none_or(|wanted| wanted == format);
    if wants(Format::Viper) {
        let logs: Vec<&Entry> =
            entries.iter().filter(|entry| entry.name.starts_with('J')).collect();
        if logs
            .iter()
            .any(|log| head(&log.path).is_ok_and(|head| detect(&head) == Some(Format::Viper)))
        {
            return Some(DirectoryLayout::Viper(logs));
        }
    }
    let cobra =
        if wants(Format::Cobra) { cobra_logs(entries, wanted) } else { CobraLogs::default() };
    let whole = entries.iter().find(|entry| WHOLE.contains(&entry.name.as_str()));
    match whole {
        Some(whole) if !cobra.certain => Some(DirectoryLayout::Whole(whole)),
        _ if cobra.logs.is_empty() => None,
        _ => Some(DirectoryLayout::Cobra(cobra.logs)),
    }
}

/// The files of a directory that are sessions if it is a history of Cobra's.
#[derive(Default)]
struct CobraLogs<'a> {
    logs: Vec<&'a Entry>,
    /// Whether one of them can be nothing else; empty files say nothing.
    certain: bool,
}

/// Other programs call their logs `.log`, too: a text is none of Cobra's. But a damaged log must be
/// an error, not a session less, so that what is named like one or is not text counts if another
/// file shows the format.
fn cobra_logs(entries: &[Entry], wanted: Option<Format>) -> CobraLogs<'_> {
    let mut found = CobraLogs { logs: Vec::new(), certain: wanted.is_some() };
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".log")) {
        let head = head(&entry.path).ok();
        let is_empty = head.as_ref().is_some_and(Vec::is_empty);
        let certain =
            (is_client(&entry.name) && !is_empty) || head.as_deref().is_some_and(cobra::looks_like);
        let is_text = !is_empty && head.as_deref().is_some_and(is_text);
        if certain || wanted.is_some() || !is_text {
            found.logs.push(entry);
        }
        found.certain |= certain;
    }
    if !found.certain && !found.logs.iter().any(|entry| is_client(&entry.name)) {
        found.logs.clear();
    }
    found
}

/// `T12.log`
fn is_client(name: &str) -> bool {
    let number = name.strip_prefix('T').and_then(|name| name.strip_suffix(".log"));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a beginning of a file is text; its last character may be cut.
fn is_text(head: &[u8]) -> bool {
    let valid =
        std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    valid && !head.contains(&0)
}

/// Opens all logs, which share the limit.
fn open<'a>(logs: &[&'a Entry], bytes_max: u64) -> Result<Vec<(&'a Entry, Input)>, ReadError> {
    let mut left = bytes_max;
    let open_one = |&entry: &&'a Entry| {
        if is_special(&entry.path) {
            return Err(no_file(entry));
        }
        let input = Input::open(&entry.path, &entry.shown_as, left)?;
        left -= input.len() as u64;
        Ok((entry, input))
    };
    logs.iter().map(open_one).collect()
}

fn log_files<'a>(logs: &'a [(&Entry, Input)]) -> Vec<LogFile<'a>> {
    // Names must tell the sessions apart: T1.log beside T1.log.gz, say, or J1.log.
    let mut seen = FxHashSet::default();
    let unique = logs.iter().all(|(entry, _)| seen.insert(session_name(&entry.name)));
    let file = |(entry, input): &'a (&Entry, Input)| LogFile {
        session: if unique {
            session_name(&entry.name)
        } else {
            Atom::Str((&*entry.shown_as).into())
        },
        source: Source { name: entry.shown_as.clone() },
        bytes: input,
    };
    logs.iter().map(file).collect()
}

/// `T12.log` is session 12; a file that is called otherwise gives the session its own name.
fn session_name(file: &str) -> Atom {
    let stem = file.strip_suffix(".log").or(file.strip_suffix(".json")).unwrap_or(file);
    let digits = stem.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    match number_in(digits) {
        Some(number) if number.to_string() == digits && stem.len() - digits.len() == 1 => {
            Atom::Int(number.into())
        }
        _ => Atom::Str(stem.into()),
    }
}

/// A pipe would keep us waiting for its writer.
fn no_file(entry: &Entry) -> ReadError {
    let spot = Spot { file: Some(entry.shown_as.clone()), ..Spot::default() };
    let hint = Some(
        "store what it carries in a file of this name, or take it out of the directory".to_owned(),
    );
    ReadError::Syntax {
        spot,
        problem: "this log is a pipe, a socket or a device, not a file".to_owned(),
        hint,
    }
}

fn no_history(entries: &[Entry], shown_as: &str) -> ReadError {
    let names: Vec<&str> = entries.iter().take(3).map(|entry| entry.name.as_str()).collect();
    let more = if entries.len() > 3 { ", …" } else { "" };
    let detail = match names.as_slice() {
        [] => "the directory has no files".to_owned(),
        names => format!(
            "a directory with {}{more}, but no T*.log, J*.log or history.*",
            names.join(", ")
        ),
    };
    ReadError::UnknownFormat {
        spot: Spot { file: Some(shown_as.into()), ..Spot::default() },
        detail,
    }
}
