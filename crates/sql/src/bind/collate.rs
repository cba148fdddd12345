//! Collations of expressions. What is in the order of bytes says nothing about it; everything else
//! is labelled, and what compares texts looks for labels.

use super::Binder;
use crate::catalog::builtin::{Proc, builtin};
use crate::catalog::system;
use crate::error::{Result, SqlError, code};
use crate::ir::{Collated, Expr, ExprKind};
use crate::types::{Collation, Oid};
use std::sync::Arc;

/// The collation of an expression.
#[derive(Clone, Debug)]
enum Derived {
    /// That of a column.
    Implicit(Arc<Collation>),
    /// That of COLLATE.
    Explicit(Arc<Collation>),
    /// Columns of different ones.
    Unclear,
}

/// What a function does with the collation of its arguments.
enum Use {
    /// Nothing.
    Nothing,
    /// It asks whether texts are equal: what asks that of bytes.
    Equality(&'static str),
    /// It asks which text comes first: what asks that of bytes.
    Order(&'static str),
    /// It looks for parts of texts.
    Parts(&'static str),
    /// It makes small or capital letters.
    Letters(Collated),
    /// It asks whether arrays or rows are equal.
    EqualityOfMany,
    /// Something else.
    Other,
}

fn use_of(source: &str) -> Use {
    match source {
        "texteq" | "bpchareq" => Use::Equality("byteaeq"),
        "textne" | "bpcharne" => Use::Equality("byteane"),
        "text_lt" | "bpcharlt" => Use::Order("bytealt"),
        "text_le" | "bpcharle" => Use::Order("byteale"),
        "text_gt" | "bpchargt" => Use::Order("byteagt"),
        "text_ge" | "bpcharge" => Use::Order("byteage"),
        "textlike" | "textnlike" | "bpcharlike" | "bpcharnlike" => Use::Parts("LIKE"),
        "textpos" | "replace_text" | "split_part" | "text_to_array" | "text_to_array_null"
        | "text_starts_with" => Use::Parts("substring searches"),
        "lower" => Use::Letters(Collated::Lower),
        "upper" => Use::Letters(Collated::Upper),
        "array_eq"
        | "array_ne"
        | "record_eq"
        | "record_ne"
        | "array_position"
        | "array_position_start"
        | "array_positions"
        | "array_remove"
        | "array_replace"
        | "arraycontains"
        | "arraycontained"
        | "arrayoverlap"
        | "record_image_eq"
        | "record_image_ne" => Use::EqualityOfMany,
        "initcap" | "pg_collation_for" | "width_bucket_array" => Use::Other,
        _ => {
            let patterns = ["regex", "icregex", "iclike", "icnlike", "similar"];
            let compares = ["array_l", "array_g", "record_l", "record_g", "btarray", "btrecord"];
            let is_other = patterns.iter().any(|part| source.contains(part))
                || compares.iter().any(|part| source.starts_with(part))
                || source.starts_with("nametext")
                || source.starts_with("textname")
                || matches!(source, "bttextcmp" | "bpcharcmp" | "text_larger" | "text_smaller");
            if is_other { Use::Other } else { Use::Nothing }
        }
    }
}

impl Binder<'_> {
    /// Says which collation an expression has.
    pub(super) fn labelled(&mut self, expr: Expr, collation: Arc<Collation>, by: Collated) -> Expr {
        self.collates = true;
        let (ty, typmod) = (expr.ty, expr.typmod);
        Expr { kind: ExprKind::Collated { arg: Box::new(expr), collation, by }, ty, typmod }
    }

    /// The same of a column, if there is anything to say.
    pub(super) fn labelled_column(&mut self, expr: Expr, own: Option<&Arc<Collation>>) -> Expr {
        match own {
            Some(own) if !own.is_bytes() => {
                self.labelled(expr, Arc::clone(own), Collated::Implicit)
            }
            _ => expr,
        }
    }

    /// What stands for another expression has its collation.
    pub(super) fn labelled_like(&mut self, expr: Expr, like: &Expr) -> Result<Expr> {
        Ok(match self.collation_at(like)? {
            None => expr,
            Some(Derived::Implicit(it)) => self.labelled(expr, it, Collated::Implicit),
            Some(Derived::Explicit(it)) => self.labelled(expr, it, Collated::Explicit),
            Some(Derived::Unclear) => {
                return Err(SqlError::unsupported("a comparison of different collations"));
            }
        })
    }

    /// COLLATE
    pub(super) fn collate(
        &mut self,
        expr: &sqlparser::ast::Expr,
        name: &sqlparser::ast::ObjectName,
    ) -> Result<Expr> {
        let ast = expr;
        let expr = self.expr(ast)?;
        let expr = self.resolve_unknown(expr)?;
        if system::type_collation(self.catalog, expr.ty) == Oid::NONE {
            let ty = self.type_name(expr.ty);
            let message = format!("collations are not supported by type {ty}");
            let error = SqlError::new(code::DATATYPE_MISMATCH, message);
            return Err(error.at(self.collate_place(ast)));
        }
        let (schema, name) = super::split_name(name)?;
        let oid = self.catalog.need_collation(schema.as_deref(), &name, self.path);
        let oid = oid.map_err(|error| error.at(self.collate_place(ast)))?;
        let collation = self.catalog.collation(oid)?;
        Ok(self.labelled(expr, collation, Collated::Explicit))
    }

    /// The collation of an expression, unless it is the order of bytes.
    fn collation_at(&self, expr: &Expr) -> Result<Option<Derived>> {
        if !self.collates {
            return Ok(None);
        }
        match &expr.kind {
            ExprKind::Collated { collation, by, .. } => Ok(match by {
                Collated::Explicit => Some(Derived::Explicit(Arc::clone(collation))),
                Collated::Implicit | Collated::Lower | Collated::Upper => {
                    Some(Derived::Implicit(Arc::clone(collation)))
                }
                Collated::Key => None,
            }),
            ExprKind::Row { fields, .. } => self.derived_of_all(fields.iter()),
            _ if system::type_collation(self.catalog, expr.ty) == Oid::NONE => Ok(None),
            ExprKind::Relabel(arg)
            | ExprKind::ThroughText(arg)
            | ExprKind::Typmod { arg, .. }
            | ExprKind::CheckDomain(arg)
            | ExprKind::ArrayCast { array: arg, .. }
            | ExprKind::NullIf { value: arg, .. }
            | ExprKind::Subscript { base: arg, .. } => self.collation_at(arg),
            ExprKind::Call { args, .. }
            | ExprKind::Coalesce(args)
            | ExprKind::Extreme { args, .. }
            | ExprKind::Array { elements: args, .. } => self.derived_of_all(args.iter()),
            ExprKind::Case { arms, otherwise, .. } => {
                let results = arms.iter().map(|(_, result)| result);
                self.derived_of_all(results.chain([&**otherwise]))
            }
            ExprKind::Scalar(query) | ExprKind::ArrayOf(query) => {
                let first = query.query.columns.first();
                let own = first.and_then(|column| column.collation.clone());
                Ok(own.map(Derived::Implicit))
            }
            _ => Ok(None),
        }
    }

    fn derived_of_all<'e>(&self, all: impl Iterator<Item = &'e Expr>) -> Result<Option<Derived>> {
        use Derived::{Explicit, Implicit, Unclear};
        let mut found = None;
        for expr in all {
            let next = self.collation_at(expr)?;
            found = match (found, next) {
                (Some(Explicit(one)), Some(Explicit(other))) if one != other => {
                    let message = format!(
                        "collation mismatch between explicit collations \"{}\" and \"{}\"",
                        one.name, other.name
                    );
                    return Err(SqlError::new(code::COLLATION_MISMATCH, message));
                }
                (Some(Explicit(one)), _) | (_, Some(Explicit(one))) => Some(Explicit(one)),
                (Some(Implicit(one)), Some(Implicit(other))) if one != other => Some(Unclear),
                (Some(Unclear), _) | (_, Some(Unclear)) => Some(Unclear),
                (one, other) => one.or(other),
            };
        }
        Ok(found)
    }

    /// The collation under which something is compared, unless that is by bytes.
    fn compared_by(&self, derived: Option<Derived>) -> Result<Option<Arc<Collation>>> {
        match derived {
            None => Ok(None),
            Some(Derived::Implicit(it) | Derived::Explicit(it)) => {
                Ok((!it.is_bytes()).then_some(it))
            }
            Some(Derived::Unclear) => Err(SqlError::new(
                code::INDETERMINATE_COLLATION,
                "could not determine which collation to use for string comparison",
            )
            .hint("Use the COLLATE clause to set the collation explicitly.")),
        }
    }

    /// The collation of a column of a result, unless it is the order of bytes.
    pub(super) fn collation_of(&self, expr: &Expr) -> Result<Option<Arc<Collation>>> {
        match self.collation_at(expr)? {
            Some(Derived::Unclear) => {
                Err(SqlError::unsupported("a result of columns of different collations"))
            }
            other => self.compared_by(other),
        }
    }

    /// The same for several that are one column.
    pub(super) fn collation_of_all(&self, all: &[Expr]) -> Result<Option<Arc<Collation>>> {
        let derived = self.derived_of_all(all.iter())?;
        self.compared_by(derived)
    }

    /// What an order goes by: the value, or a key in its place.
    pub(super) fn sortable(&mut self, expr: Expr) -> Result<Expr> {
        let derived = self.collation_at(&expr)?;
        let Some(collation) = self.compared_by(derived)? else { return Ok(expr) };
        if !is_text(self.catalog.base_type(expr.ty)) {
            return Err(refused("an order of arrays or rows", &collation));
        }
        // With its label, so that it is known as what is grouped by.
        let kind = ExprKind::Collated { arg: Box::new(expr), collation, by: Collated::Key };
        Ok(Expr { kind, ty: Oid::BYTEA, typmod: -1 })
    }

    /// An error if equality of these is not that of their bytes.
    pub(super) fn need_bytes<'e>(
        &self,
        what: &str,
        all: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<()> {
        for expr in all {
            if let Some(collation) = self.collation_of(expr)?
                && !collation.deterministic
            {
                return Err(refused(what, &collation));
            }
        }
        Ok(())
    }

    /// An error if anything is to be compared otherwise than by bytes.
    pub(super) fn need_order_of_bytes(&self, what: &str, all: &[Expr]) -> Result<()> {
        let derived = self.derived_of_all(all.iter())?;
        self.compared_by(derived)?.map_or(Ok(()), |collation| Err(refused(what, &collation)))
    }

    /// A call whose arguments have a collation: done under that, or none if that is nothing else.
    pub(super) fn collated_call(
        &mut self,
        proc: &'static Proc,
        args: &mut [Expr],
        result: Oid,
    ) -> Result<Option<Expr>> {
        if !self.collates {
            return Ok(None);
        }
        let how = use_of(proc.source);
        let derived = match how {
            Use::Nothing => return Ok(None),
            _ => self.derived_of_all(args.iter())?,
        };
        let found = self.compared_by(derived)?;
        let Some(collation) = found else {
            args.iter_mut().for_each(unlabel);
            return Ok(None);
        };
        match how {
            Use::Equality(_) | Use::EqualityOfMany | Use::Nothing if collation.deterministic => {
                args.iter_mut().for_each(unlabel);
                Ok(None)
            }
            Use::Equality(source) | Use::Order(source) => {
                let found = builtin().procs_named(source).next();
                let bytes = found.ok_or_else(|| SqlError::internal("no bytes are compared"))?;
                let args = args.iter().cloned().map(|arg| key_of(arg, Arc::clone(&collation)));
                let (callee, args) = (self.callee(bytes)?, args.collect());
                let kind = ExprKind::Call { callee, args, variadic: false };
                Ok(Some(Expr { kind, ty: result, typmod: -1 }))
            }
            Use::Parts(_) if collation.deterministic => {
                args.iter_mut().for_each(unlabel);
                Ok(None)
            }
            Use::Parts(what) => {
                let message = format!("nondeterministic collations are not supported for {what}");
                Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message))
            }
            Use::Letters(by) => match args {
                [arg] => {
                    unlabel(arg);
                    Ok(Some(self.labelled(arg.clone(), collation, by)))
                }
                _ => Ok(None),
            },
            Use::EqualityOfMany | Use::Other | Use::Nothing => {
                Err(refused(&format!("the function {}", proc.name), &collation))
            }
        }
    }
}

fn refused(what: &str, collation: &Collation) -> SqlError {
    SqlError::unsupported(format!("{what} under the collation \"{}\"", collation.name))
}

fn is_text(ty: Oid) -> bool {
    matches!(ty, Oid::TEXT | Oid::VARCHAR | Oid::BPCHAR | Oid::NAME)
}

fn key_of(mut expr: Expr, collation: Arc<Collation>) -> Expr {
    unlabel(&mut expr);
    let kind = ExprKind::Collated { arg: Box::new(expr), collation, by: Collated::Key };
    Expr { kind, ty: Oid::BYTEA, typmod: -1 }
}

/// Takes the label away, so that a column is seen as one.
fn unlabel(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Collated { arg, by: Collated::Implicit | Collated::Explicit, .. } => {
            let inner = std::mem::replace(&mut **arg, Expr::null(Oid::TEXT));
            *expr = inner;
            unlabel(expr);
        }
        ExprKind::Relabel(arg) => unlabel(arg),
        _ => {}
    }
}
