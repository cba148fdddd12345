//! Constraints of tables: made, and checked for the rows that are there.

use super::names::joined;
use super::{Ddl, columns_of};
use crate::catalog::builtin::{CastContext, builtin};
use crate::catalog::{
    Constraint, ConstraintKind, ForeignKey, Index, IndexKey, IndexedExpr, Object, Table,
};
use crate::error::{Result, SqlError, code};
use crate::locks::Mode;
use crate::parse::ast::{ColumnDef, ConstraintDef, ForeignKeyDef, TableConstraint};
use crate::types::Oid;
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn table(&self, oid: Oid) -> Result<Arc<Table>> {
        let missing = || SqlError::internal("the table is gone");
        self.catalog().table(oid).cloned().ok_or_else(missing)
    }

    /// Adds the constraints of a new table: keys first, references last.
    pub(super) fn add_constraints(
        &mut self,
        table: Oid,
        columns: &[ColumnDef],
        constraints: &[TableConstraint],
    ) -> Result<()> {
        let all: Vec<&TableConstraint> =
            columns.iter().flat_map(|it| &it.constraints).chain(constraints).collect();
        let rank = |it: &TableConstraint| match it.kind {
            ConstraintDef::Check(_) => 0,
            ConstraintDef::PrimaryKey { .. } => 1,
            ConstraintDef::ForeignKey(_) => 3,
            _ => 2,
        };
        for wanted in 0..=3 {
            for constraint in all.iter().filter(|it| rank(it) == wanted) {
                self.add_constraint(table, constraint)?;
            }
        }
        Ok(())
    }

    /// Adds a constraint to the catalog; rows are not looked at.
    pub(super) fn add_constraint(&mut self, table: Oid, def: &TableConstraint) -> Result<Oid> {
        let table = self.table(table)?;
        if let Some(name) = &def.name
            && table.constraints.iter().any(|it| *it.name == **name)
            && matches!(def.kind, ConstraintDef::Check(_) | ConstraintDef::ForeignKey(_))
        {
            return Err(SqlError::new(
                code::DUPLICATE_OBJECT,
                format!("constraint \"{name}\" for relation \"{}\" already exists", table.name),
            ));
        }
        match &def.kind {
            ConstraintDef::PrimaryKey { columns, include } => {
                self.add_key(&table, def, columns, include, true, false)
            }
            ConstraintDef::Unique { columns, include, nulls_not_distinct } => {
                self.add_key(&table, def, columns, include, false, *nulls_not_distinct)
            }
            ConstraintDef::UsingIndex { index, primary } => {
                self.add_using_index(&table, def, index, *primary)
            }
            ConstraintDef::Check(text) => self.add_check(&table, def, text),
            ConstraintDef::ForeignKey(key) => self.add_reference(&table, def, key),
        }
    }

    fn push(&mut self, table: &Arc<Table>, constraint: Constraint) -> Oid {
        let oid = constraint.oid;
        let mut changed = Table::clone(table);
        changed.constraints.push(constraint);
        self.put_table(changed);
        oid
    }

    fn made(&self, def: &TableConstraint, name: String, kind: ConstraintKind) -> Constraint {
        Constraint {
            oid: self.new_oid(),
            name: name.into(),
            kind,
            deferrable: def.deferrable,
            deferred: def.deferred,
            validated: !def.not_valid,
            comment: None,
        }
    }

    fn add_check(&mut self, table: &Arc<Table>, def: &TableConstraint, text: &str) -> Result<Oid> {
        let expr = self.env.binder("").check_expr(table, text)?;
        let columns = columns_of(&expr, table.columns.len());
        let column = match &columns[..] {
            [one] => table.column(*one).name.to_string(),
            _ => String::new(),
        };
        let name = match &def.name {
            Some(name) => name.clone(),
            None => self.constraint_name(table, &column, "check"),
        };
        let kind = ConstraintKind::Check { text: text.into(), columns };
        let made = self.made(def, name, kind);
        Ok(self.push(table, made))
    }

    #[allow(clippy::too_many_arguments)]
    fn add_key(
        &mut self,
        table: &Arc<Table>,
        def: &TableConstraint,
        names: &[String],
        include: &[String],
        primary: bool,
        nulls_not_distinct: bool,
    ) -> Result<Oid> {
        if primary && table.primary_key().is_some() {
            return Err(SqlError::new(
                code::INVALID_TABLE_DEFINITION,
                format!("multiple primary keys for table \"{}\" are not allowed", table.name),
            ));
        }
        let mut columns = Vec::new();
        for name in names {
            let number = self.key_column(table, name)?;
            if columns.contains(&number) {
                let what = if primary { "primary key" } else { "unique" };
                return Err(SqlError::new(
                    code::DUPLICATE_COLUMN,
                    format!("column \"{name}\" appears twice in {what} constraint"),
                ));
            }
            columns.push(number);
        }
        let mut included = Vec::new();
        for name in include {
            included.push(self.key_column(table, name)?);
        }
        let name = match &def.name {
            Some(name) => {
                self.check_new(table.schema, name)?;
                name.clone()
            }
            None if primary => self.relation_name(table.schema, &table.name, "", "pkey", &[]),
            None => {
                let columns = joined(names.iter().chain(include).map(String::as_str));
                self.relation_name(table.schema, &table.name, &columns, "key", &[])
            }
        };
        let index = self.new_oid();
        let kind = match primary {
            true => ConstraintKind::PrimaryKey { columns: columns.clone(), index },
            false => ConstraintKind::Unique { columns: columns.clone(), index },
        };
        let constraint = self.made(def, name.clone(), kind);
        let keys = columns.iter().map(|&column| IndexKey {
            what: IndexedExpr::Column(column),
            descending: false,
            nulls_first: false,
            class: None,
            collation: None,
        });
        let made = Index {
            oid: index,
            name: name.into(),
            schema: table.schema,
            table: table.oid,
            keys: keys.collect(),
            include: included,
            unique: true,
            nulls_not_distinct,
            primary,
            predicate: None,
            method: "btree".into(),
            constraint: Some(constraint.oid),
            comment: None,
        };
        self.put(index, Object::Index(Arc::new(made)));
        let oid = constraint.oid;
        let mut changed = Table::clone(table);
        changed.indexes.push(index);
        changed.constraints.push(constraint);
        if primary {
            columns.iter().for_each(|&it| changed.columns[it as usize - 1].not_null = true);
        }
        self.put_table(changed);
        Ok(oid)
    }

    fn add_using_index(
        &mut self,
        table: &Arc<Table>,
        def: &TableConstraint,
        name: &str,
        primary: bool,
    ) -> Result<Oid> {
        let found = table.indexes.iter().find_map(|&oid| {
            self.catalog().index(oid).filter(|index| *index.name == *name).cloned()
        });
        let Some(index) = found else {
            return Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("index \"{name}\" does not exist"),
            ));
        };
        if index.constraint.is_some() {
            return Err(SqlError::new(
                code::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("index \"{name}\" is already associated with a constraint"),
            ));
        }
        let columns: Option<Vec<u16>> = index
            .keys
            .iter()
            .map(|key| match key.what {
                IndexedExpr::Column(column) => Some(column),
                IndexedExpr::Expr(_) => None,
            })
            .collect();
        let unfit = |what: &str| {
            SqlError::new(code::WRONG_OBJECT_TYPE, format!("index \"{name}\" {what}"))
                .detail("Cannot create a primary key or unique constraint using such an index.")
        };
        if !index.unique {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("\"{name}\" is not a unique index"),
            )
            .detail("Cannot create a primary key or unique constraint using such an index."));
        }
        if index.predicate.is_some() {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("\"{name}\" is a partial index"),
            )
            .detail("Cannot create a primary key or unique constraint using such an index."));
        }
        let columns = columns.ok_or_else(|| unfit("contains expressions"))?;
        let kind = match primary {
            true => ConstraintKind::PrimaryKey { columns: columns.clone(), index: index.oid },
            false => ConstraintKind::Unique { columns: columns.clone(), index: index.oid },
        };
        let own = def.name.clone().unwrap_or_else(|| name.to_owned());
        if own != name {
            self.notice(
                "00000",
                format!(
                    "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{name}\" to \
                     \"{own}\""
                ),
            );
        }
        let constraint = self.made(def, own.clone(), kind);
        let mut changed = Index::clone(&index);
        changed.name = own.into();
        changed.primary = primary;
        changed.constraint = Some(constraint.oid);
        self.put(index.oid, Object::Index(Arc::new(changed)));
        let mut changed = Table::clone(table);
        if primary {
            columns.iter().for_each(|&it| changed.columns[it as usize - 1].not_null = true);
        }
        let table = self.put_table(changed);
        Ok(self.push(&table, constraint))
    }

    fn add_reference(
        &mut self,
        table: &Arc<Table>,
        def: &TableConstraint,
        key: &ForeignKeyDef,
    ) -> Result<Oid> {
        let is_own = self.find(&key.table).is_some_and(
            |it| matches!(it, crate::catalog::Relation::Table(it) if it.oid == table.oid),
        );
        let parent = match is_own {
            true => Arc::clone(table),
            false => self.need_table(&key.table, Mode::ShareRowExclusive).map_err(|error| {
                if error.code() == code::WRONG_OBJECT_TYPE {
                    SqlError::new(
                        code::WRONG_OBJECT_TYPE,
                        format!("referenced relation \"{}\" is not a table", key.table.name),
                    )
                } else {
                    error
                }
            })?,
        };
        self.check_lifetimes(table, &parent)?;
        let of = |table: &Table, name: &String| -> Result<u16> {
            table.find(name).ok_or_else(|| {
                SqlError::new(
                    code::UNDEFINED_COLUMN,
                    format!(
                        "column \"{name}\" referenced in foreign key constraint does not exist"
                    ),
                )
            })
        };
        let columns =
            key.columns.iter().map(|name| of(table, name)).collect::<Result<Vec<u16>>>()?;
        let mut set_columns = Vec::new();
        for name in &key.set_columns {
            let number = of(table, name)?;
            if !columns.contains(&number) {
                return Err(SqlError::new(
                    code::INVALID_COLUMN_REFERENCE,
                    format!(
                        "column \"{name}\" referenced in ON DELETE SET action must be part of \
                         foreign key"
                    ),
                ));
            }
            set_columns.push(number);
        }
        let (referenced, index) = self.referenced_key(&parent, key)?;
        if columns.len() != referenced.len() {
            return Err(SqlError::new(
                code::INVALID_FOREIGN_KEY,
                "number of referencing and referenced columns for foreign key disagree",
            ));
        }
        let name = match &def.name {
            Some(name) => name.clone(),
            None => {
                let columns = joined(key.columns.iter().map(String::as_str));
                self.constraint_name(table, &columns, "fkey")
            }
        };
        self.check_comparable(&name, (table, &columns), (&parent, &referenced))?;
        let kind = ConstraintKind::ForeignKey(ForeignKey {
            columns,
            table: parent.oid,
            referenced,
            index,
            on_delete: key.on_delete,
            on_update: key.on_update,
            set_columns,
            match_full: key.match_full,
        });
        let made = self.made(def, name, kind);
        Ok(self.push(table, made))
    }

    /// The columns that are referred to, and the index over them.
    fn referenced_key(&self, parent: &Table, key: &ForeignKeyDef) -> Result<(Vec<u16>, Oid)> {
        if key.referenced.is_empty() {
            return match parent.primary_key() {
                Some((columns, index)) => Ok((columns.to_vec(), index)),
                None => Err(SqlError::new(
                    code::UNDEFINED_OBJECT,
                    format!("there is no primary key for referenced table \"{}\"", parent.name),
                )),
            };
        }
        let mut columns = Vec::new();
        for name in &key.referenced {
            columns.push(parent.find(name).ok_or_else(|| {
                SqlError::new(
                    code::UNDEFINED_COLUMN,
                    format!(
                        "column \"{name}\" referenced in foreign key constraint does not exist"
                    ),
                )
            })?);
        }
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        let fits = |index: &&Arc<Index>| {
            let mut keys: Vec<u16> = index
                .keys
                .iter()
                .filter_map(|it| match it.what {
                    IndexedExpr::Column(column) => Some(column),
                    IndexedExpr::Expr(_) => None,
                })
                .collect();
            keys.sort_unstable();
            index.unique
                && index.predicate.is_none()
                && keys == sorted
                && keys.len() == index.keys.len()
        };
        let found = parent.indexes.iter().filter_map(|&oid| self.catalog().index(oid)).find(fits);
        match found {
            Some(index) => Ok((columns, index.oid)),
            None => Err(SqlError::new(
                code::INVALID_FOREIGN_KEY,
                format!(
                    "there is no unique constraint matching given keys for referenced table \
                     \"{}\"",
                    parent.name
                ),
            )),
        }
    }

    /// What is temporary refers to what is temporary alone, and is referred to by nothing else.
    fn check_lifetimes(&self, table: &Table, parent: &Table) -> Result<()> {
        let is_temporary = |table: &Table| self.env.path.temporary == Some(table.schema);
        let (own, other) = match (is_temporary(table), is_temporary(parent)) {
            (true, false) => ("temporary", "temporary"),
            (false, true) => ("permanent", "permanent"),
            _ => return Ok(()),
        };
        let message = format!("constraints on {own} tables may reference only {other} tables");
        Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message))
    }

    /// An error if the columns cannot be compared.
    fn check_comparable(
        &self,
        name: &str,
        (child, columns): (&Table, &[u16]),
        (parent, referenced): (&Table, &[u16]),
    ) -> Result<()> {
        use crate::types::TypeLookup;
        for (&own, &other) in columns.iter().zip(referenced) {
            let (left, right) = (child.column(own), parent.column(other));
            let base = |ty| self.catalog().base_type(ty);
            if !is_comparable(base(left.ty), base(right.ty)) {
                return Err(SqlError::new(
                    code::DATATYPE_MISMATCH,
                    format!("foreign key constraint \"{name}\" cannot be implemented"),
                )
                .detail(format!(
                    "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
                    left.name,
                    right.name,
                    self.env.type_name(left.ty, left.typmod),
                    self.env.type_name(right.ty, right.typmod)
                )));
            }
        }
        Ok(())
    }
}

/// Whether the index over the referenced column finds values of the referring one: there is an
/// operator for the two among those of the index, or the value becomes one of the index by itself.
fn is_comparable(own: Oid, referenced: Oid) -> bool {
    const FAMILIES: [&[Oid]; 3] = [
        &[Oid::INT2, Oid::INT4, Oid::INT8],
        &[Oid::FLOAT4, Oid::FLOAT8],
        &[Oid::DATE, Oid::TIMESTAMP, Oid::TIMESTAMPTZ],
    ];
    let is_family = |family: &&[Oid]| family.contains(&own) && family.contains(&referenced);
    let cast = builtin().casts.get(&(own, referenced));
    own == referenced
        || FAMILIES.iter().any(is_family)
        || cast.is_some_and(|(_, context)| *context == CastContext::Implicit)
}
