//! Are the verdicts of a certificate true? Asked by those who do not trust whoever wrote it:
//! nothing of what it says is believed, and nothing that the search of [`crate::check`] uses is
//! used. What is too large for the definition itself is left to plain saturation at the weak levels
//! and to [`crate::frontier`] at the strong ones; what is too hard for these is not confirmed.
//!
//! A level that holds is shown by points, or by an order. A level that is violated is shown by
//! operations that violate it when everything else is removed. That proves something only if
//! removing cannot turn a consistent history inconsistent. It cannot, if
//!
//! - a read keeps every write that it may have come from, and what its transaction wrote to the key
//!   last before it,
//! - an element of a list that stays keeps every append that it may be (others vanish from all
//!   lists), and the last one stays,
//! - what a transaction wrote to a key last stays with what it wrote there before, which would be
//!   taken for the last otherwise,
//! - a transaction of unknown outcome stays one, unless what was read of it shows that it
//!   committed.

mod saturate;

use crate::frontier::{self, Found};
use crate::limits::Limits;
use crate::matching::matched_history;
use crate::outcome::Event;
use crate::refs::Names;
use crate::verifier::{Rejection, verify, verify_points};
use rustc_hash::{FxHashMap, FxHashSet};
use saturate::Shown;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};
use seriatim_isolation::Level;
use seriatim_isolation::oracle;
use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

/// How many states the search for a way out of a violation may look at.
const STATES_MAX: u64 = 2_000_000;
/// How long that may take.
const SEARCH_MAX: Duration = Duration::from_secs(60);
/// The largest histories that are given to the definition itself.
const ORACLE_TXNS: usize = 6;
const ORACLE_OPS: usize = 24;

/// Why a verdict is not confirmed.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// The points or the order do not show that the level holds.
    Rejected(Rejection),
    /// Without times nothing is known to be in the order of real time.
    NoTimes,
    /// A transaction reads two values of a key.
    NotRepeated(OpId),
    /// A read cannot come from where it is said to.
    Source(OpId),
    /// A read may come from several writes, and it is not said from which.
    NoSource(OpId),
    /// There is no such operation.
    NoOperation(u32, usize),
    /// Without this operation the others prove nothing.
    LeftOut(OpId),
    /// The operations do not violate the level.
    NoViolation,
    /// It would take too long to see whether they do.
    TooHard,
}

impl std::error::Error for Doubt {}

impl From<Rejection> for Doubt {
    fn from(rejection: Rejection) -> Doubt {
        Doubt::Rejected(rejection)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Rejected(rejection) => rejection.fmt(f),
            _ => f.write_str(&self.tell(Names(None))),
        }
    }
}

impl Doubt {
    /// The same in the names of the input.
    pub fn told(&self, history: &History) -> String {
        match self {
            Doubt::Rejected(rejection) => rejection.told(history),
            _ => self.tell(Names(Some(history))),
        }
    }

    fn tell(&self, names: Names<'_>) -> String {
        match *self {
            Doubt::Rejected(_) => "the points or the order do not show it".to_owned(),
            Doubt::NoTimes => "the history has no begin and end times".to_owned(),
            Doubt::NotRepeated(read) => {
                format!(
                    "{} returned another value than a read of the same key before it",
                    names.op(read)
                )
            }
            Doubt::Source(read) => format!("{} cannot come from there", names.op(read)),
            Doubt::NoSource(read) => format!("it is not said where {} comes from", names.op(read)),
            Doubt::NoOperation(op, count) => {
                format!("there is no operation {op}; the history has {count}")
            }
            Doubt::LeftOut(op) => {
                format!("{} is left out, but what the others show may depend on it", names.op(op))
            }
            Doubt::NoViolation => {
                "the operations that are named do not violate the level".to_owned()
            }
            Doubt::TooHard => "too hard to confirm".to_owned(),
        }
    }
}

/// Do these begin and commit points show that `level` holds?
pub fn points(history: &History, level: Level, points: &[Event]) -> Result<(), Doubt> {
    check_times(history, level)?;
    Ok(verify_points(history, level, points)?)
}

/// Does this commit order show that `level` holds, if each of the reads in `sources` comes from the
/// write beside it (`None`: the initial value)?
pub fn order(
    history: &History,
    level: Level,
    order: &[TxnId],
    sources: Option<&[(OpId, Option<OpId>)]>,
) -> Result<(), Doubt> {
    check_times(history, level)?;
    if level == Level::CutIsolation {
        return cut_isolation(history);
    }
    match sources {
        None => Ok(verify(history, level, order)?),
        Some(sources) => {
            check_sources(history, sources)?;
            Ok(verify(&matched_history(history, sources), level, order)?)
        }
    }
}

/// Does cut isolation hold? It needs no proof: no transaction that counts may read two values of a
/// key before it writes the key.
pub fn cut_isolation(history: &History) -> Result<(), Doubt> {
    let facts = Facts::of(history);
    let counts = facts.counting();
    for txn in history.txns().filter(|txn| counts[txn.index()]) {
        let mut first: FxHashMap<KeyId, Value> = FxHashMap::default();
        for read in external_reads(history, txn) {
            let op = history.op(read);
            let initial = facts.may_be_initial(op.key, last_element(history, op.value));
            let value = if initial { Value::NULL } else { op.value };
            let before = *first.entry(op.key).or_insert(value);
            if !same(history, before, value) {
                return Err(Doubt::NotRepeated(read));
            }
        }
    }
    Ok(())
}

/// Which transactions are known to have committed.
pub(crate) fn counting(history: &History) -> Vec<bool> {
    Facts::of(history).counting()
}

/// Do these operations alone show that `level` is violated?
pub fn violation(history: &History, level: Level, ops: &[OpId]) -> Result<(), Doubt> {
    let limits = Limits { deadline: Some(Instant::now() + SEARCH_MAX), ..Limits::default() };
    violation_within(history, level, ops, limits)
}

fn violation_within(
    history: &History,
    level: Level,
    ops: &[OpId],
    limits: Limits,
) -> Result<(), Doubt> {
    if let Some(strange) = ops.iter().find(|op| op.index() >= history.op_count()) {
        return Err(Doubt::NoOperation(strange.0, history.op_count()));
    }
    if let Some(&missing) = left_out(history, ops).first() {
        return Err(Doubt::LeftOut(missing));
    }
    let counts = counting(history);
    let status =
        |txn: TxnId| if counts[txn.index()] { Status::Committed } else { history.status(txn) };
    let part = history.restricted_with(ops, status);
    if level.is_strong() {
        match frontier::search_within(&part, level, STATES_MAX, limits) {
            Found::Violated => return Ok(()),
            Found::Holds(points) if verify_points(&part, level, &points).is_ok() => {
                return Err(Doubt::NoViolation);
            }
            // Of elements that were appended twice the search does not keep in mind which is which.
            Found::Holds(_) | Found::OutOfBudget => {}
        }
    }
    if part.txn_count() <= ORACLE_TXNS && part.op_count() <= ORACLE_OPS {
        return if oracle::satisfies(&part, level) { Err(Doubt::NoViolation) } else { Ok(()) };
    }
    match level {
        Level::CutIsolation => cut_isolation(&part).map_or(Ok(()), |()| Err(Doubt::NoViolation)),
        _ if level.is_strong() => Err(Doubt::TooHard),
        _ => match saturate::shown(&part, level) {
            Shown::Violated => Ok(()),
            Shown::Holds => Err(Doubt::NoViolation),
            Shown::Open => Err(Doubt::TooHard),
        },
    }
}

/// `ops`, sorted, with what is needed beside them to prove something.
pub fn completed(history: &History, ops: &[OpId]) -> Vec<OpId> {
    let mut ops = ops.to_vec();
    loop {
        let missing = left_out(history, &ops);
        if missing.is_empty() {
            ops.sort_unstable();
            ops.dedup();
            return ops;
        }
        ops.extend(missing);
    }
}

/// The operations without which `ops` prove nothing.
fn left_out(history: &History, ops: &[OpId]) -> Vec<OpId> {
    let kept: FxHashSet<OpId> = ops.iter().copied().collect();
    let written = |op: &OpId| {
        Some(history.op(*op)).filter(|op| op.kind.is_write()).map(|op| (op.key, op.value))
    };
    let kept_values: FxHashSet<(KeyId, Value)> = ops.iter().filter_map(written).collect();
    let mut needed: FxHashMap<(KeyId, Value), Need> = FxHashMap::default();
    let mut missing = Vec::new();
    let mut readers: BTreeSet<TxnId> = BTreeSet::new();
    for &read in ops.iter().filter(|op| history.op(**op).kind == OpKind::Read) {
        let (op, txn) = (history.op(read), history.txn_of(read));
        if history.status(txn) == Status::Aborted {
            continue;
        }
        readers.insert(txn);
        let Some(elements) = elements(history, op.value) else {
            needed.entry((op.key, op.value)).or_insert(Need::Last);
            continue;
        };
        for (place, &element) in elements.iter().enumerate() {
            let stays = place + 1 == elements.len() || kept_values.contains(&(op.key, element));
            let need = if stays { Need::All } else { Need::Registers };
            let known = needed.entry((op.key, element)).or_insert(need);
            *known = if stays { Need::All } else { *known };
        }
    }
    missing.extend(readers.into_iter().flat_map(|txn| own_writes_before(history, txn, &kept)));
    for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
        let mut later: FxHashMap<KeyId, OpId> = FxHashMap::default();
        for id in history.ops_of(txn).rev().map(OpId) {
            let op = history.op(id);
            if !op.kind.is_write() {
                continue;
            }
            let last = *later.entry(op.key).or_insert(id);
            if kept.contains(&id) {
                missing.push(last);
            }
            let last = last == id;
            missing.extend(
                needed
                    .get(&(op.key, op.value))
                    .filter(|need| need.asks_for(op.kind, last))
                    .map(|_| id),
            );
        }
    }
    missing.retain(|op| !kept.contains(op));
    missing
}

/// Which writes of a value are needed.
#[derive(Clone, Copy)]
enum Need {
    /// Those that are the last to the key in their transaction.
    Last,
    /// All.
    All,
    /// All that are no appends: the value vanishes from lists with its appends.
    Registers,
}

impl Need {
    fn asks_for(self, kind: OpKind, last: bool) -> bool {
        match self {
            Need::Last => last,
            Need::All => true,
            Need::Registers => kind != OpKind::Append,
        }
    }
}

/// For each read of `txn` that is kept the last write of `txn` to its key before it.
fn own_writes_before(history: &History, txn: TxnId, kept: &FxHashSet<OpId>) -> Vec<OpId> {
    let mut own: FxHashMap<KeyId, OpId> = FxHashMap::default();
    let mut before = Vec::new();
    for id in history.ops_of(txn).map(OpId) {
        let op = history.op(id);
        if op.kind.is_write() {
            own.insert(op.key, id);
        } else if kept.contains(&id) {
            before.extend(own.get(&op.key));
        }
    }
    before
}

fn check_times(history: &History, level: Level) -> Result<(), Doubt> {
    let timeless = level == Level::StrictSerializable && !history.has_times();
    if timeless { Err(Doubt::NoTimes) } else { Ok(()) }
}

/// Each of `sources` may be true, and no other read could come from one of the writes that they
/// distinguish.
fn check_sources(history: &History, sources: &[(OpId, Option<OpId>)]) -> Result<(), Doubt> {
    let named = sources.iter().flat_map(|&(read, write)| [Some(read), write]).flatten();
    if let Some(strange) = named.into_iter().find(|op| op.index() >= history.op_count()) {
        return Err(Doubt::NoOperation(strange.0, history.op_count()));
    }
    let facts = Facts::of(history);
    for &(read, write) in sources {
        let op = history.op(read);
        let fits = |write: OpId| {
            let other = history.op(write);
            let same = (other.key, other.value) == (op.key, op.value);
            other.kind.is_write()
                && same
                && history.status(history.txn_of(write)) != Status::Aborted
        };
        let possible = write.map_or_else(|| facts.may_be_initial(op.key, op.value), fits);
        if op.kind != OpKind::Read || elements(history, op.value).is_some() || !possible {
            return Err(Doubt::Source(read));
        }
    }
    let values: FxHashSet<(KeyId, Value)> =
        sources.iter().map(|(read, _)| (history.op(*read).key, history.op(*read).value)).collect();
    let said: FxHashSet<OpId> = sources.iter().map(|source| source.0).collect();
    let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
    let open = |read: &OpId| {
        let op = history.op(*read);
        values.contains(&(op.key, op.value)) && !said.contains(read)
    };
    let open = live.flat_map(|txn| external_reads(history, txn)).find(open);
    open.map_or(Ok(()), |read| Err(Doubt::NoSource(read)))
}

/// Reads that no write of their own transaction to the key precedes.
fn external_reads(history: &History, txn: TxnId) -> Vec<OpId> {
    let mut own: FxHashSet<KeyId> = FxHashSet::default();
    let mut reads = Vec::new();
    for id in history.ops_of(txn).map(OpId) {
        let op = history.op(id);
        if op.kind.is_write() {
            own.insert(op.key);
        } else if !own.contains(&op.key) {
            reads.push(id);
        }
    }
    reads
}

fn elements(history: &History, value: Value) -> Option<&[Value]> {
    match value.kind() {
        ValueKind::List(number) => Some(history.list(number)),
        _ => None,
    }
}

fn last_element(history: &History, value: Value) -> Value {
    elements(history, value)
        .map_or(value, |elements| elements.last().copied().unwrap_or(Value::NULL))
}

/// Whether two reads returned the same.
fn same(history: &History, a: Value, b: Value) -> bool {
    a == b || elements(history, a).is_some_and(|list| Some(list) == elements(history, b))
}

/// Who wrote what.
struct Facts<'h> {
    history: &'h History,
    /// For each value the transactions that leave it in the key.
    left: FxHashMap<(KeyId, Value), Vec<TxnId>>,
    /// For each value the transactions that append it, once for each append.
    appended: FxHashMap<(KeyId, Value), Vec<TxnId>>,
    /// Keys whose initial value cannot be read, because somebody wrote it.
    replaced: FxHashSet<KeyId>,
}

impl<'h> Facts<'h> {
    fn of(history: &'h History) -> Facts<'h> {
        let mut facts = Facts {
            history,
            left: FxHashMap::default(),
            appended: FxHashMap::default(),
            replaced: FxHashSet::default(),
        };
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            facts.add(txn);
        }
        facts
    }

    fn add(&mut self, txn: TxnId) {
        let initial = self.history.initial();
        let mut later: FxHashSet<KeyId> = FxHashSet::default();
        for op in self
            .history
            .ops_of(txn)
            .rev()
            .map(|op| self.history.op(OpId(op)))
            .filter(|op| op.kind.is_write())
        {
            let written = (op.key, op.value);
            if later.insert(op.key) {
                self.left.entry(written).or_default().push(txn);
            }
            if op.kind == OpKind::Append {
                self.appended.entry(written).or_default().push(txn);
            }
            if initial.yields(op.key) && initial.value_of(op.key) == Some(op.value) {
                self.replaced.insert(op.key);
            }
        }
    }

    fn may_be_initial(&self, key: KeyId, value: Value) -> bool {
        value == Value::NULL
            || (self.history.initial().value_of(key) == Some(value)
                && !self.replaced.contains(&key))
    }

    /// The transactions that committed: those that are known to have, and those of unknown outcome
    /// that one of these can only have read from.
    fn counting(&self) -> Vec<bool> {
        let history = self.history;
        let mut counts: Vec<bool> =
            history.txns().map(|txn| history.status(txn) == Status::Committed).collect();
        let mut waiting: Vec<TxnId> = history.txns().filter(|txn| counts[txn.index()]).collect();
        while let Some(reader) = waiting.pop() {
            for writer in self.only_sources(reader) {
                if !std::mem::replace(&mut counts[writer.index()], true) {
                    waiting.push(writer);
                }
            }
        }
        counts
    }

    fn only_sources(&self, reader: TxnId) -> Vec<TxnId> {
        let mut only = Vec::new();
        for read in external_reads(self.history, reader) {
            let op = self.history.op(read);
            let value = last_element(self.history, op.value);
            let writers = self.left.get(&(op.key, value)).map_or(&[][..], Vec::as_slice);
            let mut others = writers.iter().filter(|&&writer| writer != reader);
            if let (Some(&writer), None) = (others.next(), others.next())
                && !self.may_be_initial(op.key, value)
            {
                only.push(writer);
            }
        }
        for op in self.history.ops_of(reader).map(|op| self.history.op(OpId(op))) {
            for &element in elements(self.history, op.value).unwrap_or_default() {
                if let Some([writer]) = self.appended.get(&(op.key, element)).map(Vec::as_slice) {
                    only.push(*writer);
                }
            }
        }
        only
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;

    fn shown(text: &str, level: Level, ops: &[u32]) -> Result<(), Doubt> {
        let ops: Vec<OpId> = ops.iter().copied().map(OpId).collect();
        violation(&notation::parse(text).unwrap(), level, &ops)
    }

    #[test]
    fn a_violation_needs_every_write_that_its_reads_may_come_from() {
        let text = "a: w(x,1) | w(x,2)\nb: r(x,2) | r(x,1)\nc: w(x,1)";
        assert_eq!(shown(text, Level::Serializable, &[0, 1, 2, 3]), Err(Doubt::LeftOut(OpId(4))));
        assert_eq!(shown(text, Level::Serializable, &[0, 1, 2, 3, 4]), Err(Doubt::NoViolation));
        let text = "a: w(x,1) | w(x,2)\nb: r(x,2) | r(x,1)";
        for level in [Level::Causal, Level::SnapshotIsolation, Level::Serializable] {
            assert_eq!(shown(text, level, &[0, 1, 2, 3]), Ok(()));
            assert_eq!(shown(text, level, &[1, 2, 3]), Err(Doubt::LeftOut(OpId(0))));
            assert_eq!(shown(text, level, &[0, 1, 3]), Err(Doubt::NoViolation));
            assert_eq!(shown(text, level, &[0, 9]), Err(Doubt::NoOperation(9, 4)));
        }
    }

    #[test]
    fn own_writes_stay_before_the_reads_that_see_them() {
        let text = "a: r(x,1) w(x,2) r(x,2)\nb: w(x,1)";
        assert_eq!(shown(text, Level::CutIsolation, &[0, 2, 3]), Err(Doubt::LeftOut(OpId(1))));
        assert_eq!(cut_isolation(&notation::parse(text).unwrap()), Ok(()));
        let unrepeated = "a: r(x,1) r(x,2)\nb: w(x,1) | w(x,2)";
        assert_eq!(shown(unrepeated, Level::CutIsolation, &[0, 1, 2, 3]), Ok(()));
        assert_eq!(
            cut_isolation(&notation::parse(unrepeated).unwrap()),
            Err(Doubt::NotRepeated(OpId(1)))
        );
    }

    #[test]
    fn a_transaction_of_unknown_outcome_is_not_made_to_count() {
        // Nobody read what t1 wrote: it may never have happened.
        let text = "a: r(x,7) w(y,1)?\nb: w(x,1)";
        assert_eq!(shown(text, Level::ReadCommitted, &[0, 1, 2]), Err(Doubt::NoViolation));
        let text = "a: r(x,7) w(y,1)?\nb: r(y,1)";
        assert_eq!(shown(text, Level::ReadCommitted, &[0, 1, 2]), Ok(()));
    }

    #[test]
    fn sources_are_not_believed() {
        let history = notation::parse("a: w(x,1)\nb: w(x,1)\nc: r(x,1) | r(x,1)").unwrap();
        let txns: Vec<TxnId> = history.txns().collect();
        let said = |sources: &[(u32, Option<u32>)]| {
            let sources: Vec<_> =
                sources.iter().map(|&(read, write)| (OpId(read), write.map(OpId))).collect();
            order(&history, Level::Causal, &txns, Some(&sources))
        };
        assert_eq!(said(&[(2, Some(0)), (3, Some(1))]), Ok(()));
        assert_eq!(said(&[(2, Some(0))]), Err(Doubt::NoSource(OpId(3))));
        assert_eq!(said(&[(2, Some(0)), (3, None)]), Err(Doubt::Source(OpId(3))));
        assert_eq!(said(&[(2, Some(0)), (3, Some(2))]), Err(Doubt::Source(OpId(3))));
        assert_eq!(said(&[(2, Some(8))]), Err(Doubt::NoOperation(8, 4)));
    }

    #[test]
    fn a_search_that_takes_too_long_confirms_nothing() {
        let text = "a: w(x,1)\nb: w(y,1)\nc: r(x,1) r(y,0)\nd: r(y,1) r(x,0)\ne: r(x,1)\nf: \
                    r(y,1)\ng: r(x,1)";
        let history = notation::parse(text).unwrap();
        let ops: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        let until = |deadline| {
            let limits = Limits { deadline: Some(deadline), ..Limits::default() };
            violation_within(&history, Level::PrefixConsistency, &ops, limits)
        };
        assert_eq!(until(Instant::now()), Err(Doubt::TooHard));
        assert_eq!(until(Instant::now() + Duration::from_secs(60)), Ok(()));
    }

    #[test]
    fn long_transactions_take_no_longer_than_short_ones() {
        let count = 40_000;
        let ops = (0..count)
            .map(|key| format!("w(k{key},1)"))
            .chain((0..count).map(|key| format!("r(k{key},1)")));
        let history =
            notation::parse(&format!("a: {}", ops.collect::<Vec<_>>().join(" "))).unwrap();
        let all: Vec<OpId> = (0..history.op_count()).map(OpId::from).collect();
        let start = Instant::now();
        assert_eq!(left_out(&history, &all), []);
        assert_eq!(left_out(&history, &all[count as usize..]).len(), 2 * count as usize);
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }

    #[test]
    fn doubts_are_told_in_the_names_of_the_input() {
        let history = notation::parse("a: w(x,1)\nb: r(x,1)").unwrap();
        let told = |doubt: Doubt| doubt.told(&history);
        let read = "the read of x = 1 in t2 (session b)";
        assert_eq!(
            told(Doubt::NoSource(OpId(1))),
            format!("it is not said where {read} comes from")
        );
        let rejected = Doubt::Rejected(Rejection::SessionOrder(TxnId(1), TxnId(0)));
        assert_eq!(
            told(rejected),
            "t2 (session b) comes after t1 (session a) in its session but not in the order"
        );
        assert!(
            told(Doubt::Rejected(Rejection::NotAPermutation(TxnId(9))))
                .ends_with("(at transaction number 9)")
        );
    }

    #[test]
    fn without_times_nothing_is_strictly_serializable() {
        let history = notation::parse("a: w(x,1)").unwrap();
        let all = [Event::Begin(TxnId(0)), Event::Commit(TxnId(0))];
        assert_eq!(points(&history, Level::Serializable, &all), Ok(()));
        assert_eq!(points(&history, Level::StrictSerializable, &all), Err(Doubt::NoTimes));
    }
}
