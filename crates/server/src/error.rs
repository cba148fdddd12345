//! Why a session or the hub did not do as told.

use seriatim_store::StoreError;
use std::fmt;
use std::time::Duration;

/// Why the hub did not do as told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum HubError {
    #[error("there is no session `{0}`; open one and use the number that comes back")]
    UnknownSession(String),
    #[error("session {session} has ended: {end}; open another one")]
    SessionEnded { session: u64, end: End },
    #[error(
        "{max} sessions are open, which is the limit; close one, or wait until one has been idle \
         for {idle:?}"
    )]
    TooManySessions { max: usize, idle: Duration },
    #[error("the session has no open transaction; begin one first")]
    NoTransaction,
    #[error("the server is shutting down")]
    ShuttingDown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a session is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Closed,
    Idle(Duration),
    Reset,
    Shutdown,
    /// So many sessions have ended since that the server does not remember.
    Forgotten,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Closed => f.write_str("it was closed"),
            End::Idle(limit) => write!(f, "it was idle for more than {limit:?}"),
            End::Reset => f.write_str("the store was reset"),
            End::Shutdown => f.write_str("the server is shutting down"),
            End::Forgotten => {
                f.write_str("it was closed, was idle for too long, or the store was reset")
            }
        }
    }
}
