//! A small language for programs, in the syntax of the papers.
//!
//! ```text
//! # A seat that two people want.
//! init seats = 1
//!
//! session alice {
//!     begin                       # or: begin at ser
//!         free := read(seats)
//!         if free > 0 {
//!             write(seats, free - 1)
//!             got := 1
//!         } else {
//!             abort
//!         }
//!     commit
//! }
//! session bob {
//!     begin free := read(seats); if free > 0 { write(seats, free - 1); got := 1 } commit
//! }
//!
//! assert alice.got + bob.got <= 1
//! assert final(seats) >= 0
//! ```
//!
//! - `init key = number, …` sets initial values, one for a key; keys without one hold 0. A key that
//!   is read must have one or be written somewhere. A key is a name, or a name with numbers in
//!   brackets: `seat[3]`, `seat[row][i + 1]`.
//! - `session name { … }` has transactions `begin … commit`, each with its own level if it says so:
//!   `begin at rc`.
//! - Statements: `a := read(key)`, `write(key, expr)`, `a := expr`, `if cond { … } else { … }`,
//!   `repeat 3 { … }`, `for i in 1..3 { … }` (both ends included; bounds are numbers), `abort`,
//!   `assert cond`. A semicolon or a new line separates them; neither is needed. Locals that an
//!   aborted transaction set stay set.
//! - Expressions are 64-bit numbers with `+ - * / %`, `== != < <= > >=`, `&& || !` and parentheses;
//!   true is 1 and false is 0. Locals belong to the session and hold 0 before they are set; one
//!   that is not set earlier in the text is an error.
//! - `assert` outside of sessions is about the end: `name.local` is a local of a session,
//!   `final(key)` what the key holds. Where several commit orders are possible, it must be true
//!   with the latest values of each. The program must write the key or give it an initial value.
//! - `#` and `//` start a comment.
//!
//! A transaction that divides by zero, computes a number that is too large, or reads a key with
//! computed numbers in brackets that has no value (`seat[i + 5]`), aborts at that place, and the
//! program violates its assertions.

mod ast;
mod keys;
mod lexer;
mod parser;
mod run;

pub use run::Registers;

use crate::end::End;
use crate::program::Program;
use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Spot {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LangError {
    /// Where.
    pub spot: Spot,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for LangError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LangError { spot, problem, hint } = self;
        write!(f, "line {}, column {}: {problem} ({hint})", spot.line, spot.column)
    }
}

impl std::error::Error for LangError {}

impl LangError {
    pub(crate) fn new(
        spot: Spot,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> LangError {
        LangError { spot, problem: problem.into(), hint: hint.into() }
    }
}

/// A program in the language.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    initial: Vec<(String, i64)>,
    sessions: Vec<ast::Session>,
    assertions: Vec<ast::Assertion>,
    /// The keys that can have a value.
    keys: keys::KeysWithValues,
}

impl Source {
    /// Reads a program.
    pub fn parse(text: &str) -> Result<Source, LangError> {
        keys::with_values(parser::parse(text)?)
    }

    /// The program, to be explored.
    pub fn program(&self) -> Program<i64, Registers> {
        run::program(self)
    }

    /// Whether the assertions hold at the end of a behaviour; otherwise which does not.
    pub fn check(&self, end: &End<'_, i64, Registers>) -> Result<(), String> {
        run::check(self, end)
    }

    /// Whether the program says what must hold.
    pub fn has_assertions(&self) -> bool {
        !self.assertions.is_empty()
            || self.sessions.iter().any(|session| session.txns.iter().any(|txn| asserts(&txn.body)))
    }

    /// The names of a session's locals, in the order of [`Registers::values`].
    pub fn locals_of(&self, session: usize) -> &[String] {
        self.sessions.get(session).map_or(&[], |session| &session.locals)
    }
}

fn asserts(body: &[ast::Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        ast::Stmt::Assert(_) => true,
        ast::Stmt::If(_, then, other) => asserts(then) || asserts(other),
        ast::Stmt::For(_, _, _, body) | ast::Stmt::Repeat(_, body) => asserts(body),
        _ => false,
    })
}
