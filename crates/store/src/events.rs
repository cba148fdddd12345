//! What one transaction did, in its order, and what it wrote last to each key.

use crate::key_set::KeySet;
use crate::recorded::Recorded;
use rustc_hash::FxHashMap;
use seriatim_history::StatementContent;
use std::sync::Arc;

/// The longest list that is looked through.
const LIST_MAX: usize = 32;

/// The events of a transaction.
#[derive(Clone, Debug)]
pub(crate) struct Events<V> {
    list: Vec<Recorded<V>>,
    /// The place of the last write to each key, if there are more than [`LIST_MAX`] events.
    writes: FxHashMap<u32, u32>,
}

impl<V> Default for Events<V> {
    fn default() -> Self {
        Events { list: Vec::new(), writes: FxHashMap::default() }
    }
}

impl<V> Events<V> {
    pub fn push(&mut self, event: Recorded<V>) {
        self.list.push(event);
        let from = match self.list.len() {
            count if count <= LIST_MAX => return,
            count if count == LIST_MAX + 1 => 0,
            count => count - 1,
        };
        self.index(from);
    }

    fn index(&mut self, from: usize) {
        for (place, event) in self.list.iter().enumerate().skip(from) {
            if let Recorded::Write { key, .. } = event {
                self.writes.insert(*key, place as u32);
            }
        }
    }

    pub fn list(&self) -> &[Recorded<V>] {
        &self.list
    }

    /// To change what was read; what was written stays.
    pub fn reads_mut(&mut self) -> impl Iterator<Item = (u32, &mut u32)> {
        self.list.iter_mut().filter_map(|event| match event {
            Recorded::Read { key, source } => Some((*key, source)),
            _ => None,
        })
    }

    /// The source of the last event, if that is a read from another transaction.
    pub fn last_source(&self) -> Option<u32> {
        match self.list.last() {
            Some(Recorded::Read { source, .. }) => Some(*source),
            _ => None,
        }
    }

    /// The statement that began last.
    pub fn last_statement(&self) -> Option<&Arc<StatementContent>> {
        self.list.iter().rev().find_map(|event| match event {
            Recorded::Statement(content) => Some(content),
            _ => None,
        })
    }

    /// The same, to be completed.
    pub fn last_statement_mut(&mut self) -> Option<&mut Arc<StatementContent>> {
        self.list.iter_mut().rev().find_map(|event| match event {
            Recorded::Statement(content) => Some(content),
            _ => None,
        })
    }

    /// For each read from another transaction the number of its statement, from 0.
    pub fn statements_of_reads(&self) -> Vec<u32> {
        let (mut begun, mut numbers) = (0u32, Vec::new());
        for event in &self.list {
            match event {
                Recorded::Statement(_) => begun += 1,
                Recorded::Read { .. } => numbers.push(begun.saturating_sub(1)),
                _ => {}
            }
        }
        numbers
    }

    /// What the last write to `key` wrote; `None` if there is no such write.
    pub fn written(&self, key: u32) -> Option<&Option<V>> {
        let is_it =
            |event: &&Recorded<V>| matches!(event, Recorded::Write { key: it, .. } if *it == key);
        let event = if self.list.len() > LIST_MAX {
            self.list.get(*self.writes.get(&key)? as usize)
        } else {
            self.list.iter().rev().find(is_it)
        };
        match event {
            Some(Recorded::Write { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// What was written, in its order.
    pub fn into_writes(self) -> Vec<(u32, Option<V>)> {
        let writes = self.list.into_iter().filter_map(|event| match event {
            Recorded::Write { key, value } => Some((key, value)),
            _ => None,
        });
        writes.collect()
    }

    /// The keys that were written, each once, also if that was taken back.
    pub fn written_keys(&self) -> KeySet {
        let keys = self.list.iter().filter_map(|event| match event {
            Recorded::Write { key, .. } => Some(*key),
            _ => None,
        });
        keys.collect()
    }

    /// Takes back what was written, and read of that, behind place `mark`.
    pub fn roll_back_to(&mut self, mark: usize) {
        let mut place = 0;
        self.list.retain(|event| {
            place += 1;
            let is_own = matches!(event, Recorded::Write { .. } | Recorded::OwnRead { .. });
            place <= mark || !is_own
        });
        self.writes.clear();
        if self.list.len() > LIST_MAX {
            self.index(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_write_of_a_key_is_found_in_short_and_long_lists() {
        let mut events: Events<u32> = Events::default();
        for count in 0..3 * LIST_MAX as u32 {
            events.push(Recorded::Write { key: count % 5, value: Some(count) });
            events.push(Recorded::Read { key: 9, source: count });
            for key in 0..5 {
                let expected = (0..=count).rev().find(|value| value % 5 == key);
                assert_eq!(events.written(key).cloned().flatten(), expected);
            }
            assert_eq!(events.written(9), None);
            assert_eq!(events.last_source(), Some(count));
        }
        assert_eq!(*events.written_keys(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn rolling_back_leaves_reads_and_what_was_written_before() {
        for length in [3, 3 * LIST_MAX as u32] {
            let mut events: Events<u32> = Events::default();
            events.push(Recorded::Write { key: 0, value: Some(7) });
            for count in 0..length {
                events.push(Recorded::Write { key: 0, value: Some(count) });
                events.push(Recorded::Write { key: 1, value: Some(count) });
                events.push(Recorded::Read { key: 2, source: count });
            }
            events.roll_back_to(1);
            assert_eq!(events.written(0), Some(&Some(7)));
            assert_eq!(events.written(1), None);
            assert_eq!(events.list().len() as u32, 1 + length);
        }
    }
}
