//! A number for what a history says, so that what was found out about it is not mistaken for
//! something about another.
//!
//! FNV-1a (64 bits) over each session, with its transactions in their order: where they begin,
//! outcomes, operations with key and value; and again over the numbers of the sessions, the
//! smallest first. Names of sessions and transactions, the order of the sessions, times, places and
//! the way a format spells an initial value do not matter, so that a converted file has the same
//! number. It tells histories apart, it does not protect them: a forger can make two that agree.

use crate::atom::{Value, ValueKind};
use crate::ids::{KeyId, OpId, SessionId, TxnId};
use crate::model::{History, Op, OpKind, Status};
use rustc_hash::FxHashSet;

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl History {
    /// The number.
    pub fn fingerprint(&self) -> u64 {
        let mut numbers = session_numbers(self);
        numbers.sort_unstable();
        let mut hash = Fnv(BASIS);
        for number in numbers {
            hash.number(number);
        }
        if self.unknown_content() > 0 {
            hash.byte(b'?');
            hash.number(self.unknown_content());
        }
        hash.0
    }

    /// The sessions in an order that does not depend on the file: by what they did, and if they did
    /// the same, by when.
    pub(crate) fn sessions_by_content(&self) -> Vec<SessionId> {
        let numbers = session_numbers(self);
        let times = |session| self.txns_of(session).map(|txn| self.times(TxnId(txn)));
        let mut sessions: Vec<SessionId> = self.sessions().collect();
        // Stable: sessions that did the same at the same time may stand for each other.
        sessions.sort_by(|&a, &b| {
            let content = numbers[a.index()].cmp(&numbers[b.index()]);
            content.then_with(|| times(a).cmp(times(b)))
        });
        sessions
    }
}

/// For each session the number of what it did.
fn session_numbers(history: &History) -> Vec<u64> {
    let writer = Fingerprint { history, keys: key_numbers(history), replaced: replaced(history) };
    let number = |session| {
        let mut hash = Fnv(BASIS);
        history.txns_of(session).map(TxnId).for_each(|txn| writer.txn(&mut hash, txn));
        hash.0
    };
    history.sessions().map(number).collect()
}

struct Fnv(u64);

impl Fnv {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.byte(byte));
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

/// For each key the number of its name: a name is hashed once, not once for each operation.
fn key_numbers(history: &History) -> Vec<u64> {
    let number = |key: usize| {
        let mut hash = Fnv(BASIS);
        hash.bytes(history.key_name(KeyId::from(key)).to_string().as_bytes());
        hash.0
    };
    (0..history.key_count()).map(number).collect()
}

/// Keys whose initial value, as the format has it, was written by a transaction that others could
/// read from.
fn replaced(history: &History) -> FxHashSet<KeyId> {
    let initial = history.initial();
    let is_replaced =
        |op: &Op| initial.yields(op.key) && initial.value_of(op.key) == Some(op.value);
    let ops = (0..history.op_count()).map(OpId::from).map(|op| history.op(op));
    ops.filter(|op| op.kind != OpKind::Read && is_replaced(op)).map(|op| op.key).collect()
}

struct Fingerprint<'h> {
    history: &'h History,
    keys: Vec<u64>,
    replaced: FxHashSet<KeyId>,
}

impl Fingerprint<'_> {
    fn txn(&self, hash: &mut Fnv, txn: TxnId) {
        hash.byte(match self.history.status(txn) {
            Status::Committed => b'c',
            Status::Aborted => b'a',
            Status::Unknown => b'u',
        });
        for op in self.history.ops_of(txn).map(|op| self.history.op(OpId(op))) {
            self.op(hash, op);
        }
    }

    fn op(&self, hash: &mut Fnv, op: Op) {
        hash.byte(match op.kind {
            OpKind::Read => b'r',
            OpKind::Write => b'w',
            OpKind::Append => b'+',
        });
        hash.number(self.keys[op.key.index()]);
        if op.kind == OpKind::Read && self.is_initial(op) {
            return hash.byte(b'0');
        }
        self.value(hash, op.value);
    }

    fn is_initial(&self, op: Op) -> bool {
        match op.value.kind() {
            ValueKind::Null => true,
            ValueKind::List(number) => self.history.list(number).is_empty(),
            _ => {
                self.history.initial().value_of(op.key) == Some(op.value)
                    && !self.replaced.contains(&op.key)
            }
        }
    }

    fn value(&self, hash: &mut Fnv, value: Value) {
        match value.kind() {
            ValueKind::Null => hash.byte(b'n'),
            ValueKind::Int(number) => {
                hash.byte(b'i');
                hash.number(number);
            }
            ValueKind::Atom(_) => {
                let text = self.history.value_text(value);
                hash.byte(b't');
                hash.number(text.len() as u64);
                hash.bytes(text.as_bytes());
            }
            // Elements are no lists.
            ValueKind::List(number) => {
                let elements = self.history.list(number);
                hash.byte(b'l');
                hash.number(elements.len() as u64);
                elements.iter().for_each(|&element| self.value(hash, element));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::{Format, ReadOptions, read_bytes, write};
    use crate::notation;

    fn of(text: &str) -> u64 {
        notation::parse(text).unwrap().fingerprint()
    }

    #[test]
    fn names_and_times_do_not_matter_and_everything_else_does() {
        let base = "a: w(x,1) | r(x,1)\nb: r(x,nil)";
        assert_eq!(of(base), of("c: w(x,1) @1-2 | r(x,1) @3-4\nd: r(x,nil) @1-1"));
        let others = [
            "a: w(x,1) | r(x,1) | r(x,nil)",
            "a: w(x,1) r(x,1)\nb: r(x,nil)",
            "a: w(x,1) | r(x,1)!\nb: r(x,nil)",
            "a: w(x,1) | r(x,1)?\nb: r(x,nil)",
            "a: w(x,1) | r(x,1)\nb: r(y,nil)",
            "a: w(x,2) | r(x,1)\nb: r(x,nil)",
            "a: w(x,1) | r(x,1)\nb: r(x,1)",
            "a: a(x,1) | r(x,[1])\nb: r(x,nil)",
        ];
        for other in others {
            assert_ne!(of(base), of(other), "{other}");
        }
        assert_ne!(of("a: w(x,1)\nb: r(x,nil)"), of("a: a(x,1)\nb: r(x,nil)"));
    }

    #[test]
    fn a_converted_history_is_the_same() {
        let text =
            b"w(0,1,7,0)\nr(0,1,7,0)\nr(1,0,9,1)\nw(1,0,9,2)\nw(2,5,9,2)\nr(2,5,7,3)\nr(3,0,7,3)\n";
        let (history, _) = read_bytes(text, "h", &ReadOptions::default()).unwrap();
        for format in
            [Format::Plume, Format::Jsonl, Format::ElleEdn, Format::DbcopJson, Format::Awdit]
        {
            let mut bytes = Vec::new();
            if write(&history, format, &mut bytes).is_err() {
                continue;
            }
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            let (copy, _) = read_bytes(&bytes, "copy", &options).unwrap();
            assert_eq!(copy.fingerprint(), history.fingerprint(), "{format}");
        }
    }

    #[test]
    fn the_order_of_the_sessions_does_not_matter() {
        let one = "a: w(x,1) | r(y,2)\nb: w(y,2) | r(x,1)\nc: w(x,1)";
        assert_eq!(of(one), of("c: w(x,1)\nb: w(y,2) | r(x,1)\na: w(x,1) | r(y,2)"));
        assert_ne!(of(one), of("a: w(x,1) | r(y,2)\nb: w(y,2) | r(x,1)"));
        assert_ne!(of(one), of("a: w(x,1) | r(y,2)\nb: r(x,1) | w(y,2)\nc: w(x,1)"));
    }

    #[test]
    fn the_number_is_the_same_everywhere() {
        assert_eq!(of("a: w(x,1)\nb: r(x,1)"), 0xae56_7c24_a204_ddd4);
    }
}
