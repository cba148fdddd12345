//! Why an edge is forced, and why a level is violated: what the rounds find, with its reasons.

use super::ids::{AmbiguousId, PointId, SlotId};
use seriatim_history::TxnId;
use std::sync::Arc as Shared;

/// Why one version cannot come before another, `later` before `earlier` say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against {
    /// Known edges lead from the earlier writer to the later one.
    Writers,
    /// This reader of the later version would have begun before the earlier one was written, yet
    /// known edges lead from there to it.
    Reader(TxnId),
    /// The same with an ambiguous read that was matched with the later version.
    Matched(AmbiguousId),
}

/// Why an ambiguous read did not read a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Excluded {
    /// The reader came first.
    Future,
    /// This transaction replaced it before the reader began.
    ReplacedBy(TxnId),
    /// This transaction wrote before the reader began, and cannot have written before the slot.
    NotAfter(TxnId, Against),
}

/// Why a forced edge is there. Each speaks of what was known when the first `known` forced edges
/// were.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// The reader saw the initial value, by an ambiguous read if there is one.
    Initial { reader: TxnId, writer: TxnId, read: Option<AmbiguousId> },
    /// An ambiguous read was matched with a version that was replaced by the reason
    /// with this number.
    Replaced { read: AmbiguousId, order: u32 },
    /// `earlier` wrote before `later`.
    Order { earlier: TxnId, later: TxnId, against: Against, known: u32 },
    /// The point comes before or after all candidates that an ambiguous read has left, so it comes
    /// before or after the reader.
    Bound { open: Shared<OpenRead>, point: PointId, side: Side, known: u32 },
    /// The read has one candidate left.
    Match { read: AmbiguousId, excluded: Vec<(SlotId, Excluded)>, known: u32 },
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
    Cycle(Vec<PointId>),
    /// The reader saw the initial value although known edges lead from the writer to it.
    StaleInitial { reader: TxnId, writer: TxnId, read: Option<AmbiguousId> },
    /// Neither order of two writers is possible: `first` before `second` because of the first
    /// reason, and so on.
    NeitherOrder { first: TxnId, second: TxnId, against: [Against; 2] },
    /// No candidate of the read is left.
    NoSource { read: AmbiguousId, excluded: Vec<(SlotId, Excluded)> },
    /// The search found no choice; these transactions are involved, and these ambiguous reads: some
    /// with candidates that were excluded before, some that were matched before.
    Exhausted { txns: Vec<TxnId>, open: Vec<OpenRead>, matched: Vec<AmbiguousId> },
}

/// An ambiguous read with several candidates left.
#[derive(Clone, Debug)]
pub(crate) struct OpenRead {
    pub read: AmbiguousId,
    pub candidates: Vec<SlotId>,
    pub excluded: Vec<(SlotId, Excluded)>,
}
