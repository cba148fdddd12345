//! Expressions with a grammar of their own that stand for functions.

use super::Binder;
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Oid};
use sqlparser::ast::{self, CeilFloorKind, DateTimeField, Expr as Ast, TrimWhereField};

impl Binder<'_> {
    /// A built-in function by its name.
    pub(super) fn builtin_call(&mut self, name: &str, args: Vec<Expr>) -> Result<Expr> {
        let types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let found = self.find_function(name, &types, &[], false)?;
        self.call(found.proc, args, &found.args, false)
    }

    /// CURRENT_DATE and the like, which are no columns.
    pub(super) fn keyword_value(&mut self, word: &str) -> Result<Option<Expr>> {
        let now = |binder: &mut Self, to: Oid| {
            let mut now = binder.builtin_call("now", Vec::new())?;
            // Marks what was written as a keyword, for those who write it out again.
            if let ExprKind::Call { variadic, .. } = &mut now.kind {
                *variadic = true;
            }
            binder.coerce(now, to, -1, CastContext::Explicit)
        };
        Ok(Some(match word {
            "current_timestamp" => now(self, Oid::TIMESTAMPTZ)?,
            "current_date" => now(self, Oid::DATE)?,
            "current_time" => now(self, Oid::TIMETZ)?,
            "localtimestamp" => now(self, Oid::TIMESTAMP)?,
            "localtime" => now(self, Oid::TIME)?,
            "current_user" | "current_role" | "user" => {
                self.builtin_call("current_user", Vec::new())?
            }
            "session_user" => self.builtin_call("session_user", Vec::new())?,
            "current_catalog" => self.builtin_call("current_database", Vec::new())?,
            "current_schema" => self.builtin_call("current_schema", Vec::new())?,
            _ => return Ok(None),
        }))
    }

    /// CURRENT_TIMESTAMP(3).
    pub(super) fn keyword_with_precision(
        &mut self,
        word: &str,
        precision: &Ast,
    ) -> Result<Option<Expr>> {
        if !matches!(word, "current_timestamp" | "current_time" | "localtimestamp" | "localtime") {
            return Ok(None);
        }
        let Some(value) = self.keyword_value(word)? else { return Ok(None) };
        let ExprKind::Const(Datum::Int4(precision)) = self.expr(precision)?.kind else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "the precision must be a number"));
        };
        let ty = value.ty;
        Ok(Some(self.with_typmod(value, ty, precision.clamp(0, 6), CastContext::Explicit)))
    }

    pub(super) fn interval(&mut self, interval: &ast::Interval) -> Result<Expr> {
        use ast::IntervalFields as F;
        let value = self.expr(&interval.value)?;
        let fields = match (&interval.leading_field, &interval.last_field) {
            (None, _) => None,
            (Some(DateTimeField::Year), None) => Some(F::Year),
            (Some(DateTimeField::Month), None) => Some(F::Month),
            (Some(DateTimeField::Day), None) => Some(F::Day),
            (Some(DateTimeField::Hour), None) => Some(F::Hour),
            (Some(DateTimeField::Minute), None) => Some(F::Minute),
            (Some(DateTimeField::Second), None) => Some(F::Second),
            (Some(DateTimeField::Year), Some(DateTimeField::Month)) => Some(F::YearToMonth),
            (Some(DateTimeField::Day), Some(DateTimeField::Hour)) => Some(F::DayToHour),
            (Some(DateTimeField::Day), Some(DateTimeField::Minute)) => Some(F::DayToMinute),
            (Some(DateTimeField::Day), Some(DateTimeField::Second)) => Some(F::DayToSecond),
            (Some(DateTimeField::Hour), Some(DateTimeField::Minute)) => Some(F::HourToMinute),
            (Some(DateTimeField::Hour), Some(DateTimeField::Second)) => Some(F::HourToSecond),
            (Some(DateTimeField::Minute), Some(DateTimeField::Second)) => Some(F::MinuteToSecond),
            _ => return Err(SqlError::unsupported(format!("the literal {interval}"))),
        };
        let precision = interval.fractional_seconds_precision.or(interval.leading_precision);
        let typmod = super::types::interval_typmod(fields.as_ref(), precision);
        self.coerce(value, Oid::INTERVAL, typmod, CastContext::Explicit)
    }

    pub(super) fn extract(&mut self, field: &DateTimeField, expr: &Ast) -> Result<Expr> {
        let name = match field {
            DateTimeField::Custom(ident) => ident.value.to_lowercase(),
            other => other.to_string().to_lowercase(),
        };
        let field = Expr::constant(Datum::text(name), Oid::TEXT);
        let value = self.expr(expr)?;
        self.builtin_call("extract", vec![field, value])
    }

    pub(super) fn ceil_floor(
        &mut self,
        name: &str,
        expr: &Ast,
        field: &CeilFloorKind,
    ) -> Result<Expr> {
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {
                let value = self.expr(expr)?;
                self.builtin_call(name, vec![value])
            }
            _ => Err(SqlError::unsupported(format!("{name} with a field"))),
        }
    }

    pub(super) fn substring(
        &mut self,
        expr: &Ast,
        from: Option<&Ast>,
        length: Option<&Ast>,
    ) -> Result<Expr> {
        let mut args = vec![self.expr(expr)?];
        match (from, length) {
            (Some(from), length) => {
                args.push(self.expr(from)?);
                if let Some(length) = length {
                    args.push(self.expr(length)?);
                }
            }
            (None, Some(length)) => {
                args.push(Self::int4(1));
                args.push(self.expr(length)?);
            }
            (None, None) => {}
        }
        self.builtin_call("substring", args)
    }

    pub(super) fn trim(
        &mut self,
        side: Option<TrimWhereField>,
        what: Option<&Ast>,
        expr: &Ast,
        characters: Option<&[Ast]>,
    ) -> Result<Expr> {
        let name = match side {
            None | Some(TrimWhereField::Both) => "btrim",
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
        };
        let mut args = vec![self.expr(expr)?];
        let what = what.or(characters.and_then(|list| list.first()));
        if let Some(what) = what {
            args.push(self.expr(what)?);
        }
        self.builtin_call(name, args)
    }
}
