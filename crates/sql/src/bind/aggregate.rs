//! Aggregates and window functions.

use super::call::Written;
use super::{Binder, Clause};
use crate::catalog::builtin::{CastContext, Proc, builtin};
use crate::catalog::system;
use crate::error::{Result, SqlError, code};
use crate::functions;
use crate::ir::{AggCall, CallKind, Callee, Expr, ExprKind, SortKey};
use crate::types::Oid;
use sqlparser::ast;

/// What a clause is called in messages.
pub(super) fn clause_name(clause: Clause) -> &'static str {
    match clause {
        Clause::Where => "WHERE",
        Clause::On => "JOIN conditions",
        Clause::GroupBy => "GROUP BY",
        Clause::Having => "HAVING",
        Clause::Set => "UPDATE",
        Clause::Values => "VALUES",
        Clause::Returning => "RETURNING",
        Clause::Limit => "LIMIT",
        Clause::Check => "check constraints",
        Clause::Default => "DEFAULT expressions",
        Clause::Generated => "column generation expressions",
        Clause::IndexExpr => "index expressions",
        Clause::From => "functions in FROM",
        Clause::Targets | Clause::OrderBy | Clause::Other => "this place",
    }
}

impl Binder<'_> {
    pub(super) fn is_aggregate(&self, name: &str) -> bool {
        builtin().procs_named(name).any(|proc| proc.kind == b'a')
    }

    pub(super) fn aggregate_or_window(
        &mut self,
        name: &str,
        function: &ast::Function,
        written: Written<'_>,
    ) -> Result<Expr> {
        if let Some(over) = &function.over {
            return self.window_call(name, function, &written, over);
        }
        if let Some(place) = super::hypothetical::place_of(name)
            && !function.within_group.is_empty()
        {
            return self.hypothetical(place, name, function, &written);
        }
        let clause = self.level().clause;
        if !matches!(clause, Clause::Targets | Clause::Having | Clause::OrderBy | Clause::Other)
            && !self.has_outer_level()
        {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                format!("aggregate functions are not allowed in {}", clause_name(clause)),
            ));
        }
        if std::mem::replace(&mut self.level().in_aggregate, true) {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                "aggregate function calls cannot be nested",
            ));
        }
        let call = self.aggregate_call(name, function, &written);
        self.level().in_aggregate = false;
        let mut call = call?;
        let collation =
            self.collate_aggregate(name, &mut call, !function.within_group.is_empty())?;
        let scale = call.args.first().map_or(0, super::mysql::scale_of);
        let made = self.place_aggregate(call, clause)?;
        let made = self.labelled_column(made, collation.as_ref());
        match name {
            "avg" if self.is_mysql() => self.mysql_average(made, scale),
            _ => Ok(made),
        }
    }

    /// What an aggregate does with collations: it sorts by keys, and its result has that of its
    /// arguments.
    fn collate_aggregate(
        &mut self,
        name: &str,
        call: &mut AggCall,
        is_ordered_set: bool,
    ) -> Result<Option<std::sync::Arc<crate::types::Collation>>> {
        if is_ordered_set || matches!(name, "min" | "max") {
            self.need_order_of_bytes(name, &call.args)?;
        }
        if call.distinct {
            self.need_bytes("DISTINCT", &call.args)?;
        }
        for (expr, _) in &mut call.order {
            *expr = self.sortable(expr.clone())?;
        }
        let is_text = system::type_collation(self.catalog, call.ty) != Oid::NONE;
        if is_text { self.collation_of_all(&call.args) } else { Ok(None) }
    }

    fn has_outer_level(&self) -> bool {
        self.levels.len() > 1
    }

    /// An aggregate belongs to the innermost query whose columns it is over.
    fn place_aggregate(&mut self, mut call: AggCall, clause: Clause) -> Result<Expr> {
        let (mut columns, mut aggregates): (Option<u32>, Option<u32>) = (None, None);
        let mut look = |expr: &mut Expr, level: u32| {
            let (least, depth) = match &expr.kind {
                ExprKind::Column { depth, .. } | ExprKind::WholeRow { depth, .. } => {
                    (&mut columns, *depth)
                }
                ExprKind::Aggregate { depth, .. } => (&mut aggregates, *depth),
                _ => return true,
            };
            if let Some(depth) = depth.checked_sub(level) {
                *least = Some(least.map_or(depth, |it| it.min(depth)));
            }
            true
        };
        for_each_expr(&mut call, &mut |expr| expr.walk(0, &mut look));
        // An aggregate of a query further in or out may be an argument, not one of the same.
        let depth = columns.into_iter().chain(aggregates).min().unwrap_or(0);
        let own = self.levels.len() - 1 - depth as usize;
        if aggregates == Some(depth) || depth > 0 && self.levels[own].in_aggregate {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                "aggregate function calls cannot be nested",
            ));
        }
        // The clause of the query that the aggregate belongs to is what counts.
        let clause = if depth == 0 { clause } else { self.levels[own].clause };
        if matches!(clause, Clause::Where | Clause::GroupBy | Clause::On | Clause::From) {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                format!("aggregate functions are not allowed in {}", clause_name(clause)),
            ));
        }
        if depth > 0 {
            for_each_expr(&mut call, &mut |expr| {
                expr.walk(0, &mut |expr, level| {
                    if let ExprKind::Column { depth: it, .. }
                    | ExprKind::WholeRow { depth: it, .. }
                    | ExprKind::Aggregate { depth: it, .. } = &mut expr.kind
                        && *it >= level
                    {
                        *it -= depth;
                    }
                    true
                });
            });
        }
        let ty = call.ty;
        if depth > 0 {
            self.levels[own].looked_at = true;
        }
        let aggregates = &mut self.levels[own].aggregates;
        let index = aggregates.iter().position(|other| *other == call).unwrap_or_else(|| {
            aggregates.push(call);
            aggregates.len() - 1
        });
        Ok(Expr { kind: ExprKind::Aggregate { depth, index }, ty, typmod: -1 })
    }

    fn aggregate_call(
        &mut self,
        name: &str,
        function: &ast::Function,
        written: &Written<'_>,
    ) -> Result<AggCall> {
        let mut args = Vec::new();
        for ast in &written.args {
            let arg = self.expr(ast)?;
            args.push(if self.is_mysql() { self.mysql_argument(name, arg)? } else { arg });
        }
        let mut order = Vec::new();
        for key in written.order_by {
            let expr = self.expr(&key.expr)?;
            let expr = self.resolve_unknown(expr)?;
            order.push((expr, sort_key(&key.options, 0)?));
        }
        let within = &function.within_group;
        let direct = if within.is_empty() { Vec::new() } else { std::mem::take(&mut args) };
        for key in within {
            let expr = self.expr(&key.expr)?;
            let expr = self.resolve_unknown(expr)?;
            args.push(expr.clone());
            order.push((expr, sort_key(&key.options, 0)?));
        }
        let filter = match &function.filter {
            Some(filter) => Some(self.condition(filter, "FILTER")?),
            None => None,
        };
        let (proc, args, direct, ty) = self.find_aggregate(name, written, args, direct)?;
        let arg_types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let direct_types = direct.iter().map(|expr| expr.ty);
        let declared: Vec<Oid> = direct_types.chain(arg_types.iter().copied()).collect();
        let kind = functions::aggregate(name, &declared)
            .ok_or_else(|| SqlError::unsupported(format!("aggregate {name}")))?;
        if written.distinct && !order.is_empty() {
            let is_arg = |(expr, _): &(Expr, SortKey)| args.contains(expr);
            if !order.iter().all(is_arg) {
                return Err(SqlError::new(
                    code::INVALID_COLUMN_REFERENCE,
                    "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument \
                     list",
                ));
            }
        }
        Ok(AggCall {
            proc: Callee { proc, run: CallKind::Session },
            kind,
            direct,
            args,
            distinct: written.distinct,
            order,
            filter,
            ty,
            arg_types,
        })
    }

    /// The aggregate, with its arguments converted: (function, arguments, direct ones, result).
    fn find_aggregate(
        &mut self,
        name: &str,
        written: &Written<'_>,
        args: Vec<Expr>,
        direct: Vec<Expr>,
    ) -> Result<(&'static Proc, Vec<Expr>, Vec<Expr>, Oid)> {
        let all: Vec<Expr> = direct.iter().chain(&args).cloned().collect();
        let types: Vec<Oid> = all.iter().map(|arg| arg.ty).collect();
        if written.star && name != "count" {
            return Err(SqlError::new(
                code::UNDEFINED_FUNCTION,
                format!("function {name}() does not exist"),
            ));
        }
        if !written.star && all.is_empty() && name == "count" {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                "count(*) must be used to call a parameterless aggregate function",
            ));
        }
        let found = self.find_function(name, &types, &[], written.variadic)?;
        if found.proc.kind == b'w' {
            return Err(super::window::needs_over(name));
        }
        if found.proc.kind != b'a' {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("{name} is not an aggregate function"),
            ));
        }
        let resolved = self.resolve_polymorphic(found.proc, &found.args, &types)?;
        let mut converted = Vec::new();
        for (arg, &ty) in all.into_iter().zip(&resolved.args) {
            let arg = self.coerce(arg, ty, -1, CastContext::Implicit)?;
            converted.push(self.resolve_unknown(arg)?);
        }
        let args = converted.split_off(direct.len());
        Ok((found.proc, args, converted, resolved.result))
    }
}

fn for_each_expr(call: &mut AggCall, visit: &mut dyn FnMut(&mut Expr)) {
    call.args.iter_mut().for_each(&mut *visit);
    call.direct.iter_mut().for_each(&mut *visit);
    call.order.iter_mut().for_each(|(expr, _)| visit(expr));
    call.filter.iter_mut().for_each(visit);
}

/// The direction of a key of an order.
pub(super) fn sort_key(options: &ast::OrderByOptions, column: usize) -> Result<SortKey> {
    let descending = match &options.sort {
        None | Some(ast::OrderBySort::Asc) => false,
        Some(ast::OrderBySort::Desc) => true,
        Some(ast::OrderBySort::Using(operator)) => match operator.to_string().as_str() {
            "<" => false,
            ">" => true,
            other => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("operator {other} is not a valid ordering operator"),
                ));
            }
        },
    };
    Ok(SortKey { column, descending, nulls_first: options.nulls_first.unwrap_or(descending) })
}
