//! The relations of pg_catalog and information_schema with their columns (`system_columns.tsv`).

use crate::catalog::schema;
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A table that is made of the catalog when it is read.
#[derive(Clone, Debug)]
pub struct SystemTable {
    /// Its identifier.
    pub oid: Oid,
    /// Its schema.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [(&'static str, Oid)],
}

impl PartialEq for SystemTable {
    fn eq(&self, other: &SystemTable) -> bool {
        self.oid == other.oid
    }
}

/// A system relation.
#[derive(Debug)]
pub(crate) struct SystemRelation {
    pub table: SystemTable,
    pub columns: Vec<SystemColumn>,
}

/// What the catalog says about a column, besides what clients see.
#[derive(Debug)]
pub(crate) struct SystemColumn {
    pub name: &'static str,
    /// The type of its values.
    pub ty: Oid,
    /// The type that it was declared with: information_schema has domains.
    pub declared: Oid,
    pub not_null: bool,
}

#[derive(Default, Debug)]
struct Relations {
    all: Vec<SystemRelation>,
    by_name: FxHashMap<(Oid, &'static str), usize>,
    by_oid: FxHashMap<Oid, usize>,
}

const COLUMNS: &str = include_str!("../../../data/system_columns.tsv");

fn relations() -> &'static Relations {
    static RELATIONS: OnceLock<Relations> = OnceLock::new();
    RELATIONS.get_or_init(read)
}

fn oid(field: &str) -> Oid {
    Oid(field.parse().unwrap_or(0))
}

fn read() -> Relations {
    let fields: Vec<Vec<&'static str>> =
        COLUMNS.lines().map(|line| line.split('\t').collect()).collect();
    let mut relations = Relations::default();
    for lines in fields.chunk_by(|one, other| one[0] == other[0]) {
        let first = &lines[0];
        let columns: Vec<SystemColumn> = lines
            .iter()
            .map(|f| SystemColumn {
                name: f[6],
                ty: oid(f[7]),
                declared: oid(f[8]),
                not_null: f[9] == "t",
            })
            .collect();
        // The relations are read once, so that their columns may live as long as the program.
        let seen: Vec<(&'static str, Oid)> = columns.iter().map(|it| (it.name, it.ty)).collect();
        let in_schema = match first[1] {
            "pg_catalog" => schema::PG_CATALOG,
            _ => schema::INFORMATION_SCHEMA,
        };
        let table = SystemTable {
            oid: oid(first[0]),
            schema: first[1],
            name: first[2],
            columns: Vec::leak(seen),
        };
        relations.by_name.insert((in_schema, table.name), relations.all.len());
        relations.by_oid.insert(table.oid, relations.all.len());
        relations.all.push(SystemRelation { table, columns });
    }
    relations
}

/// All of them.
pub(crate) fn all() -> &'static [SystemRelation] {
    &relations().all
}

/// One by its schema and name.
pub(crate) fn named(schema: Oid, name: &str) -> Option<&'static SystemRelation> {
    let relations = relations();
    relations.by_name.get(&(schema, name)).map(|&place| &relations.all[place])
}

/// One by its identifier.
pub(crate) fn by_oid(oid: Oid) -> Option<&'static SystemRelation> {
    let relations = relations();
    relations.by_oid.get(&oid).map(|&place| &relations.all[place])
}
