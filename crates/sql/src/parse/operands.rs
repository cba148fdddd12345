//! Two things that `sqlparser` reads only in places of its own: COLLATE behind a cast, and columns
//! that are defined for a function without a name for it.

use super::rewrite::{plain, solid, word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

type Tokens = Vec<TokenWithSpan>;

/// Words of the name of a type at most: `timestamp (3) with time zone`.
const TYPE_TOKENS_MAX: usize = 12;
/// What begins a query.
const QUERIES: [&str; 8] =
    ["select", "with", "values", "table", "insert", "update", "delete", "merge"];
/// Words before a parenthesis that are no names of functions.
const NO_FUNCTIONS: [&str; 22] = [
    "and", "or", "not", "in", "select", "where", "by", "then", "when", "else", "on", "case",
    "from", "having", "like", "ilike", "between", "is", "distinct", "all", "any", "some",
];

/// `x::t COLLATE c` is `(x::t) COLLATE c`.
pub(super) fn collated_casts(mut tokens: Tokens) -> Tokens {
    let mut at = 0;
    loop {
        let places = solid(&tokens);
        let is_it = |&at: &usize| word(&tokens[places[at]]).as_deref() == Some("collate");
        let Some(found) = (at..places.len()).find(is_it) else { return tokens };
        at = found + 1;
        let Some(start) = cast_before(&tokens, &places, found) else { continue };
        let (open, close) = (places[start], places[found]);
        let like = tokens[open].clone();
        tokens.insert(close, plain(Token::RParen, &like));
        tokens.insert(open, plain(Token::LParen, &like));
        at += 2;
    }
}

/// Where the operand of the cast begins whose type ends before this place.
fn cast_before(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<usize> {
    let token = |at: usize| &tokens[places[at]].token;
    let mut at = end.checked_sub(1)?;
    for _ in 0..TYPE_TOKENS_MAX {
        match token(at) {
            Token::DoubleColon => return operand(tokens, places, at.checked_sub(1)?),
            Token::RParen | Token::RBracket => at = opening(tokens, places, at)?.checked_sub(1)?,
            Token::Word(_) | Token::Period => at = at.checked_sub(1)?,
            _ => return None,
        }
    }
    None
}

/// Where the operand begins that ends here: a name, a literal, a call, something in parentheses, an
/// element of it, or another cast.
fn operand(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<usize> {
    let token = |at: usize| &tokens[places[at]].token;
    let is_name = |at: usize| match token(at) {
        Token::Word(_) => {
            !word(&tokens[places[at]]).is_some_and(|it| NO_FUNCTIONS.contains(&it.as_str()))
        }
        _ => false,
    };
    let mut start = end;
    while *token(start) == Token::RBracket {
        start = opening(tokens, places, start)?.checked_sub(1)?;
    }
    if *token(start) == Token::RParen {
        start = opening(tokens, places, start)?;
        if start > 0 && is_name(start - 1) {
            start -= 1;
        }
    }
    while start > 1 && *token(start - 1) == Token::Period && is_name(start - 2) {
        start -= 2;
    }
    if start > 1 && *token(start - 1) == Token::DoubleColon {
        return operand(tokens, places, start - 2);
    }
    Some(start)
}

/// Where the parenthesis or bracket opens that is closed here.
fn opening(tokens: &[TokenWithSpan], places: &[usize], close: usize) -> Option<usize> {
    let mut depth = 0;
    for at in (0..=close).rev() {
        match tokens[places[at]].token {
            Token::RParen | Token::RBracket => depth += 1,
            Token::LParen | Token::LBracket => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// `f(x) AS (a int)` is `f(x) AS f (a int)`.
pub(super) fn unnamed_definitions(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is =
        |at: usize, want: &Token| places.get(at).is_some_and(|&place| tokens[place].token == *want);
    let word_at = |at: usize| places.get(at).and_then(|&place| word(&tokens[place]));
    let is_definition = |at: usize| {
        let is_type =
            matches!(places.get(at + 4).map(|&place| &tokens[place].token), Some(Token::Word(_)));
        is(at, &Token::RParen)
            && word_at(at + 1).as_deref() == Some("as")
            && is(at + 2, &Token::LParen)
            && word_at(at + 3).is_some_and(|it| !QUERIES.contains(&it.as_str()))
            && is_type
    };
    let named: Vec<(usize, TokenWithSpan)> = (0..places.len())
        .filter(|&at| is_definition(at))
        .filter_map(|at| {
            let name = opening(&tokens, &places, at)?.checked_sub(1)?;
            let function = &tokens[places[name]];
            let is_name = matches!(function.token, Token::Word(_));
            is_name.then(|| (places[at + 2], function.clone()))
        })
        .collect();
    for (place, name) in named.into_iter().rev() {
        tokens.insert(place, name);
    }
    tokens
}
