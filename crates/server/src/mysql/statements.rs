//! Statements about the session: transactions, SET, USE, and what is accepted without a meaning.

use super::dialect::words::Words;
use super::dialect::{expression, of_utility, value_query};
use super::error::MysqlError;
use super::session::{Made, MysqlSession, Outcome};
use super::variables::{UserValue, Variables, shown};
use seriatim_sql::Datum;
use seriatim_sql::cells::TxnLevel;
use seriatim_sql::functions::Call;
use seriatim_sql::parse::ast::{Drop, Name, ObjectKind, Utility};
use seriatim_sql::session::{Extent, Reply};
use seriatim_sql::{Oid, types};
use sqlparser::tokenizer::Token;

/// Where a variable is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    /// `SET x`: the session.
    Plain,
    Session,
    Global,
}

impl MysqlSession {
    /// Runs a statement about the session.
    pub fn about_session(&mut self, mut words: Words) -> Made<Outcome> {
        let first = words.next_word();
        words.eat(&first);
        match first.as_str() {
            "begin" => {
                words.eat("work");
                words.finish()?;
                self.begin(None)
            }
            "start" => self.start(words),
            "commit" => self.end(words, true),
            "rollback" => self.end(words, false),
            "savepoint" => {
                let name = words.name()?.to_lowercase();
                self.open(Extent::Block)?;
                let made = self.sql.set_savepoint(&name);
                made.map_err(|error| self.refused(&error))?;
                Ok(self.done())
            }
            "release" => {
                words.eat("savepoint");
                let name = words.name()?.to_lowercase();
                self.known_savepoint(&name)?;
                let made = self.sql.release_savepoint(&name);
                made.map_err(|error| self.refused(&error))?;
                Ok(self.done())
            }
            "use" => {
                let name = words.name()?;
                self.select_database(&name)?;
                Ok(self.done())
            }
            "set" => self.set(words),
            "show" => self.show(words),
            "describe" | "desc" => self.describe(words),
            "explain" => self.explain(words),
            "drop" => self.drop_database(words),
            "do" => {
                words.rest();
                Ok(self.done())
            }
            "kill" => Err(MysqlError::unsupported("KILL")),
            // Nothing here depends on them.
            "flush" | "analyze" | "optimize" | "grant" | "revoke" | "unlock" | "reset" => {
                words.rest();
                Ok(self.done())
            }
            "lock" => Err(MysqlError::unsupported("LOCK TABLES")),
            "" => Err(words.error()),
            other => match other {
                "create" | "alter" | "call" | "handler" | "load" | "prepare" | "execute"
                | "deallocate" | "xa" | "check" | "repair" | "checksum" | "table" => {
                    let text: Vec<&str> = words.text().split_whitespace().take(2).collect();
                    Err(MysqlError::unsupported(text.join(" ")))
                }
                _ => Err(MysqlError::syntax(words.text(), 1)),
            },
        }
    }

    fn known_savepoint(&self, name: &str) -> Made<()> {
        if self.is_in_transaction() {
            return Ok(());
        }
        Err(MysqlError::new(1305, "42000", format!("SAVEPOINT {name} does not exist")))
    }

    /// A transaction begins; what was open is committed.
    fn begin(&mut self, read_only: Option<bool>) -> Made<Outcome> {
        if self.is_in_transaction() {
            self.commit()?;
        }
        self.next.read_only = read_only.or(self.next.read_only);
        self.open(Extent::Block)?;
        Ok(self.done())
    }

    fn start(&mut self, mut words: Words) -> Made<Outcome> {
        if !words.eat("transaction") {
            return Err(words.error());
        }
        let (mut read_only, mut takes_snapshot) = (None, false);
        loop {
            if words.eat("read only") {
                read_only = Some(true);
            } else if words.eat("read write") {
                read_only = Some(false);
            } else if words.eat("with consistent snapshot") {
                takes_snapshot = true;
            } else {
                words.finish()?;
                break;
            }
            words.eat_token(&Token::Comma);
        }
        let outcome = self.begin(read_only)?;
        if takes_snapshot {
            let looked = seriatim_sql::parse::statements("SELECT 1");
            let looked = looked.map_err(|error| self.refused(&error))?;
            for parsed in &looked {
                let ran = self.sql.run_parsed(parsed, &[], &[]);
                ran.map_err(|error| self.refused(&error))?;
            }
        }
        Ok(outcome)
    }

    /// COMMIT and ROLLBACK.
    fn end(&mut self, mut words: Words, commits: bool) -> Made<Outcome> {
        words.eat("work");
        if !commits && words.eat("to") {
            words.eat("savepoint");
            let name = words.name()?.to_lowercase();
            self.known_savepoint(&name)?;
            let made = self.sql.back_to_savepoint(&name);
            made.map_err(|error| self.refused(&error))?;
            return Ok(self.done());
        }
        let chains = words.eat("and chain");
        words.eat("and no chain");
        words.eat("no release");
        words.finish()?;
        match commits {
            true => self.commit()?,
            false => self.sql.abort_open(),
        }
        if chains {
            self.open(Extent::Block)?;
        }
        Ok(self.done())
    }

    fn set(&mut self, mut words: Words) -> Made<Outcome> {
        loop {
            self.set_one(&mut words)?;
            if !words.eat_token(&Token::Comma) {
                break;
            }
        }
        words.finish()?;
        self.row_count = 0;
        Ok(self.done())
    }

    fn set_one(&mut self, words: &mut Words) -> Made<()> {
        if words.eat("names") {
            words.name()?;
            if words.eat("collate") {
                words.name()?;
            }
            return Ok(());
        }
        if words.eat("character set") || words.eat("charset") {
            words.name()?;
            return Ok(());
        }
        if words.eat("password") || words.eat("default role") || words.eat("role") {
            words.rest();
            return Ok(());
        }
        let scope = match words.eat_any(&["global", "session", "local", "persist"]).as_deref() {
            Some("global" | "persist") => Scope::Global,
            Some(_) => Scope::Session,
            None => Scope::Plain,
        };
        if words.eat("transaction") {
            return self.set_transaction(words, scope);
        }
        let name = words.name()?;
        let (scope, name) = match name.to_lowercase().as_str() {
            "@@global" => (Scope::Global, self.behind_dot(words)?),
            "@@session" | "@@local" => (Scope::Session, self.behind_dot(words)?),
            other if other.starts_with("@@") => (scope, name[2..].to_owned()),
            _ => (scope, name),
        };
        let assigns = words.eat_token(&Token::Eq) || words.eat_token(&Token::Assignment);
        if !assigns {
            return Err(words.error());
        }
        if let Some(name) = name.strip_prefix('@') {
            let value = self.evaluate(words)?;
            self.user_variables.insert(name.to_lowercase(), value);
            return Ok(());
        }
        self.set_variable(words, scope, &name)
    }

    fn behind_dot(&self, words: &mut Words) -> Made<String> {
        match words.eat_token(&Token::Period) {
            true => words.name(),
            false => Err(words.error()),
        }
    }

    fn set_variable(&mut self, words: &mut Words, scope: Scope, name: &str) -> Made<()> {
        let value = if words.eat("default") {
            Variables::default_of(name).ok_or_else(|| MysqlError::unknown_variable(name))?
        } else {
            self.plain_value(words)?
        };
        let (key, value) = self.variables.checked(name, &value)?;
        if scope == Scope::Global {
            self.globals.set(&key, value);
            return Ok(());
        }
        match key.as_str() {
            // Turning it on ends what is open.
            "autocommit" if value == "ON" && self.is_in_transaction() => self.commit()?,
            "transaction_isolation" => self.has_level = true,
            _ => {}
        }
        self.variables.put(key, value);
        Ok(())
    }

    /// A value that may be a bare word: `ON`, `utf8mb4`.
    fn plain_value(&mut self, words: &mut Words) -> Made<String> {
        let mut ahead = words.clone();
        let tokens = ahead.until_comma();
        if let [only] = &tokens[..]
            && let Token::Word(word) = &only.token
            && !word.value.starts_with('@')
        {
            *words = ahead;
            return Ok(word.value.clone());
        }
        self.evaluate(words).map(|value| shown(&value))
    }

    /// The value of an expression.
    fn evaluate(&mut self, words: &mut Words) -> Made<UserValue> {
        let expr = expression(words.until_comma())?;
        let parsed = value_query(expr, &self.known(None))?;
        let is_open = self.is_in_transaction();
        self.open(Extent::Statement)?;
        let reply = self.sql.run_parsed(&parsed, &[], &[]);
        let reply = reply.map_err(|error| self.refused(&error))?;
        if !is_open {
            self.commit()?;
        }
        let Reply::Rows { columns, rows, .. } = reply else { return Ok(UserValue::Null) };
        let env = self.env();
        let value = rows.first().and_then(|row| row.first());
        let ty = columns.first().map_or(Oid::TEXT, |column| column.ty);
        let call = Call { args: &[], result: Oid::TEXT, style: &env.style, types: &env };
        Ok(match value {
            None | Some(Datum::Null) => UserValue::Null,
            Some(Datum::Bool(value)) => UserValue::Number(u8::from(*value).to_string()),
            Some(
                value @ (Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) | Datum::Numeric(_)),
            ) => UserValue::Number(types::output(value, ty, &call)),
            Some(value) => UserValue::Text(types::output(value, ty, &call)),
        })
    }

    fn set_transaction(&mut self, words: &mut Words, scope: Scope) -> Made<()> {
        if scope == Scope::Plain && self.is_in_transaction() {
            let message =
                "Transaction characteristics can't be changed while a transaction is in progress";
            return Err(MysqlError::new(1568, "25001", message));
        }
        loop {
            if words.eat("isolation level") {
                let all = ["read uncommitted", "read committed", "repeatable read", "serializable"];
                let level = words.eat_any(&all).ok_or_else(|| words.error())?;
                self.set_level(scope, &level);
            } else if let Some(access) = words.eat_any(&["read only", "read write"]) {
                let is_read_only = access == "read only";
                match scope {
                    Scope::Plain => self.next.read_only = Some(is_read_only),
                    _ => self.put(scope, "transaction_read_only", on_off(is_read_only)),
                }
            } else {
                return Err(words.error());
            }
            // A comma here is part of this assignment.
            if !words.eat_token(&Token::Comma) {
                return Ok(());
            }
        }
    }

    fn set_level(&mut self, scope: Scope, level: &str) {
        let name = level.to_uppercase().replace(' ', "-");
        match scope {
            Scope::Plain => {
                self.next.level = Some(match level {
                    "read uncommitted" => TxnLevel::ReadUncommitted,
                    "read committed" => TxnLevel::ReadCommitted,
                    "serializable" => TxnLevel::Serializable,
                    _ => TxnLevel::RepeatableRead,
                });
            }
            Scope::Session => {
                self.has_level = true;
                self.put(scope, "transaction_isolation", name);
            }
            Scope::Global => self.put(scope, "transaction_isolation", name),
        }
    }

    fn put(&mut self, scope: Scope, key: &str, value: String) {
        match scope {
            Scope::Global => self.globals.set(key, value),
            _ => self.variables.put(key.to_owned(), value),
        }
    }

    fn drop_database(&mut self, mut words: Words) -> Made<Outcome> {
        if !words.eat("database") {
            let text: Vec<&str> = words.text().split_whitespace().take(2).collect();
            return Err(MysqlError::unsupported(text.join(" ")));
        }
        let if_exists = words.eat("if exists");
        let name = words.name()?;
        words.finish()?;
        if self.is_in_transaction() {
            self.commit()?;
        }
        if self.env().catalog.schema(&name).is_none() {
            if if_exists {
                return Ok(self.done());
            }
            let message = format!("Can't drop database '{name}'; database doesn't exist");
            return Err(MysqlError::new(1008, "HY000", message));
        }
        let names = vec![Name { schema: None, name: name.clone(), position: 0 }];
        let utility =
            Utility::Drop(Drop { kind: ObjectKind::Schema, names, if_exists, cascade: true });
        let parsed = of_utility(utility, words.text());
        let outcome = self.define_all(&[parsed])?;
        if self.selected.as_deref() == Some(name.as_str()) {
            self.selected = None;
        }
        Ok(outcome)
    }
}

fn on_off(is_on: bool) -> String {
    if is_on { "ON" } else { "OFF" }.to_owned()
}
