//! The value of an expression for a row.

use super::{Exec, Row};
use crate::error::{Result, SqlError, code};
use crate::ir::{BoolTest, CallKind, Collated, Expr, ExprKind, Quantified};
use crate::types::{
    Array, Collation, Datum, Oid, RecordValue, apply_typmod, compare_as, input, output,
};
use std::cmp::Ordering;
use std::sync::Arc;

impl Exec<'_> {
    /// The value of an expression.
    pub fn eval(&mut self, expr: &Expr, row: &[Datum]) -> Result<Datum> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(value.clone()),
            ExprKind::Column { depth: 0, index } => Ok(row[*index].clone()),
            ExprKind::Column { depth, index } => Ok(self.outer(*depth)[*index].clone()),
            ExprKind::Param(number) => self.param(*number),
            ExprKind::Call { callee, args, variadic } => {
                self.eval_call(expr, callee, args, *variadic, row)
            }
            ExprKind::And(list) => self.eval_and(list, row),
            ExprKind::Or(list) => self.eval_or(list, row),
            ExprKind::Not(inner) => Ok(match self.eval(inner, row)? {
                Datum::Bool(value) => Datum::Bool(!value),
                _ => Datum::Null,
            }),
            ExprKind::IsNull(inner) => {
                let value = self.eval(inner, row)?;
                Ok(Datum::Bool(is_null(&value, inner)))
            }
            ExprKind::IsNotNull(inner) => {
                let value = self.eval(inner, row)?;
                Ok(Datum::Bool(is_not_null(&value, inner)))
            }
            ExprKind::BoolTest(inner, test) => {
                let value = self.eval(inner, row)?;
                Ok(Datum::Bool(bool_test(&value, *test)))
            }
            ExprKind::Relabel(inner) => {
                let value = self.eval(inner, row)?;
                Ok(self.relabel(value, inner.ty, expr.ty))
            }
            ExprKind::Collated { arg, collation, by } => {
                let value = self.eval(arg, row)?;
                collated(value, arg.ty, collation, *by)
            }
            ExprKind::ThroughText(inner) => self.through_text(inner, expr, row),
            ExprKind::Typmod { arg, explicit } => {
                let value = self.eval(arg, row)?;
                if value.is_null() {
                    return Ok(value);
                }
                let types = [expr.ty];
                let call = self.call(&types, expr.ty);
                apply_typmod(value, expr.ty, expr.typmod, *explicit, &call)
            }
            ExprKind::CheckDomain(inner) => {
                let value = self.eval(inner, row)?;
                self.check_domain(expr.ty, &value)?;
                Ok(value)
            }
            ExprKind::ArrayCast { array, element } => self.array_cast(array, element, expr, row),
            ExprKind::RowCast { row: inner, fields } => self.row_cast(inner, fields, row),
            ExprKind::IsDistinct { equal, left, right } => {
                let (left, right) = (self.eval(left, row)?, self.eval(right, row)?);
                Ok(Datum::Bool(match (left.is_null(), right.is_null()) {
                    (true, true) => false,
                    (true, false) | (false, true) => true,
                    (false, false) => !matches!(self.eval(equal, row)?, Datum::Bool(true)),
                }))
            }
            ExprKind::Case { operand, arms, otherwise } => {
                self.eval_case(operand.as_deref(), arms, otherwise, row)
            }
            ExprKind::Placeholder => {
                self.placeholders.last().cloned().ok_or_else(|| SqlError::internal("no value"))
            }
            ExprKind::Coalesce(args) => {
                for arg in args {
                    let value = self.eval(arg, row)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Ok(Datum::Null)
            }
            ExprKind::NullIf { equal, value } => match self.eval(equal, row)? {
                Datum::Bool(true) => Ok(Datum::Null),
                _ => self.eval(value, row),
            },
            ExprKind::Extreme { greatest, args } => self.extreme(*greatest, args, expr.ty, row),
            ExprKind::Scalar(query) => self.scalar(query, expr.ty, row),
            ExprKind::Exists(query) => self.exists(query, row),
            ExprKind::ArrayOf(query) => self.array_of(query, expr.ty, row),
            ExprKind::QuantifiedQuery { left, test, quantified, query } => {
                self.quantified_query(left, test, *quantified, query, row)
            }
            ExprKind::QuantifiedArray { left, test, quantified, array } => {
                self.quantified_array(left, test, *quantified, array, row)
            }
            ExprKind::Array { elements, nested } => {
                self.make_array(elements, *nested, expr.ty, row)
            }
            ExprKind::Row { fields, names } => {
                let values = self.eval_all(fields, row)?;
                let types = fields.iter().map(|field| field.ty).collect();
                let record = RecordValue { types, names: names.clone(), fields: values };
                Ok(Datum::Record(Arc::new(record)))
            }
            ExprKind::WholeRow { depth, columns, names, types, start: _ } => {
                let source: &[Datum] = if *depth == 0 { row } else { self.outer(*depth) };
                let fields: Vec<Datum> =
                    columns.iter().map(|&place| source[place].clone()).collect();
                // An outer join that found nothing has no row at all.
                if fields.iter().all(Datum::is_null) && !fields.is_empty() {
                    return Ok(Datum::Null);
                }
                let record = RecordValue { types: types.clone(), names: names.clone(), fields };
                Ok(Datum::Record(Arc::new(record)))
            }
            ExprKind::Subscript { base, parts } => self.subscript(base, parts, expr.ty, row),
            ExprKind::SetElement { base, parts, value } => {
                self.set_element(base, parts, value, row)
            }
            ExprKind::SetField { base, index, value, names, types } => {
                let mut fields = match self.eval(base, row)? {
                    Datum::Record(record) => record.fields.clone(),
                    _ => vec![Datum::Null; types.len()],
                };
                fields.resize(types.len(), Datum::Null);
                fields[*index] = self.eval(value, row)?;
                let record = RecordValue { types: types.clone(), names: names.clone(), fields };
                Ok(Datum::Record(Arc::new(record)))
            }
            ExprKind::Field { base, index } => match self.eval(base, row)? {
                Datum::Record(record) => {
                    Ok(record.fields.get(*index).cloned().unwrap_or(Datum::Null))
                }
                _ => Ok(Datum::Null),
            },
            ExprKind::Grouping(args) => Ok(grouping(args, row)),
            ExprKind::NextValue(sequence) => self.next_value(*sequence),
            ExprKind::Aggregate { .. }
            | ExprKind::Window(_)
            | ExprKind::SetReturning(_)
            | ExprKind::Default => {
                Err(SqlError::internal(format!("{:?} cannot be evaluated here", expr.kind)))
            }
        }
    }

    /// The values of several expressions.
    pub fn eval_all(&mut self, exprs: &[Expr], row: &[Datum]) -> Result<Row> {
        exprs.iter().map(|expr| self.eval(expr, row)).collect()
    }

    /// Whether a condition holds.
    pub fn holds(&mut self, condition: &Expr, row: &[Datum]) -> Result<bool> {
        Ok(matches!(self.eval(condition, row)?, Datum::Bool(true)))
    }

    pub(super) fn outer(&self, depth: u32) -> &[Datum] {
        &self.levels[self.levels.len() - depth as usize]
    }

    fn param(&self, number: usize) -> Result<Datum> {
        self.params.get(number).cloned().ok_or_else(|| {
            let message = format!("there is no parameter ${}", number + 1);
            SqlError::new(code::UNDEFINED_PARAMETER, message)
        })
    }

    fn eval_call(
        &mut self,
        expr: &Expr,
        callee: &crate::ir::Callee,
        args: &[Expr],
        variadic: bool,
        row: &[Datum],
    ) -> Result<Datum> {
        if callee.proc.strict && asks_queries(args) {
            // What is known before could be null, and then nothing is asked.
            for arg in args.iter().filter(|arg| arg.is_known()) {
                if self.eval(arg, row)?.is_null() {
                    return Ok(Datum::Null);
                }
            }
        }
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.eval(arg, row)?;
            if callee.proc.strict && value.is_null() {
                return Ok(Datum::Null);
            }
            values.push(value);
        }
        let _ = variadic;
        match callee.run {
            CallKind::Plain(function) => {
                if let [one] = args {
                    let types = [one.ty];
                    let call = self.call(&types, expr.ty);
                    return function(&call, &values);
                }
                if let [one, two] = args {
                    let types = [one.ty, two.ty];
                    let call = self.call(&types, expr.ty);
                    return function(&call, &values);
                }
                let types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
                let call = self.call(&types, expr.ty);
                function(&call, &values)
            }
            CallKind::Session => {
                let types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
                self.session_function(callee.proc, &types, expr.ty, &values)
            }
            CallKind::Set(_) => Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "set-valued function called in context that cannot accept a set",
            )),
        }
    }

    fn eval_and(&mut self, list: &[Expr], row: &[Datum]) -> Result<Datum> {
        let mut unknown = false;
        for expr in list {
            match self.eval(expr, row)? {
                Datum::Bool(false) => return Ok(Datum::Bool(false)),
                Datum::Bool(true) => {}
                _ => unknown = true,
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Bool(true) })
    }

    fn eval_or(&mut self, list: &[Expr], row: &[Datum]) -> Result<Datum> {
        let mut unknown = false;
        for expr in list {
            match self.eval(expr, row)? {
                Datum::Bool(true) => return Ok(Datum::Bool(true)),
                Datum::Bool(false) => {}
                _ => unknown = true,
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Bool(false) })
    }

    fn eval_case(
        &mut self,
        operand: Option<&Expr>,
        arms: &[(Expr, Expr)],
        otherwise: &Expr,
        row: &[Datum],
    ) -> Result<Datum> {
        let has_operand = operand.is_some();
        if let Some(operand) = operand {
            let value = self.eval(operand, row)?;
            self.placeholders.push(value);
        }
        let mut chosen = otherwise;
        for (condition, result) in arms {
            match self.holds(condition, row) {
                Ok(true) => {
                    chosen = result;
                    break;
                }
                Ok(false) => {}
                Err(error) => {
                    if has_operand {
                        self.placeholders.pop();
                    }
                    return Err(error);
                }
            }
        }
        if has_operand {
            self.placeholders.pop();
        }
        self.eval(chosen, row)
    }

    /// Evaluates an expression over a value that stands for its placeholder.
    pub(super) fn with_placeholder(&mut self, value: Datum, expr: &Expr) -> Result<Datum> {
        self.placeholders.push(value);
        let result = self.eval(expr, &[]);
        self.placeholders.pop();
        result
    }

    /// Types that are represented alike are so except for blanks behind bpchar.
    fn relabel(&self, value: Datum, from: Oid, to: Oid) -> Datum {
        match (&value, from, to) {
            (Datum::Text(text), Oid::BPCHAR, Oid::TEXT | Oid::VARCHAR) => {
                Datum::text(text.trim_end_matches(' '))
            }
            // Identifiers and integers have the same bits.
            (Datum::Int4(number), Oid::INT4, _) if to != Oid::INT4 => Datum::Oid(*number as u32),
            (Datum::Oid(number), _, Oid::INT4) => Datum::Int4(*number as i32),
            _ => value,
        }
    }

    fn through_text(&mut self, inner: &Expr, expr: &Expr, row: &[Datum]) -> Result<Datum> {
        let value = self.eval(inner, row)?;
        if value.is_null() {
            return Ok(value);
        }
        let types = [inner.ty];
        let call = self.call(&types, expr.ty);
        let text = match (&value, inner.ty) {
            (Datum::Text(text), _) => text.to_string(),
            (value, ty) => output(value, ty, &call),
        };
        input(&text, expr.ty, -1, &call)
    }

    fn array_cast(
        &mut self,
        array: &Expr,
        element: &Expr,
        expr: &Expr,
        row: &[Datum],
    ) -> Result<Datum> {
        let Datum::Array(array) = self.eval(array, row)? else { return Ok(Datum::Null) };
        let mut elements = Vec::with_capacity(array.elements.len());
        for value in &array.elements {
            elements.push(self.with_placeholder(value.clone(), element)?);
        }
        let ty = self.env.catalog.element_of(expr.ty).unwrap_or(element.ty);
        let dimensions = array.dimensions.clone();
        Ok(Datum::Array(Arc::new(Array { element: ty, dimensions, elements })))
    }

    fn row_cast(&mut self, inner: &Expr, fields: &[Expr], row: &[Datum]) -> Result<Datum> {
        let Datum::Record(record) = self.eval(inner, row)? else { return Ok(Datum::Null) };
        let mut values = Vec::new();
        for (value, field) in record.fields.iter().zip(fields) {
            values.push(self.with_placeholder(value.clone(), field)?);
        }
        let types = fields.iter().map(|field| field.ty).collect();
        let record = RecordValue { types, names: record.names.clone(), fields: values };
        Ok(Datum::Record(Arc::new(record)))
    }

    fn extreme(&mut self, greatest: bool, args: &[Expr], ty: Oid, row: &[Datum]) -> Result<Datum> {
        let mut best = Datum::Null;
        for arg in args {
            let value = self.eval(arg, row)?;
            if value.is_null() {
                continue;
            }
            let wanted = if greatest { Ordering::Greater } else { Ordering::Less };
            if best.is_null() || compare_as(ty, &value, &best) == wanted {
                best = value;
            }
        }
        Ok(best)
    }

    fn quantified_array(
        &mut self,
        left: &Expr,
        test: &Expr,
        quantified: Quantified,
        array: &Expr,
        row: &[Datum],
    ) -> Result<Datum> {
        let value = self.eval(left, row)?;
        let is_same_for_all = matches!(array.kind, ExprKind::Const(_) | ExprKind::Param(_));
        let Datum::Array(array) = self.eval(array, row)? else { return Ok(Datum::Null) };
        let mut pair = vec![value, Datum::Null];
        if is_same_for_all && let Some(known) = self.is_element(&pair, test, quantified, &array)? {
            return Ok(known);
        }
        let mut result = Quantifier::new(quantified);
        for element in &array.elements {
            self.tick()?;
            pair[1] = element.clone();
            if result.add(&self.eval(test, &pair)?) {
                break;
            }
        }
        Ok(result.value())
    }

    /// Checks the constraints of a domain.
    pub(super) fn check_domain(&mut self, domain: Oid, value: &Datum) -> Result<()> {
        crate::types::TypeLookup::check_domain(self.env, domain, value)
    }

    fn next_value(&mut self, sequence: Oid) -> Result<Datum> {
        let found = self.env.catalog.sequence(sequence).ok_or_else(|| {
            SqlError::new(code::UNDEFINED_TABLE, "the sequence of the column does not exist")
        })?;
        let next = self.database().next_value(found)?;
        self.txn.remember_value(sequence, next);
        Ok(Datum::Int8(next))
    }
}

/// ANY or ALL while it goes over values.
pub(super) struct Quantifier {
    quantified: Quantified,
    unknown: bool,
    decided: bool,
}

impl Quantifier {
    pub fn new(quantified: Quantified) -> Quantifier {
        Quantifier { quantified, unknown: false, decided: false }
    }

    /// One more; whether it is decided.
    pub fn add(&mut self, value: &Datum) -> bool {
        let decisive = self.quantified == Quantified::Any;
        match value {
            Datum::Bool(value) if *value == decisive => self.decided = true,
            Datum::Bool(_) => {}
            _ => self.unknown = true,
        }
        self.decided
    }

    pub fn value(&self) -> Datum {
        let decisive = self.quantified == Quantified::Any;
        match (self.decided, self.unknown) {
            (true, _) => Datum::Bool(decisive),
            (false, true) => Datum::Null,
            (false, false) => Datum::Bool(!decisive),
        }
    }
}

fn is_row(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Row { .. } | ExprKind::WholeRow { .. })
}

/// A row is null if all its fields are.
fn is_null(value: &Datum, expr: &Expr) -> bool {
    match value {
        Datum::Record(record) if is_row(expr) || !record.fields.is_empty() => {
            record.fields.iter().all(Datum::is_null)
        }
        value => value.is_null(),
    }
}

/// A row is not null if none of its fields is.
fn is_not_null(value: &Datum, _expr: &Expr) -> bool {
    match value {
        Datum::Record(record) => !record.fields.iter().any(Datum::is_null),
        value => !value.is_null(),
    }
}

fn bool_test(value: &Datum, test: BoolTest) -> bool {
    let value = match value {
        Datum::Bool(value) => Some(*value),
        _ => None,
    };
    match test {
        BoolTest::True => value == Some(true),
        BoolTest::NotTrue => value != Some(true),
        BoolTest::False => value == Some(false),
        BoolTest::NotFalse => value != Some(false),
        BoolTest::Unknown => value.is_none(),
        BoolTest::NotUnknown => value.is_some(),
    }
}

/// The bits of the keys that are not in the grouping set.
fn grouping(args: &[Expr], row: &[Datum]) -> Datum {
    let mut result = 0;
    for arg in args {
        let ExprKind::Column { index, .. } = arg.kind else { continue };
        let bits = match row.get(arg.typmod as usize) {
            Some(Datum::Int8(bits)) => *bits,
            _ => 0,
        };
        result = (result << 1) | ((bits >> index.min(62)) & 1);
    }
    Datum::Int4(result as i32)
}

/// A text with its collation, or what that makes of it.
fn collated(value: Datum, ty: Oid, collation: &Collation, by: Collated) -> Result<Datum> {
    let Datum::Text(text) = &value else { return Ok(value) };
    Ok(match by {
        Collated::Implicit | Collated::Explicit => value,
        Collated::Key if ty == Oid::BPCHAR => {
            Datum::Bytea(collation.key(text.trim_end_matches(' ')).into())
        }
        Collated::Key => Datum::Bytea(collation.key(text).into()),
        Collated::Lower => Datum::text(collation.lower(text)?),
        Collated::Upper => Datum::text(collation.upper(text)?),
    })
}

/// Whether arguments ask other queries. Beside a null that is known these are not asked, as in
/// PostgreSQL, which knows before that the result is null: they could fail.
fn asks_queries(args: &[Expr]) -> bool {
    args.len() > 1 && args.iter().any(Expr::has_query)
}
