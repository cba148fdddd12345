//! More of PostgreSQL's grammar in words that `sqlparser` knows: what stands in expressions, in
//! FROM and in GROUP BY. See `rewrite.rs` for marked names.

use super::rewrite::{closing, marked, plain, solid, word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

type Tokens = Vec<TokenWithSpan>;

/// Rewrites tokens.
pub(super) fn rewrite(text: &str, tokens: Tokens) -> Tokens {
    let tokens = typed_strings(empty_select(tokens));
    let tokens = substrings(symmetric(values_queries(tokens)));
    let tokens = group_by(nested_grouping_sets(rows_from(tokens)));
    let tokens = fields_of_rows(rows_in_calls(tokens));
    parts(text, merge_defaults(join_aliases(tokens)))
}

/// Tokens that are no space, by their number among these.
struct Solid<'t> {
    tokens: &'t [TokenWithSpan],
    places: Vec<usize>,
}

impl<'t> Solid<'t> {
    fn new(tokens: &'t [TokenWithSpan]) -> Solid<'t> {
        Solid { tokens, places: solid(tokens) }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn word(&self, at: usize) -> Option<String> {
        word(&self.tokens[*self.places.get(at)?])
    }

    /// Whether these words begin at a place.
    fn is(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(next, want)| self.word(at + next).as_deref() == Some(want))
    }

    fn token(&self, at: usize) -> Option<&'t Token> {
        self.places.get(at).map(|&place| &self.tokens[place].token)
    }

    fn has(&self, at: usize, token: &Token) -> bool {
        self.token(at) == Some(token)
    }

    fn closing(&self, at: usize) -> Option<usize> {
        if !self.has(at, &Token::LParen) {
            return None;
        }
        closing(self.tokens, &self.places, at)
    }

    fn all(&self, is_it: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        (0..self.len()).filter(|&at| is_it(self, at)).collect()
    }
}

/// What may follow SELECT without results and without FROM.
const CLAUSES: [&str; 12] = [
    "where",
    "group",
    "having",
    "window",
    "union",
    "intersect",
    "except",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
];

/// A query of no columns and one row.
fn empty_select(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let found = it.all(|it, at| {
        let is_end = |token: Option<&Token>| {
            matches!(token, None | Some(Token::SemiColon | Token::EOF | Token::RParen))
        };
        let is_clause = || it.word(at + 1).is_some_and(|word| CLAUSES.contains(&word.as_str()));
        it.is(at, &["select"]) && (is_end(it.token(at + 1)) || is_clause())
    });
    let found: Vec<usize> = found.into_iter().map(|at| it.places[at]).collect();
    for place in found.into_iter().rev() {
        let made = of_nothing(&tokens[place]);
        tokens.splice(place + 1..place + 1, made);
    }
    tokens
}

/// FROM one row without a column.
fn of_nothing(like: &TokenWithSpan) -> [TokenWithSpan; 9] {
    let word = |text: &str| plain(Token::make_keyword(text), like);
    let number = plain(Token::Number("1".to_owned(), false), like);
    let (open, close) = (plain(Token::LParen, like), plain(Token::RParen, like));
    [
        word("FROM"),
        open.clone(),
        word("VALUES"),
        open,
        number,
        close.clone(),
        close,
        word("AS"),
        marked("nothing", like),
    ]
}

/// `inet '…'` is `'…'::inet`.
fn typed_strings(mut tokens: Tokens) -> Tokens {
    const TYPES: &[&str] = &[
        "inet",
        "cidr",
        "macaddr",
        "macaddr8",
        "money",
        "regclass",
        "regtype",
        "regproc",
        "regprocedure",
        "regnamespace",
        "jsonpath",
    ];
    let it = Solid::new(&tokens);
    let found = it.all(|it, at| {
        matches!(it.token(at + 1), Some(Token::SingleQuotedString(_)))
            && it.word(at).is_some_and(|word| TYPES.contains(&word.as_str()))
    });
    let found: Vec<_> = found.into_iter().map(|at| (it.places[at], it.places[at + 1])).collect();
    for (name, literal) in found.into_iter().rev() {
        let double_colon = plain(Token::DoubleColon, &tokens[name]);
        let name_token = tokens[name].clone();
        tokens.splice(literal + 1..literal + 1, [double_colon, name_token]);
        tokens.remove(name);
    }
    tokens
}

/// `x = (VALUES (1))`: the parser takes VALUES for a function there.
fn values_queries(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let is_operand = |it: &Solid<'_>, at: usize| match it.token(at) {
        Some(
            Token::Eq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::Plus
            | Token::Minus
            | Token::Comma,
        ) => true,
        _ => it.word(at).is_some_and(|word| {
            matches!(word.as_str(), "any" | "all" | "some" | "exists" | "array" | "select" | "in")
        }),
    };
    let found = it.all(|it, at| {
        at > 0
            && it.is(at + 1, &["values"])
            && it.has(at + 2, &Token::LParen)
            && it.closing(at).is_some()
            && is_operand(it, at - 1)
    });
    let found: Vec<(usize, usize)> = found
        .into_iter()
        .filter_map(|at| Some((it.places[at], it.places[it.closing(at)?])))
        .collect();
    for (open, close) in found.into_iter().rev() {
        let like = tokens[open].clone();
        let word = |text: &str| plain(Token::make_keyword(text), &like);
        let behind = [plain(Token::RParen, &like), word("AS"), marked("values", &like)];
        tokens.splice(close..close, behind);
        let before = [word("SELECT"), plain(Token::Mul, &like), word("FROM")];
        let open_again = plain(Token::LParen, &like);
        tokens.splice(open + 1..open + 1, before.into_iter().chain([open_again]));
    }
    tokens
}

/// BETWEEN SYMMETRIC: an operator that PostgreSQL does not have here says it.
fn symmetric(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let found = it.all(|it, at| it.is(at, &["between", "symmetric"]));
    let asymmetric = it.all(|it, at| it.is(at, &["between", "asymmetric"]));
    let places: Vec<usize> = found.into_iter().map(|at| it.places[at + 1]).collect();
    let dropped: Vec<usize> = asymmetric.into_iter().map(|at| it.places[at + 1]).collect();
    for place in places {
        tokens[place].token = Token::DoubleExclamationMark;
    }
    for place in dropped.into_iter().rev() {
        tokens.remove(place);
    }
    tokens
}

/// `substring(x SIMILAR p ESCAPE e)` is `substring(x FROM p FOR e)`.
fn substrings(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let mut found = Vec::new();
    for at in it.all(|it, at| it.is(at, &["substring"])) {
        let Some(end) = it.closing(at + 1) else { continue };
        let mut depth = 0;
        let (mut similar, mut escape) = (None, None);
        for inner in at + 2..end {
            match it.token(inner) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                _ if depth > 0 => {}
                _ if it.is(inner, &["similar"]) && !it.is(inner + 1, &["to"]) => {
                    similar = Some(inner);
                }
                _ if it.is(inner, &["escape"]) => escape = Some(inner),
                _ => {}
            }
        }
        if let (Some(similar), Some(escape)) = (similar, escape) {
            found.push((it.places[similar], it.places[escape]));
        }
    }
    for (similar, escape) in found {
        tokens[similar].token = Token::make_keyword("FROM");
        tokens[escape].token = Token::make_keyword("FOR");
    }
    tokens
}

/// `ROWS FROM (f(…), g(…))` becomes a call of a marked name.
fn rows_from(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let found = it.all(|it, at| it.is(at, &["rows", "from"]) && it.has(at + 2, &Token::LParen));
    let found: Vec<_> = found.into_iter().map(|at| (it.places[at], it.places[at + 1])).collect();
    for (rows, from) in found.into_iter().rev() {
        tokens[rows] = marked("rows", &tokens[rows]);
        tokens.remove(from);
    }
    tokens
}

/// GROUPING SETS inside of GROUPING SETS stand for their elements.
fn nested_grouping_sets(mut tokens: Tokens) -> Tokens {
    loop {
        let it = Solid::new(&tokens);
        let is_it = |it: &Solid<'_>, at: usize| it.is(at, &["grouping", "sets"]);
        let inner = it.all(is_it).into_iter().find_map(|at| {
            let end = it.closing(at + 2)?;
            let mut depth = 0;
            (at + 3..end).find(|&inner| {
                match it.token(inner) {
                    Some(Token::LParen) => depth += 1,
                    Some(Token::RParen) => depth -= 1,
                    _ => {}
                }
                depth == 0 && is_it(&it, inner)
            })
        });
        let Some(at) = inner else { return tokens };
        let Some(end) = it.closing(at + 2) else { return tokens };
        let (first, open, close) = (it.places[at], it.places[at + 2], it.places[end]);
        tokens.remove(close);
        tokens.drain(first..=open);
    }
}

/// GROUP BY DISTINCT gets a key that says so; GROUP BY ALL is GROUP BY.
fn group_by(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let found = it.all(|it, at| {
        it.is(at, &["group", "by"]) && (it.is(at + 2, &["distinct"]) || it.is(at + 2, &["all"]))
    });
    let found: Vec<(usize, bool)> =
        found.into_iter().map(|at| (it.places[at + 2], it.is(at + 2, &["distinct"]))).collect();
    for (place, is_distinct) in found.into_iter().rev() {
        if is_distinct {
            let comma = plain(Token::Comma, &tokens[place]);
            tokens[place] = marked("distinct", &tokens[place]);
            tokens.insert(place + 1, comma);
        } else {
            tokens.remove(place);
        }
    }
    tokens
}

/// `row(t.*)` and `f(t.*)`: the fields of a row, or the row.
fn rows_in_calls(mut tokens: Tokens) -> Tokens {
    const NO_CALLS: &[&str] = &[
        "select",
        "in",
        "values",
        "and",
        "or",
        "not",
        "when",
        "then",
        "else",
        "on",
        "where",
        "from",
        "by",
        "using",
        "returning",
        "as",
        "distinct",
        "all",
        "any",
        "some",
        "exists",
        "union",
        "intersect",
        "except",
        "having",
        "insert",
        "into",
        "case",
        "is",
        "like",
    ];
    let it = Solid::new(&tokens);
    let mut found = Vec::new();
    // For each open parenthesis the word before it.
    let mut calls: Vec<Option<String>> = Vec::new();
    for at in 0..it.len() {
        match it.token(at) {
            Some(Token::LParen) => {
                let before = at.checked_sub(1).and_then(|before| it.word(before));
                calls.push(before.filter(|word| !NO_CALLS.contains(&word.as_str())));
            }
            Some(Token::RParen) => drop(calls.pop()),
            _ => {}
        }
        let begins =
            matches!(it.token(at), Some(Token::LParen | Token::Comma)) || it.is(at, &["distinct"]);
        let Some(Some(call)) = calls.last() else { continue };
        let is_row = begins
            && matches!(it.token(at + 1), Some(Token::Word(_)))
            && it.has(at + 2, &Token::Period)
            && it.has(at + 3, &Token::Mul)
            && matches!(it.token(at + 4), Some(Token::RParen | Token::Comma));
        if is_row {
            let mark = if call == "row" { "fields" } else { "row" };
            found.push((it.places[at + 1], it.places[at + 3], mark));
        }
    }
    for (name, star, mark) in found.into_iter().rev() {
        let like = tokens[name].clone();
        let made = [
            marked(mark, &like),
            plain(Token::LParen, &like),
            like.clone(),
            plain(Token::RParen, &like),
        ];
        tokens.splice(name..=star, made);
    }
    tokens
}

/// `(row).*` as a result: the fields of a row.
fn fields_of_rows(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let mut found = Vec::new();
    for at in it.all(|it, at| it.has(at, &Token::LParen)) {
        let begins = at.checked_sub(1).is_some_and(|before| {
            it.has(before, &Token::Comma)
                || it.is(before, &["select"])
                || it.is(before, &["returning"])
                || it.is(before, &["distinct"])
        });
        let Some(end) = it.closing(at).filter(|_| begins) else { continue };
        if it.has(end + 1, &Token::Period) && it.has(end + 2, &Token::Mul) {
            found.push((it.places[at], it.places[end + 1], it.places[end + 2]));
        }
    }
    for (open, period, star) in found.into_iter().rev() {
        tokens.drain(period..=star);
        let mark = marked("fields", &tokens[open]);
        tokens.insert(open, mark);
    }
    tokens
}

/// `JOIN … USING (…) AS name`: the name stands at the end of the list.
fn join_aliases(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let mut found = Vec::new();
    for at in it.all(|it, at| it.is(at, &["using"])) {
        let Some(end) = it.closing(at + 1) else { continue };
        let is_list = (at + 2..end)
            .all(|inner| matches!(it.token(inner), Some(Token::Word(_) | Token::Comma)));
        let is_join = (0..at).any(|before| it.is(before, &["join"]));
        if is_list
            && is_join
            && it.is(end + 1, &["as"])
            && let Some(Token::Word(alias)) = it.token(end + 2)
        {
            let name = match alias.quote_style {
                Some(_) => alias.value.clone(),
                None => alias.value.to_lowercase(),
            };
            found.push((it.places[end], it.places[end + 1], it.places[end + 2], name));
        }
    }
    for (close, first, last, name) in found.into_iter().rev() {
        tokens.drain(first..=last);
        let comma = plain(Token::Comma, &tokens[close]);
        let mark = marked(&format!("as {name}"), &tokens[close]);
        tokens.splice(close..close, [comma, mark]);
    }
    tokens
}

/// INSERT DEFAULT VALUES of a MERGE is an INSERT of a marked column.
fn merge_defaults(mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let is_merge = (0..it.len()).any(|at| it.is(at, &["merge", "into"]));
    let found = it.all(|it, at| is_merge && it.is(at, &["then", "insert", "default", "values"]));
    let found: Vec<_> =
        found.into_iter().map(|at| (it.places[at + 2], it.places[at + 3])).collect();
    for (default, values) in found.into_iter().rev() {
        let like = tokens[default].clone();
        let (open, close) = (plain(Token::LParen, &like), plain(Token::RParen, &like));
        let behind = [open.clone(), like.clone(), close.clone()];
        tokens.splice(values + 1..values + 1, behind);
        tokens.splice(default..=default, [open, marked("default", &like), close]);
    }
    tokens
}

/// `SET a[1] = …`: what is assigned to becomes a marked name.
fn parts(text: &str, mut tokens: Tokens) -> Tokens {
    let it = Solid::new(&tokens);
    let mut found = Vec::new();
    for set in it.all(|it, at| it.is(at, &["set"])) {
        let mut at = set;
        // Whether a name that is assigned to may begin here.
        let mut begins = true;
        let mut depth = 0;
        while let Some(token) = it.token(at + 1) {
            at += 1;
            match token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                break;
            }
            if depth == 0 && it.word(at).is_some_and(|it| matches!(it.as_str(), "where" | "from")) {
                break;
            }
            if begins
                && matches!(token, Token::Word(_))
                && let Some(end) = part_end(&it, at, |next| *next == Token::Eq)
            {
                found.push((it.places[at], it.places[end]));
                at = end;
            }
            begins = depth == 0 && *token == Token::Comma;
        }
    }
    found.extend(inserted_parts(&it));
    found.sort_unstable();
    found.dedup();
    for (first, last) in found.into_iter().rev() {
        let start = super::position(text, tokens[first].span.start) as usize;
        let end = super::position(text, tokens[last].span.end) as usize;
        let part: String = text.chars().skip(start - 1).take(end - start).collect();
        let name = marked(&format!("part {part}"), &tokens[first]);
        tokens.splice(first..=last, [name]);
    }
    tokens
}

/// `INSERT INTO t (a[1], b.c[2])`: where the names with brackets are.
fn inserted_parts(it: &Solid<'_>) -> Vec<(usize, usize)> {
    let ends = |next: &Token| matches!(next, Token::Comma | Token::RParen);
    let mut found = Vec::new();
    for insert in it.all(|it, at| it.is(at, &["insert", "into"])) {
        let mut at = insert + 3;
        while it.has(at, &Token::Period) {
            at += 2;
        }
        if it.is(at, &["as"]) {
            at += 2;
        }
        let is_query =
            ["select", "with", "values", "table"].iter().any(|word| it.is(at + 1, &[word]));
        let Some(close) = it.closing(at).filter(|_| !is_query) else { continue };
        while at < close {
            let first = at + 1;
            let Some(end) = part_end(it, first, ends) else {
                at = (first..close).find(|&next| it.has(next, &Token::Comma)).unwrap_or(close);
                continue;
            };
            found.push((it.places[first], it.places[end]));
            at = end + 1;
        }
    }
    found
}

/// Where a name with brackets ends that is assigned to, if one begins here.
fn part_end(it: &Solid<'_>, first: usize, is_end: impl Fn(&Token) -> bool) -> Option<usize> {
    let (mut at, mut has_brackets) = (first, false);
    loop {
        match it.token(at + 1)? {
            Token::LBracket => {
                let mut depth = 0;
                has_brackets = true;
                loop {
                    at += 1;
                    match it.token(at)? {
                        Token::LBracket => depth += 1,
                        Token::RBracket => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            Token::Period => at += 2,
            next if is_end(next) => return has_brackets.then_some(at),
            _ => return None,
        }
    }
}
