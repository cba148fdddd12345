//! Groups of anomalies from several searches as one for each kind.

use super::verdict::{AnomalyGroup, Counted};
use super::violation::Violation;
use seriatim_isolation::Anomaly;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Whether a violation is the one to show. Of those that need real time that is one of the weakest
/// level, which no other kind may show.
fn is_better(new: &Violation, known: &Violation) -> bool {
    let levels = |violation: &Violation| match violation.kind {
        Anomaly::StaleRead | Anomaly::RealTimeCycle => violation.levels.len(),
        _ => 0,
    };
    let rank = |violation| (Reverse(levels(violation)), violation.txn_count());
    rank(new) < rank(known)
}

/// Sorts groups in the order of reports.
pub(crate) fn sort_by_kind(groups: &mut [AnomalyGroup]) {
    groups.sort_by_key(|group| group.kind);
}

/// One group for each kind. What the search finds of a kind that was counted by a scan is of
/// another shape: the count is then a lower bound.
pub(crate) fn merged(groups: Vec<AnomalyGroup>) -> Vec<AnomalyGroup> {
    let mut kinds: BTreeMap<Anomaly, AnomalyGroup> = BTreeMap::new();
    for group in groups {
        let Some(known) = kinds.get_mut(&group.kind) else {
            kinds.insert(group.kind, group);
            continue;
        };
        known.count += group.count;
        known.counted = Counted::AtLeast;
        known.instances.extend(group.instances);
        if is_better(&group.exemplar, &known.exemplar) {
            known.exemplar = group.exemplar;
        }
    }
    kinds.into_values().collect()
}
