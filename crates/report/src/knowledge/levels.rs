//! The levels that are checked.

use super::{Entry, Example, Subject};
use seriatim_check::Level;

/// One entry for each level.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Level(Level::ReadCommitted),
        aliases: &["read-committed", "pl-2"],
        definition: "Every read returns the last write of a committed transaction, and reads inside a transaction never go back: \
                     a total commit order exists such that, if a transaction has read something from t2 and afterwards reads a \
                     key that t2 wrote from t1, then t2 committed before t1.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(y,1) r(x,nil)",
            remark: "The smallest history that violates it beyond dirty reads: t2 goes back to before t1.",
        },
        databases: &[
            "The default of PostgreSQL, Oracle and SQL Server; offered by nearly every SQL database (Db2 calls its closest \
             level \"cursor stability\").",
        ],
    },
    Entry {
        subject: Subject::Level(Level::CutIsolation),
        aliases: &["cut-isolation", "item-cut-isolation", "i-ci"],
        definition: "No transaction reads two different external values of one key. It stands apart from the ladder of levels: it \
                     neither contains read committed nor is contained in it, but read atomic and above contain it.",
        example: Example { history: "a: w(x,1)\nb: w(x,2)\nc: r(x,1) r(x,2)", remark: "x changes under t3." },
        databases: &[
            "No well-known database offers it by itself; levels that read from one snapshot contain it, such as REPEATABLE READ \
             of PostgreSQL.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::ReadAtomic),
        aliases: &["read-atomic", "ramp"],
        definition: "All or nothing of a transaction is visible to another: a total commit order exists such that, if t3 reads \
                     anything from t2 or follows it in its session, and reads a key that t2 wrote from t1, then t2 committed \
                     before t1.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) r(y,1)",
            remark: "t2 sees half of t1. The order of its reads does not matter.",
        },
        databases: &[
            "Known from research (RAMP transactions). Databases with snapshot isolation provide it: PostgreSQL at REPEATABLE \
             READ, SQL Server at SNAPSHOT, Oracle at SERIALIZABLE.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::Causal),
        aliases: &["causal", "causal-consistency", "tcc", "transactional-causal-consistency"],
        definition: "What a transaction sees includes all that it depends on: a total commit order exists such that, if t2 is in the \
                     causal past of t3 (by any chain of session order and reads), and t3 reads a key that t2 wrote from t1, then \
                     t2 committed before t1.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,1) w(y,1)\nc: r(y,1) r(x,nil)",
            remark: "t3 has the effect y=1 without its cause x=1.",
        },
        databases: &[
            "MongoDB in causally consistent sessions with read and write concern \"majority\"; AntidoteDB; and, with session \
             guarantees, databases with snapshot isolation or serializability on one node.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::PrefixConsistency),
        aliases: &["prefix", "prefix-consistency"],
        definition: "Every transaction reads from a prefix of one commit order, which contains what it reads from and what its \
                     session did before: a total commit order exists such that, if t2 comes before, or is, a transaction that \
                     t3 reads from or follows in its session, and t3 reads a key that t2 wrote from t1, then t2 committed \
                     before t1.",
        example: Example {
            history: "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,nil)\nd: r(y,1) r(x,nil)",
            remark: "A long fork: for t3 x came first, for t4 y did. Causal consistency allows it.",
        },
        databases: &["Known mostly from research; snapshot isolation contains it."],
    },
    Entry {
        subject: Subject::Level(Level::SnapshotIsolation),
        aliases: &["snapshot", "snapshot-isolation"],
        definition: "Every transaction reads from a snapshot, a prefix of one commit order that contains what its session did \
                     before, and of two concurrent writers of a key only one commits: no transaction that writes a common key \
                     commits between a writer's snapshot and its commit.",
        example: Example {
            history: "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)",
            remark: "A lost update: both start from the initial x. Prefix consistency allows it.",
        },
        databases: &["PostgreSQL at REPEATABLE READ, Oracle at SERIALIZABLE, SQL Server at SNAPSHOT."],
    },
    Entry {
        subject: Subject::Level(Level::Serializable),
        aliases: &["serializable", "serializability", "pl-3"],
        definition: "The result is that of some order in which the transactions run one after the other: every read returns the \
                     latest write before it in that order, which agrees with the order of each session.",
        example: Example {
            history: "a: r(x,nil) r(y,nil) w(x,1)\nb: r(x,nil) r(y,nil) w(y,1)",
            remark: "A write skew: each is right alone. Snapshot isolation allows it.",
        },
        databases: &["PostgreSQL, SQL Server, MySQL/InnoDB and CockroachDB at SERIALIZABLE."],
    },
    Entry {
        subject: Subject::Level(Level::StrictSerializable),
        aliases: &["strict", "strict-serializable", "strict-serializability"],
        definition: "Serializability in an order that agrees with real time: a transaction that ended before another began \
                     comes first. Histories without begin and end times do not tell.",
        example: Example {
            history: "a: w(x,1) @1-2\nb: r(x,nil) @3-4",
            remark: "t1 had ended at 2, before t2 began at 3, and t2 does not see it.",
        },
        databases: &["Spanner (\"external consistency\"), FoundationDB."],
    },
];
