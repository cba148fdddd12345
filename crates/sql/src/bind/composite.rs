//! Values of several parts: rows and arrays, their fields and elements.

use super::{Binder, fold};
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, SubscriptPart};
use crate::types::{Oid, TypeKind};
use sqlparser::ast::{self, AccessExpr, Expr as Ast};

impl Binder<'_> {
    pub(super) fn row(&mut self, fields: &[Ast]) -> Result<Expr> {
        let fields = self.row_fields(fields.iter())?;
        Ok(row_of(fields))
    }

    /// The fields of ROW(…), in which `t.*` stands for those of another row.
    pub(super) fn row_fields<'a>(
        &mut self,
        list: impl Iterator<Item = &'a Ast>,
    ) -> Result<Vec<Expr>> {
        let mut fields = Vec::new();
        for ast in list {
            match super::call::marked_fields(ast) {
                Some(row) => {
                    let base = self.expr(row)?;
                    let all = self.all_fields(base)?;
                    fields.extend(all.into_iter().map(|(_, field)| field));
                }
                None => fields.push(self.expr(ast)?),
            }
        }
        Ok(fields)
    }

    pub(super) fn array(&mut self, elements: &[Ast]) -> Result<Expr> {
        let mut bound = Vec::new();
        let mut nested = false;
        for element in elements {
            // Inner brackets of ARRAY[[…], …] need no word before them.
            nested |= matches!(element, Ast::Array(_));
            bound.push(self.expr(element)?);
        }
        if bound.is_empty() {
            return Err(SqlError::new(
                code::INDETERMINATE_DATATYPE,
                "cannot determine type of empty array",
            )
            .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."));
        }
        let (elements, ty) = self.unify(bound, "ARRAY")?;
        if nested || self.catalog.element_of(ty).is_some() {
            return Ok(Expr { kind: ExprKind::Array { elements, nested: true }, ty, typmod: -1 });
        }
        let missing = || {
            let message = format!("could not find array type for data type {}", self.type_name(ty));
            SqlError::new(code::UNDEFINED_OBJECT, message)
        };
        let array = self.catalog.array_of(ty).ok_or_else(missing)?;
        Ok(Expr { kind: ExprKind::Array { elements, nested: false }, ty: array, typmod: -1 })
    }

    pub(super) fn array_of(
        &mut self,
        list: &[Ast],
        element: Oid,
        ty: Oid,
        typmod: i32,
    ) -> Result<Expr> {
        let (mut elements, mut nested) = (Vec::new(), false);
        for ast in list {
            let expr = match ast {
                Ast::Array(inner) => self.array_of(&inner.elem, element, ty, typmod)?,
                _ => self.expr(ast)?,
            };
            nested |= matches!(ast, Ast::Array(_)) || self.catalog.element_of(expr.ty).is_some();
            elements.push(expr);
        }
        // One array among them, and all are.
        let to = if nested { ty } else { element };
        let coerced = |expr| self.coerce(expr, to, typmod, CastContext::Explicit);
        let elements = elements.into_iter().map(coerced).collect::<Result<_>>()?;
        Ok(Expr { kind: ExprKind::Array { elements, nested }, ty, typmod })
    }

    /// What a chain begins with, and the rest of it: in `t.a[1]` the column `t.a`, and not a field
    /// of what is called `t`.
    fn access_root<'c>(
        &mut self,
        root: &Ast,
        chain: &'c [AccessExpr],
    ) -> Result<(Expr, &'c [AccessExpr])> {
        let Ast::Identifier(first) = root else { return Ok((self.expr(root)?, chain)) };
        let mut names = vec![first.clone()];
        names.extend(chain.iter().map_while(|it| match it {
            AccessExpr::Dot(Ast::Identifier(name)) => Some(name.clone()),
            _ => None,
        }));
        let (count, rest) = (names.len(), &chain[names.len() - 1..]);
        let whole = if count == 1 { root.clone() } else { Ast::CompoundIdentifier(names) };
        Ok((self.expr(&whole)?, rest))
    }

    pub(super) fn access(&mut self, root: &Ast, chain: &[AccessExpr]) -> Result<Expr> {
        let (mut expr, mut rest) = self.access_root(root, chain)?;
        while let Some(first) = rest.first() {
            match first {
                AccessExpr::Dot(Ast::Identifier(name)) => {
                    let name = fold(name);
                    expr = self.field(expr, &name)?;
                    rest = &rest[1..];
                }
                AccessExpr::Dot(other) => {
                    return Err(SqlError::unsupported(format!("the field {other}")));
                }
                AccessExpr::Subscript(_) => {
                    let count = rest
                        .iter()
                        .take_while(|access| matches!(access, AccessExpr::Subscript(_)))
                        .count();
                    expr = self.subscript(expr, &rest[..count])?;
                    rest = &rest[count..];
                }
            }
        }
        Ok(expr)
    }

    pub(super) fn subscript(&mut self, base: Expr, chain: &[AccessExpr]) -> Result<Expr> {
        let ty = self.catalog.base_type(base.ty);
        let vector = matches!(ty, Oid::INT2VECTOR | Oid::OIDVECTOR);
        let element = match self.catalog.element_of(ty) {
            Some(element) => element,
            None if ty == Oid::INT2VECTOR => Oid::INT2,
            None if ty == Oid::OIDVECTOR => Oid::OID,
            None if ty == Oid::JSONB => Oid::JSONB,
            None if ty == Oid::NAME => Oid::CHAR,
            None => {
                let message = format!(
                    "cannot subscript type {} because it does not support subscripting",
                    self.type_name(base.ty)
                );
                return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
            }
        };
        let mut parts = Vec::new();
        for access in chain {
            let AccessExpr::Subscript(subscript) = access else { continue };
            parts.push(self.subscript_part(subscript, ty)?);
        }
        let is_slice = parts.iter().any(|part| matches!(part, SubscriptPart::Slice(..)));
        if ty == Oid::NAME && is_slice {
            let message = "slices of fixed-length arrays not implemented";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        let ty = if is_slice && !vector { ty } else { element };
        Ok(Expr {
            typmod: base.typmod,
            kind: ExprKind::Subscript { base: Box::new(base), parts },
            ty,
        })
    }

    fn subscript_part(&mut self, subscript: &ast::Subscript, base: Oid) -> Result<SubscriptPart> {
        let mut index = |ast: &Ast| {
            let expr = self.expr(ast)?;
            if base == Oid::JSONB && (expr.ty == Oid::UNKNOWN || expr.ty == Oid::TEXT) {
                return self.coerce(expr, Oid::TEXT, -1, CastContext::Implicit);
            }
            self.coerce(expr, Oid::INT4, -1, CastContext::Assignment)
        };
        Ok(match subscript {
            ast::Subscript::Index { index: ast } => SubscriptPart::Index(index(ast)?),
            ast::Subscript::Slice { lower_bound, upper_bound, .. } => SubscriptPart::Slice(
                lower_bound.as_ref().map(&mut index).transpose()?,
                upper_bound.as_ref().map(&mut index).transpose()?,
            ),
        })
    }

    /// A field of a row by its name.
    pub(super) fn field(&mut self, base: Expr, name: &str) -> Result<Expr> {
        let fields: Vec<(std::sync::Arc<str>, Oid, i32)> = match &base.kind {
            ExprKind::Row { fields, names } if base.ty == Oid::RECORD => {
                let pairs = names.iter().zip(fields);
                pairs.map(|(name, field)| (name.clone(), field.ty, field.typmod)).collect()
            }
            ExprKind::WholeRow { names, types, .. } => {
                names.iter().zip(types).map(|(name, &ty)| (name.clone(), ty, -1)).collect()
            }
            _ => match self.catalog.kind(self.catalog.base_type(base.ty)) {
                Some(TypeKind::Composite(fields)) => {
                    fields.iter().map(|it| (it.name.clone(), it.ty, it.typmod)).collect()
                }
                _ => self.record_columns(&base),
            },
        };
        let Some(index) = fields.iter().position(|(it, _, _)| **it == *name) else {
            let message = match base.ty {
                Oid::RECORD => {
                    format!("could not identify column \"{name}\" in record data type")
                }
                ty => format!("column \"{name}\" not found in data type {}", self.type_name(ty)),
            };
            return Err(SqlError::new(code::UNDEFINED_COLUMN, message));
        };
        let (_, ty, typmod) = fields[index];
        Ok(Expr { kind: ExprKind::Field { base: Box::new(base), index }, ty, typmod })
    }

    /// The columns of a function's record result, by its output arguments.
    fn record_columns(&self, base: &Expr) -> Vec<(std::sync::Arc<str>, Oid, i32)> {
        let proc = match &base.kind {
            ExprKind::Call { callee, .. } => callee.proc,
            _ => {
                let shape = usize::try_from(base.typmod).ok().and_then(|it| self.records.get(it));
                let fields = shape.filter(|_| base.ty == Oid::RECORD).into_iter().flatten();
                return fields.map(|(name, ty)| (name.clone(), *ty, -1)).collect();
            }
        };
        super::call::output_columns(proc)
            .into_iter()
            .map(|(name, ty)| (name.into(), ty, -1))
            .collect()
    }
}

/// A row value.
pub(super) fn row_of(fields: Vec<Expr>) -> Expr {
    let names = (1..=fields.len()).map(|place| format!("f{place}").into()).collect();
    Expr { kind: ExprKind::Row { fields, names }, ty: Oid::RECORD, typmod: -1 }
}
