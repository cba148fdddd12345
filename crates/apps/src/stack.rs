//! A Treiber stack on a key-value store: a linked list whose head is changed by compare-and-set.
//!
//! Each read, write and compare-and-set is a transaction of its own. Under serializability no
//! element is popped twice; under weaker levels two compare-and-sets may both find the old head.

use crate::app::App;
use crate::db::{Db, DbError, Operation, transact};
use crate::value::Value;

/// Three clients push one element each and pop two.
#[derive(Debug)]
pub struct Stack;

const HEAD: &str = "head";
/// How often an operation tries again before it gives up.
const ATTEMPTS: usize = 100;

impl App for Stack {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn assertion(&self) -> &'static str {
        "no element is popped twice"
    }

    fn load(&self) -> Vec<(String, Value)> {
        vec![(HEAD.to_owned(), Value::Null)]
    }

    fn clients(&self) -> usize {
        3
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        push(db, &format!("node{client}"), Value::Int(client as i64 + 1), ATTEMPTS)?;
        for _ in 0..2 {
            see(pop(db, ATTEMPTS)?);
        }
        Ok(())
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        Ok(is_popped_once(seen.iter().flatten()))
    }
}

/// Whether no element is popped twice.
fn is_popped_once<'a>(popped: impl Iterator<Item = &'a Value>) -> Result<(), String> {
    let popped: Vec<&Value> = popped.filter(|value| **value != Value::Null).collect();
    let twice = popped.iter().enumerate().find(|(place, value)| popped[..*place].contains(value));
    twice.map_or(Ok(()), |(_, value)| Err(format!("{value} was popped twice")))
}

/// Whether no element is popped twice by operations with these answers.
pub(crate) fn pops_once<'a>(
    answered: impl Iterator<Item = (&'a Op, &'a Value)>,
) -> Result<(), String> {
    is_popped_once(
        answered.filter(|(operation, _)| matches!(operation, Op::Pop)).map(|(_, value)| value),
    )
}

fn read_one(db: &mut dyn Db, key: &str) -> Result<Value, DbError> {
    let value = transact(db, |db| db.read(key).map(Some))?;
    Ok(value.unwrap_or(Value::Null))
}

fn compare_and_set(db: &mut dyn Db, expected: &Value, new: &Value) -> Result<bool, DbError> {
    let done = transact(db, |db| {
        let equal = db.read(HEAD)? == *expected;
        if equal {
            db.write(HEAD, new.clone())?;
        }
        Ok(Some(equal))
    })?;
    Ok(done == Some(true))
}

/// Whether it was pushed within so many attempts.
fn push(db: &mut dyn Db, node: &str, value: Value, attempts: usize) -> Result<bool, DbError> {
    for _ in 0..attempts {
        let top = read_one(db, HEAD)?;
        let content = Value::from(vec![value.clone(), top.clone()]);
        transact(db, |db| db.write(node, content.clone()).map(Some))?;
        if compare_and_set(db, &top, &node.into())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The element popped, or nothing if the stack was empty.
fn pop(db: &mut dyn Db, attempts: usize) -> Result<Value, DbError> {
    for _ in 0..attempts {
        let top = read_one(db, HEAD)?;
        let Value::Text(node) = &top else { return Ok(Value::Null) };
        let content = read_one(db, node)?;
        let [value, next] = content.items() else { continue };
        if compare_and_set(db, &top, next)? {
            return Ok(value.clone());
        }
    }
    Ok(Value::Null)
}

/// What a random client does; it tries only once, so that there is an end to what can happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Push(i64),
    Pop,
}

impl Operation for Op {
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError> {
        match *self {
            Op::Push(value) => {
                let is_pushed = push(db, &format!("node{value}"), Value::Int(value), 1)?;
                Ok(Value::Int(i64::from(is_pushed)))
            }
            Op::Pop => pop(db, 1),
        }
    }
}
