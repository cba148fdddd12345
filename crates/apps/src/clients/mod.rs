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
use crate::wikipedia::Edit;
pub use crate::wikipedia::Phase;
use crate::workload::{End, Random};

/// Which keys the tables of the applications have: those of the paper. With a key for each cell
/// there are fewer conflicts.
pub const LAYOUT: Layout = Layout::Rows;

/// What a transaction does; `None` takes it back.
type Single = Box<dyn Fn(&mut dyn Db) -> Result<Option<Value>, DbError> + Send + Sync>;

/// What a step does.
enum Body {
    One(Single),
    /// Two transactions, or four.
    Edit(Edit),
}

/// A transaction of a client program, or what its user takes for one.
pub struct Step {
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
    /// The initial content of the database.
    pub load: Vec<(String, Value)>,
    /// What each session does.
    pub sessions: Vec<Vec<Step>>,
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
}

/// What becomes of a step by one of its transactions.
pub enum After {
    /// It is over; what its user sees.
    Done(Value),
    /// It has another transaction.
    Next(Phase),
    /// The transaction takes itself back, and the step is over.
    Aborted,
}

impl Step {
    /// Does the next transaction of the step.
    pub fn transaction(&self, db: &mut dyn Db, phase: &Phase) -> Result<After, DbError> {
        Ok(match &self.body {
            Body::One(body) => body(db)?.map_or(After::Aborted, After::Done),
            Body::Edit(edit) => match edit.transaction(db, phase)? {
                (End::Commit, Some(next)) => After::Next(next),
                (End::Commit, None) => After::Done(DONE.into()),
                (End::Abort, _) => After::Aborted,
            },
        })
    }
}
