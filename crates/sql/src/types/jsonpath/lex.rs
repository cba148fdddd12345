//! Cuts the text of a path into tokens.

use crate::error::{Result, SqlError, code};

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A word without quotes.
    Word(String),
    /// A string in quotes.
    String(String),
    /// A variable, without its `$`.
    Variable(String),
    /// A number.
    Number(String),
    /// An operator or a mark.
    Mark(&'static str),
    /// The end.
    End,
}

/// A token and where it is.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Its text.
    pub raw: String,
    /// Whether nothing is behind it.
    pub is_last: bool,
}

/// Marks, longer ones first.
const MARKS: &[&str] = &[
    "&&", "||", "**", "<=", "==", "<>", "!=", ">=", "<", ">", "!", "$", "@", ".", "*", "[", "]",
    "(", ")", "{", "}", ",", "?", "+", "-", "/", "%", "=", "|", "&", "#", ":",
];

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

/// Whether a character can be in a word.
fn is_word(c: char) -> bool {
    !is_blank(c) && !"?%$.[]{}()|&!=<>@#,*:-+/\\\"".contains(c)
}

pub(super) fn syntax_error(what: &str, near: Option<&str>) -> SqlError {
    let message = match near {
        Some(near) => format!("{what} at or near \"{near}\" of jsonpath input"),
        None => format!("{what} at end of jsonpath input"),
    };
    SqlError::new(code::SYNTAX_ERROR, message)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Cuts a text into tokens, the end among them.
pub fn lex(text: &str) -> Result<Vec<Placed>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let token = lexer.token()?;
        let (end, is_end) = (lexer.at, token == Token::End);
        let is_last = end >= text.len();
        tokens.push(Placed { token, raw: text[start..end].to_string(), is_last });
        if is_end {
            return Ok(tokens);
        }
    }
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn first(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.first()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            let blanks = self.rest().len() - self.rest().trim_start_matches(is_blank).len();
            self.at += blanks;
            if !self.rest().starts_with("/*") {
                return Ok(());
            }
            match self.rest()[2..].find("*/") {
                Some(end) => self.at += end + 4,
                None => return Err(syntax_error("unexpected end of comment", None)),
            }
        }
    }

    fn token(&mut self) -> Result<Token> {
        let Some(first) = self.first() else { return Ok(Token::End) };
        if first == '"' {
            self.next();
            return self.string().map(Token::String);
        }
        let second = self.rest().chars().nth(1);
        if first == '$' && second == Some('"') {
            self.at += 2;
            return self.string().map(Token::Variable);
        }
        if first == '$' && second.is_some_and(|c| is_word(c) || c == '\\') {
            self.next();
            return self.word().map(Token::Variable);
        }
        let fraction = first == '.' && second.is_some_and(|c| c.is_ascii_digit());
        if first.is_ascii_digit() || fraction {
            return self.number();
        }
        if let Some(mark) = MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
            self.at += mark.len();
            return Ok(Token::Mark(mark));
        }
        self.word().map(Token::Word)
    }

    fn digits(&mut self) -> usize {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Result<Token> {
        let start = self.at;
        // A number does not begin with 0 unless it is 0; what follows is another token.
        let zero = self.first() == Some('0');
        if zero {
            self.at += 1;
        } else {
            self.digits();
        }
        let whole = self.at;
        if self.first() == Some('.') {
            self.at += 1;
            self.digits();
        }
        if matches!(self.first(), Some('e' | 'E')) {
            let before = self.at;
            self.at += 1;
            if matches!(self.first(), Some('+' | '-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                self.at = before;
            }
        }
        let other = zero && self.at == whole;
        if self.first().is_some_and(is_word) && !other {
            self.next();
            let near = self.text[start..self.at].to_string();
            return Err(syntax_error("trailing junk after numeric literal", Some(&near)));
        }
        Ok(Token::Number(self.text[start..self.at].to_string()))
    }

    fn word(&mut self) -> Result<String> {
        let mut word = String::new();
        loop {
            match self.first() {
                Some('\\') => {
                    self.next();
                    self.escape(&mut word)?;
                }
                Some(c) if is_word(c) => {
                    self.next();
                    word.push(c);
                }
                _ => return Ok(word),
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        let mut string = String::new();
        loop {
            match self.next() {
                None => return Err(syntax_error("unexpected end of quoted string", None)),
                Some('"') => return Ok(string),
                Some('\\') => self.escape(&mut string)?,
                Some(c) => string.push(c),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<()> {
        let c = match self.next() {
            None => return Err(syntax_error("unexpected end after backslash", None)),
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('x') => self.hexadecimal(2)?,
            Some('u') => self.unicode()?,
            Some(other) => other,
        };
        out.push(c);
        Ok(())
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<char> {
        let value = self.hexadecimal_value(digits)?;
        char::from_u32(value).filter(|c| *c != '\0').ok_or_else(invalid_unicode)
    }

    fn hexadecimal_value(&mut self, digits: usize) -> Result<u32> {
        let text = self.rest().get(..digits);
        let hex = text.filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        self.at += if value.is_some() { digits } else { 0 };
        value.ok_or_else(|| {
            let near = &self.text[self.at.saturating_sub(2)..self.at];
            syntax_error("invalid hexadecimal character sequence", Some(near))
        })
    }

    /// `uXXXX`, two of them for one character, or `u{X…}`.
    fn unicode(&mut self) -> Result<char> {
        if self.first() == Some('{') {
            let end = self.rest().find('}').ok_or_else(invalid_unicode)?;
            let value = u32::from_str_radix(&self.rest()[1..end], 16);
            self.at += end + 1;
            let c = value.ok().and_then(char::from_u32);
            return c.filter(|c| *c != '\0').ok_or_else(invalid_unicode);
        }
        let first = self.hexadecimal_value(4)?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).filter(|c| *c != '\0').ok_or_else(invalid_unicode);
        }
        if !self.rest().starts_with("\\u") {
            return Err(invalid_unicode());
        }
        self.at += 2;
        let second = self.hexadecimal_value(4)?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(invalid_unicode());
        }
        let joined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        char::from_u32(joined).ok_or_else(invalid_unicode)
    }
}

fn invalid_unicode() -> SqlError {
    SqlError::new(code::UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
}
