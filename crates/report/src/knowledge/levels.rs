//! The levels that are checked.

use super::{Entry, Example, LONG_FORK, LOST_UPDATE, STALE_READ, Subject, WRITE_SKEW};
use seriatim_isolation::Level;

/// One entry for each level.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Level(Level::ReadCommitted),
        aliases: &["read-committed", "pl-2"],
        definition: "Every read returns the last write of a committed transaction, and reads \
                     inside a transaction never go back: \
                     a total commit order exists such that, if a transaction has read something \
                     from W and afterwards reads a \
                     key that W wrote from another transaction V, then W committed before V. \
                     Adya's PL-2 asks for less: it \
                     forbids G1 (dirty reads and circular information flow) but lets reads go \
                     back.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(y,1) r(x,nil)",
            remark: "The smallest history that violates it beyond dirty reads: t2 has seen t1 and \
                     goes back to before it.",
        },
        databases: &[
            "The default of PostgreSQL, Oracle and SQL Server; MySQL/InnoDB and CockroachDB offer \
             it beside a stronger default.",
            "Db2 calls its closest level \"cursor stability\" (its default).",
        ],
    },
    Entry {
        subject: Subject::Level(Level::CutIsolation),
        aliases: &["cut-isolation", "item-cut-isolation", "i-ci"],
        definition: "No transaction reads two different external values of one key. It stands \
                     apart from the ladder of levels: it \
                     neither contains read committed nor is contained in it, but read atomic and \
                     above contain it.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,nil) r(x,1)",
            remark: "x changes under t2.",
        },
        databases: &[
            "We know of no database that offers it by itself. Levels that read from one snapshot \
             contain it, such as REPEATABLE \
             READ of PostgreSQL, and so do levels that keep read locks to the end, such as \
             REPEATABLE READ of SQL Server.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::ReadAtomic),
        aliases: &["read-atomic", "ramp"],
        definition: "All or nothing of a transaction is visible to another: a total commit order \
                     exists such that, if a transaction \
                     reads anything from W or follows W in its session, and reads a key that W \
                     wrote from another transaction V, \
                     then W committed before V.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) r(y,1)",
            remark: "t2 sees half of t1. The order of its reads does not matter.",
        },
        databases: &[
            "Known from research (RAMP transactions). Snapshot isolation contains it: on one node \
             PostgreSQL at REPEATABLE READ, \
             SQL Server at SNAPSHOT, Oracle at SERIALIZABLE.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::Causal),
        aliases: &["causal", "causal-consistency", "tcc", "transactional-causal-consistency"],
        definition: "What a transaction sees includes all that it depends on: a total commit \
                     order exists such that, if W is in the \
                     causal past of a transaction (by any chain of session order and reads) that \
                     reads a key that W wrote from \
                     another transaction V, then W committed before V.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,1) w(y,1)\nc: r(y,1) r(x,nil)",
            remark: "t3 has the effect y=1 without its cause x=1.",
        },
        databases: &[
            "MongoDB in causally consistent sessions, if both read and write concern are \
             \"majority\".",
            "AntidoteDB (transactional causal consistency by the Cure protocol).",
            "Snapshot isolation contains it: on one node PostgreSQL at REPEATABLE READ, SQL \
             Server at SNAPSHOT, Oracle at \
             SERIALIZABLE.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::PrefixConsistency),
        aliases: &["prefix", "prefix-consistency", "consistent-prefix"],
        definition: "Every transaction sees a prefix of one commit order: if it sees a \
                     transaction, directly or because of its \
                     session, it sees all that committed before that one. Two transactions may \
                     still write a key at the same \
                     time, each without seeing the other.",
        example: Example {
            history: LONG_FORK,
            remark: "A long fork: t3 asks for t1 before t2, t4 for t2 before t1. Causal \
                     consistency allows it.",
        },
        databases: &[
            "Known mostly from research. Snapshot isolation contains it.",
            "\"Consistent prefix\" of Azure Cosmos DB promises, for single reads, some prefix of \
             the writes without gaps.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::SnapshotIsolation),
        aliases: &["snapshot", "snapshot-isolation", "pl-si"],
        definition: "Every transaction reads from a snapshot, a prefix of the commit order that \
                     includes what its own session has \
                     committed, and of two concurrent writers of a key only one commits. \
                     Equivalently: every cycle of \
                     dependencies has two anti-dependencies in a row.",
        example: Example {
            history: LOST_UPDATE,
            remark: "A lost update: t1 and t2 are concurrent and write the same key. Prefix \
                     consistency allows it.",
        },
        databases: &[
            "REPEATABLE READ of PostgreSQL, YugabyteDB, TiDB (its default) and Spanner; SNAPSHOT \
             of SQL Server; SERIALIZABLE of \
             Oracle, in spite of its name.",
            "MongoDB transactions with read concern \"snapshot\" and write concern \"majority\".",
            "Not REPEATABLE READ of MySQL/InnoDB, which allows lost updates.",
            "With read replicas PostgreSQL can show a long fork, which snapshot isolation forbids.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::Serializable),
        aliases: &["serializable", "serializability", "pl-3"],
        definition: "The result is that of some order in which the transactions run one after the \
                     other. The order respects \
                     sessions, but not real time between them.",
        example: Example {
            history: WRITE_SKEW,
            remark: "A write skew: t1 has to come before t2 and t2 before t1. Snapshot isolation \
                     allows it.",
        },
        databases: &[
            "SERIALIZABLE of PostgreSQL (since 9.1), SQL Server, MySQL/InnoDB, CockroachDB (its \
             default) and YugabyteDB; \
             REPEATABLE READ of Db2.",
            "Not SERIALIZABLE of Oracle, which is snapshot isolation.",
            "PostgreSQL does not offer it on hot standbys.",
        ],
    },
    Entry {
        subject: Subject::Level(Level::StrictSerializable),
        aliases: &[
            "strict",
            "strict-serializable",
            "strict-serializability",
            "external-consistency",
        ],
        definition: "Serializability in an order that agrees with real time: if a transaction \
                     ends before another begins, it also \
                     comes first in the order.",
        example: Example {
            history: STALE_READ,
            remark: "A stale read: t1 had ended at 2, before t2 began at 3, and t2 does not see \
                     it. Serializability allows it, \
                     and a history without times cannot show it.",
        },
        databases: &[
            "Spanner at its default level (\"external consistency\"), FoundationDB, etcd (its \
             key-value calls, unless a \
             serializable read is asked for).",
            "Not CockroachDB: it is serializable and reads no stale keys, but transactions on \
             different keys may appear in \
             another order than in real time (\"causal reverse\").",
        ],
    },
];
