//! Expressions, by how tightly their operators bind.

use super::{Parsed, Parser};
use crate::lang::LangError;
use crate::lang::ast::{Expr, Op};
use crate::lang::lexer::Token;

/// How many parts the expressions of a statement may have.
const PARTS_MAX: usize = 400;

/// Operators by how tightly they bind, loosest first.
const OPERATORS: [&[(&str, Op)]; 5] = [
    &[("||", Op::Or)],
    &[("&&", Op::And)],
    &[
        ("==", Op::Equal),
        ("!=", Op::Differs),
        ("<=", Op::AtMost),
        (">=", Op::AtLeast),
        ("<", Op::Less),
        (">", Op::Greater),
    ],
    &[("+", Op::Plus), ("-", Op::Minus)],
    &[("*", Op::Times), ("/", Op::Divided), ("%", Op::Modulo)],
];

impl Parser {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let expr = self.binary(0)?;
        self.depth -= 1;
        Ok(expr)
    }

    fn part(&mut self) -> Parsed<()> {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return self.fail(
                format!("this expression has more than {PARTS_MAX} parts"),
                "use locals for its parts",
            );
        }
        Ok(())
    }

    fn binary(&mut self, tightness: usize) -> Parsed<Expr> {
        let Some(operators) = OPERATORS.get(tightness) else { return self.unary() };
        let mut left = self.binary(tightness + 1)?;
        loop {
            let spot = self.spot();
            let sign = operators.iter().find(|(sign, _)| self.token() == &Token::Sign(sign));
            let Some(&(_, op)) = sign else { return Ok(left) };
            self.advance();
            self.part()?;
            let right = self.binary(tightness + 1)?;
            left = Expr::Both(spot, op, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.part()?;
        let spot = self.spot();
        if self.takes("!") {
            return Ok(Expr::Not(self.operand()?));
        }
        if self.takes("-") {
            // A sign belongs to its number: the smallest has no positive counterpart.
            return match *self.token() {
                Token::Number(digits) => Ok(Expr::Number(self.signed(digits, true)?)),
                _ => Ok(Expr::Minus(spot, self.operand()?)),
            };
        }
        if self.takes("(") {
            let inner = self.expr()?;
            self.must(")")?;
            return Ok(inner);
        }
        match self.token().clone() {
            Token::Number(digits) => Ok(Expr::Number(self.signed(digits, false)?)),
            Token::Name(word) if word == "final" => self.latest(),
            Token::Name(name) if name == "true" || name == "false" => {
                self.advance();
                Ok(Expr::Number(i64::from(name == "true")))
            }
            Token::Name(word) if word == "read" => {
                self.fail("a read is no expression", "read into a local first: `a := read(x)`")
            }
            Token::Name(_) => self.variable(),
            _ => self.expected("an expression"),
        }
    }

    /// What a sign in front of an expression is applied to.
    fn operand(&mut self) -> Parsed<Box<Expr>> {
        self.deeper()?;
        let inner = self.unary()?;
        self.depth -= 1;
        Ok(Box::new(inner))
    }

    fn latest(&mut self) -> Parsed<Expr> {
        if self.locals.is_some() {
            return self.fail(
                "transactions do not know what keys hold in the end",
                "read the key into a local",
            );
        }
        self.advance();
        Ok(Expr::Final(self.asked_key()?))
    }

    /// A local: of the session inside of it, with the name of its session outside.
    fn variable(&mut self) -> Parsed<Expr> {
        let spot = self.spot();
        let is_known = |name: &str| self.locals.iter().flatten().any(|local| local == name);
        if !matches!(self.token(), Token::Name(name) if is_known(name)) {
            self.is_from_here()?;
        }
        let name = self.name("local")?;
        if let Some(locals) = &self.locals {
            let Some(number) = locals.iter().position(|known| *known == name) else {
                let hint = format!("set it before, as in `{name} := read(x)`");
                return Err(LangError::new(
                    spot,
                    format!("the local {name} has not been set"),
                    hint,
                ));
            };
            return Ok(Expr::Local(number));
        }
        let Some(session) = self.source.sessions.iter().position(|session| session.name == name)
        else {
            let hint = "outside of sessions write `session.local` or `final(key)`";
            return Err(LangError::new(
                spot,
                format!("there is no session {name} before this"),
                hint,
            ));
        };
        self.must(".")?;
        let spot = self.spot();
        let local = self.name("local")?;
        let locals = &self.source.sessions[session].locals;
        match locals.iter().position(|known| *known == local) {
            Some(number) => Ok(Expr::LocalOf(session, number)),
            None => {
                let hint = format!("its locals are: {}", locals.join(", "));
                Err(LangError::new(spot, format!("session {name} sets no local {local}"), hint))
            }
        }
    }
}
