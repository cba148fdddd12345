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
            READ_COMMITTED,
            "REPEATABLE READ of MySQL/InnoDB (its default) in a transaction that also writes (Hermitage, Jepsen).",
            "REPEATABLE READ of PostgreSQL, SERIALIZABLE of Oracle and SNAPSHOT of SQL Server do not show it on one node.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "lost-update",
            name: "lost update",
            levels: ABOVE_SNAPSHOT,
            violated: &[],
        },
        aliases: &["p4"],
        definition: "Two transactions read the same version of a key and both write the key, so that the later write is made \
                     without knowing the earlier one: one update is lost.",
        example: Example {
            history: LOST_UPDATE,
            remark: "t1 and t2 both start from the initial x, so whichever comes second overwrites the other unseen. Every \
                     level up to prefix consistency allows it.",
        },
        databases: &[
            READ_COMMITTED,
            INNODB_LOSES,
            "REPEATABLE READ of PostgreSQL, SERIALIZABLE of Oracle and SNAPSHOT of SQL Server refuse the second writer; \
             REPEATABLE READ of SQL Server ends in a deadlock of the two, of which one is rolled back.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "long-fork",
            name: "long fork",
            levels: "prefix consistency and above",
            weakest_violated: Some(Level::PrefixConsistency),
        },
        aliases: &[],
        definition: "Two readers see two independent writes in opposite orders, each of them one write without the other.",
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
            REPLICA_FORKS,
            "Stores with causal consistency or parallel snapshot isolation allow it by design.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "g-nonadjacent",
            name: "non-adjacent anti-dependency cycle",
            levels: ABOVE_SNAPSHOT,
            violated: &[],
        },
        aliases: &[],
        definition: "A cycle of dependencies with at least one anti-dependency (a transaction reads a version that the next one \
                     overwrites), in which no two anti-dependencies follow each other. Read skew, lost update and long fork are \
                     cases of it; write skew is not. Forbidding it, beside G1, makes snapshot isolation.",
        example: Example {
            history: LONG_FORK,
            remark: "A long fork is the smallest with two anti-dependencies: t3 reads from t1 and misses t2, t4 reads from t2 \
                     and misses t1.",
        },
        databases: &[
            REPLICA_FORKS,
            "Whoever allows read skew or lost update: READ COMMITTED nearly everywhere, REPEATABLE READ of MySQL/InnoDB.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "write-skew",
            name: "write skew",
            levels: ABOVE_SERIALIZABLE,
            violated: &[],
        },
        aliases: &["a5b"],
        definition: "Two transactions each read what the other overwrites, and write different keys.",
        example: Example {
            history: WRITE_SKEW,
            remark: "t1 has not seen the y of t2, nor t2 the x of t1. Each is right alone; together they may break a rule over \
                     x and y. Snapshot isolation allows it, because they write different keys.",
        },
        databases: &[
            SNAPSHOT_LEVELS,
            READ_COMMITTED,
            "REPEATABLE READ of MySQL/InnoDB (its default).",
            "SERIALIZABLE of PostgreSQL, SQL Server, MySQL/InnoDB and CockroachDB (its default) lets only one of the two commit. Jepsen \
             saw a case of it at SERIALIZABLE of PostgreSQL 12.3, a bug.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "g2-item",
            name: "item anti-dependency cycle",
            levels: "serializability and above, and repeatable read as Adya defines it, not checked yet",
            violated: &[],
        },
        aliases: &["g2", "anti-dependency-cycle"],
        definition: "A cycle of dependencies with at least one anti-dependency: a transaction reads a version of a key that the \
                     next one overwrites. It is the most general anomaly over keys; write skew, long fork, lost update and read \
                     skew are cases of it. G2 without \"item\" also counts anti-dependencies of predicates (phantoms).",
        example: Example {
            history: WRITE_SKEW,
            remark: "A write skew is the smallest that snapshot isolation allows: t1 must come before t2, whose y it did not \
                     see, and t2 before t1, whose x it did not see.",
        },
        databases: &[
            SNAPSHOT_LEVELS,
            READ_COMMITTED,
            "REPEATABLE READ of MySQL/InnoDB (its default).",
            "REPEATABLE READ of SQL Server, which locks what it reads, does not show it.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "phantom",
            name: "phantom",
            levels: "serializability; predicates are not part of the recorded formats",
            weakest_violated: None,
        },
        aliases: &["phantom-read", "p3"],
        definition: "A transaction evaluates a predicate twice, and rows that match it have come or gone.",
        example: Example {
            history: "a: r(x,nil)\nb: w(x,1)",
            remark: "If x is a row that t2 inserts, t1 looked for it too early. Histories of keys and values cannot express \
                     that t1 would look for all rows like x.",
        },
        databases: &[
            READ_COMMITTED,
            "REPEATABLE READ of SQL Server and \"read stability\" of Db2, which lock rows that exist but not those to come.",
            "REPEATABLE READ of PostgreSQL does not show it, although the SQL standard would allow it there.",
        ],
    },
];
