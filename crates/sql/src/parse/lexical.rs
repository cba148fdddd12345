//! Where the tokens of `sqlparser` are not those of PostgreSQL: keywords behind a dot are names,
//! and some operators are one token.

use super::rewrite::{plain, solid, word};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

type Tokens = Vec<TokenWithSpan>;

/// Rewrites tokens.
pub(super) fn rewrite(tokens: Tokens) -> Tokens {
    merge_sources(image_operators(qualified_names(tokens)))
}

/// `pg_catalog.session_user()`: what stands behind a dot is a name, whatever it means alone.
fn qualified_names(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    for pair in places.windows(2) {
        if tokens[pair[0]].token == Token::Period
            && let Token::Word(word) = &mut tokens[pair[1]].token
        {
            word.keyword = Keyword::NoKeyword;
        }
    }
    tokens
}

/// `*=` and its like, which compare records byte by byte.
fn image_operators(mut tokens: Tokens) -> Tokens {
    let behind = |token: &Token| match token {
        Token::Eq => Some("*="),
        Token::Neq => Some("*<>"),
        Token::Lt => Some("*<"),
        Token::Gt => Some("*>"),
        Token::LtEq => Some("*<="),
        Token::GtEq => Some("*>="),
        _ => None,
    };
    for at in (1..tokens.len()).rev() {
        if tokens[at - 1].token == Token::Mul
            && let Some(name) = behind(&tokens[at].token)
        {
            tokens[at - 1].token = Token::CustomBinaryOperator(name.to_owned());
            tokens[at - 1].span.end = tokens[at].span.end;
            tokens.remove(at);
        }
    }
    tokens
}

/// `MERGE INTO t USING a JOIN b ON … ON …`: the parser wants parentheses around joined sources.
fn merge_sources(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let Some(merge) = (0..places.len()).find(|&at| is(at, "merge") && is(at + 1, "into")) else {
        return tokens;
    };
    let Some(using) = (merge..places.len()).find(|&at| is(at, "using")) else { return tokens };
    let (mut depth, mut conditions, mut has_join) = (0i32, Vec::new(), false);
    for at in using + 1..places.len() {
        match &tokens[places[at]].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if is(at, "case") => depth += 1,
            _ if is(at, "end") => depth -= 1,
            _ if depth > 0 => {}
            _ if is(at, "when") => break,
            _ if is(at, "on") => conditions.push(at),
            _ => has_join |= is(at, "join"),
        }
    }
    let Some(&last) = conditions.last().filter(|_| has_join) else { return tokens };
    let (first, last) = (places[using + 1], places[last]);
    let (open, close) = (plain(Token::LParen, &tokens[first]), plain(Token::RParen, &tokens[last]));
    tokens.insert(last, close);
    tokens.insert(first, open);
    tokens
}
