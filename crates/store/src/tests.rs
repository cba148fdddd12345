//! For random small programs: what the store can do, over all interleavings and choices, is what
//! the definition allows.

use crate::LEVELS;
use crate::engine::Engine;
use crate::past::INITIAL;
use crate::ranges::Group;
use seriatim_isolation::Level;
use seriatim_isolation::axioms::{self, Execution, Transaction};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Step {
    Read(u32),
    Write(u32),
    /// Reads all keys, by their group.
    Scan,
}

/// How many keys there are.
const KEYS: u32 = 2;

/// Names a read of a step: a scan has one for each key.
fn place(step: usize, key: u32) -> usize {
    step * KEYS as usize + key as usize
}

#[derive(Clone, Debug)]
struct Plan {
    level: Level,
    steps: Vec<Step>,
    /// Whether it takes its writes back in the end.
    withdrawn: bool,
}

/// Sessions of transactions.
type Program = Vec<Vec<Plan>>;

/// A transaction by its session and number, or the initial one.
type Name = Option<(usize, usize)>;

/// For each external read, by session, transaction and step, the transaction that it reads from.
type Behaviour = Vec<((usize, usize, usize), Name)>;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn random_program(
    random: &mut Random,
    pick: impl Fn(&mut Random) -> Level,
    withdraws: bool,
    scans: bool,
) -> Program {
    let mut left = 3 + random.below(3);
    let mut program: Program = Vec::new();
    while left > 0 && program.len() < 3 {
        let count = 1 + random.below(2.min(left));
        let mut session = Vec::new();
        for _ in 0..count {
            let steps = (0..1 + random.below(3)).map(|_| {
                let key = random.below(2) as u32;
                match random.below(if scans { 3 } else { 2 }) {
                    0 => Step::Read(key),
                    1 => Step::Write(key),
                    _ => Step::Scan,
                }
            });
            let steps = steps.collect();
            let level = pick(random);
            session.push(Plan { level, steps, withdrawn: withdraws && random.below(3) == 0 });
        }
        left -= count;
        program.push(session);
    }
    program
}

/// One run in progress.
#[derive(Clone)]
struct Run {
    engine: Engine,
    /// Per session: finished transactions, steps done of the current one, its number in the engine.
    at: Vec<(usize, usize, Option<u32>)>,
    names: Vec<(usize, usize)>,
    behaviour: Behaviour,
}

/// The group of all keys.
const ALL: Group = Group(0);

/// Explores all interleavings and choices; `serial` allows a transaction to begin only when none is
/// open.
fn behaviours(program: &Program, serial: bool, stuck: &mut u64) -> BTreeSet<Behaviour> {
    let mut engine = Engine::default();
    program.iter().for_each(|_| {
        engine.log.open_session();
    });
    let start = Run {
        engine,
        at: vec![(0, 0, None); program.len()],
        names: Vec::new(),
        behaviour: Vec::new(),
    };
    let (mut found, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(run) = open.pop() {
        if run.at.iter().zip(program).all(|(at, session)| at.0 == session.len()) {
            let mut behaviour = run.behaviour;
            behaviour.sort();
            found.insert(behaviour);
            continue;
        }
        for session in 0..program.len() {
            if serial
                && run.at.iter().enumerate().any(|(other, at)| other != session && at.2.is_some())
            {
                continue;
            }
            if run.at[session].0 < program[session].len() {
                open.extend(step(program, &run, session, stuck));
            }
        }
    }
    found
}

/// All ways in which `session` may do its next step.
fn step(program: &Program, run: &Run, session: usize, stuck: &mut u64) -> Vec<Run> {
    let mut run = run.clone();
    let (done, steps, txn) = run.at[session];
    let plan = &program[session][done];
    let txn = txn.unwrap_or_else(|| {
        run.names.push((session, done));
        run.engine.begin(session as u32, plan.level)
    });
    if steps == plan.steps.len() {
        if !(if plan.withdrawn { run.engine.withdraw(txn) } else { run.engine.commit(txn) }) {
            assert!(plan.level.is_strong());
            return Vec::new();
        }
        run.at[session] = (done + 1, 0, None);
        return vec![run];
    }
    run.at[session] = (done, steps + 1, Some(txn));
    match plan.steps[steps] {
        Step::Write(key) => {
            enter(&mut run.engine, key);
            run.engine.write(txn, key);
            vec![run]
        }
        Step::Read(key) => read(run, plan, (session, done, steps), txn, key, stuck),
        Step::Scan => scan(run, plan, (session, done, steps), txn, stuck),
    }
}

/// A key enters the group when it is first heard of.
fn enter(engine: &mut Engine, key: u32) {
    if !engine.log.groups.members(ALL).any(|(other, ..)| other == key) {
        engine.log.groups.add(ALL, key, key);
    }
}

/// A scan reads the keys that are there one by one, and all others by a range.
fn scan(
    run: Run,
    plan: &Plan,
    (session, done, steps): (usize, usize, usize),
    txn: u32,
    stuck: &mut u64,
) -> Vec<Run> {
    let there: Vec<u32> = run.engine.log.groups.members(ALL).map(|(key, ..)| key).collect();
    let mut runs = vec![run];
    for &key in &there {
        let each = |run| read(run, plan, (session, done, steps), txn, key, stuck);
        runs = runs.into_iter().flat_map(each).collect();
    }
    for run in &mut runs {
        run.engine.read_range(txn, ALL, None);
        let absent = (0..KEYS).filter(|key| !there.contains(key));
        run.behaviour.extend(absent.map(|key| ((session, done, place(steps, key)), None)));
    }
    runs
}

/// All ways in which a key may be read.
fn read(
    mut run: Run,
    plan: &Plan,
    (session, done, steps): (usize, usize, usize),
    txn: u32,
    key: u32,
    stuck: &mut u64,
) -> Vec<Run> {
    if run.engine.log.writes(txn, key) {
        return vec![run];
    }
    enter(&mut run.engine, key);
    let sources = run.engine.admissible(txn, key);
    if sources.is_empty() {
        assert!(plan.level.is_strong(), "stuck at {}", plan.level);
        *stuck += 1;
    }
    sources
        .into_iter()
        .map(|source| {
            let mut next = run.clone();
            next.engine.read(txn, key, source);
            let name = (source != INITIAL).then(|| run.names[source as usize]);
            next.behaviour.push(((session, done, place(steps, key)), name));
            next
        })
        .collect()
}

/// All assignments of sources to the external reads that the definition allows, literally.
fn allowed(program: &Program) -> BTreeSet<Behaviour> {
    let txns: Vec<(usize, usize)> = program
        .iter()
        .enumerate()
        .flat_map(|(s, session)| (0..session.len()).map(move |t| (s, t)))
        .collect();
    let writes = |(s, t): (usize, usize), key: u32| {
        !program[s][t].withdrawn
            && program[s][t].steps.iter().any(|step| matches!(step, Step::Write(k) if *k == key))
    };
    let mut reads = Vec::new();
    for &(s, t) in &txns {
        let mut written: Vec<u32> = Vec::new();
        for (i, step) in program[s][t].steps.iter().enumerate() {
            match step {
                Step::Write(key) => written.push(*key),
                Step::Read(key) if !written.contains(key) => {
                    reads.push(((s, t, place(i, *key)), *key));
                }
                Step::Read(_) => {}
                Step::Scan => {
                    let external = (0..KEYS).filter(|key| !written.contains(key));
                    reads.extend(external.map(|key| ((s, t, place(i, key)), key)));
                }
            }
        }
    }
    let mut all: Vec<Behaviour> = vec![Vec::new()];
    for &(place, key) in &reads {
        let own = (place.0, place.1);
        let sources: Vec<Name> = [None]
            .into_iter()
            .chain(txns.iter().filter(|&&t| t != own && writes(t, key)).map(|&t| Some(t)))
            .collect();
        all = all
            .into_iter()
            .flat_map(|b| {
                sources
                    .iter()
                    .map(move |&source| [b.clone(), vec![(place, source)]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    let keys: Vec<u32> = reads.iter().map(|read| read.1).collect();
    let consistent = |behaviour: &Behaviour| {
        let number = |name: (usize, usize)| txns.iter().position(|&txn| txn == name);
        let txns = txns.iter().map(|&(s, t)| {
            let mine =
                behaviour.iter().zip(&keys).filter(|(read, _)| (read.0.0, read.0.1) == (s, t));
            let reads = mine.map(|(read, &key)| axioms::Read {
                key: key as usize,
                source: read.1.and_then(number),
            });
            let written = (0..2).filter(|&key| writes((s, t), key)).map(|key| key as usize);
            let level = program[s][t].level;
            Transaction::new(s, level, reads.collect(), written.collect())
        });
        Execution { txns: txns.collect(), ..Execution::default() }.is_consistent()
    };
    let sorted = |mut behaviour: Behaviour| {
        behaviour.sort();
        behaviour
    };
    all.into_iter().filter(consistent).map(sorted).collect()
}

fn compare(
    seeds: std::ops::Range<u64>,
    pick: impl Fn(&mut Random) -> Level + Copy,
) -> (usize, u64) {
    let (mut behaviours_seen, mut stuck) = (0, 0);
    for seed in seeds {
        let program = random_program(&mut Random(seed), pick, false, false);
        let allowed = allowed(&program);
        let serial = behaviours(&program, true, &mut stuck);
        assert_eq!(serial, allowed, "one at a time, seed {seed}: {program:?}");
        if program.iter().flatten().map(|plan| plan.steps.len() + 1).sum::<usize>() <= 9 {
            let interleaved = behaviours(&program, false, &mut stuck);
            assert_eq!(interleaved, allowed, "interleaved, seed {seed}: {program:?}");
        }
        behaviours_seen += allowed.len();
    }
    (behaviours_seen, stuck)
}

#[test]
fn what_the_store_can_do_is_what_each_level_allows() {
    for level in LEVELS {
        let (seen, stuck) = compare(0..60, |_| level);
        assert!(seen > 100, "{seen} at {level}");
        assert!(level.is_strong() || stuck == 0);
    }
}

#[test]
fn what_the_store_can_do_is_what_mixed_levels_allow() {
    compare(1000..1200, |random| LEVELS[random.below(6) as usize]);
    compare(2000..2100, |random| LEVELS[random.below(3) as usize]);
}

/// Strong transactions that have written do not know yet that they will take it back, so that they
/// may be refused more than they must.
#[test]
fn what_is_read_before_writes_are_taken_back_is_what_the_levels_allow() {
    let mut withdrawn = 0;
    for seed in 0..600 {
        // One level, or mixed ones.
        let level = LEVELS.get(seed as usize % (LEVELS.len() + 3)).copied();
        let pick = |random: &mut Random| level.unwrap_or_else(|| LEVELS[random.below(6) as usize]);
        let program = random_program(&mut Random(seed), pick, true, false);
        let is_weak = program.iter().flatten().all(|plan| !plan.level.is_strong());
        withdrawn += program.iter().flatten().filter(|plan| plan.withdrawn).count();
        let allowed = allowed(&program);
        let is_short =
            program.iter().flatten().map(|plan| plan.steps.len() + 1).sum::<usize>() <= 9;
        for serial in [true, false].into_iter().take(1 + usize::from(is_short)) {
            let found = behaviours(&program, serial, &mut 0);
            assert!(found.is_subset(&allowed), "seed {seed}: {program:?}");
            assert!(!is_weak || found == allowed, "seed {seed}: {program:?}");
        }
    }
    assert!(withdrawn > 300, "{withdrawn}");
}

/// A scan is a read of every key that will ever be in its group. The order of its reads matters at
/// read committed only, where the store reads those that are there in the order in which they came.
#[test]
fn scans_read_all_that_is_yet_to_come() {
    let mut scans = 0;
    for seed in 0..500 {
        let level = LEVELS.get(seed as usize % (LEVELS.len() + 2)).copied();
        let pick = |random: &mut Random| level.unwrap_or_else(|| LEVELS[random.below(6) as usize]);
        let program = random_program(&mut Random(seed), pick, false, true);
        let steps: Vec<&Step> = program.iter().flatten().flat_map(|plan| &plan.steps).collect();
        let count = steps.iter().filter(|step| matches!(step, Step::Scan)).count();
        let reads = steps.iter().filter(|step| matches!(step, Step::Read(_))).count() + 2 * count;
        // The definition is tried for each assignment of sources.
        if count == 0 || reads > 6 {
            continue;
        }
        scans += 1;
        let allowed = allowed(&program);
        let has_rc = program.iter().flatten().any(|plan| plan.level == Level::ReadCommitted);
        for serial in [true, false].into_iter().take(1 + usize::from(steps.len() <= 6)) {
            let found = behaviours(&program, serial, &mut 0);
            if has_rc {
                assert!(!found.is_empty());
            } else {
                assert_eq!(found, allowed, "seed {seed}, serial {serial}: {program:?}");
            }
        }
    }
    assert!(scans > 100, "{scans}");
}

/// Transactions one after the other whose reads return anything that the level allows; what they
/// did, with the sources of their reads by their places.
fn random_run(random: &mut Random, engine: &mut Engine, level: Level) -> Vec<Transaction> {
    let mut txns = Vec::new();
    for number in 0..3 + random.below(3) as usize {
        let session = random.below(3) as u32;
        let txn = engine.begin(session, level);
        assert_eq!(txn as usize, number);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for _ in 0..1 + random.below(3) {
            let key = random.below(3) as u32;
            if random.below(2) == 0 {
                engine.write(txn, key);
                writes.push(key as usize);
            } else if !writes.contains(&(key as usize)) {
                let admissible = engine.admissible(txn, key);
                let source = admissible[random.below(admissible.len() as u64) as usize];
                engine.read(txn, key, source);
                let writer = (source != INITIAL).then_some(source as usize);
                reads.push(axioms::Read { key: key as usize, source: writer });
            }
        }
        assert!(engine.commit(txn));
        txns.push(Transaction::new(session as usize, level, reads, writes));
    }
    txns
}

/// Assertions look at one key after the other, in transactions of their own: what they see must be
/// what one commit order leaves behind, also if it is not the order of the commits.
#[test]
fn the_latest_versions_are_those_that_a_commit_order_leaves() {
    let mut reordered = 0;
    for seed in 0..3000 {
        let mut random = Random(seed);
        let level = LEVELS[seed as usize % 3];
        let mut engine = Engine::default();
        (0..6).for_each(|_| {
            engine.log.open_session();
        });
        let txns = random_run(&mut random, &mut engine, level);
        let finals: Vec<Option<usize>> = (0..3)
            .map(|key| {
                let reader = engine.begin(3 + key, level);
                let source = engine.latest(reader, key).expect("a weak level always answers");
                engine.read(reader, key, source);
                assert!(engine.commit(reader));
                (source != INITIAL).then_some(source as usize)
            })
            .collect();
        let last_writer = |order: &[usize], key: usize| {
            order.iter().rev().copied().find(|&txn| txns[txn].writes.contains(&key))
        };
        let leaves = |order: &[usize]| (0..3).all(|key| last_writer(order, key) == finals[key]);
        let execution = Execution { txns: txns.clone(), ..Execution::default() };
        assert!(execution.some_commit_order(leaves), "{level}, seed {seed}: {txns:?} {finals:?}");
        let by_time: Vec<usize> = (0..txns.len()).collect();
        reordered += u32::from(!leaves(&by_time));
    }
    assert!(reordered > 50, "{reordered}");
}
