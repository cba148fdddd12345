//! Random statements that change rows.

use super::expressions::{Maker, Scope};
use super::schema::Table;

impl Maker<'_> {
    /// A change, and the table that it is about.
    pub fn change(&mut self) -> (String, Table) {
        let table = self.dice.pick(self.tables);
        let text = match self.dice.below(6) {
            0 | 1 => self.insert(&table),
            2 => self.upsert(&table),
            3 | 4 => self.update(&table),
            _ => self.delete(&table),
        };
        (text, table)
    }

    fn own(&self, table: &Table) -> Scope {
        let columns = table.columns.iter();
        let named = columns.map(|(name, kind)| (format!("{}.{name}", table.name), *kind));
        Scope { columns: named.collect() }
    }

    fn returning(&mut self, table: &Table) -> String {
        let scope = self.own(table);
        let kind = self.some_kind();
        match self.dice.below(3) {
            0 => String::new(),
            1 => " RETURNING *".to_owned(),
            _ => format!(" RETURNING id, {}", self.value(&scope, kind, 2)),
        }
    }

    fn row(&mut self, table: &Table) -> String {
        let id = self.dice.between(1, 12);
        let nothing = Scope::default();
        let values: Vec<String> = table.columns[1..]
            .iter()
            .map(|(_, kind)| match self.dice.below(4) {
                0 => "DEFAULT".to_owned(),
                1 => self.value(&nothing, *kind, 1),
                _ => kind.stored(self.dice),
            })
            .collect();
        format!("({id}, {})", values.join(", "))
    }

    fn insert(&mut self, table: &Table) -> String {
        let rows: Vec<String> = (0..self.dice.between(1, 2)).map(|_| self.row(table)).collect();
        let returning = self.returning(table);
        format!("INSERT INTO {} VALUES {}{returning}", table.name, rows.join(", "))
    }

    fn upsert(&mut self, table: &Table) -> String {
        let row = self.row(table);
        let action = if self.dice.percent(30) {
            "NOTHING".to_owned()
        } else {
            let mut scope = self.own(table);
            let excluded = table.columns.iter();
            let excluded = excluded.map(|(name, kind)| (format!("excluded.{name}"), *kind));
            scope.columns.extend(excluded);
            format!("UPDATE SET {}", self.assignments(table, &scope))
        };
        let returning = self.returning(table);
        let insert = format!("INSERT INTO {} VALUES {row}", table.name);
        format!("{insert} ON CONFLICT (id) DO {action}{returning}")
    }

    fn assignments(&mut self, table: &Table, scope: &Scope) -> String {
        let count = self.dice.between(1, 2);
        let first = self.dice.between(1, table.columns.len() - count);
        let parts: Vec<String> = table.columns[first..first + count]
            .iter()
            .map(|(name, kind)| {
                let value = self.value(scope, *kind, 2);
                // The value fits whatever is computed.
                format!("{name} = ({value})::{}", kind.name())
            })
            .collect();
        parts.join(", ")
    }

    fn update(&mut self, table: &Table) -> String {
        let mut scope = self.own(table);
        let name = &table.name;
        let other = self.dice.pick(self.tables);
        let returning = self.returning(table);
        if self.dice.percent(70) || other.name == *name {
            let assignments = self.assignments(table, &scope);
            let test = self.condition(&scope, 2);
            return format!("UPDATE {name} SET {assignments} WHERE {test}{returning}");
        }
        // By the key, so that a row is not joined with several.
        scope.columns.extend(other.columns.iter().map(|(name, kind)| (format!("o.{name}"), *kind)));
        let assignments = self.assignments(table, &scope);
        let test = self.condition(&scope, 1);
        let returning = returning.replace("RETURNING id", &format!("RETURNING {name}.id"));
        let join = format!("{} o WHERE {name}.id = o.id AND {test}", other.name);
        format!("UPDATE {name} SET {assignments} FROM {join}{returning}")
    }

    fn delete(&mut self, table: &Table) -> String {
        let scope = self.own(table);
        let test = self.condition(&scope, 2);
        let id = self.dice.between(1, 12);
        let returning = self.returning(table);
        // Not everything, so that something is left to ask for.
        format!("DELETE FROM {} WHERE {test} AND {}.id > {id}{returning}", table.name, table.name)
    }
}
