//! Programs in tests.

use crate::end::End;
use crate::error::ExploreError;
use crate::explain::Counterexample;
use crate::explorer::supported;
use crate::explorer::{Exploration, Explorer};
use crate::program::{Local, Program, Value};
use seriatim_isolation::Level;
use std::sync::atomic::{AtomicU64, Ordering};

/// A program that a test explores.
pub struct Model<V, L> {
    program: Program<V, L>,
    level: Level,
}

/// Describes a program whose transactions are at `level`.
///
/// ```
/// use seriatim_explore::model;
/// use seriatim_isolation::Level;
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
pub fn model<V: Value, L: Local>(
    level: Level,
    build: impl FnOnce(&mut Program<V, L>),
) -> Model<V, L> {
    supported(level).unwrap_or_else(|error| panic!("{error}"));
    let mut program = Program::new();
    build(&mut program);
    Model { program, level }
}

impl<V: Value, L: Local> Model<V, L> {
    /// Explores every behaviour; returns how many there are.
    ///
    /// # Panics
    ///
    /// If `property` is false of one, with the first such behaviour and a token for
    /// [`Model::replay`].
    pub fn assert(&self, property: impl Fn(&End<'_, V, L>) -> bool + Sync) -> u64 {
        let exploration = self.run(&property);
        if let Some(found) = &exploration.counterexample {
            panic!("{}", told(found, self.level));
        }
        exploration.tally.histories
    }

    /// Explores until `property` is false of a behaviour, which it returns.
    ///
    /// # Panics
    ///
    /// If `property` is true of all behaviours.
    pub fn violate(&self, property: impl Fn(&End<'_, V, L>) -> bool + Sync) -> Counterexample<L> {
        let exploration = self.run(&property);
        let count = exploration.tally.histories;
        exploration
            .counterexample
            .unwrap_or_else(|| panic!("the property holds in all {count} histories"))
    }

    /// Whether every behaviour is serializable.
    ///
    /// # Panics
    ///
    /// If the program is not deterministic.
    pub fn is_robust(&self) -> bool {
        let robust = Explorer::new(&self.program, self.level).robust();
        whole(robust).counterexample.is_none()
    }

    /// How many behaviours there are.
    pub fn histories(&self) -> u64 {
        let count = AtomicU64::new(0);
        self.run(&|_: &End<'_, V, L>| {
            count.fetch_add(1, Ordering::Relaxed);
            true
        });
        count.into_inner()
    }

    /// Runs the one behaviour that `token` names.
    ///
    /// # Panics
    ///
    /// If it names none.
    pub fn replay<R>(&self, token: &str, visit: impl FnOnce(&End<'_, V, L>) -> R) -> R {
        crate::explain::replay(&self.program, self.level, token, visit)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn run(&self, property: &(impl Fn(&End<'_, V, L>) -> bool + Sync)) -> Exploration<L> {
        let check = |end: &End<'_, V, L>| {
            if property(end) { Ok(()) } else { Err("the property is false".to_owned()) }
        };
        whole(Explorer::new(&self.program, self.level).run(&check))
    }
}

/// The exploration, unless it says nothing because behaviours were cut.
fn whole<L>(result: Result<Exploration<L>, ExploreError>) -> Exploration<L> {
    let exploration = result.unwrap_or_else(|error| panic!("{error}"));
    if exploration.tally.cut > 0 && exploration.counterexample.is_none() {
        panic!("{}", ExploreError::TooManyTransactions);
    }
    exploration
}

fn told<L: Local>(found: &Counterexample<L>, level: Level) -> String {
    let locals: Vec<String> = found.locals.iter().map(|local| format!("{local:?}")).collect();
    format!(
        "the property does not hold at {level}: local states [{}], token {}",
        locals.join(", "),
        found.token
    )
}
