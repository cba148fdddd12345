//! The names of results that were not given one.

use super::fold;
use sqlparser::ast::{self, SelectItem};

/// The name of a result that was not given one, if it is more than `?column?`.
pub(super) fn column_name(ast: &ast::Expr) -> Option<String> {
    match ast {
        ast::Expr::Nested(inner) | ast::Expr::Collate { expr: inner, .. } => column_name(inner),
        // The name of a type or of CASE gives way to that of a cast around it.
        ast::Expr::Cast { expr, data_type, .. } => {
            strong_name(expr).or_else(|| type_column_name(data_type))
        }
        ast::Expr::Case { else_result, .. } => {
            let name = else_result.as_ref().and_then(|otherwise| strong_name(otherwise));
            Some(name.unwrap_or_else(|| "case".to_owned()))
        }
        ast::Expr::CompoundFieldAccess { root, .. } => {
            strong_name(ast).or_else(|| column_name(root))
        }
        ast::Expr::TypedString(typed) => type_column_name(&typed.data_type),
        ast::Expr::Interval(_) => Some("interval".to_owned()),
        other => strong_name(other),
    }
}

/// The name of a column, a function or what looks like one.
fn strong_name(ast: &ast::Expr) -> Option<String> {
    use ast::Expr as E;
    Some(match ast {
        E::Identifier(ident) => fold(ident),
        E::CompoundIdentifier(parts) => fold(parts.last()?),
        E::CompoundFieldAccess { root, access_chain } => {
            let named = access_chain.iter().rev().find_map(|access| match access {
                ast::AccessExpr::Dot(E::Identifier(ident)) => Some(fold(ident)),
                _ => None,
            });
            return named.or_else(|| strong_name(root));
        }
        E::Nested(inner) | E::Collate { expr: inner, .. } => return strong_name(inner),
        E::Cast { expr, .. } => return strong_name(expr),
        E::Function(function) => match function.name.0.last()? {
            ast::ObjectNamePart::Identifier(ident) => fold(ident),
            _ => return None,
        },
        E::Case { else_result, .. } => return strong_name(else_result.as_ref()?),
        E::Exists { negated: false, .. } => "exists".to_owned(),
        E::Array(_) => "array".to_owned(),
        E::Tuple(_) => "row".to_owned(),
        E::Subquery(query) => return subquery_name(&query.body),
        E::Extract { .. } => "extract".to_owned(),
        E::Position { .. } => "position".to_owned(),
        E::Substring { shorthand: true, .. } => "substr".to_owned(),
        E::Substring { .. } => "substring".to_owned(),
        E::Overlay { .. } => "overlay".to_owned(),
        E::Ceil { .. } => "ceil".to_owned(),
        E::Floor { .. } => "floor".to_owned(),
        E::AtTimeZone { .. } => "timezone".to_owned(),
        E::Trim { trim_where, .. } => match trim_where {
            Some(ast::TrimWhereField::Leading) => "ltrim".to_owned(),
            Some(ast::TrimWhereField::Trailing) => "rtrim".to_owned(),
            _ => "btrim".to_owned(),
        },
        _ => return None,
    })
}

fn subquery_name(body: &ast::SetExpr) -> Option<String> {
    match body {
        ast::SetExpr::Select(select) => match select.projection.first()? {
            SelectItem::UnnamedExpr(ast) => {
                Some(column_name(ast).unwrap_or_else(|| "?column?".to_owned()))
            }
            SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
            _ => None,
        },
        ast::SetExpr::Query(query) => subquery_name(&query.body),
        ast::SetExpr::Values(_) => Some("column1".to_owned()),
        _ => None,
    }
}

/// A cast is named like its type.
fn type_column_name(ty: &ast::DataType) -> Option<String> {
    use ast::DataType as T;
    Some(
        match ty {
            T::Int(_) | T::Integer(_) | T::Int4(_) => "int4",
            T::BigInt(_) | T::Int8(_) => "int8",
            T::SmallInt(_) | T::Int2(_) => "int2",
            T::Real | T::Float4 => "float4",
            T::Float(_) | T::Float8 | T::DoublePrecision | T::Double(_) => "float8",
            T::Numeric(_) | T::Decimal(_) | T::Dec(_) => "numeric",
            T::Bool | T::Boolean => "bool",
            T::Varchar(_) | T::CharacterVarying(_) | T::CharVarying(_) => "varchar",
            T::Char(_) | T::Character(_) => "bpchar",
            T::Timestamp(_, ast::TimezoneInfo::WithTimeZone | ast::TimezoneInfo::Tz) => {
                "timestamptz"
            }
            T::Timestamp(..) => "timestamp",
            T::Time(_, ast::TimezoneInfo::WithTimeZone | ast::TimezoneInfo::Tz) => "timetz",
            T::Time(..) => "time",
            T::Interval { .. } => "interval",
            T::Bit(_) => "bit",
            T::BitVarying(_) | T::VarBit(_) => "varbit",
            T::Array(
                ast::ArrayElemTypeDef::SquareBracket(element, _)
                | ast::ArrayElemTypeDef::Qualified(element, _),
            ) => return type_column_name(element),
            T::Custom(name, _) => {
                return match name.0.last()? {
                    ast::ObjectNamePart::Identifier(ident) => Some(fold(ident)),
                    _ => None,
                };
            }
            other => return Some(other.to_string().to_lowercase()),
        }
        .to_owned(),
    )
}
