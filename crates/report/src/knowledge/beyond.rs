//! Names that people look for and that are no kind or level of the checker: patterns that the
//! checker does not report by that name.

use super::strong::READ_COMMITTED;
use super::{Entry, Example, STALE_READ, Sort, Subject, from};
use seriatim_isolation::Level;

/// Anomalies first, then levels.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "phantom",
            name: "phantom",
            levels: "serializability and above; predicates are not part of the recorded formats",
            violated: &[],
        },
        aliases: &["phantom-read", "p3", "a3"],
        definition: "A transaction evaluates a predicate twice, and rows that match it have come \
                     or gone.",
        example: Example {
            history: "a: r(x,nil)\nb: w(x,1)",
            remark: "If x is a row that t2 inserts, t1 looked for it too early. Histories of keys \
                     and values cannot express \
                     that t1 would look for all rows like x.",
        },
        databases: &[
            READ_COMMITTED,
            "REPEATABLE READ of SQL Server and \"read stability\" of Db2, which lock rows that \
             exist but not those to come.",
            "REPEATABLE READ of PostgreSQL does not show it, although the SQL standard would \
             allow it there.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Level,
            code: "repeatable-read",
            name: "repeatable read",
            levels: "several levels share the name, and none is checked under it",
            violated: from(Level::CutIsolation),
        },
        aliases: &["rr", "pl-2.99"],
        definition: "What a transaction has read once does not change for it. In the SQL \
                     standard: no dirty reads and no \
                     non-repeatable reads, but phantoms; of the checked levels, read committed \
                     together with cut isolation \
                     (rc, ci) is closest to this. In Adya's definition (PL-2.99): no G1 and no \
                     G2-item, which is \
                     serializability for single keys, but not for predicates. In many databases \
                     the name stands for snapshot \
                     isolation, which allows the write skew that Adya's definition forbids, and \
                     forbids phantoms that it \
                     allows.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,nil) r(x,1)",
            remark: "x changes between the two reads of t2: a non-repeatable read violates every \
                     reading of the name.",
        },
        databases: &[
            "PostgreSQL, YugabyteDB, TiDB (its default) and Spanner: REPEATABLE READ is snapshot \
             isolation. It shows no \
             phantoms, but write skew.",
            "MySQL/InnoDB (its default): plain SELECTs read from a snapshot, locking reads and \
             writes see the newest rows, so \
             that lost updates, read skew and even non-repeatable reads are possible (Jepsen, \
             8.0.34).",
            "SQL Server: read locks are kept to the end, as in Adya's definition; phantoms are \
             possible. Db2 calls this level \
             \"read stability\", and its own REPEATABLE READ is serializable.",
            "Oracle has no level of this name.",
        ],
    },
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Level,
            code: "linearizability",
            name: "linearizability",
            levels: "strict serializability (sser) of a history whose transactions are single \
                     operations",
            violated: from(Level::StrictSerializable),
        },
        aliases: &["linearizable", "atomic-consistency"],
        definition: "Every operation on an object takes effect at one moment between its begin and \
                     its end. Record each operation as a transaction of its own, with its times: \
                     the history is linearizable if and only if it is strictly serializable \
                     (--level sser). Jepsen's register workloads are read in this way.",
        example: Example {
            history: STALE_READ,
            remark: "t2 began when t1 had ended, and yet it misses what t1 wrote.",
        },
        databases: &[
            "etcd: reads and writes are linearizable unless a serializable read is asked for.",
            "MongoDB: reads of a single document with read concern \"linearizable\".",
            "Cassandra: lightweight transactions, with reads at consistency level SERIAL.",
        ],
    },
];
