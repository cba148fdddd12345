//! Anomalies that people look for but that no check reports by that name.

use super::{Entry, Example, Subject};

/// In the order of the levels that forbid them.
pub(super) const ENTRIES: &[Entry] = &[Entry {
    subject: Subject::Beyond {
        code: "phantom",
        name: "phantom",
        levels: "serializability; predicates are not part of the recorded formats",
        weakest_violated: None,
    },
    aliases: &["p3", "g2"],
    definition: "A transaction evaluates a predicate twice, and rows that match it have come or gone.",
    example: Example {
        history: "a: r(x,nil)\nb: w(x,1)",
        remark: "Histories of keys and values cannot express the predicate.",
    },
    databases: &["READ COMMITTED of PostgreSQL, Oracle, SQL Server and MySQL/InnoDB."],
}];
