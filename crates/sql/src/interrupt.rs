//! How a statement is made to end early: cancelled by its client, out of time, or because the
//! server stops.

use crate::error::{Result, SqlError, code};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// Tells a statement to end. Shared with those who may tell it.
#[derive(Default, Debug)]
pub struct Interrupt {
    why: AtomicU8,
    deadline: Mutex<Option<Instant>>,
}

const CANCELED: u8 = 1;
const TERMINATED: u8 = 2;

impl Interrupt {
    /// The client asked for it.
    pub fn cancel(&self) {
        let _ = self.why.compare_exchange(0, CANCELED, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The session is over.
    pub fn terminate(&self) {
        self.why.store(TERMINATED, Ordering::SeqCst);
    }

    /// Whether the session is over.
    pub fn is_terminated(&self) -> bool {
        self.why.load(Ordering::SeqCst) == TERMINATED
    }

    /// A statement begins: it has until then.
    pub fn begin(&self, deadline: Option<Instant>) {
        let _ = self.why.compare_exchange(CANCELED, 0, Ordering::SeqCst, Ordering::SeqCst);
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// An error if the statement is to end.
    pub fn check(&self) -> Result<()> {
        match self.why.load(Ordering::Relaxed) {
            CANCELED => {
                Err(SqlError::new(code::QUERY_CANCELED, "canceling statement due to user request"))
            }
            TERMINATED => Err(SqlError::new(
                code::ADMIN_SHUTDOWN,
                "terminating connection due to administrator command",
            )),
            _ => self.check_time(),
        }
    }

    fn check_time(&self) -> Result<()> {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        match deadline {
            Some(deadline) if Instant::now() >= deadline => Err(SqlError::new(
                code::QUERY_CANCELED,
                "canceling statement due to statement timeout",
            )),
            _ => Ok(()),
        }
    }
}
