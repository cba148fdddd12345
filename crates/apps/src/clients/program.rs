//! Client programs for the explorer: sessions of random transactions of an application.
//!
//! Every kind of transaction is equally likely, and parameters are uniform over a few values.

use super::{cart, courseware, tpcc, twitter, wikipedia};
use crate::db::{Db, DbError, Transaction};
use crate::layout::Layout;
use crate::value::Value;
use crate::wikipedia::{Edit, Phase};
use crate::workload::{End, Random};
use std::fmt;

/// Which keys the tables of the applications have: those of the paper. With a key for each cell
/// there are fewer conflicts.
pub const LAYOUT: Layout = Layout::Rows;

/// What a step does.
enum Body {
    One(Box<dyn Transaction>),
    /// Two transactions, or four.
    Edit(Edit),
}

/// A transaction of a client program, or what its user takes for one.
pub struct Step(Body);

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Step")
    }
}

impl Step {
    fn one(transaction: impl Transaction + 'static) -> Step {
        Step(Body::One(Box::new(transaction)))
    }

    /// An edit of Wikipedia.
    pub(super) fn edit(edit: Edit) -> Step {
        Step(Body::Edit(edit))
    }

    /// A transaction of an application that says only whether it wants to commit.
    pub(super) fn silent(
        name: String,
        body: impl Fn(&mut dyn Db) -> Result<End, DbError> + Send + Sync + 'static,
    ) -> Step {
        Step::one(Silent { name, body })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Body::One(transaction) => transaction.fmt(f),
            Body::Edit(edit) => write!(f, "{} edits {}", edit.user, edit.page),
        }
    }
}

/// What a transaction leaves that has nothing to tell.
const DONE: &str = "done";

struct Silent<F> {
    name: String,
    body: F,
}

impl<F> fmt::Display for Silent<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<F> Transaction for Silent<F>
where
    F: Fn(&mut dyn Db) -> Result<End, DbError> + Send + Sync,
{
    fn body(&self, db: &mut dyn Db) -> Result<Option<Value>, DbError> {
        Ok(match (self.body)(db)? {
            End::Commit => Some(DONE.into()),
            End::Abort => None,
        })
    }

    fn answer(&self, left: Option<Value>) -> Value {
        left.unwrap_or(Value::Null)
    }
}

/// An application of which client programs can be made.
struct Drawable {
    name: &'static str,
    load: fn() -> Vec<(String, Value)>,
    step: fn(&mut Random, Slot) -> Step,
}

const DRAWABLE: [Drawable; 5] = [
    Drawable {
        name: "cart",
        load: cart::load,
        step: |random, slot| Step::one(cart::transaction(random, slot)),
    },
    Drawable {
        name: "twitter",
        load: twitter::load,
        step: |random, slot| Step::one(twitter::transaction(random, slot)),
    },
    Drawable {
        name: "courseware",
        load: courseware::load,
        step: |random, slot| Step::one(courseware::transaction(random, slot)),
    },
    Drawable { name: "wikipedia", load: wikipedia::load, step: wikipedia::step },
    Drawable { name: "tpcc", load: tpcc::load, step: tpcc::step },
];

/// The applications of which client programs can be made.
pub fn names() -> impl Iterator<Item = &'static str> {
    DRAWABLE.iter().map(|app| app.name)
}

/// Where a transaction stands in a program.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    session: usize,
    txn: usize,
    /// How many transactions the program has.
    pub total: usize,
}

impl Slot {
    /// A number that no other transaction of the program has.
    pub fn number(self) -> i64 {
        (self.session * 100 + self.txn) as i64
    }

    /// A key that no other transaction of the program has.
    pub fn key(self) -> String {
        format!("{}-{}", self.session, self.txn)
    }
}

/// Sessions of random transactions of an application.
#[derive(Debug)]
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
        let app = DRAWABLE.iter().find(|known| known.name == app)?;
        let session = |session: usize| {
            let mut random = Random::of_seed(seed.wrapping_mul(1000).wrapping_add(session as u64));
            let total = sessions * txns;
            (0..txns).map(|txn| (app.step)(&mut random, Slot { session, txn, total })).collect()
        };
        Some(ClientProgram { load: (app.load)(), sessions: (0..sessions).map(session).collect() })
    }

    /// What the sessions do, for people: one line each.
    pub fn lines(&self) -> Vec<String> {
        let line =
            |steps: &Vec<Step>| steps.iter().map(Step::to_string).collect::<Vec<_>>().join("; ");
        self.sessions.iter().map(line).collect()
    }
}

/// What becomes of a step by one of its transactions.
#[derive(Debug)]
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
        Ok(match &self.0 {
            Body::One(one) => one.body(db)?.map_or(After::Aborted, After::Done),
            Body::Edit(edit) => match edit.transaction(db, phase)? {
                (End::Commit, Some(next)) => After::Next(next),
                (End::Commit, None) => After::Done(DONE.into()),
                (End::Abort, _) => After::Aborted,
            },
        })
    }
}
