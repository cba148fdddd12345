//! Keys of indexes and their uniqueness, which is checked against the latest committed state and
//! the own transaction, as databases do at every level: these are no reads of the application.

use super::constraints::{IndexRule, Rules};
use super::keys::key;
use super::{Exec, Row};
use crate::catalog::IndexedExpr;
use crate::cells::{Group, RowNo};
use crate::error::{Result, SqlError, code};
use crate::locks::{Mode, Outcome, Target};
use crate::transaction::PendingCheck;
use crate::types::{Datum, HashKey, Oid};
use std::sync::Arc;

impl Exec<'_> {
    /// The key of a row in an index; none if the index is not about the row.
    pub(super) fn index_key(
        &mut self,
        rule: &IndexRule,
        values: &Row,
    ) -> Result<Option<Vec<Datum>>> {
        let mut row = values.clone();
        row.push(Datum::Null);
        if let Some(predicate) = &rule.predicate
            && !self.holds(predicate, &row)?
        {
            return Ok(None);
        }
        let keys = self.eval_all(&rule.keys, &row)?;
        if let Some(collation) = &rule.nondeterministic
            && rule.index.unique
            && !keys.iter().any(Datum::is_null)
        {
            let what = format!("a unique key under the collation \"{collation}\"");
            return Err(SqlError::unsupported(what));
        }
        Ok(Some(keys))
    }

    pub(super) fn hash_keys(rule: &IndexRule, values: &[Datum]) -> Vec<HashKey> {
        values.iter().zip(&rule.keys).map(|(value, expr)| key(value, expr.ty)).collect()
    }

    /// Another row that has the same key in a unique index, once no other transaction can decide
    /// about that any more.
    fn other_with_key(
        &mut self,
        rules: &Rules,
        rule: &IndexRule,
        values: &[Datum],
        own: Option<RowNo>,
    ) -> Result<Option<RowNo>> {
        if values.iter().any(Datum::is_null) && !rule.index.nulls_not_distinct {
            return Ok(None);
        }
        let keys = Self::hash_keys(rule, values);
        self.await_key(rules, rule, &keys)?;
        let number = rule.entries.number(keys.clone().into());
        self.hold_key(rule, number)?;
        // Others may have come, or begun to change what is there, while this one waited.
        self.await_key(rules, rule, &keys)?;
        let rows_now = rule.entries.rows(number);
        for row in rows_now {
            if Some(row) == own || !self.exists_now(&rules.heap, row) {
                continue;
            }
            let there = self.current_values(rules, row);
            let Some(found) = self.index_key(rule, &there)? else { continue };
            if Self::hash_keys(rule, &found) == keys {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    pub(super) fn hold_key(&mut self, rule: &IndexRule, number: crate::cells::KeyNo) -> Result<()> {
        let target = Target::Key(rule.entries.id, number);
        let patience = self.env.patience();
        let locks = &self.database().locks;
        let held =
            locks.acquire(self.txn.owner, target, Mode::Update, patience, self.interrupt())?;
        let _: Outcome = held;
        Ok(())
    }

    /// The row that an insertion would be in conflict with.
    pub(super) fn find_conflict(
        &mut self,
        rules: &Arc<Rules>,
        values: &Row,
        indexes: Option<&[Oid]>,
    ) -> Result<Option<RowNo>> {
        for rule in rules.indexes.iter().filter(|rule| rule.index.unique) {
            if indexes.is_some_and(|indexes| !indexes.contains(&rule.index.oid)) {
                continue;
            }
            let Some(key) = self.index_key(rule, values)? else { continue };
            if let Some(other) = self.other_with_key(rules, rule, &key, None)? {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Tests uniqueness, and lets indexes know of the row.
    pub(super) fn enter_indexes(
        &mut self,
        rules: &Arc<Rules>,
        number: RowNo,
        values: &Row,
        before: Option<&Row>,
    ) -> Result<()> {
        for rule in &rules.indexes {
            let Some(found) = self.index_key(rule, values)? else { continue };
            if let Some(before) = before
                && let Some(old) = self.index_key(rule, before)?
                && Self::hash_keys(rule, &old) == Self::hash_keys(rule, &found)
            {
                continue;
            }
            if rule.index.unique {
                match rule.deferrable {
                    None => {
                        if self.other_with_key(rules, rule, &found, Some(number))?.is_some() {
                            return Err(self.duplicate(rules, rule, &found));
                        }
                    }
                    Some(_) => {
                        let (table, index) = (rules.table.oid, rule.index.oid);
                        self.checks.push(PendingCheck::Unique { table, index, row: number });
                    }
                }
            }
            let keys = Self::hash_keys(rule, &found);
            self.come_to_key(rule, &keys)?;
            if let Some(place) = rule.entries.add(keys.into(), number) {
                self.txn.cells.enter_group(Group::Key(rule.entries.id, place), number)?;
            }
        }
        Ok(())
    }

    pub(super) fn duplicate(&self, rules: &Rules, rule: &IndexRule, values: &[Datum]) -> SqlError {
        let mut error = SqlError::new(
            code::UNIQUE_VIOLATION,
            format!("duplicate key value violates unique constraint \"{}\"", rule.index.name),
        )
        .detail(format!(
            "Key ({})=({}) already exists.",
            self.key_names(rules, rule),
            self.key_values_shown(values, rule.keys.iter().map(|expr| expr.ty))
        ));
        self.about(&mut error, &rules.table);
        error.fields_mut().constraint = Some(rule.index.name.to_string());
        error
    }

    fn key_names(&self, rules: &Rules, rule: &IndexRule) -> String {
        let names: Vec<String> = rule
            .index
            .keys
            .iter()
            .map(|key| match &key.what {
                IndexedExpr::Column(number) => {
                    crate::functions::quote_ident(&rules.table.column(*number).name)
                }
                IndexedExpr::Expr(text) => text.to_string(),
            })
            .collect();
        names.join(", ")
    }

    pub(super) fn key_values_shown(
        &self,
        values: &[Datum],
        types: impl Iterator<Item = Oid>,
    ) -> String {
        let shown: Vec<String> =
            values.iter().zip(types).map(|(value, ty)| self.shown(value, ty)).collect();
        shown.join(", ")
    }

    pub(super) fn check_unique(&mut self, table: Oid, index: Oid, row: RowNo) -> Result<()> {
        let Some(table) = self.env.catalog.table(table).cloned() else { return Ok(()) };
        let rules = self.rules(&table)?;
        let Some(rule) = rules.indexes.iter().find(|rule| rule.index.oid == index) else {
            return Ok(());
        };
        if !self.exists_now(&rules.heap, row) {
            return Ok(());
        }
        let values = self.current_values(&rules, row);
        let Some(found) = self.index_key(rule, &values)? else { return Ok(()) };
        match self.other_with_key(&rules, rule, &found, Some(row))? {
            Some(_) => Err(self.duplicate(&rules, rule, &found)),
            None => Ok(()),
        }
    }
}
