//! Walks over tokens word by word; expressions, types and queries are left to `sqlparser`.

use super::ast::Name;
use super::{DEPTH_MAX, DIALECT, near, position, told};
use crate::error::{Result, SqlError};
use sqlparser::ast::{DataType, Expr, Query};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// A place among tokens.
pub(super) struct Cursor<'t> {
    pub text: &'t Arc<str>,
    pub parser: Parser<'static>,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t Arc<str>, tokens: Vec<TokenWithSpan>) -> Cursor<'t> {
        let parser = Parser::new(&DIALECT)
            .with_recursion_limit(DEPTH_MAX)
            .with_tokens_with_locations(tokens);
        Cursor { text, parser }
    }

    /// The word that comes after so many others, folded; none if it is quoted or no word.
    pub fn word_at(&self, place: usize) -> Option<String> {
        match &self.parser.peek_nth_token_ref(place).token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_lowercase()),
            _ => None,
        }
    }

    /// The next word.
    pub fn word(&self) -> Option<String> {
        self.word_at(0)
    }

    /// Whether these words come next.
    pub fn is(&self, words: &str) -> bool {
        let mut words = words.split(' ').enumerate();
        words.all(|(place, want)| self.word_at(place).as_deref() == Some(want))
    }

    /// Takes these words if they come next.
    pub fn eat(&mut self, words: &str) -> bool {
        let found = self.is(words);
        if found {
            words.split(' ').for_each(|_| self.parser.advance_token());
        }
        found
    }

    /// Takes these words, or it is an error.
    pub fn need(&mut self, words: &str) -> Result<()> {
        for word in words.split(' ') {
            if !self.eat(word) {
                return Err(self.error());
            }
        }
        Ok(())
    }

    /// A syntax error at the next token.
    pub fn error(&self) -> SqlError {
        near(self.text, self.parser.peek_token_ref())
    }

    pub fn is_token(&self, token: &Token) -> bool {
        self.parser.peek_token_ref().token == *token
    }

    pub fn eat_token(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    pub fn need_token(&mut self, token: &Token) -> Result<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.error()) }
    }

    pub fn is_end(&self) -> bool {
        matches!(self.parser.peek_token_ref().token, Token::EOF | Token::SemiColon)
    }

    /// Where the next token stands.
    pub fn position(&self) -> u32 {
        position(self.text, self.parser.peek_token_ref().span.start)
    }

    /// An identifier, folded unless it was quoted.
    pub fn ident(&mut self) -> Result<String> {
        let found = match &self.parser.peek_token_ref().token {
            Token::Word(word) if word.quote_style.is_some() => word.value.clone(),
            Token::Word(word) => word.value.to_lowercase(),
            _ => return Err(self.error()),
        };
        self.parser.advance_token();
        let mut found = found;
        // Longer names are cut, as there.
        while found.len() > 63 {
            found.pop();
        }
        Ok(found)
    }

    /// A name with or without its schema.
    pub fn name(&mut self) -> Result<Name> {
        let mut parts = self.dotted()?;
        let name = parts.1.pop().unwrap_or_default();
        Ok(Name { schema: parts.1.pop(), name, position: parts.0 })
    }

    /// The parts of a name, and where it stands.
    pub fn dotted(&mut self) -> Result<(u32, Vec<String>)> {
        let position = self.position();
        let mut parts = vec![self.ident()?];
        while self.eat_token(&Token::Period) {
            parts.push(self.ident()?);
        }
        Ok((position, parts))
    }

    /// COLLATE with a name, if that is next.
    pub fn collation(&mut self) -> Result<Option<Name>> {
        if self.eat("collate") { self.name().map(Some) } else { Ok(None) }
    }

    /// The same where there is nothing but the order of bytes.
    pub fn collation_of_bytes(&mut self) -> Result<Option<Name>> {
        let Some(name) = self.collation()? else { return Ok(None) };
        let found = crate::catalog::system::check_collation(&name.name);
        found.map_err(|error| error.at(name.position))?;
        Ok(Some(name))
    }

    /// Things that commas separate.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.eat_token(&Token::Comma) {
            all.push(one(self)?);
        }
        Ok(all)
    }

    pub fn names(&mut self) -> Result<Vec<Name>> {
        self.list(Self::name)
    }

    /// `(a, b)`
    pub fn ident_list(&mut self) -> Result<Vec<String>> {
        self.need_token(&Token::LParen)?;
        let all = self.list(Self::ident)?;
        self.need_token(&Token::RParen)?;
        Ok(all)
    }

    /// `(a, b)` if it is there.
    pub fn maybe_ident_list(&mut self) -> Result<Vec<String>> {
        if self.is_token(&Token::LParen) { self.ident_list() } else { Ok(Vec::new()) }
    }

    pub fn since(&self, start: u32) -> String {
        let current = self.parser.token_at(self.parser.get_current_index());
        let end = position(self.text, current.span.end);
        let text: String = self
            .text
            .chars()
            .skip(start.max(1) as usize - 1)
            .take(end.saturating_sub(start) as usize)
            .collect();
        text.trim().to_owned()
    }

    /// An expression.
    pub fn expr(&mut self) -> Result<(Expr, String)> {
        let start = self.position();
        let parsed = self.parser.parse_expr();
        let expr = parsed.map_err(|error| told(self.text, &self.parser, error))?;
        Ok((expr, self.since(start)))
    }

    /// The text of an expression in parentheses.
    pub fn parenthesized(&mut self) -> Result<String> {
        self.need_token(&Token::LParen)?;
        let (_, text) = self.expr()?;
        self.need_token(&Token::RParen)?;
        Ok(text)
    }

    /// A query.
    pub fn query(&mut self) -> Result<(Box<Query>, String)> {
        let start = self.position();
        let parsed = self.parser.parse_query();
        let query = parsed.map_err(|error| told(self.text, &self.parser, error))?;
        Ok((query, self.since(start)))
    }

    /// The name of a type.
    pub fn data_type(&mut self) -> Result<DataType> {
        let parsed = self.parser.parse_data_type();
        parsed.map_err(|error| told(self.text, &self.parser, error))
    }

    /// A number with a sign.
    pub fn integer(&mut self) -> Result<i64> {
        let negative = self.eat_token(&Token::Minus);
        if !negative {
            self.eat_token(&Token::Plus);
        }
        let Token::Number(digits, _) = &self.parser.peek_token_ref().token else {
            return Err(self.error());
        };
        let shown = if negative { format!("-{digits}") } else { digits.clone() };
        let number = shown.parse().map_err(|_| self.error())?;
        self.parser.advance_token();
        Ok(number)
    }

    /// A string.
    pub fn string(&mut self) -> Result<String> {
        let found = match &self.parser.peek_token_ref().token {
            Token::SingleQuotedString(text)
            | Token::EscapedStringLiteral(text)
            | Token::UnicodeStringLiteral(text) => text.clone(),
            Token::DollarQuotedString(it) => it.value.clone(),
            _ => return Err(self.error()),
        };
        self.parser.advance_token();
        Ok(found)
    }

    /// The rest is of no consequence.
    pub fn skip_rest(&mut self) {
        while !self.is_end() {
            self.parser.advance_token();
        }
    }

    /// Takes what is in parentheses, whatever it is.
    pub fn skip_parentheses(&mut self) -> Result<()> {
        self.need_token(&Token::LParen)?;
        let mut depth = 1;
        while depth > 0 {
            match self.parser.next_token().token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                Token::EOF | Token::SemiColon => {
                    self.parser.prev_token();
                    return Err(self.error());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The expression of a DEFAULT: it ends where another constraint of the column begins.
    pub fn default_text(&mut self) -> Result<String> {
        const ENDS: [&str; 11] = [
            "not",
            "null",
            "primary",
            "unique",
            "check",
            "references",
            "constraint",
            "generated",
            "collate",
            "deferrable",
            "initially",
        ];
        let start = self.position();
        let (mut depth, mut count) = (0, 0);
        loop {
            match &self.parser.peek_token_ref().token {
                Token::EOF | Token::SemiColon => break,
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket if depth == 0 => break,
                Token::RParen | Token::RBracket => depth -= 1,
                Token::Comma if depth == 0 => break,
                Token::Word(word) if word.quote_style.is_none() => {
                    match word.value.to_lowercase().as_str() {
                        "case" => depth += 1,
                        "end" if depth > 0 => depth -= 1,
                        it if depth == 0 && count > 0 && ENDS.contains(&it) => break,
                        _ => {}
                    }
                }
                _ => {}
            }
            self.parser.advance_token();
            count += 1;
        }
        if count == 0 {
            return Err(self.error());
        }
        let text = self.since(start);
        super::expression(&text)?;
        Ok(text)
    }
}
