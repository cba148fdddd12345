//! Runs an application again and again, each time otherwise, until its assertion breaks.

use crate::error::RunError;
use crate::run::{Run, Setting, run};
use seriatim_apps::{App, Workload, benchmark};
use seriatim_store::{Adversary, ChooserKind, Latest, LatestPerSession, Random, Stale, by_chance};
use std::fmt;

/// Runs of one application, numbered from 0; a run depends on the seed, on its number and, with the
/// adversary, on the runs before.
#[must_use = "nothing runs until it is asked for a run"]
pub struct Fuzz<'a> {
    app: &'a dyn App,
    setting: Setting,
    strategy: ChooserKind,
    seed: u64,
    workloads: Workloads,
    adversary: Adversary,
}

/// What the clients of a benchmark application do in one run and in the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Workloads {
    /// The same.
    Given,
    /// Something else each time.
    OfEachRun,
}

impl<'a> Fuzz<'a> {
    /// Nothing has run yet.
    pub fn new(app: &'a dyn App, setting: Setting, strategy: ChooserKind, seed: u64) -> Fuzz<'a> {
        let (workloads, adversary) = (Workloads::Given, Adversary::new(seed));
        Fuzz { app, setting, strategy, seed, workloads, adversary }
    }

    /// Each run of a benchmark application has a small workload of its own, which follows from the
    /// seed: one alone may have nothing in it that can go wrong.
    pub fn with_own_workloads(mut self) -> Fuzz<'a> {
        self.workloads = Workloads::OfEachRun;
        self
    }

    /// Does run number `number`.
    pub fn run(&mut self, number: u64) -> Result<Run, RunError> {
        // Not a sum: the runs of one seed must not be those of another one, shifted.
        let seed = (self.seed.rotate_left(32) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let seed = seed ^ (seed >> 29);
        let own = self.own_workload(seed);
        let app = own.as_deref().unwrap_or(self.app);
        let (setting, turns) = (self.setting, by_chance(seed));
        // Turns and versions must not be drawn from the same numbers.
        let seed = seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x5eed;
        match self.strategy {
            ChooserKind::Random => run(app, setting, Random::new(seed), turns),
            ChooserKind::Stale => run(app, setting, Stale::new(seed), turns),
            ChooserKind::LatestPerSession => run(app, setting, LatestPerSession::new(seed), turns),
            ChooserKind::Latest => run(app, setting, Latest, turns),
            ChooserKind::Adversary => {
                let plot = self.adversary.run(number);
                run(app, setting, plot.chooser, plot.schedule)
            }
        }
    }

    /// The application with the workload of the run that has this seed, if it has one of its own.
    fn own_workload(&self, seed: u64) -> Option<Box<dyn App>> {
        match self.workloads {
            Workloads::Given => None,
            // Not the numbers of the turns.
            Workloads::OfEachRun => benchmark(self.app.name(), Workload::small(seed ^ 0x3097_10ad)),
        }
    }
}

impl fmt::Debug for Fuzz<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (app, level, chooser) = (self.app.name(), self.setting.level, self.strategy);
        write!(f, "Fuzz({app} at {}, {chooser:?}, seed {})", level.code(), self.seed)
    }
}
