//! Functions in FROM.

use super::call::{FromCall, output_columns};
use super::{Binder, Clause, fold, split_name};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind, From, FromFunction, OutColumn, SetCall};
use crate::types::{Array, Datum, Oid, TypeKind};
use sqlparser::ast;
use std::sync::Arc;

/// What `json_to_record` and the like are told of the columns that are wanted: a row of nulls, and
/// the modifiers of their types.
fn shape(columns: &[OutColumn]) -> [Expr; 2] {
    let fields = columns.iter().map(|it| Expr::null(it.ty)).collect();
    let names = columns.iter().map(|it| it.name.clone()).collect();
    let row = Expr { kind: ExprKind::Row { fields, names }, ty: Oid::RECORD, typmod: -1 };
    let typmods = columns.iter().map(|it| Datum::Int4(it.typmod)).collect();
    let typmods = Datum::Array(Arc::new(Array::of(Oid::INT4, typmods)));
    [row, Expr::constant(typmods, Oid::INT4_ARRAY)]
}

impl Binder<'_> {
    pub(super) fn function_table(
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
        let plain = split_name(name)?.1;
        // ROWS FROM, see `parse/grammar.rs`.
        if plain.starts_with(crate::parse::MARK) {
            return self.rows_from(&written.args, alias, ordinality);
        }
        let mut bound = Vec::new();
        for ast in &written.args {
            bound.push(self.in_clause(Clause::From, |binder| binder.expr(ast))?);
        }
        if plain == "unnest" && bound.len() > 1 {
            return self.unnest(
                &written.args.into_iter().cloned().collect::<Vec<_>>(),
                alias,
                ordinality,
            );
        }
        let first = name.0.first().and_then(|it| it.as_ident());
        let position = first.map_or(0, |it| self.position(it.span));
        let call = self.function_in_from(&plain, bound, &written.names, written.variadic);
        let call = call.map_err(|error| error.at(position))?;
        let (function, columns) = self.function_columns(call, &plain, alias)?;
        self.add_functions(vec![function], columns, &plain, alias, ordinality)
    }

    /// Functions side by side.
    fn rows_from(
        &mut self,
        calls: &[&ast::Expr],
        alias: Option<&ast::TableAlias>,
        ordinality: bool,
    ) -> Result<From> {
        let (mut functions, mut columns) = (Vec::new(), Vec::new());
        for ast in calls {
            let ast::Expr::Function(function) = ast else {
                return Err(SqlError::unsupported(format!("{ast} in ROWS FROM")));
            };
            let written = super::call::written(function)?;
            let mut args = Vec::new();
            for ast in &written.args {
                args.push(self.in_clause(Clause::From, |binder| binder.expr(ast))?);
            }
            let name = split_name(&function.name)?.1;
            let call = self.function_in_from(&name, args, &written.names, written.variadic)?;
            let (function, names) = self.function_columns(call, &name, None)?;
            functions.push(function);
            columns.extend(names);
        }
        self.add_functions(functions, columns, "", alias, ordinality)
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
            collation: None,
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
        let is_typed = !typed.is_empty();
        if is_typed {
            let is_named = outputs.iter().any(|(name, _)| !name.is_empty());
            self.check_definitions(ty, is_named).map_err(|error| {
                let first = alias.and_then(|alias| alias.columns.first());
                error.at(first.map_or(0, |it| self.position(it.name.span)))
            })?;
        }
        let columns = if is_typed {
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
        if is_typed && let FromCall::Set(call) = &call {
            self.check_base(call, &types)?;
        }
        let shape = (is_typed && proc.is_some_and(|it| it.name.contains("_to_record")))
            .then(|| shape(&columns));
        let function = match call {
            FromCall::Set(mut call) => {
                call.args.extend(shape.into_iter().flatten());
                call.columns = types;
                FromFunction::Set(call)
            }
            FromCall::Scalar(mut expr) => {
                if let ExprKind::Call { args, .. } = &mut expr.kind {
                    args.extend(shape.into_iter().flatten());
                }
                FromFunction::Scalar(expr, types)
            }
        };
        Ok((function, columns))
    }

    /// What a function is given as an example of its rows must have the columns that are defined.
    fn check_base(&self, call: &SetCall, wanted: &[Oid]) -> Result<()> {
        let Some(ExprKind::Row { fields, .. }) = call.args.first().map(|arg| &arg.kind) else {
            return Ok(());
        };
        let found: Vec<Oid> = fields.iter().map(|field| field.ty).collect();
        if found == wanted {
            return Ok(());
        }
        let message = "function return row and query-specified return row do not match";
        Err(SqlError::new(code::DATATYPE_MISMATCH, message))
    }

    /// Definitions of columns are for functions that return any record.
    fn check_definitions(&self, ty: Oid, has_outputs: bool) -> Result<()> {
        let message = if has_outputs && ty == Oid::RECORD {
            "a column definition list is redundant for a function with OUT parameters"
        } else if matches!(self.catalog.kind(ty), Some(TypeKind::Composite(_))) {
            "a column definition list is redundant for a function returning a named composite type"
        } else if ty != Oid::RECORD {
            "a column definition list is only allowed for functions returning \"record\""
        } else {
            return Ok(());
        };
        Err(SqlError::new(code::SYNTAX_ERROR, message))
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
                collation: None,
            });
        }
        let start = self.level().width;
        self.add_columns(name, None, alias, &columns, Oid::NONE)?;
        Ok(From::Functions { functions, ordinality, start })
    }

    /// UNNEST of several arrays: side by side.
    pub(super) fn unnest(
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
