//! Why an edge is forced, and why a level is violated: what the rounds find, with its reasons.

use std::sync::Arc as Shared;

/// Why one version cannot come before another, `later` before `earlier` say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against {
    /// Known edges lead from the earlier writer to the later one.
    Writers,
    /// This reader of the later version would have begun before the earlier one was written, yet
    /// known edges lead from there to it.
    Reader(u32),
    /// The same with an ambiguous read (by number) that was matched with the later version.
    Matched(u32),
}

/// Why an ambiguous read did not read a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Excluded {
    /// The reader came first.
    Future,
    /// This transaction replaced it before the reader began.
    ReplacedBy(u32),
    /// This transaction wrote before the reader began, and cannot have written before the slot.
    NotAfter(u32, Against),
}

/// Why a forced edge is there. Each speaks of what was known when the first `known` forced edges
/// were.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// The reader saw the initial value, by an ambiguous read (by number) if there is one.
    Initial { reader: u32, writer: u32, read: Option<u32> },
    /// An ambiguous read (by number) was matched with a version that was replaced by the reason
    /// with this number.
    Replaced { read: u32, order: u32 },
    /// `earlier` wrote before `later`.
    Order { earlier: u32, later: u32, against: Against, known: u32 },
    /// The point comes before or after all candidates that an ambiguous read has left, so it comes
    /// before or after the reader.
    Bound { open: Shared<OpenRead>, point: u32, side: Side, known: u32 },
    /// The read (by number) has one candidate left.
    Match { read: u32, excluded: Vec<(u32, Excluded)>, known: u32 },
}

/// On which side of a reader a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// Why the level is violated.
#[derive(Clone, Debug)]
pub(crate) enum Contradiction {
    /// Known edges lead around.
    Cycle(Vec<u32>),
    /// The reader saw the initial value although known edges lead from the writer to it.
    StaleInitial { reader: u32, writer: u32, read: Option<u32> },
    /// Neither order of two writers is possible: `first` before `second` because of the first
    /// reason, and so on.
    NeitherOrder { first: u32, second: u32, against: [Against; 2] },
    /// No candidate of the read (by number) is left.
    NoSource { read: u32, excluded: Vec<(u32, Excluded)> },
    /// The search found no choice; these transactions are involved, and these ambiguous reads: some
    /// with candidates that were excluded before, some that were matched before.
    Exhausted { txns: Vec<u32>, open: Vec<OpenRead>, matched: Vec<u32> },
}

/// An ambiguous read (by number) with several candidates left.
#[derive(Clone, Debug)]
pub(crate) struct OpenRead {
    pub read: u32,
    pub candidates: Vec<u32>,
    pub excluded: Vec<(u32, Excluded)>,
}
