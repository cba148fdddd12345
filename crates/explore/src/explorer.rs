//! Explorations: a program, its level and a property, explored by several threads, in slices of
//! time.
//!
//! Threads share the list of subtrees and nothing of the search. After each slice what a thread has
//! left of its subtree is split into the subtrees beside its way, so that there is always enough to
//! hand out; the first counterexample is the first in the order of the search, whichever thread
//! comes to one earlier.

use crate::determinism;
use crate::end::End;
use crate::engine::{Algorithm, Engine, Progress, Setting};
use crate::error::ExploreError;
use crate::explain::{self, Counterexample};
use crate::levels::supported;
use crate::program::{Local, Program, Value};
use crate::token;
use crate::valid;
use crate::work::{FoundBehaviour, Group, Groups, Part, Subtree, Tally, Work};
use seriatim_isolation::Level;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What must hold of every behaviour; otherwise why it does not.
pub type Property<'a, V, L> = &'a (dyn Fn(&End<'_, V, L>) -> Result<(), String> + Sync);

/// Called after each slice with what was done so far.
pub type Observer<'a> = &'a mut dyn FnMut(&Work);

/// How long a slice takes at the beginning and while there are few subtrees to hand out, and later.
const SLICE_FIRST: Duration = Duration::from_millis(20);
const SLICE: Duration = Duration::from_millis(400);
/// How many histories are visited between looks at the clock.
const HISTORIES_PER_LOOK: u64 = 16;
/// How many groups of counterexamples have the name of their anomaly, which takes a check of their
/// first.
const GROUPS_NAMED_MAX: usize = 100;
/// Enough subtrees for each thread.
const SUBTREES_PER_THREAD: usize = 8;

/// An exploration to be made.
#[derive(Debug)]
#[must_use = "an exploration is made when it is run"]
pub struct Explorer<'p, V, L> {
    program: &'p Program<V, L>,
    level: Level,
    base: Level,
    algorithm: Algorithm,
    threads: usize,
    deadline: Option<Instant>,
    interrupt: Option<&'p AtomicBool>,
    part: Part,
    wants_all: bool,
}

/// What came of an exploration.
#[derive(Debug)]
#[must_use]
pub struct Exploration<L> {
    /// The level of transactions that have none of their own.
    pub level: Level,
    /// Numbers.
    pub tally: Tally,
    /// Whether nothing is left to do: every behaviour was visited (of the part, if it was one) or
    /// cut, or enough of them to know that the property does not hold.
    pub is_done: bool,
    /// Whether every behaviour was visited (of the part, if it was one): none was left out behind a
    /// counterexample, and none was cut.
    pub is_complete: bool,
    /// The first counterexample.
    pub counterexample: Option<Counterexample<L>>,
    /// All counterexamples by the cycle that they violate serializability with, most frequent
    /// first; if they were asked for.
    pub groups: Vec<Group>,
    /// How long it took, with the runs before that it goes on from.
    pub elapsed: Duration,
}

impl<L> Exploration<L> {
    /// Whether the property holds; `None` if that is not known.
    pub fn holds(&self) -> Option<bool> {
        match (&self.counterexample, self.is_complete) {
            (Some(_), _) => Some(false),
            (None, true) => Some(true),
            (None, false) => None,
        }
    }
}

/// What a thread made of a subtree.
struct Chunk {
    tally: Tally,
    found: Option<FoundBehaviour>,
    groups: Groups,
    rest: Vec<Vec<usize>>,
    /// Whether something behind the counterexample was left out.
    skipped: bool,
}

/// What threads that work on a slice share.
struct Slice<'s> {
    subtrees: &'s [Subtree],
    next: AtomicUsize,
    /// The number of the first subtree with a counterexample.
    found: AtomicUsize,
    end: Instant,
}

impl<'p, V: Value, L: Local> Explorer<'p, V, L> {
    /// Explores `program` with its transactions at `level`, those excepted that have a level of
    /// their own.
    pub fn new(program: &'p Program<V, L>, level: Level) -> Self {
        Explorer {
            program,
            level,
            base: Level::Causal,
            algorithm: Algorithm::Ce,
            threads: 1,
            deadline: None,
            interrupt: None,
            part: Part::default(),
            wants_all: false,
        }
    }

    /// Keeps histories consistent with `base` only on the way, and checks the level at their end
    /// (EXPLORE-CE*). Without it they are kept consistent with the level, or causal consistency if
    /// that is stronger.
    pub fn base(mut self, base: Level) -> Self {
        self.base = base;
        self
    }

    /// Searches in another way.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Lets this many threads work.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Gives up after this time.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.deadline = Instant::now().checked_add(budget);
        self
    }

    /// Gives up when this becomes true.
    pub fn interrupt(mut self, interrupt: &'p AtomicBool) -> Self {
        self.interrupt = Some(interrupt);
        self
    }

    /// Visits one part of the behaviours only.
    pub fn part(mut self, part: Part) -> Self {
        self.part = part;
        self
    }

    /// Goes on after the first counterexample, and groups all by the cycle of dependencies that
    /// they show.
    pub fn all(mut self) -> Self {
        self.wants_all = true;
        self
    }

    /// Explores; `property` must hold of every behaviour.
    pub fn run(&self, property: Property<'_, V, L>) -> Result<Exploration<L>, ExploreError> {
        let work = self.begin()?;
        self.resume(work, property, &mut |_| {})
    }

    /// Whether every behaviour is serializable, so that weak isolation can be ignored for this
    /// program: the property is that it is.
    pub fn robust(&self) -> Result<Exploration<L>, ExploreError> {
        self.run(&is_serializable)
    }

    /// The work of this exploration, for [`Explorer::resume`].
    pub fn begin(&self) -> Result<Work, ExploreError> {
        let setting = self.setting()?;
        determinism::check(self.program, setting)?;
        Work::of(self.program, setting, self.part)
    }

    /// Does what is left of `work`, and tells `observer` how far it came, several times a second.
    pub fn resume(
        &self,
        mut work: Work,
        property: Property<'_, V, L>,
        observer: Observer<'_>,
    ) -> Result<Exploration<L>, ExploreError> {
        let setting = self.setting()?;
        // The first slices are short, so that the observer can keep something soon: an exploration
        // that is always killed early would begin anew each time.
        let mut length = SLICE_FIRST;
        while !work.is_done() && !self.is_over() {
            let start = Instant::now();
            self.slice(&mut work, setting, property, length)?;
            length = SLICE.min(2 * length);
            work.add_time(start.elapsed());
            observer(&work);
        }
        let (tally, is_done) = (work.tally(), work.is_done());
        let mut groups = std::mem::take(&mut work.groups).sorted();
        self.name_anomalies(&mut groups)?;
        let found = work.first.as_ref();
        Ok(Exploration {
            level: self.level,
            tally,
            is_done,
            is_complete: is_done && !work.skipped && tally.cut == 0,
            counterexample: found
                .map(|found| explain::counterexample(self.program, self.level, found))
                .transpose()?,
            elapsed: work.elapsed(),
            groups,
        })
    }

    /// Names the anomalies of the largest groups.
    fn name_anomalies(&self, groups: &mut [Group]) -> Result<(), ExploreError> {
        let largest = groups.iter_mut().take(GROUPS_NAMED_MAX);
        for group in largest.filter(|group| group.cycle.has_one_anomaly()) {
            group.anomaly = explain::anomaly(self.program, self.level, &group.first)?;
        }
        Ok(())
    }

    fn setting(&self) -> Result<Setting, ExploreError> {
        if self.base.is_strong() || supported(self.base).is_err() {
            return Err(ExploreError::Base(self.base));
        }
        supported(self.level)?;
        self.program.own_levels().iter().try_for_each(|&(level, _)| supported(level))?;
        Ok(Setting { level: self.level, base: self.base, algorithm: self.algorithm })
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    }

    /// Works for a while on the open subtrees.
    fn slice(
        &self,
        work: &mut Work,
        setting: Setting,
        property: Property<'_, V, L>,
        length: Duration,
    ) -> Result<(), ExploreError> {
        let is_scarce = self.threads > 1 && work.open.len() < SUBTREES_PER_THREAD * self.threads;
        let end = Instant::now() + if is_scarce { SLICE_FIRST } else { length };
        let subtrees = std::mem::take(&mut work.open);
        let slice = Slice {
            subtrees: &subtrees,
            next: AtomicUsize::new(0),
            found: AtomicUsize::new(usize::MAX),
            end,
        };
        let mut chunks = self.on_threads(&slice, setting, property)?;
        chunks.sort_by_key(|(number, _)| *number);
        let mut chunks = chunks.into_iter().peekable();
        let count = subtrees.len();
        for (number, subtree) in subtrees.into_iter().enumerate() {
            let Some((_, chunk)) = chunks.next_if(|(of, _)| *of == number) else {
                work.open.push(subtree);
                continue;
            };
            let is_enough = chunk.found.is_some() && !self.wants_all;
            merge(work, chunk);
            if is_enough {
                work.skipped |= number + 1 < count || subtree.after.ends > 0;
                // What comes after the first counterexample is of no interest; what is open before
                // it may hold an earlier one.
                break;
            }
            work.count(&subtree.after);
        }
        Ok(())
    }

    fn on_threads(
        &self,
        slice: &Slice<'_>,
        setting: Setting,
        property: Property<'_, V, L>,
    ) -> Result<Vec<(usize, Chunk)>, ExploreError> {
        let threads = self.threads.min(slice.subtrees.len());
        if threads <= 1 {
            return Worker::of(self).work(slice, setting, property);
        }
        let worker = Worker::of(self);
        std::thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| worker.work(slice, setting, property));
            let all: Vec<_> = (0..threads).map(spawn).collect();
            let mut chunks = Vec::new();
            for thread in all {
                match thread.join() {
                    Ok(done) => chunks.extend(done?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(chunks)
        })
    }
}

/// The property of a robust program.
pub(crate) fn is_serializable<V: Value, L: Local>(end: &End<'_, V, L>) -> Result<(), String> {
    if end.is_serializable() { Ok(()) } else { Err("it is not serializable".to_owned()) }
}

fn merge(work: &mut Work, chunk: Chunk) {
    work.count(&chunk.tally);
    work.groups.add_all(chunk.groups);
    work.skipped |= chunk.skipped;
    chunk.found.into_iter().for_each(|found| work.add_found(found));
    work.open.extend(chunk.rest.into_iter().map(Subtree::from));
}

/// What a thread needs to know of the exploration.
struct Worker<'w, V, L> {
    program: &'w Program<V, L>,
    deadline: Option<Instant>,
    interrupt: Option<&'w AtomicBool>,
    wants_all: bool,
}

impl<'w, V: Value, L: Local> Worker<'w, V, L> {
    fn of(explorer: &Explorer<'w, V, L>) -> Self {
        let Explorer { program, deadline, interrupt, wants_all, .. } = *explorer;
        Worker { program, deadline, interrupt, wants_all }
    }

    fn is_over(&self, slice: &Slice<'_>) -> bool {
        let now = Instant::now();
        now >= slice.end
            || self.deadline.is_some_and(|deadline| now >= deadline)
            || self.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    }

    /// Takes subtrees until the slice ends or none is left.
    fn work(
        &self,
        slice: &Slice<'_>,
        setting: Setting,
        property: Property<'_, V, L>,
    ) -> Result<Vec<(usize, Chunk)>, ExploreError> {
        let mut done = Vec::new();
        loop {
            let number = slice.next.fetch_add(1, Ordering::Relaxed);
            let is_useless = number > slice.found.load(Ordering::Relaxed);
            // The first subtree is always begun, so that every slice gets somewhere.
            if number >= slice.subtrees.len()
                || is_useless
                || (!done.is_empty() && self.is_over(slice))
            {
                return Ok(done);
            }
            let chunk = self.subtree(slice, number, setting, property)?;
            if chunk.found.is_some() && !self.wants_all {
                slice.found.fetch_min(number, Ordering::Relaxed);
            }
            done.push((number, chunk));
        }
    }

    /// Visits the histories of a subtree until the slice ends.
    fn subtree(
        &self,
        slice: &Slice<'_>,
        number: usize,
        setting: Setting,
        property: Property<'_, V, L>,
    ) -> Result<Chunk, ExploreError> {
        let mut engine = Engine::within(self.program, setting, &slice.subtrees[number].path);
        let needs_check = needs_check(self.program, setting);
        let mut chunk = Chunk {
            tally: Tally::default(),
            found: None,
            groups: Groups::default(),
            rest: Vec::new(),
            skipped: false,
        };
        while engine.advance()? {
            chunk.tally.ends += u64::from(!engine.is_cut());
            if engine.is_cut() {
                // Nothing came to its end.
            } else if !needs_check || is_at_its_levels(&engine) {
                self.visit(&engine, &mut chunk, property);
            }
            let is_enough = chunk.found.is_some() && !self.wants_all;
            let looks = (chunk.tally.ends + engine.progress.cut).is_multiple_of(HISTORIES_PER_LOOK);
            if is_enough {
                chunk.skipped = !engine.rest().is_empty();
                break;
            }
            if looks && (self.is_over(slice) || number > slice.found.load(Ordering::Relaxed)) {
                chunk.rest = engine.rest();
                break;
            }
        }
        let Progress { explored, blocked, cut, executions } = engine.progress;
        chunk.tally = Tally { share: explored, blocked, cut, executions, ..chunk.tally };
        Ok(chunk)
    }

    fn visit(&self, engine: &Engine<'_, V, L>, chunk: &mut Chunk, property: Property<'_, V, L>) {
        chunk.tally.histories += 1;
        let end = End::of(engine);
        // A transaction that panicked is an assertion that failed, whatever is asked.
        let verdict = end.panicked().map_or_else(|| property(&end), Err);
        let Err(reason) = verdict else { return };
        chunk.tally.counterexamples += 1;
        let found =
            FoundBehaviour { token: token::of(&engine.history), reason, path: engine.path() };
        if self.wants_all {
            let cycle = explain::cycle(&end);
            chunk.groups.add(cycle, 1, found.clone());
        }
        chunk.found.get_or_insert(found);
    }
}

/// Whether histories must be checked at their end.
fn needs_check<V: Value, L: Local>(program: &Program<V, L>, setting: Setting) -> bool {
    let own = program.sessions.iter().enumerate().flat_map(|(session, of)| match &of.code {
        crate::program::Code::Transactions(all) => {
            (0..all.len()).map(|index| (session, index)).collect()
        }
        crate::program::Code::Steps(_) | crate::program::Code::Client(_) => Vec::new(),
    });
    own.map(|(session, index)| program.level_of(session, index).unwrap_or(setting.level))
        .chain([setting.level])
        .any(|level| level > setting.base)
}

/// VALID of EXPLORE-CE*.
fn is_at_its_levels<V: Value, L: Local>(engine: &Engine<'_, V, L>) -> bool {
    let level = |id| engine.setting.level_of(engine.program, engine.history.name(id));
    valid::is_valid(&engine.history, level, &[])
}

/// Explores every behaviour of `program` at `level` and says whether `property` holds of all.
pub fn explore<V: Value, L: Local>(
    program: &Program<V, L>,
    level: Level,
    property: impl Fn(&End<'_, V, L>) -> Result<(), String> + Sync,
) -> Result<Exploration<L>, ExploreError> {
    Explorer::new(program, level).run(&property)
}
