//! The same history seen with another order: without its sessions, or with real time told by reads
//! and writes.

use crate::atom::{Atom, Value};
use crate::columns::{Columns, ColumnsError, TXNS_MAX};
use crate::ids::{KeyId, OpId, TxnId};
use crate::model::{History, KeyNames, Names, OpKind, Status};
use rustc_hash::{FxHashMap, FxHashSet};

/// A history in which reads and writes tell of real time.
///
/// Beside the transactions of the original, which keep their numbers, there is a session of
/// *moments* after all others. A moment reads from every transaction that ended since the moment
/// before it, and every transaction that began between it and the next one reads from it, all from
/// keys that nothing else uses. So a path of session order and reads leads from one transaction of
/// the original to another iff one does in the original with real time; what ended before what by
/// itself is such a path, of reads from and by moments. O(n).
#[derive(Debug)]
pub struct Moments {
    /// The history. Its transactions and sessions have no names, its operations no places.
    pub history: History,
    /// For each of its operations that of the original; `None` for those that tell of real time.
    pub original: Vec<Option<OpId>>,
    /// How many transactions the original has: those from this number on are moments.
    pub txns: u32,
}

impl Moments {
    /// Whether `txn` is one.
    pub fn is_moment(&self, txn: TxnId) -> bool {
        txn.0 >= self.txns
    }
}

impl History {
    /// Whether [`History::with_moments`] will not be too large.
    pub fn has_room_for_moments(&self) -> bool {
        // A moment for each transaction at most, a key for each of both, and for each key a read
        // and a write.
        let txns = self.txn_count() as u64;
        let most = (self.op_count() as u64 + 4 * txns).max(self.key_count() as u64 + 2 * txns);
        most < u64::from(u32::MAX) / 2 && 2 * txns <= TXNS_MAX as u64
    }

    /// This history with moments of real time. Only what committed has an end.
    pub fn with_moments(&self) -> Result<Moments, ColumnsError> {
        let clock = Clock::of(self);
        let mut builder = Builder::new(self);
        for txn in self.txns() {
            builder.txn(self, txn, &clock);
        }
        for moment in 0..clock.moments.len() {
            builder.moment(moment, &clock);
        }
        builder.finish(self)
    }

    /// This history in which a transaction reads, before all else, from those of its own session
    /// that last wrote what it reads, from keys that nothing else uses. So a level that lets a
    /// transaction see what it has read from lets it see what its session committed: those that
    /// wrote a key before the last one precede that one anyway. Nothing else changes, because the
    /// session orders these transactions already. O(n).
    pub fn with_own_commits_read(&self) -> Result<History, ColumnsError> {
        let clock = Clock { ends: Vec::new(), moments: Vec::new() };
        let seen = self.own_writers();
        let is_told: FxHashSet<TxnId> = seen.iter().flatten().copied().collect();
        let mut builder = Builder::new(self);
        for txn in self.txns() {
            builder.txn_after(self, txn, &clock, &seen[txn.index()]);
            if is_told.contains(&txn) {
                builder.tell(txn.0, OpKind::Write, builder.key_of_txn(txn));
            }
        }
        Ok(builder.finish(self)?.history)
    }

    /// For each transaction the committed ones of its session that last wrote something it reads.
    fn own_writers(&self) -> Vec<Vec<TxnId>> {
        let mut seen = Vec::with_capacity(self.txn_count());
        for session in self.sessions() {
            let mut last: FxHashMap<KeyId, TxnId> = FxHashMap::default();
            for txn in self.txns_of(session).map(TxnId) {
                let ops = || self.ops_of(txn).map(|op| self.op(OpId(op)));
                let reads = ops().filter(|op| op.kind == OpKind::Read);
                let mut writers: Vec<TxnId> =
                    reads.filter_map(|op| last.get(&op.key).copied()).collect();
                writers.sort_unstable();
                writers.dedup();
                seen.push(writers);
                if self.status(txn) == Status::Committed {
                    last.extend(ops().filter(|op| op.kind.is_write()).map(|op| (op.key, txn)));
                }
            }
        }
        seen
    }

    /// This history with a session for each transaction, so that session order says nothing.
    /// Transactions and operations keep their numbers, names and places; a session is called like
    /// the one that its transaction comes from.
    #[must_use]
    pub fn without_sessions(&self) -> History {
        let places = self.txns().map(|txn| self.place_in_session(txn)).collect();
        let names = self.sessions().flat_map(|session| {
            let name = self.session_name(session);
            self.txns_of(session).map(move |_| name.clone())
        });
        let files = match self.files.len() {
            0 | 1 => self.files.clone(),
            _ => self.txns().map(|txn| self.files[self.session_of(txn).index()].clone()).collect(),
        };
        History {
            session_txns: (0..=self.txn_count() as u32).collect(),
            session_names: Names::Table(names.collect()),
            txn_places: Some(places),
            files,
            ..self.clone()
        }
    }

    /// The place of a transaction in its session of the input, from 0.
    pub fn place_in_session(&self, txn: TxnId) -> u32 {
        match &self.txn_places {
            Some(places) => places[txn.index()],
            None => txn.0 - self.txns_of(self.session_of(txn)).start,
        }
    }
}

/// The ends that transactions began after.
struct Clock {
    /// Ends with their transactions, sorted.
    ends: Vec<(i64, TxnId)>,
    /// For each moment how many ends are before it, each more than the last.
    moments: Vec<usize>,
}

impl Clock {
    fn of(history: &History) -> Clock {
        let committed = history.txns().filter(|&txn| history.status(txn) == Status::Committed);
        let mut ends: Vec<(i64, TxnId)> = committed
            .filter_map(|txn| history.times(txn).map(|(begin, end)| (end.max(begin), txn)))
            .collect();
        ends.sort_unstable();
        let mut clock = Clock { ends, moments: Vec::new() };
        let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
        clock.moments = live.map(|txn| clock.ended_before(history, txn)).collect();
        clock.moments.retain(|&ended| ended > 0);
        clock.moments.sort_unstable();
        clock.moments.dedup();
        clock
    }

    /// How many ends are before the begin of `txn`.
    fn ended_before(&self, history: &History, txn: TxnId) -> usize {
        let begin = history.times(txn).map_or(i64::MIN, |(begin, _)| begin);
        self.ends.partition_point(|&(end, _)| end < begin)
    }

    /// The last moment before `txn` began.
    fn moment_before(&self, history: &History, txn: TxnId) -> Option<usize> {
        let ended = self.ended_before(history, txn);
        self.moments.binary_search(&ended).ok()
    }

    /// What ended since the moment before.
    fn ended_at(&self, moment: usize) -> &[(i64, TxnId)] {
        let first = moment.checked_sub(1).map_or(0, |before| self.moments[before]);
        &self.ends[first..self.moments[moment]]
    }

    /// How many ends come before some begin.
    fn told(&self) -> usize {
        self.moments.last().copied().unwrap_or(0)
    }
}

/// Puts a history with moments together. Keys beyond those of the original: one for each
/// transaction, then one for each moment.
struct Builder {
    columns: Columns,
    original: Vec<Option<OpId>>,
    times: Vec<(i64, i64)>,
    /// What is written to the new keys: not an initial value.
    value: Value,
    keys: u32,
    sessions: u32,
    txns: u32,
}

impl Builder {
    fn new(history: &History) -> Builder {
        let one = Value::small(1).unwrap_or(Value::NULL);
        let two = Value::small(2).unwrap_or(Value::NULL);
        Builder {
            columns: Columns {
                session_count: history.session_count() as u32,
                atoms: history.atoms.clone(),
                lists: history.lists.clone(),
                initial: history.initial.clone(),
                time_unit: history.time_unit,
                ..Columns::default()
            },
            original: Vec::with_capacity(history.op_count()),
            times: Vec::with_capacity(history.txn_count()),
            value: if history.initial.default == Some(one) { two } else { one },
            keys: history.key_count() as u32,
            sessions: history.session_count() as u32,
            txns: history.txn_count() as u32,
        }
    }

    fn key_of_txn(&self, txn: TxnId) -> KeyId {
        KeyId(self.keys.saturating_add(txn.0))
    }

    fn key_of_moment(&self, moment: usize) -> KeyId {
        KeyId(self.keys.saturating_add(self.txns).saturating_add(moment as u32))
    }

    /// An operation that tells of real time.
    fn tell(&mut self, txn: u32, kind: OpKind, key: KeyId) {
        self.columns.push_op(txn, kind, key, self.value);
        self.original.push(None);
    }

    fn txn(&mut self, history: &History, txn: TxnId, clock: &Clock) {
        self.txn_after(history, txn, clock, &[]);
    }

    /// A transaction that first reads from `others`.
    fn txn_after(&mut self, history: &History, txn: TxnId, clock: &Clock, others: &[TxnId]) {
        let number = self.columns.push_txn(history.session_of(txn).0, history.status(txn));
        for &other in others {
            self.tell(number, OpKind::Read, self.key_of_txn(other));
        }
        let times = history.times(txn).unwrap_or((i64::MIN, i64::MAX));
        self.times.push(times);
        if let Some(moment) = clock.moment_before(history, txn) {
            self.tell(number, OpKind::Read, self.key_of_moment(moment));
        }
        for op in history.ops_of(txn).map(OpId) {
            let operation = history.op(op);
            self.columns.push_op(number, operation.kind, operation.key, operation.value);
            self.original.push(Some(op));
        }
        let is_told = clock.ends[..clock.told()].last().is_some_and(|&(end, _)| times.1 <= end);
        if is_told && history.status(txn) == Status::Committed {
            self.tell(number, OpKind::Write, self.key_of_txn(txn));
        }
    }

    fn moment(&mut self, moment: usize, clock: &Clock) {
        let number = self.columns.push_txn(self.sessions, Status::Committed);
        let ended = clock.ended_at(moment);
        let now = ended.last().map_or(i64::MIN, |&(end, _)| end);
        self.times.push((now, now));
        for &(_, txn) in ended {
            self.tell(number, OpKind::Read, self.key_of_txn(txn));
        }
        self.tell(number, OpKind::Write, self.key_of_moment(moment));
    }

    fn finish(mut self, history: &History) -> Result<Moments, ColumnsError> {
        self.columns.key_names = longer(&history.key_names, self.columns.txns.len());
        self.columns.txn_times = history.has_times().then_some(self.times);
        let (original, txns) = (self.original, self.txns);
        let mut history_with = self.columns.finish()?;
        // The original order of the input, and the moments after it.
        history_with.txn_file_order[..txns as usize].copy_from_slice(&history.txn_file_order);
        Ok(Moments { history: history_with, original, txns })
    }
}

/// The names of keys, and numbers for so many more.
fn longer(names: &KeyNames, more: usize) -> KeyNames {
    match names {
        KeyNames::Numbers { count } => {
            let count = u32::try_from(*count as usize + more).unwrap_or(u32::MAX);
            KeyNames::Numbers { count }
        }
        KeyNames::Table(names) => {
            let new = (0..more).map(|number| Atom::Int(number as i128));
            KeyNames::Table(names.iter().cloned().chain(new).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{OpId, TxnId, notation};

    #[test]
    fn without_sessions_everything_has_the_same_number_and_name() {
        let history = notation::parse("a: w(x,1) @1-2 | r(x,1)\nb: w(x,2) | r(x,2)!").unwrap();
        let plain = history.without_sessions();
        assert_eq!(plain.session_count(), 4);
        for txn in history.txns() {
            let session = |of: &crate::History| of.session_name(of.session_of(txn)).to_string();
            assert_eq!(session(&history), session(&plain));
            assert_eq!(history.txn_name(txn), plain.txn_name(txn));
            assert_eq!(history.ops_of(txn), plain.ops_of(txn));
            assert_eq!(history.times(txn), plain.times(txn));
            assert_eq!(history.status(txn), plain.status(txn));
            assert_eq!(history.place_in_session(txn), plain.place_in_session(txn));
        }
        assert_eq!(plain.place_in_session(TxnId(3)), 1);
        assert_eq!(history.place(OpId(1)), plain.place(OpId(1)));
    }

    /// The pairs of transactions of the original between which a path of session order and reads
    /// leads.
    fn paths(moments: &crate::Moments) -> Vec<(u32, u32)> {
        let history = &moments.history;
        let count = history.txn_count();
        let mut reach = vec![vec![false; count]; count];
        for session in history.sessions() {
            for (a, b) in history.txns_of(session).zip(history.txns_of(session).skip(1)) {
                reach[a as usize][b as usize] = true;
            }
        }
        for read in
            (0..history.op_count()).map(OpId::from).filter(|op| !history.op(*op).kind.is_write())
        {
            for write in (0..history.op_count()).map(OpId::from) {
                let (from, to) = (history.op(write), history.op(read));
                if from.kind.is_write() && (from.key, from.value) == (to.key, to.value) {
                    reach[history.txn_of(write).index()][history.txn_of(read).index()] = true;
                }
            }
        }
        for middle in 0..count {
            for a in 0..count {
                for b in 0..count {
                    reach[a][b] |= reach[a][middle] && reach[middle][b];
                }
            }
        }
        let all = (0..moments.txns).flat_map(|a| (0..moments.txns).map(move |b| (a, b)));
        all.filter(|&(a, b)| reach[a as usize][b as usize]).collect()
    }

    #[test]
    fn what_ended_before_another_began_has_a_path_to_it() {
        let text = "a: w(x,1) @1-2\nb: w(x,2) @2-4\nc: w(x,3) @3-5\nd: w(x,4) @5-\n\
                    e: w(x,5) @6-9\nf: w(x,6)? @7-8\ng: w(x,7)! @0-1\nh: w(x,8)";
        let history = notation::parse(text).unwrap();
        let moments = history.with_moments().unwrap();
        let ended_before = |&(a, b): &(u32, u32)| {
            let times = |txn: u32| history.times(TxnId(txn)).unwrap();
            let live = |txn: u32| history.status(TxnId(txn)) != crate::Status::Aborted;
            live(a) && live(b) && times(a).1 < times(b).0
        };
        let all = (0..8).flat_map(|a| (0..8).map(move |b| (a, b)));
        assert_eq!(paths(&moments), all.filter(ended_before).collect::<Vec<_>>());
        let real: Vec<OpId> = moments.original.iter().copied().flatten().collect();
        assert_eq!(real, (0..8).map(OpId).collect::<Vec<_>>());
        // Ends at 2, 4 and 5 are each followed by a begin.
        assert_eq!(moments.history.txn_count(), 8 + 3);
    }

    #[test]
    fn without_times_there_are_no_moments() {
        let history = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
        let moments = history.with_moments().unwrap();
        assert_eq!(moments.history.txn_count(), 2);
        assert_eq!(moments.original, [Some(OpId(0)), Some(OpId(1))]);
    }
}
