//! The search: EXPLORE and EXPLORESWAPS of the paper (Algorithms 1 and 2) without recursion, and the running of transactions.
//!
//! A transaction runs from its begin to its end in one go. Where a read has several sources, the first is taken and the others are
//! kept on the trail; for another source the transaction is run again with the reads before it as they were, so a transaction is
//! executed again only when one of its reads changes. What it does again must be what it did before: otherwise the program is not
//! deterministic.

use crate::bits::Id;
use crate::error::{ExploreError, OPS_MAX, Place};
use crate::isolation::Isolation;
use crate::ordered::{Op, Ordered, Read, Record, own_value};
use crate::program::{Access, Client, Code, Local, Program, Stop, Tx, Value};
use crate::reader::Reader;
use crate::trail::{Choice, Fork, ReadAt};
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
    pub isolation: Isolation,
    /// The strongest that histories are kept consistent with on the way.
    pub base: Isolation,
    pub algorithm: Algorithm,
}

impl Setting {
    /// The level of a transaction.
    pub fn isolation_of<V: Value, L: Local>(&self, program: &Program<V, L>, (session, index): (u32, u32)) -> Isolation {
        program.isolation_of(session as usize, index as usize).unwrap_or(self.isolation)
    }

    fn base_of<V: Value, L: Local>(&self, program: &Program<V, L>, name: (u32, u32)) -> Isolation {
        self.isolation_of(program, name).min(self.base)
    }
}

/// A search in progress.
pub(crate) struct Engine<'p, V, L> {
    pub program: &'p Program<V, L>,
    pub setting: Setting,
    pub history: Ordered<V, L>,
    pub trail: Vec<Fork<V, L>>,
    /// Forks below this are fixed: the search stays in their child.
    floor: usize,
    /// Which children to take at the next forks.
    guide: VecDeque<usize>,
    /// Whether all sources come from a token, which may be wrong.
    pub is_replay: bool,
    has_begun: bool,
    is_blocked: bool,
    /// Whether the last choice was made, but the search is not in its child yet.
    must_enter: bool,
    pub failure: Option<ExploreError>,
    /// By session: whether it never begins a transaction.
    is_empty: Vec<bool>,
    /// The share of the tree that the search is in, and that it has left behind.
    share: f64,
    pub explored: f64,
    /// How often there was no way to go on.
    pub blocked: u64,
    /// How many transactions were run.
    pub executions: u64,
}

impl<'p, V: Value, L: Local> Engine<'p, V, L> {
    pub fn new(program: &'p Program<V, L>, setting: Setting) -> Self {
        Engine {
            program,
            setting,
            history: Ordered::new(program.sessions.len(), &program.initial),
            trail: Vec::new(),
            floor: 0,
            guide: VecDeque::new(),
            is_replay: false,
            has_begun: false,
            is_blocked: false,
            must_enter: false,
            failure: None,
            is_empty: program.sessions.iter().map(|session| begins_nothing(&session.code)).collect(),
            share: 1.0,
            explored: 0.0,
            blocked: 0,
            executions: 0,
        }
    }

    /// A search in the subtree that `path` names.
    pub fn within(program: &'p Program<V, L>, setting: Setting, path: &[usize]) -> Self {
        let mut engine = Engine::new(program, setting);
        engine.floor = path.len();
        engine.guide = path.iter().copied().collect();
        engine
    }

    /// Goes on to the next complete history; false if there is none.
    pub fn advance(&mut self) -> Result<bool, ExploreError> {
        if std::mem::replace(&mut self.has_begun, true) && !self.backtrack() {
            return Ok(false);
        }
        loop {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if std::mem::take(&mut self.is_blocked) {
                self.blocked += 1;
                self.explored += self.share;
                if !self.backtrack() {
                    return Ok(false);
                }
                continue;
            }
            if std::mem::take(&mut self.must_enter) {
                self.enter_child();
                continue;
            }
            let next = match self.setting.algorithm {
                Algorithm::Ce => self.next(),
                Algorithm::Dfs => self.next_of_any(),
            };
            let Some(session) = next else {
                self.explored += self.share;
                return self.is_where_it_was_sent().map(|()| true);
            };
            self.execute(session, Vec::new(), None);
        }
    }

    fn is_where_it_was_sent(&self) -> Result<(), ExploreError> {
        match self.guide.len() {
            0 => Ok(()),
            left => Err(ExploreError::Checkpoint(format!("it has {left} choices more than there are to make"))),
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
        for (depth, fork) in self.trail.iter().enumerate().skip(self.floor).rev() {
            rest.extend((fork.child + 1..fork.arity).map(|child| [&path[..depth], &[child]].concat()));
        }
        rest
    }

    /// The children of a node that `depth` choices lead to, if the search went through it; none if it is a history.
    pub fn children(&self, depth: usize) -> usize {
        self.trail.get(depth).map_or(0, |fork| fork.arity)
    }

    /// The level that the reads of a transaction are kept consistent with on the way.
    pub fn base_of(&self, id: Id) -> Isolation {
        self.setting.base_of(self.program, self.history.name(id))
    }

    /// Whether a session has another transaction.
    pub fn has_next(&self, session: u32) -> bool {
        match &self.program.sessions[session as usize].code {
            Code::Transactions(all) => (self.history.done(session) as usize) < all.len(),
            Code::Client(_) => match self.history.last_of(session) {
                Some(record) => !record.is_last,
                None => !self.is_empty[session as usize],
            },
        }
    }

    /// Puts a choice on the trail; returns the number of the child to take.
    pub fn fork(&mut self, choice: Choice<V, L>) -> usize {
        let mut fork = Fork::new(choice, 0, self.share);
        if let Some(child) = self.guide.pop_front() {
            if child >= fork.arity {
                let problem = format!("there are {} ways to go on where it takes number {}", fork.arity, child + 1);
                self.failure = Some(ExploreError::Checkpoint(problem));
            } else {
                fork.child = child;
            }
        }
        self.share = fork.share;
        let child = fork.child;
        self.trail.push(fork);
        child
    }

    /// Goes back to the last choice that has another child, and into it; false if there is none.
    fn backtrack(&mut self) -> bool {
        while self.trail.len() > self.floor {
            self.take_swap_back();
            let Some(fork) = self.trail.last_mut() else { return false };
            if fork.child + 1 < fork.arity {
                fork.child += 1;
                self.share = fork.share;
                self.enter_child();
                return true;
            }
            self.trail.pop();
        }
        false
    }

    /// Undoes the swap of the last choice, if the search is in one.
    fn take_swap_back(&mut self) {
        if let Some(Fork { choice: Choice::Swap { reads, replaced, .. }, child, .. }) = self.trail.last_mut()
            && let Some(tail) = replaced.take()
        {
            self.history.truncate(reads[*child - 1].place);
            self.history.rejoin(tail);
        }
    }

    /// Goes into the child that the last choice names.
    fn enter_child(&mut self) {
        let Some(fork) = self.trail.last() else { return };
        match &fork.choice {
            Choice::Source { at, sources } => {
                let (at, source) = (*at, sources[fork.child]);
                let record = Rc::clone(&self.history.order()[at.place]);
                self.history.truncate(at.place);
                self.execute_again(record, at.read, source);
            }
            Choice::Swap { len, reads, .. } => {
                let (len, at) = (*len, reads[fork.child - 1]);
                self.history.truncate(len);
                self.swap(at);
            }
            Choice::Session { len, sessions } => {
                let (len, session) = (*len, sessions[fork.child]);
                self.history.truncate(len);
                self.execute(session, Vec::new(), None);
            }
        }
    }

    /// Keeps what a swap took away, to put it back later.
    pub fn keep_replaced(&mut self, tail: crate::ordered::Tail<V, L>) {
        if let Some(Fork { choice: Choice::Swap { replaced, .. }, .. }) = self.trail.last_mut() {
            *replaced = Some(tail);
        }
    }

    /// Runs a transaction again up to a read, which now reads from `source`, and then on.
    pub fn execute_again(&mut self, record: Rc<Record<V, L>>, read: usize, source: Id) {
        let mut sources: Vec<Id> = record.reads[..read].iter().map(|read| read.source).collect();
        sources.push(source);
        self.execute(record.session, sources, Some(record));
    }

    /// Runs the next transaction of a session: its first reads read from `sources`, and up to the last of these it must do what
    /// it did in `before`.
    pub fn execute(&mut self, session: u32, sources: Vec<Id>, before: Option<Rc<Record<V, L>>>) {
        let index = self.history.done(session);
        let Some(id) = self.history.id(session, index) else {
            self.failure = Some(ExploreError::TooManyTransactions);
            return;
        };
        self.executions += 1;
        let base = self.setting.base_of(self.program, (session, index));
        let reader = Reader::begin(&self.history, id, base, self.history.before(self.history.len()).clone());
        let (program, place) = (self.program, self.history.len());
        let mut run = Run::new(self, reader, (session, index), sources, before);
        let local = run.code(&program.sessions[session as usize].code);
        let Some((record, closure)) = run.finish(local) else { return };
        let is_committed = record.is_committed;
        self.history.push(Rc::new(record), closure);
        if is_committed && self.failure.is_none() && self.setting.algorithm == Algorithm::Ce {
            self.explore_swaps(place);
        }
    }

    /// EXPLORESWAPS (Algorithm 2): the swaps that are worth exploring after the commit of the last transaction, as children beside
    /// going on.
    fn explore_swaps(&mut self, place: usize) {
        let t = Rc::clone(&self.history.order()[place]);
        let mut reads = self.compute_reorderings(&t);
        reads.retain(|&at| self.optimality(at, &t));
        if reads.is_empty() {
            return;
        }
        self.must_enter = self.fork(Choice::Swap { len: place + 1, reads, replaced: None }) > 0;
    }

    /// The source of a read of a pending transaction: one of VALIDWRITES.
    fn choose_source(&mut self, reader: &Reader, at: ReadAt, key: u32) -> Option<Id> {
        if self.is_replay {
            self.failure = Some(ExploreError::Token(format!("{} reads more than it says", self.told(reader.id))));
            return None;
        }
        let sources = self.valid_writes(reader, key);
        match sources[..] {
            [] => {
                self.is_blocked = true;
                None
            }
            [only] => Some(only),
            _ => {
                let child = self.fork(Choice::Source { at, sources: sources.clone() });
                self.failure.is_none().then(|| sources[child])
            }
        }
    }
}

impl<V: Value, L: Local> Engine<'_, V, L> {
    /// A transaction by its name for people.
    pub fn told(&self, id: Id) -> String {
        let (session, index) = self.history.name(id);
        format!("transaction {} of session {}", index + 1, self.program.sessions[session as usize].name)
    }

    /// Whether a token's source of a read is one that the read may have.
    fn accepts(&mut self, reader: &Reader, key: u32, source: Id) -> bool {
        if !self.is_replay || self.valid_writes(reader, key).contains(&source) {
            return true;
        }
        let (reader, key) = (self.told(reader.id), self.history.key_name(key));
        self.failure = Some(ExploreError::Token(format!("{reader} may not read {key} from where it says")));
        false
    }
}

/// Whether the code of a client ends without beginning a transaction.
fn begins_nothing<V: Value, L: Local>(code: &Code<V, L>) -> bool {
    let Code::Client(body) = code else { return false };
    let mut probe = Probe { has_begun: false };
    // Whether it succeeds does not matter: only whether it came to a transaction.
    let _ = body(&mut Client { access: &mut probe }, &mut L::default());
    !probe.has_begun
}

struct Probe {
    has_begun: bool,
}

impl<V> Access<V> for Probe {
    fn begin(&mut self) -> Result<(), Stop> {
        self.has_begun = true;
        Err(Stop(()))
    }

    fn read(&mut self, _: &str) -> Result<V, Stop> {
        Err(Stop(()))
    }

    fn write(&mut self, _: &str, _: V) -> Result<(), Stop> {
        Err(Stop(()))
    }

    fn commit(&mut self) -> Result<(), Stop> {
        Err(Stop(()))
    }

    fn abort(&mut self) {}
}

/// How far the code of a session has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Before the transaction that is to be run: in this one, which is repeated from the history, or behind it.
    Repeating {
        index: u32,
        is_open: bool,
    },
    /// In the transaction.
    Running,
    /// Behind it.
    Committed,
    Aborted,
    /// At the begin of the next one.
    AtNext {
        is_committed: bool,
    },
    /// No source is valid for a read: it cannot go on.
    Blocked,
    /// Nothing may be done any more.
    Stopped,
}

/// One run of a transaction.
struct Run<'e, 'p, V, L> {
    engine: &'e mut Engine<'p, V, L>,
    reader: Reader,
    session: u32,
    index: u32,
    stage: Stage,
    /// What the first reads read from.
    sources: Vec<Id>,
    /// What it did when it was run before.
    before: Option<Rc<Record<V, L>>>,
    ops: Vec<Op<V>>,
    reads: Vec<Read>,
    /// Of the transaction that is being repeated: operations so far.
    repeated: usize,
}

impl<'e, 'p, V: Value, L: Local> Run<'e, 'p, V, L> {
    fn new(
        engine: &'e mut Engine<'p, V, L>,
        reader: Reader,
        (session, index): (u32, u32),
        sources: Vec<Id>,
        before: Option<Rc<Record<V, L>>>,
    ) -> Self {
        let stage = Stage::Stopped;
        let (ops, reads) = (Vec::new(), Vec::new());
        Run { engine, reader, session, index, stage, sources, before, ops, reads, repeated: 0 }
    }

    /// Runs the code; returns the local state behind the transaction.
    fn code(&mut self, code: &Code<V, L>) -> L {
        match code {
            Code::Transactions(all) => {
                let last = self.engine.history.last_of(self.session);
                let mut local = last.map_or_else(L::default, |record| record.local.clone());
                self.stage = Stage::Running;
                // How it ended is known from what it did.
                let _ = (all[self.index as usize].body)(&mut Tx { access: self }, &mut local);
                if self.stage == Stage::Running {
                    self.stage = Stage::Committed;
                }
                local
            }
            Code::Client(body) => {
                self.stage = Stage::Repeating { index: 0, is_open: false };
                let mut local = L::default();
                let _ = body(&mut Client { access: self }, &mut local);
                if self.stage == Stage::Running {
                    self.stage = Stage::Aborted;
                }
                local
            }
        }
    }

    /// The transaction that came out of it, unless it did not come to its end.
    fn finish(mut self, local: L) -> Option<(Record<V, L>, crate::closure::Closure)> {
        let (is_committed, is_last) = match self.stage {
            Stage::Committed => (true, true),
            Stage::Aborted => (false, true),
            Stage::AtNext { is_committed } => (is_committed, false),
            Stage::Blocked => (false, true),
            Stage::Repeating { index, .. } => {
                let _: Result<(), Stop> = self.differs(index, self.repeated, None, "end of the session".to_owned());
                return None;
            }
            Stage::Running | Stage::Stopped => return None,
        };
        let mut written: Vec<u32> = Vec::new();
        for op in self.ops.iter().filter(|_| is_committed) {
            if let Op::Write(key, _) = op
                && !written.contains(key)
            {
                written.push(*key);
            }
        }
        let Reader { id, past, edges, closure, .. } = self.reader;
        let (session, index, ops, reads) = (self.session, self.index, self.ops, self.reads);
        let record = Record { id, session, index, is_committed, is_last, ops, reads, written, past, edges, local };
        Some((record, closure))
    }

    fn stop<T>(&mut self) -> Result<T, Stop> {
        self.stage = Stage::Stopped;
        Err(Stop(()))
    }

    fn place(&self, index: u32, op: usize) -> Place {
        let session = self.engine.program.sessions[self.session as usize].name.clone();
        Place { session, txn: index as usize + 1, op: op + 1 }
    }

    fn misuse<T>(&mut self, problem: &'static str) -> Result<T, Stop> {
        let place = self.place(self.index, self.ops.len());
        self.engine.failure = Some(ExploreError::Client { place, problem });
        self.stop()
    }

    /// The program did something else than before.
    fn differs<T>(&mut self, index: u32, op: usize, before: Option<String>, now: String) -> Result<T, Stop> {
        let place = self.place(index, op);
        let before = before.unwrap_or_else(|| "end of the transaction".to_owned());
        self.engine.failure = Some(ExploreError::NotDeterministic { place, before, now });
        self.stop()
    }

    /// Whether the transaction may have another operation.
    fn has_room(&mut self) -> Result<(), Stop> {
        if self.ops.len() < OPS_MAX {
            return Ok(());
        }
        let place = self.place(self.index, self.ops.len());
        self.engine.failure = Some(ExploreError::TooManyOperations { place });
        self.stop()
    }

    /// Checks the next operation of the transaction against what it did before, as long as it has read the same.
    fn agrees(&mut self, now: &Op<V>, now_key: u32) -> Result<(), Stop> {
        let Some(before) = &self.before else { return Ok(()) };
        // Up to the read that changed, that read included.
        if self.reads.len() >= self.sources.len() {
            return Ok(());
        }
        let then = before.ops.get(self.ops.len());
        let same = match (then, now) {
            (Some(Op::Read(then)), Op::Read(_)) => before.reads[*then as usize].key == now_key,
            (then, now) => then == Some(now),
        };
        if same {
            return Ok(());
        }
        let then = then.map(|op| self.told(op, before));
        let now = self.told_now(now, now_key);
        self.differs(self.index, self.ops.len(), then, now)
    }

    fn told(&self, op: &Op<V>, record: &Record<V, L>) -> String {
        match op {
            Op::Read(read) => self.told_now(op, record.reads[*read as usize].key),
            Op::OwnRead(key) | Op::Write(key, _) => self.told_now(op, *key),
        }
    }

    fn told_now(&self, op: &Op<V>, key: u32) -> String {
        let name = self.engine.history.key_name(key);
        match op {
            Op::Read(_) | Op::OwnRead(_) => format!("read {name}"),
            Op::Write(_, value) => format!("write {name}={value}"),
        }
    }

    /// The next operation of a transaction that is repeated.
    fn repeat(&mut self, index: u32, now: &Op<V>, key: u32) -> Result<V, Stop> {
        let record = Rc::clone(self.engine.history.of_session(self.session, index));
        let (at, then) = (self.repeated, record.ops.get(self.repeated));
        let value = match (then, now) {
            (Some(Op::Read(read)), Op::Read(_)) if record.reads[*read as usize].key == key => {
                Some(self.engine.history.value(record.reads[*read as usize].source, key))
            }
            (Some(Op::OwnRead(then)), Op::Read(_)) if *then == key => own_value(&record.ops[..at], key).cloned(),
            (Some(Op::Write(then, value)), Op::Write(_, new)) if *then == key && value == new => Some(value.clone()),
            _ => None,
        };
        self.repeated += 1;
        match value {
            Some(value) => Ok(value),
            None => {
                let (then, now) = (then.map(|op| self.told(op, &record)), self.told_now(now, key));
                self.differs(index, at, then, now)
            }
        }
    }

    /// Ends a transaction that is repeated.
    fn repeat_end(&mut self, index: u32, is_commit: bool) -> Result<(), Stop> {
        let record = Rc::clone(self.engine.history.of_session(self.session, index));
        if record.ops.len() != self.repeated || record.is_committed != is_commit {
            let then = record.ops.get(self.repeated).map(|op| self.told(op, &record));
            let now = if is_commit { "commit" } else { "abort" };
            return self.differs(index, self.repeated, then, now.to_owned());
        }
        self.repeated = 0;
        self.stage = Stage::Repeating { index: index + 1, is_open: false };
        Ok(())
    }
}

impl<V: Value, L: Local> Access<V> for Run<'_, '_, V, L> {
    fn begin(&mut self) -> Result<(), Stop> {
        match self.stage {
            Stage::Repeating { index, is_open: false } if index < self.index => {
                self.stage = Stage::Repeating { index, is_open: true };
                Ok(())
            }
            Stage::Repeating { is_open: false, .. } => {
                self.stage = Stage::Running;
                Ok(())
            }
            Stage::Committed | Stage::Aborted => {
                self.stage = Stage::AtNext { is_committed: self.stage == Stage::Committed };
                Err(Stop(()))
            }
            Stage::AtNext { .. } | Stage::Blocked | Stage::Stopped => Err(Stop(())),
            Stage::Running | Stage::Repeating { .. } => self.misuse("a transaction begins inside of another one"),
        }
    }

    fn read(&mut self, key: &str) -> Result<V, Stop> {
        let key = self.engine.history.key(key);
        match self.stage {
            Stage::Running => {}
            Stage::Repeating { index, is_open: true } => return self.repeat(index, &Op::Read(0), key),
            Stage::AtNext { .. } | Stage::Blocked | Stage::Stopped => return Err(Stop(())),
            _ => return self.misuse("a read outside of a transaction"),
        }
        self.has_room()?;
        if let Some(value) = own_value(&self.ops, key).cloned() {
            self.agrees(&Op::OwnRead(key), key)?;
            self.ops.push(Op::OwnRead(key));
            return Ok(value);
        }
        let number = self.reads.len();
        self.agrees(&Op::Read(number as u32), key)?;
        let source = match self.sources.get(number) {
            Some(&source) => source,
            None => {
                let at = ReadAt { place: self.engine.history.len(), read: number };
                let Some(source) = self.engine.choose_source(&self.reader, at, key) else {
                    self.stage = if self.engine.is_blocked { Stage::Blocked } else { Stage::Stopped };
                    return Err(Stop(()));
                };
                source
            }
        };
        if !self.engine.accepts(&self.reader, key, source) {
            return self.stop();
        }
        let op = self.ops.len() as u32;
        self.reads.push(Read { key, source, past: self.reader.past, op });
        self.ops.push(Op::Read(number as u32));
        let consistent = self.reader.read(&self.engine.history, key, source);
        debug_assert!(consistent, "sources are valid");
        Ok(self.engine.history.value(source, key))
    }

    fn write(&mut self, key: &str, value: V) -> Result<(), Stop> {
        let key = self.engine.history.key(key);
        let op = Op::Write(key, value);
        match self.stage {
            Stage::Running => {}
            Stage::Repeating { index, is_open: true } => return self.repeat(index, &op, key).map(|_| ()),
            Stage::AtNext { .. } | Stage::Blocked | Stage::Stopped => return Err(Stop(())),
            _ => return self.misuse("a write outside of a transaction"),
        }
        self.has_room()?;
        self.agrees(&op, key)?;
        self.ops.push(op);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Stop> {
        match self.stage {
            Stage::Running => {
                self.stage = Stage::Committed;
                Ok(())
            }
            Stage::Repeating { index, is_open: true } => self.repeat_end(index, true),
            Stage::AtNext { .. } | Stage::Blocked | Stage::Stopped => Err(Stop(())),
            _ => self.misuse("a commit outside of a transaction"),
        }
    }

    fn abort(&mut self) {
        match self.stage {
            Stage::Running => self.stage = Stage::Aborted,
            Stage::Repeating { index, is_open: true } => {
                let _ = self.repeat_end(index, false);
            }
            _ => {}
        }
    }
}
