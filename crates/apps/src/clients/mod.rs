//! Client programs: sessions of random transactions of an application, for measurements.
//!
//! The kinds of transactions are equally likely, their parameters small, and everything follows from the seed. A table is one cell
//! that holds the keys of its rows, and one cell for each row, as in the evaluation of the explorer's paper (Section 7.2): inserting and
//! deleting rows reads and writes the first, a query reads it and then rows.

mod cart;
mod courseware;
mod tpcc;
mod twitter;
mod wikipedia;

use crate::db::{Db, DbError};
use crate::value::Value;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use seriatim_explore::{Program, Stop, Tx};

/// What a transaction does; `None` takes it back.
type Body = Box<dyn Fn(&mut dyn Db) -> Result<Option<Value>, DbError> + Send + Sync>;

/// A transaction of a client program.
pub(crate) struct Step {
    /// Its kind and parameters, for people.
    name: String,
    body: Body,
}

impl Step {
    fn new(name: String, body: impl Fn(&mut dyn Db) -> Result<Option<Value>, DbError> + Send + Sync + 'static) -> Step {
        Step { name, body: Box::new(body) }
    }
}

/// An application of which client programs can be made.
struct Kind {
    name: &'static str,
    load: fn() -> Vec<(String, Value)>,
    /// A random transaction; the number is different for each transaction of a program.
    step: fn(&mut Dice, usize) -> Step,
}

const KINDS: [Kind; 5] = [
    Kind { name: "cart", load: cart::load, step: cart::step },
    Kind { name: "twitter", load: twitter::load, step: twitter::step },
    Kind { name: "courseware", load: courseware::load, step: courseware::step },
    Kind { name: "wikipedia", load: wikipedia::load, step: wikipedia::step },
    Kind { name: "tpcc", load: tpcc::load, step: tpcc::step },
];

/// The applications of which client programs can be made.
pub fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// Random choices that follow from a seed.
struct Dice(Pcg64Mcg);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    fn from(&mut self, first: i64, last: i64) -> i64 {
        self.0.random_range(first..=last)
    }
}

/// Sessions of random transactions of an application.
pub struct ClientProgram {
    load: Vec<(String, Value)>,
    sessions: Vec<Vec<Step>>,
}

impl ClientProgram {
    /// The program of this seed; `None` if there is no such application. With fewer sessions or transactions it is a part of the
    /// program with more.
    pub fn new(app: &str, seed: u64, sessions: usize, txns: usize) -> Option<ClientProgram> {
        let kind = KINDS.iter().find(|kind| kind.name == app)?;
        let session = |number: usize| {
            let mut dice = Dice(Pcg64Mcg::seed_from_u64(seed * 1000 + number as u64));
            (0..txns).map(|txn| (kind.step)(&mut dice, number * 100 + txn)).collect()
        };
        Some(ClientProgram { load: (kind.load)(), sessions: (0..sessions).map(session).collect() })
    }

    /// What the sessions do, for people: one line each.
    pub fn lines(&self) -> Vec<String> {
        let line = |steps: &Vec<Step>| steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join("; ");
        self.sessions.iter().map(line).collect()
    }

    /// The program, to be explored; the local state of a session is what its transactions returned.
    pub fn program(self) -> Program<Value, Vec<Value>> {
        let mut program = Program::new();
        for (key, value) in self.load {
            program.initial(&key, value);
        }
        for steps in self.sessions {
            let session = program.session();
            for step in steps {
                session.transaction(move |tx, seen: &mut Vec<Value>| run(&step, tx, seen));
            }
        }
        program
    }
}

fn run(step: &Step, tx: &mut Tx<'_, Value>, seen: &mut Vec<Value>) -> Result<(), Stop> {
    let mut inside = Inside { tx, stop: None };
    let result = (step.body)(&mut inside);
    if let Some(stop) = inside.stop {
        return Err(stop);
    }
    match result {
        Ok(Some(value)) => {
            seen.push(value);
            Ok(())
        }
        Ok(None) | Err(_) => tx.abort(),
    }
}

/// The database as the body of a transaction sees it.
struct Inside<'i, 't> {
    tx: &'i mut Tx<'t, Value>,
    stop: Option<Stop>,
}

impl Inside<'_, '_> {
    fn stopped(&mut self, stop: Stop) -> DbError {
        self.stop = Some(stop);
        DbError::Failed("the run ends here".to_owned())
    }
}

impl Db for Inside<'_, '_> {
    fn begin(&mut self) -> Result<(), DbError> {
        Err(DbError::Failed("a transaction is open already".to_owned()))
    }

    fn read(&mut self, key: &str) -> Result<Value, DbError> {
        let value = self.tx.read(key);
        value.map_err(|stop| self.stopped(stop))
    }

    fn write(&mut self, key: &str, value: Value) -> Result<(), DbError> {
        let written = self.tx.write(key, value);
        written.map_err(|stop| self.stopped(stop))
    }

    fn commit(&mut self) -> Result<(), DbError> {
        Err(DbError::Failed("the transaction commits when its body ends".to_owned()))
    }

    fn abort(&mut self) {}
}

/// A row: numbers in columns.
fn row(columns: &[i64]) -> Value {
    Value::List(columns.iter().map(|&number| Value::Int(number)).collect())
}

/// A column of a row; 0 if the row is not there.
fn column(row: &Value, number: usize) -> i64 {
    match row.items().get(number) {
        Some(Value::Int(number)) => *number,
        _ => 0,
    }
}

/// The row with another value in a column.
fn with_column(row: &Value, number: usize, value: i64) -> Value {
    let mut columns = row.items().to_vec();
    if columns.len() <= number {
        columns.resize(number + 1, Value::Int(0));
    }
    columns[number] = Value::Int(value);
    Value::List(columns)
}

/// Adds `by` to a column of the row in `key`; returns the row.
fn add(db: &mut dyn Db, key: &str, number: usize, by: i64) -> Result<Value, DbError> {
    let old = db.read(key)?;
    let new = with_column(&old, number, column(&old, number) + by);
    db.write(key, new.clone())?;
    Ok(new)
}

/// Puts the key of a new row into the cell of its table.
fn insert(db: &mut dyn Db, table: &str, id: Value) -> Result<(), DbError> {
    let rows = db.read(table)?;
    db.write(table, rows.with_new(id))
}
