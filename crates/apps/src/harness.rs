//! Random clients of the small applications, to see how much of what can happen does happen.

use crate::app::App;
use crate::db::{Db, DbError};
use crate::value::Value;
use crate::{APPS, cart, courseware, stack, twitter};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt;

/// Something that a client does, as one or several transactions.
pub(crate) trait Operation: Send + Sync + fmt::Debug {
    /// Does it; what the client gets to see.
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError>;
}

/// Two or three clients who each do two to four random operations of one application.
#[derive(Debug)]
pub struct Harness {
    app: usize,
    clients: Vec<Vec<Box<dyn Operation>>>,
}

/// The applications, as places in [`APPS`], whose clients are made.
const KINDS: [usize; 4] = [0, 1, 3, 4];

impl Harness {
    /// The same seed gives the same clients; seeds one after another go round the applications.
    pub fn random(seed: u64) -> Harness {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let app = KINDS[seed as usize % KINDS.len()];
        let mut unique = 0;
        let mut operation = |random: &mut Pcg64Mcg| -> Box<dyn Operation> {
            unique += 1;
            match app {
                0 => Box::new(stack::Op::random(random, unique)),
                1 => Box::new(courseware::Op::random(random)),
                3 => Box::new(cart::Op::random(random)),
                _ => Box::new(twitter::Op::random(random, unique)),
            }
        };
        let clients = (0..random.random_range(2..=3))
            .map(|_| (0..random.random_range(2..=4)).map(|_| operation(&mut random)).collect())
            .collect();
        Harness { app, clients }
    }
}

impl App for Harness {
    fn name(&self) -> &'static str {
        APPS[self.app].name()
    }

    fn assertion(&self) -> &'static str {
        "nothing in particular"
    }

    fn load(&self) -> Vec<(String, Value)> {
        APPS[self.app].load()
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

    fn verify(&self, _: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        Ok(Ok(()))
    }
}
