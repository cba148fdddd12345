//! The weak levels of a history in which values may have been written twice.

use super::distinct::WeakLevels;
use super::duplicates::{self, Matched};
use crate::index::Index;
use crate::limits::Limits;
use crate::limits::memory::{Need, Room};
use crate::outcome::{
    AnomalyGroup, Breach, Counted, Options, Outcome, Refs, Undecided, Verdict, Violation,
};
use seriatim_history::{History, OpId, Status, ValueKind};
use seriatim_isolation::{Guarantee, Level, Order};
use seriatim_verify::{Proof, completed, verify_violation};
use std::sync::Arc;

/// What a choice of sources for ambiguous reads says about weak levels.
#[derive(Default)]
pub(crate) struct Chosen {
    pub verdicts: Vec<Verdict>,
    /// What is wrong whatever the reads read.
    pub anomalies: Vec<AnomalyGroup>,
}

impl Chosen {
    /// Decides `open`, weak levels that depend on what the ambiguous `reads` read, strongest first.
    pub fn choose(weak: &mut WeakLevels<'_>, open: &[Level], reads: &Reads<'_>) -> Chosen {
        let mut chosen = Chosen::default();
        for &level in open {
            let held = chosen.verdicts.iter().find(|verdict| verdict.holds()).cloned();
            let verdict = match held {
                Some(stronger) => Verdict { level, ..stronger },
                None => chosen.decide(weak, level, reads),
            };
            chosen.verdicts.push(verdict);
        }
        chosen
    }

    fn decide(&mut self, weak: &mut WeakLevels<'_>, level: Level, reads: &Reads<'_>) -> Verdict {
        let (history, options) = (weak.history, weak.options);
        match duplicates::decide(history, reads.ambiguous, level, options) {
            Matched::Holds { sources, order } => {
                let proof = Proof::Order { order, sources: Some(sources) };
                Verdict::proved(level, Arc::new(proof))
            }
            Matched::Violated { ops, exemplar } => {
                let levels: Vec<Level> =
                    Level::LADDER.into_iter().filter(|&other| other >= level).collect();
                weak.violated.extend(&levels);
                if let Some(exemplar) = exemplar.filter(|_| shows(history, options, level, &ops)) {
                    // What violates this level violates the stronger ones that came before.
                    self.anomalies.clear();
                    let ops = ops.iter().map(|&op| Refs(history).op(op)).collect();
                    let exemplar = Violation { ops, levels, ..*exemplar };
                    self.anomalies.push(AnomalyGroup {
                        kind: exemplar.kind,
                        count: 1,
                        counted: Counted::AtLeast,
                        instances: vec![exemplar.clone()],
                        exemplar,
                    });
                }
                // The report says by what, if that was explained.
                let txns = history.txns().collect();
                Verdict::new(level, Outcome::Violated(Breach::Unexplained(txns)))
            }
            Matched::OutOfBudget(reason) => Verdict::undecided_because(level, reason),
            Matched::Unsupported => Verdict::undecided_because(level, reads.reason.clone()),
        }
    }
}

/// Whether `ops` alone violate the level. A choice may rest on a transaction of unknown outcome
/// that counts by a chain of choices or, with real time, on one that is there for its times alone:
/// then the verdict stands without an explanation.
fn shows(history: &History, options: &Options, level: Level, ops: &[OpId]) -> bool {
    let is_certain = history.txns().all(|txn| history.status(txn) != Status::Unknown);
    if is_certain && options.order != Order::RealTime {
        return true;
    }
    let asked = Guarantee::new(level, options.order);
    verify_violation(history, asked, &completed(history, ops)).is_ok()
}

/// The ambiguous reads, and what is said of levels that they leave open.
pub(crate) struct Reads<'a> {
    pub ambiguous: &'a [OpId],
    pub reason: &'a Undecided,
}

/// Which of the weak levels that `options` ask for are violated, as far as the limits allow to see.
pub(crate) fn violated(history: &History, options: &Options) -> Vec<Level> {
    let mut levels = options.levels.clone();
    match Need::of(history).within(Limits::of(options)) {
        Room::Enough => {}
        Room::NoClocks => levels.retain(|&level| level < Level::Causal),
        Room::None => return Vec::new(),
    }
    let index = Index::build(history, options.threads);
    let (reason, ambiguous) = (undecided(history, &index), index.ambiguous.clone());
    let mut weak = WeakLevels::new(history, options, levels);
    let strongest = weak.strongest();
    let (order, index) = weak.decide(index, strongest);
    if order.is_none() {
        weak.analyse(index, strongest);
    }
    if let Some(reason) = &reason {
        let open: Vec<Level> = weak.open().collect();
        Chosen::choose(&mut weak, &open, &Reads { ambiguous: &ambiguous, reason });
    }
    options.levels.iter().copied().filter(|level| weak.violated.contains(level)).collect()
}

/// Why nothing can be said to hold, if reads are ambiguous.
pub(crate) fn undecided(history: &History, index: &Index) -> Option<Undecided> {
    let first = *index.ambiguous.first()?;
    let op = history.op(first);
    Some(Undecided::DuplicateValue {
        key: history.key_name(op.key).to_string(),
        value: Refs(history).value(op.value),
        reads: index.ambiguous.len() as u64,
    })
}

/// The same if a list is among them: which appends its elements are is no part of the search for
/// sources.
pub(crate) fn undecided_lists(history: &History, index: &Index) -> Option<Undecided> {
    let is_list = |&op: &OpId| matches!(history.op(op).value.kind(), ValueKind::List(_));
    undecided(history, index).filter(|_| index.ambiguous.iter().any(is_list))
}
