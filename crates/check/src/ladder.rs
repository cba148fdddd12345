//! The strong levels: deciding them, strongest first, and what one of them says about the others.
//!
//! The ladder does most of the work: a level that holds settles all below it, one that is violated
//! settles all above it.

use crate::explain::{self, Clean, Found};
use crate::outcome::{Breach, Effort, Options, Outcome, Undecided};
use crate::strong::{StrongOutcome, Subject, decide_strong};
use seriatim_history::TxnId;
use seriatim_isolation::{Guarantee, Level};
use seriatim_verify::{Proof, verify_points};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The options for the first of `levels` levels that share the time that is left: a hard one must
/// not use up that of the others.
fn share_of_budget(options: &Options, levels: usize) -> Options {
    let share = |deadline: Instant| {
        let now = Instant::now();
        now + deadline.saturating_duration_since(now) / levels.max(1) as u32
    };
    Options { deadline: options.deadline.map(share), ..options.clone() }
}

/// What is known about the strong levels that were asked for.
#[derive(Default)]
pub(crate) struct StrongLevels {
    /// The strongest level that holds, with its certificate.
    holds: Option<(Level, Arc<Proof>)>,
    /// The levels that were found to be violated, strongest first, each with transactions that
    /// alone violate it.
    violated: Vec<(Level, Vec<TxnId>)>,
    undecided: Vec<(Level, Undecided)>,
    /// How much there was to do at each level that was looked at.
    pub efforts: Vec<(Level, Effort)>,
}

impl StrongLevels {
    /// Decides `levels`, strongest first. `doubt` is there if elements of lists may come from
    /// several appends. The search does not keep in mind which, so that what it finds has to be
    /// verified.
    pub fn decide(
        subject: &Subject<'_>,
        levels: &[Level],
        doubt: Option<&Undecided>,
    ) -> StrongLevels {
        let mut strong = StrongLevels::default();
        if levels.last().is_some_and(|&strongest| strongest < Level::Serializable)
            && doubt.is_none()
        {
            // One point for each transaction is easier to order than two, and most histories allow
            // it.
            let options = share_of_budget(subject.options, levels.len() + 1);
            strong.try_serializable(&Subject { options: &options, ..*subject });
        }
        if strong.holds.is_some() {
            return strong;
        }
        for (weaker, &level) in levels.iter().enumerate().rev() {
            let options = share_of_budget(subject.options, weaker + 1);
            let subject = &Subject { options: &options, ..*subject };
            match decide_with_times(subject, level, &mut strong.efforts) {
                StrongOutcome::Holds(points) => {
                    let asked = Guarantee::new(level, options.order);
                    match doubt.filter(|_| verify_points(subject.history, asked, &points).is_err())
                    {
                        Some(reason) => strong.undecided.push((level, reason.clone())),
                        None => {
                            strong.holds = Some((level, Arc::new(Proof::Points(points))));
                            break;
                        }
                    }
                }
                StrongOutcome::Violated(txns) => strong.violated.push((level, txns)),
                StrongOutcome::Undecided(reason) => strong.undecided.push((level, reason)),
            }
        }
        strong
    }

    /// Looks whether the history is serializable, which settles every level below: easier than to
    /// choose sources for each.
    pub fn try_serializable(&mut self, subject: &Subject<'_>) {
        if self.holds.is_none() && self.violated.is_empty() && self.undecided.is_empty() {
            match decide_strong(subject, Level::Serializable, &mut self.efforts) {
                StrongOutcome::Holds(points) => {
                    self.holds = Some((Level::Serializable, Arc::new(Proof::Points(points))))
                }
                StrongOutcome::Violated(_) | StrongOutcome::Undecided(_) => {}
            }
        }
    }

    /// What the violated levels are violated by, in the history that they were decided for.
    pub fn violations(&mut self, clean: Clean<'_>, took: Duration) -> Found {
        let weakest_first: Vec<(Level, Vec<TxnId>)> = self.violated.iter().rev().cloned().collect();
        let found = explain::violations(clean, &weakest_first, took);
        for (level, time) in &found.times {
            let effort = self.efforts.iter_mut().rev().find(|(other, _)| other == level);
            if let Some((_, effort)) = effort {
                effort.explain += *time;
            }
        }
        found
    }

    /// Whether a level that was looked at is undecided.
    pub fn has_open(&self) -> bool {
        !self.undecided.is_empty()
    }

    /// The strongest level that holds.
    pub fn holds(&self) -> Option<Level> {
        self.holds.as_ref().map(|(level, _)| *level)
    }

    /// The weakest level that is violated.
    pub fn weakest_violated(&self) -> Option<Level> {
        self.violated.iter().map(|(level, _)| *level).min()
    }

    /// The outcome for a strong level that was asked for.
    pub fn outcome(&self, level: Level) -> Outcome {
        let violated = self.violated.iter().find(|(violated, _)| *violated <= level);
        if let Some((_, txns)) = violated {
            return Outcome::Violated(Breach::Unexplained(txns.clone()));
        }
        let reason = self.undecided.iter().find(|(open, _)| *open == level);
        // Every level that was asked for holds, is violated or has a reason.
        self.outcome_unless_open(level, reason.map_or(&Undecided::Budget, |(_, reason)| reason))
    }

    /// The outcome for a level that holds if a stronger one does, and is open because of `reason`
    /// otherwise.
    pub fn outcome_unless_open(&self, level: Level, reason: &Undecided) -> Outcome {
        match self.holds.as_ref().filter(|(held, _)| *held >= level) {
            Some((_, proof)) => Outcome::Holds(Arc::clone(proof)),
            None => Outcome::Undecided(reason.clone()),
        }
    }
}

/// Without times strict serializability can be refuted, but not shown.
fn decide_with_times(
    subject: &Subject<'_>,
    level: Level,
    efforts: &mut Vec<(Level, Effort)>,
) -> StrongOutcome {
    if level != Level::StrictSerializable || subject.history.has_times() {
        return decide_strong(subject, level, efforts);
    }
    match decide_strong(subject, Level::Serializable, efforts) {
        StrongOutcome::Violated(txns) => StrongOutcome::Violated(txns),
        _ => StrongOutcome::Undecided(Undecided::NoTimes),
    }
}
