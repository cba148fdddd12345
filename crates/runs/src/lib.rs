//! Runs an application, in this process: one file a verb.
//!
//! - [`run`]: once, on the mock store, with a chooser and a schedule,
//! - [`Fuzz`]: again and again, until the assertion breaks,
//! - [`Recording`]: a run that can be replayed; [`Recording::to_blame`] finds the reads that its
//!   failure needs,
//! - [`observe`]: what was run when a history was observed,
//! - [`run_directed`]: as a prediction says,
//! - [`explore`]: as a program whose every behaviour is explored.

mod blame;
mod error;
pub mod explore;
mod fuzz;
pub mod observe;
mod prediction;
mod replay;
mod run;

pub use error::{PlanError, RunError};
pub use fuzz::Fuzz;
pub use prediction::{
    Assertion, Directed, ObservedCommand, PlanDeparture, PlannedEvent, PlannedTxn, Predicted,
    PredictedRun, Rules, Writer, named_as_observed, plan_order, run_directed, run_directed_by,
};
pub use replay::{Departure, Recording, ReplayError, Replayed};
pub use run::{Run, Setting, run};
