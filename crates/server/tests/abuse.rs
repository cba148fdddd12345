//! Clients that no server wishes for: the server goes on, nothing leaks, and the history stays
//! checkable.

#[path = "common/frames.rs"]
mod frames;
#[path = "common/serving.rs"]
mod serving;

use frames::{Frames, bind, error_field, execute, frame, kinds, parse, sync};
use seriatim_check::Checker;
use seriatim_isolation::Level;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{ChooserKind, Config, cells};
use seriatim_sql::database::Cluster;
use serving::Serving;
use std::io::Write;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn a_client_that_does_not_read_is_given_up() {
    let write_wait_max = Duration::from_millis(300);
    let server = Serving::new(PostgresConfig { write_wait_max, ..PostgresConfig::default() });
    let mut frames = Frames::ready(server.address);
    let much = "SELECT repeat('x', 1000000) FROM generate_series(1, 60)\0";
    frames.send(&frame(b'Q', much.as_bytes()));
    std::thread::sleep(Duration::from_millis(50));
    server.wait_for_no_session();
}

#[test]
fn messages_have_a_limit() {
    let server =
        Serving::new(PostgresConfig { message_bytes_max: 1 << 20, ..PostgresConfig::default() });
    let mut frames = Frames::ready(server.address);
    let text = format!("SELECT length('{}')", "x".repeat(1_000_000));
    assert_eq!(kinds(&frames.query(&text)), "TDCZ");
    frames.send(&[b"Q", 0x7fff_ffff_i32.to_be_bytes().as_slice(), b"SELECT 1"].concat());
    let got = frames.rest();
    assert_eq!(error_field(&got, 'M').as_deref(), Some("invalid message length"));
    for bytes in [&b"Q\0\0\0\x03"[..], b"Q\xff\xff\xff\xff", b"S\0\x01\0\0", b"?\0\0\0\x04"] {
        let mut frames = Frames::ready(server.address);
        frames.send(bytes);
        let got = frames.rest();
        assert_eq!(error_field(&got, 'S').as_deref(), Some("FATAL"), "{bytes:?}");
        assert_eq!(error_field(&got, 'C').as_deref(), Some("08P01"), "{bytes:?}");
    }
    server.wait_for_no_session();
}

#[test]
fn deep_statements_do_not_end_the_server() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let deep = [
        format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("SELECT 1{}", " + 1".repeat(40_000)),
        format!("SELECT 1{}", " + 1".repeat(1_000_000)),
        format!("SELECT 1{}", " IS NULL".repeat(40_000)),
        format!("SELECT {}true", "NOT ".repeat(100_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(20_000)),
    ];
    for text in deep {
        let got = frames.query(&text);
        assert_eq!(error_field(&got, 'C').as_deref(), Some("54001"), "{}", &text[..30]);
    }
    assert_eq!(kinds(&frames.query(&format!("SELECT 1{}", " + 1".repeat(4000)))), "TDCZ");
    let long = format!("SELECT 1 WHERE 1 = 1{}", " OR 1 = 2".repeat(10_000));
    assert_eq!(kinds(&frames.query(&long)), "TDCZ");
}

#[test]
fn random_bytes_end_connections_and_not_the_server() {
    let server = Serving::plain();
    let mut state = 1_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for round in 0..300 {
        let bytes: Vec<u8> = (0..random() % 200).map(|_| random() as u8).collect();
        let mut frames = match round % 3 {
            0 => Frames::silent(server.address),
            _ => Frames::ready(server.address),
        };
        let kind = b"QPBDECHSXdcfFp"[random() as usize % 14];
        let sent = if round % 3 == 2 { frame(kind, &bytes) } else { bytes };
        // It may be refused while it is being sent.
        let _ = frames.0.write_all(&sent);
        let _ = frames.0.shutdown(Shutdown::Write);
        frames.rest();
    }
    server.wait_for_no_session();
    assert_eq!(kinds(&Frames::ready(server.address).query("SELECT 1")), "TDCZ");
}

#[test]
fn half_of_many_connections_are_cut_off() {
    let server = Serving::plain();
    let clients: Vec<_> = (0..100)
        .map(|number: usize| {
            let address = server.address;
            std::thread::spawn(move || {
                let mut frames = Frames::ready(address);
                for round in 0..20 {
                    if number.is_multiple_of(2) && round == number % 20 {
                        frames.send(&frame(b'Q', b"SELECT repeat('x', 100000)\0")[..number % 30]);
                        return;
                    }
                    assert_eq!(kinds(&frames.query("BEGIN; SELECT 1; COMMIT")), "CTDCCZ");
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    server.wait_for_no_session();
}

/// Transfers between rows, some of which are cut off in the middle of a transaction.
fn transfer(address: std::net::SocketAddr, number: usize) {
    let mut frames = Frames::ready(address);
    for round in 0..6 {
        let (from, to) = ((number + round) % 20, (number * 7 + round * 3 + 1) % 20);
        frames.query("BEGIN");
        frames.query(&format!("SELECT v FROM t WHERE id = {from}"));
        frames.query(&format!("UPDATE t SET v = v + 1 WHERE id = {to}"));
        if number % 2 == 1 && round == number % 6 {
            let _ = frames.0.shutdown(Shutdown::Both);
            return;
        }
        // It may have been refused; then this rolls back.
        frames.query("COMMIT");
    }
}

fn abused(level: Level) {
    let config = Config { level, chooser: ChooserKind::Random, ..Config::default() };
    let store = Arc::new(cells::open(&config, true).unwrap());
    let settings =
        PostgresConfig { write_wait_max: Duration::from_millis(500), ..PostgresConfig::default() };
    let server = Serving::on(Cluster::new(Arc::clone(&store) as _), settings);
    let mut watcher = Frames::ready(server.address);
    watcher.query("CREATE TABLE t (id int PRIMARY KEY, v int)");
    watcher.query("INSERT INTO t SELECT i, 0 FROM generate_series(0, 19) i");
    let clients: Vec<_> = (0..200)
        .map(|number| {
            let address = server.address;
            std::thread::spawn(move || transfer(address, number))
        })
        .collect();
    let mut idle = Frames::ready(server.address);
    idle.send(&frame(b'Q', b"SELECT repeat('x', 1000000) FROM generate_series(1, 60)\0"));
    clients.into_iter().for_each(|client| client.join().unwrap());

    let begun = Instant::now();
    watcher.query("SET statement_timeout = '300ms'");
    let endless = "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r)
                   SELECT count(*) FROM r";
    assert_eq!(error_field(&watcher.query(endless), 'C').as_deref(), Some("57014"));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());

    drop(idle);
    let until = Instant::now() + Duration::from_secs(20);
    while server.sessions() > 1 {
        assert!(Instant::now() < until, "{} sessions are left", server.sessions());
        std::thread::sleep(Duration::from_millis(10));
    }
    let locks = watcher.query("SELECT count(*) FROM pg_locks WHERE locktype <> 'virtualxid'");
    let shown = String::from_utf8_lossy(&locks[1].1).into_owned();
    // Its own of pg_locks.
    assert!(shown.ends_with('1') || shown.ends_with('0'), "{shown}");
    drop(watcher);
    server.wait_for_no_session();
    let history = store.history();
    assert!(history.txn_count() > 500);
    assert!(Checker::new().check(&history).holds(level));
}

#[test]
fn the_history_stays_checkable_at_a_strong_level() {
    abused(Level::Serializable);
}

#[test]
fn the_history_stays_checkable_at_a_weak_level() {
    abused(Level::Causal);
}

#[test]
fn a_parameter_may_have_a_hundred_megabytes() {
    let server = Serving::plain();
    let mut frames = Frames::ready(server.address);
    let large = "x".repeat(100_000_000);
    let messages =
        [parse("", "SELECT length($1::text)"), bind("", "", &[&large], 0), execute("", 0), sync()];
    frames.send(&messages.concat());
    let got = frames.until('Z');
    let row = got.iter().find(|(kind, _)| *kind == 'D').expect("a row");
    assert!(String::from_utf8_lossy(&row.1).ends_with("100000000"), "{got:?}");
}
