//! What a statement may know: the catalog as its transaction sees it, the settings of its session,
//! and names of objects.

mod executor;
mod listed;
pub mod reg_names;

pub use executor::Executor;
pub use listed::{Listed, ListedCursor, ListedStatement};

use crate::bind::{BindContext, Binder, Params};
use crate::catalog::builtin::Proc;
use crate::catalog::type_names::format_type;
use crate::catalog::{Catalog, SearchPath, UserTypeKind};
use crate::database::{Cluster, Database};
use crate::error::{Result, SqlError, code};
use crate::interrupt::Interrupt;
use crate::locks::Patience;
use crate::settings::Settings;
use crate::types::{Datum, Oid, Style, TypeKind, TypeLookup};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a statement may know.
#[derive(Debug)]
pub struct Env {
    /// All databases.
    pub cluster: Arc<Cluster>,
    /// The database.
    pub database: Arc<Database>,
    /// The catalog, with what the own transaction changed.
    pub catalog: Arc<Catalog>,
    /// Where names are looked for.
    pub path: SearchPath,
    /// How values are read and written.
    pub style: Style,
    /// The settings of the session.
    pub settings: Arc<Settings>,
    /// What ends the statement early.
    pub interrupt: Arc<Interrupt>,
    /// What evaluates expressions for those that stand below it.
    pub executor: &'static dyn Executor,
    /// The user that has connected, who owns everything.
    pub user: Arc<str>,
    /// Whom the session has become by SET SESSION AUTHORIZATION.
    pub session_user: Arc<str>,
    /// Whom it has become by SET ROLE.
    pub role: Arc<str>,
    /// The number of the session, its process identifier to clients.
    pub session: u32,
    /// How many values may be in memory at once for a query: a row has two besides its own.
    pub values_max: usize,
    /// How long to wait for a lock, if not forever.
    pub lock_timeout: Option<Duration>,
    /// The last numbers that the session took from sequences.
    pub values: BTreeMap<Oid, i64>,
    /// The sequence that the last one was taken from.
    pub last_value: Option<Oid>,
    /// What the session has prepared and declared.
    pub listed: Arc<Listed>,
}

impl Env {
    /// A binder for a statement with this text.
    pub fn binder<'b>(&'b self, source: &'b str) -> Binder<'b> {
        self.binder_with(source, Params::default())
    }

    /// A binder for a statement with parameters.
    pub fn binder_with<'b>(&'b self, source: &'b str, params: Params) -> Binder<'b> {
        Binder::new(&self.catalog, &self.path, &self.style, self, source, params)
    }

    /// How long to wait for a lock.
    pub fn patience(&self) -> Patience {
        Patience::Until(self.lock_timeout.map(|timeout| Instant::now() + timeout))
    }
}

impl BindContext for Env {
    fn runs(&self, proc: &Proc) -> bool {
        self.executor.runs(proc)
    }
}

impl TypeLookup for Env {
    fn kind(&self, ty: Oid) -> Option<TypeKind> {
        self.catalog.kind(ty)
    }

    fn type_name(&self, ty: Oid, typmod: i32) -> String {
        format_type(&self.catalog, &self.path, ty, typmod)
    }

    fn array_of(&self, ty: Oid) -> Option<Oid> {
        self.catalog.array_of(ty)
    }

    fn reg_in(&self, ty: Oid, text: &str) -> Result<u32> {
        reg_names::reg_in(self, ty, text)
    }

    fn reg_out(&self, ty: Oid, value: u32) -> String {
        reg_names::reg_out(self, ty, value)
    }

    fn check_domain(&self, domain: Oid, value: &Datum) -> Result<()> {
        let Some(ty) = self.catalog.user_type(domain) else { return Ok(()) };
        let UserTypeKind::Domain(it) = &ty.kind else { return Ok(()) };
        let about = |mut error: SqlError| {
            let fields = error.fields_mut();
            fields.schema = Some(self.catalog.schema_name(ty.schema).to_string());
            fields.data_type = Some(ty.name.to_string());
            error
        };
        if it.not_null && value.is_null() {
            return Err(about(SqlError::new(
                code::NOT_NULL_VIOLATION,
                format!("domain {} does not allow null values", ty.name),
            )));
        }
        for (_, name, text) in &it.checks {
            let check = self.binder("").domain_check(text, it.base)?;
            if let Datum::Bool(false) = self.executor.value_over(self, &check, value)? {
                let mut error = about(SqlError::new(
                    code::CHECK_VIOLATION,
                    format!("value for domain {} violates check constraint \"{name}\"", ty.name),
                ));
                error.fields_mut().constraint = Some(name.to_string());
                return Err(error);
            }
        }
        Ok(())
    }
}
