//! What a saved run of SQL tells: an anomaly by the statements of its clients.

use seriatim_check::{Checker, Report};
use seriatim_history::formats::{Format, ReadOptions, read_bytes, write};
use seriatim_history::{History, OpId, TxnId};
use seriatim_isolation::{Anomaly, Level};
use seriatim_report::style::strip;
use seriatim_report::text::{self, Layout};
use seriatim_server::cells::{self, StoreCells};
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{ChooserKind, Config, Server};
use seriatim_sql::database::Cluster;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_postgres::{Client, NoTls};

const TABLES: &str = "CREATE TABLE booking (id int PRIMARY KEY, room int, who text);
     CREATE TABLE item (id int PRIMARY KEY, name text UNIQUE, stock int);
     CREATE TABLE log (line text)";

async fn connected(address: SocketAddr) -> Client {
    let text = format!("host=127.0.0.1 port={} user=postgres", address.port());
    let (client, connection) = tokio_postgres::connect(&text, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Runs two clients against a server at `level` that returns the latest versions; the history that
/// it saves, as it is read from a file.
fn run(level: Level, act: impl AsyncFnOnce([&mut Client; 2])) -> History {
    let config = Config { level, chooser: ChooserKind::Latest, ..Config::default() };
    let store: Arc<StoreCells> = Arc::new(cells::open(&config, true).unwrap());
    let cluster = Arc::new(Cluster::new(Arc::clone(&store) as _));
    let server = Server::new(Config::default()).unwrap();
    let server = server.with_postgres("127.0.0.1:0", cluster, PostgresConfig::default()).unwrap();
    let (address, stopper) = (server.postgres_address().unwrap(), server.stopper());
    let running = std::thread::spawn(move || {
        server.run();
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut one, mut two) = (connected(address).await, connected(address).await);
        one.batch_execute(TABLES).await.unwrap();
        act([&mut one, &mut two]).await;
    });
    stopper.stop();
    running.join().unwrap();
    let mut saved = Vec::new();
    write(&store.history(), Format::Jsonl, &mut saved).unwrap();
    read_bytes(&saved, "run.jsonl", &ReadOptions::default()).unwrap().0
}

/// Both count the bookings of a room and insert one if there is none; whether both committed.
async fn book([one, two]: [&mut Client; 2]) -> bool {
    let count = "SELECT count(*) FROM booking WHERE room = $1";
    let insert = "INSERT INTO booking VALUES ($1, $2, $3)";
    let first = one.transaction().await.unwrap();
    let second = two.transaction().await.unwrap();
    let mut all_went_well = true;
    for (txn, id) in [(&first, 1), (&second, 2)] {
        let found = txn.query_one(count, &[&1i32]).await.unwrap().get::<_, i64>(0);
        assert_eq!(found, 0);
        all_went_well &= txn.execute(insert, &[&id, &1i32, &"it's me"]).await.is_ok();
    }
    all_went_well &= first.commit().await.is_ok();
    all_went_well &= second.commit().await.is_ok();
    all_went_well
}

fn page(report: &Report, kind: Anomaly) -> String {
    let group = report.anomalies.iter().find(|group| group.kind == kind).unwrap();
    let text = strip(&text::violation(&group.exemplar, &Layout::default()));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_write_skew_is_told_by_the_statements_that_made_it() {
    let history = run(Level::SnapshotIsolation, async |clients| {
        assert!(book(clients).await);
    });
    let report = Checker::new().check(&history);
    assert!(report.holds(Level::SnapshotIsolation) && report.violates(Level::Serializable));
    let page = page(&report, Anomaly::WriteSkew);
    let expected = "SELECT count(*) FROM booking WHERE room = 1 returned 0 and did not see the row \
                    booking[2]";
    assert!(page.contains(expected), "{page}");
    let by = "inserted by INSERT INTO booking VALUES (1, 1, 'it''s me')";
    assert!(page.contains(by), "{page}");
}

#[test]
fn serializable_clients_do_not_both_book() {
    let history = run(Level::Serializable, async |clients| {
        assert!(!book(clients).await);
    });
    assert!(Checker::new().check(&history).holds(Level::Serializable));
}

#[test]
fn cells_are_named_by_tables_keys_and_columns() {
    let history = run(Level::SnapshotIsolation, async |[one, _]| {
        let sql = "INSERT INTO item VALUES (7, 'x', 3); INSERT INTO log VALUES ('a');
             UPDATE item SET stock = 2 WHERE id = 7; SELECT * FROM item WHERE name = 'x';
             SELECT stock FROM item WHERE id = 7 FOR UPDATE; DROP TABLE item;
             CREATE TABLE item (id int PRIMARY KEY); INSERT INTO item VALUES (7)";
        for sql in sql.split(';') {
            one.batch_execute(sql).await.unwrap();
        }
    });
    let names: Vec<String> = (0..history.key_count())
        .map(|key| history.key_name(seriatim_history::KeyId(key as u32)).to_string())
        .collect();
    let expected =
        ["item[7]", "item[7].stock", "log[#0]", "log[#0].line", "item#2[7]", "lock of item[7]"];
    for name in expected {
        assert!(names.iter().any(|other| other == name), "{name} is not in {names:?}");
    }
    assert!(names.iter().any(|name| name.starts_with("item(name='x')")), "{names:?}");
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), names.len());
}

#[test]
fn secrets_and_what_is_long_are_not_recorded() {
    let history = run(Level::SnapshotIsolation, async |[one, _]| {
        let text = "a".repeat(100_000);
        let insert = "INSERT INTO booking VALUES (1, 1, $1)";
        one.execute(insert, &[&text]).await.unwrap();
        let batch = "CREATE USER bob PASSWORD 'sesame'; SELECT 1 FROM booking";
        // Whether there are users or not: nothing of it is in the history.
        let _ = one.batch_execute(batch).await;
        let _ = one.batch_execute("ALTER USER bob PASSWORD 'sesame'").await;
    });
    let mut saved = Vec::new();
    write(&history, Format::Jsonl, &mut saved).unwrap();
    let saved = String::from_utf8(saved).unwrap();
    assert!(!saved.contains("sesame"), "{saved}");
    let params = history.statements().iter().flat_map(|statement| &statement.content.params);
    assert!(params.flatten().all(|param| param.len() < 100));
}

#[test]
fn a_scan_of_many_unchanged_rows_is_a_few_operations() {
    let history = run(Level::SnapshotIsolation, async |[one, two]| {
        let load = "INSERT INTO booking SELECT n, 1, 'x' FROM generate_series(1, 2000) n";
        one.batch_execute(load).await.unwrap();
        for client in [one, two] {
            for _ in 0..5 {
                let sql = "SELECT count(*) FROM booking WHERE room = 1";
                client.batch_execute(sql).await.unwrap();
            }
        }
    });
    let ops = |txn| history.ops_of(TxnId(txn)).len();
    let is_scan = |&txn: &u32| !history.scans_of(TxnId(txn)).is_empty() && ops(txn) < 100;
    let scans: Vec<u32> = (0..history.txn_count() as u32).filter(is_scan).collect();
    assert_eq!(
        scans.len(),
        10,
        "{:?}",
        (0..history.txn_count() as u32).map(ops).collect::<Vec<_>>()
    );
    assert!(history.scanned_reads() >= 10 * 4000);
    let last = scans.into_iter().max().map(TxnId).unwrap();
    let statement = history.statement_of(OpId(history.ops_of(last).start)).unwrap();
    assert_eq!(&*statement.content.text, "SELECT count(*) FROM booking WHERE room = 1");
    assert!(Checker::new().check(&history).holds(Level::Serializable));
}
