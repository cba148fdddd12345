//! The version horizon: old transactions precede all others for good, and what they left behind is
//! the initial state from then on.
//!
//! Members of groups that no remembered transaction has touched are given to whoever keeps the
//! initial state of tables, if there is such a keeper, and forgotten here: a table of a million
//! rows that were loaded once takes no room in the store.

use super::{Inner, Store};
use crate::events::Events;
use crate::ranges::Group;
use crate::shrink::shrink_list;
use rustc_hash::FxHashSet;
use std::num::NonZeroU32;

/// A member whose initial value is kept elsewhere from now on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettledCell<V> {
    /// Its group.
    pub group: Group,
    /// Its number there.
    pub member: u32,
    /// What it holds; `None` if that was removed.
    pub value: Option<V>,
}

/// Keeps the initial values of members.
pub(super) type Base<V> = Box<dyn FnMut(Vec<SettledCell<V>>) + Send>;

/// How many written keys count as a horizon full of transactions: some tens of megabytes.
const WRITTEN_MAX: usize = 200_000;

impl<V> Store<V> {
    /// With a horizon, `base` gets the values of members that the store forgets. From then on it is
    /// `base` that knows them: the store says of them that they are initial. It is called while
    /// the store is locked and must not use it.
    pub fn set_base(&self, base: impl FnMut(Vec<SettledCell<V>>) + Send + 'static) {
        self.0.lock().base = Some(Box::new(base));
    }
}

impl<V> Inner<V> {
    /// Settles if enough has happened since the last time.
    pub(super) fn settle_if_due(&mut self) {
        let is_due =
            |horizon: NonZeroU32| self.ended >= horizon.get() || self.written >= WRITTEN_MAX;
        if self.horizon.is_some_and(is_due) {
            self.settle();
        }
        let bound = if self.engine.node.is_some() { self.bound() } else { 0 };
        self.engine.node.iter_mut().for_each(|node| node.tidy(bound));
    }

    fn settle(&mut self) {
        (self.ended, self.written) = (0, 0);
        let order = self.engine.settleable(self.bound());
        let touched = self.keep_last_versions(&order);
        let first = self.engine.settle(&order);
        self.forget_sources(&order);
        let remembered: FxHashSet<u32> = self.engine.log.remembered().into_iter().collect();
        let is_needed = |txn: usize| remembered.contains(&(txn as u32));
        self.events.forget(first, is_needed);
        self.txn_names.forget(first, is_needed);
        if self.clock.is_some() {
            self.times.forget(first, is_needed);
        }
        self.choices.retain(|choice| remembered.contains(&choice.txn));
        self.hand_over(touched, &remembered);
    }

    /// Makes what these transactions wrote, one after the other, the initial state. The keys that
    /// they wrote.
    fn keep_last_versions(&mut self, order: &[u32]) -> FxHashSet<u32> {
        let mut touched = FxHashSet::default();
        for &txn in order {
            let events = std::mem::take(&mut self.events[txn as usize]);
            // One that took its writes back has none.
            let writes = &self.engine.log.txn(txn).writes;
            touched.extend(writes.iter().copied());
            for (key, value) in events.into_writes() {
                if writes.contains(&key) {
                    self.initial[key as usize] = value;
                }
            }
        }
        touched
    }

    /// What was read from these transactions was read from the initial state.
    fn forget_sources(&mut self, order: &[u32]) {
        let settled: FxHashSet<u32> = order.iter().copied().collect();
        for txn in self.engine.log.remembered() {
            let events: &mut Events<V> = &mut self.events[txn as usize];
            for (_, source) in events.reads_mut() {
                if settled.contains(source) {
                    *source = crate::past::INITIAL;
                }
            }
        }
    }

    /// Gives members to the base that no remembered transaction has read or written.
    fn hand_over(&mut self, touched: FxHashSet<u32>, remembered: &FxHashSet<u32>) {
        let Some(base) = &mut self.base else { return };
        let log = &self.engine.log;
        let mut used: FxHashSet<u32> = FxHashSet::default();
        for &txn in remembered {
            let record = log.txn(txn);
            used.extend(record.reads.iter().map(|read| read.key));
            used.extend(self.events[txn as usize].written_keys().iter());
        }
        let mut given: Vec<(u32, SettledCell<V>)> = Vec::new();
        for key in touched.into_iter().filter(|key| !used.contains(key)) {
            let Some((group, member)) = self.names.member(key) else { continue };
            let value = self.initial[key as usize].take();
            given.push((key, SettledCell { group, member, value }));
        }
        let keys: Vec<u32> = given.iter().map(|(key, _)| *key).collect();
        base(given.into_iter().map(|(_, cell)| cell).collect());
        self.engine.log.groups.forget(&keys);
        for key in keys {
            self.names.forget_member(key);
            if let Some(writers) = self.engine.log.keys.get_mut(key as usize) {
                *writers = Default::default();
            }
        }
        self.shrink();
    }

    /// Gives back the room of keys that are forgotten.
    fn shrink(&mut self) {
        self.names.shrink();
        let count = self.names.count();
        self.initial.truncate(count);
        self.engine.log.keys.truncate(count);
        shrink_list(&mut self.initial);
        shrink_list(&mut self.engine.log.keys);
    }
}
