//! The history in which each read of each scan is an operation, for what knows no scans.

use crate::atom::Value;
use crate::columns::{Columns, LIMIT, TxnMeta};
use crate::ids::{KeyId, OpId};
use crate::model::{History, Names, OpKind, Status};
use crate::place::Places;
use crate::scans::Scan;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// The scans stand for more reads than may be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyReads {
    /// How many scans there are.
    pub scans: u64,
    /// How many reads they stand for.
    pub reads: u64,
    /// How many there may be.
    pub limit: u64,
}

impl fmt::Display for TooManyReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooManyReads { scans, reads, limit } = self;
        write!(f, "{scans} scans that stand for {reads} reads, more than {limit}")
    }
}

impl std::error::Error for TooManyReads {}

impl History {
    /// How many reads the scans stand for.
    pub fn scanned_reads(&self) -> u64 {
        self.scans().iter().map(|scan| self.reads_of(scan)).sum()
    }

    fn reads_of(&self, scan: &Scan) -> u64 {
        scan.content.absent(self.groups()[scan.content.group as usize].keys.len()).count()
            + scan.content.unchanged.count()
    }

    /// This history with an operation for each of up to `limit` reads of scans, first those of
    /// what a scan found, then those of what it missed. It has no scans, and no statements.
    pub fn written_out(&self, limit: u64) -> Result<History, TooManyReads> {
        if self.scans().is_empty() {
            return Ok(History { scans: None, ..self.clone() });
        }
        let (scans, reads) = (self.scans().len() as u64, self.scanned_reads());
        let limit = limit.min((LIMIT - self.op_count()) as u64);
        if reads > limit {
            return Err(TooManyReads { scans, reads, limit });
        }
        Ok(WrittenOut::new(self).finish())
    }
}

struct WrittenOut<'h> {
    history: &'h History,
    columns: Columns,
    places: Vec<u32>,
    /// The value of each key that was found unchanged, by the last write of its only writer.
    unchanged: FxHashMap<KeyId, Value>,
}

impl<'h> WrittenOut<'h> {
    fn new(history: &'h History) -> WrittenOut<'h> {
        let ops = (0..history.op_count()).map(OpId::from);
        let writes = ops.filter(|&op| {
            let did_abort = history.status(history.txn_of(op)) == Status::Aborted;
            history.op(op).kind.is_write() && !did_abort
        });
        let unchanged = writes.map(|op| (history.op(op).key, history.op(op).value)).collect();
        let mut columns = history.empty_copy();
        columns.lists.clone_from(&history.lists);
        columns.unknown_content = history.unknown_content;
        WrittenOut { history, columns, places: Vec::new(), unchanged }
    }

    fn finish(mut self) -> History {
        let history = self.history;
        for txn in history.txns() {
            let (session, status) = (history.session_of(txn).0, history.status(txn));
            self.columns.txns.push(TxnMeta { session, status });
            let mut scans = history.scans_of(txn).iter().peekable();
            for op in history.ops_of(txn).map(OpId) {
                while let Some(scan) = scans.next_if(|scan| scan.ops.start <= op.0) {
                    self.scan(scan, history.place(op).map_or(0, |place| place.number as u32));
                }
                if history.scan_of(op).is_none() {
                    self.op(op);
                }
            }
            scans.for_each(|scan| self.scan(scan, 0));
        }
        self.columns.txn_names =
            Names::Table(history.txns().map(|txn| history.txn_name(txn)).collect());
        self.columns.txn_times.clone_from(&history.txn_times);
        if history.op_places != Places::None {
            self.columns.op_places = Places::Each(std::mem::take(&mut self.places));
        }
        match self.columns.finish() {
            Ok(mut written) => {
                written.txn_file_order.clone_from(&history.txn_file_order);
                written.txn_places.clone_from(&history.txn_places);
                written.extra.clone_from(&history.extra);
                written.txn_extras.clone_from(&history.txn_extras);
                written.repairs = history.repairs;
                written
            }
            Err(_) => unreachable!("the reads were counted"),
        }
    }

    fn op(&mut self, op: OpId) {
        let operation = self.history.op(op);
        self.read_or_write(operation.kind, operation.key, operation.value);
        self.places.push(self.history.place(op).map_or(0, |place| place.number as u32));
    }

    fn read_or_write(&mut self, kind: OpKind, key: KeyId, value: Value) {
        self.columns.push_op(self.columns.txns.len() as u32 - 1, kind, key, value);
    }

    fn scan(&mut self, scan: &Scan, line: u32) {
        let keys = &self.history.groups()[scan.content.group as usize].keys;
        // What the transaction wrote itself and nobody else, it did not read from another.
        let own = self.own_writes();
        for key in scan.content.unchanged.numbers().map(|position| keys[position as usize]) {
            if !own.contains(&key) {
                self.read_or_write(OpKind::Read, key, self.unchanged[&key]);
                self.places.push(line);
            }
        }
        for key in scan.content.absent(keys.len()).numbers().map(|at| keys[at as usize]) {
            self.read_or_write(OpKind::Read, key, Value::NULL);
            self.places.push(line);
        }
    }

    /// The keys that the present transaction has written so far.
    fn own_writes(&self) -> FxHashSet<KeyId> {
        let txn = self.columns.txns.len() as u32 - 1;
        let ops = self.columns.op_txn.iter().rev().take_while(|&&of| of == txn).count();
        let first = self.columns.op_txn.len() - ops;
        let writes =
            (first..self.columns.op_txn.len()).filter(|&op| self.columns.op_kind[op].is_write());
        writes.map(|op| self.columns.op_key[op]).collect()
    }
}
