//! Pages stay below two megabytes, whatever names and values are, on every kind of page.

#[allow(dead_code)] // Each test uses a part of it.
mod common;

use common::{checked, each_kind, verdicts};
use seriatim_check::{Answer, Checker, Violation};
use seriatim_history::formats::{Format, ReadOptions, read_bytes};
use seriatim_history::{History, OpKind, Spot};
use seriatim_isolation::Level;
use seriatim_predict::{Boundary, Options, predict};
use seriatim_report::audited::{Audited, Fault, Hermitage, Moment, Scenario};
use seriatim_report::explored::{
    Behaviour, Branch, Cycle, Explored, Operation, Question, Story, Txn,
};
use seriatim_report::page::{
    self, Asked, CheckedInput, Lasting, Mark, Neighbour, Overview, Sequence, Strip, Told,
    Unchecked, Window,
};
use seriatim_report::predicted::{self, Predicted};
use seriatim_report::{Checked, Times, Unreadable};
use std::time::Duration;

const BYTES_MAX: usize = 2_000_000;
/// How long a name is.
const LONG: usize = 100_000;

/// Long names: of what is escaped to six times as much, of what is not seen, of what is wide.
const FILLINGS: [&str; 5] = ["\"", "a\u{301}", "漢", "\u{1}", "word "];

fn long(seed: usize, name: &str) -> String {
    let filling = FILLINGS[seed % FILLINGS.len()];
    format!("{name}{}", filling.repeat(LONG / filling.len()))
}

fn check(page: &str, about: &str) {
    assert!(page.len() < BYTES_MAX, "{about}: {} bytes", page.len());
    assert!(page.ends_with("</html>\n"), "{about}");
    // Every kind of page shows more than its frame.
    assert!(page.len() > 15_000, "{about}: {} bytes", page.len());
}

/// A history with lost updates, a write skew and what else comes of it, under long names.
fn history(seed: usize) -> History {
    let keys: Vec<String> = ["x", "y", "z"].map(|key| long(seed, key)).to_vec();
    let (x, y, z) = (&keys[0], &keys[1], &keys[2]);
    let value = |number: u32| long(seed, &number.to_string());
    let txn = |number: u32, ops: serde_json::Value| {
        let session = long(seed, &format!("s{number}"));
        let name = long(seed, &format!("t{number}"));
        serde_json::json!({ "session": session, "txn": name, "ops": ops }).to_string()
    };
    let lines = [
        r#"{"seriatim":1}"#.to_owned(),
        txn(1, serde_json::json!([["r", x, null], ["w", x, value(1)]])),
        txn(2, serde_json::json!([["r", x, null], ["w", x, value(2)]])),
        txn(3, serde_json::json!([["w", y, value(3)], ["w", z, value(4)]])),
        txn(4, serde_json::json!([["r", y, value(3)], ["r", z, null]])),
    ];
    let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
    read_bytes(lines.join("\n").as_bytes(), "long.jsonl", &options).unwrap().0
}

fn checked_history(seed: usize) -> (Checked, Overview) {
    let history = history(seed);
    let report = Checker::new().check(&history);
    assert!(report.anomalies.len() > 1, "{report:?}");
    let windows = report.anomalies.iter().map(|_| window(seed)).collect();
    let marks = (0..report.anomalies.len()).map(|anomaly| Mark { part: 7, anomaly }).collect();
    let strip =
        |number: usize| Strip { name: long(seed, &format!("s{number}")), ..Strip::default() };
    let mut sessions: Vec<Strip> = (0..24).map(strip).collect();
    for (place, strip) in sessions.iter_mut().enumerate() {
        strip.counts = (0..240).map(|part| part * place as u32 % 7).collect();
    }
    sessions[0].marks = marks;
    let overview = Overview {
        transactions: 1_000_000,
        sessions,
        span: Some((0, 1_000_000)),
        longest: 50_000,
        windows,
        ..Overview::default()
    };
    let counts = history.counts();
    let checked = Checked {
        input: long(seed, "input"),
        format: "jsonl",
        counts,
        report,
        times: Times::default(),
        duplicate: None,
        kinds: Vec::new(),
    };
    (checked, overview)
}

fn window(seed: usize) -> Window {
    let neighbour = |number: i64| Neighbour {
        name: long(seed, "txn"),
        session: long(seed, &format!("s{}", number % 24)),
        times: Some(Lasting::of((number, number + 10))),
        acts: vec![long(seed, "act"); 8],
        is_guilty: number < 4,
        ..Neighbour::default()
    };
    Window {
        txns: (0..60).map(neighbour).collect(),
        more: 12,
        keys: vec![long(seed, "x")],
        sessions: vec![long(seed, "s0")],
    }
}

#[test]
fn pages_of_check_have_a_limit() {
    for seed in 0..FILLINGS.len() {
        let (checked, overview) = checked_history(seed);
        let input = CheckedInput { checked: &checked, overview: Some(&overview) };
        let one = page::render(&[input], &[]);
        check(&one, &format!("one input, filling {seed}"));
        assert!(one.contains("<svg class=\"picture"), "filling {seed} leaves room for pictures");
        let unchecked = Unchecked::Unreadable(Unreadable {
            input: long(seed, "file"),
            message: long(seed, "message"),
            spot: Spot::default(),
            hint: None,
        });
        check(&page::render(&[input; 10], &vec![unchecked; 100]), &format!("many, {seed}"));
    }
}

/// Two hundred inputs, each with all kinds of anomalies under short names.
#[test]
fn many_inputs_with_all_kinds_have_a_limit() {
    let all = checked(verdicts([Answer::Violated; 4]), each_kind());
    let input = CheckedInput { checked: &all, overview: None };
    let page = page::render(&vec![input; 300], &[]);
    check(&page, "all kinds");
    assert!(page.contains("… and 100 other inputs"));
}

/// A violation of as many operations as there may be.
#[test]
fn large_violations_have_a_limit() {
    let mut large: Violation = each_kind().remove(0);
    let op = large.ops[0].clone();
    large.ops = (0..50_000)
        .map(|number| {
            let mut op = op.clone();
            op.id = Some(seriatim_history::OpId(number));
            op.key = format!("<key {number}>");
            op
        })
        .collect();
    let all = checked(verdicts([Answer::Violated; 4]), vec![large; 20]);
    check(&page::render(&[CheckedInput { checked: &all, overview: None }], &[]), "large");
}

#[test]
fn pages_of_runs_have_a_limit() {
    for seed in 0..FILLINGS.len() {
        let (checked, overview) = checked_history(seed);
        let asked = |number: usize| Asked {
            client: number % 60,
            txn: long(seed, "txn"),
            number: number as u32,
            text: long(seed, "SELECT"),
            returned: Some(long(seed, "rows")),
            is_blamed: number == 299,
            otherwise: (number == 299).then(|| long(seed, "other")),
            ..Asked::default()
        };
        let sequence = Sequence {
            clients: (0..60).map(|_| long(seed, "client")).collect(),
            asked: (0..300).map(asked).collect(),
            order: "in order",
        };
        let text = format!("{}\n", long(seed, "line")).repeat(50);
        let (title, told) = (long(seed, "command"), |answer| (answer, &text));
        let (answer, text) = told(Answer::Violated);
        let about = Told {
            title: &title,
            answer,
            text,
            sequence: Some(&sequence),
            checked: Some(CheckedInput { checked: &checked, overview: Some(&overview) }),
        };
        let page = page::told(&about);
        check(&page, &format!("filling {seed}"));
        assert!(page.contains("to blame"), "filling {seed}");
        assert!(page.contains("<svg class=\"picture"), "filling {seed}");
    }
}

fn branch(seed: usize, depth: usize) -> Branch {
    let below: Vec<Branch> = match depth {
        0 => Vec::new(),
        _ => (0..4).map(|_| branch(seed, depth - 1)).collect(),
    };
    let histories = below.iter().map(|it| it.histories).sum::<u64>().max(10);
    Branch { name: long(seed, "a.1"), histories, counterexamples: 3, below }
}

#[test]
fn pages_of_explore_have_a_limit() {
    for seed in 0..FILLINGS.len() {
        let (checked, _) = checked_history(seed);
        let operation = |_| Operation {
            kind: OpKind::Read,
            key: long(seed, "k"),
            value: seriatim_check::ValueRef::Scalar(long(seed, "v")),
        };
        let txn = |_| Txn {
            name: long(seed, "t"),
            committed: true,
            operations: (0..6).map(operation).collect(),
        };
        let story = |_| Story { session: long(seed, "s"), transactions: (0..4).map(txn).collect() };
        let cycle = Cycle {
            cycle: long(seed, "cycle"),
            count: 3,
            reason: long(seed, "reason"),
            token: long(seed, "token"),
        };
        let explored = Explored {
            input: long(seed, "program"),
            level: "causal".to_owned(),
            level_code: "cc",
            base_code: "cc",
            algorithm: "ce",
            has_repetitions: false,
            command: long(seed, "command"),
            question: Question::Assertions,
            outcome: Answer::Violated,
            histories: 10,
            ends: 10,
            blocked: 0,
            cut: 0,
            counterexamples: 3,
            share: 1.0,
            is_complete: true,
            part: (1, 1),
            elapsed: Duration::ZERO,
            stopped: None,
            is_replay: false,
            behaviour: Some(Behaviour {
                reason: Some(long(seed, "reason")),
                locals: vec![(long(seed, "s"), long(seed, "local")); 4],
                sessions: (0..4).map(story).collect(),
                checked,
                token: long(seed, "token"),
            }),
            groups: vec![cycle; 250],
            tree: Some(branch(seed, 4)),
        };
        check(&page::explored(&explored), &format!("filling {seed}"));
    }
}

#[test]
fn pages_of_audit_have_a_limit() {
    for seed in 0..FILLINGS.len() {
        let (checked, _) = checked_history(seed);
        let fault = Fault {
            at: 1.0,
            seconds: 1.0,
            what: long(seed, "fault"),
            problem: Some(long(seed, "problem")),
        };
        let moment = |at: u64| Moment {
            at: at as f64,
            workload: "register",
            committed: 100,
            anomalies: at % 3,
            forbidden: 0,
        };
        let audited = Audited {
            product: long(seed, "database"),
            setting: long(seed, "setting"),
            promise: Level::Serializable,
            levels: Level::ALL.map(|level| (level, Some(false))).to_vec(),
            anomalies: vec![(long(seed, "anomaly"), 3); 5],
            committed: 100,
            aborted: 0,
            unknown: 0,
            sessions: 8,
            seed: 1,
            seconds: 10.0,
            stale: None,
            lost_count: 20,
            lost: vec![(long(seed, "key"), 7); 20],
            totals: (0, 0),
            faults: vec![fault; 20],
            timeline: (1..2000).map(moment).collect(),
            first_violation: Some(1.0),
            decided: (1, 1, 1),
            unread_ends: 0,
            exemplar: Some(("register", checked)),
        };
        let scenario = |_| Scenario {
            name: long(seed, "scenario"),
            happened: vec![Some(true), Some(false), None],
        };
        let hermitage = Hermitage {
            product: long(seed, "database"),
            settings: vec![long(seed, "setting"); 3],
            scenarios: (0..10).map(scenario).collect(),
        };
        let all = vec![audited; 6];
        check(&page::audited(&all, Some(&hermitage)), &format!("filling {seed}"));
    }
}

#[test]
fn pages_of_predict_have_a_limit() {
    for seed in 0..FILLINGS.len() {
        let x = long(seed, "x");
        let txn = |number: u32, read: serde_json::Value| {
            let session = long(seed, &format!("s{number}"));
            let value = long(seed, &number.to_string());
            let ops = serde_json::json!([["r", x, read], ["w", x, value]]);
            let name = long(seed, &format!("t{number}"));
            serde_json::json!({ "session": session, "txn": name, "ops": ops }).to_string()
        };
        let first = serde_json::json!(long(seed, "1"));
        let lines =
            [r#"{"seriatim":1}"#.to_owned(), txn(1, serde_json::Value::Null), txn(2, first)];
        let read = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
        let history = read_bytes(lines.join("\n").as_bytes(), "long.jsonl", &read).unwrap().0;
        let options = Options { boundary: Boundary::Relaxed, ..Options::new(Level::Causal) };
        let answer = predict(&history, &options).unwrap();
        let seriatim_predict::Answer::Found(prediction) = &answer else { panic!("{answer:?}") };
        let predictions = vec![(**prediction).clone(); 20];
        let found = Predicted {
            input: long(seed, "input"),
            format: "jsonl",
            options,
            predictions,
            answer,
            relaxed: None,
            extra: None,
        };
        check(&predicted::html::render(&found), &format!("filling {seed}"));
        let svg = predicted::svg(&found.predictions).unwrap();
        assert!(svg.matches("<svg").count() == 21, "a picture of each");
    }
}
