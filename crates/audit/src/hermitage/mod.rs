//! The scenarios of Hermitage as scripts that play themselves: which anomalies a database shows at
//! which setting, step by step and the same each time. `seriatim audit --hermitage` is this.

mod scenarios;
mod stage;

pub use scenarios::{CREATE, FINAL, Outcome, RESET, Run, SCENARIOS, Scenario};
pub use stage::{Actor, Stage, StageError, Waits, orders, own_order};

use crate::driver::{Driver, DriverError, Speaker};
use crate::error::AuditError;
use crate::setting::Setting;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A step that has no answer after this time is blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(700);
/// How many sessions scenarios have at most.
const SESSIONS: u32 = 3;
/// The statement that begins a transaction at a setting, for our own sessions.
const BEGIN: &str = "begin at ";

/// What the scenarios came to at one setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// The setting, as the database calls it.
    pub setting: String,
    /// Of each scenario its name, whether its anomaly happened, and what its sessions were told.
    pub scenarios: Vec<(&'static str, bool, Run)>,
}

/// Plays all scenarios at a setting, each in its own order, until it is asked to end.
pub fn play(
    driver: &dyn Driver,
    setting: Setting,
    is_asked_to_end: &AtomicBool,
) -> Result<Played, AuditError> {
    let table = format!("{}_test", driver.prefix());
    let actors = || {
        (0..SESSIONS)
            .map(|session| {
                let speaker = driver.speak(session)?;
                let mut careful = Careful { speaker, table: table.clone(), has_failed: false };
                Ok(Actor::new(session, move |statement| careful.run(statement)))
            })
            .collect::<Result<Vec<Actor>, DriverError>>()
    };
    let has_nodes = driver.node(0).is_some();
    let (players, observers) = (actors()?, if has_nodes { actors()? } else { Vec::new() });
    let played = Stage::new(players, None, BLOCKED_AFTER).and_then(|stage| {
        let stage = stage.observed_by(observers);
        play_on(stage, setting, driver.setting_name(setting), is_asked_to_end)
    });
    // The sessions are gone by now. Whatever happened, nothing is left behind if that is possible.
    let dropped = driver
        .speak(0)
        .and_then(|mut speaker| speaker.say(&format!("DROP TABLE IF EXISTS {table}")))
        .and_then(|_| driver.clean_up());
    match (played, dropped) {
        (Ok(played), Ok(())) => Ok(played),
        (Ok(_), Err(error)) => Err(left(&table, "", &error)),
        (Err(error), Ok(())) => Err(DriverError::Other(error.to_string()).into()),
        (Err(played), Err(error)) => Err(left(&table, &format!("{played}; besides, "), &error)),
    }
}

fn left(table: &str, before: &str, error: &DriverError) -> AuditError {
    let text = format!("{before}the table {table} may be left in the database: {error}");
    DriverError::Other(text).into()
}

fn play_on(
    mut stage: Stage<'_>,
    setting: Setting,
    name: String,
    is_asked_to_end: &AtomicBool,
) -> Result<Played, StageError> {
    let mut scenarios = Vec::new();
    for scenario in &SCENARIOS {
        if is_asked_to_end.load(Ordering::Relaxed) {
            break;
        }
        let begin = [format!("{BEGIN}{}", setting.code())];
        let run = stage.play(scenario, &begin, &own_order(scenario))?;
        scenarios.push((scenario.name, (scenario.happened)(&run), run));
    }
    Ok(Played { setting: name, scenarios })
}

/// A session whose transaction is over after an error, as an application would have it.
struct Careful {
    speaker: Box<dyn Speaker>,
    table: String,
    has_failed: bool,
}

impl Careful {
    fn run(&mut self, statement: &str) -> Outcome {
        // What comes between the scenarios is always done.
        if [RESET, FINAL, CREATE].contains(&statement) || statement.starts_with(BEGIN) {
            self.has_failed = false;
        }
        if self.has_failed {
            return Outcome::Failed("over".to_owned());
        }
        let done = match statement.strip_prefix(BEGIN).map(str::parse) {
            Some(Ok(setting)) => {
                self.speaker.begin(setting).map(|()| Outcome::Done("BEGIN".to_owned()))
            }
            _ => self.say(statement),
        };
        done.unwrap_or_else(|error| {
            self.has_failed = true;
            // It may be over already.
            let _ = self.speaker.say("ROLLBACK");
            Outcome::Failed(error.to_string())
        })
    }

    fn say(&mut self, statement: &str) -> Result<Outcome, DriverError> {
        let mut last = Outcome::Done(String::new());
        for part in statement.split(';').map(str::trim) {
            let answer = self.speaker.say(&part.replace("test", &self.table))?;
            let word = part.split(' ').next().unwrap_or_default();
            last = match answer.rows {
                Some(rows) => Outcome::Rows(rows.iter().map(|row| numbers(row)).collect()),
                None if ["COMMIT", "ROLLBACK"].contains(&word) => Outcome::Done(word.to_owned()),
                None => Outcome::Done(format!("{word} {}", answer.changed)),
            };
        }
        Ok(last)
    }
}

fn numbers(row: &[Option<String>]) -> Vec<i64> {
    row.iter().filter_map(|value| value.as_ref()?.parse().ok()).collect()
}
