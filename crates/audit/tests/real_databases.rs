//! Audits of real databases. `suites/databases/ci.sh` installs and starts them and says by
//! variables where they are; without it these tests are ignored.

#[path = "common/cutter.rs"]
mod cutter;
#[path = "common/hermitage_table.rs"]
mod hermitage_table;

use seriatim_audit::hermitage::play;
use seriatim_audit::{
    Audit, Audited, Driver, Kept, Recording, ServerProcess, Setting, Workload, audit, open,
};
use seriatim_isolation::Level;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const SETTINGS: [(&str, Setting); 4] = [
    ("ru", Setting::ReadUncommitted),
    ("rc", Setting::ReadCommitted),
    ("rr", Setting::RepeatableRead),
    ("ser", Setting::Serializable),
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name}: run suites/databases/ci.sh"))
}

/// The databases that variables name, or the one of several nodes, separated by spaces.
fn database(name: &str) -> Box<dyn Driver> {
    let urls = variable(name);
    open(&urls.split_whitespace().collect::<Vec<_>>()).unwrap()
}

fn short(setting: Setting) -> Audit {
    Audit { duration: Duration::from_millis(2500), ..Audit::new(setting) }
}

/// Audits every setting with all workloads. What is promised is kept; what was seen violated
/// besides is returned.
fn matrix(driver: &dyn Driver) -> Vec<Vec<Level>> {
    let settings = driver.settings();
    let rows = settings.into_iter().map(|setting| {
        let audited = audit(driver, &short(setting)).unwrap();
        assert_eq!(audited.problem, None);
        assert!(audited.tally.committed > 50, "{setting}: {:?}", audited.tally);
        assert_eq!(audited.keeps_promise(), Kept::Yes, "{setting}: {:?}", audited.anomalies);
        let broken = audited.levels.iter().filter(|(_, kept)| *kept == Kept::No);
        broken.map(|(level, _)| *level).collect()
    });
    rows.collect()
}

/// One workload until something is seen that is not promised, or for half a minute.
fn violates(driver: &dyn Driver, setting: Setting, workload: Workload, check: Level) -> Audited {
    let asked = Audit {
        workload: Some(workload),
        check: Some(check),
        until_violation: true,
        duration: Duration::from_secs(30),
        ..Audit::new(setting)
    };
    let audited = audit(driver, &asked).unwrap();
    assert_eq!(audited.problem, None);
    assert_eq!(audited.keeps_promise(), Kept::No, "{workload:?}: {:?}", audited.tally);
    audited
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn postgresql_shows_nothing_that_it_does_not_allow() {
    let driver = database("SERIATIM_TEST_PG");
    let rows = matrix(driver.as_ref());
    assert!(rows[0].contains(&Level::SnapshotIsolation), "{rows:?}");
    assert_eq!(rows[1..], [vec![Level::Serializable], vec![]]);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn mariadb_shows_nothing_that_it_does_not_allow() {
    let driver = database("SERIATIM_TEST_MYSQL");
    let rows = matrix(driver.as_ref());
    assert!(rows[0].contains(&Level::ReadCommitted), "{rows:?}");
    assert!(rows[1].contains(&Level::SnapshotIsolation), "{rows:?}");
    assert!(rows[2].contains(&Level::SnapshotIsolation), "{rows:?}");
    assert!(rows[3].is_empty(), "{rows:?}");
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn mariadb_that_refuses_changed_rows_keeps_snapshot_isolation() {
    let driver = database("SERIATIM_TEST_MYSQL_SNAPSHOT");
    let rows = matrix(driver.as_ref());
    assert_eq!(rows[2..], [vec![Level::Serializable], vec![]]);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn redis_with_watch_is_serializable_and_without_is_not() {
    let driver = database("SERIATIM_TEST_REDIS");
    let rows = matrix(driver.as_ref());
    assert!(rows[0].contains(&Level::Serializable), "{rows:?}");
    assert!(rows[1].is_empty(), "{rows:?}");
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn duckdb_keeps_snapshot_isolation() {
    let path = std::env::temp_dir().join(format!("seriatim-{}.duckdb", std::process::id()));
    let driver = open(&[format!("duckdb:{}", path.display())]).unwrap();
    assert_eq!(matrix(driver.as_ref()), [vec![Level::Serializable]]);
    drop(driver);
    assert!(!path.exists(), "what was not there before is gone afterwards");
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn a_standby_is_behind_its_primary() {
    let standby = format!("read={}", variable("SERIATIM_TEST_PG_STANDBY"));
    let driver = open(&[variable("SERIATIM_TEST_PG"), standby]).unwrap();
    assert_eq!(driver.promise(Setting::Serializable), Level::SnapshotIsolation);
    let audited = audit(driver.as_ref(), &short(Setting::Serializable)).unwrap();
    assert_ne!(audited.keeps_promise(), Kept::No, "{:?}", audited.anomalies);
    // It is told to be 30 ms behind.
    assert!(audited.stale_reads > 0, "{:?}", audited.tally);
    assert!(audited.stale_age_median().unwrap() > 1_000_000);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn a_replica_of_redis_is_behind_and_serves_readers() {
    let replica = format!("read={}", variable("SERIATIM_TEST_REDIS_REPLICA"));
    let driver = open(&[variable("SERIATIM_TEST_REDIS"), replica]).unwrap();
    let audited = audit(driver.as_ref(), &short(Setting::ReadCommitted)).unwrap();
    assert_eq!(audited.problem, None);
    assert_eq!(audited.keeps_promise(), Kept::Yes, "{:?}", audited.anomalies);
    assert!(audited.tally.committed > 50, "{:?}", audited.tally);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn serializable_transactions_of_galera_have_write_skew() {
    let driver = database("SERIATIM_TEST_GALERA");
    assert!(driver.product().ends_with("3 nodes"), "{}", driver.product());
    let (setting, workload) = (Setting::Serializable, Workload::WriteSkew);
    let audited = violates(driver.as_ref(), setting, workload, Level::Serializable);
    assert!(audited.anomalies.contains_key("write skew"), "{:?}", audited.anomalies);
}

/// The scenarios of Hermitage at each setting, compared with columns of the table.
fn same_table(driver: &dyn Driver, product: &str, of: &[&str]) {
    let never = AtomicBool::new(false);
    let mut differences = Vec::new();
    for (name, setting) in SETTINGS.iter().filter(|(name, _)| of.contains(name)) {
        let played = play(driver, *setting, &never).unwrap();
        let snapshot = if product.ends_with("snapshot") { "" } else { name };
        let column = format!("{product} {snapshot}");
        for (scenario, expected) in hermitage_table::column(column.trim_end()) {
            let found = played.scenarios.iter().find(|(name, ..)| *name == scenario).unwrap();
            if found.1 != (expected == 'x') {
                differences.push(format!("{scenario} of {column}: {:?}", found.2));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn the_scenarios_of_hermitage_on_postgresql() {
    let driver = database("SERIATIM_TEST_PG");
    same_table(driver.as_ref(), "postgres", &["rc", "rr", "ser"]);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn the_scenarios_of_hermitage_on_mariadb() {
    let driver = database("SERIATIM_TEST_MYSQL");
    same_table(driver.as_ref(), "mariadb", &["ru", "rc", "rr", "ser"]);
    let driver = database("SERIATIM_TEST_MYSQL_SNAPSHOT");
    same_table(driver.as_ref(), "mariadb rr snapshot", &["rr"]);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn the_scenarios_of_hermitage_on_galera() {
    let driver = database("SERIATIM_TEST_GALERA");
    same_table(driver.as_ref(), "galera", &["rc", "rr", "ser"]);
}

/// Audits a server that the audit starts itself, while this is done to it.
fn with_faults(url: &str, command: &str, fault: &str) -> Audited {
    let server = ServerProcess::start(&variable(command)).unwrap();
    let begun = Instant::now();
    let driver = loop {
        match open(&[variable(url)]) {
            Ok(driver) => break driver,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let audited = while_done(driver.as_ref(), Some(&Mutex::new(server)), fault);
    assert_eq!(problems(&audited), Vec::<&String>::new());
    audited
}

/// Audits at serializable, while this is done. All that was recorded is there afterwards.
fn while_done(driver: &dyn Driver, server: Option<&Mutex<ServerProcess>>, fault: &str) -> Audited {
    let fault_name: String = fault.chars().filter(char::is_ascii_alphabetic).collect();
    let name = format!("seriatim-{fault_name}-{}.jsonl", std::process::id());
    let path = std::env::temp_dir().join(name);
    let asked = Audit {
        faults: vec![fault.parse().unwrap()],
        output: Some(path.clone()),
        duration: Duration::from_secs(6),
        ..Audit::new(Setting::Serializable)
    };
    let never = AtomicBool::new(false);
    let audited = asked.run(driver, server, &|_: &Audited| {}, &never).unwrap();
    assert_eq!(audited.problem, None);
    assert_eq!(audited.keeps_promise(), Kept::Yes, "{:?}", audited.anomalies);
    assert!(!audited.faults.is_empty());
    // What was recorded is all there.
    let mut recording = Recording::open(&path).unwrap();
    let mut rounds = 0;
    while let Some(round) = recording.round().unwrap() {
        round.history().unwrap();
        rounds += 1;
    }
    assert_eq!(rounds, audited.rounds);
    std::fs::remove_file(&path).unwrap();
    audited
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn postgresql_that_is_killed_loses_nothing() {
    let (url, command) = ("SERIATIM_TEST_PG_OWN", "SERIATIM_TEST_PG_COMMAND");
    let audited = with_faults(url, command, "every 2s: kill");
    assert!(audited.tally.lost_connections > 0);
    assert_eq!(audited.lost_count, 0, "{:?}", audited.lost);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn mariadb_that_is_killed_loses_nothing() {
    let (url, command) = ("SERIATIM_TEST_MYSQL_OWN", "SERIATIM_TEST_MYSQL_COMMAND");
    let audited = with_faults(url, command, "every 2s: kill");
    assert!(audited.tally.lost_connections > 0);
    assert_eq!(audited.lost_count, 0, "{:?}", audited.lost);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn a_server_that_stands_still_for_a_while_goes_on() {
    let (url, command) = ("SERIATIM_TEST_PG_OWN", "SERIATIM_TEST_PG_COMMAND");
    let audited = with_faults(url, command, "every 2s: pause 500ms");
    assert_eq!(audited.tally.lost_connections, 0);
}

/// What went wrong with the faults.
fn problems(audited: &Audited) -> Vec<&String> {
    audited.faults.iter().filter_map(|fault| fault.problem.as_ref()).collect()
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn a_server_that_is_cut_off_or_late_for_a_while_goes_on() {
    let namespace = variable("SERIATIM_TEST_PG_NAMESPACE");
    if namespace.is_empty() {
        eprintln!("left out: there are no network namespaces here");
        return;
    }
    let driver = database("SERIATIM_TEST_PG_AWAY");
    let cut = while_done(driver.as_ref(), None, &format!("every 1s: partition {namespace} 1s"));
    assert_eq!(problems(&cut), Vec::<&String>::new());
    assert_eq!(cut.lost_count, 0, "{:?}", cut.lost);
    assert!(cut.tally.committed > 50, "{:?}", cut.tally);
    let late = while_done(driver.as_ref(), None, &format!("at 1s: delay {namespace} 20ms 2s"));
    // Not every kernel can do that; then it says so.
    for problem in problems(&late) {
        assert!(problem.contains("qdisc kind is unknown"), "{problem}");
    }
}

/// A user who may not make tables is told so.
fn refuses_weak(name: &str, expected: &str) {
    let url = variable(name);
    let (scheme, rest) = url.split_once("://").unwrap();
    let place = rest.split_once('@').unwrap().1;
    let driver = open(&[format!("{scheme}://weak:secret@{place}")]).unwrap();
    let error = audit(driver.as_ref(), &short(Setting::Serializable)).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn a_user_without_rights_is_told_so() {
    refuses_weak("SERIATIM_TEST_PG", "permission denied for schema public");
    refuses_weak("SERIATIM_TEST_MYSQL", "command denied to user 'weak'");
}

/// An answer to COMMIT that never comes leaves open what became of the transaction.
fn cut(name: &str, word: &str) {
    let url = variable(name);
    let place = url.split(['@', '/']).find(|part| part.starts_with("127.0.0.1:")).unwrap();
    let cutter = cutter::Cutter::start(place.parse().unwrap(), word);
    let driver = open(&[url.replace(place, &cutter.address().to_string())]).unwrap();
    let asked = Audit {
        workload: Some(Workload::General),
        transactions: Some(600),
        ..Audit::new(Setting::Serializable)
    };
    cutter.cut_after(100);
    let audited = audit(driver.as_ref(), &asked).unwrap();
    assert_eq!(audited.problem, None);
    assert_eq!(audited.tally.unknown, 3, "{:?}", audited.tally);
    assert_eq!(audited.keeps_promise(), Kept::Yes, "{:?}", audited.anomalies);
}

#[test]
#[ignore = "needs real servers: suites/databases/ci.sh"]
fn a_lost_answer_to_commit_is_an_unknown_outcome() {
    cut("SERIATIM_TEST_PG", "COMMIT");
    cut("SERIATIM_TEST_MYSQL", "COMMIT");
    cut("SERIATIM_TEST_REDIS", "EXEC");
}
