//! Propose a history, ask the serializability checker, learn from the order that it finds.
//!
//! A proposal is a model of the formula: within the boundary, allowed by the level, and not
//! serialized by any version order that is known so far. If the checker finds an order that
//! serializes it, its version order becomes known; so each round rules out all histories of at
//! least one more version order, of which there are finitely many. When the formula has no model,
//! none exists.
//!
//! What all commit orders have in common (`pco`) mostly settles a proposal: a cycle in it refutes
//! serializability, and an order that extends it mostly serializes the history. Only in between the
//! checker is asked. Mode *approx* takes nothing but proposals with such a cycle and passes over
//! others. In runs with lists every proposal is a find in both modes, and confirmed or passed over
//! one by one.

use crate::encode::{Assignment, Encoding, SIZES_MAX, Wishes};
use crate::formula::Solved;
use crate::pco::{self, Common};
use crate::problem::Problem;
use crate::question::{Boundary, Effort, Mode};
use crate::reduced::{self, Serial};
use std::time::Instant;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// There is nothing else to be found.
    Exhausted,
    /// The caller, who was told of a find, wanted no more.
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

/// Which histories come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// Those with small cycles.
    Small,
    /// Those that are likely to come true, and among them those with small cycles.
    Likely,
}

/// Which histories are looked for at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those that can go on.
    Settled,
    /// All, those that can go on first.
    All,
}

/// Looks for histories, and tells `found` of each.
pub(crate) fn search(
    problem: &Problem,
    (mode, first, reach): (Mode, First, Reach),
    deadline: Option<Instant>,
    effort: &mut Effort,
    found: &mut dyn FnMut(&Assignment) -> Next,
) -> Ended {
    let mut search = PredictionSearch {
        problem,
        mode,
        deadline,
        encoding: Encoding::new(problem, deadline),
        effort,
    };
    let ended = search.run((first, reach), found);
    search.effort.add(search.encoding.effort());
    ended
}

struct PredictionSearch<'a> {
    problem: &'a Problem,
    mode: Mode,
    deadline: Option<Instant>,
    encoding: Encoding<'a>,
    effort: &'a mut Effort,
}

/// What became of a proposal.
enum Proposed {
    Prediction(Assignment),
    /// The formula has become stronger: try again.
    Nothing,
    Exhausted,
    OutOfTime,
}

impl PredictionSearch<'_> {
    fn run(&mut self, which: (First, Reach), found: &mut dyn FnMut(&Assignment) -> Next) -> Ended {
        for wishes in self.stages(which) {
            loop {
                let prediction = match self.propose(&wishes) {
                    Proposed::Nothing => continue,
                    Proposed::OutOfTime => return Ended::OutOfTime,
                    Proposed::Exhausted => break,
                    Proposed::Prediction(first) => {
                        let smaller = self.smaller(&wishes, first);
                        self.longer(&wishes, smaller)
                    }
                };
                match found(&prediction) {
                    Next::Stop => return Ended::Stopped,
                    Next::Without(facts) => self.encoding.forbid(&facts),
                    Next::Another => self.encoding.forbid_assignment(&prediction),
                }
            }
        }
        Ended::Exhausted
    }

    /// What to look for, one after the other. A prediction comes true unless the application goes
    /// another way because of what it reads. Mostly it asks whether there is something, so reads
    /// that find nothing instead of something, or the reverse, come last; so do predictions that
    /// rest on what a transaction reads after it has read something else. Under the strict boundary
    /// only a transaction that aborts is in the way; those that write nothing have little reason
    /// to, so their reads are changed first. After all of these come those that cannot go on: a
    /// transaction is cut although all its reads are as observed, or the level does not allow what
    /// it was observed to write after its boundary.
    fn stages(&self, (first, reach): (First, Reach)) -> Vec<Wishes> {
        let problem = self.problem;
        let of_writers = match problem.boundary {
            Boundary::Strict => Some(self.reads_of_writers()),
            Boundary::Relaxed => None,
        };
        let kinds: Vec<Vec<usize>> = of_writers.into_iter().chain([Vec::new()]).collect();
        let calm = [true, false];
        let is_wide = problem.boundary == Boundary::Strict && reach == Reach::All;
        let sizes: Vec<Option<usize>> =
            (2..SIZES_MAX.min(problem.nodes.len())).map(Some).chain([None]).collect();
        let stages = |size: Option<usize>, calm: bool, settled: bool| {
            kinds.iter().map(move |as_observed| Wishes {
                size,
                settled,
                calm,
                as_observed: as_observed.clone(),
                ..Wishes::default()
            })
        };
        let settled: Vec<Wishes> = match first {
            First::Small => sizes
                .iter()
                .flat_map(|&size| calm.iter().flat_map(move |&calm| stages(size, calm, true)))
                .collect(),
            First::Likely => calm
                .iter()
                .flat_map(|&calm| sizes.iter().flat_map(move |&size| stages(size, calm, true)))
                .collect(),
        };
        let wide = sizes.iter().filter(|_| is_wide).flat_map(|&size| stages(size, false, false));
        settled.into_iter().chain(wide).collect()
    }

    fn reads_of_writers(&self) -> Vec<usize> {
        let problem = self.problem;
        let mut writes = vec![false; problem.nodes.len()];
        for &(writer, _) in problem.classes.iter().flat_map(|class| &class.writers) {
            writes[writer as usize] = true;
        }
        (0..problem.reads.len()).filter(|&read| writes[problem.reads[read].node as usize]).collect()
    }

    fn propose(&mut self, wishes: &Wishes) -> Proposed {
        match self.encoding.solve(wishes) {
            Solved::OutOfTime => return Proposed::OutOfTime,
            Solved::None => return Proposed::Exhausted,
            Solved::Model => self.effort.proposals += 1,
        }
        let proposal = self.encoding.assignment();
        match judge(self.problem, &proposal, self.mode, self.deadline) {
            Judged::Unserializable => return Proposed::Prediction(proposal),
            Judged::Serializable(order) => {
                self.effort.version_orders += 1;
                self.encoding.must_be_cyclic(&places(self.problem, &order));
            }
            Judged::PassedOver => self.encoding.forbid_assignment(&proposal),
            Judged::OutOfTime => return Proposed::OutOfTime,
        }
        Proposed::Nothing
    }

    /// A prediction of which no read can have its observed writer again, found by trying each once.
    fn smaller(&mut self, wishes: &Wishes, mut prediction: Assignment) -> Assignment {
        let all = 0..self.problem.reads.len();
        let mut needed: Vec<usize> = Vec::new();
        loop {
            let changed = prediction.changed(self.problem);
            let Some(&tried) = changed.iter().find(|read| !needed.contains(read)) else {
                return prediction;
            };
            let as_observed =
                all.clone().filter(|read| *read == tried || !changed.contains(read)).collect();
            match self.propose(&Wishes { as_observed, ..wishes.clone() }) {
                Proposed::Prediction(smaller) => prediction = smaller,
                Proposed::Nothing | Proposed::Exhausted => needed.push(tried),
                Proposed::OutOfTime => return prediction,
            }
        }
    }

    /// The same prediction with sessions as long as they can be: what need not be cut is not.
    fn longer(&mut self, wishes: &Wishes, mut prediction: Assignment) -> Assignment {
        let changed = prediction.changed(self.problem);
        let as_observed: Vec<usize> =
            (0..self.problem.reads.len()).filter(|read| !changed.contains(read)).collect();
        let mut given_up: Vec<u32> =
            changed.iter().map(|&read| self.session(self.problem.reads[read].node)).collect();
        loop {
            let ends = prediction.ends(self.problem);
            let Some(&next) = ends.next.iter().find(|end| !given_up.contains(&self.session(end.0)))
            else {
                return prediction;
            };
            let kept = ends.last.into_iter().chain([next]).collect();
            match self.propose(&Wishes {
                size: None,
                as_observed: as_observed.clone(),
                kept,
                ..wishes.clone()
            }) {
                Proposed::Prediction(longer) if longer.changed(self.problem) == changed => {
                    prediction = longer
                }
                Proposed::OutOfTime => return prediction,
                _ => given_up.push(self.session(next.0)),
            }
        }
    }

    fn session(&self, node: u32) -> u32 {
        self.problem.nodes[node as usize].session
    }
}

enum Judged {
    Unserializable,
    Serializable(Vec<u32>),
    /// Unserializable, but not for a reason that mode *approx* sees.
    PassedOver,
    OutOfTime,
}

fn judge(
    problem: &Problem,
    proposal: &Assignment,
    mode: Mode,
    deadline: Option<Instant>,
) -> Judged {
    // The versions of a list stay in the observed order, and for that the formula has a cycle. What
    // another order of registers would serialize is sorted out when it is confirmed.
    if problem.has_lists {
        return Judged::Unserializable;
    }
    match pco::common(problem, proposal) {
        Common::Cyclic => Judged::Unserializable,
        Common::Order(order) if pco::serializes(problem, proposal, &order) => {
            Judged::Serializable(order)
        }
        Common::Order(_) => match reduced::serial_order(problem, proposal, deadline) {
            Serial::None if mode == Mode::Approx => Judged::PassedOver,
            Serial::None => Judged::Unserializable,
            Serial::Order(order) => Judged::Serializable(order),
            Serial::OutOfTime => Judged::OutOfTime,
        },
    }
}

/// The place of each transaction in an order that begins with `order`; what is cut follows as
/// observed.
fn places(problem: &Problem, order: &[u32]) -> Vec<u32> {
    let mut ranked: Vec<u32> =
        (0..problem.nodes.len() as u32).filter(|node| !order.contains(node)).collect();
    ranked.sort_unstable_by_key(|&node| problem.place[node as usize]);
    let mut place = vec![0; problem.nodes.len()];
    for (rank, &node) in order.iter().chain(&ranked).enumerate() {
        place[node as usize] = rank as u32;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Options;
    use crate::run::Run;
    use seriatim_history::{TxnId, notation};
    use seriatim_isolation::Level;

    /// Two keys with two writers each, and each of the four ways to order them closes a cycle,
    /// though nothing is forced: what all commit orders have in common has no cycle.
    #[test]
    fn only_mode_exact_sees_a_contradiction_that_needs_a_case_distinction() {
        let history = notation::parse(
            "a: w(x0,p) w(p0,1)\nb: w(x0,q) w(q0,1)\nc: w(x1,p) w(p1,1)\nd: w(x1,q) w(q1,1)\n\
             e: r(x1,p) r(p0,1) r(q0,1)\nf: r(x1,q) r(p0,1) r(q0,1)\n\
             g: r(x0,p) r(p1,1) r(q1,1)\nh: r(x0,q) r(p1,1) r(q1,1)",
        )
        .unwrap();
        let order: Vec<TxnId> = history.txns().collect();
        let run = Run::new(&history, &order).unwrap();
        let problem = Problem::new(
            &run,
            &Options { boundary: Boundary::Relaxed, ..Options::new(Level::Causal) },
        );
        let kept = problem.nodes.iter().map(|node| node.slots.len() as u32).collect();
        let source = problem.reads.iter().map(|read| Some(read.observed)).collect();
        let proposal = Assignment { kept, source };
        assert!(matches!(judge(&problem, &proposal, Mode::Exact, None), Judged::Unserializable));
        assert!(matches!(judge(&problem, &proposal, Mode::Approx, None), Judged::PassedOver));
    }
}
