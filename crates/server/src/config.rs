//! How a server is to work.

use crate::questions::Questions;
use seriatim_isolation::{Level, Order};
use seriatim_store::{ChooserKind, Node, TxnName};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// How a server is to work; the defaults suit a test on one machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The level of transactions that do not ask for another one.
    pub level: Level,
    /// Which transactions a later one must see, beside those that it read from.
    pub order: Order,
    /// What SQL runs on does what one node of this server does, at the levels that transactions
    /// ask for, and not all that a level allows.
    pub node: Option<Node>,
    /// The chooser that picks among the versions that a read may return.
    pub chooser: ChooserKind,
    /// Who is asked instead, by the page of the server: reads that get no answer return the latest
    /// version.
    pub questions: Option<Arc<Questions>>,
    /// What decides everything that is random.
    pub seed: u64,
    /// One transaction at a time: the others wait for it to end.
    pub serial: bool,
    /// The order in which transactions begin, one at a time; see
    /// [`seriatim_store::Builder::in_turn`].
    pub turns: Option<Vec<TxnName>>,
    /// After how many commits the store forgets old versions; see
    /// [`seriatim_store::Builder::horizon`].
    pub horizon: Option<NonZeroU32>,
    /// The longest random wait before a transaction.
    pub delay_max: Duration,
    /// How many sessions may be open.
    pub sessions_max: usize,
    /// The largest body of a request, in bytes.
    pub body_bytes_max: usize,
    /// A session that is not used for this long ends.
    pub idle_max: Duration,
    /// With `serial` or `turns`: how long a transaction waits for its turn.
    pub turn_wait_max: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            level: Level::Causal,
            order: Order::default(),
            node: None,
            chooser: ChooserKind::Random,
            questions: None,
            seed: 0,
            serial: false,
            turns: None,
            horizon: None,
            delay_max: Duration::ZERO,
            sessions_max: 1000,
            body_bytes_max: 1 << 20,
            idle_max: Duration::from_secs(300),
            turn_wait_max: Duration::from_secs(10),
        }
    }
}
