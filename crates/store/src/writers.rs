//! The transactions that wrote a key.

use crate::past::Past;

/// A committed writer of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    pub session: u32,
    /// Its number in its session.
    pub number: u32,
    pub txn: u32,
    /// How many transactions committed before it.
    pub commit: u32,
}

/// The committed writers of one key. There are as many of these as keys, so that short lists take
/// as much room as they need.
#[derive(Clone, Default, Debug)]
pub(crate) struct Writers {
    /// In the order of their commits.
    pub all: Vec<u32>,
    /// The last one of each session. Mostly a reader has seen it and needs no more, so that these
    /// lie together.
    last: Vec<Writer>,
    /// Those before, ascending, in the order of `last`.
    earlier: Vec<Vec<Writer>>,
}

impl Writers {
    pub fn add(&mut self, writer: Writer) {
        make_room(&mut self.all);
        self.all.push(writer.txn);
        match self.last.iter().position(|other| other.session == writer.session) {
            Some(place) => {
                self.earlier[place].push(std::mem::replace(&mut self.last[place], writer))
            }
            None => {
                make_room(&mut self.last);
                make_room(&mut self.earlier);
                self.last.push(writer);
                self.earlier.push(Vec::new());
            }
        }
    }

    /// The last writer of each session that is in `past`.
    pub fn seen<'w>(&'w self, past: &'w Past) -> impl Iterator<Item = Writer> + 'w {
        self.last.iter().zip(&self.earlier).filter_map(|(last, earlier)| {
            let count = past.of(last.session);
            if last.number < count {
                Some(*last)
            } else {
                earlier[..first_behind(earlier, count)].last().copied()
            }
        })
    }

    /// Those that are not in `past`.
    pub fn unseen<'w>(&'w self, past: &'w Past) -> impl Iterator<Item = u32> + 'w {
        let sessions = self
            .last
            .iter()
            .zip(&self.earlier)
            .filter(|(last, _)| last.number >= past.of(last.session));
        let behind = |(last, earlier): (&'w Writer, &'w Vec<Writer>)| {
            earlier[first_behind(earlier, past.of(last.session))..].iter().chain([last])
        };
        sessions.flat_map(behind).map(|writer| writer.txn)
    }

    /// The last writer of `session`.
    pub fn last_of(&self, session: u32) -> Option<u32> {
        self.last.iter().find(|writer| writer.session == session).map(|writer| writer.txn)
    }

    /// Keeps those for which `is_kept` says yes: of each session the last ones.
    pub fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.all.retain(|&writer| is_kept(writer));
        self.earlier.iter_mut().for_each(|list| list.retain(|writer| is_kept(writer.txn)));
        let mut place = 0;
        while let Some(last) = self.last.get(place) {
            if is_kept(last.txn) {
                place += 1;
            } else {
                self.last.remove(place);
                self.earlier.remove(place);
            }
        }
    }
}

/// Room for one element where a list is empty: without that it would take room for four.
fn make_room<T>(list: &mut Vec<T>) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
}

/// Where in the list of a session those begin that are not among its first `count` transactions.
fn first_behind(list: &[Writer], count: u32) -> usize {
    list.partition_point(|writer| writer.number < count)
}
