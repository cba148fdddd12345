//! Where errors are: `data/positions.tsv` is what PostgreSQL 15 answered, statement, SQLSTATE and
//! position.

use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_sql::session::Session;
use std::sync::Arc;

#[test]
fn errors_are_where_postgresql_says() {
    let cluster = Arc::new(Cluster::new(Arc::new(Memory::default())));
    let mut differences = Vec::new();
    for line in include_str!("data/positions.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [statement, code, position] = fields[..] else { panic!("{line}") };
        let statement = statement.replace("\\n", "\n");
        let mut session = Session::connect(&cluster, "postgres", "postgres").unwrap();
        let error = session.simple(&statement).1.unwrap_or_else(|| panic!("{statement}"));
        let found = error.fields().position.map_or(String::new(), |it| it.to_string());
        if (error.code(), found.as_str()) != (code, position) {
            differences.push(format!("{statement}: {code} {position}, not {error:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
