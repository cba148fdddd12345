//! PREPARE, EXECUTE and DEALLOCATE.

use super::done;
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::execute::Exec;
use crate::parse::Parsed;
use crate::session::{Reply, Session};
use crate::types::Datum;
use sqlparser::ast::{DataType, Expr};

impl Session {
    pub(super) fn prepare_statement(
        &mut self,
        name: &str,
        types: &[DataType],
        statement: &Parsed,
        text: &str,
    ) -> Result<Reply> {
        if self.prepared.contains_key(name) {
            return Err(SqlError::new(
                code::DUPLICATE_PREPARED_STATEMENT,
                format!("prepared statement \"{name}\" already exists"),
            ));
        }
        let env = self.env();
        let mut oids = Vec::new();
        for ty in types {
            oids.push(env.binder(text).data_type(ty)?.0);
        }
        let mut parsed = statement.clone();
        parsed.text = text.to_owned();
        let prepared = self.analyze(parsed, &oids, true)?;
        self.keep_statement(name, prepared);
        Ok(done("PREPARE"))
    }

    pub(super) fn execute_statement(
        &mut self,
        name: &str,
        args: &[Expr],
        text: &str,
    ) -> Result<Reply> {
        let prepared = self.prepared(name)?;
        if args.len() != prepared.params.len() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                format!("wrong number of parameters for prepared statement \"{name}\""),
            )
            .detail(format!(
                "Expected {} parameters but got {}.",
                prepared.params.len(),
                args.len()
            )));
        }
        let env = self.env();
        let mut values: Vec<Datum> = Vec::new();
        for (arg, &ty) in args.iter().zip(&prepared.params) {
            let expr = env.binder(text).value_of(arg, ty, CastContext::Assignment)?;
            let Some(txn) = &mut self.txn else {
                return Err(SqlError::internal("no transaction"));
            };
            values.push(Exec::new(&env, txn, &[]).eval(&expr, &[])?);
        }
        let Some(parsed) = &prepared.parsed else { return Ok(Reply::Empty) };
        let reply = self.statement(parsed, &values, &prepared.params)?;
        if let Reply::Rows { columns, .. } = &reply {
            prepared.check_columns(columns)?;
        }
        Ok(reply)
    }

    pub(super) fn deallocate(&mut self, name: Option<&str>) -> Result<Reply> {
        let Some(name) = name else {
            self.prepared.clear();
            self.list_again();
            return Ok(done("DEALLOCATE ALL"));
        };
        self.prepared(name)?;
        self.close_statement(name);
        Ok(done("DEALLOCATE"))
    }
}
