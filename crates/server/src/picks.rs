//! Makes the choosers that a server is told to use.

use seriatim_store::{Adversary, Chooser, ChooserKind, Latest, LatestPerSession, Random, Stale};

/// Makes choosers. The adversary remembers what it saw from one reset of the store to the next.
#[derive(Debug)]
pub(crate) struct Picks {
    kind: ChooserKind,
    seed: u64,
    adversary: Adversary,
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

    pub fn set_kind(&mut self, kind: ChooserKind) {
        self.kind = kind;
    }

    /// Also makes the adversary forget: the same seed must mean the same choices.
    pub fn set_seed(&mut self, seed: u64) {
        *self = Picks::new(self.kind, seed);
    }

    /// A chooser at its beginning.
    pub fn chooser(&mut self) -> Box<dyn Chooser> {
        match self.kind {
            ChooserKind::Random => Box::new(Random::new(self.seed)),
            ChooserKind::Latest => Box::new(Latest),
            ChooserKind::LatestPerSession => Box::new(LatestPerSession::new(self.seed)),
            ChooserKind::Stale => Box::new(Stale::new(self.seed)),
            ChooserKind::Adversary => {
                self.runs += 1;
                self.adversary.run(self.runs).chooser
            }
        }
    }
}
