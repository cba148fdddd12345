//! Client programs: sessions of random transactions of an application, as in the evaluation of the
//! explorer's paper (Section 7.2).
//!
//! The transactions are those of the applications; here is only how they are drawn: every kind is
//! equally likely, parameters are uniform over a few values, and everything follows from the seed.

mod cart;
mod courseware;
mod tpcc;
mod twitter;
mod wikipedia;

use crate::db::{Db, DbError};
use crate::tables::Layout;
use crate::value::Value;
use crate::wikipedia::{Edit, Phase};
use crate::workload::{End, Random};
use seriatim_explore::{Program, Stop, Tx};

/// Which keys the tables of the applications have: those of the paper. With a key for each cell
/// there are fewer conflicts.
const LAYOUT: Layout = Layout::Rows;

/// What a transaction does; `None` takes it back.
type Single = Box<dyn Fn(&mut dyn Db) -> Result<Option<Value>, DbError> + Send + Sync>;

/// What a step does.
enum Body {
    One(Single),
    /// Two transactions, or four.
    Edit(Edit),
}

/// A transaction of a client program, or what its user takes for one.
pub(crate) struct Step {
    /// Its kind and parameters, for people.
    name: String,
    body: Body,
}

impl Step {
    /// A transaction of an application that says only whether it wants to commit.
    fn of(
        name: String,
        body: impl Fn(&mut dyn Db) -> Result<End, DbError> + Send + Sync + 'static,
    ) -> Step {
        Step::new(name, move |db| {
            Ok(match body(db)? {
                End::Commit => Some(DONE.into()),
                End::Abort => None,
            })
        })
    }

    fn new(
        name: String,
        body: impl Fn(&mut dyn Db) -> Result<Option<Value>, DbError> + Send + Sync + 'static,
    ) -> Step {
        Step { name, body: Body::One(Box::new(body)) }
    }
}

/// What a transaction returns that has nothing to tell.
const DONE: &str = "done";

/// An application of which client programs can be made.
struct Kind {
    name: &'static str,
    load: fn() -> Vec<(String, Value)>,
    step: fn(&mut Random, Slot) -> Step,
}

/// Where a transaction stands in a program.
#[derive(Clone, Copy)]
struct Slot {
    session: usize,
    txn: usize,
    /// How many transactions the program has.
    total: usize,
}

impl Slot {
    /// A number that no other transaction of the program has.
    fn number(self) -> i64 {
        (self.session * 100 + self.txn) as i64
    }

    /// A key that no other transaction of the program has.
    fn key(self) -> String {
        format!("{}-{}", self.session, self.txn)
    }
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

/// Sessions of random transactions of an application.
pub struct ClientProgram {
    load: Vec<(String, Value)>,
    sessions: Vec<Vec<Step>>,
}

impl ClientProgram {
    /// The program of this seed, with so many steps in each session; `None` if there is no such
    /// application. With fewer sessions or steps it is a part of the program with more. A step is a
    /// transaction; an edit of Wikipedia is two or four.
    pub fn new(app: &str, seed: u64, sessions: usize, txns: usize) -> Option<ClientProgram> {
        let kind = KINDS.iter().find(|kind| kind.name == app)?;
        let session = |session: usize| {
            let mut random = Random::of_seed(seed.wrapping_mul(1000).wrapping_add(session as u64));
            let total = sessions * txns;
            (0..txns).map(|txn| (kind.step)(&mut random, Slot { session, txn, total })).collect()
        };
        Some(ClientProgram { load: (kind.load)(), sessions: (0..sessions).map(session).collect() })
    }

    /// What the sessions do, for people: one line each.
    pub fn lines(&self) -> Vec<String> {
        let line = |steps: &Vec<Step>| {
            steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join("; ")
        };
        self.sessions.iter().map(line).collect()
    }

    /// The program, to be explored.
    pub fn program(self) -> Program<Value, Progress> {
        let mut program = Program::new();
        for (key, value) in self.load {
            program.initial(&key, value);
        }
        for (number, steps) in self.sessions.into_iter().enumerate() {
            let count = steps.len();
            program.steps(
                &format!("s{}", number + 1),
                move |progress: &Progress| progress.done < count,
                move |tx, progress| next_transaction(&steps, tx, progress),
            );
        }
        program
    }
}

/// How far a session has come.
#[derive(Clone, Default, Debug)]
pub struct Progress {
    /// What its transactions returned.
    pub seen: Vec<Value>,
    /// How many steps are over.
    done: usize,
    /// Of the next one, if it has several.
    phase: Phase,
}

impl Progress {
    fn end_step(&mut self) {
        self.done += 1;
        self.phase = Phase::default();
    }
}

/// What becomes of a step by one of its transactions.
enum After {
    Done(Value),
    Next(Phase),
    Aborted,
}

impl Body {
    /// Does the next transaction of a step.
    fn transaction(&self, db: &mut dyn Db, phase: &Phase) -> Result<After, DbError> {
        Ok(match self {
            Body::One(body) => body(db)?.map_or(After::Aborted, After::Done),
            Body::Edit(edit) => match edit.transaction(db, phase)? {
                (End::Commit, Some(next)) => After::Next(next),
                (End::Commit, None) => After::Done(DONE.into()),
                (End::Abort, _) => After::Aborted,
            },
        })
    }
}

fn next_transaction(
    steps: &[Step],
    tx: &mut Tx<'_, Value>,
    progress: &mut Progress,
) -> Result<(), Stop> {
    let mut inside = Inside { tx, stop: None };
    let after = steps[progress.done].body.transaction(&mut inside, &progress.phase);
    if let Some(stop) = inside.stop {
        return Err(stop);
    }
    match after {
        Ok(After::Next(phase)) => {
            progress.phase = phase;
            return Ok(());
        }
        Ok(After::Done(value)) => progress.seen.push(value),
        Ok(After::Aborted) | Err(_) => {
            progress.end_step();
            return tx.abort();
        }
    }
    progress.end_step();
    Ok(())
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

    fn withdraw(&mut self) -> Result<(), DbError> {
        Err(DbError::Failed(
            "the body of a transaction says in the end whether it is taken back".to_owned(),
        ))
    }

    fn layout(&self) -> Layout {
        LAYOUT
    }
}
