//! What there is to choose: the conflicting accesses of a run, and nothing else.
//!
//! A run has thousands of reads, but few of them matter. A key that no transaction writes cannot
//! change anything. Keys that the same transactions write at the same points are one *class*: a
//! transaction that reads two of them reads them from the same writer, at every level above read
//! committed (each of two writers would have to precede the other), so that it has one choice for
//! each class that it reads; at read committed it has two for each run of such reads, because it
//! may see a newer version only once.
//!
//! Under the strict boundary a transaction may end with any read. A *slot* is a piece of a
//! transaction that is kept or cut whole: a read that is a choice, or the writes between two reads
//! (also of keys that no transaction writes). Under the relaxed boundary a transaction is one slot.

use crate::question::{Boundary, Options};
use crate::run::{Act, Run, Txn};
use rustc_hash::FxHashMap;
use seriatim_history::KeyId;
use seriatim_isolation::Level;
use std::ops::Range;

/// A transaction with conflicting accesses.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its number in the run.
    pub txn: u32,
    pub session: u32,
    /// The node before it in its session.
    pub prev: Option<u32>,
    /// The node after it in its session.
    pub next: Option<u32>,
    /// For each slot the index of its first event.
    pub slots: Vec<u32>,
    /// For each slot whether the transaction may end with it under the strict boundary: there is a
    /// read in it or before the next one.
    pub may_end: Vec<bool>,
    /// Its reads, as a range of [`Problem::reads`].
    pub reads: Range<u32>,
}

/// Keys that the same transactions write at the same points.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// The transactions that write them, and in which slot.
    pub writers: Vec<(u32, u32)>,
}

/// Reads that have the same writer.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub node: u32,
    pub slot: u32,
    pub class: u32,
    pub observed: Option<u32>,
    /// The transactions that it may read from; the initial state first.
    pub candidates: Vec<Option<u32>>,
    /// Whether it reads a list: then it is as observed only if all that was in the list still is.
    pub is_list: bool,
    /// The events, as indices of the events of the transaction; the first one is the one that may
    /// be a boundary.
    pub events: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub level: Level,
    pub boundary: Boundary,
    /// Whether a transaction at read committed sees what its session committed.
    pub sessions_at_rc: bool,
    /// In session order.
    pub nodes: Vec<Node>,
    pub classes: Vec<Class>,
    pub reads: Vec<Read>,
    /// The place of each node in the serial order of the run.
    pub place: Vec<u32>,
    /// Reads and writers from which they would return nothing where something was observed, or the
    /// reverse: what an application asks for before it goes one way or the other.
    pub risky: Vec<(usize, Option<u32>)>,
    /// Whether there are lists, whose versions stay in their observed order.
    pub has_lists: bool,
}

impl Problem {
    pub fn new(run: &Run, options: &Options) -> Problem {
        let &Options { level, boundary, sessions_at_rc, .. } = options;
        let (class_of, class_count) = classes(run, level, boundary);
        let relevant =
            |txn: &Txn| txn.events.iter().any(|event| class_of[event.key.index()].is_some());
        let txns: Vec<u32> =
            (0..run.txns.len() as u32).filter(|&txn| relevant(&run.txns[txn as usize])).collect();
        let node_of: FxHashMap<u32, u32> =
            txns.iter().enumerate().map(|(node, &txn)| (txn, node as u32)).collect();
        let mut problem = Problem {
            level,
            boundary,
            sessions_at_rc,
            nodes: Vec::new(),
            classes: vec![Class { writers: Vec::new() }; class_count],
            reads: Vec::new(),
            place: Vec::new(),
            risky: Vec::new(),
            has_lists: run.is_list.contains(&true),
        };
        for (node, &txn) in txns.iter().enumerate() {
            let session = run.txns[txn as usize].session;
            let neighbour = |other: Option<&u32>| {
                let other = *other?;
                (run.txns[other as usize].session == session).then(|| node_of[&other])
            };
            let prev = neighbour(node.checked_sub(1).and_then(|before| txns.get(before)));
            let next = neighbour(txns.get(node + 1));
            problem.add_node(
                run,
                txn,
                &class_of,
                Node {
                    txn,
                    session,
                    prev,
                    next,
                    slots: Vec::new(),
                    may_end: Vec::new(),
                    reads: 0..0,
                },
            );
        }
        problem.find_candidates(run, &node_of);
        problem.place = ranks(&txns, &run.place);
        problem.risky = problem.risky(run);
        problem
    }

    fn risky(&self, run: &Run) -> Vec<(usize, Option<u32>)> {
        let writes = |node: &Node| {
            let events =
                run.txns[node.txn as usize].events.iter().filter(|event| event.act == Act::Write);
            events.map(|event| (event.key, event.nothing)).collect()
        };
        let written: Vec<FxHashMap<KeyId, bool>> = self.nodes.iter().map(writes).collect();
        let mut risky = Vec::new();
        for (number, read) in self.reads.iter().enumerate() {
            let events = &run.txns[self.nodes[read.node as usize].txn as usize].events;
            let turns = |source: Option<u32>| {
                read.events.iter().map(|&event| &events[event as usize]).any(|event| {
                    let before = || run.nothing_before[event.key.index()];
                    let found = source.map_or_else(before, |node| {
                        written[node as usize].get(&event.key).copied().unwrap_or(event.nothing)
                    });
                    found != event.nothing
                })
            };
            let others = read.candidates.iter().copied().filter(|&source| source != read.observed);
            risky.extend(others.filter(|&source| turns(source)).map(|source| (number, source)));
        }
        risky
    }

    /// Cuts a transaction into slots and finds its choices.
    fn add_node(&mut self, run: &Run, txn: u32, class_of: &[Option<u32>], mut node: Node) {
        let number = self.nodes.len() as u32;
        let first_read = self.reads.len();
        let mut cutter =
            Cutter { merge_all: self.level != Level::ReadCommitted, ..Cutter::default() };
        for (index, event) in run.txns[txn as usize].events.iter().enumerate() {
            let class = class_of[event.key.index()];
            match (event.act, class) {
                (Act::Write, Some(class)) => {
                    let slot = cutter.write(&mut node.slots, index, self.boundary);
                    let writers = &mut self.classes[class as usize].writers;
                    if writers.last() != Some(&(number, slot)) {
                        writers.push((number, slot));
                    }
                }
                (Act::Write, None) => {}
                (Act::Read(_), None) => cutter.pass(),
                (Act::Read(_), Some(class)) => match cutter.known(class, event.is_latest) {
                    Some(read) => {
                        cutter.pass();
                        self.reads[read].events.push(index as u32);
                    }
                    None => {
                        let slot = cutter.read(&mut node.slots, index, self.boundary);
                        cutter.remember(class, self.reads.len(), event.is_latest);
                        self.reads.push(Read {
                            node: number,
                            slot,
                            class,
                            observed: None,
                            candidates: Vec::new(),
                            is_list: run.is_list[event.key.index()],
                            events: vec![index as u32],
                        });
                    }
                },
            }
        }
        node.reads = first_read as u32..self.reads.len() as u32;
        let events = &run.txns[txn as usize].events;
        let ends = node.slots.iter().skip(1).copied().chain([events.len() as u32]);
        let pieces =
            node.slots.iter().zip(ends).map(|(&from, to)| &events[from as usize..to as usize]);
        node.may_end =
            pieces.map(|piece| piece.iter().any(|event| event.act != Act::Write)).collect();
        self.nodes.push(node);
    }

    fn find_candidates(&mut self, run: &Run, node_of: &FxHashMap<u32, u32>) {
        for read in &mut self.reads {
            let node = &self.nodes[read.node as usize];
            let txn = &run.txns[node.txn as usize];
            if let Act::Read(source) = txn.events[read.events[0] as usize].act {
                read.observed = source.map(|source| node_of[&source]);
            }
            let later_in_session = |writer: u32| {
                writer >= read.node && self.nodes[writer as usize].session == node.session
            };
            let writers =
                self.classes[read.class as usize].writers.iter().map(|&(writer, _)| writer);
            // Strict, what comes after the first read is cut if that one changes.
            let among = match self.boundary {
                Boundary::Strict => &read.events[..1],
                Boundary::Relaxed => &read.events[..],
            };
            // The holder of a lock sees the latest version, whatever the level allows.
            if among.iter().any(|&event| txn.events[event as usize].is_latest) {
                read.candidates = vec![read.observed];
                continue;
            }
            let others = writers.filter(|&writer| !later_in_session(writer));
            read.candidates = std::iter::once(None).chain(others.map(Some)).collect();
        }
    }

    /// Whether `a` is before `b` in the same session.
    pub fn precedes(&self, a: u32, b: u32) -> bool {
        a < b && self.nodes[a as usize].session == self.nodes[b as usize].session
    }

    /// The slot in which `node` writes `class`.
    pub fn write_slot(&self, node: u32, class: u32) -> Option<u32> {
        let writers = &self.classes[class as usize].writers;
        writers.iter().find(|&&(writer, _)| writer == node).map(|&(_, slot)| slot)
    }

    /// The reads of a node.
    pub fn reads_of(&self, node: u32) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let Range { start, end } = self.nodes[node as usize].reads.clone();
        start as usize..end as usize
    }
}

/// Where the slots of a transaction begin.
#[derive(Default)]
struct Cutter {
    /// Whether reads of a class in a transaction are one choice wherever they stand.
    merge_all: bool,
    /// Whether the last slot is one of writes, after which nothing was read.
    in_writes: bool,
    /// The read of each class; at read committed only of the class that was read last.
    reads: FxHashMap<u32, usize>,
    /// How many reads of the class have been read in a row, at read committed.
    in_a_row: u32,
}

impl Cutter {
    fn write(&mut self, slots: &mut Vec<u32>, index: usize, boundary: Boundary) -> u32 {
        if !self.merge_all {
            self.reads.clear();
        }
        begin(slots, index, slots.is_empty() || (boundary == Boundary::Strict && !self.in_writes));
        self.in_writes = true;
        slots.len() as u32 - 1
    }

    /// A read that is no choice of its own: a transaction may end with it nevertheless.
    fn pass(&mut self) {
        self.in_writes = false;
    }

    fn read(&mut self, slots: &mut Vec<u32>, index: usize, boundary: Boundary) -> u32 {
        begin(slots, index, slots.is_empty() || boundary == Boundary::Strict);
        self.in_writes = false;
        slots.len() as u32 - 1
    }

    /// The choice that a read of `class` belongs to, if there is one already. At read committed one
    /// that must be the latest has nothing to do with others.
    fn known(&mut self, class: u32, is_latest: bool) -> Option<usize> {
        if is_latest && !self.merge_all {
            return None;
        }
        let known = self.reads.get(&class).copied()?;
        self.in_a_row += 1;
        (self.merge_all || self.in_a_row > 2).then_some(known)
    }

    fn remember(&mut self, class: u32, read: usize, is_latest: bool) {
        if is_latest && !self.merge_all {
            self.reads.clear();
            return;
        }
        if !self.merge_all && !self.reads.contains_key(&class) {
            self.reads.clear();
            self.in_a_row = 1;
        }
        self.reads.insert(class, read);
    }
}

fn begin(slots: &mut Vec<u32>, index: usize, new: bool) {
    if new {
        slots.push(index as u32);
    }
}

/// The writers of a key, and between which of their reads they write it.
type Signature = Vec<(u32, u32)>;

/// For each key its class, if it matters; and how many classes there are.
fn classes(run: &Run, level: Level, boundary: Boundary) -> (Vec<Option<u32>>, usize) {
    let (writers, is_read) = signatures(run, boundary);
    let mut class_of = vec![None; run.key_count];
    let mut known: FxHashMap<&Signature, u32> = FxHashMap::default();
    let mut keys: Vec<KeyId> = writers.keys().copied().collect();
    keys.sort_unstable();
    for key in keys {
        let signature = &writers[&key];
        // Writers of a key that no transaction reads may still not be concurrent at snapshot
        // isolation.
        let conflicts = level == Level::SnapshotIsolation && signature.len() > 1;
        if is_read[key.index()] || conflicts {
            let next = known.len() as u32;
            class_of[key.index()] = Some(*known.entry(signature).or_insert(next));
        }
    }
    (class_of, known.len())
}

/// Of each key that is written its signature, and of each key whether it is read.
fn signatures(run: &Run, boundary: Boundary) -> (FxHashMap<KeyId, Signature>, Vec<bool>) {
    let mut writers: FxHashMap<KeyId, Signature> = FxHashMap::default();
    let mut is_read = vec![false; run.key_count];
    for (number, txn) in run.txns.iter().enumerate() {
        let (mut run_of_writes, mut separated) = (0, true);
        for event in &txn.events {
            match event.act {
                Act::Read(_) => {
                    is_read[event.key.index()] = true;
                    separated = true;
                }
                Act::Write => {
                    run_of_writes += u32::from(std::mem::take(&mut separated));
                    let point = if boundary == Boundary::Strict { run_of_writes } else { 0 };
                    writers.entry(event.key).or_default().push((number as u32, point));
                }
            }
        }
    }
    (writers, is_read)
}

/// The rank of each of `txns` among them by `place`.
fn ranks(txns: &[u32], place: &[u32]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..txns.len()).collect();
    order.sort_unstable_by_key(|&node| place[txns[node] as usize]);
    let mut ranks = vec![0; txns.len()];
    for (rank, node) in order.into_iter().enumerate() {
        ranks[node] = rank as u32;
    }
    ranks
}
