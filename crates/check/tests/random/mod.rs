//! Random small histories, in the notation of tests.

use proptest::prelude::*;

/// How a random history is made.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub keys: usize,
    /// Writes get distinct values if false, values from 1 to 3 otherwise.
    pub duplicates: bool,
    /// Whether transactions may be aborted or unknown.
    pub outcomes: bool,
    /// Keys start with values that a write of the same value does not replace, and that some writes
    /// do write.
    pub initial: bool,
    /// Whether transactions have begin and end times.
    pub times: bool,
    pub txns_max: usize,
    pub ops_max: usize,
}

/// The initial values of the keys, if the shape has any: small, so that writes hit them.
const INITIAL: [usize; 4] = [2, 50, 3, 4];

#[derive(Clone, Debug)]
pub struct Raw {
    session: usize,
    outcome: u8,
    times: (u8, u8),
    ops: Vec<(bool, usize, usize)>,
}

pub fn raw_history(shape: Shape) -> impl Strategy<Value = Vec<Raw>> {
    let op = (any::<bool>(), 0..shape.keys, 0..64usize);
    let txn =
        (0..3usize, 0..16u8, (0..12u8, 0..8u8), proptest::collection::vec(op, 0..=shape.ops_max))
            .prop_map(|(session, outcome, times, ops)| Raw { session, outcome, times, ops });
    proptest::collection::vec(txn, 1..=shape.txns_max)
}

/// Writes the random transactions in the notation: a write gets a value, a read one of those
/// written to its key (by any transaction), rarely 0 where that is not initial, rarely a value that
/// none wrote.
pub fn text_of(raw: &[Raw], shape: Shape) -> String {
    let mut written: Vec<Vec<usize>> = vec![Vec::new(); shape.keys];
    let mut next = 0;
    let mut values = Vec::new();
    for txn in raw {
        let mut of_txn = Vec::new();
        for &(write, key, choice) in &txn.ops {
            next += 1;
            let value = if shape.duplicates { choice % 3 + 1 } else { next };
            if write {
                written[key].push(value);
            }
            of_txn.push(value);
        }
        values.push(of_txn);
    }
    let mut sessions = vec![Vec::new(); 3];
    for (txn, of_txn) in raw.iter().zip(values) {
        let ops = txn.ops.iter().zip(of_txn).map(|(&(write, key, choice), value)| {
            let readable = &written[key];
            let read = match choice {
                0 => 99,
                1..=8 if shape.initial && choice % 3 > 0 => INITIAL[key],
                1..=8 => 0,
                _ if readable.is_empty() => 0,
                _ => readable[choice % readable.len()],
            };
            if write { format!("w(k{key},{value})") } else { format!("r(k{key},{read})") }
        });
        let mark = if shape.outcomes { mark(txn) } else { "" };
        let times = if shape.times {
            times_of(sessions[txn.session].len(), txn.times)
        } else {
            String::new()
        };
        sessions[txn.session].push(format!("{}{mark}{times}", ops.collect::<Vec<_>>().join(" ")));
    }
    let initial = (0..shape.keys)
        .filter(|_| shape.initial)
        .map(|key| format!("initial k{key}={}\n", INITIAL[key]));
    initial.chain([lines(&sessions)]).collect()
}

fn mark(txn: &Raw) -> &'static str {
    match txn.outcome {
        0 => "!",
        1 | 2 => "?",
        _ => "",
    }
}

fn lines(sessions: &[Vec<String>]) -> String {
    let lines = sessions.iter().enumerate().filter(|(_, txns)| !txns.is_empty());
    lines.map(|(i, txns)| format!("s{i}: {}\n", txns.join(" | "))).collect()
}

/// Times that mostly run forward in a session; some are not known.
fn times_of(place: usize, (begin, length): (u8, u8)) -> String {
    let begin = 4 * place + usize::from(begin);
    let end = begin + usize::from(length);
    match length {
        0 => String::new(),
        1 => format!(" @{begin}-"),
        2 => format!(" @-{end}"),
        _ => format!(" @{begin}-{end}"),
    }
}

/// List histories: each key has one order of all that is appended to it, reads return prefixes of
/// it; with `disorder` some lists are changed. With duplicates few different elements are appended.
pub fn list_text(raw: &[Raw], shape: Shape, shuffle: u64, disorder: bool) -> String {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new(); shape.keys];
    let mut next = 0;
    let element = |next: usize, choice: usize| if shape.duplicates { choice % 5 + 1 } else { next };
    for &(write, key, choice) in raw.iter().flat_map(|txn| &txn.ops) {
        next += 1;
        if write {
            let length = orders[key].len();
            let anywhere = (choice as u64 ^ shuffle) as usize % (length + 1);
            orders[key].insert(
                if shuffle.is_multiple_of(3) { anywhere } else { length },
                element(next, choice),
            );
        }
    }
    // An append that no list shows.
    for order in orders.iter_mut().filter(|order| shuffle % 4 == 1 && !order.is_empty()) {
        order.remove((shuffle >> 8) as usize % order.len());
    }
    next = 0;
    let mut sessions = vec![Vec::new(); 3];
    for txn in raw {
        let ops = txn.ops.iter().map(|&(write, key, choice)| {
            next += 1;
            if write {
                return format!("a(k{key},{})", element(next, choice));
            }
            let mut list = orders[key][..choice % (orders[key].len() + 1)].to_vec();
            if disorder && choice > 48 {
                list.reverse();
            }
            if disorder && choice == 40 {
                list.extend(list.clone().first());
            }
            let list: Vec<String> = list.iter().map(usize::to_string).collect();
            if list.is_empty() {
                format!("r(k{key},nil)")
            } else {
                format!("r(k{key},[{}])", list.join(" "))
            }
        });
        let mark = if shape.outcomes { mark(txn) } else { "" };
        let times = match shape.times {
            true => times_of(sessions[txn.session].len(), txn.times),
            false => String::new(),
        };
        let ops = ops.collect::<Vec<_>>().join(" ");
        sessions[txn.session].push(format!("{ops}{mark}{times}"));
    }
    lines(&sessions)
}

/// What a store of snapshots answers when the sessions begin and commit in the order of `schedule`,
/// with the read number `wrong` changed. Conflicting writers both commit, so prefix consistency
/// holds, and often more.
pub fn snapshot_text(raw: &[Raw], schedule: &[usize], wrong: usize) -> String {
    let mut sessions: Vec<Vec<&Raw>> = vec![Vec::new(); 3];
    raw.iter().for_each(|txn| sessions[txn.session].push(txn));
    let mut store = SnapshotStore { current: vec![0; 4], next_value: 0, reads: 0, wrong };
    let mut texts = vec![Vec::new(); 3];
    let mut open: Vec<Option<Answered>> = vec![None; 3];
    let rounds = (0..2 * raw.len()).flat_map(|_| 0..3);
    for session in schedule.iter().copied().chain(rounds) {
        match open[session].take() {
            Some((text, writes)) => {
                texts[session].push(text);
                writes.into_iter().for_each(|(key, value)| store.current[key] = value);
            }
            None if !sessions[session].is_empty() => {
                open[session] = Some(store.answer(sessions[session].remove(0)))
            }
            None => {}
        }
    }
    lines(&texts)
}

/// What a store answers that runs the transactions one after the other, in which a read goes back
/// to an older version now and then. Begins and ends reach up to `slack` into each other, so that
/// some of these reads are stale and others are not.
pub fn fresh_text(raw: &[Raw], slack: usize) -> String {
    let mut versions: Vec<Vec<usize>> = vec![vec![0]; 4];
    let (mut next, mut texts) = (0, vec![Vec::new(); 3]);
    let mut free = [0; 3];
    for (place, txn) in raw.iter().enumerate() {
        let mut ops = Vec::new();
        for &(write, key, choice) in &txn.ops {
            next += 1;
            if write {
                versions[key].push(next);
                ops.push(format!("w(k{key},{next})"));
            } else {
                let back = if choice < 12 { choice % versions[key].len() } else { 0 };
                let seen = versions[key][versions[key].len() - 1 - back];
                ops.push(format!("r(k{key},{seen})"));
            }
        }
        let reach = |time: u8| slack * usize::from(time) / 12;
        let begin = (10 * place + 40).saturating_sub(reach(txn.times.0)).max(free[txn.session]);
        let end = (10 * place + 45 + reach(txn.times.1)).max(begin);
        free[txn.session] = end + 1;
        texts[txn.session].push(format!("{} @{begin}-{end}", ops.join(" ")));
    }
    lines(&texts)
}

/// A transaction as text, and what it writes: keys with values.
type Answered = (String, Vec<(usize, usize)>);

struct SnapshotStore {
    current: Vec<usize>,
    next_value: usize,
    reads: usize,
    wrong: usize,
}

impl SnapshotStore {
    fn answer(&mut self, txn: &Raw) -> Answered {
        let mut writes: Vec<(usize, usize)> = Vec::new();
        let mut ops = Vec::new();
        for &(write, key, _) in &txn.ops {
            if write {
                self.next_value += 1;
                writes.push((key, self.next_value));
                ops.push(format!("w(k{key},{})", self.next_value));
                continue;
            }
            self.reads += 1;
            let own = writes.iter().rev().find(|write| write.0 == key).map(|write| write.1);
            let seen = own.unwrap_or(self.current[key]);
            let value = if self.reads == self.wrong { self.next_value } else { seen };
            ops.push(format!("r(k{key},{value})"));
        }
        (ops.join(" "), writes)
    }
}

pub const PLAIN: Shape = Shape {
    keys: 2,
    duplicates: false,
    outcomes: false,
    initial: false,
    times: false,
    txns_max: 6,
    ops_max: 4,
};
pub const OUTCOMES: Shape = Shape { outcomes: true, ..PLAIN };
pub const DUPLICATES: Shape =
    Shape { duplicates: true, outcomes: true, txns_max: 5, ops_max: 3, ..PLAIN };
pub const INITIALS: Shape = Shape { initial: true, outcomes: true, ..PLAIN };
pub const INITIALS_AND_DUPLICATES: Shape = Shape { initial: true, ..DUPLICATES };
pub const LISTS: Shape = Shape { outcomes: true, txns_max: 5, ops_max: 3, ..PLAIN };
pub const LISTS_AND_DUPLICATES: Shape = Shape { duplicates: true, ..LISTS };
pub const TIMED: Shape = Shape { outcomes: true, times: true, ops_max: 3, ..PLAIN };
pub const TIMED_DUPLICATES: Shape = Shape { duplicates: true, txns_max: 5, ..TIMED };
pub const TIMED_LISTS: Shape = Shape { times: true, ..LISTS };
pub const FRESH: Shape = Shape { txns_max: 6, ops_max: 3, ..PLAIN };
pub const SMALL: Shape = Shape { times: true, txns_max: 5, ops_max: 3, ..PLAIN };
pub const SNAPSHOTS: Shape = Shape { keys: 3, txns_max: 7, ..PLAIN };
pub const MANY_KEYS: Shape = Shape { keys: 4, txns_max: 7, ops_max: 3, ..PLAIN };
