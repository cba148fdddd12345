//! ON CONFLICT: which indexes decide, and what is done instead.

use super::target::Target;
use super::{Binder, Clause, fold, split_name};
use crate::catalog::{IndexedExpr, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{ConflictAction, ConflictTarget, OnConflict, TableRef};
use crate::types::Oid;
use sqlparser::ast;
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn on_conflict(
        &mut self,
        target: &Target,
        place: &TableRef,
        conflict: &ast::OnConflict,
    ) -> Result<OnConflict> {
        let indexes = match &conflict.conflict_target {
            None => ConflictTarget::Any,
            Some(ast::ConflictTarget::OnConstraint(name)) => {
                let (_, name) = split_name(name)?;
                ConflictTarget::Indexes(vec![self.constraint_index(&target.table, &name)?])
            }
            Some(ast::ConflictTarget::Columns(columns)) => {
                ConflictTarget::Indexes(self.arbiters(target, columns)?)
            }
        };
        self.refuse_deferrable(&target.table, &indexes)?;
        let action = match &conflict.action {
            ast::OnConflictAction::DoNothing => ConflictAction::Nothing,
            ast::OnConflictAction::DoUpdate(update) => {
                if indexes == ConflictTarget::Any && !self.is_mysql() {
                    return Err(SqlError::new(
                        code::SYNTAX_ERROR,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                    )
                    .hint("For example, ON CONFLICT (column_name)."));
                }
                // The row that was to be inserted stands behind the target.
                let excluded = ast::TableAlias {
                    explicit: true,
                    name: ast::Ident::new("excluded"),
                    columns: Vec::new(),
                    at: None,
                };
                let before = self.level().visible.len();
                self.target_ref(target, Some(&excluded))?;
                // In MySQL the names of columns are those of the row that is there.
                if self.is_mysql() {
                    self.level().visible.truncate(before);
                }
                let set = self.assignments(target, place, &update.assignments)?;
                let filter = match &update.selection {
                    Some(ast) => {
                        Some(self.in_clause(Clause::Where, |it| it.condition(ast, "WHERE"))?)
                    }
                    None => None,
                };
                // Behind this there is the target alone.
                self.level().visible.truncate(before);
                ConflictAction::Update { set, filter }
            }
        };
        Ok(OnConflict { target: indexes, action })
    }

    /// A key that is looked at in the end of a transaction decides nothing before.
    fn refuse_deferrable(&self, table: &Table, indexes: &ConflictTarget) -> Result<()> {
        use crate::catalog::ConstraintKind as K;
        let decides = |index: &Oid| match indexes {
            ConflictTarget::Any => true,
            ConflictTarget::Indexes(all) => all.contains(index),
        };
        let is_late = table.constraints.iter().any(|it| match &it.kind {
            K::PrimaryKey { index, .. } | K::Unique { index, .. } => {
                it.deferrable && decides(index)
            }
            _ => false,
        });
        if !is_late {
            return Ok(());
        }
        Err(SqlError::new(
            code::OBJECT_NOT_IN_PREREQUISITE_STATE,
            "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as \
             arbiters",
        ))
    }

    fn constraint_index(&self, table: &Table, name: &str) -> Result<Oid> {
        use crate::catalog::ConstraintKind as K;
        let found = table.constraints.iter().find(|constraint| *constraint.name == *name);
        match found.map(|constraint| &constraint.kind) {
            Some(K::PrimaryKey { index, .. } | K::Unique { index, .. }) => Ok(*index),
            Some(_) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                "constraint in ON CONFLICT clause has no associated index",
            )),
            None => Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("constraint \"{name}\" for table \"{}\" does not exist", table.name),
            )),
        }
    }

    /// The unique indexes over these columns.
    fn arbiters(&mut self, target: &Target, columns: &[ast::Ident]) -> Result<Vec<Oid>> {
        let table = &target.table;
        // Expressions and the condition are marked names, see `parse/rewrite.rs`.
        let (mut wanted, mut exprs, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for ident in columns {
            let marked = ident.value.strip_prefix(crate::parse::MARK);
            match marked.and_then(|it| it.split_once(' ')) {
                Some(("expr", text)) => exprs.push(text),
                Some((_, text)) => given = crate::parse::conjuncts(text),
                None => {
                    let position = self.position(ident.span);
                    wanted.push(target.find(&fold(ident), position)?);
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut found = Vec::new();
        for &oid in &table.indexes {
            if self.decides(table, oid, &wanted, &exprs, &given) {
                found.push(oid);
            }
        }
        if found.is_empty() {
            return Err(SqlError::new(
                code::INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            ));
        }
        Ok(found)
    }

    /// Whether a unique index is over these columns and expressions, of the rows that satisfy the
    /// conditions that are given.
    fn decides(
        &mut self,
        table: &Arc<Table>,
        index: Oid,
        wanted: &[u16],
        exprs: &[&str],
        given: &[String],
    ) -> bool {
        let Some(index) = self.catalog.index(index).filter(|it| it.unique).cloned() else {
            return false;
        };
        let (mut keys, mut texts) = (Vec::new(), Vec::new());
        for key in &index.keys {
            match &key.what {
                IndexedExpr::Column(number) => keys.push(*number),
                IndexedExpr::Expr(text) => texts.push(&**text),
            }
        }
        keys.sort_unstable();
        keys.dedup();
        // Whatever else a row satisfies, it is in an index without a condition.
        let own = index.predicate.as_deref().map(crate::parse::conjuncts).unwrap_or_default();
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        keys == wanted
            && exprs.iter().all(|it| self.is_among(table, it, &texts))
            && texts.iter().all(|it| self.is_among(table, it, exprs))
            && own.iter().all(|it| self.is_among(table, it, &given))
    }

    /// Whether one of these expressions is the same, however it is written: a definition is shown
    /// with the casts that nobody wrote.
    fn is_among(&mut self, table: &Arc<Table>, text: &str, all: &[&str]) -> bool {
        let own = crate::parse::normalized(text);
        if all.iter().any(|it| crate::parse::normalized(it) == own) {
            return true;
        }
        let mut bound = |text: &str| self.index_expr(table, &IndexedExpr::Expr(text.into())).ok();
        let Some(own) = bound(text) else { return false };
        all.iter().any(|it| bound(it).as_ref() == Some(&own))
    }
}
