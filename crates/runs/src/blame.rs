//! Which reads of a failed run are to blame: those that cannot be replaced by reads of the latest
//! version.

use crate::replay::{Recording, ReplayError};
use crate::run::{Run, run};
use seriatim_store::{Choice, Script, by_turns};

impl Recording {
    /// The reads of old versions that the failure needs: with all others turned into reads of the
    /// latest version it still fails, and with any one of these turned into one, too, it does not.
    /// `None` if the recording does not fail.
    pub fn to_blame(&self) -> Result<Option<(Vec<Choice>, Run)>, ReplayError> {
        let (runnable, setting) = self.parts()?;
        let app = runnable.app();
        let fails = |weak: Vec<Choice>| -> Result<Option<Run>, ReplayError> {
            let again = run(app, setting, Script::partial(weak), by_turns(self.turns.clone()))?;
            Ok(again.failure.is_some().then_some(again))
        };
        if let Some(overlap) = fails(Vec::new())? {
            return Ok(Some((Vec::new(), overlap)));
        }
        let Some(mut last) = fails(weak_reads(&self.choices))? else { return Ok(None) };
        let mut place = weak_reads(&last.choices).len();
        // A read that could not be spared may be spared once another one is: start again after each
        // success.
        while place > 0 {
            place -= 1;
            let mut fewer = weak_reads(&last.choices);
            fewer.remove(place);
            if let Some(run) = fails(fewer)? {
                // Reads that do not happen any more are not needed either.
                place = weak_reads(&run.choices).len();
                last = run;
            }
        }
        Ok(Some((weak_reads(&last.choices), last)))
    }
}

fn weak_reads(choices: &[Choice]) -> Vec<Choice> {
    choices.iter().filter(|choice| !choice.latest).cloned().collect()
}
