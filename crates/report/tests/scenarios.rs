//! Violations of the strong levels as people read them: known examples, each from the history to
//! the page.

#[allow(dead_code)] // Each test uses a part of it.
mod common;

use common::explained;
use seriatim_check::Checker;
use seriatim_history::formats::{Format, ReadOptions, read_bytes};
use seriatim_history::{History, notation};
use seriatim_isolation::Anomaly;
use seriatim_report::style::strip;
use seriatim_report::text::{self, Layout};

/// The page about a history, with all derivations, under the name of its kind.
fn page(text: &str, kind: Anomaly) -> String {
    let told = explained(&notation::parse(text).unwrap()).unwrap();
    let codes: Vec<&str> = told.levels.iter().map(|level| level.code()).collect();
    let layout = Layout { why: true, ..Layout::default() };
    let page = format!(
        "{} ({})\n{}",
        told.kind.info().name,
        codes.join(" "),
        strip(&text::violation(&told, &layout))
    );
    assert_eq!(told.kind, kind, "{page}");
    page
}

/// Two clients count the bookings of a room, find none and insert one.
const BOOKINGS: &str = r#"{"seriatim":1,"groups":{"booking":["booking[1]","booking[2]"]}}
{"session":1,"txn":"T1","statements":[
 {"sql":"SELECT count(*) FROM booking WHERE room = $1","params":["1"],"rows":[["0"]],"count":1,
  "ops":1},
 {"sql":"INSERT INTO booking VALUES ($1, $2)","params":["1","1"],"done":"INSERT 0 1","ops":1}],
 "ops":[["scan","booking",{}],["w","booking[1]","there"]]}
{"session":2,"txn":"T2","statements":[
 {"sql":"SELECT count(*) FROM booking WHERE room = $1","params":["1"],"rows":[["0"]],"count":1,
  "ops":1},
 {"sql":"INSERT INTO booking VALUES (2, 1)","done":"INSERT 0 1","ops":1}],
 "ops":[["scan","booking",{}],["w","booking[2]","there"]]}
"#;

/// A client reads the stock, another one too, and both take one.
const STOCK: &str = r#"{"seriatim":1,"initial":{"item[7].stock":4}}
{"session":1,"txn":"T1","statements":[
 {"sql":"SELECT stock FROM item WHERE id = 7","rows":[["4"]],"count":1,"ops":1},
 {"sql":"UPDATE item SET stock = $1 WHERE id = $2","params":["3","7"],"done":"UPDATE 1","ops":1}],
 "ops":[["r","item[7].stock",4],["w","item[7].stock",3]]}
{"session":2,"txn":"T2","statements":[
 {"sql":"SELECT stock FROM item WHERE id = 7","rows":[["4"]],"count":1,"ops":1},
 {"sql":"UPDATE item SET stock = 2 WHERE id = 7","done":"UPDATE 1","ops":1}],
 "ops":[["r","item[7].stock",4],["w","item[7].stock",2]]}
"#;

/// Saw one write of a transaction and not the other.
const FRACTURED: &str = r#"{"seriatim":1,"groups":{"item":["item[7]"]}}
{"session":1,"txn":"T1","statements":[{"sql":"INSERT INTO item VALUES (7)","ops":1},
 {"sql":"UPDATE total SET n = 1","ops":1}],
 "ops":[["w","item[7]","there"],["w","total.n",1]]}
{"session":2,"txn":"T2","statements":[
 {"sql":"SELECT n FROM total","rows":[["1"]],"count":1,"ops":1},
 {"sql":"SELECT * FROM item","rows":[],"count":0,"ops":1}],
 "ops":[["r","total.n",1],["scan","item",{}]]}
"#;

fn recorded(text: &str) -> History {
    let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
    read_bytes(text.as_bytes(), "run.jsonl", &options).unwrap().0
}

#[test]
fn statements_tell_what_happened() {
    let mut pages = String::new();
    for (text, kind) in [
        (BOOKINGS, Anomaly::WriteSkew),
        (STOCK, Anomaly::LostUpdate),
        (FRACTURED, Anomaly::NonMonotonicReadCausal),
    ] {
        let report = Checker::new().threads(1).check(&recorded(text));
        let told = &report.anomalies[0].exemplar;
        let layout = Layout { why: true, ..Layout::default() };
        pages += &format!("{}\n", strip(&text::violation(told, &layout)));
        assert!(report.anomalies.iter().any(|group| group.kind == kind), "{pages}");
    }
    insta::assert_snapshot!(pages);
}

#[test]
fn long_fork_of_polysi() {
    let text = "a: w(x,10) w(y,10) | w(x,15)\nb: w(x,11)\nc: w(y,12)\nd: r(x,11) r(y,10)\ne: \
                r(y,12) r(x,10)";
    insta::assert_snapshot!(page(text, Anomaly::LongFork));
}

#[test]
fn lost_update_of_galera() {
    insta::assert_snapshot!(page(
        "1: w(0,4) | r(0,4) w(0,5)\n2: r(0,4) w(0,13)",
        Anomaly::LostUpdate
    ));
}

#[test]
fn two_deposits() {
    insta::assert_snapshot!(page(
        "a: r(account,0) w(account,50)\nb: r(account,0) w(account,60)",
        Anomaly::LostUpdate
    ));
}

#[test]
fn write_skew_of_a_bank() {
    let text = "bank: w(checking,100) w(savings,100)\nalice: r(checking,100) r(savings,100) \
                w(checking,-50)\n\
                bob: r(checking,100) r(savings,100) w(savings,-60)";
    insta::assert_snapshot!(page(text, Anomaly::WriteSkew));
}

#[test]
fn stale_read() {
    insta::assert_snapshot!(page("a: w(x,1) @1-2\nb: r(x,0) @3-4", Anomaly::StaleRead));
}

#[test]
fn three_anti_dependencies() {
    let text = "a: r(x,0) w(y,1)\nb: r(y,0) w(z,1)\nc: r(z,0) w(x,1)";
    insta::assert_snapshot!(page(text, Anomaly::AntiDependencyCycle));
}

#[test]
fn dirty_write() {
    let text = "a: w(x,1) w(y,1)\nb: w(x,2) w(y,2)\nc: r(x,1) r(p,0)\nd: w(p,1)\ne: r(p,1) r(x,2)\n\
                f: r(y,2) r(q,0)\ng: w(q,1)\nh: r(q,1) r(y,1)";
    insta::assert_snapshot!(page(text, Anomaly::DirtyWrite));
}

#[test]
fn read_skew_by_an_order_of_writes() {
    let text = "a: w(x,1) w(y,1)\nb: r(x,0) w(y,2)\nc: r(y,1) | r(y,2)";
    insta::assert_snapshot!(page(text, Anomaly::ReadSkew));
}

#[test]
fn two_anti_dependencies_apart() {
    let text =
        "a: w(x,1) w(z,1)\nb: r(y,0) w(z,2)\nc: w(y,1)\nd: r(y,1) r(x,0)\ne: r(z,1) | r(z,2)";
    insta::assert_snapshot!(page(text, Anomaly::NonAdjacent));
}

/// Two orders of writes, all four combinations of which are contradictory although each order is
/// possible.
#[test]
fn no_choice_is_right() {
    let text = "a: w(x,1) w(a,1)\nb: w(x,2) w(b,1)\nc: w(y,1) w(c,1)\nd: w(y,2) w(d,1)\n\
                e: r(x,1) r(c,1) r(d,1)\nf: r(x,2) r(c,1) r(d,1)\ng: r(y,1) r(a,1) r(b,1)\nh: \
                r(y,2) r(a,1) r(b,1)";
    insta::assert_snapshot!(page(text, Anomaly::LongFork));
}

#[test]
fn duplicate_values() {
    let text = "a: w(x,1) w(y,1)\nb: w(x,1) w(z,1)\nc: r(x,1) r(y,0) r(z,0)";
    insta::assert_snapshot!(page(text, Anomaly::FracturedReadCausal));
}

#[test]
fn lists() {
    let text = "a: a(l,1)\nb: r(l,[1]) a(l,2)\nc: r(l,[1]) a(l,3)\nd: r(l,[1 2 3])";
    insta::assert_snapshot!(page(text, Anomaly::ReadSkew));
}

/// What the sentences of list histories say, one history of each shape.
#[test]
fn appends_are_called_appends() {
    let told = [
        "a: a(x,1)\nb: r(x,[1]) a(x,2)\nc: r(x,[1]) a(x,3)",
        "a: r(x,nil) a(y,1)\nb: r(y,nil) a(x,1)\nc: r(x,[1]) r(y,[1])",
        "a: a(x,1)\nb: a(y,1)\nc: r(x,[1]) r(y,nil)\nd: r(y,[1]) r(x,nil)",
        "a: a(x,1) a(y,1)\nb: r(x,nil) a(y,2)\nc: r(y,[1]) | r(y,[1 2])",
        "a: a(x,1) @1-2\nb: r(x,nil) @3-4",
        "a: a(x,1) a(y,1)\nb: r(y,[1]) r(x,nil)",
        "a: a(x,1) r(y,[1])\nb: a(y,1) r(x,[1])",
        "a: a(x,1) | a(x,2) | a(y,1)\nb: r(y,[1]) r(x,[1])",
        "a: a(x,1) a(x,2)\nb: r(x,[1])",
        "a: a(x,1) r(x,nil)",
        "a: a(x,1) a(x,2) r(x,[1])",
        "a: a(x,1)\nb: r(x,nil) r(x,[1])",
        "a: a(x,1)!\nb: r(x,[1])",
    ];
    let layout = Layout { why: true, ..Layout::default() };
    let page = |text: &&str| {
        let report = Checker::new().check(&notation::parse(text).unwrap());
        let told = report.anomalies.iter().map(|group| {
            let page = strip(&text::violation(&group.exemplar, &layout));
            format!("{}\n{page}", group.kind.info().name)
        });
        format!("{text}\n\n{}", told.collect::<String>())
    };
    let pages = told.iter().map(page).collect::<Vec<_>>().join("\n");
    assert!(!pages.contains("overw") && !pages.contains("wrote") && !pages.contains("writes x"));
    insta::assert_snapshot!(pages);
}
