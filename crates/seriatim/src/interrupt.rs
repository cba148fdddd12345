//! Ctrl-C: the result that is being written is completed, half-written files are removed, exit code 130.

use crate::{output, staged};
use std::time::Duration;

const EXIT_INTERRUPTED: i32 = 130;
const WRITE_WAIT_MAX: Duration = Duration::from_millis(300);

/// From now on an interrupt, a hang-up or a request to terminate ends the program cleanly.
pub fn install() {
    let end = || {
        staged::remove_all();
        output::wait_until_whole(WRITE_WAIT_MAX);
        std::process::exit(EXIT_INTERRUPTED);
    };
    // If the handler cannot be set, the default action ends the program all the same.
    let _ = ctrlc::set_handler(end);
}
