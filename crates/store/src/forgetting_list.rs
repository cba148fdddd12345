//! Things that are numbered one after another, of which old ones may be forgotten.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// The last ones in a row, and those before them that are still needed.
#[derive(Clone, Debug)]
pub(crate) struct ForgettingList<T> {
    /// The number of the first one in `recent`.
    first: usize,
    recent: VecDeque<T>,
    old: FxHashMap<usize, T>,
}

impl<T> Default for ForgettingList<T> {
    fn default() -> Self {
        ForgettingList { first: 0, recent: VecDeque::new(), old: FxHashMap::default() }
    }
}

impl<T> ForgettingList<T> {
    pub fn push(&mut self, item: T) {
        self.recent.push_back(item);
    }

    /// The number of the next one.
    pub fn next(&self) -> usize {
        self.first + self.recent.len()
    }

    /// How many are there.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.old.len() + self.recent.len()
    }

    /// Those that are there, with their numbers, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let mut old: Vec<(usize, &T)> =
            self.old.iter().map(|(&number, item)| (number, item)).collect();
        old.sort_unstable_by_key(|&(number, _)| number);
        old.into_iter()
            .chain(self.recent.iter().enumerate().map(|(place, item)| (self.first + place, item)))
    }

    /// Those that are there, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.old.values_mut().chain(self.recent.iter_mut())
    }

    /// The one of this number, unless it was forgotten.
    pub fn get(&self, number: usize) -> Option<&T> {
        match number.checked_sub(self.first) {
            Some(place) => self.recent.get(place),
            None => self.old.get(&number),
        }
    }

    /// Forgets those for which `is_needed` says no, except for those from number `first` on.
    pub fn forget(&mut self, first: usize, is_needed: impl Fn(usize) -> bool) {
        self.old.retain(|&number, _| is_needed(number));
        while self.first < first {
            let Some(item) = self.recent.pop_front() else { break };
            if is_needed(self.first) {
                self.old.insert(self.first, item);
            }
            self.first += 1;
        }
    }
}

impl<T> Index<usize> for ForgettingList<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        match number.checked_sub(self.first) {
            Some(place) => &self.recent[place],
            None => &self.old[&number],
        }
    }
}

impl<T> IndexMut<usize> for ForgettingList<T> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut T {
        match number.checked_sub(self.first) {
            Some(place) => &mut self.recent[place],
            None => self.old.get_mut(&number).expect("what is asked for has not been forgotten"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_and_what_is_recent_stays() {
        let mut kept: ForgettingList<usize> = ForgettingList::default();
        (0..10).for_each(|number| kept.push(number));
        kept.forget(7, |number| number % 4 == 0);
        let left: Vec<usize> = kept
            .iter()
            .map(|(number, &item)| {
                assert_eq!(number, item);
                assert_eq!(kept[number], item);
                item
            })
            .collect();
        assert_eq!(left, [0, 4, 7, 8, 9]);
        assert_eq!((kept.next(), kept.len()), (10, 5));
        kept.forget(9, |number| number == 4);
        assert_eq!((kept.get(4), kept.get(8), kept.get(10)), (Some(&4), None, None));
        assert_eq!(kept.iter().map(|(number, _)| number).collect::<Vec<_>>(), [4, 9]);
        kept[4] = 7;
        assert_eq!(kept[4], 7);
    }
}
