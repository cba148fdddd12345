//! `rank(…) WITHIN GROUP (ORDER BY …)` and its kin: where a row would stand among those of a group.
//! They are written out as counts of the rows that come before it, which is their definition.

use super::Binder;
use super::call::Written;
use crate::error::{Result, SqlError, code};
use crate::ir::Expr;
use sqlparser::ast::{self, Expr as Ast};
use std::ops::ControlFlow;

/// What is asked of the place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

/// The function of this name, if it is one of these when it has WITHIN GROUP.
pub(super) fn place_of(name: &str) -> Option<Place> {
    Some(match name {
        "rank" => Place::Rank,
        "dense_rank" => Place::DenseRank,
        "percent_rank" => Place::PercentRank,
        "cume_dist" => Place::CumeDist,
        _ => return None,
    })
}

/// The key of a number in a template, and the value of the row that is asked for.
fn key(number: usize) -> String {
    format!("key{}{number}", crate::parse::MARK)
}

fn asked(number: usize) -> String {
    format!("asked{}{number}", crate::parse::MARK)
}

/// Whether the key of a number comes before the value that is asked for.
fn comes_before(number: usize, order: &ast::OrderByExpr) -> Result<String> {
    let sort = super::aggregate::sort_key(&order.options, 0)?;
    let (key, asked) = (key(number), asked(number));
    let sign = if sort.descending { '>' } else { '<' };
    let (first, last) = if sort.nulls_first { (&key, &asked) } else { (&asked, &key) };
    Ok(format!(
        "((\"{key}\" {sign} \"{asked}\") IS TRUE \
         OR \"{first}\" IS NULL AND \"{last}\" IS NOT NULL)"
    ))
}

/// Whether a row comes before the one that is asked for, and whether it is like it.
fn conditions(orders: &[ast::OrderByExpr]) -> Result<(String, String)> {
    let alike =
        |number: usize| format!("\"{}\" IS NOT DISTINCT FROM \"{}\"", key(number), asked(number));
    let mut before = "false".to_owned();
    for (number, order) in orders.iter().enumerate().rev() {
        before = format!("({} OR {} AND {before})", comes_before(number, order)?, alike(number));
    }
    let alike: Vec<String> = (0..orders.len()).map(alike).collect();
    Ok((before, format!("({})", alike.join(" AND "))))
}

fn template(place: Place, orders: &[ast::OrderByExpr]) -> Result<String> {
    let (before, alike) = conditions(orders)?;
    let keys: Vec<String> = (0..orders.len()).map(|it| format!("\"{}\"", key(it))).collect();
    let made = match place {
        Place::Rank => format!("count(*) FILTER (WHERE {before}) + 1"),
        Place::DenseRank => {
            format!("count(DISTINCT ROW({})) FILTER (WHERE {before}) + 1", keys.join(", "))
        }
        Place::PercentRank => format!(
            "coalesce(count(*) FILTER (WHERE {before}) / nullif(count(*), 0)::float8, 0::float8)"
        ),
        Place::CumeDist => {
            format!("(count(*) FILTER (WHERE {before} OR {alike}) + 1) / (count(*) + 1)::float8")
        }
    };
    // What is asked for is one for all rows: named outside of aggregates, too, it must be grouped
    // by.
    let nulls: Vec<String> =
        (0..orders.len()).map(|it| format!("\"{}\" IS NULL", asked(it))).collect();
    Ok(format!("{made} + CASE WHEN {} THEN 0 ELSE 0 END", nulls.join(" OR ")))
}

impl Binder<'_> {
    pub(super) fn hypothetical(
        &mut self,
        place: Place,
        name: &str,
        function: &ast::Function,
        written: &Written<'_>,
    ) -> Result<Expr> {
        let orders = &function.within_group;
        if orders.len() != written.args.len() {
            let message = format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct \
                 arguments (here {}) must match the number of ordering columns (here {}).",
                written.args.len(),
                orders.len()
            );
            let types: Vec<String> = self.types_shown(written, orders)?;
            let shown = format!("function {name}({}) does not exist", types.join(", "));
            return Err(SqlError::new(code::UNDEFINED_FUNCTION, shown).hint(&message));
        }
        let mut made = crate::parse::expression(&template(place, orders)?)?;
        // First, so that only the counts of the template are met.
        if let Some(filter) = &function.filter {
            narrow(&mut made, filter);
        }
        for (number, (order, value)) in orders.iter().zip(&written.args).enumerate() {
            replace(&mut made, &key(number), &order.expr);
            replace(&mut made, &asked(number), value);
        }
        self.expr(&made)
    }

    fn types_shown(
        &mut self,
        written: &Written<'_>,
        orders: &[ast::OrderByExpr],
    ) -> Result<Vec<String>> {
        let all = written.args.iter().copied().chain(orders.iter().map(|order| &order.expr));
        let mut shown = Vec::new();
        for ast in all {
            let ty = self.expr(ast)?.ty;
            shown.push(self.type_name(ty));
        }
        Ok(shown)
    }
}

/// Puts an expression where a template has its name.
fn replace(made: &mut Ast, name: &str, by: &Ast) {
    let _: ControlFlow<()> = ast::visit_expressions_mut(made, |expr| {
        if matches!(expr, Ast::Identifier(ident) if ident.value == name) {
            *expr = Ast::Nested(Box::new(by.clone()));
        }
        ControlFlow::Continue(())
    });
}

/// Lets all counts of a template look only at rows for which a condition is true.
fn narrow(made: &mut Ast, filter: &Ast) {
    let _: ControlFlow<()> = ast::visit_expressions_mut(made, |expr| {
        if let Ast::Function(function) = expr
            && function.name.to_string() == "count"
        {
            let own = function.filter.take();
            let filter = Box::new(Ast::Nested(Box::new(filter.clone())));
            function.filter = Some(match own {
                None => filter,
                Some(own) => Box::new(Ast::BinaryOp {
                    left: filter,
                    op: ast::BinaryOperator::And,
                    right: Box::new(Ast::Nested(own)),
                }),
            });
        }
        ControlFlow::Continue(())
    });
}
