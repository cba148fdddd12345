//! For random small programs, with conditionals, aborts and several transactions a session: what is
//! explored at a level is exactly what its definition allows, each history once.

use seriatim_explore::{Algorithm, Explorer, LEVELS, Part, Program};
use seriatim_history::{Atom, Atoms, Columns, History, KeyId, KeyNames, OpKind, Status};
use seriatim_isolation::axioms::{Execution, Read, Transaction};
use seriatim_isolation::{Level, oracle};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;

/// A value that knows its writer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Cell {
    number: i64,
    /// Session, transaction and instruction, from 1; 0 is the initial state.
    writer: (u8, u8, u8),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{:?}", self.number, self.writer)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Read(u8),
    /// Writes the sum of what was read and a number.
    Write(u8, i64),
    /// Does the step if what was read last is odd.
    IfOdd(Box<Step>),
    Abort,
}

/// Sessions of transactions of steps.
type Plan = Vec<Vec<Vec<Step>>>;

/// What a session did: for each operation its transaction, and for reads what was read; at the end
/// of each whether it committed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Did {
    Read(u8, Cell),
    Write(u8, Cell),
    End(bool),
}

#[derive(Clone, Default, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Memory {
    sum: i64,
    last: i64,
    log: Vec<Did>,
}

/// One behaviour: the logs of the sessions.
type Behaviour = Vec<Vec<Did>>;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn random_step(random: &mut Random, keys: u64) -> Step {
    let key = random.below(keys) as u8;
    match random.below(10) {
        0..4 => Step::Read(key),
        4..8 => Step::Write(key, random.below(3) as i64),
        8 => Step::IfOdd(Box::new(if random.below(3) == 0 {
            Step::Abort
        } else {
            Step::Write(key, 1)
        })),
        _ => {
            Step::IfOdd(Box::new(if random.below(2) == 0 { Step::Abort } else { Step::Read(key) }))
        }
    }
}

fn random_plan(random: &mut Random, txns: u64) -> Plan {
    let mut plan: Plan = (0..2 + random.below(2)).map(|_| Vec::new()).collect();
    let keys = 1 + random.below(2);
    for _ in 0..txns {
        let session = random.below(plan.len() as u64) as usize;
        let steps = (0..1 + random.below(4)).map(|_| random_step(random, keys)).collect();
        plan[session].push(steps);
    }
    plan
}

fn key(number: u8) -> String {
    format!("k{number}")
}

fn program(plan: &Plan, levels: &impl Fn(usize, usize) -> Option<Level>) -> Program<Cell, Memory> {
    let mut program = Program::new();
    for (s, session) in plan.iter().enumerate() {
        let described = program.session();
        for (t, steps) in session.iter().enumerate() {
            let steps = steps.clone();
            let body = move |tx: &mut seriatim_explore::Tx<'_, Cell>, memory: &mut Memory| {
                for (i, step) in steps.iter().enumerate() {
                    let step = match step {
                        Step::IfOdd(_) if memory.last % 2 == 0 => continue,
                        Step::IfOdd(inner) => inner,
                        step => step,
                    };
                    match step {
                        Step::Read(number) => {
                            let cell = tx.read(&key(*number))?;
                            memory.sum += cell.number;
                            memory.last = cell.number;
                            memory.log.push(Did::Read(*number, cell));
                        }
                        Step::Write(number, by) => {
                            let writer = (s as u8 + 1, t as u8 + 1, i as u8 + 1);
                            let cell = Cell { number: memory.sum + by, writer };
                            tx.write(&key(*number), cell)?;
                            memory.log.push(Did::Write(*number, cell));
                        }
                        _ => {
                            memory.log.push(Did::End(false));
                            return tx.abort();
                        }
                    }
                }
                memory.log.push(Did::End(true));
                Ok(())
            };
            match levels(s, t) {
                Some(level) => described.transaction_at(level, body),
                None => described.transaction(body),
            };
        }
    }
    program
}

/// A run of the plan in which transactions run one at a time and reads return anything that was
/// committed.
#[derive(Clone, Default)]
struct Brute {
    at: Vec<usize>,
    memories: Vec<Memory>,
    committed: Vec<BTreeMap<u8, Cell>>,
}

impl Brute {
    /// All ways in which the next transaction of a session may go.
    fn run(&self, plan: &Plan, session: usize) -> Vec<Brute> {
        let txn = self.at[session];
        let mut open = vec![(self.clone(), 0, BTreeMap::new())];
        let mut done = Vec::new();
        while let Some((mut brute, mut at, mut own)) = open.pop() {
            let steps = &plan[session][txn];
            let ended = loop {
                let Some(step) = steps.get(at) else { break Some(true) };
                at += 1;
                let memory = &mut brute.memories[session];
                let step = match step {
                    Step::IfOdd(_) if memory.last % 2 == 0 => continue,
                    Step::IfOdd(inner) => inner,
                    step => step,
                };
                match step {
                    Step::Abort => break Some(false),
                    Step::Write(number, by) => {
                        let writer = (session as u8 + 1, txn as u8 + 1, at as u8);
                        let cell = Cell { number: memory.sum + by, writer };
                        own.insert(*number, cell);
                        memory.log.push(Did::Write(*number, cell));
                    }
                    Step::Read(number) => {
                        let cells: Vec<Cell> = match own.get(number) {
                            Some(&cell) => vec![cell],
                            None => {
                                let written = brute
                                    .committed
                                    .iter()
                                    .filter_map(|writes| writes.get(number).copied());
                                written.chain([Cell::default()]).collect()
                            }
                        };
                        for cell in cells {
                            let mut next = brute.clone();
                            let memory = &mut next.memories[session];
                            memory.sum += cell.number;
                            memory.last = cell.number;
                            memory.log.push(Did::Read(*number, cell));
                            open.push((next, at, own.clone()));
                        }
                        break None;
                    }
                    Step::IfOdd(_) => unreachable!("steps are not nested"),
                }
            };
            let Some(is_committed) = ended else { continue };
            brute.memories[session].log.push(Did::End(is_committed));
            brute.at[session] += 1;
            if is_committed {
                brute.committed.push(own);
            }
            done.push(brute);
        }
        done
    }
}

/// All behaviours without any isolation.
fn everything(plan: &Plan) -> BTreeSet<Behaviour> {
    let start = Brute {
        at: vec![0; plan.len()],
        memories: vec![Memory::default(); plan.len()],
        committed: Vec::new(),
    };
    let (mut open, mut all) = (vec![start], BTreeSet::new());
    let mut seen: BTreeSet<(Vec<usize>, Behaviour)> = BTreeSet::new();
    while let Some(brute) = open.pop() {
        let behaviour: Behaviour = brute.memories.iter().map(|memory| memory.log.clone()).collect();
        // What a state can do depends on what was done, not on the order.
        if !seen.insert((brute.at.clone(), behaviour.clone())) {
            continue;
        }
        let left: Vec<usize> =
            (0..plan.len()).filter(|&session| brute.at[session] < plan[session].len()).collect();
        if left.is_empty() {
            all.insert(behaviour);
        }
        left.into_iter().for_each(|session| open.extend(brute.run(plan, session)));
    }
    all
}

/// A behaviour as the definition sees it. An aborted transaction counts as one that wrote nothing:
/// what it read obeys the level.
fn history(behaviour: &Behaviour) -> History {
    let names = (0..2).map(|number| Atom::Str(key(number).into())).collect();
    let mut columns = Columns { key_names: KeyNames::Table(names), ..Columns::default() };
    let mut atoms = Atoms::default();
    let mut value = |cell: &Cell| atoms.value(Atom::Str(cell.to_string().into()));
    for number in 0..2 {
        columns.initial.values.insert(KeyId(number), value(&Cell::default()));
    }
    columns.session_count = behaviour.len() as u32;
    for (session, log) in behaviour.iter().enumerate() {
        for txn in log.split_inclusive(|did| matches!(did, Did::End(_))) {
            let is_committed = txn.last() == Some(&Did::End(true));
            let number = columns.push_txn(session as u32, Status::Committed);
            let mut written = BTreeSet::new();
            for did in txn {
                match did {
                    Did::Read(key, cell) if is_committed || !written.contains(key) => {
                        columns.push_op(number, OpKind::Read, KeyId((*key).into()), value(cell));
                    }
                    Did::Write(key, cell) => {
                        written.insert(*key);
                        if is_committed {
                            columns.push_op(
                                number,
                                OpKind::Write,
                                KeyId((*key).into()),
                                value(cell),
                            );
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    columns.atoms = atoms;
    columns.finish().unwrap()
}

/// All but the one that allows everything.
const CONSTRAINED: [Level; 6] = *LEVELS.last_chunk().unwrap();

/// For each level what the definition allows; a stronger one allows less.
fn allowed(all: &BTreeSet<Behaviour>) -> Vec<BTreeSet<Behaviour>> {
    let mut sets = vec![BTreeSet::new(); CONSTRAINED.len()];
    for behaviour in all {
        let history = history(behaviour);
        for (set, level) in sets.iter_mut().zip(CONSTRAINED) {
            if !oracle::satisfies(&history, level) {
                break;
            }
            set.insert(behaviour.clone());
        }
    }
    sets
}

struct Explored {
    list: Vec<Behaviour>,
    ends: u64,
    blocked: u64,
}

fn explored(explorer: &Explorer<'_, Cell, Memory>) -> Explored {
    let list = Mutex::new(Vec::new());
    let result = explorer.run(&|end| {
        list.lock().unwrap().push(end.locals().iter().map(|memory| memory.log.clone()).collect());
        Ok(())
    });
    let result = result.unwrap();
    assert!(result.is_complete && (result.tally.share - 1.0).abs() < 1e-6, "{:?}", result.tally);
    Explored {
        list: list.into_inner().unwrap(),
        ends: result.tally.ends,
        blocked: result.tally.blocked,
    }
}

fn as_set(explored: &Explored, told: &str) -> BTreeSet<Behaviour> {
    let set: BTreeSet<Behaviour> = explored.list.iter().cloned().collect();
    assert_eq!(set.len(), explored.list.len(), "a history twice: {told}");
    set
}

fn compare(seeds: std::ops::Range<u64>, txns: u64) -> [usize; 6] {
    let mut counts = [0; 6];
    for seed in seeds {
        let plan = random_plan(&mut Random(seed), txns);
        let all = everything(&plan);
        if all.len() > 400 {
            continue;
        }
        let program = program(&plan, &|_, _| None);
        for ((set, level), count) in allowed(&all).iter().zip(CONSTRAINED).zip(&mut counts) {
            let told = format!("{level}, seed {seed}: {plan:?}");
            let found = explored(&Explorer::new(&program, level));
            let (found_set, missing) = (as_set(&found, &told), set.len());
            assert!(found_set == *set, "{} instead of {missing}: {told}", found_set.len());
            assert_eq!(found.blocked, 0, "{told}");
            if level.is_causally_extensible() {
                assert_eq!(found.ends, found.list.len() as u64, "{told}");
            }
            *count += set.len();
        }
        let nothing = explored(&Explorer::new(&program, Level::Unconstrained));
        assert_eq!(as_set(&nothing, "no isolation"), all, "seed {seed}: {plan:?}");
    }
    counts
}

#[test]
fn what_is_explored_is_what_the_definition_allows() {
    let small = compare(0..2000, 3);
    assert!(small.iter().all(|&count| count > 3000), "{small:?}");
    let large = compare(10_000..10_400, 5);
    // The levels differ on these programs.
    assert!(large.windows(2).all(|pair| pair[0] > pair[1]), "{large:?}");
}

/// More programs and larger ones than fit into every run of the tests. All behaviours are filtered
/// by the level at their end.
#[test]
#[ignore = "takes minutes; SEEDS=n sets how many programs"]
fn many_larger_programs() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(2000);
    let (mut programs, mut histories) = (0, 0);
    for seed in 100_000..100_000 + seeds {
        let plan = random_plan(&mut Random(seed), 5 + seed % 3);
        let program = program(&plan, &|_, _| None);
        let all = Mutex::new(Vec::new());
        let budget = std::time::Duration::from_millis(300);
        let result = Explorer::new(&program, Level::Unconstrained).budget(budget).run(&|end| {
            let strongest = CONSTRAINED.iter().rposition(|&level| end.is_at(level));
            let behaviour: Behaviour =
                end.locals().iter().map(|memory| memory.log.clone()).collect();
            all.lock().unwrap().push((strongest, behaviour));
            Ok(())
        });
        if !result.unwrap().is_complete {
            continue;
        }
        let all = all.into_inner().unwrap();
        programs += 1;
        for (number, level) in CONSTRAINED.into_iter().enumerate() {
            let told = format!("{level}, seed {seed}: {plan:?}");
            let set: BTreeSet<Behaviour> = all
                .iter()
                .filter(|(strongest, _)| *strongest >= Some(number))
                .map(|(_, b)| b.clone())
                .collect();
            let found = explored(&Explorer::new(&program, level));
            assert_eq!(found.blocked, 0, "{told}");
            let found_set = as_set(&found, &told);
            assert!(found_set == set, "{} instead of {}: {told}", found_set.len(), set.len());
            histories += set.len();
        }
    }
    println!("{programs} programs, {histories} histories");
}

#[test]
fn weaker_bases_and_the_baseline_come_to_the_same_set() {
    for seed in 20_000..20_150 {
        let plan = random_plan(&mut Random(seed), 4);
        let program = program(&plan, &|_, _| None);
        let told = format!("seed {seed}: {plan:?}");
        if everything(&plan).len() > 400 {
            continue;
        }
        for level in CONSTRAINED {
            let set = as_set(&explored(&Explorer::new(&program, level)), &told);
            for base in [Level::Unconstrained, Level::ReadCommitted, Level::ReadAtomic] {
                assert_eq!(
                    as_set(&explored(&Explorer::new(&program, level).base(base)), &told),
                    set,
                    "{told}"
                );
            }
            let baseline = explored(&Explorer::new(&program, level).algorithm(Algorithm::Dfs));
            assert_eq!(baseline.list.iter().cloned().collect::<BTreeSet<_>>(), set, "{told}");
        }
    }
}

#[test]
fn threads_and_parts_change_nothing() {
    for seed in 30_000..30_040 {
        let plan = random_plan(&mut Random(seed), 6);
        let program = program(&plan, &|_, _| None);
        let told = format!("seed {seed}: {plan:?}");
        for level in [Level::ReadCommitted, Level::Causal, Level::Serializable] {
            let set = as_set(&explored(&Explorer::new(&program, level)), &told);
            assert_eq!(
                as_set(&explored(&Explorer::new(&program, level).threads(3)), &told),
                set,
                "{told}"
            );
            let mut together = BTreeSet::new();
            for number in 1..=3 {
                let list = Mutex::new(Vec::new());
                let part = Explorer::new(&program, level).part(Part { number, of: 3 });
                let result = part.run(&|end| {
                    list.lock()
                        .unwrap()
                        .push(end.locals().iter().map(|memory| memory.log.clone()).collect());
                    Ok(())
                });
                assert!(result.unwrap().is_complete);
                for behaviour in list.into_inner().unwrap() {
                    assert!(together.insert(behaviour), "in two parts: {told}");
                }
            }
            assert_eq!(together, set, "{told}");
        }
    }
}

/// What the axioms with a level for each transaction see. Aborted transactions wrote nothing.
fn execution(behaviour: &Behaviour, level: &impl Fn(usize, usize) -> Level) -> Execution {
    let logs = behaviour.iter().enumerate().flat_map(|(session, log)| {
        let txns = log.split_inclusive(|did| matches!(did, Did::End(_))).enumerate();
        txns.map(move |(index, did)| ((session, index), did))
    });
    let logs: Vec<((usize, usize), &[Did])> = logs.collect();
    let number = |(session, index, _): (u8, u8, u8)| {
        let name = (usize::from(session).checked_sub(1)?, usize::from(index).checked_sub(1)?);
        logs.iter().position(|log| log.0 == name)
    };
    let txns = logs.iter().map(|&((session, index), did)| {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for did in did {
            match did {
                Did::Read(key, cell) if !writes.contains(&usize::from(*key)) => {
                    reads.push(Read { key: usize::from(*key), source: number(cell.writer) });
                }
                Did::Write(key, _) => writes.push(usize::from(*key)),
                Did::End(false) => writes.clear(),
                Did::Read(..) | Did::End(true) => {}
            }
        }
        Transaction::new(session, level(session, index), reads, writes)
    });
    Execution { txns: txns.collect(), ..Execution::default() }
}

#[test]
fn mixed_levels_are_what_the_axioms_allow() {
    let mut behaviours = 0;
    for seed in 40_000..41_500 {
        let mut random = Random(seed);
        let plan = random_plan(&mut random, 4);
        let all = everything(&plan);
        if all.len() > 200 {
            continue;
        }
        // Half of the programs are weak only, so that no check is needed at the end.
        let choices = if seed % 2 == 0 { &LEVELS[..4] } else { &LEVELS[..] };
        let levels: Vec<Vec<Level>> = plan
            .iter()
            .map(|session| {
                session
                    .iter()
                    .map(|_| choices[random.below(choices.len() as u64) as usize])
                    .collect()
            })
            .collect();
        let level = |s: usize, t: usize| levels[s][t];
        let set: BTreeSet<Behaviour> = all
            .into_iter()
            .filter(|behaviour| execution(behaviour, &level).is_consistent())
            .collect();
        let program = program(&plan, &|s, t| Some(level(s, t)));
        let told = format!("{levels:?}, seed {seed}: {plan:?}");
        let found = explored(&Explorer::new(&program, Level::Unconstrained));
        assert_eq!(found.blocked, 0, "{told}");
        if seed % 2 == 0 {
            assert_eq!(found.ends, found.list.len() as u64, "{told}");
        }
        let found = as_set(&found, &told);
        assert!(found == set, "{} instead of {}: {told}", found.len(), set.len());
        behaviours += set.len();
    }
    assert!(behaviours > 5000, "{behaviours}");
}

#[test]
fn cycles_are_found_in_most_unserializable_behaviours_and_in_no_other() {
    let (mut found, mut missed) = (0, 0);
    for seed in 50_000..50_200 {
        let plan = random_plan(&mut Random(seed), 5);
        let program = program(&plan, &|_, _| None);
        let counts = Mutex::new((0, 0));
        let budget = std::time::Duration::from_millis(500);
        let result = Explorer::new(&program, Level::ReadCommitted).budget(budget).run(&|end| {
            match (end.cycle(), end.is_serializable()) {
                (Some(cycle), true) => return Err(format!("{cycle}, but it is serializable")),
                (Some(_), false) => counts.lock().unwrap().0 += 1,
                (None, false) => counts.lock().unwrap().1 += 1,
                (None, true) => {}
            }
            Ok(())
        });
        let result = result.unwrap();
        assert!(
            result.counterexample.is_none(),
            "seed {seed}: {plan:?}: {:?}",
            result.counterexample
        );
        let counts = counts.into_inner().unwrap();
        (found, missed) = (found + counts.0, missed + counts.1);
    }
    assert!(found > 1000 && missed * 20 < found, "{found} found, {missed} missed");
}
