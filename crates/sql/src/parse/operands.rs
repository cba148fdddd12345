//! Two things that `sqlparser` reads only in places of its own: COLLATE behind a cast, and columns
//! that are defined for a function without a name for it.

use super::rewrite::{plain, solid, word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

type Tokens = Vec<TokenWithSpan>;

/// What begins a query.
const QUERIES: [&str; 8] =
    ["select", "with", "values", "table", "insert", "update", "delete", "merge"];
/// Words before a parenthesis that are no names of functions.
const NO_FUNCTIONS: [&str; 38] = [
    "and",
    "or",
    "not",
    "in",
    "select",
    "where",
    "by",
    "then",
    "when",
    "else",
    "on",
    "case",
    "from",
    "having",
    "like",
    "ilike",
    "between",
    "is",
    "distinct",
    "all",
    "any",
    "some",
    "returning",
    "limit",
    "offset",
    "as",
    "values",
    "using",
    "default",
    "check",
    "end",
    "escape",
    "similar",
    "to",
    "set",
    "stored",
    "with",
    "collate",
];
/// Names of types before a literal.
const LITERAL_TYPES: [&str; 11] = [
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "interval",
    "text",
    "varchar",
    "json",
    "jsonb",
    "uuid",
];

/// `x::t COLLATE c` is `(x::t) COLLATE c`.
pub(super) fn collated_casts(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let mut made: Vec<(usize, Token)> = Vec::new();
    for end in (0..places.len()).filter(|&at| is_word(&tokens[places[at]], "collate")) {
        if let Some(start) = cast_before(&tokens, &places, end) {
            made.push((places[start], Token::LParen));
            made.push((places[end], Token::RParen));
        }
    }
    if made.is_empty() {
        return tokens;
    }
    made.sort_by_key(|(place, _)| *place);
    let mut all = Vec::with_capacity(tokens.len() + made.len());
    let mut made = made.into_iter().peekable();
    for (place, token) in tokens.drain(..).enumerate() {
        while let Some((_, parenthesis)) = made.next_if(|(at, _)| *at == place) {
            all.push(plain(parenthesis, &token));
        }
        all.push(token);
    }
    all
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    match &token.token {
        Token::Word(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted),
        _ => false,
    }
}

/// Where the operand of the cast begins whose type ends before this place.
fn cast_before(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<usize> {
    let start = type_before(tokens, places, end.checked_sub(1)?)?;
    let cast = start.checked_sub(1)?;
    let is_cast = tokens[places[cast]].token == Token::DoubleColon;
    is_cast.then(|| operand(tokens, places, cast.checked_sub(1)?)).flatten()
}

/// Where the name of a type begins that ends here: a name with its schema, `varying` and the like,
/// a length, and brackets. Any other word ends the search, since it is no part of a cast.
fn type_before(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<usize> {
    let token = |at: usize| &tokens[places[at]].token;
    let is = |at: usize, wanted: &str| is_word(&tokens[places[at]], wanted);
    let mut at = end;
    while *token(at) == Token::RBracket {
        at = opening(tokens, places, at)?.checked_sub(1)?;
    }
    if is(at, "zone") && at >= 3 && is(at - 1, "time") {
        at -= 3;
    }
    if *token(at) == Token::RParen {
        at = opening(tokens, places, at)?.checked_sub(1)?;
    }
    if is(at, "varying") || is(at, "precision") {
        at = at.checked_sub(1)?;
    }
    let is_name = |at: usize| matches!(token(at), Token::Word(_));
    while at > 1 && is_name(at) && *token(at - 1) == Token::Period {
        at -= 2;
    }
    is_name(at).then_some(at)
}

/// Where the operand begins that ends here: a name, a literal, a call, something in parentheses, an
/// element of it, CASE, or another cast.
fn operand(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<usize> {
    let token = |at: usize| &tokens[places[at]].token;
    let is_one_of = |at: usize, words: &[&str]| {
        word(&tokens[places[at]]).is_some_and(|it| words.contains(&it.as_str()))
    };
    let is_name = |at: usize| matches!(token(at), Token::Word(_)) && !is_one_of(at, &NO_FUNCTIONS);
    let mut start = end;
    while *token(start) == Token::RBracket {
        start = opening(tokens, places, start)?.checked_sub(1)?;
    }
    if *token(start) == Token::RParen {
        start = opening(tokens, places, start)?;
        if start > 1 && is_one_of(start - 1, &["over", "filter"]) {
            return operand(tokens, places, start - 2);
        }
        if start > 0 && is_name(start - 1) {
            start -= 1;
        }
    } else if is_word(&tokens[places[start]], "end") {
        start = case_before(tokens, places, start)?;
    } else if start > 0 && matches!(token(start), Token::SingleQuotedString(_)) {
        start -= usize::from(is_one_of(start - 1, &LITERAL_TYPES));
    }
    while start > 1 && *token(start - 1) == Token::Period && is_name(start - 2) {
        start -= 2;
    }
    if start > 1 && *token(start - 1) == Token::DoubleColon {
        return operand(tokens, places, start - 2);
    }
    // What has a collation is cast once more.
    if start > 1 && is_word(&tokens[places[start - 1]], "collate") {
        let cast = cast_before(tokens, places, start - 1);
        return cast.or_else(|| operand(tokens, places, start - 2));
    }
    Some(start)
}

/// Where the CASE begins that ends here.
fn case_before(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<usize> {
    let mut depth = 0;
    for at in (0..=end).rev() {
        depth += i32::from(is_word(&tokens[places[at]], "end"));
        depth -= i32::from(is_word(&tokens[places[at]], "case"));
        if depth == 0 {
            return Some(at);
        }
    }
    None
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
    let is_name =
        |at: usize| places.get(at).is_some_and(|&it| matches!(tokens[it].token, Token::Word(_)));
    let is_definition = |at: usize| {
        is(at, &Token::RParen)
            && word_at(at + 1).as_deref() == Some("as")
            && is(at + 2, &Token::LParen)
            && is_name(at + 3)
            && !word_at(at + 3).is_some_and(|it| QUERIES.contains(&it.as_str()))
            && is_name(at + 4)
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
