//! Limits; what paths find is compared with PostgreSQL in `tests/values.rs`.

use super::parse;

#[test]
fn nesting_without_end_is_refused() {
    for part in ["(", "-", "$[", "$ ? (", "!("] {
        let deep = part.repeat(10_000);
        assert!(parse(&deep).is_err(), "{part}");
    }
    assert_eq!(parse(&"(".repeat(10_000)).unwrap_err().code(), "54001");
}
