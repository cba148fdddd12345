//! A topological order of the known edges that breaks few reads: near to a wish, but no writer is
//! placed while a reader of the version that it replaces is still to come.
//!
//! Transactions whose predecessors are placed wait in a queue by their wish. One that would
//! overwrite a version with readers to come is put aside until they are placed; with two points a
//! transaction, the begins of such readers are pulled forward instead. A read whose value has
//! several writers waits until its value is the current one. If all wait, the first by wish
//! goes on and something breaks: the search will look at it.

use super::facts::Facts;
use super::ids::{PointId, SlotId};
use super::point_graph::PointGraph;
use rustc_hash::FxHashMap;
use seriatim_history::{KeyId, TxnId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

pub(crate) struct Greedy<'a> {
    facts: &'a Facts<'a>,
    graph: &'a PointGraph,
    wish: &'a [u32],
    /// For each ambiguous read the slot that it reads, if that is settled.
    chosen: &'a [SlotId],
    order: Vec<PointId>,
    /// For each point how many predecessors are not placed.
    waiting_for: Vec<u32>,
    placed: Vec<bool>,
    /// For each key its current slot.
    current: Vec<SlotId>,
    /// For each slot how many readers are to come.
    pending: Vec<u32>,
    queue: BinaryHeap<Reverse<(u32, TxnId)>>,
    aside: BTreeSet<(u32, TxnId)>,
    /// Transactions that wait for the last readers of a slot.
    until_read: FxHashMap<SlotId, Vec<TxnId>>,
    /// Transactions that wait for a value of a key.
    until_written: FxHashMap<(KeyId, u64), Vec<TxnId>>,
    /// For each key the writer that has begun and not committed, with two points a transaction.
    open: FxHashMap<KeyId, TxnId>,
    until_committed: Vec<TxnId>,
    /// Readers of slots by choice.
    readers_by_choice: FxHashMap<SlotId, Vec<TxnId>>,
}

/// What keeps a transaction from being placed.
enum Obstacle {
    Readers(SlotId),
    Value(KeyId, u64),
    OpenWriter,
}

impl<'a> Greedy<'a> {
    /// An order of all points near to `wish` (by transaction); shorter than the number of points
    /// iff there is a cycle.
    pub fn order(
        facts: &'a Facts<'a>,
        graph: &'a PointGraph,
        wish: &'a [u32],
        chosen: &'a [SlotId],
    ) -> Vec<PointId> {
        let points = graph.points();
        let waiting_for = (0..points as u32)
            .map(PointId)
            .map(|point| graph.predecessors(point).count() as u32)
            .collect();
        let mut readers_by_choice: FxHashMap<SlotId, Vec<TxnId>> = FxHashMap::default();
        for (read, &slot) in
            facts.ambiguous.iter().zip(chosen).filter(|(_, slot)| **slot != SlotId::NONE)
        {
            readers_by_choice.entry(slot).or_default().push(read.reader);
        }
        let by_choice = |slot: SlotId| readers_by_choice.get(&slot).map_or(0, Vec::len);
        let pending =
            facts.slots().map(|slot| (facts.readers.of(slot).len() + by_choice(slot)) as u32);
        let mut greedy = Greedy {
            pending: pending.collect(),
            facts,
            graph,
            wish,
            chosen,
            order: Vec::with_capacity(points),
            waiting_for,
            placed: vec![false; points],
            current: facts.keys().map(|key| facts.initial_slot(key)).collect(),
            queue: BinaryHeap::new(),
            aside: BTreeSet::new(),
            until_read: FxHashMap::default(),
            until_written: FxHashMap::default(),
            open: FxHashMap::default(),
            until_committed: Vec::new(),
            readers_by_choice,
        };
        greedy.run();
        greedy.order
    }

    fn run(&mut self) {
        for point in (0..self.graph.points() as u32).map(PointId) {
            if self.graph.present[point.index()] && self.waiting_for[point.index()] == 0 {
                self.ready(point);
            }
        }
        loop {
            if let Some(Reverse((_, txn))) = self.queue.pop() {
                self.try_txn(txn);
            } else if let Some((_, txn)) = self.aside.pop_first() {
                self.force(txn);
            } else {
                return;
            }
        }
    }

    /// The predecessors of `point` are placed.
    fn ready(&mut self, point: PointId) {
        if !self.graph.is_of_txn(point) {
            return self.place(point);
        }
        self.enqueue(self.graph.timeline.txn(point));
    }

    fn enqueue(&mut self, txn: TxnId) {
        self.aside.remove(&(self.wish[txn.index()], txn));
        self.queue.push(Reverse((self.wish[txn.index()], txn)));
    }

    fn is_placed(&self, point: PointId) -> bool {
        self.placed[point.index()]
    }

    fn try_txn(&mut self, txn: TxnId) {
        let (begin, commit) = (self.graph.timeline.begin(txn), self.graph.timeline.commit(txn));
        if self.is_placed(commit) || (!self.is_placed(begin) && self.waiting_for[begin.index()] > 0)
        {
            return;
        }
        let missing = self.waiting_for[commit.index()];
        let begins_now = begin != commit && !self.is_placed(begin);
        if missing > u32::from(begins_now) {
            // The commit waits for others, which will call again; the begin waits with it unless it
            // is pulled.
            self.aside.insert((self.wish[txn.index()], txn));
            return;
        }
        match self.obstacle(txn) {
            None => self.place_txn(txn),
            Some(obstacle) => {
                self.aside.insert((self.wish[txn.index()], txn));
                match obstacle {
                    Obstacle::Readers(slot) => self.until_read.entry(slot).or_default().push(txn),
                    Obstacle::Value(key, value) => {
                        self.until_written.entry((key, value)).or_default().push(txn)
                    }
                    Obstacle::OpenWriter => self.until_committed.push(txn),
                }
            }
        }
    }

    /// All wait: `txn` goes as far as its predecessors allow.
    fn force(&mut self, txn: TxnId) {
        let (begin, commit) = (self.graph.timeline.begin(txn), self.graph.timeline.commit(txn));
        if !self.is_placed(begin) {
            self.place_begin(txn);
        }
        if begin != commit && !self.is_placed(commit) && self.waiting_for[commit.index()] == 0 {
            self.place(commit);
        }
    }

    fn place_txn(&mut self, txn: TxnId) {
        let (begin, commit) = (self.graph.timeline.begin(txn), self.graph.timeline.commit(txn));
        if !self.is_placed(begin) {
            self.place_begin(txn);
        }
        if !self.is_placed(commit) {
            self.place(commit);
        }
    }

    fn place_begin(&mut self, txn: TxnId) {
        let timeline = self.graph.timeline;
        if timeline.keeps_writers_apart() {
            for &version in self.facts.written.of(txn) {
                self.open.insert(self.facts.key_of(version), txn);
            }
        }
        self.place(timeline.begin(txn));
    }

    /// What stands in the way of reading and writing now.
    fn obstacle(&mut self, txn: TxnId) -> Option<Obstacle> {
        let facts = self.facts;
        if !self.is_placed(self.graph.timeline.begin(txn)) {
            for &number in facts.ambiguous_of.of(txn) {
                let read = facts.read(number);
                if self.chosen[number.index()] == SlotId::NONE
                    && !facts.fits(read, self.current[read.key.index()])
                {
                    return Some(Obstacle::Value(read.key, read.value));
                }
            }
        }
        for &version in facts.written.of(txn) {
            let key = facts.key_of(version);
            let slot = self.current[key.index()];
            if self.pending_besides(slot, txn) && !self.pull_readers(slot, txn) {
                return Some(Obstacle::Readers(slot));
            }
            if self.open.get(&key).is_some_and(|&writer| writer != txn) {
                return Some(Obstacle::OpenWriter);
            }
        }
        None
    }

    /// Whether readers of `slot` other than `txn` are to come.
    fn pending_besides(&self, slot: SlotId, txn: TxnId) -> bool {
        match self.pending[slot.index()] {
            0 => false,
            1 => {
                let reads = self.facts.readers.of(slot).contains(&txn)
                    || self
                        .readers_by_choice
                        .get(&slot)
                        .is_some_and(|readers| readers.contains(&txn));
                !reads || self.is_placed(self.graph.timeline.begin(txn))
            }
            _ => true,
        }
    }

    /// Places the begins of readers of `slot` that are ready; whether none but `txn` is left.
    fn pull_readers(&mut self, slot: SlotId, txn: TxnId) -> bool {
        // With one point a transaction cannot begin without its commit.
        if self.graph.timeline.is_serial() {
            return false;
        }
        let facts = self.facts;
        let mut readers = facts.readers.of(slot).to_vec();
        readers.extend(self.readers_by_choice.get(&slot).into_iter().flatten());
        for reader in readers {
            let begin = self.graph.timeline.begin(reader);
            if reader != txn && !self.is_placed(begin) && self.waiting_for[begin.index()] == 0 {
                self.place_begin(reader);
                self.enqueue(reader);
            }
        }
        !self.pending_besides(slot, txn)
    }

    fn place(&mut self, point: PointId) {
        let mut moments = vec![point];
        while let Some(point) = moments.pop() {
            self.placed[point.index()] = true;
            self.order.push(point);
            if self.graph.is_of_txn(point) {
                self.take_effect(point);
            }
            let graph = self.graph;
            for next in graph.successors(point) {
                let left = &mut self.waiting_for[next.index()];
                *left -= 1;
                let left = *left;
                if !graph.is_of_txn(next) {
                    if left == 0 {
                        moments.push(next);
                    }
                } else if left == 0
                    || (left == 1 && next == graph.timeline.commit(graph.timeline.txn(next)))
                {
                    self.enqueue(graph.timeline.txn(next));
                }
            }
        }
    }

    /// Reads and writes of a point.
    fn take_effect(&mut self, point: PointId) {
        let (facts, timeline) = (self.facts, self.graph.timeline);
        let txn = timeline.txn(point);
        if point == timeline.begin(txn) {
            for &slot in facts.reads.of(txn) {
                self.was_read(slot);
            }
            for &number in facts.ambiguous_of.of(txn) {
                let slot = self.chosen[number.index()];
                if slot != SlotId::NONE {
                    self.was_read(slot);
                }
            }
        }
        if point == timeline.commit(txn) {
            for &version in facts.written.of(txn) {
                let key = facts.key_of(version);
                self.current[key.index()] = version;
                if self.open.get(&key) == Some(&txn) {
                    self.open.remove(&key);
                }
                self.wake_readers_of(key, version);
            }
            for waiting in std::mem::take(&mut self.until_committed) {
                self.enqueue(waiting);
            }
        }
    }

    fn was_read(&mut self, slot: SlotId) {
        let left = &mut self.pending[slot.index()];
        *left -= 1;
        // The one reader that is left may be the writer that waits.
        if *left <= 1 {
            for waiting in self.until_read.remove(&slot).unwrap_or_default() {
                self.enqueue(waiting);
            }
        }
    }

    /// The readers that wait for the value go first, before it is overwritten.
    fn wake_readers_of(&mut self, key: KeyId, version: SlotId) {
        if self.until_written.is_empty() {
            return;
        }
        let Some(value) = self.facts.value_of_version(version) else { return };
        for waiting in self.until_written.remove(&(key, value)).unwrap_or_default() {
            self.aside.remove(&(self.wish[waiting.index()], waiting));
            self.queue.push(Reverse((0, waiting)));
        }
    }
}
