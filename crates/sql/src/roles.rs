//! Roles that users made. They exist, so that scripts that make them, grant to them and become them
//! run as they do elsewhere; every role may do everything. They belong to all databases and, as
//! sequences, are no part of a transaction.

use crate::error::{Result, SqlError, code};
use crate::types::Oid;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// What a role is said to be able to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Attribute {
    Superuser,
    Inherit,
    CreateRole,
    CreateDb,
    Login,
    Replication,
    BypassRls,
}

/// A role.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its identifier.
    pub oid: Oid,
    /// How many connections it may have.
    pub limit: i32,
    attributes: Vec<Attribute>,
}

impl Role {
    /// Whether it has an attribute.
    pub fn has(&self, attribute: Attribute) -> bool {
        self.attributes.contains(&attribute)
    }

    fn change(&mut self, changes: &[(Attribute, bool)], limit: Option<i32>) {
        for &(attribute, on) in changes {
            self.attributes.retain(|it| *it != attribute);
            if on {
                self.attributes.push(attribute);
            }
        }
        self.limit = limit.unwrap_or(self.limit);
    }
}

/// All roles that were made.
#[derive(Default, Debug)]
pub struct Roles(RwLock<BTreeMap<String, Role>>);

impl Roles {
    /// The same roles, which change on their own from now on.
    pub fn copy(&self) -> Roles {
        Roles(RwLock::new(self.all()))
    }

    /// A role by its name.
    pub fn get(&self, name: &str) -> Option<Role> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All of them, by name.
    pub fn all(&self) -> BTreeMap<String, Role> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes one.
    pub fn create(
        &self,
        name: &str,
        oid: Oid,
        changes: &[(Attribute, bool)],
        limit: Option<i32>,
    ) -> Result<()> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.contains_key(name) {
            return Err(exists(name));
        }
        let mut role = Role { oid, limit: -1, attributes: vec![Attribute::Inherit] };
        role.change(changes, limit);
        all.insert(name.to_owned(), role);
        Ok(())
    }

    /// Changes one; whether there is one of the name.
    pub fn alter(&self, name: &str, changes: &[(Attribute, bool)], limit: Option<i32>) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = all.get_mut(name);
        found.map(|role| role.change(changes, limit)).is_some()
    }

    /// Gives one another name.
    pub fn rename(&self, name: &str, to: &str) -> Result<()> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.contains_key(to) {
            return Err(exists(to));
        }
        let role = all.remove(name).ok_or_else(|| missing(name))?;
        all.insert(to.to_owned(), role);
        Ok(())
    }

    /// Removes one; whether there was one of the name.
    pub fn remove(&self, name: &str) -> bool {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name).is_some()
    }
}

/// There is no such role.
pub fn missing(name: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
}

/// There is one already.
pub fn exists(name: &str) -> SqlError {
    SqlError::new(code::DUPLICATE_OBJECT, format!("role \"{name}\" already exists"))
}
