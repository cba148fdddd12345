//! Random tables and rows.

use super::dice::Dice;
use super::kinds::{COMMON, KINDS, Kind};

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// The first is `id`, the primary key.
    pub columns: Vec<(String, Kind)>,
}

/// So many tables are made.
const TABLES: usize = 3;

/// Tables, and the statements that make and fill them.
pub fn make(dice: &mut Dice) -> (Vec<Table>, Vec<String>) {
    let mut statements = vec![
        "DROP SCHEMA public CASCADE".to_owned(),
        "CREATE SCHEMA public".to_owned(),
        "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')".to_owned(),
    ];
    let tables: Vec<Table> = (0..TABLES).map(|number| table(dice, number)).collect();
    for table in &tables {
        statements.push(create(dice, table));
        let rows = if dice.percent(10) { 0 } else { dice.between(1, 7) };
        statements.extend((0..rows).map(|id| insert(dice, table, id)));
    }
    (tables, statements)
}

fn table(dice: &mut Dice, number: usize) -> Table {
    let mut columns = vec![("id".to_owned(), Kind::Int4)];
    // Common types first, so that tables can be joined and compared.
    for at in 0..dice.between(3, 6) {
        let kind = if at < 3 { dice.pick(&COMMON) } else { dice.pick(&KINDS) };
        columns.push((format!("c{at}"), kind));
    }
    Table { name: format!("t{number}"), columns }
}

fn create(dice: &mut Dice, table: &Table) -> String {
    let mut parts = vec!["id int4 PRIMARY KEY".to_owned()];
    parts.extend(table.columns[1..].iter().map(|(name, kind)| format!("{name} {}", kind.name())));
    if dice.percent(20) {
        let column = &table.columns[1].0;
        parts.push(format!("UNIQUE (id, {column})"));
    }
    format!("CREATE TABLE {} ({})", table.name, parts.join(", "))
}

fn insert(dice: &mut Dice, table: &Table, id: usize) -> String {
    let values: Vec<String> =
        table.columns[1..].iter().map(|(_, kind)| kind.stored(dice)).collect();
    format!("INSERT INTO {} VALUES ({}, {})", table.name, id + 1, values.join(", "))
}
