//! Copies of a cluster, for those who begin with the same state again and again, and of a database
//! that is a template.
//!
//! A copy shares catalogs and rows with what it was made of until one of them changes them, so that
//! it costs no more than the tables that are written.

use super::{Cluster, Counters, Database};
use crate::activity::Sessions;
use crate::catalog::{Catalog, HeapId, Object, Table};
use crate::cells::{Base, CellStore, CellTxn, Names};
use crate::channels::Channels;
use crate::error::Result;
use crate::locks::LockTable;
use crate::types::Oid;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

impl Counters {
    fn copy(&self) -> Counters {
        let load = |counter: &AtomicU32| AtomicU32::new(counter.load(Ordering::Relaxed));
        Counters {
            oid: load(&self.oid),
            heap: load(&self.heap),
            heaps: Arc::default(),
            names: Arc::default(),
            // Sessions and transactions are numbered anew: nobody remembers the old ones.
            session: AtomicU32::new(1),
            txn: AtomicU64::new(1),
        }
    }
}

impl Database {
    fn copy(&self, counters: Arc<Counters>) -> Database {
        let catalog = self.catalog();
        let mut copy = Database {
            name: self.name.clone(),
            oid: self.oid,
            catalog: RwLock::new(Arc::clone(&catalog)),
            heaps: RwLock::default(),
            entries: RwLock::default(),
            sequences: Mutex::default(),
            locks: LockTable::default(),
            channels: Channels::default(),
            counters,
            connections: AtomicU32::new(0),
        };
        copy.sequences =
            Mutex::new(self.sequences.lock().unwrap_or_else(PoisonError::into_inner).clone());
        copy.share_rows(self);
        // Indexes are named after columns of tables.
        let is_table = |object: &Object| matches!(object, Object::Table(_));
        let (tables, others): (Vec<_>, Vec<_>) =
            catalog.objects().map(|(_, object)| object).partition(|object| is_table(object));
        tables.into_iter().chain(others).for_each(|object| copy.counters.names.note(object));
        copy
    }

    fn share_rows(&mut self, of: &Database) {
        let heaps = self.heaps.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (&id, heap) in &*of.heaps.read().unwrap_or_else(PoisonError::into_inner) {
            let heap = Arc::new(heap.copy());
            self.counters.heaps.add(&heap);
            self.counters.names.note_heap(&heap);
            heaps.insert(id, heap);
        }
        let all = self.entries.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (&(index, heap), entries) in &*of.entries.read().unwrap_or_else(PoisonError::into_inner)
        {
            let entries = Arc::new(entries.copy());
            self.counters.names.note_entries(index, heap, &entries);
            all.insert((index, heap), entries);
        }
    }
}

impl Database {
    /// Whether there is a table in it.
    pub(super) fn has_tables(&self) -> bool {
        let catalog = self.catalog();
        catalog.objects().any(|(_, object)| matches!(object, Object::Table(_)))
    }

    /// A database with the same definitions and, initially, the rows that are there now.
    /// A table has rows that only a transaction knows.
    pub(super) fn duplicate(
        &self,
        name: &str,
        oid: Oid,
        txn: Option<&dyn CellTxn>,
    ) -> Result<Database> {
        let mut catalog = Catalog::clone(&self.catalog());
        let mut made = Database::new(name, oid, Arc::default(), Arc::clone(&self.counters));
        let is_table = |object: &&Object| matches!(object, Object::Table(_));
        let tables: Vec<Object> =
            catalog.objects().map(|(_, object)| object).filter(is_table).cloned().collect();
        for object in tables {
            let Object::Table(table) = object else { continue };
            let source = self.heap(table.heap)?;
            let heap = made.new_heap();
            heap.share(&source);
            if let Some(txn) = txn {
                super::settle_heap(&heap, source.id, &table, txn);
            }
            made.share_entries(self, source.id, heap.id);
            let table = Arc::new(Table { heap: heap.id, ..Table::clone(&table) });
            self.counters.names.note(&Object::Table(Arc::clone(&table)));
            catalog.put(table.oid, Object::Table(table));
        }
        made.catalog = RwLock::new(Arc::new(catalog));
        made.sequences =
            Mutex::new(self.sequences.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Ok(made)
    }

    /// The keys of the rows of a heap become those of another heap that has the same rows.
    fn share_entries(&self, of: &Database, source: HeapId, heap: HeapId) {
        for (&(index, of), entries) in &*of.entries.read().unwrap_or_else(PoisonError::into_inner) {
            if of == source {
                self.entries(index, heap).share(entries);
            }
        }
    }
}

impl Cluster {
    /// The same databases on another store. Only what is settled is copied (see
    /// [`Cluster::settle`]): what the present store remembers is not there.
    pub fn copy(&self, store: Arc<dyn CellStore>) -> Cluster {
        let counters = Arc::new(self.counters.copy());
        store.set_base(Arc::clone(&counters.heaps) as Arc<dyn Base>);
        store.set_names(Arc::clone(&counters.names) as Arc<dyn Names>);
        let copies = self.databases().into_iter().map(|database| {
            let copy = database.copy(Arc::clone(&counters));
            (copy.name.clone(), Arc::new(copy))
        });
        let databases = RwLock::new(copies.collect());
        let roles = self.roles.copy();
        let (connected, raised) = (Sessions::default(), Vec::new());
        Cluster { databases, store, counters, connected, roles, raised }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::session::Session;

    fn ask(cluster: &Arc<Cluster>, sql: &str) -> String {
        let mut session = Session::connect(cluster, "postgres", "postgres").unwrap();
        let (results, error) = session.simple(sql);
        assert!(error.is_none(), "{sql}: {error:?}");
        format!("{results:?}")
    }

    #[test]
    fn copies_begin_with_the_same_state_and_go_their_own_ways() {
        let set_up = Arc::new(Cluster::new(Arc::new(Memory::default())));
        ask(
            &set_up,
            "CREATE TABLE t (id serial PRIMARY KEY, v text UNIQUE); \
             INSERT INTO t (v) VALUES ('a'), ('b'); DELETE FROM t WHERE v = 'a'",
        );
        let mut template = Arc::into_inner(set_up).unwrap();
        template.settle(Arc::new(Memory::default())).unwrap();
        let copy = || Arc::new(template.copy(Arc::new(Memory::default())));
        let (one, two) = (copy(), copy());
        let all = "SELECT id, v FROM t ORDER BY id";
        let before = ask(&one, all);
        assert_eq!(before, ask(&two, all));
        ask(&one, "INSERT INTO t (v) VALUES ('c'); UPDATE t SET v = 'x' WHERE v = 'b'");
        assert_ne!(ask(&one, all), before);
        assert_eq!(ask(&two, all), before);
        // Sequences go on from where they were, and constraints hold.
        let inserted = ask(&two, "INSERT INTO t (v) VALUES ('d') RETURNING id");
        assert_eq!(inserted, ask(&copy(), "INSERT INTO t (v) VALUES ('e') RETURNING id"));
        let mut session = Session::connect(&two, "postgres", "postgres").unwrap();
        assert!(session.simple("INSERT INTO t (v) VALUES ('b')").1.is_some());
    }

    #[test]
    fn a_database_begins_with_what_its_template_has_and_goes_its_own_way() {
        let cluster = Arc::new(Cluster::new(Arc::new(Memory::default())));
        let run = |database: &str, sql: &str| {
            let mut session = Session::connect(&cluster, database, "postgres").unwrap();
            let (results, error) = session.simple(sql);
            error.map_or(Ok(format!("{results:?}")), |error| Err(error.message().to_owned()))
        };
        run("postgres", "CREATE DATABASE a").unwrap();
        run(
            "a",
            "CREATE TABLE t (id serial PRIMARY KEY, v text UNIQUE); \
             INSERT INTO t (v) VALUES ('a'), ('b'), ('c'); DELETE FROM t WHERE v = 'a'; \
             UPDATE t SET id = 7 WHERE v = 'b'; CREATE VIEW w AS SELECT v FROM t",
        )
        .unwrap();
        run("postgres", "CREATE DATABASE b TEMPLATE a").unwrap();
        let all = "SELECT * FROM t JOIN w USING (v) ORDER BY 1";
        let before = run("a", all).unwrap();
        assert_eq!(run("b", all).unwrap(), before);
        let next = "INSERT INTO t (v) VALUES ('d') RETURNING *";
        assert_eq!(run("b", next), run("a", next));
        run("b", "DELETE FROM t WHERE id < 7; UPDATE t SET v = 'x'").unwrap();
        assert_ne!(run("b", all), run("a", all));
        let twice = "INSERT INTO t (v) VALUES ('b')";
        let message = "duplicate key value violates unique constraint \"t_v_key\"".to_owned();
        assert_eq!(run("a", twice), Err(message));
        run("b", twice).unwrap();
        let _connected = Session::connect(&cluster, "a", "postgres").unwrap();
        let message = "source database \"a\" is being accessed by other users".to_owned();
        assert_eq!(run("postgres", "CREATE DATABASE c TEMPLATE a"), Err(message));
    }
}
