//! Where in the text of a statement an error is, where `sqlparser` keeps no place: operators,
//! casts, and whatever is more than a word. PostgreSQL points at an operator, at the `::` of a
//! cast, at the beginning of an expression of the wrong type, and at a literal that cannot be read.
//!
//! The tokens of the statement are looked at again, and only when there is an error to place.

use super::Binder;
use crate::error::{SqlError, code};
use sqlparser::ast::{
    self, CastKind, Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    SelectItem, SetExpr, Spanned, Value,
};
use sqlparser::tokenizer::Token;

/// Tokens with where they begin, in characters from 1.
struct Words(Vec<(u32, Token)>);

/// Where PostgreSQL says that an expression is: at its operand, not at parentheses around it.
fn innermost(mut ast: &Ast) -> &Ast {
    loop {
        ast = match ast {
            Ast::Nested(inner) => inner,
            _ => match innermost_step(ast) {
                Some(inner) => inner,
                None => return ast,
            },
        };
    }
}

/// The operand that a chain of casts begins with, and how many casts are inside of this one.
fn cast_root(ast: &Ast) -> (&Ast, usize) {
    let (mut root, mut inside) = (ast, 0_usize);
    while let Ast::Cast { kind: CastKind::DoubleColon, expr, .. } = root {
        (root, inside) = (expr, inside + 1);
    }
    (root, inside.saturating_sub(1))
}

/// The expressions that are to have one type, or a type that is known.
fn children(ast: &Ast) -> Vec<&Ast> {
    match ast {
        Ast::Case { conditions, else_result, .. } => {
            let results = conditions.iter().map(|when| &when.result);
            else_result.as_deref().into_iter().chain(results).collect()
        }
        Ast::Array(array) => array.elem.iter().collect(),
        Ast::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).collect(),
        Ast::Between { expr, low, high, .. } => vec![expr, low, high],
        Ast::BinaryOp { left, right, .. }
        | Ast::AnyOp { left, right, .. }
        | Ast::AllOp { left, right, .. }
        | Ast::IsDistinctFrom(left, right)
        | Ast::IsNotDistinctFrom(left, right) => vec![left, right],
        Ast::Function(function) => arguments(function),
        Ast::Nested(inner) | Ast::Cast { expr: inner, .. } => vec![inner],
        _ => Vec::new(),
    }
}

/// What a column of a query is computed by, if that can be told by counting.
pub(super) fn result_of(body: &SetExpr, place: usize) -> Option<&Ast> {
    let SetExpr::Select(select) = body else { return None };
    let results = select.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    });
    results.collect::<Option<Vec<&Ast>>>()?.get(place).copied()
}

fn arguments(function: &Function) -> Vec<&Ast> {
    match &function.args {
        FunctionArguments::List(list) => list.args.iter().filter_map(argument).collect(),
        _ => Vec::new(),
    }
}

fn argument(arg: &FunctionArg) -> Option<&Ast> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
        | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. }
        | FunctionArg::ExprNamed { arg: FunctionArgExpr::Expr(expr), .. } => Some(expr),
        _ => None,
    }
}

/// Whether a value was read that is none.
fn is_of_value(code: &str) -> bool {
    code.starts_with("22")
}

impl Words {
    fn at(&self, position: u32) -> Option<usize> {
        self.0.binary_search_by_key(&position, |(start, _)| *start).ok()
    }

    fn position(&self, place: usize) -> Option<u32> {
        self.0.get(place).map(|(start, _)| *start)
    }

    /// Where the words begin that stand before a token.
    fn word_run(&self, place: usize) -> Option<usize> {
        let is_word = |at: &usize| matches!(self.0[*at].1, Token::Word(_));
        (0..place).rev().take_while(is_word).last()
    }

    /// The number of the operator before a token.
    fn operator_before(&self, place: usize) -> Option<usize> {
        let before = place.checked_sub(1)?;
        let is_operator = !matches!(
            self.0.get(before)?.1,
            Token::Word(_) | Token::LParen | Token::RParen | Token::Comma | Token::Number(..)
        );
        is_operator.then_some(before)
    }

    /// The first token from a place on, outside of parentheses, that is wanted.
    fn find(&self, from: usize, mut is_wanted: impl FnMut(&Token) -> bool) -> Option<usize> {
        let mut depth = 0;
        for (place, (_, token)) in self.0.iter().enumerate().skip(from) {
            match token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket if depth == 0 => return None,
                Token::RParen | Token::RBracket => depth -= 1,
                Token::SemiColon => return None,
                token if depth == 0 && is_wanted(token) => return Some(place),
                _ => {}
            }
        }
        None
    }
}

impl Binder<'_> {
    fn words(&self) -> Option<Words> {
        if self.source.is_empty() || self.is_mysql() || self.is_part_of_definition() {
            return None;
        }
        let tokens = crate::parse::places(self.source)?;
        Some(Words(tokens))
    }

    /// The first token of an expression, parentheses included.
    fn first(&self, words: &Words, mut ast: &Ast) -> Option<usize> {
        let mut before = 0;
        loop {
            ast = match ast {
                Ast::Nested(inner) => {
                    before += 1;
                    inner
                }
                Ast::UnaryOp { expr, .. } => {
                    before += 1;
                    expr
                }
                Ast::Cast { kind: CastKind::Cast, expr, .. } => {
                    before += 2;
                    expr
                }
                Ast::Array(array) => {
                    before += 1 + usize::from(array.named);
                    array.elem.first()?
                }
                Ast::Tuple(fields) => {
                    before += 1;
                    fields.first()?
                }
                // Of these the words at the beginning are not known.
                Ast::Subquery(_)
                | Ast::Exists { .. }
                | Ast::Extract { .. }
                | Ast::Substring { .. }
                | Ast::Trim { .. }
                | Ast::Position { .. }
                | Ast::Overlay { .. }
                | Ast::Ceil { .. }
                | Ast::Floor { .. }
                | Ast::Prefixed { .. }
                | Ast::Interval(_) => return None,
                // Its type is one word or several, so that only the literal is known.
                Ast::TypedString(typed) => {
                    let literal = words.at(self.position(typed.value.span))?;
                    return words.word_run(literal)?.checked_sub(before);
                }
                other => match innermost_step(other) {
                    Some(inner) => inner,
                    None => {
                        let place = words.at(self.position(other.span()))?;
                        return place.checked_sub(before);
                    }
                },
            };
        }
    }

    /// Where PostgreSQL says that an expression is; 0 if that is not known.
    pub(super) fn place_of(&self, ast: &Ast) -> u32 {
        match innermost(ast) {
            Ast::TypedString(typed) => self.position(typed.value.span),
            inner => {
                let place = || {
                    let words = self.words()?;
                    words.position(self.first(&words, inner)?)
                };
                place().unwrap_or(0)
            }
        }
    }

    /// An error of an operator that stands before its right operand.
    pub(super) fn at_operator(&self, error: SqlError, right: &Ast) -> SqlError {
        let codes = [code::UNDEFINED_FUNCTION, code::AMBIGUOUS_FUNCTION, code::SYNTAX_ERROR];
        if error.fields().position.is_some() || !codes.contains(&error.code()) {
            return error;
        }
        let place = || {
            let words = self.words()?;
            words.position(words.operator_before(self.first(&words, right)?)?)
        };
        let position = place().unwrap_or(0);
        error.at(position)
    }

    /// An expression of the wrong type, which is pointed at.
    pub(super) fn at_wrong_type(&self, error: SqlError, ast: &Ast) -> SqlError {
        if error.fields().position.is_some() || error.code() != code::DATATYPE_MISMATCH {
            return error;
        }
        let position = self.place_of(ast);
        error.at(position)
    }

    /// An error of expressions that are to have one type.
    pub(super) fn at_one_of(&self, error: SqlError, all: &[&Ast]) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        let place = match error.code() {
            code::DATATYPE_MISMATCH => self.culprit_place(all, 0),
            it if is_of_value(it) => self.literal_place(all, error.message()),
            _ => None,
        };
        error.at(place.unwrap_or(0))
    }

    /// A literal that cannot be read as what it has to be.
    pub(super) fn at_literal(&self, error: SqlError, ast: &Ast) -> SqlError {
        if error.fields().position.is_some() || !is_of_value(error.code()) {
            return error;
        }
        let position = self.literal_place(&[ast], error.message()).unwrap_or(0);
        error.at(position)
    }

    /// Where the parenthesis before a query is; 0 if that is not known.
    pub(super) fn place_before(&self, query: &ast::Query) -> u32 {
        let place = || {
            let words = self.words()?;
            let first = words.at(self.position(query.span()))?;
            words.position(first.checked_sub(1)?)
        };
        place().unwrap_or(0)
    }

    /// Where the COLLATE behind an expression is; 0 if that is not known.
    pub(super) fn collate_place(&self, ast: &Ast) -> u32 {
        let place = || {
            let words = self.words()?;
            let is_it = |token: &Token| match token {
                Token::Word(word) => {
                    word.quote_style.is_none() && word.value.eq_ignore_ascii_case("collate")
                }
                _ => false,
            };
            words.position(words.find(self.first(&words, ast)?, is_it)?)
        };
        place().unwrap_or(0)
    }

    /// An error of an expression gets its place, unless it has one from further inside.
    pub(super) fn at_expr(&self, error: SqlError, ast: &Ast) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        let position = match error.code() {
            code::CANNOT_COERCE => self.cast_place(ast),
            code::UNDEFINED_FUNCTION | code::AMBIGUOUS_FUNCTION => self.keyword_place(ast),
            code::SYNTAX_ERROR if matches!(ast, Ast::InSubquery { .. }) => self.keyword_place(ast),
            code::DATATYPE_MISMATCH => {
                // Without ELSE it is null, which is unknown and counted.
                let has_no_else = matches!(ast, Ast::Case { else_result: None, .. });
                self.culprit_place(&children(ast), usize::from(has_no_else))
            }
            it if is_of_value(it) => self.literal_place(&children(ast), error.message()),
            _ => None,
        };
        error.at(position.unwrap_or(0))
    }

    /// An error of a call: of one of its arguments, or of the call.
    pub(super) fn at_call(&self, error: SqlError, function: &Function, position: u32) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        let place = match error.code() {
            code::DATATYPE_MISMATCH => self.culprit_place(&arguments(function), 0),
            it if is_of_value(it) || it == code::UNDEFINED_TABLE => {
                self.literal_place(&arguments(function), error.message())
            }
            _ => None,
        };
        error.at(place.unwrap_or(position))
    }

    fn cast_place(&self, ast: &Ast) -> Option<u32> {
        let words = self.words()?;
        match ast {
            Ast::Cast { kind: CastKind::DoubleColon, .. } => {
                let (root, mut inside) = cast_root(ast);
                let place = words.find(self.first(&words, root)?, |token| {
                    let is_cast = *token == Token::DoubleColon;
                    let is_it = is_cast && inside == 0;
                    inside -= usize::from(is_cast && !is_it);
                    is_it
                });
                words.position(place?)
            }
            Ast::Cast { .. } => words.position(self.first(&words, ast)?),
            _ => None,
        }
    }

    /// Operators that are words: PostgreSQL points at the first of them.
    fn keyword_place(&self, ast: &Ast) -> Option<u32> {
        let words = self.words()?;
        let operand = match ast {
            Ast::UnaryOp { .. } => return words.position(self.first(&words, ast)?),
            Ast::InList { expr, .. }
            | Ast::InSubquery { expr, .. }
            | Ast::Between { expr, .. }
            | Ast::Like { expr, .. }
            | Ast::ILike { expr, .. }
            | Ast::SimilarTo { expr, .. } => expr,
            Ast::IsDistinctFrom(left, _) | Ast::IsNotDistinctFrom(left, _) => left,
            Ast::AnyOp { left, .. } | Ast::AllOp { left, .. } => {
                let is_operator = |token: &Token| {
                    matches!(
                        token,
                        Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq
                    )
                };
                return words.position(words.find(self.first(&words, left)?, is_operator)?);
            }
            _ => return None,
        };
        let is_keyword = |token: &Token| match token {
            Token::Word(word) if word.quote_style.is_none() => {
                let word = word.value.to_lowercase();
                let all = ["not", "in", "between", "like", "ilike", "similar", "is"];
                all.contains(&word.as_str())
            }
            _ => false,
        };
        words.position(words.find(self.first(&words, operand)?, is_keyword)?)
    }

    /// Which of the expressions has a type that does not go with the others.
    fn culprit_place(&self, children: &[&Ast], skipped: usize) -> Option<u32> {
        let child = children.get(self.culprit.take()?.checked_sub(skipped)?)?;
        Some(self.place_of(child)).filter(|position| *position > 0)
    }

    /// The literal that an error tells of: at the end, or the name of a table that is not there.
    fn literal_place(&self, children: &[&Ast], message: &str) -> Option<u32> {
        let is_it = |child: &&Ast| match super::expr::strip(child) {
            Ast::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => {
                    let quoted = format!("\"{text}\"");
                    message.ends_with(&quoted)
                        || message == format!("relation {quoted} does not exist")
                }
                _ => false,
            },
            _ => false,
        };
        let child = children.iter().copied().find(is_it)?;
        Some(self.position(child.span())).filter(|position| *position > 0)
    }
}

/// What an expression begins with, if that is an expression and nothing stands before it.
fn innermost_step(ast: &Ast) -> Option<&Ast> {
    let inner = match ast {
        Ast::Cast { kind: CastKind::DoubleColon, expr: inner, .. }
        | Ast::BinaryOp { left: inner, .. }
        | Ast::AnyOp { left: inner, .. }
        | Ast::AllOp { left: inner, .. }
        | Ast::Collate { expr: inner, .. }
        | Ast::AtTimeZone { timestamp: inner, .. }
        | Ast::CompoundFieldAccess { root: inner, .. }
        | Ast::IsNull(inner)
        | Ast::IsNotNull(inner)
        | Ast::IsTrue(inner)
        | Ast::IsNotTrue(inner)
        | Ast::IsFalse(inner)
        | Ast::IsNotFalse(inner)
        | Ast::IsUnknown(inner)
        | Ast::IsNotUnknown(inner)
        | Ast::IsDistinctFrom(inner, _)
        | Ast::IsNotDistinctFrom(inner, _)
        | Ast::InList { expr: inner, .. }
        | Ast::InSubquery { expr: inner, .. }
        | Ast::Between { expr: inner, .. }
        | Ast::Like { expr: inner, .. }
        | Ast::ILike { expr: inner, .. }
        | Ast::SimilarTo { expr: inner, .. } => inner,
        _ => return None,
    };
    Some(inner)
}
