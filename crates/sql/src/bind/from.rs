//! FROM: tables, queries, functions and joins.

use super::call::{FromCall, output_columns};
use super::names::NamedTable;
use super::query::{Unknowns, rename};
use super::{Binder, Clause, Item, Visible, fold, split_name};
use crate::catalog::system::SystemTable;
use crate::catalog::{Relation, Table};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, From, FromFunction, JoinKind, OutColumn, Query, TableRef};
use crate::types::{Oid, TypeKind};
use sqlparser::ast::{self, JoinConstraint, JoinOperator, TableFactor};
use std::sync::Arc;

/// What can be named at a level.
type Names = (Vec<Item>, Vec<Visible>);

impl Binder<'_> {
    /// A table with what is joined to it.
    pub(super) fn table_with_joins(&mut self, ast: &ast::TableWithJoins) -> Result<From> {
        self.nested(|binder| binder.joins(ast))
    }

    fn joins(&mut self, ast: &ast::TableWithJoins) -> Result<From> {
        // What stands before it in FROM is seen by LATERAL, but not by ON.
        let before: Names = self.names();
        let mut from = self.table_factor(&ast.relation)?;
        for join in &ast.joins {
            let left = self.names_behind(&before);
            let right = self.table_factor(&join.relation)?;
            from = self.join(&before, left, from, right, &join.join_operator)?;
        }
        Ok(from)
    }

    fn names(&mut self) -> Names {
        let level = self.level();
        (level.items.clone(), level.visible.clone())
    }

    fn set_names(&mut self, names: Names) {
        let level = self.level();
        (level.items, level.visible) = names;
    }

    /// What can be named now and could not be before.
    fn names_behind(&mut self, before: &Names) -> Names {
        let level = self.level();
        (level.items[before.0.len()..].to_vec(), level.visible[before.1.len()..].to_vec())
    }

    fn join(
        &mut self,
        before: &Names,
        left_names: Names,
        left: From,
        right: From,
        operator: &JoinOperator,
    ) -> Result<From> {
        let (kind, constraint) = match operator {
            JoinOperator::Join(it) | JoinOperator::Inner(it) => (JoinKind::Inner, it),
            JoinOperator::Left(it) | JoinOperator::LeftOuter(it) => (JoinKind::Left, it),
            JoinOperator::Right(it) | JoinOperator::RightOuter(it) => (JoinKind::Right, it),
            JoinOperator::FullOuter(it) => (JoinKind::Full, it),
            JoinOperator::CrossJoin(_) => (JoinKind::Inner, &JoinConstraint::None),
            other => return Err(SqlError::unsupported(format!("the join {other:?}"))),
        };
        let both = self.names_behind(before);
        let right_names: Names =
            (both.0[left_names.0.len()..].to_vec(), both.1[left_names.1.len()..].to_vec());
        let (on, visible) = match constraint {
            JoinConstraint::None => (None, both.1.clone()),
            JoinConstraint::On(ast) => {
                let all = self.names();
                self.set_names(both.clone());
                let on = self.in_clause(Clause::On, |it| it.condition(ast, "JOIN/ON"));
                self.set_names(all);
                (Some(on?), both.1.clone())
            }
            JoinConstraint::Using(names) => {
                let mut columns = Vec::new();
                for name in names {
                    columns.push(split_name(name)?.1);
                }
                self.using(kind, &columns, &left_names.1, &right_names.1)?
            }
            JoinConstraint::Natural => {
                let shown = |it: &&Visible| !it.system;
                let is_common = |it: &&Visible| {
                    right_names.1.iter().filter(shown).any(|other| other.name == it.name)
                };
                let left_shown = left_names.1.iter().filter(shown);
                let columns: Vec<String> =
                    left_shown.filter(is_common).map(|it| it.name.to_string()).collect();
                self.using(kind, &columns, &left_names.1, &right_names.1)?
            }
        };
        let mut names = before.clone();
        names.0.extend(both.0);
        names.1.extend(visible);
        self.set_names(names);
        Ok(From::Join { kind, left: Box::new(left), right: Box::new(right), on })
    }

    /// USING: the condition, and what is visible: the common columns once, then the others.
    fn using(
        &mut self,
        kind: JoinKind,
        names: &[String],
        left: &[Visible],
        right: &[Visible],
    ) -> Result<(Option<Expr>, Vec<Visible>)> {
        let mut on: Option<Expr> = None;
        let mut merged = Vec::new();
        for name in names {
            let (one, other) = (side(left, name, "left")?, side(right, name, "right")?);
            let equal = self.operator_call("=", Some(one.expr.clone()), other.expr.clone())?;
            on = Some(match on {
                Some(on) => super::expr::join_logic(on, equal, true),
                None => equal,
            });
            let exprs = vec![one.expr.clone(), other.expr.clone()];
            let (mut exprs, ty) = self.unify(exprs, "JOIN/USING")?;
            let expr = match kind {
                JoinKind::Inner | JoinKind::Left => exprs.swap_remove(0),
                JoinKind::Right => exprs.swap_remove(1),
                JoinKind::Full => Expr { kind: ExprKind::Coalesce(exprs), ty, typmod: -1 },
            };
            let origin = if kind == JoinKind::Right { other.origin } else { one.origin };
            merged.push(Visible { name: one.name.clone(), expr, origin, system: false });
        }
        let is_merged = |it: &&Visible| it.system || !names.iter().any(|name| *it.name == **name);
        let rest = left.iter().chain(right).filter(is_merged).cloned();
        let visible = merged.into_iter().chain(rest).collect();
        Ok((on, visible))
    }

    fn table_factor(&mut self, factor: &TableFactor) -> Result<From> {
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

    fn nested_join(
        &mut self,
        inner: &ast::TableWithJoins,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let before = self.names();
        let from = self.table_with_joins(inner)?;
        let Some(alias) = alias else { return Ok(from) };
        // With an alias the parts inside can no longer be named.
        let (items, visible) = self.names_behind(&before);
        let mut columns: Vec<Visible> = visible.into_iter().filter(|it| !it.system).collect();
        rename_visible(&mut columns, alias)?;
        let start = items.first().map_or(0, |item| item.start);
        let mut names = before;
        names.0.extend(items.into_iter().map(|item| Item { lock_only: true, ..item }));
        names.1.extend(columns.iter().cloned());
        names.0.push(Item {
            schema: None,
            name: fold(&alias.name).into(),
            columns,
            row_type: Oid::NONE,
            start,
            table: None,
            lock_only: false,
        });
        self.set_names(names);
        Ok(from)
    }

    fn named_table(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
    ) -> Result<From> {
        let (schema, plain) = split_name(name)?;
        if schema.is_none()
            && let Some(cte) = self.ctes.iter().rev().find(|cte| *cte.name == *plain)
        {
            let cte = cte.clone();
            let start = self.level().width;
            let width = cte.columns.len();
            self.add_columns(&plain, None, alias, &cte.columns, Oid::NONE)?;
            return Ok(From::Cte { number: cte.number, start, width });
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
        self.unused(&name)?;
        let mut columns: Vec<Visible> = table
            .live()
            .map(|(number, column)| Visible {
                name: Arc::clone(&column.name),
                expr: Expr::column(start + number as usize - 1, column.ty, column.typmod),
                origin: Some((table.oid, number)),
                system: false,
            })
            .collect();
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
        let schema = match alias {
            Some(_) => None,
            None => Some(self.schema_name(table.schema)),
        };
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

    fn unused(&mut self, name: &str) -> Result<()> {
        if self.level().items.iter().any(|item| !item.lock_only && *item.name == *name) {
            return Err(SqlError::new(
                code::DUPLICATE_ALIAS,
                format!("table name \"{name}\" specified more than once"),
            ));
        }
        Ok(())
    }

    /// Adds a part of FROM with these columns.
    fn add_columns(
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
            self.unused(&name)?;
        }
        let place = |(place, column): (usize, &OutColumn)| Visible {
            name: Arc::clone(&column.name),
            expr: Expr::column(start + place, column.ty, column.typmod),
            origin: column.origin,
            system: false,
        };
        let mut visible: Vec<Visible> = columns.iter().enumerate().map(place).collect();
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
        let bind =
            |binder: &mut Self| binder.inside(|binder| binder.query(subquery, Unknowns::Resolve));
        let (query, correlated) = if lateral { bind(self)? } else { self.sealed(bind)? };
        if alias.is_none() {
            return Err(SqlError::new(code::SYNTAX_ERROR, "subquery in FROM must have an alias")
                .hint("For example, FROM (SELECT ...) [AS] foo."));
        }
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
            let bound = binder.inside(|binder| binder.query(&ast, Unknowns::Resolve));
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
        let column = |name: &str, ty| OutColumn { name: name.into(), ty, typmod: -1, origin: None };
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

    fn function_table(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::FunctionArg],
        alias: Option<&ast::TableAlias>,
        ordinality: bool,
    ) -> Result<From> {
        let function = ast::Function {
            name: name.clone(),
            uses_odbc_syntax: false,
            parameters: ast::FunctionArguments::None,
            args: ast::FunctionArguments::List(ast::FunctionArgumentList {
                duplicate_treatment: None,
                args: args.to_vec(),
                clauses: Vec::new(),
            }),
            within_group: Vec::new(),
            filter: None,
            null_treatment: None,
            over: None,
        };
        let written = super::call::written(&function)?;
        let mut bound = Vec::new();
        for ast in &written.args {
            bound.push(self.in_clause(Clause::From, |binder| binder.expr(ast))?);
        }
        let plain = split_name(name)?.1;
        if plain == "unnest" && bound.len() > 1 {
            return self.unnest(
                &written.args.into_iter().cloned().collect::<Vec<_>>(),
                alias,
                ordinality,
            );
        }
        let call = self.function_in_from(&plain, bound, &written.names, written.variadic)?;
        let (function, columns) = self.function_columns(call, &plain, alias)?;
        self.add_functions(vec![function], columns, &plain, alias, ordinality)
    }

    /// The columns of a function in FROM.
    fn function_columns(
        &mut self,
        call: FromCall,
        name: &str,
        alias: Option<&ast::TableAlias>,
    ) -> Result<(FromFunction, Vec<OutColumn>)> {
        let column = |name: &str, ty: Oid, typmod: i32| OutColumn {
            name: name.into(),
            ty,
            typmod,
            origin: None,
        };
        // AS f(a int, b text), for functions that return any record.
        let typed: Vec<OutColumn> = match alias {
            Some(alias) => alias
                .columns
                .iter()
                .filter_map(|it| Some((it, it.data_type.as_ref()?)))
                .map(|(it, ty)| {
                    let (ty, typmod) = self.data_type(ty)?;
                    Ok(column(&fold(&it.name), ty, typmod))
                })
                .collect::<Result<Vec<OutColumn>>>()?,
            None => Vec::new(),
        };
        let (ty, proc) = match &call {
            FromCall::Set(call) => (call.ty, Some(call.callee.proc)),
            FromCall::Scalar(expr) => match &expr.kind {
                ExprKind::Call { callee, .. } => (expr.ty, Some(callee.proc)),
                _ => (expr.ty, None),
            },
        };
        let outputs = proc.map(output_columns).unwrap_or_default();
        // A function of one plain column is named like it, or like its alias.
        let single = match alias {
            Some(alias) => fold(&alias.name),
            None => name.to_owned(),
        };
        let columns = if !typed.is_empty() {
            typed
        } else if let [(only, ty)] = outputs[..] {
            let ty = match &call {
                FromCall::Set(call) => call.columns.first().copied().unwrap_or(ty),
                FromCall::Scalar(_) => ty,
            };
            let _ = only;
            vec![column(if only.is_empty() { &single } else { only }, ty, -1)]
        } else if !outputs.is_empty() {
            let types: Vec<Oid> = match &call {
                FromCall::Set(call) => call.columns.clone(),
                FromCall::Scalar(_) => outputs.iter().map(|&(_, ty)| ty).collect(),
            };
            outputs.iter().zip(types).map(|(&(name, _), ty)| column(name, ty, -1)).collect()
        } else if let Some(TypeKind::Composite(fields)) = self.catalog.kind(ty) {
            fields.iter().map(|it| column(&it.name, it.ty, it.typmod)).collect()
        } else if ty == Oid::RECORD {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "a column definition list is required for functions returning \"record\"",
            ));
        } else {
            vec![column(&single, ty, -1)]
        };
        let types: Vec<Oid> = columns.iter().map(|column| column.ty).collect();
        let function = match call {
            FromCall::Set(mut call) => {
                call.columns = types;
                FromFunction::Set(call)
            }
            FromCall::Scalar(expr) => FromFunction::Scalar(expr, types),
        };
        Ok((function, columns))
    }

    fn add_functions(
        &mut self,
        functions: Vec<FromFunction>,
        mut columns: Vec<OutColumn>,
        name: &str,
        alias: Option<&ast::TableAlias>,
        ordinality: bool,
    ) -> Result<From> {
        if ordinality {
            columns.push(OutColumn {
                name: "ordinality".into(),
                ty: Oid::INT8,
                typmod: -1,
                origin: None,
            });
        }
        let start = self.level().width;
        self.add_columns(name, None, alias, &columns, Oid::NONE)?;
        Ok(From::Functions { functions, ordinality, start })
    }

    /// UNNEST of several arrays: side by side.
    fn unnest(
        &mut self,
        arrays: &[ast::Expr],
        alias: Option<&ast::TableAlias>,
        ordinality: bool,
    ) -> Result<From> {
        let (mut functions, mut columns) = (Vec::new(), Vec::new());
        for ast in arrays {
            let array = self.in_clause(Clause::From, |binder| binder.expr(ast))?;
            let call = self.function_in_from("unnest", vec![array], &[None], false)?;
            let alias = if arrays.len() == 1 { alias } else { None };
            let (function, names) = self.function_columns(call, "unnest", alias)?;
            functions.push(function);
            columns.extend(names);
        }
        self.add_functions(functions, columns, "unnest", alias, ordinality)
    }
}

fn side<'v>(visible: &'v [Visible], name: &str, which: &str) -> Result<&'v Visible> {
    let mut matching = visible.iter().filter(|it| !it.system && *it.name == *name);
    let found = matching.next().ok_or_else(|| {
        SqlError::new(
            code::UNDEFINED_COLUMN,
            format!("column \"{name}\" specified in USING clause does not exist in {which} table"),
        )
    })?;
    if matching.next().is_some() {
        return Err(SqlError::new(
            code::AMBIGUOUS_COLUMN,
            format!("common column name \"{name}\" appears more than once in {which} table"),
        ));
    }
    Ok(found)
}

fn rename_visible(columns: &mut [Visible], alias: &ast::TableAlias) -> Result<()> {
    if alias.columns.len() > columns.len() {
        return Err(SqlError::new(
            code::INVALID_COLUMN_REFERENCE,
            format!(
                "table \"{}\" has {} columns available but {} columns specified",
                fold(&alias.name),
                columns.len(),
                alias.columns.len()
            ),
        ));
    }
    for (column, name) in columns.iter_mut().zip(&alias.columns) {
        column.name = fold(&name.name).into();
    }
    Ok(())
}
