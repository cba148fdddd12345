//! `seriatim check --certificate`, `verify` and `minimize`: what is written is confirmed, and
//! nothing else is.

mod common;

use common::{CAUSAL, Folder, GOOD, run};
use serde_json::{Value, json};

/// Two transactions that read the same and write different keys, with times.
const SKEW: &str = r#"{"seriatim":1}
{"session":"a","txn":"init","ops":[["w","x",1],["w","y",1]],"begin":0,"end":1}
{"session":"a","txn":"one","ops":[["r","x",1],["r","y",1],["w","x",2]],"begin":2,"end":5}
{"session":"b","txn":"two","ops":[["r","x",1],["r","y",1],["w","y",2]],"begin":2,"end":5}
{"session":"c","txn":"last","ops":[["r","x",2],["r","y",2]],"begin":6,"end":7}
"#;
/// A value that two transactions wrote: causally consistent if the sources are chosen well, but no
/// prefix of one order.
const TWICE: &str = "w(0,1,0,0)\nw(0,1,1,1)\nw(1,1,1,1)\nw(1,2,2,2)\nr(0,1,3,3)\nr(1,0,3,3)\n\
                     r(1,2,4,4)\nr(0,0,4,4)\n";

/// Makes a certificate and returns its lines.
fn certify(folder: &Folder, history: &str) -> Vec<Value> {
    let certificate = folder.at("certificate");
    let ran = run(&["check", "--quiet", history, "--certificate", &certificate]);
    assert!(matches!(ran.code, Some(0..=2)), "{ran:?}");
    let text = std::fs::read_to_string(&certificate).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn write(folder: &Folder, lines: &[Value]) -> String {
    folder.file("changed", lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

/// The code and the output of `verify` for a changed certificate.
fn verify(folder: &Folder, history: &str, lines: &[Value]) -> (Option<i32>, String) {
    let ran = run(&["verify", history, &write(folder, lines)]);
    (ran.code, ran.stdout + &ran.stderr)
}

fn of<'l>(lines: &'l mut [Value], level: &str) -> &'l mut Value {
    lines.iter_mut().find(|line| line["level"] == level).unwrap()
}

#[test]
fn what_check_writes_is_confirmed() {
    let folder = Folder::new();
    let files = [
        folder.file("good.txt", GOOD),
        folder.file("bad.txt", CAUSAL),
        folder.file("skew.jsonl", SKEW),
        folder.file("twice.txt", TWICE),
        folder.file("thin.txt", "r(0,9,0,0)\nr(0,8,0,1)\n"),
        folder.file("unrepeated.txt", "w(0,1,0,0)\nw(0,2,0,1)\nr(0,1,1,2)\nr(0,2,1,2)\n"),
    ];
    for file in &files {
        let lines = certify(&folder, file);
        let (code, said) = verify(&folder, file, &lines);
        assert_eq!(code, Some(0), "{file}: {said}");
        assert_eq!(said.lines().count(), lines.len() - 1);
        assert!(said.lines().all(|line| line.ends_with("confirmed")), "{said}");
    }
    let lines = certify(&folder, &files[2]);
    assert_eq!(lines[0]["seriatim_certificate"], 2);
    assert_eq!((&lines[0]["sessions"], &lines[0]["transactions"]), (&json!(3), &json!(4)));
    let said = verify(&folder, &files[2], &lines).1;
    assert!(
        said.contains(
            "snapshot isolation: holds, confirmed\nserializability: violated, confirmed\n"
        ),
        "{said}"
    );
    let skew = lines.iter().find(|line| line["level"] == "ser").unwrap();
    assert_eq!((&skew["verdict"], &skew["kind"]), (&json!("violated"), &json!("write-skew")));
}

#[test]
fn examples_are_confirmed() {
    let folder = Folder::new();
    let examples = "../../examples/histories";
    let paths = std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.is_file()) {
        let file = path.to_str().unwrap();
        let lines = certify(&folder, file);
        let (code, said) = verify(&folder, file, &lines);
        assert!(
            code == Some(0) || (code == Some(2) && said.contains("undecided")),
            "{file}: {said}"
        );
    }
}

#[test]
fn generated_histories_are_confirmed() {
    let folder = Folder::new();
    for (level, plant) in
        [("ser", None), ("si", None), ("cc", None), ("cc", Some("fractured-read")), ("rc", None)]
    {
        for seed in ["1", "2"] {
            let file = folder.at("h.jsonl");
            let mut args = vec![
                "generate", &file, "--level", level, "--seed", seed, "--keys", "10", "--aborts",
                "0.1",
            ];
            args.extend(plant.iter().flat_map(|plant| ["--plant", plant]));
            let made = run(&args);
            assert_eq!(made.code, Some(0), "{made:?}");
            let lines = certify(&folder, &file);
            let (code, said) = verify(&folder, &file, &lines);
            assert!(code == Some(0) || code == Some(2), "{level} {plant:?} {seed}: {said}");
        }
    }
}

#[test]
fn corrupted_points_are_rejected() {
    let folder = Folder::new();
    let file = folder.file("skew.jsonl", SKEW);
    let lines = certify(&folder, &file);
    let points = |lines: &mut Vec<Value>, change: &dyn Fn(&mut Vec<Value>)| {
        change(of(lines, "si")["points"].as_array_mut().unwrap());
        let (code, said) = verify(&folder, &file, lines);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("snapshot isolation: holds, REJECTED: "), "{said}");
        assert!(!said.contains("TxnId") && !said.contains("OpId"), "{said}");
    };
    points(&mut lines.clone(), &|points| points.swap(0, 1));
    points(&mut lines.clone(), &|points| points.swap(1, 6));
    points(&mut lines.clone(), &|points| drop(points.remove(3)));
    points(&mut lines.clone(), &|points| points.clear());
    points(&mut lines.clone(), &|points| points.push(json!(["b", 4])));
    points(&mut lines.clone(), &|points| points[0] = json!(["b", 4_000_000_000_u32]));
    // What holds at one level need not hold at another.
    let mut stolen = lines.clone();
    let snapshot = of(&mut stolen, "si").clone();
    *of(&mut stolen, "ser") =
        json!({"level": "ser", "verdict": "holds", "points": snapshot["points"]});
    let (code, said) = verify(&folder, &file, &stolen);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("serializability: holds, REJECTED: "), "{said}");
    assert!(said.contains("(session ") && said.contains("skew.jsonl:"), "{said}");
}

#[test]
fn false_violations_and_orders_are_rejected() {
    let folder = Folder::new();
    let file = folder.file("skew.jsonl", SKEW);
    let lines = certify(&folder, &file);
    for operations in [
        json!([]),
        json!([0, 1]),
        json!([2, 3, 4, 5, 6, 7]),
        json!([99]),
        json!([0, 4_294_967_295_u32]),
    ] {
        let mut lines = lines.clone();
        of(&mut lines, "ser")["operations"] = operations;
        let (code, said) = verify(&folder, &file, &lines);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("serializability: violated, REJECTED: "), "{said}");
    }
    let mut weaker = lines.clone();
    let operations = of(&mut weaker, "ser")["operations"].clone();
    *of(&mut weaker, "si") =
        json!({"level": "si", "verdict": "violated", "operations": operations});
    assert_eq!(verify(&folder, &file, &weaker).0, Some(1));
    let bad = folder.file("bad.txt", CAUSAL);
    let lines = certify(&folder, &bad);
    for order in [json!([]), json!([3, 2, 1, 0]), json!([0, 0, 1, 2, 3]), json!([0, 1, 2, 77])] {
        let mut lines = lines.clone();
        *of(&mut lines, "ra") = json!({"level": "ra", "verdict": "holds", "order": order});
        let (code, said) = verify(&folder, &bad, &lines);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("read atomic: holds, REJECTED: "), "{said}");
    }
    let mut timeless = lines.clone();
    timeless.push(json!({"level": "sser", "verdict": "holds", "points": []}));
    assert!(
        verify(&folder, &bad, &timeless)
            .1
            .contains("REJECTED: the history has no begin and end times")
    );
}

#[test]
fn a_certificate_is_about_one_history() {
    let folder = Folder::new();
    let (good, bad) = (folder.file("good.txt", GOOD), folder.file("bad.txt", CAUSAL));
    let lines = certify(&folder, &bad);
    let (code, said) = verify(&folder, &good, &lines);
    assert_eq!(code, Some(3));
    assert!(
        said.contains("this certificate is for another history") && said.contains("4 transactions"),
        "{said}"
    );
    // As many of everything, but other values.
    let other = folder.file("other.txt", CAUSAL.replace("r(0,1,1,3)", "r(0,2,1,3)"));
    let (code, said) = verify(&folder, &other, &lines);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("another history") && said.contains("but others"), "{said}");
    // A forger who changes the fingerprint as well gets no further.
    let mut forged = lines.clone();
    forged[0]["fingerprint"] = certify(&folder, &other)[0]["fingerprint"].clone();
    let (code, said) = verify(&folder, &other, &forged);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("causal consistency: violated, REJECTED"), "{said}");
}

#[test]
fn a_certificate_is_good_for_a_converted_history() {
    let folder = Folder::new();
    let bad = folder.file("bad.txt", CAUSAL);
    let lines = certify(&folder, &bad);
    for name in ["bad.jsonl", "bad.edn", "bad.hist"] {
        let copy = folder.at(name);
        assert_eq!(run(&["convert", &bad, &copy]).code, Some(0));
        let (code, said) = verify(&folder, &copy, &lines);
        assert_eq!(code, Some(0), "{name}: {said}");
    }
}

#[test]
fn certificates_fit_their_schema() {
    let folder = Folder::new();
    let validator = common::schema("certificate");
    for (name, text) in
        [("good.txt", GOOD), ("bad.txt", CAUSAL), ("skew.jsonl", SKEW), ("twice.txt", TWICE)]
    {
        for line in certify(&folder, &folder.file(name, text)) {
            assert!(validator.is_valid(&line), "{line}");
        }
    }
    // Without a name it is the schema of the results.
    assert_eq!(run(&["schema"]).stdout, run(&["schema", "check"]).stdout);
}

#[test]
fn malformed_certificates_are_answered_with_the_place() {
    let folder = Folder::new();
    let file = folder.file("skew.jsonl", SKEW);
    let header = certify(&folder, &file)[0].to_string();
    let only_si = header.replace(r#"["rc","ci","ra","cc","pc","si","ser","sser"]"#, r#"["si"]"#);
    assert_ne!(header, only_si);
    let cases = [
        ("", ":1: expected the header"),
        ("nonsense", ":1:2: expected the header"),
        (r#"{"level":"si","verdict":"undecided"}"#, ":1:"),
        (
            &header.replace("\"seriatim_certificate\":2", "\"seriatim_certificate\":1"),
            "expected a certificate of version 2, found version 1; check the history again",
        ),
        (&header, ":2: expected the verdict of level `rc`"),
        (&header.replace("\"fingerprint\"", "\"finger\""), "unknown field `finger`"),
    ];
    for (text, expected) in cases {
        let ran = run(&["verify", &file, &folder.file("broken", text)]);
        assert_eq!(ran.code, Some(3), "{text}: {ran:?}");
        assert!(
            ran.stderr.contains(expected)
                && ran.stderr.contains("broken:1") | ran.stderr.contains("broken:2"),
            "{ran:?}"
        );
    }
    let lines = [
        (r#"{"level":"si"}"#, "missing field `verdict`"),
        (r#"{"level":"high","verdict":"undecided"}"#, "unknown isolation level"),
        (r#"{"level":"si","verdict":"perhaps"}"#, "found `perhaps`"),
        (r#"{"level":"si","verdict":"holds","points":[["x",0]]}"#, "unknown variant"),
        (r#"{"level":"si","verdict":"holds","points":[["b",-1]]}"#, "u32"),
        (r#"{"level":"si","verdict":"holds","points":[["b",99999999999]]}"#, "u32"),
        (r#"{"level":"si","verdict":"holds","points":[["b"]]}"#, "invalid length"),
        (r#"{"level":"si","verdict":"holds","order":"all"}"#, "expected a sequence"),
        (
            r#"{"level":"si","verdict":"holds","points":[],"order":[]}"#,
            "either `points` or `order`",
        ),
        (r#"{"level":"si","verdict":"violated"}"#, "expected `operations`"),
        (
            r#"{"level":"si","verdict":"violated","kind":"bad luck","operations":[]}"#,
            "unknown anomaly",
        ),
        (r#"{"level":"si","verdict":"undecided","extra":1}"#, "unknown field"),
        ("[[[[", "expected the verdict of a level"),
    ];
    for (line, expected) in lines {
        let ran = run(&["verify", &file, &folder.file("broken", format!("{only_si}\n{line}\n"))]);
        assert_eq!(ran.code, Some(3), "{line}: {ran:?}");
        assert!(
            ran.stderr.contains("broken:2") && ran.stderr.contains(expected),
            "{line}: {}",
            ran.stderr
        );
    }
    let binary = run(&["verify", &file, &folder.file("broken", b"\n\xff\xfe")]);
    assert_eq!(binary.code, Some(3));
    assert!(binary.stderr.contains("broken:2: expected a certificate"), "{}", binary.stderr);
    assert_eq!(run(&["verify", &file, &folder.at("none")]).code, Some(3));
    assert_eq!(run(&["verify", &folder.at("none"), &folder.at("certificate")]).code, Some(3));
    assert_eq!(run(&["verify", "-", "-"]).code, Some(3));
}

#[test]
fn a_certificate_is_for_one_input_and_a_file() {
    let folder = Folder::new();
    let (good, bad) = (folder.file("good.txt", GOOD), folder.file("bad.txt", CAUSAL));
    let several = run(&["check", &good, &bad, "--certificate", &folder.at("c")]);
    assert_eq!(several.code, Some(3));
    assert!(
        several.stderr.contains("--certificate is for one input, here are 2"),
        "{}",
        several.stderr
    );
    assert_eq!(run(&["check", &good, "--certificate", "-"]).code, Some(3));
    assert_eq!(run(&["check", &good, "--certificate", &folder.at("none/c")]).code, Some(3));
    assert_eq!(folder.names(), ["bad.txt", "good.txt"]);
    let undecided = run(&["check", &good, "--level", "ser,sser", "--certificate", &folder.at("c")]);
    assert_eq!(undecided.code, Some(2));
    let ran = run(&["verify", &good, &folder.at("c")]);
    assert_eq!(ran.code, Some(2));
    let expected = "serializability: holds, confirmed\nstrict serializability: undecided, nothing \
                    to confirm\n";
    assert_eq!(ran.stdout, expected);
}

#[test]
fn minimize_leaves_the_smallest_violation() {
    let folder = Folder::new();
    let noise: String =
        (10..60).map(|i| format!("w({i},1,{},{i})\nr({i},1,{},{i})\n", i % 5, i % 5)).collect();
    let file = folder.file("bad.txt", CAUSAL.to_owned() + &noise);
    let small = folder.at("small.jsonl");
    for level in ["cc", "si", "ser"] {
        let ran = run(&["minimize", &file, "--level", level, "-o", &small]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        assert!(
            ran.stderr.starts_with("4 of 54 transactions and 5 of 105 operations are left"),
            "{}",
            ran.stderr
        );
        assert_eq!(run(&["check", "--quiet", &small, "--level", level]).code, Some(1));
    }
    let text = run(&["minimize", &file, "--level", "cc", "-o", "-", "--to", "plume"]);
    assert_eq!((text.code, text.stdout.lines().count()), (Some(0), 5), "{text:?}");
    let skew = folder.file("skew.jsonl", SKEW);
    assert_eq!(run(&["minimize", &skew, "--level", "ser", "-o", &small]).code, Some(0));
    assert_eq!(run(&["check", "--quiet", &small, "--level", "si"]).code, Some(0));
    assert_eq!(run(&["check", "--quiet", &small, "--level", "ser"]).code, Some(1));
}

#[test]
fn minimize_writes_nothing_if_there_is_nothing_to_show() {
    let folder = Folder::new();
    let good = folder.file("good.txt", GOOD);
    let out = folder.at("small.jsonl");
    let holds = run(&["minimize", &good, "--level", "ser", "-o", &out]);
    assert_eq!(holds.code, Some(3));
    assert!(
        holds.stderr.contains("serializability holds; nothing was written"),
        "{}",
        holds.stderr
    );
    assert_eq!(run(&["minimize", &good, "--level", "sser", "-o", &out]).code, Some(2));
    assert_eq!(run(&["minimize", &good, "--level", "all", "-o", &out]).code, Some(3));
    assert_eq!(run(&["minimize", &folder.at("none"), "--level", "cc", "-o", &out]).code, Some(3));
    assert_eq!(folder.names(), ["good.txt"]);
}

/// A certificate that named transactions by their place in the file rejected its own history as
/// soon as the sessions stood in another order.
#[test]
fn a_certificate_does_not_depend_on_the_order_of_sessions() {
    let folder = Folder::new();
    let twice: String = ["r(1,2,4,4)", "r(0,0,4,4)", "w(1,2,2,2)", "w(0,1,1,1)", "w(1,1,1,1)"]
        .into_iter()
        .chain(["r(0,1,3,3)", "r(1,0,3,3)", "w(0,1,0,0)"])
        .map(|line| format!("{line}\n"))
        .collect();
    let mut lines: Vec<&str> = SKEW.lines().collect();
    lines[1..].rotate_right(2);
    let skew: String = lines.iter().map(|line| format!("{line}\n")).collect();
    for (history, other) in [(SKEW, skew.as_str()), (TWICE, &twice)] {
        let original = folder.file("original", history);
        let certificate = certify(&folder, &original);
        let (code, said) = verify(&folder, &folder.file("other", other), &certificate);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.lines().all(|line| line.ends_with("confirmed")), "{said}");
        let again = certify(&folder, &folder.at("other"));
        assert_eq!(again[0]["fingerprint"], certificate[0]["fingerprint"]);
        assert_eq!(verify(&folder, &original, &again).0, Some(0));
    }
}

#[test]
fn a_certificate_has_one_line_for_each_level() {
    let folder = Folder::new();
    let file = folder.file("skew.jsonl", SKEW);
    let mut lines = certify(&folder, &file);
    let si = of(&mut lines, "si").clone();
    lines.push(json!({"level": "si", "verdict": "undecided"}));
    let (code, said) = verify(&folder, &file, &lines);
    let expected = "changed:10: a second verdict of level `si`, whose first is in line 7; remove \
                    the one that does not belong there";
    assert!(code == Some(3) && said.contains(expected), "{said}");
    *lines.last_mut().unwrap() = si;
    assert_eq!(verify(&folder, &file, &lines).0, Some(3));
}
