//! A failing run, kept: small enough for a repository, and enough to see it again.

use crate::blame::Blame;
use crate::error::TrialError;
use crate::fuzz::Fuzz;
use crate::place::{Deciders, Family};
use crate::run::{Application, Run};
use serde::{Deserialize, Serialize};
use seriatim_isolation::{Level, Order};
use seriatim_server::holding::{Decision, HoldScript, Place, Point};
use seriatim_store::{Choice, Divergence, LEVELS, Node, Script};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

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
    /// What was run after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The server of which it was one node, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// The code of the level.
    pub level: String,
    /// Which transactions a later one had to see.
    pub order: String,
    /// The statements that are held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// The versions that reads get; all others are the latest.
    pub choices: Vec<Choice>,
    /// How it failed.
    pub failure: String,
}

/// A statement that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// The session.
    pub session: u32,
    /// The number of the statement in it.
    pub statement: u32,
    /// Whether it has run, and its answer is held.
    pub answer: bool,
    /// For how many microseconds.
    pub micros: u64,
}

impl From<&Decision> for Hold {
    fn from(decision: &Decision) -> Hold {
        let Point { session, statement, place } = decision.point;
        let micros = decision.time.as_micros() as u64;
        Hold { session, statement, answer: place == Place::After, micros }
    }
}

impl From<&Hold> for Decision {
    fn from(hold: &Hold) -> Decision {
        let place = if hold.answer { Place::After } else { Place::Before };
        let point = Point { session: hold.session, statement: hold.statement, place };
        Decision { point, time: Duration::from_micros(hold.micros) }
    }
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
        let Application { set_up, command, clients, check, .. } = fuzz.application;
        let (like, level, order) = match fuzz.family {
            Family::Level { level, order } => (None, level, order),
            Family::Node(node, level) => {
                let name = if node == Node::Mysql { MYSQL } else { POSTGRES };
                (Some(name.to_owned()), level, Order::default())
            }
            Family::Serializable | Family::Serial => (None, Level::Serializable, Order::RealTime),
        };
        let failure = blame.run.failure.as_ref();
        Recording {
            kind: KIND.to_owned(),
            command: command.text(),
            setup: set_up.as_ref().map(|command| command.text()),
            clients: *clients,
            check: check.as_ref().map(|command| command.text()),
            like,
            level: level.code().to_owned(),
            holds: blame.holds.iter().map(Hold::from).collect(),
            order: order.code().to_owned(),
            choices: blame.choices.clone(),
            failure: failure.map(|failure| failure.what.clone()).unwrap_or_default(),
        }
    }

    /// The database that it met.
    pub fn family(&self) -> Result<Family, RecordingError> {
        if self.kind != KIND {
            return Err(RecordingError::Kind);
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

    /// Runs an application with the choices of this one.
    pub fn replay(
        &self,
        fuzz: &Fuzz<'_>,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Replayed, TrialError> {
        let script = Script::partial(self.choices.clone());
        let track = script.track();
        let holds = HoldScript::new(self.holds.iter().map(Decision::from));
        let deciders = Deciders { chooser: Box::new(script), holder: Some(Box::new(holds)) };
        let run = fuzz.application.run(fuzz.state, fuzz.family, deciders, &[], is_asked_to_end)?;
        Ok(Replayed { run, divergence: track.divergence() })
    }
}
