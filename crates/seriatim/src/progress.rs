//! A line on standard error while work takes longer than a second, if somebody is there to see it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

const SHOWN_AFTER: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(120);

const SINGLE: &str = "{spinner} {elapsed} {wide_msg}";
const COUNT: &str = "{spinner} {pos}/{len} inputs {bar:20} {elapsed}";
const COUNT_AND_RATE: &str = "{spinner} {pos}/{len} inputs {bar:20} {elapsed}, {per_sec:.1}, {eta} left";

/// Whether a line may be on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line away when the program ends in the middle. Whoever draws it may hold its locks for as long as a reader of our
/// results does not read, so that none is taken here.
pub fn wipe() {
    if SHOWN.load(Ordering::Relaxed) {
        let _ = std::io::stderr().write_all(b"\r\x1b[2K");
    }
}

/// The progress line. Hidden for the first second and wherever standard error is not a terminal.
pub struct Progress {
    bar: ProgressBar,
    /// Dropped with the progress, which tells the waiting thread not to show it any more.
    _end: mpsc::Sender<()>,
}

/// Tells the progress line what is being done with a single input.
#[derive(Clone)]
pub struct Stage(ProgressBar);

impl Stage {
    /// From now on this is being done.
    pub fn now(&self, doing: String) {
        self.0.set_message(doing);
    }
}

impl Progress {
    /// Progress over `inputs` inputs.
    pub fn start(inputs: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(inputs as u64), ProgressDrawTarget::hidden());
        bar.set_style(style(if inputs > 1 { COUNT } else { SINGLE }));
        let (end, ended) = mpsc::channel();
        if std::io::stderr().is_terminal() {
            show_later(bar.clone(), ended);
        }
        Progress { bar, _end: end }
    }

    /// Progress of a command that writes to `target`; none if that is standard output, where the line would be in the way.
    pub fn towards(target: &Path) -> Option<Self> {
        (target != Path::new("-")).then(|| Progress::start(1))
    }

    /// For the one who works on the input.
    pub fn stage(&self) -> Stage {
        Stage(self.bar.clone())
    }

    /// One more input is done. From now on a rate and a remaining time are known.
    pub fn advance(&self) {
        if self.bar.position() == 0 && self.bar.length() > Some(1) {
            self.bar.set_style(style(COUNT_AND_RATE));
        }
        self.bar.inc(1);
    }

    /// Takes the line away while `write` writes results.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        SHOWN.store(false, Ordering::Relaxed);
    }
}

fn show_later(bar: ProgressBar, ended: mpsc::Receiver<()>) {
    std::thread::spawn(move || {
        if ended.recv_timeout(SHOWN_AFTER) == Err(mpsc::RecvTimeoutError::Timeout) {
            SHOWN.store(true, Ordering::Relaxed);
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
