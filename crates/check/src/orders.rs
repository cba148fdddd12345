//! The three orders: a check with sessions is the way of all of them.
//!
//! Without sessions each transaction stands alone, and what is quick because sessions are few and
//! long is slow: clocks take a number for each transaction and session. So a history is checked
//! with its sessions first. What holds with them holds without. What is violated is often violated
//! without them too, by the same operations, which is tried where the history is large; only
//! smaller ones are checked as if each transaction were a session. Large are also those whose
//! operations have not all that scans read ([`History::scans_need_sessions`]): what they have is
//! enough for read committed and read atomic without sessions, and for all levels with them.

use crate::checker::{check_with_sessions, nothing};
use crate::limits::Limits;
use crate::limits::memory;
use crate::outcome::{
    AnomalyGroup, Breach, Counted, Options, Outcome, Report, Undecided, Verdict, Violation,
    smallest, sort_by_kind,
};
use seriatim_history::History;
use seriatim_isolation::{Guarantee, Level, Order};
use seriatim_verify::{completed, verify_violation};

/// How many violations of each kind that were found with sessions are tried without, at least.
const INSTANCES_TRIED: usize = 32;
/// The largest history that is checked in full as if each transaction were a session: about two
/// seconds.
const SINGLES_MAX: usize = 1 << 14;

/// Checks `history` at the levels and with the order of `options`.
pub(crate) fn check_with(history: &History, options: &Options) -> Report {
    match options.order {
        Order::None if !Limits::of(options).allow(memory::of_part(history)) => {
            nothing(history, options)
        }
        Order::None => check_without_sessions(history, options),
        Order::RealTime if !history.has_times() => without_times(history, options),
        Order::RealTime if !is_room_for_moments(history, options) => nothing(history, options),
        Order::Sessions | Order::RealTime => check_with_sessions(history, options),
    }
}

/// Whether there is room for a second history, with moments of real time.
fn is_room_for_moments(history: &History, options: &Options) -> bool {
    history.has_room_for_moments() && Limits::of(options).allow(2 * memory::of_part(history))
}

/// Without times real time can only be said not to matter where the level is violated anyway.
fn without_times(history: &History, options: &Options) -> Report {
    let with_sessions = Options { order: Order::Sessions, ..options.clone() };
    let mut report = check_with_sessions(history, &with_sessions);
    for verdict in &mut report.verdicts {
        if verdict.holds() && verdict.level != Level::CutIsolation {
            *verdict = Verdict::undecided_because(verdict.level, Undecided::NoTimes);
        }
    }
    report.proved.holds = None;
    Report { order: options.order, ..report }
}

/// A check in which sessions do not count.
fn check_without_sessions(history: &History, options: &Options) -> Report {
    let is_small = history.txn_count() <= SINGLES_MAX;
    if is_small && !history.scans_need_sessions() {
        return check_with_sessions(&history.without_sessions(), options);
    }
    let (order, instances, kind) = (Order::Sessions, INSTANCES_TRIED, None);
    let with_sessions = Options { order, instances, kind, ..options.clone() };
    let report = check_with_sessions(history, &with_sessions);
    match report.verdicts.iter().all(Verdict::holds) {
        true => Report { order: Order::None, kind: options.kind, ..report },
        false => Large { history, options, report }.check(),
    }
}

/// A history that is too large to be checked in full without sessions.
struct Large<'a> {
    history: &'a History,
    options: &'a Options,
    /// What is wrong with sessions, or open.
    report: Report,
}

impl Large<'_> {
    /// Read committed and read atomic need no clocks and are checked in full. Above them hold the
    /// levels that hold with sessions, and those are violated of which a violation that was found
    /// with sessions needs none.
    fn check(mut self) -> Report {
        let below = [Level::ReadCommitted, Level::CutIsolation, Level::ReadAtomic];
        let levels: Vec<Level> =
            below.into_iter().filter(|level| self.options.levels.contains(level)).collect();
        let kind = None;
        let below = match levels.is_empty() {
            true => None,
            false => {
                let options = Options { levels, kind, ..self.options.clone() };
                Some(check_with_sessions(&self.history.without_sessions(), &options))
            }
        };
        let mut anomalies: Vec<AnomalyGroup> =
            below.as_ref().map_or(Vec::new(), |report| report.anomalies.clone());
        let known: Vec<_> = anomalies.iter().map(|group| group.kind).collect();
        let others = std::mem::take(&mut self.report.anomalies).into_iter();
        let others = others.filter(|group| !known.contains(&group.kind));
        anomalies.extend(others.filter_map(|group| self.without_sessions(group)));
        sort_by_kind(&mut anomalies);
        let asked = self.options.kind;
        let verdict = |verdict: &Verdict| {
            let exact = below.as_ref().and_then(|report| report.verdict(verdict.level));
            exact.cloned().unwrap_or_else(|| outcome_without(verdict, &anomalies))
        };
        let verdicts: Vec<Verdict> = self.report.verdicts.iter().map(verdict).collect();
        let on_ladder = |level: &Level| *level != Level::CutIsolation;
        let levels = |is: fn(&Verdict) -> bool| {
            verdicts.iter().filter(move |verdict| is(verdict)).map(|verdict| verdict.level)
        };
        let mut proved = self.report.proved;
        proved.holds = proved.holds.max(levels(Verdict::holds).filter(on_ladder).max());
        proved.violated = levels(Verdict::is_violated).filter(on_ladder).min();
        anomalies.retain(|group| asked.is_none_or(|kind| kind == group.kind));
        Report {
            order: Order::None,
            verdicts,
            anomalies,
            kind: asked,
            search_ended_early: true,
            proved,
            ..self.report
        }
    }

    /// What is left of a group without sessions. How many of them do not need sessions is not
    /// counted.
    fn without_sessions(&self, group: AnomalyGroup) -> Option<AnomalyGroup> {
        let shown = self.options.instances.clamp(1, INSTANCES_TRIED);
        let tried = std::iter::once(group.exemplar).chain(group.instances);
        let found = tried.filter(|violation| self.is_violation(violation)).take(shown);
        let mut instances: Vec<Violation> = found.collect();
        let exemplar = instances.first().cloned()?;
        let count = instances.len() as u64;
        instances.truncate(self.options.instances);
        Some(AnomalyGroup {
            kind: group.kind,
            count,
            counted: Counted::AtLeast,
            exemplar,
            instances,
        })
    }

    /// Whether the operations of a violation violate its levels without sessions too, and what is
    /// told of it does not speak of them.
    fn is_violation(&self, violation: &Violation) -> bool {
        if violation.speaks_of_sessions() || Limits::of(self.options).is_over() {
            return false;
        }
        let ops = completed(self.history, &violation.op_ids());
        // What violates the weakest level violates those above it.
        let levels = violation.levels.iter().filter(|&&level| level != Level::CutIsolation);
        levels.min().is_some_and(|&level| {
            let asked = Guarantee::new(level, Order::None);
            verify_violation(self.history, asked, &ops).is_ok()
        })
    }
}

/// The verdict of a level above read atomic.
fn outcome_without(with: &Verdict, anomalies: &[AnomalyGroup]) -> Verdict {
    match (with.is_violated(), smallest(anomalies, with.level)) {
        (false, _) => with.clone(),
        (true, Some(violation)) => {
            let breach = Breach::Anomaly(Box::new(violation.clone()));
            Verdict::new(with.level, Outcome::Violated(breach))
        }
        (true, None) => Verdict::undecided_because(with.level, Undecided::ManyWithoutSessions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;
    use seriatim_isolation::Anomaly;

    fn large(text: &str) -> Report {
        let history = notation::parse(text).unwrap();
        let options = Options { order: Order::None, ..Options::default() };
        let with_sessions = Options { order: Order::Sessions, ..options.clone() };
        let report = check_with_sessions(&history, &with_sessions);
        Large { history: &history, options: &options, report }.check()
    }

    #[test]
    fn what_needs_no_sessions_is_violated_without_them() {
        let report = large("a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)");
        assert_eq!(report.order, Order::None);
        assert_eq!(report.strongest(), Some(Level::PrefixConsistency));
        assert!(report.violates(Level::SnapshotIsolation));
        assert_eq!(report.anomalies[0].kind, Anomaly::LostUpdate);
        assert_eq!(report.anomalies[0].counted, Counted::AtLeast);
    }

    #[test]
    fn what_needs_sessions_is_left_open_or_holds() {
        let report = large("a: w(x,1) | r(x,0)");
        assert!(report.holds(Level::ReadAtomic), "it needs no clocks");
        assert!(!report.holds(Level::Causal) && !report.violates(Level::Serializable));
        assert!(report.anomalies.is_empty());
        assert!(report.search_ended_early);
    }
}
