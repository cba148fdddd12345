//! The shared histories with known verdicts. Their folder lies beside the project; without it these tests say so and pass.

use seriatim_check::{Level, Options, Outcome, check};
use seriatim_history::formats::{ReadOptions, read_path};
use std::path::{Path, PathBuf};

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/histories");

fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(SHARED).join(folder);
    if !path.exists() {
        eprintln!("skipped: the shared histories are not at {SHARED}");
        return None;
    }
    Some(path)
}

/// The levels that the tables speak of.
const WEAK: [Level; 4] = [Level::ReadCommitted, Level::CutIsolation, Level::ReadAtomic, Level::Causal];

fn outcomes(path: &Path) -> [Outcome; 4] {
    let name = path.display().to_string();
    let (history, _) = read_path(path, &name, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let report = check(&history, &Options { levels: WEAK.to_vec(), ..Options::default() });
    WEAK.map(|level| report.verdict(level).unwrap().outcome)
}

fn word(text: &str) -> Outcome {
    match text {
        "accept" => Outcome::Holds,
        "reject" => Outcome::Violated,
        _ => panic!("neither accept nor reject: {text}"),
    }
}

/// A table of files with one column a level, named in the first line.
fn table(path: &Path) -> Vec<(String, Vec<(Level, Outcome)>)> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let levels: Vec<Option<Level>> = lines.next().unwrap().split('\t').map(|name| name.parse().ok()).collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let verdicts = levels.iter().zip(&cells).filter_map(|(level, cell)| Some(((*level)?, word(cell))));
            (cells[0].to_owned(), verdicts.collect())
        })
        .collect()
}

/// Compares every file of a table; `excused` may name differences that are right.
fn compare(folder: &Path, expected: &Path, suffix: &str, excused: &[(&str, Level)]) -> usize {
    let mut wrong = Vec::new();
    let rows = table(expected);
    for (file, verdicts) in &rows {
        let file = file.replace(".txt", suffix);
        let found = outcomes(&folder.join(&file));
        for &(level, expected) in verdicts {
            let at = WEAK.iter().position(|&other| other == level).unwrap();
            let differs = found[at] != expected;
            if differs != excused.contains(&(file.as_str(), level)) {
                wrong.push(format!("{file} at {level}: {:?} instead of {expected:?}", found[at]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    rows.len()
}

#[test]
fn taps() {
    let Some(folder) = shared("taps") else { return };
    assert_eq!(compare(&folder, &folder.join("EXPECTED.tsv"), ".txt", &[]), 25);
}

#[test]
fn taps_as_registers_in_edn() {
    let Some(folder) = shared("taps") else { return };
    assert_eq!(compare(&folder.join("elle-rw"), &folder.join("EXPECTED.tsv"), ".edn", &[]), 25);
}

/// As lists the same histories say more: a read of `[1 2]` fixes the order in which 1 and 2 were appended, and in these the
/// fixed order contradicts a level that the register history satisfies with the opposite order.
#[test]
fn taps_as_lists_in_edn() {
    let Some(folder) = shared("taps") else { return };
    let fixed_order = [
        ("probe-ra-ok.edn", Level::ReadAtomic),
        ("probe-rc-ok.edn", Level::ReadCommitted),
        ("probe-rc-ok.edn", Level::ReadAtomic),
    ];
    assert_eq!(compare(&folder.join("elle-append"), &folder.join("EXPECTED.tsv"), ".edn", &fixed_order), 25);
}

/// In four files the table says that RA holds although a session writes a key and later reads its initial value: the tools
/// behind the table do not put the initial transaction first. By the definition (and by `probe-init-so.txt`) that violates RA.
#[test]
fn archive() {
    let Some(folder) = shared("archive") else { return };
    let initial_read_after_own_write = [
        ("Galera__4_125_1_15__00109.txt", Level::ReadAtomic),
        ("Galera__4_150_1_15__00040.txt", Level::ReadAtomic),
        ("Galera__4_25_1_15__00074.txt", Level::ReadAtomic),
        ("Galera__4_50_1_15__00119.txt", Level::ReadAtomic),
    ];
    assert_eq!(compare(&folder, &folder.join("EXPECTED.tsv"), ".txt", &initial_read_after_own_write), 305);
}

#[test]
fn awdit_tests() {
    let Some(folder) = shared("awdit-tests") else { return };
    let strongest = [
        ("none", [Outcome::Violated; 3]),
        ("read-committed", [Outcome::Holds, Outcome::Violated, Outcome::Violated]),
        ("read-atomic", [Outcome::Holds, Outcome::Holds, Outcome::Violated]),
        ("causal", [Outcome::Holds; 3]),
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
                let [rc, _, ra, cc] = outcomes(&path);
                assert_eq!([rc, ra, cc], expected, "{}", path.display());
                count += 1;
            }
        }
    }
    assert_eq!(count, 22);
}

#[test]
fn real_violations() {
    use Outcome::{Holds, Violated};
    let Some(folder) = shared("real") else { return };
    let expected = [
        ("galera-lost-update.txt", [Holds, Holds, Holds]),
        ("pg_ser_bug.txt", [Holds, Holds, Holds]),
        ("dgraph_si.txt", [Holds, Holds, Violated]),
        ("dgraph-bincode", [Holds, Holds, Violated]),
        ("yugabyte_tcc.txt", [Holds, Violated, Violated]),
    ];
    for (file, verdicts) in expected {
        let [rc, _, ra, cc] = outcomes(&folder.join(file));
        assert_eq!([rc, ra, cc], verdicts, "{file}");
    }
    assert_eq!(outcomes(&folder.join("yugabyte.txt"))[0], Holds);
}

/// Recorded at serializable or repeatable read, so no weak level can be violated. Many have values that were written twice, which
/// leaves the levels of the ladder undecided.
#[test]
fn benchmark_histories_are_never_violated() {
    let Some(folder) = shared("strong") else { return };
    let names = ["BL", "HD", "RH", "WH", "rubis", "tpcc", "twitter"];
    let large = names.iter().map(|name| folder.join(format!("{name}-10k")));
    let small = names.iter().map(|name| folder.join("small").join(format!("{name}-1k")));
    let mut holding = Vec::new();
    for path in large.chain(small).filter(|path| path.exists()) {
        // dbcop's files lie one folder deeper.
        let inner = path.join("hist-00000");
        let path = if inner.exists() { inner } else { path };
        let verdicts = outcomes(&path);
        assert!(!verdicts.contains(&Outcome::Violated), "{}: {verdicts:?}", path.display());
        if verdicts == [Outcome::Holds; 4] {
            holding.push(path.display().to_string());
        }
    }
    assert!(holding.iter().any(|path| path.contains("tpcc-10k")), "{holding:?}");
}
