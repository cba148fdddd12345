//! Programs in tests: every behaviour is explored, and one that is wrong fails the test with what
//! the command line would print.

use crate::stories::stories;
use seriatim_explore::{
    Counterexample, End, Exploration, ExploreError, Explorer, Local, Program, Value,
};
use seriatim_isolation::Level;
use seriatim_report::explored::{Behaviour, render_counterexample};
use seriatim_report::{Checked, Times, style};
use std::fmt;

/// The width of a page in the output of tests.
const WIDTH: usize = 100;

/// A program that a test explores.
#[must_use = "a model does nothing until it is asked"]
pub struct Model<V, L> {
    program: Program<V, L>,
    level: Level,
}

/// Describes a program whose transactions are at `level`.
///
/// ```
/// use seriatim::{Level, model};
///
/// let counters = model(Level::Causal, |p| {
///     for _ in 0..2 {
///         p.session().transaction(|tx, seen: &mut i64| {
///             *seen = tx.read("x")?;
///             tx.write("x", *seen + 1)
///         });
///     }
/// });
/// // Both may see nothing: an update is lost.
/// let found = counters.violate(|end| end.locals().iter().sum::<i64>() == 1);
/// assert_eq!(found.locals, [0, 0]);
/// ```
///
/// # Panics
///
/// If programs cannot be explored at `level` (cut isolation and strict serializability).
#[track_caller]
pub fn model<V: Value, L: Local>(
    level: Level,
    build: impl FnOnce(&mut Program<V, L>),
) -> Model<V, L> {
    if !seriatim_explore::LEVELS.contains(&level) {
        panic!("{}", ExploreError::Level(level));
    }
    let mut program = Program::new();
    build(&mut program);
    Model { program, level }
}

impl<V: Value, L: Local> Model<V, L> {
    /// Explores every behaviour; returns how many there are.
    ///
    /// # Panics
    ///
    /// If `property` is false of a behaviour, or if a transaction panics in one: with the
    /// behaviour, what the checker says of it, and a token for [`Model::replay`]. If the program
    /// is not deterministic: with the place.
    #[track_caller]
    pub fn assert(&self, property: impl Fn(&End<'_, V, L>) -> bool + Sync) -> u64 {
        let exploration = self.run(&property);
        if let Some(found) = exploration.counterexample {
            panic!("{}", self.told(found));
        }
        exploration.tally.histories
    }

    /// Explores until `property` is false of a behaviour, which it returns.
    ///
    /// # Panics
    ///
    /// If `property` is true of all behaviours.
    #[track_caller]
    pub fn violate(&self, property: impl Fn(&End<'_, V, L>) -> bool + Sync) -> Counterexample<L> {
        let exploration = self.run(&property);
        let count = exploration.tally.histories;
        match exploration.counterexample {
            Some(found) => found,
            None => panic!("the property holds in all {count} histories at {}", self.level),
        }
    }

    /// Whether every behaviour is serializable.
    ///
    /// # Panics
    ///
    /// If a transaction panics in a behaviour, as [`Model::assert`] does, and if the program is not
    /// deterministic.
    #[track_caller]
    #[must_use]
    pub fn is_robust(&self) -> bool {
        let robust = whole(Explorer::new(&self.program, self.level).robust());
        let Some(found) = robust.counterexample else { return true };
        let panicked = self.replay(&found.token, |end| end.panicked().is_some());
        if panicked {
            panic!("{}", self.told(found));
        }
        false
    }

    /// How many behaviours there are.
    ///
    /// # Panics
    ///
    /// As [`Model::assert`].
    #[track_caller]
    #[must_use]
    pub fn histories(&self) -> u64 {
        self.assert(|_| true)
    }

    /// Runs the one behaviour that `token` names.
    ///
    /// # Panics
    ///
    /// If it names none.
    #[track_caller]
    pub fn replay<R>(&self, token: &str, visit: impl FnOnce(&End<'_, V, L>) -> R) -> R {
        match seriatim_explore::replay(&self.program, self.level, token, visit) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn run(&self, property: &(impl Fn(&End<'_, V, L>) -> bool + Sync)) -> Exploration<L> {
        let check = |end: &End<'_, V, L>| {
            if property(end) { Ok(()) } else { Err("the property is false".to_owned()) }
        };
        whole(Explorer::new(&self.program, self.level).run(&check))
    }

    /// What the command line would print of a counterexample, without colours.
    fn told(&self, found: Counterexample<L>) -> String {
        let again = format!("model.replay({:?}, |end| …)", found.token);
        let local = |(name, local): (&str, &L)| (name.to_owned(), format!("{local:?}"));
        let behaviour = Behaviour {
            locals: self.program.session_names().zip(&found.locals).map(local).collect(),
            sessions: stories(&found.history),
            checked: Checked {
                input: "the history of the model".to_owned(),
                format: "explored",
                counts: found.history.counts(),
                report: found.report,
                times: Times::default(),
                duplicate: None,
                kinds: Vec::new(),
            },
            reason: Some(found.reason),
            token: found.token,
        };
        let page = style::strip(&render_counterexample(&behaviour, &again, WIDTH));
        format!("the model goes wrong at {}\n{page}", self.level)
    }
}

/// The exploration, unless it says nothing because behaviours were cut.
#[track_caller]
fn whole<L>(result: Result<Exploration<L>, ExploreError>) -> Exploration<L> {
    match result {
        Ok(exploration) if exploration.tally.cut > 0 && exploration.counterexample.is_none() => {
            panic!("{}", ExploreError::TooManyTransactions)
        }
        Ok(exploration) => exploration,
        Err(error) => panic!("{error}"),
    }
}

impl<V, L> fmt::Debug for Model<V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({}, {:?})", self.level.code(), self.program)
    }
}
