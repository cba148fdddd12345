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

/// Aggregates that MySQL has beside those of PostgreSQL.
const OF_MYSQL: [&str; 6] =
    ["group_concat", "std", "json_arrayagg", "json_objectagg", "bit_xor", "any_value"];

/// Whether a function makes one row of many.
fn is_aggregate(name: &str) -> bool {
    OF_MYSQL.contains(&name) || crate::catalog::builtin::is_aggregate_name(name)
}

/// Whether a statement is a query whose rows are rows of tables, so that it may lock them.
pub fn may_lock(text: &str) -> bool {
    let Ok(tokens) = super::tokens(text) else { return false };
    let is_gap = |it: &&TokenWithSpan| matches!(it.token, Token::Whitespace(_));
    let tokens: Vec<&Token> = tokens.iter().filter(|it| !is_gap(it)).map(|it| &it.token).collect();
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) if word.quote_style.is_none() => word.value.to_ascii_lowercase(),
        _ => String::new(),
    };
    // For each open parenthesis, whether a query of its own is in it.
    let mut open: Vec<bool> = Vec::new();
    let mut has_from = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::LParen => open.push(word(at + 1) == "select"),
            Token::RParen => {
                open.pop();
            }
            Token::Word(_) if open.contains(&true) => {}
            Token::Word(_) => {
                let (it, is_call) = (word(at), tokens.get(at + 1) == Some(&&Token::LParen));
                let is_clause = matches!(
                    it.as_str(),
                    "distinct" | "group" | "having" | "union" | "intersect" | "except" | "over"
                );
                if is_clause || is_call && is_aggregate(&it) {
                    return false;
                }
                has_from |= it == "from" && open.is_empty();
            }
            _ => {}
        }
    }
    has_from && word(0) == "select"
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
    fn rows_that_are_made_of_many_cannot_be_locked() {
        assert!(may_lock("SELECT id, sum_of_all FROM t WHERE id IN (SELECT max(id) FROM t)"));
        assert!(may_lock("select count from t"));
        assert!(may_lock("select \"over\" from \"group\""));
        assert!(!may_lock("SELECT 1"));
        assert!(!may_lock("SELECT stddev_pop(b) FROM a"));
        assert!(!may_lock("SELECT coalesce(sum(b), 0) FROM a"));
        assert!(!may_lock("SELECT DISTINCT a FROM t"));
        assert!(!may_lock("SELECT a FROM t GROUP BY a"));
        assert!(!may_lock("INSERT INTO t SELECT a FROM u"));
    }

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
