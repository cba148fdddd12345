//! One run of a transaction: its code, between what it reads and what was recorded.
//!
//! What a transaction does again must be what it did before, up to the read that changed: otherwise
//! the program is not deterministic. The code of a whole client is run from its beginning: the
//! transactions that are over are repeated from the history, then the one in question runs, and at
//! the begin of the next one the code is stopped.

use super::Engine;
use crate::closure::Closure;
use crate::error::{ExploreError, OPS_MAX, Place};
use crate::ordered::{Op, Read, Record, own_value};
use crate::panics;
use crate::program::{Access, Body, Client, Code, Local, Stop, Tx, Value};
use crate::reader::Reader;
use crate::trail::ReadAt;
use crate::txn_set::Id;
use std::rc::Rc;

/// Whether the code of a session ends without beginning a transaction.
pub(crate) fn begins_nothing<V: Value, L: Local>(code: &Code<V, L>) -> bool {
    let body = match code {
        Code::Transactions(_) => return false,
        Code::Steps(steps) => return !(steps.goes_on)(&L::default()),
        Code::Client(body) => body,
    };
    let mut probe = Probe { has_begun: false };
    // Whether it succeeds does not matter: only whether it came to a transaction.
    let panic = panics::caught(|| {
        let _ = body(&mut Client { access: &mut probe }, &mut L::default());
    });
    if let Some(message) = panic.filter(|_| !probe.has_begun) {
        panic!("a client panicked before its first transaction: {message}");
    }
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
    /// Before the transaction that is to be run: in this one, which is repeated from the history,
    /// or behind it.
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
pub(crate) struct Run<'e, 'p, V, L> {
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
    /// Why the exploration cannot go on. User code is between here and the engine, so that it is
    /// kept until the code has returned.
    failure: Option<ExploreError>,
    /// What the code said when it panicked.
    panic: Option<Rc<str>>,
    /// The operation before which it stops, if it does before its end.
    until: Option<usize>,
    /// What it was about to do there.
    ahead: Option<Ahead<V>>,
}

/// What a transaction does next.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ahead<V> {
    Read(u32),
    /// A read of its own last write to the key.
    OwnRead(u32, V),
    Write(u32, V),
    Commit,
    Abort,
}

/// A transaction up to some operation, and what comes then. Before its end it is one that wrote
/// nothing.
#[derive(Debug)]
pub(crate) struct Glimpse<V, L> {
    pub record: Record<V, L>,
    pub closure: Closure,
    pub ahead: Ahead<V>,
}

impl<'e, 'p, V: Value, L: Local> Run<'e, 'p, V, L> {
    pub fn new(
        engine: &'e mut Engine<'p, V, L>,
        reader: Reader,
        (session, index): (u32, u32),
        sources: Vec<Id>,
        before: Option<Rc<Record<V, L>>>,
    ) -> Self {
        let stage = Stage::Stopped;
        let (ops, reads) = (Vec::new(), Vec::new());
        Run {
            engine,
            reader,
            session,
            index,
            stage,
            sources,
            before,
            ops,
            reads,
            repeated: 0,
            failure: None,
            panic: None,
            until: None,
            ahead: None,
        }
    }

    /// Stops before the operation of this number, from 0.
    pub fn until(self, op: usize) -> Self {
        Run { until: Some(op), ..self }
    }

    /// Runs the code; returns the local state behind the transaction.
    pub fn code(&mut self, code: &Code<V, L>) -> L {
        match code {
            Code::Transactions(all) => self.transaction(&all[self.index as usize].body),
            Code::Steps(steps) => {
                let local = self.transaction(&steps.body);
                let is_committed = self.stage == Stage::Committed;
                if (is_committed || self.stage == Stage::Aborted) && (steps.goes_on)(&local) {
                    self.stage = Stage::AtNext { is_committed };
                }
                local
            }
            Code::Client(body) => {
                self.stage = Stage::Repeating { index: 0, is_open: false };
                let mut local = L::default();
                let panic = panics::caught(|| {
                    let _ = body(&mut Client { access: self }, &mut local);
                });
                self.note_panic(panic);
                if self.stage == Stage::Running {
                    self.stage = Stage::Aborted;
                }
                local
            }
        }
    }

    /// Runs a transaction, from the local state behind the one before.
    fn transaction(&mut self, body: &Body<V, L>) -> L {
        let last = self.engine.history.last_of(self.session);
        let mut local = last.map_or_else(L::default, |record| record.local.clone());
        self.stage = Stage::Running;
        // How it ended is known from what it did.
        let panic = panics::caught(|| {
            let _ = body(&mut Tx { access: self }, &mut local);
        });
        self.note_panic(panic);
        if self.stage == Stage::Running {
            self.stage = Stage::Committed;
        }
        local
    }

    /// A transaction that panics is taken back, and its session ends with it. Code that was stopped
    /// may well panic on the way out; that means nothing.
    fn note_panic(&mut self, panic: Option<String>) {
        if let Some(message) = panic
            && matches!(self.stage, Stage::Running | Stage::Committed | Stage::Aborted)
        {
            self.panic = Some(message.into());
            self.stage = Stage::Aborted;
        }
    }

    /// The transaction that came out of it, unless it did not come to its end.
    #[allow(clippy::type_complexity)]
    pub fn finish(mut self, local: L) -> Result<Option<(Record<V, L>, Closure)>, ExploreError> {
        let (is_committed, is_last) = match self.stage {
            Stage::Committed => (true, true),
            Stage::Aborted => (false, true),
            Stage::AtNext { is_committed } => (is_committed, false),
            Stage::Blocked => (false, true),
            Stage::Repeating { index, .. } => {
                let _: Result<(), Stop> =
                    self.differs(index, self.repeated, None, "end of the session".to_owned());
                return self.failure.map_or(Ok(None), Err);
            }
            Stage::Running | Stage::Stopped => return self.failure.map_or(Ok(None), Err),
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
        let record = Record {
            id,
            session,
            index,
            is_committed,
            is_last,
            ops,
            reads,
            written,
            past,
            edges,
            local,
            panic: self.panic,
        };
        Ok(Some((record, closure)))
    }

    /// What came out of it, of a run that stops before an operation.
    pub fn glimpse(mut self, local: L) -> Result<Option<Glimpse<V, L>>, ExploreError> {
        let ahead = self.ahead.take();
        if ahead.is_some() {
            self.stage = Stage::Aborted;
        }
        let glimpse = |(record, closure): (Record<V, L>, Closure)| {
            let end = if record.is_committed { Ahead::Commit } else { Ahead::Abort };
            Glimpse { record, closure, ahead: ahead.unwrap_or(end) }
        };
        Ok(self.finish(local)?.map(glimpse))
    }

    /// Stops before the next operation if that is where it is to stop.
    fn goes_on(&mut self, ahead: impl FnOnce() -> Ahead<V>) -> Result<(), Stop> {
        if self.until != Some(self.ops.len()) {
            return Ok(());
        }
        self.ahead = Some(ahead());
        self.stop()
    }

    fn stop<T>(&mut self) -> Result<T, Stop> {
        self.stage = Stage::Stopped;
        Err(Stop(()))
    }

    fn fail<T>(&mut self, failure: ExploreError) -> Result<T, Stop> {
        self.failure = Some(failure);
        self.stop()
    }

    fn place(&self, index: u32, op: usize) -> Place {
        let session = self.engine.program.sessions[self.session as usize].name.clone();
        Place { session, txn: index as usize + 1, op: op + 1 }
    }

    fn misuse<T>(&mut self, problem: &'static str) -> Result<T, Stop> {
        let place = self.place(self.index, self.ops.len());
        self.failure = Some(ExploreError::Client { place, problem });
        self.stop()
    }

    /// The program did something else than before.
    fn differs<T>(
        &mut self,
        index: u32,
        op: usize,
        before: Option<String>,
        now: String,
    ) -> Result<T, Stop> {
        let place = self.place(index, op);
        let before = before.unwrap_or_else(|| "end of the transaction".to_owned());
        self.failure = Some(ExploreError::NotDeterministic { place, before, now });
        self.stop()
    }

    /// Whether the transaction may have another operation.
    fn has_room(&mut self) -> Result<(), Stop> {
        if self.ops.len() < OPS_MAX {
            return Ok(());
        }
        let place = self.place(self.index, self.ops.len());
        self.failure = Some(ExploreError::TooManyOperations { place });
        self.stop()
    }

    /// Checks the next operation of the transaction against what it did before, as long as it has
    /// read the same.
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
            (Some(Op::OwnRead(then)), Op::Read(_)) if *then == key => {
                own_value(&record.ops[..at], key).cloned()
            }
            (Some(Op::Write(then, value)), Op::Write(_, new)) if *then == key && value == new => {
                Some(value.clone())
            }
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
            Stage::Running | Stage::Repeating { .. } => {
                self.misuse("a transaction begins inside of another one")
            }
        }
    }

    fn read(&mut self, key: &str) -> Result<V, Stop> {
        let key = self.engine.history.key(key);
        match self.stage {
            Stage::Running => {}
            Stage::Repeating { index, is_open: true } => {
                return self.repeat(index, &Op::Read(0), key);
            }
            Stage::AtNext { .. } | Stage::Blocked | Stage::Stopped => return Err(Stop(())),
            _ => return self.misuse("a read outside of a transaction"),
        }
        self.has_room()?;
        if let Some(value) = own_value(&self.ops, key).cloned() {
            self.goes_on(|| Ahead::OwnRead(key, value.clone()))?;
            self.agrees(&Op::OwnRead(key), key)?;
            self.ops.push(Op::OwnRead(key));
            return Ok(value);
        }
        self.goes_on(|| Ahead::Read(key))?;
        let number = self.reads.len();
        self.agrees(&Op::Read(number as u32), key)?;
        let source = match self.sources.get(number) {
            Some(&source) => source,
            None => {
                let at = ReadAt { place: self.engine.history.len(), read: number };
                match self.engine.choose_source(&self.reader, at, key) {
                    Ok(Some(source)) => source,
                    Ok(None) => {
                        self.stage = Stage::Blocked;
                        return Err(Stop(()));
                    }
                    Err(failure) => return self.fail(failure),
                }
            }
        };
        if let Err(failure) = self.engine.accept(&self.reader, key, source) {
            return self.fail(failure);
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
            Stage::Repeating { index, is_open: true } => {
                return self.repeat(index, &op, key).map(|_| ());
            }
            Stage::AtNext { .. } | Stage::Blocked | Stage::Stopped => return Err(Stop(())),
            _ => return self.misuse("a write outside of a transaction"),
        }
        self.has_room()?;
        if let Op::Write(key, value) = &op {
            self.goes_on(|| Ahead::Write(*key, value.clone()))?;
        }
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
