//! The end of one behaviour: the local states, the history, and what the database may hold.

use crate::cycles::{self, Label};
use crate::engine::{Engine, Setting};
use crate::ordered::{Ordered, Record};
use crate::program::{Local, Program, Value};
use crate::to_history::{self, Aborted};
use crate::token;
use crate::txn_set::{INITIAL, Id};
use crate::valid;
use seriatim_history::History;
use seriatim_isolation::Level;
use std::cell::Cell;
use std::fmt;

/// One behaviour of a program, complete.
pub struct End<'e, V, L> {
    program: &'e Program<V, L>,
    setting: Setting,
    history: &'e Ordered<V, L>,
    locals: Vec<L>,
    /// How much is looked at to answer one question.
    sets_max: usize,
    /// Whether that was too little once.
    has_given_up: Cell<bool>,
}

impl<'e, V: Value, L: Local> End<'e, V, L> {
    pub(crate) fn of(engine: &'e Engine<'_, V, L>) -> Self {
        let history = &engine.history;
        let local = |session| {
            history.last_of(session).map_or_else(L::default, |record| record.local.clone())
        };
        let locals = (0..history.sessions() as u32).map(local).collect();
        End {
            program: engine.program,
            setting: engine.setting,
            history,
            locals,
            sets_max: usize::MAX,
            has_given_up: Cell::new(false),
        }
    }

    /// The same within a budget; see [`End::has_given_up`].
    pub(crate) fn within(self, sets_max: usize) -> Self {
        End { sets_max, ..self }
    }

    /// Whether an answer since the beginning lacks something because the budget was too small.
    pub(crate) fn has_given_up(&self) -> bool {
        self.has_given_up.get()
    }

    /// The local states of the sessions.
    pub fn locals(&self) -> &[L] {
        &self.locals
    }

    /// The local state of the session of this name.
    pub fn local(&self, session: &str) -> Option<&L> {
        let number = self.program.session_names().position(|name| name == session)?;
        self.locals.get(number)
    }

    /// Whether a transaction, by the numbers of its session and in it from 0, committed; `None` if
    /// there is none.
    pub fn is_committed(&self, session: usize, txn: usize) -> Option<bool> {
        let done =
            (session < self.history.sessions()).then(|| self.history.done(session as u32))?;
        (txn < done as usize)
            .then(|| self.history.of_session(session as u32, txn as u32).is_committed)
    }

    /// What a transaction said that panicked, with its place, if one did. It counts as aborted, and
    /// its session ends there.
    pub fn panicked(&self) -> Option<String> {
        let told = |record: &std::rc::Rc<Record<V, L>>| {
            let name = to_history::name(self.program, record.session, record.index);
            record.panic.as_ref().map(|message| format!("{name} panicked: {message}"))
        };
        self.history.order().iter().find_map(told)
    }

    /// What was read and written, for the checkers.
    pub fn history(&self) -> History {
        to_history::history(self.history, self.program, Aborted::AsTheyWere)
    }

    /// The same with every aborted transaction that read something as one that only read, and
    /// committed. That is how it counts in [`End::is_at`], while checkers leave aborted
    /// transactions out.
    pub fn history_of_readers(&self) -> History {
        to_history::history(self.history, self.program, Aborted::AsReaders)
    }

    /// What reruns just this behaviour, see [`crate::replay`].
    pub fn token(&self) -> String {
        token::of(self.history)
    }

    /// Whether the behaviour is one that would also be possible if every transaction were at this
    /// level. Aborted transactions count: what they read obeys the level. There is no real time
    /// here, so strict serializability is serializability.
    pub fn is_at(&self, level: Level) -> bool {
        match level {
            Level::CutIsolation => self.reads_repeat(),
            _ => self.is_valid(|_| level, &[]),
        }
    }

    fn is_valid(&self, level_of: impl Fn(Id) -> Level, edges: &[(Id, Id)]) -> bool {
        let answer = valid::is_valid_within(self.history, level_of, edges, self.sets_max);
        answer.unwrap_or_else(|| {
            self.has_given_up.set(true);
            false
        })
    }

    /// Whether no transaction read two versions of a key.
    fn reads_repeat(&self) -> bool {
        let repeats = |record: &std::rc::Rc<Record<V, L>>| {
            let reads = || record.reads.iter();
            reads().all(|read| {
                reads().all(|other| read.key != other.key || read.source == other.source)
            })
        };
        self.history.order().iter().all(repeats)
    }

    /// Whether the transactions may as well have run one after the other.
    pub fn is_serializable(&self) -> bool {
        self.is_at(Level::Serializable)
    }

    /// The cycle of dependencies because of which it is not serializable, if one is found without a
    /// case distinction: transactions with what leads from each to the next (`so` session order,
    /// `wr` a read, `ww` an overwritten version, `rw` a version that was read and then
    /// overwritten).
    pub fn cycle(&self) -> Option<String> {
        let edges = cycles::find(self.history)?;
        let name = |id: Id| {
            let (session, index) = self.history.name(id);
            to_history::name(self.program, session, index)
        };
        let label = |label| match label {
            Label::Session => "so".to_owned(),
            Label::WriteRead(key) => format!("wr {}", self.history.key_name(key)),
            Label::WriteWrite(key) => format!("ww {}", self.history.key_name(key)),
            Label::ReadWrite(key) => format!("rw {}", self.history.key_name(key)),
        };
        let steps: Vec<String> = edges
            .iter()
            .map(|edge| format!("{} -{}->", name(edge.from), label(edge.label)))
            .collect();
        let end = edges.first().map(|edge| name(edge.from)).unwrap_or_default();
        Some(format!("{} {end}", steps.join(" ")))
    }

    /// Checks what the database may hold in the end: `check` is called with a way to read keys,
    /// once for each combination of latest values that some commit order gives to the keys that it
    /// reads. Its first failure is returned.
    pub fn finally(
        &self,
        check: impl Fn(&mut dyn FnMut(&str) -> V) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut finals = Finals { end: self, chosen: Vec::new() };
        loop {
            let mut at = 0;
            check(&mut |key| finals.read(key, &mut at))?;
            if !finals.next() {
                return Ok(());
            }
        }
    }

    fn level_of(&self, id: Id) -> Level {
        self.setting.level_of(self.program, self.history.name(id))
    }
}

/// The writer of the latest value of each key that was asked for.
struct Finals<'f, 'e, V, L> {
    end: &'f End<'e, V, L>,
    /// Keys with the transactions that may have written them last, and which is taken.
    chosen: Vec<(u32, Vec<Id>, usize)>,
}

impl<V: Value, L: Local> Finals<'_, '_, V, L> {
    /// The latest value of a key; `at` counts the different keys of this round.
    fn read(&mut self, key: &str, at: &mut usize) -> V {
        let Some(key) = self.end.history.find_key(key) else { return V::default() };
        let known = self.chosen[..*at].iter().position(|chosen| chosen.0 == key);
        let place = known.unwrap_or_else(|| {
            if *at == self.chosen.len() {
                let writers = self.last_writers(key);
                self.chosen.push((key, writers, 0));
            }
            *at += 1;
            *at - 1
        });
        let (key, writers, taken) = &self.chosen[place];
        self.end.history.value(writers[*taken], *key)
    }

    /// The transactions that may have written `key` last, given the last writers of the other keys.
    fn last_writers(&self, key: u32) -> Vec<Id> {
        let writers = self.end.history.writers(key);
        if writers.is_empty() {
            return vec![INITIAL];
        }
        let known: Vec<(Id, Id)> =
            self.chosen.iter().flat_map(|(key, all, taken)| self.last(*key, all[*taken])).collect();
        let level = |id| self.end.level_of(id);
        let fits = |&last: &Id| {
            let edges = [known.clone(), self.last(key, last)].concat();
            self.end.is_valid(level, &edges)
        };
        let fitting: Vec<Id> = writers.iter().filter(fits).collect();
        // Some commit order is valid, so that only a budget that was too small leaves nothing.
        if fitting.is_empty() { writers.iter().collect() } else { fitting }
    }

    /// What the commit order must respect if `last` wrote `key` last.
    fn last(&self, key: u32, last: Id) -> Vec<(Id, Id)> {
        if last == INITIAL {
            return Vec::new();
        }
        self.end.history.writers(key).without(last).iter().map(|writer| (writer, last)).collect()
    }

    /// Takes the next combination; false if there is none.
    fn next(&mut self) -> bool {
        while let Some((_, writers, taken)) = self.chosen.last_mut() {
            if *taken + 1 < writers.len() {
                *taken += 1;
                return true;
            }
            self.chosen.pop();
        }
        false
    }
}

impl<V, L: fmt::Debug> fmt::Debug for End<'_, V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").field("locals", &self.locals).finish_non_exhaustive()
    }
}
