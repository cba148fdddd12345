//! Faults: what is done to servers while sessions work on them. A command of the user's, or what is
//! done to a server that the audit was told how to start.

use crate::network;
use crate::server::ServerProcess;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStderr, Command, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a command may take.
const COMMAND_MAX: Duration = Duration::from_secs(120);
/// How long the words of a command that has failed are waited for, and how long the first line
/// may be.
const SAID_MAX: Duration = Duration::from_millis(200);
const LINE_MAX: u64 = 300;
/// How often it is looked at what is due.
const LOOK: Duration = Duration::from_millis(20);

/// When something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// Again and again.
    Every(Duration),
    /// Once, so long after the beginning.
    At(Duration),
}

/// What is done.
#[derive(Clone, PartialEq, Eq, Debug)]
enum What {
    /// A command, in a shell.
    Command(String),
    /// `kill -9` of the server, which is started again.
    Kill,
    /// The server is asked to end, and is started again.
    Restart,
    /// The server stands still for a while.
    Pause(Duration),
    /// What a network namespace sends is lost, for a while.
    Partition(String, Duration),
    /// What a network namespace sends is late, for a while.
    Delay(String, Duration, Duration),
}

/// Something that is done to the servers, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    when: When,
    what: What,
}

impl Fault {
    /// Whether it is about a server that the audit starts.
    pub fn needs_server(&self) -> bool {
        matches!(self.what, What::Kill | What::Restart | What::Pause(_))
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Command(text) => f.write_str(text),
            What::Kill => f.write_str("kill"),
            What::Restart => f.write_str("restart"),
            What::Pause(time) => write!(f, "pause {time:?}"),
            What::Partition(name, time) => write!(f, "partition {name} {time:?}"),
            What::Delay(name, by, time) => write!(f, "delay {name} {by:?} {time:?}"),
        }
    }
}

/// A text that is no fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no fault; write `every 10s: COMMAND` or `at 5s: COMMAND`, with a command of the \
     shell, or kill, restart, pause TIME, partition NAMESPACE TIME, delay NAMESPACE TIME TIME"
)]
pub struct NoFault(String);

impl FromStr for Fault {
    type Err = NoFault;

    fn from_str(text: &str) -> Result<Fault, NoFault> {
        let parsed = || {
            let (when, what) = text.split_once(':')?;
            let (word, time) = when.trim().split_once(' ')?;
            let time = duration(time.trim())?;
            let when = match word {
                "every" if !time.is_zero() => When::Every(time),
                "at" => When::At(time),
                _ => return None,
            };
            Some(Fault { when, what: what_of(what.trim())? })
        };
        parsed().ok_or_else(|| NoFault(text.to_owned()))
    }
}

fn what_of(text: &str) -> Option<What> {
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(match words[..] {
        [] => return None,
        ["kill"] => What::Kill,
        ["restart"] => What::Restart,
        ["pause", time] => What::Pause(duration(time)?),
        ["partition", name, time] => What::Partition(name.to_owned(), duration(time)?),
        ["delay", name, by, time] => What::Delay(name.to_owned(), duration(by)?, duration(time)?),
        _ => What::Command(text.to_owned()),
    })
}

/// A time like 500ms, 10s or 2m.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    match &text[digits..] {
        "ms" => Some(Duration::from_millis(number)),
        "s" | "" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        "h" => Some(Duration::from_secs(number.checked_mul(3600)?)),
        _ => None,
    }
}

/// A fault that was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultDone {
    /// How long after the beginning it began.
    pub at: Duration,
    /// How long it took.
    pub took: Duration,
    /// What it was.
    pub what: String,
    /// What went wrong with it.
    pub problem: Option<String>,
}

/// Does faults when they are due, until the audit is over.
pub(crate) struct Saboteur<'a> {
    pub faults: &'a [Fault],
    pub server: Option<&'a Mutex<ServerProcess>>,
    pub begun: Instant,
    pub is_over: &'a AtomicBool,
    pub done: &'a Mutex<Vec<FaultDone>>,
}

impl Saboteur<'_> {
    pub fn work(&self) {
        let mut due: Vec<Option<Duration>> = self
            .faults
            .iter()
            .map(|fault| match fault.when {
                When::Every(time) | When::At(time) => Some(time),
            })
            .collect();
        while !self.is_over.load(Ordering::Relaxed) && due.iter().any(Option::is_some) {
            let now = self.begun.elapsed();
            let next = (0..due.len()).find(|&place| due[place].is_some_and(|time| time <= now));
            let Some(place) = next else {
                std::thread::sleep(LOOK);
                continue;
            };
            let fault = &self.faults[place];
            self.one(fault);
            due[place] = match fault.when {
                When::Every(time) => Some(self.begun.elapsed() + time),
                When::At(_) => None,
            };
        }
    }

    fn one(&self, fault: &Fault) {
        let at = self.begun.elapsed();
        let problem = self.does(&fault.what).err();
        let took = self.begun.elapsed().saturating_sub(at);
        let done = FaultDone { at, took, what: fault.what.to_string(), problem };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(done);
    }

    fn does(&self, what: &What) -> Result<(), String> {
        match what {
            What::Command(text) => self.command("sh", &["-c", text]),
            What::Kill => self.on_server(|server| server.kill_and_start()),
            What::Restart => self.on_server(|server| server.restart()),
            What::Pause(time) => {
                self.on_server(|server| server.stand_still())?;
                self.wait(*time);
                self.on_server(|server| server.go_on())
            }
            What::Partition(name, time) => self.shaped(network::partition(name), *time),
            What::Delay(name, by, time) => self.shaped(network::delay(name, *by), *time),
        }
    }

    /// What a network namespace sends is shaped for a while.
    fn shaped(&self, shape: network::Shape, time: Duration) -> Result<(), String> {
        let begun = self.command("sh", &["-c", &shape.begin]);
        if begun.is_ok() {
            self.wait(time);
        }
        // Also where it has begun on some of the devices only.
        let ended = self.command("sh", &["-c", &shape.end]);
        begun.and(ended)
    }

    fn on_server(
        &self,
        act: impl Fn(&mut ServerProcess) -> Result<(), String>,
    ) -> Result<(), String> {
        match self.server {
            Some(server) => act(&mut server.lock().unwrap_or_else(PoisonError::into_inner)),
            None => Err("there is no --server to do this to".to_owned()),
        }
    }

    /// Waits, but not longer than the audit goes on.
    fn wait(&self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK.min(time));
        }
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let said = child.stderr.take().map(first_line);
        let begun = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    let said = said.and_then(|said| said.recv_timeout(SAID_MAX).ok());
                    let why = said.map_or(String::new(), |line| format!(": {line}"));
                    return Err(format!("{status}{why}"));
                }
                Ok(None) if begun.elapsed() > COMMAND_MAX => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("not done after {} s", COMMAND_MAX.as_secs()));
                }
                Ok(None) => std::thread::sleep(LOOK),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// The first line of what a command says, whose other words are read so that it is not held up.
fn first_line(mut said: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let mut start = BufReader::new(said.by_ref().take(LINE_MAX));
        if start.read_line(&mut line).is_ok_and(|length| length > 0) {
            // Nobody waits for it if the command has not failed.
            let _ = sender.send(line.trim().to_owned());
        }
        let _ = std::io::copy(&mut said, &mut std::io::sink());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let read = |text: &str| text.parse::<Fault>();
        let fault = read("every 10s: kill").unwrap();
        assert_eq!(fault.when, When::Every(Duration::from_secs(10)));
        assert!(fault.needs_server());
        let fault = read("at 500ms: pg_ctl stop -m immediate").unwrap();
        assert_eq!(fault.when, When::At(Duration::from_millis(500)));
        assert_eq!(fault.what.to_string(), "pg_ctl stop -m immediate");
        assert_eq!(read("every 5s: kill -9 1").unwrap().what.to_string(), "kill -9 1");
        let delay = read("at 1s: delay n1 100ms 2s").unwrap();
        let times = (Duration::from_millis(100), Duration::from_secs(2));
        assert_eq!(delay.what, What::Delay("n1".to_owned(), times.0, times.1));
        for wrong in ["", "kill", "every: kill", "every 0s: kill", "at 3x: kill", "at 1s:"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_that_fails_is_told() {
        let failing = "at 0s: echo no room >&2; exit 3".parse().unwrap();
        let faults = [failing, "at 0s: true".parse().unwrap()];
        let (is_over, done) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let saboteur = Saboteur {
            faults: &faults,
            server: None,
            begun: Instant::now(),
            is_over: &is_over,
            done: &done,
        };
        saboteur.work();
        let done = done.into_inner().unwrap();
        assert_eq!(done.len(), 2);
        assert_eq!(done[0].problem.as_deref(), Some("exit status: 3: no room"));
        assert_eq!(done[1].problem, None);
    }
}
