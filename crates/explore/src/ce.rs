//! EXPLORE-CE (Sections 5.1 to 5.3 of the paper), function for function: sound, complete and
//! strongly optimal for isolation levels that are prefix-closed and causally extensible, in
//! polynomial space.
//!
//! In the names of the paper: `h` is the history, `<` its order, `<or` the oracle order, `so`
//! session order, `wr` reads. A history has at most one pending transaction. Aborted transactions
//! are part of it: they wrote nothing, but what they read obeys the level.
//!
//! Bouajjani, Enea, Román-Calvo: Dynamic Partial Order Reduction for Checking Correctness against
//! Transaction Isolation Levels, PLDI 2023.

use crate::closure::Closure;
use crate::engine::Engine;
use crate::error::ExploreError;
use crate::ordered::Record;
use crate::program::{Local, Value};
use crate::reader::Reader;
use crate::trail::ReadAt;
use crate::txn_set::{INITIAL, Id, TxnSet};
use std::rc::Rc;

impl<V: Value, L: Local> Engine<'_, V, L> {
    /// NEXT (Section 5.1): the session whose next transaction is the smallest in the oracle order,
    /// which goes session by session. Transactions run to their end, so none is pending here.
    pub(crate) fn next(&self) -> Option<u32> {
        (0..self.history.sessions() as u32).find(|&session| self.has_next(session))
    }

    /// VALIDWRITES (Section 5.1): the committed transactions from which `reader` may read `key` so
    /// that the history stays consistent; newest first, the initial one last.
    pub(crate) fn valid_writes(&self, reader: &Reader, key: u32) -> Vec<Id> {
        let writers = self.history.writers(key);
        if writers.is_empty() {
            // A key that no transaction wrote, and most keys that long transactions read are of
            // this kind, leaves no choice.
            return vec![INITIAL];
        }
        let in_order =
            self.history.order().iter().rev().map(|record| record.id).filter(|&id| writers.has(id));
        in_order
            .chain([INITIAL])
            .filter(|&source| reader.may_read(&self.history, key, source))
            .collect()
    }

    /// COMPUTEREORDERINGS (Section 5.2): the reads of what `t`, which has just committed, wrote, in
    /// transactions that are before it in `<` and not in its causal past.
    pub(crate) fn compute_reorderings(&self, t: &Record<V, L>) -> Vec<ReadAt> {
        let mut all = Vec::new();
        for (place, record) in self.history.order().iter().enumerate() {
            if record.id == t.id || t.past.has(record.id) {
                continue;
            }
            let reads =
                record.reads.iter().enumerate().filter(|(_, read)| t.written.contains(&read.key));
            all.extend(reads.map(|(read, _)| ReadAt { place, read }));
        }
        all
    }

    /// SWAP (Section 5.2): the history with everything before the read `r`, the causal past of the
    /// last transaction `t` and `t` itself; then the transaction of `r` up to `r`, which reads from
    /// `t`, and on.
    pub(crate) fn swap(&mut self, r: ReadAt) -> Result<(), ExploreError> {
        let tail = self.history.split_off(r.place);
        // The tail begins with the reader and ends with `t`, which has just committed.
        let (reader, t) =
            (Rc::clone(&tail.records()[0]), Rc::clone(&tail.records()[tail.records().len() - 1]));
        let kept = t.past.with(t.id);
        for record in tail.records().iter().filter(|record| kept.has(record.id)) {
            self.history.push_again(Rc::clone(record));
        }
        self.keep_replaced(tail);
        self.execute_again(reader, r.read, t.id)
    }

    /// OPTIMALITY (Section 5.3): whether swapping `r` and `t` gives a consistent history that no
    /// other call comes to: every read that it deletes, and `r`, was not swapped before and reads
    /// from the causally latest valid write.
    pub(crate) fn optimality(&self, r: ReadAt, t: &Record<V, L>) -> bool {
        let kept = t.past.with(t.id);
        let order = self.history.order();
        let of_reader =
            (r.read..order[r.place].reads.len()).map(|read| ReadAt { place: r.place, read });
        let deleted = (r.place + 1..order.len()).filter(|&place| !kept.has(order[place].id));
        let of_deleted = deleted.flat_map(|place| {
            (0..order[place].reads.len()).map(move |read| ReadAt { place, read })
        });
        // What is quick to tell comes first.
        let mut reads = of_reader.clone().chain(of_deleted.clone());
        reads.all(|read| self.reads_its_past(read) && !self.swapped(read))
            && of_reader.chain(of_deleted).all(|read| self.read_latest(read, kept))
            && self.swap_is_consistent(r, t, kept)
    }

    /// Whether a read reads from what was in its causal past before it: what READLATEST needs first
    /// of all.
    fn reads_its_past(&self, r: ReadAt) -> bool {
        let read = self.read(r);
        read.source == INITIAL || read.past.has(read.source)
    }

    /// SWAPPED (Section 5.3): whether a read came to its source by a swap: the source is after it
    /// in the oracle order, no transaction that is before it in both orders depends on the source,
    /// and the source was not in its causal past anyway.
    ///
    /// The last condition deviates from the paper, which asks only whether an earlier read of the
    /// transaction reads from the same source. A swap makes a read depend on a transaction that was
    /// added after it, so a source that the transaction depends on already, say because an earlier
    /// read reads from a later transaction of the same session, did not come by a swap; with the
    /// paper's condition such a read could never be swapped, and histories would be missed (a test
    /// in `tests/programs.rs` has the smallest program). As READLATEST is about sources in the
    /// causal past, it refuses whatever is swapped in this sense, too.
    fn swapped(&self, r: ReadAt) -> bool {
        let record = &self.history.order()[r.place];
        let source = record.reads[r.read].source;
        let or = |id: Id| self.history.name(id);
        if source == INITIAL || or(source) < or(record.id) {
            return false;
        }
        let seen_earlier =
            |other: &Rc<Record<V, L>>| or(other.id) < or(record.id) && other.past.has(source);
        !self.history.order()[..r.place].iter().any(seen_earlier)
            && !record.reads[r.read].past.has(source)
    }

    /// READLATEST (Section 5.3): whether a read, which reads from its causal past, reads from the
    /// last write in `<` there that is valid in the history without what comes after the read, but
    /// with `kept`.
    fn read_latest(&self, r: ReadAt, kept: TxnSet) -> bool {
        let read = self.read(r);
        let candidates = self.history.writers(read.key).intersection(read.past);
        let is_later = |id: &Id| {
            read.source == INITIAL || self.history.place(*id) > self.history.place(read.source)
        };
        let mut later = candidates.iter().filter(is_later).peekable();
        // Without a later candidate the history up to the read need not be made again.
        if later.peek().is_none() {
            return true;
        }
        let reader = self.reader_up_to(r, self.closure_with(r.place, kept));
        !later.any(|source| reader.may_read(&self.history, read.key, source))
    }

    fn swap_is_consistent(&self, r: ReadAt, t: &Record<V, L>, kept: TxnSet) -> bool {
        let reader = self.reader_up_to(r, self.closure_with(r.place, kept));
        reader.may_read(&self.history, self.read(r).key, t.id)
    }

    fn read(&self, r: ReadAt) -> crate::ordered::Read {
        self.history.order()[r.place].reads[r.read]
    }

    /// What the commit order must respect in the history before `place`, with what comes later and
    /// is in `kept`.
    fn closure_with(&self, place: usize, kept: TxnSet) -> Closure {
        let mut closure = self.history.before(place).clone();
        // Without the transaction at `place` itself: it begins anew, up to the read.
        for record in self.history.order()[place + 1..].iter().filter(|record| kept.has(record.id))
        {
            self.history.replay(&mut closure, record);
        }
        closure
    }

    /// The transaction of a read, as it was before the read.
    fn reader_up_to(&self, r: ReadAt, closure: Closure) -> Reader {
        let record = &self.history.order()[r.place];
        let level = self.base_of(record.id);
        let mut reader = Reader::begin(&self.history, record.id, level, closure);
        for read in &record.reads[..r.read] {
            reader.read(&self.history, read.key, read.source);
        }
        reader
    }
}
