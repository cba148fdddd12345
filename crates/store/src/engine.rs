//! Who may read what, and who may commit: the store without values, names and threads.

use crate::log::{INITIAL, Log, Read};
use crate::order::Order;
use crate::search::Question;
use crate::weak::{self, Demand};
use crate::witness::{Point, Witness};
use seriatim_check::Level;

/// The store's memory of transactions, and an order that shows them valid.
#[derive(Clone, Default, Debug)]
pub(crate) struct Engine {
    pub log: Log,
    /// While all transactions are at weak levels.
    order: Order,
    /// Since the first one at a strong level.
    witness: Option<Witness>,
}

impl Engine {
    pub fn begin(&mut self, session: u32, level: Level) -> u32 {
        if level.is_strong() && self.witness.is_none() {
            self.witness = Some(self.first_witness());
        }
        self.order.push();
        self.log.begin(session, level)
    }

    /// The committed transactions, all weak, in an order that fits.
    fn first_witness(&self) -> Witness {
        let mut committed: Vec<u32> = self.log.sessions.iter().flat_map(|session| session.committed.clone()).collect();
        committed.sort_unstable_by_key(|&txn| self.order.position(txn));
        Witness::new(committed.into_iter().map(|txn| Point { txn, is_commit: true }).collect())
    }

    /// The versions of `key` that `txn` may read: the transactions that wrote them, in the order of their commits, the initial one
    /// first. Never empty at a weak level; if it is empty at a strong one, the transaction cannot commit any more.
    pub fn admissible(&mut self, txn: u32, key: u32) -> Vec<u32> {
        if self.witness.is_none() {
            return weak::admissible(&self.log, &mut self.order, txn, key);
        }
        let writers = self.log.writers(key).all.clone();
        let all = [INITIAL].into_iter().chain(writers);
        all.filter(|&source| self.fits(txn, key, source)).collect()
    }

    /// Whether `txn` may read `key` from `source`, in a store with strong levels; the witness changes if that helps.
    fn fits(&mut self, txn: u32, key: u32, source: u32) -> bool {
        let Some(witness) = &self.witness else { return false };
        let also = Some((key, source));
        let mut edges = Vec::new();
        if self.log.txn(txn).level.is_strong() {
            if witness.window(&self.log, txn, also).is_some() {
                return true;
            }
        } else {
            match weak::demand(&self.log, txn, key, source) {
                Demand::Impossible => return false,
                Demand::Edges(asked) if witness.respects(&asked) => return true,
                Demand::Edges(asked) => edges = asked,
            }
        }
        Question { log: &self.log, witness, txn, also, edges: &edges }.answer().is_some()
    }

    /// `txn` reads `key` from `source`, one of [`Engine::admissible`].
    pub fn read(&mut self, txn: u32, key: u32, source: u32) {
        if !self.log.txn(txn).level.is_strong()
            && let Demand::Edges(edges) = weak::demand(&self.log, txn, key, source)
        {
            self.force(txn, key, source, edges);
        }
        self.log.add_read(txn, Read { key, source });
    }

    fn force(&mut self, txn: u32, key: u32, source: u32, edges: Vec<(u32, u32)>) {
        match &mut self.witness {
            None => {
                self.order.try_add(&self.log, &edges);
            }
            Some(witness) if !witness.respects(&edges) => {
                let question =
                    Question { log: &self.log, witness, txn, also: Some((key, source)), edges: &edges };
                if let Some(mut sequence) = question.answer() {
                    sequence.retain(|point| point.txn != txn);
                    *witness = Witness::new(sequence);
                }
            }
            Some(_) => {}
        }
        self.log.txns[txn as usize].forced.extend(edges);
    }

    pub fn write(&mut self, txn: u32, key: u32) {
        self.log.add_write(txn, key);
    }

    /// Ends `txn`; false if it cannot commit and is aborted instead.
    pub fn commit(&mut self, txn: u32) -> bool {
        if !self.find_place(txn) {
            self.abort(txn);
            return false;
        }
        self.log.commit(txn);
        true
    }

    fn find_place(&mut self, txn: u32) -> bool {
        let Some(witness) = &mut self.witness else { return true };
        if !self.log.txn(txn).level.is_strong() {
            // Whatever it has seen is in the sequence, and nobody has seen it.
            witness.insert(witness.sequence.len(), Point { txn, is_commit: true });
            return true;
        }
        if witness.place(&self.log, txn) {
            return true;
        }
        let question = Question { log: &self.log, witness, txn, also: None, edges: &[] };
        match question.answer() {
            Some(sequence) => *witness = Witness::new(sequence),
            None => return false,
        }
        true
    }

    pub fn abort(&mut self, txn: u32) {
        let forced = std::mem::take(&mut self.log.txns[txn as usize].forced);
        if self.witness.is_none() {
            self.order.remove(&forced);
        }
        self.log.abort(txn);
    }
}
