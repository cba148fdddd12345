//! One piece of a file of register text, parsed by one thread without a look at the others.

use super::line::{self, Fields};
use crate::assemble::{Block, Run};
use crate::atom::{Atom, Atoms, Value};
use crate::ids::KeyId;
use crate::large_columns;
use crate::model::OpKind;
use crate::place::Places;
use rustc_hash::FxHashMap;

/// Keys up to this number may become dense ids by themselves.
const NARROW_KEYS: u64 = 1 << 31;

/// A transaction of the piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalTxn {
    /// Integers above the largest `i64` are stored as the negative number of the same bits: see
    /// [`Widths`].
    pub session: i64,
    pub id: i64,
    pub aborted: bool,
    /// Line of its first operation in the piece, from 0.
    pub line: u32,
}

/// Which halves of the 64-bit numbers occur as ids: only if both do, a stored id would be
/// ambiguous.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Widths {
    pub negative: bool,
    pub above_i64: bool,
}

impl Widths {
    fn store(&mut self, number: i128) -> i64 {
        self.negative |= number < 0;
        self.above_i64 |= number > i128::from(i64::MAX);
        number as i64
    }
}

/// A mistake in the piece: line (from 0), column (from 1) and problem, and the line of an earlier
/// mention.
#[derive(Debug)]
pub(super) struct PieceError {
    pub line: u64,
    pub column: usize,
    pub problem: String,
}

/// What a piece says.
#[derive(Default)]
pub(super) struct Piece {
    pub ops: Block,
    pub txns: Vec<LocalTxn>,
    pub widths: Widths,
    /// How many lines it has.
    pub lines: u64,
    /// If set, the keys of the operations are indices of this table; otherwise they are the numbers
    /// themselves.
    pub keys: Option<KeyTable>,
    pub max_key: u64,
    pub atoms: Atoms,
    pub error: Option<PieceError>,
    index: FxHashMap<i64, u32>,
    recent: Vec<Recent>,
    /// Session of the aborted transaction whose run of lines the previous line belongs to.
    open_abort: Option<i64>,
}

/// The last transaction of a session that was looked up: sessions interleave, each for itself
/// hardly ever changes.
#[derive(Clone, Copy)]
struct Recent {
    session: i64,
    txn: i64,
    number: u32,
}

const RECENT_SLOTS: usize = 64;
const NOBODY: u32 = u32::MAX;

/// Numbers for keys that are not dense.
#[derive(Default)]
pub(super) struct KeyTable {
    pub names: Vec<i128>,
    numbers: FxHashMap<i128, u32>,
}

impl KeyTable {
    pub fn number(&mut self, name: i128) -> KeyId {
        let next = self.names.len() as u32;
        KeyId(*self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        }))
    }
}

impl Piece {
    /// Parses the lines that start in `bytes[start..end]`; `start` and `end` are beginnings of
    /// lines.
    pub fn parse(bytes: &[u8], start: usize, end: usize) -> Piece {
        let mut piece = Piece::with_room_for(end - start);
        let mut at = start;
        while at < end {
            match line::quick(bytes, at) {
                Some((fields, next)) => {
                    at = next;
                    piece.quick_line(fields);
                }
                None => {
                    let len =
                        bytes[at..end].iter().position(|&byte| byte == b'\n').unwrap_or(end - at);
                    piece.careful_line(&bytes[at..at + len]);
                    at += len + 1;
                }
            }
            if piece.error.is_some() {
                break;
            }
            piece.lines += 1;
        }
        piece.index = FxHashMap::default();
        piece
    }

    fn with_room_for(len: usize) -> Piece {
        // The shortest line has 11 bytes. Memory that is never written is never really allocated.
        let count = len / 11 + 1;
        Piece {
            ops: Block {
                kind: large_columns::column(count),
                key: large_columns::column(count),
                value: large_columns::column(count),
                places: Places::Consecutive { first: 0 },
                runs: Vec::new(),
            },
            recent: vec![Recent { session: 0, txn: 0, number: NOBODY }; RECENT_SLOTS],
            ..Piece::default()
        }
    }

    #[inline(always)]
    fn quick_line(&mut self, fields: Fields<u64>) {
        // The quick way takes at most 15 digits: everything fits everywhere.
        let (session, id) = (fields.session as i64, fields.txn as i64);
        let recent = self.recent[session as usize % RECENT_SLOTS];
        let txn = if recent.session == session && recent.txn == id && recent.number != NOBODY {
            recent.number
        } else {
            self.committed_txn(session, id)
        };
        let key = match &mut self.keys {
            None if fields.key < NARROW_KEYS => {
                self.max_key = self.max_key.max(fields.key);
                KeyId(fields.key as u32)
            }
            _ => self.table().number(fields.key.into()),
        };
        self.open_abort = None;
        self.push(txn, fields.kind, key, Value::small(fields.value).unwrap_or(Value::NULL));
    }

    #[cold]
    fn careful_line(&mut self, text: &[u8]) {
        match line::careful(text) {
            Ok(None) => {}
            Ok(Some(fields)) => self.wide_line(fields),
            Err(mistake) => self.fail(mistake.at + 1, mistake.problem),
        }
    }

    fn wide_line(&mut self, fields: Fields<i128>) {
        let session = self.widths.store(fields.session);
        let txn = if fields.txn == -1 {
            self.aborted_txn(session)
        } else {
            self.open_abort = None;
            let id = self.widths.store(fields.txn);
            self.committed_txn(session, id)
        };
        if fields.txn == -1 && fields.kind == OpKind::Read {
            return;
        }
        let key = match u64::try_from(fields.key) {
            Ok(key) if key < NARROW_KEYS && self.keys.is_none() => {
                self.max_key = self.max_key.max(key);
                KeyId(key as u32)
            }
            _ => self.table().number(fields.key),
        };
        let value = self.atoms.value(Atom::Int(fields.value));
        self.push(txn, fields.kind, key, value);
    }

    /// The table of keys; on first use the keys so far, which were their own numbers, move into it.
    #[cold]
    fn table(&mut self) -> &mut KeyTable {
        self.keys.get_or_insert_with(|| intern(&mut self.ops.key))
    }

    #[inline(always)]
    fn push(&mut self, txn: u32, kind: OpKind, key: KeyId, value: Value) {
        match self.ops.runs.last_mut() {
            Some(run) if run.txn == txn => run.len += 1,
            _ => self.ops.runs.push(Run { txn, len: 1 }),
        }
        self.place();
        self.ops.kind.push(kind);
        self.ops.key.push(key);
        self.ops.value.push(value);
    }

    /// Notes the line of the next operation: for nothing as long as every line is an operation.
    #[inline(always)]
    fn place(&mut self) {
        match &mut self.ops.places {
            Places::Consecutive { first } if *first + self.ops.kind.len() as u64 == self.lines => {}
            _ => self.place_apart(),
        }
    }

    #[cold]
    fn place_apart(&mut self) {
        let count = self.ops.kind.len() as u32;
        match &mut self.ops.places {
            Places::Each(lines) => lines.push(self.lines as u32),
            Places::Consecutive { .. } if count == 0 => {
                self.ops.places = Places::Consecutive { first: self.lines }
            }
            Places::Consecutive { first } => {
                let first = *first as u32;
                self.ops.places =
                    Places::Each((first..first + count).chain([self.lines as u32]).collect());
            }
            Places::None => {}
        }
    }

    fn committed_txn(&mut self, session: i64, id: i64) -> u32 {
        let next = self.txns.len() as u32;
        let number = *self.index.entry(id).or_insert(next);
        if number == next {
            self.txns.push(LocalTxn { session, id, aborted: false, line: self.lines as u32 });
        } else if self.txns[number as usize].session != session {
            self.two_sessions(session, number);
        }
        self.recent[session as usize % RECENT_SLOTS] = Recent { session, txn: id, number };
        number
    }

    /// The transaction of a line with the id -1: that of the previous line if it is one too, of the
    /// same session.
    fn aborted_txn(&mut self, session: i64) -> u32 {
        if self.open_abort != Some(session) {
            self.open_abort = Some(session);
            self.txns.push(LocalTxn { session, id: -1, aborted: true, line: self.lines as u32 });
        }
        // While a run is open, nothing else adds a transaction.
        self.txns.len() as u32 - 1
    }

    /// Session of the aborted run that the piece ends with.
    pub fn open_abort(&self) -> Option<i64> {
        self.open_abort
    }

    /// The error itself is made when all lines can be counted, by the caller that joins the pieces.
    #[cold]
    fn two_sessions(&mut self, session: i64, number: u32) {
        self.txns.push(LocalTxn { session, line: self.lines as u32, ..self.txns[number as usize] });
        self.fail(1, String::new());
    }

    #[cold]
    fn fail(&mut self, column: usize, problem: String) {
        self.error = Some(PieceError { line: self.lines, column, problem });
    }
}

/// Moves keys that are their own numbers into a table.
pub(super) fn intern(keys: &mut [KeyId]) -> KeyTable {
    let mut table = KeyTable::default();
    for key in keys {
        *key = table.number(key.0.into());
    }
    table
}
