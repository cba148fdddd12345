//! Sessions that play scenarios, step by step, on a server.

use super::scenarios::{CREATE, FINAL, Outcome, RESET, Run, Scenario};
use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

/// How often a server that can tell is asked whether a session waits for a lock.
const LOOK: Duration = Duration::from_micros(500);
/// How long a session that a server lets go on may take to be told so, if the server can tell who
/// waits.
const RELEASE_MAX: Duration = Duration::from_millis(5);
/// A step that has no answer after this time never gets one.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(20);
/// How long nodes may take to see the rows of the beginning.
const SEEN_MAX: Duration = Duration::from_secs(10);
/// The rows of the beginning.
const BEGINNING: [[i64; 2]; 2] = [[1, 10], [2, 20]];

/// Why a scenario could not be played.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StageError {
    /// A session is gone.
    #[error("a session has lost its connection")]
    Lost,
    /// A session has no answer.
    #[error("a session has waited for {} s", ANSWER_WAIT_MAX.as_secs())]
    Silent,
    /// What must be there before a scenario is not.
    #[error("the table cannot be prepared: {0}")]
    Unprepared(String),
}

/// Says whether the session that a server knows by a number waits for a lock.
pub type Waits<'s> = &'s dyn Fn(u32) -> bool;

/// A client with a thread of its own, so that others go on while it is blocked.
#[derive(Debug)]
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
    fn answer(
        &self,
        waits: Option<Waits<'_>>,
        wait: Duration,
    ) -> Result<Option<Outcome>, StageError> {
        let begun = Instant::now();
        loop {
            match self.told.recv_timeout(if waits.is_some() { LOOK } else { wait }) {
                Ok(outcome) => return Ok(Some(outcome)),
                Err(RecvTimeoutError::Disconnected) => return Err(StageError::Lost),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_waiting = waits.is_some_and(|waits| waits(self.number));
            if (is_waiting && wait < ANSWER_WAIT_MAX) || begun.elapsed() >= wait.max(LOOK) {
                return Ok(None);
            }
        }
    }

    fn ask(&self, statement: &str) -> Result<(), StageError> {
        self.asked.send(statement.to_owned()).map_err(|_| StageError::Lost)
    }

    /// Runs a statement that nothing blocks.
    pub fn run(&self, statement: &str) -> Result<Outcome, StageError> {
        self.ask(statement)?;
        self.answer(None, ANSWER_WAIT_MAX)?.ok_or(StageError::Silent)
    }
}

/// Sessions on a server.
pub struct Stage<'s> {
    actors: Vec<Actor>,
    /// One that looks on at each session's node, if there are several.
    observers: Vec<Actor>,
    waits: Option<Waits<'s>>,
    /// A step that has no answer after this time is blocked.
    blocked_after: Duration,
}

impl std::fmt::Debug for Stage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("actors", &self.actors).finish_non_exhaustive()
    }
}

impl<'s> Stage<'s> {
    /// Sessions, whose server perhaps can say who waits. Makes the table.
    pub fn new(
        actors: Vec<Actor>,
        waits: Option<Waits<'s>>,
        blocked_after: Duration,
    ) -> Result<Stage<'s>, StageError> {
        let stage = Stage { actors, observers: Vec::new(), waits, blocked_after };
        if let Some(first) = stage.actors.first()
            && let Outcome::Failed(problem) = first.run(CREATE)?
        {
            return Err(StageError::Unprepared(problem));
        }
        Ok(stage)
    }

    /// With sessions that look on, one at each node: what is committed on one node has arrived at
    /// all of them before the next step.
    pub fn observed_by(mut self, observers: Vec<Actor>) -> Stage<'s> {
        self.observers = observers;
        self
    }

    /// Puts the rows back, and waits until every session sees them: they may be on several nodes.
    fn reset(&self, count: usize) -> Result<(), StageError> {
        let expected = Outcome::Rows(BEGINNING.map(|row| row.to_vec()).to_vec());
        if let Outcome::Failed(problem) = self.actors[0].run(RESET)? {
            return Err(StageError::Unprepared(problem));
        }
        for actor in &self.actors[..count] {
            let begun = Instant::now();
            while actor.run(FINAL)? != expected {
                if begun.elapsed() > SEEN_MAX {
                    let problem = "a session does not see the rows of the beginning".to_owned();
                    return Err(StageError::Unprepared(problem));
                }
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    /// Runs the steps in an order of sessions. A session that is blocked goes on when it can.
    pub fn play(
        &mut self,
        scenario: &Scenario,
        begin: &[String],
        order: &[usize],
    ) -> Result<Run, StageError> {
        let count = scenario.sessions();
        self.reset(count)?;
        let mut next: Vec<VecDeque<&str>> = vec![VecDeque::new(); count];
        scenario.steps.iter().for_each(|&(session, text)| next[session].push_back(text));
        let mut run = Run { sessions: vec![Vec::new(); count], left: Vec::new() };
        for actor in &self.actors[..count] {
            begin.iter().try_for_each(|statement| actor.run(statement).map(drop))?;
        }
        let mut todo: VecDeque<usize> = order.iter().copied().collect();
        while !todo.is_empty() {
            self.collect(&mut run, Duration::ZERO)?;
            let Some(place) = todo.iter().position(|&it| !self.actors[it].is_blocked) else {
                self.collect(&mut run, ANSWER_WAIT_MAX)?;
                continue;
            };
            let Some(session) = todo.remove(place) else { break };
            let Some(statement) = next[session].pop_front() else { continue };
            self.actors[session].ask(statement)?;
            match self.actors[session].answer(self.waits, self.blocked_after)? {
                Some(outcome) => {
                    let is_end = ends(&outcome);
                    run.sessions[session].push(outcome);
                    if is_end {
                        self.settle(&mut run)?;
                    }
                }
                None => self.actors[session].is_blocked = true,
            }
        }
        while self.actors.iter().any(|actor| actor.is_blocked) {
            self.collect(&mut run, ANSWER_WAIT_MAX)?;
        }
        run.left = self.left(count)?;
        Ok(run)
    }

    /// A transaction has ended: whoever waited for it gets an answer, and other nodes what it
    /// wrote, before the next step. What a scenario shows would depend on chance otherwise.
    fn settle(&mut self, run: &mut Run) -> Result<(), StageError> {
        agreed(&self.observers)?;
        let wait = if self.waits.is_some() { RELEASE_MAX } else { self.blocked_after };
        while self.actors.iter().any(|actor| actor.is_blocked) {
            match self.collect(run, wait) {
                Ok(()) => {}
                Err(StageError::Silent) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The rows in the end, on which all nodes agree after a while.
    fn left(&self, count: usize) -> Result<Vec<Vec<i64>>, StageError> {
        Ok(match agreed(&self.actors[..count])? {
            Some(Outcome::Rows(rows)) => rows,
            _ => Vec::new(),
        })
    }

    /// Takes answers of sessions that were blocked. Waits for one of them at most so long.
    fn collect(&mut self, run: &mut Run, wait: Duration) -> Result<(), StageError> {
        let until = Instant::now() + wait;
        loop {
            let mut some = false;
            for (session, actor) in self.actors.iter_mut().enumerate() {
                if !actor.is_blocked {
                    continue;
                }
                match actor.told.try_recv() {
                    Ok(outcome) => {
                        if let Some(steps) = run.sessions.get_mut(session) {
                            steps.push(outcome);
                        }
                        (actor.is_blocked, some) = (false, true);
                    }
                    Err(TryRecvError::Disconnected) => return Err(StageError::Lost),
                    Err(TryRecvError::Empty) => {}
                }
            }
            if some || wait.is_zero() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(StageError::Silent);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Whether it is the end of a transaction.
fn ends(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(what) => ["COMMIT", "ROLLBACK"].contains(&what.as_str()),
        Outcome::Failed(_) => true,
        Outcome::Rows(_) => false,
    }
}

/// The rows of the table, when all of these sessions see the same, or after a while.
fn agreed(actors: &[Actor]) -> Result<Option<Outcome>, StageError> {
    let begun = Instant::now();
    loop {
        let seen: Vec<Outcome> =
            actors.iter().map(|actor| actor.run(FINAL)).collect::<Result<_, _>>()?;
        if seen.iter().all(|rows| *rows == seen[0]) || begun.elapsed() > SEEN_MAX {
            return Ok(seen.into_iter().next());
        }
        std::thread::sleep(LOOK);
    }
}

fn small_random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// The orders of the sessions' steps: all of them, or so many that a seed picks.
pub fn orders(scenario: &Scenario, seed: u64, most: usize) -> BTreeSet<Vec<usize>> {
    let own = own_order(scenario);
    let mut left = vec![0; scenario.sessions()];
    own.iter().for_each(|&session| left[session] += 1);
    let mut all = BTreeSet::new();
    interleave(&mut left, &mut Vec::new(), most, &mut all);
    if all.len() <= most {
        return all;
    }
    all = BTreeSet::from([own.clone()]);
    let mut state = seed;
    while all.len() < most {
        // A shuffle of the sessions keeps the order of the steps of each.
        let mut order = own.clone();
        for place in (1..order.len()).rev() {
            order.swap(place, small_random(&mut state, place as u64 + 1) as usize);
        }
        all.insert(order);
    }
    all
}

/// Adds the orders that go on with what each session has left, until there are more than `most`.
fn interleave(
    left: &mut [usize],
    order: &mut Vec<usize>,
    most: usize,
    all: &mut BTreeSet<Vec<usize>>,
) {
    if all.len() > most {
        return;
    }
    if left.iter().all(|&steps| steps == 0) {
        all.insert(order.clone());
    }
    for session in 0..left.len() {
        if left[session] > 0 {
            left[session] -= 1;
            order.push(session);
            interleave(left, order, most, all);
            order.pop();
            left[session] += 1;
        }
    }
}

/// The order in which a scenario has its steps: the one that shows its anomaly.
pub fn own_order(scenario: &Scenario) -> Vec<usize> {
    scenario.steps.iter().map(|&(session, _)| session).collect()
}
