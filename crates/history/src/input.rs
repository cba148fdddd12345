//! Opening an input: a file is mapped into memory (with the feature `large-files`; otherwise read),
//! a stream is read to its end, gzip and zstd are undone.
//!
//! The compression is recognised by its magic bytes, not by the file name. Errors name the file as
//! the user did.

use crate::compression::Compression;
use crate::error::{ReadError, Spot};
#[cfg(feature = "large-files")]
use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The content of an input, decompressed.
#[derive(Debug)]
pub struct Input(Content);

#[derive(Debug)]
enum Content {
    #[cfg(feature = "large-files")]
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Deref for Input {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            #[cfg(feature = "large-files")]
            Content::Mapped(map) => map,
            Content::Owned(bytes) => bytes,
        }
    }
}

impl Input {
    /// Opens a file, a FIFO or a device; `-` is the standard input. Errors call it `shown_as`. More
    /// than `bytes_max` bytes, plain or decompressed, are refused before they fill the memory.
    pub fn open(path: &Path, shown_as: &str, bytes_max: u64) -> Result<Input, ReadError> {
        let raw = if path == Path::new("-") {
            read_all(io::stdin().lock(), bytes_max)
        } else {
            open_raw(path, bytes_max)
        };
        let raw = raw.map_err(|source| io_error(shown_as, source))?;
        if raw.len() as u64 > bytes_max {
            return Err(over_limit(shown_as, bytes_max));
        }
        match decompress(&raw, shown_as, bytes_max)? {
            Some(bytes) => Ok(Input(Content::Owned(bytes))),
            None => Ok(raw),
        }
    }
}

/// Undoes gzip or zstd; `None` if the bytes are neither.
pub(crate) fn decompress(
    bytes: &[u8],
    shown_as: &str,
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(compression) = Compression::of_bytes(bytes) else { return Ok(None) };
    let name = compression.name();
    match compression.decoder(bytes).map_err(|source| io_error(shown_as, source))? {
        Some(decoder) => inflate(decoder, name, shown_as, bytes_max).map(Some),
        None => Err(ReadError::Compressed { file: shown_as.into(), compression: name }),
    }
}

fn inflate(
    decoder: impl Read,
    name: &str,
    shown_as: &str,
    bytes_max: u64,
) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    match decoder.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > bytes_max => Err(over_limit(shown_as, bytes_max)),
        Ok(_) => Ok(bytes),
        Err(error) => Err(compression_error(&error, name, bytes.len(), shown_as)),
    }
}

fn compression_error(error: &io::Error, name: &str, good: usize, shown_as: &str) -> ReadError {
    let (problem, hint) = if error.kind() == io::ErrorKind::UnexpectedEof {
        (
            format!("the {name} stream is truncated: it ends after {good} decompressed bytes"),
            "copy the file again",
        )
    } else {
        (
            format!("the {name} stream is damaged after {good} decompressed bytes ({error})"),
            "copy the file again",
        )
    };
    let spot = Spot { file: Some(shown_as.into()), ..Spot::default() };
    ReadError::Syntax { spot, problem, hint: Some(hint.to_owned()) }
}

/// Whether a path leads to a pipe, a socket or a device: something that may never end, or never
/// begin.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// How much of a file [`head`] reads.
const HEAD_BYTES: u64 = 1 << 14;

/// The beginning of a file, decompressed as far as it can be; nothing of a pipe or a device, which
/// can be read only once. A compressed file is an error without the feature that undoes it.
pub(crate) fn head(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(Vec::new());
    }
    let mut raw = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut raw)?;
    let Some(compression) = Compression::of_bytes(&raw) else { return Ok(raw) };
    let decoder = compression.decoder(&raw)?.ok_or(io::ErrorKind::Unsupported)?;
    let mut plain = Vec::new();
    // The stream is cut, so that it ends in an error: what came before is what we want.
    let _ = decoder.take(HEAD_BYTES).read_to_end(&mut plain);
    Ok(plain)
}

pub(crate) fn io_error(shown_as: &str, source: io::Error) -> ReadError {
    ReadError::Io { file: shown_as.into(), source }
}

fn over_limit(shown_as: &str, bytes_max: u64) -> ReadError {
    ReadError::OverLimit { file: shown_as.into(), bytes_max }
}

/// Reads a stream to its end, or until it is known to be too long.
fn read_all(stream: impl Read, bytes_max: u64) -> io::Result<Input> {
    let mut bytes = Vec::new();
    stream.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Input(Content::Owned(bytes)))
}

fn open_raw(path: &Path, bytes_max: u64) -> io::Result<Input> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // Files of length zero cannot be mapped; those of /proc and /sys only claim to be empty.
    if !metadata.is_file() || metadata.len() == 0 {
        return read_all(file, bytes_max);
    }
    read_file(file, bytes_max)
}

#[cfg(not(feature = "large-files"))]
fn read_file(file: File, bytes_max: u64) -> io::Result<Input> {
    read_all(file, bytes_max)
}

#[cfg(feature = "large-files")]
fn read_file(file: File, _: u64) -> io::Result<Input> {
    // SAFETY: the map is read-only and private to this process. As with every mapped file, a
    // process that truncates it while we read makes the operating system end us; we never see
    // memory that is not the file's.
    let map = unsafe { Mmap::map(&file)? };
    // Only a hint: reading is as correct without it.
    let _ = map.advise(Advice::Sequential);
    Ok(Input(Content::Mapped(map)))
}

/// A file of a directory that holds a history in several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The name without the directory, and without `.gz` or `.zst`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// As the user would name it.
    pub shown_as: Arc<str>,
}

/// The entries of a directory, directories included, in the order of the numbers in their names.
pub(crate) fn list_directory(path: &Path, shown_as: &str) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|source| io_error(shown_as, source))? {
        let entry = entry.map_err(|source| io_error(shown_as, source))?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let shown_as = format!("{}/{file_name}", shown_as.trim_end_matches('/')).into();
        let plain =
            file_name.strip_suffix(".gz").or(file_name.strip_suffix(".zst")).unwrap_or(&file_name);
        entries.push(Entry { name: plain.to_owned(), path: entry.path(), shown_as });
    }
    entries.sort_by_cached_key(|entry| (number_in(&entry.name), entry.name.clone()));
    Ok(entries)
}

/// The first number in a file name: 12 for `T12.log`.
pub(crate) fn number_in(name: &str) -> Option<u64> {
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let digits = &name[start..];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}
