//! From a proof to an explanation: names and places for numbers, and every derivation once.

use super::ids::LocalTxn;
use super::instance::{Instance, Source};
use super::proof::{self, Cycle, Label, Order, OrderWhy, OriginWhy, Step};
use crate::outcome::{Edge, Excluded, OpRef, Origin, Reason, Refs, TxnRef, Why};
use rustc_hash::FxHashSet;
use seriatim_history::KeyId;
use std::cmp::Reverse;
use std::rc::Rc;

/// How deeply derivations may be nested: a person who reads more has lost the thread, and readers
/// of JSON have limits too.
const DEPTH_MAX: usize = 16;

/// Tells the proofs of one instance.
pub(super) struct Teller<'i> {
    instance: &'i Instance<'i>,
    /// Orders and origins whose derivation has been told.
    orders: FxHashSet<*const Order>,
    origins: FxHashSet<*const proof::Origin>,
    depth: usize,
}

impl<'i> Teller<'i> {
    pub fn new(instance: &'i Instance<'i>) -> Teller<'i> {
        Teller { instance, orders: FxHashSet::default(), origins: FxHashSet::default(), depth: 0 }
    }

    /// The contradiction itself; the step that takes the most explaining comes last, the earliest
    /// transaction first.
    pub fn contradiction(&mut self, cycle: &Cycle) -> Vec<Edge> {
        let after = |i: usize| &cycle[(i + 1) % cycle.len()];
        let last =
            (0..cycle.len()).min_by_key(|&i| (Reverse(cycle[i].cost), after(i).from)).unwrap_or(0);
        self.edges_from(cycle, last + 1)
    }

    /// A cycle that refutes something that is supposed; the supposition comes first.
    fn refutation(&mut self, cycle: &Cycle) -> Vec<Edge> {
        let first = cycle.iter().position(|step| step.supposes()).unwrap_or(0);
        self.edges_from(cycle, first)
    }

    fn edges_from(&mut self, cycle: &Cycle, first: usize) -> Vec<Edge> {
        let (tail, head) = cycle.split_at(first % cycle.len().max(1));
        self.edges(&[head, tail].concat())
    }

    fn edges(&mut self, steps: &[Rc<Step>]) -> Vec<Edge> {
        steps.iter().map(|step| self.edge(step)).collect()
    }

    fn edge(&mut self, step: &Rc<Step>) -> Edge {
        Edge { from: self.txn(step.from), to: self.txn(step.to), reason: self.reason(step) }
    }

    fn reason(&mut self, step: &Rc<Step>) -> Reason {
        match &step.label {
            Label::Session => Reason::SessionOrder,
            Label::RealTime => {
                let times = |txn: LocalTxn| {
                    self.instance.history.times(self.instance.txn(txn).id).unwrap_or_default()
                };
                Reason::RealTime { end: times(step.from).1, begin: times(step.to).0 }
            }
            Label::WriteRead(origin) => {
                let read = self.instance.read(origin.read);
                let write = self.source(origin.source, read.key);
                Reason::WriteRead {
                    write,
                    read: self.refs().op(read.op),
                    origin: self.origin(origin),
                }
            }
            Label::WriteWrite(order) => {
                let (earlier, later) = self.written(order);
                Reason::WriteWrite { earlier, later, why: self.why(order) }
            }
            Label::ReadWrite { origin, order } => self.read_write(step, origin, order.as_ref()),
        }
    }

    fn read_write(
        &mut self,
        step: &Step,
        origin: &Rc<proof::Origin>,
        order: Option<&Rc<Order>>,
    ) -> Reason {
        let read = self.instance.read(origin.read);
        let source = self.source(origin.source, read.key);
        let overwrite = self.source(Source::Txn(step.to), read.key);
        let told = self.origin(origin);
        let why = order.map_or(Why::Initial, |order| self.why(order));
        Reason::ReadWrite { read: self.refs().op(read.op), source, origin: told, overwrite, why }
    }

    fn why(&mut self, order: &Rc<Order>) -> Why {
        let cycle = match &order.why {
            OrderWhy::Supposed => return Why::Supposed,
            OrderWhy::Listed(number) => {
                let read = self.instance.listed(*number).read;
                return Why::Listed(Box::new(self.refs().op(read)));
            }
            OrderWhy::Otherwise(cycle) => cycle,
        };
        if let Some(path) = observed_path(cycle) {
            return Why::Known(self.edges(path));
        }
        if !self.orders.insert(Rc::as_ptr(order)) {
            return Why::Repeated;
        }
        self.nested(|teller| Why::Otherwise(teller.refutation(cycle))).unwrap_or(Why::TooDeep)
    }

    fn origin(&mut self, origin: &Rc<proof::Origin>) -> Origin {
        let others = match &origin.why {
            OriginWhy::Only => return Origin::Only,
            OriginWhy::Supposed => return Origin::Supposed,
            OriginWhy::Others(others) => others,
        };
        if !self.origins.insert(Rc::as_ptr(origin)) {
            return Origin::Repeated;
        }
        let key = self.instance.read(origin.read).key;
        let told = self.nested(|teller| {
            let excluded = others.iter().map(|(source, cycle)| Excluded {
                write: teller.source(*source, key),
                cycle: teller.refutation(cycle),
            });
            Origin::Others(excluded.collect())
        });
        told.unwrap_or(Origin::TooDeep)
    }

    fn nested<T>(&mut self, tell: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth == DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let told = tell(self);
        self.depth -= 1;
        Some(told)
    }

    fn refs(&self) -> Refs<'i> {
        Refs(self.instance.history)
    }

    fn txn(&self, txn: LocalTxn) -> TxnRef {
        self.refs().txn(self.instance.txn(txn).id)
    }

    /// The write of `source` to `key`.
    fn source(&self, source: Source, key: KeyId) -> OpRef {
        let write = match source {
            Source::Initial => None,
            Source::Txn(txn) => self.instance.txn(txn).write(key),
        };
        write.map_or_else(|| self.refs().initial_write(key), |op| self.refs().op(op))
    }

    /// The writes whose order is told.
    fn written(&self, order: &Order) -> (OpRef, OpRef) {
        if let OrderWhy::Listed(number) = order.why {
            let listed = self.instance.listed(number);
            return (self.refs().op(listed.earlier), self.refs().op(listed.later));
        }
        let write = |txn: LocalTxn| self.source(Source::Txn(txn), order.key);
        (write(order.earlier), write(order.later))
    }
}

impl Step {
    /// Whether it holds only because something is supposed.
    fn supposes(&self) -> bool {
        let order = |order: &Rc<Order>| matches!(order.why, OrderWhy::Supposed);
        let origin = |origin: &Rc<proof::Origin>| matches!(origin.why, OriginWhy::Supposed);
        match &self.label {
            Label::Session | Label::RealTime => false,
            Label::WriteRead(from) => origin(from),
            Label::WriteWrite(by) => order(by),
            Label::ReadWrite { origin: from, order: by } => {
                origin(from) || by.as_ref().is_some_and(order)
            }
        }
    }
}

/// The path from the earlier writer to the later one, if the opposite order is refuted by nothing
/// but what was observed.
fn observed_path(cycle: &Cycle) -> Option<&[Rc<Step>]> {
    let (first, path) = cycle.split_first()?;
    let direct =
        matches!(&first.label, Label::WriteWrite(order) if matches!(order.why, OrderWhy::Supposed));
    (direct && path.iter().all(|step| step.is_observed())).then_some(path)
}
