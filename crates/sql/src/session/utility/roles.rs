//! Roles: made, changed, dropped, granted to. All of them may do everything.

use super::done;
use crate::env::reg_names::{relation_of, role_named};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{Name, RoleChange, RoleName};
use crate::roles::{exists, missing};
use crate::session::{Reply, Session};
use std::sync::Arc;

impl Session {
    /// The name of a role that must be there.
    fn role(&self, name: &RoleName) -> Result<Arc<str>> {
        let env = self.env();
        Ok(match name {
            RoleName::Current => env.role,
            RoleName::Session => env.session_user,
            RoleName::Public => "public".into(),
            RoleName::Named(name) => {
                role_named(&env, name).ok_or_else(|| missing(name))?;
                name.as_str().into()
            }
        })
    }

    fn check_roles(&self, names: &[RoleName]) -> Result<()> {
        names.iter().try_for_each(|name| self.role(name).map(|_| ()))
    }

    pub(super) fn create_role(&mut self, name: &str, change: &RoleChange) -> Result<Reply> {
        if name.starts_with("pg_") {
            let message = format!("role name \"{name}\" is reserved");
            return Err(SqlError::new(code::RESERVED_NAME, message)
                .detail("Role names starting with \"pg_\" are reserved."));
        }
        if role_named(&self.env(), name).is_some() {
            return Err(exists(name));
        }
        self.check_roles(&change.roles)?;
        let oid = self.database.new_oid();
        self.cluster.roles.create(name, oid, &change.attributes, change.limit)?;
        Ok(done("CREATE ROLE"))
    }

    pub(super) fn alter_role(&mut self, name: &RoleName, change: &RoleChange) -> Result<Reply> {
        let name = self.role(name)?;
        self.check_roles(&change.roles)?;
        self.cluster.roles.alter(&name, &change.attributes, change.limit);
        Ok(done("ALTER ROLE"))
    }

    pub(super) fn rename_role(&mut self, name: &RoleName, to: &str) -> Result<Reply> {
        let name = self.role(name)?;
        if self.cluster.roles.get(&name).is_none() {
            return Err(SqlError::unsupported("renaming a role that was not created"));
        }
        self.cluster.roles.rename(&name, to)?;
        Ok(done("ALTER ROLE"))
    }

    pub(super) fn drop_role(&mut self, names: &[RoleName], if_exists: bool) -> Result<Reply> {
        for name in names {
            let found = self.role(name);
            if let (true, Err(error)) = (if_exists, &found) {
                let message = format!("{}, skipping", error.message());
                self.notices.push(SqlError::new("00000", message));
                continue;
            }
            let found = found?;
            let env = self.env();
            if found == env.role || found == env.session_user {
                return Err(SqlError::new(code::OBJECT_IN_USE, "current user cannot be dropped"));
            }
            if !self.cluster.roles.remove(&found) {
                let message = format!("cannot drop role {found} because it is required");
                return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message));
            }
        }
        Ok(done("DROP ROLE"))
    }

    pub(super) fn grant(
        &mut self,
        tag: &str,
        roles: &[RoleName],
        relations: &[Name],
        schemas: &[String],
    ) -> Result<Reply> {
        self.check_relations(relations)?;
        let env = self.env();
        schemas.iter().try_for_each(|name| env.catalog.need_schema(name).map(|_| ()))?;
        self.check_roles(roles)?;
        Ok(done(tag))
    }

    /// An error unless all these are relations.
    pub(super) fn check_relations(&self, names: &[Name]) -> Result<()> {
        let env = self.env();
        for name in names {
            relation_of(&env, name.schema.as_deref(), &name.name)?;
        }
        Ok(())
    }

    /// SET ROLE and SET SESSION AUTHORIZATION: whom the session becomes must be there.
    pub(super) fn check_becomes(&self, name: &str) -> Result<()> {
        if role_named(&self.env(), name).is_some() {
            return Ok(());
        }
        let message = format!("role \"{name}\" does not exist");
        Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message))
    }
}
