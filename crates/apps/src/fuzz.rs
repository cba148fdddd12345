//! Runs an application again and again until its assertion breaks, and finds out which reads are to blame.

use crate::app::{App, Run, RunError, Setting, run};
use crate::find;
use serde::{Deserialize, Serialize};
use seriatim_check::Level;
use seriatim_store::{
    Adversary, Choice, ChooserKind, Divergence, Latest, LatestPerSession, Random, Script, Stale, by_chance, by_turns,
};

/// Runs of one application, numbered from 0; a run depends on the seed, on its number and, with the adversary, on the runs before.
pub struct Fuzz<'a> {
    app: &'a dyn App,
    setting: Setting,
    strategy: ChooserKind,
    seed: u64,
    adversary: Adversary,
}

impl<'a> Fuzz<'a> {
    /// Nothing has run yet.
    pub fn new(app: &'a dyn App, setting: Setting, strategy: ChooserKind, seed: u64) -> Fuzz<'a> {
        Fuzz { app, setting, strategy, seed, adversary: Adversary::new(seed) }
    }

    /// Does run number `number`.
    pub fn run(&mut self, number: u64) -> Result<Run, RunError> {
        let seed = self.seed.wrapping_add(number);
        let (app, setting, turns) = (self.app, self.setting, by_chance(seed));
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
}

/// Everything that is needed to run an application again in the same way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The name of the application.
    pub app: String,
    /// The code of the level.
    pub level: String,
    /// Whether transactions of different clients overlap.
    pub interleaved: bool,
    /// Who went on, turn by turn.
    pub turns: Vec<u32>,
    /// The version that each read got.
    pub choices: Vec<Choice>,
    /// Why the assertion did not hold.
    pub failure: Option<String>,
}

/// Why a recording cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no such application.
    #[error("there is no application called {0}")]
    UnknownApp(String),
    /// There is no such level.
    #[error(transparent)]
    UnknownLevel(#[from] seriatim_check::UnknownLevel),
    /// It ran to no result.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Recording {
    /// A run as a recording.
    pub fn of(app: &dyn App, setting: Setting, run: &Run) -> Recording {
        Recording {
            app: app.name().to_owned(),
            level: setting.level.code().to_owned(),
            interleaved: setting.interleaved,
            turns: run.turns.clone(),
            choices: run.choices.clone(),
            failure: run.failure.clone(),
        }
    }

    fn parts(&self) -> Result<(&'static dyn App, Setting), ReplayError> {
        let app = find(&self.app).ok_or_else(|| ReplayError::UnknownApp(self.app.clone()))?;
        let level: Level = self.level.parse()?;
        Ok((app, Setting { level, interleaved: self.interleaved }))
    }

    /// Runs it again, and says where the run left the recording, if it did.
    pub fn replay(&self) -> Result<(Run, Option<Divergence>), ReplayError> {
        let (app, setting) = self.parts()?;
        let script = Script::new(self.choices.clone());
        let track = script.track();
        let again = run(app, setting, script, by_turns(self.turns.clone()))?;
        Ok((again, track.divergence()))
    }

    /// The reads of old versions that the failure needs: with all others turned into reads of the latest version it still fails, and
    /// without any one of these it does not. `None` if the recording did not fail.
    pub fn to_blame(&self) -> Result<Option<(Vec<Choice>, Run)>, ReplayError> {
        let (app, setting) = self.parts()?;
        let fails = |weak: &[Choice]| -> Result<Option<Run>, ReplayError> {
            let script = Script::partial(weak.to_vec());
            let again = run(app, setting, script, by_turns(self.turns.clone()))?;
            Ok(again.failure.is_some().then_some(again))
        };
        let mut weak: Vec<Choice> = self.choices.iter().filter(|choice| !choice.latest).cloned().collect();
        let Some(mut last) = fails(&weak)? else { return Ok(None) };
        let mut place = weak.len();
        while place > 0 {
            place -= 1;
            let mut fewer = weak.clone();
            fewer.remove(place);
            if let Some(run) = fails(&fewer)? {
                (weak, last) = (fewer, run);
            }
        }
        Ok(Some((weak, last)))
    }
}
