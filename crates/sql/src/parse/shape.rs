//! What statements have in common that differ in their values only.

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A statement with `?` for each number, string and parameter, without comments, and with one space
/// between its words. What cannot be read is its own shape.
pub fn shape(text: &str) -> String {
    let Ok(tokens) = super::tokens(text) else { return text.trim().to_owned() };
    let words: Vec<String> = tokens.iter().filter_map(shown).collect();
    words.join(" ")
}

fn shown(token: &TokenWithSpan) -> Option<String> {
    match &token.token {
        Token::Whitespace(_) | Token::SemiColon | Token::EOF => None,
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::DollarQuotedString(_)
        | Token::NationalStringLiteral(_)
        | Token::Placeholder(_) => Some("?".to_owned()),
        token => Some(token.to_string()),
    }
}

/// A statement without the semicolon, comments and space at its end.
pub fn without_end(text: &str) -> &str {
    let Ok(tokens) = super::tokens(text) else { return text.trim_end() };
    let is_word = |it: &&TokenWithSpan| {
        !matches!(it.token, Token::Whitespace(_) | Token::SemiColon | Token::EOF)
    };
    let Some(last) = tokens.iter().rfind(is_word) else { return text.trim_end() };
    let end = super::position(text, last.span.end) as usize - 1;
    let bytes = text.char_indices().nth(end).map_or(text.len(), |(at, _)| at);
    &text[..bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_other_values_have_the_same_shape() {
        let one = shape("SELECT  a FROM t\nWHERE id = 7 AND b = 'x' /* view: cart */;");
        assert_eq!(one, shape("SELECT a FROM t WHERE id = $1 AND b = E'y\\n'"));
        assert_eq!(one, "SELECT a FROM t WHERE id = ? AND b = ?");
        assert_ne!(one, shape("SELECT a FROM t WHERE id = 7"));
    }

    #[test]
    fn the_end_is_what_means_nothing() {
        assert_eq!(without_end("SELECT 'é;' -- x\n ; /* y */ "), "SELECT 'é;'");
        assert_eq!(without_end("SELECT 1"), "SELECT 1");
        assert_eq!(without_end(" ;"), " ;");
    }
}
