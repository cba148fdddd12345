//! gzip and zstd: recognised always, undone and made with the feature `compression`.
//!
//! A file is recognised by its magic bytes, not by its name; an output is compressed as its name
//! asks for. The codecs are a feature because zstd is C code, which a library for tests should not
//! make every project build; without it a compressed input is an error that names the feature.

use std::io::{self, Read, Write};
use std::path::Path;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression of these bytes; `None` if they are plain.
    pub fn of_bytes(bytes: &[u8]) -> Option<Compression> {
        if bytes.starts_with(GZIP_MAGIC) {
            return Some(Compression::Gzip);
        }
        bytes.starts_with(ZSTD_MAGIC).then_some(Compression::Zstd)
    }

    /// The compression that the name of an output asks for.
    pub fn of_name(path: &Path) -> Option<Compression> {
        match path.extension()?.to_str()? {
            "gz" => Some(Compression::Gzip),
            "zst" => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// As messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// The content of a compressed stream; `None` without the feature.
    #[cfg(feature = "compression")]
    pub fn decoder(self, bytes: &[u8]) -> io::Result<Option<Box<dyn Read + '_>>> {
        Ok(Some(match self {
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        }))
    }

    /// The content of a compressed stream; `None` without the feature.
    #[cfg(not(feature = "compression"))]
    pub fn decoder(self, _: &[u8]) -> io::Result<Option<Box<dyn Read + '_>>> {
        Ok(None)
    }

    /// A stream that compresses what is written to it; `None` without the feature.
    #[cfg(feature = "compression")]
    pub fn encoder<W: Write + 'static>(self, out: W) -> io::Result<Option<Box<dyn Encoder<W>>>> {
        Ok(Some(match self {
            Compression::Gzip => {
                Box::new(flate2::write::GzEncoder::new(out, flate2::Compression::default()))
            }
            Compression::Zstd => Box::new(zstd::Encoder::new(out, 0)?),
        }))
    }

    /// A stream that compresses what is written to it; `None` without the feature.
    #[cfg(not(feature = "compression"))]
    pub fn encoder<W: Write + 'static>(self, _: W) -> io::Result<Option<Box<dyn Encoder<W>>>> {
        Ok(None)
    }
}

/// A compressing stream.
pub(crate) trait Encoder<W>: Write {
    /// Writes the end of the compressed stream and returns what is behind it.
    fn finish(self: Box<Self>) -> io::Result<W>;
}

#[cfg(feature = "compression")]
impl<W: Write> Encoder<W> for flate2::write::GzEncoder<W> {
    fn finish(self: Box<Self>) -> io::Result<W> {
        flate2::write::GzEncoder::finish(*self)
    }
}

#[cfg(feature = "compression")]
impl<W: Write> Encoder<W> for zstd::Encoder<'static, W> {
    fn finish(self: Box<Self>) -> io::Result<W> {
        zstd::Encoder::finish(*self)
    }
}
