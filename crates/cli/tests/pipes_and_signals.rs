//! Closed pipes, full disks, interrupts and terminals without colours.

#![cfg(unix)]

mod common;

use common::{CAUSAL, Folder, GOOD, Ran, large, run, seriatim, start};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let thin: String = (0..20_000).map(|i| format!("r(0,{},0,{i})\n", i + 1)).collect();
    let path = folder.file("thin.txt", thin);
    for args in
        [&["check", "--all", &path][..], &["convert", &path, "-", "--to", "plume"], &["explain"]]
    {
        let mut child = start(args);
        let mut first = [0];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        // `explain` may have written everything before the pipe was closed.
        let code = output.status.code();
        assert!(
            code == Some(141) || (args == ["explain"] && code == Some(0)),
            "{args:?}: {code:?}"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn a_full_disk_is_an_error_with_a_reason() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let folder = Folder::new();
    let path = folder.file("bad.txt", CAUSAL);
    for args in
        [&["check", &path][..], &["convert", &path, "-", "--to", "plume"], &["demo"], &["--help"]]
    {
        let output = seriatim().args(args).stdout(full.try_clone().unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("No space left"), "{args:?}");
    }
    for args in [
        &["check", &path, "--dot", "/dev/full"][..],
        &["convert", &path, "/dev/full", "--to", "plume"],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("/dev/full: No space left"), "{}", ran.stderr);
    }
}

#[test]
fn an_interrupt_ends_cleanly() {
    let folder = Folder::new();
    let mut child = start(&["convert", "-", &folder.at("out.txt"), "--to", "plume"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(large(200_000).as_bytes()).unwrap();
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    drop(stdin);
}

#[test]
fn an_interrupt_while_writing_leaves_no_half_file() {
    let folder = Folder::new();
    let args =
        ["generate", &folder.at("out.txt.gz"), "--sessions", "20", "--transactions", "20000"];
    let child = start(&args);
    let started = Instant::now();
    while folder.names().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn an_interrupt_keeps_the_results_so_far() {
    let folder = Folder::new();
    let good = folder.file("bad.txt", CAUSAL);
    // The second input is standard input, which never ends: the check can only be interrupted.
    let mut child = start(&["check", "--format", "json", &good, "-"]);
    let stdin = child.stdin.take();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
    let start = Instant::now();
    interrupt(child.id());
    let ran = child.wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(5));
    let told = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(told, "interrupted: 1 of 2 inputs was checked\n");
    drop(stdin);
}

#[test]
fn an_interrupted_check_or_part_says_that_nothing_is_known() {
    let folder = Folder::new();
    let part = folder.at("part.jsonl");
    for (args, told) in [
        (&["check", "-"][..], "interrupted: no level is decided yet"),
        (&["minimize", "-", "-l", "si", "-o", &part], "interrupted: nothing was written"),
    ] {
        let mut child = start(args);
        let mut stdin = child.stdin.take().unwrap();
        // More than a pipe holds: once it is written, the program is reading.
        stdin.write_all(large(200_000).as_bytes()).unwrap();
        interrupt(child.id());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{ran:?}");
        assert!(ran.stderr.starts_with(told), "{ran:?}");
        drop(stdin);
    }
}

#[test]
fn the_exit_code_says_which_signal_ended_the_program() {
    let folder = Folder::new();
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut child = start(&["convert", "-", &folder.at("out.txt"), "--to", "plume"]);
        let stdin = child.stdin.take();
        // The program has started when it has eaten what a pipe does not hold.
        stdin.as_ref().unwrap().write_all(large(100_000).as_bytes()).unwrap();
        signal(name, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
        drop(stdin);
    }
}

#[test]
fn an_interrupt_tells_what_fuzz_and_predict_have_found() {
    let folder = Folder::new();
    let (observed, kept) = (folder.at("run.jsonl"), folder.at("predictions.json"));
    assert_eq!(
        run(&["observe", "smallbank", "--sessions", "8", "--transactions", "100", "-o", &observed])
            .code,
        Some(0)
    );
    let fuzz = ["fuzz", "wikipedia", "--level", "ser", "--runs", "100000000"];
    let predict = ["predict", &observed, "-l", "cc", "--boundary", "relaxed", "--all", "-o", &kept];
    for (args, said) in [(&fuzz[..], "held in the first "), (&predict, "could have gone wrong")] {
        // Some time to find something: how long that takes depends on the machine.
        let ran = [1, 4, 16].into_iter().map(Duration::from_secs).find_map(|time| {
            let child = start(args);
            std::thread::sleep(time);
            interrupt(child.id());
            let ran = Ran::from(child.wait_with_output().unwrap());
            ran.stdout.contains(said).then_some(ran)
        });
        let ran = ran.unwrap_or_else(|| panic!("{args:?} tells nothing"));
        assert_eq!(ran.code, Some(130), "{ran:?}");
        assert!(
            ran.stdout.contains("Interrupted;") || ran.stderr.contains("interrupted; found so far"),
            "{ran:?}"
        );
    }
    assert!(std::fs::read_to_string(&kept).unwrap().contains("predictions"));
}

fn interrupt(process: u32) {
    signal("-INT", process);
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill").args([name, &process.to_string()]).status().unwrap();
    assert!(status.success());
}

fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.at(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_pipe_in_a_directory_is_passed_over_and_a_named_one_is_read() {
    let folder = Folder::new();
    folder.file("good.txt", GOOD);
    let fifo = pipe(&folder, "fifo.txt");
    for command in ["check", "stats"] {
        let ran = run(&[command, folder.path().to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(
            ran.stderr.contains("passed over 1 file without a history")
                && ran.stderr.contains("fifo.txt"),
            "{ran:?}"
        );
    }
    let child = start(&["check", &fifo]);
    File::options().write(true).open(&fifo).unwrap().write_all(CAUSAL.as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
}

#[test]
fn a_session_that_is_a_pipe_is_an_error_and_not_a_session_less() {
    let folder = Folder::new();
    folder.file("T1.log", []);
    pipe(&folder, "T2.log");
    let ran = run(&["check", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("T2.log: this log is a pipe"), "{ran:?}");
}

#[test]
fn colours_are_for_terminals() {
    let folder = Folder::new();
    let path = folder.file("bad.txt", CAUSAL);
    assert!(!run(&["check", &path]).stdout.contains('\u{1b}'));
    let forced = seriatim().args(["check", &path]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(forced.stdout).unwrap().contains('\u{1b}'));
    let mut never = seriatim();
    never.args(["check", &path]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    let output = never.stdin(Stdio::null()).output().unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains('\u{1b}'));
}

/// Nothing is written over what is read, nor two things into one file, and that is said before the
/// work is done.
#[test]
fn files_to_write_are_looked_at_first() {
    let folder = Folder::new();
    let text = "READ KEY[x] Txn(1, 0) From(0, 0)\nWRITE KEY[x] Txn(1, 0)\nREAD KEY[x] Txn(2, 0) \
                From(1, 0)\n";
    let (trace, same) = (folder.file("run.txt", text), folder.at("same"));
    for (args, told) in [
        (&["predict", &trace, "-l", "cc", "-o", &trace][..], "is what is read"),
        (&["predict", &trace, "-l", "cc", "--svg", &same, "--dot", &same], "is named twice"),
        (
            &["predict", &trace, "-l", "cc", "-o", "/nowhere/prediction.json"],
            "there is no such folder",
        ),
        (&["replay", &trace, "--save", &trace], "is what is read"),
        (&["fuzz", "cart", "--seed", "3", "-o", &same, "--save", &same], "is named twice"),
    ] {
        let refused = run(args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{args:?}: {refused:?}");
        assert!(refused.stderr.contains(told), "{args:?}: {}", refused.stderr);
    }
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), text);
    assert!(!std::path::Path::new(&same).exists());
}

/// `check --certificate` and `--dot`, `minimize` and `convert` wrote over the history that they had
/// read.
#[test]
fn nothing_is_written_over_what_is_read() {
    let folder = Folder::new();
    let history = folder.file("h.txt", CAUSAL);
    let (soft, hard) = (folder.at("soft.txt"), folder.at("hard.txt"));
    std::os::unix::fs::symlink(&history, &soft).unwrap();
    std::fs::hard_link(&history, &hard).unwrap();
    let near = folder.at("../").to_owned();
    let around = format!("{near}{}/h.txt", folder.path().file_name().unwrap().to_str().unwrap());
    for same in [&history, &soft, &hard, &around] {
        for args in [
            &["check", &history, "--certificate", same][..],
            &["check", &history, "--dot", same],
            &["check", &folder.at(""), "--dot", same],
            &["minimize", &history, "--level", "cc", "-o", same],
            &["convert", &history, same],
            &["predict", &history, "-l", "cc", "--html", same],
        ] {
            let refused = run(args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{args:?}");
            assert!(refused.stderr.contains("is what is read; name another file"), "{args:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(&history).unwrap(), CAUSAL);
}

#[test]
fn no_log_of_a_folder_that_is_read_is_written_over() {
    let folder = Folder::new();
    let (history, logs) = (folder.file("h.txt", CAUSAL), folder.at("logs"));
    assert_eq!(run(&["convert", &history, &logs, "--to", "cobra"]).code, Some(0));
    let log = std::fs::read_dir(&logs).unwrap().next().unwrap().unwrap().path();
    let before = std::fs::read(&log).unwrap();
    let refused = run(&["check", &logs, "--certificate", log.to_str().unwrap()]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("is what is read"), "{refused:?}");
    assert_eq!(std::fs::read(&log).unwrap(), before);
    let refused = run(&["convert", &history, &logs, "--to", "viper"]);
    assert!(refused.stderr.contains("is a folder with something in it"), "{refused:?}");
}

#[test]
fn two_outputs_never_go_into_one_file() {
    let folder = Folder::new();
    let (history, same) = (folder.file("h.txt", CAUSAL), folder.file("same", "old"));
    let link = folder.at("link");
    std::fs::hard_link(&same, &link).unwrap();
    let refused = run(&["check", &history, "--certificate", &same, "--dot", &link]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{refused:?}");
    assert!(refused.stderr.contains("is named twice"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&same).unwrap(), "old");
}

#[test]
fn outputs_are_tried_before_the_work_begins() {
    let folder = Folder::new();
    let history = folder.file("h.txt", CAUSAL);
    let long = folder.at(&"n".repeat(250));
    for target in ["/nowhere/out.txt", &long] {
        for args in [
            &["check", &history, "--certificate", target][..],
            &["check", &history, "--dot", target],
            &["minimize", &history, "--level", "cc", "-o", target],
            &["convert", &history, target],
            &["generate", target],
            &["observe", "cart", "-o", target],
            &["fuzz", "cart", "--save", target],
        ] {
            let refused = run(args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{args:?}");
            let told = ["there is no such folder to write to", "cannot write into its folder"];
            assert!(told.iter().any(|told| refused.stderr.contains(told)), "{refused:?}");
        }
    }
    assert_eq!(folder.names(), ["h.txt"]);
}
