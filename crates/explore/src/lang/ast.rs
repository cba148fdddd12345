//! Programs as they were written.

use super::Spot;
use seriatim_isolation::Level;

/// A key: a name, with numbers in brackets if it is one of many.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Key {
    pub spot: Spot,
    pub name: String,
    pub index: Vec<Expr>,
}

/// What a session's locals, or the end of a program, are asked for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    Number(i64),
    /// A local of the session, by its number.
    Local(usize),
    /// A local of a session, at the end.
    LocalOf(usize, usize),
    /// What a key holds in the end.
    Final(Key),
    Not(Box<Expr>),
    Minus(Spot, Box<Expr>),
    Both(Spot, Op, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Or,
    And,
    Equal,
    Differs,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divided,
    Modulo,
}

/// What a transaction does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stmt {
    Set(usize, Expr),
    Read(usize, Key),
    Write(Key, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A local that goes from one number to another, both included.
    For(usize, i64, i64, Vec<Stmt>),
    Repeat(i64, Vec<Stmt>),
    Assert(Assertion),
    Abort,
}

/// Something that must be true.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Assertion {
    pub spot: Spot,
    /// As it was written.
    pub text: String,
    pub expr: Expr,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Transaction {
    pub level: Option<Level>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Session {
    pub name: String,
    /// The names of its locals.
    pub locals: Vec<String>,
    pub txns: Vec<Transaction>,
}
