//! The simplest store of cells: every read returns the latest committed value. What SQL means is
//! tested on it, and other stores are compared with it.

use crate::cells::{
    Cell, CellSession, CellStore, CellTxn, Group, HeapId, Lock, RowNo, RowSet, Statement, TxnLevel,
};
use crate::error::Result;
use crate::types::Datum;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The written rows of one column.
type Column = BTreeMap<RowNo, Datum>;

/// The latest committed values.
#[derive(Default, Debug)]
pub struct Memory {
    columns: Arc<RwLock<FxHashMap<(HeapId, u16), Column>>>,
}

impl CellStore for Memory {
    fn session(&self) -> Box<dyn CellSession> {
        Box::new(MemorySession { columns: Arc::clone(&self.columns) })
    }
}

struct MemorySession {
    columns: Arc<RwLock<FxHashMap<(HeapId, u16), Column>>>,
}

impl CellSession for MemorySession {
    fn begin(&mut self, _level: Option<TxnLevel>) -> Result<Box<dyn CellTxn>> {
        Ok(Box::new(MemoryTxn {
            columns: Arc::clone(&self.columns),
            own: FxHashMap::default(),
            undo: Vec::new(),
        }))
    }
}

struct MemoryTxn {
    columns: Arc<RwLock<FxHashMap<(HeapId, u16), Column>>>,
    own: FxHashMap<(HeapId, u16), Column>,
    /// What own writes replaced.
    undo: Vec<(Cell, Option<Datum>)>,
}

impl CellTxn for MemoryTxn {
    fn begin_statement(&mut self, _statement: &Statement<'_>) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, cell: Cell) -> Result<Option<Datum>> {
        Ok(self.peek(cell))
    }

    fn read_column(
        &mut self,
        heap: HeapId,
        column: u16,
        rows: RowSet<'_>,
    ) -> Result<Vec<(RowNo, Datum)>> {
        let shared = self.columns.read().unwrap_or_else(PoisonError::into_inner);
        let (committed, own) = (shared.get(&(heap, column)), self.own.get(&(heap, column)));
        if committed.is_none() && own.is_none() {
            return Ok(Vec::new());
        }
        let get = |row: RowNo| {
            let value = own.and_then(|own| own.get(&row));
            value.or_else(|| committed.and_then(|committed| committed.get(&row)))
        };
        Ok(match rows {
            RowSet::These(rows) => {
                rows.iter().filter_map(|&row| Some((row, get(row)?.clone()))).collect()
            }
            RowSet::All(_) => {
                let mut all: BTreeMap<RowNo, Datum> = BTreeMap::new();
                for part in [committed, own].into_iter().flatten() {
                    all.extend(part.iter().map(|(&row, value)| (row, value.clone())));
                }
                all.into_iter().collect()
            }
        })
    }

    fn read_group(&mut self, _group: Group) -> Result<()> {
        Ok(())
    }

    fn enter_group(&mut self, _group: Group, _row: RowNo) -> Result<()> {
        Ok(())
    }

    fn read_latest(&mut self, cell: Cell) -> Result<Option<Datum>> {
        Ok(self.peek(cell))
    }

    fn peek(&self, cell: Cell) -> Option<Datum> {
        let place = (cell.heap, cell.column);
        if let Some(value) = self.own.get(&place).and_then(|own| own.get(&cell.row)) {
            return Some(value.clone());
        }
        let shared = self.columns.read().unwrap_or_else(PoisonError::into_inner);
        shared.get(&place)?.get(&cell.row).cloned()
    }

    fn write(&mut self, cell: Cell, value: Datum) -> Result<()> {
        let own = self.own.entry((cell.heap, cell.column)).or_default();
        let before = own.insert(cell.row, value);
        self.undo.push((cell, before));
        Ok(())
    }

    fn mark(&mut self) -> usize {
        self.undo.len()
    }

    fn roll_back_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let Some((cell, before)) = self.undo.pop() else { return };
            let own = self.own.entry((cell.heap, cell.column)).or_default();
            match before {
                Some(value) => own.insert(cell.row, value),
                None => own.remove(&cell.row),
            };
        }
    }

    fn hand_over(&mut self, _lock: Lock, _exclusive: bool) -> Result<()> {
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<()> {
        let mut shared = self.columns.write().unwrap_or_else(PoisonError::into_inner);
        for (place, own) in self.own {
            shared.entry(place).or_default().extend(own);
        }
        Ok(())
    }

    fn abort(self: Box<Self>) {}
}
