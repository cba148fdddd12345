//! Conversions between types, by the rules of PostgreSQL's chapter on type conversion: which there
//! are, when they are made, and the expressions that make them.

use super::Binder;
use crate::catalog::builtin::{CastContext, CastMethod, builtin};
use crate::error::{Result, SqlError, code};
use crate::ir::{Callee, Expr, ExprKind};
use crate::types::{Datum, Oid, TypeKind};

/// A way from one type to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Path {
    /// Nothing to do but call it by the other name.
    Relabel,
    /// By a function.
    Function(u32),
    /// Through text.
    Text,
    /// Element by element.
    Elements(Oid, Oid),
    /// Field by field.
    Fields,
}

/// Whether a type stands for any of several.
pub(super) fn is_polymorphic(ty: Oid) -> bool {
    is_any_element(ty) || is_any_compatible(ty)
}

pub(super) fn is_any_element(ty: Oid) -> bool {
    matches!(
        ty,
        Oid::ANYELEMENT
            | Oid::ANYARRAY
            | Oid::ANYNONARRAY
            | Oid::ANYENUM
            | Oid::ANYRANGE
            | Oid::ANYMULTIRANGE
    )
}

pub(super) fn is_any_compatible(ty: Oid) -> bool {
    matches!(
        ty,
        Oid::ANYCOMPATIBLE
            | Oid::ANYCOMPATIBLEARRAY
            | Oid::ANYCOMPATIBLENONARRAY
            | Oid::ANYCOMPATIBLERANGE
            | Oid::ANYCOMPATIBLEMULTIRANGE
    )
}

fn is_string(ty: Oid) -> bool {
    matches!(ty, Oid::TEXT | Oid::VARCHAR | Oid::BPCHAR | Oid::NAME | Oid::CHAR | Oid::CSTRING)
}

impl Binder<'_> {
    /// The way from one type to another that is allowed where it is asked for.
    pub(super) fn path(&self, from: Oid, to: Oid, context: CastContext) -> Option<Path> {
        let (source, target) = (self.catalog.base_type(from), self.catalog.base_type(to));
        if source == target {
            return Some(Path::Relabel);
        }
        if let Some(&(method, allowed)) = builtin().casts.get(&(source, target)) {
            if context >= allowed {
                return Some(match method {
                    CastMethod::Function(oid) => Path::Function(oid),
                    CastMethod::Binary => Path::Relabel,
                    CastMethod::InOut => Path::Text,
                });
            }
            return None;
        }
        let element = |ty| self.catalog.element_of(ty);
        // Vectors look like arrays, but arrays are not vectors.
        let is_vector = matches!(target, Oid::OIDVECTOR | Oid::INT2VECTOR);
        if let (Some(one), Some(other), false) = (element(source), element(target), is_vector) {
            let _ = self.path(one, other, context)?;
            return Some(Path::Elements(one, other));
        }
        self.other_path(source, target, context)
    }

    /// Casts that no table has: rows, enumerated types, and anything to and from text.
    fn other_path(&self, source: Oid, target: Oid, context: CastContext) -> Option<Path> {
        let is_composite = |ty| matches!(self.catalog.kind(ty), Some(TypeKind::Composite(_)));
        if target == Oid::RECORD && is_composite(source) {
            return Some(Path::Relabel);
        }
        if source == Oid::RECORD && is_composite(target) {
            return Some(Path::Fields);
        }
        if context >= CastContext::Assignment && is_string(target) {
            return Some(Path::Text);
        }
        if context == CastContext::Explicit && is_string(source) {
            return Some(Path::Text);
        }
        None
    }

    /// Whether an argument of one type may be given where another is asked for.
    pub(super) fn can_coerce(&self, from: Oid, to: Oid, context: CastContext) -> bool {
        if from == to || from == Oid::UNKNOWN || to == Oid::ANY {
            return true;
        }
        if is_polymorphic(to) {
            return self.fits_polymorphic(from, to);
        }
        self.path(from, to, context).is_some()
    }

    fn fits_polymorphic(&self, from: Oid, to: Oid) -> bool {
        let base = self.catalog.base_type(from);
        let is_array = self.catalog.element_of(base).is_some();
        match to {
            Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY => is_array || from == Oid::ANYARRAY,
            Oid::ANYNONARRAY | Oid::ANYCOMPATIBLENONARRAY => !is_array,
            Oid::ANYENUM => matches!(self.catalog.kind(base), Some(TypeKind::Enum(_))),
            Oid::ANYELEMENT | Oid::ANYCOMPATIBLE => true,
            _ => false,
        }
    }

    /// Converts an expression; `None` if there is no way.
    pub(super) fn try_coerce(
        &mut self,
        expr: Expr,
        to: Oid,
        typmod: i32,
        context: CastContext,
    ) -> Result<Option<Expr>> {
        let asked = context;
        let (expr, context) = match self.is_mysql() {
            true => self.mysql_given(expr, to, context)?,
            false => (expr, context),
        };
        let converted = if expr.ty == to || to == Oid::ANY || is_polymorphic(to) {
            self.without_typmod_of_unknown(expr, to)?
        } else if expr.ty == Oid::UNKNOWN {
            self.coerce_unknown(expr, to, typmod, context)?
        } else {
            match self.path(expr.ty, to, context) {
                Some(path) => self.convert(expr, to, typmod, path, context)?,
                None => return Ok(None),
            }
        };
        // What is kept must fit, however it is converted.
        Ok(Some(self.with_typmod(converted, to, typmod, asked)))
    }

    /// In MySQL a truth value is a number wherever it goes, and what is kept is converted as if a
    /// cast had been written.
    fn mysql_given(
        &mut self,
        expr: Expr,
        to: Oid,
        context: CastContext,
    ) -> Result<(Expr, CastContext)> {
        let context = match context {
            CastContext::Assignment => CastContext::Explicit,
            other => other,
        };
        let (from, target) = (self.catalog.base_type(expr.ty), self.catalog.base_type(to));
        let is_free = matches!(target, Oid::BOOL | Oid::INT4 | Oid::ANY) || is_polymorphic(target);
        if from == Oid::BOOL && !is_free {
            let path = self.path(from, Oid::INT4, CastContext::Explicit);
            if let Some(path) = path {
                let explicit = CastContext::Explicit;
                return Ok((self.convert(expr, Oid::INT4, -1, path, explicit)?, explicit));
            }
        }
        Ok((expr, if from == Oid::BOOL { CastContext::Explicit } else { context }))
    }

    /// An unknown literal that may stay what it is becomes text where values are kept.
    fn without_typmod_of_unknown(&mut self, expr: Expr, _to: Oid) -> Result<Expr> {
        Ok(expr)
    }

    /// Converts an expression or says that it cannot be.
    pub(super) fn coerce(
        &mut self,
        expr: Expr,
        to: Oid,
        typmod: i32,
        context: CastContext,
    ) -> Result<Expr> {
        let from = expr.ty;
        match self.try_coerce(expr, to, typmod, context)? {
            Some(expr) => Ok(expr),
            None => Err(SqlError::new(
                code::CANNOT_COERCE,
                format!("cannot cast type {} to {}", self.type_name(from), self.type_name(to)),
            )),
        }
    }

    /// A literal without a type is read as a value of this one; a parameter has it from now on.
    fn coerce_unknown(
        &mut self,
        expr: Expr,
        to: Oid,
        typmod: i32,
        context: CastContext,
    ) -> Result<Expr> {
        let base = self.catalog.base_type(to);
        let converted = match expr.kind {
            ExprKind::Param(number) => {
                let known = self.params.set(number, base);
                if known != base {
                    let expr = Expr { kind: ExprKind::Param(number), ty: known, typmod: -1 };
                    return self.coerce(expr, to, typmod, context);
                }
                Expr { kind: ExprKind::Param(number), ty: base, typmod: -1 }
            }
            ExprKind::Const(Datum::Null) => Expr::null(base),
            ExprKind::Const(Datum::Text(text)) => {
                // An interval's fields say what a bare number in it means.
                let modifier = if base == Oid::INTERVAL { typmod } else { -1 };
                let value = self.read_literal(&text, base, modifier)?;
                Expr::constant(value, base)
            }
            kind => Expr {
                kind: ExprKind::ThroughText(Box::new(Expr { kind, ty: Oid::TEXT, typmod: -1 })),
                ty: base,
                typmod: -1,
            },
        };
        Ok(self.in_domain(converted, to, context))
    }

    fn convert(
        &mut self,
        expr: Expr,
        to: Oid,
        typmod: i32,
        path: Path,
        context: CastContext,
    ) -> Result<Expr> {
        let base = self.catalog.base_type(to);
        let source = Expr { ty: self.catalog.base_type(expr.ty), ..expr };
        let make = |kind| Expr { kind, ty: base, typmod: -1 };
        let converted = match path {
            Path::Relabel if source.ty == base => source,
            Path::Relabel => make(ExprKind::Relabel(Box::new(source))),
            Path::Text => make(ExprKind::ThroughText(Box::new(source))),
            Path::Function(oid) => self.cast_call(oid, source, (base, typmod), context)?,
            Path::Elements(from, element) => {
                let placeholder = Expr { kind: ExprKind::Placeholder, ty: from, typmod: -1 };
                let element = Box::new(self.coerce(placeholder, element, -1, context)?);
                make(ExprKind::ArrayCast { array: Box::new(source), element })
            }
            Path::Fields => self.convert_row(source, base, context)?,
        };
        Ok(self.in_domain(converted, to, context))
    }

    fn cast_call(
        &self,
        oid: u32,
        source: Expr,
        (to, typmod): (Oid, i32),
        context: CastContext,
    ) -> Result<Expr> {
        let proc = builtin()
            .proc(oid)
            .ok_or_else(|| SqlError::internal(format!("cast function {oid} is missing")))?;
        let mut args = vec![source];
        // Some cast functions also want the modifier and whether the cast was written.
        if proc.args.len() > 1 {
            args.push(Expr::constant(Datum::Int4(typmod), Oid::INT4));
        }
        if proc.args.len() > 2 {
            let explicit = context == CastContext::Explicit;
            args.push(Expr::constant(Datum::Bool(explicit), Oid::BOOL));
        }
        let callee: Callee = self.callee(proc)?;
        let call = ExprKind::Call { callee, args, variadic: false };
        // The function of smallint to oid makes an integer, which is represented alike.
        if proc.result == to || is_polymorphic(proc.result) {
            return Ok(Expr { kind: call, ty: to, typmod: -1 });
        }
        let made = Box::new(Expr { kind: call, ty: proc.result, typmod: -1 });
        Ok(Expr { kind: ExprKind::Relabel(made), ty: to, typmod: -1 })
    }

    fn convert_row(&mut self, row: Expr, to: Oid, context: CastContext) -> Result<Expr> {
        let Some(TypeKind::Composite(fields)) = self.catalog.kind(to) else {
            return Err(SqlError::internal("not a composite type"));
        };
        if let ExprKind::Row { fields: values, .. } = row.kind {
            if values.len() != fields.len() {
                let message = format!("cannot cast type record to {}", self.type_name(to));
                return Err(SqlError::new(code::CANNOT_COERCE, message));
            }
            let mut converted = Vec::new();
            for (value, field) in values.into_iter().zip(fields.iter()) {
                converted.push(self.coerce(value, field.ty, field.typmod, context)?);
            }
            let names = fields.iter().map(|field| field.name.clone()).collect();
            let kind = ExprKind::Row { fields: converted, names };
            return Ok(Expr { kind, ty: to, typmod: -1 });
        }
        Ok(Expr { kind: ExprKind::ThroughText(Box::new(row)), ty: to, typmod: -1 })
    }

    fn in_domain(&self, expr: Expr, to: Oid, context: CastContext) -> Expr {
        if expr.ty == to {
            return expr;
        }
        match self.catalog.kind(to) {
            Some(TypeKind::Domain { base, typmod }) => {
                let inner = self.in_domain(expr, base, context);
                let inner = self.with_typmod(inner, base, typmod, context);
                Expr { kind: ExprKind::CheckDomain(Box::new(inner)), ty: to, typmod: -1 }
            }
            _ => expr,
        }
    }

    /// Applies the modifier of a type, unless the value has it already.
    pub(super) fn with_typmod(
        &self,
        expr: Expr,
        ty: Oid,
        typmod: i32,
        context: CastContext,
    ) -> Expr {
        if typmod < 0 || expr.typmod == typmod || matches!(ty, Oid::NONE) {
            return expr;
        }
        let ty = expr.ty;
        let explicit = context == CastContext::Explicit;
        Expr { kind: ExprKind::Typmod { arg: Box::new(expr), explicit }, ty, typmod }
    }

    /// A truth value, for WHERE and the like.
    pub(super) fn coerce_to_bool(&mut self, expr: Expr, what: &str) -> Result<Expr> {
        let expr = if self.is_mysql() { self.mysql_truth(expr)? } else { expr };
        let from = expr.ty;
        let converted = self.try_coerce(expr, Oid::BOOL, -1, CastContext::Implicit)?;
        converted.ok_or_else(|| {
            SqlError::new(
                code::DATATYPE_MISMATCH,
                format!(
                    "argument of {what} must be type boolean, not type {}",
                    self.type_name(from)
                ),
            )
        })
    }

    /// What is still unknown is text.
    pub(super) fn resolve_unknown(&mut self, expr: Expr) -> Result<Expr> {
        if expr.ty == Oid::UNKNOWN {
            return self.coerce(expr, Oid::TEXT, -1, CastContext::Implicit);
        }
        Ok(expr)
    }

    /// The one type of several expressions (CASE, UNION, VALUES, …): rules of "UNION, CASE, and
    /// Related Constructs".
    pub(super) fn common_type(&self, types: &[Oid], what: &str) -> Result<Oid> {
        let known = || types.iter().copied().enumerate().filter(|(_, ty)| *ty != Oid::UNKNOWN);
        let Some((_, first)) = known().next() else { return Ok(Oid::TEXT) };
        if types.iter().all(|&ty| ty == first) {
            return Ok(first);
        }
        let mut chosen = self.catalog.base_type(first);
        for (place, next) in known().skip(1) {
            let next = self.catalog.base_type(next);
            if next == chosen {
                continue;
            }
            let ((category, preferred), (other, _)) =
                (self.catalog.category(chosen), self.catalog.category(next));
            if category != other && self.is_mysql() {
                return Ok(self.mysql_common(types));
            }
            if category != other {
                self.culprit.set(Some(place));
                return Err(SqlError::new(
                    code::DATATYPE_MISMATCH,
                    format!(
                        "{what} types {} and {} cannot be matched",
                        self.type_name(chosen),
                        self.type_name(next)
                    ),
                ));
            }
            let implicit = CastContext::Implicit;
            if !preferred
                && self.can_coerce(chosen, next, implicit)
                && !self.can_coerce(next, chosen, implicit)
            {
                chosen = next;
            }
        }
        Ok(chosen)
    }

    /// Converts expressions to their common type, which is returned too.
    pub(super) fn unify(&mut self, exprs: Vec<Expr>, what: &str) -> Result<(Vec<Expr>, Oid)> {
        let types: Vec<Oid> = exprs.iter().map(|expr| expr.ty).collect();
        let ty = self.common_type(&types, what)?;
        let mut converted = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let from = expr.ty;
            let context = match self.is_mysql() {
                true => CastContext::Assignment,
                false => CastContext::Implicit,
            };
            let done = self.try_coerce(expr, ty, -1, context)?;
            converted.push(done.ok_or_else(|| {
                SqlError::new(
                    code::CANNOT_COERCE,
                    format!(
                        "{what} could not convert type {} to {}",
                        self.type_name(from),
                        self.type_name(ty)
                    ),
                )
            })?);
        }
        Ok((converted, ty))
    }

    /// The modifier that all of them have, or none.
    pub(super) fn common_typmod(exprs: &[Expr]) -> i32 {
        let first = exprs.first().map_or(-1, |expr| expr.typmod);
        if exprs.iter().all(|expr| expr.typmod == first) { first } else { -1 }
    }
}
