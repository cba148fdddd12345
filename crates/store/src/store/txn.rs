//! An open transaction as its users see it.

use super::{Inner, Shared, StoreError, value};
use crate::chooser::TxnName;
use crate::engine::Engine;
use crate::recorded::Recorded;
use seriatim_isolation::Level;
use std::fmt;
use std::sync::{Arc, MutexGuard};

/// An open transaction; dropped without a commit, it aborts.
#[must_use]
pub struct Txn<V> {
    pub(super) shared: Arc<Shared<V>>,
    pub(super) name: TxnName,
    pub(super) number: u32,
    pub(super) level: Level,
    pub(super) ended: bool,
    pub(super) statement: super::members::Statement,
}

impl<V> fmt::Debug for Txn<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TxnName { session, .. } = self.name;
        write!(f, "Txn({} of session {session}, {})", self.number, self.level)
    }
}

impl<V: Clone> Txn<V> {
    /// Its session and its number there.
    pub fn name(&self) -> TxnName {
        self.name
    }

    /// The level it works at.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The store, if this transaction is open: one that failed has ended, too.
    pub(super) fn open(&self) -> Result<MutexGuard<'_, Inner<V>>, StoreError> {
        let inner = self.shared.lock();
        // One that failed may be forgotten by now.
        if !self.ended && inner.is_open(self.name.session, self.number) {
            Ok(inner)
        } else {
            Err(StoreError::Ended)
        }
    }

    /// What `key` holds; `None` if it holds nothing. Own writes are seen; anything else may be any
    /// version that the level allows.
    pub fn read(&mut self, key: &str) -> Result<Option<V>, StoreError> {
        let mut inner = self.open()?;
        inner.begin_statement(self.number);
        let key = inner.key(key);
        if let Some(open) = inner.question(self.number, key) {
            inner = self.ask(&self.shared, inner, open)?;
        }
        let read = read(&mut inner, self.number, key);
        self.or_fail(inner, read)
    }

    /// Writes `value` to `key`; others may see it once the transaction has committed.
    pub fn write(&mut self, key: &str, value: V) -> Result<(), StoreError> {
        self.put(key, Some(value))
    }

    /// Makes `key` hold nothing.
    pub fn remove(&mut self, key: &str) -> Result<(), StoreError> {
        self.put(key, None)
    }

    fn put(&mut self, key: &str, value: Option<V>) -> Result<(), StoreError> {
        let mut inner = self.open()?;
        let key = inner.key(key);
        if !inner.may_write(self.number, key) {
            return Err(self.fail(inner, StoreError::ConcurrentUpdate));
        }
        inner.engine.write(self.number, key);
        inner.events[self.number as usize].push(Recorded::Write { key, value });
        Ok(())
    }

    /// Reads `key` and, if it holds `expected`, writes `new`. Whether it did.
    pub fn compare_and_set(
        &mut self,
        key: &str,
        expected: Option<&V>,
        new: V,
    ) -> Result<bool, StoreError>
    where
        V: PartialEq,
    {
        let found = self.read(key)?;
        let equal = found.as_ref() == expected;
        if equal {
            self.write(key, new)?;
        }
        Ok(equal)
    }

    /// All keys that begin with `prefix` and hold something, with what they hold. Reads every key
    /// with this prefix that the store has ever heard of.
    pub fn scan(&mut self, prefix: &str) -> Result<Vec<(String, V)>, StoreError> {
        let mut inner = self.open()?;
        inner.begin_statement(self.number);
        let keys: Vec<u32> = inner.names.beginning_with(prefix).collect();
        let mut found = Vec::new();
        for key in keys {
            if let Some(open) = inner.question(self.number, key) {
                inner = self.ask(&self.shared, inner, open)?;
            }
            match read(&mut inner, self.number, key) {
                Some(Some(value)) => found.push((inner.names.shown(key).to_string(), value)),
                Some(None) => {}
                None => return self.or_fail(inner, None),
            }
        }
        Ok(found)
    }

    /// Passes a result on, or aborts the transaction if there is none.
    pub(super) fn or_fail<T>(
        &self,
        inner: MutexGuard<'_, Inner<V>>,
        result: Option<T>,
    ) -> Result<T, StoreError> {
        result.ok_or_else(|| self.fail(inner, StoreError::SerializationFailure(self.level)))
    }

    /// Aborts the transaction because of an error.
    pub(super) fn fail(
        &self,
        mut inner: MutexGuard<'_, Inner<V>>,
        error: StoreError,
    ) -> StoreError {
        inner.engine.abort(self.number);
        inner.note_failure(self.number, true);
        self.shared.end(inner, self.number);
        error
    }
}

/// A read, external or not; `None` if nothing may be read.
pub(super) fn read<V: Clone>(inner: &mut Inner<V>, txn: u32, key: u32) -> Option<Option<V>> {
    if inner.engine.log.writes(txn, key) {
        let value = inner.events[txn as usize].written(key).cloned().flatten();
        inner.events[txn as usize].push(Recorded::OwnRead { key });
        return Some(value);
    }
    let source = inner.choose(txn, key)?;
    inner.engine.read(txn, key, source);
    inner.events[txn as usize].push(Recorded::Read { key, source });
    Some(value(&inner.initial, &inner.events, source, key).cloned())
}

impl<V> Txn<V> {
    /// Makes the writes visible. Fails only at prefix consistency, snapshot isolation and
    /// serializability.
    pub fn commit(self) -> Result<(), StoreError> {
        self.finish(Engine::commit)
    }

    /// Ends the transaction; the engine says whether that is possible.
    fn finish(mut self, end: fn(&mut Engine, u32) -> bool) -> Result<(), StoreError> {
        let mut inner = self.shared.lock();
        if self.ended || !inner.is_open(self.name.session, self.number) {
            return Err(StoreError::Ended);
        }
        let ended = end(&mut inner.engine, self.number);
        inner.note_failure(self.number, !ended);
        self.shared.end(inner, self.number);
        self.ended = true;
        if ended { Ok(()) } else { Err(StoreError::SerializationFailure(self.level)) }
    }

    /// Takes everything back: what the transaction read does not count any more, as if it had never
    /// been.
    pub fn abort(mut self) {
        self.give_up();
    }

    /// Takes the writes back, while what the transaction read goes on to obey the level, as if it
    /// had committed: its session does not see older versions afterwards. Fails only at prefix
    /// consistency, snapshot isolation and serializability.
    pub fn withdraw(self) -> Result<(), StoreError> {
        self.finish(Engine::withdraw)
    }

    fn give_up(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let mut inner = self.shared.lock();
        if inner.is_open(self.name.session, self.number) {
            inner.engine.abort(self.number);
            self.shared.end(inner, self.number);
        }
    }
}

impl<V> Drop for Txn<V> {
    fn drop(&mut self) {
        self.give_up();
    }
}
