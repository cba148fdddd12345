//! Operators that are more than a function of two arguments: rows, lists, patterns, ANY and ALL.

use super::Binder;
use super::composite::row_of;
use super::expr::{join_logic, strip};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, Quantified};
use crate::types::Oid;
use sqlparser::ast::{self, BinaryOperator, Expr as Ast, Query};

/// The name of an operator.
pub(super) fn operator_name(op: &BinaryOperator) -> Result<String> {
    let name = match op {
        BinaryOperator::NotEq => "<>",
        BinaryOperator::PGCustomBinaryOperator(parts) => {
            return Ok(normal(parts.last().map_or("", String::as_str)));
        }
        BinaryOperator::Custom(name) => return Ok(normal(name)),
        BinaryOperator::PGBitwiseXor => "#",
        BinaryOperator::PGExp => "^",
        BinaryOperator::BitwiseXor => "^",
        BinaryOperator::Modulo => "%",
        other => return Ok(normal(&other.to_string())),
    };
    Ok(name.to_owned())
}

fn normal(name: &str) -> String {
    if name == "!=" { "<>".to_owned() } else { name.to_owned() }
}

impl Binder<'_> {
    /// A comparison of two rows that are written out.
    pub(super) fn compare_rows(
        &mut self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
    ) -> Result<Expr> {
        if matches!(op, BinaryOperator::Overlaps) {
            let (left, right) = (self.expr(left)?, self.expr(right)?);
            return self.overlaps(left, right);
        }
        let name = operator_name(op)?;
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        self.compare_row_values(left, &name, right)
    }

    /// The same, column by column.
    pub(super) fn compare_row_values(
        &mut self,
        left: Expr,
        name: &str,
        right: Expr,
    ) -> Result<Expr> {
        let (ExprKind::Row { fields: left, .. }, ExprKind::Row { fields: right, .. }) =
            (left.kind, right.kind)
        else {
            return Err(SqlError::internal("both sides are rows"));
        };
        if left.len() != right.len() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "unequal number of entries in row expressions",
            ));
        }
        if left.is_empty() {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "cannot compare rows of zero length",
            ));
        }
        match name {
            "=" | "<>" => {
                let mut all: Option<Expr> = None;
                for (left, right) in left.into_iter().zip(right) {
                    let next = self.operator_call(name, Some(left), right)?;
                    all = Some(match all {
                        Some(all) => join_logic(all, next, name == "="),
                        None => next,
                    });
                }
                all.ok_or_else(|| SqlError::internal("a row has columns"))
            }
            "<" | "<=" | ">" | ">=" => self.compare_in_order(left, name, right),
            _ => Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                format!("could not determine interpretation of row comparison operator {name}"),
            )),
        }
    }

    /// (a, b) < (c, d): a < c, or a = c and b < d.
    fn compare_in_order(&mut self, left: Vec<Expr>, name: &str, right: Vec<Expr>) -> Result<Expr> {
        let strict = &name[..1];
        let mut pairs = left.into_iter().zip(right).rev();
        let (left, right) = pairs.next().ok_or_else(|| SqlError::internal("no columns"))?;
        let mut result = self.operator_call(name, Some(left), right)?;
        for (left, right) in pairs {
            let before = self.operator_call(strict, Some(left.clone()), right.clone())?;
            let equal = self.operator_call("=", Some(left), right)?;
            result = join_logic(before, join_logic(equal, result, true), false);
        }
        Ok(result)
    }

    pub(super) fn overlaps(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        match (left.kind, right.kind) {
            (ExprKind::Row { fields: mut one, .. }, ExprKind::Row { fields: two, .. })
                if one.len() == 2 && two.len() == 2 =>
            {
                one.extend(two);
                self.builtin_call("overlaps", one)
            }
            _ => Err(SqlError::new(
                code::SYNTAX_ERROR,
                "wrong number of parameters on left side of OVERLAPS expression",
            )),
        }
    }

    /// `x IN (a, b, …)`: values are looked for in one array, other expressions one by one.
    pub(super) fn in_list(&mut self, expr: &Ast, list: &[Ast], negated: bool) -> Result<Expr> {
        let left = self.expr(expr)?;
        let name = if negated { "<>" } else { "=" };
        let mut values = Vec::new();
        let mut others = Vec::new();
        for ast in list {
            let item = self.expr(ast)?;
            let varies = item.any(|it, _| {
                matches!(it.kind, ExprKind::Column { .. } | ExprKind::Aggregate { .. })
            });
            let is_row = matches!(item.kind, ExprKind::Row { .. });
            if varies || is_row { others.push(item) } else { values.push(item) }
        }
        let is_row = matches!(left.kind, ExprKind::Row { .. });
        let mut result: Option<Expr> = None;
        if values.len() > 1 && !is_row {
            match self.in_values(&left, &values, name)? {
                Some(found) => result = Some(found),
                None => others.append(&mut values),
            }
        } else {
            others.append(&mut values);
        }
        for item in others {
            let next =
                if let (ExprKind::Row { .. }, ExprKind::Row { .. }) = (&left.kind, &item.kind) {
                    self.compare_row_values(left.clone(), name, item)?
                } else {
                    self.operator_call(name, Some(left.clone()), item)?
                };
            result = Some(match result {
                Some(result) => join_logic(result, next, negated),
                None => next,
            });
        }
        result.ok_or_else(|| SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \")\""))
    }

    fn in_values(&mut self, left: &Expr, values: &[Expr], name: &str) -> Result<Option<Expr>> {
        let types: Vec<Oid> =
            std::iter::once(left.ty).chain(values.iter().map(|value| value.ty)).collect();
        let Ok(ty) = self.common_type(&types, "IN") else { return Ok(None) };
        let Some(array) = self.catalog.array_of(ty) else { return Ok(None) };
        if self.catalog.element_of(ty).is_some() {
            return Ok(None);
        }
        let mut elements = Vec::new();
        for value in values {
            let implicit = crate::catalog::builtin::CastContext::Implicit;
            match self.try_coerce(value.clone(), ty, -1, implicit)? {
                Some(value) => elements.push(value),
                None => return Ok(None),
            }
        }
        let array =
            Expr { kind: ExprKind::Array { elements, nested: false }, ty: array, typmod: -1 };
        let quantified = if name == "=" { Quantified::Any } else { Quantified::All };
        self.quantified_array(left.clone(), name, array, quantified).map(Some)
    }

    /// `x op ANY (…)`.
    pub(super) fn quantified(
        &mut self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
        quantified: Quantified,
    ) -> Result<Expr> {
        self.quantified_by_name(left, &operator_name(op)?, right, quantified)
    }

    fn quantified_by_name(
        &mut self,
        left: &Ast,
        name: &str,
        right: &Ast,
        quantified: Quantified,
    ) -> Result<Expr> {
        if let Ast::Subquery(query) = strip(right) {
            return self.quantified_query(left, name, query, quantified);
        }
        let left = self.expr(left)?;
        let array = self.expr(right)?;
        self.quantified_array(left, name, array, quantified)
    }

    fn like_all(&mut self, name: &str, left: &Ast, all: &ast::Function) -> Result<Expr> {
        if let ast::FunctionArguments::Subquery(query) = &all.args {
            return self.quantified_query(left, name, query, Quantified::All);
        }
        let written = super::call::written(all)?;
        match written.args[..] {
            [array] => self.quantified_by_name(left, name, array, Quantified::All),
            _ => Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \",\"")),
        }
    }

    fn quantified_array(
        &mut self,
        left: Expr,
        name: &str,
        array: Expr,
        quantified: Quantified,
    ) -> Result<Expr> {
        let mut array = array;
        if array.ty == Oid::UNKNOWN {
            // A literal or parameter is an array of what is on the other side.
            let element = if left.ty == Oid::UNKNOWN { Oid::TEXT } else { left.ty };
            let element = self.catalog.base_type(element);
            let ty = self.catalog.array_of(element).unwrap_or(Oid::TEXT_ARRAY);
            array = self.coerce(array, ty, -1, crate::catalog::builtin::CastContext::Implicit)?;
        }
        let base = self.catalog.base_type(array.ty);
        let element = match base {
            Oid::INT2VECTOR => Oid::INT2,
            Oid::OIDVECTOR => Oid::OID,
            _ => self.catalog.element_of(base).ok_or_else(|| {
                SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    "op ANY/ALL (array) requires array on right side",
                )
            })?,
        };
        let left = if left.ty == Oid::UNKNOWN {
            self.coerce(left, element, -1, crate::catalog::builtin::CastContext::Implicit)?
        } else {
            left
        };
        let (one, other) = (Expr::column(0, left.ty, left.typmod), Expr::column(1, element, -1));
        let one = self.labelled_like(one, &left)?;
        let other = self.labelled_like(other, &array)?;
        let test = self.operator_call(name, Some(one), other)?;
        let kind = ExprKind::QuantifiedArray {
            left: Box::new(left),
            test: Box::new(test),
            quantified,
            array: Box::new(array),
        };
        Ok(Expr::bool(kind))
    }

    pub(super) fn in_subquery(&mut self, expr: &Ast, query: &Query, negated: bool) -> Result<Expr> {
        let found = self.quantified_query(expr, "=", query, Quantified::Any)?;
        Ok(if negated { Expr::bool(ExprKind::Not(Box::new(found))) } else { found })
    }

    fn quantified_query(
        &mut self,
        left: &Ast,
        name: &str,
        query: &Query,
        quantified: Quantified,
    ) -> Result<Expr> {
        // In this order, which decides whose error is told.
        let query = self.subquery(query)?;
        let left = self.expr(left)?;
        let mut left = match left.kind {
            ExprKind::Row { fields, .. } => fields,
            _ => vec![left],
        };
        let columns = &query.query.columns;
        if columns.len() != left.len() {
            let message = if columns.len() < left.len() {
                "subquery has too few columns"
            } else {
                "subquery has too many columns"
            };
            return Err(SqlError::new(code::SYNTAX_ERROR, message));
        }
        for (side, column) in left.iter_mut().zip(columns) {
            if side.ty == Oid::UNKNOWN {
                let implicit = crate::catalog::builtin::CastContext::Implicit;
                *side = self.coerce(side.clone(), column.ty, -1, implicit)?;
            }
        }
        let count = left.len();
        let lefts = left.iter().enumerate();
        let lefts = lefts.map(|(place, it)| {
            let column = Expr::column(place, it.ty, it.typmod);
            self.labelled_like(column, it)
        });
        let lefts: Vec<Expr> = lefts.collect::<Result<_>>()?;
        let rights = columns.iter().enumerate();
        let rights = rights.map(|(place, it)| {
            let column = Expr::column(count + place, it.ty, it.typmod);
            self.labelled_column(column, it.collation.as_ref())
        });
        let rights: Vec<Expr> = rights.collect();
        let test = if count == 1 {
            let (one, other): (Vec<Expr>, Vec<Expr>) = (lefts, rights);
            let pair = one.into_iter().zip(other).next();
            let (one, other) = pair.ok_or_else(|| SqlError::internal("a column"))?;
            self.operator_call(name, Some(one), other)?
        } else {
            self.compare_row_values(row_of(lefts), name, row_of(rights))?
        };
        let test = Box::new(test);
        let query = Box::new(query);
        Ok(Expr::bool(ExprKind::QuantifiedQuery { left, test, quantified, query }))
    }

    pub(super) fn like(
        &mut self,
        name: &str,
        expr: &Ast,
        pattern: &Ast,
        escape: Option<&Ast>,
        any: bool,
    ) -> Result<Expr> {
        if any {
            return self.quantified_by_name(expr, name, pattern, Quantified::Any);
        }
        // LIKE ALL (ARRAY[…]) is parsed as a pattern that is a call.
        if let Ast::Function(function) = pattern
            && function.name.to_string().eq_ignore_ascii_case("all")
        {
            return self.like_all(name, expr, function);
        }
        let value = self.expr(expr)?;
        let mut pattern = self.expr(pattern)?;
        if let Some(escape) = escape {
            let escape = self.expr(escape)?;
            pattern = self.builtin_call("like_escape", vec![pattern, escape])?;
        }
        self.operator_call(name, Some(value), pattern)
    }

    pub(super) fn similar(
        &mut self,
        negated: bool,
        expr: &Ast,
        pattern: &Ast,
        escape: Option<&Ast>,
    ) -> Result<Expr> {
        let value = self.expr(expr)?;
        let mut args = vec![self.expr(pattern)?];
        if let Some(escape) = escape {
            args.push(self.expr(escape)?);
        }
        let pattern = self.builtin_call("similar_to_escape", args)?;
        self.operator_call(if negated { "!~" } else { "~" }, Some(value), pattern)
    }
}
