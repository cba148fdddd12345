//! Sessions that play scenarios, step by step, on the mock or on a real server.

#![allow(dead_code)]

use crate::scenarios::{CREATE, FINAL, Outcome, RESET, Run, Scenario};
use seriatim_sql::database::Cluster;
use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A step that has no answer after this time is blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(300);
/// How often the mock is asked whether a session waits for a lock.
const LOOK: Duration = Duration::from_micros(500);
/// A step that has no answer after this time never gets one.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(20);
/// How many orders of the steps are tried.
const ORDERS_MAX: usize = 200;

/// A client with a thread of its own, so that others go on while it is blocked.
pub struct Actor {
    asked: Sender<String>,
    told: Receiver<Outcome>,
    /// The number that the server knows it by.
    number: u32,
    is_blocked: bool,
}

impl Actor {
    /// A client that runs statements so, and that the server knows by this number.
    pub fn new(number: u32, mut run: impl FnMut(&str) -> Outcome + Send + 'static) -> Actor {
        let (asked, questions) = channel::<String>();
        let (answers, told) = channel();
        std::thread::spawn(move || {
            for question in questions {
                if answers.send(run(&question)).is_err() {
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

    pub fn run(&self, statement: &str) -> Outcome {
        self.asked.send(statement.to_owned()).unwrap();
        self.answer(None, ANSWER_WAIT_MAX).expect("an answer")
    }
}

/// Sessions on a server.
pub struct Stage<'s> {
    actors: Vec<Actor>,
    cluster: Option<&'s Cluster>,
}

impl<'s> Stage<'s> {
    /// Sessions, whose server says in `cluster` who waits if it is the mock.
    pub fn new(actors: Vec<Actor>, cluster: Option<&'s Cluster>) -> Stage<'s> {
        let stage = Stage { actors, cluster };
        stage.actors[0].run(CREATE);
        stage
    }

    /// Runs the steps in an order of sessions. A session that is blocked goes on when it can.
    pub fn play(&mut self, scenario: &Scenario, begin: &[String], order: &[usize]) -> Run {
        let count = scenario.sessions();
        self.actors[0].run(RESET);
        let mut next: Vec<VecDeque<&str>> = vec![VecDeque::new(); count];
        scenario.steps.iter().for_each(|&(session, text)| next[session].push_back(text));
        let mut run = Run { sessions: vec![Vec::new(); count], left: Vec::new() };
        for actor in &self.actors[..count] {
            begin.iter().for_each(|statement| drop(actor.run(statement)));
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
pub fn orders(scenario: &Scenario, seed: u64) -> BTreeSet<Vec<usize>> {
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

pub fn own_order(scenario: &Scenario) -> Vec<usize> {
    scenario.steps.iter().map(|&(session, _)| session).collect()
}
