//! Expressions.

use super::{Binder, Clause, fold};
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::ir::{BoolTest, Expr, ExprKind};
use crate::types::{Datum, Oid};
use sqlparser::ast::{self, BinaryOperator, Expr as Ast, UnaryOperator};

/// How many operators may follow each other; PostgreSQL's stack ends at about as many.
const CHAIN_MAX: usize = 8000;

/// Whether an operator compares: one of these cannot be followed by another without parentheses.
fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq)
}

impl Binder<'_> {
    /// Binds an expression.
    pub(crate) fn expr(&mut self, ast: &Ast) -> Result<Expr> {
        let bound = self.nested(|binder| binder.expr_inside(ast));
        bound.map_err(|error| self.at_expr(error, ast))
    }

    /// Binds an expression that is to be a truth value.
    pub(super) fn condition(&mut self, ast: &Ast, what: &str) -> Result<Expr> {
        let expr = self.expr(ast)?;
        let made = self.coerce_to_bool(expr, what);
        made.map_err(|error| self.at_literal(self.at_wrong_type(error, ast), ast))
    }

    pub(super) fn exprs(&mut self, list: &[Ast]) -> Result<Vec<Expr>> {
        list.iter().map(|ast| self.expr(ast)).collect()
    }

    fn expr_inside(&mut self, ast: &Ast) -> Result<Expr> {
        match ast {
            Ast::Identifier(ident) => self.identifier(ident),
            Ast::CompoundIdentifier(parts) => self.compound(parts),
            Ast::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Ast::Nested(inner) => self.expr(inner),
            Ast::Value(value) => {
                let position = self.position(value.span);
                self.value(&value.value).map_err(|error| error.at(position))
            }
            Ast::Prefixed { prefix, value } => self.prefixed(prefix, value),
            Ast::TypedString(typed) => self.typed_string(typed),
            Ast::Interval(interval) => {
                let made = self.interval(interval);
                made.map_err(|error| self.at_literal(error, &interval.value))
            }
            Ast::BinaryOp { .. } => self.binary_chain(ast),
            Ast::UnaryOp { op, expr } => self.unary(*op, expr),
            Ast::Cast { expr, data_type, .. } => self.cast(expr, data_type),
            Ast::IsNull(expr) => self.is_null(expr, false),
            Ast::IsNotNull(expr) => self.is_null(expr, true),
            Ast::IsTrue(expr) => self.bool_test(expr, BoolTest::True),
            Ast::IsNotTrue(expr) => self.bool_test(expr, BoolTest::NotTrue),
            Ast::IsFalse(expr) => self.bool_test(expr, BoolTest::False),
            Ast::IsNotFalse(expr) => self.bool_test(expr, BoolTest::NotFalse),
            Ast::IsUnknown(expr) => self.bool_test(expr, BoolTest::Unknown),
            Ast::IsNotUnknown(expr) => self.bool_test(expr, BoolTest::NotUnknown),
            Ast::IsDistinctFrom(left, right) => self.is_distinct(left, right, false),
            Ast::IsNotDistinctFrom(left, right) => self.is_distinct(left, right, true),
            Ast::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            Ast::InSubquery { expr, subquery, negated } => {
                self.in_subquery(expr, subquery, *negated)
            }
            Ast::Between { expr, negated, low, high } => match without_mark(low) {
                Some(low) => self.between_symmetric(expr, *negated, &low, high),
                None => self.between(expr, *negated, low, high),
            },
            Ast::Like { negated, expr, pattern, escape_char, any } => {
                let op = if *negated { "!~~" } else { "~~" };
                self.like(op, expr, pattern, escape_char.as_deref(), *any)
            }
            Ast::ILike { negated, expr, pattern, escape_char, any } => {
                let op = if *negated { "!~~*" } else { "~~*" };
                self.like(op, expr, pattern, escape_char.as_deref(), *any)
            }
            Ast::SimilarTo { negated, expr, pattern, escape_char } => {
                self.similar(*negated, expr, pattern, escape_char.as_deref())
            }
            Ast::AnyOp { left, compare_op, right, .. } => {
                self.quantified(left, compare_op, right, crate::ir::Quantified::Any)
            }
            Ast::AllOp { left, compare_op, right } => {
                self.quantified(left, compare_op, right, crate::ir::Quantified::All)
            }
            Ast::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            Ast::Exists { subquery, negated } => self.exists(subquery, *negated),
            Ast::Subquery(query) => self.scalar_subquery(query),
            Ast::Tuple(fields) => self.row(fields),
            Ast::Array(array) => self.array(&array.elem),
            Ast::Function(function) => self.function(function),
            Ast::Collate { expr, collation } => self.collate(expr, collation),
            Ast::AtTimeZone { timestamp, time_zone } => {
                let (at, zone) = (self.expr(timestamp)?, self.expr(time_zone)?);
                self.builtin_call("timezone", vec![zone, at])
            }
            Ast::Extract { field, expr, .. } => self.extract(field, expr),
            Ast::Ceil { expr, field } => self.ceil_floor("ceil", expr, field),
            Ast::Floor { expr, field } => self.ceil_floor("floor", expr, field),
            Ast::Position { expr, r#in } => {
                let (needle, hay) = (self.expr(expr)?, self.expr(r#in)?);
                self.builtin_call("position", vec![hay, needle])
            }
            Ast::Substring { expr, substring_from, substring_for, .. } => {
                self.substring(expr, substring_from.as_deref(), substring_for.as_deref())
            }
            Ast::Trim { trim_where, trim_what, expr, trim_characters } => {
                self.trim(*trim_where, trim_what.as_deref(), expr, trim_characters.as_deref())
            }
            Ast::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args =
                    vec![self.expr(expr)?, self.expr(overlay_what)?, self.expr(overlay_from)?];
                if let Some(length) = overlay_for {
                    args.push(self.expr(length)?);
                }
                self.builtin_call("overlay", args)
            }
            Ast::IsNormalized { expr, form, negated } => {
                let form = form.as_ref().map_or_else(|| "NFC".to_owned(), ToString::to_string);
                let args = vec![self.expr(expr)?, Expr::constant(Datum::text(form), Oid::TEXT)];
                let test = self.builtin_call("is_normalized", args)?;
                Ok(if *negated { Expr::bool(ExprKind::Not(Box::new(test))) } else { test })
            }
            Ast::IsJson { .. } => Err(SqlError::unsupported(ast.to_string())),
            other => Err(SqlError::unsupported(format!("the expression {other}"))),
        }
    }

    fn identifier(&mut self, ident: &ast::Ident) -> Result<Expr> {
        if ident.quote_style.is_none() {
            let word = fold(ident);
            if word == "value"
                && let Some(ty) = self.domain_value
            {
                return Ok(Expr { kind: ExprKind::Placeholder, ty, typmod: -1 });
            }
            if word == "default" && matches!(self.level().clause, Clause::Values | Clause::Set) {
                return Ok(Expr { kind: ExprKind::Default, ty: Oid::UNKNOWN, typmod: -1 });
            }
            if let Some(expr) = self.keyword_value(&word)? {
                return Ok(expr);
            }
        }
        self.column_named(ident)
    }

    /// `N'…'`, `B'…'` and types that the parser does not know.
    fn prefixed(&mut self, prefix: &ast::Ident, value: &Ast) -> Result<Expr> {
        let ty = self.type_by_name(None, &fold(prefix), self.position(prefix.span))?;
        let expr = self.expr(value)?;
        self.coerce(expr, ty, -1, CastContext::Explicit)
    }

    fn typed_string(&mut self, typed: &ast::TypedString) -> Result<Expr> {
        let (ty, typmod) = match &typed.data_type {
            // Of a literal these are as long as it is, and not one character.
            ast::DataType::Bit(None) => (Oid::BIT, -1),
            ast::DataType::Char(None) | ast::DataType::Character(None) => (Oid::BPCHAR, -1),
            other => self.data_type(other)?,
        };
        let expr = self.value(&typed.value.value)?;
        let position = self.position(typed.value.span);
        self.coerce(expr, ty, typmod, CastContext::Explicit).map_err(|error| error.at(position))
    }

    fn cast(&mut self, inner: &Ast, data_type: &ast::DataType) -> Result<Expr> {
        let (ty, typmod) = self.data_type(data_type)?;
        let position = match inner {
            Ast::Value(value) => self.position(value.span),
            _ => 0,
        };
        // The elements of ARRAY[…]::type[] are converted one by one, so that an empty one is fine.
        if let Ast::Array(array) = strip(inner)
            && let Some(element) = self.catalog.element_of(ty)
        {
            return self.array_of(&array.elem, element, ty, typmod);
        }
        let expr = self.expr(inner)?;
        let cast = self.coerce(expr, ty, typmod, CastContext::Explicit);
        // Of a value that is none it is the literal, otherwise the cast.
        cast.map_err(|error| match error.code() {
            code::CANNOT_COERCE => error,
            _ => error.at(position),
        })
    }

    fn is_null(&mut self, inner: &Ast, negated: bool) -> Result<Expr> {
        let expr = self.expr(inner)?;
        let expr = Box::new(self.resolve_unknown(expr)?);
        let kind = if negated { ExprKind::IsNotNull(expr) } else { ExprKind::IsNull(expr) };
        Ok(Expr::bool(kind))
    }

    fn bool_test(&mut self, inner: &Ast, test: BoolTest) -> Result<Expr> {
        let what = match test {
            BoolTest::True => "IS TRUE",
            BoolTest::NotTrue => "IS NOT TRUE",
            BoolTest::False => "IS FALSE",
            BoolTest::NotFalse => "IS NOT FALSE",
            BoolTest::Unknown => "IS UNKNOWN",
            BoolTest::NotUnknown => "IS NOT UNKNOWN",
        };
        let expr = self.condition(inner, what)?;
        Ok(Expr::bool(ExprKind::BoolTest(Box::new(expr), test)))
    }

    fn unary(&mut self, op: UnaryOperator, inner: &Ast) -> Result<Expr> {
        let name = match op {
            UnaryOperator::Not | UnaryOperator::BangNot => {
                let expr = self.condition(inner, "NOT")?;
                return Ok(Expr::bool(ExprKind::Not(Box::new(expr))));
            }
            UnaryOperator::Minus => {
                if let Some(ast) = minus_first(inner) {
                    return self.expr(&ast);
                }
                // A negative number is a literal, so that the smallest one can be written.
                if let Ast::Value(value) = inner
                    && let ast::Value::Number(text, _) = &value.value
                {
                    return super::literal::number(&format!("-{text}"));
                }
                "-"
            }
            UnaryOperator::Plus => "+",
            UnaryOperator::BitwiseNot => "~",
            UnaryOperator::PGAbs => "@",
            UnaryOperator::PGSquareRoot => "|/",
            UnaryOperator::PGCubeRoot => "||/",
            other => return Err(SqlError::unsupported(format!("the operator {other}"))),
        };
        let expr = self.expr(inner)?;
        self.operator_call(name, None, expr)
    }

    /// A chain of operators is walked without recursion: ORMs write long ones.
    fn binary_chain(&mut self, ast: &Ast) -> Result<Expr> {
        let mut rights: Vec<(&BinaryOperator, &Ast)> = Vec::new();
        let mut first = ast;
        while let Ast::BinaryOp { left, op, right } = first {
            rights.push((op, right));
            first = left;
        }
        // AND and OR become lists; what other operators become is as deep as it is long.
        let is_list = |op: &BinaryOperator| matches!(op, BinaryOperator::And | BinaryOperator::Or);
        if rights.iter().filter(|(op, _)| !is_list(op)).count() > CHAIN_MAX {
            return Err(crate::parse::chains::too_deep());
        }
        rights.reverse();
        let chained = rights.windows(2).find(|ops| ops.iter().all(|(op, _)| is_comparison(op)));
        if let Some([_, (op, right)]) = chained {
            let message = format!("syntax error at or near \"{op}\"");
            let error = SqlError::new(code::SYNTAX_ERROR, message);
            return Err(self.at_operator(error, right));
        }
        // Both sides of a comparison of rows are looked at as they are written.
        if let [(op, right)] = rights[..]
            && let (Ast::Tuple(_), Ast::Tuple(_)) = (strip(first), strip(right))
        {
            return self.compare_rows(first, op, right);
        }
        let mut left = self.expr(first)?;
        for &(op, right) in &rights {
            left = match (&left.kind, strip(right)) {
                (ExprKind::Row { fields, .. }, Ast::Subquery(query)) => {
                    let row = self.row_subquery(query, fields.len())?;
                    self.compare_row_values(left, &super::operators::operator_name(op)?, row)?
                }
                _ => {
                    let made = self.binary(left, op, right);
                    // What is wrong with the right side has a place already.
                    let made = made.map_err(|error| self.at_wrong_type(error, first));
                    made.map_err(|error| self.at_operator(error, right))?
                }
            };
        }
        Ok(left)
    }

    fn binary(&mut self, left: Expr, op: &BinaryOperator, right: &Ast) -> Result<Expr> {
        match op {
            BinaryOperator::And => {
                let left = self.coerce_to_bool(left, "AND")?;
                let right = self.condition(right, "AND")?;
                Ok(join_logic(left, right, true))
            }
            BinaryOperator::Or => {
                let left = self.coerce_to_bool(left, "OR")?;
                let right = self.condition(right, "OR")?;
                Ok(join_logic(left, right, false))
            }
            BinaryOperator::Overlaps => {
                let right = self.expr(right)?;
                self.overlaps(left, right)
            }
            _ => {
                let name = super::operators::operator_name(op)?;
                let right = self.expr(right)?;
                if let (ExprKind::Row { .. }, ExprKind::Row { .. }) = (&left.kind, &right.kind) {
                    return self.compare_row_values(left, &name, right);
                }
                self.operator_call(&name, Some(left), right)
            }
        }
    }

    fn between(&mut self, expr: &Ast, negated: bool, low: &Ast, high: &Ast) -> Result<Expr> {
        let value = self.expr(expr)?;
        let (low, high) = (self.expr(low)?, self.expr(high)?);
        let (from, to) = if negated { ("<", ">") } else { (">=", "<=") };
        let first = self.operator_call(from, Some(value.clone()), low)?;
        let second = self.operator_call(to, Some(value), high)?;
        Ok(join_logic(first, second, !negated))
    }

    /// The bounds in either order.
    fn between_symmetric(
        &mut self,
        expr: &Ast,
        negated: bool,
        low: &Ast,
        high: &Ast,
    ) -> Result<Expr> {
        let one = self.between(expr, negated, low, high)?;
        let other = self.between(expr, negated, high, low)?;
        Ok(join_logic(one, other, negated))
    }

    fn is_distinct(&mut self, left: &Ast, right: &Ast, negated: bool) -> Result<Expr> {
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        let distinct = match (left.kind, right.kind) {
            // Rows are distinct if two of their fields are.
            (ExprKind::Row { fields: left, .. }, ExprKind::Row { fields: right, .. })
                if !left.is_empty() =>
            {
                if left.len() != right.len() {
                    let message = "unequal number of entries in row expressions";
                    return Err(SqlError::new(code::SYNTAX_ERROR, message));
                }
                let mut all = None;
                for (left, right) in left.into_iter().zip(right) {
                    let pair = self.distinct_pair(left, right)?;
                    all = Some(match all {
                        None => pair,
                        Some(before) => join_logic(before, pair, false),
                    });
                }
                all.ok_or_else(|| SqlError::internal("a row without fields"))?
            }
            (left_kind, right_kind) => {
                let left = Expr { kind: left_kind, ..left };
                let right = Expr { kind: right_kind, ..right };
                self.distinct_pair(left, right)?
            }
        };
        Ok(if negated { Expr::bool(ExprKind::Not(Box::new(distinct))) } else { distinct })
    }

    fn distinct_pair(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        let is_null = |expr: &Expr| expr.ty == Oid::UNKNOWN && expr.is_null_constant();
        let kind = if is_null(&right) {
            ExprKind::IsNotNull(Box::new(self.resolve_unknown(left)?))
        } else if is_null(&left) {
            ExprKind::IsNotNull(Box::new(self.resolve_unknown(right)?))
        } else {
            let equal = self.operator_call("=", Some(left.clone()), right.clone())?;
            let ExprKind::Call { args, .. } = &equal.kind else {
                return Err(SqlError::internal("an equality is a call"));
            };
            let (left, right) = (Box::new(args[0].clone()), Box::new(args[1].clone()));
            ExprKind::IsDistinct { equal: Box::new(equal), left, right }
        };
        Ok(Expr::bool(kind))
    }

    fn case(
        &mut self,
        operand: Option<&Ast>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&Ast>,
    ) -> Result<Expr> {
        let operand = match operand {
            Some(operand) => {
                let operand = self.expr(operand)?;
                Some(self.resolve_unknown(operand)?)
            }
            None => None,
        };
        // What else comes first, where types are matched.
        let mut results = vec![match otherwise {
            Some(otherwise) => self.expr(otherwise)?,
            None => Expr::null(Oid::UNKNOWN),
        }];
        let mut tests = Vec::new();
        for when in conditions {
            tests.push(match &operand {
                Some(operand) => {
                    let placeholder =
                        Expr { kind: ExprKind::Placeholder, ty: operand.ty, typmod: -1 };
                    let placeholder = self.labelled_like(placeholder, operand)?;
                    let value = self.expr(&when.condition)?;
                    self.operator_call("=", Some(placeholder), value)?
                }
                None => self.condition(&when.condition, "CASE/WHEN")?,
            });
            results.push(self.expr(&when.result)?);
        }
        refuse_sets(&results, "CASE")?;
        let (mut results, ty) = self.unify(results, "CASE")?;
        let typmod = Self::common_typmod(&results);
        let otherwise = Box::new(results.remove(0));
        let arms = tests.into_iter().zip(results).collect();
        let operand = operand.map(Box::new);
        Ok(Expr { kind: ExprKind::Case { operand, arms, otherwise }, ty, typmod })
    }

    pub(super) fn int4(value: i32) -> Expr {
        Expr::constant(Datum::Int4(value), Oid::INT4)
    }
}

/// A minus before a power belongs to its base, as in PostgreSQL and not as in `sqlparser`.
fn minus_first(inner: &Ast) -> Option<Ast> {
    let Ast::BinaryOp { left, op: op @ BinaryOperator::PGExp, right } = inner else { return None };
    let minus = || Ast::UnaryOp { op: UnaryOperator::Minus, expr: left.clone() };
    let base = minus_first(left).unwrap_or_else(minus);
    Some(Ast::BinaryOp { left: Box::new(base), op: op.clone(), right: right.clone() })
}

/// The lower bound of BETWEEN SYMMETRIC, which an operator marks, see `parse/grammar.rs`.
fn without_mark(low: &Ast) -> Option<Ast> {
    match low {
        Ast::UnaryOp { op: UnaryOperator::PGPrefixFactorial, expr } => Some(Ast::clone(expr)),
        Ast::BinaryOp { left, op, right } => Some(Ast::BinaryOp {
            left: Box::new(without_mark(left)?),
            op: op.clone(),
            right: right.clone(),
        }),
        _ => None,
    }
}

/// Functions that return sets have no place where only one of several is evaluated.
pub(super) fn refuse_sets(exprs: &[Expr], what: &str) -> Result<()> {
    let is_set = |expr: &Expr| expr.any(|it, _| matches!(it.kind, ExprKind::SetReturning(_)));
    if exprs.iter().any(is_set) {
        let message = format!("set-returning functions are not allowed in {what}");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    Ok(())
}

/// Without parentheses.
pub(super) fn strip(mut ast: &Ast) -> &Ast {
    while let Ast::Nested(inner) = ast {
        ast = inner;
    }
    ast
}

/// AND or OR of two, in one list with those that are there.
pub(crate) fn join_logic(left: Expr, right: Expr, and: bool) -> Expr {
    let mut list = match left.kind {
        ExprKind::And(list) if and => list,
        ExprKind::Or(list) if !and => list,
        _ => vec![left],
    };
    list.push(right);
    Expr::bool(if and { ExprKind::And(list) } else { ExprKind::Or(list) })
}
