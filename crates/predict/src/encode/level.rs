//! Histories that a level allows: some order of the transactions extends session order and reads,
//! and satisfies the axiom.
//!
//! The order is one literal for each pair, with transitivity for each triple: n³/3 clauses, and an
//! instance has tens of transactions. At RC, RA and CC it orders transactions; at PC and SI their
//! begin and commit points, for which a read of the snapshot is a clause of two comparisons (the
//! graph with two nodes a transaction of Viper and of `check`, which is equivalent to the axiom).
//! The theory of acyclicity of `check` is not used: with instances this small the literals of pairs
//! propagate more.

use super::Encoding;
use crate::formula::Formula;
use crate::problem::Problem;
use batsat::Lit;
use rustc_hash::FxHashMap;
use seriatim_isolation::Level;

pub(super) fn encode(encoding: &mut Encoding<'_>) {
    match encoding.problem.level {
        Level::PrefixConsistency | Level::SnapshotIsolation => snapshots(encoding),
        _ => visibility(encoding),
    }
}

/// A strict total order of points.
struct Order {
    /// For each pair with the smaller number first, whether that one comes first.
    before: Vec<Vec<Lit>>,
}

impl Order {
    /// An order of points that is most likely that of `place`; incomplete if the time is up.
    fn new(formula: &mut Formula, place: &[u32]) -> Order {
        let count = place.len();
        let before: Vec<Vec<Lit>> = (0..count)
            .map(|a| {
                let pair = |b: usize| {
                    if place[a] < place[b] { formula.likely() } else { formula.unlikely() }
                };
                (a + 1..count).map(pair).collect()
            })
            .collect();
        let order = Order { before };
        for a in 0..count as u32 {
            for b in a + 1..count as u32 {
                if formula.is_late() {
                    return order;
                }
                for c in b + 1..count as u32 {
                    let (ab, bc, ac) = (order.before(a, b), order.before(b, c), order.before(a, c));
                    formula.clause(&[!ab, !bc, ac]);
                    formula.clause(&[ab, bc, !ac]);
                }
            }
        }
        order
    }

    fn before(&self, a: u32, b: u32) -> Lit {
        match a < b {
            true => self.before[a as usize][(b - a - 1) as usize],
            false => !self.before[b as usize][(a - b - 1) as usize],
        }
    }
}

/// RC, RA, CC: if the reader sees another writer, that one precedes the writer that it reads from.
fn visibility(encoding: &mut Encoding<'_>) {
    let problem = encoding.problem;
    let order = Order::new(&mut encoding.formula, &problem.place);
    for (number, node) in problem.nodes.iter().enumerate() {
        if let Some(next) = node.next {
            encoding.formula.clause(&[order.before(number as u32, next)]);
        }
    }
    for (read, select) in problem.reads.iter().zip(&encoding.select) {
        for &(writer, selected) in select {
            if let Some(writer) = writer {
                encoding.formula.implies(&[selected], &[order.before(writer, read.node)]);
            }
        }
    }
    let seen = match problem.level {
        Level::ReadCommitted => Seen::committed(encoding),
        Level::ReadAtomic => Seen::direct(encoding),
        _ => Seen::causal(encoding),
    };
    for number in 0..problem.reads.len() {
        axiom(encoding, &order, &seen, number);
    }
}

/// For read α of t3 from t1, and each t2 that writes the same: φ(t2, t3) ⇒ t2 < t1.
fn axiom(encoding: &mut Encoding<'_>, order: &Order, seen: &Seen, number: usize) {
    let problem = encoding.problem;
    let read = &problem.reads[number];
    for &(t2, slot) in &problem.classes[read.class as usize].writers {
        let Some(visible) = seen.get(problem, number, t2) else { continue };
        for written in encoding.counts(t2, slot) {
            for &(t1, selected) in &encoding.select[number] {
                let first = match t1 {
                    Some(t1) if t1 == t2 => continue,
                    Some(t1) => vec![order.before(t2, t1)],
                    None => Vec::new(),
                };
                let premises: Vec<Lit> =
                    visible.iter().chain(&written).copied().chain([selected]).collect();
                encoding.formula.implies(&premises, &first);
            }
        }
    }
}

/// Which writers a reader sees: φ.
enum Seen {
    /// For each read, the transactions that its own has read from before it.
    ByRead(Vec<FxHashMap<u32, Lit>>),
    /// For each pair of transactions (of different sessions) whether the first is visible to the
    /// second.
    ByTxn(FxHashMap<(u32, u32), Lit>),
}

impl Seen {
    /// When read `number` sees `t2`: under these premises; `None` if never.
    fn get(&self, problem: &Problem, number: usize, t2: u32) -> Option<Vec<Lit>> {
        let t3 = problem.reads[number].node;
        match self {
            Seen::ByRead(_) if problem.sessions_at_rc && problem.precedes(t2, t3) => {
                Some(Vec::new())
            }
            Seen::ByRead(before) => before[number].get(&t2).map(|&lit| vec![lit]),
            Seen::ByTxn(_) if t2 == t3 => None,
            Seen::ByTxn(_) if problem.precedes(t2, t3) => Some(Vec::new()),
            Seen::ByTxn(visible) => visible.get(&(t2, t3)).map(|&lit| vec![lit]),
        }
    }

    /// RC: t3 has read from t2 before this read.
    fn committed(encoding: &mut Encoding<'_>) -> Seen {
        let problem = encoding.problem;
        let mut seen = Vec::with_capacity(problem.reads.len());
        for node in 0..problem.nodes.len() as u32 {
            let mut before: FxHashMap<u32, Lit> = FxHashMap::default();
            for read in problem.reads_of(node) {
                seen.push(before.clone());
                for &(writer, selected) in &encoding.select[read] {
                    let Some(writer) = writer else { continue };
                    let now = encoding.formula.unlikely();
                    encoding.formula.implies(&[selected], &[now]);
                    if let Some(already) = before.insert(writer, now) {
                        encoding.formula.implies(&[already], &[now]);
                    }
                }
            }
        }
        Seen::ByRead(seen)
    }

    /// RA: t2 precedes t3 in its session, or t3 reads from t2.
    fn direct(encoding: &mut Encoding<'_>) -> Seen {
        let mut reads: FxHashMap<(u32, u32), Lit> = FxHashMap::default();
        let problem = encoding.problem;
        for (read, select) in problem.reads.iter().zip(&encoding.select) {
            for &(writer, selected) in select {
                let Some(writer) = writer else { continue };
                let from = *reads
                    .entry((writer, read.node))
                    .or_insert_with(|| encoding.formula.unlikely());
                encoding.formula.implies(&[selected], &[from]);
            }
        }
        Seen::ByTxn(reads)
    }

    /// CC: t2 happens before t3. Only one direction is needed: what follows from the reads is true.
    fn causal(encoding: &mut Encoding<'_>) -> Seen {
        let Seen::ByTxn(reads) = Seen::direct(encoding) else {
            return Seen::ByTxn(FxHashMap::default());
        };
        let problem = encoding.problem;
        let formula = &mut encoding.formula;
        let count = problem.nodes.len() as u32;
        let mut happens: FxHashMap<(u32, u32), Lit> = FxHashMap::default();
        for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            if a != b && !problem.precedes(a, b) && !problem.precedes(b, a) {
                happens.insert((a, b), formula.unlikely());
            }
        }
        for (&(a, b), &now) in &happens {
            if let Some(&before) =
                problem.nodes[b as usize].prev.and_then(|prev| happens.get(&(a, prev)))
            {
                formula.implies(&[before], &[now]);
            }
        }
        for (&(writer, reader), &from) in &reads {
            if let Some(&now) = happens.get(&(writer, reader)) {
                formula.implies(&[from], &[now]);
            }
            for a in (0..count).filter(|&a| a != writer) {
                let Some(&now) = happens.get(&(a, reader)) else { continue };
                match happens.get(&(a, writer)) {
                    Some(&before) => formula.implies(&[from, before], &[now]),
                    None if problem.precedes(a, writer) => formula.implies(&[from], &[now]),
                    None => {}
                }
            }
        }
        Seen::ByTxn(happens)
    }
}

/// PC, SI: a transaction reads what was committed when it began; at SI writers of a key are not
/// concurrent.
fn snapshots(encoding: &mut Encoding<'_>) {
    let problem = encoding.problem;
    let place: Vec<u32> =
        problem.place.iter().flat_map(|&place| [2 * place, 2 * place + 1]).collect();
    let order = Order::new(&mut encoding.formula, &place);
    for (number, node) in problem.nodes.iter().enumerate() {
        let number = number as u32;
        encoding.formula.clause(&[order.before(begin(number), commit(number))]);
        if let Some(next) = node.next {
            encoding.formula.clause(&[order.before(commit(number), begin(next))]);
        }
    }
    for number in 0..problem.reads.len() {
        snapshot_read(encoding, &order, number);
    }
    if problem.level == Level::SnapshotIsolation {
        apart(encoding, &order);
    }
}

/// The begin point and the commit point of a transaction.
fn begin(node: u32) -> u32 {
    2 * node
}

fn commit(node: u32) -> u32 {
    2 * node + 1
}

/// A read returns the last version that was committed when its transaction began.
fn snapshot_read(encoding: &mut Encoding<'_>, order: &Order, number: usize) {
    let problem = encoding.problem;
    let read = &problem.reads[number];
    for &(writer, selected) in &encoding.select[number] {
        if let Some(writer) = writer {
            encoding
                .formula
                .implies(&[selected], &[order.before(commit(writer), begin(read.node))]);
        }
        for &(other, slot) in &problem.classes[read.class as usize].writers {
            if other == read.node || Some(other) == writer {
                continue;
            }
            let mut apart = vec![order.before(begin(read.node), commit(other))];
            apart.extend(writer.map(|writer| order.before(commit(other), commit(writer))));
            for written in encoding.counts(other, slot) {
                let premises: Vec<Lit> = written.into_iter().chain([selected]).collect();
                encoding.formula.implies(&premises, &apart);
            }
        }
    }
}

/// Writers of a key are not concurrent.
fn apart(encoding: &mut Encoding<'_>, order: &Order) {
    for class in &encoding.problem.classes {
        for (i, &(one, slot)) in class.writers.iter().enumerate() {
            for &(other, other_slot) in &class.writers[i + 1..] {
                let apart = [
                    order.before(commit(one), begin(other)),
                    order.before(commit(other), begin(one)),
                ];
                for first in encoding.counts(one, slot) {
                    for second in encoding.counts(other, other_slot) {
                        encoding.formula.implies(&[first.as_slice(), &second].concat(), &apart);
                    }
                }
            }
        }
    }
}
