//! Keys: their numbers and their names.
//!
//! A key has a text for a name, or it is a member of a group: then its name is made only when it is
//! asked for, because a table has millions of them. Numbers of members that are forgotten are given
//! to others.

use crate::ranges::Group;
use crate::shrink::{shrink_list, shrink_map};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

/// Says what a member of a group is called.
pub(crate) type Namer = Box<dyn Fn(Group, u32) -> String + Send>;
/// Says what a group is called.
pub(crate) type GroupNamer = Box<dyn Fn(Group) -> String + Send>;

#[derive(Clone, Debug)]
enum KeyName {
    Text(Arc<str>),
    Member(Group, u32),
    /// The number is free.
    Nothing,
}

/// All keys.
#[derive(Default)]
pub(crate) struct Names {
    names: Vec<KeyName>,
    /// The names come from clients, so that the hashes are hard to guess.
    texts: HashMap<Arc<str>, u32>,
    /// For scans.
    sorted: BTreeMap<Arc<str>, u32>,
    members: FxHashMap<(Group, u32), u32>,
    free: Vec<u32>,
    namer: Option<Namer>,
    group_namer: Option<GroupNamer>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Names({})", self.names.len() - self.free.len())
    }
}

impl Names {
    /// Members and groups are called by these.
    pub fn set_namers(&mut self, member: Namer, group: GroupNamer) {
        (self.namer, self.group_namer) = (Some(member), Some(group));
    }

    /// How many numbers there are, used or free.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.texts.get(name).copied()
    }

    /// The number of a name, which is new.
    pub fn add(&mut self, name: &str) -> u32 {
        let text: Arc<str> = name.into();
        let number = self.number(KeyName::Text(Arc::clone(&text)));
        self.sorted.insert(Arc::clone(&text), number);
        self.texts.insert(text, number);
        number
    }

    pub fn find_member(&self, group: Group, member: u32) -> Option<u32> {
        self.members.get(&(group, member)).copied()
    }

    /// The number of a member, which is new.
    pub fn add_member(&mut self, group: Group, member: u32) -> u32 {
        let number = self.number(KeyName::Member(group, member));
        self.members.insert((group, member), number);
        number
    }

    fn number(&mut self, name: KeyName) -> u32 {
        if let Some(number) = self.free.pop() {
            self.names[number as usize] = name;
            return number;
        }
        self.names.push(name);
        self.names.len() as u32 - 1
    }

    /// The group and member of a key, if it is one.
    pub fn member(&self, key: u32) -> Option<(Group, u32)> {
        match self.names[key as usize] {
            KeyName::Member(group, member) => Some((group, member)),
            _ => None,
        }
    }

    /// Gives the number of a member free.
    pub fn forget_member(&mut self, key: u32) {
        if let Some(member) = self.member(key) {
            self.members.remove(&member);
            self.names[key as usize] = KeyName::Nothing;
            self.free.push(key);
        }
    }

    /// Gives back the room of numbers that are free, as far as they are the last ones. Small
    /// numbers are given first from then on, so that the room of a table that was loaded once
    /// comes back.
    pub fn shrink(&mut self) {
        while let Some(KeyName::Nothing) = self.names.last() {
            self.names.pop();
        }
        let count = self.names.len() as u32;
        self.free.retain(|&number| number < count);
        self.free.sort_unstable_by_key(|&number| Reverse(number));
        shrink_list(&mut self.names);
        shrink_list(&mut self.free);
        shrink_map(&mut self.members);
    }

    /// What a key is called.
    pub fn shown(&self, key: u32) -> Arc<str> {
        match &self.names[key as usize] {
            KeyName::Text(text) => Arc::clone(text),
            KeyName::Member(group, member) => match &self.namer {
                Some(namer) => namer(*group, *member).into(),
                None => format!("{}[{member}]", group.0).into(),
            },
            KeyName::Nothing => "".into(),
        }
    }

    /// What a group is called.
    pub fn group_shown(&self, group: Group) -> String {
        match &self.group_namer {
            Some(namer) => namer(group),
            None => group.0.to_string(),
        }
    }

    /// The keys that have texts with this beginning for names, in the order of these.
    pub fn beginning_with<'n>(&'n self, prefix: &'n str) -> impl Iterator<Item = u32> + 'n {
        let behind = (Bound::Included(prefix), Bound::Unbounded);
        let found = self.sorted.range::<str, _>(behind);
        found.take_while(move |(name, _)| name.starts_with(prefix)).map(|(_, &number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_forgotten_members_are_given_again() {
        let namer: Namer = Box::new(|group, member| format!("{}/{member}", group.0));
        let mut names = Names::default();
        names.set_namers(namer, Box::new(|group| group.0.to_string()));
        let x = names.add("x");
        let row = names.add_member(Group(1), 5);
        assert_eq!((&*names.shown(x), &*names.shown(row)), ("x", "1/5"));
        assert_eq!(names.find_member(Group(1), 5), Some(row));
        names.forget_member(row);
        names.forget_member(x);
        assert_eq!((names.find_member(Group(1), 5), names.find("x")), (None, Some(x)));
        assert_eq!(names.add_member(Group(2), 6), row);
        assert_eq!(names.add("xy"), 2);
        assert_eq!(names.beginning_with("x").collect::<Vec<_>>(), [x, 2]);
        assert_eq!(names.count(), 3);
    }

    #[test]
    fn free_numbers_at_the_end_give_their_room_back() {
        let mut names = Names::default();
        let keys: Vec<u32> = (0..10).map(|row| names.add_member(Group(1), row)).collect();
        for key in keys.iter().filter(|key| **key != 4) {
            names.forget_member(*key);
        }
        names.shrink();
        assert_eq!((names.count(), names.find_member(Group(1), 4)), (5, Some(4)));
        let again: Vec<u32> = (20..26).map(|row| names.add_member(Group(1), row)).collect();
        assert_eq!(again, [0, 1, 2, 3, 5, 6]);
    }
}
