//! Begin and commit points as certificates of the strong levels: one walk with a table of the
//! current versions.
//!
//! A begin point sees all commits before it and nothing else. That is prefix consistency; at SI
//! moreover no two writers of a key may overlap; at SER and SSER nothing stands between the two
//! points of a transaction. At SSER, and with real time at every level, what ended before a
//! transaction began has committed at its begin point. Reads match by value, so it does
//! not matter whether a value was written twice. Time O(n).

use crate::alone::as_if_alone;
use crate::certificate::Point;
use crate::rejection::Rejection;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value, ValueKind};
use seriatim_isolation::{Guarantee, Level, Order};
use std::collections::{HashMap, HashSet};

/// Accepts `points` iff they are begin and commit points of `history` at a level, with sessions
/// unless an order is named: all committed transactions, some of unknown outcome, no aborted ones.
/// Levels below prefix consistency ask for less than these points show; for them the points of
/// prefix consistency are accepted.
pub fn verify_points(
    history: &History,
    asked: impl Into<Guarantee>,
    points: &[Point],
) -> Result<(), Rejection> {
    let asked = asked.into();
    match asked.order {
        Order::None => walk_along(&as_if_alone(history, asked.level), asked, points),
        Order::Sessions | Order::RealTime => walk_along(history, asked, points),
    }
}

fn walk_along(history: &History, asked: Guarantee, points: &[Point]) -> Result<(), Rejection> {
    let mut walk = Walk::new(history, asked, longest_lists(history, points)?);
    for &point in points {
        if point.txn().index() >= history.txn_count()
            || history.status(point.txn()) == Status::Aborted
        {
            return Err(Rejection::NotAPermutation(point.txn()));
        }
        walk.now += 1;
        match point {
            Point::Begin(txn) => walk.begin(txn)?,
            Point::Commit(txn) => walk.commit(txn)?,
        }
    }
    walk.check_complete()?;
    walk.check_lists()
}

/// The same for a commit order: each transaction begins as early as it may, which is best for its
/// reads.
pub(crate) fn verify_order(
    history: &History,
    asked: Guarantee,
    order: &[TxnId],
) -> Result<(), Rejection> {
    if let Some(&strange) = order.iter().find(|txn| txn.index() >= history.txn_count()) {
        return Err(Rejection::NotAPermutation(strange));
    }
    match asked.order {
        Order::None => {
            let history = as_if_alone(history, asked.level);
            walk_along(&history, asked, &points_of(&history, asked, order))
        }
        _ => walk_along(history, asked, &points_of(history, asked, order)),
    }
}

/// What has happened up to a point.
struct Walk<'h> {
    history: &'h History,
    level: Level,
    in_real_time: bool,
    /// The number of the point.
    now: usize,
    begun: HashMap<TxnId, usize>,
    committed: HashSet<TxnId>,
    /// The last transaction that began, in each session.
    last: HashMap<u32, TxnId>,
    /// The current value of each key that was written.
    current: HashMap<KeyId, Value>,
    /// The point of the last commit to each key.
    written_at: HashMap<KeyId, usize>,
    /// Initial values that reads cannot have seen, because a transaction wrote them.
    replaced: HashSet<KeyId>,
    /// The two transactions so far that began last in real time, the last one first.
    latest: [Option<(i64, TxnId)>; 2],
    lists: HashMap<KeyId, Growth<'h>>,
}

/// How much of the longest list of a key has been appended. Until it is complete each append to the
/// key is its next element.
struct Growth<'h> {
    list: &'h [Value],
    read: OpId,
    len: usize,
    /// Whether the last append to the key is the last element so far.
    current: bool,
}

impl Growth<'_> {
    /// Whether the append may come now.
    fn append(&mut self, value: Value) -> bool {
        let was_complete = self.len == self.list.len();
        self.current = self.list.get(self.len) == Some(&value);
        self.len += usize::from(self.current);
        self.current || was_complete
    }

    fn is_current(&self, list: &[Value]) -> bool {
        self.current && self.len == list.len()
    }
}

impl<'h> Walk<'h> {
    fn new(history: &'h History, asked: Guarantee, lists: HashMap<KeyId, Growth<'h>>) -> Walk<'h> {
        Walk {
            history,
            level: asked.level,
            in_real_time: asked.keeps_real_time(),
            now: 0,
            begun: HashMap::new(),
            committed: HashSet::new(),
            last: HashMap::new(),
            current: HashMap::new(),
            written_at: HashMap::new(),
            replaced: replaced_initial_values(history),
            latest: [None; 2],
            lists,
        }
    }

    fn is_serial(&self) -> bool {
        matches!(self.level, Level::Serializable | Level::StrictSerializable)
    }

    fn begin(&mut self, txn: TxnId) -> Result<(), Rejection> {
        if self.begun.insert(txn, self.now).is_some() {
            return Err(Rejection::Points(txn));
        }
        let session = self.history.session_of(txn).0;
        if let Some(before) = self.last.insert(session, txn)
            && (before > txn || !self.committed.contains(&before))
        {
            return Err(Rejection::SessionOrder(txn, before));
        }
        let times = self.history.times(txn).filter(|_| self.in_real_time);
        if let Some((begin, _)) = times {
            let [last, before] = self.latest;
            let now = Some((begin, txn));
            self.latest = if now > last { [now, last] } else { [last, before.max(now)] };
        }
        self.check_reads(txn)
    }

    /// No other transaction that has its begin point began after this one, which commits now, had
    /// ended.
    fn check_real_time(&self, txn: TxnId) -> Result<(), Rejection> {
        let Some((_, end)) = self.history.times(txn) else { return Ok(()) };
        let others = self.latest.iter().flatten().filter(|(_, other)| *other != txn);
        match others.max() {
            Some(&(began, other)) if end < began => Err(Rejection::RealTime(txn, other)),
            _ => Ok(()),
        }
    }

    /// Reads after own writes return these, others what is current.
    fn check_reads(&self, txn: TxnId) -> Result<(), Rejection> {
        let mut own: HashMap<KeyId, Value> = HashMap::new();
        for id in self.history.ops_of(txn).map(OpId) {
            let op = self.history.op(id);
            if op.kind != OpKind::Read {
                own.insert(op.key, op.value);
                continue;
            }
            let value = last_element(self.history, op.value);
            match own.get(&op.key) {
                Some(&mine) if mine != value => return Err(Rejection::Source(id)),
                None if !self.is_current(op.key, value) || !self.list_is_current(id) => {
                    return Err(Rejection::NotCurrent(id));
                }
                _ => {}
            }
        }
        let unrepeated = self.history.unrepeated_list(txn);
        unrepeated.map_or(Ok(()), |(_, again)| Err(Rejection::Source(again)))
    }

    /// Whether the list that `id` read, if it did and the list is not empty, is the current one.
    fn list_is_current(&self, id: OpId) -> bool {
        let is_current =
            |key, list| self.lists.get(&key).is_some_and(|growth| growth.is_current(list));
        list(self.history, id).is_none_or(|(_, key, list)| list.is_empty() || is_current(key, list))
    }

    fn is_current(&self, key: KeyId, value: Value) -> bool {
        match self.current.get(&key) {
            Some(&current) => current == value,
            None if value == Value::NULL => true,
            None => {
                self.history.initial().value_of(key) == Some(value) && !self.replaced.contains(&key)
            }
        }
    }

    fn commit(&mut self, txn: TxnId) -> Result<(), Rejection> {
        let begun = self.begun.get(&txn).copied().ok_or(Rejection::Points(txn))?;
        let interrupted = self.is_serial() && begun + 1 != self.now;
        if interrupted || !self.committed.insert(txn) {
            return Err(Rejection::Points(txn));
        }
        if self.in_real_time {
            self.check_real_time(txn)?;
        }
        let mut own: HashSet<KeyId> = HashSet::new();
        for id in self.history.ops_of(txn).map(OpId) {
            let op = self.history.op(id);
            if !op.kind.is_write() {
                if own.contains(&op.key) && !self.list_is_current(id) {
                    return Err(Rejection::Source(id));
                }
                continue;
            }
            own.insert(op.key);
            if let Some(growth) = self.lists.get_mut(&op.key)
                && !growth.append(op.value)
            {
                return Err(Rejection::ListOrder(growth.read));
            }
            let before = self.written_at.insert(op.key, self.now);
            if self.level == Level::SnapshotIsolation
                && before.is_some_and(|at| begun < at && at < self.now)
            {
                return Err(Rejection::Conflict(txn, op.key));
            }
            self.current.insert(op.key, op.value);
        }
        Ok(())
    }

    /// Everything that committed is there, and everything that began has committed.
    fn check_complete(&self) -> Result<(), Rejection> {
        let missing = |txn: &TxnId| match self.history.status(*txn) {
            Status::Committed => !self.committed.contains(txn),
            _ => self.begun.contains_key(txn) && !self.committed.contains(txn),
        };
        self.history.txns().find(missing).map_or(Ok(()), |txn| Err(Rejection::NotAPermutation(txn)))
    }

    /// All elements of all lists have been appended, in the order of the lists.
    fn check_lists(&self) -> Result<(), Rejection> {
        let unexplained = self.lists.values().find(|growth| growth.len < growth.list.len());
        unexplained.map_or(Ok(()), |growth| Err(Rejection::ListOrder(growth.read)))
    }
}

/// Keys to which a transaction that did not abort wrote the initial value, where such a write takes
/// its place.
pub(crate) fn replaced_initial_values(history: &History) -> HashSet<KeyId> {
    let initial = history.initial();
    let live = history.txns().filter(|&txn| history.status(txn) != Status::Aborted);
    let ops = live.flat_map(|txn| history.ops_of(txn)).map(|op| history.op(OpId(op)));
    let writes = ops.filter(|op| op.kind.is_write() && initial.value_of(op.key) == Some(op.value));
    writes.map(|op| op.key).filter(|&key| initial.yields(key)).collect()
}

fn last_element(history: &History, value: Value) -> Value {
    match value.kind() {
        ValueKind::List(number) => history.list(number).last().copied().unwrap_or(Value::NULL),
        _ => value,
    }
}

/// The longest list of each key, of which all others are prefixes.
fn longest_lists<'h>(
    history: &'h History,
    points: &[Point],
) -> Result<HashMap<KeyId, Growth<'h>>, Rejection> {
    let mut longest: HashMap<KeyId, Growth<'h>> = HashMap::new();
    let known = commits(points).filter(|txn| txn.index() < history.txn_count());
    for (read, key, list) in
        known.flat_map(|txn| history.ops_of(txn)).filter_map(|id| list(history, OpId(id)))
    {
        let known = longest.entry(key).or_insert(Growth { list, read, len: 0, current: false });
        let (shorter, longer) =
            if list.len() > known.list.len() { (known.list, list) } else { (list, known.list) };
        if !longer.starts_with(shorter) {
            return Err(Rejection::ListOrder(read));
        }
        if longer.len() > shorter.len() && longer.len() == list.len() {
            (known.list, known.read) = (list, read);
        }
    }
    Ok(longest)
}

fn commits(points: &[Point]) -> impl Iterator<Item = TxnId> + '_ {
    points.iter().filter_map(|point| match point {
        Point::Begin(_) => None,
        Point::Commit(txn) => Some(*txn),
    })
}

fn list(history: &History, id: OpId) -> Option<(OpId, KeyId, &[Value])> {
    let op = history.op(id);
    match op.value.kind() {
        ValueKind::List(number) => Some((id, op.key, history.list(number))),
        _ => None,
    }
}

/// Points for a commit order. A transaction begins after what comes before it in its session, after
/// what it read from, at SI after the last commit to a key that it writes, and in real time after
/// what ended before it began; later would only let it miss what it reads.
fn points_of(history: &History, asked: Guarantee, order: &[TxnId]) -> Vec<Point> {
    let in_real_time = asked.keeps_real_time();
    let mut bounds = Bounds {
        history,
        level: asked.level,
        ended: if in_real_time { ends(history, order) } else { Vec::new() },
        session: HashMap::new(),
        version: HashMap::new(),
        key: HashMap::new(),
    };
    let mut beginning: Vec<Vec<TxnId>> = vec![Vec::new(); order.len()];
    for (place, &txn) in order.iter().enumerate() {
        beginning[bounds.begin_of(txn, place)].push(txn);
        bounds.commit(txn, place);
    }
    let begins_then_commit = |(begins, &txn): (Vec<TxnId>, &TxnId)| {
        begins.into_iter().map(Point::Begin).chain([Point::Commit(txn)]).collect::<Vec<_>>()
    };
    beginning.into_iter().zip(order).flat_map(begins_then_commit).collect()
}

/// The ends of the transactions of `order`, sorted, each with how many commits had happened when
/// all that had ended by then had.
fn ends(history: &History, order: &[TxnId]) -> Vec<(i64, usize)> {
    let timed = order.iter().enumerate();
    let mut ends: Vec<(i64, usize)> =
        timed.filter_map(|(place, &txn)| Some((history.times(txn)?.1, place + 1))).collect();
    ends.sort_unstable();
    let mut commits = 0;
    for end in &mut ends {
        commits = commits.max(end.1);
        end.1 = commits;
    }
    ends
}

/// How many commits had happened when the last of a session, of a version, and of a key had.
struct Bounds<'h> {
    history: &'h History,
    level: Level,
    /// The ends of the transactions in real time, sorted, each with how many commits had happened
    /// when all that had ended by then had.
    ended: Vec<(i64, usize)>,
    session: HashMap<u32, usize>,
    version: HashMap<(KeyId, Value), usize>,
    key: HashMap<KeyId, usize>,
}

impl Bounds<'_> {
    fn begin_of(&self, txn: TxnId, place: usize) -> usize {
        if matches!(self.level, Level::Serializable | Level::StrictSerializable) {
            return place;
        }
        let session = self.session.get(&self.history.session_of(txn).0).copied().unwrap_or(0);
        // What ended before and commits later is found by the walk.
        let mut earliest = session.max(self.ended_before(txn).min(place));
        let mut own = HashSet::new();
        for op in self.history.ops_of(txn).map(|op| self.history.op(OpId(op))) {
            let bound = match op.kind {
                OpKind::Read if own.contains(&op.key) => None,
                OpKind::Read => self.version.get(&(op.key, last_element(self.history, op.value))),
                _ if self.level == Level::SnapshotIsolation => self.key.get(&op.key),
                _ => None,
            };
            if op.kind.is_write() {
                own.insert(op.key);
            }
            earliest = earliest.max(bound.copied().unwrap_or(0));
        }
        earliest
    }

    /// How many commits had happened when all that ended before `txn` began had.
    fn ended_before(&self, txn: TxnId) -> usize {
        let Some((begin, _)) = self.history.times(txn) else { return 0 };
        let before = self.ended.partition_point(|&(end, _)| end < begin);
        before.checked_sub(1).map_or(0, |last| self.ended[last].1)
    }

    fn commit(&mut self, txn: TxnId, place: usize) {
        self.session.insert(self.history.session_of(txn).0, place + 1);
        let ops = self.history.ops_of(txn).map(|op| self.history.op(OpId(op)));
        let last: HashMap<KeyId, Value> =
            ops.filter(|op| op.kind.is_write()).map(|op| (op.key, op.value)).collect();
        for (key, value) in last {
            self.version.insert((key, value), place + 1);
            self.key.insert(key, place + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Point::{Begin, Commit};
    use seriatim_history::notation;

    fn verdict(text: &str, level: Level, points: &[(char, u32)]) -> Result<(), Rejection> {
        let point = |&(point, txn): &(char, u32)| {
            if point == 'b' { Begin(TxnId(txn)) } else { Commit(TxnId(txn)) }
        };
        let points: Vec<Point> = points.iter().map(point).collect();
        verify_points(&notation::parse(text).unwrap(), level, &points)
    }

    const OVERLAPPING: [(char, u32); 4] = [('b', 0), ('b', 1), ('c', 0), ('c', 1)];
    const SERIAL: [(char, u32); 4] = [('b', 0), ('c', 0), ('b', 1), ('c', 1)];

    #[test]
    fn each_level_asks_for_its_own() {
        let skew = "a: r(x,0) r(y,0) w(x,1)\nb: r(x,0) r(y,0) w(y,1)";
        assert_eq!(verdict(skew, Level::SnapshotIsolation, &OVERLAPPING), Ok(()));
        assert_eq!(
            verdict(skew, Level::Serializable, &OVERLAPPING),
            Err(Rejection::Points(TxnId(0)))
        );
        assert_eq!(
            verdict(skew, Level::Serializable, &SERIAL),
            Err(Rejection::NotCurrent(OpId(3)))
        );
        let lost = "a: r(x,0) w(x,1)\nb: r(x,0) w(x,2)";
        assert_eq!(verdict(lost, Level::PrefixConsistency, &OVERLAPPING), Ok(()));
        let conflict = Err(Rejection::Conflict(TxnId(1), KeyId(0)));
        assert_eq!(verdict(lost, Level::SnapshotIsolation, &OVERLAPPING), conflict);
        let stale = "a: w(x,1) @3-4\nb: w(x,2) @1-2";
        assert_eq!(verdict(stale, Level::Serializable, &SERIAL), Ok(()));
        let back = Err(Rejection::RealTime(TxnId(1), TxnId(0)));
        assert_eq!(verdict(stale, Level::StrictSerializable, &SERIAL), back);
    }

    #[test]
    fn points_that_are_not_points_are_rejected() {
        let text = "a: w(x,1) | r(x,1)\nb: w(y,1)!\nc: w(z,1)?";
        let at = |points: &[(char, u32)]| verdict(text, Level::PrefixConsistency, points);
        assert_eq!(at(&SERIAL), Ok(()));
        assert_eq!(at(&[&SERIAL[..], &[('b', 3), ('c', 3)]].concat()), Ok(()));
        assert_eq!(
            at(&[&SERIAL[..], &[('b', 3)]].concat()),
            Err(Rejection::NotAPermutation(TxnId(3)))
        );
        assert_eq!(
            at(&[&SERIAL[..], &[('b', 2), ('c', 2)]].concat()),
            Err(Rejection::NotAPermutation(TxnId(2)))
        );
        assert_eq!(at(&[&SERIAL[..], &[('c', 1)]].concat()), Err(Rejection::Points(TxnId(1))));
        assert_eq!(at(&SERIAL[..2]), Err(Rejection::NotAPermutation(TxnId(1))));
        assert_eq!(at(&SERIAL[1..]), Err(Rejection::Points(TxnId(0))));
        assert_eq!(at(&OVERLAPPING), Err(Rejection::SessionOrder(TxnId(1), TxnId(0))));
        assert_eq!(at(&[('b', 9)]), Err(Rejection::NotAPermutation(TxnId(9))));
    }

    #[test]
    fn lists_were_appended_in_their_order() {
        let text = "a: a(x,1)\nb: a(x,2)\nc: r(x,[1 2])";
        let reader = [('b', 2), ('c', 2)];
        assert_eq!(verdict(text, Level::Serializable, &[&SERIAL[..], &reader].concat()), Ok(()));
        let swapped = [('b', 1), ('c', 1), ('b', 0), ('c', 0), ('b', 2), ('c', 2)];
        let wrong = Err(Rejection::ListOrder(OpId(2)));
        assert_eq!(verdict(text, Level::Serializable, &swapped), wrong);
        // Of three appends one is not in the list: it comes after the others.
        let missing = "a: a(x,1)\nb: a(x,2)\nc: r(x,[2 1])\nd: a(x,1)";
        let serial = |order: [u32; 4]| {
            let points: Vec<(char, u32)> =
                order.iter().flat_map(|&txn| [('b', txn), ('c', txn)]).collect();
            verdict(missing, Level::Serializable, &points)
        };
        assert_eq!(serial([1, 0, 2, 3]), Ok(()));
        assert_eq!(serial([1, 3, 2, 0]), Ok(()));
        assert_eq!(serial([0, 1, 3, 2]), wrong);
    }
}
