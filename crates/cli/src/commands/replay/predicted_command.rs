//! `seriatim replay PREDICTION -- CMD`: a command of the user, led into a predicted run.

use super::Args;
use super::prediction::{level_of, plan_of};
use crate::commands::application::{Known, told};
use crate::exit::{Exit, Failure};
use crate::parsers::Style;
use crate::run_page::{self, PAGE_WIDTH, RunPage, sequence};
use crate::write_history::save;
use crate::{describe_run, interrupt, output};
use seriatim_check::Answer;
use seriatim_history::formats::Format;
use seriatim_report::Checked;
use seriatim_report::runs::{Application, directed};
use seriatim_runs::{Predicted, PredictedRun};
use seriatim_trial::{DirectedCommand, Protocol};
use std::time::Duration;

/// Runs the command as each prediction says.
pub fn run(args: &Args, predicted: &Predicted) -> Result<Exit, Failure> {
    let shown = args.run.display();
    let level = level_of(args, predicted)?;
    let observed = predicted.command().cloned().ok_or_else(|| {
        let problem = "it is not about a command; predict from a file that `seriatim observe -o \
                       FILE -- CMD` wrote";
        Failure::about(&shown, problem)
    })?;
    let own = args.own.text();
    if let Some(command) = observed.command.as_ref().filter(|command| **command != own) {
        output::message(&format!(
            "note: the run was observed of `{command}`, and this is `{own}`\n"
        ));
    }
    let known = Known {
        setup: observed.setup,
        clients: observed.clients,
        check: observed.check,
        expect: observed.expect,
        timeout: observed.timeout_ms.map(Duration::from_millis),
        protocol: observed.mysql.then_some(Protocol::Mysql),
        without_locks: observed.without_locks,
        innodb_snapshot_isolation: observed.innodb_snapshot_isolation,
        forced_level: false,
    };
    let application = args.own.application(&known);
    let is_asked_to_end = interrupt::ask_next();
    let state = application.set_up(is_asked_to_end).map_err(told)?;
    let mut exit = Exit::Holds;
    for (number, prediction) in predicted.predictions.iter().enumerate() {
        let plan = plan_of(args, prediction)?;
        let run = application.directed(&state, level, &plan, is_asked_to_end).map_err(told)?;
        let command = application.command.text();
        let (page, told, checked) = report(args, predicted, number, &command, &run);
        output::text(&page)?;
        if number == 0 {
            write_page(args, &told, &checked, &run)?;
        }
        if let Some(path) = args.save.as_ref().filter(|_| number == 0) {
            save(&run.run.history, Format::Jsonl, path)?;
        }
        exit = exit.and(match run.is_serializable {
            Some(true) => Exit::Holds,
            Some(false) => Exit::Violated,
            None => Exit::Undecided,
        });
    }
    interrupt::release();
    Ok(exit)
}

fn report(
    args: &Args,
    predicted: &Predicted,
    number: usize,
    command: &str,
    run: &DirectedCommand,
) -> (String, String, Checked) {
    let prediction: &PredictedRun = &predicted.predictions[number];
    let failure = run.run.failure.as_ref();
    let failure = failure.map(|it| format!("it {}:\n{}", it.what, it.output));
    let report = directed::Directed {
        app: Application { name: command, assertion: "the command passed" },
        level: &predicted.level,
        number: number + 1,
        has_others: predicted.predictions.len() > 1,
        divergence: run.departure.as_ref().map(|it| it.told(|txn| prediction.called(txn))),
        is_serializable: run.is_serializable,
        assertion: match &failure {
            None => directed::Assertion::Held,
            Some(failure) => directed::Assertion::Broke(failure),
        },
        tries: (run.number, run.tries),
        checked: describe_run::checked(command, &run.run.history),
    };
    let page = match args.format {
        Style::Human => directed::render(&report, output::width()),
        Style::Json => directed::json(&report) + "\n",
    };
    (page, directed::render(&report, PAGE_WIDTH), report.checked)
}

fn write_page(
    args: &Args,
    text: &str,
    checked: &Checked,
    run: &DirectedCommand,
) -> Result<(), Failure> {
    let history = &run.run.history;
    let called = |session: u32| run.run.called.get(&session).cloned();
    let sequence = sequence(history, &run.run.statements, called);
    let about = RunPage {
        title: &checked.input,
        answer: match run.is_serializable {
            Some(true) => Answer::Holds,
            Some(false) => Answer::Violated,
            None => Answer::Undecided,
        },
        text,
        sequence: Some(&sequence),
        run: Some((checked, history)),
    };
    run_page::write(&args.html, &args.svg, &about)
}
