//! From tokens to the tree. Predicates and expressions share their grammar; where only one of them
//! may stand is checked as soon as it is known.

use super::ast::{
    Chain, Comparison, Depth, Method, Operator, Path, Pattern, Predicate, Start, Step,
};
use super::lex::{Placed, Token, lex, syntax_error};
use crate::error::{Result, SqlError, code};
use crate::types::numeric::Numeric;
use std::sync::Arc;

/// How deep parentheses may be nested.
const DEPTH_MAX: usize = 200;

/// What has been read: a value or a predicate.
enum Read {
    Value(Chain),
    Predicate(Predicate),
}

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    /// Whether `@` and `last` mean something here.
    in_filter: bool,
    in_subscript: bool,
}

/// Reads a path.
pub fn parse(text: &str) -> Result<Path> {
    let tokens = lex(text)?;
    if tokens.len() == 1 {
        let message = format!("invalid input syntax for type jsonpath: \"{text}\"");
        return Err(SqlError::new(code::INVALID_TEXT_REPRESENTATION, message));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0, in_filter: false, in_subscript: false };
    let lax = !parser.eat_word("strict");
    if lax {
        parser.eat_word("lax");
    }
    let item = match parser.or()? {
        Read::Value(chain) => chain,
        Read::Predicate(predicate) => as_value(predicate),
    };
    match parser.peek() {
        Token::End => Ok(Path { lax, item }),
        _ => Err(parser.unexpected()),
    }
}

fn as_value(predicate: Predicate) -> Chain {
    Chain { start: Start::Predicate(Box::new(predicate)), steps: Vec::new() }
}

fn plain(start: Start) -> Chain {
    Chain { start, steps: Vec::new() }
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn peek_ahead(&self, ahead: usize) -> &Token {
        let at = (self.at + ahead).min(self.tokens.len() - 1);
        &self.tokens[at].token
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    fn unexpected(&self) -> SqlError {
        let placed = &self.tokens[self.at];
        let at_end = match placed.token {
            Token::End => true,
            Token::Word(_) => placed.is_last,
            _ => false,
        };
        syntax_error("syntax error", (!at_end).then_some(placed.raw.as_str()))
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn value(&self, read: Read) -> Result<Chain> {
        match read {
            Read::Value(chain) => Ok(chain),
            Read::Predicate(_) => Err(self.unexpected()),
        }
    }

    fn predicate(&self, read: Read) -> Result<Predicate> {
        match read {
            Read::Predicate(predicate) => Ok(predicate),
            Read::Value(_) => Err(self.unexpected()),
        }
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = "stack depth limit exceeded";
            return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, message));
        }
        Ok(())
    }

    fn or(&mut self) -> Result<Read> {
        self.deeper()?;
        let mut left = self.and()?;
        while self.is_mark("||") {
            let first = self.predicate(left)?;
            self.at += 1;
            let second = self.and()?;
            let second = self.predicate(second)?;
            left = Read::Predicate(Predicate::Or(Box::new(first), Box::new(second)));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Read> {
        let mut left = self.not()?;
        while self.is_mark("&&") {
            let first = self.predicate(left)?;
            self.at += 1;
            let second = self.not()?;
            let second = self.predicate(second)?;
            left = Read::Predicate(Predicate::And(Box::new(first), Box::new(second)));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Read> {
        if !self.eat("!") {
            return self.comparison();
        }
        if !self.is_mark("(") && !self.is_word("exists") {
            return Err(self.unexpected());
        }
        let operand = self.comparison()?;
        let operand = self.predicate(operand)?;
        Ok(Read::Predicate(Predicate::Not(Box::new(operand))))
    }

    fn comparison_mark(&self) -> Option<Comparison> {
        let Token::Mark(mark) = self.peek() else { return None };
        Some(match *mark {
            "==" => Comparison::Equal,
            "!=" | "<>" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    fn comparison(&mut self) -> Result<Read> {
        let left = self.sum()?;
        if let Some(comparison) = self.comparison_mark() {
            let left = Box::new(self.value(left)?);
            self.at += 1;
            let right = self.sum()?;
            let right = Box::new(self.value(right)?);
            return Ok(Read::Predicate(Predicate::Compare(comparison, left, right)));
        }
        if self.is_word("starts") {
            let left = Box::new(self.value(left)?);
            self.at += 1;
            return self.starts_with(left);
        }
        if self.is_word("like_regex") {
            let left = Box::new(self.value(left)?);
            self.at += 1;
            return self.like_regex(left);
        }
        Ok(left)
    }

    fn starts_with(&mut self, left: Box<Chain>) -> Result<Read> {
        if !self.eat_word("with") {
            return Err(self.unexpected());
        }
        let right = match self.next() {
            Token::String(text) => plain(Start::String(text)),
            Token::Variable(name) => plain(Start::Variable(name)),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        Ok(Read::Predicate(Predicate::StartsWith(left, Box::new(right))))
    }

    fn like_regex(&mut self, left: Box<Chain>) -> Result<Read> {
        let Token::String(text) = self.peek().clone() else { return Err(self.unexpected()) };
        self.at += 1;
        let mut flags = String::new();
        if self.eat_word("flag") {
            let Token::String(given) = self.peek().clone() else {
                return Err(self.unexpected());
            };
            self.at += 1;
            flags = checked_flags(&given)?;
        }
        let pattern = Pattern { text, flags };
        check_pattern(&pattern)?;
        Ok(Read::Predicate(Predicate::LikeRegex(left, pattern)))
    }

    fn operator(&self, marks: &[(&str, Operator)]) -> Option<Operator> {
        let Token::Mark(mark) = self.peek() else { return None };
        marks.iter().find(|(known, _)| known == mark).map(|(_, operator)| *operator)
    }

    fn sum(&mut self) -> Result<Read> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&[("+", Operator::Add), ("-", Operator::Subtract)])
        {
            let first = Box::new(self.value(left)?);
            self.at += 1;
            let second = self.product()?;
            let second = Box::new(self.value(second)?);
            left = Read::Value(plain(Start::Arithmetic(operator, first, second)));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Read> {
        let mut left = self.signed()?;
        while let Some(operator) = self.operator(&[
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("%", Operator::Modulo),
        ]) {
            let first = Box::new(self.value(left)?);
            self.at += 1;
            let second = self.signed()?;
            let second = Box::new(self.value(second)?);
            left = Read::Value(plain(Start::Arithmetic(operator, first, second)));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Read> {
        let operator = self.operator(&[("+", Operator::Add), ("-", Operator::Subtract)]);
        let Some(operator) = operator else { return self.chain() };
        self.at += 1;
        self.deeper()?;
        let operand = self.signed()?;
        self.depth -= 1;
        let operand = self.value(operand)?;
        // A sign before a number is a part of it.
        if let (Start::Number(number), true) = (&operand.start, operand.steps.is_empty()) {
            let number = match operator {
                Operator::Subtract => Arc::new(number.neg()),
                _ => number.clone(),
            };
            return Ok(Read::Value(plain(Start::Number(number))));
        }
        Ok(Read::Value(plain(Start::Signed(operator, Box::new(operand)))))
    }

    fn chain(&mut self) -> Result<Read> {
        if self.eat("(") {
            return self.parenthesized();
        }
        if self.is_word("exists") && *self.peek_ahead(1) == Token::Mark("(") {
            self.at += 2;
            let operand = self.sum()?;
            let operand = Box::new(self.value(operand)?);
            self.expect(")")?;
            return Ok(Read::Predicate(Predicate::Exists(operand)));
        }
        let start = self.start()?;
        let steps = self.steps()?;
        Ok(Read::Value(Chain { start, steps }))
    }

    fn parenthesized(&mut self) -> Result<Read> {
        let inside = self.or()?;
        self.expect(")")?;
        let inside = match inside {
            Read::Predicate(predicate) if self.is_word("is") => {
                self.at += 1;
                if !self.eat_word("unknown") {
                    return Err(self.unexpected());
                }
                return Ok(Read::Predicate(Predicate::IsUnknown(Box::new(predicate))));
            }
            other => other,
        };
        let steps = self.steps()?;
        if steps.is_empty() {
            return Ok(inside);
        }
        let mut chain = match inside {
            Read::Value(chain) => chain,
            Read::Predicate(predicate) => as_value(predicate),
        };
        chain.steps.extend(steps);
        Ok(Read::Value(chain))
    }

    fn start(&mut self) -> Result<Start> {
        let start = match self.peek().clone() {
            Token::Mark("$") => Start::Root,
            Token::Mark("@") if self.in_filter => Start::Current,
            Token::Mark("@") => {
                let message = "@ is not allowed in root expressions";
                return Err(SqlError::new(code::SYNTAX_ERROR, message));
            }
            Token::Number(number) => Start::Number(Arc::new(Numeric::parse(&number)?)),
            Token::String(text) => Start::String(text),
            Token::Variable(name) => Start::Variable(name),
            Token::Word(word) => match word.as_str() {
                "null" => Start::Null,
                "true" => Start::Bool(true),
                "false" => Start::Bool(false),
                _ if word.eq_ignore_ascii_case("last") => {
                    if !self.in_subscript {
                        let message = "LAST is allowed only in array subscripts";
                        return Err(SqlError::new(code::SYNTAX_ERROR, message));
                    }
                    Start::Last
                }
                _ => return Err(self.unexpected()),
            },
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(start)
    }

    fn steps(&mut self) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            if self.eat(".") {
                steps.push(self.member()?);
            } else if self.eat("[") {
                steps.push(self.subscripts()?);
            } else if self.eat("?") {
                steps.push(self.filter()?);
            } else {
                return Ok(steps);
            }
        }
    }

    fn member(&mut self) -> Result<Step> {
        if self.eat("*") {
            return Ok(Step::AnyKey);
        }
        if self.eat("**") {
            return self.any_depth();
        }
        let key = match self.peek().clone() {
            Token::String(key) => {
                self.at += 1;
                return Ok(Step::Key(key));
            }
            Token::Word(word) => word,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if !self.is_mark("(") {
            return Ok(Step::Key(key));
        }
        if key.eq_ignore_ascii_case("datetime") {
            return self.datetime();
        }
        let Some(method) = Method::of(&key) else { return Err(self.unexpected()) };
        self.expect("(")?;
        self.expect(")")?;
        Ok(Step::Method(method))
    }

    fn datetime(&mut self) -> Result<Step> {
        self.expect("(")?;
        let template = match self.peek().clone() {
            Token::String(template) => {
                self.at += 1;
                Some(template)
            }
            _ => None,
        };
        self.expect(")")?;
        Ok(Step::Datetime(template))
    }

    fn depth_bound(&mut self) -> Result<Depth> {
        if self.eat_word("last") {
            return Ok(Depth::Last);
        }
        let Token::Number(number) = self.peek() else { return Err(self.unexpected()) };
        let depth = number.parse().map_err(|_| self.unexpected())?;
        self.at += 1;
        Ok(Depth::At(depth))
    }

    fn any_depth(&mut self) -> Result<Step> {
        if !self.eat("{") {
            return Ok(Step::AnyDepth(Depth::At(0), Depth::Last));
        }
        let first = self.depth_bound()?;
        let last = if self.eat_word("to") { self.depth_bound()? } else { first };
        self.expect("}")?;
        Ok(Step::AnyDepth(first, last))
    }

    fn subscripts(&mut self) -> Result<Step> {
        if self.is_mark("*") && *self.peek_ahead(1) == Token::Mark("]") {
            self.at += 2;
            return Ok(Step::AnyElement);
        }
        let outer = std::mem::replace(&mut self.in_subscript, true);
        self.deeper()?;
        let mut subscripts = Vec::new();
        loop {
            let from = self.sum()?;
            let from = self.value(from)?;
            let to = match self.eat_word("to") {
                true => {
                    let to = self.sum()?;
                    Some(self.value(to)?)
                }
                false => None,
            };
            subscripts.push((from, to));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        self.depth -= 1;
        self.in_subscript = outer;
        Ok(Step::Elements(subscripts))
    }

    fn filter(&mut self) -> Result<Step> {
        self.expect("(")?;
        let outer = std::mem::replace(&mut self.in_filter, true);
        let predicate = self.or()?;
        let predicate = self.predicate(predicate)?;
        self.expect(")")?;
        self.in_filter = outer;
        Ok(Step::Filter(Box::new(predicate)))
    }
}

/// Flags in the order in which they are written out.
fn checked_flags(given: &str) -> Result<String> {
    if let Some(unknown) = given.chars().find(|flag| !"ismxq".contains(*flag)) {
        let detail = format!("Unrecognized flag character \"{unknown}\" in LIKE_REGEX predicate.");
        let message = "invalid input syntax for type jsonpath";
        return Err(SqlError::new(code::SYNTAX_ERROR, message).detail(detail));
    }
    if given.contains('x') && !given.contains('q') {
        let message = "XQuery \"x\" flag (expanded regular expressions) is not implemented";
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    Ok("ismxq".chars().filter(|flag| given.contains(*flag)).collect())
}

/// A pattern that is none is an error where it is written.
fn check_pattern(pattern: &Pattern) -> Result<()> {
    pattern.matches("").map(|_| ())
}
