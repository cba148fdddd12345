//! The way of a check: match the reads, decide the strongest level; only if that fails, look for
//! everything that is wrong.

use crate::beyond::{Beyond, Blamed};
use crate::explain::{Clean, Found};
use crate::index::Index;
use crate::ladder::StrongLevels;
use crate::limits::Limits;
use crate::limits::memory::{Need, Room};
use crate::outcome::{
    AnomalyGroup, Breach, Options, Outcome, Proved, Report, Timings, Undecided, Verdict, merged,
    smallest,
};
use crate::patterns::{self, LostUpdates};
use crate::stale_reads::{stale_reads, staleness};
use crate::strong::Subject;
use crate::weak::{self, Chosen, Reads, WeakLevels};
use seriatim_history::{History, OpId, TxnId};
use seriatim_isolation::{Anomaly, Level, Order};
use seriatim_verify::Proof;
use std::sync::Arc;
use std::time::Instant;

/// Checks a history whose sessions are those that count.
pub(crate) fn check_with_sessions(history: &History, options: &Options) -> Report {
    let need = Need::of(history);
    let memory_needed = || Some(need.with_what_is_in_use());
    let report = match need.within(Limits::of(options)) {
        Room::Enough => check_in_full(history, options),
        Room::NoClocks => {
            Report { memory_needed: memory_needed(), ..without_clocks(history, options) }
        }
        Room::None => Report { memory_needed: memory_needed(), ..nothing(history, options) },
    };
    match history.unknown_content() {
        0 => report,
        transactions => in_doubt(report, transactions),
    }
}

/// What is said of a history that lacks transactions of unknown content: what the rest violates the
/// whole violates, but what the rest satisfies the whole may violate.
fn in_doubt(mut report: Report, transactions: u64) -> Report {
    for verdict in report.verdicts.iter_mut().filter(|verdict| verdict.holds()) {
        verdict.outcome = Outcome::Undecided(Undecided::UnknownContent { transactions });
    }
    report.proved.holds = None;
    report
}

/// A check that has room for everything that is known to be needed.
fn check_in_full(history: &History, options: &Options) -> Report {
    let start = Instant::now();
    let index = Index::build(history, options.threads);
    let stale = stale_reads(history, &index);
    let time_cycles = weak::time_cycles(history, &index, options);
    if options.order == Order::RealTime
        && !weak::is_room_for_overlaps(history, &index, &stale, options)
    {
        return nothing(history, options);
    }
    let mut timings = Timings { index: start.elapsed(), ..Timings::default() };
    let start = Instant::now();
    let ambiguous = weak::undecided(history, &index);
    let doubt = weak::undecided_lists(history, &index);
    let ambiguous_reads = index.ambiguous.clone();
    let levels = levels_to_report(history, options);
    let mut check = Check { weak: WeakLevels::new(history, options, levels), ambiguous };
    let strongest = check.weak.strongest();
    let (order, index) = check.weak.decide(index, strongest);
    timings.decide = start.elapsed();
    let start = Instant::now();
    let mut strong = StrongLevels::default();
    let mut found;
    if let Some(order) = &order {
        // No weak level is violated, whatever the ambiguous reads read.
        let subject = Subject { history, index: &index, options };
        strong = StrongLevels::decide(&subject, &check.strong_asked(), doubt.as_ref());
        timings.decide += start.elapsed();
        let took = start.elapsed();
        let start = Instant::now();
        let lost_updates = check.lost_updates(&index, strong.weakest_violated().is_some());
        found = strong.violations(Clean::whole(subject, order, &lost_updates, &stale), took);
        found.is_complete &= !strong.has_open();
        timings.explain = start.elapsed();
        if doubt.is_none() && !check.open_weak(&strong).is_empty() {
            strong.try_serializable(&subject);
        }
    } else {
        let counts = index.counts.clone();
        let lost_updates = check.lost_updates(&index, true);
        let analysis = check.weak.analyse(index, strongest);
        let blamed = Blamed::new(&analysis);
        let (lost_updates, stale) = (&lost_updates, &stale);
        let beyond = Beyond { history, counts: &counts, options, lost_updates, stale };
        let levels = check.weak.strong_levels();
        let efforts = &mut timings.efforts;
        found = beyond.anomalies(&blamed, &levels, start.elapsed(), efforts);
        found.groups = merged(analysis.groups.into_iter().chain(found.groups).collect());
        timings.explain = start.elapsed();
    }
    let start = Instant::now();
    let chosen = check.choose_sources(&ambiguous_reads, &strong);
    found.groups.extend(chosen.anomalies);
    timings.decide += start.elapsed();
    timings.efforts.append(&mut strong.efforts);
    let known = Known {
        proof: order.map(order_proof),
        strong,
        matched: chosen.verdicts,
        holding: check.take_holding(),
    };
    let report = check.report(&known, found, timings);
    let told = options.order == Order::RealTime;
    Report { stale: staleness(history, &stale).filter(|_| !told), time_cycles, ..report }
}

/// What is known in the end.
struct Known {
    /// A commit order of the strongest weak level that matters.
    proof: Option<Arc<Proof>>,
    strong: StrongLevels,
    /// Verdicts of weak levels by a choice of sources for ambiguous reads.
    matched: Vec<Verdict>,
    /// The strongest weak level that holds although a stronger one is violated.
    holding: Option<(Level, Arc<Proof>)>,
}

fn order_proof(order: Vec<TxnId>) -> Arc<Proof> {
    Arc::new(Proof::order(order))
}

struct Check<'a> {
    weak: WeakLevels<'a>,
    /// What is said of levels that ambiguous reads leave open, if there are any.
    ambiguous: Option<Undecided>,
}

impl Check<'_> {
    /// The lost updates of the whole history, if a level is violated and one that forbids them was
    /// asked for.
    fn lost_updates(&self, index: &Index, is_violated: bool) -> LostUpdates {
        let forbidden_by = Anomaly::LostUpdate.info().forbidden_by;
        match is_violated && forbidden_by.iter().any(|&level| self.weak.asks(level)) {
            true => patterns::lost_updates(self.weak.history, index),
            false => LostUpdates::default(),
        }
    }

    /// The strong levels that nothing has been decided about.
    fn strong_asked(&self) -> Vec<Level> {
        let open = |level: &Level| self.weak.asks(*level) && !self.weak.violated.contains(level);
        Level::STRONG.into_iter().filter(open).collect()
    }

    /// The weak levels, strongest first, that depend on what the ambiguous reads read.
    fn open_weak(&self, strong: &StrongLevels) -> Vec<Level> {
        if self.ambiguous.is_none() {
            return Vec::new();
        }
        self.weak.open().filter(|&level| strong.holds() < Some(level)).collect()
    }

    /// Decides the weak levels that depend on what the ambiguous reads read.
    fn choose_sources(&mut self, ambiguous: &[OpId], strong: &StrongLevels) -> Chosen {
        let open = self.open_weak(strong);
        let Some(reason) = &self.ambiguous else { return Chosen::default() };
        Chosen::choose(&mut self.weak, &open, &Reads { ambiguous, reason })
    }

    fn take_holding(&mut self) -> Option<(Level, Arc<Proof>)> {
        let (level, order) = self.weak.holding.take()?;
        Some((level, order_proof(order?)))
    }

    fn report(&self, known: &Known, found: Found, timings: Timings) -> Report {
        let anomalies = found.groups;
        let verdict = |&level: &Level| {
            let outcome = self.explained(level, self.outcome(level, known), &anomalies);
            Verdict::new(level, outcome)
        };
        let verdicts = self.weak.levels.iter().map(verdict).collect();
        let kind = self.weak.options.kind;
        let is_asked = |group: &AnomalyGroup| kind.is_none_or(|kind| group.kind == kind);
        Report {
            order: self.weak.options.order,
            verdicts,
            anomalies: anomalies.into_iter().filter(is_asked).collect(),
            kind,
            search_ended_early: !found.is_complete,
            stale: None,
            time_cycles: 0,
            proved: self.proved(known),
            timings,
            memory_needed: None,
        }
    }

    /// Gives a violated level the smallest anomaly that shows it.
    fn explained(&self, level: Level, outcome: Outcome, anomalies: &[AnomalyGroup]) -> Outcome {
        match (outcome, smallest(anomalies, level)) {
            (Outcome::Violated(_), Some(violation)) => {
                Outcome::Violated(Breach::Anomaly(Box::new(violation.clone())))
            }
            (outcome, _) => outcome,
        }
    }

    /// What is known of the ladder.
    fn proved(&self, known: &Known) -> Proved {
        let on_ladder = |level: &Level| *level != Level::CutIsolation;
        let is_clean = known.proof.is_some() && self.ambiguous.is_none();
        let weak = if is_clean { self.weak.strongest() } else { None };
        let held =
            known.holding.iter().map(|(level, _)| *level).filter(|_| self.ambiguous.is_none());
        let matched = known.matched.iter().filter(|verdict| verdict.holds());
        let holds = held
            .chain(matched.map(|verdict| verdict.level))
            .chain(weak)
            .chain(known.strong.holds());
        let violated = self.weak.violated.iter().copied().chain(known.strong.weakest_violated());
        Proved { holds: holds.filter(on_ladder).max(), violated: violated.filter(on_ladder).min() }
    }

    fn outcome(&self, level: Level, known: &Known) -> Outcome {
        if self.weak.violated.contains(&level) {
            // Unless an anomaly shows it, all transactions are part of the contradiction.
            return Outcome::Violated(Breach::Unexplained(self.weak.history.txns().collect()));
        }
        if level.is_strong() {
            return known.strong.outcome(level);
        }
        if level == Level::CutIsolation {
            return Outcome::Holds(Arc::new(Proof::CutIsolation));
        }
        if let Some(matched) = known.matched.iter().find(|verdict| verdict.level == level) {
            return matched.outcome.clone();
        }
        if let Some(reason) = &self.ambiguous {
            return known.strong.outcome_unless_open(level, reason);
        }
        let held = known.holding.iter().find(|(held, _)| *held >= level);
        let proof = known.proof.as_ref().or(held.map(|(_, proof)| proof));
        proof.map_or(Outcome::Undecided(Undecided::Budget), |proof| Outcome::Holds(proof.clone()))
    }
}

/// The levels of `options` in the order of reports. Strict serializability means nothing without
/// times, so a history that has none is only told so if the question was not simply "all levels".
fn levels_to_report(history: &History, options: &Options) -> Vec<Level> {
    let all = Level::ALL.iter().all(|level| options.levels.contains(level));
    let silent = |level: Level| level == Level::StrictSerializable && all && !history.has_times();
    Level::ALL
        .into_iter()
        .filter(|&level| options.levels.contains(&level) && !silent(level))
        .collect()
}

/// Read committed, cut isolation and read atomic only; what is violated there is violated above.
fn without_clocks(history: &History, options: &Options) -> Report {
    let levels = vec![Level::ReadCommitted, Level::CutIsolation, Level::ReadAtomic];
    let report = check_in_full(history, &Options { levels, ..options.clone() });
    let weakest = report.weakest_violated().and_then(|level| report.verdict(level)).cloned();
    let verdict = |level: Level| match (report.verdict(level), &weakest) {
        (Some(verdict), _) => verdict.clone(),
        (None, Some(weakest)) => Verdict { level, ..weakest.clone() },
        (None, None) => undecided(level),
    };
    let asked = levels_to_report(history, options);
    let verdicts = asked.iter().map(|&level| verdict(level)).collect();
    let forbidden = |level: &Level| asked.contains(level);
    let mut anomalies = report.anomalies;
    anomalies.retain(|group| group.exemplar.levels.iter().any(forbidden));
    // What only the levels above forbid was not looked for.
    Report { verdicts, anomalies, search_ended_early: true, ..report }
}

/// Nothing is known.
pub(crate) fn nothing(history: &History, options: &Options) -> Report {
    let verdicts = levels_to_report(history, options).into_iter().map(undecided).collect();
    Report {
        order: options.order,
        verdicts,
        anomalies: Vec::new(),
        kind: options.kind,
        search_ended_early: true,
        stale: None,
        time_cycles: 0,
        proved: Default::default(),
        timings: Timings::default(),
        memory_needed: None,
    }
}

fn undecided(level: Level) -> Verdict {
    Verdict::undecided_because(level, Undecided::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;

    #[test]
    fn without_clocks_what_is_violated_below_is_violated_above() {
        let fractured = notation::parse("a: w(x,1) w(y,1)\nb: r(x,0) r(y,1)").unwrap();
        let report = without_clocks(
            &fractured,
            &Options { levels: vec![Level::Causal], ..Options::default() },
        );
        assert!(report.violates(Level::Causal));
        assert_eq!(report.anomalies.len(), 1);
        assert_eq!(report.proved.holds, Some(Level::ReadCommitted));
    }

    #[test]
    fn without_clocks_nothing_above_read_atomic_holds() {
        let good = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
        let report = without_clocks(&good, &Options::default());
        assert_eq!(report.strongest(), Some(Level::ReadAtomic));
        let open = report.verdict(Level::Serializable).unwrap();
        assert_eq!(open.undecided(), Some(&Undecided::Memory));
        assert_eq!(nothing(&good, &Options::default()).strongest(), None);
    }
}
