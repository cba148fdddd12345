//! The adversary: from where the game stands it looks for a way to break the assertion, and if
//! there is none, for one that no serializable database would go.

use super::kind::Kind;
use super::state::{Asked, Attacked, Problem, Table};
use seriatim_explore::play::{Found, Goal, Misfit, Next, Search, Step, steps_text};
use seriatim_explore::{End, Local, Value};
use std::time::{Duration, Instant};

/// What is left of the time of a request for what comes after the search.
const REST: Duration = Duration::from_millis(200);

/// What an attack is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    Assertion,
    Serializability,
}

/// How the adversary goes on.
pub(super) fn attack<V: Value, L: Local>(
    kind: &Kind<V, L>,
    asked: &Asked,
) -> Result<Attacked, Problem> {
    let mut table = Table::new(kind, asked)?;
    for &step in &asked.steps {
        table.play.step(step)?;
    }
    let aims = match kind.broken {
        Some(_) => &[Aim::Assertion, Aim::Serializability][..],
        None => &[Aim::Serializability],
    };
    let time = asked.deadline.saturating_duration_since(Instant::now() + REST);
    let mut is_open = false;
    for (number, &aim) in aims.iter().enumerate() {
        let share = time / (aims.len() * 2) as u32 * (2 - number as u32);
        let found = search(&mut table, aim, asked, Instant::now() + share)?;
        match found {
            Found::Way(way) => return Ok(found_way(asked, aim, aims.len() > 1, way)),
            Found::NoWay => {}
            Found::Undecided => is_open = true,
        }
    }
    nothing_found(&mut table, asked, is_open, kind.broken.is_some())
}

fn search<V: Value, L: Local>(
    table: &mut Table<'_, V, L>,
    aim: Aim,
    asked: &Asked,
    deadline: Instant,
) -> Result<Found, Problem> {
    let kind = table.kind();
    let search = Search { deadline, seed: asked.steps.len() as u64 };
    let is_failed = |local: &L| aim == Aim::Assertion && (kind.failed)(local).is_some();
    let is_broken = |end: &End<'_, V, L>| match (&kind.broken, aim) {
        (Some(broken), Aim::Assertion) => broken(end).is_err(),
        _ => !end.is_serializable(),
    };
    let goal = Goal { is_failed: &is_failed, is_broken: &is_broken };
    // Of one read, what it returns decides first: the way begins with that session.
    let Some(session) = asked.read_of else { return Ok(table.play.attack(goal, search)?) };
    let (mark, mut result) = (table.play.mark(), Found::NoWay);
    let candidates = table.play.candidates(session)?;
    let count = candidates.len().max(1) as u32;
    let share = deadline.saturating_duration_since(Instant::now()) / count;
    for candidate in candidates.into_iter().filter(|it| it.is_allowed == Some(true)) {
        let step = Step::Pick(session, candidate.writer);
        table.play.step(step)?;
        let search = Search { deadline: Instant::now() + share, ..search };
        let found = table.play.attack(goal, search)?;
        table.play.rewind(&mark);
        match found {
            Found::Way(_) => return Ok(Found::Way(vec![step])),
            Found::NoWay => {}
            Found::Undecided => result = Found::Undecided,
        }
    }
    Ok(result)
}

fn found_way(asked: &Asked, aim: Aim, has_assertion: bool, way: Vec<Step>) -> Attacked {
    let is_one = asked.read_of.is_some();
    let (found, said) = match (aim, has_assertion, is_one) {
        (Aim::Assertion, _, false) => ("assertion", "the assertion breaks"),
        (Aim::Assertion, _, true) => ("assertion", "with this version the assertion can break"),
        (_, true, false) => (
            "serializability",
            "from here nothing breaks the assertion; this end is not serializable",
        ),
        (_, true, true) => (
            "serializability",
            "no version lets the assertion break; with this one the end may be unserializable",
        ),
        (_, false, false) => ("serializability", "this end is not serializable"),
        (_, false, true) => ("serializability", "with this version the end may be unserializable"),
    };
    let steps = [asked.steps.as_slice(), &way].concat();
    Attacked { steps: steps_text(&steps), found, said: said.to_owned() }
}

/// For one read there is a version all the same: the newest, as nothing is to be gained.
fn nothing_found<V: Value, L: Local>(
    table: &mut Table<'_, V, L>,
    asked: &Asked,
    is_open: bool,
    has_assertion: bool,
) -> Result<Attacked, Problem> {
    let mut steps = asked.steps.clone();
    if let Some(session) = asked.read_of {
        if !matches!(table.play.next(session)?, Next::Read { .. }) {
            return Err(Misfit::NoRead.into());
        }
        let candidates = table.play.candidates(session)?;
        let newest = candidates.iter().rev().find(|it| it.is_allowed == Some(true));
        steps.extend(newest.map(|it| Step::Pick(session, it.writer)));
    }
    let (found, said) = match (is_open, has_assertion) {
        (true, _) => ("undecided", "undecided: nothing was found in the time that there is"),
        (false, true) => (
            "no-way",
            "from here nothing breaks the assertion at this level, and every end is serializable",
        ),
        (false, false) => ("no-way", "from here every end is serializable at this level"),
    };
    Ok(Attacked { steps: steps_text(&steps), found, said: said.to_owned() })
}
