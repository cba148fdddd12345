//! The file formats, one file each, and how an input's format is recognised.
//!
//! [`read_path`] opens whatever the user names, finds out its format from the content, and reads
//! it; [`write_path`] and [`write()`] go the other way. A format that cannot hold something says so
//! ([`crate::WriteError::Unsupported`]) rather than to write another history; what is lost without
//! another verdict (initial values, say) [`losses`] counts.

mod advice;
mod awdit;
mod build;
mod bytes;
mod cobra;
mod dbcop;
mod detect;
mod directory;
mod elle;
mod isopredict;
mod json;
pub mod jsonl;
mod losses;
mod names;
mod plume;
mod refusals;
mod renumbered;
mod text;
mod unknown_values;
mod viper;
mod write_path;

pub use detect::detect;
pub use directory::is_history_directory;
pub use losses::{Loss, losses};
pub use names::formats_of_name;
pub use write_path::write_path;

use crate::atom::Atom;
use crate::error::{ReadError, WriteError};
use crate::ids::SessionId;
use crate::input::{self, Input};
use crate::meter::Meter;
use crate::model::History;
use crate::write_out::TooManyReads;
use advice::advised;
use directory::LogFile;
use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use text::Source;

/// A file format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Register text, one operation a line.
    Plume,
    /// Cobra's binary client logs, one file a session.
    Cobra,
    /// dbcop's binary files.
    DbcopBincode,
    /// dbcop's text.
    DbcopHist,
    /// dbcop's JSON.
    DbcopJson,
    /// AWDIT's text.
    Awdit,
    /// Elle's and Jepsen's histories in EDN.
    ElleEdn,
    /// The same maps in JSON.
    ElleJson,
    /// Traces in which reads name their writers.
    IsoPredict,
    /// Viper's JSON logs, one file a session.
    Viper,
    /// Our own JSON lines.
    Jsonl,
}

/// Code and description of each format.
const TABLE: &[(Format, &str, &str)] = &[
    (
        Format::Plume,
        "plume",
        "register text, r(key,value,session,txn) a line (Plume, PolySI, IsoVista)",
    ),
    (
        Format::Cobra,
        "cobra",
        "directory of binary client logs T<n>.log (Cobra, PolySI, VeriStrong)",
    ),
    (Format::DbcopBincode, "dbcop", "dbcop's binary history.bincode"),
    (Format::DbcopHist, "dbcop-hist", "dbcop's text, transactions like [x:=1 y==2]"),
    (Format::DbcopJson, "dbcop-json", "dbcop's JSON"),
    (
        Format::Awdit,
        "awdit",
        "AWDIT's text, `w K V` a line between lines of dashes and equal signs",
    ),
    (Format::ElleEdn, "elle", "Jepsen history in EDN, list-append or rw-register (Elle)"),
    (Format::ElleJson, "elle-json", "Jepsen history as JSON objects, an array or one a line"),
    (
        Format::IsoPredict,
        "isopredict",
        "trace in which each read names the transaction that it reads from",
    ),
    (Format::Viper, "viper", "directory of JSON logs J<n>.log, a transaction a line"),
    (Format::Jsonl, "jsonl", "Seriatim's own JSON lines, a transaction a line; holds everything"),
];

impl Format {
    /// All formats.
    pub const ALL: &'static [Format] = &[
        Format::Plume,
        Format::Cobra,
        Format::DbcopBincode,
        Format::DbcopHist,
        Format::DbcopJson,
        Format::Awdit,
        Format::ElleEdn,
        Format::ElleJson,
        Format::IsoPredict,
        Format::Viper,
        Format::Jsonl,
    ];

    fn entry(self) -> &'static (Format, &'static str, &'static str) {
        // The table has every variant: a test holds it to that.
        TABLE.iter().find(|entry| entry.0 == self).unwrap_or(&TABLE[0])
    }

    /// The name on the command line.
    pub fn code(self) -> &'static str {
        self.entry().1
    }

    /// One line about it.
    pub fn description(self) -> &'static str {
        self.entry().2
    }

    /// Whether transactions that did not commit can be written.
    pub fn holds_aborted(self) -> bool {
        !matches!(self, Format::Cobra | Format::Awdit | Format::IsoPredict | Format::Viper)
    }

    /// Whether reads of initial values can be written.
    pub fn holds_initial_values(self) -> bool {
        self != Format::Awdit
    }

    /// Whether a history is a directory with a file for each session.
    pub fn is_directory_format(self) -> bool {
        matches!(self, Format::Cobra | Format::Viper)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// No format has this name.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownFormatName {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownFormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: Vec<_> = Format::ALL.iter().map(|format| format.code()).collect();
        write!(f, "no format is called `{}`; there are {}", self.name, codes.join(", "))
    }
}

impl std::error::Error for UnknownFormatName {}

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Format, UnknownFormatName> {
        let entry = TABLE.iter().find(|entry| entry.1 == name);
        entry.map(|entry| entry.0).ok_or_else(|| UnknownFormatName { name: name.to_owned() })
    }
}

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, if the user named it; otherwise the content decides.
    pub format: Option<Format>,
    /// How many threads a reader may use; 0 means as many as the machine has.
    pub threads: usize,
    /// Where a reader of large files may say how far it has come.
    pub meter: Option<Arc<Meter>>,
    /// The most bytes that are read, plain or decompressed; larger inputs are refused with
    /// [`ReadError::OverLimit`].
    pub bytes_max: Option<u64>,
    /// Whether operations of clients that the reader does not understand are passed over instead of
    /// being an error: [`History::unknown_content`] counts them.
    pub skip_unknown: bool,
}

impl ReadOptions {
    fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get()),
            count => count,
        }
    }

    fn byte_limit(&self) -> u64 {
        self.bytes_max.unwrap_or(u64::MAX)
    }
}

/// Whether a history in this format is a directory with a file for each session.
pub fn is_directory_format(format: Format) -> bool {
    format.is_directory_format()
}

/// Reads the file or directory `path`, which messages call `shown_as`; `-` is the standard input.
pub fn read_path(
    path: &Path,
    shown_as: &str,
    options: &ReadOptions,
) -> Result<(History, Format), ReadError> {
    if path != Path::new("-") && path.is_dir() {
        return directory::read(path, shown_as, options);
    }
    let input = Input::open(path, shown_as, options.byte_limit())?;
    read_plain(&input, shown_as, options)
}

/// Reads a history from memory, compressed or not, as if it were the content of the file
/// `shown_as`.
pub fn read_bytes(
    bytes: &[u8],
    shown_as: &str,
    options: &ReadOptions,
) -> Result<(History, Format), ReadError> {
    match input::decompress(bytes, shown_as, options.byte_limit())? {
        Some(plain) => read_plain(&plain, shown_as, options),
        None => read_plain(bytes, shown_as, options),
    }
}

fn read_plain(
    bytes: &[u8],
    shown_as: &str,
    options: &ReadOptions,
) -> Result<(History, Format), ReadError> {
    let source = Source::new(shown_as);
    let is_binary = matches!(options.format, Some(Format::Cobra | Format::DbcopBincode));
    if let Some(error) = detect::utf16(bytes, &source).filter(|_| !is_binary) {
        return Err(error);
    }
    let format = match options.format.or_else(|| detect(bytes)) {
        Some(format) => format,
        None => return Err(detect::unknown(bytes, &source)),
    };
    let history = match format {
        Format::Plume => {
            plume::read(bytes, &source, options.thread_count(), options.meter.as_deref())
        }
        Format::Cobra => cobra::read(&[only_file(bytes, &source)], &source),
        Format::DbcopBincode => dbcop::bincode::read(bytes, &source),
        Format::DbcopHist => dbcop::hist::read(bytes, &source),
        Format::DbcopJson => dbcop::json::read(bytes, &source),
        Format::Awdit => awdit::read(bytes, &source),
        Format::ElleEdn => elle::read_edn(bytes, &source, options),
        Format::ElleJson => elle::read_json(bytes, &source, options),
        Format::IsoPredict => isopredict::read(bytes, &source),
        Format::Viper => viper::read(&[only_file(bytes, &source)], &source),
        Format::Jsonl => jsonl::read(bytes, &source),
    }?;
    Ok((history, format))
}

/// A single log stands for a history of one session.
fn only_file<'a>(bytes: &'a [u8], source: &Source) -> LogFile<'a> {
    LogFile { session: Atom::Int(1), source: source.clone(), bytes }
}

/// Writes a history to a stream. Formats with a file for each session can only do that for a single
/// session. What cannot be expressed is an error that names formats that can.
pub fn write(history: &History, format: Format, out: &mut dyn Write) -> Result<(), WriteError> {
    if format.is_directory_format() && history.session_count() != 1 {
        return Err(several_sessions(history, format));
    }
    write_as(history, format, out).map_err(|error| advised(history, error))
}

/// Refuses what would be forgotten: that there are transactions of unknown content.
fn refuse_unknown_content(history: &History, format: Format) -> Result<(), WriteError> {
    match history.unknown_content() {
        0 => Ok(()),
        _ if format == Format::Jsonl => Ok(()),
        count => {
            let what = format!("that {count} transactions of unknown content are missing");
            Err(WriteError::Unsupported { format: format.code(), what, hint: String::new() })
        }
    }
}

/// The most reads of scans that are written to a format that has no scans.
const SCANNED_READS_MAX: u64 = 10_000_000;

/// The history as a format can hold it: only our own has scans, others get their reads.
fn without_scans(history: &History, format: Format) -> Result<Cow<'_, History>, WriteError> {
    if format == Format::Jsonl || history.scans().is_empty() {
        return Ok(Cow::Borrowed(history));
    }
    let refusal = |too_many: TooManyReads| WriteError::Unsupported {
        format: format.code(),
        what: too_many.to_string(),
        hint: String::new(),
    };
    history.written_out(SCANNED_READS_MAX).map(Cow::Owned).map_err(refusal)
}

/// Writes a history, of a directory format only the first session.
fn write_as(history: &History, format: Format, out: &mut dyn Write) -> Result<(), WriteError> {
    refuse_unknown_content(history, format)?;
    let history = &*without_scans(history, format)?;
    match format {
        Format::Plume => plume::write(history, out),
        Format::Cobra => cobra::LogWriter::new(history)?.write(SessionId(0), out),
        Format::DbcopBincode => dbcop::bincode::write(history, out),
        Format::DbcopHist => dbcop::hist::write(history, out),
        Format::DbcopJson => dbcop::json::write(history, out),
        Format::Awdit => awdit::write(history, out),
        Format::ElleEdn => elle::write_edn(history, out),
        Format::ElleJson => elle::write_json(history, out),
        Format::IsoPredict => isopredict::write(history, out),
        Format::Viper => {
            let logs = viper::LogWriter::new(history)?;
            if logs.needs_initial {
                logs.write_initial(out)?;
            }
            logs.write(SessionId(0), out)
        }
        Format::Jsonl => jsonl::write(history, out),
    }
}

fn several_sessions(history: &History, format: Format) -> WriteError {
    let what = format!("{} sessions in one file", history.session_count());
    WriteError::Unsupported {
        format: format.code(),
        what,
        hint: "name a directory to write to".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_code_that_leads_back_to_it() {
        for &format in Format::ALL {
            assert_eq!(format.entry().0, format);
            assert_eq!(format.code().parse(), Ok(format));
            assert_eq!(format.to_string(), format.code());
        }
        assert_eq!(Format::ALL.len(), TABLE.len());
        let error = "nonsense".parse::<Format>().unwrap_err().to_string();
        assert!(error.contains("plume, cobra, dbcop, dbcop-hist"), "{error}");
    }
}
