//! MERGE.

use super::assignments::value_position;
use super::target::{Change, Target};
use super::{Binder, Clause};
use crate::error::{Result, SqlError, code};
use crate::ir::{ExprKind, From, MergeAction, MergeArm, MergeWhen, ModifyKind, Query, TableRef};
use sqlparser::ast;

impl Binder<'_> {
    pub(super) fn merge(&mut self, merge: &ast::Merge) -> Result<Query> {
        let ast::TableFactor::Table { name, alias, .. } = &merge.table else {
            return Err(SqlError::unsupported("MERGE into something that is no table"));
        };
        if merge.output.is_some() {
            return Err(SqlError::unsupported("MERGE with RETURNING"));
        }
        let target = self.change_target(name, Change::Merge)?;
        let placed = self.target_ref(&target, alias.as_ref())?;
        let source = ast::TableWithJoins { relation: merge.source.clone(), joins: Vec::new() };
        let source: From = self.table_with_joins(&source)?;
        let on = self.in_clause(Clause::On, |binder| binder.condition(&merge.on, "MERGE/ON"))?;
        if merge.clauses.is_empty() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at end of input"));
        }
        let mut arms: Vec<MergeArm> = Vec::new();
        for clause in &merge.clauses {
            let arm = self.merge_arm(&target, &placed.reference, clause)?;
            if arms.iter().any(|before| before.when == arm.when && before.condition.is_none()) {
                return Err(SqlError::new(
                    code::SYNTAX_ERROR,
                    "unreachable WHEN clause specified after unconditional WHEN clause",
                ));
            }
            arms.push(arm);
        }
        let kind = ModifyKind::Merge { source: Box::new(source), on, arms };
        self.finish(&target, placed, kind, None)
    }

    fn merge_arm(
        &mut self,
        target: &Target,
        place: &TableRef,
        clause: &ast::MergeClause,
    ) -> Result<MergeArm> {
        let when = match clause.clause_kind {
            ast::MergeClauseKind::Matched => MergeWhen::Matched,
            ast::MergeClauseKind::NotMatched | ast::MergeClauseKind::NotMatchedByTarget => {
                MergeWhen::NotMatched
            }
            ast::MergeClauseKind::NotMatchedBySource => {
                return Err(SqlError::unsupported("WHEN NOT MATCHED BY SOURCE"));
            }
        };
        let condition = match &clause.predicate {
            Some(ast) => Some(self.in_clause(Clause::Where, |it| it.condition(ast, "WHEN"))?),
            None => None,
        };
        let action = match &clause.action {
            ast::MergeAction::DoNothing { .. } => MergeAction::Nothing,
            ast::MergeAction::Delete { .. } => MergeAction::Delete,
            ast::MergeAction::Update(update) => match &update.kind {
                ast::MergeUpdateKind::Set(assignments) => {
                    MergeAction::Update(self.assignments(target, place, assignments)?)
                }
                _ => return Err(SqlError::unsupported("this UPDATE of MERGE")),
            },
            ast::MergeAction::Insert(insert) => self.merge_insert(target, insert)?,
        };
        Ok(MergeArm { when, condition, action })
    }

    fn merge_insert(
        &mut self,
        target: &Target,
        insert: &ast::MergeInsertExpr,
    ) -> Result<MergeAction> {
        let table = &*target.table;
        let ast::MergeInsertKind::Values(values) = &insert.kind else {
            return Err(SqlError::unsupported("this INSERT of MERGE"));
        };
        let [row] = &values.rows[..] else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "MERGE inserts one row"));
        };
        let mut columns = Vec::new();
        let is_default = insert.columns.iter().any(|name| {
            let first = name.0.first().and_then(|it| it.as_ident());
            first.is_some_and(|it| it.value.starts_with(crate::parse::MARK))
        });
        for name in insert.columns.iter().filter(|_| !is_default) {
            columns.push(self.assigned_column(target, name)?);
        }
        // INSERT DEFAULT VALUES, see `parse/grammar.rs`.
        if is_default {
            return Ok(MergeAction::Insert(self.row_defaults(table, &[])?));
        }
        if columns.is_empty() {
            columns = table.live().map(|(number, _)| number).collect();
        }
        if row.content.len() > columns.len() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "INSERT has more expressions than target columns",
            ));
        }
        let mut all = Vec::new();
        for (&number, ast) in columns.iter().zip(&row.content) {
            let expr = self.in_clause(Clause::Values, |binder| binder.expr(ast))?;
            let column = table.column(number);
            let value = if matches!(expr.kind, ExprKind::Default) {
                self.default_or_null(column)?
            } else {
                self.assign(expr, column, value_position(ast))?
            };
            all.push((number, value));
        }
        let given: Vec<u16> = all.iter().map(|&(number, _)| number).collect();
        all.extend(self.row_defaults(table, &given)?);
        Ok(MergeAction::Insert(all))
    }
}
