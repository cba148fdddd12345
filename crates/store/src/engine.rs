//! Which versions a transaction may read, and which transactions may commit: the store without
//! values, names and threads.

use crate::log::{Log, Read, State};
use crate::node::NodeState;
use crate::past::INITIAL;
use crate::ranges::Group;
use crate::reach::Reach;
use crate::weak::{self, Demand};
use crate::witness::{Point, Witness};
use crate::witness_search::{self, Question};
use rustc_hash::{FxHashMap, FxHashSet};
use seriatim_isolation::Level;
use std::sync::Arc;

/// The store's memory of transactions, and an order that shows them valid.
#[derive(Clone, Default, Debug)]
pub(crate) struct Engine {
    pub log: Log,
    /// While all transactions are at weak levels.
    reach: Reach,
    /// Since the first one at a strong level.
    witness: Option<Witness>,
    /// Instead of both, if one node of a server is simulated.
    pub node: Option<NodeState>,
    /// Places of committed transactions in the order that says which versions are the last, until
    /// something changes.
    places: Option<FxHashMap<u32, usize>>,
}

impl Engine {
    pub fn begin(&mut self, session: u32, level: Level) -> u32 {
        if level.is_strong() && self.witness.is_none() && self.node.is_none() {
            self.witness = Some(self.first_witness());
        }
        self.reach.push();
        self.log.begin(session, level)
    }

    /// The committed transactions, all weak, in an order that fits what open ones have read, too.
    fn first_witness(&self) -> Witness {
        let mut reach = self.reach.clone();
        self.open_edges().into_iter().for_each(|(from, to)| reach.add(&self.log, from, to));
        let committed = reach.order(&self.log);
        let point = |txn| Point { txn, is_commit: true };
        Witness::new(&self.log, committed.into_iter().map(point).collect())
    }

    /// The versions of `key` that `txn` may read: the transactions that wrote them, in the order of
    /// their commits, the initial one first. Never empty at a weak level; if it is empty at a
    /// strong one, the transaction cannot commit any more.
    pub fn admissible(&mut self, txn: u32, key: u32) -> Vec<u32> {
        if let Some(node) = &self.node {
            return node.versions(&self.log, txn, key);
        }
        let Some(witness) = &self.witness else {
            return weak::admissible(&self.log, &self.reach, &self.open_edges(), txn, key);
        };
        let writers = self.log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all);
        let all = [INITIAL].into_iter().chain(writers.iter().copied());
        if !self.log.txn(txn).level.is_strong() {
            return all.filter(|&source| self.weak_fits(witness, txn, key, source)).collect();
        }
        let mut fitting = witness.fitting(&self.log, txn, key);
        if !witness_search::is_tried(witness) {
            let commit = |source: u32| (source != INITIAL).then(|| self.log.txn(source).commit);
            fitting.sort_unstable_by_key(|&source| commit(source));
            return fitting;
        }
        all.filter(|&source| fitting.contains(&source) || self.other_order(txn, key, source, &[]))
            .collect()
    }

    /// Whether `txn` may read `key` from `source`, one of its versions.
    pub fn may_read(&self, txn: u32, key: u32, source: u32) -> bool {
        let log = &self.log;
        // Only the newest version is asked about, which a lock shows whatever the snapshot is.
        if self.node.is_some() {
            return true;
        }
        let Some(witness) = &self.witness else {
            return weak::may_read(log, &self.reach, &self.open_edges(), txn, (key, source));
        };
        if !log.txn(txn).level.is_strong() {
            return self.weak_fits(witness, txn, key, source);
        }
        witness.fits(log, txn, key, source) || self.other_order(txn, key, source, &[])
    }

    /// The version of `key` that committed last; not every transaction may read it.
    pub fn last_version(&self, key: u32) -> u32 {
        let last = self.log.keys.get(key as usize).and_then(|writers| writers.all.last());
        last.copied().unwrap_or(INITIAL)
    }

    /// Of the versions of `key` that `txn` may read the one that committed last. Where reads of old
    /// versions have put commits into another order, that order says which one is the last: an
    /// assertion must not see a version that all orders have overwritten.
    pub fn latest(&mut self, txn: u32, key: u32) -> Option<u32> {
        if self.is_reordered() {
            let admissible = self.admissible(txn, key);
            let places = self.places();
            return admissible.into_iter().max_by_key(|writer| places.get(writer));
        }
        let last = self.last_version(key);
        if self.node.is_none() && self.may_read(txn, key, last) {
            return Some(last);
        }
        self.admissible(txn, key).last().copied()
    }

    fn places(&mut self) -> &FxHashMap<u32, usize> {
        if self.places.is_none() {
            let order = self.reach.in_order(&self.log, &self.open_edges(), |_| true);
            let places = order.into_iter().enumerate().map(|(place, txn)| (txn, place));
            self.places = Some(places.collect());
        }
        self.places.get_or_insert_default()
    }

    /// Whether what was read contradicts the order of the commits.
    fn is_reordered(&self) -> bool {
        self.node.is_none() && self.witness.is_none() && self.reach.is_reordered()
    }

    /// Whether another order lets `txn` read `key` from `source`.
    fn other_order(&self, txn: u32, key: u32, source: u32, edges: &[(u32, u32)]) -> bool {
        let also = Some((key, source));
        if self.is_hidden(txn, key, source) {
            return false;
        }
        let question = |witness| Question { log: &self.log, witness, txn, also, edges };
        self.witness.as_ref().is_some_and(|witness| question(witness).answer().is_some())
    }

    /// Whether a version that is in the causal past of strong `txn` came after `source` in any
    /// order.
    fn is_hidden(&self, txn: u32, key: u32, source: u32) -> bool {
        let log = &self.log;
        let writers = log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all);
        let overwrites = |writer: u32| {
            writer != source
                && log.precedes(writer, txn)
                && (source == INITIAL || log.precedes(source, writer))
        };
        log.txn(txn).level.is_strong() && writers.iter().any(|&writer| overwrites(writer))
    }

    /// Whether weak `txn` may read `key` from `source`, among transactions at strong levels.
    fn weak_fits(&self, witness: &Witness, txn: u32, key: u32, source: u32) -> bool {
        match weak::demand(&self.log, txn, key, source) {
            Demand::Impossible => false,
            Demand::Edges(edges) => {
                witness.respects(&edges) || self.other_order(txn, key, source, &edges)
            }
        }
    }

    /// `txn` reads `key` from `source`, one of [`Engine::admissible`].
    pub fn read(&mut self, txn: u32, key: u32, source: u32) {
        if let Some(node) = &mut self.node {
            return node.read(&mut self.log, txn, key, source);
        }
        if !self.log.txn(txn).level.is_strong()
            && let Demand::Edges(edges) = weak::demand(&self.log, txn, key, source)
        {
            self.force(txn, key, source, edges);
        }
        self.log.add_read(txn, Read { key, source });
    }

    fn force(&mut self, txn: u32, key: u32, source: u32, edges: Vec<(u32, u32)>) {
        match &mut self.witness {
            Some(witness) if !witness.respects(&edges) => {
                let question = Question {
                    log: &self.log,
                    witness,
                    txn,
                    also: Some((key, source)),
                    edges: &edges,
                };
                if let Some(mut sequence) = question.answer() {
                    sequence.retain(|point| point.txn != txn);
                    *witness = Witness::new(&self.log, sequence);
                }
            }
            _ => {}
        }
        if !edges.is_empty() {
            self.places = None;
        }
        self.log.txns[txn as usize].forced.extend(edges);
    }

    /// `txn` has read the initial version of all members that enter a group from now on.
    pub fn read_range(&mut self, txn: u32, group: Group, members: Option<Arc<[u32]>>) {
        let range = self.log.groups.range(group, members);
        self.log.txns[txn as usize].ranges.push(range);
    }

    pub fn write(&mut self, txn: u32, key: u32) {
        self.log.add_write(txn, key);
    }

    /// Ends `txn`; false if it cannot commit and is aborted instead.
    pub fn commit(&mut self, txn: u32) -> bool {
        self.end(txn, State::Committed)
    }

    /// Takes the writes of `txn` back and keeps what it read; false if no transaction can have read
    /// that any more: then it is aborted.
    pub fn withdraw(&mut self, txn: u32) -> bool {
        self.log.txns[txn as usize].writes.clear();
        self.end(txn, State::Withdrawn)
    }

    fn end(&mut self, txn: u32, state: State) -> bool {
        if !self.find_place(txn) {
            self.abort(txn);
            return false;
        }
        self.places = None;
        self.log.end(txn, state);
        if let Some(node) = &mut self.node {
            node.end(txn);
        } else if self.witness.is_none() {
            self.reach.commit(&self.log, txn);
        }
        true
    }

    /// The edges that open transactions force.
    fn open_edges(&self) -> Vec<(u32, u32)> {
        self.log.open().flat_map(|txn| self.log.txn(txn).forced.iter().copied()).collect()
    }

    /// The committed transactions that can be settled now, in the order in which they are. They
    /// must be settled: the witness has forgotten them. On a node, statements that are yet to
    /// begin see the first `bound` commits.
    pub fn settleable(&mut self, bound: u32) -> Vec<u32> {
        if let Some(node) = &mut self.node {
            return node.settleable(&self.log, bound);
        }
        match &mut self.witness {
            Some(witness) => witness.settle(&self.log),
            None => self.reach.settleable(&self.log, &self.open_edges()),
        }
    }

    /// Settles transactions, in this order. Forgets all that are not remembered any more, except
    /// for those from the returned number on.
    pub fn settle(&mut self, order: &[u32]) -> usize {
        self.places = None;
        self.log.settle(order);
        let remembered: FxHashSet<u32> = self.log.remembered().into_iter().collect();
        let is_needed = |txn: usize| remembered.contains(&(txn as u32));
        let first = self.first_kept();
        self.log.txns.forget(first, is_needed);
        self.log.trim();
        self.reach.forget(&self.log, first, is_needed);
        first
    }

    /// The first transaction that has committed and is not settled: those before are few, and open.
    fn first_kept(&self) -> usize {
        self.log.unsettled().min().map_or(self.log.txns.next(), |txn| txn as usize)
    }

    fn find_place(&mut self, txn: u32) -> bool {
        if let Some(node) = &mut self.node {
            return node.commit(&self.log, txn);
        }
        let Some(witness) = &mut self.witness else { return true };
        if !self.log.txn(txn).level.is_strong() {
            // What it has seen is in the sequence, and no transaction there has seen it: the end
            // fits.
            let end = witness.sequence.len();
            witness.insert(&self.log, end, Point { txn, is_commit: true });
            return true;
        }
        if witness.place(&self.log, txn) {
            return true;
        }
        let question = Question { log: &self.log, witness, txn, also: None, edges: &[] };
        match question.answer() {
            Some(sequence) => *witness = Witness::new(&self.log, sequence),
            None => return false,
        }
        true
    }

    pub fn abort(&mut self, txn: u32) {
        self.places = None;
        self.log.txns[txn as usize].forced.clear();
        self.node.iter_mut().for_each(|node| node.end(txn));
        self.log.abort(txn);
    }
}
