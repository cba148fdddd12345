//! CREATE INDEX.

use super::Ddl;
use super::names::joined;
use crate::catalog::system::op_class;
use crate::catalog::{Index, IndexKey, IndexedExpr, Object, Table};
use crate::error::{Result, SqlError, code};
use crate::locks::Mode;
use crate::parse::ast::{CreateIndex, IndexKeyDef};
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn create_index(&mut self, create: &CreateIndex) -> Result<()> {
        let table = self.need_relation(&create.table, Mode::Share).map_err(|error| {
            let message = format!("cannot create index on relation \"{}\"", create.table.name);
            match error.code() {
                code::WRONG_OBJECT_TYPE => SqlError::new(code::WRONG_OBJECT_TYPE, message)
                    .detail("This operation is not supported for views."),
                _ => error,
            }
        })?;
        if let Some(name) = &create.name
            && let Err(error) = self.check_new(table.schema, name)
        {
            if create.if_not_exists {
                self.notice(code::DUPLICATE_TABLE, format!("{}, skipping", error.message()));
                return Ok(());
            }
            return Err(error);
        }
        self.check_method(create)?;
        let mut keys = Vec::new();
        for def in &create.keys {
            keys.push(self.index_key(&table, &create.method, def)?);
        }
        let mut include = Vec::new();
        for name in &create.include {
            include.push(self.index_column(&table, name)?);
        }
        if let Some(text) = &create.predicate {
            self.env.binder("").check_expr(&table, text)?;
        }
        let name = match &create.name {
            Some(name) => name.clone(),
            None => self.index_name(&table, create),
        };
        let index = Index {
            oid: self.new_oid(),
            name: name.into(),
            schema: table.schema,
            table: table.oid,
            keys,
            include,
            unique: create.unique,
            nulls_not_distinct: create.nulls_not_distinct,
            primary: false,
            predicate: create.predicate.as_deref().map(Into::into),
            method: create.method.as_str().into(),
            constraint: None,
            comment: None,
        };
        self.add_index(&table, index)
    }

    /// Adds an index and lets it know of all rows.
    pub(super) fn add_index(&mut self, table: &Arc<Table>, index: Index) -> Result<()> {
        let oid = index.oid;
        self.put(oid, Object::Index(Arc::new(index)));
        let mut changed = Table::clone(table);
        changed.indexes.push(oid);
        let table = self.put_table(changed);
        self.exec().check_all(&table)
    }

    fn check_method(&self, create: &CreateIndex) -> Result<()> {
        let known = ["btree", "hash", "gin", "gist", "spgist", "brin"];
        if !known.contains(&create.method.as_str()) {
            return Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("access method \"{}\" does not exist", create.method),
            ));
        }
        if create.unique && create.method != "btree" {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                format!("access method \"{}\" does not support unique indexes", create.method),
            ));
        }
        Ok(())
    }

    fn index_column(&self, table: &Table, name: &str) -> Result<u16> {
        table.find(name).ok_or_else(|| {
            SqlError::new(code::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
        })
    }

    fn index_key(
        &mut self,
        table: &Arc<Table>,
        method: &str,
        def: &IndexKeyDef,
    ) -> Result<IndexKey> {
        let what = match (&def.column, &def.expr) {
            (Some(name), _) => IndexedExpr::Column(self.index_column(table, name)?),
            (None, text) => IndexedExpr::Expr(text.as_deref().unwrap_or_default().into()),
        };
        let expr = self.env.binder("").index_expr(table, &what)?;
        if super::alter::is_mutable(&expr) {
            return Err(SqlError::new(
                code::INVALID_OBJECT_DEFINITION,
                "functions in index expression must be marked IMMUTABLE",
            ));
        }
        if let Some(name) = &def.class
            && op_class(self.catalog(), method, Some(name), expr.ty).is_none()
        {
            return Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("operator class \"{name}\" does not exist for access method \"{method}\""),
            ));
        }
        Ok(IndexKey {
            what,
            descending: def.descending,
            // Nulls are greater than all others unless it is said otherwise.
            nulls_first: def.nulls_first.unwrap_or(def.descending),
            class: def.class.as_deref().map(Into::into),
            collation: match &def.collation {
                Some(name) => {
                    self.collation_for(Some(name), expr.ty)?;
                    Some(self.need_collation(name)?)
                }
                None => None,
            },
        })
    }

    fn index_name(&self, table: &Table, create: &CreateIndex) -> String {
        let mut names: Vec<String> = Vec::new();
        let keys = create.keys.iter().map(|key| match (&key.column, &key.expr) {
            (Some(name), _) => name.clone(),
            (None, text) => expression_name(text.as_deref().unwrap_or_default()),
        });
        for name in keys.chain(create.include.iter().cloned()) {
            let mut unique = name.clone();
            let mut number = 1;
            while names.contains(&unique) {
                unique = format!("{name}{number}");
                number += 1;
            }
            names.push(unique);
        }
        let columns = joined(names.iter().map(String::as_str));
        self.relation_name(table.schema, &table.name, &columns, "idx", &[])
    }
}

/// A function's name stands for its call; anything else is `expr`.
fn expression_name(text: &str) -> String {
    match crate::parse::expression(text) {
        Ok(sqlparser::ast::Expr::Function(call)) => match call.name.0.last() {
            Some(sqlparser::ast::ObjectNamePart::Identifier(ident)) => crate::parse::fold(ident),
            _ => "expr".to_owned(),
        },
        _ => "expr".to_owned(),
    }
}
