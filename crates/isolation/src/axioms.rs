//! The levels, defined: one axiom φ for each, and the literal search for a commit order.
//!
//! A history satisfies a level iff there is a strict total *commit order* co that extends session
//! order and reads-from (so ∪ wr) such that
//!
//! > for every key x, every read of x in t3 that returned the version of t1, and every other
//! > t2 ∉ {t1, t3} that writes x: φ(t2, t3) ⇒ (t2, t1) ∈ co.
//!
//! In words: the level says by φ which writers a read *sees*, and of the writers that it sees it
//! must have returned the last one. The levels differ in φ alone, and `Axiom` states each φ once.
//! With a level for each transaction the axiom is chosen by the level of the reader t3.
//!
//! An [`Execution`] is what the definitions speak of: sessions of transactions, who read from whom,
//! which transaction wrote which key. [`crate::oracle`] reduces recorded histories to executions;
//! tests of the store and of the explorer make executions directly.
//!
//! The search goes through all commit orders: exponential, for about seven transactions, and the
//! measure of every fast algorithm.
//!
//! # Orders
//!
//! Each level exists with three [`Order`]s. *Sessions* is what every level above speaks of. With
//! *none* so is empty. In *real time* rt joins so, where rt holds between two transactions if the
//! first ended before the second began: a read must then see what had committed before. At read
//! committed, where so plays no part in φ, a read also sees what ended before its transaction
//! began. Strict serializability is serializability in real time.

use crate::level::Level;
use crate::order::Order;

/// An external read: one that no write of its own transaction to the key precedes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// The key.
    pub key: usize,
    /// The number of the transaction that wrote what was read; `None` for the initial one, which
    /// wrote every key and precedes every other.
    pub source: Option<usize>,
}

/// A committed transaction as the definitions see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Its session. Transactions of one session stand in session order in [`Execution::txns`].
    pub session: usize,
    /// Its level: what its reads obey.
    pub level: Level,
    /// Begin and end, if they are known.
    pub times: Option<(i64, i64)>,
    /// Its external reads in program order.
    pub reads: Vec<Read>,
    /// The keys that it writes.
    pub writes: Vec<usize>,
}

impl Transaction {
    /// A transaction without times.
    pub fn new(session: usize, level: Level, reads: Vec<Read>, writes: Vec<usize>) -> Transaction {
        Transaction { session, level, times: None, reads, writes }
    }
}

/// Committed transactions, with the writer of each read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// The transactions; those of one session in session order.
    pub txns: Vec<Transaction>,
    /// What orders them.
    pub order: Order,
    /// Whether session order joins φ of read committed, as on a connection of SQL.
    pub sessions_at_rc: bool,
}

impl Execution {
    /// Whether each transaction's level holds: some commit order satisfies every axiom.
    pub fn is_consistent(&self) -> bool {
        self.some_commit_order(|_| true)
    }

    /// Whether `accept` likes some commit order that satisfies every axiom. It is given the
    /// transactions by their numbers, first to last.
    pub fn some_commit_order(&self, accept: impl Fn(&[usize]) -> bool) -> bool {
        let relations = Relations::of(self);
        let mut prefix = Vec::with_capacity(self.txns.len());
        self.completes(&relations, &mut prefix, &|order| {
            self.axioms_hold(&relations, order) && accept(order)
        })
    }

    /// Whether `order`, all transactions by their numbers, is a commit order that satisfies every
    /// axiom.
    pub fn accepts(&self, order: &[usize]) -> bool {
        if !is_permutation(order, self.txns.len()) {
            return false;
        }
        let relations = Relations::of(self);
        let place = places(order);
        let n = self.txns.len();
        let extends = |(a, b): (usize, usize)| !relations.must[a][b] || place[a] < place[b];
        pairs(n).all(extends) && self.axioms_hold(&relations, order)
    }

    /// Whether a commit order that starts with `prefix` is accepted.
    fn completes(
        &self,
        relations: &Relations,
        prefix: &mut Vec<usize>,
        accept: &impl Fn(&[usize]) -> bool,
    ) -> bool {
        let n = self.txns.len();
        if prefix.len() == n {
            return accept(prefix);
        }
        (0..n).any(|txn| {
            // What must come before `txn` is in the prefix already, or the order extends nothing.
            let is_due = (0..n).all(|other| !relations.must[other][txn] || prefix.contains(&other));
            if prefix.contains(&txn) || !is_due {
                return false;
            }
            prefix.push(txn);
            let found = self.completes(relations, prefix, accept);
            prefix.pop();
            found
        })
    }

    /// The formula at the head of this module.
    fn axioms_hold(&self, relations: &Relations, order: &[usize]) -> bool {
        let world = Axiom { execution: self, relations, place: &places(order) };
        self.txns.iter().enumerate().all(|(t3, reader)| {
            reader.reads.iter().enumerate().all(|(number, read)| {
                let writes = |t2: usize| self.txns[t2].writes.contains(&read.key);
                let others = (0..self.txns.len())
                    .filter(|&t2| t2 != t3 && Some(t2) != read.source && writes(t2));
                others.into_iter().all(|t2| {
                    !world.sees(reader.level, t2, t3, number)
                        || read.source.is_some_and(|t1| world.commits_before(t2, t1))
                })
            })
        })
    }

    /// Whether `a` ended before `b` began, as far as that is known.
    fn ended_before(&self, a: usize, b: usize) -> bool {
        match (self.txns[a].times, self.txns[b].times) {
            (Some((_, end)), Some((begin, _))) => a != b && end < begin,
            _ => false,
        }
    }

    /// so, or so ∪ rt, or nothing.
    fn is_ordered(&self, a: usize, b: usize) -> bool {
        let in_session = a < b && self.txns[a].session == self.txns[b].session;
        match self.order {
            Order::None => false,
            Order::Sessions => in_session,
            Order::RealTime => in_session || self.ended_before(a, b),
        }
    }

    fn reads_from(&self, reader: usize, writer: usize) -> bool {
        self.txns[reader].reads.iter().any(|read| read.source == Some(writer))
    }
}

/// What does not depend on the commit order.
struct Relations {
    /// so ∪ wr.
    direct: Vec<Vec<bool>>,
    /// (so ∪ wr)+.
    causal: Vec<Vec<bool>>,
    /// What the commit order must extend: so ∪ wr, and real time before strictly serializable
    /// transactions.
    must: Vec<Vec<bool>>,
}

impl Relations {
    fn of(execution: &Execution) -> Relations {
        let n = execution.txns.len();
        let mut direct = vec![vec![false; n]; n];
        for (a, b) in pairs(n) {
            direct[a][b] = execution.is_ordered(a, b) || execution.reads_from(b, a);
        }
        let (mut causal, mut must) = (direct.clone(), direct.clone());
        close(&mut causal);
        for (a, b) in pairs(n) {
            let is_strict = execution.txns[b].level == Level::StrictSerializable;
            must[a][b] |= is_strict && execution.ended_before(a, b);
        }
        Relations { direct, causal, must }
    }
}

/// The axioms under one commit order: which writers a read sees.
struct Axiom<'a> {
    execution: &'a Execution,
    relations: &'a Relations,
    /// The place of each transaction in the commit order.
    place: &'a [usize],
}

impl Axiom<'_> {
    /// φ(t2, t3) for read number `read` of t3, at `level`.
    fn sees(&self, level: Level, t2: usize, t3: usize, read: usize) -> bool {
        match level {
            // Cut isolation asks nothing of an order: its condition is in `oracle`.
            Level::Unconstrained | Level::CutIsolation => false,
            Level::ReadCommitted => self.read_committed(t2, t3, read),
            Level::ReadAtomic => self.read_atomic(t2, t3),
            Level::Causal => self.causal(t2, t3),
            Level::PrefixConsistency => self.prefix(t2, t3),
            Level::SnapshotIsolation => self.snapshot(t2, t3),
            Level::Serializable | Level::StrictSerializable => self.serializable(t2, t3),
        }
    }

    /// t3 read something from t2 before this read; in real time also what ended before t3 began;
    /// over SQL also what its own session committed before.
    fn read_committed(&self, t2: usize, t3: usize, read: usize) -> bool {
        let (own, other) = (&self.execution.txns[t3], &self.execution.txns[t2]);
        own.reads[..read].iter().any(|earlier| earlier.source == Some(t2))
            || (self.execution.sessions_at_rc && t2 < t3 && other.session == own.session)
            || (self.execution.order == Order::RealTime && self.execution.ended_before(t2, t3))
    }

    /// (t2, t3) ∈ so ∪ wr.
    fn read_atomic(&self, t2: usize, t3: usize) -> bool {
        self.relations.direct[t2][t3]
    }

    /// (t2, t3) ∈ (so ∪ wr)+.
    fn causal(&self, t2: usize, t3: usize) -> bool {
        self.relations.causal[t2][t3]
    }

    /// (t2, t3) ∈ co* ; (so ∪ wr).
    fn prefix(&self, t2: usize, t3: usize) -> bool {
        (0..self.place.len()).any(|t| self.commits_by(t2, t) && self.relations.direct[t][t3])
    }

    /// That of prefix consistency; or t2 co* t4 co t3 for some t4 that writes a key of t3.
    fn snapshot(&self, t2: usize, t3: usize) -> bool {
        let conflicts = |t4: usize| self.commits_before(t4, t3) && self.write_a_common_key(t4, t3);
        self.prefix(t2, t3)
            || (0..self.place.len()).any(|t4| self.commits_by(t2, t4) && conflicts(t4))
    }

    /// (t2, t3) ∈ co.
    fn serializable(&self, t2: usize, t3: usize) -> bool {
        self.commits_before(t2, t3)
    }

    /// (a, b) ∈ co.
    fn commits_before(&self, a: usize, b: usize) -> bool {
        self.place[a] < self.place[b]
    }

    /// (a, b) ∈ co*.
    fn commits_by(&self, a: usize, b: usize) -> bool {
        self.place[a] <= self.place[b]
    }

    fn write_a_common_key(&self, a: usize, b: usize) -> bool {
        let txns = &self.execution.txns;
        txns[a].writes.iter().any(|key| txns[b].writes.contains(key))
    }
}

/// Whether `order` has each of the numbers below `n` once.
fn is_permutation(order: &[usize], n: usize) -> bool {
    order.len() == n && (0..n).all(|number| order.contains(&number))
}

/// For each transaction its place in `order`.
fn places(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (position, &txn) in order.iter().enumerate() {
        place[txn] = position;
    }
    place
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)))
}

/// The transitive closure.
fn close(relation: &mut [Vec<bool>]) {
    let n = relation.len();
    for middle in 0..n {
        for (a, b) in pairs(n) {
            relation[a][b] |= relation[a][middle] && relation[middle][b];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn txn(session: usize, reads: &[(usize, Option<usize>)], writes: &[usize]) -> Transaction {
        let reads = reads.iter().map(|&(key, source)| Read { key, source }).collect();
        Transaction::new(session, Level::Serializable, reads, writes.to_vec())
    }

    /// The levels of `among` that hold.
    fn holding(execution: &Execution, among: &[Level]) -> Vec<Level> {
        let holds = |&level: &Level| {
            let at = |txn: &Transaction| Transaction { level, ..txn.clone() };
            let txns = execution.txns.iter().map(at).collect();
            Execution { txns, ..execution.clone() }.is_consistent()
        };
        among.iter().copied().filter(holds).collect()
    }

    #[test]
    fn a_lost_update_is_allowed_up_to_prefix_consistency() {
        let lost = Execution {
            txns: vec![txn(0, &[(0, None)], &[0]), txn(1, &[(0, None)], &[0])],
            ..Execution::default()
        };
        assert_eq!(holding(&lost, &Level::LADDER), Level::LADDER[..4]);
    }

    #[test]
    fn a_session_that_forgets_what_it_wrote_is_allowed_without_sessions() {
        let txns = vec![txn(0, &[], &[0]), txn(0, &[(0, None)], &[])];
        let sessions = Execution { txns, ..Execution::default() };
        assert_eq!(holding(&sessions, &Level::LADDER), [Level::ReadCommitted]);
        let none = Execution { order: Order::None, ..sessions };
        assert_eq!(holding(&none, &Level::LADDER), Level::LADDER);
    }

    #[test]
    fn a_stale_read_violates_every_level_in_real_time_and_only_strict_ones_without() {
        let timed = |times, txn| Transaction { times: Some(times), ..txn };
        let txns = vec![timed((0, 1), txn(0, &[], &[0])), timed((2, 3), txn(1, &[(0, None)], &[]))];
        let sessions = Execution { txns, ..Execution::default() };
        assert_eq!(holding(&sessions, &Level::LADDER), Level::LADDER[..6]);
        let real_time = Execution { order: Order::RealTime, ..sessions };
        assert_eq!(holding(&real_time, &Level::LADDER), []);
        assert_eq!(holding(&real_time, &[Level::Unconstrained]), [Level::Unconstrained]);
    }

    #[test]
    fn the_level_of_the_reader_counts() {
        let at = |level, txn| Transaction { level, ..txn };
        let skew = |a, b| {
            let txns = vec![at(a, txn(0, &[(0, None)], &[1])), at(b, txn(1, &[(1, None)], &[0]))];
            Execution { txns, ..Execution::default() }.is_consistent()
        };
        assert!(!skew(Level::Serializable, Level::Serializable));
        assert!(skew(Level::Serializable, Level::SnapshotIsolation));
    }

    #[test]
    fn an_order_that_misses_a_transaction_or_turns_a_session_round_is_no_commit_order() {
        let txns = vec![txn(0, &[], &[0]), txn(0, &[(0, Some(0))], &[])];
        let execution = Execution { txns, ..Execution::default() };
        assert!(execution.accepts(&[0, 1]));
        assert!(!execution.accepts(&[1, 0]));
        for wrong in [&[0][..], &[1], &[0, 0], &[1, 1], &[0, 2], &[0, 1, 1]] {
            assert!(!execution.accepts(wrong), "{wrong:?}");
        }
    }
}
