//! What MySQL does otherwise than PostgreSQL when types meet: truth values are numbers, texts are
//! read as numbers, integers are divided to decimals, and integers are added as the largest ones.
//!
//! Operands are converted before PostgreSQL's rules look for an operator, and those rules decide
//! what is left. A combination that neither knows is an error, never a guess.

use super::Binder;
use crate::catalog::builtin::CastContext;
use crate::error::Result;
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Dialect, Oid};

/// How many more digits than its left side a quotient has: `div_precision_increment`.
const DIGITS_MORE: i32 = 4;

pub(super) fn is_integer(ty: Oid) -> bool {
    matches!(ty, Oid::INT2 | Oid::INT4 | Oid::INT8)
}

fn is_number(ty: Oid) -> bool {
    is_integer(ty) || matches!(ty, Oid::NUMERIC | Oid::FLOAT4 | Oid::FLOAT8)
}

fn is_text(ty: Oid) -> bool {
    matches!(ty, Oid::TEXT | Oid::VARCHAR | Oid::BPCHAR | Oid::NAME)
}

fn is_time(ty: Oid) -> bool {
    matches!(ty, Oid::DATE | Oid::TIME | Oid::TIMESTAMP | Oid::TIMESTAMPTZ)
}

fn is_arithmetic(name: &str) -> bool {
    matches!(name, "+" | "-" | "*" | "/" | "%")
}

fn is_bitwise(name: &str) -> bool {
    matches!(name, "&" | "|" | "#" | "<<" | ">>" | "~")
}

/// The text of a literal that has no type yet.
fn literal(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Const(Datum::Text(text)) if expr.ty == Oid::UNKNOWN => Some(text),
        _ => None,
    }
}

/// The number that a text begins with; 0 if it begins with none.
fn leading_number(text: &str) -> Expr {
    let text = text.trim();
    if let Ok(value) = text.parse::<i64>() {
        return Expr::constant(Datum::Int8(value), Oid::INT8);
    }
    let ends = text.char_indices().map(|(place, _)| place).chain([text.len()]).rev();
    let is_plain = |part: &&str| part.ends_with(|it: char| it.is_ascii_digit() || it == '.');
    let parts = ends.map(|end| &text[..end]).filter(is_plain);
    let value = parts.filter_map(|part| part.parse::<f64>().ok()).next().unwrap_or(0.0);
    Expr::constant(Datum::Float8(value), Oid::FLOAT8)
}

impl Binder<'_> {
    /// Whether names and types follow MySQL's rules.
    pub(super) fn is_mysql(&self) -> bool {
        self.style.dialect == Dialect::Mysql
    }

    /// Whether two names of columns are the same.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        one == other || (self.is_mysql() && one.eq_ignore_ascii_case(other))
    }

    fn base(&self, expr: &Expr) -> Oid {
        self.catalog.base_type(expr.ty)
    }

    /// The sides of an operator as MySQL understands them.
    pub(super) fn mysql_sides(
        &mut self,
        name: &str,
        left: Option<Expr>,
        right: Expr,
    ) -> Result<(Option<Expr>, Expr)> {
        let Some(left) = left else {
            let right = self.number_of(right)?;
            return Ok((None, self.widened(name, right)?));
        };
        if is_arithmetic(name) || is_bitwise(name) {
            let is_moved = is_time(self.base(&left)) || is_time(self.base(&right));
            let is_interval = self.base(&left) == Oid::INTERVAL || right.ty == Oid::INTERVAL;
            if is_moved || is_interval {
                return Ok((Some(left), right));
            }
            let (left, right) = (self.number_of(left)?, self.number_of(right)?);
            return Ok((Some(self.widened(name, left)?), self.widened(name, right)?));
        }
        let (one, other) = (self.base(&left), self.base(&right));
        if one == Oid::UNKNOWN && other == Oid::UNKNOWN || one == other {
            return Ok((Some(left), right));
        }
        let (left, right) = (self.without_truth(left, other)?, self.without_truth(right, one)?);
        let (one, other) = (self.base(&left), self.base(&right));
        let left = self.beside(left, other)?;
        let right = self.beside(right, one)?;
        Ok((Some(left), right))
    }

    /// A truth value beside something else is a number.
    fn without_truth(&mut self, expr: Expr, other: Oid) -> Result<Expr> {
        if self.base(&expr) == Oid::BOOL && other != Oid::BOOL {
            return self.coerce(expr, Oid::INT4, -1, CastContext::Explicit);
        }
        Ok(expr)
    }

    /// One side of a comparison, beside the type of the other.
    fn beside(&mut self, expr: Expr, other: Oid) -> Result<Expr> {
        if is_number(other) {
            if let Some(text) = literal(&expr) {
                return Ok(leading_number(text));
            }
            if is_text(self.base(&expr)) {
                return self.coerce(expr, Oid::FLOAT8, -1, CastContext::Explicit);
            }
        }
        if is_time(other) && is_text(self.base(&expr)) {
            return self.coerce(expr, Oid::TIMESTAMP, -1, CastContext::Explicit);
        }
        Ok(expr)
    }

    /// A value in arithmetic: a text is a number with an exponent.
    fn number_of(&mut self, expr: Expr) -> Result<Expr> {
        if let Some(text) = literal(&expr) {
            let number = leading_number(text);
            return self.coerce(number, Oid::FLOAT8, -1, CastContext::Explicit);
        }
        match self.base(&expr) {
            Oid::BOOL => self.coerce(expr, Oid::INT4, -1, CastContext::Explicit),
            ty if is_text(ty) => self.coerce(expr, Oid::FLOAT8, -1, CastContext::Explicit),
            _ => Ok(expr),
        }
    }

    /// Integers are computed with as the largest ones.
    fn widened(&mut self, name: &str, expr: Expr) -> Result<Expr> {
        let is_small = matches!(self.base(&expr), Oid::INT2 | Oid::INT4);
        // A shift is by a small number.
        if is_small && !matches!(name, "<<" | ">>") {
            return self.coerce(expr, Oid::INT8, -1, CastContext::Implicit);
        }
        Ok(expr)
    }

    /// Whether a date is moved by whole days, and so stays a date.
    pub(super) fn moves_date(&self, name: &str, left: Option<&Expr>, right: &Expr) -> bool {
        let is_whole = match &right.kind {
            ExprKind::Const(Datum::Interval(interval)) => interval.micros == 0,
            _ => false,
        };
        let is_date = left.is_some_and(|left| self.base(left) == Oid::DATE);
        is_whole && is_date && matches!(name, "+" | "-")
    }

    /// A quotient or remainder: null where the right side is 0, and of integers a decimal.
    pub(super) fn mysql_division(&mut self, name: &str, left: Expr, right: Expr) -> Result<Expr> {
        let (left, right) = (self.number_of(left)?, self.number_of(right)?);
        let scale = scale_of(&left);
        let is_exact = |ty| is_integer(ty) || ty == Oid::NUMERIC;
        let exact = is_exact(self.base(&left)) && is_exact(self.base(&right));
        let ty = match (exact, name) {
            (true, "/") => Oid::NUMERIC,
            (true, _) if is_integer(self.base(&left)) && is_integer(self.base(&right)) => Oid::INT8,
            (true, _) => Oid::NUMERIC,
            (false, "/") => Oid::FLOAT8,
            (false, _) => Oid::NUMERIC,
        };
        let left = self.coerce(left, ty, -1, CastContext::Explicit)?;
        let right = self.coerce(right, ty, -1, CastContext::Explicit)?;
        let zero =
            self.coerce(Expr::constant(Datum::Int4(0), Oid::INT4), ty, -1, CastContext::Explicit)?;
        let equal = self.plain_operator("=", right.clone(), zero)?;
        let kind = ExprKind::NullIf { equal: Box::new(equal), value: Box::new(right) };
        let right = Expr { kind, ty, typmod: -1 };
        let made = self.plain_operator(name, left, right)?;
        if name == "/" && ty == Oid::NUMERIC {
            return self.rounded(made, scale + DIGITS_MORE);
        }
        Ok(made)
    }

    /// An average has as many digits as a quotient.
    pub(super) fn mysql_average(&mut self, made: Expr, arg_scale: i32) -> Result<Expr> {
        if made.ty != Oid::NUMERIC {
            return Ok(made);
        }
        self.rounded(made, arg_scale + DIGITS_MORE)
    }

    fn rounded(&mut self, made: Expr, scale: i32) -> Result<Expr> {
        let digits = Expr::constant(Datum::Int4(scale), Oid::INT4);
        self.builtin_call("round", vec![made, digits])
    }

    /// A condition as MySQL has them: whatever is not 0.
    pub(super) fn mysql_truth(&mut self, expr: Expr) -> Result<Expr> {
        if self.base(&expr) == Oid::BOOL || expr.is_null_constant() {
            return Ok(expr);
        }
        let number = self.number_of(expr)?;
        if !is_number(self.base(&number)) {
            return Ok(number);
        }
        let zero = Expr::constant(Datum::Int4(0), Oid::INT4);
        self.operator_call("<>", Some(number), zero)
    }

    /// Whole numbers that functions of decimals return are integers.
    pub(super) fn mysql_result(&mut self, name: &str, made: Expr) -> Result<Expr> {
        match (name, made.ty) {
            ("ceil" | "floor", Oid::NUMERIC) => {
                self.coerce(made, Oid::INT8, -1, CastContext::Explicit)
            }
            ("sign", _) => self.coerce(made, Oid::INT4, -1, CastContext::Explicit),
            _ => Ok(made),
        }
    }

    /// Arguments of functions: truth values are numbers, and sums of integers are decimals.
    pub(super) fn mysql_argument(&mut self, name: &str, arg: Expr) -> Result<Expr> {
        let arg = match self.base(&arg) {
            Oid::BOOL => self.coerce(arg, Oid::INT4, -1, CastContext::Explicit)?,
            _ => arg,
        };
        if matches!(name, "sum" | "avg") {
            if is_integer(self.base(&arg)) {
                return self.coerce(arg, Oid::NUMERIC, -1, CastContext::Explicit);
            }
            if is_text(self.base(&arg)) || arg.ty == Oid::UNKNOWN {
                return self.coerce(arg, Oid::FLOAT8, -1, CastContext::Explicit);
            }
        }
        Ok(arg)
    }

    /// The common type of what PostgreSQL cannot bring together.
    pub(super) fn mysql_common(&self, types: &[Oid]) -> Oid {
        let all = || types.iter().map(|&ty| self.catalog.base_type(ty));
        let known = || all().filter(|&ty| ty != Oid::UNKNOWN);
        if known().all(|ty| is_number(ty) || ty == Oid::BOOL) {
            let widest = [Oid::FLOAT8, Oid::FLOAT4, Oid::NUMERIC, Oid::INT8, Oid::INT4];
            return widest.into_iter().find(|&it| known().any(|ty| ty == it)).unwrap_or(Oid::INT4);
        }
        match known().all(is_time) {
            true => Oid::TIMESTAMP,
            false => Oid::TEXT,
        }
    }
}

/// How many digits a decimal has behind its point; what is computed has those that it needs.
pub(super) fn scale_of(expr: &Expr) -> i32 {
    match &expr.kind {
        ExprKind::Const(Datum::Numeric(value)) => {
            value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len() as i32)
        }
        _ if expr.typmod >= 4 && expr.ty == Oid::NUMERIC => (expr.typmod - 4) & 0x7ff,
        _ => 0,
    }
}
