//! What is left to explore and what was found so far: the part of a search that outlives it, as a
//! checkpoint does.
//!
//! The tree of calls of EXPLORE is named by its choices, so a subtree is a list of numbers. Work is
//! a list of subtrees that are disjoint and, with what has been visited, complete: threads and
//! machines take different ones. Numbers of what was visited are kept by where that is in the order
//! of the search, so that those behind the first counterexample can be left out: what is reported
//! does not depend on which thread or machine came to it earlier.

use crate::engine::{Engine, Setting};
use crate::error::ExploreError;
use crate::program::{Local, Program, Value};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::time::Duration;

/// How many subtrees each of several partitions gets at least, where there are so many.
const SUBTREES_PER_PART: usize = 64;
/// More parts than this take longer to tell apart than they save.
const PARTS_MAX: usize = 1000;

/// How many cycles are kept apart: each has a token, and there may be as many as histories.
const GROUPS_MAX: usize = 10_000;

/// Numbers of a search.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Tally {
    /// Histories at the level that was asked for.
    pub histories: u64,
    /// Complete histories, those included that only the base of the exploration allows.
    pub ends: u64,
    /// Calls that led nowhere: none at levels up to causal consistency.
    pub blocked: u64,
    /// Behaviours that were cut because they are longer than the explorer has room for.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cut: u64,
    /// Transactions that were run.
    pub executions: u64,
    /// Histories that violate the property.
    pub counterexamples: u64,
    /// The share of the tree that was visited, taking all children of a node to be of one size.
    pub share: f64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        // A checkpoint may hold any number.
        let sum = |mine: &mut u64, theirs: u64| *mine = mine.saturating_add(theirs);
        sum(&mut self.histories, other.histories);
        sum(&mut self.ends, other.ends);
        sum(&mut self.blocked, other.blocked);
        sum(&mut self.cut, other.cut);
        sum(&mut self.executions, other.executions);
        sum(&mut self.counterexamples, other.counterexamples);
        self.share += other.share;
    }

    #[cfg(feature = "serde")]
    fn is_nothing(&self) -> bool {
        *self == Tally::default()
    }
}

/// A history that violates the property.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct FoundBehaviour {
    /// What reruns it.
    pub token: String,
    /// Why it violates the property.
    pub reason: String,
    /// The way to it: the first in the order of the search is the smallest.
    pub(crate) path: Vec<usize>,
}

/// How a counterexample violates serializability, if it does. Displayed as a person reads it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
pub enum Cycle {
    /// By this cycle of dependencies.
    Single(String),
    /// By no single cycle: every order of the writes closes another.
    Several,
    /// It does not: it violates the property and is serializable.
    Serializable,
    /// By one of the cycles beyond those that are kept apart.
    Other,
}

impl Cycle {
    /// Whether all counterexamples with it show the same anomaly.
    pub(crate) fn has_one_anomaly(&self) -> bool {
        matches!(self, Cycle::Single(_) | Cycle::Several)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cycle::Single(cycle) => cycle,
            Cycle::Several => "no single cycle: every order of the writes closes another",
            Cycle::Serializable => "serializable",
            Cycle::Other => "other cycles",
        })
    }
}

/// Counterexamples that violate serializability in the same way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The name of the anomaly of the first; only the largest groups have one.
    pub anomaly: Option<&'static str>,
    /// The cycle of dependencies, or that there is none.
    pub cycle: Cycle,
    /// How many counterexamples there are.
    pub count: u64,
    /// The first of them.
    pub first: FoundBehaviour,
}

/// One of several parts of a tree, which are disjoint and together complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Part {
    /// Its number, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

impl Default for Part {
    fn default() -> Self {
        Part { number: 1, of: 1 }
    }
}

impl std::str::FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Part, String> {
        let expected = || "expected a part like 2/5".to_owned();
        let (number, of) = text.split_once('/').ok_or_else(expected)?;
        let part = Part {
            number: number.parse().map_err(|_| expected())?,
            of: of.parse().map_err(|_| expected())?,
        };
        match (1..=part.of).contains(&part.number) {
            true if part.of <= PARTS_MAX => Ok(part),
            true => Err(format!("there can be at most {PARTS_MAX} parts, not {}", part.of)),
            false => Err(format!(
                "there is no part {} of {}; the first is 1/{}",
                part.number,
                part.of,
                part.of.max(1)
            )),
        }
    }
}

/// A subtree that is left to visit.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct Subtree {
    /// The choices that lead to it.
    pub path: Vec<usize>,
    /// The numbers of what was visited between it and the next one that is left.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Tally::is_nothing"))]
    pub after: Tally,
}

impl From<Vec<usize>> for Subtree {
    fn from(path: Vec<usize>) -> Self {
        Subtree { path, after: Tally::default() }
    }
}

/// What is left to do, and what came of what was done.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Work {
    /// The subtrees that are left, in the order of the search.
    pub(crate) open: Vec<Subtree>,
    /// The numbers of what was visited before the first of them.
    before: Tally,
    /// The first counterexample.
    pub first: Option<FoundBehaviour>,
    /// All counterexamples by their cycle, if they were asked for.
    pub groups: Groups,
    /// Whether something behind the first counterexample was left out.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) skipped: bool,
    /// How long it has taken so far.
    #[cfg_attr(feature = "serde", serde(default))]
    elapsed: Duration,
}

impl Work {
    /// Everything that belongs to `part`.
    pub(crate) fn of<V: Value, L: Local>(
        program: &Program<V, L>,
        setting: Setting,
        part: Part,
    ) -> Result<Work, ExploreError> {
        let mut subtrees = vec![Vec::new()];
        // Level by level, so that the subtrees are the same on every machine.
        while part.of > 1 && subtrees.len() < SUBTREES_PER_PART.saturating_mul(part.of) {
            let split: Vec<Vec<Vec<usize>>> = subtrees
                .iter()
                .map(|path| children(program, setting, path))
                .collect::<Result<_, _>>()?;
            let is_done = split.iter().all(|children| children.len() == 1);
            subtrees = split.into_iter().flatten().collect();
            if is_done {
                break;
            }
        }
        let is_mine = |number: usize| number % part.of.max(1) + 1 == part.number;
        let mine = subtrees.into_iter().enumerate().filter(|(number, _)| is_mine(*number));
        Ok(Work { open: mine.map(|(_, path)| path.into()).collect(), ..Work::default() })
    }

    /// The numbers of what was visited.
    pub fn tally(&self) -> Tally {
        let mut all = self.before;
        self.open.iter().for_each(|subtree| all.add(&subtree.after));
        all
    }

    /// How long it has taken so far, all runs together.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    pub(crate) fn add_time(&mut self, time: Duration) {
        // A checkpoint may hold any number.
        self.elapsed = self.elapsed.saturating_add(time);
    }

    /// Counts what was visited behind the last subtree that is left.
    pub(crate) fn count(&mut self, tally: &Tally) {
        self.open.last_mut().map_or(&mut self.before, |last| &mut last.after).add(tally);
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn add_found(&mut self, found: FoundBehaviour) {
        if self.first.as_ref().is_none_or(|first| found.path < first.path) {
            self.first = Some(found);
        }
    }
}

/// Counterexamples by their cycle. There are at most 10,000 cycles; those that come later are
/// counted together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "GroupList", into = "GroupList"))]
pub struct Groups {
    by_cycle: BTreeMap<Cycle, (u64, FoundBehaviour)>,
}

/// A list, because only texts can be keys of JSON objects.
#[cfg(feature = "serde")]
type GroupList = Vec<(Cycle, u64, FoundBehaviour)>;

#[cfg(feature = "serde")]
impl From<GroupList> for Groups {
    fn from(list: GroupList) -> Groups {
        let mut groups = Groups::default();
        list.into_iter().for_each(|(cycle, count, first)| groups.add(cycle, count, first));
        groups
    }
}

#[cfg(feature = "serde")]
impl From<Groups> for GroupList {
    fn from(groups: Groups) -> Self {
        groups.by_cycle.into_iter().map(|(cycle, (count, first))| (cycle, count, first)).collect()
    }
}

impl Groups {
    pub(crate) fn add(&mut self, cycle: Cycle, count: u64, first: FoundBehaviour) {
        let is_full = self.by_cycle.len() >= GROUPS_MAX && !self.by_cycle.contains_key(&cycle);
        match self.by_cycle.entry(if is_full { Cycle::Other } else { cycle }) {
            Entry::Vacant(place) => {
                place.insert((count, first));
            }
            Entry::Occupied(mut known) => {
                let (sum, earliest) = known.get_mut();
                // A checkpoint may hold any number.
                *sum = sum.saturating_add(count);
                if first.path < earliest.path {
                    *earliest = first;
                }
            }
        }
    }

    pub(crate) fn add_all(&mut self, others: Groups) {
        others
            .by_cycle
            .into_iter()
            .for_each(|(cycle, (count, first))| self.add(cycle, count, first));
    }

    /// The groups, most frequent first; what is counted together comes last.
    pub fn sorted(self) -> Vec<Group> {
        let group = |(cycle, (count, first))| Group { anomaly: None, cycle, count, first };
        let mut all: Vec<Group> = self.by_cycle.into_iter().map(group).collect();
        all.sort_by_cached_key(|group| {
            (group.cycle == Cycle::Other, Reverse(group.count), group.cycle.to_string())
        });
        all
    }
}

/// The subtrees right below a node; itself if it is a single history.
fn children<V: Value, L: Local>(
    program: &Program<V, L>,
    setting: Setting,
    path: &[usize],
) -> Result<Vec<Vec<usize>>, ExploreError> {
    let mut engine = Engine::within(program, setting, path);
    engine.advance()?;
    Ok(match engine.children(path.len()) {
        0 => vec![path.to_vec()],
        many => (0..many).map(|child| [path, &[child]].concat()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: usize) -> FoundBehaviour {
        FoundBehaviour { token: String::new(), reason: String::new(), path: vec![path] }
    }

    #[test]
    fn groups_are_few_and_their_counts_do_not_overflow() {
        let mut groups = Groups::default();
        let single = |number: usize| Cycle::Single(format!("cycle {number}"));
        for number in (0..2 * GROUPS_MAX).rev() {
            groups.add(single(number), 1, found(number));
        }
        groups.add(single(19_999), u64::MAX, found(3));
        let all = groups.sorted();
        assert_eq!(all.len(), GROUPS_MAX + 1);
        assert_eq!((all[0].count, &all[0].first), (u64::MAX, &found(3)));
        let others = all.last().unwrap();
        assert_eq!(
            (&others.cycle, others.count, &others.first),
            (&Cycle::Other, GROUPS_MAX as u64, &found(0))
        );
    }
}
