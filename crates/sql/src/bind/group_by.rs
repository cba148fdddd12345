//! The list of GROUP BY: what is grouped by, and the grouping sets.

use super::query::{check_ordinal, ordinal, refuse_constant};
use super::{Binder, Clause, fold};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, OutColumn};
use sqlparser::ast::{self, GroupByExpr};

/// What is grouped by, and the grouping sets by places of these; none without GROUP BY.
type GroupBy = (Vec<Expr>, Option<Vec<Vec<usize>>>);

/// The sets of ROLLUP: all, all but the last, and so on.
fn rollup(lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    (0..=lists.len()).rev().map(|count| lists[..count].concat()).collect()
}

/// The sets of CUBE: every choice.
fn cube(lists: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    if lists.len() > 12 {
        let message = "CUBE is limited to 12 elements";
        return Err(SqlError::new(code::TOO_MANY_COLUMNS, message));
    }
    let has = |mask: usize, place: usize| mask & (1 << (lists.len() - 1 - place)) == 0;
    let chosen = |mask: usize| {
        let chosen = (0..lists.len()).filter(|&place| has(mask, place));
        chosen.flat_map(|place| lists[place].clone()).collect()
    };
    Ok((0..1usize << lists.len()).map(chosen).collect())
}

/// Whether a call is CUBE, or ROLLUP: inside of GROUPING SETS both are parsed as functions.
fn rollup_or_cube(function: &ast::Function) -> Option<bool> {
    match function.name.to_string().to_lowercase().as_str() {
        "rollup" => Some(false),
        "cube" => Some(true),
        _ => None,
    }
}

impl Binder<'_> {
    pub(super) fn group_by(
        &mut self,
        group_by: &GroupByExpr,
        columns: &[OutColumn],
        targets: &[Expr],
    ) -> Result<GroupBy> {
        let list = match group_by {
            GroupByExpr::Expressions(list, modifiers) if modifiers.is_empty() => list,
            other => return Err(SqlError::unsupported(other.to_string())),
        };
        if list.is_empty() {
            return Ok((Vec::new(), None));
        }
        let mut keys = Vec::new();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        // Said by a marked name, see `parse/grammar.rs`.
        let is_mark = |ast: &ast::Expr| match ast {
            ast::Expr::Identifier(it) => it.value.strip_prefix(crate::parse::MARK).is_some(),
            _ => false,
        };
        let is_distinct = list.first().is_some_and(is_mark);
        for ast in list.iter().skip(usize::from(is_distinct)) {
            let parts: Vec<Vec<usize>> = match ast {
                ast::Expr::GroupingSets(lists) => {
                    let mut parts = Vec::new();
                    for list in lists {
                        parts.extend(self.grouping_element(list, columns, targets, &mut keys)?);
                    }
                    parts
                }
                ast::Expr::Rollup(lists) => {
                    rollup(&self.key_lists(lists, columns, targets, &mut keys)?)
                }
                ast::Expr::Cube(lists) => {
                    cube(&self.key_lists(lists, columns, targets, &mut keys)?)?
                }
                ast::Expr::Tuple(list) if list.is_empty() => vec![Vec::new()],
                other => vec![vec![self.group_key(other, columns, targets, &mut keys)?]],
            };
            let joined = sets.iter().flat_map(|set| {
                parts.iter().map(move |part| set.iter().chain(part).copied().collect())
            });
            sets = joined.collect();
            if sets.len() > 4096 {
                return Err(SqlError::new(
                    code::STATEMENT_TOO_COMPLEX,
                    "too many grouping sets present (maximum 4096)",
                ));
            }
        }
        for set in &mut sets {
            set.sort_unstable();
            set.dedup();
        }
        if is_distinct {
            let mut kept: Vec<Vec<usize>> = Vec::new();
            for set in sets {
                if !kept.contains(&set) {
                    kept.push(set);
                }
            }
            sets = kept;
        }
        Ok((keys, Some(sets)))
    }

    /// One element of GROUPING SETS, which may be ROLLUP or CUBE again.
    fn grouping_element(
        &mut self,
        list: &[ast::Expr],
        columns: &[OutColumn],
        targets: &[Expr],
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<Vec<usize>>> {
        if let [ast::Expr::Function(function)] = list
            && let Some(is_cube) = rollup_or_cube(function)
        {
            let written = super::call::written(function)?;
            let items = written.args.iter().map(|&ast| match ast {
                ast::Expr::Tuple(inner) => inner.clone(),
                other => vec![other.clone()],
            });
            let lists: Vec<Vec<ast::Expr>> = items.collect();
            let lists = self.key_lists(&lists, columns, targets, keys)?;
            return if is_cube { cube(&lists) } else { Ok(rollup(&lists)) };
        }
        let mut set = Vec::new();
        for ast in list {
            match ast {
                ast::Expr::Tuple(inner) => {
                    for ast in inner {
                        set.push(self.group_key(ast, columns, targets, keys)?);
                    }
                }
                other => set.push(self.group_key(other, columns, targets, keys)?),
            }
        }
        Ok(vec![set])
    }

    fn key_lists(
        &mut self,
        lists: &[Vec<ast::Expr>],
        columns: &[OutColumn],
        targets: &[Expr],
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<Vec<usize>>> {
        let mut all = Vec::new();
        for list in lists {
            let mut places = Vec::new();
            for ast in list {
                places.push(self.group_key(ast, columns, targets, keys)?);
            }
            all.push(places);
        }
        Ok(all)
    }

    fn group_key(
        &mut self,
        ast: &ast::Expr,
        columns: &[OutColumn],
        targets: &[Expr],
        keys: &mut Vec<Expr>,
    ) -> Result<usize> {
        refuse_constant(ast, "GROUP BY").map_err(|error| error.at(self.place_of(ast)))?;
        let expr = if let Some(place) = ordinal(ast) {
            let place = check_ordinal(place, columns.len(), "GROUP BY");
            targets[place.map_err(|error| error.at(self.place_of(ast)))?].clone()
        } else if let ast::Expr::Identifier(ident) = ast
            && self.find_own_column(&fold(ident))?.is_none()
            && let Some(place) = columns.iter().position(|it| *it.name == *fold(ident))
        {
            targets[place].clone()
        } else {
            self.in_clause(Clause::GroupBy, |it| it.expr(ast))?
        };
        if expr
            .any(|it, level| matches!(it.kind, ExprKind::Aggregate { depth, .. } if depth == level))
        {
            return Err(SqlError::new(
                code::GROUPING_ERROR,
                "aggregate functions are not allowed in GROUP BY",
            ));
        }
        if expr.any(|it, level| level == 0 && matches!(it.kind, ExprKind::Window(_))) {
            let message = "window functions are not allowed in GROUP BY";
            return Err(SqlError::new(code::WINDOWING_ERROR, message));
        }
        let expr = self.resolve_unknown(expr)?;
        self.need_equality(expr.ty)?;
        Ok(keys.iter().position(|key| *key == expr).unwrap_or_else(|| {
            keys.push(expr);
            keys.len() - 1
        }))
    }

    /// A column of this query by its name, not one further out.
    fn find_own_column(&mut self, name: &str) -> Result<Option<Expr>> {
        let found = self.level().visible.iter().find(|it| *it.name == *name);
        Ok(found.map(|it| it.expr.clone()))
    }
}
