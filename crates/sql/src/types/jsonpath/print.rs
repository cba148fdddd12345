//! Paths as text, in the form in which PostgreSQL writes them.

use super::ast::{Chain, Depth, Path, Pattern, Predicate, Start, Step};
use crate::types::json::escape;
use std::fmt::{self, Write};

/// How strongly an operator binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Sign,
    Atom,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.lax { "" } else { "strict " })?;
        chain(&self.item, true, f)
    }
}

fn priority(item: &Chain) -> Priority {
    use super::ast::Operator::{Add, Subtract};
    match &item.start {
        Start::Arithmetic(Add | Subtract, ..) => Priority::Sum,
        Start::Arithmetic(..) => Priority::Product,
        Start::Signed(..) => Priority::Sign,
        Start::Predicate(inside) => predicate_priority(inside),
        _ => Priority::Atom,
    }
}

fn predicate_priority(item: &Predicate) -> Priority {
    match item {
        Predicate::Or(..) => Priority::Or,
        Predicate::And(..) => Priority::And,
        Predicate::Compare(..) | Predicate::StartsWith(..) => Priority::Comparison,
        _ => Priority::Atom,
    }
}

/// In parentheses if it binds at most as strongly as what is around it.
fn operand(item: &Chain, around: Priority, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    chain(item, priority(item) <= around, f)
}

fn predicate_operand(
    item: &Predicate,
    around: Priority,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    predicate(item, predicate_priority(item) <= around, f)
}

fn chain(item: &Chain, parentheses: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let around = priority(item);
    let parentheses = parentheses || !item.steps.is_empty();
    match &item.start {
        Start::Root => f.write_char('$')?,
        Start::Current => f.write_char('@')?,
        Start::Last => f.write_str("last")?,
        Start::Null => f.write_str("null")?,
        Start::Bool(value) => write!(f, "{value}")?,
        Start::Number(number) if !item.steps.is_empty() => write!(f, "({number})")?,
        Start::Number(number) => write!(f, "{number}")?,
        Start::String(text) => escape(text, f)?,
        Start::Variable(name) => {
            f.write_char('$')?;
            escape(name, f)?;
        }
        Start::Arithmetic(operator, left, right) => {
            f.write_str(if parentheses { "(" } else { "" })?;
            operand(left, around, f)?;
            write!(f, " {} ", operator.symbol())?;
            operand(right, around, f)?;
            f.write_str(if parentheses { ")" } else { "" })?;
        }
        Start::Signed(operator, inside) => {
            f.write_str(if parentheses { "(" } else { "" })?;
            f.write_str(operator.symbol())?;
            operand(inside, around, f)?;
            f.write_str(if parentheses { ")" } else { "" })?;
        }
        Start::Predicate(inside) => predicate(inside, parentheses, f)?,
    }
    item.steps.iter().try_for_each(|next| step(next, f))
}

fn step(item: &Step, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match item {
        Step::Key(key) => {
            f.write_char('.')?;
            escape(key, f)
        }
        Step::AnyKey => f.write_str(".*"),
        Step::AnyElement => f.write_str("[*]"),
        Step::Elements(subscripts) => {
            f.write_char('[')?;
            for (at, (from, to)) in subscripts.iter().enumerate() {
                f.write_str(if at > 0 { "," } else { "" })?;
                chain(from, false, f)?;
                if let Some(to) = to {
                    f.write_str(" to ")?;
                    chain(to, false, f)?;
                }
            }
            f.write_char(']')
        }
        Step::AnyDepth(first, last) => any_depth(*first, *last, f),
        Step::Method(method) => write!(f, ".{}()", method.name()),
        Step::Datetime(None) => f.write_str(".datetime()"),
        Step::Datetime(Some(template)) => {
            f.write_str(".datetime(")?;
            escape(template, f)?;
            f.write_char(')')
        }
        Step::Filter(inside) => {
            f.write_str("?(")?;
            predicate(inside, false, f)?;
            f.write_char(')')
        }
    }
}

fn depth(bound: Depth, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match bound {
        Depth::At(depth) => write!(f, "{depth}"),
        Depth::Last => f.write_str("last"),
    }
}

fn any_depth(first: Depth, last: Depth, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(".**")?;
    if (first, last) == (Depth::At(0), Depth::Last) {
        return Ok(());
    }
    f.write_char('{')?;
    depth(first, f)?;
    if first != last {
        f.write_str(" to ")?;
        depth(last, f)?;
    }
    f.write_char('}')
}

fn predicate(item: &Predicate, parentheses: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let around = predicate_priority(item);
    let (open, close) = if parentheses { ("(", ")") } else { ("", "") };
    match item {
        Predicate::Or(left, right) | Predicate::And(left, right) => {
            let symbol = if around == Priority::Or { "||" } else { "&&" };
            f.write_str(open)?;
            predicate_operand(left, around, f)?;
            write!(f, " {symbol} ")?;
            predicate_operand(right, around, f)?;
            f.write_str(close)
        }
        Predicate::Compare(comparison, left, right) => {
            f.write_str(open)?;
            operand(left, around, f)?;
            write!(f, " {} ", comparison.symbol())?;
            operand(right, around, f)?;
            f.write_str(close)
        }
        Predicate::StartsWith(left, right) => {
            f.write_str(open)?;
            operand(left, around, f)?;
            f.write_str(" starts with ")?;
            operand(right, around, f)?;
            f.write_str(close)
        }
        Predicate::LikeRegex(left, pattern) => {
            f.write_str(open)?;
            like_regex(left, pattern, f)?;
            f.write_str(close)
        }
        Predicate::Not(inside) => {
            f.write_str("!(")?;
            predicate(inside, false, f)?;
            f.write_char(')')
        }
        Predicate::IsUnknown(inside) => {
            f.write_char('(')?;
            predicate(inside, false, f)?;
            f.write_str(") is unknown")
        }
        Predicate::Exists(inside) => {
            f.write_str("exists (")?;
            chain(inside, false, f)?;
            f.write_char(')')
        }
    }
}

fn like_regex(left: &Chain, pattern: &Pattern, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    operand(left, Priority::Atom, f)?;
    f.write_str(" like_regex ")?;
    escape(&pattern.text, f)?;
    if pattern.flags.is_empty() {
        return Ok(());
    }
    write!(f, " flag \"{}\"", pattern.flags)
}
