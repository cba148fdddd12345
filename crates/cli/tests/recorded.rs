//! Histories that the program records have times and the seed, and a seed repeats what it can.

mod common;

use common::{Folder, run};
use serde_json::Value;

/// The lines of a file of JSON Lines.
fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_of_fuzz_has_times_and_its_seed_and_is_the_same_again() {
    let folder = Folder::new();
    let (one, two) = (folder.at("one.jsonl"), folder.at("two.jsonl"));
    for app in ["cart", "wikipedia"] {
        for path in [&one, &two] {
            let ran = run(&["fuzz", app, "--level", "cc", "--seed", "5", "--save", path]);
            assert_eq!(ran.code, Some(1), "{app}: {ran:?}");
        }
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
        let kept = lines(&one);
        assert_eq!((&kept[0]["source"], &kept[0]["seed"]), (&"fuzz".into(), &5.into()));
        assert!(kept[1..].iter().all(|txn| txn["begin"].as_i64() < txn["end"].as_i64()), "{app}");
        let checked = run(&["check", "--format", "json", &one]);
        assert_eq!(checked.json()[0]["levels"]["sser"], "violated", "{app}");
        std::fs::remove_file(&one).unwrap();
        std::fs::remove_file(&two).unwrap();
    }
}

#[test]
fn what_is_observed_has_times_and_its_seed_and_is_strictly_serializable() {
    let folder = Folder::new();
    let path = folder.at("run.jsonl");
    assert_eq!(run(&["observe", "tpcc", "--seed", "9", "-o", &path]).code, Some(0));
    let kept = lines(&path);
    assert_eq!((&kept[0]["source"], &kept[0]["seed"]), (&"observe".into(), &9.into()));
    let checked = run(&["check", "--quiet", &path]);
    assert!(checked.stdout.ends_with("up to strict serializability\n"), "{}", checked.stdout);
}

#[test]
fn the_seed_decides_what_a_benchmark_application_does_in_each_run() {
    let folder = Folder::new();
    let output = folder.at("run.json");
    let seeds: Vec<Value> = ["0", "1"]
        .into_iter()
        .map(|seed| {
            let args = ["fuzz", "wikipedia", "--level", "cc", "--seed", seed, "--output", &output];
            let ran = run(&args);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            let kept = lines_of_one(&output);
            assert_eq!(run(&["replay", &output]).code, Some(1));
            kept["workload"]["seed"].clone()
        })
        .collect();
    assert!(seeds[0].is_u64() && seeds[0] != seeds[1], "{seeds:?}");
}

/// A file with one value.
fn lines_of_one(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
