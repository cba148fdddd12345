//! A cursor over binary input that never reads past its end and never believes a length.

use super::text::Source;
use crate::error::ReadError;

/// Bytes and a position among them.
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
    source: &'a Source,
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8], source: &'a Source) -> Bytes<'a> {
        Bytes { bytes, at: 0, source }
    }

    /// The position, for places.
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at `position`.
    pub fn fail_at(&self, position: usize, problem: impl Into<String>) -> ReadError {
        self.source.at_byte(position, problem)
    }

    /// The next `count` bytes, which are `what`.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ReadError> {
        if count > self.remaining() {
            let problem = format!(
                "the file is truncated: {what} takes {count} bytes, but only {} are left",
                self.remaining()
            );
            return Err(self.fail_at(self.at, problem));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn word(&mut self, what: &str) -> Result<[u8; 8], ReadError> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8, what)?);
        Ok(word)
    }

    pub fn u8(&mut self, what: &str) -> Result<u8, ReadError> {
        Ok(self.take(1, what)?[0])
    }

    pub fn u64_le(&mut self, what: &str) -> Result<u64, ReadError> {
        Ok(u64::from_le_bytes(self.word(what)?))
    }

    pub fn u64_be(&mut self, what: &str) -> Result<u64, ReadError> {
        Ok(u64::from_be_bytes(self.word(what)?))
    }

    /// A little-endian count of things that take at least `least` bytes each: more than can follow
    /// is a mistake.
    pub fn count_le(&mut self, least: usize, what: &str) -> Result<usize, ReadError> {
        let start = self.at;
        let count = self.u64_le(what)?;
        let most = self.remaining() / least.max(1);
        match usize::try_from(count).ok().filter(|&count| count <= most) {
            Some(count) => Ok(count),
            None => Err(self.fail_at(
                start,
                format!("{what} is {count}, but only {most} can follow in this file"),
            )),
        }
    }
}
