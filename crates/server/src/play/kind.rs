//! A program with what is asked of it, for values and local states of one type.

use seriatim_explore::play::Named;
use seriatim_explore::{End, Program};
use std::collections::HashMap;

/// What must hold at the end.
pub(super) type Broken<V, L> = Box<dyn Fn(&End<'_, V, L>) -> Result<(), String> + Send + Sync>;
/// What went wrong in a session, as its local state tells.
pub(super) type Failed<L> = Box<dyn Fn(&L) -> Option<String> + Send + Sync>;
/// The local state of a session as text.
pub(super) type Shown<L> = Box<dyn Fn(usize, &L) -> String + Send + Sync>;
/// What reads returned: by transaction and number of the read; `None` is the initial version.
pub(super) type Observed = HashMap<(Named, usize), Option<Named>>;

/// What can be played, whose values are `V` and whose local states are `L`.
pub(super) struct Kind<V, L> {
    pub program: Program<V, L>,
    pub failed: Failed<L>,
    /// Nothing if nothing is asked of the end.
    pub broken: Option<Broken<V, L>>,
    pub shown: Shown<L>,
    /// Of a recorded history.
    pub observed: Option<Observed>,
}
