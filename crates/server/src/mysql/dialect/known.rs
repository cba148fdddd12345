//! What a session knows that statements may ask for.

use super::super::frontend::Param;
use super::super::variables::{UserValue, Variables};
use seriatim_sql::catalog::{Catalog, Object};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a session knows.
pub(in crate::mysql) struct Known<'s> {
    pub selected: Option<&'s str>,
    pub user: &'s str,
    pub connection: u32,
    pub last_insert_id: u64,
    pub row_count: i64,
    pub found_rows: u64,
    pub variables: &'s Variables,
    pub user_variables: &'s BTreeMap<String, UserValue>,
    pub catalog: Arc<Catalog>,
    pub params: Option<&'s [Param]>,
}

impl Known<'_> {
    /// The database that is selected, as messages name it.
    pub fn database(&self) -> &str {
        self.selected.unwrap_or("(none)")
    }
}

impl Known<'_> {
    /// A table of users.
    pub fn table(&self, database: &str, name: &str) -> Option<Arc<seriatim_sql::catalog::Table>> {
        let schema = self.catalog.schema(database)?;
        self.tables().find(|it| it.schema == schema && *it.name == *name)
    }

    /// All tables of users.
    pub fn tables(&self) -> impl Iterator<Item = Arc<seriatim_sql::catalog::Table>> + '_ {
        self.catalog.objects().filter_map(|(_, object)| match object {
            Object::Table(table) if table.materialized.is_none() => Some(Arc::clone(table)),
            _ => None,
        })
    }
}
