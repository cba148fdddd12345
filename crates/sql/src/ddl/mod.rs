//! Changes of the catalog, which are part of their transaction.
//!
//! [`Ddl`] is one statement while it runs: it changes the catalog through the transaction's edit
//! and always looks at the catalog as that leaves it. A table that is there is locked first. Where
//! rows have to be written anew they go to another heap (`execute/rewrite.rs`), so that a rollback
//! of the catalog is a rollback of the rows.

mod alter;
mod alter_column;
mod collation;
mod comment;
mod constraint;
mod create_table;
mod depend;
mod drop;
mod extension;
mod index;
mod like;
mod names;
mod rename;
mod sequence;
mod table_as;
mod truncate;
mod types;
mod view;

use crate::catalog::{Catalog, Object, Relation, Table, schema};
use crate::env::Env;
use crate::error::{Result, SqlError, code};
use crate::execute::Exec;
use crate::ir::{Expr, ExprKind};
use crate::locks::Mode;
use crate::parse::ast::{Lifetime, Name, Utility};
use crate::transaction::TxnState;
use crate::types::Oid;
use std::sync::Arc;

/// A change of the catalog while it is made.
#[derive(Debug)]
pub struct Ddl<'d> {
    /// What it may know; its catalog is as the changes so far leave it.
    pub env: Env,
    /// The transaction.
    pub txn: &'d mut TxnState,
    /// What the client is to be told.
    pub notices: Vec<SqlError>,
    /// The text of the statement.
    pub text: &'d str,
}

impl<'d> Ddl<'d> {
    /// A statement that begins.
    pub fn new(env: Env, txn: &'d mut TxnState, text: &'d str) -> Ddl<'d> {
        Ddl { env, txn, notices: Vec::new(), text }
    }

    /// Runs a statement: its tag, or none if it changes no catalog.
    pub fn run(&mut self, utility: &Utility) -> Result<Option<String>> {
        use Utility as U;
        let done = |tag: &str| Ok(Some(tag.to_owned()));
        match utility {
            U::CreateTable(it) => self.create_table(it).and_then(|()| done("CREATE TABLE")),
            U::CreateTableAs(it) => self.create_table_as(it).map(Some),
            U::CreateIndex(it) => self.create_index(it).and_then(|()| done("CREATE INDEX")),
            U::CreateSequence(it) => {
                self.create_sequence(it).and_then(|()| done("CREATE SEQUENCE"))
            }
            U::AlterSequence { name, if_exists, options } => {
                self.alter_sequence(name, *if_exists, options)?;
                done("ALTER SEQUENCE")
            }
            U::CreateView(it) if it.materialized => self.create_materialized_view(it).map(Some),
            U::CreateView(it) => self.create_view(it).and_then(|()| done("CREATE VIEW")),
            U::RefreshView { name, with_data } => {
                self.refresh(name, *with_data)?;
                done("REFRESH MATERIALIZED VIEW")
            }
            U::CreateSchema { name, if_not_exists, elements } => {
                self.create_schema(name.as_deref(), *if_not_exists, elements)?;
                done("CREATE SCHEMA")
            }
            U::CreateCollation(it) => {
                self.create_collation(it).and_then(|()| done("CREATE COLLATION"))
            }
            U::DropCollation { names, if_exists, cascade } => {
                self.drop_collations(names, *if_exists, *cascade)?;
                done("DROP COLLATION")
            }
            U::CreateExtension { name, if_not_exists, schema } => {
                self.create_extension(name, *if_not_exists, schema.as_deref())?;
                done("CREATE EXTENSION")
            }
            U::CreateEnum { name, labels } => {
                self.create_enum(name, labels).and_then(|()| done("CREATE TYPE"))
            }
            U::CreateComposite { name, fields } => {
                self.create_composite(name, fields).and_then(|()| done("CREATE TYPE"))
            }
            U::CreateDomain(it) => self.create_domain(it).and_then(|()| done("CREATE DOMAIN")),
            U::AlterTable(it) => self.alter_table(it).map(Some),
            U::AlterType { name, change } => {
                self.alter_type(name, change).and_then(|()| done("ALTER TYPE"))
            }
            U::AlterDomain { name, change } => {
                self.alter_domain(name, change).and_then(|()| done("ALTER DOMAIN"))
            }
            U::Rename { kind, name, if_exists, to } => {
                self.rename(*kind, name, *if_exists, to)?;
                Ok(Some(format!("ALTER {}", kind.word().to_uppercase())))
            }
            U::SetSchema { kind, name, if_exists, schema } => {
                self.set_schema(*kind, name, *if_exists, schema)?;
                Ok(Some(format!("ALTER {}", kind.word().to_uppercase())))
            }
            U::Drop(it) => {
                self.drop_objects(it)?;
                Ok(Some(format!("DROP {}", it.kind.word().to_uppercase())))
            }
            U::Comment { on, text } => {
                self.comment(on, text.as_deref()).and_then(|()| done("COMMENT"))
            }
            U::Truncate { tables, restart, cascade } => {
                self.truncate(tables, *restart, *cascade)?;
                done("TRUNCATE TABLE")
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.env.catalog
    }

    pub(crate) fn put(&mut self, oid: Oid, object: Object) {
        self.env.database.cell_names().note(&object);
        self.txn.edit.put(oid, object);
        self.env.catalog = Arc::clone(self.txn.edit.catalog());
    }

    pub(crate) fn put_table(&mut self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
        self.put(table.oid, Object::Table(Arc::clone(&table)));
        table
    }

    pub(crate) fn remove(&mut self, oid: Oid) {
        self.txn.edit.remove(oid);
        self.env.catalog = Arc::clone(self.txn.edit.catalog());
    }

    pub(crate) fn new_oid(&self) -> Oid {
        self.env.database.new_oid()
    }

    pub(crate) fn exec(&mut self) -> Exec<'_> {
        Exec::new(&self.env, self.txn, &[])
    }

    pub(crate) fn notice(&mut self, code: &'static str, message: impl Into<String>) {
        self.notices.push(SqlError::new(code, message));
    }

    /// Locks a relation so that no other transaction can look at it.
    pub(crate) fn lock(&mut self, oid: Oid, mode: Mode) -> Result<()> {
        self.exec().lock_table(oid, mode)
    }

    /// The schema that a new object goes to.
    pub(crate) fn target_schema(&self, name: &Name, lifetime: Lifetime) -> Result<Oid> {
        let temporary = self.env.path.temporary;
        if lifetime != Lifetime::Permanent {
            let is_other = name.schema.as_deref().is_some_and(|it| it != "pg_temp");
            if is_other {
                return Err(SqlError::new(
                    code::INVALID_TABLE_DEFINITION,
                    "cannot create temporary relation in non-temporary schema",
                ));
            }
            return temporary.ok_or_else(|| SqlError::internal("no temporary schema"));
        }
        let found = match name.schema.as_deref() {
            Some("pg_temp") => {
                return temporary.ok_or_else(|| SqlError::internal("no temporary schema"));
            }
            Some(schema) => {
                self.catalog().need_schema(schema).map_err(|error| error.at(name.position))?
            }
            None => {
                let missing = || {
                    SqlError::new(
                        code::INVALID_SCHEMA_NAME,
                        "no schema has been selected to create in",
                    )
                    .at(name.position)
                };
                self.env.path.first().ok_or_else(missing)?
            }
        };
        if matches!(found, schema::PG_CATALOG | schema::INFORMATION_SCHEMA) {
            return Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to create \"{}\"", name.shown()),
            )
            .detail("System catalog modifications are currently disallowed."));
        }
        Ok(found)
    }

    pub(crate) fn find(&self, name: &Name) -> Option<Relation> {
        let schema = match name.schema.as_deref() {
            Some("pg_temp") => Some(self.env.path.temporary?),
            Some(schema) => Some(self.catalog().schema(schema)?),
            None => None,
        };
        let oid = self.catalog().find_relation(schema, &name.name, &self.env.path)?;
        self.catalog().relation_by_oid(oid)
    }

    pub(crate) fn no_relation(name: &Name) -> SqlError {
        SqlError::new(
            code::UNDEFINED_TABLE,
            format!("relation \"{}\" does not exist", name.shown()),
        )
    }

    /// A table, which is locked.
    pub(crate) fn need_table(&mut self, name: &Name, mode: Mode) -> Result<Arc<Table>> {
        let table = self.need_relation(name, mode)?;
        if table.materialized.is_some() {
            return Err(Self::not_a_table(name));
        }
        Ok(table)
    }

    fn not_a_table(name: &Name) -> SqlError {
        let message = format!("\"{}\" is not a table", name.name);
        SqlError::new(code::WRONG_OBJECT_TYPE, message)
    }

    /// A table or materialized view, which is locked.
    pub(crate) fn need_relation(&mut self, name: &Name, mode: Mode) -> Result<Arc<Table>> {
        let found = self.find(name);
        if found.is_none() && self.is_system(name) {
            return Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                format!("permission denied: \"{}\" is a system catalog", name.name),
            ));
        }
        match found {
            Some(Relation::Table(table)) => {
                self.lock(table.oid, mode)?;
                // Another transaction may have changed it before.
                self.txn.edit.rebase(&self.env.database.catalog());
                self.env.catalog = Arc::clone(self.txn.edit.catalog());
                self.catalog().table(table.oid).cloned().ok_or_else(|| Self::no_relation(name))
            }
            Some(_) => Err(Self::not_a_table(name)),
            None => Err(Self::no_relation(name)),
        }
    }

    fn is_system(&self, name: &Name) -> bool {
        let schemas: Vec<Oid> = match name.schema.as_deref() {
            Some(schema) => self.catalog().schema(schema).into_iter().collect(),
            None => self.env.path.all().collect(),
        };
        schemas.iter().any(|&it| crate::catalog::system::find(it, &name.name).is_some())
    }

    /// An error if there is such a relation already.
    pub(crate) fn check_new(&self, schema: Oid, name: &str) -> Result<()> {
        if self.catalog().relation_in(schema, name).is_none() {
            return Ok(());
        }
        Err(SqlError::new(code::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")))
    }

    /// The number of a column.
    pub(crate) fn need_column(&self, table: &Table, name: &str) -> Result<u16> {
        table.find(name).ok_or_else(|| {
            SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
            )
        })
    }

    /// The name of a relation with its kind, as messages have it.
    pub(crate) fn relation_shown(&self, oid: Oid) -> String {
        let (catalog, path) = (&self.env.catalog, &self.env.path);
        crate::catalog::type_names::relation_name(catalog, path, oid).unwrap_or_default()
    }
}

/// The columns of the row of a table that an expression looks at.
pub(crate) fn columns_of(expr: &Expr, width: usize) -> Vec<u16> {
    let mut found = Vec::new();
    expr.any(|expr, level| {
        match &expr.kind {
            ExprKind::Column { depth, index } if *depth == level && *index < width => {
                found.push(*index as u16 + 1);
            }
            ExprKind::WholeRow { depth, columns, .. } if *depth == level => {
                found.extend(columns.iter().map(|&it| it as u16 + 1));
            }
            _ => {}
        }
        false
    });
    found.sort_unstable();
    found.dedup();
    found
}
