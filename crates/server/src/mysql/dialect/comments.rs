//! What MySQL says of a column and PostgreSQL's catalog has no place for is kept in the column's
//! comment: the type as it was declared, whether updates set it, and the comment itself.

use seriatim_sql::catalog::Column;

const SEPARATOR: char = '\u{1f}';

/// The comment of a column.
pub(super) fn written(shown: &str, on_update: bool, comment: &str) -> String {
    let update = if on_update { "on update" } else { "" };
    format!("{shown}{SEPARATOR}{update}{SEPARATOR}{comment}")
}

fn part(column: &Column, place: usize) -> Option<&str> {
    column.comment.as_deref()?.split(SEPARATOR).nth(place)
}

/// The type as it was declared.
pub(in crate::mysql) fn declared(column: &Column) -> Option<&str> {
    part(column, 0)
}

/// Whether updates set it to the time.
pub(in crate::mysql) fn is_on_update(column: &Column) -> bool {
    part(column, 1) == Some("on update")
}

/// What was said about it.
pub(in crate::mysql) fn comment(column: &Column) -> &str {
    part(column, 2).unwrap_or_default()
}
