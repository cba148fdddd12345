//! Databases.

use super::done;
use crate::error::{Result, SqlError, code};
use crate::session::{Reply, Session, Status};

impl Session {
    /// An error inside of a transaction block.
    pub(super) fn check_alone(&self, what: &str) -> Result<()> {
        if self.status == Status::Idle && self.txn.as_ref().is_none_or(|txn| txn.implicit) {
            return Ok(());
        }
        Err(SqlError::new(
            code::ACTIVE_SQL_TRANSACTION,
            format!("{what} cannot run inside a transaction block"),
        ))
    }

    pub(super) fn create_database(&mut self, name: &str, template: Option<&str>) -> Result<Reply> {
        self.check_alone("CREATE DATABASE")?;
        let template = template.unwrap_or("template1");
        let own = u32::from(template == self.database.name);
        self.cluster.create(name, template, own)?;
        Ok(done("CREATE DATABASE"))
    }

    pub(super) fn drop_database(
        &mut self,
        name: &str,
        if_exists: bool,
        force: bool,
    ) -> Result<Reply> {
        self.check_alone("DROP DATABASE")?;
        if name == self.database.name {
            return Err(SqlError::new(
                code::OBJECT_IN_USE,
                "cannot drop the currently open database",
            ));
        }
        if if_exists && let Err(error) = self.cluster.database(name) {
            let message = format!("{}, skipping", error.message());
            self.notices.push(SqlError::new("00000", message));
            return Ok(done("DROP DATABASE"));
        }
        crate::database::Cluster::drop(&self.cluster, name, force)?;
        Ok(done("DROP DATABASE"))
    }

    pub(super) fn rename_database(&mut self, name: &str, to: &str) -> Result<Reply> {
        if name == self.database.name {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "current database cannot be renamed",
            ));
        }
        self.cluster.rename(name, to)?;
        Ok(done("ALTER DATABASE"))
    }
}
