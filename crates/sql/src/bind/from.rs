//! FROM: tables, views and queries.

use super::joins::rename_visible;
use super::names::NamedTable;
use super::query::{Unknowns, rename};
use super::{Binder, Item, Visible, fold, split_name};
use crate::catalog::system::SystemTable;
use crate::catalog::{Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, From, OutColumn, Query, TableRef};
use crate::types::Oid;
use sqlparser::ast::{self, TableFactor};
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn table_factor(&mut self, factor: &TableFactor) -> Result<From> {
        match factor {
            TableFactor::Table {
                name, alias, args: None, sample: None, with_ordinality, ..
            } => {
                if *with_ordinality {
                    return Err(SqlError::new(
                        code::SYNTAX_ERROR,
                        "syntax error at or near \"WITH\"",
                    ));
                }
                self.named_table(name, alias.as_ref())
            }
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
                self.function_table(name, &args.args, alias.as_ref(), *with_ordinality)
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                self.function_table(name, args, alias.as_ref(), *with_ordinality)
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                self.unnest(array_exprs, alias.as_ref(), *with_ordinality)
            }
            TableFactor::Derived { lateral, subquery, alias, sample: None } => {
                self.derived(*lateral, subquery, alias.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.nested_join(table_with_joins, alias.as_ref())
            }
            other => Err(SqlError::unsupported(format!("{other} in FROM"))),
        }
    }

    fn named_table(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let (schema, plain) = split_name(name)?;
        if schema.is_none()
            && let Some(cte) = self.ctes.iter_mut().rev().find(|cte| *cte.name == *plain)
        {
            cte.uses += 1;
            let cte = cte.clone();
            if cte.is_silent {
                let message = format!("WITH query \"{plain}\" does not have a RETURNING clause");
                return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
            }
            let start = self.level().width;
            let width = cte.columns.len();
            self.add_columns(&plain, None, alias, &cte.columns, Oid::NONE)?;
            let (unused, conditions) = (Vec::new(), Vec::new());
            return Ok(From::Cte { number: cte.number, start, width, unused, conditions });
        }
        match self.find_table(name)? {
            NamedTable::Relation(Relation::Table(table)) => self.table(table, alias),
            NamedTable::Relation(Relation::View(view)) => self.view(&view, alias),
            NamedTable::Relation(Relation::Sequence(sequence)) => {
                self.sequence_table(&sequence.name.clone(), sequence.oid, alias)
            }
            NamedTable::Relation(Relation::Index(index)) => Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("cannot open relation \"{}\"", index.name),
            )
            .detail("This operation is not supported for indexes.")),
            NamedTable::System(table) => self.system_table(table, alias),
        }
    }

    /// A table: all its columns ever, and behind these the number of the row.
    pub(super) fn table(
        &mut self,
        table: Arc<Table>,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let reference = self.table_ref(table, alias)?;
        Ok(From::Table(reference))
    }

    pub(super) fn table_ref(
        &mut self,
        table: Arc<Table>,
        alias: Option<&ast::TableAlias>,
    ) -> Result<TableRef> {
        let start = self.level().width;
        let name: Arc<str> = match alias {
            Some(alias) => fold(&alias.name).into(),
            None => Arc::clone(&table.name),
        };
        let schema = match alias {
            Some(_) => None,
            None => Some(self.schema_name(table.schema)),
        };
        self.unused(schema.as_deref(), &name)?;
        let mut columns: Vec<Visible> = Vec::new();
        for (number, column) in table.live() {
            let expr = Expr::column(start + number as usize - 1, column.ty, column.typmod);
            let own = self.catalog.own_collation(column.collation)?;
            columns.push(Visible {
                name: Arc::clone(&column.name),
                expr: self.labelled_column(expr, own.as_ref()),
                origin: Some((table.oid, number)),
                system: false,
            });
        }
        if let Some(alias) = alias {
            rename_visible(&mut columns, alias)?;
        }
        let row = start + table.columns.len();
        let system = |name: &str, expr: Expr| Visible {
            name: name.into(),
            expr,
            origin: None,
            system: true,
        };
        columns.push(system("ctid", Expr::column(row, Oid::TID, -1)));
        let oid = crate::types::Datum::Oid(table.oid.0);
        columns.push(system("tableoid", Expr::constant(oid, Oid::OID)));
        let xid = || Expr::constant(crate::types::Datum::Oid(3), Oid::XID);
        columns.push(system("xmin", xid()));
        columns.push(system("xmax", xid()));
        let reference = TableRef { table: Arc::clone(&table), alias: Arc::clone(&name), start };
        let level = self.level();
        level.width += reference.width();
        level.visible.extend(columns.iter().cloned());
        level.items.push(Item {
            schema,
            name,
            columns,
            row_type: table.row_type,
            start,
            table: Some(table.oid),
            lock_only: false,
        });
        Ok(reference)
    }

    fn unused(&mut self, schema: Option<&str>, name: &str) -> Result<()> {
        // Tables of different schemas are told apart by these.
        let is_other = |item: &Item| match (&item.schema, schema) {
            (Some(own), Some(schema)) => **own != *schema,
            _ => false,
        };
        let is_it = |item: &Item| !item.lock_only && *item.name == *name && !is_other(item);
        if self.level().items.iter().any(is_it) {
            return Err(SqlError::new(
                code::DUPLICATE_ALIAS,
                format!("table name \"{name}\" specified more than once"),
            ));
        }
        Ok(())
    }

    /// Adds a part of FROM with these columns.
    pub(super) fn add_columns(
        &mut self,
        name: &str,
        schema: Option<Arc<str>>,
        alias: Option<&ast::TableAlias>,
        columns: &[OutColumn],
        row_type: Oid,
    ) -> Result<()> {
        let start = self.level().width;
        let name: Arc<str> = match alias {
            Some(alias) => fold(&alias.name).into(),
            None => name.into(),
        };
        if !name.is_empty() {
            self.unused(schema.as_deref().filter(|_| alias.is_none()), &name)?;
        }
        let mut place = |(place, column): (usize, &OutColumn)| {
            let expr = Expr::column(start + place, column.ty, column.typmod);
            Visible {
                name: Arc::clone(&column.name),
                expr: self.labelled_column(expr, column.collation.as_ref()),
                origin: column.origin,
                system: false,
            }
        };
        let mut visible: Vec<Visible> = columns.iter().enumerate().map(&mut place).collect();
        if let Some(alias) = alias {
            rename_visible(&mut visible, alias)?;
        }
        let level = self.level();
        level.width += columns.len();
        level.visible.extend(visible.iter().cloned());
        level.items.push(Item {
            schema,
            name,
            columns: visible,
            row_type,
            start,
            table: None,
            lock_only: false,
        });
        Ok(())
    }

    fn derived(
        &mut self,
        lateral: bool,
        subquery: &ast::Query,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        if alias.is_none() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "subquery in FROM must have an alias")
                .hint("For example, FROM (SELECT ...) [AS] foo.")
                .at(self.place_before(subquery)));
        }
        let bind =
            |binder: &mut Self| binder.inside(|binder| binder.query(subquery, Unknowns::Resolve));
        let (query, correlated) = if lateral { bind(self)? } else { self.sealed(bind)? };
        self.add_query(query, lateral, correlated, alias)
    }

    fn add_query(
        &mut self,
        query: Query,
        lateral: bool,
        correlated: bool,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let start = self.level().width;
        self.add_columns("", None, alias, &query.columns, Oid::NONE)?;
        Ok(From::Query { query: Box::new(query), lateral, start, correlated })
    }

    /// With names looked for where the maker of a view looked for them.
    pub(super) fn on_path_of<T>(&mut self, view: Oid, bind: impl FnOnce(&mut Self) -> T) -> T {
        let catalog = self.catalog;
        let before = self.path;
        if let Some(crate::catalog::Object::View(view)) = catalog.get(view) {
            self.path = &view.path;
        }
        let bound = bind(self);
        self.path = before;
        bound
    }

    /// A view is its query.
    fn view(
        &mut self,
        view: &crate::catalog::View,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let ast = crate::parse::query(&view.text)?;
        // The names in it are those of its maker: CTEs around are not seen.
        let ctes = std::mem::take(&mut self.ctes);
        let bound = self.sealed(|binder| {
            let source = std::mem::take(&mut binder.source);
            let bound = binder.on_path_of(view.oid, |binder| {
                binder.inside(|binder| binder.query(&ast, Unknowns::Resolve))
            });
            binder.source = source;
            bound
        });
        self.ctes = ctes;
        let (mut query, correlated) = bound?;
        let names: Vec<String> = view.columns.iter().map(|it| it.name.to_string()).collect();
        rename(&mut query.columns, &names, &view.name)?;
        for (number, column) in (1..).zip(&mut query.columns) {
            column.origin = Some((view.oid, number));
        }
        let start = self.level().width;
        let schema = alias.is_none().then(|| self.schema_name(view.schema));
        self.add_columns(&view.name, schema, alias, &query.columns, view.row_type)?;
        Ok(From::Query { query: Box::new(query), lateral: false, start, correlated })
    }

    fn sequence_table(
        &mut self,
        name: &str,
        oid: Oid,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let proc = crate::catalog::builtin::builtin()
            .procs_named("pg_sequence_last_value")
            .next()
            .ok_or_else(|| SqlError::internal("pg_sequence_last_value"))?;
        let arg = Expr::constant(crate::types::Datum::Oid(oid.0), Oid::REGCLASS);
        let callee = self.callee(proc)?;
        let call = |kind| Expr { kind, ty: Oid::INT8, typmod: -1 };
        let last = call(ExprKind::Call { callee, args: vec![arg], variadic: false });
        let log = Expr::constant(crate::types::Datum::Int8(0), Oid::INT8);
        let called = Expr::bool(ExprKind::IsNotNull(Box::new(last.clone())));
        let start_value = self.catalog.sequence(oid).map_or(1, |sequence| sequence.start);
        let first = Expr::constant(crate::types::Datum::Int8(start_value), Oid::INT8);
        let last = call(ExprKind::Coalesce(vec![last, first]));
        let column = |name: &str, ty| OutColumn {
            name: name.into(),
            ty,
            typmod: -1,
            origin: None,
            collation: None,
        };
        let columns = vec![
            column("last_value", Oid::INT8),
            column("log_cnt", Oid::INT8),
            column("is_called", Oid::BOOL),
        ];
        let body = crate::ir::Body::Values(vec![vec![last, log, called]]);
        let query = Query { body, ..Query::values(Vec::new(), columns) };
        let start = self.level().width;
        self.add_columns(name, None, alias, &query.columns, Oid::NONE)?;
        Ok(From::Query { query: Box::new(query), lateral: false, start, correlated: false })
    }

    fn system_table(
        &mut self,
        table: SystemTable,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let start = self.level().width;
        let columns: Vec<OutColumn> = (1..)
            .zip(table.columns)
            .map(|(number, &(name, ty))| OutColumn {
                name: name.into(),
                ty,
                typmod: -1,
                origin: Some((table.oid, number)),
                collation: None,
            })
            .collect();
        let schema = if alias.is_some() { None } else { Some(table.schema.into()) };
        self.add_columns(table.name, schema, alias, &columns, Oid::NONE)?;
        // Rows of the catalog have an identifier of their table, too.
        let tableoid = Visible {
            name: "tableoid".into(),
            expr: Expr::constant(crate::types::Datum::Oid(table.oid.0), Oid::OID),
            origin: None,
            system: true,
        };
        let level = self.level();
        level.visible.push(tableoid.clone());
        if let Some(item) = level.items.last_mut() {
            item.columns.push(tableoid);
        }
        Ok(From::System { table, start })
    }
}
