//! Is a small history violated at read committed, read atomic or causal consistency? By the axiom,
//! read by read: the edges that it asks for depend on session order and reads alone, so the level
//! is violated iff they close a cycle with these.
//!
//! In real time a transaction that ended before another began comes before it as if it were earlier
//! in its session, and at read committed it is seen by every read of the other.
//!
//! Plain and slow (cubic), and shares nothing with the search that it confirms.

use crate::reads::{elements, external_reads, last_element};
use crate::writers::Writers;
use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, TxnId, Value};
use seriatim_isolation::{Guarantee, Level};

/// What saturation shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saturated {
    Violated,
    Holds,
    /// Values that several transactions wrote, or lists that leave something open.
    Open,
}

/// An external read: transaction, operation, key and the transaction that it came from (`None`: the
/// initial one).
struct Sourced {
    reader: usize,
    op: OpId,
    key: KeyId,
    source: Option<usize>,
}

struct Saturation<'h> {
    history: &'h History,
    asked: Guarantee,
    writers: Writers<'h>,
    txns: Vec<TxnId>,
    reads: Vec<Sourced>,
    /// For each transaction those that come before it in its session or wrote what it read.
    direct: Vec<Vec<bool>>,
    /// For each transaction all others that must commit before it.
    before: Vec<Vec<usize>>,
}

/// Looks at `history`, with its sessions: one of the weak levels is asked for.
pub(crate) fn saturated(history: &History, asked: Guarantee) -> Saturated {
    let txns: Vec<TxnId> =
        history.txns().filter(|&txn| history.status(txn) == Status::Committed).collect();
    let count = txns.len();
    let mut saturation = Saturation {
        history,
        asked,
        writers: Writers::of(history),
        txns,
        reads: Vec::new(),
        direct: vec![vec![false; count]; count],
        before: vec![Vec::new(); count],
    };
    let lists = history.txns().flat_map(|txn| history.ops_of(txn)).any(|op| {
        let op = history.op(OpId(op));
        elements(history, op.value).is_some()
    });
    match saturation.run() {
        Saturated::Holds if lists => Saturated::Open,
        other => other,
    }
}

impl Saturation<'_> {
    fn run(&mut self) -> Saturated {
        for reader in 0..self.txns.len() {
            if self.ignores_own_writes(self.txns[reader]) || self.changes_a_list(self.txns[reader])
            {
                return Saturated::Violated;
            }
            for read in external_reads(self.history, self.txns[reader]) {
                match self.source(reader, read) {
                    Ok(source) => self.add_read(reader, read, source),
                    Err(saturated) => return saturated,
                }
            }
        }
        self.add_sessions();
        if self.add_versions().is_none() {
            return Saturated::Open;
        }
        if !self.add_axiom() || self.is_cyclic() { Saturated::Violated } else { Saturated::Holds }
    }

    /// Whether a read of a register returned something else than the transaction's own last write
    /// to it.
    fn ignores_own_writes(&self, txn: TxnId) -> bool {
        let mut own: FxHashMap<KeyId, Value> = FxHashMap::default();
        self.history.ops_of(txn).map(|op| self.history.op(OpId(op))).any(|op| match op.kind {
            OpKind::Write => {
                own.insert(op.key, op.value);
                false
            }
            OpKind::Append => false,
            OpKind::Read => own.get(&op.key).is_some_and(|&written| written != op.value),
        })
    }

    /// Whether a list that the transaction reads again has new elements of others, and the level
    /// forbids it.
    fn changes_a_list(&self, txn: TxnId) -> bool {
        self.asked.level >= Level::ReadAtomic && self.history.unrepeated_list(txn).is_some()
    }

    /// Where a read comes from, if there is one place; without any the history is violated.
    fn source(&self, reader: usize, read: OpId) -> Result<Option<usize>, Saturated> {
        let op = self.history.op(read);
        let value = last_element(self.history, op.value);
        let writers = self.writers.left.get(&(op.key, value)).map_or(&[][..], Vec::as_slice);
        // Whether the transactions that are not in the list committed is not known.
        let writers: Option<Vec<usize>> =
            writers.iter().map(|&writer| self.place(writer)).collect();
        let Some(writers) = writers else { return Err(Saturated::Open) };
        let mut places: Vec<Option<usize>> =
            writers.into_iter().filter(|&txn| txn != reader).map(Some).collect();
        if self.writers.may_be_initial(op.key, value) {
            places.push(None);
        }
        match places[..] {
            [] => Err(Saturated::Violated),
            [source] => Ok(source),
            _ => Err(Saturated::Open),
        }
    }

    fn place(&self, txn: TxnId) -> Option<usize> {
        self.txns.binary_search(&txn).ok()
    }

    fn add_read(&mut self, reader: usize, op: OpId, source: Option<usize>) {
        let key = self.history.op(op).key;
        self.reads.push(Sourced { reader, op, key, source });
        if let Some(source) = source {
            self.direct[reader][source] = true;
            self.before[reader].push(source);
        }
    }

    fn add_sessions(&mut self) {
        for later in 0..self.txns.len() {
            for earlier in 0..self.txns.len() {
                if self.is_earlier_in_session(earlier, later) || self.ended_before(earlier, later) {
                    self.direct[later][earlier] = true;
                    self.before[later].push(earlier);
                }
            }
        }
    }

    fn is_earlier_in_session(&self, earlier: usize, later: usize) -> bool {
        let session = |txn: usize| self.history.session_of(self.txns[txn]);
        earlier < later && session(earlier) == session(later)
    }

    /// Whether `earlier` ended before `later` began, and that counts.
    fn ended_before(&self, earlier: usize, later: usize) -> bool {
        let times = |txn: usize| self.history.times(self.txns[txn]);
        match (times(earlier), times(later)) {
            (Some((_, end)), Some((begin, _))) => {
                self.asked.keeps_real_time() && earlier != later && end < begin
            }
            _ => false,
        }
    }

    /// Neighbours in a list were appended in its order, and before what is not in it. `None` if it
    /// is open which transactions appended them.
    fn add_versions(&mut self) -> Option<()> {
        let history = self.history;
        let ops: Vec<u32> = self.txns.iter().flat_map(|&txn| history.ops_of(txn)).collect();
        for op in ops.into_iter().map(|op| history.op(OpId(op))) {
            let list = elements(history, op.value).unwrap_or_default();
            let mut previous = None;
            for &element in list {
                let [writer] = self.writers.appended.get(&(op.key, element))?[..] else {
                    return None;
                };
                let writer = self.place(writer)?;
                if let Some(earlier) = previous.filter(|&earlier| earlier != writer) {
                    self.before[writer].push(earlier);
                }
                previous = Some(writer);
            }
            if let Some(last) = previous {
                self.add_missing(op.key, list, last);
            }
        }
        Some(())
    }

    /// What was appended to `key` and is not in `list` came after `last`, which appended its last
    /// element; what `last` itself appended later may be missing.
    fn add_missing(&mut self, key: KeyId, list: &[Value], last: usize) {
        for txn in 0..self.txns.len() {
            let ops = self.history.ops_of(self.txns[txn]).map(|op| self.history.op(OpId(op)));
            let appends = ops.filter(|op| op.kind.is_write() && op.key == key);
            let until_last = appends.take_while(|op| txn != last || list.last() != Some(&op.value));
            if until_last.into_iter().any(|op| !list.contains(&op.value)) {
                self.before[txn].push(last);
            }
        }
    }

    /// The edges of the level's axiom; false if one of them leads to the initial transaction.
    fn add_axiom(&mut self) -> bool {
        let causal = self.causal_pasts();
        for place in 0..self.reads.len() {
            let read = &self.reads[place];
            let (reader, source) = (read.reader, read.source);
            let seen = |writer: usize| match self.asked.level {
                Level::Unconstrained => false,
                Level::ReadCommitted => {
                    self.was_read_before(read, writer) || self.ended_before(writer, reader)
                }
                Level::Causal => causal[reader][writer],
                _ => self.direct[reader][writer],
            };
            let other = |&writer: &usize| {
                writer != reader && Some(writer) != source && self.writes(writer, read.key)
            };
            let edges: Vec<usize> =
                (0..self.txns.len()).filter(other).filter(|&writer| seen(writer)).collect();
            match source {
                Some(source) => self.before[source].extend(edges),
                None if edges.is_empty() => {}
                None => return false,
            }
        }
        true
    }

    fn writes(&self, txn: usize, key: KeyId) -> bool {
        let mut ops = self.history.ops_of(self.txns[txn]).map(|op| self.history.op(OpId(op)));
        ops.any(|op| op.kind.is_write() && op.key == key)
    }

    fn was_read_before(&self, read: &Sourced, writer: usize) -> bool {
        let earlier =
            self.reads.iter().filter(|other| other.reader == read.reader && other.op < read.op);
        earlier.map(|other| other.source).any(|source| source == Some(writer))
    }

    /// For each transaction all that session order and reads lead to it from.
    fn causal_pasts(&self) -> Vec<Vec<bool>> {
        let count = self.txns.len();
        (0..count)
            .map(|start| {
                let mut past = vec![false; count];
                let mut waiting = vec![start];
                while let Some(txn) = waiting.pop() {
                    for earlier in (0..count).filter(|&earlier| self.direct[txn][earlier]) {
                        if !std::mem::replace(&mut past[earlier], true) {
                            waiting.push(earlier);
                        }
                    }
                }
                past
            })
            .collect()
    }

    /// Takes away, again and again, the transactions that none is left to precede; on a cycle one
    /// always is.
    fn is_cyclic(&self) -> bool {
        let mut gone = vec![false; self.txns.len()];
        loop {
            let free =
                |&txn: &usize| !gone[txn] && self.before[txn].iter().all(|&earlier| gone[earlier]);
            let next: Vec<usize> = (0..self.txns.len()).filter(free).collect();
            if next.is_empty() {
                return gone.contains(&false);
            }
            next.into_iter().for_each(|txn| gone[txn] = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::numbers;
    use seriatim_history::notation;
    use seriatim_isolation::{Order, oracle};

    /// Three sessions, two keys, values written once; reads return anything that is written.
    fn random_text(seed: u64) -> String {
        let mut random = numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut written = [0; 2];
        let mut sessions = Vec::new();
        for session in ["a", "b", "c"] {
            let mut txns = Vec::new();
            for _ in 0..1 + random(2) {
                let mut ops = Vec::new();
                for _ in 0..1 + random(3) {
                    let key = random(2) as usize;
                    if random(2) == 0 {
                        written[key] += 1;
                        ops.push(format!("w({},{})", ["x", "y"][key], written[key]));
                    } else {
                        ops.push(format!("r({},{})", ["x", "y"][key], random(4)));
                    }
                }
                let begin = random(6);
                txns.push(format!("{} @{begin}-{}", ops.join(" "), begin + random(4)));
            }
            sessions.push(format!("{session}: {}", txns.join(" | ")));
        }
        sessions.join("\n")
    }

    #[test]
    fn saturation_says_what_the_definition_says() {
        let (mut violated, mut holds) = (0, 0);
        for seed in 0..20_000 {
            let text = random_text(seed);
            let history = notation::parse(&text).unwrap();
            let levels = || [Level::Unconstrained].into_iter().chain(Level::WEAK);
            let asked = [Order::Sessions, Order::RealTime]
                .into_iter()
                .flat_map(|order| levels().map(move |level| Guarantee::new(level, order)));
            for asked in asked {
                let expected = if oracle::satisfies(&history, asked) {
                    Saturated::Holds
                } else {
                    Saturated::Violated
                };
                assert_eq!(saturated(&history, asked), expected, "{asked}:\n{text}");
                if expected == Saturated::Holds { holds += 1 } else { violated += 1 }
            }
        }
        assert!(violated > 1000 && holds > 1000, "{violated} {holds}");
    }
}
