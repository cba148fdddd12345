//! Statements that psql, psycopg, SQLAlchemy, Django, JDBC and node-postgres sent, with what a real
//! PostgreSQL answers: `data/clients.json`, which `data/clients.py` writes.

#[path = "common/frames.rs"]
mod frames;
#[path = "common/target.rs"]
mod target;

use frames::{bind, describe, execute, parse, sync};
use serde::Deserialize;
use target::{Answer, Client, Refusal, Target};

/// A statement and its answer.
#[derive(Deserialize)]
struct Entry {
    sql: String,
    /// The types of the parameters; none if it is no statement that can be prepared.
    types: Option<Vec<u32>>,
    #[serde(default)]
    parameters: Vec<String>,
    error: Option<String>,
    columns: Option<Vec<(String, u32)>>,
    /// In the order of their texts; none if they are different each time.
    rows: Option<Vec<Vec<Option<String>>>>,
    tag: Option<String>,
}

impl Entry {
    fn ask(&self, client: &mut Client) -> Result<Answer, Refusal> {
        if self.types.is_none() && self.error.is_none() {
            return client.run(&self.sql);
        }
        let values: Vec<&str> = self.parameters.iter().map(String::as_str).collect();
        let steps = [
            parse("", &self.sql),
            describe(b'S', ""),
            bind("", "", &values, 0),
            execute("", 0),
            sync(),
        ];
        client.exchange(&steps.concat())
    }

    /// What is not as it should be.
    fn difference(&self, answer: Result<Answer, Refusal>) -> Option<String> {
        let mut answer = match (answer, &self.error) {
            (Err(refusal), Some(code)) if refusal.code == *code => return None,
            (Err(refusal), _) => return Some(refusal.to_string()),
            (Ok(_), Some(code)) => return Some(format!("is no error {code}")),
            (Ok(answer), None) => answer,
        };
        answer.rows.sort_by_key(|row| {
            row.iter().map(|value| (value.is_none(), value.clone())).collect::<Vec<_>>()
        });
        if self.types.as_ref().is_some_and(|types| *types != answer.parameters) {
            return Some(format!("parameters {:?}, not {:?}", answer.parameters, self.types));
        }
        if answer.columns.clone().unwrap_or_default() != *self.columns.as_ref()? {
            return Some(format!("columns {:?}, not {:?}", answer.columns, self.columns));
        }
        let rows = self.rows.as_ref()?;
        if answer.rows != *rows {
            return Some(format!("rows {:?}\n  not  {rows:?}", answer.rows));
        }
        let tag = self.tag.as_ref()?;
        (answer.tag != *tag).then(|| format!("tag {:?}, not {tag:?}", answer.tag))
    }
}

fn agree(target: &Target) {
    let entries: Vec<Entry> = serde_json::from_str(include_str!("data/clients.json")).unwrap();
    target.create_database("clients_rs");
    let mut client = target.connect("clients_rs");
    let mut differences = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let answer = entry.ask(&mut client);
        if let Some(difference) = entry.difference(answer) {
            differences.push(format!("{}: {}\n  {difference}", number + 1, entry.sql));
        }
    }
    drop(client);
    target.drop_database("clients_rs");
    let (text, count) = (differences.join("\n"), differences.len());
    assert!(differences.is_empty(), "{text}\n{count} differences in {} statements", entries.len());
}

#[test]
fn the_mock_answers_real_clients_as_postgresql_did() {
    agree(&Target::mock());
}

#[test]
fn a_real_postgresql_answers_clients_as_it_did() {
    if let Some(target) = Target::real() {
        agree(&target);
    }
}
