//! GROUP BY: what is grouped by, and expressions over the row that is there after grouping.
//!
//! The row after grouping has the grouping expressions, the aggregates, columns that depend on the
//! grouping expressions, and a number whose bits say which expressions are not in the grouping set.

use super::Binder;
use crate::error::{SqlError, code};
use crate::ir::{AggCall, Expr, ExprKind, Grouping, SetCall};
use crate::types::Oid;
use sqlparser::tokenizer::Span;
use std::collections::BTreeSet;

/// Rewrites expressions over the row of FROM to the row after grouping.
pub(super) struct Regroup<'g> {
    pub keys: &'g [Expr],
    pub aggregates: usize,
    pub dependent: Vec<Expr>,
    /// The tables whose primary key is among the keys: where each begins and ends in the row.
    pub determined: Vec<(usize, usize)>,
    /// The names of columns, for messages, and where they are named.
    pub names: Vec<(usize, String)>,
    pub named_at: Vec<(usize, Span)>,
    pub refused: Option<Refused>,
}

/// Why something cannot stand behind grouping, and where it is named.
pub(super) struct Refused(SqlError, Option<Span>);

impl Refused {
    /// As an error, by what says where a place is in the text.
    pub fn error(self, position: impl Fn(Span) -> u32) -> SqlError {
        self.0.at(self.1.map_or(0, position))
    }
}

impl Regroup<'_> {
    pub fn rewrite(&mut self, expr: &mut Expr) -> std::result::Result<(), Refused> {
        expr.walk(0, &mut |expr, level| self.visit(expr, level));
        self.refused.take().map_or(Ok(()), Err)
    }

    fn visit(&mut self, expr: &mut Expr, level: u32) -> bool {
        if let ExprKind::Grouping(args) = &expr.kind {
            let places: Option<Vec<usize>> =
                args.iter().map(|arg| self.keys.iter().position(|key| key == arg)).collect();
            match places {
                Some(places) => {
                    let bits = self.keys.len() + self.aggregates;
                    expr.kind = ExprKind::Grouping(
                        places
                            .into_iter()
                            .map(|place| Expr::column(place, Oid::INT4, bits as i32))
                            .collect(),
                    );
                }
                None => self.refused = Some(Refused(not_grouped_by(), None)),
            }
            return false;
        }
        if let Some(place) = self.key_place(expr, level) {
            expr.kind = ExprKind::Column { depth: level, index: place };
            return false;
        }
        match &expr.kind {
            ExprKind::Aggregate { depth, index } if *depth == level => {
                expr.kind = ExprKind::Column { depth: level, index: self.keys.len() + index };
                false
            }
            ExprKind::Column { depth, index } if *depth == level => {
                let index = *index;
                self.dependent_column(expr, level, index);
                false
            }
            ExprKind::WholeRow { depth, columns, names, types, .. } if *depth == level => {
                let fields = columns.iter().zip(types);
                let mut fields: Vec<Expr> = fields
                    .map(|(&index, &ty)| Expr {
                        kind: ExprKind::Column { depth: level, index },
                        ty,
                        typmod: -1,
                    })
                    .collect();
                let names = names.clone();
                for field in &mut fields {
                    self.visit(field, level);
                }
                expr.kind = ExprKind::Row { fields, names };
                false
            }
            _ => self.refused.is_none(),
        }
    }

    fn key_place(&self, expr: &Expr, level: u32) -> Option<usize> {
        if level == 0 {
            return self.keys.iter().position(|key| key == expr);
        }
        // From inside of a subquery the same expression has other depths.
        self.keys.iter().position(|key| {
            let mut shifted = key.clone();
            super::names::shift_depth(&mut shifted, level);
            shifted == *expr
        })
    }

    fn dependent_column(&mut self, expr: &mut Expr, level: u32, index: usize) {
        let is_determined =
            self.determined.iter().any(|&(start, end)| (start..end).contains(&index));
        if !is_determined {
            let name = self.names.iter().find(|(place, _)| *place == index);
            let name = name.map_or("?", |(_, name)| name.as_str());
            let place = if level == 0 {
                format!(
                    "column \"{name}\" must appear in the GROUP BY clause or be used in an \
                     aggregate function"
                )
            } else {
                format!("subquery uses ungrouped column \"{name}\" from outer query")
            };
            let at = self.named_at.iter().find(|(named, _)| *named == index);
            let error = SqlError::new(code::GROUPING_ERROR, place);
            self.refused.get_or_insert(Refused(error, at.map(|(_, span)| *span)));
            return;
        }
        let column = Expr::column(index, expr.ty, expr.typmod);
        let place = self.dependent.iter().position(|it| *it == column).unwrap_or_else(|| {
            self.dependent.push(column);
            self.dependent.len() - 1
        });
        let index = self.keys.len() + self.aggregates + 1 + place;
        expr.kind = ExprKind::Column { depth: level, index };
    }
}

impl Binder<'_> {
    /// The tables that the keys determine, because their primary key is among them.
    pub(super) fn determined(&mut self, keys: &[Expr]) -> Vec<(usize, usize)> {
        let items = self.level().items.clone();
        let is_key = |index: usize| {
            keys.iter().any(
                |key| matches!(key.kind, ExprKind::Column { depth: 0, index: it } if it == index),
            )
        };
        items
            .iter()
            .filter_map(|item| {
                let table = self.catalog.table(item.table?)?;
                let (columns, _) = table.primary_key()?;
                let all = columns.iter().all(|&column| is_key(item.start + column as usize - 1));
                all.then_some((item.start, item.start + table.columns.len() + 1))
            })
            .collect()
    }

    /// The names of all columns, for messages.
    pub(super) fn column_names(&mut self) -> Vec<(usize, String)> {
        let mut names = Vec::new();
        for item in &self.level().items {
            for column in &item.columns {
                if let ExprKind::Column { depth: 0, index } = column.expr.kind {
                    names.push((index, format!("{}.{}", item.name, column.name)));
                }
            }
        }
        names
    }
}

/// GROUPING of something that is not grouped by.
pub(super) fn not_grouped_by() -> SqlError {
    let message =
        "arguments to GROUPING must be grouping expressions of the associated query level";
    SqlError::new(code::GROUPING_ERROR, message)
}

/// The grouping of a query.
pub(super) fn grouping(
    keys: Vec<Expr>,
    sets: Vec<Vec<usize>>,
    aggregates: Vec<AggCall>,
    dependent: Vec<Expr>,
) -> Grouping {
    Grouping { keys, sets, aggregates, dependent, expanded: Vec::new(), start: 0 }
}

/// The sets that are in expressions, and in the arguments of those, by their places.
pub(super) fn sets_in<'e>(
    exprs: impl Iterator<Item = &'e Expr>,
    sets: &[SetCall],
) -> BTreeSet<usize> {
    let mut found: BTreeSet<usize> = exprs.flat_map(own_sets).collect();
    // The sets inside of a set come before it.
    for place in (0..sets.len()).rev() {
        if found.contains(&place) {
            found.extend(sets[place].args.iter().flat_map(own_sets));
        }
    }
    found
}

/// The sets that an expression looks at itself.
pub(super) fn own_sets(expr: &Expr) -> Vec<usize> {
    let mut found = Vec::new();
    expr.any(|it, level| {
        if let ExprKind::SetReturning(place) = it.kind
            && level == 0
        {
            found.push(place);
        }
        false
    });
    found
}

/// Gives sets other names: `of` says what stands for each.
pub(super) fn rename_sets(expr: &mut Expr, of: &dyn Fn(usize) -> Option<ExprKind>) {
    expr.walk(0, &mut |expr, level| {
        if let ExprKind::SetReturning(place) = expr.kind
            && level == 0
            && let Some(kind) = of(place)
        {
            expr.kind = kind;
        }
        true
    });
}
