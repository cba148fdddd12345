//! What people read, as snapshots, and what machines read, against its schema.

#[allow(dead_code)] // Each test uses a part of it.
mod common;

use common::{checked, each_kind, of_kind, verdict, verdicts};
use seriatim_check::{Answer, Effort, Outcome, Proved, Reason};
use seriatim_history::{ReadError, Spot};
use seriatim_isolation::{Anomaly, Level};
use seriatim_report::style::strip;
use seriatim_report::text::{self, Detail, Layout};
use seriatim_report::{Checked, Unread, Unreadable, dot, json, schema, steps, summary};

use Answer::{Holds, Undecided, Violated};

fn validator(schema: &str) -> jsonschema::Validator {
    jsonschema::draft202012::new(&serde_json::from_str(schema).unwrap()).unwrap()
}

#[test]
fn every_kind_and_every_reason_has_prose() {
    let told = each_kind().into_iter().map(|violation| {
        let steps: String = steps(&violation).iter().map(|step| format!("\n  {step}")).collect();
        format!("{}\n  {}{steps}\n", violation.kind.info().code, summary(&violation))
    });
    insta::assert_snapshot!(told.collect::<String>());
}

#[test]
fn headlines() {
    let cases = [
        verdicts([Holds; 4]),
        verdicts([Holds, Holds, Violated, Violated]),
        verdicts([Holds, Violated, Violated, Violated]),
        verdicts([Violated, Holds, Violated, Violated]),
        verdicts([Holds, Holds, Holds, Violated]),
        verdicts([Undecided, Holds, Violated, Violated]),
        verdicts([Undecided; 4]),
        vec![verdict(Level::ReadAtomic, Violated)],
        vec![verdict(Level::ReadCommitted, Holds), verdict(Level::CutIsolation, Undecided)],
    ];
    let lines = cases.map(|verdicts| text::headline(&checked(verdicts, vec![]).report));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_page_for_people() {
    let page = checked(
        verdicts([Holds, Holds, Violated, Violated]),
        vec![of_kind(Anomaly::FracturedReadCausal), of_kind(Anomaly::CausalityViolation)],
    );
    let layout = Layout { timings: true, ..Layout::default() };
    insta::assert_snapshot!(strip(&text::render(&page, &layout)));
}

#[test]
fn all_instances() {
    let page = checked(verdicts([Violated; 4]), vec![of_kind(Anomaly::AbortedRead)]);
    insta::assert_snapshot!(strip(&text::render(
        &page,
        &Layout { detail: Detail::Instances, width: 70, ..Layout::default() }
    )));
}

#[test]
fn a_narrow_page() {
    let page = checked(
        verdicts([Holds, Holds, Violated, Violated]),
        vec![of_kind(Anomaly::CausalityViolation)],
    );
    let pages = [60, 50, 36].map(|width| {
        let text = strip(&text::render(&page, &Layout { width, ..Layout::default() }));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        text
    });
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn a_session_that_overlooks_its_own_write_has_a_heading_of_its_own() {
    let (t1, t2) = (common::txn(1, "0", 0), common::txn(2, "0", 1));
    let other = common::op(1, &t1, "write", "x", "1");
    let source = common::op(0, &common::initial(), "write", "x", "0");
    let read = common::op(2, &t2, "read", "x", "0");
    let visible = vec![common::edge(&t1, &t2, Reason::SessionOrder)];
    let cycle = vec![
        common::edge(&common::initial(), &t1, Reason::Initial),
        common::overwritten(&read, &source, &other, visible),
    ];
    let stale = common::violation(Anomaly::FracturedReadCausal, &[&other, &read], cycle);
    let mut page = checked(verdicts([Holds, Holds, Violated, Violated]), vec![stale]);
    let heading = |page: &Checked| {
        let text = strip(&text::render(page, &Layout::default()));
        text.lines().find(|line| line.contains("instance")).unwrap().to_owned()
    };
    // There are two instances, and one of them is not known.
    assert_eq!(
        heading(&page),
        "fractured read: 2 instances, the smallest a stale read in its own session"
    );
    page.report.anomalies[0].count = 1;
    assert_eq!(heading(&page), "stale read in its own session (fractured read): 1 instance");
    page.report.anomalies[0].exemplar = of_kind(Anomaly::FracturedReadCausal);
    assert!(heading(&page).starts_with("fractured read: 1 instance ("));
}

#[test]
fn undecided_says_why() {
    let page = checked(verdicts([Undecided, Holds, Undecided, Undecided]), vec![]);
    insta::assert_snapshot!(strip(&text::render(&page, &Layout::default())));
}

/// Levels above CC that ran out of `reason`, with what was done at one of them.
fn given_up(reason: seriatim_check::Undecided) -> Checked {
    let mut page = checked(verdicts([Holds, Holds, Holds, Holds]), vec![]);
    for verdict in page.report.verdicts.iter_mut().filter(|verdict| verdict.level.is_strong()) {
        verdict.outcome = Outcome::Undecided(reason.clone());
    }
    page.report.proved =
        Proved { holds: Some(Level::Causal), violated: Some(Level::StrictSerializable) };
    let (rounds, forced, broken_first, broken_last) = (12, 1345, 99, 7);
    let effort = Effort {
        rounds,
        forced,
        broken_first,
        broken_last,
        choices: 7,
        conflicts: 1,
        ..Effort::default()
    };
    page.report.timings.efforts.push((Level::SnapshotIsolation, effort));
    page
}

#[test]
fn what_ran_out_says_what_was_proved() {
    let reasons = [seriatim_check::Undecided::Budget, seriatim_check::Undecided::Memory];
    let layout = Layout { timings: true, ..Layout::default() };
    let pages = reasons.map(|reason| strip(&text::render(&given_up(reason), &layout)));
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn json_of_what_ran_out_fits_the_schema() {
    let unread = Unread {
        input: "h.txt".to_owned(),
        levels: Level::ALL.to_vec(),
        bytes_max: 1000,
        size: None,
    };
    let lines = [
        json::render(&given_up(seriatim_check::Undecided::Budget)),
        json::render(&given_up(seriatim_check::Undecided::Memory)),
        json::render_unread(&unread),
    ];
    for line in lines {
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(validator(schema::CHECK).is_valid(&value), "{line}");
    }
    assert_eq!(strip(&text::render_unread(&unread, &Layout::default())).lines().count(), 3);
}

#[test]
fn json_of_every_kind_fits_the_schema() {
    let validator = validator(schema::CHECK);
    for outcomes in [[Violated; 4], [Holds; 4], [Undecided; 4]] {
        let line = json::render(&checked(verdicts(outcomes), each_kind()));
        assert!(!line.contains('\n'));
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let problems: Vec<String> =
            validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{problems:?}");
    }
}

#[test]
fn json_of_an_unreadable_input_names_the_place() {
    let spot = Spot { file: Some("h.txt".into()), line: Some(3), column: Some(7), byte: None };
    let error = ReadError::Syntax {
        spot,
        problem: "expected a number".to_owned(),
        hint: Some("look".to_owned()),
    };
    let unreadable = Unreadable::new("h.txt", &error);
    let value: serde_json::Value = serde_json::from_str(&json::render_error(&unreadable)).unwrap();
    assert!(validator(schema::CHECK).is_valid(&value));
    assert_eq!(value["error"]["line"], 3);
    assert_eq!(value["error"]["column"], 7);
    assert_eq!(
        strip(&text::render_error(&unreadable)),
        "error: h.txt:3:7: expected a number; look\n"
    );
}

#[test]
fn json_shape() {
    let line = json::render(&checked(
        verdicts([Holds, Holds, Violated, Violated]),
        vec![of_kind(Anomaly::FracturedReadCausal)],
    ));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn dot_groups_by_session() {
    let page = checked(
        verdicts([Holds, Holds, Violated, Violated]),
        vec![
            of_kind(Anomaly::FracturedReadCausal),
            of_kind(Anomaly::CausalityViolation),
            of_kind(Anomaly::ThinAirRead),
        ],
    );
    insta::assert_snapshot!(dot::render(&[page]));
}

#[test]
fn dot_shows_what_inferred_edges_rest_on() {
    let page = checked(
        verdicts([Holds; 4]),
        vec![of_kind(Anomaly::ReadSkew), of_kind(Anomaly::StaleRead)],
    );
    insta::assert_snapshot!(dot::render(&[page]));
}

#[test]
fn json_keeps_the_whole_derivation() {
    let line = json::render(&checked(verdicts([Holds; 4]), vec![of_kind(Anomaly::ReadSkew)]));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    let steps = &value["anomalies"][0]["exemplar"]["cycle"];
    insta::assert_snapshot!(serde_json::to_string_pretty(steps).unwrap());
}

#[test]
fn schemas_are_schemas() {
    for text in [schema::CERTIFICATE, schema::CHECK, schema::HISTORY, schema::STATS] {
        let schema = serde_json::from_str(text).unwrap();
        assert!(jsonschema::meta::is_valid(&schema));
    }
    let line = serde_json::json!({
        "session": "s1",
        "txn": "t7",
        "status": "unknown",
        "begin": 1,
        "ops": [["w", "x", 1], ["r", "y", null], ["append", "l", 3], ["r", "l", [1, 3]]],
    });
    assert!(validator(schema::HISTORY).is_valid(&line));
    assert!(
        validator(schema::HISTORY)
            .is_valid(&serde_json::json!({"seriatim": 1, "initial": {"x": 0}}))
    );
    assert!(
        !validator(schema::HISTORY)
            .is_valid(&serde_json::json!({"session": "s", "ops": [["q", "x", 1]]}))
    );
}
