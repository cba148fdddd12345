//! A second opinion on the strong levels: a search over session frontiers, independent of
//! everything else in this crate.
//!
//! Biswas & Enea ("On the complexity of checking transactional consistency", OOPSLA 2019, section
//! 4) place transactions one after the other and remember how far each session has come: with a
//! fixed number of sessions there are polynomially many frontiers. They keep a graph beside it;
//! here the state is what a store would hold, the current version of each key, and reads match by
//! value, so that values that were written twice need no choice of a writer.
//!
//! - SER, SSER: a transaction is placed whole, if it reads the current versions (and nothing still
//!   to come ended before it began).
//! - SI: a snapshot is taken at the begin point, writes appear at the commit point, and the keys of
//!   a begun writer are locked. Begin points are moved as late as possible, so a transaction begins
//!   right before its own commit or before a commit that overwrites what it reads; in the latter
//!   case it must, unless the version can come again.
//! - PC: as SI without locks. A begin point is never in the way, so it comes as early as possible.
//!
//! Cuts: a version is not overwritten while a read that is to come accepts no other; a transaction
//! whose writes disturb no read is placed at once, with no alternative. States that failed are
//! remembered, without current versions that will not be read. Exponential in the worst case in the
//! number of sessions; the number of states is limited by the caller, the memory of failed states
//! by `MEMO_WORDS_MAX`.

mod ids;
mod problem;
mod store;
mod worlds;

use crate::limits::Limits;
use problem::Problem;
use rustc_hash::FxHashMap;
use seriatim_history::{History, SessionId};
use seriatim_isolation::{Guarantee, Level, Order};
use seriatim_verify::Point;
use store::{EarliestEnds, Store};

/// How much the memory of failed states may take: 256 MiB. What does not fit is searched again.
const MEMO_WORDS_MAX: usize = 1 << 26;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frontier {
    /// The level holds with these begin and commit points; at SER and SSER each begin is directly
    /// followed by its commit.
    Holds(Vec<Point>),
    /// There are no such points.
    Violated,
    /// The search was given up.
    OutOfBudget,
}

/// Searches points for `history` at the level that is asked, which must be one of
/// [`Level::STRONG`] (others are not decided), looking at no more than `budget_states` states.
pub fn search(history: &History, asked: impl Into<Guarantee>, budget_states: u64) -> Frontier {
    let asked = asked.into();
    match asked.order {
        // Violations with sessions may need them.
        Order::None if history.scans_need_sessions() => {
            let with = Guarantee::new(asked.level, Order::Sessions);
            match search(history, with, budget_states) {
                Frontier::Holds(points) => Frontier::Holds(points),
                _ => Frontier::OutOfBudget,
            }
        }
        Order::None => {
            search_within(&history.without_sessions(), asked, budget_states, Limits::default())
        }
        _ => search_within(history, asked, budget_states, Limits::default()),
    }
}

/// As [`search`], but with the sessions of the history, and no longer than `limits` allow.
pub(crate) fn search_within(
    history: &History,
    asked: Guarantee,
    budget_states: u64,
    limits: Limits,
) -> Frontier {
    if !asked.level.is_strong() {
        return Frontier::OutOfBudget;
    }
    let worlds = worlds::Worlds::of(history);
    let mut budget = budget_states;
    for choice in 0.. {
        let Some(counts) = worlds.get(choice) else { break };
        if budget == 0 || limits.is_over() {
            return Frontier::OutOfBudget;
        }
        budget -= 1;
        let Some(problem) = Problem::new(history, &counts) else { continue };
        match FrontierSearch::new(&problem, asked, &mut budget, limits).run() {
            Frontier::Violated => {}
            found => return found,
        }
    }
    Frontier::Violated
}

/// A step of the search: points of one or more sessions.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// The session's next transaction begins.
    Begin(SessionId),
    /// The session's next transaction begins, if it has not yet, and commits.
    Commit(SessionId),
}

/// A state on the path, and the moves out of it.
struct Frame {
    moves: Vec<Move>,
    next: usize,
    /// How many events lead to the state.
    depth: usize,
}

struct FrontierSearch<'a> {
    problem: &'a Problem,
    level: Level,
    /// Whether a transaction begins only after those that ended before it began have committed.
    in_real_time: bool,
    store: Store<'a>,
    budget: &'a mut u64,
    limits: Limits,
    /// Failed states by their hash.
    failed: FxHashMap<u128, Box<[u32]>>,
    failed_words: usize,
}

impl<'a> FrontierSearch<'a> {
    fn new(
        problem: &'a Problem,
        asked: Guarantee,
        budget: &'a mut u64,
        limits: Limits,
    ) -> FrontierSearch<'a> {
        let store = Store::new(problem, asked.level == Level::SnapshotIsolation);
        FrontierSearch {
            problem,
            level: asked.level,
            in_real_time: asked.keeps_real_time(),
            store,
            budget,
            limits,
            failed: FxHashMap::default(),
            failed_words: 0,
        }
    }

    fn run(mut self) -> Frontier {
        if !self.store.lists_can_be_completed() {
            return Frontier::Violated;
        }
        let mut path = vec![self.frame()];
        while let Some(frame) = path.last_mut() {
            self.store.undo_to(frame.depth);
            if self.store.is_done() {
                return Frontier::Holds(self.store.into_events());
            }
            let Some(&step) = frame.moves.get(frame.next) else {
                if frame.moves.len() > 1 {
                    self.remember_failure();
                }
                path.pop();
                continue;
            };
            frame.next += 1;
            if !self.apply(step) || self.has_failed() {
                continue;
            }
            if *self.budget == 0 || self.limits.is_over() {
                return Frontier::OutOfBudget;
            }
            *self.budget -= 1;
            path.push(self.frame());
        }
        Frontier::Violated
    }

    fn frame(&self) -> Frame {
        Frame { moves: self.moves(), next: 0, depth: self.store.depth() }
    }

    fn has_failed(&self) -> bool {
        self.failed.get(&self.store.hash()).is_some_and(|failed| **failed == *self.store.snapshot())
    }

    fn remember_failure(&mut self) {
        if self.failed_words < MEMO_WORDS_MAX {
            let snapshot = self.store.snapshot();
            self.failed_words += snapshot.len();
            self.failed.insert(self.store.hash(), snapshot);
        }
    }

    /// The moves worth trying, the most promising first: the order of the input is often close to
    /// the commit order.
    fn moves(&self) -> Vec<Move> {
        if let Some(step) = self.safe_move() {
            return vec![step];
        }
        let mut moves = self.commits();
        if self.level == Level::SnapshotIsolation {
            let ends = self.in_real_time.then(|| self.store.earliest_ends());
            let begins =
                self.problem.session_ids().filter(|&session| self.may_begin_early(session, ends));
            moves.extend(begins.map(Move::Begin));
        }
        moves
    }

    fn commits(&self) -> Vec<Move> {
        let mut ready: Vec<SessionId> =
            self.ready().filter(|&session| self.may_commit(session)).collect();
        ready.sort_by_key(|&session| self.store.next_txn(session).map(|txn| txn.file_order));
        ready.into_iter().map(Move::Commit).collect()
    }

    /// Sessions whose next transaction has begun or may begin.
    fn ready(&self) -> impl Iterator<Item = SessionId> + '_ {
        let ends = self.in_real_time.then(|| self.store.earliest_ends());
        self.problem
            .session_ids()
            .filter(move |&session| self.store.has_begun(session) || self.can_begin(session, ends))
    }

    /// Whether the session's next transaction may begin, where `ends` has the ends in real time of
    /// what is still to come, if they count.
    fn can_begin(&self, session: SessionId, ends: Option<EarliestEnds>) -> bool {
        ends.is_none_or(|ends| self.store.began_before(session, ends))
            && self.store.can_begin(session)
    }

    /// At PC begin points come first of all, so only what has begun may commit.
    fn may_commit(&self, session: SessionId) -> bool {
        self.level != Level::PrefixConsistency || self.store.has_begun(session)
    }

    /// A move that is part of a solution if there is any from here.
    fn safe_move(&self) -> Option<Move> {
        self.ready().find_map(|session| match self.level {
            Level::PrefixConsistency if !self.store.has_begun(session) => {
                Some(Move::Begin(session))
            }
            _ => self.store.disturbs_nobody(session).then_some(Move::Commit(session)),
        })
    }

    /// Whether a snapshot now may be right although nothing forces it: it has a version that can
    /// come again.
    fn may_begin_early(&self, session: SessionId, ends: Option<EarliestEnds>) -> bool {
        !self.store.has_begun(session)
            && self.can_begin(session, ends)
            && self.store.reads_what_can_return(session)
    }

    /// Takes a step; `false` if it cannot lead to a solution, and then some of its events may have
    /// been taken.
    fn apply(&mut self, step: Move) -> bool {
        match step {
            Move::Begin(session) => {
                self.store.begin(session);
                true
            }
            Move::Commit(session) => {
                if !self.store.has_begun(session) {
                    self.store.begin(session);
                }
                (self.level != Level::SnapshotIsolation || self.begin_readers(session))
                    && self.store.commit(session)
            }
        }
    }

    /// Begins all that must read what the session is about to overwrite, as far as they can begin.
    fn begin_readers(&mut self, session: SessionId) -> bool {
        let ends = self.in_real_time.then(|| self.store.earliest_ends());
        for other in self.problem.session_ids() {
            let must = !self.store.has_begun(other) && self.store.must_read_before(other, session);
            if must && !self.can_begin(other, ends) {
                return false;
            }
            if must {
                self.store.begin(other);
            }
        }
        true
    }
}
