//! Keys that are members of groups, for stores of tables: a group is the rows of a table, or one of
//! its columns, and a member is a row. Members are named by numbers, so that nothing is made of
//! text for each read.
//!
//! A transaction may be divided into statements: within one, a key is read once, and the version
//! stays.

use super::txn::{Txn, read};
use super::{Inner, Shared, StoreError, value};
use crate::ranges::Group;
use crate::recorded::Recorded;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{Returned, StatementContent};
use std::sync::{Arc, MutexGuard};

/// What the present statement has read.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    /// The versions that it got.
    seen: FxHashMap<u32, u32>,
    /// Groups that it read whole, and how many keys there were then: those that came later are
    /// absent for it.
    whole: FxHashMap<Group, u64>,
    ranges: FxHashSet<(Group, u32)>,
}

impl<V> Inner<V> {
    fn member(&mut self, group: Group, member: u32) -> u32 {
        if let Some(key) = self.names.find_member(group, member) {
            return key;
        }
        let key = self.names.add_member(group, member);
        self.initial.resize_with(self.names.count(), || None);
        self.engine.log.groups.add(group, member, key);
        key
    }

    /// The key of a member that had one before the store was unlocked. None if it was forgotten
    /// since: then it holds its initial value, also if somebody has written it again.
    fn member_again(&self, txn: u32, group: Group, member: u32) -> Option<u32> {
        let key = self.names.find_member(group, member)?;
        (!self.engine.log.has_in_range(txn, key)).then_some(key)
    }

    fn note(&mut self, txn: u32, event: Option<Recorded<V>>) {
        event.into_iter().for_each(|event| self.events[txn as usize].push(event));
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
        if let Ok(mut inner) = self.open() {
            inner.begin_statement(self.number);
            if inner.horizon.is_none() {
                inner.statements.push(self.number);
            }
            let events = &mut inner.events[self.number as usize];
            events.push(Recorded::Statement(Arc::new(content)));
        }
    }

    /// Whether statements from now on read the latest versions that the level allows, whatever the
    /// chooser likes: for assertions, which are to see what is there.
    pub fn set_reads_latest(&mut self, latest: bool) {
        let session = self.name.session as usize;
        if let Ok(mut inner) = self.open() {
            inner.clients[session].reads_latest = latest;
        }
    }

    /// The present statement has returned this.
    pub fn end_statement(&mut self, returned: Returned) {
        let Ok(mut inner) = self.open() else { return };
        if let Some(content) = inner.events[self.number as usize].last_statement_mut() {
            Arc::make_mut(content).returned = Some(returned);
        }
    }

    /// What a member holds; `None` if that is its initial value.
    pub fn read_member(&mut self, group: Group, member: u32) -> Result<Option<V>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let mut key = inner.member(group, member);
        if !self.statement.seen.contains_key(&key)
            && let Some(open) = inner.question(self.number, key)
        {
            inner = self.ask(&shared, inner, open)?;
            // With a horizon it may have been forgotten, and have another number now.
            key = inner.member(group, member);
        }
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
        let keys: Vec<(u32, u32, u64)> = match members {
            None => inner.engine.log.groups.members(group).collect(),
            Some(list) => {
                let key = |member: u32| inner.names.find_member(group, member);
                list.iter().filter_map(|&member| Some((key(member)?, member, 0))).collect()
            }
        };
        let known = self.statement.whole.get(&group).copied();
        let mut range = self.read_range(&mut inner, group, members);
        let mut found = Vec::new();
        for (mut key, member, number) in keys {
            let came_later = known.is_some_and(|known| number >= known);
            if came_later && !inner.engine.log.writes(self.number, key) {
                continue;
            }
            if !self.statement.seen.contains_key(&key)
                && let Some(open) = inner.question(self.number, key)
            {
                // What others insert while somebody thinks comes after the range.
                inner.note(self.number, range.take());
                inner = self.ask(&shared, inner, open)?;
                match inner.member_again(self.number, group, member) {
                    Some(again) => key = again,
                    None => {
                        inner.asking.forget();
                        continue;
                    }
                }
            }
            match read_once(&mut inner, &mut self.statement, self.number, key) {
                Some(value) => found.push((member, value)),
                None => return self.or_fail(inner, None),
            }
        }
        inner.note(self.number, range);
        Ok(found)
    }

    /// Reads the initial version of the members that are yet to come. It must be done while the
    /// store is locked as it was when the others were listed.
    fn read_range(
        &mut self,
        inner: &mut Inner<V>,
        group: Group,
        members: Option<&[u32]>,
    ) -> Option<Recorded<V>> {
        let list = match members {
            None => {
                // The first time counts: what came since then is absent.
                if self.statement.whole.contains_key(&group) {
                    return None;
                }
                self.statement.whole.insert(group, inner.engine.log.groups.count());
                None
            }
            // Members that have a key were read by it.
            Some(list) => {
                let is_new = |member: &u32| {
                    inner.names.find_member(group, *member).is_none()
                        && self.statement.ranges.insert((group, *member))
                };
                let mut list: Vec<u32> = list.iter().copied().filter(is_new).collect();
                if list.is_empty() {
                    return None;
                }
                list.sort_unstable();
                Some(Arc::from(list))
            }
        };
        inner.engine.read_range(self.number, group, list);
        inner.engine.log.txn(self.number).ranges.last().cloned().map(Recorded::Range)
    }

    /// The latest committed value of a member, or the own one: what a lock shows. Fails if the
    /// transaction may not see it any more.
    pub fn read_latest_member(
        &mut self,
        group: Group,
        member: u32,
    ) -> Result<Option<V>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let key = inner.member(group, member);
        if inner.engine.log.writes(self.number, key) {
            let own = read(&mut inner, self.number, key);
            return self.or_fail(inner, own);
        }
        let last = inner.engine.last_version(key);
        if !inner.engine.may_read(self.number, key, last) {
            return self.or_fail(inner, None);
        }
        inner.note_seen(self.number, last);
        // On a node the statement goes on with its snapshot, and reads nothing twice.
        let on_node = inner.engine.node.is_some();
        if !on_node || self.statement.seen.get(&key) != Some(&last) {
            inner.engine.read(self.number, key, last);
            inner.events[self.number as usize].push(Recorded::Read { key, source: last });
        }
        if !on_node {
            self.statement.seen.insert(key, last);
        }
        Ok(value(&inner.initial, &inner.events, last, key).cloned())
    }

    /// The same without a read: for those who keep constraints.
    pub fn peek_member(&self, group: Group, member: u32) -> Option<V> {
        let mut inner = self.shared.lock();
        let key = inner.names.find_member(group, member)?;
        if inner.engine.log.writes(self.number, key) {
            return inner.events[self.number as usize].written(key).cloned().flatten();
        }
        let last = inner.engine.last_version(key);
        inner.note_seen(self.number, last);
        value(&inner.initial, &inner.events, last, key).cloned()
    }

    /// Writes a member.
    pub fn write_member(&mut self, group: Group, member: u32, value: V) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let key = inner.member(group, member);
        if !inner.may_write(self.number, key) {
            return Err(self.fail(inner, StoreError::ConcurrentUpdate));
        }
        inner.engine.write(self.number, key);
        inner.events[self.number as usize].push(Recorded::Write { key, value: Some(value) });
        Ok(())
    }

    /// Where the transaction stands.
    pub fn mark(&self) -> Result<usize, StoreError> {
        Ok(self.open()?.events[self.number as usize].list().len())
    }

    /// Takes back what was written since a mark; what was read stays read.
    pub fn roll_back_to(&mut self, mark: usize) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut inner = self.open_in(&shared)?;
        let events = &mut inner.events[self.number as usize];
        events.roll_back_to(mark);
        let kept = events.written_keys();
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
    if let Some(source) = inner.events[txn as usize].last_source() {
        statement.seen.insert(key, source);
    }
    Some(found)
}
