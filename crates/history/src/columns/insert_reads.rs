//! From columns with scans and statements to a history: the reads of scans are put among the
//! operations, and what scans and statements say of places becomes numbers of operations.

use super::{Columns, ColumnsError, Mark, expand};
use crate::ids::TxnId;
use crate::model::{History, OpKind};
use crate::place::Places;
use crate::scans::{Group, Scan, ScanContent, Scans};
use crate::statements::{Statement, StatementContent, Statements};
use std::ops::Range;
use std::sync::Arc;

/// Something beside operations of the columns: their transaction and numbers there.
struct Beside<T> {
    txn: u32,
    ops: Range<u32>,
    scans: Range<u32>,
    content: T,
}

/// What stands beside the operations.
pub(crate) struct Inserted {
    groups: Vec<Group>,
    scans: Vec<Beside<ScanContent>>,
    need_sessions: bool,
    statements: Vec<Beside<Arc<StatementContent>>>,
    /// For each transaction its first operation in the columns, if it has one.
    first_ops: Vec<Option<u32>>,
}

/// Puts the reads of scans into the columns; `None` if nothing stands beside the operations.
pub(crate) fn insert_reads(columns: &mut Columns) -> Result<Option<Inserted>, ColumnsError> {
    if columns.groups.is_empty() && columns.statements.is_empty() {
        return Ok(None);
    }
    let reads = expand::reads(columns)?;
    // How many reads are added before each scan, and in all.
    let mut added = vec![0usize];
    for reads in &reads.of_scans {
        added.push(added[added.len() - 1] + reads.len());
    }
    columns.check_op_count(columns.op_kind.len() + added[added.len() - 1])?;
    put(columns, &reads);
    let moved = |mark: Mark| mark.ops + added[mark.scans as usize] as u32;
    let scans = std::mem::take(&mut columns.scans).into_iter().enumerate();
    let scans = scans.map(|(number, scan)| {
        let start = moved(Mark { ops: scan.at, scans: number as u32 });
        let ops = start..start + reads.of_scans[number].len() as u32;
        let number = number as u32;
        Beside { txn: scan.txn, ops, scans: number..number + 1, content: scan.content }
    });
    let statements = std::mem::take(&mut columns.statements).into_iter();
    let statements = statements.map(|one| Beside {
        txn: one.txn,
        ops: moved(one.from)..moved(one.to),
        scans: one.from.scans..one.to.scans,
        content: one.content,
    });
    Ok(Some(Inserted {
        scans: scans.collect(),
        statements: statements.collect(),
        groups: std::mem::take(&mut columns.groups),
        need_sessions: reads.need_sessions,
        first_ops: first_ops(columns),
    }))
}

/// Makes the columns anew, with the reads of each scan where it stands.
fn put(columns: &mut Columns, reads: &expand::Reads) {
    if reads.of_scans.iter().all(Vec::is_empty) {
        return;
    }
    let (kinds, keys) = (std::mem::take(&mut columns.op_kind), std::mem::take(&mut columns.op_key));
    let (values, txns) =
        (std::mem::take(&mut columns.op_value), std::mem::take(&mut columns.op_txn));
    let mut lines = Vec::new();
    let mut next = 0;
    for op in 0..=kinds.len() {
        while let Some(scan) = columns.scans.get(next).filter(|scan| scan.at <= op as u32) {
            let (txn, line) = (scan.txn, scan.line);
            for &(key, value) in &reads.of_scans[next] {
                columns.push_op(txn, OpKind::Read, key, value);
                lines.push(line);
            }
            next += 1;
        }
        if op < kinds.len() {
            columns.push_op(txns[op], kinds[op], keys[op], values[op]);
            lines.push(line_of(&columns.op_places, op));
        }
    }
    if columns.op_places != Places::None {
        columns.op_places = Places::Each(lines);
    }
}

fn line_of(places: &Places, op: usize) -> u32 {
    match places {
        Places::None => 0,
        Places::Consecutive { first } => u32::try_from(first + op as u64).unwrap_or(u32::MAX),
        Places::Each(lines) => lines[op],
    }
}

fn first_ops(columns: &Columns) -> Vec<Option<u32>> {
    let mut first = vec![None; columns.txns.len()];
    for (op, &txn) in columns.op_txn.iter().enumerate() {
        first[txn as usize].get_or_insert(op as u32);
    }
    first
}

impl Inserted {
    /// The history with its tables.
    pub fn attach(self, mut history: History) -> History {
        let mut new_of_old = vec![0u32; history.txn_count()];
        for (new, &old) in history.txn_file_order.iter().enumerate() {
            new_of_old[old as usize] = new as u32;
        }
        let place = |old: u32, ops: Range<u32>| {
            let txn = TxnId(new_of_old[old as usize]);
            // The operations of such a transaction stand together in the columns.
            let start = self.first_ops[old as usize].map_or(0, |first| ops.start - first);
            let start = history.ops_of(txn).start + start;
            (txn, start..start + (ops.end - ops.start))
        };
        let scan = |beside: Beside<ScanContent>| {
            let (txn, ops) = place(beside.txn, beside.ops);
            Scan { txn, ops, content: beside.content }
        };
        let mut first_scans = vec![None; new_of_old.len()];
        for scan in &self.scans {
            first_scans[scan.txn as usize].get_or_insert(scan.scans.start);
        }
        let mut scans: Vec<Scan> = self.scans.into_iter().map(scan).collect();
        scans.sort_by_key(|scan| (scan.txn, scan.ops.start));
        let statement = |beside: Beside<Arc<StatementContent>>| {
            let (txn, ops) = place(beside.txn, beside.ops);
            let scans = match first_scans[beside.txn as usize] {
                Some(first) => beside.scans.start.max(first) - first..beside.scans.end - first,
                None => 0..0,
            };
            Statement { txn, ops, scans, content: beside.content }
        };
        let mut statements: Vec<Statement> = self.statements.into_iter().map(statement).collect();
        statements.sort_by_key(|statement| (statement.txn, statement.ops.start));
        let (groups, need_sessions) = (self.groups, self.need_sessions);
        history.statements = (!statements.is_empty()).then(|| Arc::new(Statements(statements)));
        history.scans =
            (!groups.is_empty()).then(|| Arc::new(Scans { groups, scans, need_sessions }));
        history
    }
}
