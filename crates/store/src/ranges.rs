//! Reads of keys that are yet to come.
//!
//! Keys may stand in *groups*, as the rows of a table do. A transaction that reads a group reads
//! each key that is there, and besides that it has read the initial version of every key that will
//! ever enter the group: without that, two transactions that each count the rows of a table, find
//! none and insert one could both be serializable. A range is that second part. It is not a list:
//! the keys that it is about are those behind its mark in the group, and writers of these are
//! compared with it when they come.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A read of the initial version of all keys of a group behind a mark.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub group: u32,
    /// How many keys the group had.
    pub known: u32,
    /// Of which members, ascending; none for all.
    pub members: Option<Arc<[u32]>>,
}

/// Where a key stands in its group.
#[derive(Clone, Copy, Debug)]
struct Place {
    group: u32,
    /// Its number among the keys of the group.
    index: u32,
    member: u32,
}

/// The keys of groups, in the order in which they came.
#[derive(Clone, Default, Debug)]
pub(crate) struct Groups {
    keys: Vec<Vec<u32>>,
    places: FxHashMap<u32, Place>,
}

impl Groups {
    /// A new one.
    pub fn open(&mut self) -> u32 {
        self.keys.push(Vec::new());
        self.keys.len() as u32 - 1
    }

    /// A key enters a group.
    pub fn add(&mut self, group: u32, member: u32, key: u32) {
        let keys = &mut self.keys[group as usize];
        self.places.insert(key, Place { group, index: keys.len() as u32, member });
        keys.push(key);
    }

    /// The keys of a group, with their members.
    pub fn members(&self, group: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.keys[group as usize].iter().map(|&key| (key, self.places[&key].member))
    }

    /// The group of a key.
    pub fn group_of(&self, key: u32) -> Option<u32> {
        self.places.get(&key).map(|place| place.group)
    }

    /// A range over what comes from now on.
    pub fn range(&self, group: u32, members: Option<Arc<[u32]>>) -> Range {
        Range { group, known: self.keys[group as usize].len() as u32, members }
    }

    /// The keys that a range is about so far.
    pub fn later<'g>(&'g self, range: &'g Range) -> impl Iterator<Item = u32> + 'g {
        let keys = &self.keys[range.group as usize][range.known as usize..];
        keys.iter().copied().filter(|key| {
            let Some(members) = &range.members else { return true };
            members.binary_search(&self.places[key].member).is_ok()
        })
    }

    /// Whether a range is about a key.
    pub fn covers(&self, range: &Range, key: u32) -> bool {
        let Some(place) = self.places.get(&key) else { return false };
        place.group == range.group
            && place.index >= range.known
            && range
                .members
                .as_ref()
                .is_none_or(|members| members.binary_search(&place.member).is_ok())
    }
}
