//! Which format is this? The content decides, never the name of the file.
//!
//! Binary formats first, by their structure; then the first lines of text that say something. A
//! JSON file is told by the names of the members of its first object.

use super::text::{
    NO_TRANSACTIONS, RIGHT_FILE, Source, excerpt, is_comment, significant_lines, without_bom,
};
use super::{Format, awdit, cobra, dbcop, isopredict};
use crate::error::{ReadError, Spot};

/// How much of a text is looked at before we give up.
const BYTES_LOOKED_AT: usize = 1 << 18;

/// How many lines may say nothing before one gives the format away; a source file that quotes a
/// history is none.
const STRANGE_LINES_MAX: usize = 4;

/// The format of a content, if it looks like one that we know.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    if dbcop::bincode::looks_like(bytes) {
        return Some(Format::DbcopBincode);
    }
    if cobra::looks_like(bytes) {
        return Some(Format::Cobra);
    }
    let text = without_bom(bytes);
    let text = &text[..text.len().min(BYTES_LOOKED_AT)];
    let (mut at, mut strange) = (0, 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let trimmed = line.trim_ascii();
        if let Some(format) = of_line(trimmed, text[at..].trim_ascii_start()) {
            return Some(format);
        }
        strange +=
            usize::from(!trimmed.is_empty() && !is_comment(trimmed) && !trimmed.starts_with(b";"));
        if strange > STRANGE_LINES_MAX {
            return None;
        }
        at += line.len();
    }
    None
}

/// The format that a line gives away; `from_here` is the text that begins with it.
fn of_line(line: &[u8], from_here: &[u8]) -> Option<Format> {
    if is_tagged_edn(line) || line.starts_with(b"{:") {
        return Some(Format::ElleEdn);
    }
    if line.is_empty() || is_comment(line) || line.starts_with(b";") {
        return None;
    }
    match line {
        [b'{', ..] => of_object(from_here),
        [b'[' | b'(', ..] => of_bracket(from_here),
        [b'r' | b'w', rest @ ..] if rest.trim_ascii_start().starts_with(b"(") => {
            Some(Format::Plume)
        }
        [b'r' | b'w' | b'R' | b'W', b' ' | b'\t', ..] => Some(Format::Awdit),
        _ if awdit::is_rule(line, b'=') => Some(Format::Awdit),
        _ if isopredict::matches(line) => Some(Format::IsoPredict),
        _ => None,
    }
}

/// `#jepsen.history.Op{…}` is a map behind a tag and `#:op{…}` one with a namespace, `#_{…}` is one
/// that does not count and `^{…}` metadata: they are no comments.
fn is_tagged_edn(line: &[u8]) -> bool {
    let (rest, needs_tag) = match line {
        [b'#', b'_' | b'^', rest @ ..] | [b'^', rest @ ..] => (rest, false),
        [b'#', rest @ ..] => (rest, true),
        _ => return false,
    };
    let tag = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"._-/:".contains(byte))
        .count();
    (tag > 0 || !needs_tag) && rest[tag..].trim_ascii_start().starts_with(b"{:")
}

/// An object in EDN or in JSON.
fn of_object(text: &[u8]) -> Option<Format> {
    let inside = text.get(1..)?.trim_ascii_start();
    if inside.starts_with(b":") {
        return Some(Format::ElleEdn);
    }
    let names = member_names(text);
    let has = |name: &str| names.contains(&name.as_bytes());
    if has("seriatim") || has("session") || has("ops") {
        Some(Format::Jsonl)
    } else if has("type") || has("process") {
        Some(Format::ElleJson)
    } else if has("data") || has("params") {
        Some(Format::DbcopJson)
    } else if has("value") {
        Some(Format::Viper)
    } else {
        None
    }
}

/// An array, a vector or a transaction of dbcop's text.
fn of_bracket(text: &[u8]) -> Option<Format> {
    let mut inside = text.get(1..)?.trim_ascii_start();
    // Comments may stand inside a vector, too.
    while inside.starts_with(b";") {
        let end = inside.iter().position(|&byte| byte == b'\n')?;
        inside = inside[end..].trim_ascii_start();
    }
    match inside {
        [b'[', ..] => Some(Format::DbcopJson),
        [b'{', ..] => of_object(inside),
        _ if is_tagged_edn(inside.split(|&byte| byte == b'\n').next()?) => Some(Format::ElleEdn),
        // Alone it is an array of nothing rather than one transaction that does nothing.
        [b']', rest @ ..] => (!rest.trim_ascii().is_empty()).then_some(Format::DbcopHist),
        _ => {
            let word = inside.split(|byte| byte.is_ascii_whitespace() || *byte == b']').next()?;
            word.windows(2).any(|pair| pair == b":=" || pair == b"==").then_some(Format::DbcopHist)
        }
    }
}

/// The names of the members of the object that `text` starts with, as far as it goes.
fn member_names(text: &[u8]) -> Vec<&[u8]> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at + 1;
                at = string_end(text, start);
                let string = &text[start.min(at)..at];
                let is_name = text
                    .get(at + 1..)
                    .is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"));
                if depth == 1 && is_name {
                    names.push(string);
                }
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    names
}

/// Where the string whose content starts at `at` ends.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// Whether this is text in UTF-16, with its mark or without: then every second byte is zero, as
/// long as it is ASCII.
fn is_utf16(bytes: &[u8]) -> bool {
    const BYTES_LOOKED_AT: usize = 64;
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return true;
    }
    let pairs = || bytes.chunks_exact(2).take(BYTES_LOOKED_AT / 2);
    let little = |pair: &[u8]| pair[0] != 0 && pair[0] < 0x80 && pair[1] == 0;
    let big = |pair: &[u8]| pair[1] != 0 && pair[1] < 0x80 && pair[0] == 0;
    bytes.len() >= 4 && (pairs().all(little) || pairs().all(big))
}

/// The error for text in UTF-16, which looks like binary data to everything else here.
pub(super) fn utf16(bytes: &[u8], source: &Source) -> Option<ReadError> {
    let is_binary = || dbcop::bincode::looks_like(bytes) || cobra::looks_like(bytes);
    if !is_utf16(bytes) || is_binary() {
        return None;
    }
    let spot = Spot { file: Some(source.name.clone()), byte: Some(0), ..Spot::default() };
    let problem = "this is text in UTF-16, expected UTF-8".to_owned();
    let hint = Some("convert it, for example with `iconv -f UTF-16 -t UTF-8`".to_owned());
    Some(ReadError::Syntax { spot, problem, hint })
}

/// The error for a content in no format: the first thing that says something is what no format
/// expects.
pub(super) fn unknown(bytes: &[u8], source: &Source) -> ReadError {
    let file = Some(source.name.clone());
    if bytes[..bytes.len().min(1024)].contains(&0) {
        let spot = Spot { file, byte: Some(0), ..Spot::default() };
        return ReadError::UnknownFormat { spot, detail: "binary data".to_owned() };
    }
    let Some(line) = significant_lines(bytes).next() else {
        return source.at_with_hint(1, 1, NO_TRANSACTIONS, Some(RIGHT_FILE.to_owned()));
    };
    if is_empty_collection(bytes) {
        let problem = format!("{NO_TRANSACTIONS}, only {}", excerpt(line.text));
        let hint = Some(RIGHT_FILE.to_owned());
        return source.at_with_hint(line.number, line.column(0), problem, hint);
    }
    let (number, column) = (Some(line.number), Some(line.column(0) as u64));
    let detail = format!("found {}", excerpt(line.text));
    ReadError::UnknownFormat { spot: Spot { file, line: number, column, byte: None }, detail }
}

/// Whether a text is one pair of brackets with nothing in it, comments aside.
fn is_empty_collection(bytes: &[u8]) -> bool {
    let text = significant_lines(bytes).flat_map(|line| line.text.iter().copied());
    let brackets: Vec<u8> = text.filter(|byte| !byte.is_ascii_whitespace()).take(3).collect();
    matches!(brackets.as_slice(), b"[]" | b"{}" | b"()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart_by_their_first_lines() {
        let cases = [
            ("r(1,2,3,4)", Format::Plume),
            ("\u{feff}# c\n\n // d\n  w( 1 ,2,3,4)", Format::Plume),
            ("w 0 0\n---\n", Format::Awdit),
            ("-----\n=====\nr 1 1", Format::Awdit),
            ("[x:=1 y:=2] [y==2]", Format::DbcopHist),
            ("// c\n----\n[]\n[x==?]", Format::DbcopHist),
            ("{:type :ok, :process 0}", Format::ElleEdn),
            ("; c\n[ ;d\n {:type :ok}]", Format::ElleEdn),
            ("#jepsen.history.Op{:index 0}", Format::ElleEdn),
            ("[#jepsen.history.Op{:index 0}]", Format::ElleEdn),
            ("#:jepsen{:type :ok}", Format::ElleEdn),
            ("#_{:a 1}\n{:type :ok}", Format::ElleEdn),
            ("^{:line 1} {:type :ok}", Format::ElleEdn),
            ("#_ignored\n# note\n{:type :ok}", Format::ElleEdn),
            (
                "{\"index\": 1, \"type\": \"ok\", \"value\": [[\"r\", 1, {\"ops\": 1}]]}",
                Format::ElleJson,
            ),
            ("[\n  {\n \"value\": [], \"process\": 1, \"type\": \"ok\"}]", Format::ElleJson),
            ("{\"value\": [[\"r\", 1, 2, false]]}", Format::Viper),
            ("{\"params\":{},\n\"data\":[]}", Format::DbcopJson),
            ("[[{\"events\":[]}]]", Format::DbcopJson),
            ("{\"seriatim\":1}", Format::Jsonl),
            ("{\"session\":\"a\",\"ops\":[]}", Format::Jsonl),
            ("hello\nREAD KEY[x] Txn(1, 0) From(0, 0)", Format::IsoPredict),
            ("INSERT[1] to Set[2] Txn(0, 0)", Format::IsoPredict),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text.as_bytes()), Some(format), "{text}");
        }
    }

    #[test]
    fn what_no_format_expects_has_a_place() {
        let message = |bytes: &[u8]| unknown(bytes, &Source::new("h")).to_string();
        let expected = "h:3:3: not a history in any format that we know (found `hello`); name the \
                        format with --from";
        assert_eq!(message(b"# c\r\n\n  hello\r\nworld"), expected);
        assert!(message(b"\0\0").starts_with("h at byte 0: not a history"));
        assert!(message(b"\n# only\n").starts_with("h:1:1: no transactions"));
    }

    #[test]
    fn brackets_around_nothing_are_no_history() {
        for text in ["[]", " [ ]\n", "[\n\n]\n", "# none\n{}", "( )"] {
            assert_eq!(detect(text.as_bytes()), None, "{text}");
            let error = unknown(text.as_bytes(), &Source::new("h")).to_string();
            assert!(error.contains(": no transactions, only `"), "{error}");
        }
        let error = unknown(b"\n []", &Source::new("h")).to_string();
        assert_eq!(
            error,
            "h:2:2: no transactions, only `[]`; is this the right file, and did the recording \
             finish?"
        );
    }

    #[test]
    fn what_is_nothing_is_nothing() {
        for text in [
            "",
            "\n\n",
            "# only\n",
            "hello",
            "{",
            "[",
            "\"",
            "{\"a\":1}",
            "\0\0\0\0",
            "{\"a",
            "{\"\\",
        ] {
            assert_eq!(detect(text.as_bytes()), None, "{text}");
        }
    }
}
