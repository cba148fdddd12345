//! Why a run came to no result.

use seriatim_apps::DbError;
use seriatim_store::{StoreError, TxnName};

/// Why a run came to no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store cannot work like that.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The application failed.
    #[error("the application failed: {0}")]
    Db(#[from] DbError),
    /// It was to run as no application can.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Why a plan cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// It does nothing.
    #[error("it has no transaction that is needed; predict again from the observed run")]
    Empty,
    /// It is about another run.
    #[error(
        "it has a transaction of session {session}, and the application has {clients} sessions; \
         predict again from the observed run"
    )]
    UnknownSession {
        /// The session.
        session: u32,
        /// How many there are.
        clients: usize,
    },
    /// A transaction cannot run twice.
    #[error(
        "it has transaction {} of session {} twice; predict again from the observed run",
        .0.txn,
        .0.session
    )]
    Twice(TxnName),
    /// There is no order for it.
    #[error(
        "its transactions read from each other in a circle, which no run does; predict again from \
         the observed run"
    )]
    Circle,
}
