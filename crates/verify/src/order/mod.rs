//! Is this really a commit order? The weak levels from the definition, with a matching of reads to
//! writes of its own. Of those transactions of a session that a reader saw and that wrote the key,
//! only the last one is looked at: the order has the others before it. Time O(reads · sessions), at
//! RC and RA O(reads · √reads); memory linear in the history. The strong levels by a walk along
//! begin and commit points, in linear time (module `points`). Real time at the weak levels is in
//! module `real_time`.

mod real_time;

use crate::alone::as_if_alone;
use crate::pasts::Pasts;
use crate::points;
use crate::reads::ExternalRead;
use crate::rejection::Rejection;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};
use seriatim_isolation::{Guarantee, Level, Order};
use std::collections::HashMap;

/// Accepts `order` iff it is a commit order of `history` at a level, with sessions unless an order
/// is named. Histories with ambiguous reads are not supported: of several writes of a value, the
/// last one in the order before the reader is taken.
pub fn verify_order(
    history: &History,
    asked: impl Into<Guarantee>,
    order: &[TxnId],
) -> Result<(), Rejection> {
    let asked = asked.into();
    if asked.level.is_strong() {
        return points::verify_order(history, asked, order);
    }
    match asked.order {
        Order::None => verify_weak(&as_if_alone(history, asked.level), asked.level, order),
        Order::Sessions => verify_weak(history, asked.level, order),
        Order::RealTime => real_time::verify_order(history, asked.level, order),
    }
}

/// The same at a weak level, with the sessions of the history.
pub(crate) fn verify_weak(
    history: &History,
    level: Level,
    order: &[TxnId],
) -> Result<(), Rejection> {
    let place = places(history, order)?;
    let reads = external_reads(history, order, &place)?;
    check_lists(history, order)?;
    if level >= Level::ReadAtomic {
        check_repeated_lists(history, order)?;
    }
    let axioms = Axioms { history, writers: writers(history, order), place };
    match level {
        Level::ReadCommitted => axioms.check_sources(&reads, Seen::Before),
        Level::ReadAtomic => {
            axioms.check_sources(&reads, Seen::Ever)?;
            reads.iter().try_for_each(|read| axioms.check_own_session(read))
        }
        Level::Causal => axioms.check_pasts(order, &reads),
        _ => Ok(()),
    }
}

/// For each key the transactions that write it, which are sorted, so that those of a session stand
/// together.
pub(crate) fn writers(history: &History, order: &[TxnId]) -> HashMap<KeyId, Vec<TxnId>> {
    let mut writers: HashMap<KeyId, Vec<TxnId>> = HashMap::new();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    for txn in sorted {
        for op in history.ops_of(txn).map(|op| history.op(OpId(op))).filter(|op| op.kind.is_write())
        {
            let known = writers.entry(op.key).or_default();
            if known.last() != Some(&txn) {
                known.push(txn);
            }
        }
    }
    writers
}

/// Which reads of a transaction show what it saw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Those before the read in question.
    Before,
    /// All.
    Ever,
}

/// What the axioms speak of.
struct Axioms<'h> {
    history: &'h History,
    writers: HashMap<KeyId, Vec<TxnId>>,
    place: HashMap<TxnId, usize>,
}

impl Axioms<'_> {
    fn writers(&self, key: KeyId) -> &[TxnId] {
        self.writers.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The reader of `read` saw `other`, which wrote the key too.
    fn check(&self, read: &ExternalRead, other: TxnId) -> Result<(), Rejection> {
        let &ExternalRead { reader, read, source, .. } = read;
        let earlier = source.is_none_or(|source| self.place[&source] < self.place[&other]);
        if Some(other) == source || other == reader || !earlier {
            return Ok(());
        }
        Err(Rejection::Axiom { reader, read, source_txn: source, other })
    }

    /// What a transaction read from others it saw. The reads of a transaction stand together.
    fn check_sources(&self, reads: &[ExternalRead], seen: Seen) -> Result<(), Rejection> {
        for of_one in reads.chunk_by(|a, b| a.reader == b.reader) {
            // The read that first read from each transaction.
            let mut first: HashMap<TxnId, OpId> = HashMap::new();
            for (source, read) in of_one.iter().filter_map(|read| Some((read.source?, read.read))) {
                first.entry(source).or_insert(read);
            }
            let mut sources: Vec<(OpId, TxnId)> =
                first.iter().map(|(&source, &read)| (read, source)).collect();
            sources.sort_unstable();
            for read in of_one {
                self.check_seen(read, seen, &first, &sources)?;
            }
        }
        Ok(())
    }

    /// Goes through the writers of the key or through what was read from, whichever are fewer.
    fn check_seen(
        &self,
        read: &ExternalRead,
        seen: Seen,
        first: &HashMap<TxnId, OpId>,
        sources: &[(OpId, TxnId)],
    ) -> Result<(), Rejection> {
        let writers = self.writers(read.key);
        let counts = |at: OpId| seen == Seen::Ever || at < read.read;
        if writers.len() < sources.len() {
            let mut seen =
                writers.iter().filter(|other| first.get(other).is_some_and(|&at| counts(at)));
            return seen.try_for_each(|&other| self.check(read, other));
        }
        let earlier = sources.iter().take_while(|(at, _)| counts(*at));
        let mut both = earlier.filter(|(_, other)| writers.binary_search(other).is_ok());
        both.try_for_each(|&(_, other)| self.check(read, other))
    }

    /// The reader saw what came before it in its session.
    fn check_own_session(&self, read: &ExternalRead) -> Result<(), Rejection> {
        let first = self.history.txns_of(self.history.session_of(read.reader)).start;
        let writers = self.writers(read.key);
        let before = writers.partition_point(|&writer| writer < read.reader);
        let last = before.checked_sub(1).map(|last| writers[last]).filter(|last| last.0 >= first);
        last.map_or(Ok(()), |last| self.check(read, last))
    }

    /// The reader saw its causal past.
    fn check_pasts(&self, order: &[TxnId], reads: &[ExternalRead]) -> Result<(), Rejection> {
        for pasts in Pasts::in_blocks(self.history, order, reads) {
            for read in reads {
                let writers = pasts.of_block(self.writers(read.key));
                let by_session = |a: &TxnId, b: &TxnId| {
                    self.history.session_of(*a) == self.history.session_of(*b)
                };
                for writers in writers.chunk_by(by_session) {
                    let past = pasts.end(read.reader, self.history.session_of(writers[0]));
                    let seen = writers.partition_point(|writer| writer.0 < past);
                    seen.checked_sub(1).map_or(Ok(()), |last| self.check(read, writers[last]))?;
                }
            }
        }
        Ok(())
    }
}

/// The place of each transaction in `order`, which must have all that committed, none that aborted,
/// each once, and those of a session in its order.
fn places(history: &History, order: &[TxnId]) -> Result<HashMap<TxnId, usize>, Rejection> {
    let place: HashMap<TxnId, usize> =
        order.iter().enumerate().map(|(place, &txn)| (txn, place)).collect();
    for &txn in order {
        if txn.index() >= history.txn_count() || history.status(txn) == Status::Aborted {
            return Err(Rejection::NotAPermutation(txn));
        }
    }
    if place.len() != order.len() {
        return Err(Rejection::NotAPermutation(order[0]));
    }
    for session in history.sessions() {
        let mut last: Option<TxnId> = None;
        for txn in history.txns_of(session).map(TxnId) {
            if history.status(txn) == Status::Committed && !place.contains_key(&txn) {
                return Err(Rejection::NotAPermutation(txn));
            }
            let Some(&here) = place.get(&txn) else { continue };
            if let Some(last) = last
                && place[&last] > here
            {
                return Err(Rejection::SessionOrder(txn, last));
            }
            last = Some(txn);
        }
    }
    Ok(place)
}

/// The external reads with their sources, in the order of their transactions; every read is checked
/// to be well formed.
pub(crate) fn external_reads(
    history: &History,
    order: &[TxnId],
    place: &HashMap<TxnId, usize>,
) -> Result<Vec<ExternalRead>, Rejection> {
    let left = left_values(history, order);
    let replaced = points::replaced_initial_values(history);
    let mut reads = Vec::new();
    for &reader in order {
        let mut own = HashMap::new();
        for read in history.ops_of(reader).map(OpId) {
            let op = history.op(read);
            if op.kind != OpKind::Read {
                own.insert(op.key, op.value);
                continue;
            }
            let value = match op.value.kind() {
                ValueKind::List(number) => {
                    history.list(number).last().copied().unwrap_or(Value::NULL)
                }
                _ => op.value,
            };
            if let Some(&mine) = own.get(&op.key) {
                if mine != value {
                    return Err(Rejection::Source(read));
                }
                continue;
            }
            // The writers of a value stand in their order, so the last one before the reader is
            // found quickly.
            let writers = left.get(&(op.key, value)).map_or(&[][..], Vec::as_slice);
            let before = writers.partition_point(|writer| place[writer] < place[&reader]);
            let source = before.checked_sub(1).map(|last| writers[last]);
            let is_initial =
                history.initial().value_of(op.key) == Some(value) && !replaced.contains(&op.key);
            if source.is_none() && value != Value::NULL && !is_initial {
                return Err(Rejection::Source(read));
            }
            reads.push(ExternalRead { reader, read, key: op.key, source });
        }
    }
    Ok(reads)
}

/// For each value the transactions that leave it in the key, in their order.
fn left_values(history: &History, order: &[TxnId]) -> HashMap<(KeyId, Value), Vec<TxnId>> {
    let mut left: HashMap<(KeyId, Value), Vec<TxnId>> = HashMap::new();
    for &txn in order {
        let ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
        let last: HashMap<KeyId, Value> =
            ops.filter(|op| op.kind.is_write()).map(|op| (op.key, op.value)).collect();
        for written in last {
            left.entry(written).or_default().push(txn);
        }
    }
    left
}

/// No list that a transaction reads again after own appends has new elements of others.
fn check_repeated_lists(history: &History, order: &[TxnId]) -> Result<(), Rejection> {
    let unrepeated = order.iter().find_map(|&txn| history.unrepeated_list(txn));
    unrepeated.map_or(Ok(()), |(_, again)| Err(Rejection::Source(again)))
}

/// The lists of a key are prefixes of the longest, and until that is complete each append to the
/// key is its next element.
fn check_lists(history: &History, order: &[TxnId]) -> Result<(), Rejection> {
    if !history.has_lists() {
        return Ok(());
    }
    let ops = || order.iter().flat_map(|&txn| history.ops_of(txn)).map(OpId);
    let mut longest: HashMap<KeyId, (OpId, &[Value])> = HashMap::new();
    for id in ops() {
        let op = history.op(id);
        let ValueKind::List(number) = op.value.kind() else { continue };
        let list = history.list(number);
        let known = longest.entry(op.key).or_insert((id, list));
        let (shorter, longer) =
            if list.len() > known.1.len() { (known.1, list) } else { (list, known.1) };
        if !longer.starts_with(shorter) {
            return Err(Rejection::ListOrder(id));
        }
        *known = if list.len() > known.1.len() { (id, list) } else { *known };
    }
    for op in ops().map(|id| history.op(id)).filter(|op| op.kind == OpKind::Append) {
        let Some((read, rest)) = longest.get_mut(&op.key) else { continue };
        match rest.split_first() {
            Some((next, behind)) if *next == op.value => *rest = behind,
            Some(_) => return Err(Rejection::ListOrder(*read)),
            None => {}
        }
    }
    let incomplete = longest.values().filter(|(_, rest)| !rest.is_empty());
    let read = incomplete.map(|&(read, _)| read).min();
    read.map_or(Ok(()), |read| Err(Rejection::ListOrder(read)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::numbers;
    use seriatim_history::notation;
    use seriatim_isolation::oracle;

    fn verdict(text: &str, order: &[u32]) -> Result<(), Rejection> {
        let order: Vec<TxnId> = order.iter().copied().map(TxnId).collect();
        verify_order(&notation::parse(text).unwrap(), Level::Causal, &order)
    }

    #[test]
    fn orders_that_explain_nothing_are_rejected() {
        assert_eq!(verdict("a: w(x,1)\nb: r(x,1)", &[0, 1]), Ok(()));
        assert_eq!(verdict("a: w(x,1)\nb: r(x,1)", &[1, 0]), Err(Rejection::Source(OpId(1))));
        assert_eq!(
            verdict("a: w(x,1)\nb: r(x,1)", &[0]),
            Err(Rejection::NotAPermutation(TxnId(1)))
        );
        assert_eq!(
            verdict("a: w(x,1) | w(x,2)", &[1, 0]),
            Err(Rejection::SessionOrder(TxnId(1), TxnId(0)))
        );
        assert_eq!(verdict("a: w(x,0)\nb: r(x,0)", &[1, 0]), Err(Rejection::Source(OpId(1))));
        assert_eq!(
            verdict("a: a(x,1)\nb: a(x,2)\nc: r(x,[1 2])", &[1, 0, 2]),
            Err(Rejection::ListOrder(OpId(2)))
        );
        let no_prefixes = "a: a(x,1)\nb: a(x,2)\nc: a(x,3)\nd: r(x,[1 2])\ne: r(x,[1 3])";
        assert_eq!(verdict(no_prefixes, &[0, 1, 2, 3, 4]), Err(Rejection::ListOrder(OpId(4))));
        let repeated = "a: a(x,1) | a(x,1) | a(x,2)\nd: r(x,[1 2])";
        assert_eq!(verdict(repeated, &[0, 1, 2, 3]), Err(Rejection::ListOrder(OpId(3))));
        let overwritten = verdict("a: w(x,1) | w(x,2) w(y,1)\nb: r(y,1) r(x,1)", &[0, 1, 2]);
        assert!(
            matches!(overwritten, Err(Rejection::Axiom { other: TxnId(1), .. })),
            "{overwritten:?}"
        );
    }

    #[test]
    fn the_quick_way_accepts_what_the_axioms_accept() {
        let mut below = numbers(7);
        let mut counts = [[0; 2]; 3];
        for _ in 0..4000 {
            let mut sessions = vec![Vec::new(); 3];
            let mut written: Vec<Vec<u64>> = vec![vec![0]; 3];
            let mut order = Vec::new();
            for value in 1..=7 {
                let session = below(3) as usize;
                let ops = (0..=below(3)).map(|_| {
                    let key = below(3) as usize;
                    let seen = written[key][below(written[key].len() as u64) as usize];
                    format!("r(k{key},{seen})")
                });
                let (reads, key) = (ops.collect::<Vec<_>>().join(" "), below(3) as usize);
                written[key].push(value);
                order.push((session, sessions[session].len()));
                sessions[session].push(format!("{reads} w(k{key},{value})"));
            }
            let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
            let text: String =
                lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join(" | "))).collect();
            let history = notation::parse(&text).unwrap();
            let first = |session: usize| sessions[..session].iter().map(Vec::len).sum::<usize>();
            let order: Vec<TxnId> =
                order.iter().map(|&(s, i)| TxnId((first(s) + i) as u32)).collect();
            for (number, level) in
                [Level::ReadCommitted, Level::ReadAtomic, Level::Causal].into_iter().enumerate()
            {
                let accepted = verify_order(&history, level, &order).is_ok();
                assert_eq!(
                    accepted,
                    oracle::accepts(&history, level, &order),
                    "{level} of\n{text}"
                );
                counts[number][usize::from(accepted)] += 1;
            }
        }
        assert!(counts.iter().flatten().all(|&count| count > 100), "{counts:?}");
    }

    #[test]
    fn a_long_history_is_verified_in_little_memory_and_time() {
        // A set for each transaction would hold 200 million of them.
        let sessions = (0..20).map(|session| {
            let txns = (0..1000).map(|txn| format!("w(k{session},{txn}) w(own{session},{txn})"));
            format!("s{session}: {}\n", txns.collect::<Vec<_>>().join(" | "))
        });
        let history = notation::parse(&sessions.collect::<String>()).unwrap();
        let order: Vec<TxnId> = history.txns().collect();
        let start = std::time::Instant::now();
        assert_eq!(verify_order(&history, Level::Causal, &order), Ok(()));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
