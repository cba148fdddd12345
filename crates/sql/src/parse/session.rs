//! Statements about the session: settings, prepared statements, cursors, locks, COPY, EXPLAIN.

use super::ast::*;
use super::cursor::Cursor;
use super::{Parsed, of_cursor};
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use sqlparser::ast::{TransactionAccessMode, TransactionIsolationLevel, TransactionMode};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    /// After SET.
    pub(super) fn set(&mut self) -> Result<Utility> {
        if self.eat("session characteristics as transaction") {
            return Ok(Utility::SetCharacteristics(self.modes()?));
        }
        if self.eat("transaction") {
            if self.is("snapshot") {
                return Ok(self.unsupported("SET TRANSACTION SNAPSHOT"));
            }
            return Ok(Utility::SetTransaction(self.modes()?));
        }
        if self.eat("constraints") {
            return self.set_constraints();
        }
        let local = self.eat("local");
        if !local && self.word_at(1).as_deref() != Some("authorization") {
            self.eat("session");
        }
        if let Some(becomes) = self.set_role(local)? {
            return Ok(becomes);
        }
        if self.eat("time zone") {
            return self.set_zone(local);
        }
        if self.eat("names") {
            let value = if self.is_end() || self.eat("default") {
                SetValue::Default
            } else {
                SetValue::Text(self.string()?)
            };
            return Ok(Utility::Set { name: "client_encoding".to_owned(), value, local });
        }
        if self.eat("schema") {
            let value = SetValue::Text(quote_ident(&self.string()?));
            return Ok(Utility::Set { name: "search_path".to_owned(), value, local });
        }
        if self.eat("xml option") {
            return Ok(self.accepted("SET"));
        }
        let name = self.dotted()?.1.join(".");
        if !self.eat("to") {
            self.need_token(&Token::Eq)?;
        }
        if self.eat("default") {
            return Ok(Utility::Set { name, value: SetValue::Default, local });
        }
        let quotes = matches!(name.as_str(), "search_path" | "temp_tablespaces");
        let values = self.list(|it| it.setting_value(quotes))?;
        Ok(Utility::Set { name, value: SetValue::Text(values.join(", ")), local })
    }

    fn setting_value(&mut self, quotes: bool) -> Result<String> {
        let shown = |text: String| if quotes { quote_ident(&text) } else { text };
        match &self.parser.peek_token_ref().token {
            Token::Word(_) => Ok(shown(self.ident()?)),
            Token::Minus | Token::Plus => {
                let negative = self.eat_token(&Token::Minus);
                self.eat_token(&Token::Plus);
                let number = self.number()?;
                Ok(if negative { format!("-{number}") } else { number })
            }
            Token::Number(..) => self.number(),
            _ => Ok(shown(self.string()?)),
        }
    }

    fn number(&mut self) -> Result<String> {
        let Token::Number(digits, _) = &self.parser.peek_token_ref().token else {
            return Err(self.error());
        };
        let digits = digits.clone();
        self.parser.advance_token();
        Ok(digits)
    }

    fn set_zone(&mut self, local: bool) -> Result<Utility> {
        let name = "timezone".to_owned();
        if self.eat("default") || self.eat("local") {
            return Ok(Utility::Set { name, value: SetValue::Default, local });
        }
        let value = if self.eat("interval") {
            // Hours to the east, unlike the abbreviation of a zone that is only a number.
            let text = self.string()?;
            self.skip_rest();
            match text.strip_prefix('-') {
                Some(hours) => format!("+{hours}"),
                None => format!("-{}", text.trim_start_matches('+')),
            }
        } else {
            self.setting_value(false)?
        };
        Ok(Utility::Set { name, value: SetValue::Text(value), local })
    }

    fn set_constraints(&mut self) -> Result<Utility> {
        let names = if self.eat("all") { None } else { Some(self.names()?) };
        let deferred = self.eat("deferred");
        if !deferred {
            self.need("immediate")?;
        }
        Ok(Utility::SetConstraints { names, deferred })
    }

    /// The modes of a transaction.
    pub(super) fn modes(&mut self) -> Result<Vec<TransactionMode>> {
        let mut modes = Vec::new();
        loop {
            if self.eat("isolation level") {
                modes.push(TransactionMode::IsolationLevel(self.level()?));
            } else if self.eat("read only") {
                modes.push(TransactionMode::AccessMode(TransactionAccessMode::ReadOnly));
            } else if self.eat("read write") {
                modes.push(TransactionMode::AccessMode(TransactionAccessMode::ReadWrite));
            } else if !self.eat("not deferrable") && !self.eat("deferrable") {
                return Err(self.error());
            }
            self.eat_token(&Token::Comma);
            if self.is_end() {
                return Ok(modes);
            }
        }
    }

    fn level(&mut self) -> Result<TransactionIsolationLevel> {
        use TransactionIsolationLevel as L;
        Ok(if self.eat("serializable") {
            L::Serializable
        } else if self.eat("repeatable read") {
            L::RepeatableRead
        } else if self.eat("read committed") {
            L::ReadCommitted
        } else if self.eat("read uncommitted") {
            L::ReadUncommitted
        } else {
            return Err(self.error());
        })
    }

    /// After RESET.
    pub(super) fn reset(&mut self) -> Result<Utility> {
        if self.eat("all") {
            return Ok(Utility::ResetAll);
        }
        if self.eat("session authorization") {
            return Ok(Utility::Reset("session_authorization".to_owned()));
        }
        let name = match self.eat("time zone") {
            true => "timezone".to_owned(),
            false => self.setting_name()?,
        };
        Ok(Utility::Reset(name))
    }

    fn setting_name(&mut self) -> Result<String> {
        if self.eat("transaction isolation level") {
            return Ok("transaction_isolation".to_owned());
        }
        Ok(self.dotted()?.1.join("."))
    }

    /// After SHOW.
    pub(super) fn show(&mut self) -> Result<Utility> {
        if self.eat("time zone") {
            return Ok(Utility::Show("TimeZone".to_owned()));
        }
        if self.eat("session authorization") {
            return Ok(Utility::Show("session_authorization".to_owned()));
        }
        Ok(Utility::Show(self.setting_name()?))
    }

    /// After DISCARD.
    pub(super) fn discard(&mut self) -> Result<Utility> {
        let what = match self.ident()?.as_str() {
            "all" => DiscardWhat::All,
            "plans" => DiscardWhat::Plans,
            "sequences" => DiscardWhat::Sequences,
            "temp" | "temporary" => DiscardWhat::Temporary,
            _ => return Err(self.error()),
        };
        Ok(Utility::Discard(what))
    }

    /// After NOTIFY.
    pub(super) fn notify(&mut self) -> Result<Utility> {
        let channel = self.ident()?;
        let has_payload = self.eat_token(&Token::Comma);
        let payload = if has_payload { self.string()? } else { String::new() };
        Ok(Utility::Notify { channel, payload })
    }

    /// After PREPARE.
    pub(super) fn prepare(&mut self) -> Result<Utility> {
        if self.is("transaction") {
            return Ok(self.unsupported("PREPARE TRANSACTION"));
        }
        let name = self.ident()?;
        let mut types = Vec::new();
        if self.eat_token(&Token::LParen) {
            types = self.list(Self::data_type)?;
            self.need_token(&Token::RParen)?;
        }
        self.need("as")?;
        let statement = Box::new(of_cursor(self)?);
        Ok(Utility::Prepare { name, types, statement })
    }

    /// After EXECUTE.
    pub(super) fn execute(&mut self) -> Result<Utility> {
        let name = self.ident()?;
        let mut args = Vec::new();
        if self.eat_token(&Token::LParen) {
            if !self.is_token(&Token::RParen) {
                args = self.list(|it| Ok(it.expr()?.0))?;
            }
            self.need_token(&Token::RParen)?;
        }
        Ok(Utility::Execute { name, args })
    }

    /// After DEALLOCATE.
    pub(super) fn deallocate(&mut self) -> Result<Utility> {
        self.eat("prepare");
        if self.eat("all") {
            return Ok(Utility::Deallocate(None));
        }
        Ok(Utility::Deallocate(Some(self.ident()?)))
    }

    /// After DECLARE.
    pub(super) fn declare(&mut self) -> Result<Utility> {
        let name = self.ident()?;
        let (mut binary, mut scroll) = (false, None);
        loop {
            if self.eat("binary") {
                binary = true;
            } else if self.eat("no scroll") {
                scroll = Some(false);
            } else if self.eat("scroll") {
                scroll = Some(true);
            } else if !self.eat("insensitive") && !self.eat("asensitive") {
                break;
            }
        }
        self.need("cursor")?;
        let hold = self.eat("with hold");
        self.eat("without hold");
        self.need("for")?;
        let (query, text) = self.query()?;
        Ok(Utility::Declare(Declare { name, binary, scroll, hold, query, text }))
    }

    /// After FETCH or MOVE.
    pub(super) fn fetch(&mut self, is_move: bool) -> Result<Utility> {
        let direction = self.direction()?;
        if !self.eat("from") {
            self.eat("in");
        }
        let name = self.ident()?;
        Ok(Utility::Fetch { name, direction, is_move })
    }

    fn direction(&mut self) -> Result<Direction> {
        let is_number = matches!(
            self.parser.peek_token_ref().token,
            Token::Number(..) | Token::Minus | Token::Plus
        );
        if is_number {
            return Ok(Direction::By(self.integer()?));
        }
        // A word alone, or the last one, is the name of the cursor.
        let is_name = self.is_last();
        if is_name {
            return Ok(Direction::By(1));
        }
        Ok(match self.word().as_deref() {
            Some("next") => self.took(Direction::By(1)),
            Some("prior") => self.took(Direction::By(-1)),
            Some("first") => self.took(Direction::Absolute(1)),
            Some("last") => self.took(Direction::Absolute(-1)),
            Some("all") => self.took(Direction::By(i64::MAX)),
            Some("absolute") => {
                self.need("absolute")?;
                Direction::Absolute(self.integer()?)
            }
            Some("relative") => {
                self.need("relative")?;
                Direction::Relative(self.integer()?)
            }
            Some("forward") => {
                self.need("forward")?;
                Direction::By(self.count()?)
            }
            Some("backward") => {
                self.need("backward")?;
                Direction::By(self.count()?.saturating_neg())
            }
            _ => Direction::By(1),
        })
    }

    /// Whether the next token is the last one.
    fn is_last(&self) -> bool {
        matches!(self.parser.peek_nth_token_ref(1).token, Token::EOF | Token::SemiColon)
    }

    fn took(&mut self, direction: Direction) -> Direction {
        self.parser.advance_token();
        direction
    }

    fn count(&mut self) -> Result<i64> {
        if self.is("all") && !self.is_last() {
            self.parser.advance_token();
            return Ok(i64::MAX);
        }
        match self.parser.peek_token_ref().token {
            Token::Number(..) | Token::Minus | Token::Plus => self.integer(),
            _ => Ok(1),
        }
    }

    /// After LOCK.
    pub(super) fn lock(&mut self) -> Result<Utility> {
        self.eat("table");
        let tables = self.list(|it| {
            it.eat("only");
            let name = it.name()?;
            it.eat_token(&Token::Mul);
            Ok(name)
        })?;
        let mut mode = LockMode::AccessExclusive;
        if self.eat("in") {
            mode = self.lock_mode()?;
            self.need("mode")?;
        }
        let nowait = self.eat("nowait");
        Ok(Utility::Lock { tables, mode, nowait })
    }

    fn lock_mode(&mut self) -> Result<LockMode> {
        let modes = [
            ("access share", LockMode::AccessShare),
            ("row share", LockMode::RowShare),
            ("row exclusive", LockMode::RowExclusive),
            ("share update exclusive", LockMode::ShareUpdateExclusive),
            ("share row exclusive", LockMode::ShareRowExclusive),
            ("share", LockMode::Share),
            ("exclusive", LockMode::Exclusive),
            ("access exclusive", LockMode::AccessExclusive),
        ];
        for (words, mode) in modes {
            if self.eat(words) {
                return Ok(mode);
            }
        }
        Err(self.error())
    }

    /// After COPY.
    pub(super) fn copy(&mut self) -> Result<Utility> {
        let what = if self.eat_token(&Token::LParen) {
            let parsed = of_cursor(self)?;
            self.need_token(&Token::RParen)?;
            CopyWhat::Query(Box::new(parsed))
        } else {
            let name = self.name()?;
            CopyWhat::Table(name, self.maybe_ident_list()?)
        };
        let from = self.eat("from");
        if !from {
            self.need("to")?;
        }
        if from && matches!(what, CopyWhat::Query(_)) {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \"FROM\""));
        }
        let file = !(self.eat("stdin") || self.eat("stdout"));
        if file {
            self.eat("program");
            self.string()?;
        }
        self.eat("with");
        let mut options = Vec::new();
        if self.eat_token(&Token::LParen) {
            options = self.list(Self::copy_option)?;
            self.need_token(&Token::RParen)?;
        } else {
            while let Some(option) = self.old_copy_option()? {
                options.push(option);
            }
        }
        let filter = if self.eat("where") { Some(self.expr()?.1) } else { None };
        Ok(Utility::Copy(Copy { what, from, file, options, filter }))
    }

    fn copy_option(&mut self) -> Result<(String, Option<String>, Vec<String>)> {
        let name = self.ident()?;
        if self.is_token(&Token::LParen) {
            let list = self.ident_list()?;
            return Ok((name, None, list));
        }
        if self.eat_token(&Token::Mul) {
            return Ok((name, Some("*".to_owned()), Vec::new()));
        }
        let is_end = matches!(self.parser.peek_token_ref().token, Token::Comma | Token::RParen);
        let value = if is_end { None } else { Some(self.setting_value(false)?) };
        Ok((name, value, Vec::new()))
    }

    /// The options that older clients write without parentheses.
    #[allow(clippy::type_complexity)]
    fn old_copy_option(&mut self) -> Result<Option<(String, Option<String>, Vec<String>)>> {
        let plain = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()), Vec::new());
        let option = if self.eat("binary") {
            plain("format", "binary")
        } else if self.eat("csv") {
            plain("format", "csv")
        } else if self.eat("header") {
            plain("header", "true")
        } else if self.eat("freeze") {
            plain("freeze", "true")
        } else if let Some(name) = self.forced() {
            if name == "force_quote" && self.eat_token(&Token::Mul) {
                return Ok(Some(plain(name, "*")));
            }
            (name.to_owned(), None, self.list(Self::ident)?)
        } else {
            let names = ["delimiter", "null", "quote", "escape", "encoding", "delimiters"];
            let Some(name) = names.into_iter().find(|name| self.is(name)) else { return Ok(None) };
            self.parser.advance_token();
            self.eat("as");
            let name = if name == "delimiters" { "delimiter" } else { name };
            plain(name, &self.string()?)
        };
        Ok(Some(option))
    }

    /// FORCE of such an option, as it is called inside of parentheses.
    fn forced(&mut self) -> Option<&'static str> {
        let names = [
            ("force quote", "force_quote"),
            ("force not null", "force_not_null"),
            ("force null", "force_null"),
        ];
        names.into_iter().find(|(words, _)| self.eat(words)).map(|(_, name)| name)
    }

    /// After EXPLAIN.
    pub(super) fn explain(&mut self) -> Result<Utility> {
        let (mut analyze, mut format, mut costs) = (false, "text".to_owned(), true);
        if self.is_token(&Token::LParen) && self.is_option_list() {
            self.need_token(&Token::LParen)?;
            for (name, value, _) in self.list(Self::copy_option)? {
                let on = !matches!(value.as_deref(), Some("off" | "false" | "0"));
                match name.as_str() {
                    "analyze" => analyze = on,
                    "costs" => costs = on,
                    "format" => {
                        format = value.unwrap_or_default().to_lowercase();
                        if !["text", "json", "yaml", "xml"].contains(&format.as_str()) {
                            let message = format!(
                                "unrecognized value for EXPLAIN option \"format\": \"{format}\""
                            );
                            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
                        }
                    }
                    "verbose" | "buffers" | "timing" | "summary" | "settings" | "wal" => {}
                    other => {
                        return Err(SqlError::new(
                            code::SYNTAX_ERROR,
                            format!("unrecognized EXPLAIN option \"{other}\""),
                        ));
                    }
                }
            }
            self.need_token(&Token::RParen)?;
        } else {
            analyze = self.eat("analyze") || self.eat("analyse");
            self.eat("verbose");
        }
        let statement = Box::new(of_cursor(self)?);
        Ok(Utility::Explain { statement, analyze, format, costs })
    }

    fn is_option_list(&self) -> bool {
        !matches!(self.word_at(1).as_deref(), None | Some("select" | "with" | "values" | "table"))
    }
}

/// SELECT … INTO makes a table.
pub(super) fn select_into(parsed: &mut Parsed) -> Result<()> {
    use sqlparser::ast::{Expr, SetExpr, Statement};
    let Statement::Query(query) = &mut parsed.statement else { return Ok(()) };
    let SetExpr::Select(select) = &mut *query.body else { return Ok(()) };
    let Some(into) = select.into.take() else { return Ok(()) };
    let parts: Vec<String> = match into.targets.first() {
        Some(Expr::Identifier(ident)) => vec![super::fold(ident)],
        Some(Expr::CompoundIdentifier(parts)) => parts.iter().map(super::fold).collect(),
        _ => return Err(no_name()),
    };
    let mut parts = parts.into_iter().rev();
    let name = parts.next().unwrap_or_default();
    let name = Name { schema: parts.next(), name, position: 0 };
    let lifetime = if into.temporary { Lifetime::Temporary } else { Lifetime::Permanent };
    parsed.utility = Some(std::sync::Arc::new(Utility::CreateTableAs(CreateTableAs {
        name,
        lifetime,
        if_not_exists: false,
        columns: Vec::new(),
        query: query.clone(),
        with_data: true,
        is_into: true,
    })));
    Ok(())
}

fn no_name() -> SqlError {
    SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \"INTO\"")
}
