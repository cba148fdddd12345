//! What is certified of a history is confirmed of it, in whatever order its sessions stand.

use seriatim::certificate::{certify, confirm, subject};
use seriatim::check::Checker;
use seriatim::history::{History, notation};
use seriatim::isolation::Guarantee;
use seriatim::report::certificate::{Certificate, Claim, parse, render};

/// A write skew beside a value that was written twice.
const SKEW: &str = "a: r(x,0) w(y,1)\nb: r(y,0) w(x,1)\nc: w(z,1)\nd: w(z,1) | r(z,1)";

fn history(text: &str) -> History {
    notation::parse(text).unwrap()
}

fn certified(history: &History) -> Certificate {
    let report = Checker::new().check(history);
    parse(&render(&certify("history", history, &report))).unwrap()
}

fn confirmed(history: &History, certificate: &Certificate) -> Vec<Option<bool>> {
    let numbers = history.numbering();
    let judged = |(level, claim): &(_, Claim)| {
        let asked = Guarantee::new(*level, certificate.order);
        confirm(history, &numbers, asked, claim).map(|judged| judged.is_ok())
    };
    certificate.claims.iter().map(judged).collect()
}

#[test]
fn what_is_certified_is_confirmed() {
    let history = history(SKEW);
    let certificate = certified(&history);
    assert_eq!(certificate.subject, subject(&history));
    // Strict serializability is undecided without times.
    let expected: Vec<Option<bool>> =
        certificate.claims.iter().map(|(_, c)| (*c != Claim::Undecided).then_some(true)).collect();
    assert_eq!(confirmed(&history, &certificate), expected);
    assert!(expected.iter().filter(|judged| judged.is_some()).count() >= 7);
}

#[test]
fn numbers_do_not_depend_on_the_order_of_the_sessions() {
    let (one, other) = (
        history(SKEW),
        history("c: w(z,1)\nd: w(z,1) | r(z,1)\nb: r(y,0) w(x,1)\na: r(x,0) w(y,1)"),
    );
    let certificate = certified(&one);
    assert_eq!(certificate.subject.difference(&subject(&other)), None);
    assert_eq!(confirmed(&other, &certificate), confirmed(&one, &certificate));
}

#[test]
fn another_history_is_told_by_its_counts_or_by_its_content() {
    let one = subject(&history("a: w(x,1)\nb: r(x,1)"));
    let more = subject(&history("a: w(x,1)\nb: r(x,1) r(x,1)"));
    assert_eq!(one.difference(&more).unwrap(), "that one has 2 operations, this one 3");
    let others = subject(&history("a: w(x,2)\nb: r(x,2)"));
    assert!(one.difference(&others).unwrap().ends_with("but others"));
}
