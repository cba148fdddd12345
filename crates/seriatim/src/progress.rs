//! A line on standard error while work takes longer than a second, if somebody is there to see it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::Duration;

const SHOWN_AFTER: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(120);

/// The progress line. Hidden for the first second and wherever standard error is not a terminal.
pub struct Progress {
    bar: ProgressBar,
    /// Dropped with the progress, which tells the waiting thread not to show it any more.
    _end: mpsc::Sender<()>,
}

impl Progress {
    /// Progress over `inputs` inputs, which may be called `name`.
    pub fn start(inputs: usize, name: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(inputs as u64), ProgressDrawTarget::hidden());
        bar.set_style(style(inputs));
        bar.set_message(name.to_owned());
        let (end, ended) = mpsc::channel();
        if std::io::stderr().is_terminal() {
            show_later(bar.clone(), ended);
        }
        Progress { bar, _end: end }
    }

    /// One more input is done.
    pub fn advance(&self) {
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
    }
}

fn show_later(bar: ProgressBar, ended: mpsc::Receiver<()>) {
    std::thread::spawn(move || {
        if ended.recv_timeout(SHOWN_AFTER) == Err(mpsc::RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
}

/// Several inputs have a rate and a remaining time; a single one has neither, only the time so far.
fn style(inputs: usize) -> ProgressStyle {
    let template = match inputs {
        0 | 1 => "{spinner} {wide_msg} {elapsed}",
        _ => "{spinner} {pos}/{len} inputs {bar:20} {per_sec}, {eta} left",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
