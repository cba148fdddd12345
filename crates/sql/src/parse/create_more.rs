//! CREATE of everything that is no table.

use super::ast::*;
use super::cursor::Cursor;
use crate::catalog::CheckOption;
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use sqlparser::tokenizer::Token;

/// What the options of a view say of checks: `(check_option = local)`.
fn check_option(options: &str) -> Option<CheckOption> {
    let words = super::words(options);
    let at = words.iter().position(|(word, ..)| word == "check_option")?;
    let is_local =
        words.get(at + 1).is_some_and(|(word, ..)| word == "local") || options.contains("'local'");
    Some(if is_local { CheckOption::Local } else { CheckOption::Cascaded })
}

impl Cursor<'_> {
    pub(super) fn create_index(&mut self) -> Result<Utility> {
        let unique = self.eat("unique");
        self.need("index")?;
        let concurrently = self.eat("concurrently");
        let if_not_exists = self.eat("if not exists");
        let name = if self.is("on") { None } else { Some(self.ident()?) };
        self.need("on")?;
        self.eat("only");
        let table = self.name()?;
        let method = if self.eat("using") { self.ident()? } else { "btree".to_owned() };
        self.need_token(&Token::LParen)?;
        let keys = self.list(Self::index_key)?;
        self.need_token(&Token::RParen)?;
        let include = if self.eat("include") { self.ident_list()? } else { Vec::new() };
        let nulls_not_distinct = self.eat("nulls not distinct");
        self.eat("nulls distinct");
        if self.eat("with") {
            self.skip_parentheses()?;
        }
        if self.eat("tablespace") {
            self.ident()?;
        }
        let predicate = if self.eat("where") { Some(self.expr()?.1) } else { None };
        Ok(Utility::CreateIndex(CreateIndex {
            name,
            table,
            unique,
            concurrently,
            if_not_exists,
            method,
            keys,
            include,
            nulls_not_distinct,
            predicate,
        }))
    }

    fn index_key(&mut self) -> Result<IndexKeyDef> {
        let mut key = IndexKeyDef {
            column: None,
            expr: None,
            collation: None,
            class: None,
            descending: false,
            nulls_first: None,
        };
        let is_word = matches!(self.parser.peek_token_ref().token, Token::Word(_));
        let is_call = self.parser.peek_nth_token_ref(1).token == Token::LParen
            || self.parser.peek_nth_token_ref(1).token == Token::Period;
        if self.is_token(&Token::LParen) {
            let text = self.parenthesized()?;
            let is_call = matches!(super::expression(&text), Ok(sqlparser::ast::Expr::Function(_)));
            key.expr = Some(if is_call { text } else { format!("({text})") });
        } else if is_word && !is_call {
            key.column = Some(self.ident()?);
        } else {
            // A call, which needs no parentheses around it.
            key.expr = Some(self.call_text()?);
        }
        key.collation = self.collation()?;
        let is_end = matches!(
            self.parser.peek_token_ref().token,
            Token::Comma | Token::RParen | Token::EOF | Token::SemiColon
        );
        if !is_end && !self.is("asc") && !self.is("desc") && !self.is("nulls") {
            key.class = self.dotted()?.1.pop();
            if self.is_token(&Token::LParen) {
                self.skip_parentheses()?;
            }
        }
        key.descending = self.eat("desc");
        self.eat("asc");
        if self.eat("nulls first") {
            key.nulls_first = Some(true);
        } else if self.eat("nulls last") {
            key.nulls_first = Some(false);
        }
        Ok(key)
    }

    /// The text of a function call.
    fn call_text(&mut self) -> Result<String> {
        let from = self.position();
        self.dotted()?;
        self.skip_parentheses()?;
        let end = self.parser.token_at(self.parser.get_current_index()).span.end;
        let end = super::position(self.text, end);
        let text = self.text.chars().skip(from as usize - 1).take((end - from) as usize);
        let text: String = text.collect();
        super::expression(&text)?;
        Ok(text)
    }

    pub(super) fn create_sequence(&mut self, lifetime: Lifetime) -> Result<Utility> {
        self.need("sequence")?;
        let if_not_exists = self.eat("if not exists");
        let name = self.name()?;
        let options = self.sequence_options()?;
        Ok(Utility::CreateSequence(CreateSequence { name, lifetime, if_not_exists, options }))
    }

    pub(super) fn create_view(&mut self, or_replace: bool, life: Lifetime) -> Result<Utility> {
        let materialized = self.eat("materialized");
        let recursive = self.eat("recursive");
        self.need("view")?;
        let if_not_exists = self.eat("if not exists");
        let name = self.name()?;
        let columns = self.maybe_ident_list()?;
        if self.eat("using") || self.eat("tablespace") {
            self.ident()?;
        }
        let mut check = None;
        if self.eat("with") {
            let start = self.position();
            self.skip_parentheses()?;
            check = check_option(&self.since(start));
        }
        self.need("as")?;
        let (mut query, mut text) = self.query()?;
        if recursive {
            let names: Vec<String> = columns.iter().map(|it| quote_ident(it)).collect();
            let (view, names) = (quote_ident(&name.name), names.join(", "));
            text =
                format!("WITH RECURSIVE {view} ({names}) AS ({text}) SELECT {names} FROM {view}");
            query = Box::new(super::query(&text)?);
        }
        let with_data = self.with_data()?;
        if self.eat("with") {
            check = Some(match self.eat("local") {
                true => CheckOption::Local,
                false => CheckOption::Cascaded,
            });
            self.eat("cascaded");
            self.need("check option")?;
            if recursive {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "WITH CHECK OPTION not supported on recursive views",
                ));
            }
        }
        Ok(Utility::CreateView(CreateView {
            name,
            or_replace,
            if_not_exists,
            materialized,
            lifetime: life,
            columns,
            query,
            text,
            with_data,
            check,
        }))
    }

    pub(super) fn create_schema(&mut self) -> Result<Utility> {
        self.need("schema")?;
        let if_not_exists = self.eat("if not exists");
        let mut name = None;
        if !self.is("authorization") {
            name = Some(self.ident()?);
        }
        if self.eat("authorization") {
            let user = self.ident()?;
            name = Some(name.unwrap_or(user));
        }
        let mut elements = Vec::new();
        while !self.is_end() {
            if self.eat("create") {
                elements.push(self.create()?);
            } else if self.is("grant") {
                return Err(SqlError::unsupported("GRANT as an element of CREATE SCHEMA"));
            } else {
                return Err(self.error());
            }
        }
        if if_not_exists && !elements.is_empty() {
            let message = "CREATE SCHEMA IF NOT EXISTS cannot include schema elements";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(Utility::CreateSchema { name, if_not_exists, elements })
    }

    pub(super) fn create_type(&mut self) -> Result<Utility> {
        self.need("type")?;
        let name = self.name()?;
        if self.is_end() {
            return Err(SqlError::unsupported("CREATE TYPE of a shell type"));
        }
        if !self.eat("as") {
            self.skip_rest();
            return Ok(Utility::Unsupported("CREATE TYPE of a base type"));
        }
        if self.eat("enum") {
            self.need_token(&Token::LParen)?;
            let mut labels = Vec::new();
            if !self.is_token(&Token::RParen) {
                labels = self.list(Self::string)?;
            }
            self.need_token(&Token::RParen)?;
            return Ok(Utility::CreateEnum { name, labels });
        }
        if self.is("range") {
            self.skip_rest();
            return Ok(Utility::Unsupported("CREATE TYPE AS RANGE"));
        }
        self.need_token(&Token::LParen)?;
        let mut fields = Vec::new();
        if !self.is_token(&Token::RParen) {
            fields = self.list(|it| {
                let field = (it.ident()?, it.data_type()?);
                it.collation_of_bytes()?;
                Ok(field)
            })?;
        }
        self.need_token(&Token::RParen)?;
        Ok(Utility::CreateComposite { name, fields })
    }

    pub(super) fn create_collation(&mut self) -> Result<Utility> {
        self.need("collation")?;
        let if_not_exists = self.eat("if not exists");
        let mut made = CreateCollation {
            name: self.name()?,
            if_not_exists,
            from: None,
            provider: "libc".to_owned(),
            locale: None,
            lc_collate: None,
            lc_ctype: None,
            deterministic: true,
        };
        if self.eat("from") {
            made.from = Some(self.name()?);
            return Ok(Utility::CreateCollation(made));
        }
        self.need_token(&Token::LParen)?;
        for (name, value) in self.list(Self::collation_option)? {
            match name.as_str() {
                "locale" => made.locale = Some(value),
                "lc_collate" => made.lc_collate = Some(value),
                "lc_ctype" => made.lc_ctype = Some(value),
                "provider" => made.provider = value.to_lowercase(),
                "deterministic" => {
                    made.deterministic = match value.to_lowercase().as_str() {
                        "true" | "on" | "1" => true,
                        "false" | "off" | "0" => false,
                        _ => {
                            let message = "deterministic requires a Boolean value";
                            return Err(SqlError::new(code::SYNTAX_ERROR, message));
                        }
                    }
                }
                "version" => {}
                other => {
                    let message = format!("collation attribute \"{other}\" not recognized");
                    return Err(SqlError::new(code::SYNTAX_ERROR, message));
                }
            }
        }
        self.need_token(&Token::RParen)?;
        Ok(Utility::CreateCollation(made))
    }

    /// `name = value`
    fn collation_option(&mut self) -> Result<(String, String)> {
        let name = self.ident()?;
        self.need_token(&Token::Eq)?;
        let value = match self.parser.peek_token().token {
            Token::SingleQuotedString(_) => self.string()?,
            Token::Number(text, _) => {
                self.parser.advance_token();
                text
            }
            _ => self.ident()?,
        };
        Ok((name, value))
    }

    pub(super) fn create_domain(&mut self) -> Result<Utility> {
        self.need("domain")?;
        let name = self.name()?;
        self.eat("as");
        let ty = self.data_type()?;
        let mut domain =
            CreateDomain { name, ty, default: None, not_null: false, checks: Vec::new() };
        loop {
            let named = if self.eat("constraint") { Some(self.ident()?) } else { None };
            if self.eat("not null") {
                domain.not_null = true;
            } else if self.eat("null") {
            } else if self.eat("default") {
                domain.default = Some(self.default_text()?);
            } else if self.collation_of_bytes()?.is_some() {
            } else if self.eat("check") {
                let text = self.parenthesized()?;
                domain.checks.push((named, text));
            } else if named.is_some() {
                return Err(self.error());
            } else {
                return Ok(Utility::CreateDomain(domain));
            }
        }
    }

    pub(super) fn create_database(&mut self) -> Result<Utility> {
        self.need("database")?;
        let name = self.ident()?;
        let mut template = None;
        // Encoding, owner and the like do not matter here.
        while !self.is_end() {
            if !self.eat("template") {
                self.parser.advance_token();
                continue;
            }
            self.eat_token(&Token::Eq);
            template = if self.eat("default") { None } else { Some(self.ident()?) };
        }
        Ok(Utility::CreateDatabase { name, template })
    }

    pub(super) fn create_extension(&mut self) -> Result<Utility> {
        self.need("extension")?;
        let if_not_exists = self.eat("if not exists");
        let name = self.ident()?;
        self.eat("with");
        let schema = if self.eat("schema") { Some(self.ident()?) } else { None };
        if self.eat("version") {
            return Ok(self.unsupported("CREATE EXTENSION … VERSION"));
        }
        self.eat("cascade");
        Ok(Utility::CreateExtension { name, if_not_exists, schema })
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::ast::Utility;

    #[test]
    fn a_template_stands_among_options_that_do_not_matter() {
        let template = |text: &str| {
            let utility = crate::parse::statements(text).unwrap().remove(0).utility;
            match utility.as_deref() {
                Some(Utility::CreateDatabase { template, .. }) => template.clone(),
                other => panic!("{text}: {other:?}"),
            }
        };
        assert_eq!(template("CREATE DATABASE a"), None);
        assert_eq!(template("CREATE DATABASE a TEMPLATE DEFAULT"), None);
        let text = "CREATE DATABASE a WITH OWNER = ann TEMPLATE = template0 ENCODING 'UTF8'";
        assert_eq!(template(text).as_deref(), Some("template0"));
        let text = "CREATE DATABASE a OWNER ann TEMPLATE \"Filled\"";
        assert_eq!(template(text).as_deref(), Some("Filled"));
    }
}
