//! `seriatim explore`: the shipped programs, and everything around an exploration.

mod common;

use common::{Folder, Ran, run, schema, start};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/programs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "tx"));
    files.sort();
    files
}

fn shipped(name: &str) -> String {
    let path = programs().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
    path.unwrap().to_str().unwrap().to_owned()
}

/// The one line of JSON of an exploration, which fits the schema.
fn json(args: &[&str]) -> (Option<i32>, serde_json::Value) {
    let ran = run(&[&["explore", "--format", "json"], args].concat());
    let [line] = &ran.json()[..] else { panic!("one line: {ran:?}") };
    let validator = schema("explore");
    assert!(validator.is_valid(line), "{line}");
    (ran.code, line.clone())
}

#[test]
fn every_shipped_program_shows_its_anomaly_at_one_level_and_not_at_the_next() {
    let mut shown = Vec::new();
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let line =
            text.lines().find_map(|line| line.strip_prefix("# shows: ")).expect("every program says what it shows");
        let (kind, levels) = line.split_once(" at ").unwrap();
        let (weak, strong) = levels.split_once(", not at ").unwrap();
        let path = path.to_str().unwrap();
        let (code, found) = json(&[path, "--level", weak]);
        assert_eq!((code, &found["verdict"]), (Some(1), &"violated".into()), "{path}");
        let kinds: Vec<&str> =
            found["behaviour"]["anomalies"].as_array().unwrap().iter().map(|a| a["kind"].as_str().unwrap()).collect();
        assert!(kinds.contains(&kind), "{path}: {kinds:?}");
        let (code, held) = json(&[path, "--level", strong]);
        assert_eq!((code, &held["verdict"]), (Some(0), &"holds".into()), "{path}: {held}");
        shown.push(kind.to_owned());
    }
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), 14, "{shown:?}");
}

#[test]
fn a_counterexample_can_be_run_again() {
    let path = shipped("write-skew");
    let page = run(&["explore", &path, "--level", "si"]);
    assert_eq!(page.code, Some(1));
    assert!(page.stdout.contains("the assertions do not hold at snapshot isolation"), "{}", page.stdout);
    assert!(page.stdout.contains("write skew: 1 instance"), "{}", page.stdout);
    let token = page.stdout.lines().last().unwrap().rsplit(' ').next().unwrap().to_owned();
    let again = run(&["explore", &path, "--level", "si", "--replay", &token]);
    assert_eq!(again.code, Some(1));
    assert!(again.stdout.contains("final(duty[1]) = 0, final(duty[2]) = 0"), "{}", again.stdout);
    let (_, found) = json(&[&path, "--level", "si", "--replay", &token]);
    assert_eq!(found["behaviour"]["token"], token.as_str());
    // At serializability there is no such behaviour.
    let refused = run(&["explore", &path, "--level", "ser", "--replay", &token]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.contains("it is no behaviour at serializability"), "{}", refused.stderr);
    for bad in ["", "0", "7:0", "0:9.9,1:0", "0:0.0.0,1:0.0", "x:y", "0:0.0,1:0.0,1:0", "99999999999999999999:0"] {
        let ran = run(&["explore", &path, "--replay", bad]);
        assert_eq!(ran.code, Some(3), "{bad}: {}", ran.stdout);
        assert!(ran.stderr.contains("token"), "{bad}: {}", ran.stderr);
    }
}

#[test]
fn all_counterexamples_are_grouped_by_their_cycle() {
    let (code, all) = json(&["twitter", "--level", "cc", "--all"]);
    assert_eq!(code, Some(1));
    let groups = all["groups"].as_array().unwrap();
    let counted: u64 = groups.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!(Some(counted), all["counterexamples"].as_u64());
    assert!(groups.len() > 1 && counted > groups.len() as u64, "{} groups of {counted}", groups.len());
    assert_eq!(all["histories"], 200);
}

#[test]
fn the_same_histories_with_any_number_of_threads_and_in_parts() {
    let count = |args: &[&str]| {
        let (_, found) = json(&[&["twitter", "--robust", "--all"], args].concat());
        (found["histories"].as_u64().unwrap(), found["counterexamples"].as_u64().unwrap())
    };
    let whole = count(&["--threads", "1"]);
    assert_eq!(whole, (200, 35));
    assert_eq!(count(&["--threads", "3"]), whole);
    let parts: Vec<(u64, u64)> = ["1/3", "2/3", "3/3"].iter().map(|part| count(&["--partition", part])).collect();
    let sum = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    assert_eq!(sum, whole, "{parts:?}");
    assert!(parts.iter().all(|part| part.0 > 0), "{parts:?}");
    for bad in ["0/3", "4/3", "1", "a/b", "1/0"] {
        assert_eq!(run(&["explore", "cart", "--partition", bad]).code, Some(3), "{bad}");
    }
}

#[test]
fn an_exploration_goes_on_from_its_checkpoint() {
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    let args = ["courseware-overflow", "--level", "ser", "--checkpoint", &kept];
    let mut rounds = 0;
    let last = loop {
        let (code, found) = json(&[&args[..], &["--budget", "150ms"]].concat());
        rounds += 1;
        if code == Some(0) {
            break found;
        }
        assert_eq!((code, &found["verdict"]), (Some(2), &"undecided".into()));
        assert!(rounds < 1000);
    };
    assert!(rounds > 1, "the budget was not small enough");
    assert_eq!((&last["histories"], &last["end_states"]), (&1680.into(), &212_395.into()));
    assert_eq!(folder.names(), ["kept.json"]);
    let other = run(&["explore", "courseware-overflow", "--level", "si", "--checkpoint", &kept]);
    assert_eq!(other.code, Some(3));
    assert!(other.stderr.contains("of something else"), "{}", other.stderr);
    let broken = folder.file("broken.json", "{}");
    assert_eq!(run(&["explore", "cart", "--checkpoint", &broken]).code, Some(3));
    let whole = std::fs::read_to_string(&kept).unwrap();
    for wrong in ["77", "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1"] {
        let open = format!(r#""open":[{{"path":[{wrong}]}}]"#);
        std::fs::write(&kept, whole.replace(r#""open":[]"#, &open)).unwrap();
        let ran = run(&[&["explore"], &args[..]].concat());
        assert_eq!(ran.code, Some(3), "{wrong}: {}", ran.stdout);
        assert!(ran.stderr.contains("the checkpoint does not fit"), "{}", ran.stderr);
    }
}

#[test]
fn the_baseline_comes_to_histories_many_times() {
    let (_, once) = json(&["cart", "--robust", "--level", "ser"]);
    let (_, often) = json(&["cart", "--robust", "--level", "ser", "--algorithm", "dfs"]);
    assert_eq!((&once["verdict"], &often["verdict"]), (&"holds".into(), &"holds".into()));
    assert!(often["histories"].as_u64() > once["histories"].as_u64());
}

#[test]
fn mistakes_in_a_program_are_shown_where_they_are() {
    let folder = Folder::new();
    let path = folder.file("bad.tx", "init x = 1\nsession a {\n    begin\n        y := reed(x)\n    commit\n}\n");
    let ran = run(&["explore", &path]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("bad.tx:4:14: the local reed has not been set"), "{}", ran.stderr);
    assert!(ran.stderr.contains("        y := reed(x)\n               ^"), "{}", ran.stderr);
    let none = run(&["explore", "no-such-program"]);
    assert_eq!(none.code, Some(3));
    assert!(none.stderr.contains("courseware-overflow"), "{}", none.stderr);
    for args in [
        &["cart", "--base", "si"][..],
        &["cart", "--level", "sser"],
        &["cart", "--level", "ci"],
        &["cart", "--threads", "0"],
    ] {
        assert_eq!(run(&[&["explore"], args].concat()).code, Some(3), "{args:?}");
    }
}

#[test]
fn what_people_read_about_an_exploration() {
    let page = run(&["explore", &shipped("causality-violation"), "--level", "ra"]).stdout;
    let page: Vec<&str> =
        page.lines().filter(|line| !line.contains("histories in") && !line.contains("programs/")).collect();
    insta::assert_snapshot!(page.join("\n"));
}

/// Verdict, numbers and counterexample of an exploration.
fn told(args: &[&str]) -> (Option<i32>, serde_json::Value) {
    let (code, mut found) = json(args);
    for what in ["time_ms", "share"] {
        found.as_object_mut().unwrap().remove(what);
    }
    (code, found)
}

#[test]
fn the_same_is_told_with_any_number_of_threads() {
    for args in [
        &["cart", "--level", "cc"][..],
        &["courseware-overflow", "--level", "cc"],
        &["twitter", "--robust"],
        &["cart:2", "--robust"],
        &["wikipedia:1", "--level", "cc"],
        &["tpcc:2", "--robust", "--level", "rc"],
    ] {
        let one = told(&[args, &["--threads", "1"]].concat());
        for threads in ["2", "4"] {
            assert_eq!(told(&[args, &["--threads", threads]].concat()), one, "{args:?}");
        }
    }
}

#[test]
fn a_counterexample_is_the_same_with_a_checkpoint_and_found_in_a_part() {
    let args = ["tpcc:1", "--robust", "--level", "cc"];
    let whole = told(&args);
    assert_eq!(whole.0, Some(1));
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    let resumed = loop {
        let round = told(&[&args[..], &["--checkpoint", &kept, "--budget", "20ms"]].concat());
        if round.0 != Some(2) {
            break round;
        }
    };
    // With a budget that ends before everything ahead of a counterexample is visited, another one may be told of first.
    assert_eq!(told(&[&args[..], &["--checkpoint", &kept]].concat()), whole);
    assert_eq!(resumed.0, whole.0);
    let part = |part: &str| json(&[&args[..], &["--partition", part]].concat()).1["behaviour"]["token"].clone();
    assert!(["1/3", "2/3", "3/3"].map(part).contains(&whole.1["behaviour"]["token"]));
}

/// Interrupts an exploration that takes longer than anybody waits.
fn interrupted(args: &[&str]) -> Ran {
    let child = start(&[&["explore", "cart:1", "--size", "10x10"], args].concat());
    std::thread::sleep(Duration::from_millis(1500));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn an_interrupt_loses_nothing() {
    let ran = interrupted(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""));
    assert!(ran.stdout.contains("; not all were visited"), "{}", ran.stdout);
    assert!(ran.stdout.contains("It was interrupted. With --checkpoint FILE"), "{}", ran.stdout);
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    let ran = interrupted(&["--checkpoint", &kept, "--format", "json"]);
    let (found, file) = (&ran.json()[0], std::fs::read_to_string(&kept).unwrap());
    assert_eq!((ran.code, &found["verdict"]), (Some(130), &"undecided".into()));
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    let of = |part: &serde_json::Value| part["histories"].as_u64().unwrap_or(0);
    let open = file["work"]["open"].as_array().unwrap();
    let counted: u64 = of(&file["work"]["before"]) + open.iter().map(|subtree| of(&subtree["after"])).sum::<u64>();
    assert!(counted > 0);
    assert_eq!(found["histories"].as_u64(), Some(counted), "the last slice is kept, too");
    assert_eq!(folder.names(), ["kept.json"]);
}

#[test]
fn a_budget_is_spent_and_told_of() {
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    let args = ["explore", "cart:1", "--size", "10x10", "--budget", "300ms"];
    let ran = run(&args);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("The budget is spent. With --checkpoint FILE"), "{}", ran.stdout);
    let ran = run(&[&args[..], &["--checkpoint", &kept]].concat());
    assert!(ran.stdout.contains("The budget is spent. The same command goes on from"), "{}", ran.stdout);
    // Nothing at all can be done in no time, but the file is there.
    let none = folder.at("none.json");
    let ran = run(&["explore", "cart:1", "--budget", "0s", "--checkpoint", &none]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(json(&["cart:1", "--checkpoint", &none]).1["histories"], 1494);
}

#[test]
fn checkpoints_that_cannot_be_used_are_refused_with_the_reason() {
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    assert_eq!(run(&["explore", "cart:1", "--checkpoint", &kept]).code, Some(0));
    let whole = std::fs::read_to_string(&kept).unwrap();
    let short = folder.file("short.json", &whole[..whole.len() / 2]);
    let empty = folder.file("empty.json", "");
    let newer = folder.file("newer.json", whole.replace(r#""seriatim_checkpoint":1"#, r#""seriatim_checkpoint":9"#));
    let missing = folder.at("no/such/folder.json");
    let here = folder.path().to_str().unwrap().to_owned();
    for (args, why) in [
        (&["cart:2", "--checkpoint", &kept][..], "of something else: another program; name another file"),
        (&["cart:1", "--level", "si", "--checkpoint", &kept], "of something else: level cc, not level si; name"),
        (&["cart:1", "--checkpoint", &short], "not a whole checkpoint"),
        (&["cart:1", "--checkpoint", &empty], "not a whole checkpoint"),
        (&["cart:1", "--checkpoint", &newer], "of another version"),
        (&["cart:1", "--checkpoint", &missing], "the checkpoint cannot be written"),
        (&["cart:1", "--checkpoint", &here], "not a file"),
        (&["cart:1", "--checkpoint", "/dev/full"], "not a file"),
        (&["cart:1", "--checkpoint", "/dev/zero"], "not a file"),
    ] {
        let ran = run(&[&["explore"], args].concat());
        assert_eq!(ran.code, Some(3), "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn hostile_programs_and_flags_are_refused_with_the_reason() {
    let folder = Folder::new();
    let session = |body: &str| format!("session a {{\n begin\n {body}\n commit\n}}\n");
    let text = |name: &str, text: &str| folder.file(name, text);
    let binary = folder.at("binary.tx");
    std::fs::write(&binary, b"session a {\n b\xffgin").unwrap();
    let here = folder.path().to_str().unwrap().to_owned();
    for (program, why) in [
        (text("open.tx", "session a {\n begin\n x := read(y)\n"), "open.tx:3:14: the end of the file is not expected"),
        (text("empty.tx", ""), "empty.tx:1:1: the program has no session"),
        (text("round.tx", &session("repeat 1000000000 { x := 1 }")), "round.tx:3:20: this goes round more than"),
        (
            text("deep.tx", &session(&format!("x := {}1", "(".repeat(100_000)))),
            "deep.tx:3:47: this is nested more than",
        ),
        (text("many.tx", &session(&"write(x, 1)\n".repeat(1_000_000))), "has more than 10000 operations"),
        (text("name.tx", &"x".repeat(5_000_000)), "name.tx:1:1: this name has more than 100 bytes"),
        (
            text("number.tx", &session(&format!("x := {}", "9".repeat(5_000)))),
            "number.tx:3:7: this number is too large",
        ),
        (binary, "binary.tx:2:3: this is no text in UTF-8"),
        (here, "Is a directory"),
        (folder.at("missing.tx"), "No such file or directory"),
        ("/dev/zero".to_owned(), "larger than any program"),
        ("cart:-1".to_owned(), "the seed of random clients is a number"),
        ("cart:18446744073709551616".to_owned(), "the seed of random clients is a number"),
    ] {
        let ran = run(&["explore", &program]);
        assert_eq!(ran.code, Some(3), "{program}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{program}: {}", ran.stderr);
        assert!(ran.stderr.lines().all(|line| line.chars().count() < 400), "{program}: long lines");
    }
    for flags in [
        ["--partition", "1/1001"],
        ["--partition", "1/18446744073709551615"],
        ["--partition", "0/0"],
        ["--size", "0x3"],
        ["--size", "3x18446744073709551615"],
        ["--budget", "soon"],
        ["--replay", "\u{1b}[31m"],
    ] {
        let ran = run(&["explore", "cart:1", flags[0], flags[1]]);
        assert_eq!(ran.code, Some(3), "{flags:?}: {}", ran.stdout);
        assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.is_empty(), "{flags:?}: {}", ran.stderr);
    }
    let long = run(&["explore", "cart:1", "--replay", &"x".repeat(5_000)]);
    assert!(long.code == Some(3) && long.stderr.len() < 300, "{}", long.stderr);
}

#[test]
fn many_keys_and_the_marks_of_other_editors_are_fine() {
    let folder = Folder::new();
    let session = "session a {\r\n begin\r\n x := read(k1)\r\n commit\r\n}\r\n";
    let marked = folder.file("marked.tx", format!("\u{feff}{session}"));
    assert_eq!(run(&["explore", &marked]).code, Some(0));
    let keys: String = (0..200_000).map(|key| format!("init k{key} = {key}\n")).collect();
    let many = folder.file("many.tx", &(keys + session));
    assert_eq!(run(&["explore", &many]).code, Some(0));
    let large = folder.file("large.tx", "session a {\n begin\n x := 9223372036854775807 + 1\n commit\n}\n");
    let ran = run(&["explore", &large]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("the program goes wrong") && ran.stdout.contains("line 3"), "{}", ran.stdout);
}
