//! ALTER TABLE.

use super::Ddl;
use super::depend::Thing;
use crate::catalog::{Column, ConstraintKind, Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::execute::{Row, contains_null};
use crate::ir::{Expr, ExprKind};
use crate::locks::Mode;
use crate::parse::ast::{AlterTable, ColumnDef, ConstraintDef, TableChange, TableConstraint};
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// Whether each evaluation may have another value.
pub(super) fn is_volatile(expr: &Expr) -> bool {
    of_volatility(expr, b"v")
}

/// Whether the value may change from statement to statement.
pub(super) fn is_mutable(expr: &Expr) -> bool {
    of_volatility(expr, b"vs")
}

/// The foreign keys of a table, and to which tables they refer.
fn references_of(table: &Table) -> impl Iterator<Item = (Oid, Oid)> {
    table.constraints.iter().filter_map(|it| match &it.kind {
        ConstraintKind::ForeignKey(key) => Some((it.oid, key.table)),
        _ => None,
    })
}

fn of_volatility(expr: &Expr, letters: &[u8]) -> bool {
    expr.any(|it, _| match &it.kind {
        ExprKind::Call { callee, .. } => letters.contains(&callee.proc.volatility),
        ExprKind::NextValue(_) | ExprKind::SetReturning(_) => true,
        _ => false,
    })
}

impl Ddl<'_> {
    pub(super) fn alter_table(&mut self, alter: &AlterTable) -> Result<String> {
        let tag = format!("ALTER {}", alter.kind.word().to_uppercase());
        let Some(relation) = self.find_altered(&alter.name, alter.if_exists)? else {
            return Ok(tag);
        };
        let is_nothing = alter.changes.iter().all(|it| matches!(it, TableChange::Nothing));
        if is_nothing {
            return Ok(tag);
        }
        match relation {
            Relation::Table(table) if table.kind() == alter.kind.word() => {}
            Relation::View(view) => {
                return self.alter_view(&view, &alter.changes).map(|()| tag);
            }
            _ => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not a table", alter.name.name),
                ));
            }
        }
        let table = self.need_relation(&alter.name, Mode::AccessExclusive)?;
        for change in &alter.changes {
            if table.materialized.is_some() && !matches!(change, TableChange::RenameColumn { .. }) {
                return Err(SqlError::unsupported("this change of a materialized view"));
            }
            self.change_table(table.oid, change)?;
        }
        Ok(tag)
    }

    fn alter_view(
        &mut self,
        view: &Arc<crate::catalog::View>,
        changes: &[TableChange],
    ) -> Result<()> {
        let mut changed = crate::catalog::View::clone(view);
        for change in changes {
            match change {
                TableChange::Nothing => {}
                TableChange::RenameColumn { from, to } => {
                    let found = changed.columns.iter_mut().find(|it| *it.name == **from);
                    let missing = || {
                        SqlError::new(
                            code::UNDEFINED_COLUMN,
                            format!("column \"{from}\" does not exist"),
                        )
                    };
                    found.ok_or_else(missing)?.name = to.as_str().into();
                }
                _ => return Err(SqlError::unsupported("this change of a view")),
            }
        }
        self.put(view.oid, crate::catalog::Object::View(Arc::new(changed)));
        Ok(())
    }

    fn change_table(&mut self, oid: Oid, change: &TableChange) -> Result<()> {
        use TableChange as C;
        match change {
            C::AddColumn { column, if_not_exists } => {
                self.alter_add_column(oid, column, *if_not_exists)
            }
            C::DropColumn { name, if_exists, cascade } => {
                self.drop_column(oid, name, *if_exists, *cascade)
            }
            C::SetType { column, ty, collation, using } => {
                self.set_type(oid, column, ty, using.as_deref())?;
                let number = self.need_column(&*self.table(oid)?, column)?;
                let ty = self.table(oid)?.column(number).ty;
                let collation = self.collation_for(collation.as_ref(), ty)?;
                self.check_unique_collation(oid, number, collation)?;
                self.change(oid, |table| {
                    let column = &mut table.columns[number as usize - 1];
                    column.collation = collation;
                });
                Ok(())
            }
            C::SetDefault { column, default } => self.set_default(oid, column, default.as_deref()),
            C::NotNull { column, not_null } => self.set_not_null(oid, column, *not_null),
            C::AddIdentity { column, identity } => self.add_identity(oid, column, identity),
            C::SetIdentity { column, always, options } => {
                self.set_identity(oid, column, *always, options)
            }
            C::DropIdentity { column, if_exists } => self.drop_identity(oid, column, *if_exists),
            C::DropExpression { column, if_exists } => {
                self.drop_expression(oid, column, *if_exists)
            }
            C::AddConstraint(def) => self.alter_add_constraint(oid, def),
            C::DropConstraint { name, if_exists, cascade } => {
                self.drop_constraint(oid, name, *if_exists, *cascade)
            }
            C::AlterConstraint { name, deferrable, deferred } => {
                self.alter_constraint(oid, name, *deferrable, *deferred)
            }
            C::Validate(name) => self.validate(oid, name),
            C::SwitchTriggers { enabled } => self.switch_triggers(oid, *enabled),
            C::SwitchNamed { what, name } => Err(self.no_such(oid, what, name)?),
            C::RenameColumn { from, to } => self.rename_column(oid, from, to),
            C::RenameConstraint { from, to } => self.rename_constraint(oid, from, to),
            C::Unsupported(what) => Err(SqlError::unsupported(what)),
            C::Nothing => Ok(()),
        }
    }

    /// ENABLE or DISABLE TRIGGER ALL: the triggers that there are make foreign keys hold, on the
    /// table that refers and on the one that is referred to.
    fn switch_triggers(&mut self, oid: Oid, enabled: bool) -> Result<()> {
        let mut silent = Vec::new();
        if !enabled {
            silent.extend(references_of(&*self.table(oid)?));
            for other in self.referring_tables(oid) {
                silent.extend(references_of(&other).filter(|(_, to)| *to == oid));
            }
        }
        self.change(oid, |table| table.silent = silent.into_iter().map(|(it, _)| it).collect());
        Ok(())
    }

    fn no_such(&self, oid: Oid, what: &str, name: &str) -> Result<SqlError> {
        let relation = if what == "rule" { "relation" } else { "table" };
        let table = self.table(oid)?;
        let text = format!("{what} \"{name}\" for {relation} \"{}\" does not exist", table.name);
        Ok(SqlError::new(code::UNDEFINED_OBJECT, text))
    }

    /// Writes all rows anew, into another heap.
    pub(super) fn rewrite(
        &mut self,
        old: &Arc<Table>,
        new: Table,
        mut convert: impl FnMut(&mut crate::execute::Exec<'_>, Row) -> Result<Row>,
    ) -> Result<()> {
        let mut new = new;
        let rows = self.exec().all_rows(old)?;
        self.txn.dropped_heaps.push(old.heap);
        new.heap = self.env.database.new_heap().id;
        // All rows have a value for all columns now.
        new.columns.iter_mut().for_each(|column| column.missing = None);
        let table = self.put_table(new);
        let mut exec = self.exec();
        let mut converted = Vec::with_capacity(rows.len());
        for mut row in rows {
            row.resize(table.columns.len(), Datum::Null);
            converted.push(convert(&mut exec, row)?);
        }
        exec.load(&table, converted)?;
        exec.check_all(&table)?;
        let taken = std::mem::take(&mut exec.notices);
        self.notices.extend(taken);
        // Rows that refer to this table are found by keys that did not change.
        Ok(())
    }

    fn alter_add_column(&mut self, oid: Oid, def: &ColumnDef, if_not_exists: bool) -> Result<()> {
        let old = self.table(oid)?;
        if old.find(&def.name).is_some() {
            let message =
                format!("column \"{}\" of relation \"{}\" already exists", def.name, old.name);
            if if_not_exists {
                self.notice(code::DUPLICATE_COLUMN, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
        }
        let mut sequences = Vec::new();
        let column = self.column(&old, def, &mut sequences)?;
        let mut table = Table::clone(&old);
        self.add_column_to(&mut table, column)?;
        let number = table.columns.len();
        let table = self.put_table(table);
        self.own_sequences(&table, sequences);
        self.check_expressions(&table)?;
        self.fill_column(&old, &table, number)?;
        for constraint in &def.constraints {
            self.alter_add_constraint(oid, constraint)?;
        }
        Ok(())
    }

    /// Gives rows that are there a value in a new column.
    fn fill_column(&mut self, old: &Arc<Table>, table: &Arc<Table>, number: usize) -> Result<()> {
        let column = table.columns[number - 1].clone();
        let is_generated = column.default.as_ref().is_some_and(|it| it.generated);
        let expr = match is_generated {
            true => Some(self.env.binder("").generated_expr(table, &column)?),
            false => self.env.binder("").column_default(&column)?,
        };
        let Some(expr) = expr else {
            if column.not_null && self.exec().has_rows(old)? {
                return Err(contains_null(table, &column.name));
            }
            return Ok(());
        };
        if is_generated || is_volatile(&expr) {
            if !self.exec().has_rows(old)? {
                return Ok(());
            }
            return self.rewrite(old, Table::clone(table), |exec, mut row| {
                row.push(Datum::Null);
                let value = exec.eval(&expr, &row)?;
                row.pop();
                row[number - 1] = value;
                Ok(row)
            });
        }
        let value = self.exec().eval(&expr, &[])?;
        if value.is_null() && column.not_null && self.exec().has_rows(old)? {
            return Err(contains_null(table, &column.name));
        }
        let mut changed = Table::clone(table);
        changed.columns[number - 1].missing = Some(value);
        self.put_table(changed);
        Ok(())
    }

    fn drop_column(&mut self, oid: Oid, name: &str, if_exists: bool, cascade: bool) -> Result<()> {
        let table = self.table(oid)?;
        let Some(number) = table.find(name) else {
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
            if if_exists {
                self.notice("00000", format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(code::UNDEFINED_COLUMN, message));
        };
        let all = self.closure(&[Thing::Column(oid, number)], cascade)?;
        self.drop_all(&all)
    }

    fn alter_add_constraint(&mut self, oid: Oid, def: &TableConstraint) -> Result<()> {
        let old = self.table(oid)?;
        let added = self.add_constraint(oid, def)?;
        let table = self.table(oid)?;
        let is_primary = match &def.kind {
            ConstraintDef::PrimaryKey { .. } => true,
            ConstraintDef::UsingIndex { primary, .. } => *primary,
            _ => false,
        };
        if is_primary {
            // A row is named by its primary key: rows get other names.
            return self.rewrite(&old, Table::clone(&table), |_, row| Ok(row));
        }
        if def.not_valid {
            return self.enter_without_check(&table, added);
        }
        self.exec().check_all(&table)
    }

    /// NOT VALID: rows that are there are known, but not looked at.
    fn enter_without_check(&mut self, table: &Arc<Table>, constraint: Oid) -> Result<()> {
        let mut without = Table::clone(table);
        let is_check = |it: &crate::catalog::Constraint| {
            it.oid == constraint && matches!(it.kind, ConstraintKind::Check { .. })
        };
        without.constraints.retain(|it| !is_check(it));
        let without = Arc::new(without);
        let mut exec = self.exec();
        exec.index_all(&without)?;
        let due = exec.take_checks();
        exec.run_checks(due.into_iter().filter(|it| it.constraint() != constraint).collect())
    }

    fn find_constraint(&self, table: &Table, name: &str) -> Result<usize> {
        table.constraints.iter().position(|it| *it.name == *name).ok_or_else(|| {
            SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name),
            )
        })
    }

    fn drop_constraint(
        &mut self,
        oid: Oid,
        name: &str,
        if_exists: bool,
        cascade: bool,
    ) -> Result<()> {
        let table = self.table(oid)?;
        let place = match self.find_constraint(&table, name) {
            Ok(place) => place,
            Err(error) if if_exists => {
                self.notice("00000", format!("{}, skipping", error.message()));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let thing = Thing::Constraint(oid, table.constraints[place].oid);
        let all = self.closure(&[thing], cascade)?;
        self.drop_all(&all)
    }

    fn alter_constraint(
        &mut self,
        oid: Oid,
        name: &str,
        deferrable: bool,
        deferred: bool,
    ) -> Result<()> {
        let mut table = Table::clone(&*self.table(oid)?);
        let place = self.find_constraint(&table, name)?;
        let constraint = &mut table.constraints[place];
        if !matches!(constraint.kind, ConstraintKind::ForeignKey(_)) {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!(
                    "constraint \"{name}\" of relation \"{}\" is not a foreign key constraint",
                    table.name
                ),
            ));
        }
        (constraint.deferrable, constraint.deferred) = (deferrable, deferred);
        self.put_table(table);
        Ok(())
    }

    fn validate(&mut self, oid: Oid, name: &str) -> Result<()> {
        let mut table = Table::clone(&*self.table(oid)?);
        let place = self.find_constraint(&table, name)?;
        if table.constraints[place].validated {
            return Ok(());
        }
        table.constraints[place].validated = true;
        let table = self.put_table(table);
        self.exec().check_all(&table)
    }

    fn rename_constraint(&mut self, oid: Oid, from: &str, to: &str) -> Result<()> {
        let mut table = Table::clone(&*self.table(oid)?);
        let place = self.find_constraint(&table, from)?;
        if table.constraints.iter().any(|it| *it.name == *to) {
            return Err(SqlError::new(
                code::DUPLICATE_OBJECT,
                format!("constraint \"{to}\" for relation \"{}\" already exists", table.name),
            ));
        }
        table.constraints[place].name = to.into();
        let index = match &table.constraints[place].kind {
            ConstraintKind::PrimaryKey { index, .. } | ConstraintKind::Unique { index, .. } => {
                Some(*index)
            }
            _ => None,
        };
        let schema = table.schema;
        self.put_table(table);
        if let Some(index) = index
            && let Some(it) = self.catalog().index(index).cloned()
        {
            self.check_new(schema, to)?;
            let named =
                crate::catalog::Index { name: to.into(), ..crate::catalog::Index::clone(&it) };
            self.put(index, crate::catalog::Object::Index(Arc::new(named)));
        }
        Ok(())
    }

    /// Changes one column of a table.
    pub(super) fn change_column(
        &mut self,
        oid: Oid,
        name: &str,
        change: impl FnOnce(&mut Column),
    ) -> Result<Arc<Table>> {
        let mut table = Table::clone(&*self.table(oid)?);
        let number = self.need_column(&table, name)?;
        change(&mut table.columns[number as usize - 1]);
        Ok(self.put_table(table))
    }
}
