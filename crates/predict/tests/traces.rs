//! The traces of the published tool, at causal consistency and read committed, with every strategy.
//!
//! The folder is looked for where `SERIATIM_ISOPREDICT` says, else in `../../../shared/histories/isopredict`; without it the tests
//! pass and say so.

use seriatim_check::Level;
use seriatim_history::History;
use seriatim_history::formats::{ReadOptions, read_path};
use seriatim_predict::{Answer, Boundary, Mode, Options, confirm, predict};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LEVELS: [Level; 2] = [Level::Causal, Level::ReadCommitted];
/// Exact-Strict, Approx-Strict and Approx-Relaxed of the paper, and Exact-Relaxed.
const STRATEGIES: [(Mode, Boundary); 4] = [
    (Mode::Exact, Boundary::Strict),
    (Mode::Approx, Boundary::Strict),
    (Mode::Approx, Boundary::Relaxed),
    (Mode::Exact, Boundary::Relaxed),
];

fn folder(name: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/histories/isopredict");
    let folder = std::env::var_os("SERIATIM_ISOPREDICT").map_or(here, PathBuf::from).join(name);
    if !folder.is_dir() {
        eprintln!("skipped: there are no traces in {}; set SERIATIM_ISOPREDICT", folder.display());
        return None;
    }
    Some(folder)
}

fn read(path: &Path) -> History {
    read_path(path, &path.display().to_string(), &ReadOptions::default()).unwrap().0
}

/// The answer as a word, after the independent checker has had its look.
fn answer(history: &History, level: Level, (mode, boundary): (Mode, Boundary)) -> &'static str {
    let options = Options { level, boundary, mode, budget: Some(Duration::from_secs(60)) };
    match predict(history, &options).unwrap() {
        Answer::Found(prediction) => {
            confirm::confirm(history, &prediction.history, level, boundary).unwrap();
            "sat"
        }
        Answer::NoneExists(_) => "unsat",
        Answer::Undecided(..) => "undecided",
        Answer::AlreadyUnserializable { violates_level: true } => "violates",
        Answer::AlreadyUnserializable { violates_level: false } => "already",
    }
}

/// Our answers at CC (Exact-Strict, Approx-Strict, Approx-Relaxed, Exact-Relaxed), then at RC.
fn expect(name: &str, expected: [[&str; 4]; 2]) {
    let Some(folder) = folder("micro") else { return };
    let history = read(&folder.join(name).with_extension("txt"));
    for (level, expected) in LEVELS.into_iter().zip(expected) {
        let found = STRATEGIES.map(|strategy| answer(&history, level, strategy));
        assert_eq!(found, expected, "{name} at {level}");
    }
}
