//! DROP.

use super::Ddl;
use super::depend::Thing;
use crate::catalog::{Object, Relation, Table, UserTypeKind, schema};
use crate::error::{Result, SqlError, code};
use crate::locks::Mode;
use crate::parse::ast::{Drop, Name, ObjectKind};
use crate::types::Oid;

impl Ddl<'_> {
    pub(super) fn drop_objects(&mut self, drop: &Drop) -> Result<()> {
        let mut things = Vec::new();
        for name in &drop.names {
            if let Some(oid) = self.dropped(drop, name)? {
                self.check_droppable(oid)?;
                things.push(Thing::Object(oid));
            }
        }
        if things.is_empty() {
            return Ok(());
        }
        let all = self.closure(&things, drop.cascade)?;
        self.drop_all(&all)
    }

    /// What a name stands for; none if there is nothing and that is well.
    fn dropped(&mut self, drop: &Drop, name: &Name) -> Result<Option<Oid>> {
        let found = match drop.kind {
            ObjectKind::Schema => self.catalog().schema(&name.name),
            ObjectKind::Extension => {
                self.catalog().extensions().find(|it| it.known.name == name.name).map(|it| it.oid)
            }
            ObjectKind::Type | ObjectKind::Domain => match self.find_type(name) {
                Some(ty) => {
                    let is_domain = matches!(ty.kind, UserTypeKind::Domain(_));
                    if drop.kind == ObjectKind::Domain && !is_domain {
                        return Err(SqlError::new(
                            code::WRONG_OBJECT_TYPE,
                            format!("\"{}\" is not a domain", name.shown()),
                        ));
                    }
                    Some(ty.oid)
                }
                None => None,
            },
            _ => match self.find(name) {
                Some(relation) => Some(self.of_kind(drop.kind, name, &relation)?),
                None => None,
            },
        };
        if found.is_some() {
            return Ok(found);
        }
        if !matches!(drop.kind, ObjectKind::Schema | ObjectKind::Extension)
            && let Some(schema) = &name.schema
            && self.catalog().schema(schema).is_none()
        {
            let message = format!("schema \"{schema}\" does not exist");
            if drop.if_exists {
                self.notice("00000", format!("{message}, skipping"));
                return Ok(None);
            }
            return Err(SqlError::new(code::INVALID_SCHEMA_NAME, message));
        }
        let code = match drop.kind {
            ObjectKind::Schema => code::INVALID_SCHEMA_NAME,
            ObjectKind::Type | ObjectKind::Domain | ObjectKind::Index | ObjectKind::Extension => {
                code::UNDEFINED_OBJECT
            }
            _ => code::UNDEFINED_TABLE,
        };
        let word = match drop.kind {
            ObjectKind::Domain => "type",
            kind => kind.word(),
        };
        let message = format!("{word} \"{}\" does not exist", name.shown());
        if drop.if_exists {
            self.notice("00000", format!("{message}, skipping"));
            return Ok(None);
        }
        Err(SqlError::new(code, message))
    }

    /// The identifier of a relation if it is of a kind.
    pub(super) fn of_kind(
        &self,
        kind: ObjectKind,
        name: &Name,
        relation: &Relation,
    ) -> Result<Oid> {
        let (oid, own) = match relation {
            Relation::Table(it) if it.materialized.is_some() => {
                (it.oid, ObjectKind::MaterializedView)
            }
            Relation::Table(it) => (it.oid, ObjectKind::Table),
            Relation::View(it) => (it.oid, ObjectKind::View),
            Relation::Index(it) => (it.oid, ObjectKind::Index),
            Relation::Sequence(it) => (it.oid, ObjectKind::Sequence),
        };
        if own == kind {
            return Ok(oid);
        }
        let article = |kind: ObjectKind| if kind == ObjectKind::Index { "an" } else { "a" };
        Err(SqlError::new(
            code::WRONG_OBJECT_TYPE,
            format!("\"{}\" is not {} {}", name.name, article(kind), kind.word()),
        )
        .hint(format!(
            "Use DROP {} to remove {} {}.",
            own.word().to_uppercase(),
            article(own),
            own.word()
        )))
    }

    /// Some things go only with what they belong to.
    fn check_droppable(&self, oid: Oid) -> Result<()> {
        let required = |own: String, by: String| {
            SqlError::new(
                code::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop {own} because {by} requires it"),
            )
            .hint(format!("You can drop {by} instead."))
        };
        match self.catalog().get(oid) {
            Some(Object::Index(index)) => {
                let Some(constraint) = index.constraint else { return Ok(()) };
                let by = self.described(Thing::Constraint(index.table, constraint));
                Err(required(self.described(Thing::Object(oid)), by))
            }
            Some(Object::Sequence(it)) => match it.owner {
                Some((table, column, true)) => {
                    let by = self.described(Thing::Column(table, column));
                    Err(required(self.described(Thing::Object(oid)), by))
                }
                _ => Ok(()),
            },
            Some(Object::Schema(it)) => {
                if matches!(oid, schema::PG_CATALOG | schema::INFORMATION_SCHEMA | schema::PG_TOAST)
                {
                    return Err(SqlError::new(
                        code::DEPENDENT_OBJECTS_STILL_EXIST,
                        format!(
                            "cannot drop schema {} because it is required by the database system",
                            it.name
                        ),
                    ));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Drops things that nothing else depends on.
    pub(super) fn drop_all(&mut self, things: &[Thing]) -> Result<()> {
        for &thing in things {
            if let Thing::Object(oid) = thing
                && self.catalog().table(oid).is_some()
            {
                self.lock(oid, Mode::AccessExclusive)?;
            }
        }
        for &thing in things {
            match thing {
                Thing::Object(oid) => self.drop_object(oid),
                Thing::Constraint(table, constraint) => {
                    self.change(table, |table| {
                        table.constraints.retain(|it| it.oid != constraint);
                    });
                }
                Thing::Default(table, number) => self.change(table, |table| {
                    table.columns[number as usize - 1].default = None;
                }),
                Thing::Column(table, number) => self.change(table, |table| {
                    let column = &mut table.columns[number as usize - 1];
                    column.name = format!("........pg.dropped.{number}........").into();
                    column.dropped = true;
                    column.not_null = false;
                    column.default = None;
                    column.identity = None;
                    column.missing = None;
                }),
            }
        }
        Ok(())
    }

    fn drop_object(&mut self, oid: Oid) {
        if let Some(index) = self.catalog().index(oid).cloned() {
            self.change(index.table, |table| table.indexes.retain(|&it| it != oid));
        }
        if let Some(table) = self.catalog().table(oid) {
            let heap = table.heap;
            self.txn.dropped_heaps.push(heap);
        }
        self.remove(oid);
    }

    /// Changes a table, if it is still there.
    pub(super) fn change(&mut self, oid: Oid, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.catalog().table(oid) {
            let mut table = Table::clone(table);
            change(&mut table);
            self.put_table(table);
        }
    }
}
