//! What to check and how much to say.

use seriatim_isolation::{Anomaly, Level, Order};
use std::time::Instant;

/// What [`crate::Checker`] collects.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Which levels.
    pub levels: Vec<Level>,
    /// With which order.
    pub order: Order,
    /// How many instances of each kind to explain in [`super::AnomalyGroup::instances`]; 0 explains
    /// the exemplar only.
    pub instances: usize,
    /// The one kind of anomaly to look for, if not all.
    pub kind: Option<Anomaly>,
    /// Whether a commit order is made of a weak level that holds below a violated one, which takes
    /// as long as deciding the level once more.
    pub orders: bool,
    /// When to give up on levels that need a search; what is not decided by then is undecided.
    pub deadline: Option<Instant>,
    /// How many bytes the process may have resident, as far as that can be known in advance or
    /// noticed in time; what would take more is undecided.
    pub memory: Option<u64>,
    /// How many threads may work at once.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Options {
            levels: Level::ALL.to_vec(),
            order: Order::default(),
            instances: 0,
            kind: None,
            orders: true,
            deadline: None,
            memory: None,
            threads,
        }
    }
}
