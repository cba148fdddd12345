//! Assignments to parts of columns: `SET a[1] = …`, `SET r.x = …`.

use super::target::Target;
use super::{Binder, Clause, fold};
use crate::catalog::builtin::CastContext;
use crate::catalog::{Column, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, SubscriptPart};
use crate::types::{Oid, TypeKind};
use sqlparser::ast::{self, AccessExpr};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A column that an INSERT names, or a part of one.
pub(super) struct Place {
    pub column: u16,
    /// How to get to the part; empty for all of the column.
    pub path: Vec<AccessExpr>,
}

/// So many parts of one column may be assigned at once: each one is made of the whole before it,
/// which stands in it twice.
const PARTS_MAX: usize = 8;

/// Refuses too many parts of one column.
pub(super) fn refuse_many_parts(columns: impl Iterator<Item = u16>) -> Result<()> {
    let mut count: BTreeMap<u16, usize> = BTreeMap::new();
    for column in columns {
        let parts = count.entry(column).or_default();
        *parts += 1;
        if *parts > PARTS_MAX {
            let what = format!("an assignment to more than {PARTS_MAX} parts of one column");
            return Err(SqlError::unsupported(what));
        }
    }
    Ok(())
}

impl Binder<'_> {
    /// The column that an assignment changes a part of, and how to get to that part.
    pub(super) fn assigned_path(
        &self,
        target: &Target,
        assignment: &ast::Assignment,
    ) -> Result<Option<(u16, Vec<AccessExpr>)>> {
        match &assignment.target {
            ast::AssignmentTarget::ColumnName(name) => self.path_to_part(target, name),
            ast::AssignmentTarget::Tuple(_) => Ok(None),
        }
    }

    /// The column that a name with fields or brackets begins with, and how to get to the part.
    fn path_to_part(
        &self,
        target: &Target,
        name: &ast::ObjectName,
    ) -> Result<Option<(u16, Vec<AccessExpr>)>> {
        let idents: Vec<&ast::Ident> = name.0.iter().filter_map(|it| it.as_ident()).collect();
        // With brackets it is a marked name, see `parse/rewrite.rs`.
        let marked = idents.first().and_then(|it| it.value.strip_prefix(crate::parse::MARK));
        if let Some(text) = marked.and_then(|it| it.strip_prefix("part ")) {
            let position = self.position(idents[0].span);
            return match crate::parse::expression(text)? {
                ast::Expr::CompoundFieldAccess { root, access_chain } => {
                    let ast::Expr::Identifier(root) = *root else {
                        return Err(SqlError::unsupported(format!("an assignment to {text}")));
                    };
                    Ok(Some((target.find(&fold(&root), position)?, access_chain)))
                }
                _ => Err(SqlError::unsupported(format!("an assignment to {text}"))),
            };
        }
        let [column, fields @ ..] = &idents[..] else { return Ok(None) };
        if fields.is_empty() {
            return Ok(None);
        }
        let number = target.find(&fold(column), self.position(column.span))?;
        let field = |it: &&ast::Ident| AccessExpr::Dot(ast::Expr::Identifier((*it).clone()));
        Ok(Some((number, fields.iter().map(field).collect())))
    }

    /// What the columns of an INSERT name: each a column, and how to get to a part of it, if it is
    /// not all of it.
    pub(super) fn insert_places(
        &self,
        target: &Target,
        names: &[ast::ObjectName],
    ) -> Result<Vec<Place>> {
        let mut places: Vec<Place> = Vec::new();
        for name in names {
            let last = name.0.last().and_then(|it| it.as_ident());
            let position = last.map_or(0, |ident| self.position(ident.span));
            let place = match self.path_to_part(target, name)? {
                Some((column, path)) => Place { column, path },
                None => {
                    let plain = super::split_name(name)?.1;
                    Place { column: target.find(&plain, position)?, path: Vec::new() }
                }
            };
            // Parts of a column may be named one after the other, and nothing else twice.
            let is_twice = |other: &Place| {
                other.column == place.column && (other.path.is_empty() || place.path.is_empty())
            };
            if places.iter().any(is_twice) {
                let name = &target.table.column(place.column).name;
                let message = format!("column \"{name}\" specified more than once");
                return Err(SqlError::new(code::DUPLICATE_COLUMN, message).at(position));
            }
            places.push(place);
        }
        Ok(places)
    }

    /// The values of a row of VALUES by columns, where some are only parts of columns.
    pub(super) fn with_parts(
        &mut self,
        row: &[ast::Expr],
        table: &Table,
        places: &[Place],
    ) -> Result<Vec<Expr>> {
        let mut made: Vec<(u16, Expr)> = Vec::new();
        refuse_many_parts(places.iter().filter(|it| !it.path.is_empty()).map(|it| it.column))?;
        for (ast, place) in row.iter().zip(places) {
            let column = table.column(place.column);
            let before = made.iter().position(|(number, _)| *number == place.column);
            let base = before.map_or_else(|| Expr::null(column.ty), |at| made[at].1.clone());
            let value = match place.path.is_empty() {
                true => self.insert_value(ast, column)?,
                false => self.with_part(base, &place.path, ast, column)?,
            };
            match before {
                Some(at) => made[at].1 = value,
                None => made.push((place.column, value)),
            }
        }
        Ok(made.into_iter().map(|(_, value)| value).collect())
    }

    /// A value in which a part is another one.
    pub(super) fn with_part(
        &mut self,
        base: Expr,
        path: &[AccessExpr],
        value: &ast::Expr,
        column: &Column,
    ) -> Result<Expr> {
        match path.first() {
            None => {
                let expr = self.in_clause(Clause::Set, |binder| binder.expr(value))?;
                if matches!(expr.kind, ExprKind::Default) {
                    let message = "cannot set an array element to DEFAULT";
                    return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
                }
                let part = Column { ty: base.ty, typmod: base.typmod, ..column.clone() };
                self.assign(expr, &part, super::assignments::value_position(value))
            }
            Some(AccessExpr::Dot(ast::Expr::Identifier(name))) => {
                let ty = self.catalog.base_type(base.ty);
                let Some(TypeKind::Composite(fields)) = self.catalog.kind(ty) else {
                    let message = format!(
                        "cannot assign to field \"{}\" of column \"{}\" because its type {} is \
                         not a composite type",
                        fold(name),
                        column.name,
                        self.type_name(base.ty)
                    );
                    return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
                };
                if !fields.iter().any(|it| *it.name == *fold(name)) {
                    let message = format!(
                        "cannot assign to field \"{}\" of column \"{}\" because there is no such \
                         column in data type {}",
                        fold(name),
                        column.name,
                        self.type_name(base.ty)
                    );
                    return Err(SqlError::new(code::UNDEFINED_COLUMN, message));
                }
                let part = self.field(base.clone(), &fold(name))?;
                let ExprKind::Field { index, .. } = part.kind else {
                    return Err(SqlError::internal("a field is a field"));
                };
                let value = Box::new(self.with_part(part, &path[1..], value, column)?);
                let names = fields.iter().map(|it| Arc::clone(&it.name)).collect();
                let types = fields.iter().map(|it| it.ty).collect();
                let (whole, typmod) = (base.ty, base.typmod);
                let base = Box::new(base);
                let kind = ExprKind::SetField { base, index, value, names, types };
                self.coerce(Expr { kind, ty, typmod }, whole, typmod, CastContext::Implicit)
            }
            Some(AccessExpr::Dot(other)) => {
                Err(SqlError::unsupported(format!("an assignment to the field {other}")))
            }
            Some(AccessExpr::Subscript(_)) => {
                let is_subscript = |it: &&AccessExpr| matches!(it, AccessExpr::Subscript(_));
                let count = path.iter().take_while(is_subscript).count();
                let ty = self.catalog.base_type(base.ty);
                if ty == Oid::NAME {
                    return Err(SqlError::unsupported("an assignment to a letter of a name"));
                }
                let part = self.subscript(base.clone(), &path[..count])?;
                let ExprKind::Subscript { parts, .. } = part.kind.clone() else {
                    return Err(SqlError::internal("a subscript is a subscript"));
                };
                let is_slice = |it: &SubscriptPart| matches!(it, SubscriptPart::Slice(..));
                if parts.len() > 1 && parts.iter().any(is_slice) {
                    return Err(SqlError::unsupported(
                        "an assignment to a slice of several dimensions",
                    ));
                }
                if ty == Oid::JSONB && parts.iter().any(is_slice) {
                    let message = "jsonb subscript does not support slices";
                    return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
                }
                let value = Box::new(self.with_part(part, &path[count..], value, column)?);
                let (whole, typmod) = (base.ty, base.typmod);
                let kind = ExprKind::SetElement { base: Box::new(base), parts, value };
                self.coerce(Expr { kind, ty, typmod }, whole, typmod, CastContext::Implicit)
            }
        }
    }
}
