//! Applications, explored: which assertions hold at which level, and that the mock store shows
//! nothing that is not explored.

use seriatim_apps::clients::ClientProgram;
use seriatim_apps::{APPS, App, Db, DbError, StoreDb, Value, find, transact};
use seriatim_explore::{End, Explorer};
use seriatim_isolation::Level;
use seriatim_runs::explore;
use seriatim_store::{Random, Store, by_chance, interleave_by};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

/// Everything that users may see, client by client.
fn explored(app: &'static dyn App, level: Level) -> BTreeSet<Vec<Vec<Value>>> {
    let program = explore::program(app);
    let all = Mutex::new(BTreeSet::new());
    let result = Explorer::new(&program, level).threads(2).run(&|end| {
        all.lock().unwrap().insert(end.locals().to_vec());
        Ok(())
    });
    assert!(result.unwrap().is_complete);
    all.into_inner().unwrap()
}

/// A connection to the store that forgets what an aborted transaction read.
struct Forgetting(StoreDb);

impl Db for Forgetting {
    fn begin(&mut self) -> Result<(), DbError> {
        self.0.begin()
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        self.0.read(key)
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        self.0.write(key, value)
    }

    fn commit(&mut self) -> Result<(), DbError> {
        self.0.commit()
    }

    fn abort(&mut self) {
        self.0.abort();
    }

    fn withdraw(&mut self) -> Result<(), DbError> {
        self.0.abort();
        Ok(())
    }
}

/// How clients run on the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// One transaction after another.
    Serial,
    /// Several are open at once.
    Interleaved,
    /// One after another, and what aborted ones read is forgotten.
    Forgetting,
}

/// What users see in one run on the store, with random versions in a random order.
fn monkey(app: &'static dyn App, level: Level, seed: u64, mode: Mode) -> Vec<Vec<Value>> {
    let store: Store<Value> =
        Store::<Value>::builder(level).chooser(Random::new(seed)).build().unwrap();
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let client = |(number, session)| {
        move |turn| {
            let db = StoreDb::with_turn(session, turn, mode == Mode::Interleaved);
            let mut db: Box<dyn Db> =
                if mode == Mode::Forgetting { Box::new(Forgetting(db)) } else { Box::new(db) };
            let mut seen = Vec::new();
            app.run(number, db.as_mut(), &mut |value| seen.push(value)).map(|()| seen)
        }
    };
    let clients = sessions.into_iter().enumerate().map(client).collect();
    interleave_by(by_chance(seed), clients).0.into_iter().collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_the_mock_store_shows_is_explored() {
    for (name, level) in [
        ("cart", Level::ReadCommitted),
        ("cart", Level::ReadAtomic),
        ("cart", Level::Causal),
        ("cart", Level::PrefixConsistency),
        ("cart", Level::SnapshotIsolation),
        ("cart", Level::Serializable),
        ("twitter", Level::Causal),
        ("twitter", Level::SnapshotIsolation),
        ("courseware-removed", Level::Causal),
        ("courseware-removed", Level::Serializable),
    ] {
        let app = find(name).unwrap();
        let all = explored(app, level);
        let mut seen = BTreeSet::new();
        for seed in 0..300 {
            let run = monkey(
                app,
                level,
                seed,
                if seed % 2 == 0 { Mode::Serial } else { Mode::Interleaved },
            );
            assert!(all.contains(&run), "{name} at {level}, seed {seed}: {run:?}");
            seen.insert(run);
        }
        println!("{name} at {level}: {} of {} states seen in 300 runs", seen.len(), all.len());
    }
}

#[test]
fn assertions_break_at_causal_consistency_and_hold_when_serializable() {
    for app in APPS {
        let program = explore::program(app);
        let property = |end: &End<'_, Value, explore::Seen>| explore::verify(app, end);
        let weak = Explorer::new(&program, Level::Causal).run(&property).unwrap();
        let found = weak
            .counterexample
            .unwrap_or_else(|| panic!("{} holds at causal consistency", app.name()));
        // The token reruns it.
        let again = seriatim_explore::replay(&program, Level::Causal, &found.token, |end| {
            assert_eq!(end.locals(), found.locals);
            explore::verify(app, end)
        });
        assert_eq!(again.unwrap(), Err(found.reason));
        let strong =
            Explorer::new(&program, Level::Serializable).threads(2).budget(Duration::from_secs(20));
        if app.name() != "stack" {
            // The stack has too many behaviours for a test.
            assert_eq!(strong.run(&property).unwrap().holds(), Some(true), "{}", app.name());
        }
    }
}

/// The programs of measurements: a change that was not meant would make their results worthless.
#[test]
fn random_clients_have_as_many_histories_as_ever() {
    for (app, seed, causal, serializable) in [
        ("cart", 3, 891, 181),
        ("twitter", 2, 81, 21),
        ("courseware", 2, 1318, 254),
        ("wikipedia", 3, 360, 154),
        ("wikipedia", 4, 37_944, 1_986),
        // New orders before other transactions.
        ("tpcc", 2, 2_886, 204),
        ("tpcc", 4, 312, 59),
    ] {
        let program = explore::client_program(ClientProgram::new(app, seed, 3, 3).unwrap());
        let count = |level| {
            let result = Explorer::new(&program, level).run(&|_| Ok(())).unwrap();
            assert!(result.is_complete && result.tally.blocked == 0, "{app}:{seed}");
            result.tally.histories
        };
        let counted = (count(Level::Causal), count(Level::Serializable));
        assert_eq!(counted, (causal, serializable), "{app}:{seed}");
    }
    assert!(ClientProgram::new("chess", 1, 3, 3).is_none());
}

/// Clients whose transactions read two keys, write one, and often change their mind, which may
/// depend on what they read.
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

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        for txn in 0..2 {
            let mut read = Vec::new();
            let committed = transact(db, |db| {
                read =
                    vec![db.read(&self.key(client, txn, 0))?, db.read(&self.key(client, txn, 1))?];
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
const CONSTRAINED: [Level; 6] = *seriatim_explore::LEVELS.last_chunk().unwrap();

/// What an aborting transaction reads is explored, and what comes after it; only if the store is
/// told to forget what was read, it may show more.
#[test]
fn what_the_mock_store_shows_to_clients_that_abort_is_explored() {
    let (mut aborted, mut beyond) = (0, 0);
    for seed in 0..25 {
        let app: &'static dyn App = Box::leak(Box::new(Fickle { seed }));
        for level in CONSTRAINED {
            let all = explored(app, level);
            for run in 0..25 {
                for mode in [Mode::Serial, Mode::Interleaved] {
                    let seen = monkey(app, level, run, mode);
                    assert!(all.contains(&seen), "program {seed} at {level}, run {run}: {seen:?}");
                    aborted += usize::from(format!("{seen:?}").contains("aborted"));
                }
                beyond += usize::from(!all.contains(&monkey(app, level, run, Mode::Forgetting)));
            }
        }
    }
    assert!(
        aborted > 1000 && beyond > 0,
        "{aborted} runs with aborts, {beyond} showed more than is explored"
    );
}
