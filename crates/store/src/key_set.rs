//! The keys that a transaction has written, in the order of their first writes.
//!
//! Most transactions write a few keys, some load a table. A short list is looked through; a long
//! one has an index, so that the cost of a question does not depend on how much was written.

use rustc_hash::FxHashSet;
use std::ops::Deref;

/// The longest list that is looked through.
const LIST_MAX: usize = 16;

/// Keys, each once.
#[derive(Clone, Default, Debug)]
pub(crate) struct KeySet {
    list: Vec<u32>,
    /// All of them, if there are more than [`LIST_MAX`].
    index: FxHashSet<u32>,
}

impl KeySet {
    pub fn contains(&self, key: &u32) -> bool {
        if self.list.len() > LIST_MAX { self.index.contains(key) } else { self.list.contains(key) }
    }

    /// Adds a key, unless it is there.
    pub fn insert(&mut self, key: u32) {
        if self.contains(&key) {
            return;
        }
        self.list.push(key);
        if self.list.len() > LIST_MAX + 1 {
            self.index.insert(key);
        } else if self.list.len() == LIST_MAX + 1 {
            self.index.extend(&self.list);
        }
    }

    pub fn clear(&mut self) {
        *self = KeySet::default();
    }
}

impl Deref for KeySet {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.list
    }
}

impl FromIterator<u32> for KeySet {
    fn from_iter<I: IntoIterator<Item = u32>>(keys: I) -> KeySet {
        let mut set = KeySet::default();
        keys.into_iter().for_each(|key| set.insert(key));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_sets_answer_alike() {
        let mut set = KeySet::default();
        for count in 0..3 * LIST_MAX as u32 {
            assert!(!set.contains(&(count * 7)), "{count}");
            set.insert(count * 7);
            set.insert(0);
            assert_eq!(set.len() as u32, count + 1);
            assert!((0..=count).all(|key| set.contains(&(key * 7))) && !set.contains(&1));
        }
        set.clear();
        assert!(set.is_empty() && !set.contains(&0));
    }
}
