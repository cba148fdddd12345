//! Views and schemas.

use super::Ddl;
use super::create_table::persistence;
use super::table_as::plain_column;
use crate::bind::Noted;
use crate::catalog::{Column, Object, Relation, Schema, SearchPath, View};
use crate::error::{Result, SqlError, code};
use crate::parse::ast::{CreateView, Lifetime, Utility};
use crate::types::{Oid, TypeLookup};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A text with others in some places, from one character to another.
pub(super) fn replaced(text: &[char], mut places: Vec<(usize, usize, String)>) -> String {
    places.sort();
    places.dedup();
    let (mut made, mut done) = (String::new(), 0);
    for (start, end, other) in places {
        if start < done || end > text.len() {
            continue;
        }
        made.extend(&text[done..start]);
        made.push_str(&other);
        done = end;
    }
    made.extend(&text[done..]);
    made
}

impl Ddl<'_> {
    pub(super) fn create_view(&mut self, create: &CreateView) -> Result<()> {
        let query = self.env.binder(self.text).bind_query(&create.query)?;
        let depends_on = self.relations_of(&create.query);
        let of_temporary = depends_on.iter().any(|&oid| self.is_temporary(oid));
        let mut lifetime = create.lifetime;
        if of_temporary && lifetime == Lifetime::Permanent {
            lifetime = Lifetime::Temporary;
            self.notice("00000", format!("view \"{}\" will be a temporary view", create.name.name));
        }
        let schema = self.target_schema(&create.name, lifetime)?;
        if create.columns.len() > query.columns.len() {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "CREATE VIEW specifies more column names than columns",
            ));
        }
        let mut columns: Vec<Column> = Vec::new();
        for (place, column) in query.columns.iter().enumerate() {
            let name = create.columns.get(place).map_or(&*column.name, String::as_str);
            if columns.iter().any(|it| *it.name == *name) {
                return Err(SqlError::new(
                    code::DUPLICATE_COLUMN,
                    format!("column \"{name}\" specified more than once"),
                ));
            }
            columns.push(plain_column(name, column));
        }
        let old = match self.catalog().relation_in(schema, &create.name.name) {
            None => None,
            Some(oid) => Some(self.replaced(oid, create, &columns)?),
        };
        let (oid, row_type) = match &old {
            Some(old) => (old.oid, old.row_type),
            None => (self.new_oid(), self.new_oid()),
        };
        let view = View {
            oid,
            row_type,
            schema,
            name: create.name.name.as_str().into(),
            columns,
            text: self.without_stars(&create.text).into(),
            depends_on,
            path: self.view_path(lifetime),
            check: create.check,
            persistence: persistence(lifetime),
            comment: old.and_then(|old| old.comment.clone()),
        };
        self.put(oid, Object::View(Arc::new(view)));
        if create.check.is_some() && self.env.binder("").updatable(oid).is_none() {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "WITH CHECK OPTION is supported only on automatically updatable views",
            ));
        }
        Ok(())
    }

    /// The text of a view with the columns that there are now for each star.
    fn without_stars(&self, text: &str) -> String {
        let Ok(query) = crate::parse::query(text) else { return text.to_owned() };
        let Ok(notes) = self.env.binder(text).notes_of(Oid::NONE, &query) else {
            return text.to_owned();
        };
        let characters: Vec<char> = text.chars().collect();
        let stars = notes.into_iter().filter_map(|it| match it.what {
            // Other grammar may have been said with a star that is not there.
            Noted::Star(columns) if characters.get(it.end.wrapping_sub(1)) == Some(&'*') => {
                Some((it.start, it.end, columns))
            }
            _ => None,
        });
        let made = replaced(&characters, stars.collect());
        if crate::parse::query(&made).is_ok() { made } else { text.to_owned() }
    }

    /// Where the names in a view are looked for, whoever reads it.
    fn view_path(&self, lifetime: Lifetime) -> SearchPath {
        let mut path = self.env.path.clone();
        if lifetime == Lifetime::Permanent {
            path.temporary = None;
        }
        path
    }

    fn is_temporary(&self, oid: Oid) -> bool {
        let place = self.catalog().get(oid).and_then(Object::place);
        place.is_some_and(|(schema, _)| Some(schema) == self.env.path.temporary)
    }

    /// The view that another one takes the place of.
    fn replaced(&self, oid: Oid, create: &CreateView, columns: &[Column]) -> Result<Arc<View>> {
        let name = &create.name.name;
        let exists =
            || SqlError::new(code::DUPLICATE_TABLE, format!("relation \"{name}\" already exists"));
        if !create.or_replace {
            return Err(exists());
        }
        let Some(Relation::View(old)) = self.catalog().relation_by_oid(oid) else {
            return Err(SqlError::new(
                code::WRONG_OBJECT_TYPE,
                format!("\"{name}\" is not a view"),
            ));
        };
        let invalid = |message: String| SqlError::new(code::INVALID_TABLE_DEFINITION, message);
        if columns.len() < old.columns.len() {
            return Err(invalid("cannot drop columns from view".to_owned()));
        }
        for (old, new) in old.columns.iter().zip(columns) {
            if old.name != new.name {
                return Err(invalid(format!(
                    "cannot change name of view column \"{}\" to \"{}\"",
                    old.name, new.name
                ))
                .hint(
                    "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
                ));
            }
            if (old.ty, old.typmod) != (new.ty, new.typmod) {
                return Err(invalid(format!(
                    "cannot change data type of view column \"{}\" from {} to {}",
                    old.name,
                    self.env.type_name(old.ty, old.typmod),
                    self.env.type_name(new.ty, new.typmod)
                )));
            }
        }
        Ok(old)
    }

    /// The relations that a query names.
    pub(super) fn relations_of(&self, query: &sqlparser::ast::Query) -> Vec<Oid> {
        let mut found = Vec::new();
        let _ = sqlparser::ast::visit_relations(query, |name| {
            if let Ok((schema, name)) = crate::parse::split_name(name) {
                let schema = schema.map(|it| self.catalog().schema(&it).unwrap_or(Oid(u32::MAX)));
                found.extend(self.catalog().find_relation(schema, &name, &self.env.path));
            }
            ControlFlow::<()>::Continue(())
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn create_schema(
        &mut self,
        name: Option<&str>,
        if_not_exists: bool,
        elements: &[Utility],
    ) -> Result<()> {
        let name = name.unwrap_or(&self.env.role).to_owned();
        if name.starts_with("pg_") {
            return Err(SqlError::new(
                code::RESERVED_NAME,
                format!("unacceptable schema name \"{name}\""),
            )
            .detail("The prefix \"pg_\" is reserved for system schemas."));
        }
        if self.catalog().schema(&name).is_some() {
            let message = format!("schema \"{name}\" already exists");
            if if_not_exists {
                self.notice(code::DUPLICATE_SCHEMA, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(code::DUPLICATE_SCHEMA, message));
        }
        let oid = self.new_oid();
        self.put(oid, Object::Schema(Arc::new(Schema { oid, name: name.into() })));
        if elements.is_empty() {
            return Ok(());
        }
        // What has no schema of its own is made in this one, and found there first.
        let path = self.env.path.clone();
        self.env.path.schemas.insert(0, oid);
        let made = elements.iter().try_for_each(|element| self.run(element).map(drop));
        self.env.path = path;
        made
    }
}
