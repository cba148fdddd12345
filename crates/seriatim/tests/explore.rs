//! `seriatim explore`: the shipped programs, and everything around an exploration.

mod common;

use common::{Folder, run, schema};
use std::path::{Path, PathBuf};

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
