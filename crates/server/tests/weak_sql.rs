//! What SQL may show at each level is what the level allows, no more and no less: all choices of
//! small programs are gone through, with transactions one after another in every order, and what
//! the clients saw is compared with the explorer's behaviours of the same program on cells.

use seriatim_check::{Answer, Checker};
use seriatim_explore::{End, Explorer, Program};
use seriatim_isolation::Level;
use seriatim_server::cells::{CellValue, StoreCells};
use seriatim_sql::Datum;
use seriatim_sql::cells::CellStore;
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_sql::session::{Reply, Session};
use seriatim_store::{AllRuns, Chooser, LEVELS, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What each session got from its queries, one number a query.
type Seen = Vec<Vec<i64>>;
/// Sessions of transactions of statements.
type Sql = Vec<Vec<Vec<String>>>;

/// A database that holds what `setup` made.
fn cluster(
    setup: &str,
    level: Level,
    chooser: Box<dyn Chooser>,
) -> (Arc<Cluster>, Arc<StoreCells>) {
    let first = Arc::new(Cluster::new(Arc::new(Memory::default())));
    let (_, error) = Session::connect(&first, "postgres", "postgres").unwrap().simple(setup);
    assert!(error.is_none(), "{error:?}");
    let store: Store<CellValue> =
        Store::<CellValue>::builder(level).chooser(chooser).sessions_at_rc().build().unwrap();
    let cells = Arc::new(StoreCells::new(store, true));
    let mut cluster = Arc::into_inner(first).unwrap();
    cluster.settle(Arc::clone(&cells) as Arc<dyn CellStore>).unwrap();
    (Arc::new(cluster), cells)
}

/// Runs statements; the first number of the first row of each query, or whether it failed.
fn run(session: &mut Session, statements: &[String]) -> Result<Vec<i64>, String> {
    let mut seen = Vec::new();
    let all = ["BEGIN".to_owned()].into_iter().chain(statements.iter().cloned());
    for text in all.chain(["COMMIT".to_owned()]) {
        let (replies, error) = session.simple(&text);
        if let Some(error) = error {
            let code = error.fields().code.to_owned();
            session.simple("ROLLBACK");
            return Err(code);
        }
        for reply in replies {
            if let Reply::Rows { rows, .. } = reply {
                seen.push(match rows.first().and_then(|row| row.first()) {
                    Some(Datum::Int4(value)) => i64::from(*value),
                    Some(Datum::Int8(value)) => *value,
                    _ => -1,
                });
            }
        }
    }
    Ok(seen)
}

/// All orders of the transactions that keep those of the sessions.
fn orders(left: &[usize]) -> Vec<Vec<usize>> {
    if left.iter().all(|&count| count == 0) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for session in (0..left.len()).filter(|&session| left[session] > 0) {
        let mut rest = left.to_vec();
        rest[session] -= 1;
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, session);
            order
        }));
    }
    all
}

/// Whether sessions lock rows.
#[derive(Clone, Copy, PartialEq)]
enum Locks {
    On,
    Off,
}

/// What the clients can see at a level, over all orders and choices. Runs in which a transaction
/// was refused count for nothing: its client would try again.
fn outcomes(setup: &str, program: &Sql, level: Level, locks: Locks) -> BTreeSet<Seen> {
    let mut all = BTreeSet::new();
    let counts: Vec<usize> = program.iter().map(Vec::len).collect();
    for order in orders(&counts) {
        let mut runs = AllRuns::new();
        while let Some(plan) = runs.run() {
            let (cluster, cells) = cluster(setup, level, plan.chooser);
            if let Some(seen) = outcome(&cluster, program, &order, locks) {
                all.insert(seen);
            }
            let report = Checker::new().check(&cells.history());
            assert_eq!(report.verdict(level).unwrap().answer(), Answer::Holds, "{program:?}");
        }
    }
    all
}

fn outcome(cluster: &Arc<Cluster>, program: &Sql, order: &[usize], locks: Locks) -> Option<Seen> {
    let connect = |_: &Vec<Vec<String>>| {
        let mut session = Session::connect(cluster, "postgres", "postgres").unwrap();
        if locks == Locks::Off {
            session.without_locks();
        }
        session
    };
    let mut sessions: Vec<Session> = program.iter().map(connect).collect();
    let (mut next, mut seen) = (vec![0; program.len()], vec![Vec::new(); program.len()]);
    for &session in order {
        let transaction = &program[session][next[session]];
        next[session] += 1;
        match run(&mut sessions[session], transaction) {
            Ok(found) => seen[session].extend(found),
            Err(code) => {
                assert_eq!(code, "40001");
                return None;
            }
        }
    }
    Some(seen)
}

/// An operation on one of the cells of a table: a read, or a write of a number.
type Op = (u64, Option<i64>);

/// Random numbers that are the same everywhere.
fn small_random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Two sessions, one of them of one or two transactions, with up to three operations on two cells.
fn random_program(seed: u64) -> Vec<Vec<Vec<Op>>> {
    let (mut state, mut value) = (seed, 0);
    let mut op = |state: &mut u64| {
        value += 1;
        (small_random(state, 2), (small_random(state, 2) == 0).then_some(value))
    };
    let mut txn = |state: &mut u64| -> Vec<Op> {
        (0..1 + small_random(state, 3)).map(|_| op(state)).collect()
    };
    let sizes = [1 + small_random(&mut state, 2), 1];
    sizes.iter().map(|&count| (0..count).map(|_| txn(&mut state)).collect()).collect()
}

fn as_sql(program: &[Vec<Vec<Op>>]) -> Sql {
    let statement = |&(key, write): &Op| match write {
        Some(value) => format!("UPDATE kv SET v = {value} WHERE id = {key}"),
        None => format!("SELECT v FROM kv WHERE id = {key}"),
    };
    let txn = |ops: &Vec<Op>| ops.iter().map(statement).collect();
    program.iter().map(|session| session.iter().map(txn).collect()).collect()
}

/// The same on cells. A session at read committed sees its own commits over SQL: so the explorer's
/// behaviours count only if they do, too.
fn explored(program: &[Vec<Vec<Op>>], level: Level) -> BTreeSet<Seen> {
    let mut cells: Program<i64, Vec<i64>> = Program::new();
    for session in program {
        let home = cells.session();
        for ops in session {
            let ops = ops.clone();
            home.transaction(move |tx, seen| {
                for (key, write) in &ops {
                    match write {
                        Some(value) => tx.write(&key.to_string(), *value)?,
                        None => seen.push(tx.read(&key.to_string())?),
                    }
                }
                Ok(())
            });
        }
    }
    let found = std::sync::Mutex::new(BTreeSet::new());
    let note = |end: &End<'_, i64, Vec<i64>>| {
        found.lock().unwrap().insert(end.locals().to_vec());
        Ok(())
    };
    let explored = Explorer::new(&cells, level).run(&note).unwrap();
    assert!(explored.is_complete);
    found.into_inner().unwrap()
}

const CELLS: &str = "CREATE TABLE kv (id int PRIMARY KEY, v int NOT NULL); \
                     INSERT INTO kv VALUES (0, 0), (1, 0)";

#[test]
fn sql_shows_exactly_what_the_explorer_finds_on_cells() {
    let mut weak = 0;
    for seed in 0..40 {
        let program = random_program(seed);
        // Read committed over SQL also keeps session order, which the explorer's does not.
        for level in LEVELS.into_iter().filter(|&level| level != Level::ReadCommitted) {
            let (cells, sql) =
                (explored(&program, level), outcomes(CELLS, &as_sql(&program), level, Locks::Off));
            assert_eq!(sql, cells, "{level}: {program:?}");
            weak += usize::from(cells.len() > 2);
        }
        let with_sessions = explored(&program, Level::ReadAtomic);
        let sql = outcomes(CELLS, &as_sql(&program), Level::ReadCommitted, Locks::Off);
        assert!(sql.is_superset(&with_sessions), "{program:?}");
        assert!(sql.is_subset(&explored(&program, Level::ReadCommitted)), "{program:?}");
    }
    assert!(weak > 20, "{weak}");
}

fn two(session: &[&str]) -> Sql {
    let txn: Vec<String> = session.iter().map(|&text| text.to_owned()).collect();
    vec![vec![txn.clone()], vec![txn]]
}

#[test]
fn two_that_count_and_insert_are_serializable_at_ser_and_not_at_si() {
    let setup = "CREATE TABLE job (id serial PRIMARY KEY, what text)";
    let program = two(&["SELECT count(*) FROM job", "INSERT INTO job (what) VALUES ('x')"]);
    let both = vec![vec![0], vec![0]];
    let at = |level| outcomes(setup, &program, level, Locks::On);
    assert_eq!(
        at(Level::Serializable),
        BTreeSet::from([vec![vec![0], vec![1]], vec![vec![1], vec![0]],])
    );
    assert!(at(Level::SnapshotIsolation).contains(&both));
}

#[test]
fn overlapping_bookings_happen_at_si_and_not_at_ser() {
    let setup = "CREATE TABLE booking (id serial PRIMARY KEY, room int, slot int)";
    let program = two(&[
        "SELECT count(*) FROM booking WHERE room = 1 AND slot = 9",
        "INSERT INTO booking (room, slot) SELECT 1, 9 WHERE NOT EXISTS \
         (SELECT 1 FROM booking WHERE room = 1 AND slot = 9) RETURNING id",
    ]);
    let booked = |seen: &Seen| seen.iter().filter(|session| session[1] != -1).count();
    let most = |level| outcomes(setup, &program, level, Locks::On).iter().map(booked).max();
    assert_eq!(most(Level::Serializable), Some(1));
    assert_eq!(most(Level::SnapshotIsolation), Some(2));
}

/// People use a locked row as a mutex; without the lock it breaks.
#[test]
fn a_locked_row_guards_other_rows_at_every_level() {
    let setup = "CREATE TABLE guard (id int PRIMARY KEY); INSERT INTO guard VALUES (1); \
                 CREATE TABLE kv (id int PRIMARY KEY, v int); INSERT INTO kv VALUES (1, 5)";
    let guarded = two(&[
        "SELECT id FROM guard WHERE id = 1 FOR UPDATE",
        "SELECT v FROM kv WHERE id = 1",
        "UPDATE kv SET v = v - 5 WHERE id = 1 AND v >= 5 RETURNING 100",
    ]);
    let bare: Sql = two(&["SELECT v FROM kv WHERE id = 1"; 1])
        .into_iter()
        .map(|txns| {
            let mut txn = txns[0].clone();
            txn.push("UPDATE kv SET v = v - 5 WHERE id = 1".to_owned());
            vec![txn]
        })
        .collect();
    let stale = |seen: &Seen, place: usize| seen.iter().filter(|it| it[place] == 5).count() == 2;
    for level in LEVELS {
        let seen = outcomes(setup, &guarded, level, Locks::On);
        assert!(!seen.is_empty() && !seen.iter().any(|seen| stale(seen, 1)), "{level}: {seen:?}");
        let seen = outcomes(setup, &bare, level, Locks::Off);
        let breaks = seen.iter().any(|seen| stale(seen, 0));
        assert_eq!(breaks, level < Level::SnapshotIsolation, "{level}: {seen:?}");
    }
}
