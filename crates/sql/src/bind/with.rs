//! WITH, also recursive.

use super::query::{Unknowns, is_change, rename};
use super::search_cycle::{Written, write_out};
use super::set_operation::set_op_columns;
use super::{Binder, CteName, fold};
use crate::error::{Result, SqlError, code};
use crate::ir::{Body, Cte, OutColumn};
use crate::parse::SearchCycle;
use sqlparser::ast::{self, JoinOperator, SetExpr, SetOperator, SetQuantifier};
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn with(&mut self, with: &ast::With) -> Result<Vec<Cte>> {
        let mut ctes = Vec::new();
        let clauses = |cte: &ast::Cte| SearchCycle::decoded(&cte.alias.name.value);
        for (place, cte) in with.cte_tables.iter().enumerate() {
            if clauses(cte).is_some() {
                continue;
            }
            // SEARCH and CYCLE follow as the name of another query.
            let clauses = with.cte_tables.get(place + 1).and_then(clauses);
            let name: Arc<str> = fold(&cte.alias.name).into();
            let names: Vec<String> =
                cte.alias.columns.iter().map(|column| fold(&column.name)).collect();
            if ctes.iter().any(|other: &Cte| other.name == name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                let position = self.position(cte.alias.name.span);
                return Err(SqlError::new(code::DUPLICATE_ALIAS, message).at(position));
            }
            let bound = if let Some(clauses) = clauses {
                let written = self.written_out(&name, &names, &cte.query, &clauses)?;
                let inner_name = written.inner_name.as_str().into();
                let inner =
                    self.recursive_cte(&inner_name, &written.inner_columns, &written.inner)?;
                self.name_cte(&mut ctes, inner);
                self.plain_cte(&name, &written.shown_columns, &written.shown)?
            } else if with.recursive && mentions(&cte.query, &name) {
                self.recursive_cte(&name, &names, &cte.query)?
            } else {
                let mut plain = self.plain_cte(&name, &names, &cte.query)?;
                plain.is_inlined =
                    !matches!(cte.materialized, Some(ast::CteAsMaterialized::Materialized));
                plain
            };
            if is_change(&bound.query) && self.levels.len() > 1 {
                return Err(SqlError::new(
                    code::FEATURE_NOT_SUPPORTED,
                    "WITH clause containing a data-modifying statement must be at the top level",
                ));
            }
            self.name_cte(&mut ctes, bound);
        }
        Ok(ctes)
    }

    /// From now on it can be named.
    fn name_cte(&mut self, ctes: &mut Vec<Cte>, bound: Cte) {
        let columns = bound.query.columns.clone();
        let is_silent = is_change(&bound.query) && columns.is_empty();
        let (name, number) = (bound.name.clone(), bound.number);
        self.ctes.push(CteName { name, number, columns, is_silent, uses: 0 });
        ctes.push(bound);
    }

    fn plain_cte(&mut self, name: &Arc<str>, names: &[String], query: &ast::Query) -> Result<Cte> {
        let (mut query, _) =
            self.sealed(|binder| binder.inside(|binder| binder.query(query, Unknowns::Resolve)))?;
        rename_cte(&mut query.columns, names, name)?;
        let number = self.number();
        Ok(Cte {
            number,
            name: name.clone(),
            query,
            recursive: None,
            is_inlined: true,
            is_once: false,
        })
    }

    /// A recursive query with SEARCH or CYCLE in other words.
    fn written_out(
        &mut self,
        name: &str,
        names: &[String],
        query: &ast::Query,
        clauses: &SearchCycle,
    ) -> Result<Written> {
        if !mentions(query, name) {
            return Err(SqlError::new(code::SYNTAX_ERROR, "WITH query is not recursive"));
        }
        let SetExpr::SetOperation { op: SetOperator::Union, left, right, .. } = &*query.body else {
            return Err(no_recursion(name));
        };
        check_recursion(name, query, left, right)?;
        // Bound once before, for the names of its columns.
        let (mut start, _) = self
            .sealed(|binder| binder.inside(|binder| binder.body(left, &[], Unknowns::Resolve)))?;
        rename_cte(&mut start.columns, names, name)?;
        let columns: Vec<String> = start.columns.iter().map(|it| it.name.to_string()).collect();
        write_out(name, &columns, query, clauses)
    }

    /// Binds something that does not see the row of this level.
    pub(super) fn sealed<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.level().sealed, true);
        let result = bind(self);
        self.level().sealed = before;
        result
    }

    fn recursive_cte(
        &mut self,
        name: &Arc<str>,
        names: &[String],
        query: &ast::Query,
    ) -> Result<Cte> {
        let SetExpr::SetOperation { op: SetOperator::Union, left, right, set_quantifier } =
            &*query.body
        else {
            return Err(no_recursion(name));
        };
        check_recursion(name, query, left, right)?;
        let all = *set_quantifier == SetQuantifier::All;
        let number = self.number();
        let (mut start, _) = self
            .sealed(|binder| binder.inside(|binder| binder.body(left, &[], Unknowns::Resolve)))?;
        rename_cte(&mut start.columns, names, name)?;
        let columns = start.columns.clone();
        self.ctes.push(CteName {
            name: name.clone(),
            number,
            columns: columns.clone(),
            is_silent: false,
            uses: 1,
        });
        let step =
            self.sealed(|binder| binder.inside(|binder| binder.body(right, &[], Unknowns::Keep)));
        self.ctes.pop();
        let (mut step, _) = step?;
        if matches!(&step.body, Body::Select(select) if select.grouping.is_some()) {
            return Err(SqlError::new(
                code::INVALID_RECURSION,
                "aggregate functions are not allowed in a recursive query's recursive term",
            ));
        }
        if step.columns.len() != columns.len() {
            return Err(set_op_columns("UNION"));
        }
        self.convert_columns(&mut step, &columns, Some(name))?;
        Ok(Cte {
            number,
            name: name.clone(),
            query: start,
            recursive: Some((Box::new(step), !all)),
            is_inlined: false,
            is_once: false,
        })
    }
}

fn no_recursion(name: &str) -> SqlError {
    SqlError::new(
        code::INVALID_RECURSION,
        format!(
            "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] \
             recursive-term"
        ),
    )
}

fn rename_cte(columns: &mut [OutColumn], names: &[String], name: &str) -> Result<()> {
    if names.len() > columns.len() {
        return Err(SqlError::new(
            code::INVALID_COLUMN_REFERENCE,
            format!(
                "WITH query \"{name}\" has {} columns available but {} columns specified",
                columns.len(),
                names.len()
            ),
        ));
    }
    rename(columns, names, name)
}

/// Whether a query names a table.
fn mentions(query: &ast::Query, name: &str) -> bool {
    count_mentions(query, name) > 0
}

fn count_mentions(part: &impl ast::Visit, name: &str) -> usize {
    let mut found = 0;
    let _ = ast::visit_relations(part, |relation| {
        if let [ast::ObjectNamePart::Identifier(ident)] = &relation.0[..] {
            found += usize::from(fold(ident) == name);
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    found
}

/// A recursive query names itself once, in its recursive term, where no row is left out.
fn check_recursion(name: &str, query: &ast::Query, start: &SetExpr, step: &SetExpr) -> Result<()> {
    let invalid = |what: &str| {
        let message = format!("recursive reference to query \"{name}\" must not appear {what}");
        Err(SqlError::new(code::INVALID_RECURSION, message))
    };
    if count_mentions(start, name) > 0 {
        return invalid("within its non-recursive term");
    }
    if count_mentions(step, name) > 1 {
        return invalid("more than once");
    }
    let refused = [
        (query.order_by.is_some(), "ORDER BY"),
        (query.limit_clause.is_some() || query.fetch.is_some(), "LIMIT"),
        (!query.locks.is_empty(), "FOR UPDATE/SHARE"),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_there, _)| *is_there) {
        let message = format!("{what} in a recursive query is not implemented");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let SetExpr::Select(select) = step else { return Ok(()) };
    let in_from = select.from.iter().any(|it| count_mentions(it, name) > 0);
    if !in_from {
        return invalid("within a subquery");
    }
    let is_optional = |join: &ast::Join| match &join.join_operator {
        JoinOperator::Left(_) | JoinOperator::LeftOuter(_) | JoinOperator::FullOuter(_) => {
            count_mentions(&join.relation, name) > 0
        }
        _ => false,
    };
    if select.from.iter().any(|it| it.joins.iter().any(is_optional)) {
        return invalid("within an outer join");
    }
    Ok(())
}
