//! Recordings that are read while they grow, or that something has ended: transactions may be
//! missing that others have read from.

use seriatim_history::formats::{Format, ReadOptions, read_bytes, write};
use seriatim_history::{History, ReadError};

const HEADER: &str = r#"{"seriatim":1,"growing":true,"recurring":["absent"]}"#;

fn read(lines: &[&str]) -> Result<History, ReadError> {
    let text = format!("{HEADER}\n{}", lines.join("\n"));
    read_bytes(text.as_bytes(), "h", &ReadOptions::default()).map(|(history, _)| history)
}

/// How many operations there are, and how many transactions are missing.
fn counts(lines: &[&str]) -> (usize, u64) {
    let history = read(lines).unwrap();
    (history.op_count(), history.unknown_content())
}

const READER: &str = r#"{"session":1,"ops":[["r","x",7],["w","x",8]]}"#;
const WRITER: &str = r#"{"session":2,"ops":[["w","x",7]]}"#;
const MARK: &str = r#"{"whole":true}"#;

#[test]
fn who_wrote_what_was_read_last_may_be_missing() {
    assert_eq!(counts(&[READER, ""]), (1, 1));
    assert_eq!(counts(&[READER, WRITER, ""]), (3, 0));
    // Nothing is missing before a mark.
    assert_eq!(counts(&[READER, MARK, ""]), (2, 0));
    assert_eq!(counts(&[READER, MARK, READER, ""]), (3, 1));
    assert_eq!(counts(&[READER, MARK, READER, MARK, ""]), (4, 0));
}

#[test]
fn elements_of_lists_may_be_missing_too() {
    let reader = r#"{"session":1,"ops":[["r","l",[1,2]],["append","l",3]]}"#;
    let writer = r#"{"session":2,"ops":[["append","l",2]]}"#;
    assert_eq!(counts(&[reader, ""]), (1, 1));
    assert_eq!(counts(&[reader, writer, ""]), (3, 1));
    assert_eq!(counts(&[reader, writer, MARK, ""]), (3, 0));
}

#[test]
fn what_recurs_may_be_of_one_that_is_missing() {
    let first = r#"{"session":1,"ops":[["w","row","absent"]]}"#;
    let last = r#"{"session":1,"ops":[["r","row","absent"]]}"#;
    assert_eq!(counts(&[first, last, ""]), (1, 1));
    assert_eq!(counts(&[first, last, MARK, ""]), (2, 0));
}

#[test]
fn a_line_that_is_written_at_this_moment_is_not_there_yet() {
    assert_eq!(counts(&[WRITER, READER, r#"{"session":3,"op"#]), (3, 0));
    let other = "{\"seriatim\":1}\n{\"session\":1,\"ops\":[]}\n{\"session\":3,\"op";
    assert!(read_bytes(other.as_bytes(), "h", &ReadOptions::default()).is_err());
}

#[test]
fn what_is_written_back_does_not_grow() {
    let history = read(&[READER, MARK, WRITER, ""]).unwrap();
    let mut text = Vec::new();
    write(&history, Format::Jsonl, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(!text.contains("growing") && !text.contains("whole"), "{text}");
    let wrong = "{\"seriatim\":1,\"growing\":3}\n{\"session\":1,\"ops\":[]}\n";
    let error = read_bytes(wrong.as_bytes(), "h", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("`growing` must be true or false, found 3"), "{error}");
}
