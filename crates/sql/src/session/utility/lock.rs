//! LOCK TABLE.

use super::done;
use crate::catalog::Relation;
use crate::error::{Result, SqlError, code};
use crate::execute::Exec;
use crate::locks::{Mode, Outcome, Patience, Target};
use crate::parse::ast::Name;
use crate::session::{Reply, Session, Status};

impl Session {
    pub(super) fn lock_tables(
        &mut self,
        tables: &[Name],
        mode: Mode,
        nowait: bool,
    ) -> Result<Reply> {
        if self.status == Status::Idle && self.txn.as_ref().is_none_or(|txn| txn.implicit) {
            return Err(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "LOCK TABLE can only be used in transaction blocks",
            ));
        }
        for name in tables {
            self.lock_one(name, mode, nowait)?;
        }
        Ok(done("LOCK TABLE"))
    }

    fn lock_one(&mut self, name: &Name, mode: Mode, nowait: bool) -> Result<()> {
        let env = self.env();
        let schema = match &name.schema {
            Some(schema) => Some(env.catalog.need_schema(schema)?),
            None => None,
        };
        let found = env.catalog.find_relation(schema, &name.name, &env.path);
        let oid = match found.and_then(|oid| env.catalog.relation_by_oid(oid)) {
            Some(Relation::Table(table)) => table.oid,
            Some(Relation::View(view)) => view.oid,
            Some(_) => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not a table or view", name.name),
                ));
            }
            None => {
                return Err(SqlError::new(
                    code::UNDEFINED_TABLE,
                    format!("relation \"{}\" does not exist", name.shown()),
                ));
            }
        };
        let Some(txn) = &mut self.txn else { return Ok(()) };
        if !txn.uses_locks {
            return Ok(());
        }
        let exec = Exec::new(&env, txn, &[]);
        let patience = if nowait { Patience::None } else { env.patience() };
        let locks = &env.database.locks;
        let owner = exec.txn.owner;
        match locks.acquire(owner, Target::Object(oid), mode, patience, &env.interrupt)? {
            Outcome::Held => {
                let lock = crate::cells::Lock::Object(oid.0);
                exec.txn.cells.hand_over(lock, mode.conflicts(mode))
            }
            Outcome::Busy => Err(SqlError::new(
                code::LOCK_NOT_AVAILABLE,
                format!("could not obtain lock on relation \"{}\"", name.name),
            )),
        }
    }
}
