//! CREATE TABLE … (LIKE …).

use super::Ddl;
use crate::catalog::{ConstraintKind, Index, IndexedExpr, Table};
use crate::error::Result;
use crate::locks::Mode;
use crate::parse::ast::{
    ColumnDef, ConstraintDef, CreateIndex, CreateTable, IdentityDef, IndexKeyDef, Like, Name,
    TableConstraint,
};
use std::sync::Arc;

impl Ddl<'_> {
    /// The same statement with the columns of other tables in the places of LIKE.
    pub(super) fn with_likes(&mut self, create: &CreateTable) -> Result<CreateTable> {
        let mut made = create.clone();
        for (place, like) in create.likes.iter().rev() {
            let table = self.need_relation(&like.table, Mode::AccessShare)?;
            let columns = table.live().map(|(_, column)| self.like_column(column, like));
            let columns: Vec<ColumnDef> = columns.collect::<Result<_>>()?;
            made.columns.splice(*place..*place, columns);
            if like.constraints {
                made.constraints.extend(checks(&table));
            }
        }
        Ok(made)
    }

    fn like_column(&self, column: &crate::catalog::Column, like: &Like) -> Result<ColumnDef> {
        use crate::types::TypeLookup;
        let ty = self.env.type_name(column.ty, column.typmod);
        let default = column.default.as_ref();
        let plain = default.filter(|it| !it.generated && like.defaults);
        let generated = default.filter(|it| it.generated && like.generated);
        let identity = column.identity.filter(|_| like.identity);
        Ok(ColumnDef {
            name: column.name.to_string(),
            ty: crate::parse::data_type(&ty)?,
            collation: column.collation.and_then(|it| self.collation_written(it)),
            not_null: Some(column.not_null),
            default: plain.map(|it| it.text.to_string()),
            generated: generated.map(|it| it.text.to_string()),
            identity: identity.map(|it| IdentityDef { always: it.always, options: Vec::new() }),
            constraints: Vec::new(),
        })
    }

    /// INCLUDING INDEXES.
    pub(super) fn copy_indexes(
        &mut self,
        to: crate::types::Oid,
        create: &CreateTable,
    ) -> Result<()> {
        for (_, like) in create.likes.iter().filter(|(_, like)| like.indexes) {
            let from = self.need_relation(&like.table, Mode::AccessShare)?;
            for &oid in &from.indexes {
                let Some(index) = self.catalog().index(oid).cloned() else { continue };
                self.copy_index(to, &from, &index)?;
            }
        }
        Ok(())
    }

    fn copy_index(
        &mut self,
        to: crate::types::Oid,
        from: &Arc<Table>,
        index: &Index,
    ) -> Result<()> {
        let name_of = |column: u16| from.column(column).name.to_string();
        let include: Vec<String> = index.include.iter().map(|&it| name_of(it)).collect();
        let columns: Vec<String> = index
            .keys
            .iter()
            .filter_map(|key| match key.what {
                IndexedExpr::Column(column) => Some(name_of(column)),
                IndexedExpr::Expr(_) => None,
            })
            .collect();
        if index.constraint.is_some() {
            let nulls_not_distinct = index.nulls_not_distinct;
            let kind = match index.primary {
                true => ConstraintDef::PrimaryKey { columns, include },
                false => ConstraintDef::Unique { columns, include, nulls_not_distinct },
            };
            self.add_constraint(to, &plain_constraint(None, kind))?;
            return Ok(());
        }
        let table = self.table(to)?;
        let keys = index.keys.iter().map(|key| IndexKeyDef {
            column: match key.what {
                IndexedExpr::Column(column) => Some(name_of(column)),
                IndexedExpr::Expr(_) => None,
            },
            expr: match &key.what {
                IndexedExpr::Column(_) => None,
                IndexedExpr::Expr(text) => Some(text.to_string()),
            },
            collation: key.collation.and_then(|it| self.collation_written(it)),
            class: key.class.as_deref().map(str::to_owned),
            descending: key.descending,
            nulls_first: Some(key.nulls_first),
        });
        let schema = self.catalog().schema_name(table.schema).to_string();
        let name = Name { schema: Some(schema), name: table.name.to_string(), position: 0 };
        self.create_index(&CreateIndex {
            name: None,
            table: name,
            unique: index.unique,
            concurrently: false,
            if_not_exists: false,
            method: index.method.to_string(),
            keys: keys.collect(),
            include,
            nulls_not_distinct: index.nulls_not_distinct,
            predicate: index.predicate.as_deref().map(str::to_owned),
        })
    }
}

fn plain_constraint(name: Option<String>, kind: ConstraintDef) -> TableConstraint {
    TableConstraint { name, kind, deferrable: false, deferred: false, not_valid: false }
}

fn checks(table: &Table) -> Vec<TableConstraint> {
    let all = table.constraints.iter().filter_map(|it| match &it.kind {
        ConstraintKind::Check { text, .. } => {
            let kind = ConstraintDef::Check(text.to_string());
            Some(plain_constraint(Some(it.name.to_string()), kind))
        }
        _ => None,
    });
    all.collect()
}
