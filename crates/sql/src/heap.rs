//! Where the rows of a table are: which rows there have ever been, what they held initially, and by
//! which keys they are found.
//!
//! A heap is no part of a transaction. It only grows: a row number, once given to a primary key (or
//! to a row of a table without one), is never given to another one. Whether a row exists, and what
//! it holds, is for the store of cells to say.
//!
//! A copy of a heap shares its rows until one of the two changes.

mod packed;

use crate::cells::{Base, Cell, HeapId, KeyNo, RowNo};
use crate::types::{Datum, HashKey, compare_as};
use packed::{BaseRow, PackedRows};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

/// The values of a key.
pub type Key = Box<[HashKey]>;

/// The rows of a table.
#[derive(Debug)]
pub struct Heap {
    /// Its identifier.
    pub id: HeapId,
    inner: RwLock<Arc<Rows>>,
}

/// The rows, while they are looked at.
#[derive(Clone, Default, Debug)]
pub struct Rows {
    base: PackedRows,
    /// Rows by primary key.
    by_key: FxHashMap<Arc<[HashKey]>, RowNo>,
    /// The primary key of each row. The last rows may be missing here: those of a table without one
    /// have none.
    keys: Vec<Option<Arc<[HashKey]>>>,
    /// The key of each row, for the history; none where it is hidden. The last rows may be missing
    /// here: those of a table without a key have none.
    names: Vec<Option<Arc<str>>>,
    /// The rows that others have become because their primary key changed. Counts where the store
    /// says that the row is gone.
    moved: FxHashMap<RowNo, RowNo>,
}

impl Heap {
    /// An empty one.
    pub fn new(id: HeapId) -> Heap {
        Heap { id, inner: RwLock::default() }
    }

    /// To look at.
    pub fn rows(&self) -> RwLockReadGuard<'_, Arc<Rows>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// To add to.
    pub fn rows_mut(&self) -> RowsMut<'_> {
        RowsMut(self.inner.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over the rows of another one, which it shares until one of the two changes.
    pub fn share(&self, of: &Heap) {
        let rows = Arc::clone(&of.rows());
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = rows;
    }

    /// One with the same identifier and the same rows.
    pub fn copy(&self) -> Heap {
        Heap { id: self.id, inner: RwLock::new(Arc::clone(&self.rows())) }
    }
}

/// The rows, while they are changed.
#[derive(Debug)]
pub struct RowsMut<'h>(RwLockWriteGuard<'h, Arc<Rows>>);

impl Deref for RowsMut<'_> {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.0
    }
}

impl DerefMut for RowsMut<'_> {
    fn deref_mut(&mut self) -> &mut Rows {
        Arc::make_mut(&mut self.0)
    }
}

impl Rows {
    /// How many rows there have ever been.
    pub fn count(&self) -> u32 {
        self.base.count() as u32
    }

    /// Whether a row exists initially.
    pub fn exists(&self, row: RowNo) -> bool {
        self.base.exists(row.0 as usize)
    }

    /// What a row holds in a column initially; a column that was added later has nothing.
    pub fn initial(&self, row: RowNo, column: u16) -> Option<Datum> {
        self.base.value(row.0 as usize, column as usize - 1)
    }

    /// Makes a row that exists initially, with these values.
    pub fn set_initial(&mut self, row: RowNo, values: Vec<Datum>) {
        let values = values.into_iter().map(Some).collect();
        self.base.set(row.0 as usize, &BaseRow { exists: true, values });
    }

    /// Makes a row that does not exist initially.
    pub fn clear_initial(&mut self, row: RowNo) {
        self.base.set(row.0 as usize, &BaseRow { exists: false, values: Vec::new() });
    }

    /// Makes the columns of a row initial that has none yet, and whose existence is decided
    /// elsewhere; whether that was so.
    pub fn make_columns_initial(&mut self, row: RowNo, values: &[Datum]) -> bool {
        let is_new = self.base.is_empty(row.0 as usize);
        if is_new {
            let values = values.iter().cloned().map(Some).collect();
            self.base.set(row.0 as usize, &BaseRow { exists: false, values });
        }
        is_new
    }

    /// Makes values of one row initial; column 0 says whether it exists. A row whose existence is
    /// still decided elsewhere may have initial values, too.
    fn settle(&mut self, row: RowNo, cells: &[(Cell, Datum)]) {
        let number = row.0 as usize;
        if number >= self.base.count() {
            return;
        }
        let BaseRow { mut exists, mut values } = self.base.get(number);
        let last = cells.iter().map(|(cell, _)| cell.column as usize).max().unwrap_or(0);
        values.resize(values.len().max(last), None);
        for (cell, value) in cells {
            match cell.column {
                Cell::EXISTENCE => exists = matches!(value, Datum::Bool(true)),
                column => values[column as usize - 1] = Some(value.clone()),
            }
        }
        if !exists && cells.iter().any(|(cell, _)| cell.column == Cell::EXISTENCE) {
            values.clear();
        }
        self.base.set(number, &BaseRow { exists, values });
    }

    /// The row of a primary key, if there has ever been one.
    pub fn find(&self, key: &[HashKey]) -> Option<RowNo> {
        self.by_key.get(key).copied()
    }

    /// A row of its own for a key, or a hidden one.
    pub fn row_of(&mut self, key: Option<Key>, name: Option<Arc<str>>) -> RowNo {
        if let Some(key) = &key
            && let Some(&row) = self.by_key.get(&**key)
        {
            return row;
        }
        let row = self.add(name);
        if let Some(key) = key {
            self.set_key(key.into(), row);
        }
        row
    }

    /// A row of the initial state; none if there is one with its key already.
    pub fn load(
        &mut self,
        key: Option<Key>,
        name: Option<Arc<str>>,
        values: Vec<Datum>,
    ) -> Option<RowNo> {
        let row = RowNo(self.count());
        if let Some(key) = key
            && self.set_key(key.into(), row).is_some()
        {
            return None;
        }
        self.add(name);
        self.set_initial(row, values);
        Some(row)
    }

    /// A row has this key; the one that had it.
    fn set_key(&mut self, key: Arc<[HashKey]>, row: RowNo) -> Option<RowNo> {
        self.keys.resize(row.0 as usize, None);
        self.keys.push(Some(Arc::clone(&key)));
        self.by_key.insert(key, row)
    }

    /// Puts rows into the order of their primary keys; those without one stay as they came.
    pub fn put_in_key_order(&self, rows: &mut [RowNo]) {
        let key_of = |row: &RowNo| self.keys.get(row.0 as usize).and_then(Option::as_deref);
        rows.sort_by(|one, other| match (key_of(one), key_of(other)) {
            (Some(one), Some(other)) => compare_keys(one, other),
            (one, other) => one.is_some().cmp(&other.is_some()),
        });
    }

    fn add(&mut self, name: Option<Arc<str>>) -> RowNo {
        let row = self.count();
        self.base.push_absent();
        if name.is_some() {
            self.names.resize(row as usize, None);
            self.names.push(name);
        }
        RowNo(row)
    }

    /// A row gets another primary key, and with it another number.
    pub fn note_move(&mut self, from: RowNo, to: RowNo) {
        self.moved.insert(from, to);
    }

    /// A row is deleted.
    pub fn note_deletion(&mut self, row: RowNo) {
        self.moved.remove(&row);
    }

    /// The row that this one has become.
    pub fn moved_to(&self, row: RowNo) -> Option<RowNo> {
        self.moved.get(&row).copied()
    }

    /// What the history calls a row.
    pub fn name(&self, row: RowNo) -> Option<&Arc<str>> {
        self.names.get(row.0 as usize)?.as_ref()
    }
}

fn compare_keys(one: &[HashKey], other: &[HashKey]) -> Ordering {
    let parts = one.iter().zip(other);
    let orders = parts.map(|(one, other)| compare_as(one.ty, &one.value, &other.value));
    orders.fold(Ordering::Equal, Ordering::then)
}

/// All heaps of a cluster that there are, by their identifiers.
#[derive(Default, Debug)]
pub struct Heaps(RwLock<FxHashMap<HeapId, Weak<Heap>>>);

impl Heaps {
    /// Lets a heap be found.
    pub fn add(&self, heap: &Arc<Heap>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, heap| heap.strong_count() > 0);
        all.insert(heap.id, Arc::downgrade(heap));
    }

    fn get(&self, id: HeapId) -> Option<Arc<Heap>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&id)?.upgrade()
    }
}

impl Base for Heaps {
    fn settle(&self, mut cells: Vec<(Cell, Datum)>) {
        cells.sort_by_key(|(cell, _)| *cell);
        for of_heap in cells.chunk_by(|(one, _), (two, _)| one.heap == two.heap) {
            // The rows of a table that is gone are gone.
            let Some(heap) = self.get(of_heap[0].0.heap) else { continue };
            let mut rows = heap.rows_mut();
            for of_row in of_heap.chunk_by(|(one, _), (two, _)| one.row == two.row) {
                rows.settle(of_row[0].0.row, of_row);
            }
        }
    }

    fn initial(&self, cell: Cell) -> Option<Datum> {
        let heap = self.get(cell.heap)?;
        let rows = heap.rows();
        if cell.row.0 >= rows.count() || !rows.exists(cell.row) {
            return None;
        }
        match cell.column {
            Cell::EXISTENCE => Some(Datum::Bool(true)),
            column => rows.initial(cell.row, column),
        }
    }
}

/// The rows that have ever had a key, for each key of an index.
#[derive(Debug)]
pub struct IndexEntries {
    /// What its groups are called.
    pub id: HeapId,
    inner: RwLock<Arc<Entries>>,
}

/// The entries of an index, while they are looked at.
#[derive(Clone, Default, Debug)]
pub struct Entries {
    numbers: FxHashMap<Arc<[HashKey]>, KeyNo>,
    /// The keys by their numbers.
    keys: Vec<Arc<[HashKey]>>,
    rows: Vec<Vec<RowNo>>,
}

impl IndexEntries {
    /// An empty one.
    pub fn new(id: HeapId) -> IndexEntries {
        IndexEntries { id, inner: RwLock::default() }
    }

    /// The number of a key and the rows that have ever had it.
    pub fn get(&self, key: Key) -> (KeyNo, Vec<RowNo>) {
        let number = self.number(key);
        (number, self.rows(number))
    }

    /// The number of a key, which has one from now on.
    pub fn number(&self, key: Key) -> KeyNo {
        let known = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = known.numbers.get(&*key) {
            return number;
        }
        drop(known);
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut inner).number(key)
    }

    /// The rows that have ever had the key of a number.
    pub fn rows(&self, number: KeyNo) -> Vec<RowNo> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.rows.get(number.0 as usize).cloned().unwrap_or_default()
    }

    /// One with the same identifier and the same entries.
    pub fn copy(&self) -> IndexEntries {
        let entries = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        IndexEntries { id: self.id, inner: RwLock::new(Arc::clone(&entries)) }
    }

    /// Takes over the entries of another one, which it shares until one of the two changes.
    pub fn share(&self, of: &IndexEntries) {
        let entries = Arc::clone(&of.inner.read().unwrap_or_else(PoisonError::into_inner));
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = entries;
    }

    /// The key of a number.
    pub fn key(&self, number: KeyNo) -> Option<Arc<[HashKey]>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.keys.get(number.0 as usize).cloned()
    }

    /// A row has this key from now on; its number if that is new.
    pub fn add(&self, key: Key, row: RowNo) -> Option<KeyNo> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let inner = Arc::make_mut(&mut inner);
        let number = inner.number(key);
        let rows = &mut inner.rows[number.0 as usize];
        match rows.binary_search(&row) {
            Ok(_) => None,
            Err(place) => {
                rows.insert(place, row);
                Some(number)
            }
        }
    }
}

impl Entries {
    fn number(&mut self, key: Key) -> KeyNo {
        if let Some(&number) = self.numbers.get(&*key) {
            return number;
        }
        let (key, number) = (Arc::<[HashKey]>::from(key), KeyNo(self.rows.len() as u32));
        self.keys.push(Arc::clone(&key));
        self.numbers.insert(key, number);
        self.rows.push(Vec::new());
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Oid;
    use proptest::prelude::*;

    fn key(parts: (i64, &str)) -> Key {
        let whole = HashKey { ty: Oid::INT8, value: Datum::Int8(parts.0) };
        let text = HashKey { ty: Oid::TEXT, value: Datum::text(parts.1) };
        Box::new([whole, text])
    }

    proptest! {
        #[test]
        fn rows_come_in_the_order_of_their_keys(
            keys in proptest::collection::vec((-9_i64..9, "[ab]{0,2}"), 0..30),
        ) {
            let mut rows = Rows::default();
            let mut expected = std::collections::BTreeMap::new();
            for (one, two) in &keys {
                let row = rows.row_of(Some(key((*one, two))), None);
                expected.insert((*one, two.clone()), row);
            }
            let hidden = rows.row_of(None, None);
            let mut found: Vec<RowNo> = (0..rows.count()).map(RowNo).collect();
            rows.put_in_key_order(&mut found);
            prop_assert_eq!(found[0], hidden);
            prop_assert_eq!(&found[1..], &expected.into_values().collect::<Vec<_>>()[..]);
        }
    }
}
