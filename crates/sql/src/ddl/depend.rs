//! What stands on what: DROP takes along what belongs to an object, and refuses or takes along
//! what only depends on it.

use super::{Ddl, columns_of};
use crate::catalog::{Column, ConstraintKind, IndexedExpr, Object, Table, UserTypeKind};
use crate::error::{Result, SqlError, code};
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Oid, TypeLookup};
use std::sync::Arc;

/// A thing that can be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Thing {
    /// A relation, type or schema.
    Object(Oid),
    /// A constraint of a table.
    Constraint(Oid, Oid),
    /// A column of a table.
    Column(Oid, u16),
    /// The default of a column.
    Default(Oid, u16),
}

/// Whether a thing goes along without a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bond {
    Part,
    Dependent,
}

impl Ddl<'_> {
    /// All that goes if these go, in the order of discovery; an error if something depends on
    /// them and that is not wanted.
    pub(super) fn closure(&mut self, first: &[Thing], cascade: bool) -> Result<Vec<Thing>> {
        let mut all: Vec<(Thing, Thing, Bond)> =
            first.iter().map(|&it| (it, it, Bond::Part)).collect();
        let mut place = 0;
        while place < all.len() {
            let (thing, ..) = all[place];
            for (next, bond) in self.standing_on(thing) {
                match all.iter_mut().find(|(it, ..)| *it == next) {
                    Some(known) if bond == Bond::Part => known.2 = Bond::Part,
                    Some(_) => {}
                    None => all.push((next, thing, bond)),
                }
            }
            place += 1;
        }
        // What is part of something else that goes is not told of.
        let has = |thing: Thing| all.iter().any(|(it, ..)| *it == thing);
        let is_covered = |thing: Thing| match thing {
            Thing::Object(_) => false,
            Thing::Constraint(table, _) | Thing::Column(table, _) => has(Thing::Object(table)),
            Thing::Default(table, column) => {
                has(Thing::Object(table)) || has(Thing::Column(table, column))
            }
        };
        let told: Vec<&(Thing, Thing, Bond)> =
            all.iter().filter(|it| it.2 == Bond::Dependent && !is_covered(it.0)).collect();
        if !told.is_empty() && !cascade {
            return Err(self.refused(first, &told));
        }
        let lines: Vec<String> =
            told.iter().map(|it| format!("drop cascades to {}", self.described(it.0))).collect();
        match &lines[..] {
            [] => {}
            [one] => self.notice("00000", one.clone()),
            many => {
                let message = format!("drop cascades to {} other objects", many.len());
                let notice = SqlError::new("00000", message).detail(many.join("\n"));
                self.notices.push(notice);
            }
        }
        Ok(all.into_iter().map(|(thing, ..)| thing).collect())
    }

    fn refused(&self, first: &[Thing], told: &[&(Thing, Thing, Bond)]) -> SqlError {
        let lines: Vec<String> = told
            .iter()
            .map(|it| format!("{} depends on {}", self.described(it.0), self.described(it.1)))
            .collect();
        let what = match first {
            [one] => {
                format!("cannot drop {} because other objects depend on it", self.described(*one))
            }
            _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
        };
        SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, what)
            .detail(lines.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too.")
    }

    /// A thing as messages name it.
    pub(super) fn described(&self, thing: Thing) -> String {
        match thing {
            Thing::Object(oid) => match self.catalog().get(oid) {
                Some(Object::Schema(it)) => format!("schema {}", plain(&it.name)),
                Some(Object::Type(_)) => format!("type {}", self.env.type_name(oid, -1)),
                Some(Object::Table(it)) => format!("{} {}", it.kind(), self.relation_shown(oid)),
                Some(Object::View(_)) => format!("view {}", self.relation_shown(oid)),
                Some(Object::Index(_)) => format!("index {}", self.relation_shown(oid)),
                Some(Object::Sequence(_)) => format!("sequence {}", self.relation_shown(oid)),
                Some(Object::Collation(it)) => format!("collation {}", it.name),
                Some(Object::Extension(it)) => format!("extension {}", it.known.name),
                None => "an object".to_owned(),
            },
            Thing::Constraint(table, constraint) => {
                let found = self.catalog().table(table);
                let name = found
                    .and_then(|it| it.constraints.iter().find(|it| it.oid == constraint))
                    .map(|it| plain(&it.name))
                    .unwrap_or_default();
                format!("constraint {name} on table {}", self.relation_shown(table))
            }
            Thing::Column(table, number) => {
                let shown = self.relation_shown(table);
                format!("column {} of table {shown}", self.column_shown(table, number))
            }
            Thing::Default(table, number) => {
                let shown = self.relation_shown(table);
                let column = self.column_shown(table, number);
                format!("default value for column {column} of table {shown}")
            }
        }
    }

    fn column_shown(&self, table: Oid, number: u16) -> String {
        let found = self.catalog().table(table);
        found.map(|it| plain(&it.column(number).name)).unwrap_or_default()
    }

    fn standing_on(&self, thing: Thing) -> Vec<(Thing, Bond)> {
        match thing {
            Thing::Object(oid) => self.on_object(oid),
            Thing::Constraint(table, constraint) => self.on_constraint(table, constraint),
            Thing::Column(table, number) => self.on_column(table, number),
            Thing::Default(..) => Vec::new(),
        }
    }

    fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.catalog().objects().filter_map(|(_, object)| match object {
            Object::Table(table) => Some(table),
            _ => None,
        })
    }

    fn views_on(&self, oid: Oid) -> Vec<(Thing, Bond)> {
        let views = self.catalog().views_on(oid);
        views.map(|(view, _)| (Thing::Object(view), Bond::Dependent)).collect()
    }

    fn on_object(&self, oid: Oid) -> Vec<(Thing, Bond)> {
        let mut found = self.views_on(oid);
        match self.catalog().get(oid) {
            Some(Object::Schema(_)) => {
                for (other, object) in self.catalog().objects() {
                    let inside = object.place().is_some_and(|(schema, _)| schema == oid);
                    // Indexes and sequences of tables go with these.
                    let is_part = match object {
                        Object::Index(_) => true,
                        Object::Sequence(it) => it.owner.is_some(),
                        _ => false,
                    };
                    if inside && !is_part {
                        found.push((Thing::Object(other), Bond::Dependent));
                    }
                }
            }
            Some(Object::Table(table)) => {
                found.extend(table.indexes.iter().map(|&it| (Thing::Object(it), Bond::Part)));
                found.extend(self.owned_sequences(oid, None));
                found.extend(self.on_key_of(oid, None));
                found.extend(self.on_type(table.row_type, table.row_array_type));
            }
            Some(Object::Index(index)) => {
                found.extend(self.on_key_of(index.table, Some(oid)));
            }
            Some(Object::View(view)) => found.extend(self.on_type(view.row_type, Oid::NONE)),
            Some(Object::Type(ty)) => found.extend(self.on_type(ty.oid, ty.array)),
            Some(Object::Sequence(_)) => {
                for table in self.tables() {
                    for (number, column) in table.live() {
                        if self.default_names(column, oid) {
                            let thing = Thing::Default(table.oid, number);
                            found.push((thing, Bond::Dependent));
                        }
                    }
                }
            }
            _ => {}
        }
        found
    }

    /// Whether the default of a column takes its numbers from a sequence: by itself, or because its
    /// user has written so.
    fn default_names(&self, column: &Column, sequence: Oid) -> bool {
        let Some(default) = &column.default else { return false };
        if default.sequence.is_some() || default.generated {
            return default.sequence == Some(sequence);
        }
        let is_it = |expr: &Expr| {
            matches!(expr.kind, ExprKind::Const(Datum::Oid(it)) if it == sequence.0)
                && expr.ty == Oid::REGCLASS
        };
        let bound = self.env.binder("").default_source(column);
        bound.is_ok_and(|expr| expr.any(|it, _| is_it(it)))
    }

    fn owned_sequences(&self, table: Oid, column: Option<u16>) -> Vec<(Thing, Bond)> {
        let all = self.catalog().objects().filter_map(|(_, object)| match object {
            Object::Sequence(it) => match it.owner {
                Some((of, number, _)) if of == table && column.is_none_or(|it| it == number) => {
                    Some((Thing::Object(it.oid), Bond::Part))
                }
                _ => None,
            },
            _ => None,
        });
        all.collect()
    }

    /// References of other tables to a table, or to an index of it.
    fn on_key_of(&self, table: Oid, index: Option<Oid>) -> Vec<(Thing, Bond)> {
        let mut found = Vec::new();
        for other in self.tables() {
            for constraint in &other.constraints {
                if let ConstraintKind::ForeignKey(key) = &constraint.kind
                    && key.table == table
                    && index.is_none_or(|index| key.index == index)
                    && (other.oid != table || index.is_some())
                {
                    let thing = Thing::Constraint(other.oid, constraint.oid);
                    found.push((thing, Bond::Dependent));
                }
            }
        }
        found
    }

    fn on_type(&self, ty: Oid, array: Oid) -> Vec<(Thing, Bond)> {
        let is_it = |it: Oid| it == ty || (array != Oid::NONE && it == array);
        let mut found = Vec::new();
        for table in self.tables() {
            for (number, column) in table.live() {
                if is_it(column.ty) {
                    found.push((Thing::Column(table.oid, number), Bond::Dependent));
                }
            }
        }
        for (oid, object) in self.catalog().objects() {
            if let Object::Type(it) = object {
                let uses = match &it.kind {
                    UserTypeKind::Domain(domain) => is_it(domain.base),
                    UserTypeKind::Composite(fields) => fields.iter().any(|it| is_it(it.ty)),
                    UserTypeKind::Enum(_) => false,
                };
                if uses {
                    found.push((Thing::Object(oid), Bond::Dependent));
                }
            }
        }
        found
    }

    fn on_constraint(&self, table: Oid, constraint: Oid) -> Vec<(Thing, Bond)> {
        let Some(found) = self.catalog().table(table) else { return Vec::new() };
        let Some(it) = found.constraints.iter().find(|it| it.oid == constraint) else {
            return Vec::new();
        };
        match &it.kind {
            ConstraintKind::PrimaryKey { index, .. } | ConstraintKind::Unique { index, .. } => {
                vec![(Thing::Object(*index), Bond::Part)]
            }
            _ => Vec::new(),
        }
    }

    fn on_column(&self, oid: Oid, number: u16) -> Vec<(Thing, Bond)> {
        let Some(table) = self.catalog().table(oid).cloned() else { return Vec::new() };
        let mut found = self.owned_sequences(oid, Some(number));
        for other in self.tables() {
            for constraint in &other.constraints {
                if let ConstraintKind::ForeignKey(key) = &constraint.kind
                    && key.table == oid
                    && key.referenced.contains(&number)
                {
                    let thing = Thing::Constraint(other.oid, constraint.oid);
                    found.push((thing, Bond::Dependent));
                }
            }
        }
        for constraint in &table.constraints {
            let uses = match &constraint.kind {
                ConstraintKind::PrimaryKey { columns, .. }
                | ConstraintKind::Unique { columns, .. }
                | ConstraintKind::Check { columns, .. } => columns.contains(&number),
                ConstraintKind::ForeignKey(key) => key.columns.contains(&number),
            };
            if uses {
                found.push((Thing::Constraint(oid, constraint.oid), Bond::Part));
            }
        }
        let indexes = table.indexes.iter().filter(|&&it| self.index_uses(&table, it, number));
        found.extend(indexes.map(|&it| (Thing::Object(it), Bond::Part)));
        for (other, column) in table.live().filter(|(other, _)| *other != number) {
            let Some(default) = column.default.as_ref().filter(|it| it.generated) else { continue };
            let _ = default;
            if let Ok(expr) = self.env.binder("").generated_expr(&table, column)
                && columns_of(&expr, table.columns.len()).contains(&number)
            {
                found.push((Thing::Column(oid, other), Bond::Dependent));
            }
        }
        let name = Arc::clone(&table.column(number).name);
        for (view, text) in self.catalog().views_on(oid) {
            if super::rename::mentions(text, &name) {
                found.push((Thing::Object(view), Bond::Dependent));
            }
        }
        found
    }

    /// Whether an index is over a column, or about it.
    pub(super) fn index_uses(&self, table: &Arc<Table>, index: Oid, number: u16) -> bool {
        let Some(index) = self.catalog().index(index) else { return false };
        let in_text = |text: &str| match self.env.binder("").check_or_value(table, text) {
            Ok(expr) => columns_of(&expr, table.columns.len()).contains(&number),
            Err(_) => false,
        };
        index.include.contains(&number)
            || index.predicate.as_deref().is_some_and(in_text)
            || index.keys.iter().any(|key| match &key.what {
                IndexedExpr::Column(column) => *column == number,
                IndexedExpr::Expr(text) => in_text(text),
            })
    }
}

/// Messages show the names of columns, constraints and schemas as they are.
fn plain(name: &str) -> String {
    name.to_owned()
}
