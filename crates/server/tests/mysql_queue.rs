//! Two workers take jobs from a queue, on the mock that does what one MariaDB does, and on a real
//! one if `SERIATIM_TEST_MYSQL` names it: which rows a locking read with a LIMIT leaves free.

#[path = "common/mysql_target.rs"]
mod mysql_target;

use mysql_target::{Client, Target};
use seriatim_server::mysql::MysqlConfig;
use seriatim_server::{Config, cells};
use seriatim_sql::cells::TxnLevel;
use seriatim_store::Node;
use std::sync::Arc;

/// What the first worker asks and gets, and the second one after it. The rows came in another order
/// than that of their keys.
const CASES: &[(&str, &str, &str, &str)] = &[
    // The order of the primary key, from either end, ends the scan at the limit.
    ("state = 0 ORDER BY id LIMIT 1", "1", "state = 0 ORDER BY id LIMIT 1", "2"),
    ("state = 0 LIMIT 1", "1", "state = 0 LIMIT 1", "2"),
    ("id > 0 ORDER BY id LIMIT 1", "1", "id > 0 ORDER BY id LIMIT 1", "2"),
    ("state = 0 ORDER BY id DESC LIMIT 1", "6", "state = 0 ORDER BY id DESC LIMIT 1", "5"),
    ("state = 0 ORDER BY id LIMIT 2", "1 2", "state = 0 ORDER BY id LIMIT 2", "4 5"),
    ("state = 0 ORDER BY state, id LIMIT 1", "1", "state = 0 ORDER BY state, id LIMIT 1", "2"),
    // What is left out by OFFSET has been looked at.
    ("state = 0 ORDER BY id LIMIT 1 OFFSET 1", "2", "state = 0 ORDER BY id LIMIT 1", "4"),
    // So has what does not satisfy the conditions.
    ("state = 1 ORDER BY id LIMIT 1", "3", "state = 0 ORDER BY id LIMIT 1", "4"),
    // Any other order needs all rows, and locks them.
    ("state = 0 ORDER BY place LIMIT 1", "6", "state = 0 ORDER BY id LIMIT 1", ""),
    ("state = 0 ORDER BY id, place LIMIT 1", "1", "state = 0 ORDER BY id, place LIMIT 1", ""),
    ("state = 0 ORDER BY id", "1 2 4 5 6", "state = 0 ORDER BY id LIMIT 1", ""),
    ("id IN (4, 2, 5) ORDER BY id LIMIT 1", "2", "id IN (4, 2, 5) ORDER BY id LIMIT 1", "4"),
];

fn ids(client: &mut Client, rest: &str, ending: &str) -> String {
    let answer = client.run(&format!("SELECT id FROM jobs WHERE {rest} FOR UPDATE {ending}"));
    let rows = answer.unwrap().texts();
    let ids: Vec<String> = rows.into_iter().map(|row| row[0].clone().unwrap()).collect();
    ids.join(" ")
}

/// Workers that take a job by changing it, which needs the rows up to the limit.
fn take_by_update(one: &mut Client, two: &mut Client) {
    one.run("BEGIN").unwrap();
    two.run("BEGIN").unwrap();
    let take = |order: &str| format!("UPDATE jobs SET state = 2 WHERE state = 0 ORDER BY {order}");
    assert_eq!(one.run(&take("id LIMIT 1")).unwrap().affected, 1);
    assert_eq!(two.run(&take("id DESC LIMIT 2")).unwrap().affected, 2);
    assert_eq!(
        two.run("DELETE FROM jobs WHERE state = 0 ORDER BY id DESC LIMIT 1").unwrap().affected,
        1
    );
    assert_eq!(ids(one, "state = 2 ORDER BY id LIMIT 1", ""), "1");
    assert_eq!(ids(two, "state = 2 AND id > 3 ORDER BY id", "SKIP LOCKED"), "5 6");
    one.run("ROLLBACK").unwrap();
    two.run("ROLLBACK").unwrap();
}

fn worker(target: &Target, database: &str, level: &str) -> Client {
    let mut client = target.connect(Some(database));
    client.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")).unwrap();
    client.run("SET innodb_lock_wait_timeout = 5").unwrap();
    client
}

fn play(target: &Target, database: &str) {
    let mut admin = target.connect(Some(database));
    admin
        .run("CREATE TABLE jobs (id INT PRIMARY KEY, state INT, place INT) ENGINE=InnoDB")
        .unwrap();
    let rows = "(4,0,3),(1,0,6),(6,0,1),(3,1,4),(2,0,5),(5,0,2)";
    admin.run(&format!("INSERT INTO jobs VALUES {rows}")).unwrap();
    let level = "REPEATABLE READ";
    let (mut one, mut two) = (worker(target, database, level), worker(target, database, level));
    for (first, taken, second, left) in CASES {
        one.run("BEGIN").unwrap();
        two.run("BEGIN").unwrap();
        assert_eq!(ids(&mut one, first, ""), *taken, "{first}");
        assert_eq!(ids(&mut two, second, "SKIP LOCKED"), *left, "{first}; {second}");
        one.run("ROLLBACK").unwrap();
        two.run("ROLLBACK").unwrap();
    }
    take_by_update(&mut one, &mut two);
    // Neither waiting nor refusing is about what is behind the limit.
    one.run("BEGIN").unwrap();
    two.run("BEGIN").unwrap();
    assert_eq!(ids(&mut one, "state = 0 ORDER BY id DESC LIMIT 1", ""), "6");
    assert_eq!(ids(&mut two, "state = 0 ORDER BY id LIMIT 2", ""), "1 2");
    assert_eq!(ids(&mut two, "state = 0 ORDER BY id LIMIT 2", "NOWAIT"), "1 2");
    let all = "SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT 5 FOR UPDATE NOWAIT";
    assert_eq!(two.run(all).unwrap_err().number, 1205);
    one.run("ROLLBACK").unwrap();
    two.run("ROLLBACK").unwrap();
}

#[test]
fn workers_of_the_mock_get_different_jobs() {
    let level = seriatim_isolation::Level::SnapshotIsolation;
    let config = Config { level, node: Some(Node::Mysql), seed: 1, ..Config::default() };
    let store = Arc::new(cells::open(&config, false).unwrap());
    let default_level = Some(TxnLevel::RepeatableRead);
    let config = MysqlConfig { default_level, ..MysqlConfig::default() };
    let (target, _) = Target::mock(store as _, config);
    play(&target, "test");
}

#[test]
fn workers_of_a_real_mariadb_get_the_same() {
    let Some(real) = Target::real() else { return };
    let database = format!("seriatim_queue_{}", std::process::id());
    let mut admin = real.connect(None);
    admin.run(&format!("CREATE DATABASE {database}")).unwrap();
    play(&real, &database);
    admin.run(&format!("DROP DATABASE {database}")).unwrap();
}
