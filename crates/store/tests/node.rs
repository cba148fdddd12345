//! A store that does what one node of PostgreSQL does, beside a literal model of snapshots.

#[path = "common/snapshot_model.rs"]
mod snapshot_model;

use proptest::prelude::*;
use seriatim_check::{Answer, Checker};
use seriatim_history::{History, StatementContent};
use seriatim_isolation::{Level, Order};
use seriatim_store::{
    AllRuns, Chooser, Clock, Group, Latest, Node, Random, Session, Stale, Store, StoreError, Txn,
};
use snapshot_model::{Decisions, MEMBERS, Model, Op, Told};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

const ROWS: Group = Group(1);
const LEVELS: [Level; 3] = [Level::ReadCommitted, Level::SnapshotIsolation, Level::Serializable];

/// A step of a client: a statement arrives, runs, and is answered.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    Arrive,
    Run,
    Answer,
}

/// What clients do, each at its level, and in which order their steps come.
#[derive(Clone, Debug)]
struct Program {
    clients: Vec<(Level, Vec<Op>)>,
    order: Vec<usize>,
}

fn small_random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

fn random_program(seed: u64, levels: &[Level], clients: u64, transactions: u64) -> Program {
    let (mut state, mut value) = (seed, 0);
    let mut ops = |state: &mut u64| {
        let mut all = Vec::new();
        for _ in 0..1 + small_random(state, transactions) {
            for _ in 0..1 + small_random(state, 3) {
                value += 1;
                let member = small_random(state, u64::from(MEMBERS)) as u32;
                all.push(match small_random(state, 5) {
                    0 | 1 => Op::Read(member),
                    2 => Op::Scan,
                    _ => Op::Write(member, value),
                });
            }
            all.push(Op::Commit);
        }
        all
    };
    let level = |state: &mut u64| levels[small_random(state, levels.len() as u64) as usize];
    let clients: Vec<(Level, Vec<Op>)> =
        (0..clients).map(|_| (level(&mut state), ops(&mut state))).collect();
    let mut left: Vec<usize> = clients.iter().map(|(_, ops)| 3 * ops.len()).collect();
    let mut order = Vec::new();
    while left.iter().any(|&left| left > 0) {
        let client = small_random(&mut state, left.len() as u64) as usize;
        if left[client] > 0 {
            left[client] -= 1;
            order.push(client);
        }
    }
    Program { clients, order }
}

/// Those who can run a program.
trait Server {
    fn arrived(&mut self, client: usize);
    fn run(&mut self, client: usize, level: Level, op: Op) -> Told;
    fn answered(&mut self, client: usize);
}

/// What each client is told. What is left of a transaction that failed is not run.
fn run(program: &Program, server: &mut impl Server) -> Vec<Vec<Told>> {
    let count = program.clients.len();
    let (mut next, mut told, mut failed) =
        (vec![0; count], vec![Vec::new(); count], vec![false; count]);
    for &client in &program.order {
        let (level, ops) = &program.clients[client];
        let op = ops[next[client] / 3];
        let phase = [Phase::Arrive, Phase::Run, Phase::Answer][next[client] % 3];
        next[client] += 1;
        if failed[client] && phase == Phase::Run {
            failed[client] = op != Op::Commit;
            continue;
        }
        match phase {
            Phase::Arrive => server.arrived(client),
            Phase::Answer => server.answered(client),
            Phase::Run => {
                let answer = server.run(client, *level, op);
                failed[client] = answer == Told::Failed && op != Op::Commit;
                told[client].push(answer);
            }
        }
    }
    told
}

impl Server for Model<'_> {
    fn arrived(&mut self, client: usize) {
        Model::arrived(self, client);
    }
    fn run(&mut self, client: usize, level: Level, op: Op) -> Told {
        Model::run(self, client, level, op)
    }
    fn answered(&mut self, client: usize) {
        Model::answered(self, client);
    }
}

struct Served {
    store: Store<u64>,
    sessions: Vec<Session<u64>>,
    open: Vec<Option<Txn<u64>>>,
}

impl Served {
    fn new(clients: usize, chooser: impl Chooser + 'static, horizon: Option<NonZeroU32>) -> Served {
        let mut builder = Store::<u64>::builder(Level::ReadCommitted)
            .node(Node::Postgres)
            .chooser(chooser)
            .clock(Clock::Steps);
        if let Some(horizon) = horizon {
            builder = builder.horizon(horizon);
        }
        let store: Store<u64> = builder.build().unwrap();
        let sessions = (0..clients).map(|_| store.session()).collect();
        Served { store, sessions, open: (0..clients).map(|_| None).collect() }
    }

    fn act(&mut self, client: usize, level: Level, op: Op) -> Result<Told, StoreError> {
        let mut txn = match self.open[client].take() {
            Some(txn) => txn,
            None => self.sessions[client].begin_at(level)?,
        };
        if op == Op::Commit {
            return txn.commit().map(|()| Told::Done);
        }
        txn.begin_statement(StatementContent::default());
        let told = match op {
            Op::Read(member) => {
                let found = txn.read_member(ROWS, member)?;
                Told::State(found.map(|value| (member, value)).into_iter().collect())
            }
            Op::Scan => {
                let found = txn.read_group(ROWS, None)?.into_iter();
                Told::State(found.filter_map(|(member, value)| Some((member, value?))).collect())
            }
            Op::Write(member, value) => {
                txn.write_member(ROWS, member, value)?;
                Told::Done
            }
            Op::Commit => Told::Done,
        };
        self.open[client] = Some(txn);
        Ok(told)
    }
}

impl Server for Served {
    fn arrived(&mut self, client: usize) {
        self.sessions[client].arrived();
    }
    fn run(&mut self, client: usize, level: Level, op: Op) -> Told {
        let is_failure = |error: &StoreError| {
            matches!(error, StoreError::ConcurrentUpdate | StoreError::SerializationFailure(_))
        };
        self.act(client, level, op).unwrap_or_else(|error| {
            assert!(is_failure(&error), "{error}");
            Told::Failed
        })
    }
    fn answered(&mut self, client: usize) {
        self.sessions[client].answered();
    }
}

/// What the clients may be told, over all choices of the model; none if there are too many.
fn of_model(program: &Program) -> Option<BTreeSet<Vec<Vec<Told>>>> {
    let (mut decisions, mut all) = (Decisions::default(), BTreeSet::new());
    for _ in 0..3000 {
        let mut model = Model::new(&mut decisions, program.clients.len());
        all.insert(run(program, &mut model));
        if !decisions.advance() {
            return Some(all);
        }
    }
    None
}

/// The same for the store, whose histories are checked.
fn of_store(program: &Program, horizon: Option<NonZeroU32>) -> BTreeSet<Vec<Vec<Told>>> {
    let (mut runs, mut all) = (AllRuns::new(), BTreeSet::new());
    let first = program.clients[0].0;
    let level = program.clients.iter().all(|(level, _)| *level == first).then_some(first);
    while let Some(plan) = runs.run() {
        let mut served = Served::new(program.clients.len(), plan.chooser, horizon);
        let is_new = all.insert(run(program, &mut served));
        if is_new
            && horizon.is_none()
            && let Some(level) = level
        {
            assert_holds(&served.store.history(), level);
        }
    }
    all
}

fn assert_holds(history: &History, level: Level) {
    for order in [Order::Sessions, Order::RealTime] {
        let report = Checker::new().levels([level]).order(order).check(history);
        assert_eq!(report.verdict(level).unwrap().answer(), Answer::Holds, "{level} {order:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn all_choices_show_what_whole_copies_of_the_state_show(
        seed: u64, clients in 2..=3u64, transactions in 1..=2u64, mixed: bool,
    ) {
        let level = LEVELS[(seed % 3) as usize];
        let levels = if mixed { &LEVELS[..] } else { &[level][..] };
        let program = random_program(seed, levels, clients, transactions);
        if let Some(expected) = of_model(&program) {
            prop_assert_eq!(&of_store(&program, None), &expected, "{:?}", program);
            let horizon = NonZeroU32::new(1 + (seed % 2) as u32);
            prop_assert_eq!(of_store(&program, horizon), expected, "horizon: {:?}", program);
        }
    }
}

/// Long runs, in which much is forgotten.
#[test]
fn long_runs_check_at_their_level_and_leave_little_behind() {
    for (number, level) in LEVELS.into_iter().enumerate() {
        for seed in 0..6 {
            let program = random_program(seed, &[level], 3, 120);
            let choosers: [Box<dyn Chooser>; 3] =
                [Box::new(Random::new(seed)), Box::new(Stale::new(seed)), Box::new(Latest)];
            for chooser in choosers {
                let mut served = Served::new(3, chooser, None);
                let told = run(&program, &mut served);
                let failed = told.iter().flatten().filter(|it| **it == Told::Failed).count();
                assert_eq!(failed > 0, number > 0, "{level}");
                assert_holds(&served.store.history(), level);
            }
            let mut forgetful = Served::new(3, Random::new(seed), NonZeroU32::new(20));
            run(&program, &mut forgetful);
            let history = forgetful.store.history();
            assert!(history.txn_count() < 80, "{}", history.txn_count());
            assert_holds(&history, level);
        }
    }
}

#[test]
fn what_was_acknowledged_is_seen_and_what_was_not_may_be_missed() {
    for (answer_first, expected) in [(true, vec![Some(1)]), (false, vec![None, Some(1)])] {
        let (mut runs, mut seen) = (AllRuns::new(), Vec::new());
        while let Some(plan) = runs.run() {
            let store = Served::new(2, plan.chooser, None);
            let [one, two] = &store.sessions[..] else { panic!() };
            one.arrived();
            let mut txn = one.begin().unwrap();
            txn.write("x", 1).unwrap();
            txn.commit().unwrap();
            if answer_first {
                one.answered();
            }
            two.arrived();
            seen.push(two.begin().unwrap().read("x").unwrap());
        }
        assert_eq!(seen, expected);
    }
}

#[test]
fn a_node_has_its_levels_only() {
    let builder = || Store::<u64>::builder(Level::Causal).node(Node::Postgres);
    let result = builder().build::<u64>().map(drop);
    assert_eq!(result, Err(StoreError::UnsupportedLevel(Level::Causal)));
}
