//! Clients drawn by chance for the assertions of the small applications: how good a chooser is
//! shows on clients for which nobody made it.
//!
//! Three clients do three operations each, of those that the assertion is about. Students and
//! courses are there from the beginning for half of the clients of courseware; the others register
//! and create the course first.

use crate::app::App;
use crate::db::{Db, DbError};
use crate::harness::Operation;
use crate::value::Value;
use crate::{APPS, cart, courseware, stack, twitter};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const CLIENTS: usize = 3;
const OPERATIONS: usize = 3;

type Programs<O> = Vec<Vec<O>>;

#[derive(Debug)]
enum Clients {
    Stack(Programs<stack::Op>),
    Overflow(Programs<courseware::Op>),
    Removed(Programs<courseware::Op>),
    Cart(Programs<cart::Op>),
    Twitter(Programs<twitter::Op>),
}

/// Clients of one of [`APPS`], with its assertion.
#[derive(Debug)]
pub struct Drawn {
    app: usize,
    load: Vec<(String, Value)>,
    clients: Clients,
}

fn programs<O>(mut operation: impl FnMut(usize, usize) -> O) -> Programs<O> {
    (0..CLIENTS)
        .map(|client| (0..OPERATIONS).map(|number| operation(client, number)).collect())
        .collect()
}

/// Clients of courseware who have to register, and of whom one has to create the course, if nothing
/// is there yet.
fn prepared(is_empty: bool, mut programs: Programs<courseware::Op>) -> Programs<courseware::Op> {
    if is_empty {
        for (client, operations) in programs.iter_mut().enumerate() {
            operations.splice(0..0, courseware::Op::preparing(client));
        }
    }
    programs
}

impl Drawn {
    /// Clients of number `app` in [`APPS`]; the same seed gives the same ones.
    pub fn new(app: usize, seed: u64) -> Drawn {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let is_empty = random.random_bool(0.5);
        // Where the one thing happens that happens once.
        let (once_client, once) =
            (random.random_range(0..CLIENTS), random.random_range(0..OPERATIONS));
        let unique = |client, number| (client * OPERATIONS + number) as i64 + 1;
        let clients = match app {
            0 => Clients::Stack(programs(|client, number| {
                stack::Op::random(&mut random, unique(client, number))
            })),
            1 => Clients::Overflow(prepared(
                is_empty,
                programs(|client, _| courseware::Op::of_overflow(&mut random, client)),
            )),
            2 => Clients::Removed(prepared(
                is_empty,
                programs(|client, _| courseware::Op::of_removal(&mut random, client)),
            )),
            3 => Clients::Cart(programs(|client, number| {
                match (client, number) == (once_client, once) {
                    true => cart::Op::ADD,
                    false => cart::Op::of_return(&mut random),
                }
            })),
            _ => Clients::Twitter(programs(|client, number| {
                twitter::Op::of_missing(&mut random, client, number, once, unique(client, number))
            })),
        };
        let load = match app {
            1 | 2 if is_empty => courseware::nothing_loaded(),
            _ => APPS[app].load(),
        };
        Drawn { app, load, clients }
    }
}

/// Operations of all clients with what they got to see.
fn answered<'a, O>(
    programs: &'a Programs<O>,
    seen: &'a [Vec<Value>],
) -> impl Iterator<Item = (&'a O, &'a Value)> {
    programs.iter().zip(seen).flat_map(|(operations, answers)| operations.iter().zip(answers))
}

impl App for Drawn {
    fn name(&self) -> &'static str {
        APPS[self.app].name()
    }

    fn assertion(&self) -> &'static str {
        APPS[self.app].assertion()
    }

    fn load(&self) -> Vec<(String, Value)> {
        self.load.clone()
    }

    fn clients(&self) -> usize {
        CLIENTS
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        fn all<O: Operation>(
            operations: &[O],
            db: &mut dyn Db,
            see: &mut dyn FnMut(Value),
        ) -> Result<(), DbError> {
            operations.iter().try_for_each(|operation| operation.run(db).map(&mut *see))
        }
        match &self.clients {
            Clients::Stack(programs) => all(&programs[client], db, see),
            Clients::Overflow(programs) | Clients::Removed(programs) => {
                all(&programs[client], db, see)
            }
            Clients::Cart(programs) => all(&programs[client], db, see),
            Clients::Twitter(programs) => all(&programs[client], db, see),
        }
    }

    fn verify(&self, seen: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        Ok(match &self.clients {
            Clients::Stack(programs) => stack::pops_once(answered(programs, seen)),
            Clients::Overflow(programs) => courseware::is_not_overfull(answered(programs, seen)),
            Clients::Removed(_) => return courseware::has_no_stray_enrolments(db),
            Clients::Cart(programs) => (0..CLIENTS).try_for_each(|client| {
                cart::stays_away(programs[client].iter().zip(&seen[client]))
            }),
            Clients::Twitter(programs) => {
                let of =
                    |client: usize| programs[client].iter().zip(&seen[client]).collect::<Vec<_>>();
                twitter::misses_nothing(&of(1), &of(2))
            }
        })
    }
}
