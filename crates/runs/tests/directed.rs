//! Applications run as predicted, on two that are as small as they can be.

use seriatim_apps::{App, Db, DbError, Value};
use seriatim_isolation::Level;
use seriatim_runs::{
    Assertion, PlanError, PlannedEvent, PlannedTxn, RunError, Writer, run_directed,
};

/// An application of these clients.
struct Tiny(&'static [Client]);

type Client = fn(&mut dyn Db) -> Result<(), DbError>;

impl App for Tiny {
    fn name(&self) -> &'static str {
        "tiny"
    }

    fn assertion(&self) -> &'static str {
        "nothing"
    }

    fn load(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    fn clients(&self) -> usize {
        self.0.len()
    }

    fn run(&self, client: usize, db: &mut dyn Db, _: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        self.0[client](db)
    }

    fn verify(&self, _: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        Ok(Ok(()))
    }
}

/// Writes `value` to all of `keys` in one transaction.
fn write(db: &mut dyn Db, keys: &[&str], value: i64) -> Result<(), DbError> {
    db.begin()?;
    for key in keys {
        db.write(key, Value::Int(value))?;
    }
    db.commit()
}

/// Reads all of `keys` in one transaction.
fn read(db: &mut dyn Db, keys: &[&str]) -> Result<(), DbError> {
    db.begin()?;
    for key in keys {
        db.read(key)?;
    }
    db.commit()
}

fn planned(session: u32, index: u32, events: Vec<PlannedEvent>) -> PlannedTxn {
    PlannedTxn {
        session,
        index,
        name: None,
        begun: None,
        whole: true,
        needed: true,
        aborted: false,
        events,
    }
}

fn reads(key: &str, from: Option<(u32, u32)>) -> PlannedEvent {
    let from = from.map(|(session, index)| Writer { session, index });
    PlannedEvent::Read { read: key.to_owned(), from }
}

fn writes(key: &str) -> PlannedEvent {
    PlannedEvent::Write { write: key.to_owned() }
}

/// In the observed run the first transaction saw the flag and gave up. The flag is no part of the
/// prediction, so that it would go on now, see x, and the next one could not miss y any more.
#[test]
fn what_aborted_does_not_commit() {
    let app = Tiny(&[
        |db| {
            db.begin()?;
            if db.read("flag")? == Value::Int(1) {
                db.abort();
            } else {
                db.read("x")?;
                match db.commit() {
                    Err(DbError::SerializationFailure) => db.abort(),
                    other => other?,
                }
            }
            read(db, &["y"])
        },
        |db| write(db, &["x", "y"], 1).and_then(|()| write(db, &["flag"], 1)),
    ]);
    let gave_up = PlannedTxn {
        aborted: true,
        whole: false,
        ..planned(0, 0, vec![reads("flag", Some((1, 1)))])
    };
    let plan = [
        gave_up,
        planned(0, 1, vec![reads("y", None)]),
        planned(1, 0, vec![writes("x"), writes("y")]),
    ];
    let directed = run_directed(&app, Level::Causal, &plan).unwrap();
    assert_eq!(directed.departure, None);
}

/// Both readers may end with what they read of x and z, but not if one of them goes on first and
/// commits to an order of the writers.
#[test]
fn what_comes_after_a_boundary_binds_nobody() {
    let app = Tiny(&[
        |db| read(db, &["x", "z"]),
        |db| read(db, &["x", "z"]),
        |db| write(db, &["x", "z"], 1),
        |db| write(db, &["x", "z"], 2),
    ]);
    let boundary = |txn: PlannedTxn| PlannedTxn { whole: false, ..txn };
    let plan = [
        boundary(planned(0, 0, vec![reads("x", Some((2, 0)))])),
        boundary(planned(1, 0, vec![reads("x", Some((3, 0))), reads("z", Some((2, 0)))])),
        planned(2, 0, vec![writes("x"), writes("z")]),
        planned(3, 0, vec![writes("x"), writes("z")]),
    ];
    let directed = run_directed(&app, Level::ReadCommitted, &plan).unwrap();
    assert_eq!(directed.departure, None);
    assert_eq!(directed.is_serializable, Some(false));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let app = Tiny(&[|db| read(db, &["x"]), |db| write(db, &["x"], 1)]);
    let refused = |plan: &[PlannedTxn]| match run_directed(&app, Level::Causal, plan) {
        Err(RunError::Plan(error)) => error,
        _ => panic!("it ran"),
    };
    assert_eq!(refused(&[]), PlanError::Empty);
    assert_eq!(
        refused(&[planned(2, 0, Vec::new())]),
        PlanError::UnknownSession { session: 2, clients: 2 }
    );
    assert!(matches!(
        refused(&[planned(0, 0, Vec::new()), planned(0, 0, Vec::new())]),
        PlanError::Twice(_)
    ));
    let circle = [
        planned(0, 0, vec![reads("x", Some((1, 0)))]),
        planned(1, 0, vec![reads("x", Some((0, 0)))]),
    ];
    assert_eq!(refused(&circle), PlanError::Circle);
}

/// Two clients who count up, and what must hold in the end: nothing is lost.
struct Counters {
    /// Whether the second client never comes to its end.
    is_endless: bool,
}

impl App for Counters {
    fn name(&self) -> &'static str {
        "counters"
    }

    fn assertion(&self) -> &'static str {
        "every increment counts"
    }

    fn load(&self) -> Vec<(String, Value)> {
        vec![("x".to_owned(), Value::Int(0))]
    }

    fn clients(&self) -> usize {
        2
    }

    fn run(&self, client: usize, db: &mut dyn Db, _: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        loop {
            db.begin()?;
            let Value::Int(seen) = db.read("x")? else { panic!("x holds a number") };
            db.write("x", Value::Int(seen + 1))?;
            db.commit()?;
            if client == 0 || !self.is_endless {
                return Ok(());
            }
        }
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        db.begin()?;
        let found = db.read("x")?;
        db.commit()?;
        Ok(if found == Value::Int(2) { Ok(()) } else { Err(format!("x holds {found}")) })
    }
}

/// The first client counts, the second reads from `from` and counts.
fn counting(from: Option<(u32, u32)>) -> Vec<PlannedTxn> {
    let count = |session, from, name: &str| PlannedTxn {
        name: Some(name.to_owned()),
        ..planned(session, 0, vec![reads("x", from), writes("x")])
    };
    vec![count(0, None, "7"), count(1, from, "late")]
}

#[test]
fn the_assertion_is_asked_when_all_clients_have_come_to_their_ends() {
    let counters = Counters { is_endless: false };
    let lost = run_directed(&counters, Level::Causal, &counting(None)).unwrap();
    assert_eq!(lost.is_serializable, Some(false));
    assert_eq!(lost.assertion, Assertion::Broke("x holds 1".to_owned()));
    let fine = run_directed(&counters, Level::Causal, &counting(Some((0, 0)))).unwrap();
    assert_eq!(fine.assertion, Assertion::Held);
    // Only the first is predicted; the second goes on with the latest version.
    let first = run_directed(&counters, Level::Causal, &counting(None)[..1]).unwrap();
    assert_eq!((first.assertion, first.history.txn_count()), (Assertion::Held, 1));
}

#[test]
fn the_assertion_is_not_known_of_a_client_without_end() {
    let counters = Counters { is_endless: true };
    let run = run_directed(&counters, Level::Causal, &counting(None)).unwrap();
    assert_eq!(run.departure, None);
    let Assertion::Unknown(why) = run.assertion else { panic!("{:?}", run.assertion) };
    assert_eq!(why, "client 1 did not come to its end after the predicted part");
}

#[test]
fn transactions_are_called_as_in_the_prediction() {
    let counters = Counters { is_endless: false };
    let run = run_directed(&counters, Level::Causal, &counting(None)).unwrap();
    let names: Vec<String> = run.history.txns().map(|txn| run.history.txn_label(txn)).collect();
    assert_eq!(names, ["t7", "late"]);
}
