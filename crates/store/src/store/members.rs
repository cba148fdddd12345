//! Keys that are members of groups, for stores of tables: a group is the rows of a table, or one of
//! its columns, and a member is a row. Members are named by numbers, so that nothing is made of
//! text for each read.
//!
//! A transaction may be divided into statements: within one, a key is read once, and the version
//! stays.

use super::txn::{Txn, read};
use super::{Inner, Shared, Store, StoreError, value, written};
use crate::past::INITIAL;
use crate::record::Recorded;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{Returned, StatementContent};
use std::sync::{Arc, MutexGuard};

/// Keys that are read together, with those that are yet to come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Group(pub(super) u32);

/// What the present statement has read.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    /// The versions that it got.
    seen: FxHashMap<u32, u32>,
    /// Groups that it read whole: keys that came later are absent for it.
    whole: FxHashMap<u32, usize>,
    ranges: FxHashSet<(u32, u32)>,
}

impl<V> Store<V> {
    /// The group of a name, which is the beginning of the names of its keys.
    pub fn group(&self, name: &str) -> Group {
        let mut inner = self.0.lock();
        if let Some(&group) = inner.groups.get(name) {
            return Group(group);
        }
        let group = inner.engine.log.groups.open();
        inner.groups.insert(name.into(), group);
        Group(group)
    }
}

impl<V> Inner<V> {
    fn member(&mut self, group: Group, member: u32, name: &dyn Fn() -> String) -> u32 {
        if let Some(&key) = self.members.get(&(group.0, member)) {
            return key;
        }
        let key = self.key(&name());
        self.members.insert((group.0, member), key);
        self.engine.log.groups.add(group.0, member, key);
        key
    }

    /// The transaction whose version of a key committed last.
    fn last_writer(&self, key: u32) -> u32 {
        let Some(writers) = self.engine.log.keys.get(key as usize) else { return INITIAL };
        writers.all.last().copied().unwrap_or(writers.settled)
    }
}

impl<V: Clone> Txn<V> {
    /// The store, borrowed from elsewhere, so that the statement can be changed meanwhile.
    fn open_in<'s>(&self, shared: &'s Shared<V>) -> Result<MutexGuard<'s, Inner<V>>, StoreError> {
        let inner = shared.lock();
        if !self.ended && inner.is_open(self.name.session, self.number) {
            Ok(inner)
        } else {
            Err(StoreError::Ended)
        }
    }

    /// A statement begins. What is said of it stands in the history.
    pub fn begin_statement(&mut self, content: StatementContent) {
        self.statement = Statement::default();
        let shared = Arc::clone(&self.shared);
        if let Ok(mut inner) = self.open_in(&shared) {
            let events = &mut inner.events[self.number as usize];
            events.push(Recorded::Statement(Arc::new(content)));
        }
    }

    /// The present statement has returned this.
    pub fn end_statement(&mut self, returned: Returned) {
        let shared = Arc::clone(&self.shared);
        let Ok(mut inner) = self.open_in(&shared) else { return };
        let events = inner.events[self.number as usize].iter_mut().rev();
        let mut statements = events.filter_map(|event| match event {
            Recorded::Statement(content) => Some(content),
            _ => None,
        });
        if let Some(content) = statements.next() {
            Arc::make_mut(content).returned = Some(returned);
        }
    }

    /// What a member holds; `None` if that is its initial value.
    pub fn read_member(
        &mut self,
        group: Group,
        member: u32,
        name: &dyn Fn() -> String,
    ) -> Result<Option<V>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let key = inner.member(group, member, name);
        let read = read_once(&mut inner, &mut self.statement, self.number, key);
        self.or_fail(inner, read)
    }

    /// What members of a group hold: those of these that have ever been written or read by
    /// themselves; all others hold their initial values, also those that are yet to come. Without
    /// a list, all members.
    pub fn read_group(
        &mut self,
        group: Group,
        members: Option<&[u32]>,
    ) -> Result<Vec<(u32, Option<V>)>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let keys: Vec<(u32, u32)> = match members {
            None => inner.engine.log.groups.members(group.0).collect(),
            Some(list) => list
                .iter()
                .filter_map(|&member| Some((*inner.members.get(&(group.0, member))?, member)))
                .collect(),
        };
        let known = self.statement.whole.get(&group.0).copied();
        let mut found = Vec::new();
        for (place, (key, member)) in keys.into_iter().enumerate() {
            let came_later = members.is_none() && known.is_some_and(|known| place >= known);
            if came_later && !inner.engine.log.writes(self.number, key) {
                continue;
            }
            match read_once(&mut inner, &mut self.statement, self.number, key) {
                Some(value) => found.push((member, value)),
                None => return self.or_fail(inner, None),
            }
        }
        self.note_range(&mut inner, group, members);
        Ok(found)
    }

    fn note_range(&mut self, inner: &mut Inner<V>, group: Group, members: Option<&[u32]>) {
        let list = match members {
            None => {
                let count = inner.engine.log.groups.members(group.0).count();
                if self.statement.whole.insert(group.0, count).is_some() {
                    return;
                }
                None
            }
            // Members that have a key were read by it.
            Some(list) => {
                let is_new = |member: &u32| {
                    !inner.members.contains_key(&(group.0, *member))
                        && self.statement.ranges.insert((group.0, *member))
                };
                let mut list: Vec<u32> = list.iter().copied().filter(is_new).collect();
                if list.is_empty() {
                    return;
                }
                list.sort_unstable();
                Some(Arc::from(list))
            }
        };
        inner.engine.read_range(self.number, group.0, list);
        let range = inner.engine.log.txn(self.number).ranges.last().cloned();
        if let Some(range) = range {
            inner.events[self.number as usize].push(Recorded::Range(range));
        }
    }

    /// The latest committed value of a member, or the own one: what a lock shows. Fails if the
    /// transaction may not see it any more.
    pub fn read_latest_member(
        &mut self,
        group: Group,
        member: u32,
        name: &dyn Fn() -> String,
    ) -> Result<Option<V>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let key = inner.member(group, member, name);
        if inner.engine.log.writes(self.number, key) {
            let own = read(&mut inner, self.number, key);
            return self.or_fail(inner, own);
        }
        let last = inner.last_writer(key);
        if !inner.engine.admissible(self.number, key).contains(&last) {
            return self.or_fail(inner, None);
        }
        inner.engine.read(self.number, key, last);
        inner.events[self.number as usize].push(Recorded::Read { key, source: last });
        self.statement.seen.insert(key, last);
        Ok(value(&inner.initial, &inner.events, last, key).cloned())
    }

    /// The same without a read: for those who keep constraints.
    pub fn peek_member(&self, group: Group, member: u32) -> Option<V> {
        let inner = self.shared.lock();
        let &key = inner.members.get(&(group.0, member))?;
        if inner.engine.log.writes(self.number, key) {
            return written(&inner.events[self.number as usize], key).cloned().flatten();
        }
        value(&inner.initial, &inner.events, inner.last_writer(key), key).cloned()
    }

    /// Writes a member.
    pub fn write_member(
        &mut self,
        group: Group,
        member: u32,
        name: &dyn Fn() -> String,
        value: V,
    ) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let key = inner.member(group, member, name);
        inner.engine.write(self.number, key);
        inner.events[self.number as usize].push(Recorded::Write { key, value: Some(value) });
        Ok(())
    }

    /// Where the transaction stands.
    pub fn mark(&self) -> Result<usize, StoreError> {
        Ok(self.open()?.events[self.number as usize].len())
    }

    /// Takes back what was written since a mark; what was read stays read.
    pub fn roll_back_to(&mut self, mark: usize) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let events = &mut inner.events[self.number as usize];
        let mut place = 0;
        events.retain(|event| {
            place += 1;
            let is_own = matches!(event, Recorded::Write { .. } | Recorded::OwnRead { .. });
            place <= mark || !is_own
        });
        let kept: Vec<u32> = super::written_keys(events);
        inner.engine.log.txns[self.number as usize].writes = kept;
        Ok(())
    }
}

/// A read that a statement does at most once.
fn read_once<V: Clone>(
    inner: &mut Inner<V>,
    statement: &mut Statement,
    txn: u32,
    key: u32,
) -> Option<Option<V>> {
    if !inner.engine.log.writes(txn, key)
        && let Some(&source) = statement.seen.get(&key)
    {
        return Some(value(&inner.initial, &inner.events, source, key).cloned());
    }
    let found = read(inner, txn, key)?;
    if let Some(Recorded::Read { source, .. }) = inner.events[txn as usize].last() {
        statement.seen.insert(key, *source);
    }
    Some(found)
}
