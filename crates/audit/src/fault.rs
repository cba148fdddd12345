//! Faults: what is done to servers while sessions work on them. A command of the user's, or what is
//! done to a server that the audit was told how to start.

use crate::network;
use crate::record::nanoseconds;
use crate::server::ServerProcess;
use crate::shell::{self, LastWords};
use crate::url::without_secrets;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a command may take.
const COMMAND_MAX: Duration = Duration::from_secs(120);
/// How long it may go on when the audit is over: what it has stopped it perhaps starts again.
const OVER_MAX: Duration = Duration::from_secs(10);
/// How long the words of a command that has failed are waited for.
const SAID_MAX: Duration = Duration::from_millis(200);
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
        parsed().ok_or_else(|| NoFault(without_secrets(text)))
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

impl FaultDone {
    pub(crate) fn json(&self) -> Value {
        json!([nanoseconds(self.at), nanoseconds(self.took), self.what, self.problem])
    }

    pub(crate) fn from_json(value: &Value) -> Option<FaultDone> {
        let time = |place: usize| value.get(place)?.as_u64().map(Duration::from_nanos);
        Some(FaultDone {
            at: time(0)?,
            took: time(1)?,
            what: value.get(2)?.as_str()?.to_owned(),
            problem: value.get(3).and_then(Value::as_str).map(str::to_owned),
        })
    }
}

/// Whether something is done to the servers at present.
#[derive(Debug, Default)]
pub(crate) struct Weather {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Weather {
    /// How many faults have begun, if all of them have ended.
    pub fn calm(&self) -> Option<u64> {
        let ended = self.ended.load(Ordering::SeqCst);
        (self.begun.load(Ordering::SeqCst) == ended).then_some(ended)
    }
}

/// Does faults when they are due, until the audit is over.
pub(crate) struct Saboteur<'a> {
    pub faults: &'a [Fault],
    pub server: Option<&'a Mutex<ServerProcess>>,
    pub begun: Instant,
    pub is_over: &'a AtomicBool,
    pub done: &'a Mutex<Vec<FaultDone>>,
    pub weather: &'a Weather,
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
        self.weather.begun.fetch_add(1, Ordering::SeqCst);
        let problem = self.does(&fault.what).err();
        self.weather.ended.fetch_add(1, Ordering::SeqCst);
        let took = self.begun.elapsed().saturating_sub(at);
        let what = without_secrets(&fault.what.to_string());
        let done = FaultDone { at, took, what, problem };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(done);
    }

    fn does(&self, what: &What) -> Result<(), String> {
        match what {
            What::Command(text) => self.command(text),
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
        let begun = self.command(&shape.begin);
        if begun.is_ok() {
            self.wait(time);
        }
        // Also where it has begun on some of the devices only.
        let ended = self.command(&shape.end);
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

    /// Runs a command, and ends it with all that it started if it takes too long: soon when the
    /// audit is over.
    fn command(&self, text: &str) -> Result<(), String> {
        let mut child = shell::command(text).spawn().map_err(|error| error.to_string())?;
        let said = LastWords::of(child.stderr.take());
        let begun = Instant::now();
        let mut over = None;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    let said = said.lines(SAID_MAX).into_iter().next();
                    let why = said.map_or(String::new(), |line| format!(": {line}"));
                    return Err(without_secrets(&format!("{status}{why}")));
                }
                Ok(None) => std::thread::sleep(LOOK),
                Err(error) => return Err(error.to_string()),
            }
            if self.is_over.load(Ordering::Relaxed) {
                over.get_or_insert_with(Instant::now);
            }
            let is_late = begun.elapsed() > COMMAND_MAX;
            if is_late || over.is_some_and(|over| over.elapsed() > OVER_MAX) {
                let _ = shell::signal(child.id(), Signal::SIGKILL);
                let _ = child.wait();
                let time = begun.elapsed().as_secs();
                let why = if is_late { "" } else { ", when the audit was over" };
                return Err(format!("not done after {time} s{why}"));
            }
        }
    }
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

    /// Does these, and says what was done.
    fn done(faults: &[&str], is_over: &AtomicBool) -> Vec<FaultDone> {
        let faults: Vec<Fault> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        let done = Mutex::new(Vec::new());
        let weather = Weather::default();
        let begun = Instant::now();
        let saboteur = Saboteur {
            faults: &faults,
            server: None,
            begun,
            is_over,
            done: &done,
            weather: &weather,
        };
        saboteur.work();
        assert_eq!(weather.calm(), Some(faults.len() as u64));
        done.into_inner().unwrap()
    }

    #[test]
    fn a_command_that_fails_is_told() {
        let faults = ["at 0s: PASSWORD=x; echo no room >&2; exit 3", "at 0s: true"];
        let done = done(&faults, &AtomicBool::new(false));
        assert_eq!(done.len(), 2);
        assert_eq!(done[0].problem.as_deref(), Some("exit status: 3: no room"));
        assert_eq!(done[0].what, "PASSWORD=…; echo no room >&2; exit 3");
        assert_eq!(done[1].problem, None);
    }

    #[test]
    fn a_command_is_not_waited_for_when_the_audit_is_over() {
        let is_over = AtomicBool::new(false);
        let begun = Instant::now();
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(LOOK);
                is_over.store(true, Ordering::Relaxed);
            });
            done(&["at 0s: sleep 1000"], &is_over)
        });
        let problem = done[0].problem.clone().unwrap();
        assert!(problem.ends_with("when the audit was over"), "{problem}");
        assert!(begun.elapsed() < COMMAND_MAX / 2);
    }
}
