//! `seriatim observe`: a serializable run of a shipped application, recorded for `seriatim
//! predict`.

use super::application::ApplicationArgs;
use super::observe_command;
use crate::commands::fuzz::app_parser;
use crate::exit::{Exit, Failure};
use crate::loss_notes::lost_note;
use crate::output;
use crate::parsers::format_parser;
use crate::quantities::count;
use crate::write_history::{format_for, may_write_history, save};
use clap::ValueEnum;
use seriatim_apps::BENCHMARKS;
use seriatim_history::formats::Format;
use seriatim_isolation::Level;
use seriatim_report::runs::observed;
use seriatim_runs::Setting;
use seriatim_runs::observe::{FIELD, Observed, SESSIONS_MAX, TRANSACTIONS_MAX};
use seriatim_store::{Latest, by_chance};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Transactions run one at a time on a mock store and read the latest versions, so the run is \
                          serializable. The seed decides their order \
and, for the benchmark applications smallbank, voter, tpcc and wikipedia, what they do. In a file \
                          of our JSON Lines the application \
and its workload are kept, so that `seriatim replay` can run it again.

Exit codes: 0 recorded, 3 bad input or usage.";

const USAGE: &str = "\
seriatim observe [OPTIONS] --output <FILE> <APP>
       seriatim observe [OPTIONS] --output <FILE> -- <CMD>...";

/// The flags.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub struct Args {
    /// One of the applications that come with the program; a command of your own stands behind
    /// `--` instead
    #[arg(
        value_name = "APP or -- CMD",
        value_parser = app_parser(),
        required_unless_present = "command"
    )]
    app: Option<&'static str>,
    /// What decides everything that is random
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    seed: u64,
    /// How much a benchmark application does [default: small]
    #[arg(long, value_enum)]
    size: Option<Size>,
    /// How many sessions a benchmark application has, instead of 3
    #[arg(
        long,
        value_name = "N",
        value_parser = count::<u16>(SESSIONS_MAX as u64, "--sessions 3")
    )]
    sessions: Option<u16>,
    /// How many transactions each session of a benchmark application attempts, instead of what
    /// --size says
    #[arg(
        long,
        value_name = "N",
        value_parser = count::<u16>(TRANSACTIONS_MAX as u64, "--transactions 8")
    )]
    transactions: Option<u16>,
    /// Where to write the run, or - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The format of the output; without it the ending of FILE decides, and if that says nothing it
    /// is jsonl
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub to: Option<Format>,
    #[command(flatten)]
    pub own: ApplicationArgs,
}

/// How much a benchmark application does.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// 3 sessions of 4 transactions
    Small,
    /// 3 sessions of 8 transactions
    Large,
}

/// Runs the application, writes the history.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let Some(app) = args.app else { return observe_command::run(args) };
    let to = format_for(args.to, &args.output, Format::Jsonl)?;
    may_write_history(&args.output, to, &[])?;
    let is_benchmark = BENCHMARKS.contains(&app);
    if !is_benchmark
        && (args.size.is_some() || args.sessions.is_some() || args.transactions.is_some())
    {
        let others = BENCHMARKS.join(", ");
        let problem = format!(
            "what it does is fixed; only {others} have --size, --sessions and --transactions"
        );
        return Err(Failure::about(app, problem));
    }
    let per_session = args.transactions.map(usize::from).unwrap_or(match args.size {
        None | Some(Size::Small) => 4,
        Some(Size::Large) => 8,
    });
    let observed = Observed {
        app: app.to_owned(),
        seed: args.seed,
        sessions: is_benchmark.then(|| args.sessions.map_or(3, usize::from)),
        transactions: is_benchmark.then_some(per_session),
    };
    let runnable = observed.runnable().map_err(|error| Failure::about(app, error))?;
    // One at a time and with the latest versions, the weakest level is serializable too, and the
    // cheapest.
    let setting = Setting { level: Level::ReadCommitted, interleaved: false };
    let run = seriatim_runs::run(runnable.app(), setting, Latest, by_chance(args.seed))
        .map_err(|error| Failure::about(app, error))?;
    if let Some(failure) = &run.failure {
        return Err(Failure::about(app, format!("the assertion broke in a serial run: {failure}")));
    }
    let extra = serde_json::json!({ "source": "observe", "seed": args.seed, FIELD: observed });
    let history = run.history.with_extra(&extra.to_string());
    save(&history, to, &args.output)?;
    if let Some(note) = lost_note(&history, to) {
        output::message(&note);
    }
    output::message(&observed::render(&observed::Observed {
        app,
        transactions: history.txn_count(),
        operations: history.op_count(),
    }));
    Ok(Exit::Holds)
}
