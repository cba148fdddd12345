//! The tables of the IsoPredict paper with our applications: what is predicted over ten seeds, how
//! much of it is validated, and how often random and adversarial choices find something instead.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin predict_tables [tables45] [future]
//! [tables67] [validation]`; ten seeds from `SEEDS_FROM` (default 10000) in steps of 10000.
//! `validation` is not in the paper and is printed only if it is named: at every level and with
//! every strategy, how many predictions validate, over the seeds `SEEDS` (as in `501-560`), in one
//! row each; `validation cc rc` is only about these levels. Those that do not validate are told on
//! standard error. With `PLAIN=1` in the environment runs follow the plain rule: transactions that
//! aborted in the observed run may commit, and no transaction stays open until the others have
//! read.

use seriatim::apps::{App, BENCHMARKS, Workload, benchmark};
use seriatim::predict::{
    Answer, Boundary, Mode, Options, Outlook, Planned, Prediction, TxnPlace, predict,
};
use seriatim::runs::{
    Fuzz, PlannedEvent, PlannedTxn, Rules, Setting, Writer, run, run_directed_by,
};
use seriatim::store::{ChooserKind, Latest, by_chance};
use seriatim::{History, Level};
use std::error::Error;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How many seeds there are, and how far apart.
const SEEDS: usize = 10;
const SEED_STEP: usize = 10_000;
/// Runs of the mock store for each seed.
const RUNS: u64 = 10;
const STRATEGIES: [(&str, Mode, Boundary); 4] = [
    ("Exact-Strict", Mode::Exact, Boundary::Strict),
    ("Approx-Strict", Mode::Approx, Boundary::Strict),
    ("Approx-Relaxed", Mode::Approx, Boundary::Relaxed),
    ("Exact-Relaxed", Mode::Exact, Boundary::Relaxed),
];

/// The paper's Tables 4 and 5: for each program and strategy `sat validated (diverged), seconds for
/// constraints and solving`.
fn paper(level: Level, large: bool, program: &str, strategy: &str) -> &'static str {
    let strategy = ["Exact-Strict", "Approx-Strict", "Approx-Relaxed"]
        .iter()
        .position(|name| *name == strategy);
    let is_there = [Level::Causal, Level::ReadCommitted].contains(&level);
    let Some(strategy) = strategy.filter(|_| is_there) else { return "–" };
    let table: [[&str; 3]; 4] = match (level, large) {
        (Level::Causal, false) => [
            ["4 4 (0), 22 s", "4 4 (1), 25 s", "10 9 (1), 24 s"],
            ["0 0 (0), 126 s", "0 0 (0), 142 s", "0 0 (0), 142 s"],
            ["9 9 (0), 503 s", "9 9 (0), 468 s", "10 10 (0), 448 s"],
            ["0 0 (0), 38 s", "0 0 (0), 38 s", "2 2 (1), 38 s"],
        ],
        (Level::Causal, true) => [
            ["5 5 (1), 4 T/O", "9 9 (0), 1 T/O", "10 10 (0), 138 s"],
            ["0 0 (0), 9 T/O", "0 0 (0), 538 s", "0 0 (0), 543 s"],
            ["3 3 (0), 4 T/O", "8 8 (0), 2 T/O", "10 10 (2), 3519 s"],
            ["1 1 (0), 8 T/O", "1 1 (0), 292 s", "2 2 (2), 283 s"],
        ],
        (_, false) => [
            ["10 10 (0), 12 s", "10 10 (0), 25 s", "10 10 (0), 25 s"],
            ["10 10 (2), 75 s", "10 10 (7), 145 s", "10 10 (10), 145 s"],
            ["10 10 (0), 411 s", "10 10 (0), 596 s", "10 10 (3), 612 s"],
            ["7 7 (2), 2 unknown", "7 7 (1), 40 s", "7 7 (7), 40 s"],
        ],
        (_, true) => [
            ["10 9 (1), 685 s", "10 10 (1), 144 s", "10 10 (1), 180 s"],
            ["10 10 (2), 468 s", "10 10 (6), 568 s", "10 10 (10), 571 s"],
            ["10 10 (2), 3470 s", "10 10 (2), 4262 s", "10 10 (4), 4241 s"],
            ["10 10 (1), 206 s", "10 10 (1), 302 s", "10 9 (10), 290 s"],
        ],
    };
    let program = BENCHMARKS.iter().position(|name| *name == program).unwrap_or_default();
    table[program][strategy]
}

/// The paper's Tables 6 and 7: MonkeyDB's failures and unserializable runs, IsoPredict's, in
/// percent.
fn paper_comparison(level: Level, large: bool, program: &str) -> &'static str {
    let program = BENCHMARKS.iter().position(|name| *name == program).unwrap_or_default();
    let table = match (level, large) {
        (Level::Causal, false) => ["70 98 90", "70 80 0", "98 100 100", "0 11 20"],
        (Level::Causal, true) => ["84 100 100", "56 80 0", "100 100 100", "0 19 20"],
        (_, false) => ["100 100 100", "89 100 100", "100 100 100", "54 54 70"],
        (_, true) => ["100 100 100", "95 100 100", "100 100 100", "89 89 100"],
    };
    table[program]
}

fn seeds() -> impl Iterator<Item = u64> {
    let from =
        std::env::var("SEEDS_FROM").ok().and_then(|from| from.parse().ok()).unwrap_or(10_000);
    (from..).step_by(SEED_STEP).take(SEEDS)
}

/// The seeds of the table `validation`: those that `SEEDS` names, else the ten.
fn named_seeds() -> Result<Vec<u64>> {
    let Ok(range) = std::env::var("SEEDS") else { return Ok(seeds().collect()) };
    let (first, last) = range.split_once('-').ok_or("SEEDS is a range, as in 501-560")?;
    Ok((first.parse()?..=last.parse()?).collect())
}

fn workload(seed: u64, large: bool) -> Workload {
    if large { Workload::large(seed) } else { Workload::small(seed) }
}

fn observe(name: &str, workload: Workload) -> Result<(Box<dyn App>, History)> {
    let app = benchmark(name, workload).ok_or("no such application")?;
    let setting = Setting { level: Level::ReadCommitted, interleaved: false };
    let run = run(app.as_ref(), setting, Latest, by_chance(workload.seed))?;
    match run.failure {
        Some(failure) => Err(format!("{name}: a serial run broke: {failure}").into()),
        None => Ok((app, run.history)),
    }
}

fn plan(prediction: &Prediction) -> Vec<PlannedTxn> {
    let writer = |place: TxnPlace| Writer { session: place.session, index: place.index };
    let event = |event: &Planned| match event {
        Planned::Read { key, from } => {
            PlannedEvent::Read { read: key.clone(), from: from.map(writer) }
        }
        Planned::Write { key } => PlannedEvent::Write { write: key.clone() },
    };
    let txn = |txn: &seriatim::predict::PlannedTxn| PlannedTxn {
        begun: txn.begun,
        session: txn.txn.session,
        index: txn.txn.index,
        name: Some(txn.name.clone()),
        whole: txn.whole,
        needed: txn.needed,
        aborted: txn.aborted,
        events: txn.events.iter().map(event).collect(),
    };
    prediction.plan.iter().map(txn).collect()
}

#[derive(Default)]
struct Row {
    found: u32,
    none: u32,
    undecided: u32,
    validated: u32,
    diverged: u32,
    /// Predictions in which a transaction is cut although it would go on, and how many of them
    /// validate.
    short: u32,
    short_validated: u32,
    slowest: Duration,
    total: Duration,
}

impl Row {
    fn add(
        &mut self,
        app: &dyn App,
        seed: u64,
        history: &History,
        options: &Options,
    ) -> Result<()> {
        let start = Instant::now();
        let answer = predict(history, options)?;
        let time = start.elapsed();
        self.slowest = self.slowest.max(time);
        self.total += time;
        match answer {
            Answer::Found(prediction) => {
                self.found += 1;
                let rules =
                    if std::env::var_os("PLAIN").is_some() { Rules::Plain } else { Rules::Helpful };
                let directed = run_directed_by(rules, app, options.level, &plan(&prediction))?;
                let is_short = prediction.outlook == Outlook::CutShort;
                self.short += u32::from(is_short);
                self.short_validated +=
                    u32::from(is_short && directed.is_serializable == Some(false));
                self.validated += u32::from(directed.is_serializable == Some(false));
                self.diverged += u32::from(directed.departure.is_some());
                if directed.is_serializable != Some(false) {
                    let left = directed.departure.map(|left| left.to_string()).unwrap_or_default();
                    let changed = prediction.changed.iter();
                    let changed =
                        changed.map(|one| format!("{} {}", one.read.txn.name, one.read.key));
                    let changed = changed.collect::<Vec<_>>().join(", ");
                    let (name, level, strategy) =
                        (app.name(), options.level.code(), options.boundary.word());
                    let (txns, mode) = (history.txn_count(), options.mode.word());
                    let short = if is_short { ", cut short" } else { "" };
                    eprintln!(
                        "{name} seed {seed} ({txns} transactions) {level} \
                         {mode}-{strategy}{short}: not validated: {left} (changed: {changed})"
                    );
                }
            }
            Answer::NoneExists(_) => self.none += 1,
            _ => self.undecided += 1,
        }
        Ok(())
    }
}

fn predictions(level: Level, large: bool) -> Result<()> {
    println!("\n{level}, {} workload, {} seeds", if large { "large" } else { "small" }, SEEDS);
    println!(
        "{:<10} {:<15} {:>5} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}  paper: found validated \
         (diverged), time",
        "program",
        "strategy",
        "none",
        "found",
        "undecided",
        "validated",
        "diverged",
        "mean ms",
        "max ms"
    );
    for name in BENCHMARKS {
        for (strategy, mode, boundary) in STRATEGIES {
            let mut row = Row::default();
            for seed in seeds() {
                let (app, history) = observe(name, workload(seed, large))?;
                row.add(
                    app.as_ref(),
                    seed,
                    &history,
                    &Options { mode, boundary, ..Options::new(level) },
                )?;
            }
            let mean = row.total.as_secs_f64() * 1e3 / SEEDS as f64;
            println!(
                "{name:<10} {strategy:<15} {:>5} {:>5} {:>9} {:>9} {:>9} {mean:>9.1} {:>9.1}  {}",
                row.none,
                row.found,
                row.undecided,
                row.validated,
                row.diverged,
                row.slowest.as_secs_f64() * 1e3,
                paper(level, large, name, strategy),
            );
        }
    }
    Ok(())
}

/// How many of the runs of a chooser break the assertion, and how many are not serializable, in
/// percent.
fn chosen(name: &str, large: bool, level: Level, chooser: ChooserKind) -> Result<(u64, u64)> {
    let (mut failed, mut unserializable) = (0, 0);
    for seed in seeds() {
        let app = benchmark(name, workload(seed, large)).ok_or("no such application")?;
        let mut fuzz =
            Fuzz::new(app.as_ref(), Setting { level, interleaved: false }, chooser, seed);
        for number in 0..RUNS {
            let run = fuzz.run(number)?;
            failed += u64::from(run.failure.is_some());
            let report = seriatim::check(&run.history, Level::Serializable);
            unserializable += u64::from(report.violates(Level::Serializable));
        }
    }
    let runs = SEEDS as u64 * RUNS;
    Ok((failed * 100 / runs, unserializable * 100 / runs))
}

fn comparison(level: Level, large: bool, boundary: Boundary) -> Result<()> {
    let size = if large { "large" } else { "small" };
    println!(
        "\n{level}, {size} workload: failed and unserializable runs of the mock store, validated \
         predictions, percent"
    );
    println!(
        "{:<10} {:>12} {:>12} {:>12} {:>12} {:>10}  paper: MonkeyDB failed, unserializable, \
         IsoPredict",
        "program", "random fail", "unser", "adversary", "unser", "predict"
    );
    for name in BENCHMARKS {
        let random = chosen(name, large, level, ChooserKind::Random)?;
        let adversary = chosen(name, large, level, ChooserKind::Adversary)?;
        let mut row = Row::default();
        for seed in seeds() {
            let (app, history) = observe(name, workload(seed, large))?;
            let options = Options { mode: Mode::Approx, boundary, ..Options::new(level) };
            row.add(app.as_ref(), seed, &history, &options)?;
        }
        let predicted = row.validated * 100 / SEEDS as u32;
        println!(
            "{name:<10} {:>12} {:>12} {:>12} {:>12} {predicted:>10}  {}",
            random.0,
            random.1,
            adversary.0,
            adversary.1,
            paper_comparison(level, large, name)
        );
    }
    Ok(())
}

/// How many predictions of one size, level and strategy validate, over all applications.
fn validation(level: Level, large: bool, seeds: &[u64]) -> Result<()> {
    for (strategy, mode, boundary) in STRATEGIES {
        let mut row = Row::default();
        for name in BENCHMARKS {
            for &seed in seeds {
                let (app, history) = observe(name, workload(seed, large))?;
                row.add(
                    app.as_ref(),
                    seed,
                    &history,
                    &Options { mode, boundary, ..Options::new(level) },
                )
                .map_err(|error| format!("{name} seed {seed}: {error}"))?;
            }
        }
        println!(
            "| {} | {} | {strategy} | {} | {} | {} | {} | {} | {} | {} | {:.0} |",
            level.code(),
            if large { "large" } else { "small" },
            row.none,
            row.undecided,
            row.found,
            row.validated,
            row.diverged,
            row.short,
            row.short_validated,
            row.slowest.as_secs_f64() * 1e3
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |what: &str| wanted.is_empty() || wanted.iter().any(|one| one == what);
    if wanted.iter().any(|one| one == "validation") {
        let seeds = named_seeds()?;
        println!(
            "| level | size | strategy | none | undecided | found | validated | diverged | cut \
             short | validated | slowest ms |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        let levels = seriatim::predict::LEVELS.into_iter();
        let is_named = |level: &Level| wanted.iter().any(|one| one == level.code());
        let some = levels.clone().any(|level| is_named(&level));
        for level in levels.filter(|level| !some || is_named(level)) {
            validation(level, false, &seeds)?;
            validation(level, true, &seeds)?;
        }
    }
    if is_wanted("tables45") {
        for level in [Level::Causal, Level::ReadCommitted] {
            predictions(level, false)?;
            predictions(level, true)?;
        }
    }
    if is_wanted("future") {
        for level in [Level::ReadAtomic, Level::PrefixConsistency, Level::SnapshotIsolation] {
            predictions(level, false)?;
            predictions(level, true)?;
        }
    }
    if is_wanted("tables67") {
        for large in [false, true] {
            comparison(Level::Causal, large, Boundary::Relaxed)?;
        }
        for large in [false, true] {
            comparison(Level::ReadCommitted, large, Boundary::Strict)?;
        }
    }
    Ok(())
}
