//! A catalog that a transaction changes: what it changed is put into the common one when it
//! commits.

use super::names::Catalog;
use super::objects::Object;
use crate::types::Oid;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The catalog as a transaction sees it.
#[derive(Clone, Debug)]
pub struct CatalogEdit {
    base: Arc<Catalog>,
    /// The changed copy, once something has changed.
    changed: Option<Arc<Catalog>>,
    changes: BTreeMap<Oid, Option<Object>>,
}

impl CatalogEdit {
    /// No changes yet.
    pub fn new(base: Arc<Catalog>) -> CatalogEdit {
        CatalogEdit { base, changed: None, changes: BTreeMap::new() }
    }

    /// The catalog with all changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        self.changed.as_ref().unwrap_or(&self.base)
    }

    /// Whether anything was changed.
    pub fn is_changed(&self) -> bool {
        self.changed.is_some()
    }

    /// Others have committed changes: stands on these from now on.
    pub fn rebase(&mut self, base: &Arc<Catalog>) {
        if Arc::ptr_eq(&self.base, base) {
            return;
        }
        self.base = Arc::clone(base);
        if self.changed.is_some() {
            let mut catalog = Catalog::clone(base);
            self.apply_to(&mut catalog);
            self.changed = Some(Arc::new(catalog));
        }
    }

    fn edit(&mut self) -> &mut Catalog {
        let base = &self.base;
        Arc::make_mut(self.changed.get_or_insert_with(|| Arc::clone(base)))
    }

    /// Adds or replaces an object.
    pub fn put(&mut self, oid: Oid, object: Object) {
        self.changes.insert(oid, Some(object.clone()));
        self.edit().put(oid, object);
    }

    /// Removes an object.
    pub fn remove(&mut self, oid: Oid) {
        self.changes.insert(oid, None);
        self.edit().remove(oid);
    }

    /// Makes the same changes to another catalog.
    pub fn apply_to(&self, catalog: &mut Catalog) {
        for (&oid, change) in &self.changes {
            match change {
                Some(object) => catalog.put(oid, object.clone()),
                None => {
                    catalog.remove(oid);
                }
            }
        }
    }
}
