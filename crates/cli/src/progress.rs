//! A line on standard error while work takes longer than a second, if it is a terminal.

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use seriatim_history::Meter;
use std::fmt;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const SHOWN_AFTER: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(120);

const SINGLE: &str = "{spinner} {elapsed} {read}{wide_msg}";
const COUNT: &str = "{spinner} {pos}/{len} {noun} {bar:20} {elapsed}";
const COUNT_AND_RATE: &str =
    "{spinner} {pos}/{len} {noun} {bar:20} {elapsed}, {per_sec:.1}, {eta} left{wide_msg}";

/// Whether a line may be on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line away when the program ends in the middle. The thread that draws it may hold its
/// locks for as long as a reader of our results does not read, so that none is taken here.
pub fn wipe() {
    if SHOWN.load(Ordering::Relaxed) {
        let _ = std::io::stderr().write_all(b"\r\x1b[2K");
    }
}

/// The progress line. Hidden for the first second and wherever standard error is not a terminal.
pub struct Progress {
    bar: ProgressBar,
    meter: Arc<Meter>,
    /// What is counted.
    noun: &'static str,
    /// Dropped with the progress, which tells the waiting thread not to show it any more.
    _end: mpsc::Sender<()>,
}

/// Tells the progress line what is being done with a single input.
#[derive(Clone)]
pub struct Stage {
    bar: ProgressBar,
    meter: Arc<Meter>,
}

impl Stage {
    /// From now on this is being done.
    pub fn now(&self, doing: String) {
        self.bar.set_message(doing);
    }

    /// Where a reader may say how far it has come.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }
}

impl Progress {
    /// Progress over `inputs` inputs.
    pub fn start(inputs: usize) -> Self {
        Progress::over(inputs, "inputs")
    }

    /// Progress over `inputs` of what `noun` says.
    pub fn over(inputs: usize, noun: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(inputs as u64), ProgressDrawTarget::hidden());
        let meter = Arc::new(Meter::default());
        bar.set_style(if inputs > 1 {
            counting(COUNT, noun)
        } else {
            with_meter(style(SINGLE), Arc::clone(&meter))
        });
        let (end, ended) = mpsc::channel();
        if std::io::stderr().is_terminal() {
            show_later(bar.clone(), ended);
        }
        Progress { bar, meter, noun, _end: end }
    }

    /// Progress of a command that writes to `target`; none if that is standard output, where the
    /// line would be in the way.
    pub fn towards(target: &Path) -> Option<Self> {
        (target != Path::new("-")).then(|| Progress::start(1))
    }

    /// For the thread that works on the input.
    pub fn stage(&self) -> Stage {
        Stage { bar: self.bar.clone(), meter: Arc::clone(&self.meter) }
    }

    /// One more input is done. From now on a rate and a remaining time are known.
    pub fn advance(&self) {
        if self.bar.position() == 0 && self.bar.length() > Some(1) {
            self.bar.set_style(counting(COUNT_AND_RATE, self.noun));
        }
        self.bar.inc(1);
    }

    /// The same, with what is known so far.
    pub fn advance_with(&self, known: String) {
        self.bar.set_message(format!("; {known}"));
        self.advance();
    }

    /// So much is done, and this is known.
    pub fn reach(&self, done: u64, known: String) {
        self.bar.set_message(format!("; {known}"));
        if self.bar.position() == 0 {
            self.bar.set_style(counting(COUNT_AND_RATE, self.noun));
        }
        self.bar.set_position(done.min(self.bar.length().unwrap_or(done)));
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

fn counting(template: &str, noun: &'static str) -> ProgressStyle {
    style(template).with_key("noun", move |_: &ProgressState, line: &mut dyn fmt::Write| {
        // The line is drawn again soon.
        let _ = line.write_str(noun);
    })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// How much of the input has been read, and how fast, while a reader says so.
fn with_meter(style: ProgressStyle, meter: Arc<Meter>) -> ProgressStyle {
    style.with_key("read", move |state: &ProgressState, line: &mut dyn fmt::Write| {
        if let Some((done, total)) = meter.bytes() {
            let rate = done as f64 / state.elapsed().as_secs_f64().max(f64::EPSILON);
            let (percent, total, rate) =
                (done * 100 / total, HumanBytes(total), HumanBytes(rate as u64));
            // The line is drawn again soon.
            let _ = write!(line, "{percent} % of {total}, {rate}/s, ");
        }
    })
}
