//! Names that people look for but that belong to levels which are not checked yet.

use super::{Entry, Example, Subject};

const ABOVE: &str = "snapshot isolation and above, which are not checked yet";
const SERIALIZABLE: &str = "serializability and above, which are not checked yet";

/// Anomalies first, then levels.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Beyond { code: "lost-update", name: "lost update", levels: ABOVE },
        aliases: &["p4"],
        definition: "Two transactions read the same version of a key and both write it: one update is lost.",
        example: Example {
            history: "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)",
            remark: "Both start from the initial x. Every level up to causal consistency allows it.",
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
            levels: "prefix consistency and above, which are not checked yet",
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
        subject: Subject::Beyond { code: "write-skew", name: "write skew", levels: SERIALIZABLE },
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
        },
        aliases: &["p3", "g2"],
        definition: "A transaction evaluates a predicate twice, and rows that match it have come or gone.",
        example: Example {
            history: "a: r(x,nil)\nb: w(x,1)",
            remark: "Histories of keys and values cannot express the predicate.",
        },
        databases: &["READ COMMITTED of PostgreSQL, Oracle, SQL Server and MySQL/InnoDB."],
    },
    Entry {
        subject: Subject::Beyond { code: "pc", name: "prefix consistency", levels: "not checked yet" },
        aliases: &["prefix", "prefix-consistency"],
        definition: "Causal consistency in which every transaction sees a prefix of one commit order.",
        example: Example {
            history: "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,nil)\nd: r(y,1) r(x,nil)",
            remark: "A long fork violates it and causal consistency allows it.",
        },
        databases: &["Known mostly from research; snapshot isolation contains it."],
    },
    Entry {
        subject: Subject::Beyond { code: "si", name: "snapshot isolation", levels: "not checked yet" },
        aliases: &["snapshot", "snapshot-isolation"],
        definition: "Every transaction reads from a snapshot, and of two concurrent writers of a key only one commits.",
        example: Example {
            history: "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)",
            remark: "A lost update violates it and causal consistency allows it.",
        },
        databases: &["PostgreSQL at REPEATABLE READ, Oracle at SERIALIZABLE, SQL Server at SNAPSHOT."],
    },
    Entry {
        subject: Subject::Beyond { code: "ser", name: "serializability", levels: "not checked yet" },
        aliases: &["serializable", "serializability", "pl-3"],
        definition: "The result is that of some order in which the transactions run one after the other.",
        example: Example {
            history: "a: r(x,nil) r(y,nil) w(x,1)\nb: r(x,nil) r(y,nil) w(y,1)",
            remark: "A write skew violates it and snapshot isolation allows it.",
        },
        databases: &["PostgreSQL, SQL Server, MySQL/InnoDB and CockroachDB at SERIALIZABLE."],
    },
    Entry {
        subject: Subject::Beyond { code: "sser", name: "strict serializability", levels: "not checked yet" },
        aliases: &["strict-serializable", "strict-serializability"],
        definition: "Serializability in an order that agrees with real time.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,nil)",
            remark: "If t2 began after t1 had ended, this violates it; the notation has no times.",
        },
        databases: &["Spanner (\"external consistency\"), FoundationDB."],
    },
];
