//! What is known about an instance, and why: the facts of a refutation with their derivations.
//!
//! A proof is a cycle of steps. Each step owns its derivation, and derivations refer only to facts
//! that were known before them, so they are well founded. Derivations are shared; how large one
//! would be if it were written out is its `cost`.

use super::ids::{ListedId, LocalRead, LocalTxn};
use super::instance::Source;
use rustc_hash::FxHashSet;
use seriatim_history::KeyId;
use std::cmp::Reverse;
use std::rc::Rc;

/// Steps of which each leads to where the next begins, the last to where the first begins.
pub(super) type Cycle = Vec<Rc<Step>>;

/// One transaction precedes another.
#[derive(Debug)]
pub(super) struct Step {
    pub from: LocalTxn,
    pub to: LocalTxn,
    pub label: Label,
    pub cost: u32,
}

#[derive(Debug)]
pub(super) enum Label {
    Session,
    RealTime,
    /// `to` read from `from`.
    WriteRead(Rc<Origin>),
    /// Both wrote a key, `from` first.
    WriteWrite(Rc<Order>),
    /// `from` read a version that `to` overwrote; no order if it is the initial one.
    ReadWrite {
        origin: Rc<Origin>,
        order: Option<Rc<Order>>,
    },
}

/// The versions of `earlier` precede those of `later`, on every key that both wrote.
#[derive(Debug)]
pub(super) struct Order {
    pub earlier: LocalTxn,
    pub later: LocalTxn,
    /// The key to show it with.
    pub key: KeyId,
    pub why: OrderWhy,
    pub cost: u32,
}

#[derive(Debug)]
pub(super) enum OrderWhy {
    /// To be refuted.
    Supposed,
    /// By this list.
    Listed(ListedId),
    /// The opposite order, supposed in it, closes this cycle.
    Otherwise(Cycle),
}

/// Which of its candidates a read came from.
#[derive(Debug)]
pub(super) struct Origin {
    pub read: LocalRead,
    pub source: Source,
    pub why: OriginWhy,
    pub cost: u32,
}

#[derive(Debug)]
pub(super) enum OriginWhy {
    /// No other transaction wrote the value.
    Only,
    /// To be refuted.
    Supposed,
    /// Every other candidate, supposed in it, closes a cycle.
    Others(Vec<(Source, Cycle)>),
}

impl Step {
    pub fn new(from: LocalTxn, to: LocalTxn, label: Label) -> Rc<Step> {
        let cost = match &label {
            Label::Session | Label::RealTime => 0,
            Label::WriteRead(origin) => origin.cost,
            Label::WriteWrite(order) => order.cost,
            Label::ReadWrite { origin, order } => {
                order.as_ref().map_or(0, |order| order.cost).saturating_add(origin.cost)
            }
        };
        Rc::new(Step { from, to, label, cost: cost.saturating_add(1) })
    }

    /// Whether it stands in the input, without any reasoning about orders.
    pub fn is_observed(&self) -> bool {
        match &self.label {
            Label::Session | Label::RealTime => true,
            Label::WriteRead(origin) => matches!(origin.why, OriginWhy::Only),
            Label::WriteWrite(_) | Label::ReadWrite { .. } => false,
        }
    }
}

impl Order {
    pub fn new(earlier: LocalTxn, later: LocalTxn, key: KeyId, why: OrderWhy) -> Rc<Order> {
        let cost = match &why {
            OrderWhy::Supposed => 0,
            OrderWhy::Listed(_) => 1,
            OrderWhy::Otherwise(cycle) => cost(cycle),
        };
        Rc::new(Order { earlier, later, key, why, cost })
    }
}

impl Origin {
    pub fn new(read: LocalRead, source: Source, why: OriginWhy) -> Rc<Origin> {
        let cost = match &why {
            OriginWhy::Only | OriginWhy::Supposed => 0,
            OriginWhy::Others(others) => {
                others.iter().fold(0u32, |sum, (_, cycle)| sum.saturating_add(cost(cycle)))
            }
        };
        Rc::new(Origin { read, source, why, cost })
    }
}

/// The number of steps of a cycle and of all its derivations.
pub(super) fn cost(cycle: &[Rc<Step>]) -> u32 {
    cycle.iter().fold(0u32, |sum, step| sum.saturating_add(step.cost))
}

/// How good it is to conclude something from this refutation, if its opposite is refuted too;
/// smaller is better. What was observed should settle the order, and of two refutations alike the
/// shorter one is left to be the contradiction.
pub(super) fn as_conclusion(refutation: &[Rc<Step>]) -> (usize, Reverse<u32>) {
    (refutation.iter().filter(|step| !step.is_observed()).count(), Reverse(cost(refutation)))
}

/// All steps of a cycle and of its derivations, each once.
pub(super) fn all_steps(cycle: &[Rc<Step>]) -> Vec<Rc<Step>> {
    let mut seen: FxHashSet<*const Step> = FxHashSet::default();
    let mut found = Vec::new();
    let mut waiting: Vec<Rc<Step>> = cycle.to_vec();
    while let Some(step) = waiting.pop() {
        if !seen.insert(Rc::as_ptr(&step)) {
            continue;
        }
        for cycle in step.derivations() {
            waiting.extend(cycle.iter().cloned());
        }
        found.push(step);
    }
    found
}

impl Step {
    /// The cycles that the step is derived from.
    fn derivations(&self) -> Vec<&Cycle> {
        let (origin, order) = match &self.label {
            Label::Session | Label::RealTime => (None, None),
            Label::WriteRead(origin) => (Some(origin), None),
            Label::WriteWrite(order) => (None, Some(order)),
            Label::ReadWrite { origin, order } => (Some(origin), order.as_ref()),
        };
        let others = origin.map_or(&[][..], |origin| match &origin.why {
            OriginWhy::Others(others) => others.as_slice(),
            _ => &[],
        });
        let otherwise = order.and_then(|order| match &order.why {
            OrderWhy::Otherwise(cycle) => Some(cycle),
            _ => None,
        });
        others.iter().map(|(_, cycle)| cycle).chain(otherwise).collect()
    }
}
