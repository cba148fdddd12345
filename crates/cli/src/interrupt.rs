//! Ctrl-C and its relatives: the result that is being written is completed, half-written files are
//! removed, processes that were started end, the progress line goes away, and the exit code says
//! which signal it was (130 for Ctrl-C, 143 for SIGTERM).

use crate::{children, output, progress, whole_files};
use nix::sys::signal::{SigSet, Signal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// An exit code of a program that a signal ended is this and the number of the signal.
const EXIT_SIGNAL: i32 = 128;
const WRITE_WAIT_MAX: Duration = Duration::from_millis(300);
/// What comes this soon after a signal is the same one.
const ONE_SIGNAL: Duration = Duration::from_millis(100);

type Action = Box<dyn FnOnce(Signal) + Send>;

/// What the next signal does instead of ending the program.
static NEXT: Mutex<Option<Action>> = Mutex::new(None);

/// Lets the next signal call `action` instead of ending the program; the one after that ends it, in
/// case the action takes too long.
pub fn call_next(action: impl FnOnce(Signal) + Send + 'static) {
    *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(action));
}

/// What the program was asked to end by.
static ASKED: OnceLock<Signal> = OnceLock::new();
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Lets the next signal ask for an end, which the flag tells, so that what was found so far can be
/// told; the one after that ends the program at once.
pub fn ask_next() -> &'static AtomicBool {
    call_next(|signal| {
        ASKED.get_or_init(|| signal);
        IS_ASKED.store(true, Ordering::Relaxed);
    });
    &IS_ASKED
}

/// From now on a signal ends the program again.
pub fn release() {
    *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// What may be left behind somewhere else if the program ends at once, for people.
static LEFT: Mutex<Option<String>> = Mutex::new(None);

/// From now on this may be left behind if the program ends at once; nothing, if it is tidied up.
pub fn leaves(what: Option<String>) {
    *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

/// The signal that asked for an end, if one did.
pub fn asked() -> Option<Signal> {
    ASKED.get().copied()
}

/// From now on an interrupt, a hang-up or a request to terminate ends the program cleanly. To be
/// called before there is a second thread: threads inherit that these signals are kept for the one
/// that waits for them.
pub fn install() {
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    // If the signals cannot be kept, their default action ends the program all the same.
    if signals.thread_block().is_ok() {
        std::thread::spawn(move || wait(&signals));
    }
}

fn wait(signals: &SigSet) {
    let mut last: Option<Instant> = None;
    loop {
        let Ok(signal) = signals.wait() else { continue };
        // A program like `timeout` signals a process and its group, which is meant as one signal.
        if last.is_some_and(|last| last.elapsed() < ONE_SIGNAL) {
            continue;
        }
        let action = NEXT.lock().unwrap_or_else(PoisonError::into_inner).take();
        match action {
            Some(action) => action(signal),
            None => end(signal),
        }
        last = Some(Instant::now());
    }
}

/// Ends the program as `signal` does.
pub fn end(signal: Signal) {
    clean_up();
    std::process::exit(EXIT_SIGNAL + signal as i32);
}

/// Ends the program as `signal` does, with a line for people.
pub fn end_saying(signal: Signal, message: &str) {
    clean_up();
    output::message(&format!("{message}\n"));
    std::process::exit(EXIT_SIGNAL + signal as i32);
}

fn clean_up() {
    abandon();
    output::wait_until_whole(WRITE_WAIT_MAX);
    progress::wipe();
    tell_left();
}

/// Before the program ends without going back the way that it has come: what nobody else does any
/// more.
pub fn abandon() {
    whole_files::remove_all();
    children::kill_all();
}

/// Says what may be left behind. It waits for nobody: a thread that has panicked may hold the lock.
pub fn tell_left() {
    let left = LEFT.try_lock().ok().and_then(|mut left| left.take());
    if let Some(left) = left {
        output::message(&format!("{left} may be left behind\n"));
    }
}
