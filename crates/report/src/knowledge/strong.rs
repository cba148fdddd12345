//! The anomalies of the strong levels: prefix consistency, snapshot isolation, serializability and its strict variant.

use super::{Entry, Example, Subject};
use seriatim_check::Kind;

/// Databases with snapshot isolation under some name.
const SNAPSHOT: &str =
    "REPEATABLE READ of PostgreSQL, SERIALIZABLE of Oracle and SNAPSHOT of SQL Server, which are snapshot isolation.";
const STATEMENTS: &str =
    "READ COMMITTED of PostgreSQL, Oracle, SQL Server and MySQL/InnoDB: each statement has a snapshot of its own.";
const REPLICAS: &str = "Replicated stores with parallel snapshot isolation or causal consistency allow it by design.";

/// In the order of reports.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Anomaly(Kind::DirtyWrite),
        aliases: &["p0"],
        definition: "Two transactions write the same keys, and what was read shows that on one key the first came first and on \
                     another the second did: their writes are interleaved. Registers do not show the order of versions, so it \
                     has to be inferred; where lists show it, it is a write cycle.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: w(x,2) w(y,2)\nc: r(x,1) r(p,nil)\nd: w(p,1)\ne: r(p,1) r(x,2)\n\
                      f: r(y,2) r(q,nil)\ng: w(q,1)\nh: r(q,1) r(y,1)",
            remark: "t3 has x=1 from before t4, t5 has x=2 from after it, so t2 overwrote x; t6 to t8 show the opposite of y.",
        },
        databases: &[
            "No SQL level allows it, READ UNCOMMITTED included; stores without transactions over several keys do.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::ReadSkew),
        aliases: &["a5a", "g-single-item"],
        definition: "A transaction misses a write of another one although it comes after it, by what it read, by its session or \
                     because it overwrote something of it: a cycle with exactly one anti-dependency.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) w(y,2)\nc: r(y,1) | r(y,2)",
            remark: "t2 overwrote y of t1, as session c shows, but did not see x of t1.",
        },
        databases: &[STATEMENTS],
    },
    Entry {
        subject: Subject::Anomaly(Kind::LongFork),
        aliases: &["parallel-snapshots"],
        definition: "Two readers see two independent writes in opposite orders.",
        example: Example {
            history: "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,nil)\nd: r(y,1) r(x,nil)",
            remark: "For t3 x came first, for t4 y did. Causal consistency allows it.",
        },
        databases: &[REPLICAS],
    },
    Entry {
        subject: Subject::Anomaly(Kind::NonAdjacent),
        aliases: &[],
        definition: "A cycle with several anti-dependencies of which no two follow each other, and which is not simply a long \
                     fork: snapshots that cannot be put into one order.",
        example: Example {
            history: "a: w(x,1) w(z,1)\nb: r(y,nil) w(z,2)\nc: w(y,1)\nd: r(y,1) r(x,nil)\ne: r(z,1) | r(z,2)",
            remark: "t2 overwrote z of t1 and misses t3; t4 sees t3 and misses t1.",
        },
        databases: &[REPLICAS, STATEMENTS],
    },
    Entry {
        subject: Subject::Anomaly(Kind::LostUpdate),
        aliases: &[],
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
        subject: Subject::Anomaly(Kind::WriteSkew),
        aliases: &["a5b"],
        definition: "Two transactions each read what the other overwrites, and write different keys.",
        example: Example {
            history: "a: r(x,nil) r(y,nil) w(x,1)\nb: r(x,nil) r(y,nil) w(y,1)",
            remark: "Each is right alone; together they may break a rule over x and y.",
        },
        databases: &[SNAPSHOT, "SERIALIZABLE of PostgreSQL refuses one of the two."],
    },
    Entry {
        subject: Subject::Anomaly(Kind::AntiDependencyCycle),
        aliases: &["g2"],
        definition: "A cycle with two or more anti-dependencies in a row that is not simply a write skew: each transaction misses \
                     something of the next, and no serial order exists.",
        example: Example {
            history: "a: r(x,nil) w(y,1)\nb: r(y,nil) w(z,1)\nc: r(z,nil) w(x,1)",
            remark: "A write skew of three: each would have to come before the one that overwrote what it read.",
        },
        databases: &[SNAPSHOT, "SERIALIZABLE of PostgreSQL refuses one of them."],
    },
    Entry {
        subject: Subject::Anomaly(Kind::StaleRead),
        aliases: &["real-time-violation"],
        definition: "The history is serializable, but only in an order that contradicts real time: a transaction does not see one \
                     that had ended before it began.",
        example: Example {
            history: "a: w(x,1) @1-2\nb: r(x,nil) @3-4",
            remark: "t1 had ended at 2, before t2 began at 3, and t2 does not see it.",
        },
        databases: &[
            "SERIALIZABLE of CockroachDB promises no order of unrelated transactions in real time (\"causal reverse\").",
            "Any database whose clients read from asynchronous replicas.",
        ],
    },
];
