//! The search: EXPLORE and EXPLORESWAPS of the paper (Algorithms 1 and 2) without recursion.
//!
//! A transaction runs from its begin to its end in one go (`run.rs`). Where a read has several
//! sources, the first is taken and the others are kept on the trail; for another source the
//! transaction is run again with the reads before it as they were, so a transaction is executed
//! again only when one of its reads changes.

mod run;

use crate::error::ExploreError;
use crate::ordered::{Ordered, Record, Tail};
use crate::program::{Code, Local, Program, Session, Value};
use crate::reader::Reader;
use crate::trail::{Choice, Fork, ReadAt};
use crate::txn_set::{INITIAL, Id, TXNS_MAX};
pub(crate) use run::{Ahead, Glimpse};
use run::{Run, begins_nothing};
use seriatim_isolation::Level;
use std::collections::VecDeque;
use std::rc::Rc;

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Algorithm {
    /// EXPLORE-CE, and EXPLORE-CE* above causal consistency: every history once.
    #[default]
    Ce,
    /// The baseline: every order of transactions, without any reduction.
    Dfs,
}

/// The levels of an exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Of transactions that have none of their own.
    pub level: Level,
    /// The strongest that histories are kept consistent with on the way.
    pub base: Level,
    pub algorithm: Algorithm,
}

impl Setting {
    /// The level of a transaction.
    pub fn level_of<V: Value, L: Local>(
        &self,
        program: &Program<V, L>,
        (session, index): (u32, u32),
    ) -> Level {
        program.level_of(session as usize, index as usize).unwrap_or(self.level)
    }

    fn base_of<V: Value, L: Local>(&self, program: &Program<V, L>, name: (u32, u32)) -> Level {
        self.level_of(program, name).min(self.base)
    }
}

/// Where a search stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has been run.
    Fresh,
    /// On the way to the end of a history.
    Going,
    /// A choice was made, and the search is not in its child yet.
    Entering,
    /// A read has no source: the way ends here.
    Blocked,
    /// At a complete history, or at one that is cut because it is too long.
    AtEnd { is_cut: bool },
    /// All sources come from a token, which may be wrong.
    Replaying,
}

/// What a search has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// The share of the tree that it has left behind.
    pub explored: f64,
    /// How often there was no way to go on.
    pub blocked: u64,
    /// How often a behaviour became longer than there is room for.
    pub cut: u64,
    /// How many transactions were run.
    pub executions: u64,
}

/// What is known of a session before anything runs.
struct Bounds {
    /// Whether it never begins a transaction.
    is_empty: bool,
    /// The most transactions that it may have.
    room: u32,
}

/// A search in progress.
pub(crate) struct Engine<'p, V, L> {
    pub program: &'p Program<V, L>,
    pub setting: Setting,
    pub history: Ordered<V, L>,
    pub progress: Progress,
    state: State,
    trail: Vec<Fork<V, L>>,
    /// Forks below this are fixed: the search stays in their child.
    floor: usize,
    /// Which children to take at the next forks.
    guide: VecDeque<usize>,
    /// The share of the tree that the search is in.
    share: f64,
    bounds: Vec<Bounds>,
}

impl<'p, V: Value, L: Local> Engine<'p, V, L> {
    pub fn new(program: &'p Program<V, L>, setting: Setting) -> Self {
        Engine {
            program,
            setting,
            history: Ordered::new(program.sessions.len(), &program.initial),
            progress: Progress::default(),
            state: State::Fresh,
            trail: Vec::new(),
            floor: 0,
            guide: VecDeque::new(),
            share: 1.0,
            bounds: bounds(program),
        }
    }

    /// A run in which all sources come from a token.
    pub fn replaying(program: &'p Program<V, L>, setting: Setting) -> Self {
        Engine { state: State::Replaying, ..Engine::new(program, setting) }
    }

    /// A search in the subtree that `path` names.
    pub fn within(program: &'p Program<V, L>, setting: Setting, path: &[usize]) -> Self {
        let mut engine = Engine::new(program, setting);
        engine.floor = path.len();
        engine.guide = path.iter().copied().collect();
        engine
    }

    /// Goes on to the next complete history, or to one that is cut because it is too long; false if
    /// there is none.
    pub fn advance(&mut self) -> Result<bool, ExploreError> {
        let is_fresh = self.state == State::Fresh;
        self.state = State::Going;
        if !is_fresh && !self.backtrack()? {
            return Ok(false);
        }
        loop {
            match self.state {
                State::Blocked => {
                    self.progress.blocked += 1;
                    self.progress.explored += self.share;
                    self.state = State::Going;
                    if !self.backtrack()? {
                        return Ok(false);
                    }
                    continue;
                }
                State::Entering => {
                    self.state = State::Going;
                    self.enter_child()?;
                    continue;
                }
                _ => {}
            }
            let next = match self.setting.algorithm {
                Algorithm::Ce => self.next(),
                Algorithm::Dfs => self.next_of_any()?,
            };
            let Some(session) = next else {
                self.end();
                return self.is_where_it_was_sent().map(|()| true);
            };
            self.execute(session, Vec::new(), None)?;
        }
    }

    /// No session has another transaction.
    fn end(&mut self) {
        let is_cut = self.has_cut_session();
        self.progress.explored += self.share;
        self.progress.cut += u64::from(is_cut);
        self.state = State::AtEnd { is_cut };
    }

    /// Whether the search stands at a history that is cut because it is too long.
    pub fn is_cut(&self) -> bool {
        self.state == State::AtEnd { is_cut: true }
    }

    fn is_where_it_was_sent(&self) -> Result<(), ExploreError> {
        match self.guide.len() {
            0 => Ok(()),
            left => Err(ExploreError::Checkpoint(format!(
                "it has {left} choices more than there are to make"
            ))),
        }
    }

    /// The children that lead from the root to here.
    pub fn path(&self) -> Vec<usize> {
        self.trail.iter().map(|fork| fork.child).collect()
    }

    /// The subtrees that the search has yet to visit, in the order in which it would.
    pub fn rest(&self) -> Vec<Vec<usize>> {
        let path = self.path();
        let mut rest = Vec::new();
        // The search goes on with the last choice, so the deepest fork comes first.
        for (depth, fork) in self.trail.iter().enumerate().skip(self.floor).rev() {
            rest.extend(
                (fork.child + 1..fork.arity).map(|child| [&path[..depth], &[child]].concat()),
            );
        }
        rest
    }

    /// The children of a node that `depth` choices lead to, if the search went through it; none if
    /// it is a history.
    pub fn children(&self, depth: usize) -> usize {
        self.trail.get(depth).map_or(0, |fork| fork.arity)
    }

    /// The level that the reads of a transaction are kept consistent with on the way.
    pub fn base_of(&self, id: Id) -> Level {
        self.setting.base_of(self.program, self.history.name(id))
    }

    /// Whether a session has another transaction.
    pub fn has_next(&self, session: u32) -> bool {
        match &self.program.sessions[session as usize].code {
            Code::Transactions(all) => {
                let has_failed =
                    self.history.last_of(session).is_some_and(|record| record.panic.is_some());
                !has_failed && (self.history.done(session) as usize) < all.len()
            }
            Code::Steps(_) | Code::Client(_) => match self.history.last_of(session) {
                Some(record) => !record.is_last && self.has_room(session),
                None => !self.bounds[session as usize].is_empty,
            },
        }
    }

    fn has_room(&self, session: u32) -> bool {
        self.history.done(session) < self.bounds[session as usize].room
    }

    /// Whether a client would go on if there were room: what the history says of it is only its
    /// beginning.
    pub fn has_cut_session(&self) -> bool {
        let is_cut = |session: u32| match &self.program.sessions[session as usize].code {
            Code::Transactions(_) => false,
            Code::Steps(_) | Code::Client(_) => {
                self.history.last_of(session).is_some_and(|record| !record.is_last)
            }
        };
        (0..self.history.sessions() as u32).any(is_cut)
    }

    /// Puts a choice on the trail; returns the number of the child to take.
    pub fn fork(&mut self, choice: Choice<V, L>) -> Result<usize, ExploreError> {
        let mut fork = Fork::new(choice, 0, self.share);
        if let Some(child) = self.guide.pop_front() {
            if child >= fork.arity {
                let problem = format!(
                    "there are {} ways to go on where it takes number {}",
                    fork.arity,
                    child + 1
                );
                return Err(ExploreError::Checkpoint(problem));
            }
            fork.child = child;
        }
        self.share = fork.share;
        let child = fork.child;
        self.trail.push(fork);
        Ok(child)
    }

    /// Goes back to the last choice that has another child, and into it; false if there is none.
    fn backtrack(&mut self) -> Result<bool, ExploreError> {
        while self.trail.len() > self.floor {
            // The next child and the choices above start from the history before the swap.
            self.take_swap_back();
            let Some(fork) = self.trail.last_mut() else { return Ok(false) };
            if fork.child + 1 < fork.arity {
                fork.child += 1;
                self.share = fork.share;
                return self.enter_child().map(|()| true);
            }
            self.trail.pop();
        }
        Ok(false)
    }

    /// Undoes the swap of the last choice, if the search is in one.
    fn take_swap_back(&mut self) {
        if let Some(Fork { choice: Choice::Swap { reads, replaced, .. }, child, .. }) =
            self.trail.last_mut()
            && let Some(tail) = replaced.take()
        {
            self.history.truncate(reads[*child - 1].place);
            self.history.rejoin(tail);
        }
    }

    /// Goes into the child that the last choice names.
    fn enter_child(&mut self) -> Result<(), ExploreError> {
        let Some(fork) = self.trail.last() else { return Ok(()) };
        match &fork.choice {
            Choice::Source { at, sources } => {
                let (at, source) = (*at, sources[fork.child]);
                let record = Rc::clone(&self.history.order()[at.place]);
                self.history.truncate(at.place);
                self.execute_again(record, at.read, source)
            }
            Choice::Swap { len, reads, .. } => {
                // Child 0 goes on without a swap.
                let (len, at) = (*len, reads[fork.child - 1]);
                self.history.truncate(len);
                self.swap(at)
            }
            Choice::Session { len, sessions } => {
                let (len, session) = (*len, sessions[fork.child]);
                self.history.truncate(len);
                self.execute(session, Vec::new(), None)
            }
        }
    }

    /// Keeps what a swap took away, to put it back later.
    pub fn keep_replaced(&mut self, tail: Tail<V, L>) {
        if let Some(Fork { choice: Choice::Swap { replaced, .. }, .. }) = self.trail.last_mut() {
            *replaced = Some(tail);
        }
    }

    /// Runs a transaction again up to a read, which now reads from `source`, and then on.
    pub fn execute_again(
        &mut self,
        record: Rc<Record<V, L>>,
        read: usize,
        source: Id,
    ) -> Result<(), ExploreError> {
        let mut sources: Vec<Id> = record.reads[..read].iter().map(|read| read.source).collect();
        sources.push(source);
        self.execute(record.session, sources, Some(record))
    }

    /// Runs the next transaction of a session: its first reads read from `sources`, and up to the
    /// last of these it must do what it did in `before`.
    pub fn execute(
        &mut self,
        session: u32,
        sources: Vec<Id>,
        before: Option<Rc<Record<V, L>>>,
    ) -> Result<(), ExploreError> {
        let index = self.history.done(session);
        let id = if self.has_room(session) { self.history.id(session, index) } else { None };
        let id = id.ok_or(ExploreError::TooManyTransactions)?;
        self.progress.executions += 1;
        let base = self.setting.base_of(self.program, (session, index));
        let reader =
            Reader::begin(&self.history, id, base, self.history.before(self.history.len()).clone());
        let (program, place) = (self.program, self.history.len());
        let mut run = Run::new(self, reader, (session, index), sources, before);
        let local = run.code(&program.sessions[session as usize].code);
        let Some((record, closure)) = run.finish(local)? else { return Ok(()) };
        let is_committed = record.is_committed;
        self.history.push(Rc::new(record), closure);
        // No read can be swapped to read from a transaction that aborted.
        if is_committed && self.setting.algorithm == Algorithm::Ce {
            self.explore_swaps(place)?;
        }
        Ok(())
    }

    /// Runs the next transaction of a session up to the operation of number `until`, without a
    /// trace in the history: its reads read from `sources`.
    pub fn glimpse(
        &mut self,
        session: u32,
        sources: Vec<Id>,
        until: usize,
    ) -> Result<Glimpse<V, L>, ExploreError> {
        let index = self.history.done(session);
        let id = if self.has_room(session) { self.history.id(session, index) } else { None };
        let id = id.ok_or(ExploreError::TooManyTransactions)?;
        self.progress.executions += 1;
        let base = self.setting.base_of(self.program, (session, index));
        let before = self.history.before(self.history.len()).clone();
        let reader = Reader::begin(&self.history, id, base, before);
        let program = self.program;
        let mut run = Run::new(self, reader, (session, index), sources, None).until(until);
        let local = run.code(&program.sessions[session as usize].code);
        let ended = || "a transaction did not come to where it came before".to_owned();
        run.glimpse(local)?.ok_or_else(|| ExploreError::NotRepeatable(ended()))
    }

    /// EXPLORESWAPS (Algorithm 2): the swaps that are worth exploring after the commit of the last
    /// transaction, as children beside going on.
    fn explore_swaps(&mut self, place: usize) -> Result<(), ExploreError> {
        let t = Rc::clone(&self.history.order()[place]);
        let mut reads = self.compute_reorderings(&t);
        reads.retain(|&at| self.optimality(at, &t));
        if reads.is_empty() {
            return Ok(());
        }
        if self.fork(Choice::Swap { len: place + 1, reads, replaced: None })? > 0 {
            self.state = State::Entering;
        }
        Ok(())
    }

    /// The source of a read of a pending transaction: one of VALIDWRITES. `None` if there is none.
    pub fn choose_source(
        &mut self,
        reader: &Reader,
        at: ReadAt,
        key: u32,
    ) -> Result<Option<Id>, ExploreError> {
        if self.state == State::Replaying {
            let problem = format!("{} reads more than it says", self.told(reader.id));
            return Err(ExploreError::Token(problem));
        }
        let sources = self.valid_writes(reader, key);
        match sources[..] {
            [] => {
                self.state = State::Blocked;
                Ok(None)
            }
            [only] => Ok(Some(only)),
            _ => {
                let child = self.fork(Choice::Source { at, sources: sources.clone() })?;
                Ok(Some(sources[child]))
            }
        }
    }
}

impl<V: Value, L: Local> Engine<'_, V, L> {
    /// A transaction by its name for people.
    pub fn told(&self, id: Id) -> String {
        let (session, index) = self.history.name(id);
        format!(
            "transaction {} of session {}",
            index + 1,
            self.program.sessions[session as usize].name
        )
    }

    /// Refuses a token's source of a read that the read may not have.
    pub fn accept(&self, reader: &Reader, key: u32, source: Id) -> Result<(), ExploreError> {
        if self.state != State::Replaying || self.valid_writes(reader, key).contains(&source) {
            return Ok(());
        }
        let is_writer = source == INITIAL || self.history.writers(key).has(source);
        let (reader, key) = (self.told(reader.id), self.history.key_name(key));
        Err(if is_writer {
            let problem = format!("{reader} may not read {key} from where it says");
            ExploreError::TokenLevel { level: self.setting.level, problem }
        } else {
            ExploreError::Token(format!(
                "{reader} reads {key} from a transaction that did not write it"
            ))
        })
    }
}

/// What is known of the sessions. Clients share what transactions that are known leave of the room,
/// so that what is cut does not depend on where the search came from.
fn bounds<V: Value, L: Local>(program: &Program<V, L>) -> Vec<Bounds> {
    let known = |code: &Code<V, L>| match code {
        Code::Transactions(all) => Some(all.len()),
        Code::Steps(_) | Code::Client(_) => None,
    };
    let of = || program.sessions.iter().map(|session| known(&session.code));
    let clients = of().filter(Option::is_none).count().max(1);
    let each = TXNS_MAX.saturating_sub(of().flatten().sum()) / clients;
    let bound = |(session, known): (&Session<V, L>, Option<usize>)| Bounds {
        is_empty: begins_nothing(&session.code),
        room: known.unwrap_or(each) as u32,
    };
    program.sessions.iter().zip(of()).map(bound).collect()
}

impl<V: Value, L: Local> Program<V, L> {
    /// What is in the database before, and what the sessions do if they run one after the other: a
    /// text that tells programs apart.
    pub fn outline(&self) -> Result<String, ExploreError> {
        let setting =
            Setting { level: Level::Causal, base: Level::Causal, algorithm: Algorithm::Ce };
        let mut engine = Engine::new(self, setting);
        engine.advance()?;
        let initial: Vec<String> =
            self.initial.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let done = engine
            .history
            .order()
            .iter()
            .map(|record| format!("{}: {:?}", record.session, record.ops));
        Ok(initial.into_iter().chain(done).collect::<Vec<_>>().join("\n"))
    }
}
