//! How a store is to work, said before there is one.

use crate::chooser::{Chooser, Random, TxnName};
use crate::clock::Clock;
use crate::delay::Delay;
use crate::node::Node;
use crate::turns::Turns;
use seriatim_isolation::{Level, Order};
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// How a store is to work.
#[must_use]
pub struct Builder {
    pub(crate) level: Level,
    pub(crate) chooser: Box<dyn Chooser>,
    /// One transaction at a time: how long the others wait.
    pub(crate) serial: Option<Duration>,
    pub(crate) turns: Option<Turns>,
    pub(crate) horizon: Option<NonZeroU32>,
    pub(crate) delay: Option<Delay>,
    pub(crate) clock: Option<Clock>,
    pub(crate) sessions_at_rc: bool,
    pub(crate) order: Order,
    pub(crate) node: Option<Node>,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Builder({})", self.level)
    }
}

impl Builder {
    pub(crate) fn new(level: Level) -> Builder {
        Builder {
            level,
            chooser: Box::new(Random::new(0)),
            serial: None,
            turns: None,
            horizon: None,
            delay: None,
            clock: None,
            sessions_at_rc: false,
            order: Order::default(),
            node: None,
        }
    }

    /// The chooser that picks among the versions that a read may return; [`Random`] with seed 0
    /// unless said otherwise.
    pub fn chooser(mut self, chooser: impl Chooser + 'static) -> Builder {
        self.chooser = Box::new(chooser);
        self
    }

    /// One transaction at a time, in this order; those that it does not name come after it. If for
    /// `patience` nobody begins whose turn it is, the order is given up and nobody waits any more.
    pub fn in_turn(mut self, order: Vec<TxnName>, patience: Duration) -> Builder {
        self.turns = Some(Turns::new(order, patience));
        self
    }

    /// One transaction at a time: others wait for it to end, for at most `patience`.
    pub fn serial(mut self, patience: Duration) -> Builder {
        self.serial = Some(patience);
        self
    }

    /// Bounds memory: each time `ends` transactions have ended, the store makes up its mind about
    /// what has committed so far. From then on reads return either the last of those versions or
    /// one that was committed later. That is a restriction: some behaviours that the level allows
    /// are not seen. The history and the choices tell only of what is remembered: what was settled
    /// is the initial state of the history. A version that an open transaction has read, and what
    /// must come behind it, stays until the transaction ends. A transaction that writes very much
    /// counts as many.
    pub fn horizon(mut self, ends: NonZeroU32) -> Builder {
        self.horizon = Some(ends);
        self
    }

    /// Waits before each transaction for a random time of at most `longest`, so that threads come
    /// in another order each time. The times depend on `seed`; MonkeyDB's paper takes 4 ms.
    pub fn delay(mut self, longest: Duration, seed: u64) -> Builder {
        self.delay = Some(Delay::new(longest, seed));
        self
    }

    /// At read committed, too, a session sees what it has committed itself: every SQL server gives
    /// that on one connection, although the level does not ask for it.
    pub fn sessions_at_rc(mut self) -> Builder {
        self.sessions_at_rc = true;
        self
    }

    /// Which transactions a later one must see, beside those that it read from: none, those of its
    /// own session (the default), or all that had ended before it began (at read committed, before
    /// its statement or, if it has none, its read). With real time weak transactions take effect
    /// in the order of their commits: a restriction, because concurrent ones could also be
    /// explained the other way round.
    pub fn order(mut self, order: Order) -> Builder {
        self.order = order;
        self
    }

    /// Does what one node of this server does, in which only timing is free, instead of anything
    /// that the levels allow. Transactions can have the levels of the server only.
    pub fn node(mut self, node: Node) -> Builder {
        self.node = Some(node);
        self
    }

    /// Notes when each transaction begins and ends, for the history. Without it the history has no
    /// times.
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = Some(clock);
        self
    }
}
