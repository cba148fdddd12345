//! Register text: `r(key,value,session,txn)` and `w(…)`, one operation a line (Plume, PolySI,
//! IsoVista).
//!
//! The id -1 marks aborted transactions: each run of such lines of one session is one transaction,
//! whose reads are dropped. The value 0 is the initial value of keys to which no transaction writes
//! 0. A first transaction that does nothing but write zeros is the initial transaction written out.
//!
//! These files are the large ones, so this reader is built for speed: pieces of the file that end
//! at line ends are parsed by threads into columns ([`block`]), then the few things that pieces
//! must agree on are joined in file order (transactions, sessions, keys and values that are not
//! small numbers), and [`Columns`] sorts the rest.

mod block;
mod line;
mod write;

pub(super) use write::{txn_numbers, write};

use super::text::{Source, without_bom};
use crate::assemble::{Block, Run};
use crate::atom::{Atom, Atoms, Value, ValueKind};
use crate::columns::Columns;
use crate::error::ReadError;
use crate::ids::KeyId;
use crate::meter::Meter;
use crate::model::{History, KeyNames, Names, OpKind, Status};
use crate::place::{PlaceUnit, Places};
use block::{KeyTable, LocalTxn, Piece};
use rustc_hash::FxHashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PIECE_BYTES_MIN: usize = 1 << 18;
const PIECE_BYTES_MAX: usize = 1 << 25;

/// Reads a history with up to `threads` threads; `meter` tells others how far that is.
pub(super) fn read(
    bytes: &[u8],
    source: &Source,
    threads: usize,
    meter: Option<&Meter>,
) -> Result<History, ReadError> {
    let bytes = without_bom(bytes);
    let mut pieces = parse_pieces(bytes, threads, meter);
    let mut joined = Joined::new(&pieces);
    let mut line = 1;
    for piece in &mut pieces {
        joined.piece(piece, line, source)?;
        line += piece.lines;
    }
    if joined.txns.is_empty() {
        return Err(source.no_transactions());
    }
    let initial_keys = joined.take_initial(&mut pieces);
    let (key_names, table) = join_keys(&mut pieces, threads);
    let atoms = join_atoms(&mut pieces);
    let mut columns = joined.columns(source)?;
    columns.initial.default = Value::small(0);
    columns.initial.yields_to_writes = true;
    let key_of = |name: i128| table.as_ref().map_or(KeyId(name as u32), |table| table[&name]);
    let zero = columns.initial.default;
    columns.initial.values =
        initial_keys.into_iter().filter_map(|name| Some((key_of(name), zero?))).collect();
    columns.key_names = key_names;
    columns.atoms = atoms;
    columns.place_unit = PlaceUnit::Line;
    columns.files = vec![source.name.clone()];
    let blocks = pieces.into_iter().map(|piece| piece.ops).collect();
    let error = |error| ReadError::TooLarge { file: source.name.clone(), source: error };
    columns.finish_blocks(blocks, threads).map_err(error)
}

/// Cuts the file at line ends and parses the pieces; a thread that is free takes the next.
fn parse_pieces(bytes: &[u8], threads: usize, meter: Option<&Meter>) -> Vec<Piece> {
    let starts = piece_starts(bytes, threads);
    meter.inspect(|meter| meter.start(bytes.len()));
    let results: Vec<Mutex<Option<Piece>>> = starts.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(&start) = starts.get(number) else { return };
            let end = starts.get(number + 1).copied().unwrap_or(bytes.len());
            let piece = Piece::parse(bytes, start, end);
            meter.inspect(|meter| meter.add(end - start));
            if let Ok(mut slot) = results[number].lock() {
                *slot = Some(piece);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(starts.len()) {
            scope.spawn(work);
        }
        work();
    });
    results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
}

fn piece_starts(bytes: &[u8], threads: usize) -> Vec<usize> {
    let size = (bytes.len() / (threads * 4).max(1)).clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
    let mut starts = vec![0];
    let mut at = size;
    while at < bytes.len() {
        let Some(end) = bytes[at..].iter().position(|&byte| byte == b'\n') else { break };
        let start = at + end + 1;
        if start < bytes.len() {
            starts.push(start);
        }
        at = start + size;
    }
    starts
}

/// What the pieces agree on: transactions and sessions in the order of the file.
struct Joined {
    txns: Vec<LocalTxn>,
    lines: Vec<u64>,
    index: Index,
    sessions: Index,
    session_ids: Vec<i64>,
    session_of: Vec<u32>,
    open_abort: Option<(i64, u32)>,
    above_i64: bool,
    negative: bool,
    /// Whether the first transaction turned out to be the initial one.
    without_first: bool,
}

impl Joined {
    fn new(pieces: &[Piece]) -> Joined {
        let committed = || pieces.iter().flat_map(|piece| &piece.txns).filter(|txn| !txn.aborted);
        let count = pieces.iter().map(|piece| piece.txns.len()).sum();
        Joined {
            txns: Vec::with_capacity(count),
            lines: Vec::with_capacity(count),
            index: Index::for_ids(committed().map(|txn| txn.id), count),
            sessions: Index::for_ids(committed().map(|txn| txn.session), 1 << 12),
            session_ids: Vec::new(),
            session_of: Vec::with_capacity(count),
            open_abort: None,
            above_i64: false,
            negative: false,
            without_first: false,
        }
    }

    /// Joins the next piece, whose first line is `first_line`: its runs name transactions of the
    /// file afterwards.
    fn piece(
        &mut self,
        piece: &mut Piece,
        first_line: u64,
        source: &Source,
    ) -> Result<(), ReadError> {
        self.widths(piece, source)?;
        let mut number_of = Vec::with_capacity(piece.txns.len());
        for (local, txn) in std::mem::take(&mut piece.txns).iter().enumerate() {
            number_of.push(self.txn(txn, local == 0, first_line, source)?);
        }
        if let Some(error) = &piece.error {
            return Err(source.at(first_line + error.line, error.column, error.problem.clone()));
        }
        for run in &mut piece.ops.runs {
            run.txn = number_of[run.txn as usize];
        }
        shift_places(&mut piece.ops.places, first_line);
        if let Some(&last) = number_of.last() {
            self.open_abort = piece.open_abort().map(|session| (session, last));
        }
        Ok(())
    }

    fn widths(&mut self, piece: &Piece, source: &Source) -> Result<(), ReadError> {
        self.negative |= piece.widths.negative;
        self.above_i64 |= piece.widths.above_i64;
        if self.negative && self.above_i64 {
            let problem =
                "some ids are negative and others above 2^63, so that we cannot tell them apart";
            return Err(source.at(1, 0, problem));
        }
        Ok(())
    }

    fn txn(
        &mut self,
        txn: &LocalTxn,
        first: bool,
        first_line: u64,
        source: &Source,
    ) -> Result<u32, ReadError> {
        if txn.aborted {
            return Ok(self.aborted(txn, first, first_line));
        }
        let next = self.txns.len() as u32;
        let number = self.index.entry(txn.id, next);
        if number == next {
            self.push(txn, first_line);
        } else if self.txns[number as usize].session != txn.session {
            return Err(self.two_sessions(txn, number, first_line, source));
        }
        Ok(number)
    }

    fn aborted(&mut self, txn: &LocalTxn, first: bool, first_line: u64) -> u32 {
        match self.open_abort {
            // The run began in the piece before: only if this one begins with it.
            Some((session, number)) if first && session == txn.session => number,
            _ => {
                self.push(txn, first_line);
                self.txns.len() as u32 - 1
            }
        }
    }

    fn push(&mut self, txn: &LocalTxn, first_line: u64) {
        let next = self.session_ids.len() as u32;
        let session = self.sessions.entry(txn.session, next);
        if session == next {
            self.session_ids.push(txn.session);
        }
        self.txns.push(*txn);
        self.lines.push(first_line + u64::from(txn.line));
        self.session_of.push(session);
    }

    fn two_sessions(
        &self,
        txn: &LocalTxn,
        number: u32,
        first_line: u64,
        source: &Source,
    ) -> ReadError {
        let earlier = &self.txns[number as usize];
        let line = self.lines[number as usize];
        let problem = format!(
            "transaction {} is of session {} here, but of session {} in line {line}",
            self.id(txn.id),
            self.id(txn.session),
            self.id(earlier.session),
        );
        let hint = "ids of transactions must be unique over all sessions".to_owned();
        source.at_with_hint(first_line + u64::from(txn.line), 1, problem, Some(hint))
    }

    /// An id as it stands in the file.
    fn id(&self, stored: i64) -> i128 {
        if self.above_i64 { i128::from(stored as u64) } else { i128::from(stored) }
    }

    /// If the first transaction only writes zeros, drops its operations and returns their keys.
    fn take_initial(&mut self, pieces: &mut [Piece]) -> Vec<i128> {
        let writes_zero =
            |ops: &Block, i: usize| ops.kind[i] == OpKind::Write && ops.value[i].raw() == 0;
        let only_zeros =
            runs_of_first(pieces).all(|(ops, mut range)| range.all(|i| writes_zero(ops, i)));
        if self.txns[0].aborted || !only_zeros {
            return Vec::new();
        }
        let keys = pieces.iter().flat_map(|piece| {
            runs_of_first(std::slice::from_ref(piece)).flat_map(|(ops, range)| {
                range.map(|i| key_name(ops.key[i], piece.keys.as_ref())).collect::<Vec<_>>()
            })
        });
        let keys = keys.collect();
        self.without_first = true;
        for run in pieces.iter_mut().flat_map(|piece| &mut piece.ops.runs) {
            // The first transaction goes; all others move up by one.
            run.txn = if run.txn == 0 { Run::DROPPED } else { run.txn - 1 };
        }
        keys
    }

    fn columns(mut self, source: &Source) -> Result<Columns, ReadError> {
        if self.without_first {
            self.remove_first();
        }
        if self.txns.is_empty() {
            return Err(source.no_transactions());
        }
        let mut columns = Columns::default();
        for (txn, &session) in self.txns.iter().zip(&self.session_of) {
            columns
                .push_txn(session, if txn.aborted { Status::Aborted } else { Status::Committed });
        }
        columns.session_names = self.names(self.session_ids.iter().map(|&id| (id, false)));
        columns.txn_names = self.names(self.txns.iter().map(|txn| (txn.id, txn.aborted)));
        Ok(columns)
    }

    /// Removes the initial transaction, and its session if that has no other.
    fn remove_first(&mut self) {
        self.txns.remove(0);
        self.session_of.remove(0);
        if !self.session_of.contains(&0) {
            self.session_ids.remove(0);
            self.session_of.iter_mut().for_each(|session| *session -= 1);
        }
    }

    fn names(&self, ids: impl Iterator<Item = (i64, bool)>) -> Names {
        if !self.above_i64 {
            return Names::Numbers(ids.map(|(id, _)| id).collect());
        }
        Names::Table(
            ids.map(|(id, aborted)| Atom::Int(if aborted { -1 } else { self.id(id) })).collect(),
        )
    }
}

/// The operations of transaction 0 in the pieces.
fn runs_of_first(pieces: &[Piece]) -> impl Iterator<Item = (&Block, std::ops::Range<usize>)> {
    pieces.iter().flat_map(|piece| {
        let mut at = 0;
        piece.ops.runs.iter().filter_map(move |run| {
            let start = at;
            at += run.len as usize;
            (run.txn == 0).then_some((&piece.ops, start..at))
        })
    })
}

fn key_name(key: KeyId, table: Option<&KeyTable>) -> i128 {
    table.map_or(i128::from(key.0), |table| table.names[key.index()])
}

fn shift_places(places: &mut Places, first_line: u64) {
    match places {
        Places::None => {}
        Places::Consecutive { first } => *first += first_line,
        Places::Each(lines) => {
            for line in lines {
                *line = u32::try_from(u64::from(*line) + first_line).unwrap_or(u32::MAX);
            }
        }
    }
}

/// From ids to numbers: an array if the ids are dense, as they mostly are, otherwise a hash map.
enum Index {
    Dense(Vec<u32>),
    Sparse(FxHashMap<i64, u32>),
}

impl Index {
    const FREE: u32 = u32::MAX;

    fn for_ids(ids: impl Iterator<Item = i64>, count: usize) -> Index {
        let (least, most) = ids.fold((0, 0), |(least, most), id| (id.min(least), id.max(most)));
        if least == 0 && most as u64 <= 4 * count as u64 + 1024 {
            return Index::Dense(vec![Index::FREE; most as usize + 1]);
        }
        Index::Sparse(FxHashMap::default())
    }

    /// The number of `id`, which is `next` if it is new.
    fn entry(&mut self, id: i64, next: u32) -> u32 {
        let slot = match self {
            Index::Sparse(map) => return *map.entry(id).or_insert(next),
            Index::Dense(table) => match usize::try_from(id).ok().filter(|&id| id < table.len()) {
                Some(id) => &mut table[id],
                None => return self.spill(id, next),
            },
        };
        if *slot == Index::FREE {
            *slot = next;
        }
        *slot
    }

    /// An id outside the array (a session that only has aborted transactions): on to a hash map.
    #[cold]
    fn spill(&mut self, id: i64, next: u32) -> u32 {
        if let Index::Dense(table) = self {
            let known = table.iter().enumerate().filter(|&(_, &number)| number != Index::FREE);
            *self = Index::Sparse(known.map(|(id, &number)| (id as i64, number)).collect());
        }
        self.entry(id, next)
    }
}

/// The names of all keys, and a way back from names if they are not the numbers themselves.
fn join_keys(pieces: &mut [Piece], threads: usize) -> (KeyNames, Option<FxHashMap<i128, KeyId>>) {
    let op_count: usize = pieces.iter().map(|piece| piece.ops.key.len()).sum();
    let max = pieces.iter().map(|piece| piece.max_key).max().unwrap_or(0);
    if pieces.iter().all(|piece| piece.keys.is_none()) && max < 4 * op_count as u64 + 1024 {
        return (KeyNames::Numbers { count: max as u32 + 1 }, None);
    }
    each_piece(pieces, threads, |piece| {
        if piece.keys.is_none() {
            piece.keys = Some(block::intern(&mut piece.ops.key));
        }
    });
    let mut all = KeyTable::default();
    let tables: Vec<KeyTable> = pieces.iter_mut().filter_map(|piece| piece.keys.take()).collect();
    for (piece, table) in pieces.iter_mut().zip(tables) {
        let global: Vec<KeyId> = table.names.iter().map(|&name| all.number(name)).collect();
        piece.ops.key.iter_mut().for_each(|key| *key = global[key.index()]);
    }
    let back = all.names.iter().enumerate().map(|(i, &name)| (name, KeyId::from(i))).collect();
    (KeyNames::Table(all.names.into_iter().map(Atom::Int).collect()), Some(back))
}

fn each_piece(pieces: &mut [Piece], threads: usize, work: impl Fn(&mut Piece) + Sync) {
    let share = pieces.len().div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        for part in pieces.chunks_mut(share) {
            scope.spawn(|| part.iter_mut().for_each(&work));
        }
    });
}

/// One table of large values for all pieces.
fn join_atoms(pieces: &mut [Piece]) -> Atoms {
    let mut all = Atoms::default();
    for piece in pieces {
        if piece.atoms.is_empty() {
            continue;
        }
        let local = std::mem::take(&mut piece.atoms);
        let global: Vec<Value> =
            (0..local.len() as u32).map(|i| all.value(local.get(i).clone())).collect();
        for value in &mut piece.ops.value {
            if let ValueKind::Atom(number) = value.kind() {
                *value = global[number as usize];
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
