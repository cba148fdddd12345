//! The anomalies that are checked, in the order of [`Kind::ALL`].

use super::{Entry, Example, Subject};
use seriatim_check::Kind;

const DIRTY: &str = "READ UNCOMMITTED of MySQL/InnoDB, SQL Server (and its NOLOCK hint) and Db2 (\"uncommitted read\") \
                     allows reads of uncommitted data.";
const NOT_DIRTY: &str = "PostgreSQL treats READ UNCOMMITTED as READ COMMITTED, and Oracle has no such level: both never \
                         show it.";
const INSIDE: &str = "No well-known database documents it: a transaction sees its own writes at every SQL level. \
                      Suspect middleware that sends reads to a replica, or the recording of the history.";
const STATEMENTS: &str = "READ COMMITTED of PostgreSQL (its default), Oracle (its default), SQL Server (its default, with \
                          and without READ_COMMITTED_SNAPSHOT) and MySQL/InnoDB: each statement sees what is committed \
                          when it runs.";
const SNAPSHOTS: &str = "Levels that read from one snapshot do not show it: REPEATABLE READ of PostgreSQL, plain SELECTs \
                         under REPEATABLE READ of MySQL/InnoDB (its default), SERIALIZABLE of Oracle, SNAPSHOT of SQL \
                         Server.";
const REPLICAS: &str = "Stores whose reads may be answered by replicas that lag: Cassandra at consistency level ONE, \
                        MongoDB reading from secondaries outside of a causally consistent session, Redis replicas \
                        (replication is asynchronous).";

/// One entry for each kind.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Anomaly(Kind::ThinAirRead),
        aliases: &["out-of-thin-air", "garbage-read"],
        definition: "A read returns a value that nobody ever wrote to the key.",
        example: Example { history: "a: r(x,9)", remark: "Nobody writes 9." },
        databases: &[
            "No database documents it. Suspect corruption, writes that were not recorded, or the recorder itself.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::AbortedRead),
        aliases: &["dirty-read"],
        definition: "A committed transaction reads a value that only an aborted transaction wrote.",
        example: Example { history: "a: w(x,1)!\nb: r(x,1)", remark: "The `!` marks t1 as aborted, yet t2 has its x." },
        databases: &[
            DIRTY,
            NOT_DIRTY,
            "MongoDB with read concern \"local\" or \"available\" may return data that is rolled back after a failover; \
             \"majority\" does not.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::FutureRead),
        aliases: &["read-own-future"],
        definition: "A transaction reads a value that it writes itself only later.",
        example: Example { history: "a: r(x,1) w(x,1)", remark: "The read comes before the write that it returns." },
        databases: &[INSIDE],
    },
    Entry {
        subject: Subject::Anomaly(Kind::NotMyOwnWrite),
        aliases: &["own-write-ignored"],
        definition: "A transaction writes a key and afterwards reads another transaction's value of it.",
        example: Example { history: "a: w(x,1)\nb: w(x,2) r(x,1)", remark: "After its own x=2, t2 must read 2." },
        databases: &[INSIDE],
    },
    Entry {
        subject: Subject::Anomaly(Kind::NotMyLastWrite),
        aliases: &["own-older-write"],
        definition: "A transaction writes a key several times and afterwards reads back one of its older values.",
        example: Example { history: "a: w(x,1) w(x,2) r(x,1)", remark: "The last own write is 2." },
        databases: &[INSIDE],
    },
    Entry {
        subject: Subject::Anomaly(Kind::IntermediateRead),
        aliases: &[],
        definition: "A transaction reads a value that its writer overwrote before it committed, so that it was never a \
                     committed value.",
        example: Example {
            history: "a: w(x,1) w(x,2)\nb: r(x,1)",
            remark: "t1 commits x=2; x=1 was a step on the way.",
        },
        databases: &[DIRTY, NOT_DIRTY],
    },
    Entry {
        subject: Subject::Anomaly(Kind::CyclicCausality),
        aliases: &["circular-information-flow", "cyclic-co"],
        definition: "Session order and reads form a cycle: a transaction depends on itself.",
        example: Example {
            history: "a: r(x,1) w(y,1)\nb: r(y,1) w(x,1)",
            remark: "Each of the two has read what the other wrote.",
        },
        databases: &[DIRTY, "At READ COMMITTED and above no well-known database documents it."],
    },
    Entry {
        subject: Subject::Anomaly(Kind::NonMonotonicReadCausal),
        aliases: &["non-monotonic-reads", "monotonic-read", "read-goes-back"],
        definition: "A transaction reads something from t2 and afterwards a key from t1, although t2 wrote this key too and \
                     t1 comes before t2 in causal order: it has gone back in time. The same key read twice, newer value \
                     first, is a case of it.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(y,1) r(x,nil)",
            remark: "t2 has seen t1 by reading y=1 and then reads x as it was before t1.",
        },
        databases: &[REPLICAS],
    },
    Entry {
        subject: Subject::Anomaly(Kind::NonMonotonicReadCommit),
        aliases: &["non-monotonic-read-cm"],
        definition: "Several transactions read newer-then-older pairs that ask for contradictory commit orders: each of them \
                     could be right, but not all at once.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: w(x,2) w(z,2)\nc: r(z,2) r(x,1)\nd: r(y,1) r(x,2)",
            remark: "t3 is right only if t2 committed before t1, t4 only if t1 committed before t2.",
        },
        databases: &[REPLICAS],
    },
    Entry {
        subject: Subject::Anomaly(Kind::NonRepeatableRead),
        aliases: &["fuzzy-read", "unrepeatable-read", "imp", "p2"],
        definition: "A transaction reads one key twice, without writing it in between, and gets two different values.",
        example: Example {
            history: "a: w(x,1)\nb: w(x,2)\nc: r(x,1) r(x,2)",
            remark: "x changes between the two reads of t3.",
        },
        databases: &[
            STATEMENTS,
            SNAPSHOTS,
            "In MySQL/InnoDB's REPEATABLE READ, locking reads (SELECT … FOR UPDATE) see the newest committed value and may \
             differ from an earlier plain SELECT.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::FracturedReadCausal),
        aliases: &["read-skew", "fractured-reads", "read-your-writes"],
        definition: "A transaction sees a part of what t2 did (it read another key from t2, or it follows t2 in its session) \
                     and yet reads a key from t1, although t2 wrote this key too and t1 comes before t2 in causal order.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) r(y,1)",
            remark: "t2 sees t1's y but not t1's x: half of a transaction.",
        },
        databases: &[
            STATEMENTS,
            SNAPSHOTS,
            "Cassandra: a batch over several partitions is atomic but not isolated, so others can see a part of it.",
            "Asynchronous replicas, where a session that writes to the primary and then reads a replica misses its own \
             writes.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::FracturedReadCommit),
        aliases: &["fractured-read-cm"],
        definition: "Several transactions each see a part of another one, in ways that ask for contradictory commit orders.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: w(x,2) w(z,2)\nc: r(x,1) r(z,2)\nd: r(x,2) r(y,1)",
            remark: "t3 sees t2 and yet has t1's x, t4 sees t1 and yet has t2's x: whose x is the newer one?",
        },
        databases: &[STATEMENTS, SNAPSHOTS],
    },
    Entry {
        subject: Subject::Anomaly(Kind::CausalityViolation),
        aliases: &["causal-violation", "stale-read-causal"],
        definition: "A transaction reads a value that was overwritten by a transaction in its own causal past: by one that it \
                     follows through any chain of sessions and reads.",
        example: Example {
            history: "a: w(x,1)\nb: r(x,1) w(y,1)\nc: r(y,1) r(x,nil)",
            remark: "The answer y=1 is there, but the question x=1 that it was made from is not.",
        },
        databases: &[
            STATEMENTS,
            "MongoDB outside of a causally consistent session with read and write concern \"majority\".",
            "Galera with wsrep_sync_wait=0 (the default), when a client moves between nodes: a node may not yet have applied \
             what was committed on another.",
            "Asynchronous replicas of any database, if clients read from several of them.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::ConflictingCommitOrder),
        aliases: &["conflicting-cm", "conflict-cm"],
        definition: "Two or more transactions have causal pasts that ask for contradictory commit orders of concurrent writes: \
                     the replicas resolve the same conflict differently.",
        example: Example {
            history: "a: w(x,1) | w(p,1)\nb: w(x,2) | w(q,1)\nc: r(p,1) r(x,2)\nd: r(q,1) r(x,1)",
            remark: "t5 knows of t1 and has x=2, t6 knows of t3 and has x=1: whose x is the newer one?",
        },
        databases: &[
            "Stores without convergent conflict resolution, where two replicas keep different winners of concurrent writes.",
            STATEMENTS,
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::WriteCycle),
        aliases: &["dirty-write", "p0", "version-cycle"],
        definition: "The orders of versions that lists show, together with session order and reads, form a cycle: the writes of two \
                     transactions are interleaved. Registers do not show the order of versions, so only list histories can have it.",
        example: Example {
            history: "a: a(l,1) a(m,1)\nb: a(l,2) a(m,2)\nc: r(l,[1 2])\nd: r(m,[2 1])",
            remark: "t1 appended before t2 to l, and after it to m.",
        },
        databases: &[
            "Adya's weakest level forbids it already (G0), and no SQL level allows it, READ UNCOMMITTED included.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::IncompatibleOrder),
        aliases: &["inconsistent-lists"],
        definition: "Two reads of an append-only list return lists of which neither is a prefix of the other.",
        example: Example {
            history: "a: a(l,1)\nb: a(l,2)\nc: r(l,[1 2])\nd: r(l,[2 1])",
            remark: "No order of the two appends explains both reads.",
        },
        databases: &[
            "No database documents it for committed data; a split brain, or writes lost in a failover, can show it.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Kind::DuplicateElement),
        aliases: &["duplicate-append"],
        definition: "An element that was appended once stands twice in a list.",
        example: Example { history: "a: a(l,1)\nb: r(l,[1 1])", remark: "One append, two elements." },
        databases: &[
            "No database documents it; a client or proxy that repeats a write whose answer was lost can cause it.",
        ],
    },
];
