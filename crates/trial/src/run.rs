//! One run of an application: its command, or several of them at once, on a database of its own,
//! and what came of it.

use crate::command::{Command, Ended, Outcome, Running};
use crate::error::{TrialError, how};
use crate::place::{Addition, Deciders, Family, Place, Protocol, State, Terms};
use crate::refused::{is_given_up, tells_of_refusal};
use seriatim_history::History;
use seriatim_server::holding::Step;
use seriatim_store::{Choice, Latest, TxnName};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Application {
    /// Runs once, before everything else; what it leaves in the database is there in every run.
    pub set_up: Option<Command>,
    /// The application or its test.
    pub command: Command,
    /// How many of it run at once.
    pub clients: u32,
    /// Whether each of them begins when the one before has ended.
    pub one_by_one: bool,
    /// Runs after all clients, on the latest values: an assertion.
    pub check: Option<Command>,
    /// A line of what is written that has this in it is a failure.
    pub expect: Option<String>,
    /// How long a command may take.
    pub limit: Duration,
    /// The protocol of the URL that it is told.
    pub protocol: Protocol,
    /// Whether its statements lock rows and tables, as in every database.
    pub uses_locks: bool,
    /// Whether transactions have the level of the database whatever they ask for.
    pub forces_level: bool,
    /// Whether `innodb_snapshot_isolation` is ON for all its sessions of MySQL.
    pub innodb_snapshot_isolation: bool,
}

/// A run that came to its end.
#[must_use]
pub struct Run {
    /// Its number, from 0.
    pub number: u64,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// What happened in the database, without what the check read.
    pub history: History,
    /// The version that each read got, and the number of its statement in its transaction.
    pub choices: Vec<(Choice, u32)>,
    /// The transaction of each statement, in the order in which they began.
    pub statements: Vec<TxnName>,
    /// The order in which statements began and were answered, unless they ran as they arrived.
    pub steps: Vec<Step>,
    /// What the application calls its connections, by their numbers.
    pub called: BTreeMap<u32, String>,
    /// How many steps of an order that was to be kept did not come when they should have.
    pub passed_over: u32,
    /// Whether the command wrote that the database refused a transaction of it, and it did.
    pub is_refused: bool,
    /// How many transactions the database refused, also those that were tried again.
    pub refusals: u64,
    /// Whether one of them was not tried again.
    pub is_given_up: bool,
    /// How long it took.
    pub took: Duration,
    /// How many sessions there were.
    pub sessions: u32,
    /// Which protocol they spoke: MySQL's if all did.
    pub spoken: Protocol,
    /// How many processes were left behind.
    pub left: usize,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("failure", &self.failure).finish_non_exhaustive()
    }
}

/// How a run failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// As a clause: "failed with exit code 1".
    pub what: String,
    /// The command that failed.
    pub command: String,
    /// The end of what it wrote.
    pub output: String,
    /// Whether it did not end in time.
    pub is_late: bool,
    /// Whether a client ended because the database refused a transaction that it did not try again.
    pub is_refusal: bool,
}

/// Distinguishes the processes of runs.
static NEXT_TOKEN: AtomicU64 = AtomicU64::new(0);

fn token() -> String {
    format!("{}-{}", std::process::id(), NEXT_TOKEN.fetch_add(1, Ordering::Relaxed))
}

impl Application {
    /// Runs the set-up; what it left behind.
    pub fn set_up(&self, is_asked_to_end: &AtomicBool) -> Result<State, TrialError> {
        let Some(command) = &self.set_up else { return Ok(State::empty()) };
        let place = Place::for_set_up()?;
        let outcome = self.one(command, &place.variables(self.protocol), is_asked_to_end)?;
        match outcome.ended {
            Ended::Code(0) => State::of(place.close()?),
            Ended::Interrupted => Err(TrialError::Interrupted),
            ended => {
                let command = command.text();
                Err(TrialError::SetUp {
                    command,
                    ended,
                    output: the_last(&outcome.output, LINES_MAX),
                })
            }
        }
    }

    /// Runs it on a database that does nothing wrong: an error if it fails even so.
    ///
    /// Transactions run one at a time, so that nobody is refused who does not try again. A test
    /// that needs two open at once fails then, and runs once more with transactions that overlap.
    pub fn serializable_run(
        &self,
        state: &State,
        number: u64,
        is_asked_to_end: &AtomicBool,
    ) -> Result<Run, TrialError> {
        let run = |family| {
            let deciders = Deciders::choosing(Latest).of_run(number);
            self.run(state, family, deciders, &[], is_asked_to_end)
        };
        let mut ran = run(Family::Serial)?;
        // One that does not end waits for something else than its turn.
        if ran.failure.as_ref().is_some_and(|failure| !failure.is_late) {
            ran = run(Family::Serializable)?;
        }
        if let Some(Failure { what, command, output, .. }) = ran.failure {
            let may_race = self.clients > 1 && !ran.is_refused;
            if may_race && self.passes_one_by_one(state, number, is_asked_to_end)? {
                let failure = format!("`{command}` {what}");
                let command = self.command.text();
                return Err(TrialError::FailsTogether { command, failure, output });
            }
            return Err(TrialError::FailsAnyway { command, failure: what, output });
        }
        self.must_have_connected(&ran)?;
        Ok(ran)
    }

    /// Nothing is known from a command that never connected.
    pub(crate) fn must_have_connected(&self, run: &Run) -> Result<(), TrialError> {
        match run.sessions {
            0 => Err(TrialError::NeverConnected { command: self.command.text() }),
            _ => Ok(()),
        }
    }

    /// Whether it passes if its copies run one after the other.
    fn passes_one_by_one(
        &self,
        state: &State,
        number: u64,
        is_asked_to_end: &AtomicBool,
    ) -> Result<bool, TrialError> {
        let alone = Application { one_by_one: true, ..self.clone() };
        let deciders = Deciders::choosing(Latest).of_run(number);
        let run = alone.run(state, Family::Serializable, deciders, &[], is_asked_to_end)?;
        Ok(run.failure.is_none())
    }

    /// Runs it on a copy of a state.
    pub fn run(
        &self,
        state: &State,
        family: Family,
        deciders: Deciders,
        additions: &[Addition],
        is_asked_to_end: &AtomicBool,
    ) -> Result<Run, TrialError> {
        let number = deciders.number;
        let begun = Instant::now();
        let Application { clients, uses_locks, forces_level, .. } = *self;
        let innodb_snapshot_isolation = self.innodb_snapshot_isolation;
        let terms = Terms {
            family,
            additions,
            clients,
            uses_locks,
            forces_level,
            innodb_snapshot_isolation,
        };
        let (place, store) = Place::of(state, &terms, deciders)?;
        let mut variables = place.variables(self.protocol);
        variables.push(("SERIATIM_RUN".to_owned(), number.to_string()));
        let outcomes = self.clients(&variables, is_asked_to_end)?;
        let left = outcomes.iter().map(|outcome| outcome.left).sum();
        let (history, choices) = (store.history(), store.choices());
        let refusals = place.refusals();
        let is_given_up = is_given_up(&history, refusals);
        let mut failure = self.failure(&outcomes, is_given_up)?;
        let is_told = outcomes.iter().any(|outcome| tells_of_refusal(&outcome.output));
        let is_refused = refusals > 0 && is_told;
        let statements = store.statement_order();
        let holding = place.holding.as_ref();
        let steps = holding.map(|holding| holding.steps()).unwrap_or_default();
        let called = holding.map(|holding| holding.called()).unwrap_or_default();
        let passed_over = holding.map_or(0, |holding| holding.passed_over());
        let sessions = history.session_count() as u32;
        let spoken = match place.mysql_sessions() {
            count if count > 0 && count >= u64::from(sessions) => Protocol::Mysql,
            _ => Protocol::Postgres,
        };
        if let Some(check) = self.check.as_ref().filter(|_| failure.is_none()) {
            store.set_chooser(Latest);
            if let Some(holding) = &place.holding {
                holding.release();
            }
            let outcome = self.one(check, &variables, is_asked_to_end)?;
            failure = self.failure_of_check(check, &outcome)?;
        }
        drop(place);
        Ok(Run {
            number,
            failure,
            history,
            choices,
            statements,
            steps,
            called,
            passed_over,
            is_refused,
            refusals,
            is_given_up,
            took: begun.elapsed(),
            sessions,
            spoken,
            left,
        })
    }

    fn clients(
        &self,
        variables: &[(String, String)],
        is_asked_to_end: &AtomicBool,
    ) -> Result<Vec<Outcome>, TrialError> {
        let (mut running, mut outcomes) = (Vec::new(), Vec::new());
        for client in 0..self.clients {
            let mut variables = variables.to_vec();
            variables.push(("SERIATIM_CLIENT".to_owned(), client.to_string()));
            let started = self.start(&self.command, &variables)?;
            match self.one_by_one {
                true => outcomes.push(started.wait(self.limit, is_asked_to_end)?),
                false => running.push(started),
            }
        }
        for started in running {
            outcomes.push(started.wait(self.limit, is_asked_to_end)?);
        }
        Ok(outcomes)
    }

    fn one(
        &self,
        command: &Command,
        variables: &[(String, String)],
        is_asked_to_end: &AtomicBool,
    ) -> Result<Outcome, TrialError> {
        Ok(self.start(command, variables)?.wait(self.limit, is_asked_to_end)?)
    }

    /// Starts a command, in whose output is looked for what a failure writes.
    fn start(
        &self,
        command: &Command,
        variables: &[(String, String)],
    ) -> Result<Running, TrialError> {
        let wanted = self.expect.as_deref();
        Running::start(command, variables, &token(), wanted)
            .map_err(|source| TrialError::Start { command: command.text(), source })
    }

    /// Why these ends of clients are a failure. One that is no refusal is told first: a client that
    /// was refused has done nothing wrong.
    fn failure(
        &self,
        outcomes: &[Outcome],
        is_given_up: bool,
    ) -> Result<Option<Failure>, TrialError> {
        let mut found: Option<Failure> = None;
        for outcome in outcomes {
            // Whoever says what a failure looks like knows what exit codes mean.
            let has_codes = self.expect.is_none();
            let Some(mut failure) = failure(&self.command, outcome, has_codes)? else { continue };
            failure.is_refusal = is_given_up
                && outcome.named.is_none()
                && matches!(outcome.ended, Ended::Code(_))
                && tells_of_refusal(&the_last(&outcome.output, REFUSAL_LINES_MAX));
            if found.as_ref().is_none_or(|it| it.is_refusal && !failure.is_refusal) {
                found = Some(failure);
            }
        }
        Ok(found)
    }

    /// Why the end of the check is a failure: it is by its exit code, whatever clients write.
    fn failure_of_check(
        &self,
        check: &Command,
        outcome: &Outcome,
    ) -> Result<Option<Failure>, TrialError> {
        failure(check, outcome, true)
    }
}

/// Why this end of a command is a failure, if it is one.
fn failure(
    command: &Command,
    outcome: &Outcome,
    has_codes: bool,
) -> Result<Option<Failure>, TrialError> {
    let Outcome { ended, output, named, .. } = outcome;
    let what = match (*ended, named) {
        (Ended::Interrupted, _) => return Err(TrialError::Interrupted),
        (_, Some(line)) => format!("wrote `{}`", line.trim()),
        (Ended::Code(0), None) => return Ok(None),
        (Ended::Code(_), None) if !has_codes => return Ok(None),
        (ended, None) => how(ended),
    };
    let (command, output) = (command.text(), the_last(output, LINES_MAX));
    let is_late = *ended == Ended::Late;
    Ok(Some(Failure { what, command, output, is_late, is_refusal: false }))
}

/// How many lines of output are shown.
const LINES_MAX: usize = 20;

/// In how many of the last lines a client says why it ended.
const REFUSAL_LINES_MAX: usize = 50;

/// The last lines of an output.
fn the_last(output: &str, count: usize) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
