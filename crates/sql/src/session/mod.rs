//! A connection: its settings, its transaction, prepared statements and portals.
//!
//! Every call blocks until it is done; a server runs them on threads of their own. Errors leave the
//! session usable: a transaction that was begun is in its failed state until it is rolled back.

mod copy;
mod extended;
mod mysql;
mod run;
mod transaction;
mod utility;

pub use copy::{CopyFormat, CopyIn, CopyOut};
pub use extended::{ExecuteReply, PortalRows, Prepared};
pub use mysql::Extent;

use crate::activity::SessionEntry;
use crate::catalog::SearchPath;
use crate::cells::CellSession;
use crate::database::{Cluster, Database};
use crate::env::{Env, Listed};
use crate::error::{Result, SqlError};
use crate::execute::{Detached, Row};
use crate::interrupt::Interrupt;
use crate::ir::OutColumn;
use crate::settings::Settings;
use crate::transaction::{Changes, TxnState};
use crate::types::Oid;
use crate::types::datetime::now;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a statement came to.
#[derive(Debug)]
pub enum Reply {
    /// Rows, and what was done.
    Rows {
        /// The columns.
        columns: Vec<OutColumn>,
        /// The rows.
        rows: Vec<Row>,
        /// What was done, as `SELECT 3`.
        tag: String,
    },
    /// What was done.
    Done(String),
    /// The client is to send rows.
    CopyIn(CopyIn),
    /// Rows for the client.
    CopyOut(CopyOut),
    /// There was no statement.
    Empty,
}

impl Reply {
    /// How many values it holds; a row takes as much room as two besides its own.
    fn size(&self) -> usize {
        match self {
            Reply::Rows { columns, rows, .. } => rows.len() * (columns.len() + 2),
            _ => 0,
        }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// No transaction was begun.
    Idle,
    /// One was begun.
    InTransaction,
    /// One was begun and has failed.
    Failed,
}

/// A connection.
pub struct Session {
    cluster: Arc<Cluster>,
    database: Arc<Database>,
    cells: Box<dyn CellSession>,
    txn: Option<TxnState>,
    status: Status,
    settings: Settings,
    /// The settings before the transaction, which come back if it fails.
    settings_before: Option<Settings>,
    /// Settings that hold until the transaction ends: name and what was before.
    local: Vec<(String, Option<String>)>,
    prepared: BTreeMap<String, Arc<Prepared>>,
    portals: BTreeMap<String, extended::Portal>,
    /// The same, for those who list them.
    listed: Arc<Listed>,
    interrupt: Arc<Interrupt>,
    user: Arc<str>,
    number: u32,
    /// What other sessions see of it.
    entry: Arc<SessionEntry>,
    temporary: Option<Oid>,
    /// The last numbers that this session took from sequences.
    values: BTreeMap<Oid, i64>,
    last_value: Option<Oid>,
    notices: Vec<SqlError>,
    uses_locks: bool,
    /// What the last statement has changed.
    changes: Changes,
    /// Values that a query may have in memory at once.
    values_max: usize,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({} on {}, {:?})", self.number, self.database.name, self.status)
    }
}

/// How many values a query may have in memory at once: about four gigabytes.
const VALUES_MAX: usize = 150_000_000;

impl Session {
    /// Connects to a database.
    pub fn connect(cluster: &Arc<Cluster>, database: &str, user: &str) -> Result<Session> {
        let found = cluster.database(database)?;
        found.connections.fetch_add(1, Ordering::SeqCst);
        let mut settings = Settings::default();
        settings.force("session_authorization", user);
        let number = cluster.counters.session.fetch_add(1, Ordering::SeqCst);
        let interrupt = Arc::new(Interrupt::default());
        let place = (found.oid, found.name.as_str());
        let entry = SessionEntry::new(number, place, user.into(), Arc::clone(&interrupt), now());
        let entry = Arc::new(entry);
        cluster.connected.add(&entry);
        Ok(Session {
            cells: cluster.store.session(),
            cluster: Arc::clone(cluster),
            database: found,
            txn: None,
            status: Status::Idle,
            settings,
            settings_before: None,
            local: Vec::new(),
            prepared: BTreeMap::new(),
            portals: BTreeMap::new(),
            listed: Arc::default(),
            interrupt,
            user: user.into(),
            number,
            entry,
            temporary: None,
            values: BTreeMap::new(),
            last_value: None,
            notices: Vec::new(),
            uses_locks: true,
            changes: Changes::default(),
            values_max: VALUES_MAX,
        })
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What ends its statements early.
    pub fn interrupt(&self) -> Arc<Interrupt> {
        Arc::clone(&self.interrupt)
    }

    /// Its number: the process identifier, to clients.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its number in the store, as histories call it.
    pub fn number_in_store(&self) -> u32 {
        self.cells.number()
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sets a setting, as a client does when it connects.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        self.settings.set(name, Some(value))
    }

    /// The client has set all that it wants from the beginning: RESET goes back to that.
    pub fn remember_settings(&mut self) {
        self.settings.begin_session();
    }

    /// What the client asks next has arrived: what others are told from now on it may miss.
    pub fn arrived(&mut self) {
        self.cells.arrived();
    }

    /// The client is about to be answered: from now on others must see what it knows.
    pub fn answered(&mut self) {
        self.cells.answered();
    }

    /// What the client is to be told.
    pub fn take_notices(&mut self) -> Vec<SqlError> {
        std::mem::take(&mut self.notices)
    }

    /// Without row locks: the semantics of the paper.
    pub fn without_locks(&mut self) {
        self.uses_locks = false;
    }

    /// What a statement may know.
    pub fn env(&self) -> Env {
        let catalog = match &self.txn {
            Some(txn) => Arc::clone(txn.edit.catalog()),
            None => self.database.catalog(),
        };
        let (session_user, role) = self.identity();
        let now = now();
        let begun = self.txn.as_ref().map_or(now, |txn| txn.begun);
        Env {
            path: self.search_path(&catalog),
            catalog,
            cluster: Arc::clone(&self.cluster),
            database: Arc::clone(&self.database),
            style: self.settings.style(begun, now),
            settings: Arc::new(self.settings.clone()),
            interrupt: Arc::clone(&self.interrupt),
            executor: &Detached,
            user: Arc::clone(&self.user),
            session_user,
            role,
            session: self.number,
            values_max: self.values_max,
            lock_timeout: self.settings.time("lock_timeout"),
            values: self.values.clone(),
            last_value: self.last_value,
            listed: Arc::clone(&self.listed),
        }
    }

    /// Whom it has become by SET SESSION AUTHORIZATION, and by SET ROLE.
    fn identity(&self) -> (Arc<str>, Arc<str>) {
        let of = |name: &str| self.settings.find(name).filter(|_| self.settings.is_set(name));
        let session: Option<Arc<str>> = of("session_authorization").map(Into::into);
        let session = session.unwrap_or_else(|| Arc::clone(&self.user));
        let role = of("role").filter(|name| name != "none").map(Into::into);
        (Arc::clone(&session), role.unwrap_or(session))
    }

    fn search_path(&self, catalog: &crate::catalog::Catalog) -> SearchPath {
        let find = |name: String| match name.as_str() {
            "$user" => catalog.schema(&self.identity().1),
            "pg_temp" => self.temporary,
            name => catalog.schema(name),
        };
        let schemas = self.settings.search_path().into_iter().filter_map(find).collect();
        SearchPath { schemas, temporary: self.temporary }
    }

    /// The schema of the session's temporary objects, made at first use.
    fn temporary_schema(&mut self) -> Oid {
        if let Some(oid) = self.temporary {
            return oid;
        }
        let oid = self.database.new_oid();
        let name = format!("pg_temp_{}", self.number);
        let made = crate::catalog::Schema { oid, name: name.into() };
        let object = crate::catalog::Object::Schema(Arc::new(made));
        self.database.change_catalog(|catalog| catalog.put(oid, object.clone()));
        if let Some(txn) = &mut self.txn {
            txn.edit.put(oid, object);
        }
        self.temporary = Some(oid);
        oid
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abort_transaction();
        self.cluster.connected.remove(self.number);
        self.database.channels.forget(self.number);
        let owner = crate::locks::Owner(u64::MAX - u64::from(self.number));
        self.database.locks.release_all(owner);
        self.database.connections.fetch_sub(1, Ordering::SeqCst);
        if let Some(schema) = self.temporary {
            self.database.change_catalog(|catalog| {
                let of_it = |object: &crate::catalog::Object| {
                    object.place().is_some_and(|(it, _)| it == schema)
                };
                let gone: Vec<Oid> =
                    catalog.objects().filter(|(_, it)| of_it(it)).map(|(oid, _)| oid).collect();
                gone.into_iter().for_each(|oid| {
                    catalog.remove(oid);
                });
                catalog.remove(schema);
            });
        }
    }
}
