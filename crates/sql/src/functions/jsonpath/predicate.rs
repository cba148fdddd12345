//! Predicates of paths: true, false or unknown. An error inside of one makes it unknown.

use super::execute::{Executor, Scope, is_fatal};
use crate::error::Result;
use crate::types::json::Json;
use crate::types::jsonpath::{Chain, Comparison, Predicate};
use std::cmp::Ordering;

/// The three values of a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Truth {
    True,
    False,
    Unknown,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

/// What an evaluation found, or nothing if it failed in a way that makes a predicate unknown.
fn known<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_fatal(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

impl Executor<'_> {
    pub(super) fn predicate(&self, predicate: &Predicate, scope: Scope<'_>) -> Result<Truth> {
        match predicate {
            Predicate::And(left, right) => match self.predicate(left, scope)? {
                Truth::False => Ok(Truth::False),
                first => Ok(match self.predicate(right, scope)? {
                    Truth::True => first,
                    second => second,
                }),
            },
            Predicate::Or(left, right) => match self.predicate(left, scope)? {
                Truth::True => Ok(Truth::True),
                first => Ok(match self.predicate(right, scope)? {
                    Truth::False => first,
                    second => second,
                }),
            },
            Predicate::Not(inside) => Ok(match self.predicate(inside, scope)? {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            }),
            Predicate::IsUnknown(inside) => {
                Ok((self.predicate(inside, scope)? == Truth::Unknown).into())
            }
            Predicate::Compare(comparison, left, right) => {
                let right = known(self.unwrapped(right, scope))?;
                self.any_pair(left, right, scope, |a, b| compare(*comparison, a, b))
            }
            Predicate::StartsWith(left, right) => {
                let mut initial = Vec::new();
                let initial = known(self.chain(right, scope, &mut initial))?.map(|()| initial);
                self.any_pair(left, initial, scope, starts_with)
            }
            Predicate::LikeRegex(left, pattern) => {
                let one = Some(vec![Json::Null]);
                self.any_pair(left, one, scope, |item, _| match item {
                    Json::String(text) => Ok(pattern.matches(text)?.into()),
                    _ => Ok(Truth::Unknown),
                })
            }
            Predicate::Exists(inside) => self.exists(inside, scope),
        }
    }

    fn exists(&self, chain: &Chain, scope: Scope<'_>) -> Result<Truth> {
        let mut found = Vec::new();
        match known(self.probe(chain, scope, &mut found))? {
            Some(()) => Ok((!found.is_empty()).into()),
            // In lax mode the first item is enough; what fails behind it is not looked at.
            None if self.lax && !found.is_empty() => Ok(Truth::True),
            None => Ok(Truth::Unknown),
        }
    }

    /// Whether a predicate holds for a pair of items. In lax mode the first one that does is
    /// enough, in strict mode none may be unknown.
    fn any_pair(
        &self,
        left: &Chain,
        right: Option<Vec<Json>>,
        scope: Scope<'_>,
        holds: impl Fn(&Json, &Json) -> Result<Truth>,
    ) -> Result<Truth> {
        let left = known(self.unwrapped(left, scope))?;
        let (Some(left), Some(right)) = (left, right) else { return Ok(Truth::Unknown) };
        let (mut found, mut unknown) = (false, false);
        for a in &left {
            for b in &right {
                match holds(a, b)? {
                    Truth::Unknown if !self.lax => return Ok(Truth::Unknown),
                    Truth::Unknown => unknown = true,
                    Truth::True if self.lax => return Ok(Truth::True),
                    Truth::True => found = true,
                    Truth::False => {}
                }
            }
        }
        Ok(match (found, unknown) {
            (true, _) => Truth::True,
            (false, true) => Truth::Unknown,
            _ => Truth::False,
        })
    }
}

/// Only scalars of the same type have an order; null is different from everything else.
fn compare(comparison: Comparison, a: &Json, b: &Json) -> Result<Truth> {
    let order = match (a, b) {
        (Json::Null, Json::Null) => Ordering::Equal,
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => a.cmp(b),
        (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Json::Null, _) | (_, Json::Null) => {
            return Ok((comparison == Comparison::NotEqual).into());
        }
        _ => return Ok(Truth::Unknown),
    };
    Ok(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
    .into())
}

fn starts_with(text: &Json, initial: &Json) -> Result<Truth> {
    Ok(match (text, initial) {
        (Json::String(text), Json::String(initial)) => text.starts_with(&**initial).into(),
        _ => Truth::Unknown,
    })
}
