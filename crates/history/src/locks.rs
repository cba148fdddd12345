//! Keys that stand for locks. A holder of a lock reads its key and writes it, so that what the last
//! holder committed is visible to the next one by the axioms alone. They are told by their names,
//! because files have nothing else.

use std::fmt::Display;

const LOCK_OF: &str = "lock of ";
const ADVISORY_LOCK: &str = "advisory lock ";

/// The name of the key of a lock of something.
pub fn lock_of(what: impl Display) -> String {
    format!("{LOCK_OF}{what}")
}

/// The name of the key of a lock that stands for nothing in the database.
pub fn advisory_lock(what: impl Display) -> String {
    format!("{ADVISORY_LOCK}{what}")
}

/// Whether a key with this name stands for a lock: who reads it gets the latest version, whatever
/// the level allows.
pub fn is_lock(key: &str) -> bool {
    key.starts_with(LOCK_OF) || key.starts_with(ADVISORY_LOCK)
}
