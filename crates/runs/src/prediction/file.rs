//! What `seriatim predict --output` writes, as far as it takes to run it.

use super::plan::{PlannedEvent, PlannedTxn};
use crate::observe::Observed;
use serde::{Deserialize, Serialize};
use seriatim_store::TxnName;

/// A file of predictions.
#[derive(Clone, Debug, Deserialize)]
pub struct Predicted {
    /// The code of the level.
    pub level: String,
    /// What the observed history says of itself.
    observed: Option<Extra>,
    /// The predictions.
    pub predictions: Vec<PredictedRun>,
}

#[derive(Clone, Debug, Deserialize)]
struct Extra {
    application: Option<Observed>,
    #[serde(flatten)]
    command: ObservedCommand,
}

/// How a command of the user was run when a history was observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedCommand {
    /// The command, if there was one.
    pub command: Option<String>,
    /// What was run before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// How many of it ran at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// What was run after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// What of its output is a failure, if not its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// How long it may take, in milliseconds, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether its URL was one of MySQL.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mysql: bool,
    /// Whether statements locked nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub without_locks: bool,
    /// Whether sessions of MySQL had `innodb_snapshot_isolation`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub innodb_snapshot_isolation: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A prediction.
#[derive(Clone, Debug, Deserialize)]
pub struct PredictedRun {
    sessions: Vec<Session>,
    transactions: Vec<PlannedTxn>,
}

#[derive(Clone, Debug, Deserialize)]
struct Session {
    /// Its name, which is its number in the store.
    session: String,
}

impl Predicted {
    /// The command that was run when the history was observed, if it was one.
    pub fn command(&self) -> Option<&ObservedCommand> {
        self.observed.as_ref().map(|extra| &extra.command).filter(|it| it.command.is_some())
    }

    /// What was run when the history was observed, if it says so.
    pub fn application(&self) -> Option<&Observed> {
        self.observed.as_ref()?.application.as_ref()
    }
}

impl PredictedRun {
    /// What a transaction is called in the observed run, as reports name it.
    pub fn called(&self, txn: TxnName) -> String {
        let plan = self.plan().unwrap_or_default();
        let name =
            plan.iter().find(|planned| planned.txn() == txn).and_then(|one| one.name.clone());
        match name {
            // Reports put a letter before a number.
            Some(name) if name.parse::<i128>().is_ok() => format!("t{name}"),
            Some(name) => name,
            None => format!("transaction {} of session {}", txn.txn, txn.session),
        }
    }

    /// The transactions with the numbers that sessions have in the store; a file may have them in
    /// another order. `None` if the sessions are not called by these numbers.
    pub fn plan(&self) -> Option<Vec<PlannedTxn>> {
        let numbers: Vec<u32> =
            self.sessions.iter().map(|one| one.session.parse().ok()).collect::<Option<_>>()?;
        let number = |session: u32| numbers.get(session as usize).copied();
        let mut plan = self.transactions.clone();
        for txn in &mut plan {
            txn.session = number(txn.session)?;
            for writer in txn.events.iter_mut().filter_map(PlannedEvent::writer_mut) {
                writer.session = number(writer.session)?;
            }
        }
        Some(plan)
    }
}
