//! TRUNCATE: the table gets another, empty heap.

use super::Ddl;
use crate::catalog::{ConstraintKind, Object, Table};
use crate::error::{Result, SqlError, code};
use crate::locks::Mode;
use crate::parse::ast::Name;
use crate::types::Oid;
use std::sync::Arc;

impl Ddl<'_> {
    pub(super) fn truncate(&mut self, names: &[Name], restart: bool, cascade: bool) -> Result<()> {
        let mut tables: Vec<Oid> = Vec::new();
        for name in names {
            let table = self.need_table(name, Mode::AccessExclusive)?;
            if !tables.contains(&table.oid) {
                tables.push(table.oid);
            }
        }
        let mut place = 0;
        while place < tables.len() {
            for referring in self.referring_tables(tables[place]) {
                if tables.contains(&referring.oid) {
                    continue;
                }
                if !cascade {
                    return Err(self.still_referred(&tables, tables[place]));
                }
                self.notice("00000", format!("truncate cascades to table \"{}\"", referring.name));
                self.lock(referring.oid, Mode::AccessExclusive)?;
                tables.push(referring.oid);
            }
            place += 1;
        }
        for oid in tables {
            self.truncate_one(oid, restart)?;
        }
        Ok(())
    }

    /// ON COMMIT DELETE ROWS and DROP, when a transaction commits.
    pub(crate) fn end_of_transaction(&mut self, temporary: Oid) -> Result<()> {
        use crate::catalog::Persistence as P;
        let tables: Vec<Arc<Table>> = self
            .catalog()
            .objects()
            .filter_map(|(_, object)| match object {
                Object::Table(table) if table.schema == temporary => Some(Arc::clone(table)),
                _ => None,
            })
            .collect();
        for table in tables {
            let has_rows = self.env.database.heap(table.heap)?.rows().count() > 0;
            match table.persistence {
                P::TemporaryRows if has_rows => self.truncate_one(table.oid, false)?,
                P::TemporaryDrop => {
                    let thing = super::depend::Thing::Object(table.oid);
                    let all = self.closure(&[thing], true)?;
                    self.drop_all(&all)?;
                }
                _ => {}
            }
        }
        self.notices.clear();
        Ok(())
    }

    fn truncate_one(&mut self, oid: Oid, restart: bool) -> Result<()> {
        let mut table = Table::clone(&*self.table(oid)?);
        self.txn.dropped_heaps.push(table.heap);
        table.heap = self.env.database.new_heap().id;
        self.put_table(table);
        if restart {
            let owned: Vec<_> = self
                .catalog()
                .objects()
                .filter_map(|(_, object)| match object {
                    Object::Sequence(it) if it.owner.is_some_and(|(table, ..)| table == oid) => {
                        Some(Arc::clone(it))
                    }
                    _ => None,
                })
                .collect();
            for sequence in owned {
                let before = self.env.database.replace_value(sequence.oid, None);
                self.txn.restarted.push((sequence.oid, before));
            }
        }
        Ok(())
    }

    /// The tables that refer to a table, without itself.
    pub(super) fn referring_tables(&self, oid: Oid) -> Vec<Arc<Table>> {
        let refers = |table: &Table| {
            table
                .constraints
                .iter()
                .any(|it| matches!(&it.kind, ConstraintKind::ForeignKey(key) if key.table == oid))
        };
        let all = self.catalog().objects().filter_map(|(_, object)| match object {
            Object::Table(table) if table.oid != oid && refers(table) => Some(Arc::clone(table)),
            _ => None,
        });
        all.collect()
    }

    fn still_referred(&self, tables: &[Oid], oid: Oid) -> SqlError {
        let others = self.referring_tables(oid);
        let name = others.iter().find(|it| !tables.contains(&it.oid)).map(|it| it.name.to_string());
        let own = self.catalog().table(oid).map(|it| it.name.to_string()).unwrap_or_default();
        let other = name.unwrap_or_default();
        SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            "cannot truncate a table referenced in a foreign key constraint",
        )
        .detail(format!("Table \"{other}\" references \"{own}\"."))
        .hint(format!("Truncate table \"{other}\" at the same time, or use TRUNCATE ... CASCADE."))
    }
}
