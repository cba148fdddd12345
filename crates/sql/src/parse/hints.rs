//! What applications tell the mock database in comments.

use sqlparser::tokenizer::{Token, Whitespace};

/// What a hint begins with, in a comment.
const MARK: &str = "seriatim:";

/// Whether a comment of a statement says `seriatim: latest`: its reads return the newest versions.
pub fn asks_for_latest(text: &str) -> bool {
    // Nearly all statements have no hint, and are not read again for it.
    if !text.contains(MARK) {
        return false;
    }
    let Ok(tokens) = super::tokens(text) else { return false };
    tokens.iter().any(|token| match &token.token {
        Token::Whitespace(Whitespace::MultiLineComment(comment)) => says(comment, "latest"),
        Token::Whitespace(Whitespace::SingleLineComment { comment, .. }) => says(comment, "latest"),
        _ => false,
    })
}

fn says(comment: &str, hint: &str) -> bool {
    let Some(hints) = comment.trim().strip_prefix(MARK) else { return false };
    hints.split([',', ' ']).any(|word| word.trim().eq_ignore_ascii_case(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_a_comment_and_nothing_else() {
        assert!(asks_for_latest("/* seriatim: latest */ SELECT 1"));
        assert!(asks_for_latest("SELECT 1 -- seriatim: latest\n"));
        assert!(asks_for_latest("SELECT 1 /*seriatim:latest*/;"));
        assert!(!asks_for_latest("SELECT '/* seriatim: latest */'"));
        assert!(!asks_for_latest("SELECT 1 /* seriatim: old */"));
        assert!(!asks_for_latest("SELECT 1 /* the latest of seriatim: none */"));
    }
}
