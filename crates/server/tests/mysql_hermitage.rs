//! The scenarios of Hermitage over the wire, on the mock that does what one MariaDB does, and on a
//! real one if `SERIATIM_TEST_MYSQL` names it: in the order that shows the anomaly both give the
//! table that was measured, and on the mock no order of the steps shows what must not be.

#[path = "../../audit/tests/common/hermitage_table.rs"]
mod hermitage_table;
#[path = "common/mysql_target.rs"]
mod mysql_target;
#[path = "common/timings.rs"]
mod timings;

use mysql_target::{Answer, Client, Refusal, Target};
use seriatim_audit::hermitage::{
    Actor, CREATE, FINAL, Outcome, RESET, SCENARIOS, Scenario, Stage, orders, own_order,
};
use seriatim_check::{Answer as Verdict, Checker};
use seriatim_history::History;
use seriatim_isolation::{Level, Order};
use seriatim_server::mysql::MysqlConfig;
use seriatim_server::{Config, cells};
use seriatim_sql::cells::TxnLevel;
use seriatim_store::Node;
use std::sync::Arc;
use std::time::Duration;
use timings::timings;

/// A step that has no answer after this time is blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(300);

/// Levels with their column in the table, and whether a changed row is refused.
const LEVELS: [(&str, &str, bool); 5] = [
    ("READ UNCOMMITTED", "mariadb ru", false),
    ("READ COMMITTED", "mariadb rc", false),
    ("REPEATABLE READ", "mariadb rr", false),
    ("SERIALIZABLE", "mariadb ser", false),
    ("REPEATABLE READ", "mariadb rr snapshot", true),
];

/// So many other orders are tried on a real server, where a step that is blocked takes its time.
const REAL_ORDERS_MAX: usize = 60;

/// A client whose transaction is over after an error, as an application would have it: the mock and
/// MariaDB go on after most errors.
struct Careful {
    client: Client,
    has_failed: bool,
}

impl Careful {
    fn run(&mut self, statement: &str) -> Outcome {
        // What comes between the scenarios is always done.
        if [RESET, FINAL, CREATE].contains(&statement) || statement.starts_with("SET SESSION") {
            self.has_failed = false;
        }
        if self.has_failed {
            return Outcome::Failed("over".to_owned());
        }
        match self.client.run(statement) {
            Ok(answer) => outcome(statement, &answer),
            Err(Refusal { number, .. }) => {
                self.has_failed = true;
                self.client.run("ROLLBACK").unwrap();
                Outcome::Failed(number.to_string())
            }
        }
    }
}

fn outcome(statement: &str, answer: &Answer) -> Outcome {
    if answer.columns.is_none() {
        let word = statement.split(' ').next().unwrap();
        return Outcome::Done(match word {
            "COMMIT" | "ROLLBACK" => word.to_owned(),
            _ => format!("{word} {}", answer.affected),
        });
    }
    let number = |value: &Option<String>| value.as_ref().unwrap().parse().unwrap();
    let rows = answer.texts();
    Outcome::Rows(rows.iter().map(|row| row.iter().map(number).collect()).collect())
}

/// Three sessions.
fn actors(target: &Target, database: &str) -> Vec<Actor> {
    let actor = |_| {
        let mut client = target.connect(Some(database));
        let number = client.run("SELECT CONNECTION_ID()").unwrap().texts();
        let number = number[0][0].as_ref().unwrap().parse().unwrap();
        let mut careful = Careful { client, has_failed: false };
        Actor::new(number, move |statement| careful.run(statement))
    };
    (0..3).map(actor).collect()
}

fn begin(level: &str, refuses: bool) -> [String; 3] {
    let switch = if refuses { "ON" } else { "OFF" };
    [
        format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
        format!("SET innodb_snapshot_isolation = {switch}"),
        "START TRANSACTION".to_owned(),
    ]
}

/// Whether an anomaly may happen, and whether in the order of the steps.
fn expected(scenario: &Scenario, column: &str) -> (bool, bool) {
    match hermitage_table::cell(column, scenario.name) {
        'x' => (true, true),
        'o' => (true, false),
        _ => (false, false),
    }
}

/// The strongest levels that histories are known to keep; dirty reads are not in them. At
/// REPEATABLE READ they keep none: a change reads the newest rows, and a query behind it the old
/// snapshot.
const KEPT: [Option<Level>; 5] = [
    Some(Level::ReadCommitted),
    Some(Level::ReadCommitted),
    None,
    Some(Level::Serializable),
    Some(Level::SnapshotIsolation),
];

/// What was recorded agrees with what clients were told.
fn keeps(history: &History, level: Level) {
    for order in [Order::Sessions, Order::RealTime] {
        let report = Checker::new().levels([level]).order(order).check(history);
        assert_eq!(report.verdict(level).unwrap().answer(), Verdict::Holds, "{level} {order:?}");
    }
}

/// Plays all scenarios at a level on the mock.
fn play_all(which: usize) {
    let (name, column, refuses) = LEVELS[which];
    let config = Config {
        level: Level::SnapshotIsolation,
        node: Some(Node::Mysql),
        seed: which as u64,
        ..Config::default()
    };
    let store = Arc::new(cells::open(&config, false).unwrap());
    let default_level = Some(TxnLevel::RepeatableRead);
    let config = MysqlConfig { default_level, ..MysqlConfig::default() };
    let (target, cluster) = Target::mock(Arc::clone(&store) as _, config);
    let waits = |number| cluster.waits_for_lock(number);
    let mut stage = Stage::new(actors(&target, "test"), Some(&waits), BLOCKED_AFTER).unwrap();
    let (mut runs, mut differences) = (0, Vec::new());
    for scenario in &SCENARIOS {
        let (is_expected, in_own_order) = expected(scenario, column);
        let mut is_reached = false;
        for order in orders(scenario, 7, timings()) {
            let run = stage.play(scenario, &begin(name, refuses), &order).unwrap();
            let happened = (scenario.happened)(&run);
            let may = is_expected && (in_own_order || order != own_order(scenario));
            if happened && !may {
                differences.push(format!("{} at {name}: {order:?} {run:?}", scenario.name));
            }
            is_reached |= happened;
            runs += 1;
        }
        if is_expected && !is_reached {
            differences.push(format!("{} at {name} is never reached", scenario.name));
        }
    }
    println!("{name}: {runs} orders");
    drop(stage);
    KEPT[which].iter().for_each(|&level| keeps(&store.history(), level));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn at_read_uncommitted_the_mock_does_what_mariadb_does() {
    play_all(0);
}

#[test]
fn at_read_committed_the_mock_does_what_mariadb_does() {
    play_all(1);
}

#[test]
fn at_repeatable_read_the_mock_does_what_mariadb_does() {
    play_all(2);
}

#[test]
fn at_serializable_the_mock_does_what_mariadb_does() {
    play_all(3);
}

#[test]
fn at_repeatable_read_with_snapshot_isolation_the_mock_does_what_mariadb_does() {
    play_all(4);
}

#[test]
fn a_real_mariadb_gives_the_same_table() {
    let Some(real) = Target::real() else { return };
    let database = format!("seriatim_hermitage_{}", std::process::id());
    let mut admin = real.connect(None);
    admin.run(&format!("CREATE DATABASE {database}")).unwrap();
    let mut stage = Stage::new(actors(&real, &database), None, BLOCKED_AFTER).unwrap();
    let mut differences = Vec::new();
    for scenario in &SCENARIOS {
        'levels: for (name, column, refuses) in LEVELS {
            let (_, is_expected) = expected(scenario, column);
            let others = orders(scenario, 7, 200).into_iter().take(REAL_ORDERS_MAX);
            // The order that shows it, and if that does not, others.
            for order in [own_order(scenario)].into_iter().chain(others) {
                let run = stage.play(scenario, &begin(name, refuses), &order).unwrap();
                let happened = (scenario.happened)(&run);
                if happened && !is_expected {
                    differences.push(format!("{} {name} {refuses}: {run:?}", scenario.name));
                }
                if happened || !is_expected {
                    continue 'levels;
                }
            }
            differences.push(format!("{} {name} {refuses} is never reached", scenario.name));
        }
    }
    drop(stage);
    admin.run(&format!("DROP DATABASE {database}")).unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
