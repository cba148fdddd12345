//! The tree of a path.

use crate::error::Result;
use crate::regex::{Options, compiled};
use crate::types::numeric::Numeric;
use std::sync::Arc;

/// A whole path.
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether structural errors are ignored and arrays wrapped and unwrapped.
    pub lax: bool,
    /// What is evaluated.
    pub item: Chain,
}

/// Something with accessors behind it.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Where it begins.
    pub start: Start,
    /// The accessors.
    pub steps: Vec<Step>,
}

/// Where a chain begins.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Start {
    Root,
    Current,
    Last,
    Null,
    Bool(bool),
    Number(Arc<Numeric>),
    String(String),
    Variable(String),
    Arithmetic(Operator, Box<Chain>, Box<Chain>),
    /// `+` or `-` before it.
    Signed(Operator, Box<Chain>),
    /// A predicate as a value: true, false or null.
    Predicate(Box<Predicate>),
}

/// An operator between numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// An accessor.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Step {
    Key(String),
    AnyKey,
    AnyElement,
    /// Subscripts, each one or a range.
    Elements(Vec<(Chain, Option<Chain>)>),
    /// `**`, from one depth to another one.
    AnyDepth(Depth, Depth),
    Method(Method),
    Datetime(Option<String>),
    Filter(Box<Predicate>),
}

/// A depth of `**`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Depth {
    /// So deep.
    At(u32),
    /// As deep as it goes.
    Last,
}

/// A method without arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Method {
    Type,
    Size,
    Abs,
    Floor,
    Ceiling,
    Double,
    KeyValue,
}

/// What is true, false or unknown.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Predicate {
    And(Box<Predicate>, Box<Predicate>),
    Or(Box<Predicate>, Box<Predicate>),
    Not(Box<Predicate>),
    IsUnknown(Box<Predicate>),
    Compare(Comparison, Box<Chain>, Box<Chain>),
    StartsWith(Box<Chain>, Box<Chain>),
    LikeRegex(Box<Chain>, Pattern),
    Exists(Box<Chain>),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A regular expression with its flags in the order in which they are written.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The expression.
    pub text: String,
    /// Those of `ismxq` that are set.
    pub flags: String,
}

impl Operator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
        }
    }
}

impl Comparison {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Abs => "abs",
            Method::Floor => "floor",
            Method::Ceiling => "ceiling",
            Method::Double => "double",
            Method::KeyValue => "keyvalue",
        }
    }

    /// The method of this name.
    pub fn of(name: &str) -> Option<Method> {
        use Method::{Abs, Ceiling, Double, Floor, KeyValue, Size, Type};
        [Type, Size, Abs, Floor, Ceiling, Double, KeyValue]
            .into_iter()
            .find(|method| method.name().eq_ignore_ascii_case(name))
    }
}

impl Pattern {
    /// Whether a text matches it.
    pub fn matches(&self, text: &str) -> Result<bool> {
        compiled(&self.with_options(), Options::PLAIN)?.is_match(text)
    }

    /// As a regular expression with its options in front.
    fn with_options(&self) -> String {
        let has = |flag| self.flags.contains(flag);
        let lines = match (has('s'), has('m')) {
            (false, false) => 'p',
            (false, true) => 'n',
            (true, false) => 's',
            (true, true) => 'w',
        };
        let case = if has('i') { "i" } else { "" };
        let literal = if has('q') { "q" } else { "" };
        format!("(?{case}{lines}{literal}){}", self.text)
    }
}
