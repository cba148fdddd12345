//! The library of DuckDB, loaded when it is needed: building it takes longer than all the rest.
//! What is used of its C interface is here, and all that is not safe about it.

use libloading::{Library, Symbol};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

/// Names the library's file.
const VARIABLE: &str = "SERIATIM_DUCKDB";
/// Where it is looked for otherwise, beside where the system looks.
const FOLDERS: [&str; 3] = ["/usr/local/lib", "/opt/duckdb", "/opt/homebrew/lib"];
/// Of `duckdb_result_type`: how many rows were changed, and rows.
const CHANGED_ROWS: u32 = 1;
const QUERY_RESULT: u32 = 3;

type Handle = *mut c_void;

/// `duckdb_result`, of which only the size matters.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawResult([u64; 6]);

/// The functions that are used, which live as long as the library.
#[derive(Clone, Copy)]
struct Functions {
    open: unsafe extern "C" fn(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> u32,
    close: unsafe extern "C" fn(*mut Handle),
    connect: unsafe extern "C" fn(Handle, *mut Handle) -> u32,
    disconnect: unsafe extern "C" fn(*mut Handle),
    query: unsafe extern "C" fn(Handle, *const c_char, *mut RawResult) -> u32,
    destroy: unsafe extern "C" fn(*mut RawResult),
    error: unsafe extern "C" fn(*mut RawResult) -> *const c_char,
    kind: unsafe extern "C" fn(RawResult) -> u32,
    columns: unsafe extern "C" fn(*mut RawResult) -> u64,
    rows: unsafe extern "C" fn(*mut RawResult) -> u64,
    changed: unsafe extern "C" fn(*mut RawResult) -> u64,
    value: unsafe extern "C" fn(*mut RawResult, u64, u64) -> *mut c_char,
    free: unsafe extern "C" fn(*mut c_void),
    version: unsafe extern "C" fn() -> *const c_char,
}

/// An open database. Connections keep it.
pub struct Database {
    handle: Handle,
    functions: Functions,
    /// What `functions` are part of.
    _library: Library,
}

// DuckDB locks a database itself; a connection is used by one thread at a time.
unsafe impl Send for Database {}
unsafe impl Sync for Database {}

/// A connection.
pub struct Connection {
    handle: Handle,
    database: Arc<Database>,
}

unsafe impl Send for Connection {}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a connection of DuckDB {}", self.database.version())
    }
}

/// What a statement came to: rows as text, if it has any, and how many it changed.
pub type Rows = (Option<Vec<Vec<Option<String>>>>, u64);

/// Loads the library; why not, if it cannot.
fn load() -> Result<Library, String> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        // Its initialisers are as trustworthy as whoever names it.
        return unsafe { Library::new(&path) }
            .map_err(|error| format!("the library that {VARIABLE} names: {error}"));
    }
    let name = libloading::library_filename("duckdb");
    let elsewhere = FOLDERS.iter().map(|folder| PathBuf::from(folder).join(&name));
    let mut places = std::iter::once(PathBuf::from(&name)).chain(elsewhere);
    let found = places.find_map(|place| unsafe { Library::new(place) }.ok());
    found.ok_or_else(|| {
        format!(
            "{} is not to be found; set {VARIABLE} to its path. It is on DuckDB's page of \
             releases, and in npm's package @duckdb/node-bindings-linux-x64 (`npm install` of it, \
             then node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so)",
            name.display()
        )
    })
}

/// A function of the library.
fn function<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // Each is asked for with the type that DuckDB's header gives it.
    let found: Result<Symbol<'_, T>, _> = unsafe { library.get(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|error| format!("this is no library of DuckDB: {error}"))
}

impl Functions {
    fn of(library: &Library) -> Result<Functions, String> {
        Ok(Functions {
            open: function(library, "duckdb_open_ext")?,
            close: function(library, "duckdb_close")?,
            connect: function(library, "duckdb_connect")?,
            disconnect: function(library, "duckdb_disconnect")?,
            query: function(library, "duckdb_query")?,
            destroy: function(library, "duckdb_destroy_result")?,
            error: function(library, "duckdb_result_error")?,
            kind: function(library, "duckdb_result_return_type")?,
            columns: function(library, "duckdb_column_count")?,
            rows: function(library, "duckdb_row_count")?,
            changed: function(library, "duckdb_rows_changed")?,
            value: function(library, "duckdb_value_varchar")?,
            free: function(library, "duckdb_free")?,
            version: function(library, "duckdb_library_version")?,
        })
    }

    /// A text that the library keeps.
    fn text(text: *const c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// A text that the library gives away.
    fn taken(&self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        let taken = Functions::text(text);
        unsafe { (self.free)(text.cast()) };
        Some(taken)
    }
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a text with a zero byte".to_owned())
}

impl Database {
    /// Opens a file, or a database in memory (`:memory:`).
    pub fn open(path: &str) -> Result<Database, String> {
        let library = load()?;
        let functions = Functions::of(&library)?;
        let (mut handle, mut problem) = (ptr::null_mut(), ptr::null_mut());
        let path = c_text(path)?;
        let state =
            unsafe { (functions.open)(path.as_ptr(), &mut handle, ptr::null_mut(), &mut problem) };
        if state != 0 {
            return Err(functions.taken(problem).unwrap_or_else(|| "cannot be opened".to_owned()));
        }
        Ok(Database { handle, functions, _library: library })
    }

    /// The version of the library.
    pub fn version(&self) -> String {
        Functions::text(unsafe { (self.functions.version)() })
    }

    /// Another connection.
    pub fn connect(self: &Arc<Database>) -> Result<Connection, String> {
        let mut handle = ptr::null_mut();
        if unsafe { (self.functions.connect)(self.handle, &mut handle) } != 0 {
            return Err("no connection".to_owned());
        }
        Ok(Connection { handle, database: Arc::clone(self) })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        unsafe { (self.functions.close)(&mut self.handle) };
    }
}

impl Connection {
    /// Runs a statement.
    pub fn run(&mut self, text: &str) -> Result<Rows, String> {
        let functions = self.database.functions;
        let text = c_text(text)?;
        let mut result = RawResult([0; 6]);
        let state = unsafe { (functions.query)(self.handle, text.as_ptr(), &mut result) };
        let answer = match state {
            0 => Ok(rows(&functions, &mut result)),
            _ => Err(Functions::text(unsafe { (functions.error)(&mut result) })),
        };
        unsafe { (functions.destroy)(&mut result) };
        answer
    }
}

fn rows(functions: &Functions, result: &mut RawResult) -> Rows {
    match unsafe { (functions.kind)(*result) } {
        QUERY_RESULT => {}
        CHANGED_ROWS => return (None, unsafe { (functions.changed)(result) }),
        _ => return (None, 0),
    }
    let (rows, columns) = unsafe { ((functions.rows)(result), (functions.columns)(result)) };
    let mut value =
        |row, column| functions.taken(unsafe { (functions.value)(result, column, row) });
    let all = (0..rows).map(|row| (0..columns).map(|column| value(row, column)).collect());
    (Some(all.collect()), 0)
}

impl Drop for Connection {
    fn drop(&mut self) {
        unsafe { (self.database.functions.disconnect)(&mut self.handle) };
    }
}
