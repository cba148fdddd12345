//! Programs of the language as programs to explore.

use super::ast::{Assertion, Expr, Key, Op, Stmt};
use super::keys::{self, KeysWithValues};
use super::{Source, Spot};
use crate::end::End;
use crate::program::{Program, Stop, Tx};
use std::sync::Arc;

/// The locals of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    /// Their values, in the order in which the text names them first; those that were not set may
    /// be missing.
    pub values: Vec<i64>,
    /// What went wrong in the session first: an assertion that was false, or a number that cannot
    /// be computed.
    pub failure: Option<String>,
}

impl Registers {
    fn get(&self, local: usize) -> i64 {
        self.values.get(local).copied().unwrap_or_default()
    }

    fn set(&mut self, local: usize, value: i64) {
        if self.values.len() <= local {
            self.values.resize(local + 1, 0);
        }
        self.values[local] = value;
    }
}

/// Why a transaction cannot go on.
enum Halt {
    Stop(Stop),
    Failure(String),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stop(stop)
    }
}

/// A transaction that runs, and what it may ask for.
struct Running<'r, 't> {
    tx: &'r mut Tx<'t, i64>,
    keys: &'r KeysWithValues,
}

impl Running<'_, '_> {
    fn read(&mut self, key: &Key, locals: &Registers) -> Result<i64, Halt> {
        let numbers = numbers(key, &mut |expr| local_value(expr, locals))?;
        // What has no number, or only numbers of the text, was looked at before.
        if !numbers.is_empty() && !self.keys.has(key, &numbers) {
            return Err(Halt::Failure(keys::at_run_time(key, &numbers)));
        }
        Ok(self.tx.read(&keys::name(key, &numbers))?)
    }
}

/// Makes closures of the transactions.
pub(super) fn program(source: &Source) -> Program<i64, Registers> {
    let mut program = Program::new();
    let keys = Arc::new(source.keys.clone());
    for (key, value) in &source.initial {
        program.initial(key, *value);
    }
    for session in &source.sessions {
        let described = program.named_session(&session.name);
        for txn in &session.txns {
            let (body, keys) = (txn.body.clone(), Arc::clone(&keys));
            let run = move |tx: &mut Tx<'_, i64>, locals: &mut Registers| {
                run(&body, &mut Running { tx, keys: &keys }, locals)
            };
            match txn.level {
                Some(level) => described.transaction_at(level, run),
                None => described.transaction(run),
            };
        }
    }
    program
}

fn run(body: &[Stmt], running: &mut Running<'_, '_>, locals: &mut Registers) -> Result<(), Stop> {
    match block(body, running, locals) {
        Ok(()) => Ok(()),
        Err(Halt::Stop(stop)) => Err(stop),
        Err(Halt::Failure(failure)) => {
            locals.failure.get_or_insert(failure);
            running.tx.abort()
        }
    }
}

/// The parser limits how deep this can go.
fn block(body: &[Stmt], running: &mut Running<'_, '_>, locals: &mut Registers) -> Result<(), Halt> {
    body.iter().try_for_each(|stmt| step(stmt, running, locals))
}

fn step(stmt: &Stmt, running: &mut Running<'_, '_>, locals: &mut Registers) -> Result<(), Halt> {
    match stmt {
        Stmt::Set(local, expr) => {
            let value = local_value(expr, locals)?;
            locals.set(*local, value);
        }
        Stmt::Read(local, key) => {
            let value = running.read(key, locals)?;
            locals.set(*local, value);
        }
        Stmt::Write(key, expr) => {
            let numbers = numbers(key, &mut |expr| local_value(expr, locals))?;
            running.tx.write(&keys::name(key, &numbers), local_value(expr, locals)?)?;
        }
        Stmt::If(condition, then, other) => {
            let taken = if local_value(condition, locals)? != 0 { then } else { other };
            block(taken, running, locals)?;
        }
        Stmt::For(local, from, to, body) => {
            for value in *from..=*to {
                locals.set(*local, value);
                block(body, running, locals)?;
            }
        }
        Stmt::Repeat(rounds, body) => {
            (0..*rounds).try_for_each(|_| block(body, running, locals))?
        }
        Stmt::Assert(assertion) => {
            if local_value(&assertion.expr, locals)? == 0 {
                locals.failure.get_or_insert_with(|| told(assertion));
            }
        }
        Stmt::Abort => running.tx.abort::<()>()?,
    }
    Ok(())
}

fn told(assertion: &Assertion) -> String {
    format!("`assert {}` (line {}) is false", assertion.text, assertion.spot.line)
}

fn local_value(expr: &Expr, locals: &Registers) -> Result<i64, Halt> {
    value(expr, &mut |leaf| match leaf {
        Expr::Local(local) => Ok(locals.get(*local)),
        _ => Ok(0),
    })
    .map_err(Halt::Failure)
}

/// The value of an expression; `leaf` knows those of variables.
fn value(expr: &Expr, leaf: &mut dyn FnMut(&Expr) -> Result<i64, String>) -> Result<i64, String> {
    match expr {
        Expr::Number(number) => Ok(*number),
        Expr::Not(inner) => Ok(i64::from(value(inner, leaf)? == 0)),
        Expr::Minus(spot, inner) => {
            let number = value(inner, leaf)?.checked_neg();
            number.ok_or_else(|| uncomputable("a number is too large", *spot))
        }
        Expr::Both(spot, op, left, right) => {
            let left = value(left, leaf)?;
            // As in most languages the right side of `&&` and `||` is looked at only if it matters.
            match (op, left != 0) {
                (Op::And, false) => return Ok(0),
                (Op::Or, true) => return Ok(1),
                _ => {}
            }
            both(*spot, *op, left, value(right, leaf)?)
        }
        variable => leaf(variable),
    }
}

fn both(spot: Spot, op: Op, left: i64, right: i64) -> Result<i64, String> {
    let number = match op {
        Op::Or | Op::And => Some(i64::from(right != 0)),
        Op::Equal => Some(i64::from(left == right)),
        Op::Differs => Some(i64::from(left != right)),
        Op::Less => Some(i64::from(left < right)),
        Op::AtMost => Some(i64::from(left <= right)),
        Op::Greater => Some(i64::from(left > right)),
        Op::AtLeast => Some(i64::from(left >= right)),
        Op::Plus => left.checked_add(right),
        Op::Minus => left.checked_sub(right),
        Op::Times => left.checked_mul(right),
        Op::Divided => left.checked_div(right),
        // The rest of the smallest number by -1 is 0, although the quotient does not fit.
        Op::Modulo => (right != 0).then(|| left.wrapping_rem(right)),
    };
    let problem = if right == 0 { "division by zero" } else { "a number is too large" };
    number.ok_or_else(|| uncomputable(problem, spot))
}

fn uncomputable(problem: &str, spot: Spot) -> String {
    format!("{problem} (line {}, column {})", spot.line, spot.column)
}

/// The numbers in the brackets of a key.
fn numbers<E>(key: &Key, value: &mut dyn FnMut(&Expr) -> Result<i64, E>) -> Result<Vec<i64>, E> {
    key.index.iter().map(value).collect()
}

/// The assertions of the sessions and of the end.
pub(super) fn check(source: &Source, end: &End<'_, i64, Registers>) -> Result<(), String> {
    for locals in end.locals() {
        if let Some(failure) = &locals.failure {
            return Err(failure.clone());
        }
    }
    source.assertions.iter().try_for_each(|assertion| check_one(assertion, &source.keys, end))
}

fn check_one(
    assertion: &Assertion,
    keys: &KeysWithValues,
    end: &End<'_, i64, Registers>,
) -> Result<(), String> {
    end.finally(|read| {
        let mut seen: Vec<String> = Vec::new();
        let result = value(&assertion.expr, &mut |leaf| match leaf {
            Expr::Final(key) => final_value(key, keys, end, read, &mut seen),
            _ => Ok(local_at_end(leaf, end).unwrap_or(0)),
        });
        let with =
            if seen.is_empty() { String::new() } else { format!(" with {}", seen.join(", ")) };
        match result {
            Ok(0) => Err(told(assertion) + &with),
            Ok(_) => Ok(()),
            Err(problem) => Err(problem),
        }
    })
}

/// A local of a session at the end, if the expression is one.
fn local_at_end(leaf: &Expr, end: &End<'_, i64, Registers>) -> Option<i64> {
    let Expr::LocalOf(session, local) = leaf else { return None };
    Some(end.locals().get(*session).map_or(0, |locals| locals.get(*local)))
}

fn final_value(
    key: &Key,
    keys: &KeysWithValues,
    end: &End<'_, i64, Registers>,
    read: &mut dyn FnMut(&str) -> i64,
    seen: &mut Vec<String>,
) -> Result<i64, String> {
    let no_index = || "a final value cannot be an index".to_owned();
    let numbers = numbers(key, &mut |expr| {
        value(expr, &mut |leaf| local_at_end(leaf, end).ok_or_else(no_index))
    })?;
    if !numbers.is_empty() && !keys.has(key, &numbers) {
        return Err(keys::at_run_time(key, &numbers));
    }
    let name = keys::name(key, &numbers);
    let number = read(&name);
    seen.push(format!("final({name}) = {number}"));
    Ok(number)
}
