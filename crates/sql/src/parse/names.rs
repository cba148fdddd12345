//! Names in syntax trees, as the catalog has them.

use crate::error::{Result, SqlError, code};
use sqlparser::ast;

/// A name as the catalog has it: folded unless it was quoted.
pub(crate) fn fold(ident: &ast::Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The parts of a name.
pub(crate) fn name_parts(name: &ast::ObjectName) -> Result<Vec<String>> {
    name.0
        .iter()
        .map(|part| match part {
            ast::ObjectNamePart::Identifier(ident) => Ok(fold(ident)),
            other => Err(SqlError::unsupported(format!("the name {other}"))),
        })
        .collect()
}

/// A schema and a name; the database before them may be named, too.
pub(crate) fn split_name(name: &ast::ObjectName) -> Result<(Option<String>, String)> {
    let mut parts = name_parts(name)?;
    let last = parts.pop().unwrap_or_default();
    let schema = parts.pop();
    if parts.len() > 1 {
        return Err(SqlError::new(
            code::SYNTAX_ERROR,
            format!("improper qualified name (too many dotted names): {name}"),
        ));
    }
    Ok((schema, last))
}
