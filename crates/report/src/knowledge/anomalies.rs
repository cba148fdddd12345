//! The anomalies that are checked, in the order of [`Anomaly::ALL`].

use super::{Entry, Example, Subject};
use seriatim_isolation::Anomaly;

const DIRTY: &str = "READ UNCOMMITTED of MySQL/InnoDB, SQL Server (and its NOLOCK hint) and Db2 \
                     (\"uncommitted read\") \
                     allows reads of uncommitted data.";
const NOT_DIRTY: &str = "PostgreSQL treats READ UNCOMMITTED as READ COMMITTED, and Oracle has no \
                         such level: neither \
                         shows it.";
const INSIDE: &str = "None that we know of by documentation: a transaction is to see its own \
                      writes. Suspect a bug (Jepsen \
                      saw violations inside transactions in MongoDB 4.2.6, which MongoDB traced \
                      to its retries), middleware \
                      that sends reads to a replica, or the recording of the history.";
const STATEMENTS: &str = "READ COMMITTED of PostgreSQL (its default), Oracle (its default), SQL \
                          Server (its default, with \
                          and without READ_COMMITTED_SNAPSHOT) and MySQL/InnoDB: a later \
                          statement sees what others have \
                          committed since an earlier one.";
const SNAPSHOTS: &str = "Levels that read from one snapshot do not show it on one node: \
                         REPEATABLE READ of PostgreSQL, \
                         SERIALIZABLE of Oracle, SNAPSHOT of SQL Server, and REPEATABLE READ of \
                         MySQL/InnoDB (its \
                         default) as long as the transaction only reads.";
const REPLICAS: &str = "Reads of several replicas that are recorded as one transaction, where \
                        replicas may lag: Cassandra at \
                        consistency level ONE, MongoDB secondaries outside of a causally \
                        consistent session, Redis \
                        replicas (replication is asynchronous by default).";
const HALF_A_SNAPSHOT: &str = "REPEATABLE READ of MySQL/InnoDB (its default) in a transaction \
                               that also writes: Jepsen saw \
                               8.0.34 show one effect of another transaction and then miss others \
                               of it.";

/// One entry for each kind.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Anomaly(Anomaly::ThinAirRead),
        aliases: &["out-of-thin-air", "garbage-read"],
        definition: "A read returns a value that nobody ever wrote to the key.",
        example: Example { history: "a: r(x,9)", remark: "Nobody writes 9." },
        databases: &[
            "None that we know of by documentation. Suspect corruption, writes that were not \
             recorded, or the recorder itself.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::AbortedRead),
        aliases: &["dirty-read", "p1", "a1", "g1"],
        definition: "A committed transaction reads a value that only an aborted transaction wrote.",
        example: Example {
            history: "a: w(x,1)!\nb: r(x,1)",
            remark: "The `!` marks t1 as aborted, yet t2 has its x.",
        },
        databases: &[
            DIRTY,
            NOT_DIRTY,
            "MongoDB with read concern \"local\" (its default) may return data that is rolled \
             back later; \"majority\" \
             returns what a majority of the replica set has acknowledged.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::FutureRead),
        aliases: &["read-own-future"],
        definition: "A transaction reads a value that it writes itself only later.",
        example: Example {
            history: "a: r(x,1) w(x,1)",
            remark: "The read comes before the write that it returns.",
        },
        databases: &[INSIDE],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::NotMyOwnWrite),
        aliases: &["own-write-ignored"],
        definition: "A transaction writes a key and afterwards reads another transaction's value \
                     of it.",
        example: Example {
            history: "a: w(x,1)\nb: w(x,2) r(x,1)",
            remark: "After its own x=2, t2 must read 2.",
        },
        databases: &[INSIDE],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::NotMyLastWrite),
        aliases: &["own-older-write"],
        definition: "A transaction writes a key several times and afterwards reads back one of \
                     its older values.",
        example: Example { history: "a: w(x,1) w(x,2) r(x,1)", remark: "The last own write is 2." },
        databases: &[INSIDE],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::IntermediateRead),
        aliases: &["g1"],
        definition: "A transaction reads a value that its writer overwrote before it committed, \
                     so that it was never a \
                     committed value.",
        example: Example {
            history: "a: w(x,1) w(x,2)\nb: r(x,1)",
            remark: "t1 commits x=2; x=1 was a step on the way.",
        },
        databases: &[DIRTY, NOT_DIRTY],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::CyclicCausality),
        aliases: &["circular-information-flow", "cyclic-co", "g1"],
        definition: "Session order and reads form a cycle: a transaction depends on itself.",
        example: Example {
            history: "a: r(x,1) w(y,1)\nb: r(y,1) w(x,1)",
            remark: "Each of the two has read what the other wrote.",
        },
        databases: &[
            "READ UNCOMMITTED of MySQL/InnoDB and SQL Server (Hermitage's tests).",
            "Their higher levels, PostgreSQL and Oracle did not show it in the same tests.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::NonMonotonicReadCausal),
        aliases: &["non-monotonic-reads", "monotonic-read", "read-goes-back"],
        definition: "A transaction reads something from W and afterwards a key from V, although W \
                     wrote this key too and V \
                     comes before W in causal order: it has gone back in time. The same key read \
                     twice, newer value first, \
                     is a case of it.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(y,1) r(x,nil)",
            remark: "t2 has seen t1 by reading y=1 and then reads x as it was before t1.",
        },
        databases: &[
            HALF_A_SNAPSHOT,
            REPLICAS,
            "READ COMMITTED of PostgreSQL, Oracle, SQL Server and MySQL/InnoDB on one node did \
             not show it in Hermitage's \
             tests (where it is called OTV, observed transaction vanishes).",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::NonMonotonicReadCommit),
        aliases: &["non-monotonic-read-cm"],
        definition: "Several transactions read newer-then-older pairs that ask for contradictory \
                     commit orders: each of them \
                     could be right, but not all at once.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: w(x,2) w(z,2)\nc: r(z,2) r(x,1)\nd: r(y,1) r(x,2)",
            remark: "t3 is right only if t2 committed before t1, t4 only if t1 committed before \
                     t2.",
        },
        databases: &[REPLICAS],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::NonRepeatableRead),
        aliases: &["fuzzy-read", "unrepeatable-read", "imp", "p2", "a2"],
        definition: "A transaction reads one key twice, without writing it in between, and gets \
                     two different values.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,nil) r(x,1)",
            remark: "x changes between the two reads of t2.",
        },
        databases: &[
            STATEMENTS,
            SNAPSHOTS,
            "In REPEATABLE READ of MySQL/InnoDB, locking reads (SELECT … FOR UPDATE) and writes \
             work on the newest committed \
             row, which may differ from what an earlier plain SELECT returned. MariaDB since \
             11.6.2 answers with an error \
             instead (innodb_snapshot_isolation, on by default).",
            "REPEATABLE READ of SQL Server keeps read locks to the end of the transaction and \
             does not show it.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::FracturedReadCausal),
        aliases: &["fractured-reads", "read-your-writes", "a5a", "read skew"],
        definition: "A transaction sees a part of what W did (it read another key from W, or it \
                     follows W in its session) and \
                     yet reads a key from V, although W wrote this key too and V comes before W \
                     in causal order. The read skew of \
                     Berenson et al. (A5A) is this: x is read, W writes x and y, y is read.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) r(y,1)",
            remark: "t2 sees t1's y but not t1's x: half of a transaction.",
        },
        databases: &[
            STATEMENTS,
            SNAPSHOTS,
            "Cassandra: a batch over several partitions is atomic but not isolated, so others can \
             see a part of it.",
            "Asynchronous replicas, such as those of PostgreSQL, MySQL and Redis: a session that \
             writes to the primary and \
             then reads a replica can miss its own writes.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::FracturedReadCommit),
        aliases: &["fractured-read-cm"],
        definition: "Several transactions each see a part of another one, in ways that ask for \
                     contradictory commit orders.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: w(x,2) w(z,2)\nc: r(x,1) r(z,2)\nd: r(x,2) r(y,1)",
            remark: "t3 sees t2 and yet has t1's x, t4 sees t1 and yet has t2's x: whose x is the \
                     newer one?",
        },
        databases: &[STATEMENTS, SNAPSHOTS],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::CausalityViolation),
        aliases: &["causal-violation", "stale-read-causal"],
        definition: "A transaction reads a value that was overwritten by a transaction in its own \
                     causal past: by one that it \
                     follows through any chain of sessions and reads.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,1) w(y,1)\nc: r(x,nil) r(y,1)",
            remark: "t3 has the answer y=1, but not the question x=1 that t2 made it from. The \
                     order of its reads does not \
                     matter.",
        },
        databases: &[
            STATEMENTS,
            SNAPSHOTS,
            "MongoDB outside of a causally consistent session with read and write concern \
             \"majority\".",
            "Galera with wsrep_sync_wait=0 (the default), when a client moves between nodes: a \
             node may not yet have applied \
             what was committed on another.",
            "Asynchronous replicas of any database, if clients read from several of them.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::ConflictingCommitOrder),
        aliases: &["conflicting-cm", "conflict-cm"],
        definition: "Two or more transactions have causal pasts that ask for contradictory commit \
                     orders of concurrent writes, \
                     as if replicas had resolved the same conflict differently.",
        example: Example {
            history: "a: w(x,1) | w(p,1)\nb: w(x,2) | w(q,1)\nc: r(x,2) r(p,1)\nd: r(x,1) r(q,1)",
            remark: "t5 knows of t1 and has x=2, t6 knows of t3 and has x=1: whose x is the newer \
                     one?",
        },
        databases: &[
            "Stores without convergent conflict resolution, where two replicas keep different \
             winners of concurrent writes.",
            STATEMENTS,
            SNAPSHOTS,
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::WriteCycle),
        aliases: &["dirty-write", "p0", "version-cycle"],
        definition: "The orders of versions that lists show, together with session order and \
                     reads, form a cycle: the writes of two \
                     transactions are interleaved. With writes alone it is Adya's G0, a dirty \
                     write (one transaction overwrites \
                     what another has not committed yet) seen by its result; with reads on the \
                     cycle it is G1c. Registers do not \
                     show the order of versions, so only list histories can have it.",
        example: Example {
            history: "a: a(l,1) a(m,1)\nb: a(l,2) a(m,2)\nc: r(l,[1 2])\nd: r(m,[2 1])",
            remark: "t1 appended before t2 to l, and after it to m: t3 and t4 show it.",
        },
        databases: &[
            "None of PostgreSQL, MySQL/InnoDB, Oracle, SQL Server and CockroachDB showed G0 at \
             any level in Hermitage's tests, \
             READ UNCOMMITTED included: updated rows stay locked, or the transaction fails.",
            "Adya's weakest level (PL-1) forbids G0 already. The SQL standard does not name it.",
            "Stores without transactions over several keys, if a history records several writes \
             as one transaction.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::IncompatibleOrder),
        aliases: &["inconsistent-lists"],
        definition: "Two reads of an append-only list return lists of which neither is a prefix \
                     of the other.",
        example: Example {
            history: "a: a(l,1)\nb: a(l,2)\nc: r(l,[1 2])\nd: r(l,[2 1])",
            remark: "No order of the two appends explains both reads.",
        },
        databases: &[
            "None that we know of by documentation. Elle takes it for a sign of aborted reads; a \
             split brain, or writes that \
             are lost in a failover, can show it.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::DuplicateElement),
        aliases: &["duplicate-append"],
        definition: "An element that was appended once stands twice in a list.",
        example: Example {
            history: "a: a(l,1)\nb: r(l,[1 1])",
            remark: "One append, two elements.",
        },
        databases: &[
            "None that we know of by documentation. A client or proxy that repeats a write whose \
             answer was lost can cause \
             it. Jepsen saw duplicate writes in MongoDB 4.2.6, which MongoDB traced to its \
             retries.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::LostElement),
        aliases: &["lost-append", "missing-element"],
        definition: "A list lacks an element that was appended before one that it has: by the \
                     same transaction, or by one that came first by session order, by reads or by \
                     what other lists show.",
        example: Example {
            history: "a: a(l,1) | a(l,2)\nb: r(l,[2])",
            remark: "The session appended 1 before 2, so a list with 2 has 1 too.",
        },
        databases: &[
            "None that we know of by documentation. Writes that were acknowledged and are lost in \
             a failover show it, and updates that read and write back the whole list without \
             being protected against each other.",
        ],
    },
];
