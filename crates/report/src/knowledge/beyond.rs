//! Anomalies that people look for but that no check reports by that name.

use super::{Entry, Example, Subject};
use seriatim_check::Level;

/// In the order of the levels that forbid them.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Beyond {
            code: "lost-update",
            name: "lost update",
            levels: "snapshot isolation and above",
            weakest_violated: Some(Level::SnapshotIsolation),
        },
        aliases: &["p4"],
        definition: "Two transactions read the same version of a key and both write it: one update is lost.",
        example: Example {
            history: "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)",
            remark: "Both start from the initial x. Every level up to prefix consistency allows it.",
        },
        databases: &[
            "READ COMMITTED of PostgreSQL, Oracle, SQL Server and MySQL/InnoDB, and REPEATABLE READ of MySQL/InnoDB, if the \
             application reads, computes and writes without locking.",
            "REPEATABLE READ of PostgreSQL refuses the second writer.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            code: "long-fork",
            name: "long fork",
            levels: "prefix consistency and above",
            weakest_violated: Some(Level::PrefixConsistency),
        },
        aliases: &["g-nonadjacent"],
        definition: "Two readers see two independent writes in opposite orders.",
        example: Example {
            history: "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,nil)\nd: r(y,1) r(x,nil)",
            remark: "For t3 x came first, for t4 y did. Causal consistency allows it.",
        },
        databases: &["Replicated stores with parallel snapshot isolation or causal consistency allow it by design."],
    },
    Entry {
        subject: Subject::Beyond {
            code: "write-skew",
            name: "write skew",
            levels: "serializability and above",
            weakest_violated: Some(Level::Serializable),
        },
        aliases: &["g2-item", "a5b"],
        definition: "Two transactions each read what the other overwrites, and write different keys.",
        example: Example {
            history: "a: r(x,nil) r(y,nil) w(x,1)\nb: r(x,nil) r(y,nil) w(y,1)",
            remark: "Each is right alone; together they may break a rule over x and y.",
        },
        databases: &[
            "REPEATABLE READ of PostgreSQL, SERIALIZABLE of Oracle and SNAPSHOT of SQL Server, which are snapshot isolation.",
            "SERIALIZABLE of PostgreSQL refuses one of the two.",
        ],
    },
    Entry {
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
    },
];
