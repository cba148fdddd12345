//! The histories of the repository have the verdicts and anomalies that `histories/EXPECTED.tsv`
//! says, at every level; and the table leaves out no anomaly.

use seriatim_check::{Answer, Checker, Report};
use seriatim_history::History;
use seriatim_isolation::{Anomaly, Level};
use seriatim_verify::{completed, verify_proof, verify_violation};
use std::path::Path;

const FOLDER: &str = "../../histories";

fn report(path: &Path) -> Report {
    let history = History::open(path).unwrap_or_else(|error| panic!("{error}"));
    Checker::new().check(&history)
}

#[test]
fn every_history_has_its_verdicts_and_its_anomaly() {
    let table = std::fs::read_to_string(format!("{FOLDER}/EXPECTED.tsv")).unwrap();
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut shown = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let of = |column: &str| cells[columns.iter().position(|name| *name == column).unwrap()];
        let file = of("file");
        let report = report(&Path::new(FOLDER).join(file));
        for level in Level::ALL {
            let found = report.verdict(level).map_or("-", |verdict| verdict.answer().word());
            assert_eq!(found, of(level.code()), "{file} at {level}");
            assert_eq!(report.holds(level), found == "holds", "{file} at {level}");
        }
        let codes = report.anomalies.iter().map(|group| group.kind.info().code);
        let codes: Vec<&str> = codes.collect();
        match of("anomaly") {
            "-" => assert!(codes.is_empty(), "{file}: {codes:?}"),
            code => assert!(codes.contains(&code), "{file}: {codes:?}"),
        }
        shown.push(of("anomaly").to_owned());
    }
    for anomaly in Anomaly::ALL {
        assert!(shown.iter().any(|code| code == anomaly.info().code), "{anomaly:?}");
    }
}

/// What holds, and what is violated, is believed by the verifier too.
#[test]
fn every_verdict_has_a_certificate_that_is_accepted() {
    let table = std::fs::read_to_string(format!("{FOLDER}/EXPECTED.tsv")).unwrap();
    let (mut proofs, mut violations) = (0, 0);
    for file in table.lines().skip(1).map(|line| line.split('\t').next().unwrap()) {
        let path = Path::new(FOLDER).join(file);
        let history = History::open(&path).unwrap();
        for verdict in &report(&path).verdicts {
            let level = verdict.level;
            match verdict.violation() {
                None => {
                    let proof = verdict.proof().unwrap_or_else(|| panic!("{file} at {level}"));
                    let verified = verify_proof(&history, level, proof);
                    assert!(verified.is_ok(), "{file} at {level}: {verified:?}");
                    proofs += 1;
                }
                Some(violation) => {
                    let ops = completed(&history, &violation.op_ids());
                    let verified = verify_violation(&history, level, &ops);
                    assert!(verified.is_ok(), "{file} at {level}: {verified:?}");
                    violations += 1;
                }
            }
        }
    }
    assert!(proofs > 150 && violations > 100, "{proofs} proofs, {violations} violations");
}

/// The smallest history of each pattern is violated at the levels that forbid it and at no other.
#[test]
fn shipped_taps() {
    let folder = Path::new("../../examples/histories/taps");
    let mut count = 0;
    for (kind, letter) in Anomaly::ALL.into_iter().filter_map(|kind| Some((kind, kind.info().tap?)))
    {
        let path = folder.join(format!("tap-{letter}.txt"));
        let report = report(&path);
        for level in Level::ALL.into_iter().filter(|&level| level != Level::StrictSerializable) {
            let violated = report.verdict(level).unwrap().answer() == Answer::Violated;
            assert_eq!(
                violated,
                kind.info().forbidden_by.contains(&level),
                "{} at {level}",
                path.display()
            );
        }
        let found: Vec<Anomaly> = report.anomalies.iter().map(|group| group.kind).collect();
        assert!(found.contains(&kind), "{}: {found:?}", path.display());
        count += 1;
    }
    assert_eq!(count, 14);
}
