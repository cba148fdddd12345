//! The scenarios of Hermitage over the wire, on the mock that does what one PostgreSQL does, and on
//! a real one if `SERIATIM_TEST_PG` names it: in the order that shows the anomaly both give the
//! table that was measured, and on the mock no order of the steps shows what must not be.

#[path = "common/frames.rs"]
mod frames;
#[path = "common/scenarios.rs"]
mod scenarios;
#[path = "common/target.rs"]
mod target;

use scenarios::{CREATE, FINAL, Outcome, RESET, Run, SCENARIOS, Scenario};
use seriatim_check::{Answer as Verdict, Checker};
use seriatim_isolation::{Level, Order};
use seriatim_server::cells::StoreCells;
use seriatim_server::postgres::PostgresConfig;
use seriatim_server::{Config, Server, Stopper, cells};
use seriatim_sql::database::Cluster;
use seriatim_store::Node;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use target::{Answer, Client, Refusal, Target};

/// A step that has no answer after this time is blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(300);
/// How often the mock is asked whether a session waits for a lock.
const LOOK: Duration = Duration::from_micros(500);
/// A step that has no answer after this time never gets one.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(20);
/// How many orders of the steps are tried.
const ORDERS_MAX: usize = 200;
const LEVELS: [(&str, Level); 3] = [
    ("READ COMMITTED", Level::ReadCommitted),
    ("REPEATABLE READ", Level::SnapshotIsolation),
    ("SERIALIZABLE", Level::Serializable),
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

/// A client with a thread of its own, so that others go on while it is blocked.
struct Actor {
    asked: Sender<String>,
    told: Receiver<Outcome>,
    /// The number that the server knows it by.
    number: u32,
    is_blocked: bool,
}

impl Actor {
    fn new(mut client: Client) -> Actor {
        let pid = client.run("SELECT pg_backend_pid()").unwrap();
        let number = pid.rows[0][0].as_ref().unwrap().parse().unwrap();
        let (asked, questions) = channel::<String>();
        let (answers, told) = channel();
        std::thread::spawn(move || {
            for question in questions {
                if answers.send(outcome(client.run(&question))).is_err() {
                    return;
                }
            }
        });
        Actor { asked, told, number, is_blocked: false }
    }

    /// The answer, or none if the session is blocked.
    fn answer(&self, cluster: Option<&Cluster>, wait: Duration) -> Option<Outcome> {
        let begun = Instant::now();
        loop {
            match self.told.recv_timeout(if cluster.is_some() { LOOK } else { wait }) {
                Ok(outcome) => return Some(outcome),
                Err(RecvTimeoutError::Disconnected) => panic!("the connection is lost"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let waits = cluster.is_some_and(|cluster| cluster.waits_for_lock(self.number));
            if (waits && wait <= BLOCKED_AFTER) || begun.elapsed() >= wait.max(LOOK) {
                return None;
            }
        }
    }

    fn run(&self, statement: &str) -> Outcome {
        self.asked.send(statement.to_owned()).unwrap();
        self.answer(None, ANSWER_WAIT_MAX).expect("an answer")
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

/// Sessions on a server.
struct Stage<'s> {
    actors: Vec<Actor>,
    cluster: Option<&'s Cluster>,
}

impl<'s> Stage<'s> {
    fn new(target: &Target, cluster: Option<&'s Cluster>, database: &str) -> Stage<'s> {
        let actors = (0..3).map(|_| Actor::new(target.connect(database))).collect();
        let stage = Stage { actors, cluster };
        stage.actors[0].run(CREATE);
        stage
    }

    /// Runs the steps in an order of sessions. A session that is blocked goes on when it can.
    fn play(&mut self, scenario: &Scenario, level: &str, order: &[usize]) -> Run {
        let count = scenario.sessions();
        self.actors[0].run(RESET);
        let mut next: Vec<VecDeque<&str>> = vec![VecDeque::new(); count];
        scenario.steps.iter().for_each(|&(session, text)| next[session].push_back(text));
        let mut run = Run { sessions: vec![Vec::new(); count], left: Vec::new() };
        for actor in &self.actors[..count] {
            actor.run(&format!("BEGIN ISOLATION LEVEL {level}"));
        }
        let mut todo: VecDeque<usize> = order.iter().copied().collect();
        while !todo.is_empty() {
            self.collect(&mut run, Duration::ZERO);
            let Some(place) = todo.iter().position(|&it| !self.actors[it].is_blocked) else {
                self.collect(&mut run, ANSWER_WAIT_MAX);
                continue;
            };
            let session = todo.remove(place).unwrap();
            let statement = next[session].pop_front().unwrap();
            self.actors[session].asked.send(statement.to_owned()).unwrap();
            match self.actors[session].answer(self.cluster, BLOCKED_AFTER) {
                Some(outcome) => run.sessions[session].push(outcome),
                None => self.actors[session].is_blocked = true,
            }
        }
        while self.actors.iter().any(|actor| actor.is_blocked) {
            self.collect(&mut run, ANSWER_WAIT_MAX);
        }
        if let Outcome::Rows(rows) = self.actors[0].run(FINAL) {
            run.left = rows;
        }
        run
    }

    /// Takes answers of sessions that were blocked. Waits for one of them at most so long.
    fn collect(&mut self, run: &mut Run, wait: Duration) {
        let until = Instant::now() + wait;
        loop {
            let mut some = false;
            for (session, actor) in self.actors.iter_mut().enumerate() {
                if actor.is_blocked
                    && let Ok(outcome) = actor.told.try_recv()
                {
                    run.sessions[session].push(outcome);
                    (actor.is_blocked, some) = (false, true);
                }
            }
            if some || Instant::now() >= until {
                assert!(some || wait.is_zero(), "a session waits for ever");
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

fn small_random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Other orders of the sessions' steps: all of them, or some if they are too many.
fn orders(scenario: &Scenario, seed: u64) -> BTreeSet<Vec<usize>> {
    let own: Vec<usize> = scenario.steps.iter().map(|&(session, _)| session).collect();
    let mut state = seed;
    let mut all = BTreeSet::from([own.clone()]);
    // A shuffle of the sessions keeps the order of the steps of each. So many tries find all of a
    // few hundred orders, nearly for certain.
    for _ in 0..20 * ORDERS_MAX {
        let mut order = own.clone();
        for place in (1..order.len()).rev() {
            order.swap(place, small_random(&mut state, place as u64 + 1) as usize);
        }
        all.insert(order);
        if all.len() == ORDERS_MAX {
            break;
        }
    }
    all
}

fn own_order(scenario: &Scenario) -> Vec<usize> {
    scenario.steps.iter().map(|&(session, _)| session).collect()
}

/// Plays all scenarios at a level on the mock.
fn play_all(place: usize) {
    let mock = Mock::new(place as u64);
    let (name, level) = LEVELS[place];
    let mut stage = Stage::new(&mock.target, Some(&mock.cluster), "postgres");
    let mut runs = 0;
    for scenario in &SCENARIOS {
        let run = stage.play(scenario, name, &own_order(scenario));
        let expected = scenario.postgres[place];
        assert_eq!((scenario.happened)(&run), expected, "{} at {name}: {run:?}", scenario.name);
        for order in orders(scenario, 7) {
            let run = stage.play(scenario, name, &order);
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
    let mut stage = Stage::new(&real, None, &database);
    for scenario in &SCENARIOS {
        for (place, (level, _)) in LEVELS.iter().enumerate() {
            let run = stage.play(scenario, level, &own_order(scenario));
            let expected = scenario.postgres[place];
            assert_eq!((scenario.happened)(&run), expected, "{} {level}: {run:?}", scenario.name);
        }
    }
    drop(stage);
    real.drop_database(&database);
}
