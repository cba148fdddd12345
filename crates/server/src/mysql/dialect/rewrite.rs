//! Expressions and queries of MySQL as those of PostgreSQL with MySQL's types: a walk over the
//! syntax tree that replaces what differs, the inner parts first.

use super::super::error::MysqlError;
use super::super::frontend::Param;
use super::super::variables::UserValue;
use super::build::{binary, bytes, call, cast, nested, not, null, number, text};
use super::functions;
use super::information;
use super::known::Known;
use super::names::{exact, parts};
use sqlparser::ast::{
    BinaryOperator as Op, DataType, DateTimeField, Expr, GroupByExpr, Ident, Interval, Join,
    JoinConstraint, JoinOperator, LimitClause, Offset, OffsetRows, OrderByExpr, OrderBySort, Query,
    Select, SelectItem, Statement, TableFactor, Value, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Translates a query or a change of rows in place.
pub(super) fn rewrite(statement: &mut Statement, known: &Known<'_>) -> Result<(), MysqlError> {
    match statement.visit(&mut Rewriter { known, aliases: Vec::new() }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The same for an expression by itself.
pub(super) fn rewrite_expr(expr: &mut Expr, known: &Known<'_>) -> Result<(), MysqlError> {
    match expr.visit(&mut Rewriter { known, aliases: Vec::new() }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Rewriter<'k> {
    known: &'k Known<'k>,
    /// The names of results of the queries around, for HAVING.
    aliases: Vec<Vec<(String, Expr)>>,
}

type Flow = ControlFlow<MysqlError>;

fn flow(result: Result<(), MysqlError>) -> Flow {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

impl VisitorMut for Rewriter<'_> {
    type Break = MysqlError;

    fn pre_visit_ident(&mut self, ident: &mut Ident) -> Flow {
        let is_default = ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default");
        if !is_default {
            ident.quote_style = Some('"');
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        select.optimizer_hints.clear();
        select.select_modifiers = None;
        if select.into.is_some() {
            return ControlFlow::Break(MysqlError::unsupported("SELECT INTO"));
        }
        if let [only] = &select.from[..]
            && only.joins.is_empty()
            && let TableFactor::Table { name, .. } = &only.relation
            && parts(name) == (None, parts(name).1)
            && parts(name).1.eq_ignore_ascii_case("dual")
        {
            select.from.clear();
        }
        select.projection.iter_mut().for_each(named);
        for from in &mut select.from {
            from.joins.iter_mut().for_each(joined);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> Flow {
        let aliases: Vec<(String, Expr)> = select.projection.iter().filter_map(alias).collect();
        if let Some(having) = &mut select.having {
            self.aliases.push(aliases);
            let done = having.visit(&mut ByAlias(self.aliases.last().map_or(&[], Vec::as_slice)));
            self.aliases.pop();
            done.is_break();
        }
        if let GroupByExpr::Expressions(_, modifiers) = &select.group_by
            && !modifiers.is_empty()
        {
            return ControlFlow::Break(MysqlError::unsupported("GROUP BY with ROLLUP"));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> Flow {
        query.limit_clause = query.limit_clause.take().map(limited);
        for lock in &mut query.locks {
            lock.of = None;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_order_by_expr(&mut self, order: &mut OrderByExpr) -> Flow {
        // Nulls are less than anything else.
        let is_ascending = !matches!(order.options.sort, Some(OrderBySort::Desc));
        order.options.nulls_first = Some(is_ascending);
        // A constant that is no place is an order by nothing.
        if let Expr::Value(value) = &order.expr
            && matches!(value.value, Value::Null)
        {
            order.expr = number("1");
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        flow(self.table(factor))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        let taken = std::mem::replace(expr, Expr::Value(Value::Null.into()));
        match self.expr(taken) {
            Ok(made) => {
                *expr = made;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// A result without a name is called as it is written.
fn named(item: &mut SelectItem) {
    let SelectItem::UnnamedExpr(expr) = item else { return };
    if matches!(expr, Expr::Identifier(ident) if !ident.value.starts_with('@')) {
        return;
    }
    if matches!(expr, Expr::CompoundIdentifier(parts) if !parts[0].value.starts_with('@')) {
        return;
    }
    let shown = match &*expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        other => other.to_string(),
    };
    let shown = if shown.is_empty() { " ".to_owned() } else { shown };
    let expr = std::mem::replace(expr, null());
    *item = SelectItem::ExprWithAlias { expr, alias: exact(shown) };
}

fn alias(item: &SelectItem) -> Option<(String, Expr)> {
    match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((alias.value.clone(), expr.clone())),
        _ => None,
    }
}

/// Names of results in HAVING stand for what they name.
struct ByAlias<'a>(&'a [(String, Expr)]);

impl VisitorMut for ByAlias<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(ident) = expr
            && let Some((_, meant)) =
                self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(&ident.value))
        {
            *expr = nested(meant.clone());
        }
        ControlFlow::Continue(())
    }
}

fn joined(join: &mut Join) {
    let taken = std::mem::replace(&mut join.join_operator, JoinOperator::OuterApply);
    join.join_operator = match taken {
        JoinOperator::Join(JoinConstraint::None)
        | JoinOperator::Inner(JoinConstraint::None)
        | JoinOperator::StraightJoin(JoinConstraint::None) => {
            JoinOperator::CrossJoin(JoinConstraint::None)
        }
        JoinOperator::StraightJoin(on) => JoinOperator::Inner(on),
        JoinOperator::CrossJoin(JoinConstraint::None) => {
            JoinOperator::CrossJoin(JoinConstraint::None)
        }
        JoinOperator::CrossJoin(on) => JoinOperator::Inner(on),
        other => other,
    };
}

fn limited(clause: LimitClause) -> LimitClause {
    // The greatest number stands for no limit.
    let within = |limit: Expr| {
        let is_end = limit.to_string().parse::<u64>().is_ok_and(|it| i64::try_from(it).is_err());
        (!is_end).then_some(limit)
    };
    match clause {
        LimitClause::OffsetCommaLimit { offset, limit } => LimitClause::LimitOffset {
            limit: within(limit),
            offset: Some(Offset { value: offset, rows: OffsetRows::None }),
            limit_by: Vec::new(),
        },
        LimitClause::LimitOffset { limit, offset, limit_by } => {
            LimitClause::LimitOffset { limit: limit.and_then(within), offset, limit_by }
        }
    }
}

impl Rewriter<'_> {
    fn table(&self, factor: &mut TableFactor) -> Result<(), MysqlError> {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            table_with_joins.joins.iter_mut().for_each(joined);
        }
        let TableFactor::Table { name, alias, index_hints, partitions, .. } = factor else {
            return Ok(());
        };
        index_hints.clear();
        if !partitions.is_empty() {
            return Err(MysqlError::unsupported("PARTITION"));
        }
        let (schema, table) = parts(name);
        let is_information =
            schema.is_some_and(|schema| schema.eq_ignore_ascii_case("information_schema"));
        if is_information {
            let (subquery, alias) =
                information::table(&table.to_lowercase(), self.known, alias.take())?;
            let (alias, subquery) = (Some(alias), Box::new(subquery));
            *factor = TableFactor::Derived { lateral: false, subquery, alias, sample: None };
        }
        Ok(())
    }

    fn expr(&self, expr: Expr) -> Result<Expr, MysqlError> {
        Ok(match expr {
            Expr::Identifier(ident) if ident.value.starts_with('@') => {
                self.variable(&ident.value)?
            }
            Expr::CompoundIdentifier(parts) if parts[0].value.starts_with("@@") => {
                let name = parts.last().map_or("", |part| part.value.as_str());
                self.known.variables.literal(name)?
            }
            Expr::Value(value) => self.value(value.value)?,
            Expr::Prefixed { prefix, value } if prefix.value.starts_with('_') => *value,
            Expr::Function(function) => functions::translate(function, self.known)?,
            Expr::BinaryOp { left, op, right } => operator(*left, op, *right)?,
            Expr::RLike { negated, expr, pattern, .. } => {
                let op = if negated { Op::PGRegexNotIMatch } else { Op::PGRegexIMatch };
                binary(*expr, op, *pattern)
            }
            Expr::Cast { expr, data_type, .. } => functions::converted(*expr, &data_type)?,
            Expr::Convert { expr, data_type: Some(ty), .. } => functions::converted(*expr, &ty)?,
            Expr::Convert { expr, .. } => *expr,
            Expr::Collate { expr, .. } => *expr,
            Expr::Interval(interval) => amount(interval)?,
            Expr::Extract { field, syntax, expr } => {
                let expr = Box::new(functions::moment(&expr));
                let found = Expr::Extract { field, syntax, expr };
                cast(call("trunc", vec![found]), DataType::BigInt(None))
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let from = substring_from.map_or_else(|| number(1), |it| *it);
                let args = [Some(*expr), Some(from), substring_for.map(|it| *it)];
                functions::substring(args.into_iter().flatten().collect())
            }
            Expr::Ceil { expr, .. } => call("ceil", vec![*expr]),
            Expr::Floor { expr, .. } => call("floor", vec![*expr]),
            Expr::MatchAgainst { .. } => return Err(MysqlError::unsupported("MATCH AGAINST")),
            Expr::JsonAccess { .. } => return Err(MysqlError::unsupported("the operator ->")),
            other => other,
        })
    }

    fn variable(&self, name: &str) -> Result<Expr, MysqlError> {
        if let Some(name) = name.strip_prefix("@@") {
            return self.known.variables.literal(name);
        }
        let found = self.known.user_variables.get(&name[1..].to_lowercase());
        Ok(match found {
            None | Some(UserValue::Null) => null(),
            Some(UserValue::Number(digits)) => number(digits),
            Some(UserValue::Text(value)) => cast(text(value.clone()), DataType::Text),
        })
    }

    fn value(&self, value: Value) -> Result<Expr, MysqlError> {
        Ok(match value {
            Value::DoubleQuotedString(value) | Value::NationalStringLiteral(value) => text(value),
            Value::Boolean(value) => number(u8::from(value)),
            Value::Number(digits, _) if digits.contains(['e', 'E']) => {
                cast(text(digits), DataType::DoublePrecision)
            }
            Value::HexStringLiteral(digits) => hex(&digits)?,
            Value::SingleQuotedByteStringLiteral(bits) => {
                number(i64::from_str_radix(&bits, 2).map_err(|_| MysqlError::syntax(&bits, 1))?)
            }
            Value::Placeholder(name) => self.param(&name)?,
            other => Expr::Value(other.into()),
        })
    }

    fn param(&self, name: &str) -> Result<Expr, MysqlError> {
        let Some(params) = self.known.params else { return Ok(null()) };
        let place: Option<usize> = name.strip_prefix('?').and_then(|digits| digits.parse().ok());
        match place.and_then(|place| params.get(place)) {
            None => Err(MysqlError::syntax("?", 1)),
            Some(Param::Null) => Ok(null()),
            Some(Param::Int(value)) => Ok(number(value)),
            Some(Param::Unsigned(value)) => Ok(number(value)),
            Some(Param::Float(value)) => {
                Ok(cast(text(format!("{value:?}")), DataType::DoublePrecision))
            }
            Some(Param::Text(value)) => Ok(text(value.clone())),
            Some(Param::Bytes(value)) => Ok(bytes(value)),
        }
    }
}

fn hex(digits: &str) -> Result<Expr, MysqlError> {
    let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    let pair = |place: usize| u8::from_str_radix(padded.get(place..place + 2)?, 16).ok();
    let found: Option<Vec<u8>> = (0..padded.len()).step_by(2).map(pair).collect();
    found.map(|found| bytes(&found)).ok_or_else(|| MysqlError::syntax(digits, 1))
}

fn operator(left: Expr, op: Op, right: Expr) -> Result<Expr, MysqlError> {
    let is_amount = |expr: &Expr| matches!(expr, Expr::Interval(_));
    Ok(match op {
        Op::StringConcat => Expr::BinaryOp { left: left.into(), op: Op::Or, right: right.into() },
        Op::Xor => binary(not(left), Op::NotEq, not(right)),
        Op::Spaceship => Expr::IsNotDistinctFrom(nested(left).into(), nested(right).into()),
        Op::MyIntegerDivide => {
            let exact = |expr: Expr| {
                cast(nested(expr), DataType::Numeric(sqlparser::ast::ExactNumberInfo::None))
            };
            let divisor = call("nullif", vec![exact(right), number(0)]);
            cast(call("div", vec![exact(left), divisor]), DataType::BigInt(None))
        }
        Op::BitwiseXor => {
            Expr::BinaryOp { left: left.into(), op: Op::PGBitwiseXor, right: right.into() }
        }
        Op::Arrow | Op::LongArrow => {
            return Err(MysqlError::unsupported(format!("the operator {op}")));
        }
        Op::Regexp => binary(left, Op::PGRegexIMatch, right),
        Op::Plus | Op::Minus if is_amount(&right) && matches!(left, Expr::Value(_)) => {
            binary(functions::moment(&left), op, right)
        }
        op => Expr::BinaryOp { left: left.into(), op, right: right.into() },
    })
}

/// An INTERVAL with its unit.
fn amount(interval: Interval) -> Result<Expr, MysqlError> {
    let unit = match interval.leading_field {
        Some(DateTimeField::Microsecond | DateTimeField::Microseconds) => "microsecond",
        Some(DateTimeField::Second | DateTimeField::Seconds) => "second",
        Some(DateTimeField::Minute | DateTimeField::Minutes) => "minute",
        Some(DateTimeField::Hour | DateTimeField::Hours) => "hour",
        Some(DateTimeField::Day | DateTimeField::Days) => "day",
        Some(DateTimeField::Week(None) | DateTimeField::Weeks) => "week",
        Some(DateTimeField::Month | DateTimeField::Months) => "month",
        Some(DateTimeField::Year | DateTimeField::Years) => "year",
        Some(DateTimeField::Quarter) => "quarter",
        other => {
            let shown = other.map_or(String::new(), |field| field.to_string());
            return Err(MysqlError::unsupported(format!("an INTERVAL of {shown}")));
        }
    };
    let plain = |value: Expr| {
        Expr::Interval(Interval {
            value: Box::new(value),
            leading_field: None,
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        })
    };
    let one = if unit == "quarter" { "3 month".to_owned() } else { format!("1 {unit}") };
    let literal = match interval.value.as_ref() {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => Some(digits.clone()),
            Value::SingleQuotedString(digits) => Some(digits.clone()),
            _ => None,
        },
        _ => None,
    };
    Ok(match literal.filter(|digits| unit != "quarter" && digits.parse::<f64>().is_ok()) {
        Some(digits) => plain(text(format!("{digits} {unit}"))),
        None => {
            let times = cast(nested(*interval.value), DataType::DoublePrecision);
            binary(times, Op::Multiply, plain(text(one)))
        }
    })
}
