//! What else is wrong with a history that violates a weak level.
//!
//! A fractured read makes a history violate every level above read committed, and says nothing
//! about an update that is lost elsewhere. So the reads that are to blame for the weak anomalies
//! are left out, and the strong levels are asked about the rest. That is sound: a history that
//! satisfies a level still does so without some of its reads, so what the rest violates the whole
//! violates too. The verdicts are not touched.

use crate::explain::{Clean, Found};
use crate::ladder::StrongLevels;
use crate::limits::{Limits, memory};
use crate::outcome::{Effort, Options};
use crate::patterns::LostUpdates;
use crate::rest::Leftover;
use crate::stale_reads::StaleRead;
use crate::strong::Subject;
use crate::weak::{self, Analysis, WeakLevels};
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, OpKind, TxnId};
use seriatim_isolation::Level;
use std::time::{Duration, Instant};

/// How often reads are left out until the weak levels hold. Once is enough unless lists or real
/// time show orders that contradict each other in several ways.
const ROUNDS_MAX: usize = 32;
/// After so many rounds all reads of the keys in question are left out.
const ROUNDS_BY_READ: usize = 4;
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

/// What is to blame for weak anomalies.
pub(crate) struct Blamed {
    reads: Vec<OpId>,
    txns: Vec<TxnId>,
}

impl Blamed {
    pub fn new(analysis: &Analysis) -> Blamed {
        Blamed { reads: analysis.reads().collect(), txns: analysis.out_of_step.clone() }
    }
}

impl Beyond<'_> {
    /// What violates the strong `levels` without what is `blamed`; `took` is how long it took to
    /// find these.
    pub fn anomalies(
        &self,
        blamed: &Blamed,
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
        left.leave_out(blamed);
        let deadline = Instant::now() + took.max(PATIENCE);
        let deadline = self.options.deadline.map_or(deadline, |asked| asked.min(deadline));
        let options = Options { deadline: Some(deadline), orders: false, ..self.options.clone() };
        for round in 0..ROUNDS_MAX {
            let blamed = match self.of_rest(&left, levels, &options, efforts) {
                Ok(found) => return found,
                Err(blamed) if round < ROUNDS_BY_READ => blamed,
                Err(Blamed { reads, txns }) => Blamed { reads: self.reads_of_keys(&reads), txns },
            };
            let is_new = blamed.reads.iter().any(|op| !left.aside[op.index()])
                || blamed.txns.iter().any(|txn| !left.used.contains(txn));
            left.leave_out(&blamed);
            if !is_new || Limits::of(&options).is_over() {
                break;
            }
        }
        Found::nothing(false)
    }

    /// All reads of the keys of `blamed`.
    fn reads_of_keys(&self, blamed: &[OpId]) -> Vec<OpId> {
        let keys: FxHashSet<KeyId> = blamed.iter().map(|&op| self.history.op(op).key).collect();
        let ops = (0..self.history.op_count()).map(OpId::from);
        let is_read = |&op: &OpId| {
            let op = self.history.op(op);
            op.kind == OpKind::Read && keys.contains(&op.key)
        };
        ops.filter(is_read).collect()
    }

    /// What violates the strong levels in what is left, or what is to blame if a weak one is still
    /// violated.
    fn of_rest(
        &self,
        left: &Leftover<'_>,
        levels: &[Level],
        options: &Options,
        efforts: &mut Vec<(Level, Effort)>,
    ) -> Result<Found, Blamed> {
        let rest = left.rest(self.options);
        let doubt = weak::undecided_lists(&rest.history, &rest.index);
        let mut weak = WeakLevels::new(&rest.history, options, Level::WEAK.to_vec());
        let (order, index) = weak.decide(rest.index, Some(Level::Causal));
        let Some(order) = order else {
            let analysis = weak.analyse(index, Some(Level::Causal));
            let original = |op: OpId| rest.kept[op.index()];
            let txn = |&txn: &TxnId| {
                let first = rest.history.ops_of(txn).next();
                first.map(|op| self.history.txn_of(original(OpId(op))))
            };
            return Err(Blamed {
                reads: analysis.reads().map(original).collect(),
                txns: analysis.out_of_step.iter().filter_map(txn).collect(),
            });
        };
        let start = Instant::now();
        let part = Subject { history: &rest.history, index: &index, options };
        let mut strong = StrongLevels::decide(&part, levels, doubt.as_ref());
        let clean = Clean {
            whole: self.history,
            counts: self.counts,
            violated: levels.to_vec(),
            aside: left.aside.clone(),
            left_out: left.used.clone(),
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

impl Leftover<'_> {
    fn leave_out(&mut self, blamed: &Blamed) {
        self.set_aside(blamed.reads.iter().copied());
        self.used.extend(&blamed.txns);
    }
}
