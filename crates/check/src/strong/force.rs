//! What must be: of two orders of versions one may close a cycle, so the other holds; of the
//! writers of a value all but one may be impossible as the source of a read.
//!
//! Only what an order of the points breaks is looked at. Whatever no order breaks needs no edge.

use super::contradiction::{Against, Contradiction, Excluded, OpenRead, Reason, Side};
use super::facts::{Ambiguous, Facts};
use super::ids::{AmbiguousId, PointId, SlotId};
use super::mutation::{Rule, holds};
use super::reach::Reach;
use super::scan::Broken;
use super::sources::Sources;
use super::timeline::{Arc, Timeline};
use crate::limits::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{KeyId, TxnId};
use std::sync::Arc as Shared;

/// An undecided order of two writers, `hint` being the earlier one in the present order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub hint: TxnId,
    pub other: TxnId,
}

/// What a round found.
#[derive(Default)]
pub(crate) struct Findings {
    /// Edges that are forced, with the number of the reason.
    pub arcs: Vec<(Arc, u32)>,
    /// How many ambiguous reads were matched.
    pub matched: usize,
    pub open: Vec<Pair>,
    /// Ambiguous reads and a version that replaces what they are said to read.
    pub open_choices: Vec<(AmbiguousId, SlotId)>,
    pub open_reads: Vec<OpenRead>,
    /// How many candidates the open reads have, excluded ones too.
    open_size: usize,
    /// Not everything was looked at: the limits were reached, or too much is open to be written
    /// down.
    pub is_cut: bool,
}

/// How many candidates of open reads are written down at most: some hundred megabytes.
const OPEN_MAX: usize = 1 << 24;
/// Of reads with more candidates than this it is not asked what these have in common.
const BOUNDS_MAX: usize = 1000;

impl Findings {
    /// Whether nothing is forced.
    pub fn is_empty(&self) -> bool {
        self.arcs.is_empty() && self.matched == 0
    }
}

/// What became of the order of two writers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ordered {
    Settled,
    Open,
    /// It was looked at before.
    Before,
}

pub(crate) struct Forcing<'a> {
    pub facts: &'a Facts<'a>,
    pub timeline: Timeline,
    pub reach: &'a Reach,
    pub reasons: &'a mut Vec<Reason>,
    /// What the ambiguous reads are known to read.
    pub fixed: &'a mut Sources,
    /// How many forced edges `reach` knows.
    known: u32,
    limits: Limits,
    /// How many times it was asked whether to stop.
    steps: u32,
    done: FxHashSet<(TxnId, TxnId)>,
    found: Findings,
}

impl<'a> Forcing<'a> {
    pub fn new(
        facts: &'a Facts<'a>,
        timeline: Timeline,
        reach: &'a Reach,
        reasons: &'a mut Vec<Reason>,
        fixed: &'a mut Sources,
        known: u32,
        limits: Limits,
    ) -> Forcing<'a> {
        let (done, found) = (FxHashSet::default(), Findings::default());
        Forcing { facts, timeline, reach, reasons, fixed, known, limits, steps: 0, done, found }
    }

    /// Finds the edges that the broken places show to be forced. If the limits are reached it stops
    /// early: what it has found is right, and the caller looks at the limits before going on.
    pub fn run(mut self, broken: &[Broken]) -> Result<Findings, Contradiction> {
        for &broken in broken {
            if self.is_over() {
                break;
            }
            match broken {
                Broken::Read { slot, version, reader } => {
                    let writer = self.facts.version_writer(version);
                    match self.facts.writer(slot) {
                        None => self.initial_first(reader, writer, None)?,
                        Some(source) => drop(self.order(source, writer)?),
                    }
                }
                Broken::Overlap { earlier, later } => {
                    let writer = |version| self.facts.version_writer(version);
                    self.order(writer(earlier), writer(later))?;
                }
                Broken::Value { read } => self.match_read(read)?,
                Broken::Chosen { read, version } => self.chosen(read, version)?,
            }
        }
        Ok(self.found)
    }

    /// Looks again at what was open.
    pub fn again(mut self, before: &Findings) -> Result<Findings, Contradiction> {
        for pair in &before.open {
            self.order(pair.hint, pair.other)?;
        }
        for &(read, version) in &before.open_choices {
            self.chosen(read, version)?;
        }
        for open in &before.open_reads {
            if self.is_over() {
                break;
            }
            self.match_read(open.read)?;
        }
        Ok(self.found)
    }

    /// Whether to stop here.
    fn is_over(&mut self) -> bool {
        self.steps += 1;
        // Looking at the clock costs as much as a step.
        let is_time_to_look = self.steps.is_multiple_of(64);
        self.found.is_cut |=
            self.found.open_size > OPEN_MAX || is_time_to_look && self.limits.is_over();
        self.found.is_cut
    }

    fn add(&mut self, arc: Arc, reason: u32) {
        if !self.reach.reaches(arc.0, arc.1) {
            self.found.arcs.push((arc, reason));
        }
    }

    fn remember(&mut self, reason: Reason) -> u32 {
        self.reasons.push(reason);
        self.reasons.len() as u32 - 1
    }

    fn initial_first(
        &mut self,
        reader: TxnId,
        writer: TxnId,
        read: Option<AmbiguousId>,
    ) -> Result<(), Contradiction> {
        let arc = self.timeline.read_write(reader, writer);
        if self.reach.reaches(arc.1, arc.0) {
            return Err(Contradiction::StaleInitial { reader, writer, read });
        }
        let reason = self.remember(Reason::Initial { reader, writer, read });
        self.add(arc, reason);
        Ok(())
    }

    /// Settles the order of two writers of a key, if it is forced; `a` is the earlier one in the
    /// present order.
    fn order(&mut self, a: TxnId, b: TxnId) -> Result<Ordered, Contradiction> {
        if !self.done.insert((a.min(b), a.max(b))) {
            return Ok(Ordered::Before);
        }
        match (self.impossible(a, b), self.impossible(b, a)) {
            (None, None) => {
                self.found.open.push(Pair { hint: a, other: b });
                return Ok(Ordered::Open);
            }
            (Some(against), None) => self.settle(b, a, against),
            (None, Some(against)) => self.settle(a, b, against),
            (Some(first), Some(second)) => {
                return Err(Contradiction::NeitherOrder {
                    first: a,
                    second: b,
                    against: [first, second],
                });
            }
        }
        Ok(Ordered::Settled)
    }

    /// Why `a` cannot have written before `b`, if so.
    fn impossible(&self, a: TxnId, b: TxnId) -> Option<Against> {
        let arc = self.timeline.write_write(a, b);
        if self.reach.reaches(arc.1, arc.0) {
            return Some(Against::Writers);
        }
        let commit = self.timeline.commit(b);
        // If `a` wrote before `b`, a reader that begins after `b` cannot read what `a` wrote.
        let seen = |reader: TxnId| {
            reader != b
                && self.reach.reaches(commit, self.timeline.begin(reader))
                    == holds(Rule::SeenWriter)
        };
        let mut found = None;
        self.facts.common_versions(a, b, |version| {
            let reader =
                || self.facts.readers.of(version).iter().copied().find(|&reader| seen(reader));
            let read =
                || self.fixed.reads_of(version).find(|&read| seen(self.facts.read(read).reader));
            found = found
                .or_else(|| reader().map(Against::Reader))
                .or_else(|| read().map(Against::Matched));
        });
        found
    }

    /// `earlier` wrote before `later`, since the opposite is impossible.
    fn settle(&mut self, earlier: TxnId, later: TxnId, against: Against) {
        let (earlier, later) =
            if holds(Rule::OtherOrder) { (earlier, later) } else { (later, earlier) };
        let order = self.remember(Reason::Order { earlier, later, against, known: self.known });
        for arc in order_arcs(self.facts, self.timeline, earlier, later) {
            self.add(arc, order);
        }
        for read in replaced_reads(self.facts, self.fixed, earlier, later) {
            let arc = self.timeline.read_write(self.facts.read(read).reader, later);
            if !self.reach.reaches(arc.0, arc.1) {
                let reason = self.remember(Reason::Replaced { read, order });
                self.add(arc, reason);
            }
        }
    }

    /// Settles all ambiguous reads that have one candidate left, broken or not.
    pub fn match_all(mut self) -> Result<Findings, Contradiction> {
        for number in (0..self.facts.ambiguous.len() as u32).map(AmbiguousId) {
            if self.is_over() {
                break;
            }
            if self.fixed.of(number) == SlotId::NONE {
                self.match_read(number)?;
                // Those are too many to be looked at again and again.
                self.found.open_reads.clear();
                self.found.open_size = 0;
            }
        }
        Ok(self.found)
    }

    /// Settles where an ambiguous read comes from, if one candidate is left.
    fn match_read(&mut self, number: AmbiguousId) -> Result<(), Contradiction> {
        if self.fixed.of(number) != SlotId::NONE {
            return Ok(());
        }
        let read = self.facts.read(number);
        let mut left = Vec::new();
        let mut excluded = Vec::new();
        let past = self.past(read);
        for slot in self.facts.candidates(read) {
            match self.excluded(read, slot, &past) {
                Some(why) => excluded.push((slot, why)),
                None => left.push(slot),
            }
        }
        match left.as_slice() {
            [] => return Err(Contradiction::NoSource { read: number, excluded }),
            &[slot] => {
                let reason =
                    self.remember(Reason::Match { read: number, excluded, known: self.known });
                self.fixed.fix(number, slot, reason);
                self.found.matched += 1;
                if let Some(writer) = self.facts.writer(slot).filter(|_| holds(Rule::LastCandidate))
                {
                    let arc = self.timeline.follows(writer, read.reader);
                    self.add(arc, reason);
                }
            }
            _ => {
                let open = OpenRead { read: number, candidates: left, excluded };
                self.found.open_size += open.candidates.len() + open.excluded.len();
                if open.candidates.len() <= BOUNDS_MAX {
                    self.bounds(&open);
                }
                self.found.open_reads.push(open);
            }
        }
        Ok(())
    }

    /// Whichever candidate it is: what comes before all of them comes before the reader, and the
    /// reader comes before the versions that replace all of them.
    fn bounds(&mut self, open: &OpenRead) {
        let reader = self.facts.read(open.read).reader;
        let begin = self.timeline.begin(reader);
        let writers: Vec<TxnId> =
            open.candidates.iter().filter_map(|&slot| self.facts.writer(slot)).collect();
        let mut points: Vec<(PointId, Side)> =
            self.replacing(open, &writers).into_iter().map(|p| (p, Side::After)).collect();
        // If the initial value is a candidate, nothing comes before all of them.
        if writers.len() == open.candidates.len() {
            let commits: Vec<PointId> =
                writers.iter().map(|&writer| self.timeline.commit(writer)).collect();
            points.extend(
                self.reach.before_all(&commits, begin).into_iter().map(|p| (p, Side::Before)),
            );
        }
        if points.is_empty() {
            return;
        }
        let open = Shared::new(open.clone());
        for (point, side) in points {
            let reason =
                Reason::Bound { open: Shared::clone(&open), point, side, known: self.known };
            let reason = self.remember(reason);
            self.add(if side == Side::Before { (point, begin) } else { (begin, point) }, reason);
        }
    }

    /// The commit points of the first version in each session that replaces all of `writers`, where
    /// it is not known yet that the reader comes before.
    fn replacing(&self, open: &OpenRead, writers: &[TxnId]) -> Vec<PointId> {
        let read = self.facts.read(open.read);
        let (begin, session) =
            (self.timeline.begin(read.reader), |txn: TxnId| self.facts.session(txn));
        let mut points = Vec::new();
        let mut done = None;
        for version in self.facts.versions(read.key) {
            let writer = self.facts.version_writer(version);
            let commit = self.timeline.commit(writer);
            if done == Some(session(writer))
                || writer == read.reader
                || open.candidates.binary_search(&version).is_ok()
            {
                continue;
            }
            // What comes later in the session follows by session order.
            if self.reach.reaches(begin, commit) {
                done = Some(session(writer));
            } else if writers
                .iter()
                .all(|&other| self.reach.reaches(self.timeline.commit(other), commit))
            {
                done = Some(session(writer));
                points.push(commit);
            }
        }
        points
    }

    /// A matched read whose slot is replaced before it begins: the version came before the slot, or
    /// the reader before the version.
    fn chosen(&mut self, number: AmbiguousId, version: SlotId) -> Result<(), Contradiction> {
        let (slot, reader) = (self.fixed.of(number), self.facts.read(number).reader);
        let later = self.facts.version_writer(version);
        if slot != SlotId::NONE {
            let Some(source) = self.facts.writer(slot) else {
                return self.initial_first(reader, later, Some(number));
            };
            if self.order(source, later)? == Ordered::Settled {
                return Ok(());
            }
        }
        self.found.open_choices.push((number, version));
        Ok(())
    }

    /// The last writer of each session among those that wrote before the ambiguous read.
    fn past(&self, read: &Ambiguous) -> Vec<TxnId> {
        let begin = self.timeline.begin(read.reader);
        let session = |txn: TxnId| self.facts.session(txn);
        let mut past: Vec<TxnId> = Vec::new();
        for version in self.facts.versions(read.key) {
            let writer = self.facts.version_writer(version);
            if writer == read.reader || !self.reach.reaches(self.timeline.commit(writer), begin) {
                continue;
            }
            match past.last_mut() {
                Some(last) if session(*last) == session(writer) => *last = writer,
                _ => past.push(writer),
            }
        }
        past
    }

    /// Why an ambiguous read cannot have read `slot`, if so; `past` are the last writers before it.
    fn excluded(&self, read: &Ambiguous, slot: SlotId, past: &[TxnId]) -> Option<Excluded> {
        let timeline = self.timeline;
        let writer = self.facts.writer(slot);
        if writer.is_some_and(|writer| {
            self.reach.reaches(timeline.begin(read.reader), timeline.commit(writer))
                == holds(Rule::Candidates)
        }) {
            return Some(Excluded::Future);
        }
        past.iter().filter(|&&other| Some(other) != writer).find_map(|&other| {
            let Some(writer) = writer else { return Some(Excluded::ReplacedBy(other)) };
            // The candidate is known to overwrite it, so it does not replace the candidate.
            if self.reach.reaches(timeline.commit(other), timeline.begin(writer)) {
                return None;
            }
            if self.reach.reaches(timeline.commit(writer), timeline.commit(other)) {
                return Some(Excluded::ReplacedBy(other));
            }
            self.impossible(other, writer).map(|against| Excluded::NotAfter(other, against))
        })
    }
}

/// The edges that follow if `earlier` writes before `later`: between the writers, and from the
/// readers of each version that is replaced.
pub(crate) fn order_arcs(
    facts: &Facts<'_>,
    timeline: Timeline,
    earlier: TxnId,
    later: TxnId,
) -> Vec<Arc> {
    let mut arcs = Vec::new();
    if holds(Rule::WriteWrite) {
        arcs.push(timeline.write_write(earlier, later));
    }
    if !holds(Rule::ReadWrite) {
        return arcs;
    }
    facts.common_versions(earlier, later, |version| {
        let readers = facts.readers.of(version).iter().filter(|&&reader| reader != later);
        arcs.extend(readers.map(|&reader| timeline.read_write(reader, later)));
    });
    arcs
}

/// The ambiguous reads that are known to read what `later` replaces if `earlier` writes
/// before it.
pub(crate) fn replaced_reads(
    facts: &Facts<'_>,
    fixed: &Sources,
    earlier: TxnId,
    later: TxnId,
) -> Vec<AmbiguousId> {
    let mut reads = Vec::new();
    if !facts.ambiguous.is_empty() {
        facts.common_versions(earlier, later, |version| {
            reads.extend(fixed.reads_of(version).filter(|&read| facts.read(read).reader != later));
        });
    }
    reads
}

/// Ambiguous reads by key.
pub(crate) fn ambiguous_by_key(facts: &Facts<'_>) -> Vec<(KeyId, AmbiguousId)> {
    let reads = facts.ambiguous.iter().zip((0..).map(AmbiguousId));
    let mut by_key: Vec<(KeyId, AmbiguousId)> =
        reads.map(|(read, number)| (read.key, number)).collect();
    by_key.sort_unstable();
    by_key
}

/// Remembers which pairs were met, so that none is handed out twice.
pub(crate) type PairSet = FxHashMap<(TxnId, TxnId), u32>;
