//! MySQL's SQL: its grammar by `sqlparser`, its meaning by a translation to the trees that
//! `seriatim-sql` binds. What has no translation is an error that names it.
//!
//! `rewrite.rs` and `functions.rs` have expressions and queries, `changes.rs` changes of rows,
//! `create.rs`, `alter.rs` and `types.rs` definitions, `words.rs` the statements about the session,
//! which have a small grammar of their own here.

mod alter;
mod build;
mod changes;
pub(super) mod comments;
mod create;
mod functions;
pub(super) mod information;
pub(super) mod information_keys;
pub(super) mod known;
pub(super) mod names;
mod rewrite;
mod types;
pub(super) mod words;

use super::error::MysqlError;
use known::Known;
use seriatim_sql::parse::{Lines, Parsed, ast::Utility, check_chains};
use sqlparser::ast::{Expr, Query, SetExpr, Statement};
use sqlparser::dialect::MySqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Word};
use std::sync::Arc;
use words::Words;

/// How deep a statement may be nested.
const DEPTH_MAX: usize = 150;
const DIALECT: MySqlDialect = MySqlDialect {};

/// A statement as it was sent.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Its tokens, without spaces and comments.
    pub tokens: Vec<TokenWithSpan>,
    /// Its text.
    pub text: String,
    /// How many parameters it has.
    pub params: usize,
}

/// What a statement is.
#[derive(Debug)]
pub(super) enum Meaning {
    /// A query or a change of rows.
    Data(Box<Statement>),
    /// A definition.
    Definition(Box<Statement>),
    /// About the session.
    Session(Words),
}

/// Where the bytes of places in a text are. Statements come one after the other, so that a text of
/// many is gone through once.
struct Places<'t> {
    text: &'t str,
    /// A place that was asked for, and its byte: where the next search begins.
    line: u64,
    column: u64,
    byte: usize,
}

impl Places<'_> {
    fn of(text: &str) -> Places<'_> {
        Places { text, line: 1, column: 1, byte: 0 }
    }

    /// The byte of a place; the end of its line if that is shorter, that of the text if this has
    /// fewer lines.
    fn byte(&mut self, place: Location) -> usize {
        if (place.line, place.column) < (self.line, self.column) {
            *self = Places::of(self.text);
        }
        for c in self.text.get(self.byte..).unwrap_or_default().chars() {
            if (self.line, self.column) >= (place.line, place.column) {
                break;
            }
            match c {
                '\n' if self.line == place.line => break,
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
            self.byte += c.len_utf8();
        }
        self.byte
    }
}

/// The statements of a text.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, MysqlError> {
    let mut tokenizer = Tokenizer::new(&DIALECT, text).with_unescape(true);
    let tokens = tokenizer.tokenize_with_location().map_err(|error| {
        let place = Places::of(text).byte(error.location);
        MysqlError::syntax(text.get(place..).unwrap_or_default(), error.location.line)
    })?;
    check_chains(&tokens).map_err(|error| MysqlError::of(&error, ""))?;
    let (mut all, mut places) = (Vec::new(), Places::of(text));
    for part in tokens.split(|it| it.token == Token::SemiColon) {
        let kept: Vec<TokenWithSpan> = part
            .iter()
            .filter(|it| !matches!(it.token, Token::Whitespace(_) | Token::EOF))
            .cloned()
            .collect();
        let (Some(first), Some(last)) = (kept.first(), kept.last()) else { continue };
        // Comments before it are part of it: clients say there which code has sent it.
        let start = part.first().map_or(first.span.start, |it| it.span.start);
        let (from, to) = (places.byte(start), places.byte(last.span.end));
        let shown = text.get(from..to).unwrap_or_default().trim().to_owned();
        let (tokens, params) = prepared(kept);
        all.push(Piece { tokens, text: shown, params });
    }
    Ok(all)
}

fn is_word(token: Option<&TokenWithSpan>, word: &str) -> bool {
    matches!(token.map(|it| &it.token), Some(Token::Word(it))
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(word))
}

fn keyword(word: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: word.to_owned(), quote_style: None, keyword })
}

/// Numbers parameters, and writes LOCK IN SHARE MODE as FOR SHARE and MOD as %, which `sqlparser`
/// knows.
fn prepared(tokens: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, usize) {
    let (mut made, mut params) = (Vec::with_capacity(tokens.len()), 0);
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        let follows = |ahead: usize, word| is_word(tokens.get(place + ahead), word);
        if follows(0, "lock") && follows(1, "in") && follows(2, "share") && follows(3, "mode") {
            for word in [keyword("FOR", Keyword::FOR), keyword("SHARE", Keyword::SHARE)] {
                made.push(TokenWithSpan { token: word, span: token.span });
            }
            place += 4;
            continue;
        }
        let mut token = token.clone();
        // As an operator; as a function it has parentheses.
        let is_call = tokens.get(place + 1).is_some_and(|it| it.token == Token::LParen);
        if place > 0 && follows(0, "mod") && !is_call {
            token.token = Token::Mod;
        }
        if let Token::Placeholder(name) = &mut token.token
            && name == "?"
        {
            *name = format!("?{params}");
            params += 1;
        }
        made.push(token);
        place += 1;
    }
    (made, params)
}

/// Statements that `sqlparser` parses.
fn is_data(word: &str) -> bool {
    matches!(word, "select" | "insert" | "replace" | "update" | "delete" | "with" | "values" | "(")
}

fn is_definition(piece: &Piece, word: &str) -> bool {
    let second = piece.tokens.get(1).map(|it| it.token.to_string().to_lowercase());
    let second = second.unwrap_or_default();
    match word {
        "create" | "alter" | "drop" => !matches!(
            second.as_str(),
            "user" | "role" | "trigger" | "procedure" | "function" | "event"
        ),
        "truncate" | "rename" => true,
        _ => false,
    }
}

/// What a statement is.
pub(super) fn meaning(piece: &Piece) -> Result<Meaning, MysqlError> {
    let first = piece.tokens.first().map(|it| it.token.to_string().to_lowercase());
    let first = first.unwrap_or_default();
    let is_definition = is_definition(piece, &first);
    if !is_data(&first) && !is_definition {
        return Ok(Meaning::Session(Words::new(piece)));
    }
    if first == "drop" && is_word(piece.tokens.get(1), "database") {
        return Ok(Meaning::Session(Words::new(piece)));
    }
    let statement = Box::new(parsed(piece)?);
    Ok(if is_definition { Meaning::Definition(statement) } else { Meaning::Data(statement) })
}

fn parsed(piece: &Piece) -> Result<Statement, MysqlError> {
    let mut parser = Parser::new(&DIALECT)
        .with_recursion_limit(DEPTH_MAX)
        .with_tokens_with_locations(piece.tokens.clone());
    let statement = parser.parse_statement().map_err(|error| refused(piece, &parser, &error))?;
    match parser.peek_token_ref().token {
        Token::EOF | Token::SemiColon => Ok(statement),
        _ => Err(near(piece, parser.peek_token_ref())),
    }
}

/// An expression of a statement about the session.
pub(super) fn expression(tokens: Vec<TokenWithSpan>) -> Result<Expr, MysqlError> {
    let mut parser =
        Parser::new(&DIALECT).with_recursion_limit(DEPTH_MAX).with_tokens_with_locations(tokens);
    parser.parse_expr().map_err(|error| MysqlError::syntax(&error.to_string(), 1))
}

fn refused(piece: &Piece, parser: &Parser<'_>, error: &ParserError) -> MysqlError {
    if matches!(error, ParserError::RecursionLimitExceeded) {
        return MysqlError::new(1436, "HY000", "Thread stack overrun: the statement is too deep");
    }
    near(piece, parser.peek_token_ref())
}

fn near(piece: &Piece, token: &TokenWithSpan) -> MysqlError {
    let rest = piece.tokens.iter().skip_while(|it| it.span != token.span);
    let words: Vec<String> = rest.map(|it| it.token.to_string()).collect();
    MysqlError::syntax(&words.join(" "), token.span.start.line.max(1))
}

/// A query or change of rows, translated.
pub(super) fn data(
    statement: Box<Statement>,
    text: &str,
    known: &Known<'_>,
) -> Result<Parsed, MysqlError> {
    let mut statement = *statement;
    rewrite::rewrite(&mut statement, known)?;
    changes::change(&mut statement, known)?;
    let (text, whole) = (text.to_owned(), text.into());
    Ok(Parsed { statement, utility: None, text, whole, lines: Lines::default() })
}

/// A definition, translated to definitions that are made one after the other.
pub(super) fn definitions(
    statement: Box<Statement>,
    text: &str,
    known: &Known<'_>,
) -> Result<Vec<Parsed>, MysqlError> {
    let all = create::definitions(*statement, known)?;
    Ok(all.into_iter().map(|utility| of_utility(utility, text)).collect())
}

/// A definition as a statement.
pub(super) fn of_utility(utility: Utility, text: &str) -> Parsed {
    let (statement, utility) = (Statement::UnlockTables, Some(Arc::new(utility)));
    let (text, whole) = (text.to_owned(), text.into());
    Parsed { statement, utility, text, whole, lines: Lines::default() }
}

/// An expression of a statement about the session, as a query of one value.
pub(super) fn value_query(expr: Expr, known: &Known<'_>) -> Result<Parsed, MysqlError> {
    let text = format!("SELECT {expr}");
    let piece = pieces(&text)?.pop().ok_or_else(|| MysqlError::syntax(&text, 1))?;
    data(Box::new(parsed(&piece)?), &text, known)
}

/// A query that is nothing but its body.
fn plain_query(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The byte of a place, from the beginning of the text.
    fn literal(text: &str, place: Location) -> usize {
        let lines = text.split_inclusive('\n').take(place.line as usize - 1);
        let before: usize = lines.map(str::len).sum();
        let line = text[before..].lines().next().unwrap_or_default();
        let column = place.column as usize - 1;
        before + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
    }

    #[test]
    fn places_are_found_in_any_order() {
        let text = "SELECT 'ä';\nSELECT 2;  SELECT\n\n 'é\n';";
        let mut places = Places::of(text);
        for (line, column) in [(1, 1), (1, 12), (2, 1), (2, 12), (2, 90), (4, 3), (1, 9), (5, 3)] {
            let place = Location { line, column };
            assert_eq!(places.byte(place), literal(text, place), "{line}:{column}");
        }
    }

    #[test]
    fn statements_of_a_text_have_their_own_texts() {
        let all = pieces("SELECT 'ä'; /* it */ SELECT 2;\nSELECT\n 3 ;;").unwrap();
        let texts: Vec<&str> = all.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["SELECT 'ä'", "/* it */ SELECT 2", "SELECT\n 3"]);
    }
}
