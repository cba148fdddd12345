//! RocksDB, whose library is loaded when it is needed (building it takes very long): optimistic and
//! pessimistic transactions, each with and without checks of what is read.

use crate::kv::{Store, Txn, other};
use libloading::Library;
use seriatim_audit::DriverError;
use seriatim_isolation::Level;
use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

/// Names the library's file.
const VARIABLE: &str = "SERIATIM_ROCKSDB";
/// What it is called otherwise.
const NAMES: [&str; 3] = ["librocksdb.so", "librocksdb.so.7.8", "librocksdb.dylib"];

type Handle = *mut c_void;
type Problem = *mut *mut c_char;

/// How transactions are run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What is written is checked at COMMIT.
    Optimistic,
    /// What is read is checked, too.
    OptimisticReads,
    /// What is written is locked.
    Pessimistic,
    /// What is read is locked, too.
    PessimisticReads,
}

impl Mode {
    pub const ALL: [Mode; 4] =
        [Mode::Optimistic, Mode::OptimisticReads, Mode::Pessimistic, Mode::PessimisticReads];

    fn is_optimistic(self) -> bool {
        matches!(self, Mode::Optimistic | Mode::OptimisticReads)
    }

    fn checks_reads(self) -> bool {
        matches!(self, Mode::OptimisticReads | Mode::PessimisticReads)
    }
}

/// An open database.
#[derive(Clone)]
pub struct RocksDb {
    shared: Arc<Shared>,
}

struct Shared {
    library: Library,
    database: Handle,
    mode: Mode,
    write_options: Handle,
    transaction_options: Handle,
}

// RocksDB locks a database itself; a transaction is used by one thread at a time.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

/// Calls a function of the library with these types.
macro_rules! call {
    ($library:expr, $name:literal, ($($ty:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        type Function = unsafe extern "C" fn($($ty),*) $(-> $result)?;
        // The types are those of rocksdb/c.h.
        let function = unsafe { $library.get::<Function>($name.as_bytes()) };
        let function = function.map_err(|error| other(format!("no library of RocksDB: {error}")))?;
        unsafe { function($($argument),*) }
    }};
}

fn load() -> Result<Library, DriverError> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        // Its initialisers are as trustworthy as whoever names it.
        return unsafe { Library::new(path) }.map_err(other);
    }
    let found = NAMES.into_iter().find_map(|name| unsafe { Library::new(name) }.ok());
    found.ok_or_else(|| {
        let text = format!("no librocksdb; install librocksdb-dev, or set {VARIABLE} to its path");
        DriverError::Connect("RocksDB".to_owned(), text)
    })
}

impl RocksDb {
    pub fn open(folder: &Path, mode: Mode) -> Result<RocksDb, DriverError> {
        let library = load()?;
        let path = folder.join(format!("rocksdb-{}", mode as u8));
        let path = CString::new(path.to_string_lossy().into_owned()).map_err(other)?;
        let options = call!(library, "rocksdb_options_create", () -> Handle,);
        call!(library, "rocksdb_options_set_create_if_missing", (Handle, c_uchar), options, 1);
        let write_options = call!(library, "rocksdb_writeoptions_create", () -> Handle,);
        let mut problem = ptr::null_mut();
        let (database, transaction_options) = if mode.is_optimistic() {
            let database = call!(library, "rocksdb_optimistictransactiondb_open",
                (Handle, *const c_char, Problem) -> Handle, options, path.as_ptr(), &mut problem);
            let own = call!(library, "rocksdb_optimistictransaction_options_create", () -> Handle,);
            call!(
                library,
                "rocksdb_optimistictransaction_options_set_set_snapshot",
                (Handle, c_uchar),
                own,
                1
            );
            (database, own)
        } else {
            let all = call!(library, "rocksdb_transactiondb_options_create", () -> Handle,);
            let database = call!(library, "rocksdb_transactiondb_open",
                (Handle, Handle, *const c_char, Problem) -> Handle,
                options, all, path.as_ptr(), &mut problem);
            let own = call!(library, "rocksdb_transaction_options_create", () -> Handle,);
            call!(
                library,
                "rocksdb_transaction_options_set_set_snapshot",
                (Handle, c_uchar),
                own,
                1
            );
            call!(
                library,
                "rocksdb_transaction_options_set_deadlock_detect",
                (Handle, c_uchar),
                own,
                1
            );
            (database, own)
        };
        checked(&library, problem)?;
        let shared = Shared { library, database, mode, write_options, transaction_options };
        Ok(RocksDb { shared: Arc::new(shared) })
    }
}

impl Store for RocksDb {
    fn product(&self) -> String {
        "RocksDB".to_owned()
    }

    fn mode(&self) -> &'static str {
        match self.shared.mode {
            Mode::Optimistic => "optimistic, Get",
            Mode::OptimisticReads => "optimistic, GetForUpdate",
            Mode::Pessimistic => "pessimistic, Get",
            Mode::PessimisticReads => "pessimistic, GetForUpdate",
        }
    }

    /// Its documentation: with SetSnapshot a transaction fails if what it writes, or has read by
    /// GetForUpdate, was written since. Reads by Get are of the snapshot.
    fn promise(&self) -> Level {
        match self.shared.mode.checks_reads() {
            true => Level::Serializable,
            false => Level::SnapshotIsolation,
        }
    }

    fn can_scan(&self) -> bool {
        false
    }

    fn begin(&self, _: bool) -> Result<Box<dyn Txn>, DriverError> {
        let it = &self.shared;
        type Four = (Handle, Handle, Handle, Handle);
        let (database, write, own, _): Four =
            (it.database, it.write_options, it.transaction_options, ptr::null_mut());
        let none: Handle = ptr::null_mut();
        let handle = match it.mode.is_optimistic() {
            true => call!(it.library, "rocksdb_optimistictransaction_begin",
                (Handle, Handle, Handle, Handle) -> Handle, database, write, own, none),
            false => call!(it.library, "rocksdb_transaction_begin",
                (Handle, Handle, Handle, Handle) -> Handle, database, write, own, none),
        };
        let snapshot =
            call!(it.library, "rocksdb_transaction_get_snapshot", (Handle) -> Handle, handle);
        let read_options = call!(it.library, "rocksdb_readoptions_create", () -> Handle,);
        call!(
            it.library,
            "rocksdb_readoptions_set_snapshot",
            (Handle, Handle),
            read_options,
            snapshot
        );
        let shared = Arc::clone(it);
        Ok(Box::new(RocksDbTxn { shared, handle, snapshot, read_options }))
    }
}

/// What the library says in such a text, if it says something.
fn checked(library: &Library, problem: *mut c_char) -> Result<(), DriverError> {
    if problem.is_null() {
        return Ok(());
    }
    let text = unsafe { CStr::from_ptr(problem) }.to_string_lossy().into_owned();
    call!(library, "rocksdb_free", (Handle), problem.cast());
    let refusals = ["Resource busy", "Operation timed out", "Operation failed. Try again", "Busy"];
    match refusals.iter().any(|beginning| text.starts_with(beginning)) {
        true => Err(DriverError::Refused(text)),
        false => Err(DriverError::Other(text)),
    }
}

struct RocksDbTxn {
    shared: Arc<Shared>,
    handle: Handle,
    snapshot: Handle,
    read_options: Handle,
}

unsafe impl Send for RocksDbTxn {}

impl Txn for RocksDbTxn {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, DriverError> {
        let library = &self.shared.library;
        let (mut length, mut problem) = (0_usize, ptr::null_mut());
        let (own, read, start) = (self.handle, self.read_options, key.as_ptr().cast());
        let value = match self.shared.mode.checks_reads() {
            true => call!(library, "rocksdb_transaction_get_for_update",
                (Handle, Handle, *const c_char, usize, *mut usize, c_uchar, Problem)
                    -> *mut c_char,
                own, read, start, key.len(), &mut length, 1, &mut problem),
            false => call!(library, "rocksdb_transaction_get",
                (Handle, Handle, *const c_char, usize, *mut usize, Problem) -> *mut c_char,
                own, read, start, key.len(), &mut length, &mut problem),
        };
        checked(library, problem)?;
        if value.is_null() {
            return Ok(None);
        }
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length) }.to_vec();
        call!(library, "rocksdb_free", (Handle), value.cast());
        Ok(Some(bytes))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), DriverError> {
        let mut problem = ptr::null_mut();
        call!(
            self.shared.library,
            "rocksdb_transaction_put",
            (Handle, *const c_char, usize, *const c_char, usize, Problem),
            self.handle,
            key.as_ptr().cast(),
            key.len(),
            value.as_ptr().cast(),
            value.len(),
            &mut problem
        );
        checked(&self.shared.library, problem)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), DriverError> {
        let mut problem = ptr::null_mut();
        call!(
            self.shared.library,
            "rocksdb_transaction_delete",
            (Handle, *const c_char, usize, Problem),
            self.handle,
            key.as_ptr().cast(),
            key.len(),
            &mut problem
        );
        checked(&self.shared.library, problem)
    }

    fn commit(self: Box<Self>) -> Result<(), DriverError> {
        let mut problem = ptr::null_mut();
        call!(
            self.shared.library,
            "rocksdb_transaction_commit",
            (Handle, Problem),
            self.handle,
            &mut problem
        );
        checked(&self.shared.library, problem)
    }

    fn rollback(self: Box<Self>) -> Result<(), DriverError> {
        let mut problem = ptr::null_mut();
        call!(
            self.shared.library,
            "rocksdb_transaction_rollback",
            (Handle, Problem),
            self.handle,
            &mut problem
        );
        checked(&self.shared.library, problem)
    }
}

impl RocksDbTxn {
    fn free(&mut self) -> Result<(), DriverError> {
        let library = &self.shared.library;
        call!(library, "rocksdb_readoptions_destroy", (Handle), self.read_options);
        call!(library, "rocksdb_free", (Handle), self.snapshot);
        call!(library, "rocksdb_transaction_destroy", (Handle), self.handle);
        Ok(())
    }
}

impl Drop for RocksDbTxn {
    fn drop(&mut self) {
        // All of these functions have been used before, or are beside those that have.
        let _ = self.free();
    }
}

impl Shared {
    fn close(&mut self) -> Result<c_int, DriverError> {
        match self.mode.is_optimistic() {
            true => call!(
                self.library,
                "rocksdb_optimistictransactiondb_close",
                (Handle),
                self.database
            ),
            false => call!(self.library, "rocksdb_transactiondb_close", (Handle), self.database),
        }
        Ok(0)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = self.close();
    }
}
