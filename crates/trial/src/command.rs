//! A command of the user: started in a process group of its own, watched, and ended with everything
//! that it started.

use crate::written::{Written, keep, taken};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a command that runs is looked at, once it has run for a while.
const LOOK_MAX: Duration = Duration::from_millis(5);
/// How long to wait before the output of a command is looked at again.
const LOOK_MIN: Duration = Duration::from_micros(200);
/// How long a command may take to end when it is asked to.
const GRACE: Duration = Duration::from_millis(500);
/// Names the run that a process belongs to, so that it is found wherever it has gone.
pub(crate) const TOKEN: &str = "SERIATIM_TOKEN";

/// What to run: a program with its arguments, or a line for the shell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// A program and its arguments.
    Program(Vec<OsString>),
    /// A line for the shell.
    Line(String),
}

impl Command {
    /// The command as people write it.
    pub fn text(&self) -> String {
        match self {
            Command::Program(words) => {
                let words = words.iter().map(|word| word.to_string_lossy());
                words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
            }
            Command::Line(line) => line.clone(),
        }
    }

    fn process(&self) -> std::process::Command {
        match self {
            Command::Program(words) => {
                let mut words = words.iter();
                let mut process =
                    std::process::Command::new(words.next().cloned().unwrap_or_default());
                process.args(words);
                process
            }
            Command::Line(line) => {
                let mut process = std::process::Command::new("/bin/sh");
                process.arg("-c").arg(line);
                process
            }
        }
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It did not end in time, and was ended.
    Late,
    /// Somebody asked for an end of everything.
    Interrupted,
}

/// What a command did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// The end of what it wrote to standard output and standard error.
    pub output: String,
    /// The first line that has in it what was looked for.
    pub named: Option<String>,
    /// How many processes it left behind; they were ended.
    pub left: usize,
}

/// A command that runs. Dropped, it ends with all that it started.
pub(crate) struct Running {
    child: Child,
    token: String,
    written: Arc<Mutex<Written>>,
    readers: Vec<JoinHandle<()>>,
    begun: Instant,
    /// Whether all that it started is gone: then its number may be that of another group.
    is_over: bool,
}

impl Running {
    /// Starts a command with additions to its environment; `token` names it among all processes,
    /// and `wanted` is looked for in what it writes.
    pub fn start(
        command: &Command,
        variables: &[(String, String)],
        token: &str,
        wanted: Option<&str>,
    ) -> io::Result<Running> {
        let mut process = command.process();
        process.envs(variables.iter().map(|(name, value)| (name, value)));
        process.env(TOKEN, token).process_group(0);
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        unblock_signals(&mut process);
        let mut child = process.spawn()?;
        let written = Arc::new(Mutex::new(Written::looking_for(wanted)));
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            readers.push(keep(stdout, Arc::clone(&written), 0));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(keep(stderr, Arc::clone(&written), 1));
        }
        let (token, begun) = (token.to_owned(), Instant::now());
        Ok(Running { child, token, written, readers, begun, is_over: false })
    }

    /// Waits until the command has ended, or until it is to be ended.
    pub fn wait(mut self, limit: Duration, is_asked_to_end: &AtomicBool) -> io::Result<Outcome> {
        let mut pause = Duration::from_micros(200);
        let ended = loop {
            if let Some(status) = self.child.try_wait()? {
                break of(status);
            }
            if is_asked_to_end.load(Ordering::Relaxed) {
                break Ended::Interrupted;
            }
            if self.begun.elapsed() >= limit {
                break Ended::Late;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_MAX);
        };
        let left = self.end_all(matches!(ended, Ended::Code(_) | Ended::Signal(_)));
        self.is_over = true;
        self.read_to_the_end();
        let (output, named) = taken(&self.written);
        Ok(Outcome { ended, output, named, left })
    }

    /// Waits for what was written. Somebody who has hidden may still have the pipe: it is not
    /// waited for long.
    fn read_to_the_end(&mut self) {
        let patience = Instant::now() + GRACE;
        for reader in std::mem::take(&mut self.readers) {
            while !reader.is_finished() && Instant::now() < patience {
                thread::sleep(LOOK_MIN);
            }
            if reader.is_finished() {
                let _ = reader.join();
            }
        }
    }

    /// Ends the command and all that it started. How many processes there were beside it.
    fn end_all(&mut self, has_ended: bool) -> usize {
        let group = Pid::from_raw(self.child.id() as i32);
        let left = others(&self.token, group);
        if has_ended && left.is_empty() {
            // One of the group may have hidden its environment.
            let _ = killpg(group, Signal::SIGKILL);
            return 0;
        }
        signal(group, &left, Signal::SIGTERM);
        let patience = Instant::now() + GRACE;
        while Instant::now() < patience {
            let is_running = matches!(self.child.try_wait(), Ok(None));
            if !is_running && others(&self.token, group).is_empty() {
                return left.len();
            }
            thread::sleep(LOOK_MAX);
        }
        signal(group, &others(&self.token, group), Signal::SIGKILL);
        let _ = self.child.wait();
        left.len()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            let has_ended = !matches!(self.child.try_wait(), Ok(None));
            self.end_all(has_ended);
        }
    }
}

fn of(status: ExitStatus) -> Ended {
    match status.code() {
        Some(code) => Ended::Code(code),
        None => Ended::Signal(status.signal().unwrap_or(0)),
    }
}

/// Signals are kept for one thread of ours; a command has them as every program does.
fn unblock_signals(process: &mut std::process::Command) {
    let unblock = || nix::sys::signal::SigSet::all().thread_unblock().map_err(io::Error::from);
    // SAFETY: between fork and exec only a system call is made that is safe there.
    unsafe {
        process.pre_exec(unblock);
    }
}

fn signal(group: Pid, others: &[Pid], signal: Signal) {
    // Who is gone meanwhile needs no signal.
    let _ = killpg(group, signal);
    for &process in others {
        let _ = kill(process, signal);
    }
}

/// The processes that have the token in their environment, except for the first one.
fn others(token: &str, first: Pid) -> Vec<Pid> {
    let wanted = format!("{TOKEN}={token}");
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: io::Result<std::fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.parse::<i32>().ok().map(Pid::from_raw)
    };
    let has_token = |process: &Pid| {
        let Ok(environment) = std::fs::read(format!("/proc/{process}/environ")) else {
            return false;
        };
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    all.filter_map(number).filter(|&process| process != first).filter(has_token).collect()
}
