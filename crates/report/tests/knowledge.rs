//! Every anomaly and level has an entry, and every example shows what its entry says.

use seriatim_check::{Kind, Level};
use seriatim_history::notation;
use seriatim_report::knowledge::{Subject, entries, find, index, render};
use seriatim_report::style::strip;

#[test]
fn every_kind_and_level_has_an_entry() {
    for kind in Kind::ALL {
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
fn the_index() {
    insta::assert_snapshot!(strip(&index(100)));
}

#[test]
fn a_page_of_each_sort() {
    let pages = ["k", "ra", "write-skew"].map(|name| strip(&render(find(name).unwrap()[0], 100)));
    insta::assert_snapshot!(pages.join("\n"));
}
