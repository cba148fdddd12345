//! Audits embedded databases that are written in Rust, or used from it, beside what each promises,
//! and prints the matrix of all: `audits/run.sh`.

mod kv;
mod stores;

use crate::kv::KeyValue;
use crate::stores::fjall::Fjall;
use crate::stores::redb::Redb;
use crate::stores::rocksdb::{Mode, RocksDb};
use crate::stores::surrealkv::SurrealKv;
use crate::stores::turso::Turso;
use seriatim_audit::{Audit, AuditError, Audited, Driver, DriverError, Kept, Setting, audit};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// What is asked for: seconds a database, the seed, where recordings go, and which databases.
struct Asked {
    seconds: u64,
    seed: u64,
    recordings: PathBuf,
    only: Vec<String>,
}

fn asked() -> Result<Asked, String> {
    let number = |name: &str, usual: u64| match std::env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name}: `{text}` is no number")),
        Err(_) => Ok(usual),
    };
    let recordings = std::env::var_os("RECORDINGS").map_or(std::env::temp_dir(), PathBuf::from);
    Ok(Asked {
        seconds: number("SECONDS_EACH", 10)?,
        seed: number("SEED", 0)?,
        recordings,
        only: std::env::args().skip(1).map(|name| name.to_lowercase()).collect(),
    })
}

type Opened = Result<Box<dyn Driver>, DriverError>;

/// A database that is not open yet, by the name that asks for it.
type Named = (&'static str, Box<dyn Fn() -> Opened>);

/// All databases, in a folder; each is opened when its turn comes.
fn databases(folder: &Path) -> Result<Vec<Named>, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = Arc::new(runtime.map_err(|error| error.to_string())?);
    let place = || folder.to_owned();
    let mut all: Vec<Named> = Vec::new();
    let folder = place();
    all.push(("redb", Box::new(move || Ok(Box::new(KeyValue(Redb::open(&folder)?))))));
    let folder = place();
    all.push(("fjall", Box::new(move || Ok(Box::new(KeyValue(Fjall::open(&folder)?))))));
    for checks_reads in [false, true] {
        let (folder, runtime) = (place(), Arc::clone(&runtime));
        all.push((
            "surrealkv",
            Box::new(move || {
                Ok(Box::new(KeyValue(SurrealKv::open(&folder, &runtime, checks_reads)?)))
            }),
        ));
    }
    for mode in Mode::ALL {
        let folder = place();
        all.push((
            "rocksdb",
            Box::new(move || Ok(Box::new(KeyValue(RocksDb::open(&folder, mode)?)))),
        ));
    }
    let (folder, runtime) = (place(), Arc::clone(&runtime));
    all.push(("turso", Box::new(move || Ok(Box::new(Turso::open(&folder, &runtime)?)))));
    for (name, file) in [("sqlite", "sqlite:FOLDER/sqlite.db"), ("duckdb", "duckdb:FOLDER/duck")] {
        let url = file.replace("FOLDER", &place().to_string_lossy());
        all.push((
            name,
            Box::new(move || {
                let opened = seriatim_audit::open(&[&url]);
                opened.map_err(|error| match error {
                    AuditError::Driver(error) => error,
                    other => DriverError::Other(other.to_string()),
                })
            }),
        ));
    }
    Ok(all)
}

fn row(audited: &Audited) -> String {
    let cell = |kept: Kept| match kept {
        Kept::Yes => "·",
        Kept::No => "x",
        Kept::Unknown => "?",
    };
    let cells: Vec<&str> = audited.levels.iter().map(|(_, kept)| cell(*kept)).collect();
    let word = match audited.keeps_promise() {
        Kept::Yes => "kept",
        Kept::No => "BROKEN",
        Kept::Unknown => "undecided",
    };
    let name = format!("{} ({})", audited.product, audited.setting);
    let (committed, aborted) = (audited.tally.committed, audited.tally.aborted);
    format!(
        "{name:<58} {}  {:<22} {word:<9} {committed:>7} {aborted:>7}",
        cells.join("  "),
        audited.promise.name()
    )
}

fn one(driver: &dyn Driver, asked: &Asked, setting: Setting) -> Result<Audited, String> {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name = format!("{} {}", driver.product(), driver.setting_name(setting));
    let name: String = name.to_lowercase().chars().map(word).collect();
    let output = asked.recordings.join(format!("{name}.jsonl"));
    let what = Audit {
        duration: Duration::from_secs(asked.seconds),
        seed: asked.seed,
        output: Some(output.clone()),
        ..Audit::new(setting)
    };
    let audited = audit(driver, &what).map_err(|error| error.to_string())?;
    if let Some(problem) = &audited.problem {
        println!("  {problem}");
    }
    match audited.keeps_promise() {
        Kept::Yes => drop(std::fs::remove_file(&output)),
        _ => println!("  see {} (seriatim check, seriatim minimize)", output.display()),
    }
    Ok(audited)
}

fn run() -> Result<bool, String> {
    let asked = asked()?;
    let folder = std::env::temp_dir().join(format!("seriatim-audits-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    println!("{:<58} rc ci ra cc pc si ser promises               verdict   commits  aborts", "");
    let mut keeps = true;
    for (name, open) in databases(&folder)? {
        if !asked.only.is_empty() && !asked.only.iter().any(|only| only == name) {
            continue;
        }
        let driver = match open() {
            Ok(driver) => driver,
            Err(error) => {
                println!("{name}: skipped: {error}");
                continue;
            }
        };
        for setting in driver.settings() {
            match one(driver.as_ref(), &asked, setting) {
                Ok(audited) => {
                    keeps &= audited.keeps_promise() != Kept::No;
                    println!("{}", row(&audited));
                }
                Err(error) => {
                    keeps = false;
                    println!("{name}: {error}");
                }
            }
        }
    }
    drop(std::fs::remove_dir_all(&folder));
    Ok(keeps)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}
