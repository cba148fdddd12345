//! Loads: the columns of rows that a large transaction inserts are kept beside the store if it
//! forgets old transactions, and nobody can tell.

#[path = "common/serving.rs"]
mod serving;

use seriatim_isolation::Level;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{ChooserKind, Config, cells};
use seriatim_sql::database::Cluster;
use serving::Serving;
use std::num::NonZeroU32;
use std::sync::Arc;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Loads, changes of what was loaded, loads that are taken back in whole or in part, and keys that
/// come again.
const SCRIPT: &[&str] = &[
    "CREATE TABLE item (id int PRIMARY KEY, name text UNIQUE, stock int, price numeric(8,2))",
    "CREATE TABLE log (line text, at timestamp)",
    "INSERT INTO item SELECT i, 'item ' || i, i % 7, i / 4.0 FROM generate_series(1, 3000) i",
    "SELECT count(*), sum(stock), sum(price), min(name) FROM item",
    "UPDATE item SET stock = stock + 100 WHERE id % 1000 = 0",
    "DELETE FROM item WHERE id BETWEEN 10 AND 1990",
    "BEGIN",
    "INSERT INTO item SELECT i, 'again ' || i, -1, NULL FROM generate_series(10, 1990) i",
    "SELECT count(*), sum(stock), sum(price), min(name) FROM item",
    "ROLLBACK",
    "SELECT count(*), sum(stock), sum(price), min(name) FROM item",
    "BEGIN",
    "INSERT INTO item SELECT i, 'new ' || i, -2, 1 FROM generate_series(5000, 6500) i",
    "SAVEPOINT s",
    "INSERT INTO item SELECT i, 'lost ' || i, -3, 1 FROM generate_series(7000, 7100) i",
    "ROLLBACK TO s",
    "INSERT INTO item SELECT i, 'kept ' || i, -4, 2 FROM generate_series(7000, 7050) i",
    "UPDATE item SET price = 9 WHERE id = 7001",
    "COMMIT",
    "SELECT name, stock, price FROM item WHERE id IN (1, 5001, 6499, 7000, 7001, 7100) ORDER BY id",
    "INSERT INTO item SELECT i, 'third ' || i, 5, 5 FROM generate_series(10, 1990) i",
    "INSERT INTO item SELECT i, 'item 1', 0, 0 FROM generate_series(8000, 9500) i",
    "ALTER TABLE item ADD COLUMN note text DEFAULT 'none'",
    "INSERT INTO log SELECT 'line ' || i, '2026-01-01'::timestamp FROM generate_series(1, 2500) i",
    "UPDATE log SET line = 'changed' WHERE line = 'line 2400'",
    "SELECT count(*), min(line), max(line) FROM log",
    "SELECT note, count(*), sum(stock), sum(price), min(name), max(name) FROM item GROUP BY note",
    "SELECT * FROM item WHERE name = 'third 77'",
    "BEGIN",
    "TRUNCATE log",
    "SAVEPOINT s",
    "DROP TABLE item",
    "ROLLBACK TO s",
    "INSERT INTO log VALUES ('one')",
    "COMMIT",
    "SELECT count(*) FROM log",
    "SELECT count(*) FROM item",
    "TRUNCATE item",
    "INSERT INTO item VALUES (1, 'x')",
    "SELECT * FROM item",
    "DROP TABLE item",
    "CREATE TABLE item (id int PRIMARY KEY)",
    "SELECT * FROM item",
];

/// What each statement returns, as text. In between others commit, so that the store settles.
async fn answers(client: &Client, other: &Client) -> Vec<String> {
    let mut all = Vec::new();
    for statement in SCRIPT {
        let answer = match client.simple_query(statement).await {
            Ok(messages) => {
                let rows = messages.iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => {
                        let values = (0..row.len()).map(|it| row.get(it).unwrap_or("NULL"));
                        Some(values.collect::<Vec<_>>().join("|"))
                    }
                    SimpleQueryMessage::CommandComplete(count) => Some(count.to_string()),
                    _ => None,
                });
                rows.collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.as_db_error().unwrap().code().code().to_owned(),
        };
        all.push(format!("{statement}\n{answer}"));
        for _ in 0..3 {
            other.batch_execute("CREATE TABLE IF NOT EXISTS tick (n int)").await.unwrap();
            other.batch_execute("INSERT INTO tick VALUES (1)").await.unwrap();
        }
    }
    all
}

fn run(level: Level, horizon: Option<u32>) -> Vec<String> {
    let horizon = horizon.and_then(NonZeroU32::new);
    let config = Config { level, horizon, chooser: ChooserKind::Latest, ..Config::default() };
    let store = Arc::new(cells::open(&config, true).unwrap());
    let server = Serving::on(Cluster::new(store), PostgresConfig::default());
    serving::run(async {
        let text = format!("host=127.0.0.1 port={} user=postgres", server.address.port());
        let (client, connection) = tokio_postgres::connect(&text, NoTls).await.unwrap();
        tokio::spawn(connection);
        let (other, connection) = tokio_postgres::connect(&text, NoTls).await.unwrap();
        tokio::spawn(connection);
        answers(&client, &other).await
    })
}

#[test]
fn a_load_answers_alike_whether_the_store_forgets_or_not() {
    let expected = run(Level::Serializable, None);
    assert!(expected[3].ends_with("\n3000|8998|1125375.00|item 1\n1"), "{}", expected[3]);
    assert!(expected[21].ends_with("\n23505"), "{}", expected[21]);
    assert!(expected[27].contains("77|third 77|5|5.00|none"), "{}", expected[27]);
    for level in [Level::ReadCommitted, Level::Causal, Level::Serializable] {
        for horizon in [1, 7, 10_000] {
            assert_eq!(run(level, Some(horizon)), expected, "{level:?}, {horizon}");
        }
    }
}
