//! `--order`: the same levels without sessions, with them, and with real time.

mod common;

use common::{Folder, run, schema, words};
use serde_json::Value;

/// What t1 wrote had been there for a while when t2 began, and t2 does not see it.
const STALE: &str = r#"{"seriatim":1}
{"session":"a","txn":"t1","begin":1,"end":2,"ops":[["w","x",1]]}
{"session":"b","txn":"t2","begin":38,"end":40,"ops":[["r","x",null]]}
"#;
/// The same in the format of Jepsen, whose times are nanoseconds.
const STALE_EDN: &str = "\
{:type :invoke, :f :txn, :value [[:w :x 1]], :process 0, :time 1000000, :index 0}
{:type :ok, :f :txn, :value [[:w :x 1]], :process 0, :time 2000000, :index 1}
{:type :invoke, :f :txn, :value [[:r :x nil]], :process 1, :time 38000000, :index 2}
{:type :ok, :f :txn, :value [[:r :x nil]], :process 1, :time 39000000, :index 3}
";
/// t1 read what t2 wrote, and had ended before t2 began.
const FROM_THE_FUTURE: &str = r#"{"seriatim":1}
{"session":"a","txn":"t1","begin":1,"end":2,"ops":[["r","x",1]]}
{"session":"b","txn":"t2","begin":38,"end":40,"ops":[["w","x",1]]}
"#;
/// A session that does not see what it wrote.
const FORGETFUL: &str = "w(0,1,0,0)\nr(0,0,0,1)\n";

#[test]
fn with_times_the_report_says_what_real_time_would_change() {
    let folder = Folder::new();
    let hint = |name: &str, text: &str, level: &str| {
        let ran = run(&["check", "--level", level, &folder.file(name, text)]);
        let line = ran.stdout.lines().find(|line| line.contains("with real time")).map(str::trim);
        line.map(str::to_owned)
    };
    assert_eq!(
        hint("h.edn", STALE_EDN, "si").as_deref(),
        Some(
            "with real time: snapshot isolation violated: 1 stale read, up to 36 ms old (--order \
             real-time)"
        )
    );
    let all = hint("h.jsonl", STALE, "all").unwrap();
    assert!(all.starts_with("with real time: read committed (and above) violated"), "{all}");
    assert!(hint("h.jsonl", STALE, "rc").unwrap().contains("up to 36 ns old"));
    let cycle = hint("cycle.jsonl", FROM_THE_FUTURE, "rc").unwrap();
    assert!(cycle.contains("read committed violated: 1 real-time cycle (--order"), "{cycle}");
    assert_eq!(hint("h.txt", FORGETFUL, "rc"), None);
}

#[test]
fn with_real_time_a_stale_read_violates_every_level() {
    let folder = Folder::new();
    let file = folder.file("h.edn", STALE_EDN);
    let ran = run(&["check", "--order", "real-time", &file]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("with real time: violates read committed (and above)"), "{ran:?}");
    assert!(ran.stdout.contains("stale read in real time: 1 instance, up to 36 ms old"), "{ran:?}");
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("The read is stale by 36 ms."), "{ran:?}");
    assert!(ran.stdout.contains("cut isolation           holds"), "{ran:?}");
}

#[test]
fn without_sessions_a_session_may_forget_what_it_wrote() {
    let folder = Folder::new();
    let file = folder.file("h.txt", FORGETFUL);
    let (with, without) = (run(&["check", &file]), run(&["check", "--order", "none", &file]));
    assert_eq!((with.code, without.code), (Some(1), Some(0)));
    assert!(without.stdout.contains("without sessions: holds at every level"), "{without:?}");
}

#[test]
fn real_time_needs_times() {
    let folder = Folder::new();
    let ran = run(&["check", "--order", "real-time", &folder.file("h.txt", common::GOOD)]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("has no begin and end times, and real"), "{ran:?}");
    let ran = run(&["check", "--order", "real-time", &folder.file("bad.txt", FORGETFUL)]);
    assert_eq!(ran.code, Some(1));
    let ran = run(&["check", "--order", "wall-clock", &folder.at("h.txt")]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("unknown order `wall-clock`; known are none"), "{ran:?}");
}

#[test]
fn json_names_the_order_and_the_age() {
    let folder = Folder::new();
    let validator = schema("check");
    let file = folder.file("h.edn", STALE_EDN);
    let line = |order: &str| -> Value {
        let ran = run(&["check", "--format", "json", "--all", "--order", order, &file]);
        let line = ran.json().remove(0);
        assert!(validator.is_valid(&line), "{line}");
        assert_eq!(line["order"], order);
        line
    };
    let sessions = line("sessions");
    assert_eq!(sessions["levels"]["ser"], "holds");
    assert_eq!(sessions["stale_reads"]["count"], 1);
    assert_eq!(sessions["stale_reads"]["age_max"]["unit"], "nanoseconds");
    let real_time = line("real-time");
    assert_eq!(real_time["levels"]["rc"], "violated");
    assert_eq!(real_time["stale_reads"], Value::Null);
    let stale = &real_time["anomalies"][0];
    assert_eq!(stale["kind"], "stale-read");
    assert_eq!(stale["exemplar"]["age"]["amount"], 36_000_000);
    line("none");
}

#[test]
fn a_certificate_is_judged_with_its_order() {
    let folder = Folder::new();
    let (stale, forgetful) = (folder.file("h.jsonl", STALE), folder.file("h.txt", FORGETFUL));
    let validator = schema("certificate");
    for (file, order) in [(&stale, "real-time"), (&stale, "none"), (&forgetful, "none")] {
        let certificate = folder.at("certificate");
        run(&["check", "--quiet", "--order", order, file, "--certificate", &certificate]);
        let text = std::fs::read_to_string(&certificate).unwrap();
        for line in text.lines() {
            assert!(validator.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
        }
        let ran = run(&["verify", file, &certificate]);
        assert_eq!(ran.code, Some(0), "{file} {order}: {ran:?}");
        let header = format!(",\"order\":\"{order}\"");
        assert!(text.contains(&header), "{text}");
        let other = folder.file("other", text.replace(&header, ""));
        let expected = if (file, order) == (&stale, "none") { 0 } else { 1 };
        assert_eq!(run(&["verify", file, &other]).code, Some(expected), "{file} {order}");
        let unknown = folder.file("unknown", text.replace(order, "wall-clock"));
        let ran = run(&["verify", file, &unknown]);
        assert_eq!(ran.code, Some(3));
        assert!(ran.stderr.contains("unknown order `wall-clock`"), "{ran:?}");
    }
}

#[test]
fn a_part_is_minimal_with_its_order() {
    let folder = Folder::new();
    let file = folder.file("h.jsonl", STALE);
    let part = folder.at("part.jsonl");
    let ran = run(&["minimize", &file, "--level", "rc", "-o", &part]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let ran = run(&["minimize", &file, "--level", "rc", "--order", "real-time", "-o", &part]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("they violate read committed with real time"), "{ran:?}");
    assert_eq!(run(&["check", "--quiet", "--order", "real-time", &part]).code, Some(1));
}

/// What t1 wrote had been there when t2 began, which did nothing; t3 comes after it in its session,
/// has no times and does not see it. Without t2 nothing is wrong, and t2 has no operations.
const UNEXPLAINED: &str = r#"{"seriatim":1}
{"session":"a","txn":"t1","begin":0,"end":1,"ops":[["w","x",1]]}
{"session":"b","txn":"t2","begin":2,"end":3,"ops":[]}
{"session":"b","txn":"t3","ops":[["r","x",null]]}
"#;

#[test]
fn a_violation_that_no_operations_show_says_so() {
    let folder = Folder::new();
    let input = folder.file("h.jsonl", UNEXPLAINED);
    for (order, level, name) in [
        ("real-time", "cc", "causal consistency"),
        ("real-time", "ser", "serializability"),
        ("sessions", "sser", "strict serializability"),
    ] {
        let args = ["check", "--order", order, "--level", level, &input];
        let note = format!(
            "no operations by themselves show what violates {name}: 3 transactions contradict each \
             other"
        );
        let ran = run(&args);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(words(&ran.stdout).contains(&note), "{ran:?}");
        let line = &run(&[&args[..], &["--format", "json"]].concat()).json()[0];
        assert!(schema("check").is_valid(line), "{line}");
        assert_eq!(line["levels"][level], "violated");
        assert_eq!(line["anomalies"], Value::Array(Vec::new()));
        assert!(line["notes"][0].as_str().unwrap().starts_with(&note), "{line}");
    }
    // Nothing is missing where an anomaly says it, or where it was not asked for.
    let stale = folder.file("stale.jsonl", STALE);
    for args in [
        ["check", "--order", "real-time", "--level", "ser", &stale],
        ["check", "--kind", "write-skew", "--level", "sser", &input],
    ] {
        let ran = run(&args);
        assert!(!words(&ran.stdout).contains("no operations by themselves"), "{ran:?}");
    }
}
