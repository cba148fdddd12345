//! What was run when a history was observed, so that it can be run again.

use serde::{Deserialize, Serialize};
use seriatim_apps::{App, BENCHMARKS, Workload, benchmark, find};
use std::fmt;

/// The most sessions of a benchmark application: each is a thread.
pub const SESSIONS_MAX: usize = 1_000;
/// The most transactions of a session.
pub const TRANSACTIONS_MAX: usize = 10_000;

/// What was run, as the history keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// The name of the application.
    pub app: String,
    /// The seed.
    pub seed: u64,
    /// How many sessions there are, if it is a benchmark application.
    pub sessions: Option<usize>,
    /// How many transactions each session attempts, if it is a benchmark application.
    pub transactions: Option<usize>,
}

/// The field of a history that has it.
pub const FIELD: &str = "application";

/// Why a run cannot be made again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ObservedError {
    /// There is no such application.
    #[error("the observed run is of no application that we have")]
    UnknownApp,
    /// `seriatim observe` makes no runs of this size.
    #[error(
        "the observed run has {number} {what}, and `seriatim observe` makes 1 to {most}; observe \
         and predict again"
    )]
    Size {
        /// Sessions or transactions.
        what: &'static str,
        /// How many.
        number: usize,
        /// How many there may be.
        most: usize,
    },
}

/// An application to run.
pub enum Runnable {
    /// One that is always the same.
    Fixed(&'static dyn App),
    /// A benchmark application with its workload.
    Benchmark(Box<dyn App>),
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runnable({})", self.app().name())
    }
}

impl Runnable {
    /// The application.
    pub fn app(&self) -> &dyn App {
        match self {
            Runnable::Fixed(app) => *app,
            Runnable::Benchmark(app) => app.as_ref(),
        }
    }
}

impl Observed {
    /// A run of a benchmark application with this workload.
    pub fn of(app: &str, workload: Workload) -> Observed {
        let Workload { seed, sessions, transactions } = workload;
        Observed {
            app: app.to_owned(),
            seed,
            sessions: Some(sessions),
            transactions: Some(transactions),
        }
    }

    /// The application that was run.
    pub fn runnable(&self) -> Result<Runnable, ObservedError> {
        let unknown = || ObservedError::UnknownApp;
        if !BENCHMARKS.contains(&self.app.as_str()) {
            return find(&self.app).map(Runnable::Fixed).ok_or_else(unknown);
        }
        let small = Workload::small(self.seed);
        let workload = Workload {
            sessions: within("sessions", self.sessions.unwrap_or(small.sessions), SESSIONS_MAX)?,
            transactions: within(
                "transactions",
                self.transactions.unwrap_or(small.transactions),
                TRANSACTIONS_MAX,
            )?,
            ..small
        };
        benchmark(&self.app, workload).map(Runnable::Benchmark).ok_or_else(unknown)
    }
}

/// A number from a file, which has not been looked at yet.
fn within(what: &'static str, number: usize, most: usize) -> Result<usize, ObservedError> {
    let fits = (1..=most).contains(&number);
    fits.then_some(number).ok_or(ObservedError::Size { what, number, most })
}
