//! RENAME and SET SCHEMA, also in the texts that name what was renamed.

use super::Ddl;
use crate::bind::Noted;
use crate::catalog::{
    ConstraintKind, Index, IndexedExpr, Object, Relation, Schema, Sequence, Table, UserType, View,
};
use crate::error::{Result, SqlError, code};
use crate::functions::quote_ident;
use crate::locks::Mode;
use crate::parse::ast::{Name, ObjectKind};
use crate::types::Oid;
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn rename(
        &mut self,
        kind: ObjectKind,
        name: &Name,
        if_exists: bool,
        to: &str,
    ) -> Result<()> {
        match kind {
            ObjectKind::Schema => return self.rename_schema(&name.name, to),
            ObjectKind::Type | ObjectKind::Domain => {
                let mut changed = UserType::clone(&*self.need_type(name)?);
                let path = &self.env.path;
                if self.catalog().find_type(Some(changed.schema), to, path).is_some() {
                    return Err(SqlError::new(
                        code::DUPLICATE_OBJECT,
                        format!("type \"{to}\" already exists"),
                    ));
                }
                changed.name = to.into();
                self.put_type(changed);
                return Ok(());
            }
            _ => {}
        }
        let Some(relation) = self.find_altered(name, if_exists)? else { return Ok(()) };
        let (oid, schema) = place_of(&relation);
        self.lock(oid, Mode::AccessExclusive)?;
        self.check_new(schema, to)?;
        let views = self.views_naming(oid);
        match relation {
            Relation::Table(it) => {
                self.put_table(Table { name: to.into(), ..Table::clone(&it) });
            }
            Relation::View(it) => {
                let view = View { name: to.into(), ..View::clone(&it) };
                self.put(oid, Object::View(Arc::new(view)));
            }
            Relation::Index(it) => {
                let index = Index { name: to.into(), ..Index::clone(&it) };
                self.put(oid, Object::Index(Arc::new(index)));
                if let Some(constraint) = it.constraint {
                    self.change(it.table, |table| {
                        let found = table.constraints.iter_mut().find(|it| it.oid == constraint);
                        if let Some(found) = found {
                            found.name = to.into();
                        }
                    });
                }
            }
            Relation::Sequence(it) => {
                let sequence = Sequence { name: to.into(), ..Sequence::clone(&it) };
                self.put(oid, Object::Sequence(Arc::new(sequence)));
                self.sequence_renamed(oid);
            }
        }
        for (view, text) in views {
            self.set_query(view, renamed(&text, &name.name, to).into());
        }
        Ok(())
    }

    /// A relation that is to be changed; none if it is not there and that is well.
    pub(super) fn find_altered(
        &mut self,
        name: &Name,
        if_exists: bool,
    ) -> Result<Option<Relation>> {
        match self.find(name) {
            Some(found) => Ok(Some(found)),
            None if if_exists => {
                let message = format!("relation \"{}\" does not exist, skipping", name.shown());
                self.notice(code::UNDEFINED_TABLE, message);
                Ok(None)
            }
            None => Err(Self::no_relation(name)),
        }
    }

    fn rename_schema(&mut self, name: &str, to: &str) -> Result<()> {
        let oid = self.catalog().need_schema(name)?;
        if self.catalog().schema(to).is_some() {
            return Err(SqlError::new(
                code::DUPLICATE_SCHEMA,
                format!("schema \"{to}\" already exists"),
            ));
        }
        self.put(oid, Object::Schema(Arc::new(Schema { oid, name: to.into() })));
        Ok(())
    }

    /// The views on a relation, with their queries.
    fn views_naming(&self, oid: Oid) -> Vec<(Oid, Arc<str>)> {
        self.catalog().views_on(oid).map(|(view, text)| (view, Arc::clone(text))).collect()
    }

    /// Gives a view another query that means the same.
    fn set_query(&mut self, view: Oid, text: Arc<str>) {
        match self.catalog().get(view) {
            Some(Object::View(it)) => {
                let changed = View { text, ..View::clone(it) };
                self.put(view, Object::View(Arc::new(changed)));
            }
            Some(Object::Table(_)) => self.change(view, |table| {
                if let Some(view) = &mut table.materialized {
                    view.text = text;
                }
            }),
            _ => {}
        }
    }

    /// The defaults of serial columns show the name of their sequence.
    fn sequence_renamed(&mut self, oid: Oid) {
        let shown = self.relation_shown(oid).replace('\'', "''");
        let tables: Vec<Oid> = self
            .catalog()
            .objects()
            .filter(|(_, object)| match object {
                Object::Table(table) => table
                    .live()
                    .any(|(_, it)| it.default.as_ref().and_then(|it| it.sequence) == Some(oid)),
                _ => false,
            })
            .map(|(oid, _)| oid)
            .collect();
        for table in tables {
            let text: Arc<str> = format!("nextval('{shown}'::regclass)").into();
            self.change(table, |table| {
                for default in table.columns.iter_mut().filter_map(|it| it.default.as_mut()) {
                    if default.sequence == Some(oid) {
                        default.text = Arc::clone(&text);
                    }
                }
            });
        }
    }

    pub(super) fn set_schema(
        &mut self,
        kind: ObjectKind,
        name: &Name,
        if_exists: bool,
        schema: &str,
    ) -> Result<()> {
        let to = self.catalog().need_schema(schema)?;
        if matches!(kind, ObjectKind::Type | ObjectKind::Domain) {
            let mut changed = UserType::clone(&*self.need_type(name)?);
            changed.schema = to;
            self.put_type(changed);
            return Ok(());
        }
        let Some(relation) = self.find_altered(name, if_exists)? else { return Ok(()) };
        let (oid, from) = place_of(&relation);
        if from == to {
            return Ok(());
        }
        self.lock(oid, Mode::AccessExclusive)?;
        self.check_new(to, &name.name)?;
        if !self.views_naming(oid).is_empty() {
            return Err(SqlError::unsupported("SET SCHEMA of a relation that views depend on"));
        }
        self.move_relation(&relation, to)
    }

    fn move_relation(&mut self, relation: &Relation, to: Oid) -> Result<()> {
        match relation {
            Relation::Table(table) => {
                for &index in &table.indexes {
                    if let Some(it) = self.catalog().index(index).cloned() {
                        let moved = Index { schema: to, ..Index::clone(&it) };
                        self.put(index, Object::Index(Arc::new(moved)));
                    }
                }
                let owned: Vec<Arc<Sequence>> = self
                    .catalog()
                    .objects()
                    .filter_map(|(_, object)| match object {
                        Object::Sequence(it)
                            if it.owner.is_some_and(|(of, ..)| of == table.oid) =>
                        {
                            Some(Arc::clone(it))
                        }
                        _ => None,
                    })
                    .collect();
                self.put_table(Table { schema: to, ..Table::clone(table) });
                for it in owned {
                    let moved = Sequence { schema: to, ..Sequence::clone(&it) };
                    self.put(it.oid, Object::Sequence(Arc::new(moved)));
                    self.sequence_renamed(it.oid);
                }
            }
            Relation::View(it) => {
                let moved = View { schema: to, ..View::clone(it) };
                self.put(it.oid, Object::View(Arc::new(moved)));
            }
            Relation::Sequence(it) => {
                let moved = Sequence { schema: to, ..Sequence::clone(it) };
                self.put(it.oid, Object::Sequence(Arc::new(moved)));
                self.sequence_renamed(it.oid);
            }
            Relation::Index(_) => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    "cannot change schema of an index",
                ));
            }
        }
        Ok(())
    }

    /// The query of a view with a column of a table under another name; none if it is not certain
    /// what each name in it is.
    fn view_renamed(
        &self,
        view: Oid,
        text: &str,
        column: (Oid, u16),
        (from, to): (&str, &str),
    ) -> Option<String> {
        let query = crate::parse::query(text).ok()?;
        let notes = self.env.binder(text).notes_of(view, &query).ok()?;
        let words = crate::parse::words(text);
        if words.iter().any(|(word, ..)| word == "using" || word == "natural") {
            return None;
        }
        let mut places = Vec::new();
        for note in &notes {
            let Noted::Column { table, number, names_result } = note.what else { return None };
            if (table, number) == column {
                let keeps =
                    if names_result { format!(" AS {}", quote_ident(from)) } else { String::new() };
                places.push((note.start, note.end, format!("{}{keeps}", quote_ident(to))));
            }
        }
        for (at, (word, start, ..)) in words.iter().enumerate() {
            let is_alias = at > 0 && words[at - 1].0 == "as";
            if word == from && !is_alias && !notes.iter().any(|note| note.start == *start) {
                return None;
            }
        }
        let characters: Vec<char> = text.chars().collect();
        Some(super::view::replaced(&characters, places))
    }

    pub(super) fn rename_column(&mut self, oid: Oid, from: &str, to: &str) -> Result<()> {
        let table = self.table(oid)?;
        let number = self.need_column(&table, from)?;
        if table.find(to).is_some() {
            return Err(SqlError::new(
                code::DUPLICATE_COLUMN,
                format!("column \"{to}\" of relation \"{}\" already exists", table.name),
            ));
        }
        let mut views = Vec::new();
        for (view, text) in self.views_naming(oid) {
            let Some(text) = self.view_renamed(view, &text, (oid, number), (from, to)) else {
                return Err(SqlError::unsupported(format!(
                    "RENAME COLUMN with the view \"{}\"",
                    self.relation_shown(view)
                )));
            };
            views.push((view, text));
        }
        let mut changed = Table::clone(&table);
        changed.columns[number as usize - 1].name = to.into();
        for constraint in &mut changed.constraints {
            if let ConstraintKind::Check { text, .. } = &mut constraint.kind {
                *text = renamed(text, from, to).into();
            }
        }
        for column in &mut changed.columns {
            if let Some(default) = column.default.as_mut().filter(|it| it.generated) {
                default.text = renamed(&default.text, from, to).into();
            }
        }
        self.put_table(changed);
        for (view, text) in views {
            self.set_query(view, text.into());
        }
        for &index in &table.indexes {
            let Some(it) = self.catalog().index(index).cloned() else { continue };
            let mut changed = Index::clone(&it);
            changed.predicate = it.predicate.as_deref().map(|it| renamed(it, from, to).into());
            for key in &mut changed.keys {
                if let IndexedExpr::Expr(text) = &mut key.what {
                    *text = renamed(text, from, to).into();
                }
            }
            self.put(index, Object::Index(Arc::new(changed)));
        }
        Ok(())
    }
}

fn place_of(relation: &Relation) -> (Oid, Oid) {
    match relation {
        Relation::Table(it) => (it.oid, it.schema),
        Relation::View(it) => (it.oid, it.schema),
        Relation::Index(it) => (it.oid, it.schema),
        Relation::Sequence(it) => (it.oid, it.schema),
    }
}

/// Whether a text has a name in it.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    crate::parse::words(text).iter().any(|(word, ..)| word == name)
}

/// The same text with another name, wherever it is no function.
pub(super) fn renamed(text: &str, from: &str, to: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut made = String::new();
    let mut place = 0;
    for (word, start, end, is_call) in crate::parse::words(text) {
        if word == from && !is_call {
            made.extend(&characters[place..start]);
            made.push_str(&quote_ident(to));
            place = end;
        }
    }
    made.extend(&characters[place..]);
    made
}
