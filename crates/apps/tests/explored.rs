//! Applications, explored: which assertions hold at which level, and that the mock store shows nothing that is not explored.

use seriatim_apps::clients::ClientProgram;
use seriatim_apps::{APPS, App, Db, DbError, StoreDb, Value, explore, find, transact};
use seriatim_explore::{End, Explorer, Isolation};
use seriatim_store::{Random, Store, by_chance, interleave_by};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Everything that users may see, client by client.
fn explored(app: &'static dyn App, isolation: Isolation) -> BTreeSet<Vec<Vec<Value>>> {
    let program = explore::program(app);
    let all = Mutex::new(BTreeSet::new());
    let result = Explorer::new(&program, isolation).threads(2).run(&|end| {
        all.lock().unwrap().insert(end.locals().to_vec());
        Ok(())
    });
    assert!(result.unwrap().is_complete);
    all.into_inner().unwrap()
}

/// A connection to the store on which an aborted transaction keeps its reads: it commits without its writes. The store itself
/// forgets what an aborted transaction read; to the explorer, as to its paper, reads of aborted transactions obey the level too.
struct Remembering {
    db: StoreDb,
    writes: BTreeMap<String, Value>,
}

impl Db for Remembering {
    fn begin(&mut self) -> Result<(), DbError> {
        self.writes.clear();
        self.db.begin()
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        self.writes.get(key).map_or_else(|| self.db.read(key), |own| Ok(own.clone()))
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        self.writes.insert(key.to_owned(), value);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DbError> {
        for (key, value) in std::mem::take(&mut self.writes) {
            self.db.write(&key, value)?;
        }
        self.db.commit()
    }

    fn abort(&mut self) {
        self.writes.clear();
        let _ = self.db.commit();
    }
}

/// A connection to the store that ends, with all others, when a transaction aborts.
struct UntilAbort {
    db: StoreDb,
    is_over: Arc<AtomicBool>,
}

impl UntilAbort {
    fn unless_over(&self) -> Result<(), DbError> {
        if self.is_over.load(Ordering::SeqCst) { Err(DbError::Failed(OVER.to_owned())) } else { Ok(()) }
    }
}

const OVER: &str = "a transaction was aborted";

impl Db for UntilAbort {
    fn begin(&mut self) -> Result<(), DbError> {
        self.unless_over()?;
        self.db.begin()?;
        // Others may have had their turn before the transaction began.
        self.unless_over()
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        self.db.read(key)
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        self.db.write(key, value)
    }

    fn commit(&mut self) -> Result<(), DbError> {
        self.db.commit()
    }

    fn abort(&mut self) {
        self.db.abort();
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// What becomes of aborts on the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aborts {
    /// The store is told to abort, and forgets what the transaction read.
    Real,
    /// The same, and nothing more is done.
    Last,
    /// Only the writes are taken back.
    Remembered,
}

fn connection(db: StoreDb, aborts: Aborts, is_over: &Arc<AtomicBool>) -> Box<dyn Db> {
    match aborts {
        Aborts::Real => Box::new(db),
        Aborts::Last => Box::new(UntilAbort { db, is_over: Arc::clone(is_over) }),
        Aborts::Remembered => Box::new(Remembering { db, writes: BTreeMap::new() }),
    }
}

/// What users see in one run on the store, with random versions in a random order.
fn monkey(app: &'static dyn App, isolation: Isolation, seed: u64, aborts: Aborts) -> Vec<Vec<Value>> {
    let level = isolation.level().unwrap();
    let store: Store<Value> = Store::<Value>::builder(level).chooser(Random::new(seed)).build().unwrap();
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let client = |(number, session)| {
        let is_over = Arc::clone(&is_over);
        move |turn| {
            let mut db = connection(StoreDb::with_turn(session, turn, false), aborts, &is_over);
            let mut seen = Vec::new();
            match app.run(number, db.as_mut(), &mut |value| seen.push(value)) {
                Err(DbError::Failed(why)) if why == OVER => Ok(seen),
                other => other.map(|()| seen),
            }
        }
    };
    let clients = sessions.into_iter().enumerate().map(client).collect();
    interleave_by(by_chance(seed), clients).0.into_iter().collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_the_mock_store_shows_is_explored() {
    for (name, isolation) in [
        ("cart", Isolation::ReadCommitted),
        ("cart", Isolation::ReadAtomic),
        ("cart", Isolation::Causal),
        ("cart", Isolation::Prefix),
        ("cart", Isolation::Snapshot),
        ("cart", Isolation::Serializable),
        ("twitter", Isolation::Causal),
        ("twitter", Isolation::Snapshot),
        ("courseware-removed", Isolation::Causal),
        ("courseware-removed", Isolation::Serializable),
    ] {
        let app = find(name).unwrap();
        let all = explored(app, isolation);
        let mut seen = BTreeSet::new();
        for seed in 0..300 {
            let run = monkey(app, isolation, seed, Aborts::Remembered);
            assert!(all.contains(&run), "{name} at {isolation}, seed {seed}: {run:?}");
            seen.insert(run);
        }
        println!("{name} at {isolation}: {} of {} states seen in 300 runs", seen.len(), all.len());
    }
}

#[test]
fn assertions_break_at_causal_consistency_and_hold_when_serializable() {
    for app in APPS {
        let program = explore::program(app);
        let property = |end: &End<'_, Value, explore::Seen>| explore::verify(app, end);
        let weak = Explorer::new(&program, Isolation::Causal).run(&property).unwrap();
        let found = weak.counterexample.unwrap_or_else(|| panic!("{} holds at causal consistency", app.name()));
        // The token reruns it.
        let again = seriatim_explore::replay(&program, Isolation::Causal, &found.token, |end| {
            assert_eq!(end.locals(), found.locals);
            explore::verify(app, end)
        });
        assert_eq!(again.unwrap(), Err(found.reason));
        let strong = Explorer::new(&program, Isolation::Serializable).threads(2).budget(Duration::from_secs(20));
        if app.name() != "stack" {
            // The stack has too many behaviours for a test.
            assert_eq!(strong.run(&property).unwrap().holds(), Some(true), "{}", app.name());
        }
    }
}

/// The programs of measurements: a seed means the same program for ever.
#[test]
fn random_clients_have_as_many_histories_as_ever() {
    for (app, seed, causal, serializable) in [
        ("cart", 3, 891, 181),
        ("twitter", 2, 81, 21),
        ("courseware", 2, 1318, 254),
        ("wikipedia", 3, 360, 154),
        ("tpcc", 4, 312, 59),
    ] {
        let program = ClientProgram::new(app, seed, 3, 3).unwrap().program();
        let count = |isolation| {
            let result = Explorer::new(&program, isolation).run(&|_| Ok(())).unwrap();
            assert!(result.is_complete && result.tally.blocked == 0, "{app}:{seed}");
            result.tally.histories
        };
        let counted = (count(Isolation::Causal), count(Isolation::Serializable));
        assert_eq!(counted, (causal, serializable), "{app}:{seed}");
    }
    assert!(ClientProgram::new("chess", 1, 3, 3).is_none());
}

/// Clients whose transactions read two keys, write one, and often change their mind, which may depend on what they read.
struct Fickle {
    seed: u64,
}

impl Fickle {
    /// A number below `limit` for a transaction.
    fn draw(&self, client: usize, txn: usize, what: u64, limit: u64) -> u64 {
        let mixed = (self.seed * 64 + client as u64 * 8 + txn as u64) * 8 + what;
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % limit
    }

    fn key(&self, client: usize, txn: usize, what: u64) -> String {
        format!("k{}", self.draw(client, txn, what, 2))
    }
}

impl App for Fickle {
    fn name(&self) -> &'static str {
        "fickle"
    }

    fn assertion(&self) -> &'static str {
        "nothing in particular"
    }

    fn load(&self) -> Vec<(String, Value)> {
        vec![("k0".to_owned(), Value::Int(0)), ("k1".to_owned(), Value::Int(0))]
    }

    fn clients(&self) -> usize {
        3
    }

    fn run(&self, client: usize, db: &mut dyn Db, see: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        for txn in 0..2 {
            let mut read = Vec::new();
            let committed = transact(db, |db| {
                read = vec![db.read(&self.key(client, txn, 0))?, db.read(&self.key(client, txn, 1))?];
                db.write(&self.key(client, txn, 2), Value::Int((client * 10 + txn + 1) as i64))?;
                let aborts = match self.draw(client, txn, 3, 4) {
                    0 => true,
                    1 => read.iter().map(Value::number).sum::<i64>() % 2 == 0,
                    _ => false,
                };
                Ok((!aborts).then_some(()))
            })?;
            read.push(if committed.is_some() { "committed" } else { "aborted" }.into());
            see(Value::from(read));
        }
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        Ok(Ok(()))
    }
}

/// All but the one that allows everything.
const LEVELS: [Isolation; 6] = *Isolation::ALL.last_chunk().unwrap();

/// The store answers a read before anybody knows whether the transaction will abort, so what an aborting one reads is explored too.
/// Afterwards the store has forgotten it, and the explorer has not: then the store may show more.
#[test]
fn what_aborting_transactions_read_is_explored() {
    let (mut cut, mut beyond) = (0, 0);
    for seed in 0..25 {
        let app: &'static dyn App = Box::leak(Box::new(Fickle { seed }));
        for isolation in LEVELS {
            let all = explored(app, isolation);
            let begins_so = |run: &[Vec<Value>]| {
                all.iter().any(|whole| whole.iter().zip(run).all(|(whole, begun)| whole.starts_with(begun)))
            };
            for run in 0..25 {
                let remembered = monkey(app, isolation, run, Aborts::Remembered);
                assert!(all.contains(&remembered), "program {seed} at {isolation}, run {run}: {remembered:?}");
                let until = monkey(app, isolation, run, Aborts::Last);
                assert!(begins_so(&until), "program {seed} at {isolation}, run {run}: {until:?}");
                cut += usize::from(until.iter().any(|seen| seen.len() < 2));
                beyond += usize::from(!all.contains(&monkey(app, isolation, run, Aborts::Real)));
            }
        }
    }
    assert!(cut > 1000 && beyond > 0, "{cut} runs ended early, {beyond} showed more than is explored");
}
