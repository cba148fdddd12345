//! The anomalies: their names here and in the literature, and the levels that forbid them.

use crate::level::Level;

/// The anomalies in the order of reports: what is wrong at every level first, then what takes more
/// and more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Anomaly {
    /// TAP-a: a value that no transaction wrote. `ops`: the read.
    ThinAirRead,
    /// TAP-b: a value that only an aborted transaction wrote. `ops`: the write, the read.
    AbortedRead,
    /// TAP-c: a value that the transaction itself writes only later. `ops`: the read, the write.
    FutureRead,
    /// TAP-d: the transaction wrote the key, then read another transaction's value. `ops`: own
    /// write, the other write (absent if no transaction wrote that value), the read.
    NotMyOwnWrite,
    /// TAP-e: the transaction read an older write of its own. `ops`: older write, newer write, the
    /// read.
    NotMyLastWrite,
    /// TAP-f: a value that its writer itself overwrote. `ops`: the write, the overwriting write,
    /// the read.
    IntermediateRead,
    /// TAP-g: session order and reads form a cycle. `cycle`: session-order and write-read edges.
    CyclicCausality,
    /// Session order, reads and the version orders that lists show form a cycle.
    WriteCycle,
    /// Lists of one key of which none is a prefix of the other. `ops`: the two reads, then the
    /// appends of the first elements that differ, where known. Or a list that has two appends of
    /// one transaction the wrong way round. `ops`: the read, the earlier append, the later append.
    IncompatibleOrder,
    /// An element stands twice in a list. `ops`: the read (then the append, where known).
    DuplicateElement,
    /// A list lacks an element that was appended before one that it has. `ops` of one transaction's
    /// appends: the missing one, the one in the list, the read. Otherwise `cycle`: how the missing
    /// append comes first, and the list that shows the opposite.
    LostElement,
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
    /// A cycle that needs real time and has one read that missed something: it was not seen
    /// although it had ended.
    StaleRead,
    /// Any other cycle that needs real time: a transaction ended before one began that comes before
    /// it. A read from the future, an inversion of writes, or reads that contradict each other.
    RealTimeCycle,
}

/// What reports say about a kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnomalyInfo {
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

impl Anomaly {
    /// All kinds, in the order of reports.
    pub const ALL: [Anomaly; 27] = [
        Anomaly::ThinAirRead,
        Anomaly::AbortedRead,
        Anomaly::FutureRead,
        Anomaly::NotMyOwnWrite,
        Anomaly::NotMyLastWrite,
        Anomaly::IntermediateRead,
        Anomaly::CyclicCausality,
        Anomaly::WriteCycle,
        Anomaly::IncompatibleOrder,
        Anomaly::DuplicateElement,
        Anomaly::LostElement,
        Anomaly::NonMonotonicReadCausal,
        Anomaly::NonMonotonicReadCommit,
        Anomaly::NonRepeatableRead,
        Anomaly::FracturedReadCausal,
        Anomaly::FracturedReadCommit,
        Anomaly::CausalityViolation,
        Anomaly::ConflictingCommitOrder,
        Anomaly::DirtyWrite,
        Anomaly::ReadSkew,
        Anomaly::LongFork,
        Anomaly::NonAdjacent,
        Anomaly::LostUpdate,
        Anomaly::WriteSkew,
        Anomaly::AntiDependencyCycle,
        Anomaly::StaleRead,
        Anomaly::RealTimeCycle,
    ];

    /// Name, letter and levels of this kind.
    pub fn info(self) -> AnomalyInfo {
        let (code, name, tap, adya, forbidden_by) = match self {
            Anomaly::ThinAirRead => ("thin-air-read", "thin-air read", 'a', None, RC_UP),
            Anomaly::AbortedRead => ("aborted-read", "aborted read", 'b', Some("G1a"), RC_UP),
            Anomaly::FutureRead => ("future-read", "future read", 'c', Some("internal"), RC_UP),
            Anomaly::NotMyOwnWrite => {
                ("not-my-own-write", "own write ignored", 'd', Some("internal"), RC_UP)
            }
            Anomaly::NotMyLastWrite => {
                ("not-my-last-write", "own older write", 'e', Some("internal"), RC_UP)
            }
            Anomaly::IntermediateRead => {
                ("intermediate-read", "intermediate read", 'f', Some("G1b"), RC_UP)
            }
            Anomaly::CyclicCausality => {
                ("cyclic-causality", "cyclic causal order", 'g', Some("G1c"), RC_UP)
            }
            Anomaly::NonMonotonicReadCausal => {
                ("non-monotonic-read", "non-monotonic read", 'h', Some("G-single"), RC_UP)
            }
            Anomaly::NonMonotonicReadCommit => (
                "non-monotonic-read-commit",
                "non-monotonic read against the commit order",
                'i',
                None,
                RC_UP,
            ),
            Anomaly::NonRepeatableRead => {
                ("non-repeatable-read", "non-repeatable read", 'j', Some("G-single"), CI_RA_UP)
            }
            Anomaly::FracturedReadCausal => {
                ("fractured-read", "fractured read", 'k', Some("G-single"), RA_UP)
            }
            Anomaly::FracturedReadCommit => (
                "fractured-read-commit",
                "fractured read against the commit order",
                'l',
                None,
                RA_UP,
            ),
            Anomaly::CausalityViolation => {
                ("causality-violation", "causality violation", 'm', Some("G-single"), CC_UP)
            }
            Anomaly::ConflictingCommitOrder => {
                ("conflicting-commit-order", "conflicting commit order", 'n', None, CC_UP)
            }
            _ => return self.info_without_letter(),
        };
        AnomalyInfo { code, name, tap: Some(tap), adya, forbidden_by }
    }

    /// The kinds that are not among Plume's patterns.
    fn info_without_letter(self) -> AnomalyInfo {
        if self == Anomaly::LostElement {
            let (code, name, forbidden_by) = ("lost-element", "lost list element", RC_UP);
            return AnomalyInfo { code, name, tap: None, adya: None, forbidden_by };
        }
        let (code, name, adya, forbidden_by) = match self {
            Anomaly::WriteCycle => ("write-cycle", "write cycle", "G0 / G1c", RC_UP),
            Anomaly::IncompatibleOrder => {
                ("incompatible-order", "incompatible list orders", "incompatible-order", RC_UP)
            }
            Anomaly::DuplicateElement => {
                ("duplicate-element", "duplicate list element", "duplicate-elements", RC_UP)
            }
            Anomaly::DirtyWrite => ("dirty-write", "dirty write", "G0", PC_UP),
            Anomaly::ReadSkew => ("read-skew", "read skew", "G-single", SI_UP),
            Anomaly::LongFork => ("long-fork", "long fork", "G-nonadjacent", PC_UP),
            Anomaly::NonAdjacent => {
                ("non-adjacent", "non-adjacent anti-dependencies", "G-nonadjacent", SI_UP)
            }
            Anomaly::LostUpdate => ("lost-update", "lost update", "P4", SI_UP),
            Anomaly::WriteSkew => ("write-skew", "write skew", "G2-item", SER_UP),
            Anomaly::StaleRead => {
                ("stale-read", "stale read in real time", "G-single-realtime", SSER)
            }
            Anomaly::RealTimeCycle => {
                ("real-time-cycle", "real-time cycle", "G0-realtime / G1c-realtime", SSER)
            }
            _ => ("anti-dependency-cycle", "anti-dependency cycle", "G2-item", SER_UP),
        };
        AnomalyInfo { code, name, tap: None, adya: Some(adya), forbidden_by }
    }
}
