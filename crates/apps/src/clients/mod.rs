//! Random clients of the applications: everything follows from the seed.
//!
//! What clients do are the operations of the applications. How these are drawn is in one file an
//! application, for three purposes:
//!
//! - [`Clients::anything`]: clients that may do anything, to see how much of what can happen does
//!   happen,
//! - [`Clients::asserted`]: clients that do what an assertion is about, to compare choosers that
//!   were not made for them,
//! - [`ClientProgram`]: sessions of transactions to explore, as in the evaluation of the explorer's
//!   paper (Section 7.2).

mod asserted;
mod cart;
mod courseware;
mod program;
mod stack;
mod tpcc;
mod twitter;
mod wikipedia;

pub use crate::wikipedia::Phase;
pub use program::{After, ClientProgram, LAYOUT, Step, names};

use crate::app::App;
use crate::db::{Db, DbError, Operation};
use crate::small::SmallApp;
use crate::value::Value;
use crate::workload::Random;
use program::Slot;
use std::fmt;

/// Whether what the users saw, and what is in the database at the end, is right.
type Judge = Box<dyn Fn(&[Vec<Value>], &mut dyn Db) -> Judgement + Send + Sync>;
type Judgement = Result<Result<(), String>, DbError>;

/// Clients of a small application that each do a few operations.
pub struct Clients {
    app: &'static dyn App,
    assertion: &'static str,
    load: Vec<(String, Value)>,
    clients: Vec<Vec<Box<dyn Operation>>>,
    judge: Judge,
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clients({} of {})", self.clients.len(), self.app.name())
    }
}

/// The applications whose clients do anything.
const ANYTHING: [SmallApp; 4] =
    [SmallApp::Stack, SmallApp::Overflow, SmallApp::Cart, SmallApp::Twitter];

impl Clients {
    /// Two or three clients that each do two to four operations, and may do anything. Seeds one
    /// after another go round the applications.
    pub fn anything(seed: u64) -> Clients {
        let mut random = Random::of_seed(seed);
        let which = ANYTHING[seed as usize % ANYTHING.len()];
        let mut unique = 0;
        let mut operation = |random: &mut Random| -> Box<dyn Operation> {
            unique += 1;
            match which {
                SmallApp::Stack => Box::new(stack::anything(random, unique)),
                SmallApp::Overflow | SmallApp::RemovedCourse => {
                    Box::new(courseware::anything(random))
                }
                SmallApp::Cart => Box::new(cart::anything(random)),
                SmallApp::Twitter => Box::new(twitter::anything(random, unique)),
            }
        };
        let clients = (0..random.few(2, 3))
            .map(|_| (0..random.few(2, 4)).map(|_| operation(&mut random)).collect())
            .collect();
        let app = which.app();
        let judge: Judge = Box::new(|_, _| Ok(Ok(())));
        Clients { app, assertion: "nothing in particular", load: app.load(), clients, judge }
    }
}

impl App for Clients {
    fn name(&self) -> &'static str {
        self.app.name()
    }

    fn assertion(&self) -> &'static str {
        self.assertion
    }

    fn load(&self) -> Vec<(String, Value)> {
        self.load.clone()
    }

    fn clients(&self) -> usize {
        self.clients.len()
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        self.clients[client].iter().try_for_each(|operation| operation.run(db).map(&mut *see))
    }

    fn verify(&self, seen: &[Vec<Value>], db: &mut dyn Db) -> Judgement {
        (self.judge)(seen, db)
    }
}
