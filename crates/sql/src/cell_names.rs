//! What tables, rows and cells are called in histories: `item[7].stock` and not by numbers.
//!
//! Names are given when they are first asked for, and stay: a table that is renamed keeps its old
//! name for the cells that it has. No two things have the same name, because in a file a key is
//! known by its name alone; a second table `item` (another one, or the same after TRUNCATE) is
//! called `item#2`.

use crate::catalog::{Index, IndexedExpr, Object, Table};
use crate::cells::{Cell, HeapId, KeyNo, Names, RowNo};
use crate::functions::quote_ident;
use crate::heap::{Heap, IndexEntries};
use crate::settings::Settings;
use crate::types::{Call, HashKey, NoTypes, Oid, output};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The names of a cluster.
#[derive(Debug, Default)]
pub struct CellNames(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    tables: FxHashMap<HeapId, TableNames>,
    /// By the heap that an index has for itself.
    indexes: FxHashMap<HeapId, IndexNames>,
    /// What indexes are over.
    index_keys: FxHashMap<Oid, Vec<Arc<str>>>,
    objects: FxHashMap<u32, Arc<str>>,
    /// Names of tables and indexes that were given.
    given: FxHashSet<Arc<str>>,
}

#[derive(Debug)]
struct TableNames {
    heap: Arc<Heap>,
    name: Arc<str>,
    columns: Vec<Arc<str>>,
    /// The name in histories, once it was asked for.
    given: Option<Arc<str>>,
    given_columns: FxHashMap<u16, Arc<str>>,
}

#[derive(Debug)]
struct IndexNames {
    index: Oid,
    heap: HeapId,
    entries: Arc<IndexEntries>,
    /// What distinguishes it from others over the same columns.
    given: Option<(Vec<Arc<str>>, Arc<str>)>,
}

impl CellNames {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object is made or changed.
    pub fn note(&self, object: &Object) {
        match object {
            Object::Table(table) => self.known().note_table(table),
            Object::Index(index) => {
                let columns = self.known().column_names(index);
                self.known().index_keys.insert(index.oid, columns);
            }
            _ => {}
        }
    }

    /// A heap is made.
    pub fn note_heap(&self, heap: &Arc<Heap>) {
        let name: Arc<str> = format!("table {}", heap.id.0).into();
        let names = TableNames {
            heap: Arc::clone(heap),
            name,
            columns: Vec::new(),
            given: None,
            given_columns: FxHashMap::default(),
        };
        self.known().tables.insert(heap.id, names);
    }

    /// The entries of an index over a heap are made.
    pub fn note_entries(&self, index: Oid, heap: HeapId, entries: &Arc<IndexEntries>) {
        let names = IndexNames { index, heap, entries: Arc::clone(entries), given: None };
        self.known().indexes.insert(entries.id, names);
    }

    /// The rows of a heap are gone; what is still asked about is called by numbers.
    pub fn forget_heap(&self, heap: HeapId) {
        let mut known = self.known();
        known.tables.remove(&heap);
        known.indexes.retain(|_, names| names.heap != heap);
    }

    /// A row by its primary key, `item[7]`, or by its hidden number, `log[#12]`.
    fn row(&self, heap: HeapId, row: RowNo) -> String {
        let mut known = self.known();
        let table = known.table(heap);
        let rows = known.tables.get(&heap).map(|names| Arc::clone(&names.heap));
        drop(known);
        match rows.and_then(|heap| heap.rows().name(row).cloned()) {
            Some(key) => format!("{table}[{key}]"),
            None => format!("{table}[#{}]", row.0),
        }
    }
}

impl Names for CellNames {
    fn column(&self, heap: HeapId, column: u16) -> String {
        let mut known = self.known();
        let table = known.table(heap);
        match column {
            Cell::EXISTENCE => table.to_string(),
            _ => format!("{table}.{}", known.column(heap, column)),
        }
    }

    fn cell(&self, cell: Cell) -> String {
        let row = self.row(cell.heap, cell.row);
        match cell.column {
            Cell::EXISTENCE => row,
            column => format!("{row}.{}", self.known().column(cell.heap, column)),
        }
    }

    fn key(&self, index: HeapId, key: KeyNo) -> String {
        let mut known = self.known();
        let (columns, name) = known.index(index);
        let Some(names) = known.indexes.get(&index) else { return format!("{name}[{}]", key.0) };
        let (entries, table) = (Arc::clone(&names.entries), names.heap);
        let table = known.table(table);
        drop(known);
        let Some(values) = entries.key(key) else {
            return format!("{name}[key {}]", key.0);
        };
        let column = |place: usize| columns.get(place).map_or("", |column| &**column);
        let value = |(place, value): (usize, &HashKey)| {
            format!("{}={}", column(place), plain_key_text(std::slice::from_ref(value)))
        };
        let values: Vec<String> = values.iter().enumerate().map(value).collect();
        // What follows the closing bracket tells indexes over the same columns apart.
        let mark = name.rsplit_once(')').map_or("", |(_, mark)| mark);
        format!("{table}({}){mark}", values.join(","))
    }

    fn object(&self, oid: u32) -> String {
        match self.known().objects.get(&oid) {
            Some(name) => format!("{name} ({oid})"),
            None => format!("object {oid}"),
        }
    }
}

impl Known {
    fn note_table(&mut self, table: &Table) {
        self.objects.insert(table.oid.0, quote_ident(&table.name).into());
        if let Some(names) = self.tables.get_mut(&table.heap) {
            names.name = quote_ident(&table.name).into();
            names.columns =
                table.columns.iter().map(|column| quote_ident(&column.name).into()).collect();
        }
    }

    fn column_names(&self, index: &Index) -> Vec<Arc<str>> {
        let of_table = |number: u16| {
            let all = self.tables.values();
            let name = self.objects.get(&index.table.0)?;
            let table =
                all.filter(|table| table.name == *name).max_by_key(|it| it.columns.len())?;
            table.columns.get(usize::from(number).checked_sub(1)?).cloned()
        };
        let name = |key: &crate::catalog::IndexKey| match &key.what {
            IndexedExpr::Column(number) => {
                of_table(*number).unwrap_or_else(|| format!("column {number}").into())
            }
            IndexedExpr::Expr(text) => Arc::clone(text),
        };
        index.keys.iter().map(name).collect()
    }

    /// A name that nothing else has.
    fn give(&mut self, name: &str) -> Arc<str> {
        let numbered = |number: u32| match number {
            1 => name.to_owned(),
            _ => format!("{name}#{number}"),
        };
        let mut free = (1..).map(|number| Arc::<str>::from(numbered(number)));
        let name = free.find(|name| !self.given.contains(name)).unwrap_or_else(|| name.into());
        self.given.insert(Arc::clone(&name));
        name
    }

    fn table(&mut self, heap: HeapId) -> Arc<str> {
        let Some(names) = self.tables.get(&heap) else { return format!("table {}", heap.0).into() };
        if let Some(given) = &names.given {
            return Arc::clone(given);
        }
        let name = Arc::clone(&names.name);
        let given = self.give(&name);
        if let Some(names) = self.tables.get_mut(&heap) {
            names.given = Some(Arc::clone(&given));
        }
        given
    }

    fn column(&mut self, heap: HeapId, column: u16) -> Arc<str> {
        let unknown = || format!("column {column}").into();
        let Some(names) = self.tables.get_mut(&heap) else { return unknown() };
        if let Some(given) = names.given_columns.get(&column) {
            return Arc::clone(given);
        }
        let name = usize::from(column).checked_sub(1).and_then(|place| names.columns.get(place));
        let mut name = name.cloned().unwrap_or_else(unknown);
        // One of this name was dropped.
        if names.given_columns.values().any(|given| *given == name) {
            name = format!("{name}#{column}").into();
        }
        names.given_columns.insert(column, Arc::clone(&name));
        name
    }

    /// The columns of an index, and its name.
    fn index(&mut self, index: HeapId) -> (Vec<Arc<str>>, Arc<str>) {
        let Some(names) = self.indexes.get(&index) else {
            return (Vec::new(), format!("index {}", index.0).into());
        };
        if let Some(given) = &names.given {
            return given.clone();
        }
        let (oid, heap) = (names.index, names.heap);
        let columns = self.index_keys.get(&oid).cloned();
        let columns = columns.unwrap_or_else(|| vec![format!("index {}", oid.0).into()]);
        let name = format!("{}({})", self.table(heap), columns.join(","));
        let given = (columns, self.give(&name));
        if let Some(names) = self.indexes.get_mut(&index) {
            names.given = Some(given.clone());
        }
        given
    }
}

/// The values of a key as a session shows them: numbers as they are, everything else in quotes.
pub fn key_text(values: &[HashKey], call: &Call<'_>) -> String {
    let value = |key: &HashKey| match key.ty {
        _ if key.value.is_null() => "NULL".to_owned(),
        Oid::INT2 | Oid::INT4 | Oid::INT8 | Oid::NUMERIC | Oid::BOOL => {
            output(&key.value, key.ty, call)
        }
        ty => format!("'{}'", output(&key.value, ty, call).replace('\'', "''")),
    };
    values.iter().map(value).collect::<Vec<_>>().join(",")
}

/// The same without a session.
fn plain_key_text(values: &[HashKey]) -> String {
    let style = Settings::default().style(0, 0);
    key_text(values, &Call { args: &[], result: Oid::TEXT, style: &style, types: &NoTypes })
}
