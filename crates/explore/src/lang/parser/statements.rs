//! What transactions do: reads, writes, conditions, loops.

use super::{ELSEWHERE, Parsed, Parser, WORDS};
use crate::lang::LangError;
use crate::lang::ast::Stmt;
use crate::lang::lexer::Token;

/// How often a loop may go round, those around it included.
const ROUNDS_MAX: i64 = 1000;

impl Parser {
    /// Adds a statement, or passes a semicolon. `end` is what else might come.
    pub(super) fn stmt_into(&mut self, body: &mut Vec<Stmt>, end: &str) -> Parsed<()> {
        if !self.takes(";") {
            body.push(self.stmt(end)?);
        }
        Ok(())
    }

    fn stmt(&mut self, end: &str) -> Parsed<Stmt> {
        self.parts = 0;
        if self.takes("write") {
            return self.write();
        }
        if self.takes("abort") {
            return Ok(Stmt::Abort);
        }
        if self.takes("assert") {
            return Ok(Stmt::Assert(self.assertion()?));
        }
        if self.takes("if") {
            return self.condition();
        }
        if self.takes("repeat") {
            return self.repetition();
        }
        if self.takes("for") {
            return self.count();
        }
        match self.token() {
            Token::Name(word) if word == "read" => {
                let hint = "write `a := read(x)`";
                self.fail("what is read must go somewhere", hint)
            }
            Token::Name(name) if !WORDS.contains(&name.as_str()) => self.assignment(),
            _ => self.expected(&format!("a statement or {end}")),
        }
    }

    fn assignment(&mut self) -> Parsed<Stmt> {
        let is_assigned = matches!(self.tokens.get(self.at + 1), Some((Token::Sign(":="), _)));
        if !is_assigned {
            self.is_from_here()?;
            self.is_no_call("write")?;
        }
        let name = self.name("local")?;
        self.must(":=")?;
        if self.takes("read") {
            let key = self.asked_key()?;
            return Ok(Stmt::Read(self.local(name), key));
        }
        self.is_no_call("read")?;
        let expr = self.expr()?;
        Ok(Stmt::Set(self.local(name), expr))
    }

    /// Fails at a name with a parenthesis behind it: only `word` can be called here.
    fn is_no_call(&self, word: &str) -> Parsed<()> {
        match (self.token(), self.tokens.get(self.at + 1)) {
            (Token::Name(name), Some((Token::Sign("("), _)))
                if !WORDS.contains(&name.as_str())
                    && !ELSEWHERE.iter().any(|(other, _)| name == other) =>
            {
                self.fail(
                    format!("there is no `{name}(…)` in the language"),
                    format!("did you mean `{word}`?"),
                )
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self) -> Parsed<Stmt> {
        self.must("(")?;
        let key = self.key()?;
        self.written.insert(key.name.clone());
        self.must(",")?;
        let expr = self.expr()?;
        self.must(")")?;
        Ok(Stmt::Write(key, expr))
    }

    fn condition(&mut self) -> Parsed<Stmt> {
        let condition = self.expr()?;
        let then = self.block()?;
        let mut other = Vec::new();
        if self.takes("else") {
            other = if self.takes("if") {
                self.deeper()?;
                let nested = self.condition()?;
                self.depth -= 1;
                vec![nested]
            } else {
                self.block()?
            };
        }
        Ok(Stmt::If(condition, then, other))
    }

    fn repetition(&mut self) -> Parsed<Stmt> {
        let spot = self.spot();
        let rounds = self.number()?;
        if rounds < 0 {
            let problem = format!("nothing can be repeated {rounds} times");
            return Err(LangError::new(spot, problem, "a loop goes round 0 times or more"));
        }
        Ok(Stmt::Repeat(rounds, self.round(rounds)?))
    }

    fn count(&mut self) -> Parsed<Stmt> {
        let name = self.name("local")?;
        self.must("in")?;
        let from = self.number()?;
        self.must("..")?;
        let to = self.number()?;
        let local = self.local(name);
        let rounds = to.saturating_sub(from).saturating_add(1);
        Ok(Stmt::For(local, from, to, self.round(rounds)?))
    }

    /// The body of a loop.
    fn round(&mut self, rounds: i64) -> Parsed<Vec<Stmt>> {
        let around = self.rounds;
        self.rounds = around.saturating_mul(rounds.max(1));
        if self.rounds > ROUNDS_MAX {
            return self.fail(
                format!("this goes round more than {ROUNDS_MAX} times"),
                "make the loop shorter",
            );
        }
        let body = self.block()?;
        self.rounds = around;
        Ok(body)
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.must("{")?;
        self.deeper()?;
        let mut body = Vec::new();
        while !self.takes("}") {
            self.stmt_into(&mut body, "`}`")?;
        }
        self.depth -= 1;
        Ok(body)
    }
}
