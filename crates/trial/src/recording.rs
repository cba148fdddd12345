//! A failing run, kept: small enough for a repository, and enough to see it again.

use crate::blame::{Blame, weak};
use crate::error::TrialError;
use crate::fuzz::Fuzz;
use crate::pause::{Pause, Pauser, PausingScript};
use crate::place::{Deciders, Family, Protocol, Timing};
use crate::run::{Application, Run};
use serde::{Deserialize, Serialize};
use seriatim_isolation::{Level, Order};
use seriatim_server::holding::{NoStep, Step};
use seriatim_store::{Choice, Divergence, LEVELS, Node, Script};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most clients of a run.
const CLIENTS_MAX: u32 = 1000;
/// What kind of file it is.
const KIND: &str = "seriatim run of a command";

/// A failing run of a command.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// What kind of file this is.
    pub kind: String,
    /// The command that failed, for people.
    pub command: String,
    /// The set-up, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// How many of the command ran at once.
    pub clients: u32,
    /// The number of the run, which the command was told.
    #[serde(default)]
    pub run: u64,
    /// What was run after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// What of its output is a failure, if not its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// How long it may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The server of which it was one node, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// The code of the level.
    pub level: String,
    /// Which transactions a later one had to see.
    pub order: String,
    /// Whether the URL that it was told was one of MySQL; if that is not said, whether the server
    /// is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mysql: Option<bool>,
    /// Whether statements locked nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub without_locks: bool,
    /// Whether transactions had the level whatever they asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub forced_level: bool,
    /// Whether sessions of MySQL had `innodb_snapshot_isolation`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub innodb_snapshot_isolation: bool,
    /// The order in which statements begin and are answered: `0+ 1+ 1- 0-`, by the numbers of
    /// their connections.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schedule: String,
    /// The versions that reads get; all others are the latest.
    pub choices: Vec<Choice>,
    /// How it failed.
    pub failure: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_false(value: &bool) -> bool {
    !value
}

fn written(steps: &[Step]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The names of servers in files.
const POSTGRES: &str = "postgres";
const MYSQL: &str = "mysql";

/// Why a recording cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is something else.
    #[error("this is no run of a command; `seriatim fuzz --output RUN -- CMD` makes one")]
    Kind,
    /// A store has no such level.
    #[error("unknown isolation level `{0}`")]
    Level(String),
    /// No such server is simulated.
    #[error("unknown server `{0}`")]
    Server(String),
    /// Nobody runs so many.
    #[error("{0} clients cannot run at once; 1 to {CLIENTS_MAX} can")]
    Clients(u32),
    /// The schedule is none.
    #[error("{0}")]
    Schedule(#[from] NoStep),
    /// There is no such order.
    #[error("unknown order `{0}`")]
    Order(String),
}

/// A recording that was run again.
#[derive(Debug)]
pub struct Replayed {
    /// The run.
    pub run: Run,
    /// Where it left the recording, if it did.
    pub divergence: Option<Divergence>,
}

impl Recording {
    /// A failing run, with what it needs.
    pub fn of(fuzz: &Fuzz<'_>, blame: &Blame) -> Recording {
        Recording::of_run(fuzz, &blame.run, &blame.choices)
    }

    /// A failing run as it was.
    pub fn unconfirmed(fuzz: &Fuzz<'_>, run: &Run) -> Recording {
        Recording::of_run(fuzz, run, &weak(run))
    }

    fn of_run(fuzz: &Fuzz<'_>, run: &Run, choices: &[Choice]) -> Recording {
        let Application { set_up, command, clients, check, expect, limit, .. } = fuzz.application;
        let Application { protocol, uses_locks, forces_level, .. } = fuzz.application;
        let innodb_snapshot_isolation = fuzz.application.innodb_snapshot_isolation;
        let (like, level, order) = match fuzz.family {
            Family::Level { level, order } => (None, level, order),
            Family::Node(node, level) => {
                let name = if node == Node::Mysql { MYSQL } else { POSTGRES };
                (Some(name.to_owned()), level, Order::default())
            }
            Family::Serializable | Family::Serial => (None, Level::Serializable, Order::RealTime),
        };
        let failure = run.failure.as_ref();
        Recording {
            kind: KIND.to_owned(),
            command: command.text(),
            setup: set_up.as_ref().map(|command| command.text()),
            clients: *clients,
            run: run.number,
            check: check.as_ref().map(|command| command.text()),
            expect: expect.clone(),
            timeout_ms: u64::try_from(limit.as_millis()).ok(),
            like,
            level: level.code().to_owned(),
            mysql: Some(*protocol == Protocol::Mysql),
            without_locks: !uses_locks,
            forced_level: *forces_level,
            innodb_snapshot_isolation,
            schedule: written(&run.steps),
            order: order.code().to_owned(),
            choices: choices.to_vec(),
            failure: failure.map(|failure| failure.what.clone()).unwrap_or_default(),
        }
    }

    /// The database that it met.
    pub fn family(&self) -> Result<Family, RecordingError> {
        if self.kind != KIND {
            return Err(RecordingError::Kind);
        }
        self.steps()?;
        if !(1..=CLIENTS_MAX).contains(&self.clients) {
            return Err(RecordingError::Clients(self.clients));
        }
        let level: Option<Level> = self.level.parse().ok().filter(|it| LEVELS.contains(it));
        let level = level.ok_or_else(|| RecordingError::Level(self.level.clone()))?;
        let order = self.order.parse();
        let order = order.map_err(|_| RecordingError::Order(self.order.clone()))?;
        match self.like.as_deref() {
            None => Ok(Family::Level { level, order }),
            Some(POSTGRES) => Ok(Family::Node(Node::Postgres, level)),
            Some(MYSQL) => Ok(Family::Node(Node::Mysql, level)),
            Some(other) => Err(RecordingError::Server(other.to_owned())),
        }
    }

    /// The protocol of the URL that it was told.
    pub fn protocol(&self) -> Protocol {
        match self.mysql.unwrap_or(self.like.as_deref() == Some(MYSQL)) {
            true => Protocol::Mysql,
            false => Protocol::Postgres,
        }
    }

    fn deciders(&self, script: Script, pauser: Option<Pauser>) -> Deciders {
        let (steps, number) = (self.steps().unwrap_or_default(), self.run);
        let Some(pauser) = pauser else {
            return Deciders { chooser: Box::new(script), timing: Timing::Kept(steps), number };
        };
        if self.choices.is_empty() {
            let on_switch = Arc::new(move |connection| pauser(Pause::Switch { connection }));
            let timing = Timing::Paused(steps, on_switch);
            return Deciders { chooser: Box::new(script), timing, number };
        }
        let chooser = Box::new(PausingScript::new(script, &self.choices, pauser));
        Deciders { chooser, timing: Timing::Kept(steps), number }
    }

    fn steps(&self) -> Result<Vec<Step>, NoStep> {
        self.schedule.split_whitespace().map(str::parse).collect()
    }

    /// Runs an application with the choices of this one. With somebody to tell, it stops before
    /// each weak read or, if there is none, where another connection goes on.
    pub fn replay(
        &self,
        fuzz: &Fuzz<'_>,
        pauser: Option<Pauser>,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Replayed, TrialError> {
        let script = Script::partial(self.choices.clone());
        let track = script.track();
        let deciders = self.deciders(script, pauser);
        let run = fuzz.application.run(fuzz.state, fuzz.family, deciders, &[], is_asked_to_end)?;
        fuzz.application.must_have_connected(&run)?;
        Ok(Replayed { run, divergence: track.divergence() })
    }
}
