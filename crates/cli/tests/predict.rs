//! `observe`, `predict` and `replay` as a user has them.

mod common;

use common::{Folder, run, schema};

/// Two deposits one after the other; the second could have missed the first.
const DEPOSITS: &str = "READ KEY[x] Txn(1, 0) From(0, 0)\nWRITE KEY[x] Txn(1, 0)\n\
                        READ KEY[x] Txn(2, 0) From(1, 0)\nWRITE KEY[x] Txn(2, 0)\nREAD KEY[x] \
                        Txn(2, 1) From(2, 0)\n";

#[test]
fn a_prediction_is_told_side_by_side() {
    let folder = Folder::new();
    let trace = folder.file("deposits.txt", DEPOSITS);
    let found = run(&["predict", &trace, "--level", "causal", "--boundary", "relaxed"]);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    let expected = "\
could have gone wrong at causal consistency, relaxed boundary, exact

  observed                                         predicted (* reads from another writer)
  session 1
    s1.t0                                        │  s1.t0
      read x=nil (initial)                       │    read x=nil (initial)
      write x                                    │    write x
  session 2
    s2.t0                                        │  s2.t0
      read x from s1.t0                          │  * read x=nil (initial)
      write x                                    │    write x

  session 1 runs to its end
  session 2 ends with s2.t0: what follows is not known; cut off: s2.t1

not serializable: lost update
  s1.t0 -rw(x)-> s2.t0 -rw(x)-> s1.t0
";
    assert!(found.stdout.contains(expected), "{}", found.stdout);
    assert!(!found.stdout.contains('\u{1b}'));
}

#[test]
fn the_answer_is_in_the_exit_code() {
    let folder = Folder::new();
    let trace = folder.file("deposits.txt", DEPOSITS);
    let none = run(&["predict", &trace, "--level", "cc"]);
    assert_eq!(none.code, Some(0), "{none:?}");
    assert!(
        none.stdout.contains("no unserializable history exists within the boundary"),
        "{}",
        none.stdout
    );
    let late =
        run(&["predict", &trace, "--level", "cc", "--boundary", "relaxed", "--budget", "0ms"]);
    assert_eq!(late.code, Some(2), "{late:?}");
    assert!(late.stdout.contains("undecided"), "{}", late.stdout);
    let skew = folder.file(
        "skew.txt",
        "READ KEY[x] Txn(1, 0) From(0, 0)\nWRITE KEY[x] Txn(1, \
                                        0)\nREAD KEY[x] Txn(2, 0) From(0, 0)\nWRITE KEY[x] Txn(2, \
                                        0)\n",
    );
    let already = run(&["predict", &skew, "--level", "cc"]);
    assert_eq!(already.code, Some(1), "{already:?}");
    assert!(already.stdout.contains("is not serializable itself"), "{}", already.stdout);
}

#[test]
fn bad_input_and_usage_are_errors_with_a_reason() {
    let folder = Folder::new();
    let trace = folder.file("deposits.txt", DEPOSITS);
    let twice = folder.file("twice.txt", "w(0,1,0,0)\nw(0,1,1,1)\nr(0,1,2,2)\n");
    for (args, told) in [
        (&["predict", &trace, "--level", "ser"][..], "unknown level to predict at"),
        (&["predict", &trace, "--level", "cc", "--dot", "-"], "standard output is for the result"),
        (&["predict", &twice, "--level", "cc"], "was written more than once"),
        (&["predict", "/nowhere/run.txt", "--level", "cc"], "/nowhere/run.txt"),
        (&["replay", &trace, "smallbank"], "not what `seriatim predict --output` wrote"),
        (&["observe", "smallbank", "--sessions", "0", "-o", "x"], "--sessions"),
    ] {
        let refused = run(args);
        assert_eq!(refused.code, Some(3), "{args:?}: {refused:?}");
        assert!(refused.stderr.contains(told), "{args:?}: {}", refused.stderr);
    }
}

#[test]
fn json_fits_its_schema_and_pictures_are_written() {
    let folder = Folder::new();
    let trace = folder.file("deposits.txt", DEPOSITS);
    let schema = schema("predict");
    let (dot, svg, html) = (folder.at("p.dot"), folder.at("p.svg"), folder.at("p.html"));
    let pictures = ["--dot", &dot, "--svg", &svg, "--html", &html];
    let relaxed =
        [&["predict", &trace, "-l", "cc", "--boundary", "relaxed", "-f", "json"][..], &pictures]
            .concat();
    for (args, answer) in [
        (&relaxed[..], "found"),
        (&["predict", &trace, "-l", "cc", "-f", "json"], "none"),
        (&["predict", &trace, "-l", "cc", "-f", "json", "--budget", "0s"], "undecided"),
        (&["predict", &trace, "-l", "rc", "-f", "json", "--all", "--mode", "approx"], "found"),
    ] {
        let said = run(args);
        let [object] = &said.json()[..] else { panic!("{said:?}") };
        let errors: Vec<String> =
            schema.iter_errors(object).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:?}");
        assert_eq!(object["answer"], answer, "{args:?}");
    }
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert!(read(&dot).starts_with("digraph") && read(&dot).contains("rw(x)"));
    assert!(read(&svg).starts_with("<svg") && read(&svg).ends_with("</svg>\n"));
    assert!(read(&html).contains("<svg") && read(&html).contains("lost update"));
}

#[test]
fn what_is_observed_can_be_predicted_and_replayed() {
    let folder = Folder::new();
    for app in ["smallbank", "tpcc", "cart"] {
        let (observed, predicted) = (folder.at("run.jsonl"), folder.at("prediction.json"));
        assert_eq!(run(&["observe", app, "--seed", "20000", "-o", &observed]).code, Some(0));
        let found =
            run(&["predict", &observed, "-l", "cc", "--boundary", "relaxed", "-o", &predicted]);
        assert_eq!(found.code, Some(1), "{app}: {found:?}");
        let again = run(&["replay", &predicted, app]);
        assert_eq!(again.code, Some(1), "{app}: {again:?}");
        let said = ["validated: the run was as predicted", "diverged but not serializable"];
        assert!(said.iter().any(|said| again.stdout.contains(said)), "{}", again.stdout);
        let machine = run(&["replay", &predicted, app, "--format", "json"]);
        let lines = machine.json();
        assert!(
            schema("replay").is_valid(&lines[0]) && schema("check").is_valid(&lines[0]["check"]),
            "{machine:?}"
        );
        assert_eq!(
            (machine.code, lines.len(), &lines[0]["serializable"]),
            (Some(1), 1, &false.into())
        );
        let is_validated = lines[0]["outcome"] == "validated";
        assert_eq!(
            (is_validated, lines[0]["divergence"].is_null()),
            (again.stdout.contains(said[0]), is_validated)
        );
        // Neither without its application nor with another one.
        for args in [&["replay", &predicted][..], &["replay", &predicted, "voter"]] {
            assert_eq!(run(args).code, Some(3), "{args:?}");
        }
    }
}

#[test]
fn the_same_seed_observes_the_same_run() {
    let folder = Folder::new();
    let read = |name: &str| std::fs::read(folder.at(name)).unwrap();
    for (file, seed) in [("a.jsonl", "7"), ("b.jsonl", "7"), ("c.jsonl", "8")] {
        let done = run(&[
            "observe",
            "wikipedia",
            "--seed",
            seed,
            "--size",
            "large",
            "-o",
            &folder.at(file),
        ]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    assert_eq!(read("a.jsonl"), read("b.jsonl"));
    assert_ne!(read("a.jsonl"), read("c.jsonl"));
    let checked = run(&["check", "--quiet", &folder.at("a.jsonl")]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

/// A prediction, as text, and what is done to it before it is replayed.
fn changed(prediction: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut value: serde_json::Value = serde_json::from_str(prediction).unwrap();
    change(&mut value);
    value.to_string()
}

#[test]
fn damaged_predictions_are_refused_with_a_reason() {
    let folder = Folder::new();
    let (observed, predicted) = (folder.at("run.jsonl"), folder.at("prediction.json"));
    assert_eq!(run(&["observe", "smallbank", "--seed", "20000", "-o", &observed]).code, Some(0));
    assert_eq!(
        run(&["predict", &observed, "-l", "cc", "--boundary", "relaxed", "-o", &predicted]).code,
        Some(1)
    );
    let good = std::fs::read_to_string(&predicted).unwrap();
    let txn = |value: &mut serde_json::Value, field: &str, number: u64| {
        value["predictions"][0]["transactions"][0][field] = number.into();
    };
    let workload = |value: &mut serde_json::Value, field: &str, number: u64| {
        value["observed"]["application"][field] = number.into();
    };
    let read_themselves = |value: &mut serde_json::Value| {
        for txn in value["predictions"][0]["transactions"].as_array_mut().unwrap() {
            let from = serde_json::json!({ "session": txn["session"], "index": txn["index"] });
            for event in txn["events"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .filter(|event| event.get("read").is_some())
            {
                event["from"] = from.clone();
            }
        }
    };
    let twice = |value: &mut serde_json::Value| {
        let txns = value["predictions"][0]["transactions"].as_array_mut().unwrap();
        txns.extend(txns.clone());
    };
    for (text, told) in [
        (good[..good.len() / 2].to_owned(), "not what `seriatim predict --output` wrote"),
        (String::new(), "not what `seriatim predict --output` wrote"),
        ("[]".to_owned(), "not what `seriatim predict --output` wrote"),
        (
            changed(&good, |value| txn(value, "session", u64::from(u32::MAX))),
            "its sessions are not numbered",
        ),
        (
            changed(&good, |value| txn(value, "index", u64::MAX)),
            "not what `seriatim predict --output` wrote",
        ),
        (changed(&good, |value| workload(value, "sessions", 1_000_000_000)), "1000000000 sessions"),
        (changed(&good, |value| workload(value, "sessions", 0)), "0 sessions"),
        (changed(&good, |value| workload(value, "sessions", 1)), "the application has 1 sessions"),
        (changed(&good, |value| workload(value, "transactions", u64::MAX)), "transactions"),
        (changed(&good, |value| value["level"] = "ser".into()), "nothing can be predicted at"),
        (changed(&good, |value| value["level"] = "foo".into()), "unknown isolation level"),
        (
            changed(&good, |value| value["predictions"] = serde_json::json!([])),
            "there is no prediction in it",
        ),
        (
            changed(&good, |value| value["observed"] = serde_json::Value::Null),
            "does not say how the application was run",
        ),
        (
            changed(&good, |value| value["predictions"][0]["transactions"] = serde_json::json!([])),
            "no transaction",
        ),
        (changed(&good, read_themselves), "in a circle"),
        (changed(&good, twice), "twice"),
    ] {
        let damaged = folder.file("damaged.json", &text);
        let refused = run(&["replay", &damaged, "smallbank"]);
        assert_eq!(refused.code, Some(3), "{told}: {refused:?}");
        assert!(
            refused.stderr.contains(told) && refused.stderr.contains("damaged.json"),
            "{told}: {}",
            refused.stderr
        );
    }
    // A transaction that does not exist never runs: that is a divergence.
    let absent = folder
        .file("absent.json", changed(&good, |value| txn(value, "index", u64::from(u32::MAX))));
    let diverged = run(&["replay", &absent, "smallbank"]);
    assert!(
        diverged.code.is_some_and(|code| code < 2) && diverged.stdout.contains("diverged"),
        "{diverged:?}"
    );
}

#[test]
fn all_predictions_come_smallest_first() {
    let folder = Folder::new();
    let observed = folder.at("run.jsonl");
    assert_eq!(run(&["observe", "tpcc", "--seed", "4", "-o", &observed]).code, Some(0));
    let found = run(&["predict", &observed, "-l", "rc", "--all", "-f", "json"]);
    let [object] = &found.json()[..] else { panic!("{found:?}") };
    let predictions = object["predictions"].as_array().unwrap();
    let sizes: Vec<usize> =
        predictions.iter().map(|one| one["cycle"].as_array().unwrap().len()).collect();
    assert!(sizes.is_sorted() && sizes.first() < sizes.last(), "{sizes:?}");
    let differ: std::collections::HashSet<String> =
        predictions.iter().map(|one| one["cycle"].to_string()).collect();
    assert_eq!(differ.len(), predictions.len());
}

/// SmallBank's transactions cannot go wrong at snapshot isolation, and a thousand of them are no
/// reason not to know.
#[test]
fn a_long_run_is_answered_at_every_level() {
    let folder = Folder::new();
    let observed = folder.at("run.jsonl");
    let flags = ["--sessions", "10", "--transactions", "100", "-o", &observed];
    assert_eq!(run(&[&["observe", "smallbank"][..], &flags].concat()).code, Some(0));
    for (level, code) in [("rc", 1), ("ra", 1), ("cc", 1), ("pc", 1), ("si", 0)] {
        let answer =
            run(&["predict", &observed, "-l", level, "--boundary", "relaxed", "--budget", "60s"]);
        assert_eq!(answer.code, Some(code), "{level}: {answer:?}");
    }
}

#[test]
fn the_strict_boundary_says_what_the_relaxed_one_would_find() {
    let folder = Folder::new();
    let trace = folder.file("deposits.txt", DEPOSITS);
    let told = run(&["predict", &trace, "-l", "cc"]);
    assert_eq!(told.code, Some(0));
    let page = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("With --boundary relaxed there is one (lost update, "), "{page}");
    let machine = &run(&["predict", &trace, "-l", "cc", "-f", "json"]).json()[0];
    let relaxed = &machine["relaxed"];
    assert_eq!((&relaxed["answer"], &relaxed["anomaly"]), (&"found".into(), &"lost-update".into()));
    assert!(relaxed["circle"].as_str().is_some_and(|circle| circle.contains("-rw(x)->")));
    let serial = folder.file("serial.txt", "w(0,1,0,0)\nr(0,1,0,1)\n");
    let none = run(&["predict", &serial, "-l", "cc"]);
    assert!(none.stdout.contains("none exists either"), "{}", none.stdout);
    // Nobody asks twice.
    let asked = ["predict", &trace, "-l", "cc", "--boundary", "relaxed", "-f", "json"];
    assert!(run(&asked).json()[0]["relaxed"].is_null());
}

#[test]
fn predictions_have_the_file_and_line_of_the_observed_operations() {
    let folder = Folder::new();
    let trace = folder.file("deposits.txt", DEPOSITS);
    let relaxed = ["predict", &trace, "-l", "cc", "--boundary", "relaxed"];
    let told = run(&relaxed);
    assert!(told.stdout.contains("(deposits.txt:3)"), "{}", told.stdout);
    let machine = &run(&[&relaxed[..], &["-f", "json"]].concat()).json()[0];
    let place = machine["predictions"][0]["changed"][0]["place"].as_str().unwrap();
    assert!(place.ends_with("deposits.txt:3"), "{place}");
}

#[test]
fn a_replay_says_what_became_of_the_assertion_and_keeps_the_names() {
    let folder = Folder::new();
    let (observed, predicted) = (folder.at("run.jsonl"), folder.at("prediction.json"));
    assert_eq!(run(&["observe", "smallbank", "-o", &observed]).code, Some(0));
    let asked = ["predict", &observed, "-l", "cc", "--boundary", "relaxed", "-o", &predicted];
    assert_eq!(run(&asked).code, Some(1));
    let again = run(&["replay", &predicted, "smallbank"]);
    assert!(again.stdout.contains("The assertion broke when the clients"), "{}", again.stdout);
    let machine = &run(&["replay", &predicted, "smallbank", "-f", "json"]).json()[0];
    assert_eq!(machine["assertion"], "broke");
    assert!(machine["failure"].as_str().is_some_and(|failure| failure.starts_with("A13")));
    let file: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&predicted).unwrap()).unwrap();
    let cycle = |steps: &serde_json::Value| {
        let names = steps.as_array().unwrap().iter().map(|step| step["from"].to_string());
        names.collect::<std::collections::BTreeSet<String>>()
    };
    let replayed = &machine["check"]["anomalies"][0]["exemplar"]["cycle"];
    assert_eq!(cycle(replayed), cycle(&file["predictions"][0]["cycle"]));
}

/// Two clients who look at a list and append to it, one after the other.
const LISTS: &str = "{:type :ok, :process 0, :value [[:r 1 []] [:append 1 1]]}
{:type :ok, :process 1, :value [[:r 1 [1]] [:append 1 2]]}
";

#[test]
fn lists_are_predicted_from() {
    let folder = Folder::new();
    let lists = folder.file("lists.edn", LISTS);
    let found = run(&["predict", &lists, "-l", "cc", "--boundary", "relaxed"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    let page = found.stdout.replace(folder.path().to_str().unwrap(), "");
    insta::assert_snapshot!(page);
    let strict = run(&["predict", &lists, "-l", "cc", "--format", "json"]);
    assert_eq!(strict.json()[0]["answer"], "none");
    // Whoever must not miss an update cannot.
    assert_eq!(run(&["predict", &lists, "-l", "si", "--boundary", "relaxed"]).code, Some(0));
}
