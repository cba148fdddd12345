//! Which keys can have a value: those with an initial one, and those that some write may write.
//!
//! A read of any other key is a slip of the pen, since what is proved with it is about nothing.
//! Where the numbers in the brackets of a key are computed, a write may write every key whose
//! numbers are within what is known of them before the program runs: the bounds of `for`.

use super::ast::{Expr, Key, Op, Stmt};
use super::{LangError, Source, Spot};
use rustc_hash::FxHashSet;

/// The least and the largest number that an expression can be; `None` if nothing is known.
type Range = Option<(i64, i64)>;

/// The keys that a program writes or gives an initial value.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct KeysWithValues {
    /// The names of those with an initial value.
    initial: FxHashSet<String>,
    /// A name and the numbers behind it, for each write of the text.
    written: Vec<(String, Vec<Range>)>,
}

/// The program, with the keys that have values in it; an error if it asks for another one.
pub(super) fn with_values(mut source: Source) -> Result<Source, LangError> {
    let mut uses = Uses::default();
    for session in &source.sessions {
        let txns = session.txns.iter();
        txns.for_each(|txn| uses.block(&txn.body, &mut vec![None; session.locals.len()]));
    }
    let mut asked = uses.read;
    source.assertions.iter().for_each(|assertion| finals(&assertion.expr, &mut asked));
    let initial = source.initial.iter().map(|(key, _)| key.clone()).collect();
    source.keys = KeysWithValues { initial, written: uses.written };
    asked.iter().try_for_each(|(key, index)| source.keys.may_be_asked(key, index))?;
    Ok(source)
}

impl KeysWithValues {
    /// Whether the key of this name and these numbers can have a value.
    pub fn has(&self, key: &Key, numbers: &[i64]) -> bool {
        let is_within = |(range, number): (&Range, &i64)| {
            range.is_none_or(|(least, most)| (least..=most).contains(number))
        };
        let is_written = |(name, ranges): &(String, Vec<Range>)| {
            *name == key.name
                && ranges.len() == numbers.len()
                && ranges.iter().zip(numbers).all(is_within)
        };
        self.written.iter().any(is_written) || self.initial.contains(&name(key, numbers))
    }

    /// What is wrong with asking for a key without a value.
    pub fn problem(key: &Key, numbers: &[i64]) -> String {
        format!("nobody writes {}, and it has no initial value", name(key, numbers))
    }

    /// An error if it is known before the program runs that the key has no value.
    fn may_be_asked(&self, key: &Key, index: &[Range]) -> Result<(), LangError> {
        let number =
            |range: &Range| range.and_then(|(least, most)| (least == most).then_some(least));
        let numbers: Option<Vec<i64>> = index.iter().map(number).collect();
        match numbers.filter(|numbers| !self.has(key, numbers)) {
            None => Ok(()),
            Some(numbers) => {
                let name = name(key, &numbers);
                let hint = format!("write to {name}, or give it a value with `init {name} = 0`");
                Err(LangError::new(key.spot, Self::problem(key, &numbers), hint))
            }
        }
    }
}

/// A key as it is called.
pub(super) fn name(key: &Key, numbers: &[i64]) -> String {
    numbers.iter().fold(key.name.clone(), |name, number| name + &format!("[{number}]"))
}

/// The keys that transactions read and write.
#[derive(Default)]
struct Uses {
    read: Vec<(Key, Vec<Range>)>,
    written: Vec<(String, Vec<Range>)>,
}

impl Uses {
    /// `locals` is what is known of each local here. The parser limits how deep this can go.
    fn block(&mut self, body: &[Stmt], locals: &mut Vec<Range>) {
        for stmt in body {
            match stmt {
                Stmt::Read(local, key) => {
                    self.read.push((key.clone(), ranges(key, locals)));
                    locals[*local] = None;
                }
                Stmt::Write(key, _) => self.written.push((key.name.clone(), ranges(key, locals))),
                Stmt::Set(local, _) => locals[*local] = None,
                Stmt::If(_, then, other) => {
                    self.part(then, locals);
                    self.part(other, locals);
                }
                Stmt::For(local, from, to, body) => {
                    forget_set(body, locals);
                    let is_set = sets(body, *local);
                    locals[*local] = (!is_set && from <= to).then_some((*from, *to));
                    self.block(body, locals);
                    locals[*local] = None;
                }
                Stmt::Repeat(_, body) => self.part(body, locals),
                Stmt::Assert(_) | Stmt::Abort => {}
            }
        }
    }

    /// Statements that are done any number of times: what they set is not known before or after.
    fn part(&mut self, body: &[Stmt], locals: &mut Vec<Range>) {
        forget_set(body, locals);
        self.block(body, locals);
        forget_set(body, locals);
    }
}

fn forget_set(body: &[Stmt], locals: &mut [Range]) {
    for (local, range) in locals.iter_mut().enumerate() {
        if sets(body, local) {
            *range = None;
        }
    }
}

fn sets(body: &[Stmt], local: usize) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Read(set, _) | Stmt::Set(set, _) => *set == local,
        Stmt::If(_, then, other) => sets(then, local) || sets(other, local),
        Stmt::For(set, _, _, body) => *set == local || sets(body, local),
        Stmt::Repeat(_, body) => sets(body, local),
        Stmt::Write(..) | Stmt::Assert(_) | Stmt::Abort => false,
    })
}

fn ranges(key: &Key, locals: &[Range]) -> Vec<Range> {
    key.index.iter().map(|index| range(index, locals)).collect()
}

/// What is known of an expression: sums and differences of numbers and locals.
fn range(expr: &Expr, locals: &[Range]) -> Range {
    match expr {
        Expr::Number(number) => Some((*number, *number)),
        Expr::Local(local) => locals.get(*local).copied().flatten(),
        Expr::Minus(_, inner) => {
            let (least, most) = range(inner, locals)?;
            Some((most.checked_neg()?, least.checked_neg()?))
        }
        Expr::Both(_, op, left, right) => {
            let (left, right) = (range(left, locals)?, range(right, locals)?);
            match op {
                Op::Plus => Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?)),
                Op::Minus => Some((left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The keys whose final values an assertion asks for.
fn finals(expr: &Expr, asked: &mut Vec<(Key, Vec<Range>)>) {
    match expr {
        Expr::Final(key) => asked.push((key.clone(), ranges(key, &[]))),
        Expr::Not(inner) | Expr::Minus(_, inner) => finals(inner, asked),
        Expr::Both(_, _, left, right) => {
            finals(left, asked);
            finals(right, asked);
        }
        Expr::Number(_) | Expr::Local(_) | Expr::LocalOf(..) => {}
    }
}

/// Where a key that has no value is asked for while the program runs.
pub(super) fn at_run_time(key: &Key, numbers: &[i64]) -> String {
    let Spot { line, column } = key.spot;
    format!("{} (line {line}, column {column})", KeysWithValues::problem(key, numbers))
}
