//! `seriatim observe -- CMD`: one serializable run of a command of the user, recorded with its
//! statements.

use super::application::{Known, told};
use super::observe::Args;
use crate::exit::{Exit, Failure};
use crate::loss_notes::lost_note;
use crate::write_history::{format_for, may_write_history, save};
use crate::{interrupt, output};
use seriatim_history::formats::Format;
use seriatim_report::runs::observed;
use seriatim_runs::ObservedCommand;
use seriatim_trial::{Application, Command, Protocol};

/// What the history says of where it comes from, for `replay`.
fn origin(application: &Application) -> Result<String, Failure> {
    let text = |command: &Command| command.text();
    let observed = ObservedCommand {
        command: Some(application.command.text()),
        setup: application.set_up.as_ref().map(text),
        clients: Some(application.clients).filter(|&clients| clients > 1),
        check: application.check.as_ref().map(text),
        expect: application.expect.clone(),
        timeout_ms: u64::try_from(application.limit.as_millis()).ok(),
        mysql: application.protocol == Protocol::Mysql,
        without_locks: !application.uses_locks,
        innodb_snapshot_isolation: application.innodb_snapshot_isolation,
    };
    let mut extra =
        serde_json::to_value(&observed).map_err(|error| Failure::Message(error.to_string()))?;
    extra["source"] = "observe".into();
    Ok(extra.to_string())
}

/// Runs the command once, writes the history.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let to = format_for(args.to, &args.output, Format::Jsonl)?;
    may_write_history(&args.output, to, &[])?;
    let is_asked_to_end = interrupt::ask_next();
    let application = args.own.application(&Known::default());
    let command = application.command.text();
    let state = application.set_up(is_asked_to_end).map_err(told)?;
    let run = application.serializable_run(&state, 0, is_asked_to_end).map_err(told)?;
    interrupt::release();
    let history = run.history.with_extra(&origin(&application)?);
    save(&history, to, &args.output)?;
    if let Some(note) = lost_note(&history, to) {
        output::message(&note);
    }
    output::message(&observed::render(&observed::Observed {
        app: &command,
        transactions: history.txn_count(),
        operations: history.op_count(),
    }));
    Ok(Exit::Holds)
}
