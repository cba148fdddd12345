//! Reads of keys that are yet to come.
//!
//! Keys may stand in *groups*, as the rows of a table do. A transaction that reads a group reads
//! each key that is there, and besides that it has read the initial version of every key that will
//! ever enter the group: without that, two transactions that each count the rows of a table, find
//! none and insert one could both be serializable. A range is that second part. It is not a list:
//! the keys that it is about are those of the group that came after it, and writers of these are
//! compared with it when they come.
//!
//! Keys are counted over all groups as they enter, so that a group that has no key takes no place,
//! and a key that is forgotten leaves the order of the others as it is.

use crate::shrink::shrink_map;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Keys that are read together, with those that are yet to come: any number that the caller likes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Group(pub u64);

/// A read of the initial version of all keys of a group that come from then on.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub group: Group,
    /// How many keys had entered any group.
    pub known: u64,
    /// Of which members, ascending; none for all.
    pub members: Option<Arc<[u32]>>,
}

impl Range {
    fn has_member(&self, member: u32) -> bool {
        self.members.as_ref().is_none_or(|members| members.binary_search(&member).is_ok())
    }
}

/// A key in its group.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// How many keys had entered any group before it.
    number: u64,
    key: u32,
    member: u32,
}

/// The keys of groups, in the order in which they came.
#[derive(Clone, Default, Debug)]
pub(crate) struct Groups {
    entries: FxHashMap<Group, Vec<Entry>>,
    /// The group of a key, and its number.
    places: FxHashMap<u32, (Group, u64)>,
    next: u64,
}

impl Groups {
    /// A key enters a group.
    pub fn add(&mut self, group: Group, member: u32, key: u32) {
        self.places.insert(key, (group, self.next));
        let entries = self.entries.entry(group).or_default();
        entries.push(Entry { number: self.next, key, member });
        self.next += 1;
    }

    /// How many keys have entered any group.
    pub fn count(&self) -> u64 {
        self.next
    }

    fn entries(&self, group: Group, from: u64) -> &[Entry] {
        let entries = self.entries.get(&group).map_or(&[][..], Vec::as_slice);
        &entries[entries.partition_point(|entry| entry.number < from)..]
    }

    /// The keys of a group with their members, and with how many keys came before each.
    pub fn members(&self, group: Group) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.entries(group, 0).iter().map(|entry| (entry.key, entry.member, entry.number))
    }

    /// The group of a key.
    pub fn group_of(&self, key: u32) -> Option<Group> {
        self.places.get(&key).map(|&(group, _)| group)
    }

    /// A range over what comes from now on.
    pub fn range(&self, group: Group, members: Option<Arc<[u32]>>) -> Range {
        Range { group, known: self.next, members }
    }

    /// The keys that a range is about so far.
    pub fn later<'g>(&'g self, range: &'g Range) -> impl Iterator<Item = u32> + 'g {
        let later = self.entries(range.group, range.known).iter();
        later.filter(|entry| range.has_member(entry.member)).map(|entry| entry.key)
    }

    /// Whether a range is about a key.
    pub fn covers(&self, range: &Range, key: u32) -> bool {
        let Some(&(group, number)) = self.places.get(&key) else { return false };
        if group != range.group || number < range.known {
            return false;
        }
        let found = self.entries(group, number).first();
        found.is_some_and(|entry| range.has_member(entry.member))
    }

    /// Forgets keys: if they come again, they come as new ones.
    pub fn forget(&mut self, keys: &[u32]) {
        let mut touched: Vec<Group> = Vec::new();
        for key in keys {
            touched.extend(self.places.remove(key).map(|(group, _)| group));
        }
        touched.sort_unstable();
        touched.dedup();
        for group in touched {
            let Some(entries) = self.entries.get_mut(&group) else { continue };
            entries.retain(|entry| self.places.contains_key(&entry.key));
            entries.shrink_to_fit();
            if entries.is_empty() {
                self.entries.remove(&group);
            }
        }
        shrink_map(&mut self.places);
        shrink_map(&mut self.entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_about_keys_that_came_later_also_after_others_were_forgotten() {
        let (rows, others) = (Group(7), Group(8));
        let mut groups = Groups::default();
        groups.add(rows, 1, 10);
        groups.add(rows, 2, 11);
        let all = groups.range(rows, None);
        let some = groups.range(rows, Some(Arc::from([4, 9])));
        groups.add(others, 3, 12);
        groups.add(rows, 3, 13);
        groups.add(rows, 4, 14);
        let later = |groups: &Groups, range: &Range| groups.later(range).collect::<Vec<u32>>();
        assert_eq!(later(&groups, &all), [13, 14]);
        assert_eq!(later(&groups, &some), [14]);
        assert!(groups.covers(&all, 13) && !groups.covers(&all, 11) && !groups.covers(&all, 12));
        assert!(groups.covers(&some, 14) && !groups.covers(&some, 13));
        groups.forget(&[10, 13, 12]);
        assert_eq!(later(&groups, &all), [14]);
        assert!(!groups.covers(&all, 13));
        // It comes again under the same number.
        groups.add(rows, 3, 13);
        assert!(groups.covers(&all, 13));
        assert_eq!(groups.members(rows).map(|(key, ..)| key).collect::<Vec<_>>(), [11, 14, 13]);
        assert_eq!(groups.members(others).count(), 0);
    }
}
