//! Applications, explored: which assertions hold at which level, and that the mock store shows nothing that is not explored.

use seriatim_apps::{APPS, App, Db, DbError, StoreDb, Value, explore, find};
use seriatim_explore::{End, Explorer, Isolation};
use seriatim_store::{Random, Store, by_chance, interleave_by};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
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

/// What users see in one run on the store, with random versions in a random order.
fn monkey(app: &'static dyn App, isolation: Isolation, seed: u64) -> Vec<Vec<Value>> {
    let level = isolation.level().unwrap();
    let store: Store<Value> = Store::<Value>::builder(level).chooser(Random::new(seed)).build().unwrap();
    for (key, value) in app.load() {
        store.load(&key, value);
    }
    let sessions: Vec<_> = (0..app.clients()).map(|_| store.session()).collect();
    let client = |(number, session)| {
        move |turn| {
            let mut db = Remembering { db: StoreDb::with_turn(session, turn, false), writes: BTreeMap::new() };
            let mut seen = Vec::new();
            app.run(number, &mut db, &mut |value| seen.push(value)).map(|()| seen)
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
            let run = monkey(app, isolation, seed);
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
