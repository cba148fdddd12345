//! Statements that are no queries, with what a real PostgreSQL said to them.

mod common;

use seriatim_sql::parse;

fn agree(text: &str) {
    let found = common::differences(&mut common::session(), text);
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
}

#[test]
fn tables_and_constraints_are_made_and_changed_as_there() {
    agree(include_str!("data/tables.txt"));
}

#[test]
fn other_objects_are_made_and_changed_as_there() {
    agree(include_str!("data/objects.txt"));
}

#[test]
fn materialized_views_are_filled_and_refreshed_as_there() {
    agree(include_str!("data/materialized.txt"));
}

#[test]
fn extensions_bring_their_functions_as_there() {
    agree(include_str!("data/extensions.txt"));
}

#[test]
fn what_clients_send_gives_what_it_gives_there() {
    agree(include_str!("data/clients.txt"));
}

#[test]
fn migrations_change_tables_as_there() {
    agree(include_str!("data/migrations.txt"));
}

#[test]
fn sessions_prepare_declare_and_set_as_there() {
    agree(include_str!("data/sessions.txt"));
}

#[test]
fn the_statements_of_frameworks_give_what_they_give_there() {
    agree(include_str!("data/checks.txt"));
}

#[test]
fn all_statements_of_real_clients_are_understood() {
    let text = include_str!("data/client_sql.json");
    let all: Vec<String> = serde_json::from_str(text).expect("a list of texts");
    let mut found = Vec::new();
    for sql in &all {
        if let Err(error) = parse::statements(sql) {
            found.push(format!("{}\n  {error}", sql.chars().take(400).collect::<String>()));
        }
    }
    assert!(found.is_empty(), "{} of {}\n{}", found.len(), all.len(), found.join("\n"));
}
