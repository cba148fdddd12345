//! What the library says of a level that is violated: by an anomaly or, where no operations show
//! it, by the transactions of the contradiction.

use seriatim::check::{Breach, Outcome};
use seriatim::history::notation;
use seriatim::{Level, check};

fn breach(text: &str, level: Level) -> Breach {
    let history = notation::parse(text).unwrap();
    let report = check(&history, level);
    assert!(report.violates(level), "{report:?}");
    match report.verdict(level).map(|verdict| verdict.outcome.clone()) {
        Some(Outcome::Violated(breach)) => breach,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_violation_has_its_anomaly_with_it() {
    let stale = "a: w(x,1) @0-1\nb: r(x,nil) @2-3";
    let Breach::Anomaly(violation) = breach(stale, Level::StrictSerializable) else {
        panic!("it can be explained");
    };
    assert_eq!(violation.kind, seriatim::Anomaly::StaleRead);
}

/// The transaction between the write and the read has no operations that could be named.
#[test]
fn a_violation_without_one_has_the_transactions_that_contradict_each_other() {
    let hidden = "a: w(x,1) @0-1\nb: @2-3 | r(x,nil)";
    let Breach::Unexplained(txns) = breach(hidden, Level::StrictSerializable) else {
        panic!("nothing explains it");
    };
    assert_eq!(txns.len(), 3);
}
