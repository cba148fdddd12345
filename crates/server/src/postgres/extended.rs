//! The extended protocol: statements that are prepared, given parameters and executed apart.
//!
//! Errors are sent once; what follows is skipped until Sync, which ends the transaction of what was
//! executed without one.

use super::connection::Connection;
use super::frontend::{Bind, Frontend, Target};
use super::rows::{Formats, description};
use super::wire::Wired;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{
    BindComplete, CloseComplete, ParseComplete, PortalSuspended,
};
use pgwire::messages::response::CommandComplete;
use seriatim_sql::error::code;
use seriatim_sql::ir::OutColumn;
use seriatim_sql::session::{ExecuteReply, PortalRows, Status};
use seriatim_sql::{Result, SqlError};

/// What came of a message; the outer result says whether the connection goes on.
type Answered = Wired<Result<()>>;

/// Ends an answer with the error of the session, if it is one.
macro_rules! or_refuse {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

impl Connection<'_> {
    /// Answers a message of the extended protocol.
    pub(super) fn extended(&mut self, message: Frontend) -> Answered {
        match message {
            Frontend::Parse { name, text, types } => {
                let text = self.shared.config.completed(&text);
                or_refuse!(self.session.prepare(&name, &text, &types));
                self.wire.put(&ParseComplete::new())?;
            }
            Frontend::Bind(bind) => {
                or_refuse!(self.bind(bind));
                self.wire.put(&BindComplete::new())?;
            }
            Frontend::Describe(target) => return self.describe(&target),
            Frontend::Execute { portal, rows_max } => return self.execute(&portal, rows_max),
            Frontend::Close(target) => {
                match target {
                    Target::Statement(name) => self.session.close_statement(&name),
                    Target::Portal(name) => {
                        self.session.close_portal(&name);
                        self.formats.remove(&name);
                    }
                }
                self.wire.put(&CloseComplete::new())?;
            }
            _ => return Ok(Err(SqlError::internal("no message of the extended protocol"))),
        }
        Ok(Ok(()))
    }

    fn bind(&mut self, bind: Bind) -> Result<()> {
        let Bind { portal, statement, formats, values, result_formats } = bind;
        if formats.len() > 1 && formats.len() != values.len() {
            return Err(SqlError::new(
                code::PROTOCOL_VIOLATION,
                format!(
                    "bind message has {} parameter formats but {} parameters",
                    formats.len(),
                    values.len()
                ),
            ));
        }
        if !portal.is_empty() && self.session.portal_columns(&portal).is_ok() {
            let message = format!("cursor \"{portal}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_CURSOR, message));
        }
        let values: Vec<Option<Vec<u8>>> =
            values.into_iter().map(|value| value.map(Vec::from)).collect();
        self.session.bind(&portal, &statement, &values, &formats)?;
        let columns = self.session.portal_columns(&portal)?;
        match Formats::new(result_formats, columns.map_or(0, |columns| columns.len())) {
            Ok(formats) => {
                self.formats.insert(portal, formats);
                Ok(())
            }
            Err(error) => {
                self.session.close_portal(&portal);
                Err(error)
            }
        }
    }

    fn describe(&mut self, target: &Target) -> Answered {
        match target {
            Target::Statement(name) => {
                let prepared = or_refuse!(self.session.prepared(name));
                let types = prepared.params.iter().map(|ty| ty.0).collect();
                self.wire.put(&ParameterDescription::new(types))?;
                self.describe_columns(prepared.columns.as_deref(), &Formats::default())?;
            }
            Target::Portal(name) => {
                let columns = or_refuse!(self.session.portal_columns(name));
                let formats = self.formats.get(name).cloned().unwrap_or_default();
                self.describe_columns(columns.as_deref(), &formats)?;
            }
        }
        Ok(Ok(()))
    }

    fn describe_columns(&mut self, columns: Option<&[OutColumn]>, formats: &Formats) -> Wired<()> {
        match columns {
            None => self.wire.put(&NoData::new()),
            Some(columns) => {
                let env = self.session.env();
                self.wire.put(&description(columns, formats, &env))
            }
        }
    }

    fn execute(&mut self, portal: &str, rows_max: usize) -> Answered {
        let formats = self.formats.get(portal).cloned().unwrap_or_default();
        or_refuse!(formats.check());
        let text = self.session.portal_text(portal);
        self.arrive(&text);
        let executed = self.session.execute(portal, rows_max);
        // What has no transaction of its own is answered when that is committed.
        match self.session.status() {
            Status::Idle => self.session.answered(),
            _ => self.depart(),
        }
        match or_refuse!(executed) {
            ExecuteReply::Plain(reply) => self.plain_reply(reply),
            ExecuteReply::Rows(PortalRows { columns, rows, tag }) => {
                self.send_rows(&columns.unwrap_or_default(), &rows, &formats)?;
                match tag {
                    Some(tag) => self.wire.put(&CommandComplete::new(tag))?,
                    None => self.wire.put(&PortalSuspended::new())?,
                }
                Ok(Ok(()))
            }
        }
    }

    /// Tells of an error, at once: a client may wait for it before it sends Sync. Whatever comes
    /// before that is skipped.
    pub(super) fn refuse(&mut self, error: SqlError) -> Wired<()> {
        self.session.failed();
        self.is_skipping = true;
        self.tell(&error)?;
        self.wire.flush()
    }

    /// The end of a series: what has no transaction of its own is committed.
    pub(super) fn sync(&mut self) -> Wired<()> {
        self.is_skipping = false;
        self.session.arrived();
        let finished = self.session.finish_implicit();
        self.depart();
        if let Err(error) = finished {
            self.tell(&error)?;
        }
        self.ready()
    }
}
