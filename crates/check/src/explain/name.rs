//! Which anomaly a contradiction is. The name follows from the labels of its cycle; that of a lost
//! update from its operations.

use super::ids::LocalRead;
use super::instance::{Instance, InstanceRead, InstanceTxn, Source};
use super::proof::{Label, OrderWhy, Step};
use rustc_hash::FxHashMap;
use seriatim_history::KeyId;
use seriatim_isolation::Anomaly;
use seriatim_isolation::Level;
use std::rc::Rc;

/// The kind of a cycle in an instance that is as small as possible and violates `levels`.
pub(super) fn kind(instance: &Instance<'_>, cycle: &[Rc<Step>], levels: &[Level]) -> Anomaly {
    let by_shape = if is_lost_update(instance) { Anomaly::LostUpdate } else { by_labels(cycle) };
    let wider = match by_shape {
        Anomaly::FracturedReadCausal | Anomaly::CausalityViolation => Anomaly::ReadSkew,
        Anomaly::LongFork => Anomaly::NonAdjacent,
        other => other,
    };
    // Orders that were inferred at a strong level may make a cycle that looks as if weaker ones
    // forbade it too.
    let fits = |kind: &Anomaly| kind.info().forbidden_by.iter().all(|level| levels.contains(level));
    [by_shape, wider, Anomaly::AntiDependencyCycle]
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| by_time(cycle))
}

/// Two transactions read the same version of a key and both write it, and no other transaction is
/// there but the writer of it.
fn is_lost_update(instance: &Instance<'_>) -> bool {
    let involved = instance.txns.iter().filter(|txn| !is_witness(instance, txn)).count();
    let writers = |read: &InstanceRead| {
        read.candidates.iter().filter(|&&source| source != Source::Initial).count()
    };
    lost_updates(instance).any(|(read, _)| involved == 2 + writers(read))
}

/// Reads of the same version of a key by transactions that both write the key.
pub(super) fn lost_updates<'i>(
    instance: &'i Instance<'_>,
) -> impl Iterator<Item = (&'i InstanceRead, &'i InstanceRead)> {
    let is_update = |read: &&InstanceRead| {
        read.candidates.len() == 1 && instance.txn(read.txn).write(read.key).is_some()
    };
    let mut last: FxHashMap<(KeyId, Source), &InstanceRead> = FxHashMap::default();
    instance.reads.iter().filter(is_update).filter_map(move |read| {
        let earlier = last.insert((read.key, read.candidates[0]), read)?;
        (earlier.txn != read.txn).then_some((earlier, read))
    })
}

/// Whether a transaction is there only because it shows that others of unknown outcome committed.
fn is_witness(instance: &Instance<'_>, txn: &InstanceTxn) -> bool {
    let shows = |read: &LocalRead| match instance.read(*read).candidates[..] {
        [Source::Txn(writer)] => instance.txn(writer).optional,
        _ => false,
    };
    txn.ops.len() == txn.reads.len() && txn.reads.iter().all(shows)
}

fn is_rw(step: &Rc<Step>) -> bool {
    matches!(step.label, Label::ReadWrite { .. })
}

/// With real time: a read that missed something is stale.
fn by_time(cycle: &[Rc<Step>]) -> Anomaly {
    match cycle.iter().filter(|step| is_rw(step)).count() {
        1 => Anomaly::StaleRead,
        _ => Anomaly::RealTimeCycle,
    }
}

fn by_labels(cycle: &[Rc<Step>]) -> Anomaly {
    let count = cycle.iter().filter(|step| is_rw(step)).count();
    let adjacent =
        (0..cycle.len()).any(|i| is_rw(&cycle[i]) && is_rw(&cycle[(i + 1) % cycle.len()]));
    if cycle.iter().any(|step| matches!(step.label, Label::RealTime)) {
        return by_time(cycle);
    }
    match (count, adjacent) {
        (0, _) => by_writes(cycle),
        // One edge of a cycle of one transaction would be adjacent to itself, but there are none.
        (1, _) => by_single(cycle),
        (2, true) if cycle.len() == 2 => Anomaly::WriteSkew,
        (2, false) if is_long_fork(cycle) => Anomaly::LongFork,
        (_, false) => Anomaly::NonAdjacent,
        (_, true) => Anomaly::AntiDependencyCycle,
    }
}

/// Without anti-dependencies: a weak level's anomaly unless an order of writes had to be inferred.
fn by_writes(cycle: &[Rc<Step>]) -> Anomaly {
    let listed = |step: &Rc<Step>| match &step.label {
        Label::WriteWrite(order) => Some(matches!(order.why, OrderWhy::Listed(_))),
        _ => None,
    };
    let mut orders = cycle.iter().filter_map(listed).peekable();
    if orders.peek().is_none() {
        Anomaly::CyclicCausality
    } else if orders.all(|listed| listed) {
        Anomaly::WriteCycle
    } else {
        Anomaly::DirtyWrite
    }
}

/// A transaction that the reader saw overwrote what it read: a weak level's anomaly if nothing but
/// reads and sessions shows that it saw it.
fn by_single(cycle: &[Rc<Step>]) -> Anomaly {
    let causal = |step: &&Rc<Step>| matches!(step.label, Label::Session | Label::WriteRead(_));
    match cycle.iter().filter(causal).count() {
        1 if cycle.len() == 2 => Anomaly::FracturedReadCausal,
        seen if seen + 1 == cycle.len() => Anomaly::CausalityViolation,
        _ => Anomaly::ReadSkew,
    }
}

/// Two writers, and two readers that saw one of them each.
fn is_long_fork(cycle: &[Rc<Step>]) -> bool {
    let reads = cycle.iter().filter(|step| matches!(step.label, Label::WriteRead(_))).count();
    cycle.len() == 4 && reads == 2
}
