//! Histories with known verdicts, of a collection that lies beside the clone. Without it these
//! tests are reported as skipped: `./test.sh` runs them only if it is there.

use seriatim_check::{Answer, Checker, Report};
use seriatim_history::formats::{ReadOptions, read_path};
use seriatim_isolation::{Anomaly, Level};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SHARED: &str = "../../../shared/histories";

fn shared(folder: &str) -> PathBuf {
    let path = Path::new(SHARED).join(folder);
    assert!(path.exists(), "there are no histories at {}", path.display());
    path
}

/// The levels that a history without times gets an answer for.
const LEVELS: [Level; 7] = [
    Level::ReadCommitted,
    Level::CutIsolation,
    Level::ReadAtomic,
    Level::Causal,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializable,
];

fn report(path: &Path, levels: &[Level]) -> Report {
    let name = path.display().to_string();
    let (history, _) =
        read_path(path, &name, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    Checker::new().levels(levels.to_vec()).check(&history)
}

fn outcome(report: &Report, level: Level) -> Answer {
    report.verdict(level).unwrap().answer()
}

/// The levels that are violated if `level` is, itself among them.
fn from_up(level: Level) -> impl Iterator<Item = Level> {
    let weakest = if level == Level::CutIsolation { Level::ReadAtomic } else { level };
    LEVELS
        .into_iter()
        .filter(move |&other| other == level || (other >= weakest && other != Level::CutIsolation))
}

fn word(text: &str) -> Answer {
    match text {
        "accept" => Answer::Holds,
        "reject" => Answer::Violated,
        _ => panic!("neither accept nor reject: {text}"),
    }
}

/// A table of files with one column a level, named in the first line. What rejects a level rejects
/// those above it, so that each row that rejects something speaks of the strong levels too.
fn table(path: &Path) -> Vec<(String, Vec<(Level, Answer)>)> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let levels: Vec<Option<Level>> =
        lines.next().unwrap().split('\t').map(|name| name.parse().ok()).collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let said =
                levels.iter().zip(&cells).filter_map(|(level, cell)| Some(((*level)?, word(cell))));
            let mut verdicts: Vec<(Level, Answer)> = said.collect();
            let rejected = verdicts.iter().filter(|(_, outcome)| *outcome == Answer::Violated);
            let above: Vec<Level> = rejected.flat_map(|&(level, _)| from_up(level)).collect();
            let strong = Level::STRONG.into_iter().filter(|level| above.contains(level));
            verdicts.extend(strong.map(|level| (level, Answer::Violated)));
            (cells[0].to_owned(), verdicts)
        })
        .collect()
}

/// Compares every file of a table; `excused` may name differences that are right. How many files
/// there are, and how many of them have a strongest level of the ladder that holds, for each of
/// these levels.
fn compare(
    folder: &Path,
    expected: &Path,
    suffix: &str,
    excused: &[(&str, Level)],
) -> (usize, BTreeMap<Level, usize>) {
    let mut wrong = Vec::new();
    let mut strongest = BTreeMap::new();
    let rows = table(expected);
    for (file, verdicts) in &rows {
        let file = file.replace(".txt", suffix);
        let report = report(&folder.join(&file), &LEVELS);
        for &(level, expected) in verdicts {
            let found = outcome(&report, level);
            if (found != expected) != excused.contains(&(file.as_str(), level)) {
                wrong.push(format!("{file} at {level}: {found:?} instead of {expected:?}"));
            }
        }
        for level in
            LEVELS.into_iter().filter(|&level| outcome(&report, level) == Answer::Undecided)
        {
            wrong.push(format!("{file} at {level}: undecided"));
        }
        if let Some(level) = report.strongest() {
            *strongest.entry(level).or_default() += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    (rows.len(), strongest)
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn taps() {
    let folder = shared("taps");
    assert_eq!(compare(&folder, &folder.join("EXPECTED.tsv"), ".txt", &[]).0, 25);
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn taps_as_registers_in_edn() {
    let folder = shared("taps");
    assert_eq!(compare(&folder.join("elle-rw"), &folder.join("EXPECTED.tsv"), ".edn", &[]).0, 25);
}

/// As lists the same histories say more: a read of `[1 2]` fixes the order in which 1 and 2 were
/// appended, and in these the fixed order contradicts a level that the register history satisfies
/// with the opposite order.
#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn taps_as_lists_in_edn() {
    let folder = shared("taps");
    let fixed_order = [
        ("probe-ra-ok.edn", Level::ReadAtomic),
        ("probe-rc-ok.edn", Level::ReadCommitted),
        ("probe-rc-ok.edn", Level::ReadAtomic),
    ];
    assert_eq!(
        compare(&folder.join("elle-append"), &folder.join("EXPECTED.tsv"), ".edn", &fixed_order).0,
        25
    );
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn archive() {
    let folder = shared("archive");
    let (count, strongest) = compare(&folder, &folder.join("EXPECTED.tsv"), ".txt", &[]);
    assert_eq!(count, 305);
    // The table does not speak of levels above CC; this is what was measured.
    let measured = [
        (Level::ReadCommitted, 182),
        (Level::ReadAtomic, 19),
        (Level::Causal, 13),
        (Level::SnapshotIsolation, 3),
        (Level::Serializable, 76),
    ];
    assert_eq!(strongest, BTreeMap::from(measured));
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn awdit_tests() {
    let folder = shared("awdit-tests");
    let strongest = [
        ("none", [Answer::Violated; 3]),
        ("read-committed", [Answer::Holds, Answer::Violated, Answer::Violated]),
        ("read-atomic", [Answer::Holds, Answer::Holds, Answer::Violated]),
        ("causal", [Answer::Holds; 3]),
    ];
    let mut count = 0;
    for (name, expected) in strongest {
        let mut folders = vec![folder.join(name)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let report = report(&path, &LEVELS);
                assert_eq!(
                    Level::WEAK.map(|level| outcome(&report, level)),
                    expected,
                    "{}",
                    path.display()
                );
                if expected.contains(&Answer::Violated) {
                    for level in from_up(Level::PrefixConsistency) {
                        assert_eq!(
                            outcome(&report, level),
                            Answer::Violated,
                            "{} at {level}",
                            path.display()
                        );
                    }
                }
                count += 1;
            }
        }
    }
    assert_eq!(count, 22);
}

/// The strongest level that holds, the weakest that is violated, and an anomaly that is named.
#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn real_violations() {
    let folder = shared("real");
    let expected = [
        (
            "galera-lost-update.txt",
            Level::PrefixConsistency,
            Level::SnapshotIsolation,
            Anomaly::LostUpdate,
        ),
        ("pg_ser_bug.txt", Level::SnapshotIsolation, Level::Serializable, Anomaly::WriteSkew),
        ("dgraph_si.txt", Level::ReadAtomic, Level::Causal, Anomaly::CausalityViolation),
        ("dgraph-bincode", Level::ReadAtomic, Level::Causal, Anomaly::CausalityViolation),
        ("yugabyte_tcc.txt", Level::ReadCommitted, Level::ReadAtomic, Anomaly::FracturedReadCausal),
        ("yugabyte.txt", Level::ReadCommitted, Level::ReadAtomic, Anomaly::FracturedReadCausal),
    ];
    for (file, strongest, weakest_violated, kind) in expected {
        let report = report(&folder.join(file), &LEVELS);
        for level in LEVELS {
            let violated = level >= weakest_violated && level != Level::CutIsolation;
            let expected = if violated { Answer::Violated } else { Answer::Holds };
            assert_eq!(outcome(&report, level), expected, "{file} at {level}");
        }
        assert_eq!(report.strongest(), Some(strongest), "{file}");
        let kinds: Vec<Anomaly> = report.anomalies.iter().map(|group| group.kind).collect();
        assert!(kinds.contains(&kind), "{file}: {kinds:?}");
    }
}

/// Recorded at serializable or repeatable read. Every one of them is serializable, and so holds at
/// every level, although many have values that were written twice.
#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn benchmark_histories_are_serializable() {
    let folder = shared("strong");
    let names = ["BL", "HD", "RH", "WH", "rubis", "tpcc", "twitter"];
    let large = names.iter().map(|name| folder.join(format!("{name}-10k")));
    let small = names.iter().map(|name| folder.join("small").join(format!("{name}-1k")));
    let mut count = 0;
    for path in large.chain(small).filter(|path| path.exists()) {
        // dbcop's files lie one folder deeper.
        let inner = path.join("hist-00000");
        let path = if inner.exists() { inner } else { path };
        let together = report(&path, &LEVELS);
        let serializable = outcome(&together, Level::Serializable);
        println!("{}: serializability {}", path.display(), serializable.word());
        for level in LEVELS {
            assert_eq!(outcome(&together, level), Answer::Holds, "{} at {level}", path.display());
        }
        count += 1;
        let slow =
            ["HD-10k", "rubis-10k"].iter().any(|name| path.display().to_string().contains(name));
        if slow {
            continue;
        }
        // Asked for alone, a level is decided by itself and not by the stronger one.
        for level in [Level::Causal, Level::PrefixConsistency, Level::SnapshotIsolation] {
            assert_eq!(
                outcome(&report(&path, &[level]), level),
                Answer::Holds,
                "{} at {level} alone",
                path.display()
            );
        }
    }
    assert_eq!(count, 13);
}
