//! Statements about the session: SET, SHOW, USE, transactions. Their words are read one by one.

use super::super::error::MysqlError;
use super::Piece;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The words of a statement, read from the front.
#[derive(Clone, Debug)]
pub(in crate::mysql) struct Words {
    tokens: Vec<TokenWithSpan>,
    place: usize,
    text: String,
}

impl Words {
    pub fn new(piece: &Piece) -> Words {
        Words { tokens: piece.tokens.clone(), place: 0, text: piece.text.clone() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.place).map(|it| &it.token)
    }

    pub fn is_at_end(&self) -> bool {
        self.peek().is_none()
    }

    /// The next word in small letters, which stays.
    pub fn next_word(&self) -> String {
        match self.peek() {
            Some(Token::Word(word)) if word.quote_style.is_none() => word.value.to_lowercase(),
            _ => String::new(),
        }
    }

    /// Takes these words if they are next.
    pub fn eat(&mut self, words: &str) -> bool {
        let before = self.place;
        for word in words.split(' ') {
            if self.next_word() != word {
                self.place = before;
                return false;
            }
            self.place += 1;
        }
        true
    }

    /// Takes one of several words.
    pub fn eat_any(&mut self, all: &[&str]) -> Option<String> {
        all.iter().find(|words| self.eat(words)).map(|words| (*words).to_owned())
    }

    /// Takes a sign if it is next.
    pub fn eat_token(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.place += usize::from(is_next);
        is_next
    }

    /// The next name or text, whatever quotes it has.
    pub fn name(&mut self) -> Result<String, MysqlError> {
        let found = match self.peek() {
            Some(Token::Word(word)) => word.value.clone(),
            Some(
                Token::SingleQuotedString(text)
                | Token::DoubleQuotedString(text)
                | Token::Number(text, _),
            ) => text.clone(),
            _ => return Err(self.error()),
        };
        self.place += 1;
        Ok(found)
    }

    /// The tokens up to a comma that is in no parentheses.
    pub fn until_comma(&mut self) -> Vec<TokenWithSpan> {
        let (start, mut depth) = (self.place, 0_i32);
        while let Some(token) = self.peek() {
            match token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                Token::Comma if depth == 0 => break,
                _ => {}
            }
            self.place += 1;
        }
        self.tokens[start..self.place].to_vec()
    }

    /// The tokens that are left.
    pub fn rest(&mut self) -> Vec<TokenWithSpan> {
        let rest = self.tokens[self.place.min(self.tokens.len())..].to_vec();
        self.place = self.tokens.len();
        rest
    }

    /// A syntax error here.
    pub fn error(&self) -> MysqlError {
        let rest = self.tokens[self.place.min(self.tokens.len())..].iter();
        let words: Vec<String> = rest.map(|it| it.token.to_string()).collect();
        MysqlError::syntax(&words.join(" "), 1)
    }

    /// An error unless everything was read.
    pub fn finish(&self) -> Result<(), MysqlError> {
        if self.is_at_end() { Ok(()) } else { Err(self.error()) }
    }
}
