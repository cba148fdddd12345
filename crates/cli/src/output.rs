//! Standard output: whole results, flushed one by one, with colours only where they are wanted.

use anstream::AutoStream;
use seriatim_report::wrap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Characters in a line if the terminal is not known, and at most on a wide one.
const WIDTH_DEFAULT: usize = 100;
const WIDTH_MIN: usize = 40;

/// Held while a result is being written, so that an interrupt does not cut it in the middle.
static WRITING: Mutex<()> = Mutex::new(());

/// Writes text with colours; they are stripped unless standard output is a terminal (NO_COLOR,
/// CLICOLOR and CLICOLOR_FORCE are respected).
pub fn text(page: &str) -> io::Result<()> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stream = AutoStream::auto(io::stdout());
    stream.write_all(page.as_bytes())?;
    stream.flush()
}

/// Writes bytes as they are.
pub fn raw(bytes: &[u8]) -> io::Result<()> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stream = io::stdout();
    stream.write_all(bytes)?;
    stream.flush()
}

/// Writes a message for people beside the results. If even that fails, there is no place left to
/// say so.
pub fn message(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// A problem as it stands behind the `error:` of clap, wrapped.
pub fn below_error(problem: &str) -> String {
    const PREFIX: &str = "error: ";
    let page = wrap(problem, PREFIX, width());
    page.strip_prefix(PREFIX).unwrap_or(&page).to_owned()
}

/// The width of the page: that of the terminal, or what COLUMNS says if the page goes somewhere
/// else.
pub fn width() -> usize {
    let width = match io::stdout().is_terminal() {
        true => terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
        false => std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok()),
    };
    width.unwrap_or(WIDTH_DEFAULT).clamp(WIDTH_MIN, WIDTH_DEFAULT)
}

/// Waits until the result that is being written is complete, at most `limit`: a reader that does
/// not read must not keep us from ending.
pub fn wait_until_whole(limit: Duration) {
    let start = Instant::now();
    while WRITING.try_lock().is_err() && start.elapsed() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
}
