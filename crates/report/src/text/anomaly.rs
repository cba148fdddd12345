//! One kind of anomaly: its heading, the smallest instance, the others.

use super::operations::{in_program_order, operations, place};
use super::{Detail, Layout, dimmed, painted, plural};
use crate::prose::{self, strong};
use crate::style::{BAD, DIM, paint};
use crate::wrap::wrap;
use seriatim_check::{AnomalyGroup, Counted, Edge, OpRef, Reason, Report, Violation};
use seriatim_isolation::Anomaly;
use std::fmt::Write as _;

pub(super) fn anomaly(report: &Report, group: &AnomalyGroup, layout: &Layout) -> String {
    let (title, names) = (title(report, group), format!("({})", names_and_levels(group)));
    let mut page = match title.chars().count() + 1 + names.chars().count() > layout.width {
        true => painted(BAD, &title, "", layout.width) + &dimmed(&names, "  ", layout.width),
        false => format!("{} {}\n", paint(BAD, &title), paint(DIM, &names)),
    };
    page += &violation(&group.exemplar, layout);
    if layout.detail == Detail::Instances {
        page += &instances(group, layout);
    }
    page
}

/// The name of a group and its size. A session that does not see its own write is a fractured read
/// by definition, but is not called so: if all instances that are known are of this sort,
/// the heading says it.
pub(crate) fn title(report: &Report, group: &AnomalyGroup) -> String {
    let by_read = if group.count > 1 && is_seen_by_several(&group.exemplar) {
        ", counted by read"
    } else {
        ""
    };
    let (name, count) = (group.kind.info().name, count(report, group) + by_read);
    if let Some(age) = group.exemplar.age {
        return format!("{name}: {count}, up to {} old", prose::age(age));
    }
    if !prose::is_stale_in_session(&group.exemplar) {
        return format!("{name}: {count}");
    }
    let all_known = group.count == 1 || group.instances.len() as u64 == group.count;
    match all_known && group.instances.iter().all(prose::is_stale_in_session) {
        true => format!("stale read in its own session ({name}): {count}"),
        false => format!("{name}: {count}, the smallest a stale read in its own session"),
    }
}

/// How many instances there are, as far as that is known.
fn count(report: &Report, group: &AnomalyGroup) -> String {
    let instances = plural(group.count, "instance");
    match group.counted {
        Counted::Exactly | Counted::Disjoint => instances,
        Counted::AtLeast if report.search_ended_early => {
            format!("at least {instances}; the search stopped there")
        }
        Counted::AtLeast => format!("at least {instances}"),
    }
}

/// Whether several reads show the same cycle, each of which counts: only cycles of two transactions
/// are counted once.
fn is_seen_by_several(violation: &Violation) -> bool {
    let is_inferred = |edge: &&Edge| matches!(edge.reason, Reason::Overwritten { .. });
    violation.cycle.len() > 2 && violation.cycle.iter().filter(is_inferred).count() > 1
}

pub(crate) fn names_and_levels(group: &AnomalyGroup) -> String {
    let info = group.kind.info();
    let tap = info.tap.map(|letter| format!("TAP-{letter}"));
    let names: Vec<String> = tap.into_iter().chain(info.adya.map(str::to_owned)).collect();
    let mut forbidden = format!("forbidden by {}", prose::levels(info.forbidden_by));
    if group.exemplar.levels != info.forbidden_by {
        let violated = prose::levels(&group.exemplar.levels);
        forbidden += &format!("; this instance violates {violated}");
    }
    if group.kind == Anomaly::DirtyWrite {
        // Readers of Adya know G0 as what the weakest level forbids.
        return format!(
            "G0, which Adya forbids from PL-1 on; registers do not show the order of writes, so \
             here it is {forbidden}"
        );
    }
    if names.is_empty() { forbidden } else { format!("{}; {forbidden}", names.join(", ")) }
}

/// One instance: the story, the contradiction step by step, the operations with their places.
pub fn violation(violation: &Violation, layout: &Layout) -> String {
    let mut page = wrap(&prose::summary(violation), "  ", layout.width);
    for (i, step) in prose::steps(violation).iter().enumerate() {
        page += &wrap(step, &format!("  {}. ", i + 1), layout.width);
        let edge = violation.cycle.get(i).filter(|_| violation.alternatives.is_empty());
        if let (true, Some(edge)) = (layout.why, edge) {
            page += &derivation(edge, layout);
        }
    }
    let is_short = !layout.why
        && violation.alternatives.is_empty()
        && violation.cycle.iter().any(strong::leaves_out_derivation);
    if !is_short {
        return page + &operations(&violation.ops, layout.width);
    }
    let note = "(`check --why` tells why an opposite order is impossible, with the operations that \
                show it.)";
    page += &dimmed(note, "     ", layout.width);
    let spoken = strong::spoken_of(violation);
    let is_spoken_of = |op: &&OpRef| spoken.iter().any(|other| other.id == op.id);
    let ops: Vec<OpRef> = violation.ops.iter().filter(is_spoken_of).cloned().collect();
    page + &operations(&ops, layout.width)
}

/// Why an inferred step holds, indented as it is nested.
fn derivation(edge: &Edge, layout: &Layout) -> String {
    let lines = strong::derivation(edge).into_iter();
    lines
        .map(|(depth, line)| wrap(&line, &format!("  {}- ", "   ".repeat(depth)), layout.width))
        .collect()
}

fn instances(group: &AnomalyGroup, layout: &Layout) -> String {
    let mut page = String::new();
    for (i, instance) in group.instances.iter().enumerate() {
        if *instance == group.exemplar {
            page += &format!("  #{} is told above\n", i + 1);
            continue;
        }
        page += &wrap(&prose::summary(instance), &format!("  #{} ", i + 1), layout.width);
        let places: Vec<String> =
            in_program_order(&instance.ops).into_iter().filter_map(place).collect();
        if !places.is_empty() {
            let _ = writeln!(page, "{}", paint(DIM, &format!("     at {}", places.join(", "))));
        }
    }
    let rest = group.count.saturating_sub(group.instances.len() as u64);
    if rest > 0 {
        let _ = writeln!(page, "  … and {rest} more; --max raises the limit");
    }
    page
}
