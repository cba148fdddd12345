//! COMMENT ON.

use super::Ddl;
use crate::catalog::{Index, Object, Relation, Sequence, Table, UserType, View};
use crate::error::{Result, SqlError, code};
use crate::locks::Mode;
use crate::parse::ast::{CommentOn, Name, ObjectKind};
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn comment(&mut self, on: &CommentOn, text: Option<&str>) -> Result<()> {
        let text: Option<Arc<str>> = text.filter(|it| !it.is_empty()).map(Into::into);
        match on {
            CommentOn::Relation(ObjectKind::Schema, name) => {
                self.catalog().need_schema(&name.name)?;
                Ok(())
            }
            CommentOn::Relation(kind, name) => self.comment_relation(*kind, name, text),
            CommentOn::Column(name, column) => self.comment_column(name, column, text),
            CommentOn::Constraint { name, table } => {
                let table = self.need_table(table, Mode::ShareUpdateExclusive)?;
                let mut changed = Table::clone(&table);
                let found = changed.constraints.iter_mut().find(|it| *it.name == **name);
                let Some(constraint) = found else {
                    return Err(SqlError::new(
                        code::UNDEFINED_OBJECT,
                        format!(
                            "constraint \"{name}\" for table \"{}\" does not exist",
                            table.name
                        ),
                    ));
                };
                constraint.comment = text;
                self.put_table(changed);
                Ok(())
            }
            CommentOn::Type(name) => {
                let mut changed = UserType::clone(&*self.need_type(name)?);
                changed.comment = text;
                self.put_type(changed);
                Ok(())
            }
            CommentOn::Other => Ok(()),
        }
    }

    fn comment_relation(
        &mut self,
        kind: ObjectKind,
        name: &Name,
        text: Option<Arc<str>>,
    ) -> Result<()> {
        let found = self.find(name).ok_or_else(|| Self::no_relation(name))?;
        let object = match found {
            Relation::Table(it) if kind.word() == it.kind() => {
                Object::Table(Arc::new(Table { comment: text, ..Table::clone(&it) }))
            }
            Relation::View(it) if kind == ObjectKind::View => {
                Object::View(Arc::new(View { comment: text, ..View::clone(&it) }))
            }
            Relation::Index(it) if kind == ObjectKind::Index => {
                Object::Index(Arc::new(Index { comment: text, ..Index::clone(&it) }))
            }
            Relation::Sequence(it) if kind == ObjectKind::Sequence => {
                Object::Sequence(Arc::new(Sequence { comment: text, ..Sequence::clone(&it) }))
            }
            _ => {
                let article = if kind == ObjectKind::Index { "an" } else { "a" };
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not {article} {}", name.name, kind.word()),
                ));
            }
        };
        let oid = match &object {
            Object::Table(it) => it.oid,
            Object::View(it) => it.oid,
            Object::Index(it) => it.oid,
            Object::Sequence(it) => it.oid,
            Object::Type(it) => it.oid,
            Object::Schema(it) => it.oid,
            Object::Extension(it) => it.oid,
            Object::Collation(it) => it.oid,
        };
        self.put(oid, object);
        Ok(())
    }

    fn comment_column(&mut self, name: &Name, column: &str, text: Option<Arc<str>>) -> Result<()> {
        let missing = |relation: &str| {
            SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{column}\" of relation \"{relation}\" does not exist"),
            )
        };
        match self.find(name) {
            Some(Relation::Table(table)) => {
                let mut changed = Table::clone(&table);
                let number = table.find(column).ok_or_else(|| missing(&table.name))?;
                changed.columns[number as usize - 1].comment = text;
                self.put_table(changed);
            }
            Some(Relation::View(view)) => {
                let mut changed = View::clone(&view);
                let found = changed.columns.iter_mut().find(|it| *it.name == *column);
                found.ok_or_else(|| missing(&view.name))?.comment = text;
                self.put(view.oid, Object::View(Arc::new(changed)));
            }
            Some(_) => {
                return Err(SqlError::new(
                    code::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not a table, view or composite type", name.name),
                ));
            }
            None => return Err(Self::no_relation(name)),
        }
        Ok(())
    }
}
