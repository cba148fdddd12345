//! What the names in the text of a view stand for: `*` becomes the columns that there are when it
//! is made, and a column that is renamed is renamed there, too.

use super::names::StarColumn;
use super::query::Unknowns;
use super::{Binder, Item, Visible};
use crate::error::Result;
use crate::functions::quote_ident;
use crate::types::Oid;
use sqlparser::ast;
use sqlparser::tokenizer::{Location, Span};

/// Something in the text, from one character to another.
#[derive(Clone, Debug)]
pub struct Note {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is.
    pub what: Noted,
}

/// What something in the text is.
#[derive(Clone, Debug)]
pub enum Noted {
    /// A star, with the columns that it stands for.
    Star(String),
    /// A column of a table.
    Column {
        /// The table.
        table: Oid,
        /// The number of the column.
        number: u16,
        /// Whether it is a result that is named like it.
        names_result: bool,
    },
}

impl Binder<'_> {
    /// What the names in a query stand for, which is the source of this binder; `view` is the view
    /// that it is of, if there is one already.
    pub fn notes_of(&mut self, view: Oid, query: &ast::Query) -> Result<Vec<Note>> {
        self.notes = Some(Vec::new());
        self.on_path_of(view, |binder| {
            binder.inside(|binder| binder.query(query, Unknowns::Resolve))
        })?;
        Ok(self.notes.take().unwrap_or_default())
    }

    /// Whether names are noted: not those in the texts of other views.
    fn is_noting(&self) -> bool {
        self.notes.is_some() && !self.source.is_empty()
    }

    fn note(&mut self, from: Location, to: Location, what: Noted) {
        let place = |it: Location| self.position(Span::new(it, it)) as usize;
        let (start, end) = (place(from), place(to));
        if let (1.., 1.., Some(notes)) = (start, end, &mut self.notes) {
            notes.push(Note { start: start - 1, end: end - 1, what });
        }
    }

    /// Notes what a star stands for.
    pub(super) fn note_star(
        &mut self,
        of: Option<&ast::ObjectName>,
        star: &ast::WildcardAdditionalOptions,
        columns: &[StarColumn],
    ) {
        if !self.is_noting() {
            return;
        }
        let star = star.wildcard_token.0.span;
        let first = of.and_then(|it| it.0.first()).and_then(|it| it.as_ident());
        let from = first.map_or(star.start, |it| it.span.start);
        let mut texts = Vec::new();
        for column in columns {
            let name = quote_ident(&column.name);
            let is_it = |it: &Visible| it.name == column.name && it.expr == column.expr;
            let has_it = |item: &&Item| !item.lock_only && item.columns.iter().any(is_it);
            texts.push(match (of, self.level().items.iter().find(has_it)) {
                (Some(of), _) => format!("{of}.{name}"),
                (None, Some(item)) => format!("{}.{name}", quote_ident(&item.name)),
                (None, None) => name,
            });
        }
        self.note(from, star.end, Noted::Star(texts.join(", ")));
    }

    /// Notes a column that was found at so many levels out.
    pub(super) fn note_column(&mut self, ident: &ast::Ident, depth: usize, found: &Visible) {
        if !self.is_noting() {
            return;
        }
        let level = &self.levels[self.levels.len() - 1 - depth];
        let is_it = |it: &Visible| it.name == found.name && it.expr == found.expr;
        let item = level.items.iter().find(|item| item.columns.iter().any(is_it));
        let (table, number) = match (item.and_then(|item| item.table), found.origin) {
            (Some(table), Some((of, number))) if of == table => (table, number),
            // Some other name, which stays as it is.
            _ => (Oid::NONE, 0),
        };
        let what = Noted::Column { table, number, names_result: false };
        self.note(ident.span.start, ident.span.end, what);
    }

    /// How much has been noted.
    pub(super) fn noted(&self) -> usize {
        self.notes.as_ref().map_or(0, Vec::len)
    }

    /// The result that was bound since is named like its column.
    pub(super) fn note_result(&mut self, ast: &ast::Expr, since: usize) {
        let is_name = matches!(ast, ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_));
        if let (true, Some(notes)) = (is_name, &mut self.notes)
            && let Some(Note { what: Noted::Column { names_result, .. }, .. }) =
                notes.get_mut(since)
        {
            *names_result = true;
        }
    }
}
