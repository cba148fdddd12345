//! What transactions do, one thing after another.

use crate::ranges::Range;
use seriatim_history::StatementContent;
use std::sync::Arc;

/// Something that a transaction did.
#[derive(Clone, Debug)]
pub(crate) enum Recorded<V> {
    /// A read from another transaction.
    Read {
        key: u32,
        source: u32,
    },
    /// A read of its own last write.
    OwnRead {
        key: u32,
    },
    Write {
        key: u32,
        value: Option<V>,
    },
    /// A read of all members of a group that were yet to come.
    Range(Range),
    /// A person was asked what the next read returns; others went on meanwhile.
    Asked,
    /// What comes from now on is done for this statement, up to the next one.
    Statement(Arc<StatementContent>),
}
