//! Makes the choosers that a server is told to use.

use seriatim_store::{Adversary, Chooser, ChooserKind, Latest, LatestPerSession, Random, Stale};

/// Makes choosers, each with numbers of its own that follow from the seed: a suite that resets the
/// store between its cases sees another behaviour each time. The adversary remembers what it saw
/// from one reset to the next.
#[derive(Debug)]
pub(crate) struct Picks {
    kind: ChooserKind,
    seed: u64,
    adversary: Adversary,
    /// How many choosers there have been since the seed was set.
    runs: u64,
}

impl Picks {
    pub fn new(kind: ChooserKind, seed: u64) -> Picks {
        Picks { kind, seed, adversary: Adversary::new(seed), runs: 0 }
    }

    pub fn kind(&self) -> ChooserKind {
        self.kind
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many choosers there were before the present one, since the seed was set.
    pub fn resets(&self) -> u64 {
        self.runs.saturating_sub(1)
    }

    pub fn set_kind(&mut self, kind: ChooserKind) {
        self.kind = kind;
    }

    /// Also makes the adversary forget: the same seed must mean the same choices.
    pub fn set_seed(&mut self, seed: u64) {
        *self = Picks::new(self.kind, seed);
    }

    /// The next chooser, at its beginning.
    pub fn chooser(&mut self) -> Box<dyn Chooser> {
        // The first has the seed as it is.
        let seed = self.seed ^ self.runs.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.runs += 1;
        match self.kind {
            ChooserKind::Random => Box::new(Random::new(seed)),
            ChooserKind::Latest => Box::new(Latest),
            ChooserKind::LatestPerSession => Box::new(LatestPerSession::new(seed)),
            ChooserKind::Stale => Box::new(Stale::new(seed)),
            ChooserKind::Adversary => self.adversary.run(self.runs).chooser,
        }
    }
}
