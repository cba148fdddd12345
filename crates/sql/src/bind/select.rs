//! SELECT: results, windows, order.

use super::aggregate::sort_key;
use super::column_names::column_name;
use super::grouping::{self, Refused, Regroup, grouping};
use super::query::{Unknowns, check_ordinal, ordinal, refuse_constant};
use super::{Binder, Clause, fold};
use crate::error::{Result, SqlError, code};
use crate::ir::{
    Body, Collated, Distinct, Expr, ExprKind, From, Grouping, JoinKind, OutColumn, Query, Select,
    SetCall, SortKey,
};
use crate::types::Oid;
use sqlparser::ast::{self, NamedWindowExpr, SelectItem};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn select(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderByExpr],
        unknowns: Unknowns,
    ) -> Result<Query> {
        refuse(select)?;
        let from = self.bind_from(&select.from)?;
        for definition in &select.named_window {
            let spec = match &definition.1 {
                NamedWindowExpr::WindowSpec(spec) => spec.clone(),
                NamedWindowExpr::NamedWindow(name) => ast::WindowSpec {
                    window_name: Some(name.clone()),
                    partition_by: Vec::new(),
                    order_by: Vec::new(),
                    window_frame: None,
                },
            };
            let name = fold(&definition.0);
            if self.level().named_windows.iter().any(|(other, _)| *other == name) {
                let message = format!("window \"{name}\" is already defined");
                let position = self.position(definition.0.span);
                return Err(SqlError::new(code::WINDOWING_ERROR, message).at(position));
            }
            self.level().named_windows.push((name, spec));
        }
        let (mut columns, mut targets) = self.targets(&select.projection, unknowns)?;
        // As in PostgreSQL after the results: the first error is the one that is told.
        let filter = match &select.selection {
            Some(filter) => {
                Some(self.in_clause(Clause::Where, |it| it.condition(filter, "WHERE"))?)
            }
            None => None,
        };
        let having = match &select.having {
            Some(having) => {
                Some(self.in_clause(Clause::Having, |it| it.condition(having, "HAVING"))?)
            }
            None => None,
        };
        let (keys, sets) = self.group_by(&select.group_by, &columns, &targets)?;
        let shown = targets.len();
        self.need_bytes("GROUP BY", &keys)?;
        if select.distinct.is_some() {
            self.need_bytes("DISTINCT", &targets)?;
        }
        let distinct_on = match &select.distinct {
            Some(ast::Distinct::On(list)) => {
                let places = self.distinct_on(list, &columns, &mut targets)?;
                let on: Vec<Expr> = places.iter().map(|&place| targets[place].clone()).collect();
                self.need_order_of_bytes("DISTINCT ON", &on)?;
                Some(places)
            }
            _ => None,
        };
        let is_distinct = matches!(select.distinct, Some(ast::Distinct::Distinct));
        let mut sort = self.sort(order_by, &columns, &mut targets, is_distinct.then_some(shown))?;
        let distinct = match distinct_on {
            Some(places) => {
                if let Some(place) = unmatched(&places, &sort)
                    && let Some(ast::Distinct::On(list)) = &select.distinct
                {
                    let message =
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
                    let error = SqlError::new(code::INVALID_COLUMN_REFERENCE, message);
                    return Err(error.at(self.place_of(&list[place])));
                }
                sort_alike(&places, &mut sort);
                Distinct::On(places)
            }
            None if is_distinct => Distinct::All,
            None => Distinct::No,
        };
        let is_grouped = sets.is_some() || having.is_some() || !self.level().aggregates.is_empty();
        let mut bound = Select {
            width: self.level().width,
            from,
            filter,
            grouping: None,
            having,
            windows: std::mem::take(&mut self.level().windows),
            sets: std::mem::take(&mut self.level().sets),
            targets,
            distinct,
        };
        let is_grouping = |it: &Expr| it.any(|it, _| matches!(it.kind, ExprKind::Grouping(_)));
        if !is_grouped && bound.targets.iter().any(is_grouping) {
            return Err(super::grouping::not_grouped_by());
        }
        if is_grouped {
            self.regroup(&mut bound, keys, sets.unwrap_or_else(|| vec![Vec::new()]))?;
        }
        place_windows(&mut bound);
        for (column, target) in columns.iter_mut().zip(&bound.targets) {
            (column.ty, column.typmod) = (target.ty, target.typmod);
        }
        let body = Body::Select(Box::new(bound));
        Ok(Query { body, sort, ..Query::values(Vec::new(), columns) })
    }

    /// FROM a, b, …
    pub(super) fn bind_from(&mut self, list: &[ast::TableWithJoins]) -> Result<Option<From>> {
        let mut all: Option<From> = None;
        for item in list {
            let next = self.table_with_joins(item)?;
            all = Some(match all {
                Some(left) => From::Join {
                    kind: JoinKind::Inner,
                    left: Box::new(left),
                    right: Box::new(next),
                    on: None,
                },
                None => next,
            });
        }
        Ok(all)
    }

    /// The list of results.
    pub(super) fn targets(
        &mut self,
        items: &[SelectItem],
        unknowns: Unknowns,
    ) -> Result<(Vec<OutColumn>, Vec<Expr>)> {
        let (mut columns, mut targets) = (Vec::new(), Vec::new());
        let mut add = |name: Arc<str>, expr: Expr, origin: Option<(Oid, u16)>| {
            let (ty, typmod) = (expr.ty, expr.typmod);
            columns.push(OutColumn { name, ty, typmod, origin, collation: None });
            targets.push(expr);
        };
        for item in items {
            match item {
                SelectItem::Wildcard(star) => {
                    let span = star.wildcard_token.0.span;
                    let all = self.star(None).map_err(|error| error.at(self.position(span)))?;
                    self.note_star(None, star, &all);
                    for it in all {
                        self.note_star_at(&it.expr, span);
                        add(it.name, it.expr, it.origin);
                    }
                }
                SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                    star,
                ) => {
                    let first = name.0.first().and_then(|it| it.as_ident());
                    let span = first.map_or(star.wildcard_token.0.span, |it| it.span);
                    let all = self.star(Some(name));
                    let all = all.map_err(|error| error.at(self.position(span)))?;
                    self.note_star(Some(name), star, &all);
                    for it in all {
                        self.note_star_at(&it.expr, span);
                        add(it.name, it.expr, it.origin);
                    }
                }
                SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::Expr(ast),
                    _,
                ) => {
                    let base = self.in_clause(Clause::Targets, |it| it.expr(ast))?;
                    for (name, expr) in self.all_fields(base)? {
                        add(name, expr, None);
                    }
                }
                SelectItem::UnnamedExpr(ast) if let Some(row) = super::call::marked_fields(ast) => {
                    let base = self.in_clause(Clause::Targets, |it| it.expr(row))?;
                    for (name, expr) in self.all_fields(base)? {
                        add(name, expr, None);
                    }
                }
                SelectItem::UnnamedExpr(ast) | SelectItem::ExprWithAlias { expr: ast, .. } => {
                    let noted = self.noted();
                    let expr = self.in_clause(Clause::Targets, |it| it.expr(ast))?;
                    if matches!(item, SelectItem::UnnamedExpr(_)) {
                        self.note_result(ast, noted);
                    }
                    let expr = match unknowns {
                        Unknowns::Resolve => self.resolve_unknown(expr)?,
                        Unknowns::Keep => expr,
                    };
                    let name = match item {
                        SelectItem::ExprWithAlias { alias, .. } => fold(alias),
                        _ => column_name(ast).unwrap_or_else(|| "?column?".to_owned()),
                    };
                    let origin = self.origin(&expr);
                    add(name.into(), expr, origin);
                }
                SelectItem::ExprWithAliases { .. } => {
                    return Err(SqlError::unsupported(item.to_string()));
                }
            }
        }
        for (column, target) in columns.iter_mut().zip(&targets) {
            column.collation = self.collation_of(target)?;
        }
        Ok((columns, targets))
    }

    pub(super) fn all_fields(&mut self, base: Expr) -> Result<Vec<(Arc<str>, Expr)>> {
        let names: Vec<Arc<str>> = match &base.kind {
            ExprKind::Row { names, .. } | ExprKind::WholeRow { names, .. } => names.clone(),
            _ => match self.catalog.kind(self.catalog.base_type(base.ty)) {
                Some(crate::types::TypeKind::Composite(fields)) => {
                    fields.iter().map(|field| Arc::clone(&field.name)).collect()
                }
                _ => match &base.kind {
                    ExprKind::Call { callee, .. } => super::call::output_columns(callee.proc)
                        .into_iter()
                        .map(|(name, _)| name.into())
                        .collect(),
                    ExprKind::SetReturning(place) => {
                        let proc = self.level().sets[*place].callee.proc;
                        let columns = super::call::output_columns(proc);
                        columns.into_iter().map(|(name, _)| name.into()).collect()
                    }
                    _ => Vec::new(),
                },
            },
        };
        if names.is_empty() {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("type {} is not composite", self.type_name(base.ty)),
            ));
        }
        let fields = names.into_iter();
        fields.map(|name| Ok((name.clone(), self.field(base.clone(), &name)?))).collect()
    }

    /// The column of a table that an expression is.
    fn origin(&mut self, expr: &Expr) -> Option<(Oid, u16)> {
        let place = &expr.kind;
        let column = match place {
            ExprKind::Collated { arg, by: Collated::Implicit, .. } => &arg.kind,
            kind => kind,
        };
        let ExprKind::Column { depth: 0, .. } = column else { return None };
        let is_it = |it: &&super::Visible| it.expr.kind == *place;
        self.level().visible.iter().find(is_it).and_then(|it| it.origin)
    }

    /// ORDER BY: results by name or place, or any expression.
    fn sort(
        &mut self,
        order_by: &[ast::OrderByExpr],
        columns: &[OutColumn],
        targets: &mut Vec<Expr>,
        distinct: Option<usize>,
    ) -> Result<Vec<SortKey>> {
        let mut keys: Vec<SortKey> = Vec::new();
        for key in order_by {
            let place = self.result_place(&key.expr, columns, targets, "ORDER BY")?;
            if distinct.is_some_and(|shown| place >= shown) {
                let message =
                    "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                let error = SqlError::new(code::INVALID_COLUMN_REFERENCE, message);
                return Err(error.at(self.place_of(&key.expr)));
            }
            let sortable = self.sortable(targets[place].clone())?;
            let place = match sortable == targets[place] {
                true => place,
                false => {
                    targets.push(sortable);
                    targets.len() - 1
                }
            };
            let key = sort_key(&key.options, place)?;
            if !keys.iter().any(|other| other.column == key.column) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    fn distinct_on(
        &mut self,
        list: &[ast::Expr],
        columns: &[OutColumn],
        targets: &mut Vec<Expr>,
    ) -> Result<Vec<usize>> {
        list.iter()
            .map(|ast| self.result_place(ast, columns, targets, "SELECT DISTINCT ON"))
            .collect()
    }

    /// The place of an expression among the results, where it is put if it is not there.
    fn result_place(
        &mut self,
        ast: &ast::Expr,
        columns: &[OutColumn],
        targets: &mut Vec<Expr>,
        what: &str,
    ) -> Result<usize> {
        let clause = what.strip_prefix("SELECT ").unwrap_or(what);
        refuse_constant(ast, clause).map_err(|error| error.at(self.place_of(ast)))?;
        if let Some(place) = ordinal(ast) {
            let checked = check_ordinal(place, columns.len(), clause);
            return checked.map_err(|error| error.at(self.place_of(ast)));
        }
        if let ast::Expr::Identifier(ident) = super::expr::strip(ast) {
            let name = fold(ident);
            let mut matching =
                columns.iter().enumerate().filter(|(_, column)| *column.name == *name);
            if let Some((place, _)) = matching.next() {
                let same = |(other, _): (usize, &OutColumn)| targets[other] == targets[place];
                if !matching.all(same) {
                    let message = format!("{what} \"{name}\" is ambiguous");
                    let position = self.position(ident.span);
                    return Err(SqlError::new(code::AMBIGUOUS_COLUMN, message).at(position));
                }
                return Ok(place);
            }
        }
        let expr = self.in_clause(Clause::OrderBy, |it| it.expr(ast))?;
        let expr = self.resolve_unknown(expr)?;
        Ok(targets.iter().position(|target| *target == expr).unwrap_or_else(|| {
            targets.push(expr);
            targets.len() - 1
        }))
    }

    /// Lets everything behind grouping refer to the row after it.
    fn regroup(
        &mut self,
        select: &mut Select,
        keys: Vec<Expr>,
        sets: Vec<Vec<usize>>,
    ) -> Result<()> {
        let aggregates = std::mem::take(&mut self.level().aggregates);
        let named_at = std::mem::take(&mut self.level().named_at);
        let mut regroup = Regroup {
            keys: &keys,
            aggregates: aggregates.len(),
            dependent: Vec::new(),
            determined: self.determined(&keys),
            names: self.column_names(),
            named_at,
            refused: None,
        };
        let behind = select.targets.iter_mut().chain(&mut select.having);
        let windows = select.windows.iter_mut().flat_map(|call| {
            let order = call.order.iter_mut().map(|(it, _)| it);
            call.args.iter_mut().chain(&mut call.partition).chain(order).chain(&mut call.filter)
        });
        let rewritten = behind.chain(windows).try_for_each(|it| regroup.rewrite(it));
        rewritten.map_err(|refused| refused.error(|span| self.position(span)))?;
        let early = grouping::sets_in(keys.iter(), &select.sets);
        let expanded = early.iter().map(|&place| select.sets[place].clone()).collect();
        let kept = regroup_sets(select, &early, &mut regroup);
        let kept = kept.map_err(|refused| refused.error(|span| self.position(span)))?;
        keep_sets(select, &kept);
        for call in &aggregates {
            // What is not grouped by is an error of its own.
            for direct in &call.direct {
                let mut grouped = direct.clone();
                let done = regroup.rewrite(&mut grouped);
                done.map_err(|refused| refused.error(|span| self.position(span)))?;
                if grouped != *direct || !regroup.dependent.is_empty() && has_column(direct) {
                    return Err(SqlError::unsupported("a direct argument that is no constant"));
                }
            }
        }
        let dependent = regroup.dependent;
        let start = std::mem::replace(
            &mut select.width,
            keys.len() + aggregates.len() + 1 + dependent.len(),
        );
        let mut made = grouping(keys, sets, aggregates, dependent);
        expand_before(&mut made, expanded, start, &early);
        select.grouping = Some(made);
        Ok(())
    }
}

/// Lets the arguments of sets refer to the row after grouping, of those that are looked at there:
/// which these are. Those that only keys were made of have become columns.
fn regroup_sets(
    select: &mut Select,
    early: &BTreeSet<usize>,
    regroup: &mut Regroup<'_>,
) -> std::result::Result<BTreeSet<usize>, Refused> {
    let behind = select.targets.iter().chain(&select.having);
    let mut open: Vec<usize> = behind.flat_map(grouping::own_sets).collect();
    open.extend((0..select.sets.len()).filter(|place| !early.contains(place)));
    let mut kept = BTreeSet::new();
    while let Some(place) = open.pop() {
        if kept.insert(place) {
            for arg in &mut select.sets[place].args {
                regroup.rewrite(arg)?;
                open.extend(grouping::own_sets(arg));
            }
        }
    }
    Ok(kept)
}

/// Leaves out the other sets, so that those that are kept have other numbers.
fn keep_sets(select: &mut Select, kept: &BTreeSet<usize>) {
    let renamed =
        |place: usize| kept.iter().position(|&it| it == place).map(ExprKind::SetReturning);
    let mut sets: Vec<SetCall> = kept.iter().map(|&place| select.sets[place].clone()).collect();
    let args = sets.iter_mut().flat_map(|call| &mut call.args);
    let all = select.targets.iter_mut().chain(&mut select.having).chain(args);
    all.for_each(|it| grouping::rename_sets(it, &renamed));
    select.sets = sets;
}

/// Keys that are made of sets look at their results, which stand behind the row of FROM.
fn expand_before(
    made: &mut Grouping,
    expanded: Vec<SetCall>,
    start: usize,
    early: &BTreeSet<usize>,
) {
    made.expanded = expanded;
    made.start = start;
    let column = |place: usize| {
        let number = early.iter().position(|&it| it == place)?;
        Some(ExprKind::Column { depth: 0, index: start + number })
    };
    let args = made.expanded.iter_mut().flat_map(|call| &mut call.args);
    made.keys.iter_mut().chain(args).for_each(|it| grouping::rename_sets(it, &column));
}

fn has_column(expr: &Expr) -> bool {
    expr.any(|it, level| matches!(it.kind, ExprKind::Column { depth, .. } if depth == level))
}

/// A SELECT without FROM.
pub(super) fn results(targets: Vec<Expr>, sets: Vec<SetCall>) -> Body {
    let mut select = Select {
        width: 0,
        from: None,
        filter: None,
        grouping: None,
        having: None,
        windows: Vec::new(),
        sets,
        targets,
        distinct: Distinct::No,
    };
    place_windows(&mut select);
    Body::Select(Box::new(select))
}

/// Results of window functions and sets stand behind the other columns of the row.
fn place_windows(select: &mut Select) {
    let (width, windows) = (select.width, select.windows.len());
    let mut place = |expr: &mut Expr| {
        expr.walk(0, &mut |expr, level| {
            let index = match expr.kind {
                ExprKind::Window(index) if level == 0 => width + index,
                ExprKind::SetReturning(index) if level == 0 => width + windows + index,
                _ => return true,
            };
            expr.kind = ExprKind::Column { depth: 0, index };
            false
        });
    };
    select.targets.iter_mut().for_each(&mut place);
    for call in &mut select.sets {
        call.args.iter_mut().for_each(&mut place);
    }
}

/// Rows that DISTINCT ON takes for alike come together, in their order.
fn sort_alike(places: &[usize], sort: &mut Vec<SortKey>) {
    for &column in places {
        if !sort.iter().any(|key| key.column == column) {
            sort.push(SortKey { column, descending: false, nulls_first: false });
        }
    }
}

/// The first expression of DISTINCT ON that the order does not begin with, although it goes on.
fn unmatched(places: &[usize], sort: &[SortKey]) -> Option<usize> {
    let leading: Vec<usize> = sort.iter().map(|key| key.column).collect();
    let leading = &leading[..leading.iter().take_while(|it| places.contains(it)).count()];
    let is_cut = leading.len() < sort.len() && leading.len() < places.len();
    places.iter().position(|place| is_cut && !leading.contains(place))
}

/// What is parsed but means nothing to PostgreSQL.
fn refuse(select: &ast::Select) -> Result<()> {
    let refused = [
        (select.top.is_some(), "TOP"),
        (select.into.is_some(), "SELECT INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.qualify.is_some(), "QUALIFY"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
    ];
    match refused.into_iter().find(|(is_there, _)| *is_there) {
        Some((_, what)) => Err(SqlError::unsupported(what)),
        None => Ok(()),
    }
}
