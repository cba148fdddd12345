//! Joins in FROM: which names each side has, ON and USING.

use super::{Binder, Clause, Item, Visible, fold, split_name};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, From, JoinKind};
use crate::types::Oid;
use sqlparser::ast::{self, JoinConstraint, JoinOperator};

/// What can be named at a level.
type Names = (Vec<Item>, Vec<Visible>);

impl Binder<'_> {
    /// A table with what is joined to it.
    pub(super) fn table_with_joins(&mut self, ast: &ast::TableWithJoins) -> Result<From> {
        self.nested(|binder| binder.joins(ast))
    }

    fn joins(&mut self, ast: &ast::TableWithJoins) -> Result<From> {
        // What stands before it in FROM is seen by LATERAL, but not by ON.
        let before: Names = self.names();
        let mut from = self.table_factor(&ast.relation)?;
        for join in &ast.joins {
            let left = self.names_behind(&before);
            let right = self.table_factor(&join.relation)?;
            from = self.join(&before, left, from, right, &join.join_operator)?;
        }
        Ok(from)
    }

    fn names(&mut self) -> Names {
        let level = self.level();
        (level.items.clone(), level.visible.clone())
    }

    fn set_names(&mut self, names: Names) {
        let level = self.level();
        (level.items, level.visible) = names;
    }

    /// What can be named now and could not be before.
    fn names_behind(&mut self, before: &Names) -> Names {
        let level = self.level();
        (level.items[before.0.len()..].to_vec(), level.visible[before.1.len()..].to_vec())
    }

    fn join(
        &mut self,
        before: &Names,
        left_names: Names,
        left: From,
        right: From,
        operator: &JoinOperator,
    ) -> Result<From> {
        let (kind, constraint) = match operator {
            JoinOperator::Join(it) | JoinOperator::Inner(it) => (JoinKind::Inner, it),
            JoinOperator::Left(it) | JoinOperator::LeftOuter(it) => (JoinKind::Left, it),
            JoinOperator::Right(it) | JoinOperator::RightOuter(it) => (JoinKind::Right, it),
            JoinOperator::FullOuter(it) => (JoinKind::Full, it),
            JoinOperator::CrossJoin(_) => (JoinKind::Inner, &JoinConstraint::None),
            other => return Err(SqlError::unsupported(format!("the join {other:?}"))),
        };
        if matches!(constraint, JoinConstraint::None)
            && !matches!(operator, JoinOperator::CrossJoin(_))
        {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at end of input"));
        }
        let both = self.names_behind(before);
        let right_names: Names =
            (both.0[left_names.0.len()..].to_vec(), both.1[left_names.1.len()..].to_vec());
        let mut merged = None;
        let (on, visible) = match constraint {
            JoinConstraint::None => (None, both.1.clone()),
            JoinConstraint::On(ast) => {
                let all = self.names();
                self.set_names(both.clone());
                let on = self.in_clause(Clause::On, |it| it.condition(ast, "JOIN/ON"));
                self.set_names(all);
                (Some(on?), both.1.clone())
            }
            JoinConstraint::Using(names) => {
                let mut columns = Vec::new();
                for name in names {
                    columns.push(split_name(name)?.1);
                }
                // A name for the merged columns is marked, see `parse/grammar.rs`.
                let alias = columns.last().and_then(|it| it.strip_prefix(crate::parse::MARK));
                let alias = alias.and_then(|it| it.strip_prefix("as ")).map(str::to_owned);
                if alias.is_some() {
                    columns.pop();
                }
                let made = self.using(kind, &columns, &left_names.1, &right_names.1)?;
                if let Some(alias) = alias {
                    merged = Some(Item {
                        schema: None,
                        name: alias.into(),
                        columns: made.1[..columns.len()].to_vec(),
                        row_type: Oid::NONE,
                        start: before.1.len(),
                        table: None,
                        lock_only: false,
                    });
                }
                made
            }
            JoinConstraint::Natural => {
                let shown = |it: &&Visible| !it.system;
                let is_common = |it: &&Visible| {
                    right_names.1.iter().filter(shown).any(|other| other.name == it.name)
                };
                let left_shown = left_names.1.iter().filter(shown);
                let columns: Vec<String> =
                    left_shown.filter(is_common).map(|it| it.name.to_string()).collect();
                self.using(kind, &columns, &left_names.1, &right_names.1)?
            }
        };
        let mut names = before.clone();
        names.0.extend(both.0);
        names.0.extend(merged);
        names.1.extend(visible);
        self.set_names(names);
        Ok(From::Join { kind, left: Box::new(left), right: Box::new(right), on })
    }

    /// USING: the condition, and what is visible: the common columns once, then the others.
    fn using(
        &mut self,
        kind: JoinKind,
        names: &[String],
        left: &[Visible],
        right: &[Visible],
    ) -> Result<(Option<Expr>, Vec<Visible>)> {
        let mut on: Option<Expr> = None;
        let mut merged = Vec::new();
        for name in names {
            let (one, other) = (side(left, name, "left")?, side(right, name, "right")?);
            let equal = self.operator_call("=", Some(one.expr.clone()), other.expr.clone())?;
            on = Some(match on {
                Some(on) => super::expr::join_logic(on, equal, true),
                None => equal,
            });
            let exprs = vec![one.expr.clone(), other.expr.clone()];
            let (mut exprs, ty) = self.unify(exprs, "JOIN/USING")?;
            let expr = match kind {
                JoinKind::Inner | JoinKind::Left => exprs.swap_remove(0),
                JoinKind::Right => exprs.swap_remove(1),
                JoinKind::Full => Expr { kind: ExprKind::Coalesce(exprs), ty, typmod: -1 },
            };
            let origin = if kind == JoinKind::Right { other.origin } else { one.origin };
            merged.push(Visible { name: one.name.clone(), expr, origin, system: false });
        }
        let is_merged = |it: &&Visible| it.system || !names.iter().any(|name| *it.name == **name);
        let rest = left.iter().chain(right).filter(is_merged).cloned();
        let visible = merged.into_iter().chain(rest).collect();
        Ok((on, visible))
    }

    pub(super) fn nested_join(
        &mut self,
        inner: &ast::TableWithJoins,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let before = self.names();
        let from = self.table_with_joins(inner)?;
        let Some(alias) = alias else { return Ok(from) };
        // With an alias the parts inside can no longer be named.
        let (items, visible) = self.names_behind(&before);
        let mut columns: Vec<Visible> = visible.into_iter().filter(|it| !it.system).collect();
        rename_visible(&mut columns, alias)?;
        let start = items.first().map_or(0, |item| item.start);
        let mut names = before;
        names.0.extend(items.into_iter().map(|item| Item { lock_only: true, ..item }));
        names.1.extend(columns.iter().cloned());
        names.0.push(Item {
            schema: None,
            name: fold(&alias.name).into(),
            columns,
            row_type: Oid::NONE,
            start,
            table: None,
            lock_only: false,
        });
        self.set_names(names);
        Ok(from)
    }
}

fn side<'v>(visible: &'v [Visible], name: &str, which: &str) -> Result<&'v Visible> {
    let mut matching = visible.iter().filter(|it| !it.system && *it.name == *name);
    let found = matching.next().ok_or_else(|| {
        SqlError::new(
            code::UNDEFINED_COLUMN,
            format!("column \"{name}\" specified in USING clause does not exist in {which} table"),
        )
    })?;
    if matching.next().is_some() {
        return Err(SqlError::new(
            code::AMBIGUOUS_COLUMN,
            format!("common column name \"{name}\" appears more than once in {which} table"),
        ));
    }
    Ok(found)
}

pub(super) fn rename_visible(columns: &mut [Visible], alias: &ast::TableAlias) -> Result<()> {
    if alias.columns.len() > columns.len() {
        return Err(SqlError::new(
            code::INVALID_COLUMN_REFERENCE,
            format!(
                "table \"{}\" has {} columns available but {} columns specified",
                fold(&alias.name),
                columns.len(),
                alias.columns.len()
            ),
        ));
    }
    for (column, name) in columns.iter_mut().zip(&alias.columns) {
        column.name = fold(&name.name).into();
    }
    Ok(())
}
