//! What was read of groups, as scans of a history.
//!
//! The store remembers each read of a member. A history is spared those that say little, if a
//! statement read a whole group, or many members of one: keys that one transaction has ever
//! written are *unchanged*, and those of which the initial version was read are *absent*, like all
//! that came later.

use crate::names::Names;
use crate::past::INITIAL;
use crate::ranges::{self, Groups, Range};
use crate::recorded::Recorded;
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_history::{Group, Intervals, KeyId, ScanContent};

/// So many reads of members of a group by one statement are told as a scan.
const READS_MIN: usize = 8;

/// The groups of a store, and what each is called.
#[derive(Clone, Copy)]
pub(crate) struct GroupNames<'g> {
    pub groups: &'g Groups,
    pub names: &'g Names,
}

/// What one statement read of groups.
#[derive(Default)]
pub(crate) struct StatementReads {
    /// For each group the keys that a scan tells of: unchanged, and absent.
    groups: FxHashMap<ranges::Group, (Vec<u32>, Vec<u32>)>,
    keys: FxHashSet<u32>,
}

impl StatementReads {
    /// Whether a scan tells of the read of a key.
    pub fn is_scanned(&self, key: u32) -> bool {
        self.keys.contains(&key)
    }
}

fn written<V>(event: &Recorded<V>) -> Option<u32> {
    match event {
        Recorded::Write { key, .. } => Some(*key),
        _ => None,
    }
}

/// Where a statement reads for the last time what each transaction wrote.
fn last_reads<V>(events: &[Recorded<V>]) -> FxHashMap<u32, usize> {
    let mut last = FxHashMap::default();
    for (place, event) in events.iter().enumerate() {
        match event {
            Recorded::Read { source, .. } if *source != INITIAL => last.insert(*source, place),
            _ => None,
        };
    }
    last
}

/// The groups that scans speak of so far.
pub(crate) struct Scanned<'g> {
    all: GroupNames<'g>,
    /// The only writer of each key that has one.
    writers: FxHashMap<u32, u32>,
    /// The keys and their writers, sorted.
    writes: Vec<(u32, u32)>,
    /// The numbers of groups in the history.
    numbers: FxHashMap<ranges::Group, u32>,
    groups: Vec<Group>,
    /// The positions of the keys of these groups.
    positions: FxHashMap<u32, u32>,
}

impl<'g> Scanned<'g> {
    pub fn new(
        all: GroupNames<'g>,
        writers: FxHashMap<u32, u32>,
        writes: Vec<(u32, u32)>,
    ) -> Scanned<'g> {
        Scanned {
            all,
            writers,
            writes,
            numbers: FxHashMap::default(),
            groups: Vec::new(),
            positions: FxHashMap::default(),
        }
    }

    pub fn groups(&mut self) -> Vec<Group> {
        std::mem::take(&mut self.groups)
    }

    /// Finds the reads of a statement of transaction `txn` that scans tell of.
    pub fn statement<V>(
        &self,
        events: &[Recorded<V>],
        txn: u32,
        is_aborted: bool,
    ) -> StatementReads {
        let is_whole = |event: &Recorded<V>| match event {
            Recorded::Range(range) => range.members.is_none().then_some(range.group),
            _ => None,
        };
        let whole: FxHashSet<ranges::Group> = events.iter().filter_map(is_whole).collect();
        // A scan may stand behind what the statement wrote, where these reads would be others.
        let written: FxHashSet<u32> = events.iter().filter_map(written).collect();
        let last = last_reads(events);
        let mut statement = StatementReads::default();
        for (place, event) in events.iter().enumerate() {
            let (key, source) = match *event {
                Recorded::Read { key, source } => (key, source),
                // What an aborted transaction wrote counts for nobody.
                Recorded::OwnRead { key } if !is_aborted => (key, txn),
                _ => continue,
            };
            let Some(group) = self.all.groups.group_of(key).filter(|_| !written.contains(&key))
            else {
                continue;
            };
            let (unchanged, absent) = statement.groups.entry(group).or_default();
            match source {
                INITIAL if self.is_overtaken(key, place, &last) => {}
                INITIAL => absent.push(key),
                source if self.writers.get(&key) == Some(&source) => unchanged.push(key),
                _ => {}
            }
        }
        statement.groups.retain(|group, (unchanged, absent)| {
            if unchanged.len() + absent.len() < READS_MIN {
                // A few rows are told one by one; what a whole group lacks is absent anyway.
                unchanged.clear();
                if !whole.contains(group) {
                    absent.clear();
                }
            }
            !(unchanged.is_empty() && absent.is_empty())
        });
        let groups = statement.groups.values();
        statement.keys = groups.flat_map(|(one, two)| one.iter().chain(two)).copied().collect();
        statement
    }

    /// Whether the statement reads, behind this place, what a transaction wrote that wrote the key,
    /// too. At read committed that is allowed, but not the other way round, and a scan says of what
    /// is absent that it was read last.
    fn is_overtaken(&self, key: u32, place: usize, last: &FxHashMap<u32, usize>) -> bool {
        let from = self.writes.partition_point(|&(other, _)| other < key);
        let count = self.writes[from..].partition_point(|&(other, _)| other == key);
        let writers = &self.writes[from..from + count];
        let is_behind = |writer: &u32| last.get(writer).is_some_and(|&behind| behind > place);
        if writers.len() <= last.len() {
            return writers.iter().any(|(_, writer)| is_behind(writer));
        }
        let wrote = |writer: &u32| writers.binary_search(&(key, *writer)).is_ok();
        last.keys().any(|writer| is_behind(writer) && wrote(writer))
    }

    /// The scan of a range: of what was there when it was read, the rest of the statement tells.
    pub fn range(&mut self, range: &Range, statement: &mut StatementReads) -> Option<ScanContent> {
        let later: Vec<u32> = self.all.groups.later(range).collect();
        if range.members.is_some() {
            // These had no keys when they were read.
            let group = self.group(range.group);
            let members = self.positions(&later);
            let content = ScanContent {
                group,
                members: Some(members),
                seen: Intervals::none(),
                unchanged: Intervals::none(),
            };
            return (!later.is_empty()).then_some(content);
        }
        let group = self.group(range.group);
        let (unchanged, absent) = statement.groups.remove(&range.group).unwrap_or_default();
        let all = Intervals::below(self.groups[group as usize].keys.len() as u32);
        let absent = self.positions(&later).or(&self.positions(&absent));
        let unchanged = self.positions(&unchanged);
        let seen = all.without(&absent).without(&unchanged);
        Some(ScanContent { group, members: None, seen, unchanged })
    }

    /// Scans for many reads that belong to no range.
    pub fn rest(&mut self, statement: StatementReads) -> Vec<ScanContent> {
        let mut groups: Vec<_> = statement.groups.into_iter().collect();
        groups.sort_unstable_by_key(|(group, _)| *group);
        let scan = |(group, (unchanged, absent)): (ranges::Group, (Vec<u32>, Vec<u32>))| {
            let group = self.group(group);
            let unchanged = self.positions(&unchanged);
            let members = Some(unchanged.or(&self.positions(&absent)));
            ScanContent { group, members, seen: Intervals::none(), unchanged }
        };
        groups.into_iter().map(scan).collect()
    }

    /// The number of a group in the history; its keys in the order of their members, because those
    /// that are read together are mostly neighbours there.
    fn group(&mut self, group: ranges::Group) -> u32 {
        if let Some(&number) = self.numbers.get(&group) {
            return number;
        }
        let mut members: Vec<(u32, u32)> =
            self.all.groups.members(group).map(|(key, member, _)| (member, key)).collect();
        members.sort_unstable();
        let keys = members.iter().map(|&(_, key)| key);
        self.positions.extend(keys.clone().zip(0..));
        let number = self.groups.len() as u32;
        let name = self.all.names.group_shown(group).into();
        self.groups.push(Group { name, keys: keys.map(KeyId).collect() });
        self.numbers.insert(group, number);
        number
    }

    fn positions(&self, keys: &[u32]) -> Intervals {
        keys.iter().map(|key| self.positions[key]).collect()
    }
}
