//! Every history of a collection beside the clone is read in its right format, with counts that
//! make sense. Without the collection these tests are reported as skipped.

use seriatim_history::formats::{Format, ReadOptions, read_path};
use seriatim_history::{History, Status};
use std::path::{Path, PathBuf};

const COLLECTION: &str = "../../../shared/histories";

/// A folder of the collection.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(COLLECTION).join(name);
    assert!(path.is_dir(), "{} is not there", path.display());
    path
}

/// All files below a folder with one of the endings.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending))
                && !name.starts_with("README")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path, expected: Format) -> History {
    let shown_as = path.to_string_lossy();
    let (history, format) = read_path(path, &shown_as, &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format, expected, "{shown_as}");
    assert!(history.txn_count() > 0 && history.session_count() > 0, "{shown_as}");
    assert!(history.session_count() <= history.txn_count(), "{shown_as}");
    history
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn register_text() {
    for name in ["archive", "real"] {
        let folder = folder(name);
        let files = files(&folder, &[".txt"]);
        assert!(files.len() >= if name == "archive" { 305 } else { 5 });
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let history = read(&path, Format::Plume);
            let lines = text.lines().filter(|line| line.starts_with(['r', 'w'])).count();
            let initial = history.initial().values.len();
            assert!(history.op_count() + initial <= lines && lines > 0, "{}", path.display());
            assert!(
                text.contains(",-1)") || history.op_count() + initial == lines,
                "{}",
                path.display()
            );
        }
    }
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn taps_as_text_and_as_edn() {
    let folder = folder("taps");
    for path in files(&folder, &[".txt"]) {
        let text = read(&path, Format::Plume);
        let stem = path.file_stem().unwrap();
        for kind in ["elle-rw", "elle-append"] {
            let copy = folder.join(kind).join(stem).with_extension("edn");
            if copy.is_file() {
                let edn = read(&copy, Format::ElleEdn);
                let committed = |h: &History| {
                    h.txns().filter(|&txn| h.status(txn) == Status::Committed).count()
                };
                assert_eq!(committed(&edn), committed(&text), "{}", copy.display());
            }
        }
    }
    assert!(files(&folder, &[".edn"]).iter().all(|path| read(path, Format::ElleEdn).has_times()));
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn awdit_text() {
    let folder = folder("awdit-tests");
    let files = files(&folder, &[".txt"]);
    assert!(files.len() >= 20);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let history = read(&path, Format::Awdit);
        let lines = text.lines().filter(|line| line.starts_with(['r', 'w'])).count();
        assert_eq!(history.op_count(), lines, "{}", path.display());
        assert!(
            history.session_count()
                <= 1 + text.lines().filter(|line| line.starts_with('=')).count()
        );
    }
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn isopredict_traces() {
    let folder = folder("isopredict");
    let files = files(&folder, &[".txt"]);
    assert!(files.len() >= 30);
    for path in files {
        let history = read(&path, Format::IsoPredict);
        assert_eq!(history.skipped(), 0, "{}", path.display());
        assert!(history.session_count() >= 2, "{}", path.display());
    }
}

#[test]
#[ignore = "needs the collection of histories beside the clone"]
fn binary_histories() {
    let strong = folder("strong");
    for name in ["BL-10k", "HD-10k", "RH-10k", "WH-10k"] {
        let history = read(&strong.join(name), Format::DbcopBincode);
        assert!((9_000..=11_000).contains(&history.txn_count()), "{name}: {}", history.txn_count());
    }
    for name in ["rubis-10k", "tpcc-10k", "twitter-10k"] {
        let history = read(&strong.join(name), Format::Cobra);
        assert!((9_000..=11_000).contains(&history.txn_count()), "{name}: {}", history.txn_count());
        assert!(!history.has_times(), "{name}");
    }
    for name in ["BL-1k", "RH-1k", "WH-1k"] {
        let history = read(
            &strong.join("small").join(name).join("hist-00000/history.bincode"),
            Format::DbcopBincode,
        );
        assert!((900..=1_100).contains(&history.txn_count()), "{name}: {}", history.txn_count());
    }
    // Counted by another program; a "1k" of tpcc has more.
    for (name, txns) in [("rubis-1k", 1018), ("tpcc-1k", 1760), ("twitter-1k", 1043)] {
        let history = read(&strong.join("small").join(name), Format::Cobra);
        assert_eq!((history.session_count(), history.txn_count()), (8, txns), "{name}");
    }
    let real = folder("real");
    read(&real.join("dgraph-bincode"), Format::DbcopBincode);
}
