//! Room that tables give back once most of what was in them is gone.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// A table of this capacity is small enough to keep.
const SMALL: usize = 1 << 14;

fn is_wasted(capacity: usize, length: usize) -> bool {
    capacity > SMALL && capacity / 4 > length
}

/// Gives back the room of a list that is nearly empty.
pub(crate) fn shrink_list<T>(list: &mut Vec<T>) {
    if is_wasted(list.capacity(), list.len()) {
        list.shrink_to(2 * list.len());
    }
}

/// The same for a map.
pub(crate) fn shrink_map<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) {
    if is_wasted(map.capacity(), map.len()) {
        map.shrink_to(2 * map.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_that_are_nearly_empty_shrink_and_keep_what_they_have() {
        let mut list: Vec<usize> = (0..10 * SMALL).collect();
        let mut map: HashMap<usize, usize> = list.iter().map(|&it| (it, it)).collect();
        let capacities = (list.capacity(), map.capacity());
        shrink_list(&mut list);
        shrink_map(&mut map);
        assert_eq!((list.capacity(), map.capacity()), capacities);
        list.truncate(100);
        map.retain(|key, _| *key < 100);
        shrink_list(&mut list);
        shrink_map(&mut map);
        assert!(list.capacity() < SMALL && map.capacity() < SMALL);
        assert!(list.iter().copied().eq(0..100) && (0..100).all(|key| map[&key] == key));
    }
}
