//! MySQL's protocol, spoken by a small client: who gets in, prepared statements, what an error
//! leaves of a transaction, who waits for whom.

#[path = "common/mysql_target.rs"]
mod mysql_target;

use mysql_target::{Answer, Client, Target};
use seriatim_isolation::Level;
use seriatim_server::mysql::{MysqlConfig, NativePassword};
use seriatim_server::{Config, cells};
use seriatim_sql::cells::TxnLevel;
use seriatim_sql::memory::Memory;
use seriatim_store::Node;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

fn plain() -> Target {
    Target::mock(Arc::new(Memory::default()), MysqlConfig::default()).0
}

/// One MariaDB.
fn like_mysql() -> Target {
    let level = Level::SnapshotIsolation;
    let config = Config { level, node: Some(Node::Mysql), ..Config::default() };
    let store = Arc::new(cells::open(&config, false).unwrap());
    let default_level = Some(TxnLevel::RepeatableRead);
    Target::mock(store, MysqlConfig { default_level, ..MysqlConfig::default() }).0
}

fn texts(answer: &Answer) -> Vec<Vec<String>> {
    let shown = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
    answer.texts().into_iter().map(|row| row.into_iter().map(shown).collect()).collect()
}

/// The only value of a query.
fn value(client: &mut Client, sql: &str) -> String {
    texts(&client.run(sql).unwrap()).remove(0).remove(0)
}

fn number(client: &mut Client, sql: &str) -> u16 {
    client.run(sql).unwrap_err().number
}

#[test]
fn a_password_is_asked_for_if_there_is_one() {
    let password = Some(NativePassword::new("secret"));
    let config = MysqlConfig { password, ..MysqlConfig::default() };
    let (target, _) = Target::mock(Arc::new(Memory::default()), config);
    assert!(target.try_connect(Some("test"), "secret").is_ok());
    for wrong in ["", "other"] {
        let refusal = target.try_connect(Some("test"), wrong).err().unwrap();
        assert_eq!((refusal.number, refusal.state.as_str()), (1045, "28000"));
    }
}

#[test]
fn a_database_that_is_not_there_is_refused() {
    let target = plain();
    let refusal = target.try_connect(Some("nosuch"), "").err().unwrap();
    assert_eq!(refusal.message, "Unknown database 'nosuch'");
    let mut client = target.connect(None);
    assert_eq!(number(&mut client, "CREATE TABLE t (id INT)"), 1046);
    client.run("CREATE DATABASE other; USE other; CREATE TABLE t (id INT)").unwrap();
    assert_eq!(client.command(0x02, b"nosuch").unwrap_err().number, 1049);
    assert_eq!(value(&mut client, "SELECT COUNT(*) FROM other.t"), "0");
}

#[test]
fn prepared_statements_take_texts_and_nulls() {
    let target = plain();
    let mut client = target.connect(Some("test"));
    client.run("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10), n BIGINT)").unwrap();
    let sql = "INSERT INTO t VALUES (?, ?, ?)";
    let made = client.execute(sql, &[Some("7"), Some("it's"), None]).unwrap();
    assert_eq!(made.affected, 1);
    let found =
        client.execute("SELECT id, name, n, ? FROM t WHERE id = ?", &[Some("x"), Some("7")]);
    assert_eq!(texts(&found.unwrap()), [["7", "it's", "NULL", "x"]]);
    let refusal = client.execute("SELECT nosuch FROM t WHERE id = ?", &[Some("7")]).unwrap_err();
    assert_eq!(refusal.number, 1054);
    // Ping, and a session that is as new.
    client.run("SET @x = 1").unwrap();
    client.command(0x0e, b"").unwrap();
    client.command(0x1f, b"").unwrap();
    assert_eq!(value(&mut client, "SELECT @x IS NULL"), "1");
    assert_eq!(client.command(0x77, b"").unwrap_err().number, 1047);
}

#[test]
fn an_error_takes_back_its_statement_and_not_the_transaction() {
    let target = plain();
    let mut client = target.connect(Some("test"));
    client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let begun = client.run("START TRANSACTION").unwrap();
    assert_eq!(begun.status & 1, 1, "the client is told that it is in a transaction");
    client.run("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(number(&mut client, "INSERT INTO t VALUES (2), (1)"), 1062);
    client.run("INSERT INTO t VALUES (3)").unwrap();
    assert_eq!(client.run("COMMIT").unwrap().status & 1, 0);
    assert_eq!(texts(&client.run("SELECT id FROM t ORDER BY id").unwrap()), [["1"], ["3"]]);
}

#[test]
fn waiting_ends_after_its_time_and_leaves_the_transaction() {
    let target = like_mysql();
    let (mut one, mut two) = (target.connect(Some("test")), target.connect(Some("test")));
    one.run("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)").unwrap();
    two.run("SET innodb_lock_wait_timeout = 1; BEGIN; INSERT INTO t VALUES (2, 2)").unwrap();
    one.run("BEGIN; UPDATE t SET v = 2 WHERE id = 1").unwrap();
    assert_eq!(number(&mut two, "UPDATE t SET v = 3 WHERE id = 1"), 1205);
    two.run("COMMIT").unwrap();
    one.run("COMMIT").unwrap();
    let left = one.run("SELECT id, v FROM t ORDER BY id").unwrap();
    assert_eq!(texts(&left), [["1", "2"], ["2", "2"]]);
}

#[test]
fn one_of_a_deadlock_is_rolled_back() {
    let target = like_mysql();
    let (mut one, mut two) = (target.connect(Some("test")), target.connect(Some("test")));
    one.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)").unwrap();
    one.run("INSERT INTO t VALUES (1, 0), (2, 0)").unwrap();
    one.run("BEGIN; UPDATE t SET v = 1 WHERE id = 1").unwrap();
    two.run("BEGIN; UPDATE t SET v = 2 WHERE id = 2").unwrap();
    let waiting = std::thread::spawn(move || {
        let first = one.run("UPDATE t SET v = 1 WHERE id = 2");
        let ended = one.run("COMMIT");
        (first, ended, one)
    });
    let second = two.run("UPDATE t SET v = 2 WHERE id = 1");
    let done = two.run("COMMIT");
    let (first, ended, mut one) = waiting.join().unwrap();
    assert!(done.is_ok() && ended.is_ok());
    // Whoever came second is the one.
    let refused = [first, second].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((refused[0].number, refused[0].state.as_str()), (1213, "40001"));
    let left = texts(&one.run("SELECT v FROM t ORDER BY id").unwrap());
    assert!(left == [["1"], ["1"]] || left == [["2"], ["2"]], "{left:?}");
}

#[test]
fn what_a_transaction_has_changed_it_sees_as_a_whole_row() {
    let target = like_mysql();
    let (mut one, mut two) = (target.connect(Some("test")), target.connect(Some("test")));
    one.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)").unwrap();
    one.run("INSERT INTO t VALUES (1, 0, 0)").unwrap();
    one.run("BEGIN").unwrap();
    one.run("SELECT * FROM t").unwrap();
    two.run("UPDATE t SET b = 5; INSERT INTO t VALUES (2, 0, 7)").unwrap();
    assert_eq!(texts(&one.run("SELECT b FROM t").unwrap()), [["0"]]);
    // Both rows are found, and become its own with all their columns.
    assert_eq!(one.run("UPDATE t SET a = 1").unwrap().affected, 2);
    let seen = one.run("SELECT a, b FROM t ORDER BY id").unwrap();
    assert_eq!(texts(&seen), [["1", "5"], ["1", "7"]]);
}

#[test]
fn a_key_that_was_looked_for_in_vain_cannot_come() {
    let target = like_mysql();
    let (mut one, mut two) = (target.connect(Some("test")), target.connect(Some("test")));
    one.run("CREATE TABLE t (id INT PRIMARY KEY, k INT, KEY by_k (k))").unwrap();
    two.run("SET innodb_lock_wait_timeout = 1").unwrap();
    for look in ["id = 5", "k = 5", "k > 3"] {
        one.run(&format!("BEGIN; SELECT * FROM t WHERE {look} FOR UPDATE")).unwrap();
        assert_eq!(number(&mut two, "INSERT INTO t VALUES (5, 5)"), 1205, "{look}");
        one.run("ROLLBACK").unwrap();
    }
    // At READ COMMITTED gaps are free.
    one.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    one.run("BEGIN; SELECT * FROM t WHERE k > 3 FOR UPDATE").unwrap();
    two.run("INSERT INTO t VALUES (5, 5)").unwrap();
}

#[test]
fn what_is_not_there_is_named() {
    let target = plain();
    let mut client = target.connect(Some("test"));
    client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    for (sql, what) in [
        ("SELECT JSON_EXTRACT('{}', '$.a')", "JSON_EXTRACT"),
        ("LOCK TABLES t WRITE", "LOCK TABLES"),
        ("CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @x = 1", "CREATE TRIGGER"),
        ("CREATE TABLE u (b BIT(3))", "BIT"),
    ] {
        let refusal = client.run(sql).unwrap_err();
        assert_eq!(refusal.number, 1235, "{sql}: {refusal}");
        assert!(refusal.message.contains(what), "{sql}: {refusal}");
    }
    assert_eq!(number(&mut client, "SELECT NOSUCH(1)"), 1305);
}

#[test]
fn bytes_that_mean_nothing_end_one_connection_only() {
    let target = plain();
    let mut hostile = TcpStream::connect(target.address()).unwrap();
    hostile.write_all(&[0xff; 2000]).unwrap();
    hostile.shutdown(std::net::Shutdown::Write).unwrap();
    hostile.read_to_end(&mut Vec::new()).unwrap();
    let mut client = target.connect(Some("test"));
    for body in [&b"\x17"[..], b"\x17\x01\0\0\0\0\0\0\0\0", b"\x18", b"\x03\xff\xfe", b"\x16\xff"] {
        let _ = client.command(body[0], &body[1..]);
        if body != b"\x18" {
            assert_eq!(value(&mut client, "SELECT 1"), "1");
        }
    }
}
