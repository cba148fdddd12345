//! The order in which statements began to run and were answered, and that order again.
//!
//! An order that is to be kept is followed step by step: a statement waits until it is the next
//! one. An application that does not do the same again leaves the order: the step that it does not
//! take is passed over after a while, and if it comes all the same, later, it is let through.

use super::Place;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How long to wait for a step of a client that is connected: as long as an application may think
/// on a machine that is busy.
const STEP_WAIT_MAX: Duration = Duration::from_millis(150);
/// How long to wait for one that has not come yet: as long as an interpreter takes to start.
const CLIENT_WAIT_MAX: Duration = Duration::from_millis(1500);

/// A statement began to run ([`Place::Before`]) or was answered ([`Place::After`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Step {
    /// The number of the session.
    pub session: u32,
    /// Which of the two.
    pub place: Place,
}

/// As `3+` and `3-`: the session, and whether a statement of it began or ended.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.place == Place::Before { '+' } else { '-' };
        write!(f, "{}{sign}", self.session)
    }
}

/// A text that is no step.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no step of a schedule; steps are written as 3+ or 3-")]
pub struct NoStep(String);

impl FromStr for Step {
    type Err = NoStep;

    fn from_str(text: &str) -> Result<Step, NoStep> {
        let no_step = || NoStep(text.to_owned());
        let (session, place) = if let Some(session) = text.strip_suffix('+') {
            (session, Place::Before)
        } else {
            (text.strip_suffix('-').ok_or_else(no_step)?, Place::After)
        };
        Ok(Step { session: session.parse().map_err(|_| no_step())?, place })
    }
}

/// An order that is to be kept.
#[derive(Clone, Debug)]
pub struct StepScript {
    steps: VecDeque<Step>,
    /// How many steps of a session were passed over, and may still come.
    late: BTreeMap<u32, u32>,
    /// Sessions that have been there.
    known: BTreeSet<u32>,
    /// When it last went on.
    since: Instant,
    passed_over: u32,
}

/// What a step may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// It is its turn, or it belongs to no order.
    Now,
    /// Others come first.
    Wait,
}

impl StepScript {
    /// These steps, in this order; what comes after them is free.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> StepScript {
        StepScript {
            steps: steps.into_iter().collect(),
            late: BTreeMap::new(),
            known: BTreeSet::new(),
            since: Instant::now(),
            passed_over: 0,
        }
    }

    /// How many steps did not come when they should have.
    pub(super) fn passed_over(&self) -> u32 {
        self.passed_over
    }

    /// Time has passed that is nobody's fault.
    pub(super) fn went_on(&mut self) {
        self.since = Instant::now();
    }

    /// A client is there.
    pub(super) fn joins(&mut self, session: u32) {
        self.known.insert(session);
    }

    /// A client is gone: nothing of it will come.
    pub(super) fn leaves(&mut self, session: u32) {
        self.steps.retain(|step| step.session != session);
        self.late.remove(&session);
        self.since = Instant::now();
    }

    /// Whether a step may be taken now; it is taken then.
    pub(super) fn take(&mut self, step: Step) -> Turn {
        if let Some(late) = self.late.get_mut(&step.session).filter(|late| **late > 0) {
            *late -= 1;
            return Turn::Now;
        }
        match self.steps.front() {
            None => Turn::Now,
            Some(&next) if next == step => {
                self.steps.pop_front();
                self.since = Instant::now();
                Turn::Now
            }
            Some(&next) => {
                self.pass_over_late(next);
                Turn::Wait
            }
        }
    }

    fn pass_over_late(&mut self, next: Step) {
        let is_known = self.known.contains(&next.session);
        let limit = if is_known { STEP_WAIT_MAX } else { CLIENT_WAIT_MAX };
        if self.since.elapsed() < limit {
            return;
        }
        if is_known {
            self.steps.pop_front();
            *self.late.entry(next.session).or_default() += 1;
            self.passed_over += 1;
        } else {
            // A client that has not come yet may never come: it is waited for once.
            let before = self.steps.len();
            self.steps.retain(|step| step.session != next.session);
            self.passed_over += (before - self.steps.len()) as u32;
        }
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        text.split(' ').map(|step| step.parse().unwrap()).collect()
    }

    #[test]
    fn steps_wait_for_those_before_them() {
        let all = steps("0+ 0- 1+ 1-");
        let mut script = StepScript::new(all.clone());
        assert_eq!(script.take(all[2]), Turn::Wait);
        for &step in &all {
            assert_eq!(script.take(step), Turn::Now, "{step}");
        }
        assert_eq!(script.take(all[0]), Turn::Now);
        assert_eq!(script.passed_over(), 0);
    }

    #[test]
    fn a_client_that_is_gone_is_not_waited_for() {
        let all = steps("0+ 0- 1+");
        let mut script = StepScript::new(all.clone());
        script.joins(0);
        script.leaves(0);
        assert_eq!(script.take(all[2]), Turn::Now);
    }

    #[test]
    fn a_step_that_does_not_come_is_passed_over_and_may_come_late() {
        let all = steps("0+ 1+");
        let mut script = StepScript::new(all.clone());
        script.joins(0);
        assert_eq!(script.take(all[1]), Turn::Wait);
        script.since -= STEP_WAIT_MAX;
        assert_eq!(script.take(all[1]), Turn::Wait);
        assert_eq!(script.take(all[1]), Turn::Now);
        assert_eq!(script.take(all[0]), Turn::Now);
        assert_eq!(script.passed_over(), 1);
    }

    #[test]
    fn steps_are_written_and_read() {
        for text in ["0+", "17-"] {
            assert_eq!(text.parse::<Step>().unwrap().to_string(), text);
        }
        for text in ["", "+", "x-", "3", "-1+"] {
            assert!(text.parse::<Step>().is_err(), "{text}");
        }
    }
}
