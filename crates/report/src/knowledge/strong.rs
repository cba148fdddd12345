//! The anomalies of the strong levels: prefix consistency, snapshot isolation, serializability and
//! its strict variant.

use super::{Entry, Example, Subject};
use seriatim_isolation::Anomaly;

pub(super) const READ_COMMITTED: &str = "READ COMMITTED of PostgreSQL (its default), Oracle (its \
                                         default), SQL Server (its default), \
                              MySQL/InnoDB, CockroachDB and YugabyteDB.";
const SNAPSHOT_LEVELS: &str = "The levels that are snapshot isolation: REPEATABLE READ of \
                               PostgreSQL, YugabyteDB, TiDB (its \
                               default) and Spanner, SERIALIZABLE of Oracle, SNAPSHOT of SQL \
                               Server.";
const REPLICA_FORKS: &str = "PostgreSQL with read replicas: transactions can become visible in \
                             another order on a replica than \
                             on the primary. Jepsen saw it in Amazon RDS for PostgreSQL multi-AZ \
                             clusters, 13.15 to 17.4; one \
                             node alone does not show it.";
const INNODB_LOSES: &str = "REPEATABLE READ of MySQL/InnoDB (its default), if the application \
                            reads, computes and writes \
                            without locking reads. MariaDB since 11.6.2 refuses the second writer \
                            (innodb_snapshot_isolation, on by default).";

/// In the order of reports.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        subject: Subject::Anomaly(Anomaly::DirtyWrite),
        aliases: &["p0"],
        definition: "Two transactions write the same keys, and what was read shows that on one \
                     key the first came first and on \
                     another the second did: their writes are interleaved. Registers do not show \
                     the order of versions, so it \
                     has to be inferred; where lists show it, it is a write cycle.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: w(x,2) w(y,2)\nc: r(x,1) r(p,nil)\nd: w(p,1)\ne: \
                      r(p,1) r(x,2)\n\
                      f: r(y,2) r(q,nil)\ng: w(q,1)\nh: r(q,1) r(y,1)",
            remark: "t3 has x=1 from before t4, t5 has x=2 from after it, so t2 overwrote x; t6 \
                     to t8 show the opposite of y.",
        },
        databases: &[
            "None of PostgreSQL, MySQL/InnoDB, Oracle, SQL Server and CockroachDB showed it at \
             any level in Hermitage's tests, \
             READ UNCOMMITTED included.",
            "Stores without transactions over several keys, if a history records several writes \
             as one transaction.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::ReadSkew),
        aliases: &[],
        definition: "A transaction misses a write of another one although it comes after it: a \
                     cycle with exactly one \
                     anti-dependency. If reads and sessions alone show that it comes after it, \
                     weaker levels forbid that already \
                     and it has another name; in particular, the read skew of Berenson et al. \
                     (A5A) is a fractured read here. \
                     What is left needs an order of writes: one of the transactions overwrote \
                     something of another.",
        example: Example {
            history: "a: w(x,1) w(y,1)\nb: r(x,nil) w(y,2)\nc: r(y,1) | r(y,2)",
            remark: "t2 overwrote y of t1, as session c shows, but did not see x of t1.",
        },
        databases: &[
            READ_COMMITTED,
            "REPEATABLE READ of MySQL/InnoDB (its default) in a transaction that also writes \
             (Hermitage, Jepsen).",
            "REPEATABLE READ of PostgreSQL, SERIALIZABLE of Oracle and SNAPSHOT of SQL Server do \
             not show it on one node.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::LongFork),
        aliases: &["parallel-snapshots"],
        definition: "Two readers see two independent writes in opposite orders.",
        example: Example {
            history: "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,nil)\nd: r(y,1) r(x,nil)",
            remark: "For t3 x came first, for t4 y did. Causal consistency allows it.",
        },
        databases: &[
            REPLICA_FORKS,
            "Stores with causal consistency or parallel snapshot isolation allow it by design.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::NonAdjacent),
        aliases: &[],
        definition: "A cycle with several anti-dependencies of which no two follow each other, \
                     and which is not simply a long \
                     fork: snapshots that cannot be put into one order. Some of them violate \
                     prefix consistency too; a report says \
                     so.",
        example: Example {
            history: "a: w(x,1) w(z,1)\nb: r(y,nil) w(z,2)\nc: w(y,1)\nd: r(y,1) r(x,nil)\ne: \
                      r(z,1) | r(z,2)",
            remark: "t2 overwrote z of t1 and misses t3; t4 sees t3 and misses t1.",
        },
        databases: &[
            REPLICA_FORKS,
            "Whoever allows read skew or lost update: READ COMMITTED nearly everywhere, \
             REPEATABLE READ of MySQL/InnoDB.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::LostUpdate),
        aliases: &[],
        definition: "Two transactions read the same version of a key and both write it: one \
                     update is lost.",
        example: Example {
            history: "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)",
            remark: "Both start from the initial x. Every level up to prefix consistency allows \
                     it.",
        },
        databases: &[
            READ_COMMITTED,
            INNODB_LOSES,
            "REPEATABLE READ of PostgreSQL, SERIALIZABLE of Oracle and SNAPSHOT of SQL Server \
             refuse the second writer; \
             REPEATABLE READ of SQL Server ends in a deadlock of the two, of which one is rolled \
             back.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::WriteSkew),
        aliases: &["a5b"],
        definition: "Two transactions each read what the other overwrites, and write different \
                     keys.",
        example: Example {
            history: "a: r(x,nil) r(y,nil) w(x,1)\nb: r(x,nil) r(y,nil) w(y,1)",
            remark: "Each is right alone; together they may break a rule over x and y.",
        },
        databases: &[
            SNAPSHOT_LEVELS,
            READ_COMMITTED,
            "REPEATABLE READ of MySQL/InnoDB (its default).",
            "SERIALIZABLE of PostgreSQL, SQL Server, MySQL/InnoDB and CockroachDB (its default) \
             lets only one of the two commit. Jepsen \
             saw a case of it at SERIALIZABLE of PostgreSQL 12.3, a bug.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::AntiDependencyCycle),
        aliases: &["g2"],
        definition: "A cycle with two or more anti-dependencies in a row that is not simply a \
                     write skew: each transaction misses \
                     something of the next, and no serial order exists.",
        example: Example {
            history: "a: r(x,nil) w(y,1)\nb: r(y,nil) w(z,1)\nc: r(z,nil) w(x,1)",
            remark: "A write skew of three: each would have to come before the one that overwrote \
                     what it read.",
        },
        databases: &[
            SNAPSHOT_LEVELS,
            READ_COMMITTED,
            "REPEATABLE READ of MySQL/InnoDB (its default).",
            "REPEATABLE READ of SQL Server, which locks what it reads, does not show it.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::StaleRead),
        aliases: &["real-time-violation", "realtime", "causal-reverse"],
        definition: "A read that real time forbids and sessions allow: a transaction does not see \
                     one that had ended before it began, so that only an order that contradicts \
                     real time explains it. Its age is the time from the end of the newest \
                     transaction that it should have seen to its own begin. Strict \
                     serializability forbids it, and with `--order real-time` every level does.",
        example: Example {
            history: "a: w(x,1) @1-2\nb: r(x,nil) @3-4",
            remark: "t1 had ended at 2, before t2 began at 3, and t2 does not see it.",
        },
        databases: &[
            "Reads of asynchronous replicas: hot standbys of PostgreSQL, replicas of MySQL and \
             Redis, MongoDB secondaries, \
             Cassandra at consistency level ONE, Galera with wsrep_sync_wait=0 (its default).",
            "By request: serializable reads of etcd, follower reads of CockroachDB (AS OF SYSTEM \
             TIME), Spanner with a bound on \
             staleness.",
            "Serializability allows it, so a database may promise that and still return stale \
             data.",
        ],
    },
    Entry {
        subject: Subject::Anomaly(Anomaly::RealTimeCycle),
        aliases: &[
            "real-time-inversion",
            "write-inversion",
            "read-from-the-future",
            "g-nonadjacent-realtime",
            "g2-item-realtime",
        ],
        definition: "A transaction ended before another one began, and yet comes after it by what \
                     was read, by its session or by the order of a list: a read from the future \
                     or an inversion of writes. Or several reads, none of which is stale alone, \
                     contradict each other because of real time. Strict serializability forbids \
                     it, and with `--order real-time` every level does.",
        example: Example {
            history: "a: r(x,1) @1-2\nb: w(x,1) @3-4",
            remark: "t1 had ended at 2, before t2 began at 3, and yet t1 has what t2 wrote.",
        },
        databases: &[
            "Suspect the recording first: begins and ends must come from one clock, and a time \
             that is taken too late or too early looks like this.",
            "Databases that order writes by the clocks of clients or nodes may put a later write \
             before an earlier one if these clocks disagree: Cassandra, where the write with the \
             larger timestamp wins.",
        ],
    },
];
