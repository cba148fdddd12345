//! `seriatim explore` in parts: by threads, over several runs, interrupted and gone on with.

mod common;

use common::{Folder, Ran, explore_json, run, start};
use std::process::Command;
use std::time::Duration;

#[test]
fn the_same_histories_with_any_number_of_threads_and_in_parts() {
    let count = |args: &[&str]| {
        let (_, found) = explore_json(&[&["twitter", "--robust", "--all"], args].concat());
        (found["histories"].as_u64().unwrap(), found["counterexamples"].as_u64().unwrap())
    };
    let whole = count(&["--threads", "1"]);
    assert_eq!(whole, (200, 35));
    assert_eq!(count(&["--threads", "3"]), whole);
    let parts: Vec<(u64, u64)> =
        ["1/3", "2/3", "3/3"].iter().map(|part| count(&["--partition", part])).collect();
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
        let (code, found) = explore_json(&[&args[..], &["--budget", "150ms"]].concat());
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

/// Verdict, numbers and counterexample of an exploration.
fn told(args: &[&str]) -> (Option<i32>, serde_json::Value) {
    let (code, mut found) = explore_json(args);
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
    // With a budget that ends before everything ahead of a counterexample is visited, another one
    // may be told of first.
    assert_eq!(told(&[&args[..], &["--checkpoint", &kept]].concat()), whole);
    assert_eq!(resumed.0, whole.0);
    let part = |part: &str| {
        explore_json(&[&args[..], &["--partition", part]].concat()).1["behaviour"]["token"].clone()
    };
    assert!(["1/3", "2/3", "3/3"].map(part).contains(&whole.1["behaviour"]["token"]));
}

/// Interrupts an exploration that takes longer than a user waits.
fn interrupted(args: &[&str]) -> Ran {
    signalled("-INT", args)
}

fn signalled(signal: &str, args: &[&str]) -> Ran {
    let child = start(&[&["explore", "cart:1", "--size", "10x10"], args].concat());
    std::thread::sleep(Duration::from_millis(1500));
    Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
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
    let counted: u64 =
        of(&file["work"]["before"]) + open.iter().map(|subtree| of(&subtree["after"])).sum::<u64>();
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
    assert!(
        ran.stdout.contains("The budget is spent. The same command goes on from"),
        "{}",
        ran.stdout
    );
    // Nothing at all can be done in no time, but the file is there.
    let none = folder.at("none.json");
    let ran = run(&["explore", "cart:1", "--budget", "0s", "--checkpoint", &none]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(explore_json(&["cart:1", "--checkpoint", &none]).1["histories"], 1494);
}

#[test]
fn checkpoints_that_cannot_be_used_are_refused_with_the_reason() {
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    assert_eq!(run(&["explore", "cart:1", "--checkpoint", &kept]).code, Some(0));
    let whole = std::fs::read_to_string(&kept).unwrap();
    let short = folder.file("short.json", &whole[..whole.len() / 2]);
    let empty = folder.file("empty.json", "");
    let newer = folder.file(
        "newer.json",
        whole.replace(r#""seriatim_checkpoint":3"#, r#""seriatim_checkpoint":9"#),
    );
    let missing = folder.at("no/such/folder.json");
    let here = folder.path().to_str().unwrap().to_owned();
    let program = folder.file("one.tx", "session a { begin write(x, 1) commit }");
    for (args, why) in [
        (
            &["cart:2", "--checkpoint", &kept][..],
            "of something else: another program; name another file",
        ),
        (
            &["cart:1", "--level", "si", "--checkpoint", &kept],
            "of something else: level cc, not level si; name",
        ),
        (&["cart:1", "--checkpoint", &short], "not a whole checkpoint"),
        (&["cart:1", "--checkpoint", &empty], "not a whole checkpoint"),
        (&["cart:1", "--checkpoint", &newer], "of another version"),
        (&["cart:1", "--checkpoint", &missing], "there is no such folder to write to"),
        (&["cart:1", "--checkpoint", &here], "is a folder; name a file"),
        (&[&program, "--checkpoint", &program], "is what is read; name another file"),
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
fn the_exit_code_says_which_signal_it_was() {
    for (signal, code) in [("-TERM", 143), ("-HUP", 129)] {
        let ran = signalled(signal, &[]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "{signal}");
        assert!(ran.stdout.contains("It was interrupted."), "{}", ran.stdout);
    }
}

#[test]
fn a_checkpoint_is_of_one_version_and_one_program() {
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    let args = ["explore", "twitter", "--all", "--checkpoint", &kept];
    assert_eq!(run(&args).code, Some(1));
    assert_eq!(run(&args).code, Some(1), "what is kept is read again");
    let whole = std::fs::read_to_string(&kept).unwrap();
    let version = concat!("seriatim ", env!("CARGO_PKG_VERSION"));
    let elapsed = whole.find(r#""elapsed":{"secs":"#).unwrap();
    let forever =
        whole[..elapsed].to_owned() + r#""elapsed":{"secs":18446744073709551615,"nanos":0}}}"#;
    for (text, why) in [
        (whole.replace(version, "seriatim 0.0.0"), "seriatim 0.0.0, not seriatim"),
        (whole.replace("program ", "program 1"), "another program"),
        (
            whole.replace(r#""seriatim_checkpoint":3"#, r#""seriatim_checkpoint":1"#),
            "of another version",
        ),
        (forever, "longer than 1000 years"),
    ] {
        std::fs::write(&kept, text).unwrap();
        let ran = run(&args);
        assert_eq!(ran.code, Some(3), "{why}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
    }
}

/// How many histories a checkpoint has, at least.
fn kept_histories(path: &str) -> u64 {
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap_or_default();
    let count = |tally: &serde_json::Value| tally["ends"].as_u64().unwrap_or_default();
    let open = kept["work"]["open"].as_array().cloned().unwrap_or_default();
    count(&kept["work"]["before"]) + open.iter().map(|left| count(&left["after"])).sum::<u64>()
}

#[test]
fn an_exploration_that_is_killed_early_each_time_gets_on() {
    let folder = Folder::new();
    let kept = folder.at("kept.json");
    let mut known = 0;
    for _ in 0..4 {
        let started = std::time::Instant::now();
        let mut child = start(&["explore", "cart:1", "--size", "6x6", "--checkpoint", &kept]);
        while kept_histories(&kept) <= known {
            // Well before the five seconds after which a checkpoint is written at the latest.
            assert!(started.elapsed() < Duration::from_secs(4), "nothing new was kept");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = kept_histories(&kept);
        assert!(now > known, "{now} after {known}");
        known = now;
    }
}
