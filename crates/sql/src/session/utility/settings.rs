//! SET, RESET, SHOW, DISCARD and what else changes the session.

use super::{done, text_column};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{DiscardWhat, Name, SetValue};
use crate::session::{Reply, Session, Status};
use crate::types::Datum;
use sqlparser::ast::{TransactionAccessMode, TransactionMode};

impl Session {
    pub(super) fn set_setting(
        &mut self,
        name: &str,
        value: &SetValue,
        local: bool,
    ) -> Result<Reply> {
        let text = match value {
            SetValue::Default => None,
            SetValue::Text(text) => Some(text.as_str()),
        };
        let reply = done("SET");
        match name.to_lowercase().as_str() {
            "transaction_isolation" => {
                self.set_level(&text.unwrap_or("read committed").to_lowercase())?;
                return Ok(reply);
            }
            "transaction_read_only" => {
                let on = matches!(text, Some("on" | "true" | "yes" | "1"));
                self.set_read_only(on)?;
                return Ok(reply);
            }
            "role" => {
                if let Some(name) = text.filter(|name| *name != "none") {
                    self.check_becomes(name)?;
                }
            }
            "session_authorization" => return self.set_authorization(text, local),
            _ => {}
        }
        self.put_setting(name, text, local)?;
        Ok(reply)
    }

    fn put_setting(&mut self, name: &str, text: Option<&str>, local: bool) -> Result<()> {
        let is_block = self.txn.as_ref().is_some_and(|txn| !txn.implicit);
        if local && !is_block {
            self.notices.push(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "SET LOCAL can only be used in transaction blocks",
            ));
        }
        if local {
            let before = self.settings.find(name);
            self.settings.set(name, text)?;
            self.local.push((name.to_owned(), before));
        } else {
            self.settings.set(name, text)?;
            // What was set for the transaction only is set for good now.
            self.local.retain(|(it, _)| !it.eq_ignore_ascii_case(name));
        }
        Ok(())
    }

    /// SET SESSION AUTHORIZATION: the role that was set is gone with whom it was set for.
    fn set_authorization(&mut self, name: Option<&str>, local: bool) -> Result<Reply> {
        let user = std::sync::Arc::clone(&self.user);
        let name = name.unwrap_or(&user);
        self.check_becomes(name)?;
        self.put_setting("session_authorization", Some(name), local)?;
        self.put_setting("role", None, local)?;
        Ok(done("SET"))
    }

    pub(super) fn reset_all(&mut self) -> Reply {
        self.settings.reset_all();
        self.local.clear();
        done("RESET")
    }

    /// A setting with the capitals that it is shown with.
    pub(super) fn setting_shown(&self, name: &str) -> String {
        let all = self.settings.all();
        let found = all.into_iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map_or_else(|| name.to_owned(), |(name, _)| name)
    }

    pub(super) fn show(&mut self, name: &str) -> Result<Reply> {
        let tag = "SHOW".to_owned();
        if name == "all" {
            let columns =
                vec![text_column("name"), text_column("setting"), text_column("description")];
            let all = self.settings.all().into_iter();
            let rows = all
                .map(|(name, value)| vec![Datum::text(name), Datum::text(value), Datum::text("")])
                .collect();
            return Ok(Reply::Rows { columns, rows, tag });
        }
        let value = self.settings.show(name)?;
        let columns = vec![text_column(&self.setting_shown(name))];
        Ok(Reply::Rows { columns, rows: vec![vec![Datum::text(value)]], tag })
    }

    pub(super) fn set_transaction(&mut self, modes: &[TransactionMode]) -> Result<()> {
        if self.status == Status::Idle && self.txn.as_ref().is_none_or(|txn| txn.implicit) {
            self.notices.push(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION can only be used in transaction blocks",
            ));
        }
        self.set_modes(modes)
    }

    pub(super) fn set_characteristics(&mut self, modes: &[TransactionMode]) -> Result<Reply> {
        for mode in modes {
            match mode {
                TransactionMode::IsolationLevel(level) => {
                    let name = crate::session::transaction::level_name(*level)?;
                    self.settings.set("default_transaction_isolation", Some(name))?;
                }
                TransactionMode::AccessMode(mode) => {
                    let on = *mode == TransactionAccessMode::ReadOnly;
                    let value = if on { "on" } else { "off" };
                    self.settings.set("default_transaction_read_only", Some(value))?;
                }
            }
        }
        Ok(done("SET"))
    }

    pub(super) fn set_constraints(
        &mut self,
        names: Option<&[Name]>,
        deferred: bool,
    ) -> Result<Reply> {
        if self.status == Status::Idle && self.txn.as_ref().is_none_or(|txn| txn.implicit) {
            self.notices.push(SqlError::new(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "SET CONSTRAINTS can only be used in transaction blocks",
            ));
        }
        let found = match names {
            None => None,
            Some(names) => {
                let mut all = Vec::new();
                for name in names {
                    all.extend(self.constraints_named(name)?);
                }
                Some(all)
            }
        };
        if let Some(txn) = &mut self.txn {
            match found {
                None => {
                    txn.deferral.0 = Some(deferred);
                    txn.deferral.1.clear();
                }
                Some(all) => all.into_iter().for_each(|oid| {
                    txn.deferral.1.insert(oid, deferred);
                }),
            }
        }
        if !deferred {
            self.check_no_longer_deferred()?;
        }
        Ok(done("SET CONSTRAINTS"))
    }

    fn constraints_named(&self, name: &Name) -> Result<Vec<crate::types::Oid>> {
        let env = self.env();
        let in_schema = match &name.schema {
            Some(schema) => vec![env.catalog.need_schema(schema)?],
            None => env.path.all().collect(),
        };
        let mut found = Vec::new();
        for (_, object) in env.catalog.objects() {
            let crate::catalog::Object::Table(table) = object else { continue };
            if !in_schema.contains(&table.schema) {
                continue;
            }
            for constraint in table.constraints.iter().filter(|it| *it.name == *name.name) {
                if !constraint.deferrable {
                    return Err(SqlError::new(
                        code::WRONG_OBJECT_TYPE,
                        format!("constraint \"{}\" is not deferrable", name.name),
                    ));
                }
                found.push(constraint.oid);
            }
        }
        if found.is_empty() {
            return Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("constraint \"{}\" does not exist", name.shown()),
            ));
        }
        Ok(found)
    }

    pub(super) fn discard(&mut self, what: DiscardWhat) -> Result<Reply> {
        Ok(match what {
            DiscardWhat::Plans => done("DISCARD PLANS"),
            DiscardWhat::Sequences => {
                self.values.clear();
                self.last_value = None;
                done("DISCARD SEQUENCES")
            }
            DiscardWhat::Temporary => {
                self.drop_temporary();
                done("DISCARD TEMP")
            }
            DiscardWhat::All => {
                self.check_alone("DISCARD ALL")?;
                self.portals.clear();
                self.prepared.clear();
                self.list_again();
                self.settings.reset_all();
                self.set_authorization(None, false)?;
                self.values.clear();
                self.last_value = None;
                self.drop_temporary();
                self.unlisten(None)?;
                let owner = crate::locks::Owner(u64::MAX - u64::from(self.number));
                self.database.locks.release_all(owner);
                done("DISCARD ALL")
            }
        })
    }

    /// Drops all temporary objects of the session.
    fn drop_temporary(&mut self) {
        let Some(schema) = self.temporary else { return };
        let Some(txn) = &mut self.txn else { return };
        let inside =
            |object: &crate::catalog::Object| object.place().is_some_and(|(it, _)| it == schema);
        let catalog = std::sync::Arc::clone(txn.edit.catalog());
        for (oid, _) in catalog.objects().filter(|(_, object)| inside(object)) {
            txn.edit.remove(oid);
        }
    }
}
