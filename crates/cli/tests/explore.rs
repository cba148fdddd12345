//! `seriatim explore`: the shipped programs, and everything around an exploration.

mod common;

use common::{Folder, Ran, explore_json, run, run_with_stdin};
use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/programs");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "tx"));
    files.sort();
    files
}

fn shipped(name: &str) -> String {
    let path =
        programs().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
    path.unwrap().to_str().unwrap().to_owned()
}

#[test]
fn every_shipped_program_shows_its_anomaly_at_one_level_and_not_at_the_next() {
    let mut shown = Vec::new();
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("# shows: "))
            .expect("every program says what it shows");
        let (kind, levels) = line.split_once(" at ").unwrap();
        let (weak, strong) = levels.split_once(", not at ").unwrap();
        let path = path.to_str().unwrap();
        let (code, found) = explore_json(&[path, "--level", weak]);
        assert_eq!((code, &found["verdict"]), (Some(1), &"violated".into()), "{path}");
        let kinds: Vec<&str> = found["behaviour"]["anomalies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["kind"].as_str().unwrap())
            .collect();
        assert!(kinds.contains(&kind), "{path}: {kinds:?}");
        let (code, held) = explore_json(&[path, "--level", strong]);
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
    assert!(
        page.stdout.contains("the assertions do not hold at snapshot isolation"),
        "{}",
        page.stdout
    );
    assert!(page.stdout.contains("write skew: 1 instance"), "{}", page.stdout);
    let token = page.stdout.lines().last().unwrap().rsplit(' ').next().unwrap().to_owned();
    let again = run(&["explore", &path, "--level", "si", "--replay", &token]);
    assert_eq!(again.code, Some(1));
    assert!(again.stdout.contains("final(duty[1]) = 0, final(duty[2]) = 0"), "{}", again.stdout);
    let (_, found) = explore_json(&[&path, "--level", "si", "--replay", &token]);
    assert_eq!(found["behaviour"]["token"], token.as_str());
    // At serializability there is no such behaviour.
    let refused = run(&["explore", &path, "--level", "ser", "--replay", &token]);
    assert_eq!(refused.code, Some(3));
    assert!(
        refused.stderr.contains(
            "is no behaviour at serializability: no commit order allows its reads; was it found \
             at another --level?"
        ),
        "{}",
        refused.stderr
    );
    for bad in [
        "",
        "0",
        "7:0",
        "0:9.9,1:0",
        "0:0.0.0,1:0.0",
        "x:y",
        "0:0.0,1:0.0,1:0",
        "99999999999999999999:0",
    ] {
        let ran = run(&["explore", &path, "--replay", bad]);
        assert_eq!(ran.code, Some(3), "{bad}: {}", ran.stdout);
        assert!(ran.stderr.contains("token"), "{bad}: {}", ran.stderr);
    }
}

#[test]
fn all_counterexamples_are_grouped_by_their_cycle() {
    let (code, all) = explore_json(&["twitter", "--level", "cc", "--all"]);
    assert_eq!(code, Some(1));
    let groups = all["groups"].as_array().unwrap();
    let counted: u64 = groups.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!(Some(counted), all["counterexamples"].as_u64());
    assert!(
        groups.len() > 1 && counted > groups.len() as u64,
        "{} groups of {counted}",
        groups.len()
    );
    assert_eq!(all["histories"], 200);
}

#[test]
fn the_baseline_comes_to_histories_many_times() {
    let (_, once) = explore_json(&["cart", "--robust", "--level", "ser"]);
    let (_, often) = explore_json(&["cart", "--robust", "--level", "ser", "--algorithm", "dfs"]);
    assert_eq!((&once["verdict"], &often["verdict"]), (&"holds".into(), &"holds".into()));
    assert!(often["histories"].as_u64() > once["histories"].as_u64());
}

#[test]
fn mistakes_in_a_program_are_shown_where_they_are() {
    let folder = Folder::new();
    let path = folder.file(
        "bad.tx",
        "init x = 1\nsession a {\n    begin\n        y := reed(x)\n    commit\n}\n",
    );
    let ran = run(&["explore", &path]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr
            .contains("bad.tx:4:14: there is no `reed(…)` in the language; did you mean `read`?"),
        "{}",
        ran.stderr
    );
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
    let page: Vec<&str> = page
        .lines()
        .filter(|line| !line.contains("histories in") && !line.contains("programs/"))
        .collect();
    insta::assert_snapshot!(page.join("\n"));
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
        (
            text("open.tx", "session a {\n begin\n x := read(y)\n"),
            "open.tx:3:14: the end of the file is not expected",
        ),
        (text("empty.tx", ""), "empty.tx:1:1: the program has no session"),
        (
            text("round.tx", &session("repeat 1000000000 { x := 1 }")),
            "round.tx:3:20: this goes round more than",
        ),
        (
            text("deep.tx", &session(&format!("x := {}1", "(".repeat(100_000)))),
            "deep.tx:3:47: this is nested more than",
        ),
        (
            text("many.tx", &session(&"write(x, 1)\n".repeat(1_000_000))),
            "has more than 10000 operations",
        ),
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
        assert!(
            !ran.stderr.contains('\u{1b}') && !ran.stderr.is_empty(),
            "{flags:?}: {}",
            ran.stderr
        );
    }
    let long = run(&["explore", "cart:1", "--replay", &"x".repeat(5_000)]);
    assert!(long.code == Some(3) && long.stderr.len() < 300, "{}", long.stderr);
}

#[test]
fn many_keys_and_the_marks_of_other_editors_are_fine() {
    let folder = Folder::new();
    let session = "session a {\r\n begin\r\n x := read(k1)\r\n commit\r\n}\r\n";
    let marked = folder.file("marked.tx", format!("\u{feff}init k1 = 1\r\n{session}"));
    assert_eq!(run(&["explore", &marked]).code, Some(0));
    let keys: String = (0..200_000).map(|key| format!("init k{key} = {key}\n")).collect();
    let many = folder.file("many.tx", &(keys + session));
    assert_eq!(run(&["explore", &many]).code, Some(0));
    let large =
        folder.file("large.tx", "session a {\n begin\n x := 9223372036854775807 + 1\n commit\n}\n");
    let ran = run(&["explore", &large]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("the program goes wrong") && ran.stdout.contains("line 3"),
        "{}",
        ran.stdout
    );
}

#[test]
fn clients_that_try_again_without_end_are_explored() {
    for level in ["true", "rc", "ra"] {
        let (code, found) = explore_json(&["stack", "--level", level, "--threads", "1"]);
        assert_eq!(
            (code, &found["verdict"], &found["complete"]),
            (Some(1), &"violated".into(), &false.into()),
            "{level}"
        );
        assert!(found["cut"].as_u64() > Some(0) && found["share"].as_f64() < Some(1.0), "{found}");
    }
    let ran = run(&["explore", "stack", "--level", "rc"]);
    assert!(
        ran.stdout.contains(
            "1 behaviour was cut, because a client needed more transactions: a program may have 128"
        ),
        "{}",
        ran.stdout
    );
}

/// The command below "See this behaviour again".
fn hint(page: &str) -> String {
    let line = page.lines().last().unwrap();
    line.trim().strip_prefix("seriatim ").expect("a whole command").to_owned()
}

#[test]
fn the_hint_is_a_command_that_works_as_it_is_printed() {
    let folder = Folder::new();
    let text = "session a { begin at rc x := read(k); write(k, x + 1) commit }\n\
        session b { begin x := read(k); write(k, x + 1) commit }\nassert final(k) == 2\n";
    let mixed = folder.file("it's mixed.tx", text);
    for args in [
        &[mixed.as_str(), "--level", "ser"][..],
        &[&mixed, "--level", "rc", "--base", "true"],
        &["cart:2", "--size", "3x2", "--robust"],
        &["stack", "--level", "ra"],
        &["twitter", "--robust", "--level", "rc"],
    ] {
        let page = run(&[&["explore"], args].concat());
        assert_eq!(page.code, Some(1), "{args:?}: {}", page.stderr);
        let command = format!("{} {}", env!("CARGO_BIN_EXE_seriatim"), hint(&page.stdout));
        let again = Ran::from(Command::new("sh").args(["-c", &command]).output().unwrap());
        assert_eq!(again.code, Some(1), "{command}: {}", again.stderr);
        assert_eq!(hint(&again.stdout), hint(&page.stdout));
    }
    let page = run(&["explore", &mixed, "--level", "ser"]).stdout;
    assert!(
        page.contains("do not hold at serializability (1 transaction at read committed)\n"),
        "{page}"
    );
}

#[test]
fn a_token_that_does_not_fit_says_why() {
    let path = shipped("causality-violation");
    let token = explore_json(&[&path, "--level", "ra"]).1["behaviour"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let ran = run(&["explore", &path, "--level", "cc", "--replay", &token]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("is no behaviour at causal consistency: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("was it found at another --level?"), "{}", ran.stderr);
    let ran = run(&["explore", &shipped("lost-update"), "--replay", "0:9,1:0"]);
    assert!(
        ran.stderr.contains("reads from number 9, but there are only 0 before it"),
        "{}",
        ran.stderr
    );
}

#[test]
fn programs_are_suggested_and_read_from_standard_input() {
    for (name, meant) in [
        ("crat", "did you mean cart"),
        ("courseware", "courseware-overflow"),
        ("smalbank", "smallbank"),
    ] {
        let ran = run(&["explore", name]);
        assert_eq!(ran.code, Some(3));
        assert!(
            ran.stderr.contains(meant) && ran.stderr.contains("did you mean"),
            "{}",
            ran.stderr
        );
    }
    for app in ["smallbank", "voter", "tpcc", "wikipedia", "tpcc:1", "cart:1"] {
        assert!(run(&["explore", "--help"]).stdout.replace("\n", " ").contains(app), "{app}");
        assert!(run(&["explore", "nothing-of-this-kind-at-all"]).stderr.contains(app), "{app}");
    }
    for args in
        [&["cart", "--size", "2x2"][..], &["cart", "--base", "ser"], &["cart", "--base", "pc"]]
    {
        assert_eq!(run(&[&["explore"], args].concat()).code, Some(3), "{args:?}");
    }
    let text = std::fs::read(shipped("write-skew")).unwrap();
    let ran = run_with_stdin(&["explore", "-", "--level", "ser"], &text);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("-: the assertions hold in all 2 histories at serializability"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_language_can_be_looked_up_and_what_it_says_is_true() {
    let page = run(&["explain", "language"]);
    assert_eq!(page.code, Some(0));
    for what in [
        "session",
        "begin at",
        "repeat",
        "for i in",
        "abort",
        "final(",
        "32 sessions, 128 transactions",
        "hold 0",
    ] {
        assert!(page.stdout.contains(what), "{what}");
    }
    let example: Vec<&str> =
        page.stdout.lines().filter_map(|line| line.strip_prefix("    ")).take(16).collect();
    let ran = run_with_stdin(&["explore", "-", "--level", "cc"], example.join("\n").as_bytes());
    assert!(ran.stdout.starts_with("-: the assertions"), "{}{}", ran.stdout, ran.stderr);
    // Locals that an aborted transaction set stay set.
    let text = "session a { begin got := 1; write(x, 1); abort commit }\nassert a.got == 1 && \
                final(x) == 0";
    let ran = run_with_stdin(&["explore", "-"], text.as_bytes());
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("hold in the only history"), "{}", ran.stdout);
    let full = |sessions: usize, txns: usize| {
        let session =
            |number| format!("session s{number} {{ {} }}\n", "begin commit ".repeat(txns));
        (0..sessions).map(session).collect::<String>()
    };
    for (text, code) in [(full(32, 4), 0), (full(33, 1), 3), (full(1, 129), 3)] {
        assert_eq!(run_with_stdin(&["explore", "-"], text.as_bytes()).code, Some(code));
    }
}

#[test]
fn assertions_that_say_nothing_are_told_of() {
    let session = "session a { begin y := read(x); write(x, y + 1) commit }\n";
    for (text, why) in [
        (
            format!("{session}assert final(yy) == 0"),
            "-:2:14: nobody writes yy, and it has no initial value; keys that have values are: x",
        ),
        ("init x = 1, x = 2\n".to_owned() + session, "-:1:13: x has an initial value already"),
        (
            "init x[1] = 1\ninit x[1] = 1\n".to_owned() + session,
            "-:2:6: x[1] has an initial value already",
        ),
    ] {
        let ran = run_with_stdin(&["explore", "-"], text.as_bytes());
        assert_eq!(ran.code, Some(3), "{text}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    let ran = run_with_stdin(&["explore", "-"], session.as_bytes());
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.starts_with("-: nothing to check: no assertions; try --robust\n"),
        "{}",
        ran.stdout
    );
    let (code, counted) = explore_json(&["cart:1"]);
    assert_eq!(
        (code, &counted["verdict"], &counted["question"]),
        (Some(0), &"holds".into(), &"count".into())
    );
    assert_eq!((&counted["complete"], counted["share"].as_f64()), (&true.into(), Some(1.0)));
}

#[test]
fn words_of_other_languages_are_explained() {
    for (statement, why) in [
        ("a := raed(x)", "there is no `raed(…)` in the language; did you mean `read`?"),
        ("read(x)", "write `a := read(x)`"),
        ("while 1 { }", "`repeat 3 { … }`"),
        ("rollback", "write `abort`"),
        ("if 1 and 2 { }", "write `&&`"),
        ("a := not 1", "write `!`"),
        ("a := \"", "`\"` means nothing here"),
    ] {
        let ran = run_with_stdin(
            &["explore", "-"],
            format!("session a {{ begin {statement} commit }}").as_bytes(),
        );
        assert_eq!(ran.code, Some(3), "{statement}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{statement}: {}", ran.stderr);
    }
}

#[test]
fn the_baseline_counts_executions() {
    let page = run(&["explore", "cart", "--robust", "--level", "ser", "--algorithm", "dfs"]).stdout;
    assert!(page.contains(" executions") && !page.contains("histories"), "{page}");
}

#[test]
fn large_behaviours_are_told_in_short_and_whole_to_machines() {
    let args = ["tpcc:1", "--size", "2x2", "--robust"];
    let ran = run(&[&["explore"], &args[..]].concat());
    assert!(ran.stdout.contains("in short") && ran.stdout.contains(" more) | "), "{}", ran.stdout);
    assert!(ran.stdout.lines().count() < 80, "{}", ran.stdout);
    let (_, found) = explore_json(&args);
    let sessions = found["behaviour"]["sessions"].as_array().unwrap();
    let txns = sessions.iter().flat_map(|session| session["transactions"].as_array().unwrap());
    let operations: usize = txns.map(|txn| txn["operations"].as_array().unwrap().len()).sum();
    assert!(operations > 200, "{operations}");
    // Small ones are told whole.
    let small = run(&["explore", "cart"]);
    assert!(small.stdout.contains("What the sessions did:\n"), "{}", small.stdout);
}

/// A behaviour that only what an aborted transaction read makes unserializable.
const TORN: &str = "session s { begin write(x, 1) commit }
session t { begin a := read(x) b := read(x) abort commit }
";

#[test]
fn what_an_aborted_transaction_read_is_explained() {
    let ran = run_with_stdin(&["explore", "-", "--robust", "--level", "rc"], TORN.as_bytes());
    assert_eq!(ran.code, Some(1));
    assert!(!ran.stdout.contains("holds at every level"), "{}", ran.stdout);
    let page: Vec<&str> =
        ran.stdout.lines().filter(|line| !line.contains("histories in")).collect();
    insta::assert_snapshot!(page.join("\n"));
    let folder = Folder::new();
    let path = folder.file("torn.tx", TORN);
    let (_, found) = explore_json(&[&path, "--robust", "--level", "rc"]);
    assert_eq!(found["behaviour"]["strongest"], "rc");
    let aborted = &found["behaviour"]["sessions"][1]["transactions"][0];
    assert_eq!((&aborted["name"], &aborted["committed"]), (&"t-1".into(), &false.into()));
    let (_, all) = explore_json(&[&path, "--robust", "--all", "--level", "rc"]);
    let cycle = all["groups"][0]["cycle"].as_str().unwrap();
    assert!(cycle.starts_with("non-repeatable read: "), "{cycle}");
}
