//! A program led by hand: which session goes on, and which version each read returns, comes from
//! outside, one operation at a time.
//!
//! Transactions of different sessions interleave operation by operation. What a transaction wrote
//! can be read once it has committed. A version may be read if the level allows the history with
//! that read in it: all transactions that have ended, and those that are open as ones that have
//! only read so far, because a database answers a read before it can know of a commit. What a
//! transaction writes therefore counts when it commits. Up to prefix consistency that is always
//! possible; at snapshot isolation and serializability the level may refuse it. Then the attempt
//! leaves nothing, and the session begins its transaction again, as clients of such databases do.
//!
//! So what has ended is at every moment a history that the explorer visits for the beginning of the
//! program, and when all sessions are through it has a [token](crate::replay): the tests compare
//! both with the oracle of `seriatim-isolation`.

mod adversary;
mod step;

pub use adversary::{Found, Goal, Search};
pub use step::{Named, Step, parse_steps, steps_text};

use crate::closure::Closure;
use crate::end::End;
use crate::engine::{Ahead, Algorithm, Engine, Glimpse, Setting};
use crate::error::ExploreError;
use crate::levels::{LEVELS, supported};
use crate::ordered::Record;
use crate::program::{Local, Program, Value};
use crate::to_history::{self, Aborted};
use crate::token;
use crate::txn_set::{INITIAL, Id};
use crate::valid;
use seriatim_history::History;
use seriatim_isolation::Level;
use std::fmt;
use std::rc::Rc;
use std::time::Instant;

/// How many sets of points are looked at before a question is left undecided: about a tenth of a
/// second. Programs of a lecture need a few hundred.
const SETS_MAX: usize = 100_000;

/// What a session does next.
#[derive(Clone, PartialEq, Debug)]
pub enum Next<V> {
    /// Reads what others wrote: a version must be picked.
    Read {
        /// The key.
        key: String,
    },
    /// Reads what its transaction wrote last.
    OwnRead {
        /// The key.
        key: String,
        /// The value.
        value: V,
    },
    /// Writes.
    Write {
        /// The key.
        key: String,
        /// The value.
        value: V,
    },
    /// Commits.
    Commit,
    /// Takes its transaction back.
    Abort,
    /// Nothing: it is through.
    Over,
}

/// A version that a read could return.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate<V> {
    /// Who wrote it; the initial state if nobody did.
    pub writer: Option<Named>,
    /// Its value.
    pub value: V,
    /// Whether the level allows it; `None` if that is too much work to tell.
    pub is_allowed: Option<bool>,
}

/// What a step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// It read, wrote, committed or aborted, as [`Play::next`] said before.
    AsSaid,
    /// The level did not allow the commit: the session begins its transaction again.
    Refused,
}

/// Why a step cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Misfit {
    /// There is no session of that number.
    NoSession(u32),
    /// The session is through.
    Over,
    /// The session reads this key, so that a version must be picked.
    NeedsVersion(String),
    /// The session does not read what others wrote.
    NoRead,
    /// That transaction has not written this key, or not yet.
    NoVersion(String),
    /// The level does not allow that version.
    Forbidden,
    /// Too much work to tell whether the level allows it.
    Undecided,
    /// The program itself.
    Program(ExploreError),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::NoSession(number) => write!(f, "there is no session number {number}"),
            Misfit::Over => f.write_str("the session has nothing more to do"),
            Misfit::NeedsVersion(key) => {
                write!(f, "the session reads {key}: pick one of its versions")
            }
            Misfit::NoRead => f.write_str("the session does not read what others wrote here"),
            Misfit::NoVersion(key) => {
                write!(f, "there is no such version of {key} (yet)")
            }
            Misfit::Forbidden => f.write_str("the level does not allow this version"),
            Misfit::Undecided => {
                f.write_str("undecided: too much work to tell whether the level allows this")
            }
            Misfit::Program(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Misfit {}

impl From<ExploreError> for Misfit {
    fn from(error: ExploreError) -> Misfit {
        Misfit::Program(error)
    }
}

/// A transaction that has begun.
struct Open<V, L> {
    /// What its reads read from.
    sources: Vec<Id>,
    /// How many operations it has done.
    done: usize,
    /// What it is so far: one that only reads.
    record: Rc<Record<V, L>>,
}

impl<V, L> Clone for Open<V, L> {
    fn clone(&self) -> Self {
        let (sources, done, record) = (self.sources.clone(), self.done, Rc::clone(&self.record));
        Open { sources, done, record }
    }
}

/// A place to go back to.
pub struct Mark<V, L> {
    ended: usize,
    open: Vec<Option<Open<V, L>>>,
}

/// A program that is led by hand.
pub struct Play<'p, V, L> {
    engine: Engine<'p, V, L>,
    /// By session.
    open: Vec<Option<Open<V, L>>>,
    /// When questions are left undecided.
    deadline: Option<Instant>,
}

impl<'p, V: Value, L: Local> Play<'p, V, L> {
    /// A program at its beginning.
    pub fn new(program: &'p Program<V, L>, level: Level) -> Result<Self, ExploreError> {
        supported(level)?;
        // On the way nothing is asked of the history: `valid` looks at the whole of it each time.
        let setting = Setting { level, base: Level::Unconstrained, algorithm: Algorithm::Dfs };
        let engine = Engine::replaying(program, setting);
        let open = (0..program.sessions.len()).map(|_| None).collect();
        Ok(Play { engine, open, deadline: None })
    }

    /// From then on what takes work is left undecided.
    pub fn until(self, deadline: Instant) -> Self {
        Play { deadline: Some(deadline), ..self }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn sets_max(&self) -> usize {
        if self.is_late() { 0 } else { SETS_MAX }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> u32 {
        self.open.len() as u32
    }

    /// The transaction that a session is in, or that comes next; `None` if there is none.
    pub fn current(&self, session: u32) -> Option<Named> {
        let is_open = self.open.get(session as usize)?.is_some();
        let goes_on = is_open || self.engine.has_next(session);
        goes_on.then(|| Named { session, txn: self.engine.history.done(session) })
    }

    /// Whether a session is in a transaction.
    pub fn is_open(&self, session: u32) -> bool {
        self.open.get(session as usize).is_some_and(Option::is_some)
    }

    /// The level of a transaction.
    pub fn level_of(&self, txn: Named) -> Level {
        self.engine.setting.level_of(self.engine.program, (txn.session, txn.txn))
    }

    /// The local state of a session, as its open transaction has left it so far.
    pub fn local(&self, session: u32) -> L {
        let open = self.open[session as usize].as_ref().map(|open| &open.record);
        let record = open.or_else(|| self.engine.history.last_of(session));
        record.map_or_else(L::default, |record| record.local.clone())
    }

    /// The local state of a session after its last transaction that has ended.
    pub fn settled(&self, session: u32) -> L {
        let record = self.engine.history.last_of(session);
        record.map_or_else(L::default, |record| record.local.clone())
    }

    /// Whether all sessions are through.
    pub fn is_over(&self) -> bool {
        (0..self.sessions()).all(|session| self.current(session).is_none())
    }

    /// Whether a client would go on if there were room for more transactions.
    pub fn is_cut(&self) -> bool {
        self.is_over() && self.engine.has_cut_session()
    }

    /// What a session does next.
    pub fn next(&mut self, session: u32) -> Result<Next<V>, Misfit> {
        if session >= self.sessions() {
            return Err(Misfit::NoSession(session));
        }
        if self.current(session).is_none() {
            return Ok(Next::Over);
        }
        let (ahead, key) = (self.ahead(session)?.ahead, |key| self.engine.history.key_name(key));
        let key = |number: u32| key(number).to_owned();
        Ok(match ahead {
            Ahead::Read(number) => Next::Read { key: key(number) },
            Ahead::OwnRead(number, value) => Next::OwnRead { key: key(number), value },
            Ahead::Write(number, value) => Next::Write { key: key(number), value },
            Ahead::Commit => Next::Commit,
            Ahead::Abort => Next::Abort,
        })
    }

    /// The versions that the read of a session could return if no level mattered, oldest first;
    /// none if it does not read.
    pub fn candidates(&mut self, session: u32) -> Result<Vec<Candidate<V>>, Misfit> {
        let Some(key) = self.read_key(session)? else { return Ok(Vec::new()) };
        let writers = self.engine.history.writers(key);
        let order = self.engine.history.order().iter().map(|record| record.id);
        let sources: Vec<Id> =
            [INITIAL].into_iter().chain(order.filter(|&id| writers.has(id))).collect();
        let candidate = |source| {
            let is_allowed = self.may_read(session, source)?;
            let writer = self.named(source);
            Ok(Candidate { writer, value: self.engine.history.value(source, key), is_allowed })
        };
        sources.into_iter().map(candidate).collect()
    }

    /// Takes a step.
    pub fn step(&mut self, step: Step) -> Result<Happened, Misfit> {
        let session = step.session();
        if session >= self.sessions() {
            return Err(Misfit::NoSession(session));
        }
        if self.current(session).is_none() {
            return Err(Misfit::Over);
        }
        let ahead = self.ahead(session)?.ahead;
        match (ahead, step) {
            (Ahead::Read(key), Step::Pick(_, writer)) => {
                let source = self.source(key, writer)?;
                match self.may_read(session, source)? {
                    Some(true) => self.go_on(session, Some(source)).map(|()| Happened::AsSaid),
                    Some(false) => Err(Misfit::Forbidden),
                    None => Err(Misfit::Undecided),
                }
            }
            (Ahead::Read(key), Step::Go(_)) => {
                Err(Misfit::NeedsVersion(self.engine.history.key_name(key).to_owned()))
            }
            (_, Step::Pick(..)) => Err(Misfit::NoRead),
            (Ahead::OwnRead(..) | Ahead::Write(..), Step::Go(_)) => {
                self.go_on(session, None).map(|()| Happened::AsSaid)
            }
            (Ahead::Commit | Ahead::Abort, Step::Go(_)) => self.end_txn(session),
        }
    }

    /// Where it stands.
    pub fn mark(&self) -> Mark<V, L> {
        Mark { ended: self.engine.history.len(), open: self.open.clone() }
    }

    /// Goes back to where it stood; nothing that has ended since may be a part of it.
    pub fn rewind(&mut self, mark: &Mark<V, L>) {
        self.engine.history.truncate(mark.ended);
        self.open.clone_from(&mark.open);
    }

    /// Whether the history so far, with open transactions as ones that have only read, would be
    /// allowed if every transaction were at this level; `None` if that is too much work.
    pub fn holds(&mut self, level: Level) -> Option<bool> {
        let sets_max = self.sets_max();
        self.with_open(None, |engine| {
            valid::is_valid_within(&engine.history, |_| level, &[], sets_max)
        })
    }

    /// The strongest level that allows a session's pending read to return the version of `writer`,
    /// if every transaction were at that level; `None` if none does or that is too much work.
    pub fn up_to(&mut self, session: u32, writer: Option<Named>) -> Result<Option<Level>, Misfit> {
        let key = self.read_key(session)?.ok_or(Misfit::NoRead)?;
        let source = self.source(key, writer)?;
        let record = Rc::new(self.reading(session, source)?.record);
        let sets_max = self.sets_max();
        let allows = |engine: &Engine<'p, V, L>, level| {
            valid::is_valid_within(&engine.history, |_| level, &[], sets_max) == Some(true)
        };
        let mut levels = LEVELS.into_iter().rev();
        Ok(self.with_open(Some(record), |engine| levels.find(|&level| allows(engine, level))))
    }

    /// How many reads of what others wrote the open transaction of a session has done.
    pub fn reads_done(&self, session: u32) -> usize {
        let open = self.open.get(session as usize).and_then(Option::as_ref);
        open.map_or(0, |open| open.sources.len())
    }

    /// What the last of these returned.
    pub fn last_read(&self, session: u32) -> Option<V> {
        let open = self.open.get(session as usize)?.as_ref()?;
        let read = open.record.reads.last()?;
        Some(self.engine.history.value(read.source, read.key))
    }

    /// The history so far, for the checkers: open transactions, and those that aborted, as ones
    /// that have only read.
    pub fn history(&mut self) -> History {
        self.with_open(None, shown)
    }

    /// The same as if a session's pending read had returned the version of `writer`.
    pub fn history_with_read(
        &mut self,
        session: u32,
        writer: Option<Named>,
    ) -> Result<History, Misfit> {
        let key = self.read_key(session)?.ok_or(Misfit::NoRead)?;
        let source = self.source(key, writer)?;
        let record = Rc::new(self.reading(session, source)?.record);
        Ok(self.with_open(Some(record), shown))
    }

    /// The same as if the level had allowed the commit that a session is at.
    pub fn history_with_commit(&mut self, session: u32) -> Result<History, Misfit> {
        let record = Rc::new(self.ahead(session)?.record);
        Ok(self.with_open(Some(record), shown))
    }

    /// Asks about the end, within a budget; `None` if it was too small, or if this is not the end.
    pub fn at_end<R>(&self, ask: impl FnOnce(&End<'_, V, L>) -> R) -> Option<R> {
        if !self.is_over() || self.engine.has_cut_session() {
            return None;
        }
        let end = End::of(&self.engine).within(self.sets_max());
        let answer = ask(&end);
        (!end.has_given_up()).then_some(answer)
    }

    /// What `explore --replay` takes, once all sessions are through.
    pub fn token(&self) -> Option<String> {
        (self.is_over() && !self.engine.has_cut_session()).then(|| token::of(&self.engine.history))
    }

    /// The steps that a token of the explorer names, at most so many: its transactions one after
    /// the other.
    pub fn steps_of(
        program: &'p Program<V, L>,
        level: Level,
        token: &str,
        steps_max: usize,
    ) -> Result<Vec<Step>, Misfit> {
        Play::new(program, level)?.follow(token, steps_max)
    }

    /// Goes from the beginning where a token of the explorer leads. Returns the steps, at most so
    /// many. If it is too late for them, that is [`Misfit::Undecided`].
    pub fn follow(&mut self, token: &str, steps_max: usize) -> Result<Vec<Step>, Misfit> {
        let mut steps = Vec::new();
        for (session, places) in token::parse(token)? {
            let mut places = places.into_iter();
            loop {
                let step = match self.next(session)? {
                    Next::Over => return Err(Misfit::Over),
                    Next::Read { key } => {
                        let place = places.next().ok_or(Misfit::NeedsVersion(key))?;
                        Step::Pick(session, self.nth(place)?)
                    }
                    _ => Step::Go(session),
                };
                if steps.len() == steps_max {
                    let problem = format!("it has more than {steps_max} steps");
                    return Err(ExploreError::Token(problem).into());
                }
                if self.is_late() {
                    return Err(Misfit::Undecided);
                }
                steps.push(step);
                if self.step(step)? == Happened::Refused {
                    return Err(Misfit::Forbidden);
                }
                if !self.is_open(session) {
                    break;
                }
            }
        }
        Ok(steps)
    }

    /// The transaction of this number in a token, 0 for the initial state.
    fn nth(&self, place: usize) -> Result<Option<Named>, Misfit> {
        let Some(place) = place.checked_sub(1) else { return Ok(None) };
        let record = self.engine.history.order().get(place);
        let problem = || {
            let problem = format!("there are fewer than {} transactions before it", place + 1);
            Misfit::Program(ExploreError::Token(problem))
        };
        record.map(|record| self.named(record.id)).ok_or_else(problem)
    }

    fn named(&self, id: Id) -> Option<Named> {
        (id != INITIAL).then(|| {
            let (session, txn) = self.engine.history.name(id);
            Named { session, txn }
        })
    }

    /// A committed transaction that wrote `key`, or the initial state.
    fn source(&self, key: u32, writer: Option<Named>) -> Result<Id, Misfit> {
        let Some(writer) = writer else { return Ok(INITIAL) };
        let history = &self.engine.history;
        let writers = history.writers(key);
        let is_meant = |id: &Id| history.name(*id) == (writer.session, writer.txn);
        let unknown = || Misfit::NoVersion(history.key_name(key).to_owned());
        writers.iter().find(is_meant).ok_or_else(unknown)
    }

    /// The transaction that a session is in or comes to, as it is so far, and what comes next.
    fn ahead(&mut self, session: u32) -> Result<Glimpse<V, L>, Misfit> {
        let open = self.open[session as usize].as_ref();
        let (sources, done) =
            open.map_or_else(Default::default, |open| (open.sources.clone(), open.done));
        Ok(self.engine.glimpse(session, sources, done)?)
    }

    /// The key that a session reads next, if it reads what others wrote.
    fn read_key(&mut self, session: u32) -> Result<Option<u32>, Misfit> {
        if session >= self.sessions() {
            return Err(Misfit::NoSession(session));
        }
        if self.current(session).is_none() {
            return Ok(None);
        }
        Ok(match self.ahead(session)?.ahead {
            Ahead::Read(key) => Some(key),
            _ => None,
        })
    }

    /// The transaction of a session with its pending read done.
    fn reading(&mut self, session: u32, source: Id) -> Result<Glimpse<V, L>, Misfit> {
        let open = self.open[session as usize].as_ref();
        let (mut sources, done) =
            open.map_or_else(Default::default, |open| (open.sources.clone(), open.done));
        sources.push(source);
        let mut glimpse = self.engine.glimpse(session, sources, done + 1)?;
        as_reader(&mut glimpse.record);
        Ok(glimpse)
    }

    fn may_read(&mut self, session: u32, source: Id) -> Result<Option<bool>, Misfit> {
        let record = Rc::new(self.reading(session, source)?.record);
        Ok(self.is_allowed(record))
    }

    /// Whether the level of each transaction allows the history with this one in it.
    fn is_allowed(&mut self, record: Rc<Record<V, L>>) -> Option<bool> {
        let sets_max = self.sets_max();
        self.with_open(Some(record), |engine| {
            let level_of = |id| engine.setting.level_of(engine.program, engine.history.name(id));
            valid::is_valid_within(&engine.history, level_of, &[], sets_max)
        })
    }

    /// Does something while open transactions are in the history as ones that have only read;
    /// `instead` stands for that of its session.
    fn with_open<R>(
        &mut self,
        instead: Option<Rc<Record<V, L>>>,
        act: impl FnOnce(&Engine<'p, V, L>) -> R,
    ) -> R {
        let ended = self.engine.history.len();
        let session = instead.as_ref().map(|record| record.session);
        let others = self.open.iter().flatten().map(|open| &open.record);
        let others = others.filter(|record| Some(record.session) != session);
        for record in others.chain(&instead) {
            // Nobody asks for the closure before it is gone again.
            self.engine.history.push(Rc::clone(record), Closure::default());
        }
        let result = act(&self.engine);
        self.engine.history.truncate(ended);
        result
    }

    /// Does the next operation of a transaction, which is not its end.
    fn go_on(&mut self, session: u32, source: Option<Id>) -> Result<(), Misfit> {
        let open = self.open[session as usize].take();
        let (mut sources, done) =
            open.map_or_else(Default::default, |open| (open.sources, open.done));
        sources.extend(source);
        let mut record = self.engine.glimpse(session, sources.clone(), done + 1)?.record;
        as_reader(&mut record);
        let record = Rc::new(record);
        self.open[session as usize] = Some(Open { sources, done: done + 1, record });
        Ok(())
    }

    /// Ends a transaction, if the level allows that.
    fn end_txn(&mut self, session: u32) -> Result<Happened, Misfit> {
        let Glimpse { record, closure, .. } = self.ahead(session)?;
        let record = Rc::new(record);
        let is_allowed = self.is_allowed(Rc::clone(&record)).ok_or(Misfit::Undecided)?;
        self.open[session as usize] = None;
        if !is_allowed {
            return Ok(Happened::Refused);
        }
        self.engine.history.push(record, closure);
        Ok(Happened::AsSaid)
    }
}

/// What a transaction is before it ends: also one that has come to its end, but has not committed.
fn as_reader<V, L>(record: &mut Record<V, L>) {
    record.is_committed = false;
    record.written.clear();
}

fn shown<V: Value, L: Local>(engine: &Engine<'_, V, L>) -> History {
    to_history::history(&engine.history, engine.program, Aborted::AsReaders)
}

impl<V, L> fmt::Debug for Play<'_, V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play").field("sessions", &self.open.len()).finish_non_exhaustive()
    }
}

impl<V, L> fmt::Debug for Mark<V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark").field("ended", &self.ended).finish_non_exhaustive()
    }
}
