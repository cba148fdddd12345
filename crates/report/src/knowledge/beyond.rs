//! Names that people look for and that are no kind or level of the checker: patterns that the checker does not report by
//! that name.

use super::{Entry, Example, LONG_FORK, LOST_UPDATE, STALE_READ, Sort, Subject, WRITE_SKEW, from};
use seriatim_check::Level;

const ABOVE_PREFIX: &str = "prefix consistency and above";
const ABOVE_SNAPSHOT: &str = "snapshot isolation and above";
const ABOVE_SERIALIZABLE: &str = "serializability and above";

const READ_COMMITTED: &str = "READ COMMITTED of PostgreSQL (its default), Oracle (its default), SQL Server (its default), \
                              MySQL/InnoDB, CockroachDB and YugabyteDB.";
const SNAPSHOT_LEVELS: &str = "The levels that are snapshot isolation: REPEATABLE READ of PostgreSQL, YugabyteDB, TiDB (its \
                               default) and Spanner, SERIALIZABLE of Oracle, SNAPSHOT of SQL Server.";
const REPLICA_FORKS: &str = "PostgreSQL with read replicas: transactions can become visible in another order on a replica than \
                             on the primary. Jepsen saw it in Amazon RDS for PostgreSQL multi-AZ clusters, 13.15 to 17.4; one \
                             node alone does not show it.";
const INNODB_LOSES: &str = "REPEATABLE READ of MySQL/InnoDB (its default), if the application reads, computes and writes \
                            without locking reads. MariaDB since 11.6.2 refuses the second writer \
                            (innodb_snapshot_isolation, on by default).";

/// Anomalies first, then levels.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "g-single",
            name: "read skew",
            levels: "levels from read committed to snapshot isolation, depending on the case",
            violated: from(Level::ReadAtomic),
        },
        aliases: &["read-skew", "a5a"],
        definition: "A cycle of dependencies with exactly one anti-dependency (Adya's G-single): a transaction reads a version \
                     that W overwrote, and yet depends on W. Seen from the reader: one read is from before W, another from \
                     after it. The checker reports the cases apart: non-monotonic-read (forbidden by read committed and \
                     above), non-repeatable-read (cut isolation, read atomic and above), fractured-read (read atomic and \
                     above) and causality-violation (causal consistency and above). Snapshot isolation and above forbid every \
                     case, the lost update among them.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) r(y,1)",
            remark: "t2 reads x from before t1 and y from after it.",
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
            violated: from(Level::SnapshotIsolation),
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
            levels: ABOVE_PREFIX,
            violated: from(Level::PrefixConsistency),
        },
        aliases: &[],
        definition: "Two readers see two independent writes in opposite orders, each of them one write without the other.",
        example: Example {
            history: LONG_FORK,
            remark: "For t3 the write of t1 came first, for t4 that of t2. Causal consistency allows it.",
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
            violated: from(Level::PrefixConsistency),
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
            violated: from(Level::Serializable),
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
            levels: "serializability and above, and repeatable read as Adya defines it",
            violated: from(Level::Serializable),
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
            levels: "serializability and above; predicates are not part of the recorded formats",
            violated: &[],
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
    Entry {
        subject: Subject::Beyond {
            sort: Sort::Anomaly,
            code: "stale-read",
            name: "stale read",
            levels: "strict serializability",
            violated: from(Level::StrictSerializable),
        },
        aliases: &["stale-reads", "real-time-violation"],
        definition: "A transaction begins after W has ended, in real time, and yet reads a key as it was before W. Within one \
                     session, or if the reader depends on W, weaker levels forbid it too (fractured-read, \
                     causality-violation); between clients that do not know of each other only real time tells.",
        example: Example {
            history: STALE_READ,
            remark: "t1 had ended at 2, and t2, which began at 3, does not see it. Without times t2 may simply come first.",
        },
        databases: &[
            "Reads of asynchronous replicas: hot standbys of PostgreSQL, replicas of MySQL and Redis, MongoDB secondaries, \
             Cassandra at consistency level ONE, Galera with wsrep_sync_wait=0 (its default).",
            "By request: serializable reads of etcd, follower reads of CockroachDB (AS OF SYSTEM TIME), Spanner with a bound on \
             staleness.",
            "Serializability allows it, so a database may promise that and still return stale data.",
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
        definition: "What a transaction has read once does not change for it. In the SQL standard: no dirty reads and no \
                     non-repeatable reads, but phantoms; of the checked levels, read committed together with cut isolation \
                     (rc, ci) is closest to this. In Adya's definition (PL-2.99): no G1 and no G2-item, which is \
                     serializability for single keys, but not for predicates. In many databases the name stands for snapshot \
                     isolation, which allows the write skew that Adya's definition forbids, and forbids phantoms that it \
                     allows.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,nil) r(x,1)",
            remark: "x changes between the two reads of t2: a non-repeatable read violates every reading of the name.",
        },
        databases: &[
            "PostgreSQL, YugabyteDB, TiDB (its default) and Spanner: REPEATABLE READ is snapshot isolation. It shows no \
             phantoms, but write skew.",
            "MySQL/InnoDB (its default): plain SELECTs read from a snapshot, locking reads and writes see the newest rows, so \
             that lost updates, read skew and even non-repeatable reads are possible (Jepsen, 8.0.34).",
            "SQL Server: read locks are kept to the end, as in Adya's definition; phantoms are possible. Db2 calls this level \
             \"read stability\", and its own REPEATABLE READ is serializable.",
            "Oracle has no level of this name.",
        ],
    },
];
