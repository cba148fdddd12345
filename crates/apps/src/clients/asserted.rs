//! Clients drawn by chance for the assertions of the small applications: how good a chooser is
//! shows on clients for which it was not made.
//!
//! Three clients do three operations each, of those that the assertion is about. Students and
//! courses are there from the beginning for half of the clients of courseware; the others register
//! and create the course first.

use super::{Clients, Judge, Judgement, cart, courseware, stack, twitter};
use crate::db::{Db, Operation};
use crate::small::SmallApp;
use crate::value::Value;
use crate::workload::Random;

const CLIENTS: usize = 3;
const OPERATIONS: usize = 3;

/// What each client does.
type Programs<O> = Vec<Vec<O>>;

impl Clients {
    /// Clients for the assertion of an application.
    pub fn asserted(which: SmallApp, seed: u64) -> Clients {
        let mut random = Random::of_seed(seed);
        let is_empty = random.coin();
        // Where the one thing happens that happens once.
        let once = (random.index(CLIENTS), random.index(OPERATIONS));
        let unique = |client, number| (client * OPERATIONS + number) as i64 + 1;
        let (clients, judge) = match which {
            SmallApp::Stack => judged(
                programs(|at| stack::anything(&mut random, unique(at.0, at.1))),
                |all, seen, _| Ok(crate::stack::pops_once(answered(all, seen))),
            ),
            SmallApp::Overflow => judged(
                prepared(is_empty, programs(|at| courseware::overfilling(&mut random, at.0))),
                |all, seen, _| Ok(crate::courseware::is_not_overfull(answered(all, seen))),
            ),
            SmallApp::RemovedCourse => judged(
                prepared(is_empty, programs(|at| courseware::removing(&mut random, at.0))),
                |_, _, db| crate::courseware::has_no_stray_enrolments(db),
            ),
            SmallApp::Cart => judged(
                programs(|at| match at == once {
                    true => crate::cart::Op::add(crate::cart::ITEM),
                    false => cart::not_adding(&mut random),
                }),
                |all, seen, _| {
                    let mut each = all.iter().zip(seen);
                    Ok(each
                        .try_for_each(|(one, seen)| crate::cart::stays_away(one.iter().zip(seen))))
                },
            ),
            SmallApp::Twitter => judged(
                programs(|at| twitter::missing(&mut random, at, once.1, unique(at.0, at.1))),
                |all, seen, _| {
                    let of = |client: usize| -> Vec<_> {
                        all[client].iter().zip(&seen[client]).collect()
                    };
                    Ok(crate::twitter::misses_nothing(&of(1), &of(2)))
                },
            ),
        };
        let app = which.app();
        let load = match which {
            SmallApp::Overflow | SmallApp::RemovedCourse if is_empty => courseware::empty(),
            _ => app.load(),
        };
        Clients { app, assertion: app.assertion(), load, clients, judge }
    }
}

/// Draws what each client does, by the numbers of client and operation.
fn programs<O>(mut operation: impl FnMut((usize, usize)) -> O) -> Programs<O> {
    (0..CLIENTS)
        .map(|client| (0..OPERATIONS).map(|number| operation((client, number))).collect())
        .collect()
}

/// Clients of courseware that have to register, and one of which has to create the course, if
/// nothing is there yet.
fn prepared(
    is_empty: bool,
    mut programs: Programs<crate::courseware::Op>,
) -> Programs<crate::courseware::Op> {
    if is_empty {
        for (client, operations) in programs.iter_mut().enumerate() {
            operations.splice(0..0, courseware::preparing(client));
        }
    }
    programs
}

/// The programs as operations, and what judges their answers.
fn judged<O: Operation + Clone + 'static>(
    programs: Programs<O>,
    judge: impl Fn(&Programs<O>, &[Vec<Value>], &mut dyn Db) -> Judgement + Send + Sync + 'static,
) -> (Vec<Vec<Box<dyn Operation>>>, Judge) {
    let boxed = |operations: &Vec<O>| -> Vec<Box<dyn Operation>> {
        operations.iter().map(|one| Box::new(one.clone()) as Box<dyn Operation>).collect()
    };
    let clients = programs.iter().map(boxed).collect();
    (clients, Box::new(move |seen, db| judge(&programs, seen, db)))
}

/// Operations of all clients with what they got to see.
fn answered<'a, O>(
    programs: &'a Programs<O>,
    seen: &'a [Vec<Value>],
) -> impl Iterator<Item = (&'a O, &'a Value)> {
    programs.iter().zip(seen).flat_map(|(operations, answers)| operations.iter().zip(answers))
}
