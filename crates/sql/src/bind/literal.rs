//! Literals.

use super::Binder;
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Oid};
use sqlparser::ast::Value;
use std::sync::Arc;

impl Binder<'_> {
    /// A literal or a parameter.
    pub(super) fn value(&mut self, value: &Value) -> Result<Expr> {
        let unknown = |text: &str| Ok(Expr::constant(Datum::text(text), Oid::UNKNOWN));
        match value {
            Value::Number(text, _) => number(text),
            Value::SingleQuotedString(text)
            | Value::EscapedStringLiteral(text)
            | Value::UnicodeStringLiteral(text)
            | Value::NationalStringLiteral(text) => unknown(text),
            Value::DollarQuotedString(text) => unknown(&text.value),
            Value::SingleQuotedByteStringLiteral(bits) => self.bits(bits),
            Value::HexStringLiteral(digits) => self.bits(&hex_bits(digits)?),
            Value::Boolean(value) => Ok(Expr::constant(Datum::Bool(*value), Oid::BOOL)),
            Value::Null => Ok(Expr::null(Oid::UNKNOWN)),
            Value::Placeholder(name) => self.param(name),
            other => Err(SqlError::unsupported(format!("the literal {other}"))),
        }
    }

    fn bits(&self, bits: &str) -> Result<Expr> {
        let value = self.read_literal(bits, Oid::VARBIT, -1)?;
        Ok(Expr { typmod: bits.len() as i32, ..Expr::constant(value, Oid::BIT) })
    }

    fn param(&mut self, name: &str) -> Result<Expr> {
        let missing = || {
            let message = format!("there is no parameter {name}");
            SqlError::new(code::UNDEFINED_PARAMETER, message)
        };
        let number: usize =
            name.strip_prefix('$').and_then(|digits| digits.parse().ok()).ok_or_else(missing)?;
        if number == 0 || number > 65_535 {
            return Err(missing());
        }
        let ty = self.params.get(number - 1);
        Ok(Expr { kind: ExprKind::Param(number - 1), ty, typmod: -1 })
    }
}

/// The smallest of integer, bigint and numeric that has it.
pub(super) fn number(text: &str) -> Result<Expr> {
    if let Ok(value) = text.parse::<i32>() {
        return Ok(Expr::constant(Datum::Int4(value), Oid::INT4));
    }
    if let Ok(value) = text.parse::<i64>() {
        return Ok(Expr::constant(Datum::Int8(value), Oid::INT8));
    }
    let invalid = || {
        SqlError::new(
            code::SYNTAX_ERROR,
            format!("trailing junk after numeric literal at or near \"{text}\""),
        )
    };
    let value = Numeric::parse(text).map_err(|_| invalid())?;
    Ok(Expr::constant(Datum::Numeric(Arc::new(value)), Oid::NUMERIC))
}

fn hex_bits(digits: &str) -> Result<String> {
    let mut bits = String::with_capacity(digits.len() * 4);
    for c in digits.chars() {
        let digit = c.to_digit(16).ok_or_else(|| {
            let message = format!("\"{c}\" is not a valid hexadecimal digit");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
        })?;
        bits.push_str(&format!("{digit:04b}"));
    }
    Ok(bits)
}
