//! What else is wrong with a history that violates a weak level.
//!
//! A fractured read makes a history violate every level above read committed, and says nothing
//! about an update that is lost elsewhere. So the reads that are to blame for the weak anomalies
//! are left out, and the strong levels are asked about the rest. That is sound: a history that
//! satisfies a level still does so without some of its reads, so what the rest violates the whole
//! violates too. The verdicts are not touched.

use crate::explain::{Clean, Found, Leftover};
use crate::ladder::StrongLevels;
use crate::limits::{Limits, memory};
use crate::outcome::{Effort, Options};
use crate::patterns::LostUpdates;
use crate::stale_reads::StaleRead;
use crate::strong::Subject;
use crate::weak::WeakLevels;
use rustc_hash::FxHashSet;
use seriatim_history::{History, OpId};
use seriatim_isolation::Level;
use std::time::{Duration, Instant};

/// How often reads are left out until the weak levels hold. Once is enough unless lists show orders
/// that contradict each other in several ways.
const ROUNDS_MAX: usize = 4;
/// How long deciding the strong levels of the rest may take, at least: the verdict is known.
const PATIENCE: Duration = Duration::from_secs(20);

/// A history that violates a weak level.
pub(crate) struct Beyond<'a> {
    pub history: &'a History,
    /// Which transactions count.
    pub counts: &'a [bool],
    pub options: &'a Options,
    pub lost_updates: &'a LostUpdates,
    pub stale: &'a [StaleRead],
}

impl Beyond<'_> {
    /// What violates the strong `levels` without the `blamed` reads; `took` is how long it took to
    /// find these.
    pub fn anomalies(
        &self,
        blamed: &[u32],
        levels: &[Level],
        took: Duration,
        efforts: &mut Vec<(Level, Effort)>,
    ) -> Found {
        if levels.is_empty() {
            return Found::nothing(true);
        }
        if !Limits::of(self.options).allow(memory::of_part(self.history)) {
            return Found::nothing(false);
        }
        let mut left = Leftover {
            whole: self.history,
            counts: self.counts,
            aside: vec![false; self.history.op_count()],
            used: FxHashSet::default(),
        };
        left.set_aside(blamed.iter().copied().map(OpId));
        for _ in 0..ROUNDS_MAX {
            match self.of_rest(&left, levels, took, efforts) {
                Ok(found) => return found,
                Err(blamed) => left.set_aside(blamed),
            }
        }
        Found::nothing(false)
    }

    /// What violates the strong levels in what is left, or reads that still violate a weak one.
    fn of_rest(
        &self,
        left: &Leftover<'_>,
        levels: &[Level],
        took: Duration,
        efforts: &mut Vec<(Level, Effort)>,
    ) -> Result<Found, Vec<OpId>> {
        let rest = left.rest(self.options);
        let deadline = Instant::now() + took.max(PATIENCE);
        let deadline = self.options.deadline.map_or(deadline, |asked| asked.min(deadline));
        let options =
            Options { deadline: Some(deadline), certificates: false, ..self.options.clone() };
        let mut weak = WeakLevels::new(&rest.history, &options, Level::WEAK.to_vec());
        let (order, index) = weak.decide(rest.index, Some(Level::Causal));
        let Some(order) = order else {
            let blamed = weak.analyse(index, Some(Level::Causal)).blamed;
            return Err(blamed.into_iter().map(|op| rest.kept[op as usize]).collect());
        };
        let start = Instant::now();
        let part = Subject { history: &rest.history, index: &index, options: &options };
        let mut strong = StrongLevels::decide(&part, levels, None);
        let clean = Clean {
            whole: self.history,
            counts: self.counts,
            violated: levels.to_vec(),
            aside: left.aside.clone(),
            part,
            kept: Some(&rest.kept),
            order: &order,
            lost_updates: self.lost_updates,
            stale: self.stale,
        };
        let mut found = strong.violations(clean, start.elapsed());
        found.is_complete &= !strong.has_open();
        efforts.append(&mut strong.efforts);
        Ok(found)
    }
}
