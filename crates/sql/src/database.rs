//! A database: its catalog, the rows of its tables, its sequences and locks; and the cluster of
//! databases that one server has.

mod copies;

use crate::activity::{SessionEntry, Sessions};
use crate::catalog::{Catalog, HeapId, Object, Sequence};
use crate::cell_names::CellNames;
use crate::cells::{Base, CellStore, Names, TxnLevel};
use crate::channels::Channels;
use crate::error::{Result, SqlError, code};
use crate::heap::{Heap, Heaps, IndexEntries};
use crate::locks::{LockTable, Owner};
use crate::roles::Roles;
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// One database.
#[derive(Debug)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Its identifier.
    pub oid: Oid,
    catalog: RwLock<Arc<Catalog>>,
    heaps: RwLock<FxHashMap<HeapId, Arc<Heap>>>,
    entries: RwLock<FxHashMap<(Oid, HeapId), Arc<IndexEntries>>>,
    sequences: Mutex<FxHashMap<Oid, Option<i64>>>,
    /// Its locks.
    pub locks: LockTable,
    /// Who listens to what.
    pub channels: Channels,
    counters: Arc<Counters>,
    /// How many sessions are connected.
    pub connections: AtomicU32,
}

/// What numbers objects and heaps, over all databases.
#[derive(Debug)]
pub struct Counters {
    oid: AtomicU32,
    heap: AtomicU32,
    /// Where rows are that the store does not remember.
    heaps: Arc<Heaps>,
    names: Arc<CellNames>,
    /// Names sessions.
    pub session: AtomicU32,
    /// Names transactions, for locks.
    pub txn: AtomicU64,
}

impl Database {
    fn new(name: &str, oid: Oid, catalog: Arc<Catalog>, counters: Arc<Counters>) -> Database {
        Database {
            name: name.to_owned(),
            oid,
            catalog: RwLock::new(catalog),
            heaps: RwLock::default(),
            entries: RwLock::default(),
            sequences: Mutex::default(),
            locks: LockTable::default(),
            channels: Channels::default(),
            counters,
            connections: AtomicU32::new(0),
        }
    }

    /// The catalog that is committed.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the committed catalog.
    pub fn change_catalog(&self, change: impl FnOnce(&mut Catalog)) {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut catalog));
    }

    /// An identifier for a new object.
    pub fn new_oid(&self) -> Oid {
        Oid(self.counters.oid.fetch_add(1, Ordering::Relaxed))
    }

    /// A new, empty heap.
    pub fn new_heap(&self) -> Arc<Heap> {
        let id = HeapId(self.counters.heap.fetch_add(1, Ordering::Relaxed));
        let heap = Arc::new(Heap::new(id));
        self.counters.heaps.add(&heap);
        self.counters.names.note_heap(&heap);
        let mut heaps = self.heaps.write().unwrap_or_else(PoisonError::into_inner);
        heaps.insert(id, Arc::clone(&heap));
        heap
    }

    /// What cells are called in histories.
    pub fn cell_names(&self) -> &CellNames {
        &self.counters.names
    }

    /// A heap.
    pub fn heap(&self, id: HeapId) -> Result<Arc<Heap>> {
        let heaps = self.heaps.read().unwrap_or_else(PoisonError::into_inner);
        let missing = || {
            let dropped = "the table was dropped by a transaction that committed meanwhile";
            SqlError::new(code::UNDEFINED_TABLE, dropped)
        };
        heaps.get(&id).cloned().ok_or_else(missing)
    }

    /// The rows by keys of an index over a heap, made at first sight: a table whose rows are
    /// written
    /// anew has another heap, and its indexes other entries, until that is rolled back.
    pub fn entries(&self, index: Oid, heap: HeapId) -> Arc<IndexEntries> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = entries.get(&(index, heap)) {
            return Arc::clone(found);
        }
        drop(entries);
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let id = HeapId(self.counters.heap.fetch_add(1, Ordering::Relaxed));
            let made = Arc::new(IndexEntries::new(id));
            self.counters.names.note_entries(index, heap, &made);
            made
        };
        Arc::clone(entries.entry((index, heap)).or_insert_with(make))
    }

    /// Forgets the keys of an index that is gone.
    pub fn forget_entries(&self, index: Oid, heap: HeapId) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(&(index, heap));
    }

    /// Forgets the rows of tables that were dropped or written anew, except for those that the
    /// committed catalog still has: a savepoint may have taken the drop back.
    pub fn forget_heaps(&self, dropped: &[HeapId]) {
        let catalog = self.catalog();
        let is_used = |heap: HeapId| {
            let mut objects = catalog.objects();
            objects.any(|(_, it)| matches!(it, Object::Table(table) if table.heap == heap))
        };
        for &heap in dropped.iter().filter(|heap| !is_used(**heap)) {
            self.heaps.write().unwrap_or_else(PoisonError::into_inner).remove(&heap);
            let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|(_, of), _| *of != heap);
            self.counters.names.forget_heap(heap);
        }
    }

    /// The next number of a sequence. Never taken back.
    pub fn next_value(&self, sequence: &Sequence) -> Result<i64> {
        let mut all = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        let last = all.entry(sequence.oid).or_insert(None);
        let next = match *last {
            None => sequence.start,
            Some(last) => following(sequence, last)?,
        };
        *last = Some(next);
        Ok(next)
    }

    /// The last number that a sequence gave.
    pub fn last_value(&self, sequence: Oid) -> Option<i64> {
        let all = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&sequence).copied().flatten()
    }

    /// The numbers of a sequence go on behind this one, if they are not further yet.
    pub fn raise_value(&self, sequence: &Sequence, value: i64) {
        let mut all = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        let last = all.entry(sequence.oid).or_insert(None);
        if value >= sequence.start && last.is_none_or(|last| last < value) {
            *last = Some(value);
        }
    }

    /// Lets a sequence go on behind a number, or begin with it.
    pub fn set_value(&self, sequence: &Sequence, value: i64, is_called: bool) -> Result<()> {
        if value < sequence.min || value > sequence.max {
            return Err(SqlError::new(
                code::NUMERIC_VALUE_OUT_OF_RANGE,
                format!(
                    "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
                    sequence.name, sequence.min, sequence.max
                ),
            ));
        }
        let mut all = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        let last = if is_called { Some(value) } else { value.checked_sub(sequence.increment) };
        // A sequence that has not given its first number begins with `start`.
        let is_first = !is_called && value == sequence.start;
        all.insert(sequence.oid, if is_first { None } else { last });
        Ok(())
    }

    /// Lets a sequence go on behind this number, or begin anew; behind which it was.
    pub fn replace_value(&self, sequence: Oid, value: Option<i64>) -> Option<i64> {
        let mut all = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(sequence, value).flatten()
    }
}

/// The rows that are there now, in this heap or in the one that it is a copy of, are there
/// initially.
fn settle_heap(
    heap: &Heap,
    source: HeapId,
    table: &crate::catalog::Table,
    txn: &dyn crate::cells::CellTxn,
) {
    use crate::cells::{Cell, RowNo};
    use crate::types::Datum;
    let mut rows = heap.rows_mut();
    for number in (0..rows.count()).map(RowNo) {
        let peek = |column: u16| txn.peek(Cell { heap: source, row: number, column });
        let exists = match peek(Cell::EXISTENCE) {
            Some(value) => matches!(value, Datum::Bool(true)),
            None => rows.exists(number),
        };
        if !exists {
            rows.clear_initial(number);
            continue;
        }
        let value = |column: u16| {
            let initial = || rows.initial(number, column);
            let missing = || table.column(column).missing.clone();
            peek(column).or_else(initial).or_else(missing).unwrap_or(Datum::Null)
        };
        let values: Vec<Datum> = (1..=table.columns.len() as u16).map(value).collect();
        rows.set_initial(number, values);
    }
}

fn in_use(count: u32) -> String {
    match count {
        1 => "There is 1 other session using the database.".to_owned(),
        count => format!("There are {count} other sessions using the database."),
    }
}

fn following(sequence: &Sequence, last: i64) -> Result<i64> {
    let next = last.checked_add(sequence.increment);
    let (least, most) = (sequence.min, sequence.max);
    match next {
        Some(next) if next >= least && next <= most => Ok(next),
        _ if sequence.cycle => Ok(if sequence.increment > 0 { least } else { most }),
        _ => {
            let (which, bound) =
                if sequence.increment > 0 { ("maximum", most) } else { ("minimum", least) };
            Err(SqlError::new(
                "2200H",
                format!(
                    "nextval: reached {which} value of sequence \"{}\" ({bound})",
                    sequence.name
                ),
            ))
        }
    }
}

/// The databases of a server.
#[derive(Debug)]
pub struct Cluster {
    databases: RwLock<BTreeMap<String, Arc<Database>>>,
    /// Where the cells are.
    pub store: Arc<dyn CellStore>,
    /// What numbers things.
    pub counters: Arc<Counters>,
    /// The sessions that are connected.
    pub connected: Sessions,
    /// The roles that were made.
    pub roles: Roles,
    /// Transactions that are at this level at least, whatever they ask for: those whose first
    /// statement has this shape, see [`crate::parse::shape`]. To see what that would change.
    pub raised: Vec<(String, TxnLevel)>,
}

impl Cluster {
    /// A cluster with the databases `postgres` and `template1`.
    pub fn new(store: Arc<dyn CellStore>) -> Cluster {
        let counters = Arc::new(Counters {
            oid: AtomicU32::new(Oid::FIRST_USER.0),
            heap: AtomicU32::new(1),
            heaps: Arc::default(),
            names: Arc::default(),
            session: AtomicU32::new(1),
            txn: AtomicU64::new(1),
        });
        store.set_base(Arc::clone(&counters.heaps) as Arc<dyn Base>);
        store.set_names(Arc::clone(&counters.names) as Arc<dyn Names>);
        let make = |name: &str, oid: u32| {
            let catalog = Arc::new(Catalog::default());
            let database = Database::new(name, Oid(oid), catalog, Arc::clone(&counters));
            (name.to_owned(), Arc::new(database))
        };
        let databases =
            BTreeMap::from([make("postgres", 5), make("template0", 4), make("template1", 1)]);
        Cluster {
            databases: RwLock::new(databases),
            store,
            counters,
            connected: Sessions::default(),
            roles: Roles::default(),
            raised: Vec::new(),
        }
    }

    /// All sessions.
    pub fn sessions(&self) -> Vec<Arc<SessionEntry>> {
        self.connected.all()
    }

    /// Whether a session waits for a lock.
    pub fn waits_for_lock(&self, session: u32) -> bool {
        let Some(entry) = self.connected.get(session) else { return false };
        let owners = [entry.transaction(), Owner(u64::MAX - u64::from(session))];
        let of_it = |database: &Arc<Database>| database.oid == entry.database;
        let database = self.databases().into_iter().find(of_it);
        database.is_some_and(|it| owners.into_iter().any(|owner| it.locks.is_waiting(owner)))
    }

    /// Makes what is committed the initial state of all tables, and goes on with another store:
    /// nothing that happened so far is part of a history then. No session may be connected.
    pub fn settle(&mut self, store: Arc<dyn CellStore>) -> Result<()> {
        let txn = self.store.session().begin(None)?;
        for database in self.databases() {
            for (_, object) in database.catalog().objects() {
                let crate::catalog::Object::Table(table) = object else { continue };
                let heap = database.heap(table.heap)?;
                settle_heap(&heap, heap.id, table, &*txn);
            }
        }
        txn.abort();
        store.set_base(Arc::clone(&self.counters.heaps) as Arc<dyn Base>);
        store.set_names(Arc::clone(&self.counters.names) as Arc<dyn Names>);
        self.store = store;
        Ok(())
    }

    /// All databases.
    pub fn databases(&self) -> Vec<Arc<Database>> {
        let databases = self.databases.read().unwrap_or_else(PoisonError::into_inner);
        databases.values().cloned().collect()
    }

    /// A database by its name.
    pub fn database(&self, name: &str) -> Result<Arc<Database>> {
        let databases = self.databases.read().unwrap_or_else(PoisonError::into_inner);
        databases.get(name).cloned().ok_or_else(|| {
            let message = format!("database \"{name}\" does not exist");
            SqlError::new(code::INVALID_CATALOG_NAME, message)
        })
    }

    /// Makes a database that has what another one has, to which nobody is connected besides so
    /// many sessions of those who ask.
    pub fn create(&self, name: &str, template: &str, own: u32) -> Result<()> {
        let mut databases = self.databases.write().unwrap_or_else(PoisonError::into_inner);
        if databases.contains_key(name) {
            let message = format!("database \"{name}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_DATABASE, message));
        }
        let Some(template) = databases.get(template) else {
            let message = format!("template database \"{template}\" does not exist");
            return Err(SqlError::new(code::INVALID_CATALOG_NAME, message));
        };
        let others = template.connections.load(Ordering::SeqCst).saturating_sub(own);
        if others > 0 {
            let template = &template.name;
            let message =
                format!("source database \"{template}\" is being accessed by other users");
            return Err(SqlError::new(code::OBJECT_IN_USE, message).detail(in_use(others)));
        }
        let oid = Oid(self.counters.oid.fetch_add(1, Ordering::Relaxed));
        // Where nothing is copied nobody is asked: a transaction would wait for its turn behind the
        // one of the session that asks.
        let database = match template.has_tables() {
            false => template.duplicate(name, oid, None)?,
            true => {
                let txn = self.store.session().begin(None)?;
                let made = template.duplicate(name, oid, Some(&*txn))?;
                txn.abort();
                made
            }
        };
        databases.insert(name.to_owned(), Arc::new(database));
        Ok(())
    }

    /// Removes a database that no other session is connected to.
    pub fn drop(&self, name: &str, is_forced: bool) -> Result<()> {
        let database = self.database(name)?;
        let count = database.connections.load(Ordering::SeqCst);
        if count > 0 && !is_forced {
            return Err(SqlError::new(
                code::OBJECT_IN_USE,
                format!("database \"{name}\" is being accessed by other users"),
            )
            .detail(in_use(count)));
        }
        self.databases.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }

    /// Gives a database another name.
    pub fn rename(&self, name: &str, to: &str) -> Result<()> {
        let database = self.database(name)?;
        let mut databases = self.databases.write().unwrap_or_else(PoisonError::into_inner);
        if databases.contains_key(to) {
            let message = format!("database \"{to}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_DATABASE, message));
        }
        databases.remove(name);
        databases.insert(to.to_owned(), database);
        Ok(())
    }
}
