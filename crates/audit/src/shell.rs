//! Commands of the shell, each in a process group of its own: what is done to it is done to all of
//! its processes, and a Ctrl-C that is meant for us does not end it half-way.

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many lines of what a command says are kept, and how long each of them may be.
const LINES_MAX: usize = 5;
const LINE_MAX: u64 = 300;

/// A command of the shell, which says nothing but errors.
pub(crate) fn command(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    unblock_signals(&mut command);
    command
}

/// Signals are kept for one thread of ours; a command has them as every program does.
fn unblock_signals(command: &mut Command) {
    let unblock = || SigSet::all().thread_unblock().map_err(io::Error::from);
    // SAFETY: between fork and exec only a system call is made that is safe there.
    unsafe {
        command.pre_exec(unblock);
    }
}

/// Sends a signal to all processes of a group.
pub(crate) fn signal(group: u32, signal: Signal) -> Result<(), String> {
    let group = i32::try_from(group).map_err(|error| error.to_string())?;
    killpg(Pid::from_raw(group), signal).map_err(|error| error.to_string())
}

/// Whether any process of a group runs.
pub(crate) fn is_running(group: u32) -> bool {
    let is_there =
        i32::try_from(group).is_ok_and(|group| killpg(Pid::from_raw(group), None).is_ok());
    is_there && !only_the_dead(group)
}

/// Whether processes of a group have ended that nobody asks for how they did: they are still
/// there. Where nothing says so they count as running.
fn only_the_dead(group: u32) -> bool {
    let Ok(all) = std::fs::read_dir("/proc") else { return false };
    let about =
        all.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    let mut states = about.filter_map(|about| {
        // Behind the name, which may hold anything: state, parent, group.
        let mut words = about.rsplit(')').next()?.split_whitespace();
        let (state, _, found) = (words.next()?.to_owned(), words.next()?, words.next()?);
        (found.parse() == Ok(group)).then_some(state)
    });
    states.all(|state| state == "Z")
}

/// The last lines of what a command says, whose words are read to the end so that it is not held
/// up.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Arc<(Mutex<Said>, Condvar)>);

#[derive(Debug, Default)]
struct Said {
    lines: VecDeque<String>,
    is_over: bool,
}

impl LastWords {
    pub fn of(said: Option<ChildStderr>) -> LastWords {
        let words = LastWords::default();
        let Some(said) = said else {
            words.end();
            return words;
        };
        let own = words.clone();
        std::thread::spawn(move || {
            own.listen(BufReader::new(said));
            own.end();
        });
        words
    }

    fn listen(&self, mut said: BufReader<ChildStderr>) {
        loop {
            let mut line = Vec::new();
            match said.by_ref().take(LINE_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => self.keep(String::from_utf8_lossy(&line).trim().to_owned()),
            }
        }
    }

    fn keep(&self, line: String) {
        let mut said = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.is_empty() {
            return;
        }
        if said.lines.len() == LINES_MAX {
            said.lines.pop_front();
        }
        said.lines.push_back(line);
    }

    fn end(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.0.1.notify_all();
    }

    /// What was said last, after it has ended, or else after this time.
    pub fn lines(&self, wait: Duration) -> Vec<String> {
        let until = Instant::now() + wait;
        let mut said = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if said.is_over || left.is_zero() {
                return said.lines.iter().cloned().collect();
            }
            let waited = self.0.1.wait_timeout(said, left);
            said = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(said, _)| said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_command_are_kept() {
        let mut child =
            command("for i in 1 2 3 4 5 6 7; do echo line $i >&2; done").spawn().unwrap();
        let words = LastWords::of(child.stderr.take());
        child.wait().unwrap();
        let lines = words.lines(Duration::from_secs(20));
        assert_eq!(lines, ["line 3", "line 4", "line 5", "line 6", "line 7"]);
    }

    #[test]
    fn a_group_runs_as_long_as_one_of_it_does() {
        let mut child = command("sleep 1000 & echo $$").spawn().unwrap();
        let group = child.id();
        child.wait().unwrap();
        assert!(is_running(group));
        signal(group, Signal::SIGKILL).unwrap();
        let begun = Instant::now();
        while is_running(group) {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
