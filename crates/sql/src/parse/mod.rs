//! From text to a syntax tree, with `sqlparser`; what it does not know is mended in the tokens
//! before, and its errors are told as PostgreSQL tells them.

mod alter;
pub mod ast;
mod atomic;
pub(crate) mod chains;
mod create;
mod create_more;
mod cursor;
mod grammar;
mod hints;
mod lexical;
mod names;
pub mod old_strings;
mod operands;
mod others;
mod rewrite;
mod roles;
mod search_cycle;
mod session;
mod shape;
mod synonyms;
mod unsupported;

pub use atomic::{ReadAndWritten, Sent, read_and_written};
use cursor::Cursor;
pub use hints::asks_for_latest;
pub(crate) use names::{fold, name_parts, split_name};
pub(crate) use rewrite::{MARK, marked_literal};
pub(crate) use search_cycle::{Cycle, Search, SearchCycle};
pub use shape::{may_lock, shape, without_end};
use std::sync::{Arc, OnceLock};
pub(crate) use synonyms::VARIADIC;

use crate::error::{Result, SqlError, code};
use sqlparser::ast::{Expr, MysqlInsertPriority, Query, Statement};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};

/// How deep a statement may be nested.
const DEPTH_MAX: usize = 180;

/// A statement with its text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The syntax tree; of no meaning where `utility` is there.
    pub statement: Statement,
    /// The statement, if it is neither a query nor a change of rows.
    pub utility: Option<Arc<ast::Utility>>,
    /// The text that it was parsed from; empty for a statement inside of another one.
    pub text: String,
    /// The same with the statements beside it, in which places are counted.
    pub whole: Arc<str>,
    /// How many characters of that are before each of its lines, once somebody has asked.
    pub lines: Lines,
}

/// How many characters are before each line of a text that several statements may share.
pub type Lines = Arc<OnceLock<Vec<u32>>>;

const DIALECT: PostgreSqlDialect = PostgreSqlDialect {};

fn tokens(text: &str) -> Result<Vec<TokenWithSpan>> {
    let mut tokenizer = Tokenizer::new(&DIALECT, text).with_unescape(true);
    tokenizer.tokenize_with_location().map_err(|error| {
        let position = position(text, error.location);
        let rest: String = text.chars().skip(position.saturating_sub(1) as usize).collect();
        let message = if error.message.to_lowercase().contains("unterminated") {
            if rest.starts_with('"') {
                format!("unterminated quoted identifier at or near \"{rest}\"")
            } else {
                format!("unterminated quoted string at or near \"{rest}\"")
            }
        } else {
            format!("syntax error at or near \"{}\"", rest.chars().next().unwrap_or(' '))
        };
        SqlError::new(code::SYNTAX_ERROR, message).at(position)
    })
}

/// Characters from 1.
fn position(text: &str, location: Location) -> u32 {
    if location.line == 0 {
        return 0;
    }
    let lines = text.split_inclusive('\n').take(location.line as usize - 1);
    let before: usize = lines.map(|line| line.chars().count()).sum();
    (before + location.column as usize) as u32
}

/// An error if a chain of operators is too long for whatever walks its tree.
pub fn check_chains(tokens: &[TokenWithSpan]) -> Result<()> {
    chains::check(tokens)
}

/// The statements of a text, which semicolons separate.
pub fn statements(text: &str) -> Result<Vec<Parsed>> {
    let all = tokens(text)?;
    chains::check(&all)?;
    let mut parsed = Vec::new();
    let whole = Arc::<str>::from(text);
    let lines = Lines::default();
    let mut texts = Texts::new(text);
    for part in split(&all) {
        let has_token = |it: &TokenWithSpan| {
            !matches!(it.token, Token::Whitespace(_) | Token::SemiColon | Token::EOF)
        };
        if !part.iter().any(has_token) {
            continue;
        }
        if let Some(what) = unsupported::find(part) {
            return Err(SqlError::unsupported(what));
        }
        let mut rewritten = rewrite::rewrite(text, part.to_vec());
        let overriding = rewrite::overriding(&mut rewritten);
        let mut cursor = Cursor::new(&whole, rewritten);
        let mut one = of_cursor(&mut cursor)?;
        if let (Some(system), Statement::Insert(insert)) = (overriding, &mut one.statement) {
            // A field of another dialect says it, see `bind/insert.rs`.
            insert.priority = Some(match system {
                true => MysqlInsertPriority::HighPriority,
                false => MysqlInsertPriority::LowPriority,
            });
        }
        finished(text, &cursor.parser)?;
        one.text = texts.of(part);
        one.lines = Arc::clone(&lines);
        parsed.push(one);
    }
    Ok(parsed)
}

/// The tokens of statements, each with the semicolon that ends it.
fn split(tokens: &[TokenWithSpan]) -> Vec<&[TokenWithSpan]> {
    tokens.split_inclusive(|it| it.token == Token::SemiColon).collect()
}

/// Cuts the texts of statements out of the one that they came in, from its beginning to its end:
/// it is gone through once, however many there are.
struct Texts<'t> {
    rest: std::str::Chars<'t>,
    at: Location,
}

impl<'t> Texts<'t> {
    fn new(text: &'t str) -> Texts<'t> {
        Texts { rest: text.chars(), at: Location { line: 1, column: 1 } }
    }

    /// The text of a statement that comes behind those before.
    fn of(&mut self, part: &[TokenWithSpan]) -> String {
        // Comments are part of it: clients say there which code has sent it.
        let is_word = |it: &&TokenWithSpan| match &it.token {
            Token::Whitespace(space) => {
                !matches!(space, Whitespace::Space | Whitespace::Newline | Whitespace::Tab)
            }
            token => !matches!(token, Token::EOF | Token::SemiColon),
        };
        let (first, last) = (part.iter().find(is_word), part.iter().rfind(is_word));
        let (Some(first), Some(last)) = (first, last) else { return String::new() };
        let from = self.seek(first.span.start);
        let to = self.seek(last.span.end);
        from[..from.len() - to.len()].to_owned()
    }

    /// What is left of the text from here on.
    fn seek(&mut self, to: Location) -> &'t str {
        while (self.at.line, self.at.column) < (to.line, to.column) {
            match self.rest.next() {
                Some('\n') => self.at = Location { line: self.at.line + 1, column: 1 },
                Some(_) => self.at.column += 1,
                None => break,
            }
        }
        self.rest.as_str()
    }
}

/// The statement that a cursor stands at.
fn of_cursor(cursor: &mut Cursor<'_>) -> Result<Parsed> {
    let whole = cursor.text;
    let plain = |utility| Parsed {
        statement: Statement::UnlockTables,
        utility: Some(Arc::new(utility)),
        text: String::new(),
        whole: Arc::clone(whole),
        lines: Lines::default(),
    };
    if let Some(utility) = utility(cursor)? {
        return Ok(plain(utility));
    }
    let parsed = cursor.parser.parse_statement();
    let statement = parsed.map_err(|error| told(cursor.text, &cursor.parser, error))?;
    let text = String::new();
    let (whole, lines) = (Arc::clone(whole), Lines::default());
    let mut parsed = Parsed { statement, utility: None, text, whole, lines };
    session::select_into(&mut parsed)?;
    Ok(parsed)
}

/// A statement that `sqlparser` is not asked about.
fn utility(cursor: &mut Cursor<'_>) -> Result<Option<ast::Utility>> {
    use ast::Utility as U;
    let Some(word) = cursor.word() else { return Ok(None) };
    let is_taken = matches!(
        word.as_str(),
        "create"
            | "alter"
            | "drop"
            | "comment"
            | "truncate"
            | "grant"
            | "revoke"
            | "analyze"
            | "analyse"
            | "vacuum"
            | "reindex"
            | "cluster"
            | "checkpoint"
            | "refresh"
            | "set"
            | "reset"
            | "show"
            | "discard"
            | "listen"
            | "unlisten"
            | "notify"
            | "prepare"
            | "execute"
            | "deallocate"
            | "declare"
            | "fetch"
            | "move"
            | "close"
            | "lock"
            | "copy"
            | "explain"
            | "do"
            | "call"
            | "load"
            | "reassign"
            | "security"
            | "import"
    );
    if !is_taken {
        return Ok(None);
    }
    cursor.parser.advance_token();
    Ok(Some(match word.as_str() {
        "create" => cursor.create()?,
        "alter" => cursor.alter()?,
        "drop" => cursor.drop_statement()?,
        "comment" => cursor.comment()?,
        "truncate" => truncate(cursor)?,
        "refresh" => refresh(cursor)?,
        "set" => cursor.set()?,
        "reset" => cursor.reset()?,
        "show" => cursor.show()?,
        "discard" => cursor.discard()?,
        "prepare" => cursor.prepare()?,
        "execute" => cursor.execute()?,
        "deallocate" => cursor.deallocate()?,
        "declare" => cursor.declare()?,
        "fetch" => cursor.fetch(false)?,
        "move" => cursor.fetch(true)?,
        "close" if cursor.eat("all") => U::Close(None),
        "close" => U::Close(Some(cursor.ident()?)),
        "lock" => cursor.lock()?,
        "copy" => cursor.copy()?,
        "explain" => cursor.explain()?,
        "vacuum" => U::Vacuum(maintained(cursor)?),
        "grant" => cursor.grant(true)?,
        "revoke" => cursor.grant(false)?,
        "analyze" | "analyse" => U::Maintain { tag: "ANALYZE", relations: maintained(cursor)? },
        "reindex" => reindex(cursor)?,
        "cluster" => {
            let relations = maintained(cursor)?;
            cursor.skip_rest();
            U::Maintain { tag: "CLUSTER", relations }
        }
        "checkpoint" => cursor.accepted("CHECKPOINT"),
        "listen" => U::Listen(cursor.ident()?),
        "unlisten" if cursor.eat_token(&Token::Mul) => U::Unlisten(None),
        "unlisten" => U::Unlisten(Some(cursor.ident()?)),
        "notify" => cursor.notify()?,
        "reassign" => cursor.accepted("REASSIGN OWNED"),
        "load" => cursor.accepted("LOAD"),
        "do" => cursor.unsupported("DO"),
        "call" => cursor.unsupported("CALL"),
        "security" => cursor.unsupported("SECURITY LABEL"),
        _ => cursor.unsupported("IMPORT FOREIGN SCHEMA"),
    }))
}

fn truncate(cursor: &mut Cursor<'_>) -> Result<ast::Utility> {
    cursor.eat("table");
    let tables = cursor.list(|it| {
        it.eat("only");
        let name = it.name()?;
        it.eat_token(&Token::Mul);
        Ok(name)
    })?;
    let restart = cursor.eat("restart identity");
    cursor.eat("continue identity");
    let cascade = cursor.behavior();
    Ok(ast::Utility::Truncate { tables, restart, cascade })
}

/// The tables of VACUUM, ANALYZE and CLUSTER, behind options.
fn maintained(cursor: &mut Cursor<'_>) -> Result<Vec<ast::Name>> {
    if cursor.is_token(&Token::LParen) {
        cursor.skip_parentheses()?;
    }
    while ["full", "freeze", "verbose", "analyze", "analyse"].iter().any(|it| cursor.eat(it)) {}
    if cursor.is_end() {
        return Ok(Vec::new());
    }
    cursor.list(|it| {
        let name = it.name()?;
        it.maybe_ident_list()?;
        Ok(name)
    })
}

fn reindex(cursor: &mut Cursor<'_>) -> Result<ast::Utility> {
    if cursor.is_token(&Token::LParen) {
        cursor.skip_parentheses()?;
    }
    let is_relation = cursor.is("index") || cursor.is("table");
    let is_other = cursor.is("schema") || cursor.is("database") || cursor.is("system");
    if !is_relation && !is_other {
        return Err(cursor.error());
    }
    cursor.parser.advance_token();
    cursor.eat("concurrently");
    let name = cursor.name()?;
    let relations = if is_relation { vec![name] } else { Vec::new() };
    Ok(ast::Utility::Maintain { tag: "REINDEX", relations })
}

fn refresh(cursor: &mut Cursor<'_>) -> Result<ast::Utility> {
    cursor.need("materialized view")?;
    cursor.eat("concurrently");
    let name = cursor.name()?;
    let with_data = cursor.with_data()?;
    Ok(ast::Utility::RefreshView { name, with_data })
}

fn parser(tokens: Vec<TokenWithSpan>) -> Parser<'static> {
    Parser::new(&DIALECT).with_recursion_limit(DEPTH_MAX).with_tokens_with_locations(tokens)
}

fn finished(text: &str, parser: &Parser<'_>) -> Result<()> {
    match parser.peek_token_ref() {
        TokenWithSpan { token: Token::EOF | Token::SemiColon, .. } => Ok(()),
        other => Err(near(text, other)),
    }
}

fn near(text: &str, token: &TokenWithSpan) -> SqlError {
    if token.token == Token::EOF {
        return SqlError::new(code::SYNTAX_ERROR, "syntax error at end of input").at(text
            .chars()
            .count()
            as u32
            + 1);
    }
    let (from, to) = (position(text, token.span.start), position(text, token.span.end));
    let word: String =
        text.chars().skip(from.max(1) as usize - 1).take((to - from) as usize).collect();
    let word = if word.is_empty() { token.token.to_string() } else { word };
    SqlError::new(code::SYNTAX_ERROR, format!("syntax error at or near \"{word}\"")).at(from)
}

/// An error of the parser, as PostgreSQL would tell it: by the token that it stopped at.
fn told(text: &str, parser: &Parser<'_>, error: ParserError) -> SqlError {
    match error {
        ParserError::RecursionLimitExceeded => {
            SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            let place = message
                .rsplit_once(" at Line: ")
                .and_then(|(_, place)| place.split_once(", Column: "))
                .and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
            match place {
                Some((line, column)) => {
                    let at = Location { line, column };
                    match tokens(text)
                        .ok()
                        .and_then(|all| all.into_iter().find(|it| it.span.start == at))
                    {
                        Some(token) => near(text, &token),
                        None => near(text, parser.peek_token_ref()),
                    }
                }
                None => near(text, parser.peek_token_ref()),
            }
        }
    }
}

/// The tokens of a text without spaces, each with where it begins, in characters from 1; none if it
/// is no text of SQL.
pub(crate) fn places(text: &str) -> Option<Vec<(u32, Token)>> {
    let all = tokens(text).ok()?;
    let starts = line_starts(text);
    let place = |it: &TokenWithSpan| {
        let line = (it.span.start.line as usize).checked_sub(1)?;
        Some(starts.get(line)? + it.span.start.column as u32)
    };
    let is_solid = |it: &TokenWithSpan| !matches!(it.token, Token::Whitespace(_) | Token::EOF);
    Some(all.into_iter().filter(is_solid).filter_map(|it| Some((place(&it)?, it.token))).collect())
}

/// How many characters are before each line.
pub(crate) fn line_starts(text: &str) -> Vec<u32> {
    let lines = text.split_inclusive('\n').scan(0, |before, line| {
        let start = *before;
        *before += line.chars().count() as u32;
        Some(start)
    });
    lines.collect()
}

/// One expression.
pub fn expression(text: &str) -> Result<Expr> {
    let mut parser = parser(rewrite::rewrite(text, tokens(text)?));
    let expr = parser.parse_expr().map_err(|error| told(text, &parser, error))?;
    finished(text, &parser)?;
    Ok(expr)
}

/// One query.
pub fn query(text: &str) -> Result<Query> {
    let mut parser = parser(rewrite::rewrite(text, tokens(text)?));
    let query = parser.parse_query().map_err(|error| told(text, &parser, error))?;
    finished(text, &parser)?;
    Ok(*query)
}

/// The name of a type.
pub fn data_type(text: &str) -> Result<sqlparser::ast::DataType> {
    let mut parser = parser(tokens(text)?);
    let ty = parser.parse_data_type().map_err(|error| told(text, &parser, error))?;
    finished(text, &parser)?;
    Ok(ty)
}

/// The names in a text, folded unless they are quoted: where they begin and end, in characters,
/// and whether a parenthesis follows.
pub fn words(text: &str) -> Vec<(String, usize, usize, bool)> {
    let Ok(all) = tokens(text) else { return Vec::new() };
    let all: Vec<TokenWithSpan> =
        all.into_iter().filter(|it| !matches!(it.token, Token::Whitespace(_))).collect();
    let starts = line_starts(text);
    let at = |location: Location| {
        let line = (location.line as usize).saturating_sub(1);
        (starts.get(line).map_or(0, |start| *start as usize) + location.column as usize)
            .saturating_sub(1)
    };
    let mut found = Vec::new();
    for (place, it) in all.iter().enumerate() {
        let Token::Word(word) = &it.token else { continue };
        let name = match word.quote_style {
            Some(_) => word.value.clone(),
            None => word.value.to_lowercase(),
        };
        let is_call = all.get(place + 1).is_some_and(|it| it.token == Token::LParen);
        found.push((name, at(it.span.start), at(it.span.end), is_call));
    }
    found
}

/// A text without what does not matter: spaces, capitals, parentheses around all.
pub fn normalized(text: &str) -> String {
    match parts(text) {
        Some(parts) => without_parentheses(parts).join(" "),
        None => text.to_owned(),
    }
}

/// The conditions that a condition is made of by AND, each written in one way.
pub fn conjuncts(text: &str) -> Vec<String> {
    let Some(parts) = parts(text) else { return vec![text.to_owned()] };
    let parts = without_parentheses(parts);
    // An AND inside of these does not divide the whole.
    if has_outside(&parts, &["or", "case"]) {
        return vec![parts.join(" ")];
    }
    let (mut all, mut own, mut depth, mut ranges) = (Vec::new(), Vec::new(), 0, 0);
    for part in parts {
        match part.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "between" if depth == 0 => ranges += 1,
            // This AND belongs to BETWEEN.
            "and" if depth == 0 && ranges > 0 => ranges -= 1,
            "and" if depth == 0 => {
                all.push(without_parentheses(std::mem::take(&mut own)).join(" "));
                continue;
            }
            _ => {}
        }
        own.push(part);
    }
    all.push(without_parentheses(own).join(" "));
    all
}

/// Whether one of these words stands outside of parentheses.
fn has_outside(parts: &[String], words: &[&str]) -> bool {
    let mut depth = 0;
    parts.iter().any(|part| {
        depth += i32::from(part == "(") - i32::from(part == ")");
        depth == 0 && words.contains(&part.as_str())
    })
}

/// The tokens of a text, names as they are meant.
fn parts(text: &str) -> Option<Vec<String>> {
    let all = tokens(text).ok()?;
    let solid = all.iter().filter(|it| !matches!(it.token, Token::Whitespace(_) | Token::EOF));
    let parts = solid.map(|it| match &it.token {
        Token::Word(word) if word.quote_style.is_none() => word.value.to_lowercase(),
        Token::Word(word) => word.value.clone(),
        other => other.to_string(),
    });
    Some(parts.collect())
}

fn without_parentheses(mut parts: Vec<String>) -> Vec<String> {
    while parts.len() > 2 && parts[0] == "(" && closes(&parts) == parts.len() - 1 {
        parts.pop();
        parts.remove(0);
    }
    parts
}

/// Where the first parenthesis is closed.
fn closes(parts: &[String]) -> usize {
    let mut depth = 0;
    for (place, part) in parts.iter().enumerate() {
        match part.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    parts.len()
}
