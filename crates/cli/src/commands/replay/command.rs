//! `seriatim replay RUN -- CMD`: a command of the user with the choices of a run that failed.

use super::{Args, pause};
use crate::commands::application::{Known, told};
use crate::exit::{Exit, Failure};
use crate::parsers::Style;
use crate::run_page::{self, PAGE_WIDTH, RunPage, sequence};
use crate::write_history::save;
use crate::{describe_run, interrupt, output};
use seriatim_check::Answer;
use seriatim_history::formats::Format;
use seriatim_report::runs::retried::{self, Retried};
use seriatim_trial::{Fuzz, Recording, Run};
use std::time::Duration;

/// How long a command may take that is looked at by a person.
const PAUSED_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

fn write_page(args: &Args, retried: &Retried, run: &Run) -> Result<(), Failure> {
    let called = |session: u32| run.called.get(&session).cloned();
    let sequence = sequence(&run.history, &run.statements, called);
    let about = RunPage {
        title: &retried.command,
        answer: if retried.failure.is_some() { Answer::Violated } else { Answer::Holds },
        text: &retried::render(retried, PAGE_WIDTH),
        sequence: Some(&sequence),
        run: Some((&retried.checked, &run.history)),
    };
    run_page::write(&args.html, &args.svg, &about)
}

/// Runs the command again.
pub fn run(args: &Args, bytes: &[u8]) -> Result<Exit, Failure> {
    let about = |error: &dyn std::fmt::Display| Failure::about(args.run.display(), error);
    let recording: Recording = serde_json::from_slice(bytes).map_err(|error| {
        let problem = "not a run that `seriatim fuzz --output RUN -- CMD` kept, nor a prediction \
                       from `seriatim observe -- CMD`";
        about(&format!("{problem}: {error}"))
    })?;
    let family = recording.family().map_err(|error| about(&error))?;
    let known = Known {
        setup: recording.setup.clone(),
        clients: Some(recording.clients),
        check: recording.check.clone(),
        expect: recording.expect.clone(),
        timeout: recording.timeout_ms.map(Duration::from_millis),
        protocol: Some(recording.protocol()),
        without_locks: recording.without_locks,
        forced_level: recording.forced_level,
        innodb_snapshot_isolation: recording.innodb_snapshot_isolation,
    };
    let mut application = args.own.application(&known);
    let pauser = args.pause.then(pause::pauser);
    if pauser.is_some() {
        application.limit = PAUSED_LIMIT;
    }
    let is_asked_to_end = interrupt::ask_next();
    let state = application.set_up(is_asked_to_end).map_err(told)?;
    let fuzz = Fuzz {
        application: &application,
        state: &state,
        family,
        chooser: None,
        seed: 0,
        first: 0,
        runs: 1,
        jobs: 1,
        deadline: None,
        hold_points: Vec::new(),
        forgives_refusals: false,
    };
    let replayed = recording.replay(&fuzz, pauser, is_asked_to_end).map_err(told)?;
    interrupt::release();
    let failure = replayed.run.failure.as_ref();
    let command = application.command.text();
    let retried = Retried {
        database: family.text(),
        expected: recording.failure.clone(),
        failure: failure.map(|it| (it.what.clone(), it.output.clone())),
        divergence: replayed.divergence.map(|it| it.to_string()),
        checked: describe_run::checked(&command, &replayed.run.history),
        command,
    };
    let page = match args.format {
        Style::Human => retried::render(&retried, output::width()),
        Style::Json => retried::json(&retried) + "\n",
    };
    output::text(&page)?;
    write_page(args, &retried, &replayed.run)?;
    if let Some(path) = &args.save {
        save(&replayed.run.history, Format::Jsonl, path)?;
    }
    Ok(if retried.failure.is_some() { Exit::Violated } else { Exit::Holds })
}
