//! Propose a history, ask the serializability checker, learn from the order that it finds.
//!
//! A proposal is a model of the formula: within the boundary, allowed by the level, and not serialized by any version order that is
//! known so far. If the checker finds an order that serializes it, its version order becomes known; so each round rules out all
//! histories of at least one more version order, of which there are finitely many. When the formula has no model, none exists.
//!
//! What all commit orders have in common (`pco`) mostly settles a proposal: a cycle in it refutes serializability, and an order that
//! extends it mostly serializes the history. Only in between the checker is asked. Mode *approx* takes nothing but proposals with such a
//! cycle and passes over others.

use crate::encode::{Assignment, Encoding, SIZES_MAX};
use crate::formula::Solved;
use crate::pco::{self, Common};
use crate::problem::Problem;
use crate::reduced::{self, Serial};
use crate::{Effort, Mode};
use std::time::Instant;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// There is nothing else to be found.
    Exhausted,
    /// Whoever was told of a find wanted no more.
    Stopped,
    OutOfTime,
}

/// What to do after a find.
pub(crate) enum Next {
    Stop,
    /// Go on without histories in which all of these reads have these writers.
    Without(Vec<(usize, Option<u32>)>),
    /// Go on without this very history.
    Another,
}

/// Looks for histories, those with small cycles first, and tells `found` of each.
pub(crate) fn search(
    problem: &Problem,
    mode: Mode,
    deadline: Option<Instant>,
    effort: &mut Effort,
    found: &mut dyn FnMut(&Assignment) -> Next,
) -> Ended {
    let mut encoding = Encoding::new(problem, deadline);
    let mut sizes = (2..SIZES_MAX.min(problem.nodes.len())).map(Some).chain([None]);
    let mut size = sizes.next().flatten();
    let ended = loop {
        match encoding.solve(size) {
            Solved::OutOfTime => break Ended::OutOfTime,
            Solved::None if size.is_none() => break Ended::Exhausted,
            Solved::None => {
                size = sizes.next().flatten();
                continue;
            }
            Solved::Model => {}
        }
        effort.proposals += 1;
        let proposal = encoding.assignment();
        match judge(problem, &proposal, mode, deadline) {
            Judged::Unserializable => match found(&proposal) {
                Next::Stop => break Ended::Stopped,
                Next::Without(facts) => encoding.forbid(&facts),
                Next::Another => encoding.forbid_assignment(&proposal),
            },
            Judged::Serializable(order) => {
                effort.version_orders += 1;
                encoding.must_be_cyclic(&places(problem, &order));
            }
            Judged::PassedOver => encoding.forbid_assignment(&proposal),
            Judged::OutOfTime => break Ended::OutOfTime,
        }
    };
    effort.add(encoding.effort());
    ended
}

enum Judged {
    Unserializable,
    Serializable(Vec<u32>),
    /// Unserializable, but not for a reason that mode *approx* sees.
    PassedOver,
    OutOfTime,
}

fn judge(problem: &Problem, proposal: &Assignment, mode: Mode, deadline: Option<Instant>) -> Judged {
    match pco::common(problem, proposal) {
        Common::Cyclic => Judged::Unserializable,
        Common::Order(order) if pco::serializes(problem, proposal, &order) => Judged::Serializable(order),
        Common::Order(_) => match reduced::serial_order(problem, proposal, deadline) {
            Serial::None if mode == Mode::Approx => Judged::PassedOver,
            Serial::None => Judged::Unserializable,
            Serial::Order(order) => Judged::Serializable(order),
            Serial::OutOfTime => Judged::OutOfTime,
        },
    }
}

/// The place of each transaction in an order that begins with `order`; what is cut follows as observed.
fn places(problem: &Problem, order: &[u32]) -> Vec<u32> {
    let mut ranked: Vec<u32> = (0..problem.nodes.len() as u32).filter(|node| !order.contains(node)).collect();
    ranked.sort_unstable_by_key(|&node| problem.place[node as usize]);
    let mut place = vec![0; problem.nodes.len()];
    for (rank, &node) in order.iter().chain(&ranked).enumerate() {
        place[node as usize] = rank as u32;
    }
    place
}
