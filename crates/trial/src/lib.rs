//! Who runs a user's command against the mock database: the command is told where the database is,
//! by the variables that every client knows, and runs again and again on copies of the same state,
//! until it fails.
//!
//! `run.rs` is one run; `fuzz.rs` does many; `blame.rs` finds the statements that a failure needs,
//! `fixes.rs` tries what would mend it, and `suggestions.rs` names what cannot be tried.
//! `recording.rs` keeps a failing run, and `directed.rs` leads the command into a predicted one.
//! `command.rs` starts processes and ends them, `written.rs` has what they write, `refused.rs` says
//! whether they tried again what the database refused, `place.rs` has the databases.

mod blame;
mod command;
mod directed;
mod error;
mod fixes;
mod fuzz;
mod pause;
mod place;
mod points;
mod recording;
mod refused;
mod run;
mod suggestions;
mod written;

pub use blame::{Blame, BlamedStatement, Missed};
pub use command::{Command, Ended, Outcome};
pub use directed::DirectedCommand;
pub use error::{TrialError, how};
pub use fixes::{Fix, FixKind, Verdict};
pub use fuzz::{Found, Fuzz, Progress, Seen};
pub use pause::{Pause, Pauser};
pub use place::{Added, Addition, Deciders, Family, Protocol, State, Timing};
pub use points::HoldPoint;
pub use recording::{Recording, RecordingError, Replayed};
pub use run::{Application, Failure, Run};
pub use suggestions::AtomicUpdate;
