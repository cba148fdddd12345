//! The other commands, and the command line itself.

mod common;

use common::{CAUSAL, Folder, GOOD, run, run_with_stdin, schema, seriatim};
use seriatim_history::formats::Format;
use seriatim_report::knowledge;

#[test]
fn mistakes_in_the_arguments_have_exit_code_3() {
    for args in [
        &["check"][..],
        &["check", "--level", "serial", "x"],
        &["nonsense"],
        &["check", "--threads", "0", "x"],
        &[],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(3), "{args:?}");
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn threads_have_a_limit() {
    let folder = Folder::new();
    let good = folder.file("good.txt", GOOD);
    assert_eq!(run(&["check", "--threads", "64", &good]).code, Some(0));
    let ran = run(&["check", "--threads", "65", &good]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("64"), "{}", ran.stderr);
}

#[test]
fn help_and_version_are_results() {
    for args in [&["--help"][..], &["--version"], &["check", "--help"]] {
        let ran = run(args);
        assert_eq!(ran.code, Some(0), "{args:?}");
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty());
    }
}

#[test]
fn explain_knows_every_name_and_suggests_for_others() {
    for entry in knowledge::entries() {
        let ran = run(&["explain", entry.code()]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.starts_with(entry.name()), "{}", ran.stdout);
    }
    assert!(run(&["explain"]).stdout.contains("causality-violation"));
    let unknown = run(&["explain", "fractred-read"]);
    assert_eq!(unknown.code, Some(3));
    assert!(unknown.stderr.contains("did you mean fractured-read"), "{}", unknown.stderr);
}

#[test]
fn convert_writes_a_file_that_reads_back() {
    let folder = Folder::new();
    let (from, to) = (folder.file("bad.txt", CAUSAL), folder.at("copy.txt"));
    assert_eq!(run(&["convert", &from, &to, "--to", "plume"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&to).unwrap(), CAUSAL);
    assert_eq!(folder.names(), ["bad.txt", "copy.txt"]);
    let printed = run(&["convert", &from, "-", "--to", "plume"]);
    assert_eq!(printed.stdout, CAUSAL);
    let piped = run_with_stdin(&["convert", "-", "-", "--to", "plume"], CAUSAL.as_bytes());
    assert_eq!(piped.stdout, CAUSAL);
}

#[test]
fn our_json_lines_fit_their_schema() {
    let folder = Folder::new();
    let path = folder.at("all.txt");
    assert_eq!(
        run(&["generate", &path, "--aborts", "0.1", "--plant", "thin-air-read"]).code,
        Some(0)
    );
    let validator = schema("history");
    for line in run(&["convert", &path, "-", "--to", "jsonl"]).json() {
        assert!(validator.is_valid(&line), "{line}");
    }
}

#[test]
fn every_format_of_a_history_gives_the_same_verdict() {
    let folder = Folder::new();
    let from = folder.file("bad.txt", CAUSAL);
    for format in seriatim_history::formats::Format::ALL {
        let to = folder.at(&format!("copy-{format}"));
        let converted = run(&["convert", &from, &to, "--to", format.code()]);
        assert_eq!(converted.code, Some(0), "{format}: {}", converted.stderr);
        let checked = run(&["check", &to, "--quiet"]);
        assert!(
            checked
                .stdout
                .ends_with(": holds up to read atomic; violates causal consistency (and above)\n"),
            "{format}: {checked:?}"
        );
    }
}

#[test]
fn the_ending_of_the_output_decides_its_format() {
    let folder = Folder::new();
    let good = folder.file("good.txt", GOOD);
    let cases = [
        ("a.txt", "plume"),
        ("a.edn", "elle"),
        ("a.jsonl", "jsonl"),
        ("a.hist.gz", "dbcop-hist"),
        ("a", "jsonl"),
    ];
    for (name, format) in cases {
        let out = folder.at(name);
        assert_eq!(run(&["convert", &good, &out]).code, Some(0), "{name}");
        assert_eq!(run(&["check", "--format", "json", &out]).json()[0]["format"], format, "{name}");
    }
    for command in [&["convert", &good][..], &["generate"]] {
        let out = folder.at("b.json");
        let ran = run(&[command, &[&out]].concat());
        assert_eq!(ran.code, Some(3));
        assert!(ran.stderr.contains("add --to elle-json or --to dbcop-json"), "{}", ran.stderr);
    }
    assert_eq!(run(&["generate", &folder.at("c.edn"), "--sessions", "2"]).code, Some(0));
    assert_eq!(
        run(&["check", "--format", "json", &folder.at("c.edn")]).json()[0]["format"],
        "elle"
    );
}

#[test]
fn what_a_conversion_loses_is_said() {
    let folder = Folder::new();
    let full = folder.file(
        "full.jsonl",
        "{\"seriatim\":1,\"initial\":{\"1\":7}}\n{\"session\":1,\"txn\":1,\"ops\":[[\"r\",1,7]]}\n\
         {\"session\":1,\"txn\":2,\"status\":\"aborted\",\"ops\":[[\"w\",1,2]]}\n\
         {\"session\":1,\"txn\":3,\"status\":\"aborted\",\"ops\":[[\"r\",1,7]]}\n",
    );
    let note = |format: &str| run(&["convert", &full, "-", "--to", format]).stderr;
    assert_eq!(
        note("plume"),
        "note: not everything fits into the plume format: 1 initial value written as 0; 1 aborted \
         transaction merged with the \
         one before; 1 read of an aborted transaction without effect; 2 numbered transactions \
         numbered anew\n"
    );
    for format in ["elle", "dbcop-hist"] {
        assert!(note(format).contains("1 initial value written as no value"), "{}", note(format));
    }
    assert_eq!(note("jsonl"), "");
}

#[test]
fn lines_that_were_skipped_are_mentioned_even_quietly() {
    let folder = Folder::new();
    let text = "WRITE KEY[x] Txn(1, 0)\nhello\nREAD KEY[x] Txn(2, 0) From(1, 0)\nREAD KEY[x] \
                Txn(2, 1) From(0, 0)\n";
    let trace = folder.file("trace.txt", text);
    let expected =
        format!("note: {trace}: skipped 1 line that the isopredict format does not know\n");
    assert_eq!(run(&["check", "--quiet", &trace]).stderr, expected);
    assert_eq!(run(&["stats", &trace]).stderr, expected);
    assert!(run(&["convert", &trace, "-", "--to", "jsonl"]).stderr.starts_with(&expected));
    let page = run(&["check", &trace]).stdout;
    assert!(
        page.contains("s2.t1 (session 2) reads the initial x=nil. But s1.t0 overwrote that"),
        "{page}"
    );
}

#[test]
fn a_conversion_that_fails_leaves_no_file() {
    let folder = Folder::new();
    let broken = folder.file("broken.txt", "w(0,1,0,0)\noops\n");
    let ran = run(&["convert", &broken, &folder.at("out.txt"), "--to", "plume"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("broken.txt:2"), "{}", ran.stderr);
    let good = folder.file("good.txt", GOOD);
    assert_eq!(
        run(&["convert", &good, &folder.at("no/such/dir/out.txt"), "--to", "plume"]).code,
        Some(3)
    );
    assert_eq!(folder.names(), ["broken.txt", "good.txt"]);
}

#[test]
fn generated_histories_are_what_was_asked_for() {
    let folder = Folder::new();
    let (good, bad) = (folder.at("good.txt"), folder.at("bad.txt"));
    assert_eq!(run(&["generate", &good, "--level", "cc", "--seed", "7"]).code, Some(0));
    assert_eq!(run(&["check", &good, "--level", "rc,ra,cc"]).code, Some(0));
    assert_eq!(run(&["generate", &bad, "--plant", "fractured-read,thin-air-read"]).code, Some(0));
    let line = &run(&["check", &bad, "--format", "json"]).json()[0];
    let kinds: Vec<&str> =
        line["anomalies"].as_array().unwrap().iter().map(|a| a["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thin-air-read", "fractured-read"]);
    let again = run(&["generate", "-", "--level", "cc", "--seed", "7"]).stdout;
    assert_eq!(again, std::fs::read_to_string(&good).unwrap());
    let wrong = run(&["generate", "-", "--reads", "2"]);
    assert_eq!(wrong.code, Some(3));
    assert!(wrong.stderr.contains("between 0 and 1"), "{}", wrong.stderr);
}

#[test]
fn histories_are_generated_for_every_format() {
    let folder = Folder::new();
    for format in Format::ALL {
        for level in ["ser", "Snapshot Isolation"] {
            let out = folder.at(&format!("{format}-{}", &level[..3]));
            let ran =
                run(&["generate", &out, "--to", format.code(), "--level", level, "--keys", "50"]);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}");
            let checked =
                run(&["check", "--from", format.code(), &out, "--quiet", "--level", level]);
            assert_eq!(checked.code, Some(0), "{checked:?}");
        }
    }
    let aborted = run(&["generate", "-", "--to", "awdit", "--aborts", "0.5"]);
    assert_eq!(aborted.code, Some(3));
    assert!(aborted.stderr.contains("cannot hold aborted transactions"), "{}", aborted.stderr);
}

#[test]
fn stats_count_and_fit_their_schema() {
    let folder = Folder::new();
    let file = folder.file("bad.txt", CAUSAL);
    let broken = folder.file("broken.txt", "w(0,1,0,0)\noops\n");
    let ran = run(&["stats", "--format", "json", &file, &broken]);
    assert_eq!(ran.code, Some(3));
    let lines = ran.json();
    let validator = schema("stats");
    assert!(lines.iter().all(|line| validator.is_valid(line)), "{lines:?}");
    assert_eq!(
        (&lines[0]["reads"], &lines[0]["writes"], &lines[0]["keys"]),
        (&2.into(), &3.into(), &2.into())
    );
    assert!(run(&["stats", &file]).stdout.contains("transactions"));
}

#[test]
fn the_demo_tells_its_stories_one_at_a_time() {
    let stories = [
        ("1", "holds at every level"),
        ("2", "non-monotonic read"),
        ("3", "fractured read"),
        ("4", "causality violation"),
        ("5", "aborted read"),
        ("6", "the assertion broke"),
    ];
    let mut pages = String::new();
    for (number, word) in stories {
        let ran = run(&["demo", number]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
        pages += &ran.stdout;
    }
    insta::assert_snapshot!(pages);
    for wrong in ["0", "7", "bank"] {
        assert_eq!(run(&["demo", wrong]).code, Some(3), "{wrong}");
    }
}

#[test]
fn the_demo_says_in_one_screen_what_there_is() {
    let ran = run(&["demo"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.lines().count() <= 24, "{}", ran.stdout);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn the_files_of_the_demo_are_in_the_program() {
    let folder = Folder::new();
    let here = folder.path().to_str().unwrap();
    let ran = run(&["demo", "--files", here]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 5);
    let bank = folder.at("examples/histories/bank.jsonl");
    assert_eq!(run(&["check", "--quiet", &bank]).code, Some(1));
    let again = run(&["demo", "--files", here]);
    assert_eq!(again.code, Some(3));
    assert!(again.stderr.contains("there is such a file already"), "{}", again.stderr);
}

#[test]
fn man_pages_and_completions_come_from_the_flags() {
    let man = run(&["man"]);
    assert_eq!(man.code, Some(0));
    assert!(man.stdout.contains(".TH seriatim 1"), "{}", man.stdout);
    let folder = Folder::new();
    assert_eq!(run(&["man", folder.path().to_str().unwrap()]).code, Some(0));
    assert!(folder.names().contains(&"seriatim-check.1".to_owned()));
    let page = std::fs::read_to_string(folder.at("seriatim-check.1")).unwrap();
    assert!(page.contains("quiet"), "{page}");
    for section in ["EXIT STATUS", "EXAMPLES", "SEE ALSO"] {
        assert!(man.stdout.contains(&format!(".SH {section}\n")), "{section}: {}", man.stdout);
        assert!(page.contains(&format!(".SH {section}\n")), "{section}: {page}");
    }
    // Every page that is referred to is there.
    for name in folder.names() {
        let page = std::fs::read_to_string(folder.at(&name)).unwrap().replace("\\-", "-");
        for (before, _) in page.match_indices("(1)").map(|(at, _)| page.split_at(at)) {
            let start = before.rfind("seriatim").unwrap();
            let referred: String = before[start..]
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect();
            assert!(
                folder.names().contains(&format!("{referred}.1")),
                "{name} refers to {referred}"
            );
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, Some(0));
        assert!(script.stdout.contains("quiet"), "{shell}");
    }
}

#[test]
fn convert_says_that_transactions_are_numbered_anew() {
    let folder = Folder::new();
    let text = folder.file("h.txt", "w(1,1,1,10)\nr(1,1,2,20)\n");
    let dbcop = run(&["convert", &text, &folder.at("h.hist")]);
    assert_eq!(dbcop.code, Some(0), "{dbcop:?}");
    assert!(dbcop.stderr.contains("2 numbered transactions numbered anew"), "{}", dbcop.stderr);
    let kept = run(&["convert", &text, &folder.at("h.jsonl")]);
    assert_eq!((kept.code, kept.stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_application_breaks_below_serializability_and_breaks_again_in_a_replay() {
    let folder = Folder::new();
    let kept = folder.at("run.json");
    let found = run(&["fuzz", "cart", "--level", "causal", "--seed", "3", "--output", &kept]);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    for told in [
        "cart: the assertion broke in run",
        "The reads that it takes",
        "lost update",
        "seriatim replay",
    ] {
        assert!(found.stdout.contains(told), "{told}: {}", found.stdout);
    }
    let again = run(&["replay", &kept]);
    assert_eq!(again.code, Some(1));
    assert!(again.stdout.starts_with("cart: the assertion broke again"), "{}", again.stdout);
    assert!(!again.stdout.contains("left the recording"), "{}", again.stdout);
    let held = run(&["fuzz", "cart", "--level", "ser", "--runs", "20"]);
    assert_eq!(held.code, Some(0));
    assert!(
        held.stdout.contains("the assertion held in 20 runs at serializability"),
        "{}",
        held.stdout
    );
}

#[test]
fn a_budget_that_is_spent_leaves_fuzz_undecided() {
    let args = ["fuzz", "voter", "--level", "ser", "--runs", "100000000", "--budget", "300ms"];
    let ran = run(&args);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stdout.contains("held in the first ") && ran.stdout.contains("The budget is spent"),
        "{ran:?}"
    );
    let machine = run(&[&args[..], &["--format", "json"]].concat());
    let line = &machine.json()[0];
    assert!(schema("fuzz").is_valid(line), "{line}");
    assert_eq!(
        (&line["outcome"], &line["search"]["stopped"]),
        (&"undecided".into(), &"budget".into())
    );
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let folder = Folder::new();
    let fuzz = run(&["fuzz", "cart", "-o", &folder.at("")]);
    assert!(
        fuzz.code == Some(3) && fuzz.stdout.is_empty() && fuzz.stderr.contains("is a folder"),
        "{fuzz:?}"
    );
    let serve = run(&["serve", "--http", "127.0.0.1:0", "--save", &folder.at("")]);
    assert!(serve.code == Some(3) && serve.stderr.contains("is a folder"), "{serve:?}");
    // Flags that would have no effect.
    let observe = run(&["observe", "cart", "--sessions", "5", "-o", &folder.at("run.jsonl")]);
    assert!(observe.code == Some(3) && observe.stderr.contains("only smallbank"), "{observe:?}");
}

#[test]
fn runs_for_machines_fit_their_schema() {
    let folder = Folder::new();
    let (validator, check, kept) = (schema("fuzz"), schema("check"), folder.at("run.json"));
    let lines = |args: &[&str], code| {
        let ran = run(args);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        let lines = ran.json();
        assert_eq!(lines.len(), 1);
        assert!(validator.is_valid(&lines[0]), "{}", lines[0]);
        lines.into_iter().next().unwrap()
    };
    let broke = lines(&["fuzz", "cart", "--seed", "3", "--format", "json", "--output", &kept], 1);
    assert_eq!((&broke["outcome"], &broke["search"]["seed"]), (&"broke".into(), &3.into()));
    assert!(check.is_valid(&broke["check"]), "{}", broke["check"]);
    for blamed in broke["blame"].as_array().unwrap() {
        assert!(blamed["reader"]["id"].is_string(), "{blamed}");
    }
    let again = lines(&["replay", &kept, "--format", "json"], 1);
    assert_eq!((&again["outcome"], &again["failure"]), (&broke["outcome"], &broke["failure"]));
    assert!(again.get("divergence").is_none());
    let held = lines(&["fuzz", "cart", "--level", "ser", "--runs", "5", "--format", "json"], 0);
    assert_eq!((&held["outcome"], &held["search"]["runs"]), (&"held".into(), &5.into()));
}

#[test]
fn a_run_that_cannot_be_replayed_or_kept_is_an_error_with_a_reason() {
    let folder = Folder::new();
    let broken = folder.file("broken.json", "{\"app\": \"cart\"");
    for args in [
        &["replay", &broken][..],
        &["fuzz", "cart", "--runs", "0"],
        &["fuzz", "cart", "--level", "sser"],
    ] {
        let refused = run(args);
        assert_eq!(refused.code, Some(3), "{args:?}");
        assert!(refused.stderr.contains("error:"), "{}", refused.stderr);
    }
    // What can be known before the search is said before it; what cannot does not keep the result
    // from being told.
    let nowhere = run(&["fuzz", "cart", "--seed", "3", "--output", "/nowhere/run.json"]);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (Some(3), ""));
    assert!(nowhere.stderr.contains("/nowhere/run.json"), "{}", nowhere.stderr);
    let unkept = run(&["fuzz", "cart", "--seed", "3", "--output", "/dev/full"]);
    assert_eq!(unkept.code, Some(3));
    assert!(
        unkept.stdout.contains("the assertion broke") && unkept.stderr.contains("/dev/full"),
        "{}",
        unkept.stderr
    );
}

#[test]
fn a_wrong_argument_is_told_with_one_that_is_right() {
    for (args, told) in [
        (&["demo", "abc"][..], "stories are numbered from 1 to 6, as in `seriatim demo 2`"),
        (&["fuzz", "cart", "--runs", "0"], "expected a number, at least 1, like --runs 1000"),
        (&["check", "x", "--threads", "0"], "expected a number from 1 to 64, like --threads 4"),
        (&["check", "x", "--budget", "5x"], "expected a time like 30s"),
        (&["generate", "-", "--plant", "nope"], "no anomaly is called `nope`"),
        (&["verify", "s.edn", "s.edn"], "`seriatim check s.edn --certificate CERTIFICATE` writes"),
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
}

#[test]
fn anomalies_are_planted_by_the_names_of_the_literature() {
    let folder = Folder::new();
    let file = folder.at("planted.txt");
    let size = ["--sessions", "2", "--transactions", "3"];
    let ran = run(&[&["generate", &file, "--plant", "G1a,p4"], &size[..]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = run(&["check", &file]).stdout;
    assert!(page.contains("aborted read: 1 instance"), "{page}");
}

/// Stories, statistics and explanations used to be wider than the terminal.
#[test]
fn pages_are_as_wide_as_the_terminal() {
    for args in [&["demo"][..], &["explain"], &["stats", "../../examples/histories/bank.jsonl"]] {
        for width in [40, 60, 80] {
            let output = seriatim().args(args).env("COLUMNS", width.to_string()).output().unwrap();
            let page = String::from_utf8(output.stdout).unwrap();
            let wide = page.lines().find(|line| {
                // A word that is longer than a line, like a path, is not broken.
                line.chars().count() > width && line.trim().contains(' ')
            });
            assert_eq!(wide, None, "{args:?} on {width} columns");
        }
    }
}
