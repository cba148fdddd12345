//! Statements that are neither queries nor changes of rows.

mod channels;
mod cursor;
mod database;
mod explain;
mod lock;
mod prepared;
mod roles;
mod settings;

use super::{Reply, Session};
use crate::ddl::Ddl;
use crate::error::{Result, SqlError};
use crate::ir::OutColumn;
use crate::parse::Parsed;
use crate::parse::ast::{Lifetime, SetValue, Utility};
use crate::transaction::read_only;
use crate::types::{Datum, Oid};
use std::sync::Arc;

fn done(tag: &str) -> Reply {
    Reply::Done(tag.to_owned())
}

/// A column of text.
fn text_column(name: &str) -> OutColumn {
    OutColumn { name: name.into(), ty: Oid::TEXT, typmod: -1, origin: None, collation: None }
}

impl Session {
    /// Runs a statement that is no query and no change of rows; none if it is one.
    pub(super) fn utility(
        &mut self,
        parsed: &Parsed,
        params: &[Datum],
        types: &[Oid],
    ) -> Result<Option<Reply>> {
        use Utility as U;
        let Some(utility) = &parsed.utility else { return Ok(None) };
        let reply = match &**utility {
            U::Accepted(tag) => done(tag),
            U::Vacuum(relations) => {
                self.check_alone("VACUUM")?;
                self.check_relations(relations)?;
                done("VACUUM")
            }
            U::Unsupported(what) => return Err(SqlError::unsupported(what)),
            U::Maintain { tag, relations } => {
                self.check_relations(relations)?;
                done(tag)
            }
            U::CreateRole { name, change } => self.create_role(name, change)?,
            U::AlterRole { name, change } => self.alter_role(name, change)?,
            U::RenameRole { name, to } => self.rename_role(name, to)?,
            U::DropRole { names, if_exists } => self.drop_role(names, *if_exists)?,
            U::Grant { tag, roles, relations, schemas } => {
                self.grant(tag, roles, relations, schemas)?
            }
            U::CreateDatabase { name, template } => {
                self.create_database(name, template.as_deref())?
            }
            U::DropDatabase { name, if_exists, force } => {
                self.drop_database(name, *if_exists, *force)?
            }
            U::AlterDatabase { name } => {
                self.cluster.database(name)?;
                done("ALTER DATABASE")
            }
            U::RenameDatabase { name, to } => self.rename_database(name, to)?,
            U::Set { name, value, local } => self.set_setting(name, value, *local)?,
            U::Reset(name) => {
                self.set_setting(name, &SetValue::Default, false)?;
                done("RESET")
            }
            U::ResetAll => self.reset_all(),
            U::Show(name) => self.show(name)?,
            U::SetTransaction(modes) => {
                self.set_transaction(modes)?;
                done("SET")
            }
            U::SetCharacteristics(modes) => self.set_characteristics(modes)?,
            U::SetConstraints { names, deferred } => {
                self.set_constraints(names.as_deref(), *deferred)?
            }
            U::Discard(what) => self.discard(*what)?,
            U::Listen(channel) => self.listen(channel)?,
            U::Unlisten(channel) => self.unlisten(channel.as_deref())?,
            U::Notify { channel, payload } => self.notify(channel, payload)?,
            U::Prepare { name, types, statement } => {
                self.prepare_statement(name, types, statement, &parsed.text)?
            }
            U::Execute { name, args } => self.execute_statement(name, args, &parsed.text)?,
            U::Deallocate(name) => self.deallocate(name.as_deref())?,
            U::Declare(declare) => self.declare(declare, &parsed.text, params, types)?,
            U::Fetch { name, direction, is_move } => self.fetch(name, *direction, *is_move)?,
            U::Close(name) => self.close_cursor(name.as_deref())?,
            U::Lock { tables, mode, nowait } => self.lock_tables(tables, *mode, *nowait)?,
            U::Copy(copy) => self.copy(copy, &parsed.text)?,
            U::Explain { statement, analyze, format, costs } => {
                self.explain(statement, *analyze, format, *costs, params, types)?
            }
            _ => self.define(utility, &parsed.text)?,
        };
        Ok(Some(reply))
    }

    /// Changes the catalog.
    fn define(&mut self, utility: &Arc<Utility>, text: &str) -> Result<Reply> {
        if is_temporary(utility) {
            self.temporary_schema();
        }
        let env = self.env();
        let Some(txn) = &mut self.txn else { return Err(SqlError::internal("no transaction")) };
        if txn.read_only && !is_temporary(utility) {
            return Err(read_only(&verb(text)));
        }
        txn.started = true;
        let mut ddl = Ddl::new(env, txn, text);
        let tag = ddl.run(utility);
        let notices = std::mem::take(&mut ddl.notices);
        self.after_statement(notices);
        match tag? {
            Some(tag) => Ok(Reply::Done(tag)),
            None => Err(SqlError::unsupported(format!("the statement {}", verb(text)))),
        }
    }

    /// The columns of what such a statement returns.
    pub(super) fn utility_columns(&mut self, parsed: &Parsed) -> Result<Option<Vec<OutColumn>>> {
        use Utility as U;
        let Some(utility) = &parsed.utility else { return Ok(None) };
        Ok(match &**utility {
            U::Show(name) if name == "all" => {
                Some(vec![text_column("name"), text_column("setting"), text_column("description")])
            }
            U::Show(name) => Some(vec![text_column(&self.setting_shown(name))]),
            U::Explain { format, .. } => Some(vec![explain::column(format)]),
            U::Execute { name, .. } => self.prepared(name)?.columns.clone(),
            U::Fetch { name, is_move: false, .. } => {
                self.portals.get(name).and_then(|portal| portal.columns.clone())
            }
            _ => None,
        })
    }
}

fn is_temporary(utility: &Utility) -> bool {
    let lifetime = match utility {
        Utility::CreateTable(it) => {
            return it.lifetime != Lifetime::Permanent
                || it.name.schema.as_deref() == Some("pg_temp");
        }
        Utility::CreateTableAs(it) => it.lifetime,
        Utility::CreateSequence(it) => it.lifetime,
        Utility::CreateView(it) => it.lifetime,
        _ => Lifetime::Permanent,
    };
    lifetime != Lifetime::Permanent
}

/// The first two words of a statement.
fn verb(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().take(2).map(str::to_uppercase).collect();
    words.join(" ")
}
