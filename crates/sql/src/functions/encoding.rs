//! Bytes as text (`encode`, `decode`) and text as bytes (`convert_to`, `convert_from`).
//!
//! The server's encoding is UTF8; of the others only those are known whose conversion is a
//! formula.

use super::arguments::Entry;
use crate::error::{Result, SqlError, code};
use std::fmt::Write;

/// How many characters `encode` puts on a line of base64.
const LINE: usize = 76;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// Two digits for each byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn hex_digit(character: char) -> Result<u8> {
    let digit = character.to_digit(16).map(|digit| digit as u8);
    digit.ok_or_else(|| invalid(format!("invalid hexadecimal digit: \"{character}\"")))
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut digits = text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r'));
    while let Some(first) = digits.next() {
        let high = hex_digit(first)?;
        let odd = || invalid("invalid hexadecimal data: odd number of digits");
        let low = hex_digit(digits.next().ok_or_else(odd)?)?;
        bytes.push(high << 4 | low);
    }
    Ok(bytes)
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    let mut column = 0;
    for chunk in bytes.chunks(3) {
        if column == LINE {
            text.push('\n');
            column = 0;
        }
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(group >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { digit.into() } else { '=' });
        }
        column += 4;
    }
    text
}

fn base64_digit(character: char) -> Result<u32> {
    let unknown =
        || invalid(format!("invalid symbol \"{character}\" found while decoding base64 sequence"));
    let found = ALPHABET.iter().position(|&digit| char::from(digit) == character);
    found.map(|at| at as u32).ok_or_else(unknown)
}

fn from_base64(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut group, mut count, mut end) = (0_u32, 0, 0);
    for character in text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r')) {
        let digit = if character == '=' {
            if end == 0 {
                end = match count {
                    2 => 1,
                    3 => 2,
                    _ => return Err(invalid("unexpected \"=\" while decoding base64 sequence")),
                };
            }
            0
        } else {
            base64_digit(character)?
        };
        group = group << 6 | digit;
        count += 1;
        if count == 4 {
            let kept = if end == 0 { 3 } else { end };
            bytes.extend_from_slice(&group.to_be_bytes()[1..1 + kept]);
            (group, count) = (0, 0);
        }
    }
    if count != 0 {
        let hint = "Input data is missing padding, is truncated, or is otherwise corrupted.";
        return Err(invalid("invalid base64 end sequence").hint(hint));
    }
    Ok(bytes)
}

/// Zero and bytes beyond ASCII in octal, backslashes doubled.
fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            0 | 0x80.. => {
                let _ = write!(text, "\\{byte:03o}");
            }
            _ => text.push(byte.into()),
        }
    }
    text
}

fn octal(digits: &[u8]) -> Option<u8> {
    let [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] = digits else {
        return None;
    };
    Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
}

fn from_escape(text: &str) -> Result<Vec<u8>> {
    let source = text.as_bytes();
    let mut bytes = Vec::with_capacity(source.len());
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at + 1..];
        let (byte, length) = match source[at] {
            b'\\' if rest.first() == Some(&b'\\') => (b'\\', 2),
            b'\\' => {
                let message = "invalid input syntax for type bytea";
                let error = || SqlError::new(code::INVALID_TEXT_REPRESENTATION, message);
                (octal(rest).ok_or_else(error)?, 4)
            }
            byte => (byte, 1),
        };
        bytes.push(byte);
        at += length;
    }
    Ok(bytes)
}

fn unrecognized(encoding: &str) -> SqlError {
    invalid(format!("unrecognized encoding: \"{encoding}\""))
}

fn encode(bytes: &[u8], encoding: &str) -> Result<String> {
    match encoding.to_ascii_lowercase().as_str() {
        "hex" => Ok(hex(bytes)),
        "base64" => Ok(base64(bytes)),
        "escape" => Ok(escape(bytes)),
        _ => Err(unrecognized(encoding)),
    }
}

fn decode(text: &str, encoding: &str) -> Result<Vec<u8>> {
    match encoding.to_ascii_lowercase().as_str() {
        "hex" => from_hex(text),
        "base64" => from_base64(text),
        "escape" => from_escape(text),
        _ => Err(unrecognized(encoding)),
    }
}

/// Encodings by number and name, as `pg_encoding_to_char` numbers them.
const ENCODINGS: &[(i32, &str)] = &[
    (0, "SQL_ASCII"),
    (1, "EUC_JP"),
    (2, "EUC_CN"),
    (3, "EUC_KR"),
    (4, "EUC_TW"),
    (5, "EUC_JIS_2004"),
    (6, "UTF8"),
    (7, "MULE_INTERNAL"),
    (8, "LATIN1"),
    (9, "LATIN2"),
    (10, "LATIN3"),
    (11, "LATIN4"),
    (12, "LATIN5"),
    (13, "LATIN6"),
    (14, "LATIN7"),
    (15, "LATIN8"),
    (16, "LATIN9"),
    (17, "LATIN10"),
    (18, "WIN1256"),
    (19, "WIN1258"),
    (20, "WIN866"),
    (21, "WIN874"),
    (22, "KOI8R"),
    (23, "WIN1251"),
    (24, "WIN1252"),
    (25, "ISO_8859_5"),
    (26, "ISO_8859_6"),
    (27, "ISO_8859_7"),
    (28, "ISO_8859_8"),
    (29, "WIN1250"),
    (30, "WIN1253"),
    (31, "WIN1254"),
    (32, "WIN1255"),
    (33, "WIN1257"),
    (34, "KOI8U"),
    (35, "SJIS"),
    (36, "BIG5"),
    (37, "GBK"),
    (38, "UHC"),
    (39, "GB18030"),
    (40, "JOHAB"),
    (41, "SHIFT_JIS_2004"),
];

/// Other names for encodings that people use.
const ALIASES: &[(&str, &str)] =
    &[("unicode", "utf8"), ("iso88591", "latin1"), ("windows1252", "win1252")];

/// Names are compared without case and punctuation.
fn encoding_number(name: &str) -> i32 {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = plain(name);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == wanted);
    let wanted = alias.map_or(wanted, |(_, name)| (*name).to_owned());
    let found = ENCODINGS.iter().find(|(_, name)| plain(name) == wanted);
    found.map_or(-1, |(number, _)| *number)
}

fn encoding_name(number: i32) -> &'static str {
    ENCODINGS.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| name)
}

/// An encoding whose conversion is known here.
enum Known {
    Utf8,
    Latin1,
    Ascii,
}

fn known(name: &str, role: &str) -> Result<Known> {
    match encoding_number(name) {
        6 => Ok(Known::Utf8),
        8 => Ok(Known::Latin1),
        0 => Ok(Known::Ascii),
        -1 => Err(invalid(format!("invalid {role} encoding name \"{name}\""))),
        number => Err(SqlError::unsupported(format!("encoding {}", encoding_name(number)))),
    }
}

/// The first bytes that are not UTF-8, as messages show them.
fn bad_bytes(bytes: &[u8], error: std::str::Utf8Error) -> SqlError {
    let rest = &bytes[error.valid_up_to()..];
    let wanted = match rest.first().copied().unwrap_or(0) {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    let shown: Vec<String> = rest.iter().take(wanted).map(|byte| format!("0x{byte:02x}")).collect();
    let shown = shown.join(" ");
    let message = format!("invalid byte sequence for encoding \"UTF8\": {shown}");
    SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, message)
}

/// The text, if the bytes are one: UTF-8 without a zero.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(bytes).map_err(|error| bad_bytes(bytes, error))?;
    without_zero(bytes, "UTF8")?;
    Ok(text)
}

/// No text has a zero.
fn without_zero(bytes: &[u8], encoding: &str) -> Result<()> {
    if bytes.contains(&0) {
        let message = format!("invalid byte sequence for encoding \"{encoding}\": 0x00");
        return Err(SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, message));
    }
    Ok(())
}

fn convert_from(bytes: &[u8], encoding: &str) -> Result<String> {
    match known(encoding, "source")? {
        Known::Utf8 | Known::Ascii => utf8(bytes).map(str::to_owned),
        Known::Latin1 => without_zero(bytes, "LATIN1").map(|()| latin1(bytes)),
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn to_latin1(character: char) -> Result<u8> {
    let untranslatable = || {
        let bytes: Vec<String> =
            character.to_string().bytes().map(|byte| format!("0x{byte:02x}")).collect();
        let message = format!(
            "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \
             \"LATIN1\"",
            bytes.join(" ")
        );
        SqlError::new(code::UNTRANSLATABLE_CHARACTER, message)
    };
    u8::try_from(u32::from(character)).map_err(|_| untranslatable())
}

fn convert_to(text: &str, encoding: &str) -> Result<Vec<u8>> {
    match known(encoding, "destination")? {
        Known::Utf8 | Known::Ascii => Ok(text.as_bytes().to_vec()),
        Known::Latin1 => text.chars().map(to_latin1).collect(),
    }
}

fn convert(bytes: &[u8], from: &str, to: &str) -> Result<Vec<u8>> {
    known(to, "destination")?;
    convert_to(&convert_from(bytes, from)?, to)
}

fn length_in(bytes: &[u8], encoding: &str) -> Result<i32> {
    if encoding_number(encoding) < 0 {
        return Err(invalid(format!("invalid encoding name \"{encoding}\"")));
    }
    Ok(convert_from(bytes, encoding)?.chars().count() as i32)
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "binary_encode", (a: &[u8], encoding: &str) => encode(a, encoding);
    "binary_decode", (a: &str, encoding: &str) => decode(a, encoding);
    "pg_convert_from", (a: &[u8], encoding: &str) => convert_from(a, encoding);
    "pg_convert_to", (a: &str, encoding: &str) => convert_to(a, encoding);
    "pg_convert", (a: &[u8], from: &str, to: &str) => convert(a, from, to);
    "length_in_encoding", (a: &[u8], encoding: &str) => length_in(a, encoding);
    "PG_char_to_encoding", (name: &str) => encoding_number(name);
    "PG_encoding_to_char", (number: i32) => encoding_name(number);
    "pg_client_encoding", () => "UTF8";
    "getdatabaseencoding", () => "UTF8";
}];
