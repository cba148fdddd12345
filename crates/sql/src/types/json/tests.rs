//! Expected results are those of a PostgreSQL 15.

use super::*;

#[test]
fn keys_are_sorted_by_length_and_the_last_one_counts() {
    let json = Json::parse(r#" {"bb":1.50, "a" : [1,null,{"x":"\u00e9\n"}], "a":2} "#).unwrap();
    assert_eq!(json.to_string(), r#"{"a": 2, "bb": 1.50}"#);
}

#[test]
fn errors_name_the_token() {
    for (text, detail, context) in [
        ("{\"a\":}", "Expected JSON value, but found \"}\".", "JSON data, line 1: {\"a\":}"),
        ("[1,", "The input string ended unexpectedly.", "JSON data, line 1: [1,"),
        ("abc", "Token \"abc\" is invalid.", "JSON data, line 1: abc"),
        ("01", "Token \"01\" is invalid.", "JSON data, line 1: 01"),
        ("\"a", "Token \"\"a\" is invalid.", "JSON data, line 1: \"a"),
        ("{\n\"a\" 1}", "Expected \":\", but found \"1\".", "JSON data, line 2: \"a\" 1..."),
    ] {
        let error = Json::parse(text).unwrap_err();
        assert_eq!(error.fields().detail.as_deref(), Some(detail), "{text}");
        assert_eq!(error.fields().context.as_deref(), Some(context), "{text}");
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = "[".repeat(100_000);
    assert_eq!(Json::parse(&deep).unwrap_err().code(), "54001");
}

#[test]
fn containment() {
    let contains = |a: &str, b: &str| Json::parse(a).unwrap().contains(&Json::parse(b).unwrap());
    assert!(!contains("[1, 2, [1, 3]]", "[1, 3]"));
    assert!(contains("[1, 2, [1, 3]]", "[[1, 3]]"));
    assert!(contains("[1, 2]", "2"));
    assert!(!contains("2", "[2]"));
    assert!(contains(r#"{"a": {"b": 1, "c": 2}}"#, r#"{"a": {"b": 1.0}}"#));
}
