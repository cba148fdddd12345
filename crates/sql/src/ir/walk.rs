//! Going over all expressions of an expression or query.
//!
//! Every query inside of another one is one level further in, so that a column of the query that
//! the walk began at has, at `level` levels in, the depth `level`.

use super::expr::{Expr, ExprKind, SubscriptPart};
use super::query::{
    Body, ConflictAction, FrameBound, From, FromFunction, InsertSource, MergeAction, Modify,
    ModifyKind, Query, Select,
};

/// Is told of each expression before those inside of it; false keeps the walk out of these.
pub type Visit<'v> = dyn FnMut(&mut Expr, u32) -> bool + 'v;

impl Expr {
    /// Goes over this expression and all inside of it.
    pub fn walk(&mut self, level: u32, visit: &mut Visit<'_>) {
        if !visit(self, level) {
            return;
        }
        self.walk_children(level, visit);
    }

    fn walk_children(&mut self, level: u32, visit: &mut Visit<'_>) {
        let mut all = |list: &mut Vec<Expr>| list.iter_mut().for_each(|it| it.walk(level, visit));
        match &mut self.kind {
            ExprKind::Call { args, .. }
            | ExprKind::And(args)
            | ExprKind::Or(args)
            | ExprKind::Coalesce(args)
            | ExprKind::Extreme { args, .. }
            | ExprKind::Array { elements: args, .. }
            | ExprKind::Row { fields: args, .. }
            | ExprKind::Grouping(args) => all(args),
            ExprKind::Relabel(arg)
            | ExprKind::Collated { arg, .. }
            | ExprKind::ThroughText(arg)
            | ExprKind::Typmod { arg, .. }
            | ExprKind::CheckDomain(arg)
            | ExprKind::Not(arg)
            | ExprKind::IsNull(arg)
            | ExprKind::IsNotNull(arg)
            | ExprKind::BoolTest(arg, _)
            | ExprKind::Field { base: arg, .. }
            | ExprKind::ArrayCast { array: arg, .. }
            | ExprKind::RowCast { row: arg, .. } => arg.walk(level, visit),
            ExprKind::IsDistinct { equal, left, right } => {
                equal.walk(level, visit);
                left.walk(level, visit);
                right.walk(level, visit);
            }
            ExprKind::NullIf { equal, value } => {
                equal.walk(level, visit);
                value.walk(level, visit);
            }
            ExprKind::Case { operand, arms, otherwise } => {
                operand.iter_mut().for_each(|it| it.walk(level, visit));
                for (condition, result) in arms {
                    condition.walk(level, visit);
                    result.walk(level, visit);
                }
                otherwise.walk(level, visit);
            }
            ExprKind::Scalar(sub) | ExprKind::Exists(sub) | ExprKind::ArrayOf(sub) => {
                sub.query.walk(level + 1, visit);
            }
            ExprKind::QuantifiedQuery { left, query, .. } => {
                all(left);
                query.query.walk(level + 1, visit);
            }
            ExprKind::QuantifiedArray { left, array, .. } => {
                left.walk(level, visit);
                array.walk(level, visit);
            }
            ExprKind::Subscript { base, parts } => {
                base.walk(level, visit);
                parts.iter_mut().for_each(|it| it.walk(level, visit));
            }
            ExprKind::SetElement { base, parts, value } => {
                base.walk(level, visit);
                parts.iter_mut().for_each(|it| it.walk(level, visit));
                value.walk(level, visit);
            }
            ExprKind::SetField { base, value, .. } => {
                base.walk(level, visit);
                value.walk(level, visit);
            }
            ExprKind::Const(_)
            | ExprKind::Param(_)
            | ExprKind::Column { .. }
            | ExprKind::Placeholder
            | ExprKind::WholeRow { .. }
            | ExprKind::Aggregate { .. }
            | ExprKind::Window(_)
            | ExprKind::SetReturning(_)
            | ExprKind::NextValue(_)
            | ExprKind::Default => {}
        }
    }

    /// Whether something is so for this expression or one inside of it.
    pub fn any(&self, mut is_so: impl FnMut(&Expr, u32) -> bool) -> bool {
        let mut found = false;
        // The walk is for changes, too; looking is rare enough for a copy.
        self.clone().walk(0, &mut |expr, level| {
            found = found || is_so(expr, level);
            !found
        });
        found
    }

    /// Whether each evaluation may give another value.
    pub fn is_volatile(&self) -> bool {
        self.any(|expr, _| match &expr.kind {
            ExprKind::Call { callee, .. } => callee.proc.volatility == b'v',
            ExprKind::NextValue(_) => true,
            _ => false,
        })
    }

    /// Whether its value is the same wherever and whenever it is asked for.
    pub fn is_known(&self) -> bool {
        !self.any(|expr, level| level > 0 || !expr.is_known_by_parts())
    }

    /// Whether its value is known if those of its parts are.
    pub fn is_known_by_parts(&self) -> bool {
        match &self.kind {
            ExprKind::Call { callee, .. } => callee.proc.volatility == b'i',
            ExprKind::Const(_)
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::Coalesce(_)
            | ExprKind::NullIf { .. }
            | ExprKind::Extreme { .. }
            | ExprKind::IsNull(_)
            | ExprKind::IsNotNull(_)
            | ExprKind::BoolTest(..)
            | ExprKind::IsDistinct { .. }
            | ExprKind::Array { .. }
            | ExprKind::Collated { .. }
            | ExprKind::Relabel(_)
            | ExprKind::Typmod { .. } => true,
            ExprKind::QuantifiedArray { test, .. } => is_immutable(test),
            ExprKind::Case { operand, .. } => operand.is_none(),
            _ => false,
        }
    }

    /// Whether there is a query inside of it.
    pub fn has_query(&self) -> bool {
        self.any(|expr, level| {
            let kind = &expr.kind;
            level > 0
                || matches!(kind, ExprKind::Scalar(_) | ExprKind::Exists(_) | ExprKind::ArrayOf(_))
                || matches!(kind, ExprKind::QuantifiedQuery { .. })
        })
    }
}

/// Whether a comparison is a function whose value depends on its arguments alone.
fn is_immutable(test: &Expr) -> bool {
    matches!(&test.kind, ExprKind::Call { callee, .. } if callee.proc.volatility == b'i')
}

impl SubscriptPart {
    fn walk(&mut self, level: u32, visit: &mut Visit<'_>) {
        match self {
            SubscriptPart::Index(index) => index.walk(level, visit),
            SubscriptPart::Slice(from, to) => {
                from.iter_mut().chain(to).for_each(|it| it.walk(level, visit));
            }
        }
    }
}

impl Query {
    /// Goes over all expressions of this query; `level` is the one of its own expressions.
    pub fn walk(&mut self, level: u32, visit: &mut Visit<'_>) {
        for cte in &mut self.ctes {
            cte.query.walk(level + 1, visit);
            cte.recursive.iter_mut().for_each(|(query, _)| query.walk(level + 1, visit));
        }
        match &mut self.body {
            Body::Select(select) => select.walk(level, visit),
            Body::SetOp { left, right, .. } => {
                left.walk(level + 1, visit);
                right.walk(level + 1, visit);
            }
            Body::Values(rows) => {
                rows.iter_mut().flatten().for_each(|it| it.walk(level, visit));
            }
            Body::Modify(modify) => modify.walk(level, visit),
        }
        self.limit.iter_mut().chain(&mut self.offset).for_each(|it| it.walk(level, visit));
    }
}

impl Select {
    fn walk(&mut self, level: u32, visit: &mut Visit<'_>) {
        self.from.iter_mut().for_each(|from| from.walk(level, visit));
        self.filter.iter_mut().for_each(|it| it.walk(level, visit));
        if let Some(grouping) = &mut self.grouping {
            grouping.keys.iter_mut().for_each(|it| it.walk(level, visit));
            grouping.dependent.iter_mut().for_each(|it| it.walk(level, visit));
            let sets = grouping.expanded.iter_mut();
            sets.flat_map(|call| &mut call.args).for_each(|it| it.walk(level, visit));
            for call in &mut grouping.aggregates {
                call.direct.iter_mut().for_each(|it| it.walk(level, visit));
                call.args.iter_mut().for_each(|it| it.walk(level, visit));
                call.order.iter_mut().for_each(|(it, _)| it.walk(level, visit));
                call.filter.iter_mut().for_each(|it| it.walk(level, visit));
            }
        }
        self.having.iter_mut().for_each(|it| it.walk(level, visit));
        for call in &mut self.windows {
            call.args.iter_mut().for_each(|it| it.walk(level, visit));
            call.partition.iter_mut().for_each(|it| it.walk(level, visit));
            call.order.iter_mut().for_each(|(it, _)| it.walk(level, visit));
            call.filter.iter_mut().for_each(|it| it.walk(level, visit));
            for bound in [&mut call.frame.start, &mut call.frame.end] {
                if let FrameBound::Preceding(it) | FrameBound::Following(it) = bound {
                    it.walk(level, visit);
                }
            }
        }
        for call in &mut self.sets {
            call.args.iter_mut().for_each(|it| it.walk(level, visit));
        }
        self.targets.iter_mut().for_each(|it| it.walk(level, visit));
    }
}

impl From {
    /// Goes over the expressions of a part of FROM.
    pub fn walk(&mut self, level: u32, visit: &mut Visit<'_>) {
        match self {
            From::Table(_) | From::System { .. } | From::Cte { .. } => {}
            From::Query { query, .. } => query.walk(level + 1, visit),
            From::Functions { functions, .. } => {
                for function in functions {
                    match function {
                        FromFunction::Set(call) => {
                            call.args.iter_mut().for_each(|it| it.walk(level, visit));
                        }
                        FromFunction::Scalar(expr, _) => expr.walk(level, visit),
                    }
                }
            }
            From::Join { left, right, on, .. } => {
                left.walk(level, visit);
                right.walk(level, visit);
                on.iter_mut().for_each(|it| it.walk(level, visit));
            }
        }
    }
}

impl Modify {
    fn walk(&mut self, level: u32, visit: &mut Visit<'_>) {
        match &mut self.kind {
            ModifyKind::Insert { source, defaults, on_conflict, .. } => {
                if let InsertSource::Query(query) = source {
                    query.walk(level + 1, visit);
                }
                defaults.iter_mut().for_each(|(_, it)| it.walk(level, visit));
                if let Some(conflict) = on_conflict
                    && let ConflictAction::Update { set, filter } = &mut conflict.action
                {
                    set.iter_mut().for_each(|it| it.value.walk(level, visit));
                    filter.iter_mut().for_each(|it| it.walk(level, visit));
                }
            }
            ModifyKind::Update { from, filter, set } => {
                from.iter_mut().for_each(|it| it.walk(level, visit));
                filter.iter_mut().for_each(|it| it.walk(level, visit));
                set.iter_mut().for_each(|it| it.value.walk(level, visit));
            }
            ModifyKind::Delete { from, filter } => {
                from.iter_mut().for_each(|it| it.walk(level, visit));
                filter.iter_mut().for_each(|it| it.walk(level, visit));
            }
            ModifyKind::Merge { source, on, arms } => {
                source.walk(level, visit);
                on.walk(level, visit);
                for arm in arms {
                    arm.condition.iter_mut().for_each(|it| it.walk(level, visit));
                    match &mut arm.action {
                        MergeAction::Update(set) => {
                            set.iter_mut().for_each(|it| it.value.walk(level, visit));
                        }
                        MergeAction::Insert(values) => {
                            values.iter_mut().for_each(|(_, it)| it.walk(level, visit));
                        }
                        MergeAction::Nothing | MergeAction::Delete => {}
                    }
                }
            }
        }
        self.order.iter_mut().for_each(|(it, _)| it.walk(level, visit));
        self.limit.iter_mut().for_each(|it| it.walk(level, visit));
        self.returning.iter_mut().for_each(|it| it.walk(level, visit));
        self.checks.iter_mut().for_each(|(_, it)| it.walk(level, visit));
    }
}
