//! What `sqlparser` does not know of PostgreSQL's grammar, said in a way that it does.

use super::operands;
use sqlparser::ast::{Expr, Value};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Rewrites tokens.
pub(super) fn rewrite(text: &str, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let tokens = super::search_cycle::rewrite(text, tokens);
    let tokens = super::synonyms::rewrite(super::lexical::rewrite(joined_strings(tokens)));
    let tokens = super::grammar::rewrite(text, tokens);
    let tokens = frame_bounds(exclusions(trims(only(table_command(tokens)))));
    let tokens = weaker_locks(transactions(queries_in_lists(tokens)));
    let tokens = operands::collated_casts(operands::unnamed_definitions(tokens));
    fetched(text, conflict_targets(text, parenthesized_operands(tokens)))
}

/// Strings on lines of their own are one string.
fn joined_strings(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut made: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let is_gap = |it: &TokenWithSpan| matches!(it.token, Token::Whitespace(_));
        let before = made.iter().rposition(|it| !is_gap(it));
        let has_line = |it: &TokenWithSpan| {
            matches!(it.token, Token::Whitespace(sqlparser::tokenizer::Whitespace::Newline))
        };
        if let Token::SingleQuotedString(more) = &token.token
            && let Some(before) = before
            && made[before..].iter().any(has_line)
            && let Token::SingleQuotedString(text) = &mut made[before].token
        {
            text.push_str(more);
            made.truncate(before + 1);
            continue;
        }
        made.push(token);
    }
    made
}

/// UPDATE ONLY t and FROM ONLY t: no table has children.
fn only(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| word(&tokens[places[at]]).as_deref() == Some(want);
    let is_it = |at: usize| {
        let is_name = |next: usize| matches!(tokens[places[next]].token, Token::Word(_));
        is(at, "only")
            && at > 0
            && at + 1 < places.len()
            && (is(at - 1, "update") || is(at - 1, "from") || is(at - 1, "join"))
            && is_name(at + 1)
            && !is(at + 1, "where")
    };
    let found: Vec<usize> = (0..places.len()).filter(|&at| is_it(at)).collect();
    found.into_iter().rev().for_each(|at| drop(tokens.remove(places[at])));
    tokens
}

/// `trim(leading FROM x)` is `trim(leading x)`.
fn trims(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| word(&tokens[places[at]]).as_deref() == Some(want);
    let is_it = |at: usize| {
        at > 1
            && is(at, "from")
            && (is(at - 1, "leading") || is(at - 1, "trailing") || is(at - 1, "both"))
            && tokens[places[at - 2]].token == Token::LParen
    };
    let found: Vec<usize> = (0..places.len()).filter(|&at| is_it(at)).collect();
    found.into_iter().rev().for_each(|at| drop(tokens.remove(places[at])));
    tokens
}

/// `x IN ((SELECT …), y)`: the parser would take the first of the list for all of it.
fn queries_in_lists(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let token = |at: usize| places.get(at).map(|&place| &tokens[place].token);
    let is_list = |at: usize| {
        is(at, "in")
            && token(at + 1) == Some(&Token::LParen)
            && token(at + 2) == Some(&Token::LParen)
            && (is(at + 3, "select") || is(at + 3, "with"))
            && closing(&tokens, &places, at + 2)
                .is_some_and(|end| token(end + 1) == Some(&Token::Comma))
    };
    let found: Vec<usize> = (0..places.len()).filter(|&at| is_list(at)).collect();
    for at in found.into_iter().rev() {
        let Some(end) = closing(&tokens, &places, at + 2) else { continue };
        let (open, close) = (places[at + 2], places[end]);
        let around = |token: Token| plain(token, &tokens[open]);
        let (last, first) = (around(Token::RParen), around(Token::LParen));
        let mark = marked("query", &tokens[open]);
        tokens.insert(close, last);
        tokens.splice(open..open, [mark, first]);
    }
    tokens
}

/// EXCLUDE of a window frame, which the parser does not know, becomes a key of the order.
fn exclusions(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let what = |at: usize| {
        let next = |word| is(at, "exclude") && is(at + 1, word);
        if next("current") && is(at + 2, "row") {
            Some(("exclude current", 3))
        } else if next("group") {
            Some(("exclude group", 2))
        } else if next("ties") {
            Some(("exclude ties", 2))
        } else {
            (next("no") && is(at + 2, "others")).then_some(("", 3))
        }
    };
    let found: Vec<(usize, &str, usize)> = (0..places.len())
        .filter_map(|at| what(at).map(|(mark, count)| (at, mark, count)))
        .collect();
    for (at, mark, count) in found.into_iter().rev() {
        let Some((unit, has_order)) = frame_unit(&tokens, &places, at) else { continue };
        let like = tokens[places[at]].clone();
        tokens.drain(places[at]..=places[at + count - 1]);
        if mark.is_empty() {
            continue;
        }
        let mut made = vec![plain(Token::Comma, &like)];
        if !has_order {
            made = ["ORDER", "BY"].map(|it| plain(Token::make_keyword(it), &like)).to_vec();
        }
        made.push(marked(mark, &like));
        tokens.splice(places[unit]..places[unit], made);
    }
    tokens
}

/// `'1 day'::interval PRECEDING`: the parser takes a string there for an interval by itself, so
/// what is more than that gets parentheses.
fn frame_bounds(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let word_at = |at: usize| word(&tokens[places[at]]);
    let ends = |at: usize| matches!(word_at(at).as_deref(), Some("preceding" | "following"));
    let begins = |at: usize| {
        let before = word_at(at);
        let words = ["between", "and", "rows", "range", "groups"];
        before.is_some_and(|before| words.contains(&before.as_str()))
    };
    let is_string = |at: usize| matches!(tokens[places[at]].token, Token::SingleQuotedString(_));
    let mut found = Vec::new();
    for end in (0..places.len()).filter(|&at| ends(at)) {
        let first = (0..end).rev().find(|&at| begins(at)).map_or(end, |at| at + 1);
        if first + 1 < end && is_string(first) {
            found.push((places[first], places[end]));
        }
    }
    for (first, end) in found.into_iter().rev() {
        let like = tokens[first].clone();
        tokens.insert(end, plain(Token::RParen, &like));
        tokens.insert(first, plain(Token::LParen, &like));
    }
    tokens
}

/// Where the frame begins that ends at a place, and whether an order stands before it.
fn frame_unit(tokens: &[TokenWithSpan], places: &[usize], end: usize) -> Option<(usize, bool)> {
    let (mut depth, mut unit, mut has_order) = (0, None, false);
    for at in (0..end).rev() {
        match &tokens[places[at]].token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => break,
            Token::LParen => depth -= 1,
            _ if depth > 0 => {}
            _ => match word(&tokens[places[at]]).as_deref() {
                Some("rows" | "range" | "groups") if unit.is_none() => unit = Some(at),
                Some("order") => has_order = true,
                _ => {}
            },
        }
    }
    unit.map(|unit| (unit, has_order))
}

/// `((SELECT …) UNION …)` as an expression: `sqlparser` takes the inner parentheses for those of
/// an expression, unless the first operand is a query by its first word.
fn parenthesized_operands(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let opens =
        |at: usize| places.get(at).is_some_and(|&place| tokens[place].token == Token::LParen);
    let mut made = Vec::with_capacity(tokens.len());
    let mut done = 0;
    for at in 1..places.len() {
        let mut inner = at + 1;
        while opens(inner) {
            inner += 1;
        }
        if !(opens(at - 1) && opens(at) && (is(inner, "select") || is(inner, "with"))) {
            continue;
        }
        let Some(close) = closing(&tokens, &places, at) else { continue };
        if !["union", "intersect", "except"].iter().any(|word| is(close + 1, word)) {
            continue;
        }
        let (open, behind) = (places[at], places[close] + 1);
        if open < done {
            continue;
        }
        let like = &tokens[open];
        made.extend_from_slice(&tokens[done..open]);
        made.push(plain(Token::make_keyword("SELECT"), like));
        made.push(plain(Token::Mul, like));
        made.push(plain(Token::make_keyword("FROM"), like));
        made.extend_from_slice(&tokens[open..behind]);
        made.push(plain(Token::make_keyword("AS"), like));
        made.push(marked("operand", like));
        done = behind;
    }
    made.extend_from_slice(&tokens[done..]);
    made
}

/// FETCH FIRST (expression) ROWS: `sqlparser` knows literals only, so it becomes one that says so.
fn fetched(text: &str, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let mut made = Vec::with_capacity(tokens.len());
    let mut done = 0;
    for at in 0..places.len() {
        if !is(at, "fetch") || !(is(at + 1, "first") || is(at + 1, "next")) {
            continue;
        }
        let Some(close) = closing(&tokens, &places, at + 2) else { continue };
        let (open, last) = (places[at + 2], places[close]);
        let start = super::position(text, tokens[open].span.start) as usize;
        let end = super::position(text, tokens[last].span.end) as usize;
        let inner: String = text.chars().skip(start - 1).take(end - start).collect();
        made.extend_from_slice(&tokens[done..open]);
        let token = Token::SingleQuotedString(format!("{MARK}{inner}"));
        made.push(plain(token, &tokens[open]));
        done = last + 1;
    }
    made.extend_from_slice(&tokens[done..]);
    made
}

/// Where the parenthesis is closed that opens here, if one does.
pub(super) fn closing(tokens: &[TokenWithSpan], places: &[usize], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (next, &place) in places.iter().enumerate().skip(at) {
        match tokens[place].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(next);
        }
    }
    None
}

/// ABORT is ROLLBACK, and DEFERRABLE means nothing here.
fn transactions(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let first = tokens.iter().position(|it| !matches!(it.token, Token::Whitespace(_)));
    let Some(first) = first else { return tokens };
    match word(&tokens[first]).as_deref() {
        Some("abort") => tokens[first].token = Token::make_keyword("ROLLBACK"),
        Some("begin" | "start") => {
            let is_it = |it: &TokenWithSpan, want: &str| word(it).as_deref() == Some(want);
            tokens.retain(|it| !matches!(it.token, Token::Whitespace(_)));
            while let Some(place) = tokens.iter().position(|it| is_it(it, "deferrable")) {
                let first = place - usize::from(place > 0 && is_it(&tokens[place - 1], "not"));
                // One comma goes with it: the one before, or if it is the first mode that behind.
                let is_comma =
                    |it: Option<&TokenWithSpan>| it.is_some_and(|it| it.token == Token::Comma);
                let before = is_comma(tokens[..first].last());
                let behind = !before && is_comma(tokens.get(place + 1));
                tokens.drain(first - usize::from(before)..=place + usize::from(behind));
            }
        }
        _ => {}
    }
    tokens
}

/// `TABLE t` as a query is `SELECT * FROM t`.
fn table_command(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is_query = |at: usize| match at.checked_sub(1).map(|before| &tokens[places[before]]) {
        None => true,
        Some(before) if before.token == Token::LParen => true,
        Some(before) => {
            let before = word(before);
            matches!(before.as_deref(), Some("union" | "intersect" | "except" | "all"))
        }
    };
    let is_table = |at: &usize| word(&tokens[places[*at]]).as_deref() == Some("table");
    let found: Vec<usize> = (0..places.len()).filter(|at| is_table(at) && is_query(*at)).collect();
    for first in found.into_iter().rev().map(|at| places[at]) {
        let span = tokens[first].span;
        let with = |token| TokenWithSpan { token, span };
        let words = ["SELECT", "*", "FROM"].map(|it| match it {
            "*" => with(Token::Mul),
            it => with(Token::make_keyword(it)),
        });
        tokens.splice(first..=first, words);
    }
    tokens
}

pub(super) fn word(token: &TokenWithSpan) -> Option<String> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_lowercase()),
        _ => None,
    }
}

/// What stands in a name to say something that `sqlparser` has no place for. No text of a client
/// can have it in a name, since texts have no such character.
pub(crate) const MARK: char = '\0';

/// The text that stands in a literal for an expression.
pub(crate) fn marked_literal(literal: &Expr) -> Option<&str> {
    let Expr::Value(value) = literal else { return None };
    let Value::SingleQuotedString(text) = &value.value else { return None };
    text.strip_prefix(MARK)
}

pub(super) fn marked(what: &str, like: &TokenWithSpan) -> TokenWithSpan {
    let value = format!("{MARK}{what}");
    let keyword = sqlparser::keywords::Keyword::NoKeyword;
    let word = sqlparser::tokenizer::Word { value, quote_style: Some('"'), keyword };
    TokenWithSpan { token: Token::Word(word), span: like.span }
}

pub(super) fn plain(token: Token, like: &TokenWithSpan) -> TokenWithSpan {
    TokenWithSpan { token, span: like.span }
}

/// The places of tokens that are no space.
pub(super) fn solid(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let is_solid = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
    (0..tokens.len()).filter(is_solid).collect()
}

/// FOR NO KEY UPDATE and FOR KEY SHARE, and locks of several tables: `FOR UPDATE OF a, b` becomes
/// `FOR UPDATE OF a FOR UPDATE OF b`, and the strength is a part of the name.
fn weaker_locks(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let mut made = Vec::with_capacity(tokens.len());
    let mut done = 0;
    let mut at = 0;
    while at < places.len() {
        let Some((count, update, strength)) = lock_words(&is, at) else {
            at += 1;
            continue;
        };
        made.extend_from_slice(&tokens[done..places[at]]);
        let like = &tokens[places[at]];
        let mut next = at + count;
        if !is(next, "of") && !selects_from(&tokens, &places[..at]) {
            // There is nothing to lock, and `sqlparser` would take the word for a name.
            next += usize::from(is(next, "nowait")) + 2 * usize::from(is(next, "skip"));
            done = places.get(next).copied().unwrap_or(tokens.len());
            at = next;
            continue;
        }
        // The tables, each with the tokens of its name.
        let mut tables: Vec<Vec<TokenWithSpan>> = Vec::new();
        if is(next, "of") {
            next += 1;
            tables.push(Vec::new());
            while let Some(&place) = places.get(next) {
                match &tokens[place].token {
                    Token::Comma => tables.push(Vec::new()),
                    Token::Period | Token::Word(_)
                        if !is(next, "for")
                            && !is(next, "nowait")
                            && !is(next, "skip")
                            && !is(next, "limit")
                            && !is(next, "offset")
                            && !is(next, "fetch") =>
                    {
                        if let Some(table) = tables.last_mut() {
                            table.push(tokens[place].clone());
                        }
                    }
                    _ => break,
                }
                next += 1;
            }
        }
        let mut wait = Vec::new();
        if is(next, "nowait") {
            wait.push(tokens[places[next]].clone());
            next += 1;
        } else if is(next, "skip") && is(next + 1, "locked") {
            wait.extend([tokens[places[next]].clone(), tokens[places[next + 1]].clone()]);
            next += 2;
        }
        if tables.is_empty() {
            tables.push(Vec::new());
        }
        for table in tables {
            made.push(plain(Token::make_keyword("FOR"), like));
            made.push(plain(Token::make_keyword(if update { "UPDATE" } else { "SHARE" }), like));
            if !table.is_empty() || strength.is_some() {
                made.push(plain(Token::make_keyword("OF"), like));
            }
            if let Some(strength) = strength {
                made.push(marked(strength, like));
                if !table.is_empty() {
                    made.push(plain(Token::Period, like));
                }
            }
            made.extend(table);
            made.extend(wait.iter().cloned());
        }
        done = places.get(next).copied().unwrap_or(tokens.len());
        at = next;
    }
    made.extend_from_slice(&tokens[done..]);
    made
}

/// Whether the query that ends here has tables.
fn selects_from(tokens: &[TokenWithSpan], places: &[usize]) -> bool {
    let mut depth = 0;
    for &place in places.iter().rev() {
        match tokens[place].token {
            Token::RParen => depth += 1,
            Token::LParen => depth -= 1,
            _ => {}
        }
        match word(&tokens[place]).as_deref() {
            Some("from") if depth == 0 => return true,
            Some("select") if depth == 0 => return false,
            _ => {}
        }
    }
    // A query in parentheses.
    true
}

/// The words of a lock: how many, whether it is to update, and whether it is a weaker one.
fn lock_words(
    is: &impl Fn(usize, &str) -> bool,
    at: usize,
) -> Option<(usize, bool, Option<&'static str>)> {
    if !is(at, "for") {
        return None;
    }
    if is(at + 1, "no") && is(at + 2, "key") && is(at + 3, "update") {
        return Some((4, true, Some("no key")));
    }
    if is(at + 1, "key") && is(at + 2, "share") {
        return Some((3, false, Some("key")));
    }
    if is(at + 1, "update") {
        return Some((2, true, None));
    }
    is(at + 1, "share").then_some((2, false, None))
}

/// ON CONFLICT (lower(a)) WHERE b: what is no column becomes a name that says so.
fn conflict_targets(text: &str, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let places = solid(&tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    let token = |at: usize| places.get(at).map(|&place| &tokens[place].token);
    let Some(at) = (0..places.len()).find(|&at| {
        is(at, "on") && is(at + 1, "conflict") && token(at + 2) == Some(&Token::LParen)
    }) else {
        return tokens;
    };
    let like = &tokens[places[at]];
    let (mut depth, mut next) = (0, at + 3);
    let mut items: Vec<(usize, usize)> = vec![(next, next)];
    while let Some(found) = token(next) {
        match found {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => break,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => items.push((next + 1, next + 1)),
            _ => {}
        }
        next += 1;
        if let Some(last) = items.last_mut()
            && last.0 < next
        {
            last.1 = next;
        }
    }
    let shown = |from: usize, to: usize| -> String {
        let of = |at: usize| &tokens[places[at]];
        let start = super::position(text, of(from).span.start) as usize;
        let end = super::position(text, of(to - 1).span.end) as usize;
        text.chars().skip(start - 1).take(end - start).collect()
    };
    let mut made = tokens[..places[at + 3].min(tokens.len())].to_vec();
    for (number, &(from, to)) in items.iter().enumerate() {
        if number > 0 {
            made.push(plain(Token::Comma, like));
        }
        let to = if token(to.wrapping_sub(1)) == Some(&Token::Comma) { to - 1 } else { to };
        if from >= to {
            return tokens;
        }
        let is_column = matches!(token(from), Some(Token::Word(_)))
            && (to == from + 1 || matches!(token(from + 1), Some(Token::Word(_))));
        if is_column {
            made.push(tokens[places[from]].clone());
        } else {
            made.push(marked(&format!("expr {}", shown(from, to)), like));
        }
    }
    next += 1;
    if is(next, "where") {
        let from = next + 1;
        while next < places.len() && !is(next, "do") {
            next += 1;
        }
        if next > from {
            made.push(plain(Token::Comma, like));
            made.push(marked(&format!("where {}", shown(from, next)), like));
        }
    }
    made.push(plain(Token::RParen, like));
    made.extend_from_slice(&tokens[places.get(next).copied().unwrap_or(tokens.len())..]);
    made
}

/// OVERRIDING SYSTEM VALUE or USER VALUE of an INSERT: taken out, and which it was.
pub(super) fn overriding(tokens: &mut Vec<TokenWithSpan>) -> Option<bool> {
    let places = solid(tokens);
    let is = |at: usize, want: &str| {
        places.get(at).is_some_and(|&place| word(&tokens[place]).as_deref() == Some(want))
    };
    if !is(0, "insert") {
        return None;
    }
    let at = (0..places.len()).find(|&at| {
        is(at, "overriding") && (is(at + 1, "system") || is(at + 1, "user")) && is(at + 2, "value")
    })?;
    let system = is(at + 1, "system");
    tokens.drain(places[at]..=places[at + 2]);
    Some(system)
}
