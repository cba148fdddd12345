//! Where the rows of a table are: which rows there have ever been, what they held initially, and by
//! which keys they are found.
//!
//! A heap is no part of a transaction. It only grows: a row number, once given to a primary key (or
//! to a row of a table without one), is never given to another one. Whether a row exists, and what
//! it holds, is for the store of cells to say.

use crate::cells::{HeapId, KeyNo, RowNo};
use crate::types::{Datum, HashKey};
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The values of a key.
pub type Key = Box<[HashKey]>;

/// The rows of a table.
#[derive(Debug)]
pub struct Heap {
    /// Its identifier.
    pub id: HeapId,
    inner: RwLock<Rows>,
}

/// The rows, while they are looked at.
#[derive(Default, Debug)]
pub struct Rows {
    /// What each row held initially; `None` if it did not exist.
    pub base: Vec<Option<Arc<[Datum]>>>,
    /// Rows by primary key.
    by_key: FxHashMap<Key, RowNo>,
    /// The key of each row, for the history; none where it is hidden.
    names: Vec<Option<Arc<str>>>,
}

impl Heap {
    /// An empty one.
    pub fn new(id: HeapId) -> Heap {
        Heap { id, inner: RwLock::default() }
    }

    /// To look at.
    pub fn rows(&self) -> RwLockReadGuard<'_, Rows> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// To add to.
    pub fn rows_mut(&self) -> RwLockWriteGuard<'_, Rows> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    /// How many rows there have ever been.
    pub fn count(&self) -> u32 {
        self.base.len() as u32
    }

    /// What a row held initially.
    pub fn initial(&self, row: RowNo) -> Option<&Arc<[Datum]>> {
        self.base.get(row.0 as usize)?.as_ref()
    }

    /// The row of a primary key, if there has ever been one.
    pub fn find(&self, key: &[HashKey]) -> Option<RowNo> {
        self.by_key.get(key).copied()
    }

    /// A row of its own for a key, or a hidden one.
    pub fn row_of(&mut self, key: Option<Key>, name: Option<Arc<str>>) -> RowNo {
        if let Some(key) = &key
            && let Some(&row) = self.by_key.get(key)
        {
            return row;
        }
        let row = RowNo(self.count());
        self.base.push(None);
        self.names.push(name);
        if let Some(key) = key {
            self.by_key.insert(key, row);
        }
        row
    }

    /// A row of the initial state; none if there is one with its key already.
    pub fn load(
        &mut self,
        key: Option<Key>,
        name: Option<Arc<str>>,
        values: Arc<[Datum]>,
    ) -> Option<RowNo> {
        let row = RowNo(self.count());
        if let Some(key) = key
            && self.by_key.insert(key, row).is_some()
        {
            return None;
        }
        self.base.push(Some(values));
        self.names.push(name);
        Some(row)
    }

    /// What the history calls a row.
    pub fn name(&self, row: RowNo) -> Option<&Arc<str>> {
        self.names.get(row.0 as usize)?.as_ref()
    }
}

/// The rows that have ever had a key, for each key of an index.
#[derive(Debug)]
pub struct IndexEntries {
    /// What its groups are called.
    pub id: HeapId,
    inner: RwLock<Entries>,
}

/// The entries of an index, while they are looked at.
#[derive(Default, Debug)]
pub struct Entries {
    numbers: FxHashMap<Key, KeyNo>,
    rows: Vec<Vec<RowNo>>,
}

impl IndexEntries {
    /// An empty one.
    pub fn new(id: HeapId) -> IndexEntries {
        IndexEntries { id, inner: RwLock::default() }
    }

    /// The number of a key and the rows that have ever had it.
    pub fn get(&self, key: Key) -> (KeyNo, Vec<RowNo>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let number = inner.number(key);
        (number, inner.rows[number.0 as usize].clone())
    }

    /// A row has this key from now on; its number if that is new.
    pub fn add(&self, key: Key, row: RowNo) -> Option<KeyNo> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
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
        let next = KeyNo(self.rows.len() as u32);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.rows.push(Vec::new());
        }
        number
    }
}
