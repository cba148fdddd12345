//! Calls of functions: which one, with which arguments, and what those are that look like functions
//! but are not.

use super::{Binder, Clause, name_parts};
use crate::catalog::builtin::{CastContext, Proc};
use crate::catalog::type_names::alias;
use crate::error::{Result, SqlError, code};
use crate::ir::{Callee, Collated, Expr, ExprKind, SetCall};
use crate::types::{Datum, Oid, TypeKind};
use sqlparser::ast::{
    self, DuplicateTreatment, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments,
};
use std::sync::Arc;

/// The arguments as they were written.
pub(super) struct Written<'a> {
    pub args: Vec<&'a Ast>,
    pub names: Vec<Option<String>>,
    pub star: bool,
    pub variadic: bool,
    pub distinct: bool,
    pub order_by: &'a [ast::OrderByExpr],
}

impl Binder<'_> {
    pub(super) fn function(&mut self, function: &ast::Function) -> Result<Expr> {
        let mut parts = name_parts(&function.name)?;
        let name = parts.pop().unwrap_or_default();
        let position = match function.name.0.first() {
            Some(ast::ObjectNamePart::Identifier(ident)) => self.position(ident.span),
            _ => 0,
        };
        if let Some(schema) = parts.pop()
            && schema != "pg_catalog"
            && !(schema == "information_schema" && name == "_pg_expandarray")
        {
            self.catalog.need_schema(&schema)?;
            let message = format!("function {schema}.{name} does not exist");
            return Err(SqlError::new(code::UNDEFINED_FUNCTION, message).at(position));
        }
        let made = self.function_named(&name, function);
        made.map_err(|error| self.at_call(error, function, position))
    }

    fn function_named(&mut self, name: &str, function: &ast::Function) -> Result<Expr> {
        match &function.args {
            FunctionArguments::None => {
                if let Some(expr) = self.keyword_value(name)? {
                    return Ok(expr);
                }
            }
            FunctionArguments::Subquery(query) if name == "array" => {
                return self.array_subquery(query);
            }
            FunctionArguments::Subquery(query) => {
                // f((SELECT …)) with one pair of parentheses lost by the parser.
                let arg = self.scalar_subquery(query)?;
                return self.finish_call(name, vec![arg], &[None], false);
            }
            FunctionArguments::List(_) => {}
        }
        let written = written(function)?;
        if let Some(expr) = self.not_a_function(name, &written)? {
            return Ok(expr);
        }
        if function.over.is_some() && !function.within_group.is_empty() {
            let message = format!("OVER is not supported for ordered-set aggregate {name}");
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        if self.is_aggregate(name) || function.over.is_some() {
            return self.aggregate_or_window(name, function, written);
        }
        if function.filter.is_some() || written.distinct || !written.order_by.is_empty() {
            let what = match (written.distinct, written.order_by.is_empty()) {
                (true, _) => "DISTINCT",
                (false, false) => "ORDER BY",
                (false, true) => "FILTER",
            };
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("{what} specified, but {name} is not an aggregate function"),
            ));
        }
        let mut args = Vec::new();
        for ast in &written.args {
            let arg = self.expr(ast)?;
            args.push(if self.is_mysql() { self.mysql_argument(name, arg)? } else { arg });
        }
        self.finish_call(name, args, &written.names, written.variadic)
    }

    /// COALESCE, ROW and others that only look like functions.
    fn not_a_function(&mut self, name: &str, written: &Written<'_>) -> Result<Option<Expr>> {
        if let [precision] = written.args[..]
            && let Some(expr) = self.keyword_with_precision(name, precision)?
        {
            return Ok(Some(expr));
        }
        let mut args =
            || -> Result<Vec<Expr>> { written.args.iter().map(|ast| self.expr(ast)).collect() };
        Ok(Some(match name {
            // The row of a part of FROM, see `parse/grammar.rs`.
            "\0row" => {
                let Some(Ast::Identifier(row)) = written.args.first() else {
                    return Err(SqlError::internal("a row has a name"));
                };
                let of = super::fold(row);
                self.whole_row_named(&of).ok_or_else(|| {
                    let message = format!("missing FROM-clause entry for table \"{of}\"");
                    SqlError::new(code::UNDEFINED_TABLE, message)
                })?
            }
            "\0fields" => {
                let message = "row expansion via \"*\" is not supported here";
                return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
            }
            // A query in a list of IN, see `parse/rewrite.rs`.
            _ if name.starts_with(crate::parse::MARK) => args()?.swap_remove(0),
            "coalesce" | "greatest" | "least" if written.args.is_empty() => {
                return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \")\""));
            }
            "coalesce" => {
                let args = args()?;
                super::expr::refuse_sets(&args, "COALESCE")?;
                let (args, ty) = self.unify(args, "COALESCE")?;
                let typmod = Self::common_typmod(&args);
                Expr { kind: ExprKind::Coalesce(args), ty, typmod }
            }
            "greatest" | "least" => {
                let args = args()?;
                let greatest = name == "greatest";
                let (args, ty) = self.unify(args, if greatest { "GREATEST" } else { "LEAST" })?;
                self.need_order_of_bytes(name, &args)?;
                Expr { kind: ExprKind::Extreme { greatest, args }, ty, typmod: -1 }
            }
            "nullif" => {
                let args = args()?;
                self.null_if(args)?
            }
            "row" => super::composite::row_of(self.row_fields(written.args.iter().copied())?),
            "grouping" => {
                let args = args()?;
                let clause = self.level().clause;
                if matches!(clause, Clause::Where | Clause::On | Clause::GroupBy) {
                    let place = super::aggregate::clause_name(clause);
                    let message = format!("grouping operations are not allowed in {place}");
                    return Err(SqlError::new(code::GROUPING_ERROR, message));
                }
                Expr { kind: ExprKind::Grouping(args), ty: Oid::INT4, typmod: -1 }
            }
            "normalize" if let [text, Ast::Identifier(form)] = written.args[..] => {
                let form = super::fold(form).to_uppercase();
                if !matches!(form.as_str(), "NFC" | "NFD" | "NFKC" | "NFKD") {
                    return Ok(None);
                }
                let form = Expr::constant(Datum::text(form), Oid::TEXT);
                let text = self.expr(text)?;
                self.builtin_call(name, vec![text, form])?
            }
            "xmlparse" | "xmlelement" | "xmlconcat" => {
                return Err(SqlError::unsupported(name));
            }
            _ => return Ok(None),
        }))
    }

    fn null_if(&mut self, args: Vec<Expr>) -> Result<Expr> {
        let Ok([left, right]) = <[Expr; 2]>::try_from(args) else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "NULLIF takes two arguments"));
        };
        let equal = self.operator_call("=", Some(left.clone()), right)?;
        // The result has the type in which both are compared.
        let value = match &equal.kind {
            ExprKind::Call { args, .. } => match &args[0].kind {
                ExprKind::Collated { arg, by: Collated::Key, .. } => Expr::clone(arg),
                _ => args[0].clone(),
            },
            _ => left.clone(),
        };
        let value = self.labelled_like(value, &left)?;
        let (ty, typmod) = (value.ty, value.typmod);
        let kind = ExprKind::NullIf { equal: Box::new(equal), value: Box::new(value) };
        Ok(Expr { kind, ty, typmod })
    }

    /// A plain or set-returning function, or a cast that is written like one.
    pub(super) fn finish_call(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        names: &[Option<String>],
        variadic: bool,
    ) -> Result<Expr> {
        let mut args = args;
        let mut types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        // A literal that is given to the name of a type is read as one of that type.
        if types == [Oid::UNKNOWN] && !variadic && names == [None] && !self.is_mysql() {
            let ty = self.catalog.find_type(None, name, self.path).or_else(|| alias(name));
            let is_none = |ty| {
                matches!(self.catalog.kind(ty), Some(TypeKind::Pseudo | TypeKind::Composite(_)))
            };
            if let Some(ty) = ty.filter(|&ty| !is_none(ty)) {
                return self.coerce(args.remove(0), ty, -1, CastContext::Explicit);
            }
        }
        let mut found = self.find_function(name, &types, names, variadic);
        // In MySQL functions of texts take anything.
        if found.is_err() && self.is_mysql() && !args.is_empty() {
            let first = args.remove(0);
            args.insert(0, self.coerce(first, Oid::TEXT, -1, CastContext::Explicit)?);
            types[0] = Oid::TEXT;
            found = self.find_function(name, &types, names, variadic).or(found);
        }
        let found = match found {
            Ok(found) => found,
            Err(error) => match self.cast_or_field(name, args)? {
                Some(expr) => return Ok(expr),
                None => return Err(error),
            },
        };
        if variadic && found.proc.variadic == Oid::ANY {
            let args = self.spread(args)?;
            let names = vec![None; args.len()];
            return self.finish_call(name, args, &names, false);
        }
        // A known type as the name of a function of one argument is a cast, where that changes
        // nothing but the name.
        let (args, declared) = self.arrange(&found, args)?;
        if found.proc.returns_set {
            return self.set_returning(found.proc, args, &declared);
        }
        if found.proc.kind == b'w' {
            return Err(super::window::needs_over(name));
        }
        let mut call = self.call(found.proc, args, &declared, variadic || found.gathers)?;
        call.ty = self.result_type(found.proc, &call);
        if self.is_mysql() { self.mysql_result(name, call) } else { Ok(call) }
    }

    /// The arguments of a function of any values, with those that VARIADIC gives as an array.
    fn spread(&self, mut args: Vec<Expr>) -> Result<Vec<Expr>> {
        let Some(last) = args.pop() else { return Ok(args) };
        let Some(element) = self.catalog.element_of(self.catalog.base_type(last.ty)) else {
            let message = "VARIADIC argument must be an array";
            return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
        };
        match last.kind {
            ExprKind::Array { elements, nested: false } => args.extend(elements),
            ExprKind::Const(Datum::Array(array)) => {
                let elements = array.elements.iter().cloned();
                args.extend(elements.map(|value| Expr::constant(value, element)));
            }
            _ => return Err(SqlError::unsupported("VARIADIC with an array that is computed")),
        }
        Ok(args)
    }

    /// The result of some functions depends on more than their declaration says.
    fn result_type(&self, _proc: &Proc, call: &Expr) -> Oid {
        call.ty
    }

    /// Arguments in the order of the declaration, gathered and with defaults.
    fn arrange(
        &mut self,
        found: &super::resolve::Candidate,
        args: Vec<Expr>,
    ) -> Result<(Vec<Expr>, Vec<Oid>)> {
        let proc = found.proc;
        let mut placed: Vec<Option<Expr>> = vec![None; proc.args.len().max(args.len())];
        for (arg, &place) in args.into_iter().zip(&found.places) {
            placed[place] = Some(arg);
        }
        if found.gathers {
            return self.gather(found, placed.into_iter().flatten().collect());
        }
        let mut declared = Vec::new();
        let mut arranged = Vec::new();
        for (place, arg) in placed.into_iter().enumerate() {
            declared.push(proc.args.get(place).copied().unwrap_or(Oid::ANY));
            arranged.push(match arg {
                Some(arg) => arg,
                None => self.default_argument(proc, place)?,
            });
        }
        Ok((arranged, declared))
    }

    /// The last arguments become an array.
    fn gather(
        &mut self,
        found: &super::resolve::Candidate,
        args: Vec<Expr>,
    ) -> Result<(Vec<Expr>, Vec<Oid>)> {
        let proc = found.proc;
        let fixed = proc.args.len() - 1;
        let given: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let resolved = self.resolve_polymorphic(proc, &found.args, &given)?;
        let mut args = args;
        let rest = args.split_off(fixed);
        let mut elements = Vec::new();
        for (arg, &ty) in rest.into_iter().zip(&resolved.args[fixed..]) {
            elements.push(self.coerce(arg, ty, -1, CastContext::Implicit)?);
        }
        let element = resolved.args.get(fixed).copied().unwrap_or(proc.variadic);
        let ty = self.catalog.array_of(element).unwrap_or(Oid::TEXT_ARRAY);
        args.push(Expr { kind: ExprKind::Array { elements, nested: false }, ty, typmod: -1 });
        Ok((args, proc.args.clone()))
    }

    /// The default of an argument, which the catalog has as SQL.
    fn default_argument(&mut self, proc: &'static Proc, place: usize) -> Result<Expr> {
        let first = proc.args.len() - proc.defaults;
        let texts: Vec<&str> = proc.default_text.split(", ").collect();
        let text = texts.get(place.wrapping_sub(first)).copied().ok_or_else(|| {
            SqlError::internal(format!("function {} has no such default", proc.name))
        })?;
        let ast = crate::parse::expression(text)?;
        let expr = self.expr(&ast)?;
        self.coerce(expr, proc.args[place], -1, CastContext::Implicit)
    }

    /// `text(x)` is a cast and `name(row)` a field.
    fn cast_or_field(&mut self, name: &str, args: Vec<Expr>) -> Result<Option<Expr>> {
        let Ok([arg]) = <[Expr; 1]>::try_from(args) else { return Ok(None) };
        let ty = self.catalog.find_type(None, name, self.path).or_else(|| alias(name));
        if let Some(ty) = ty
            && let Some(expr) = self.try_coerce(arg.clone(), ty, -1, CastContext::Explicit)?
        {
            return Ok(Some(expr));
        }
        let is_row = matches!(self.catalog.kind(arg.ty), Some(TypeKind::Composite(_)))
            || matches!(arg.kind, ExprKind::WholeRow { .. });
        if is_row { self.field(arg, name).map(Some) } else { Ok(None) }
    }

    fn set_returning(
        &mut self,
        proc: &'static Proc,
        args: Vec<Expr>,
        declared: &[Oid],
    ) -> Result<Expr> {
        let call = self.set_call(proc, args, declared)?;
        if self.level().in_aggregate {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "aggregate function calls cannot contain set-returning function calls",
            ));
        }
        self.check_sets_here()?;
        let ty = call.ty;
        let typmod = self.record_shape(&call);
        let level = self.level();
        let place = level.sets.iter().position(|other| *other == call).unwrap_or_else(|| {
            level.sets.push(call);
            level.sets.len() - 1
        });
        Ok(Expr { kind: ExprKind::SetReturning(place), ty, typmod })
    }

    /// Where a function may not return several rows.
    fn check_sets_here(&mut self) -> Result<()> {
        let takes_sets = self.level().takes_sets;
        let message = match self.level().clause {
            Clause::Targets | Clause::OrderBy | Clause::GroupBy => return Ok(()),
            Clause::Values if takes_sets => return Ok(()),
            Clause::From => "set-returning functions must appear at top level of FROM".to_owned(),
            clause => {
                let name = super::aggregate::clause_name(clause);
                format!("set-returning functions are not allowed in {name}")
            }
        };
        Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message))
    }

    /// Remembers the fields of a row that a function returns: a query around may ask for them.
    fn record_shape(&mut self, call: &SetCall) -> i32 {
        let outputs = output_columns(call.callee.proc);
        if call.ty != Oid::RECORD || outputs.is_empty() {
            return -1;
        }
        let names = outputs.iter().map(|(name, _)| Arc::from(*name));
        self.records.push(names.zip(call.columns.iter().copied()).collect());
        self.records.len() as i32 - 1
    }

    /// A set-returning function with its arguments.
    pub(super) fn set_call(
        &mut self,
        proc: &'static Proc,
        args: Vec<Expr>,
        declared: &[Oid],
    ) -> Result<SetCall> {
        let given: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let resolved = self.resolve_polymorphic(proc, declared, &given)?;
        let mut converted = Vec::new();
        for (arg, &ty) in args.into_iter().zip(&resolved.args) {
            converted.push(self.coerce(arg, ty, -1, CastContext::Implicit)?);
        }
        let callee: Callee = self.callee(proc)?;
        let outputs = output_columns(proc);
        let columns = if outputs.is_empty() {
            vec![resolved.result]
        } else {
            outputs.iter().map(|&(_, ty)| self.output_type(ty, &resolved)).collect()
        };
        self.need_order_of_bytes("a function that returns a set", &converted)?;
        Ok(SetCall { callee, args: converted, columns, ty: resolved.result })
    }

    fn output_type(&self, ty: Oid, resolved: &super::resolve::Resolved) -> Oid {
        if !super::coerce::is_polymorphic(ty) {
            return ty;
        }
        self.concrete(ty, resolved.element).unwrap_or(resolved.result)
    }

    /// A function in FROM: found like any other.
    pub(super) fn function_in_from(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        names: &[Option<String>],
        variadic: bool,
    ) -> Result<FromCall> {
        let types: Vec<Oid> = args.iter().map(|arg| arg.ty).collect();
        let found = self.find_function(name, &types, names, variadic)?;
        let (args, declared) = self.arrange(&found, args)?;
        if found.proc.returns_set {
            return Ok(FromCall::Set(self.set_call(found.proc, args, &declared)?));
        }
        Ok(FromCall::Scalar(self.call(found.proc, args, &declared, variadic || found.gathers)?))
    }
}

/// A function in FROM.
pub(super) enum FromCall {
    Set(SetCall),
    Scalar(Expr),
}

/// The columns of a function's result, by its output arguments.
pub(crate) fn output_columns(proc: &Proc) -> Vec<(&'static str, Oid)> {
    let outputs = proc.modes.iter().enumerate().filter(|(_, mode)| matches!(mode, b'o' | b't'));
    outputs
        .map(|(place, _)| {
            let name = proc.names.get(place).copied().unwrap_or("");
            let ty = proc.all_args.get(place).copied().unwrap_or(Oid::TEXT);
            (name, ty)
        })
        .collect()
}

/// The row whose fields are meant, see `parse/grammar.rs`.
pub(super) fn marked_fields(ast: &Ast) -> Option<&Ast> {
    let Ast::Function(function) = ast else { return None };
    let [ast::ObjectNamePart::Identifier(name)] = &function.name.0[..] else { return None };
    if name.value.strip_prefix(crate::parse::MARK) != Some("fields") {
        return None;
    }
    let FunctionArguments::List(list) = &function.args else { return None };
    match &list.args[..] {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(row))] => Some(row),
        _ => None,
    }
}

/// The arguments of a call as they were written.
pub(super) fn written(function: &ast::Function) -> Result<Written<'_>> {
    let mut written = Written {
        args: Vec::new(),
        names: Vec::new(),
        star: false,
        variadic: false,
        distinct: false,
        order_by: &[],
    };
    let FunctionArguments::List(list) = &function.args else { return Ok(written) };
    written.distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    for arg in &list.args {
        let (name, value) = match arg {
            FunctionArg::Unnamed(value) => (None, value),
            FunctionArg::Named { name, arg, .. } => (Some(super::fold(name)), arg),
            FunctionArg::ExprNamed { name: Ast::Identifier(name), arg, .. } => {
                (Some(super::fold(name)), arg)
            }
            other => return Err(SqlError::unsupported(format!("the argument {other}"))),
        };
        // See `parse/synonyms.rs`.
        let is_variadic = name.as_deref() == Some(crate::parse::VARIADIC);
        written.variadic |= is_variadic;
        let name = name.filter(|_| !is_variadic);
        match value {
            FunctionArgExpr::Expr(expr) => {
                written.args.push(expr);
                written.names.push(name);
            }
            FunctionArgExpr::Wildcard if written.distinct => {
                return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error at or near \"*\""));
            }
            FunctionArgExpr::Wildcard => written.star = true,
            other => return Err(SqlError::unsupported(format!("the argument {other}"))),
        }
    }
    for clause in &list.clauses {
        match clause {
            ast::FunctionArgumentClause::OrderBy(keys) => written.order_by = keys,
            other => return Err(SqlError::unsupported(format!("{other} in a call"))),
        }
    }
    Ok(written)
}
