//! Histories for levels without sessions.

use seriatim_history::History;
use seriatim_isolation::Level;
use std::borrow::Cow;

/// The history in which no sessions count. Where scans have read more than is among the operations,
/// read committed and read atomic need no more; of the levels above only those are confirmed that
/// hold with sessions, for which the operations are enough.
pub(crate) fn as_if_alone(history: &History, level: Level) -> Cow<'_, History> {
    match history.scans_need_sessions() && level >= Level::Causal {
        true => Cow::Borrowed(history),
        false => Cow::Owned(history.without_sessions()),
    }
}
