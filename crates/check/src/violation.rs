//! Explanations as data: what went wrong, between which transactions and operations, and why each
//! edge must hold.
//!
//! A [`Violation`] carries everything that a report needs, with the names of the input; nothing
//! downstream looks at the history again. Its operations alone (everything else removed from the
//! history) still violate the level.

use crate::level::Level;
use seriatim_history::{OpId, Place, TxnId};

/// A transaction as a report names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnRef {
    /// Its number in the history; `None` for the initial transaction.
    pub id: Option<TxnId>,
    /// Its name in the input (`t7`); `initial` for the initial transaction.
    pub name: String,
    /// The name of its session; empty for the initial transaction.
    pub session: String,
    /// Its place in its session, from 0.
    pub index: u32,
    /// Whether the input does not say how it ended.
    pub is_unknown: bool,
}

/// An operation as a report names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpRef {
    /// Its number in the history; `None` for a write of the initial transaction.
    pub id: Option<OpId>,
    /// The transaction that it belongs to.
    pub txn: TxnRef,
    /// `"read"`, `"write"` or `"append"`.
    pub action: &'static str,
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// Where it stands in the input.
    pub place: Option<Place>,
    /// The element of the list that was read that is to blame, if it is a single one.
    pub element: Option<Element>,
}

/// An element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Where it stands in the list, from 1.
    pub position: u64,
    /// The element.
    pub value: String,
}

/// Why one transaction must come before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `from` is earlier in the same session.
    SessionOrder,
    /// `from` is the initial transaction, which precedes every other.
    Initial,
    /// `to` read what `from` wrote.
    WriteRead {
        /// The write in `from`.
        write: OpRef,
        /// The read in `to`.
        read: OpRef,
        /// How one knows that it came from there.
        origin: Origin,
    },
    /// Inferred by the level's axiom: a reader saw `from` (see `visible`), yet read the key from
    /// `to`, which `from` also wrote; so `from` must have committed before `to`.
    Overwritten {
        /// The read by the third transaction that returned the value of `to`.
        read: OpRef,
        /// The write in `to` that was read.
        source: OpRef,
        /// The write in `from` to the same key.
        other: OpRef,
        /// How `from` is visible to the reader: a path of session-order and write-read edges from
        /// `from` to the reader.
        visible: Vec<Edge>,
    },
    /// The lists that were read show that `from` appended before `to`.
    VersionOrder {
        /// The append in `from`.
        earlier: OpRef,
        /// The append in `to`.
        later: OpRef,
        /// A read whose list shows both in this order.
        read: OpRef,
    },
    /// `from` ended before `to` began.
    RealTime {
        /// When `from` ended, in the unit of the input.
        end: i64,
        /// When `to` began.
        begin: i64,
    },
    /// `from` and `to` wrote the same key, `from` first.
    WriteWrite {
        /// The write in `from`.
        earlier: OpRef,
        /// The write in `to`.
        later: OpRef,
        /// How one knows which came first.
        why: Why,
    },
    /// `from` read a version that `to` overwrote, so it did not see `to`.
    ReadWrite {
        /// The read in `from`.
        read: OpRef,
        /// The write that it returned.
        source: OpRef,
        /// How one knows that it came from there.
        origin: Origin,
        /// The write in `to`.
        overwrite: OpRef,
        /// How one knows that `source` came before `overwrite`.
        why: Why,
    },
}

/// How one knows that one version of a key precedes another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The earlier version is the initial one.
    Initial,
    /// These edges, all of which were observed, lead from the earlier writer to the later one.
    Known(Vec<Edge>),
    /// This read returned a list that shows both.
    Listed(OpRef),
    /// Nobody knows: it is supposed, and the cycle that it stands in refutes it.
    Supposed,
    /// The opposite order, which is supposed in it, would close this cycle.
    Otherwise(Vec<Edge>),
    /// It was derived before, for the same two transactions.
    Repeated,
    /// The derivation is left out: it is nested too deeply to be followed.
    TooDeep,
}

/// How one knows which write a read returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody else wrote the value.
    Only,
    /// Others wrote it too, and each of these possibilities is refuted.
    Others(Vec<Excluded>),
    /// Others wrote it too; this one is supposed, and the cycle that it stands in refutes it.
    Supposed,
    /// It was derived before, for the same read.
    Repeated,
    /// The derivation is left out: it is nested too deeply to be followed.
    TooDeep,
}

/// A write that a read cannot have returned although the value would fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The write.
    pub write: OpRef,
    /// The cycle that it would close.
    pub cycle: Vec<Edge>,
}

/// `from` must come before `to` in every commit order, because of `reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The earlier transaction.
    pub from: TxnRef,
    /// The later transaction.
    pub to: TxnRef,
    /// Why.
    pub reason: Reason,
}

/// One instance of an anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which anomaly.
    pub kind: Kind,
    /// The operations that show it, in the order in which a person should read them. The history
    /// that consists of these operations alone violates every level of `levels`.
    pub ops: Vec<OpRef>,
    /// The levels that forbid it: those of `kind.info().forbidden_by`, and weaker ones that this
    /// instance violates too.
    pub levels: Vec<Level>,
    /// The contradiction: a cycle of edges (each `to` is the next `from`, the last closes on the
    /// first). Empty for anomalies that need no order: kinds a to f, j, and those of lists.
    pub cycle: Vec<Edge>,
}

impl Violation {
    /// An instance that violates the levels that forbid its kind, and no other.
    pub fn new(kind: Kind, ops: Vec<OpRef>, cycle: Vec<Edge>) -> Violation {
        Violation { kind, ops, levels: kind.info().forbidden_by.to_vec(), cycle }
    }

    /// How many transactions are involved.
    pub fn txn_count(&self) -> usize {
        let mut txns: Vec<Option<TxnId>> = self.ops.iter().map(|op| op.txn.id).collect();
        txns.sort_unstable();
        txns.dedup();
        txns.len()
    }
}

/// The anomalies, Plume's patterns first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// TAP-a: a value that nobody wrote. `ops`: the read.
    ThinAirRead,
    /// TAP-b: a value that only an aborted transaction wrote. `ops`: the write, the read.
    AbortedRead,
    /// TAP-c: a value that the transaction itself writes only later. `ops`: the read, the write.
    FutureRead,
    /// TAP-d: the transaction wrote the key, then read another transaction's value. `ops`: own
    /// write, the other write (absent if nobody wrote that value), the read.
    NotMyOwnWrite,
    /// TAP-e: the transaction read an older write of its own. `ops`: older write, newer write, the
    /// read.
    NotMyLastWrite,
    /// TAP-f: a value that its writer itself overwrote. `ops`: the write, the overwriting write,
    /// the read.
    IntermediateRead,
    /// TAP-g: session order and reads form a cycle. `cycle`: session-order and write-read edges.
    CyclicCausality,
    /// TAP-h: newer, then older, against the causal order. `cycle`: [source → … → other writer,
    /// inferred edge back].
    NonMonotonicReadCausal,
    /// TAP-i: the same against an inferred commit order.
    NonMonotonicReadCommit,
    /// TAP-j: two different values of one key in one transaction. `ops`: first read, second read
    /// (then their writes, where known).
    NonRepeatableRead,
    /// TAP-k: part of a transaction's writes seen, against the causal order.
    FracturedReadCausal,
    /// TAP-l: the same against an inferred commit order.
    FracturedReadCommit,
    /// TAP-m: a value that is overwritten in the reader's causal past.
    CausalityViolation,
    /// TAP-n: causally inferred commit orders contradict each other.
    ConflictingCommitOrder,
    /// Session order, reads and the version orders that lists show form a cycle.
    WriteCycle,
    /// Lists of one key of which none is a prefix of the other. `ops`: the two reads, then the
    /// appends of the first elements that differ, where known. Or a list that has two appends of
    /// one transaction the wrong way round. `ops`: the read, the earlier append, the later append.
    IncompatibleOrder,
    /// An element stands twice in a list. `ops`: the read (then the append, where known).
    DuplicateElement,
    /// A cycle of write-write edges and what was observed.
    DirtyWrite,
    /// A cycle with exactly one read-write edge: a transaction saw another one, but not all of it.
    ReadSkew,
    /// Two readers that saw two writes in opposite orders. `cycle`: write-read, read-write,
    /// write-read, read-write.
    LongFork,
    /// A cycle with several read-write edges, of which no two follow each other.
    NonAdjacent,
    /// Two transactions that read the same version of a key and both wrote it. `ops`: theirs, and
    /// the write of the version.
    LostUpdate,
    /// Two transactions that each overwrote what the other read. `cycle`: two read-write edges.
    WriteSkew,
    /// Any other cycle with read-write edges.
    AntiDependencyCycle,
    /// A cycle that needs real time: something was not seen although it had ended.
    StaleRead,
}

/// What reports say about a kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// The identifier in JSON and for `explain`.
    pub code: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Plume's letter.
    pub tap: Option<char>,
    /// The name that Adya or Elle use.
    pub adya: Option<&'static str>,
    /// The levels that forbid it.
    pub forbidden_by: &'static [Level],
}

/// Cut isolation stands apart: it is the second of all levels, and those from read atomic on
/// contain it.
const CI_RA_UP: &[Level] = Level::ALL.split_at(1).1;
const RC_UP: &[Level] = &Level::LADDER;
const RA_UP: &[Level] = Level::LADDER.split_at(1).1;
const CC_UP: &[Level] = Level::LADDER.split_at(2).1;
const PC_UP: &[Level] = Level::LADDER.split_at(3).1;
const SI_UP: &[Level] = Level::LADDER.split_at(4).1;
const SER_UP: &[Level] = Level::LADDER.split_at(5).1;
const SSER: &[Level] = Level::LADDER.split_at(6).1;

impl Kind {
    /// All kinds, in the order of reports.
    pub const ALL: [Kind; 25] = [
        Kind::ThinAirRead,
        Kind::AbortedRead,
        Kind::FutureRead,
        Kind::NotMyOwnWrite,
        Kind::NotMyLastWrite,
        Kind::IntermediateRead,
        Kind::CyclicCausality,
        Kind::NonMonotonicReadCausal,
        Kind::NonMonotonicReadCommit,
        Kind::NonRepeatableRead,
        Kind::FracturedReadCausal,
        Kind::FracturedReadCommit,
        Kind::CausalityViolation,
        Kind::ConflictingCommitOrder,
        Kind::WriteCycle,
        Kind::IncompatibleOrder,
        Kind::DuplicateElement,
        Kind::DirtyWrite,
        Kind::ReadSkew,
        Kind::LongFork,
        Kind::NonAdjacent,
        Kind::LostUpdate,
        Kind::WriteSkew,
        Kind::AntiDependencyCycle,
        Kind::StaleRead,
    ];

    /// Name, letter and levels of this kind.
    pub fn info(self) -> KindInfo {
        let (code, name, tap, adya, forbidden_by) = match self {
            Kind::ThinAirRead => ("thin-air-read", "thin-air read", 'a', None, RC_UP),
            Kind::AbortedRead => ("aborted-read", "aborted read", 'b', Some("G1a"), RC_UP),
            Kind::FutureRead => ("future-read", "future read", 'c', Some("internal"), RC_UP),
            Kind::NotMyOwnWrite => {
                ("not-my-own-write", "own write ignored", 'd', Some("internal"), RC_UP)
            }
            Kind::NotMyLastWrite => {
                ("not-my-last-write", "own older write", 'e', Some("internal"), RC_UP)
            }
            Kind::IntermediateRead => {
                ("intermediate-read", "intermediate read", 'f', Some("G1b"), RC_UP)
            }
            Kind::CyclicCausality => {
                ("cyclic-causality", "cyclic causal order", 'g', Some("G1c"), RC_UP)
            }
            Kind::NonMonotonicReadCausal => {
                ("non-monotonic-read", "non-monotonic read", 'h', Some("G-single"), RC_UP)
            }
            Kind::NonMonotonicReadCommit => (
                "non-monotonic-read-commit",
                "non-monotonic read against the commit order",
                'i',
                None,
                RC_UP,
            ),
            Kind::NonRepeatableRead => {
                ("non-repeatable-read", "non-repeatable read", 'j', Some("G-single"), CI_RA_UP)
            }
            Kind::FracturedReadCausal => {
                ("fractured-read", "fractured read", 'k', Some("G-single"), RA_UP)
            }
            Kind::FracturedReadCommit => (
                "fractured-read-commit",
                "fractured read against the commit order",
                'l',
                None,
                RA_UP,
            ),
            Kind::CausalityViolation => {
                ("causality-violation", "causality violation", 'm', Some("G-single"), CC_UP)
            }
            Kind::ConflictingCommitOrder => {
                ("conflicting-commit-order", "conflicting commit order", 'n', None, CC_UP)
            }
            _ => return self.info_without_letter(),
        };
        KindInfo { code, name, tap: Some(tap), adya, forbidden_by }
    }

    /// The kinds that are not among Plume's patterns.
    fn info_without_letter(self) -> KindInfo {
        let (code, name, adya, forbidden_by) = match self {
            Kind::WriteCycle => ("write-cycle", "write cycle", "G0 / G1c", RC_UP),
            Kind::IncompatibleOrder => {
                ("incompatible-order", "incompatible list orders", "incompatible-order", RC_UP)
            }
            Kind::DuplicateElement => {
                ("duplicate-element", "duplicate list element", "duplicate-elements", RC_UP)
            }
            Kind::DirtyWrite => ("dirty-write", "dirty write", "G0", PC_UP),
            Kind::ReadSkew => ("read-skew", "read skew", "G-single", SI_UP),
            Kind::LongFork => ("long-fork", "long fork", "G-nonadjacent", PC_UP),
            Kind::NonAdjacent => {
                ("non-adjacent", "non-adjacent anti-dependencies", "G-nonadjacent", SI_UP)
            }
            Kind::LostUpdate => ("lost-update", "lost update", "P4", SI_UP),
            Kind::WriteSkew => ("write-skew", "write skew", "G2-item", SER_UP),
            Kind::StaleRead => ("stale-read", "stale read in real time", "realtime", SSER),
            _ => ("anti-dependency-cycle", "anti-dependency cycle", "G2-item", SER_UP),
        };
        KindInfo { code, name, tap: None, adya: Some(adya), forbidden_by }
    }
}
