//! Collations by name: those that are always there, and those that users made.

use super::objects::Object;
use super::system::facts;
use super::{Catalog, SearchPath, schema};
use crate::error::{Result, SqlError, code};
use crate::types::{Collation, Oid};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

impl Catalog {
    /// The collation of a name.
    pub fn need_collation(
        &self,
        schema_name: Option<&str>,
        name: &str,
        path: &SearchPath,
    ) -> Result<Oid> {
        let schemas: Vec<Oid> = match schema_name {
            Some(name) => vec![self.need_schema(name)?],
            None => path.all().collect(),
        };
        let found = schemas.into_iter().find_map(|at| match at {
            schema::PG_CATALOG => facts::collation_named(name),
            at => self
                .collations_of_users()
                .find(|it| it.schema == at && *it.name == *name)
                .map(|it| it.oid),
        });
        found.ok_or_else(|| {
            let shown = match schema_name {
                Some(schema) => format!("{schema}.{name}"),
                None => name.to_owned(),
            };
            let message = format!("collation \"{shown}\" for encoding \"UTF8\" does not exist");
            SqlError::new(code::UNDEFINED_OBJECT, message)
        })
    }

    /// The collations that users made.
    pub fn collations_of_users(&self) -> impl Iterator<Item = &Arc<super::NamedCollation>> {
        self.objects().filter_map(|(_, object)| match object {
            Object::Collation(it) => Some(it),
            _ => None,
        })
    }

    /// A collation by its identifier.
    pub fn collation(&self, oid: Oid) -> Result<Arc<Collation>> {
        if let Some(Object::Collation(it)) = self.get(oid) {
            return Ok(Arc::clone(&it.collation));
        }
        // Those that are always there are made once.
        static MADE: OnceLock<Mutex<FxHashMap<Oid, Arc<Collation>>>> = OnceLock::new();
        let made = MADE.get_or_init(Mutex::default);
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.get(&oid) {
            return Ok(Arc::clone(found));
        }
        let (name, locale) = facts::fixed_collation(oid)
            .ok_or_else(|| SqlError::internal(format!("no collation {}", oid.0)))?;
        let new = Arc::new(match locale {
            Some(locale) => Collation::of_icu(oid, &name, &locale, true)?,
            None => Collation::of_bytes(oid, &name),
        });
        made.insert(oid, Arc::clone(&new));
        Ok(new)
    }

    /// The collation that something says it has.
    pub fn own_collation(&self, own: Option<Oid>) -> Result<Option<Arc<Collation>>> {
        own.map(|oid| self.collation(oid)).transpose()
    }

    /// Whose a collation is, and its locale.
    pub fn collation_source(&self, oid: Oid) -> (char, Option<Arc<str>>) {
        match self.get(oid) {
            Some(Object::Collation(it)) => (it.provider, it.locale.clone()),
            _ => match facts::fixed_collation(oid) {
                Some((_, Some(locale))) => ('i', Some(locale)),
                found => ('c', found.map(|(name, _)| name)),
            },
        }
    }

    /// The name of a collation.
    pub fn collation_name(&self, oid: Oid) -> Option<Arc<str>> {
        match self.get(oid) {
            Some(Object::Collation(it)) => Some(Arc::clone(&it.name)),
            _ => facts::fixed_collation(oid).map(|(name, _)| name),
        }
    }
}
