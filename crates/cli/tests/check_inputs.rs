//! `seriatim check`: inputs of every sort, good and bad.

mod common;

use common::{CAUSAL, Folder, GOOD, run, run_with_stdin, schema, words};
use std::io::Write;

#[test]
fn over_several_inputs_the_worst_decides() {
    let folder = Folder::new();
    let (good, bad) = (folder.file("good.txt", GOOD), folder.file("bad.txt", CAUSAL));
    let broken = folder.file("broken.txt", "w(0,1,0,0)\nw(0,oops,0,0)\n");
    assert_eq!(run(&["check", &good, &bad]).code, Some(1));
    let all = run(&["check", &good, &broken, &bad, "--format", "json"]);
    assert_eq!(all.code, Some(3));
    let lines = all.json();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["levels"]["cc"], "holds");
    assert_eq!(lines[1]["error"]["line"], 2);
    assert_eq!(lines[2]["levels"]["cc"], "violated");
}

#[test]
fn standard_input_is_a_dash() {
    let ran = run_with_stdin(&["check", "-", "--format", "json"], CAUSAL.as_bytes());
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json()[0]["input"], "-");
}

#[test]
fn standard_input_can_be_read_only_once() {
    for command in ["check", "stats"] {
        let ran = run_with_stdin(&[command, "-", "-"], b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.stderr.contains("only one of the inputs can be standard input"), "{ran:?}");
    }
}

#[test]
fn compressed_input_is_read_like_plain_input() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(CAUSAL.as_bytes()).unwrap();
    let folder = Folder::new();
    let zipped = folder.file("bad.txt.gz", encoder.finish().unwrap());
    let ran = run(&["check", &zipped]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("violates causal consistency"));
}

#[test]
fn errors_name_file_line_and_column() {
    let folder = Folder::new();
    let broken = folder.file("broken.txt", "w(0,1,0,0)\nw(0,oops,0,0)\n");
    let ran = run(&["check", &broken]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stdout.is_empty());
    assert!(ran.stderr.starts_with(&format!("error: {broken}:2:5: ")), "{}", ran.stderr);
}

#[test]
fn bad_inputs_are_refused_without_a_crash() {
    let folder = Folder::new();
    let cases: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("garbage", (0..10_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
        ("truncated", b"w(0,1,0,0)\nr(0,1".to_vec()),
        ("too-large", b"w(0,99999999999999999999999999999999999999999999,0,0)\n".to_vec()),
        ("two-sessions", b"w(0,1,0,7)\nr(0,1,1,7)\n".to_vec()),
    ];
    for (name, content) in cases {
        let path = folder.file(name, content);
        let ran = run(&["check", &path]);
        assert_eq!(ran.code, Some(3), "{name}: {ran:?}");
        assert!(ran.stderr.contains(&path), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_directory_is_searched_and_other_files_are_passed_over() {
    let folder = Folder::new();
    folder.file("b/bad.txt", CAUSAL);
    folder.file("a/good.txt", GOOD);
    folder.file("a/notes.md", "These are notes.\n");
    folder.file(".hidden/bad.txt", CAUSAL);
    let ran = run(&["check", "--quiet", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("a/good.txt: holds at every level"), "{lines:?}");
    assert!(lines[1].contains("b/bad.txt: holds up to"), "{lines:?}");
    assert_eq!(lines[2], "2 inputs: 1 holds, 1 violated");
    assert!(ran.stderr.contains("passed over 1 file without a history: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("a/notes.md"), "{}", ran.stderr);
}

#[test]
fn an_empty_directory_is_a_mistake() {
    let folder = Folder::new();
    let ran = run(&["check", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("no histories"), "{}", ran.stderr);
}

#[test]
fn directories_without_histories_are_one_json_object_each() {
    let folder = Folder::new();
    folder.file("notes/a.md", "These are notes.\n");
    std::fs::create_dir(folder.at("empty")).unwrap();
    let good = folder.file("good.txt", GOOD);
    for command in ["check", "stats"] {
        let ran =
            run(&[command, "--format", "json", &folder.at("empty"), &good, &folder.at("notes")]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let (lines, validator) = (ran.json(), schema(command));
        assert!(lines.iter().all(|line| validator.is_valid(line)), "{lines:?}");
        let of = |input: &str| lines.iter().find(|line| line["input"] == input).unwrap();
        for input in [folder.at("empty"), folder.at("notes")] {
            assert_eq!(of(&input)["error"]["message"], "no histories found in this directory");
        }
        assert!(of(&good)["error"].is_null());
        assert_eq!(lines.len(), 3);
        assert!(ran.stderr.contains("passed over 1 file"), "{}", ran.stderr);
    }
}

#[test]
fn the_first_of_many_files_that_are_passed_over_are_named() {
    let folder = Folder::new();
    folder.file("good.txt", GOOD);
    for i in 0..9 {
        folder.file(&format!("note-{i}.md"), "These are notes.\n");
    }
    let ran = run(&["check", "--quiet", folder.path().to_str().unwrap()]);
    assert!(
        ran.stderr.contains("note-4.md and 4 more\n") && !ran.stderr.contains("note-5"),
        "{}",
        ran.stderr
    );
}

#[test]
fn many_inputs_come_back_in_their_order() {
    let folder = Folder::new();
    let inputs: Vec<String> = (0..60)
        .map(|i| {
            folder.file(
                &format!("{i}.txt"),
                if i % 7 == 0 { common::large(20_000) } else { GOOD.to_owned() },
            )
        })
        .collect();
    let mut args = vec!["check", "--format", "json", "--level", "rc"];
    args.extend(inputs.iter().map(String::as_str));
    let answered: Vec<String> =
        run(&args).json().iter().map(|line| line["input"].as_str().unwrap().to_owned()).collect();
    assert_eq!(answered, inputs);
}

#[test]
fn a_damaged_trace_is_an_error_and_a_strange_one_too() {
    let folder = Folder::new();
    let cut =
        folder.file("cut.txt", "WRITE KEY[x] Txn(1, 0)\nlog: started\nREAD KEY[x] Txn(2, 0) Fro");
    let ran = run(&["check", &cut]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.stderr.contains("cut.txt:3:23: expected `From(`, found `Fro`"), "{ran:?}");
    let strange = folder.file("strange.txt", "# notes\n\n  hello there\n");
    let ran = run(&["check", "--from", "isopredict", &strange]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("strange.txt:3:3: expected an event"), "{ran:?}");
}

#[test]
fn a_directory_of_logs_is_one_history_and_names_its_files() {
    let folder = Folder::new();
    folder.file(
        "run/J0.log",
        "{\"value\": [[\"w\", 1, 1, true]]}\n{\"value\": [[\"w\", 1, 2, true], [\"w\", 2, 2, \
         true]]}\n",
    );
    folder.file("run/J1.log", "{\"value\": [[\"r\", 2, 2, false], [\"r\", 1, 1, false]]}\n");
    let ran = run(&["check", &folder.at("run")]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("non-monotonic read"), "{}", ran.stdout);
    assert!(ran.stdout.contains("run/J1.log:1"), "{}", ran.stdout);
    let walked = run(&["check", "--quiet", folder.path().to_str().unwrap()]);
    assert_eq!(walked.stdout.lines().count(), 1, "{}", walked.stdout);
}

#[test]
fn compressed_logs_and_the_store_of_a_test_are_one_history_each() {
    let folder = Folder::new();
    let text = folder.file("good.txt", GOOD);
    assert_eq!(run(&["convert", &text, &folder.at("logs"), "--to", "cobra"]).code, Some(0));
    for name in ["T0.log", "T1.log"] {
        let path = folder.path().join("logs").join(name);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        folder.file(&format!("logs/{name}.gz"), gzip.finish().unwrap());
    }
    folder.file("store/jepsen.log", "2024-01-01 INFO Starting\n");
    folder.file("store/history.edn", "{:type :ok, :process 0, :value [[:w 1 1]]}\n");
    folder.file("store/results.edn", "{:valid? true}\n");
    for name in ["logs", "store"] {
        let ran = run(&["check", "--format", "json", &folder.at(name)]);
        assert_eq!((ran.code, ran.json().len()), (Some(0), 1), "{ran:?}");
    }
}

#[test]
fn an_input_that_would_fill_the_memory_is_not_read() {
    let folder = Folder::new();
    let large = folder.file("large.txt", common::large(10_000));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(common::large(10_000).as_bytes()).unwrap();
    let packed = folder.file("large.txt.gz", gzip.finish().unwrap());
    for input in [&large, &packed] {
        let ran = run(&["check", "--memory", "300K", "--level", "rc,ser", input]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.stdout.contains("undecided at every level")
                && ran.stdout.contains("Nothing was read"),
            "{ran:?}"
        );
        let needed = 3 * std::fs::metadata(input).unwrap().len();
        let told = words(&ran.stdout)
            .replace(',', "")
            .contains(&format!("limit would have to be {needed} bytes"));
        assert_eq!(told, *input == large, "{ran:?}");
        let line =
            &run(&["check", "--memory", "300K", "--format", "json", "--level", "rc,ser", input])
                .json()[0];
        assert!(schema("check").is_valid(line), "{line}");
        assert_eq!(
            (&line["levels"]["ser"], &line["undecided"][1]["reason"]),
            (&"undecided".into(), &"memory".into())
        );
        let part = run(&[
            "minimize",
            input,
            "--level",
            "cc",
            "-o",
            &folder.at("part"),
            "--memory",
            "300K",
        ]);
        assert_eq!(part.code, Some(2), "{part:?}");
        assert!(part.stderr.contains("raise --memory"), "{}", part.stderr);
    }
}
