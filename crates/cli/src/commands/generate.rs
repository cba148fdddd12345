//! `seriatim generate`: a history made to order.

use crate::exit::{Exit, Failure};
use crate::kinds::{Kinds, KindsParser};
use crate::loss_notes::lost_note;
use crate::output;
use crate::parsers::{format_parser, generate_level_parser, order_parser};
use crate::progress::Progress;
use crate::write_history::{format_for, may_write_history, save};
use clap::ValueEnum;
use seriatim_generate::{KeyChoice, Workload};
use seriatim_history::formats::Format;
use seriatim_isolation::{Level, Order};
use seriatim_report::text::plural;
use std::path::PathBuf;

/// The flags.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where to write it, or - for standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The format of the output; without it the ending of OUT decides, as for convert, and if that
    /// says nothing it is plume
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    to: Option<Format>,
    /// The level that the simulated store keeps, and no more
    #[arg(
        long,
        short,
        value_name = "LEVEL",
        value_parser = generate_level_parser(),
        default_value = "ser"
    )]
    level: Level,
    /// The order that it keeps the level with; with real-time the history has begin and end times,
    /// so the format should have them too (jsonl, elle)
    #[arg(long, value_name = "ORDER", value_parser = order_parser(), default_value = "sessions")]
    order: Order,
    /// Sessions
    #[arg(long, value_name = "N", default_value_t = 10)]
    sessions: u32,
    /// Transactions in each session
    #[arg(long, value_name = "N", default_value_t = 100)]
    transactions: u32,
    /// Operations in each transaction
    #[arg(long, value_name = "N", default_value_t = 8)]
    operations: u32,
    /// Keys
    #[arg(long, value_name = "N", default_value_t = 1000)]
    keys: u32,
    /// Share of the operations that are reads, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    reads: f64,
    /// Share of the transactions that abort, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    aborts: f64,
    /// How operations choose their keys
    #[arg(long, value_enum, default_value_t = Distribution::Uniform)]
    distribution: Distribution,
    /// For zipfian: how fast the frequency of keys falls
    #[arg(long, value_name = "NUMBER", default_value_t = 0.99)]
    exponent: f64,
    /// For hotspot: share of the keys that is hot
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    hot_keys: f64,
    /// For hotspot: share of the operations on hot keys
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    hot_operations: f64,
    /// Anomalies to plant, each once, separated by commas; a name that several share, like
    /// G-single, plants all of them
    #[arg(long, value_name = "ANOMALY", value_delimiter = ',', value_parser = plant_parser())]
    plant: Vec<Kinds>,
    /// What decides everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// How operations choose their keys.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Distribution {
    /// All keys alike
    Uniform,
    /// Few keys often, many keys seldom
    Zipfian,
    /// A share of the keys gets most of the operations
    Hotspot,
}

impl Args {
    fn workload(&self, format: Format) -> Workload {
        Workload {
            sessions: self.sessions,
            txns_per_session: self.transactions,
            ops_per_txn: self.operations,
            keys: self.keys,
            reads: self.reads,
            key_choice: self.key_choice(),
            level: self.level,
            order: self.order,
            aborts: self.aborts,
            plant: Kinds::all(&self.plant),
            // A user who asks for aborts is told that the format has none; one who does not need
            // not know that the store has some.
            committed_only: self.aborts == 0.0 && !format.holds_aborted(),
            initial_writes: !format.holds_initial_values(),
            seed: self.seed,
        }
    }

    fn key_choice(&self) -> KeyChoice {
        match self.distribution {
            Distribution::Uniform => KeyChoice::Uniform,
            Distribution::Zipfian => KeyChoice::Zipfian { exponent: self.exponent },
            Distribution::Hotspot => {
                KeyChoice::Hotspot { keys: self.hot_keys, operations: self.hot_operations }
            }
        }
    }
}

/// Makes the history and writes it.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let to = format_for(args.to, &args.output, Format::Plume)?;
    may_write_history(&args.output, to, &[])?;
    let workload = args.workload(to);
    let progress = Progress::towards(&args.output);
    if let Some(progress) = &progress {
        progress.stage().now(format!("generating {}", plural(workload.operations(), "operation")));
    }
    let history = seriatim_generate::generate(&workload)
        .map_err(|error| Failure::Message(error.to_string()))?;
    save(&history, to, &args.output)?;
    drop(progress);
    if let Some(note) = lost_note(&history, to).filter(|_| args.order == Order::RealTime) {
        output::message(&note);
    }
    Ok(Exit::Holds)
}

/// Only what a register history can show.
fn plant_parser() -> KindsParser {
    KindsParser::of("can be planted", seriatim_generate::can_be_planted)
}
