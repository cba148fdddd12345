//! Deciding an instance: saturate, try what is open, then split into cases.
//!
//! Saturation refutes nearly everything. Where it does not, one order of two writers (or one source
//! of a read) is supposed and saturated; a contradiction refutes it, and its opposite is known with
//! that contradiction as its reason. Where that is not enough either, the supposed case is decided
//! completely, by the same means. This ends: each case knows more.

use super::budget::{Budget, Exhausted};
use super::ids::{LocalRead, LocalTxn};
use super::instance::Source;
use super::path::Preference;
use super::proof::{Cycle, as_conclusion};
use super::state::Saturation;
use seriatim_history::KeyId;

/// How deeply cases may be nested.
const DEPTH_MAX: usize = 40;

/// Something that is open.
enum Question {
    Order(LocalTxn, LocalTxn, KeyId),
    Origin(LocalRead, Source),
}

impl Question {
    fn suppose<'i>(
        &self,
        state: &Saturation<'i>,
        budget: &mut Budget,
    ) -> Result<Saturation<'i>, Exhausted> {
        match *self {
            Question::Order(earlier, later, key) => {
                state.suppose_order(earlier, later, key, budget)
            }
            Question::Origin(read, source) => state.suppose_origin(read, source, budget),
        }
    }

    fn is_opposite(&self, other: &Question) -> bool {
        match (self, other) {
            (Question::Order(a, b, _), Question::Order(c, d, _)) => (a, b) == (d, c),
            _ => false,
        }
    }

    fn refute(
        &self,
        state: &mut Saturation<'_>,
        cycle: Cycle,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        match *self {
            Question::Order(earlier, later, key) => {
                state.conclude_order(later, earlier, key, cycle, budget)
            }
            Question::Origin(read, source) => state.exclude(read, source, cycle, budget),
        }
    }
}

/// The contradiction in `state`, or `None` if there is none.
pub(super) fn solve(
    state: Saturation<'_>,
    budget: &mut Budget,
) -> Result<Option<Cycle>, Exhausted> {
    solve_case(state, Preference::Short, 0, budget)
}

fn solve_case(
    mut state: Saturation<'_>,
    preference: Preference,
    depth: usize,
    budget: &mut Budget,
) -> Result<Option<Cycle>, Exhausted> {
    loop {
        if let Some(cycle) = state.saturate(preference, budget)? {
            return Ok(Some(cycle));
        }
        if probe(&mut state, budget)? {
            continue;
        }
        let Some(question) = questions(&state, budget)?.into_iter().next() else { return Ok(None) };
        if depth == DEPTH_MAX {
            return Err(Exhausted);
        }
        match solve_case(question.suppose(&state, budget)?, Preference::Simple, depth + 1, budget)?
        {
            Some(cycle) => question.refute(&mut state, cycle, budget)?,
            None => return Ok(None),
        }
    }
}

/// Supposes each open possibility by itself; whether something was learnt. If both orders of two
/// writers are refuted, one of the refutations is taken as a conclusion; the other one is then the
/// contradiction.
fn probe(state: &mut Saturation<'_>, budget: &mut Budget) -> Result<bool, Exhausted> {
    let mut refuted: Vec<(Question, Cycle)> = Vec::new();
    for question in questions(state, budget)? {
        let Some(cycle) = question.suppose(state, budget)?.saturate(Preference::Simple, budget)?
        else {
            continue;
        };
        match refuted.iter().position(|(other, _)| question.is_opposite(other)) {
            Some(at) if as_conclusion(&cycle) < as_conclusion(&refuted[at].1) => {
                refuted[at] = (question, cycle)
            }
            Some(_) => {}
            None => refuted.push((question, cycle)),
        }
    }
    let learnt = !refuted.is_empty();
    for (question, cycle) in refuted {
        question.refute(state, cycle, budget)?;
    }
    Ok(learnt)
}

/// Everything that is open, sources first: they decide more.
fn questions(state: &Saturation<'_>, budget: &mut Budget) -> Result<Vec<Question>, Exhausted> {
    let reads = state.open_reads().into_iter();
    let origins = reads.flat_map(|(read, left)| {
        left.into_iter().map(move |source| Question::Origin(read, source))
    });
    let pairs = state.open_pairs(budget)?.into_iter();
    let orders =
        pairs.flat_map(|(a, b, key)| [Question::Order(a, b, key), Question::Order(b, a, key)]);
    Ok(origins.chain(orders).collect())
}
