//! Words of PostgreSQL that say what other words say, too, and that `sqlparser` does not know or
//! takes for names.

use super::rewrite::{closing, marked, plain, solid, word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

type Tokens = Vec<TokenWithSpan>;

/// The name of an argument that stands for VARIADIC.
pub(crate) const VARIADIC: &str = "\0variadic";

/// Rewrites tokens.
pub(super) fn rewrite(tokens: Tokens) -> Tokens {
    let tokens = null_tests(double_equals(tokens));
    let tokens = variadic(national(tokens));
    unlocked(only_parenthesized(conflicts_without_from(tokens)))
}

/// Whether these words stand at a place.
fn is_at(tokens: &[TokenWithSpan], places: &[usize], at: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(next, want)| {
        places.get(at + next).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    })
}

fn token_at<'t>(tokens: &'t [TokenWithSpan], places: &[usize], at: usize) -> Option<&'t Token> {
    places.get(at).map(|&place| &tokens[place].token)
}

/// `==` is an operator that nobody has made, and no `=`.
fn double_equals(mut tokens: Tokens) -> Tokens {
    for token in tokens.iter_mut().filter(|it| it.token == Token::DoubleEq) {
        token.token = Token::CustomBinaryOperator("==".to_owned());
    }
    tokens
}

/// `x ISNULL` is `x IS NULL`; the words are no names unless they are quoted.
fn null_tests(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is_test = |at: usize| {
        let after_operand = at > 0
            && !is_at(&tokens, &places, at - 1, &["as"])
            && token_at(&tokens, &places, at - 1) != Some(&Token::Period);
        let is_word = |name| is_at(&tokens, &places, at, &[name]);
        (after_operand && (is_word("isnull") || is_word("notnull"))).then(|| is_word("notnull"))
    };
    let found: Vec<(usize, bool)> =
        (0..places.len()).filter_map(|at| is_test(at).map(|not| (places[at], not))).collect();
    for (place, not) in found.into_iter().rev() {
        let words: &[&str] = if not { &["IS", "NOT", "NULL"] } else { &["IS", "NULL"] };
        let like = tokens[place].clone();
        let made = words.iter().map(|it| plain(Token::make_keyword(it), &like));
        tokens.splice(place..=place, made.collect::<Vec<_>>());
    }
    tokens
}

/// NATIONAL CHARACTER is CHARACTER.
fn national(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is_it = |&at: &usize| {
        let is = |words: &[&str]| is_at(&tokens, &places, at, words);
        is(&["national", "character"]) || is(&["national", "char"])
    };
    let found: Vec<usize> = (0..places.len()).filter(is_it).collect();
    found.into_iter().rev().for_each(|at| drop(tokens.remove(places[at])));
    tokens
}

/// `f(VARIADIC x)` names the argument.
fn variadic(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is_it = |&at: &usize| {
        let before = at.checked_sub(1).and_then(|at| token_at(&tokens, &places, at));
        let starts = matches!(before, Some(Token::LParen | Token::Comma));
        let ends = matches!(token_at(&tokens, &places, at + 1), Some(Token::Comma) | None);
        starts && !ends && is_at(&tokens, &places, at, &["variadic"])
    };
    let found: Vec<usize> = (0..places.len()).filter(is_it).collect();
    for place in found.into_iter().rev().map(|at| places[at]) {
        let arrow = plain(Token::RArrow, &tokens[place]);
        let name = marked("variadic", &tokens[place]);
        tokens.splice(place..=place, [name, arrow]);
    }
    tokens
}

/// `INSERT … SELECT 1 ON CONFLICT …`: without FROM the parser takes ON for the name of a result.
fn conflicts_without_from(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is_it = |&at: &usize| {
        is_at(&tokens, &places, at, &["on", "conflict"])
            && ends_with_results(&tokens, &places[..at])
    };
    let found: Vec<usize> = (0..places.len()).filter(is_it).collect();
    for place in found.into_iter().rev().map(|at| places[at]) {
        let like = tokens[place].clone();
        let made = ["WHERE", "TRUE"].map(|it| plain(Token::make_keyword(it), &like));
        tokens.splice(place..place, made);
    }
    tokens
}

/// Whether what ends here is the list of results of a SELECT.
fn ends_with_results(tokens: &[TokenWithSpan], places: &[usize]) -> bool {
    const CLAUSES: [&str; 10] =
        ["from", "where", "group", "having", "order", "limit", "offset", "fetch", "for", "values"];
    let mut depth = 0;
    for &place in places.iter().rev() {
        match tokens[place].token {
            Token::RParen => depth += 1,
            Token::LParen => depth -= 1,
            _ => {}
        }
        match word(&tokens[place]) {
            Some(found) if depth == 0 && found == "select" => return true,
            Some(found) if depth == 0 && CLAUSES.contains(&found.as_str()) => return false,
            _ if depth < 0 => return false,
            _ => {}
        }
    }
    false
}

/// `ONLY (t)` is `ONLY t`.
fn only_parenthesized(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let found: Vec<(usize, usize)> = (1..places.len())
        .filter(|&at| {
            let before = |name| is_at(&tokens, &places, at - 1, &[name, "only"]);
            before("from") || before("join") || before("update")
        })
        .filter_map(|at| Some((places[at + 1], places[closing(&tokens, &places, at + 1)?])))
        .collect();
    for (open, close) in found.into_iter().rev() {
        tokens.remove(close);
        tokens.remove(open);
    }
    tokens
}

/// FOR READ ONLY asks for no lock.
fn unlocked(mut tokens: Tokens) -> Tokens {
    let places = solid(&tokens);
    let is_it = |&at: &usize| is_at(&tokens, &places, at, &["for", "read", "only"]);
    let found: Vec<usize> = (0..places.len()).filter(is_it).collect();
    for at in found.into_iter().rev() {
        tokens.drain(places[at]..=places[at + 2]);
    }
    tokens
}
