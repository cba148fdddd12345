//! Every anomaly and level has an entry, and every example shows what its entry says.

#[allow(dead_code)] // Each test uses a part of it.
mod common;

use common::explained;
use seriatim_check::{Answer, Checker};
use seriatim_history::notation;
use seriatim_isolation::{Anomaly, Level};
use seriatim_report::knowledge::{Subject, entries, find, index, render};
use seriatim_report::style::strip;

#[test]
fn every_kind_and_level_has_an_entry() {
    for kind in Anomaly::ALL {
        assert!(entries().any(|entry| entry.subject == Subject::Anomaly(kind)), "{kind:?}");
    }
    for level in Level::ALL {
        assert!(entries().any(|entry| entry.subject == Subject::Level(level)), "{level:?}");
    }
}

#[test]
fn every_example_is_in_the_notation() {
    for entry in entries() {
        let history = notation::parse(entry.example.history);
        assert!(history.is_ok(), "{}: {:?}", entry.code(), history.err());
    }
}

#[test]
fn every_example_violates_the_levels_that_its_entry_says() {
    for entry in entries() {
        let report = Checker::new().check(&notation::parse(entry.example.history).unwrap());
        for verdict in &report.verdicts {
            let violated = entry.violated_by_example().contains(&verdict.level);
            let expected = if violated { Answer::Violated } else { Answer::Holds };
            assert_eq!(verdict.answer(), expected, "{} at {}", entry.code(), verdict.level);
        }
    }
}

#[test]
fn every_example_of_an_anomaly_shows_it_and_nothing_else() {
    for entry in entries() {
        let Subject::Anomaly(kind) = entry.subject else { continue };
        let history = notation::parse(entry.example.history).unwrap();
        let report = Checker::new().check(&history);
        let mut shown: Vec<Anomaly> = report.anomalies.iter().map(|group| group.kind).collect();
        if shown.is_empty() {
            shown.extend(explained(&history).map(|told| told.kind));
        }
        assert_eq!(shown, [kind], "{}", entry.code());
    }
}

#[test]
fn the_index() {
    insta::assert_snapshot!(strip(&index(100)));
}

#[test]
fn a_page_of_each_sort() {
    let pages =
        ["k", "ra", "write-skew", "si"].map(|name| strip(&render(find(name).unwrap()[0], 100)));
    insta::assert_snapshot!(pages.join("\n"));
}

/// The transactions t1, t2, … that a text speaks of.
fn transactions_in(text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('t')?.parse().ok()).collect()
}

#[test]
fn texts_name_only_transactions_of_their_example() {
    for entry in entries() {
        let count = notation::parse(entry.example.history).unwrap().txn_count();
        assert!(
            transactions_in(entry.definition).is_empty(),
            "{}: {}",
            entry.code(),
            entry.definition
        );
        for number in transactions_in(entry.example.remark) {
            assert!((1..=count).contains(&number), "{}: t{number}", entry.code());
        }
    }
}

#[test]
fn a_printed_example_is_in_the_notation_and_names_its_transactions() {
    for entry in entries() {
        let page = strip(&render(entry, 100));
        let printed: String = page
            .lines()
            .filter(|line| line.contains("  # t"))
            .map(|line| format!("{line}\n"))
            .collect();
        let history = notation::parse(&printed).unwrap();
        assert_eq!(
            history.txn_count(),
            notation::parse(entry.example.history).unwrap().txn_count(),
            "{}",
            entry.code()
        );
        assert_eq!(
            transactions_in(&printed),
            (1..=history.txn_count()).collect::<Vec<_>>(),
            "{}",
            entry.code()
        );
    }
}
