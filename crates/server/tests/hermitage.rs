//! The scenarios of Hermitage over the wire, on the mock that does what one PostgreSQL does, and on
//! a real one if `SERIATIM_TEST_PG` names it: in the order that shows the anomaly both give the
//! table that was measured, and on the mock no order of the steps shows what must not be.

#[path = "common/frames.rs"]
mod frames;
#[path = "../../audit/tests/common/hermitage_table.rs"]
mod hermitage_table;
#[path = "common/target.rs"]
mod target;
#[path = "common/timings.rs"]
mod timings;

use seriatim_audit::hermitage::{Actor, Outcome, SCENARIOS, Stage, orders, own_order};
use seriatim_check::{Answer as Verdict, Checker};
use seriatim_isolation::{Level, Order};
use seriatim_server::cells::StoreCells;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{Config, Server, Stopper, cells};
use seriatim_sql::database::Cluster;
use seriatim_store::Node;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use target::{Answer, Refusal, Target};
use timings::timings;

/// A step that has no answer after this time is blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(300);

/// Levels, what they promise, and their columns in the table.
const LEVELS: [(&str, Level, &str); 3] = [
    ("READ COMMITTED", Level::ReadCommitted, "postgres rc"),
    ("REPEATABLE READ", Level::SnapshotIsolation, "postgres rr"),
    ("SERIALIZABLE", Level::Serializable, "postgres ser"),
];

/// The mock, with what can be asked about it.
struct Mock {
    target: Target,
    cluster: Arc<Cluster>,
    store: Arc<StoreCells>,
}

impl Mock {
    fn new(seed: u64) -> Mock {
        let config = Config {
            level: Level::ReadCommitted,
            node: Some(Node::Postgres),
            seed,
            ..Config::default()
        };
        let store = Arc::new(cells::open(&config, false).unwrap());
        let cluster = Arc::new(Cluster::new(Arc::clone(&store) as _));
        let server = Server::new(config).unwrap();
        let server = server
            .with_postgres("127.0.0.1:0", Arc::clone(&cluster), PostgresConfig::default())
            .unwrap();
        let (address, stopper) = (server.postgres_address().unwrap(), server.stopper());
        let running: (Stopper, JoinHandle<()>) = (
            stopper,
            std::thread::spawn(move || {
                server.run();
            }),
        );
        Mock { target: Target::running(address, running), cluster, store }
    }
}

fn outcome(answer: Result<Answer, Refusal>) -> Outcome {
    let number = |value: &Option<String>| value.as_ref().unwrap().parse().unwrap();
    match answer {
        Ok(Answer { columns: None, tag, .. }) => Outcome::Done(tag),
        Ok(Answer { rows, .. }) => {
            Outcome::Rows(rows.iter().map(|row| row.iter().map(number).collect()).collect())
        }
        Err(refusal) => Outcome::Failed(refusal.code),
    }
}

/// Three sessions.
fn actors(target: &Target, database: &str) -> Vec<Actor> {
    let actor = |_| {
        let mut client = target.connect(database);
        let pid = client.run("SELECT pg_backend_pid()").unwrap();
        let number = pid.rows[0][0].as_ref().unwrap().parse().unwrap();
        Actor::new(number, move |statement| outcome(client.run(statement)))
    };
    (0..3).map(actor).collect()
}

fn begin(level: &str) -> [String; 1] {
    [format!("BEGIN ISOLATION LEVEL {level}")]
}

/// Plays all scenarios at a level on the mock.
fn play_all(place: usize) {
    let mock = Mock::new(place as u64);
    let (name, level, column) = LEVELS[place];
    let waits = |number| mock.cluster.waits_for_lock(number);
    let mut stage =
        Stage::new(actors(&mock.target, "postgres"), Some(&waits), BLOCKED_AFTER).unwrap();
    let mut runs = 0;
    for scenario in &SCENARIOS {
        let run = stage.play(scenario, &begin(name), &own_order(scenario)).unwrap();
        let expected = hermitage_table::cell(column, scenario.name) == 'x';
        assert_eq!((scenario.happened)(&run), expected, "{} at {name}: {run:?}", scenario.name);
        for order in orders(scenario, 7, timings()) {
            let run = stage.play(scenario, &begin(name), &order).unwrap();
            let happened = (scenario.happened)(&run);
            assert!(expected || !happened, "{} at {name}: {order:?} {run:?}", scenario.name);
            runs += 1;
        }
    }
    println!("{name}: {runs} orders");
    drop(stage);
    let history = mock.store.history();
    for order in [Order::Sessions, Order::RealTime] {
        let report = Checker::new().levels([level]).order(order).check(&history);
        assert_eq!(report.verdict(level).unwrap().answer(), Verdict::Holds, "{order:?}");
    }
}

#[test]
fn at_read_committed_the_mock_does_what_postgresql_does() {
    play_all(0);
}

#[test]
fn at_repeatable_read_the_mock_does_what_postgresql_does() {
    play_all(1);
}

#[test]
fn at_serializable_the_mock_does_what_postgresql_does() {
    play_all(2);
}

#[test]
fn a_real_postgresql_gives_the_same_table() {
    let Some(real) = Target::real() else { return };
    let database = format!("seriatim_hermitage_{}", std::process::id());
    real.create_database(&database);
    let mut stage = Stage::new(actors(&real, &database), None, BLOCKED_AFTER).unwrap();
    for scenario in &SCENARIOS {
        for (level, _, column) in LEVELS {
            let run = stage.play(scenario, &begin(level), &own_order(scenario)).unwrap();
            let expected = hermitage_table::cell(column, scenario.name) == 'x';
            assert_eq!((scenario.happened)(&run), expected, "{} {level}: {run:?}", scenario.name);
        }
    }
    drop(stage);
    real.drop_database(&database);
}
