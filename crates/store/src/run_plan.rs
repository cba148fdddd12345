//! What a planner of whole runs does in one of them, and what such planners share.

use crate::chooser::Chooser;
use crate::schedule::Schedule;
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What to do in one run.
pub struct RunPlan {
    /// Picks the versions.
    pub chooser: Box<dyn Chooser>,
    /// Picks the client that goes on, if the clients take turns; client 0 is session 0, and so on.
    pub schedule: Schedule,
}

impl fmt::Debug for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunPlan")
    }
}

/// Part of a sum that stands for a set of events.
pub(crate) fn hash(item: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    // Sums of these must differ, which those of plain products may not.
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ hasher.finish()
}

/// Nothing that is kept here can be half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
