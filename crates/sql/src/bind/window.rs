//! Window functions: OVER and WINDOW.

use super::aggregate::sort_key;
use super::call::Written;
use super::{Binder, Clause, fold};
use crate::catalog::builtin::CastContext;
use crate::error::{Result, SqlError, code};
use crate::functions;
use crate::ir::{
    Expr, ExprKind, Frame, FrameBound, FrameExclusion, FrameUnit, FunctionCall, SortKey, WindowCall,
};
use crate::types::Oid;
use sqlparser::ast::{self, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType};

impl Binder<'_> {
    pub(super) fn window_call(
        &mut self,
        name: &str,
        function: &ast::Function,
        written: &Written<'_>,
        over: &WindowType,
    ) -> Result<Expr> {
        let clause = self.level().clause;
        if !matches!(clause, Clause::Targets | Clause::OrderBy) {
            return Err(SqlError::new(
                code::WINDOWING_ERROR,
                format!(
                    "window functions are not allowed in {}",
                    super::aggregate::clause_name(clause)
                ),
            ));
        }
        if written.distinct {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "DISTINCT is not implemented for window functions",
            ));
        }
        if self.level().in_aggregate {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                "aggregate function calls cannot contain window function calls",
            ));
        }
        if !written.order_by.is_empty() {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "aggregate ORDER BY is not implemented for window functions",
            ));
        }
        let (spec, exclusion) = self.window_spec_and_exclusion(over)?;
        let mut args = Vec::new();
        for ast in &written.args {
            args.push(self.expr(ast)?);
        }
        if args.iter().any(has_window) {
            return Err(windowing("window function calls cannot be nested"));
        }
        if super::expr::refuse_sets(&args, "").is_err() {
            let message = "window function calls cannot contain set-returning function calls";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        let (function_call, args, ty) = self.window_function(name, written, args)?;
        if function.filter.is_some() && matches!(function_call, FunctionCall::Window(_)) {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "FILTER is not implemented for non-aggregate window functions",
            ));
        }
        let filter = match &function.filter {
            Some(filter) => Some(self.condition(filter, "FILTER")?),
            None => None,
        };
        let partition = self.exprs(&spec.partition_by)?;
        let mut order = Vec::new();
        for key in &spec.order_by {
            let expr = self.expr(&key.expr)?;
            order.push((self.resolve_unknown(expr)?, sort_key(&key.options, 0)?));
        }
        super::expr::refuse_sets(&partition, "window definitions")?;
        let ordered: Vec<Expr> = order.iter().map(|(expr, _)| expr.clone()).collect();
        super::expr::refuse_sets(&ordered, "window definitions")?;
        if partition.iter().chain(order.iter().map(|(expr, _)| expr)).any(has_window) {
            return Err(windowing("window functions are not allowed in window definitions"));
        }
        self.comparable_with_bounds(spec.window_frame.as_ref(), &mut order)?;
        let mut frame = self.frame(spec.window_frame.as_ref(), &order)?;
        frame.exclusion = exclusion;
        self.need_bytes("PARTITION BY", &partition)?;
        for (expr, _) in &mut order {
            *expr = self.sortable(expr.clone())?;
        }
        if matches!(name, "min" | "max") {
            self.need_order_of_bytes(name, &args)?;
        }
        let is_text = crate::catalog::system::type_collation(self.catalog, ty) != Oid::NONE;
        let collation = if is_text { self.collation_of_all(&args)? } else { None };
        let arg_types = args.iter().map(|arg| arg.ty).collect();
        let call = WindowCall {
            function: function_call,
            partition,
            order,
            frame,
            filter,
            ty,
            args,
            arg_types,
        };
        let windows = &mut self.level().windows;
        let place = windows.iter().position(|other| *other == call).unwrap_or_else(|| {
            windows.push(call);
            windows.len() - 1
        });
        let made = Expr { kind: ExprKind::Window(place), ty, typmod: -1 };
        Ok(self.labelled_column(made, collation.as_ref()))
    }

    /// EXCLUDE is a marked key of the order, see `parse/rewrite.rs`.
    fn window_spec_and_exclusion(
        &mut self,
        over: &WindowType,
    ) -> Result<(WindowSpec, FrameExclusion)> {
        let mut over = over.clone();
        let mut own = FrameExclusion::None;
        if let WindowType::WindowSpec(spec) = &mut over {
            own = take_exclusion(spec);
        }
        let mut spec = self.window_spec(&over)?;
        let inherited = take_exclusion(&mut spec);
        Ok((spec, if own == FrameExclusion::None { inherited } else { own }))
    }

    fn window_spec(&mut self, over: &WindowType) -> Result<WindowSpec> {
        let spec = match over {
            WindowType::NamedWindow(name) => return self.named_window(name),
            WindowType::WindowSpec(spec) => spec.clone(),
        };
        let Some(name) = &spec.window_name else { return Ok(spec) };
        let base = self.named_window(name)?;
        let name = fold(name);
        let refused = if !spec.partition_by.is_empty() {
            format!("cannot override PARTITION BY clause of window \"{name}\"")
        } else if !spec.order_by.is_empty() && !base.order_by.is_empty() {
            format!("cannot override ORDER BY clause of window \"{name}\"")
        } else if base.window_frame.is_some() {
            format!("cannot copy window \"{name}\" because it has a frame clause")
        } else {
            String::new()
        };
        if !refused.is_empty() {
            return Err(windowing(&refused));
        }
        Ok(WindowSpec {
            window_name: None,
            partition_by: base.partition_by,
            order_by: if spec.order_by.is_empty() { base.order_by } else { spec.order_by },
            window_frame: spec.window_frame.or(base.window_frame),
        })
    }

    fn named_window(&mut self, ident: &ast::Ident) -> Result<WindowSpec> {
        let name = fold(ident);
        let found = self.level().named_windows.iter().find(|(it, _)| *it == name);
        let spec = found.map(|(_, spec)| spec.clone()).ok_or_else(|| {
            let message = format!("window \"{name}\" does not exist");
            SqlError::new(code::UNDEFINED_OBJECT, message).at(self.position(ident.span))
        })?;
        match &spec.window_name {
            Some(_) => self.window_spec(&WindowType::WindowSpec(spec)),
            None => Ok(spec),
        }
    }

    fn window_function(
        &mut self,
        name: &str,
        written: &Written<'_>,
        args: Vec<Expr>,
    ) -> Result<(FunctionCall, Vec<Expr>, Oid)> {
        let types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let found = self.find_function(name, &types, &[], written.variadic)?;
        let resolved = self.resolve_polymorphic(found.proc, &found.args, &types)?;
        let mut converted = Vec::new();
        for (arg, &ty) in args.into_iter().zip(&resolved.args) {
            let arg = self.coerce(arg, ty, -1, CastContext::Implicit)?;
            converted.push(self.resolve_unknown(arg)?);
        }
        let call = match found.proc.kind {
            b'w' => FunctionCall::Window(found.proc.source),
            b'a' => {
                let types: Vec<Oid> = converted.iter().map(|arg| arg.ty).collect();
                let kind = functions::aggregate(name, &types)
                    .ok_or_else(|| SqlError::unsupported(format!("aggregate {name}")))?;
                FunctionCall::Aggregate(kind)
            }
            _ => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!(
                        "OVER specified, but {name} is not a window function nor an aggregate \
                         function"
                    ),
                ));
            }
        };
        Ok((call, converted, resolved.result))
    }

    fn frame(
        &mut self,
        frame: Option<&ast::WindowFrame>,
        order: &[(Expr, SortKey)],
    ) -> Result<Frame> {
        let Some(frame) = frame else {
            return Ok(Frame {
                unit: FrameUnit::Range,
                start: FrameBound::UnboundedPreceding,
                end: FrameBound::CurrentRow,
                exclusion: FrameExclusion::None,
            });
        };
        let unit = match frame.units {
            WindowFrameUnits::Rows => FrameUnit::Rows,
            WindowFrameUnits::Range => FrameUnit::Range,
            WindowFrameUnits::Groups => FrameUnit::Groups,
        };
        if unit == FrameUnit::Groups && order.is_empty() {
            return Err(windowing("GROUPS mode requires an ORDER BY clause"));
        }
        let start = self.frame_bound(&frame.start_bound, unit, order)?;
        let end = match &frame.end_bound {
            Some(bound) => self.frame_bound(bound, unit, order)?,
            None => FrameBound::CurrentRow,
        };
        check_bounds(&start, &end)?;
        Ok(Frame { unit, start, end, exclusion: FrameExclusion::None })
    }

    fn frame_bound(
        &mut self,
        bound: &WindowFrameBound,
        unit: FrameUnit,
        order: &[(Expr, SortKey)],
    ) -> Result<FrameBound> {
        Ok(match bound {
            WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            WindowFrameBound::Preceding(Some(offset)) => {
                FrameBound::Preceding(self.frame_offset(offset, unit, order, false)?)
            }
            WindowFrameBound::Following(Some(offset)) => {
                FrameBound::Following(self.frame_offset(offset, unit, order, true)?)
            }
        })
    }

    fn frame_offset(
        &mut self,
        offset: &ast::Expr,
        unit: FrameUnit,
        order: &[(Expr, SortKey)],
        following: bool,
    ) -> Result<Expr> {
        let is_span = order.first().is_some_and(|(key, _)| offset_type(key.ty) == Oid::INTERVAL);
        // The parser takes every literal in this place for an interval.
        let offset = match offset {
            ast::Expr::Interval(interval) if !is_span => &*interval.value,
            other => other,
        };
        let offset = self.expr(offset)?;
        let varies = offset
            .any(|it, level| matches!(it.kind, ExprKind::Column { depth, .. } if depth == level));
        if varies {
            let name = match unit {
                FrameUnit::Rows => "ROWS",
                FrameUnit::Range => "RANGE",
                FrameUnit::Groups => "GROUPS",
            };
            let message = format!("argument of {name} must not contain variables");
            return Err(SqlError::new(code::INVALID_COLUMN_REFERENCE, message));
        }
        if unit != FrameUnit::Range {
            return self.coerce(offset, Oid::INT8, -1, CastContext::Implicit);
        }
        let [(key, direction)] = order else {
            return Err(SqlError::new(
                code::WINDOWING_ERROR,
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
            ));
        };
        let offset = match (offset.ty, offset_type(key.ty)) {
            (Oid::UNKNOWN, ty) => self.coerce(offset, ty, -1, CastContext::Implicit)?,
            _ => offset,
        };
        let placeholder = Expr { kind: ExprKind::Placeholder, ty: key.ty, typmod: -1 };
        let op = if following != direction.descending { "+" } else { "-" };
        self.operator_call(op, Some(placeholder), offset).map_err(|_| {
            let name = self.type_name(key.ty);
            let message = format!(
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {name}"
            );
            SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
        })
    }

    /// A bound of RANGE may have another type than what is ordered by: a date and an interval give
    /// a timestamp. Then rows are ordered by that type, in which they can be compared with it.
    fn comparable_with_bounds(
        &mut self,
        frame: Option<&ast::WindowFrame>,
        order: &mut [(Expr, SortKey)],
    ) -> Result<()> {
        let Some(frame) = frame.filter(|it| it.units == WindowFrameUnits::Range) else {
            return Ok(());
        };
        for bound in std::iter::once(&frame.start_bound).chain(&frame.end_bound) {
            let bound = self.frame_bound(bound, FrameUnit::Range, order)?;
            let (FrameBound::Preceding(value) | FrameBound::Following(value)) = bound else {
                continue;
            };
            if let [(key, _)] = &mut *order
                && key.ty != value.ty
            {
                *key = self.coerce(key.clone(), value.ty, -1, CastContext::Implicit)?;
            }
        }
        Ok(())
    }
}

fn take_exclusion(spec: &mut WindowSpec) -> FrameExclusion {
    let Some(ast::OrderByExpr { expr: ast::Expr::Identifier(ident), .. }) = spec.order_by.last()
    else {
        return FrameExclusion::None;
    };
    let exclusion = match ident.value.strip_prefix(crate::parse::MARK) {
        Some("exclude current") => FrameExclusion::CurrentRow,
        Some("exclude group") => FrameExclusion::Group,
        Some("exclude ties") => FrameExclusion::Ties,
        _ => return FrameExclusion::None,
    };
    spec.order_by.pop();
    exclusion
}

/// A window function that was called like another one.
pub(super) fn needs_over(name: &str) -> SqlError {
    let message = format!("window function {name} requires an OVER clause");
    SqlError::new(code::WRONG_OBJECT_TYPE, message)
}

fn has_window(expr: &Expr) -> bool {
    expr.any(|it, _| matches!(it.kind, ExprKind::Window(_)))
}

fn windowing(message: &str) -> SqlError {
    SqlError::new(code::WINDOWING_ERROR, message)
}

/// What an offset without a type is, for a key of this type.
fn offset_type(key: Oid) -> Oid {
    match key {
        Oid::DATE | Oid::TIME | Oid::TIMETZ | Oid::TIMESTAMP | Oid::TIMESTAMPTZ | Oid::INTERVAL => {
            Oid::INTERVAL
        }
        Oid::FLOAT4 => Oid::FLOAT8,
        other => other,
    }
}

fn check_bounds(start: &FrameBound, end: &FrameBound) -> Result<()> {
    let message = match (start, end) {
        (FrameBound::UnboundedFollowing, _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, FrameBound::UnboundedPreceding) => "frame end cannot be UNBOUNDED PRECEDING",
        (FrameBound::CurrentRow, FrameBound::Preceding(_)) => {
            "frame starting from current row cannot have preceding rows"
        }
        (FrameBound::Following(_), FrameBound::Preceding(_) | FrameBound::CurrentRow) => {
            "frame starting from following row cannot have preceding rows"
        }
        _ => return Ok(()),
    };
    Err(SqlError::new(code::WINDOWING_ERROR, message))
}
