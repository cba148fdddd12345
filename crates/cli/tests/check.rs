//! `seriatim check`: verdicts, exit codes, JSON, and what is told.

mod common;

use common::{CAUSAL, Folder, GOOD, run, schema, words};

#[test]
fn exit_codes_follow_the_verdict() {
    let folder = Folder::new();
    let (good, bad) = (folder.file("good.txt", GOOD), folder.file("bad.txt", CAUSAL));
    let duplicate = folder.file("duplicate.txt", "w(0,1,0,0)\nw(0,1,1,1)\nr(0,1,2,2)\n");
    assert_eq!(run(&["check", &good]).code, Some(0));
    assert_eq!(run(&["check", &bad]).code, Some(1));
    assert_eq!(run(&["check", &bad, "--level", "ra"]).code, Some(0));
    assert_eq!(run(&["check", &bad, "--level", "cc"]).code, Some(1));
    assert_eq!(run(&["check", &duplicate, "--level", "cc"]).code, Some(0));
    assert_eq!(run(&["check", &duplicate, "--level", "ser", "--budget", "0s"]).code, Some(2));
    assert_eq!(run(&["check", &good, "--level", "sser"]).code, Some(2));
    assert_eq!(run(&["check", &folder.at("none.txt")]).code, Some(3));
}

#[test]
fn the_first_line_is_the_verdict() {
    let folder = Folder::new();
    let bad = folder.file("bad.txt", CAUSAL);
    let ran = run(&["check", &bad]);
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        format!("{bad}: holds up to read atomic; violates causal consistency (and above)")
    );
    assert!(ran.stdout.contains(&format!("{bad}:5")), "{}", ran.stdout);
    assert!(ran.stderr.is_empty());
    let quiet = run(&["check", &bad, "--quiet"]);
    assert_eq!(quiet.stdout.lines().count(), 1);
    let one = run(&["check", &bad, "--level", "cc", "--quiet"]);
    assert_eq!(one.stdout, format!("{bad}: causal consistency is violated\n"));
    let timed = run(&["check", &bad, "--quiet", "--timings"]).stdout;
    assert_eq!(timed.lines().count(), 1);
    assert!(timed.contains("(and above)  read ") && timed.contains("; total "), "{timed}");
}

#[test]
fn levels_may_be_spelled_out_and_unknown_ones_are_answered_with_a_list() {
    let folder = Folder::new();
    let bad = folder.file("bad.txt", CAUSAL);
    let ran = run(&["check", "--quiet", &bad, "--level", "Read_Committed,read atomic"]);
    assert_eq!(ran.stdout, format!("{bad}: read committed holds; read atomic holds\n"));
    let unknown = run(&["check", &bad, "--level", "chaos"]);
    assert_eq!(unknown.code, Some(3));
    let listed =
        "unknown isolation level `chaos`; known are rc (read committed), ci (cut isolation)";
    assert!(unknown.stderr.contains(listed), "{}", unknown.stderr);
}

#[test]
fn json_fits_the_schema_and_has_the_levels_asked_for() {
    let folder = Folder::new();
    let inputs = [
        folder.file("good.txt", GOOD),
        folder.file("bad.txt", CAUSAL),
        folder.file("thin.txt", "r(0,9,0,0)\nr(0,8,0,1)\n"),
        folder.file("broken.txt", "w(0,1,0,0)\nw(0,oops,0,0)\n"),
        folder.file("empty.txt", ""),
        folder.at("none.txt"),
    ];
    let mut args = vec!["check", "--format", "json", "--all"];
    args.extend(inputs.iter().map(String::as_str));
    let validator = schema("check");
    for line in run(&args).json() {
        let problems: Vec<String> =
            validator.iter_errors(&line).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{line}: {problems:?}");
    }
    let two = &run(&["check", "--format", "json", "--level", "cc,rc", &inputs[1]]).json()[0];
    let levels: Vec<&String> = two["levels"].as_object().unwrap().keys().collect();
    assert_eq!(levels.len(), 2);
    assert_eq!((&two["strongest"], &two["weakest_violated"]), (&"rc".into(), &"cc".into()));
    assert_eq!(two["input"], inputs[1]);
}

#[test]
fn instances_are_listed_and_bounded() {
    let folder = Folder::new();
    let thin = folder.file("thin.txt", "r(0,9,0,0)\nr(0,8,0,1)\nr(0,7,0,2)\n");
    let listed = |flags: &[&str]| {
        let args = [&["check", "--format", "json", &thin], flags].concat();
        run(&args).json()[0]["anomalies"][0]["instances"].as_array().unwrap().len()
    };
    assert_eq!(listed(&[]), 0);
    assert_eq!(listed(&["--all"]), 3);
    assert_eq!(listed(&["--all", "--max", "2"]), 2);
    assert_eq!(run(&["check", "--format", "json", &thin]).json()[0]["anomalies"][0]["count"], 3);
    let none = run(&["check", "--max", "0", &thin]);
    assert_eq!(none.code, Some(3));
    assert!(none.stderr.contains("at least one instance"), "{}", none.stderr);
    let text = run(&["check", "--max", "2", &thin]).stdout;
    assert!(text.contains("and 1 more"), "{text}");
}

#[test]
fn the_graph_is_written() {
    let folder = Folder::new();
    let (bad, dot) = (folder.file("bad.txt", CAUSAL), folder.at("out.dot"));
    assert_eq!(run(&["check", &bad, "--dot", &dot]).code, Some(1));
    let graph = std::fs::read_to_string(&dot).unwrap();
    assert!(graph.starts_with("digraph") && graph.contains("commit order"), "{graph}");
    assert_eq!(folder.names(), ["bad.txt", "out.dot"]);
    let printed = run(&["check", &bad, "--dot", "-"]);
    assert_eq!((printed.code, printed.stdout), (Some(1), graph));
    assert!(printed.stderr.contains("violates causal consistency"), "{}", printed.stderr);
    assert_eq!(folder.names(), ["bad.txt", "out.dot"]);
    let both = run(&["check", &bad, "--dot", "-", "--format", "json"]);
    assert_eq!((both.code, both.stdout.as_str()), (Some(3), ""));
    assert!(both.stderr.contains("both want standard output"), "{}", both.stderr);
}

#[test]
fn elements_appended_twice_are_told_with_both_writers_and_their_places() {
    let folder = Folder::new();
    let append = |session: u32, element: u32| {
        format!("{{\"session\":{session},\"ops\":[[\"append\",\"l\",{element}]]}}\n")
    };
    let read = |list: &str| format!("{{\"session\":4,\"ops\":[[\"r\",\"l\",{list}]]}}\n");
    let text = append(1, 1) + &append(2, 2) + &append(3, 1) + &read("[1,2]") + &read("[1]");
    let path = folder.file("lists.jsonl", &text);
    let page = run(&["check", "--level", "cc", &path]).stdout;
    assert!(page.contains("t1 and t3 appended 1 to l"), "{page}");
    for line in [1, 3] {
        assert!(page.contains(&format!("{path}:{line}\n")), "{page}");
    }
    let line = &run(&["check", "--level", "cc", "--format", "json", &path]).json()[0];
    assert!(schema("check").is_valid(line), "{line}");
    assert_eq!(line["levels"]["cc"], "violated");
    let operations = line["anomalies"][0]["exemplar"]["operations"].as_array().unwrap();
    assert!(operations.iter().any(|op| op["transaction"] == "t3" && op["line"] == 3), "{line}");
}

#[test]
fn a_search_that_runs_out_of_its_budget_says_so() {
    let folder = Folder::new();
    let skew = folder.file("skew.txt", "r(0,0,0,0)\nw(1,1,0,0)\nr(1,0,1,1)\nw(0,2,1,1)\n");
    let out = run(&["check", "--level", "ser", "--budget", "0s", &skew]);
    assert_eq!(out.code, Some(2));
    assert!(out.stdout.contains("budget"), "{}", out.stdout);
    assert_eq!(run(&["check", "--level", "ser", "--budget", "30s", &skew]).code, Some(1));
    assert_eq!(run(&["check", "--level", "ser", "--budget", "soon", &skew]).code, Some(3));
}

#[test]
fn a_weak_level_that_ran_out_says_why_it_was_searched() {
    let folder = Folder::new();
    let twice = folder.file("twice.txt", "w(0,1,0,0)\nw(0,1,1,1)\nr(0,1,2,2)\n");
    let page = words(&run(&["check", "--level", "rc", "--budget", "0s", &twice]).stdout);
    assert!(page.contains("because values were written several times and read"), "{page}");
}

#[test]
fn the_wrong_element_of_a_list_is_named_and_no_number_is_cut() {
    let folder = Folder::new();
    let appends: String = (0..300)
        .map(|i| format!("{{:type :ok, :process 0, :value [[:append :x {i}]]}}\n"))
        .collect();
    let mut list: Vec<String> = (0..300).map(|i| i.to_string()).collect();
    list.insert(150, "9999".to_owned());
    let read = format!("{{:type :ok, :process 1, :value [[:r :x [{}]]]}}\n", list.join(" "));
    let page = words(&run(&["check", &folder.file("long.edn", appends + &read)]).stdout);
    assert!(page.contains("but 9999, element 151 of the list, was appended by nobody"), "{page}");
    assert!(page.contains("reads :x=[… 9999 … 297 298 299]"), "{page}");
    let short = "{:type :ok, :process 0, :value [[:append :x 1]]}\n{:type :ok, :process 1, :value \
                 [[:r :x [1 2]]]}\n";
    let page = words(&run(&["check", &folder.file("short.edn", short)]).stdout);
    assert!(
        page.contains("reads :x=[1 2], but 2, element 2 of the list, was appended by nobody"),
        "{page}"
    );
}

#[test]
fn operations_are_listed_in_program_order() {
    let folder = Folder::new();
    let fractured =
        folder.file("k.txt", "w(1,1,0,0)\nw(1,2,0,1)\nw(2,2,0,1)\nr(1,1,1,2)\nr(2,2,1,2)\n");
    let page = run(&["check", &fractured]).stdout;
    let places: Vec<&str> =
        page.lines().filter_map(|line| line.rsplit_once("k.txt:")).map(|(_, at)| at).collect();
    assert_eq!(places[places.len() - 5..], ["1", "2", "3", "4", "5"], "{page}");
}

#[test]
fn a_contradiction_of_two_reads_is_one_instance_and_is_told_once() {
    let folder = Folder::new();
    let text = "w(0,1,0,0)\nw(1,1,0,0)\nw(0,2,1,1)\nw(2,2,1,1)\nr(0,1,2,2)\nr(2,2,2,2)\n\
                r(0,2,3,3)\nr(1,1,3,3)\n";
    let path = folder.file("l.txt", text);
    let page = run(&["check", "--max", "5", &path]).stdout;
    assert!(page.contains("fractured read against the commit order: 1 instance"), "{page}");
    assert!(page.contains("#1 is told above") && !page.contains("#2"), "{page}");
}

#[test]
fn an_unknown_outcome_and_an_empty_list_are_told() {
    let folder = Folder::new();
    let unknown = r#"{"session":"a","txn":"t1","status":"unknown","ops":[["w","x",1],["w","y",1]]}
{"session":"b","txn":"t2","ops":[["r","x",null],["r","y",1]]}"#;
    let page = words(&run(&["check", &folder.file("unknown.jsonl", unknown)]).stdout);
    assert!(
        page.contains("The outcome of t1 is unknown; it committed, because t2 read from it."),
        "{page}"
    );
    let empty = r#"{"session":"a","txn":"t1","ops":[["append","l",1],["append","m",1]]}
{"session":"b","txn":"t2","ops":[["r","l",[]],["r","m",[1]]]}"#;
    let page = words(&run(&["check", &folder.file("empty.jsonl", empty)]).stdout);
    assert!(page.contains("l=[]") && !page.contains("nil"), "{page}");
}

#[test]
fn the_page_is_as_wide_as_columns_says() {
    let folder = Folder::new();
    let path = folder.file("bad.txt", CAUSAL);
    for (columns, width) in [("60", 60), ("7", 40), ("1000", 100), ("wide", 100)] {
        let output =
            common::seriatim().args(["explain", "k"]).env("COLUMNS", columns).output().unwrap();
        let longest = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| line.chars().count())
            .max();
        assert!(
            longest.is_some_and(|longest| longest <= width && longest > width - 15),
            "{columns}: {longest:?}"
        );
    }
    assert_eq!(run(&["check", &path]).code, Some(1));
}

#[test]
fn a_history_without_times_is_told_so_if_all_levels_are_asked_for() {
    let folder = Folder::new();
    let path = folder.file("good.txt", GOOD);
    let line = "strict serializability: not checked, the history has no times";
    assert!(run(&["check", &path]).stdout.contains(line));
    assert!(!run(&["check", "--level", "ser", &path]).stdout.contains(line));
    let timed = r#"{"session":"a","begin":1,"end":2,"ops":[["w","x",1]]}"#;
    assert!(!run(&["check", &folder.file("timed.jsonl", timed)]).stdout.contains("not checked"));
}

#[test]
fn a_dirty_write_says_why_weak_levels_do_not_see_it() {
    let folder = Folder::new();
    let text = "w(0,1,0,0)\nw(1,1,0,0)\nw(0,2,1,1)\nw(1,2,1,1)\nr(0,1,2,2)\nr(2,0,2,2)\n\
                w(2,1,3,3)\nr(2,1,4,4)\n\
                r(0,2,4,4)\nr(1,2,5,5)\nr(3,0,5,5)\nw(3,1,6,6)\nr(3,1,7,7)\nr(1,1,7,7)\n";
    let path = folder.file("dirty.txt", text);
    let (page, why) =
        (words(&run(&["check", &path]).stdout), words(&run(&["check", "--why", &path]).stdout));
    assert!(
        page.contains(
            "G0, which Adya forbids from PL-1 on; registers do not show the order of writes"
        ),
        "{page}"
    );
    assert!(page.contains("`check --why` tells why") && !why.contains("`check --why`"), "{page}");
}

#[test]
fn why_tells_how_an_inferred_step_is_known() {
    let folder = Folder::new();
    let update = "w(0,1,0,0)\nr(0,1,1,1)\nw(0,2,1,1)\nr(0,1,2,2)\nw(0,3,2,2)\n";
    let path = folder.file("update.txt", update);
    let (short, long) = (run(&["check", &path]).stdout, run(&["check", "--why", &path]).stdout);
    assert!(short.contains("lost update"), "{short}");
    assert!(long.len() > short.len(), "{long}");
}

#[test]
fn the_shipped_examples_say_what_their_table_says() {
    let examples = "../../examples/histories";
    let cases = [
        ("bank.jsonl", "rc", "non-monotonic-read"),
        ("cart.edn", "rc", "aborted-read"),
        ("chat.jsonl", "cc", "causality-violation"),
        ("profile.jsonl", "ra", "fractured-read"),
        ("stock.jsonl", "si", "lost-update"),
    ];
    for (file, weakest, kind) in cases {
        let line = &run(&["check", "--format", "json", &format!("{examples}/{file}")]).json()[0];
        assert_eq!(line["weakest_violated"], weakest, "{file}");
        assert_eq!(line["anomalies"][0]["kind"], kind, "{file}");
    }
    assert_eq!(run(&["check", &format!("{examples}/counter.txt")]).code, Some(0));
}

/// Two transactions that read the same and write different keys: nothing is known at the start of a
/// search.
const SKEW: &str = "r(0,0,0,0)\nw(1,1,0,0)\nr(1,0,1,1)\nw(0,2,1,1)\n";

#[test]
fn what_a_budget_leaves_open_says_what_was_proved() {
    let folder = Folder::new();
    let skew = folder.file("skew.txt", SKEW);
    let args = ["check", "--level", "ser", "--budget", "0s", &skew];
    let page = run(&args).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("Proved so far: causal consistency holds."), "{page}");
    assert!(page.contains("At serializability, no order was tried."), "{page}");
    let line = &run(&[&args[..], &["--format", "json"]].concat()).json()[0];
    assert!(schema("check").is_valid(line), "{line}");
    let open = &line["undecided"][0];
    assert_eq!((&open["level"], &open["reason"]), (&"ser".into(), &"budget".into()));
    assert_eq!(
        (&open["proved"]["holds"], open["proved"]["violated"].is_null()),
        (&"cc".into(), true)
    );
    assert_eq!(open["effort"]["level"], "ser");
}

#[cfg(target_os = "linux")]
#[test]
fn a_memory_limit_ends_in_undecided_and_a_generous_one_in_a_verdict() {
    let folder = Folder::new();
    let skew = folder.file("skew.txt", SKEW);
    let tight = run(&["check", "--memory", "1M", &skew]);
    assert_eq!(tight.code, Some(2), "{tight:?}");
    assert!(tight.stdout.contains("because of the memory limit"), "{}", tight.stdout);
    let page = words(&tight.stdout);
    assert!(page.contains("Nothing was proved so far."), "{page}");
    assert!(page.contains("bytes would have been needed to go on"), "{page}");
    let line = &run(&["check", "--memory", "1M", "--format", "json", &skew]).json()[0];
    assert!(schema("check").is_valid(line), "{line}");
    assert_eq!(line["undecided"][0]["reason"], "memory");
    let wide = run(&["check", "--memory", "4G", &skew, &skew]);
    assert_eq!(wide.code, Some(1), "{wide:?}");
    let part = folder.at("part.jsonl");
    assert_eq!(
        run(&["minimize", &skew, "--level", "ser", "-o", &part, "--memory", "1M"]).code,
        Some(2)
    );
    assert_eq!(
        run(&["minimize", &skew, "--level", "ser", "-o", &part, "--memory", "4G"]).code,
        Some(0)
    );
}

#[test]
fn sizes_that_are_none_are_refused() {
    for size in ["4", "lots", "4X", "0G"] {
        let ran = run(&["check", "--memory", size, "none.txt"]);
        assert_eq!(ran.code, Some(3), "{size}");
        assert!(ran.stderr.contains("size"), "{}", ran.stderr);
    }
}

#[test]
fn timings_tell_what_the_search_had_to_do() {
    let folder = Folder::new();
    let skew = folder.file("skew.txt", SKEW);
    let page = run(&["check", "--level", "ser", "--timings", &skew]).stdout;
    let line = page
        .lines()
        .find(|line| line.starts_with("  serializability: build"))
        .unwrap_or_else(|| panic!("{page}"));
    assert!(line.contains("prune"), "{page}");
    for word in ["constraint", "broken", "solve", "conflicts", "explain"] {
        assert!(page.contains(word), "{page}");
    }
    let line = &run(&["check", "--level", "ser", "--format", "json", &skew]).json()[0];
    assert!(schema("check").is_valid(line), "{line}");
    assert_eq!(line["efforts"][0]["level"], "ser");
    assert!(line["efforts"][0]["broken_first"].as_u64().unwrap() > 0, "{line}");
}

/// A fractured read used to hide the lost update: only the former was reported, at any level.
#[test]
fn a_weak_anomaly_does_not_hide_a_strong_one() {
    let folder = Folder::new();
    let file = folder.file("both.txt", FRACTURED_AND_LOST);
    for levels in [&["check", &file][..], &["check", &file, "--level", "si"]] {
        let page = run(levels).stdout;
        assert!(page.contains("\nfractured read: 1 instance"), "{page}");
        assert!(page.contains("\nlost update: 1 instance"), "{page}");
    }
}

/// Session 1 and 2: a fractured read; sessions 3 to 5: a lost update.
const FRACTURED_AND_LOST: &str = "w(1,1,1,1)\nw(2,1,1,1)\nr(1,0,2,2)\nr(2,1,2,2)\n\
    w(3,1,3,3)\nr(3,1,4,4)\nw(3,2,4,4)\nr(3,1,5,5)\nw(3,3,5,5)\n";

#[test]
fn one_kind_can_be_looked_for() {
    let folder = Folder::new();
    let file = folder.file("both.txt", FRACTURED_AND_LOST);
    let lost = run(&["check", &file, "--kind", "lost-update"]);
    assert_eq!(lost.code, Some(1));
    assert!(lost.stdout.contains("\nlost update: 1 instance"), "{}", lost.stdout);
    assert!(!lost.stdout.contains("fractured read"), "{}", lost.stdout);
    let none = run(&["check", &file, "--kind", "write-skew"]);
    assert_eq!(none.code, Some(1));
    assert!(none.stdout.contains("\nwrite skew: none found"), "{}", none.stdout);
    let wrong = run(&["check", &file, "--kind", "lost-updates"]);
    assert_eq!(wrong.code, Some(3));
    assert!(wrong.stderr.contains("lost-update"), "{}", wrong.stderr);
    assert!(wrong.stderr.lines().count() <= 5, "{}", wrong.stderr);
}

#[test]
fn kinds_have_the_names_of_the_literature() {
    let folder = Folder::new();
    let file = folder.file("both.txt", FRACTURED_AND_LOST);
    let several = run(&["check", &file, "--kind", "p4,g-single"]).stdout;
    assert!(several.contains("\nlost update: 1 instance"), "{several}");
    assert!(several.contains("\nfractured read: 1 instance"), "{several}");
    let none = run(&["check", &file, "--kind", "G1a,G0"]).stdout;
    assert!(none.contains("\naborted read: none found\nwrite cycle: none found\n"), "{none}");
    let stale = run(&["check", &file, "--kind", "stale-read"]).stdout;
    let told = "\nstale read in real time: not looked for, the history has no times\n";
    assert!(stale.contains(told), "{stale}");
}

/// Operations of a derivation that is left out used to be listed beside a story of four operations.
#[test]
fn the_operations_that_are_listed_are_those_that_the_prose_speaks_of() {
    let file = "../../histories/anomalies/dirty-write.jsonl";
    let listed = |page: &str| page.lines().filter(|line| line.starts_with("    ")).count();
    let page = run(&["check", file]).stdout;
    assert!(page.contains("`check --why` tells why"), "{page}");
    let table: Vec<&str> = page.lines().filter(|line| line.contains("  session ")).collect();
    assert_eq!(table.len(), 4, "{page}");
    assert!(table.iter().all(|line| line.contains(" write ")), "{page}");
    let why = run(&["check", "--why", file]).stdout;
    assert!(listed(&why) > listed(&page) + 8, "{why}");
}

/// The read that is blamed for the fractured read is also one of the lost update.
#[test]
fn a_lost_update_is_found_although_its_read_is_to_blame_for_something_else() {
    let folder = Folder::new();
    let text =
        "w(1,1,1,1)\nw(2,1,1,1)\nr(2,1,2,2)\nr(1,0,2,2)\nw(1,2,2,2)\nr(1,0,3,3)\nw(1,3,3,3)\n";
    let page = run(&["check", &folder.file("shared.txt", text)]).stdout;
    assert!(page.contains("\nnon-monotonic read: 1 instance"), "{page}");
    assert!(page.contains("\nlost update: 1 instance"), "{page}");
}

#[test]
fn times_that_are_missing_or_go_back_are_told() {
    let folder = Folder::new();
    let text = "{\"session\":1,\"begin\":1,\"end\":2,\"ops\":[[\"w\",\"x\",1]]}\n\
                {\"session\":2,\"ops\":[[\"r\",\"x\",1]]}\n";
    let file = folder.file("half.jsonl", text);
    let told = "1 of 2 transactions has no times: real time says nothing about it";
    assert!(run(&["check", &file]).stdout.contains(told));
    assert!(!run(&["check", &file, "-l", "si"]).stdout.contains(told));
    let line = &run(&["check", &file, "--format", "json"]).json()[0];
    assert!(schema("check").is_valid(line), "{line}");
    assert_eq!(line["notes"][0], told);
    let edn = "{:type :invoke, :process 0, :time 9, :value [[:w :x 1]]}\n\
               {:type :ok, :process 0, :time 3, :value [[:w :x 1]]}\n\
               {:type :invoke, :process 0, :time 1, :value [[:w :x 2]]}\n\
               {:type :ok, :process 0, :time 2, :value [[:w :x 2]]}\n";
    let page = run(&["check", &folder.file("back.edn", edn)]).stdout.replace("\n  ", " ");
    assert!(page.contains("1 transaction (line 2) ends before it begins"), "{page}");
    assert!(page.contains("1 transaction (line 4) begins, by the clock, before"), "{page}");
    let page = run(&["check", &folder.file("some.edn", edn.replace(", :time 9", ""))]).stdout;
    assert!(page.contains("1 event (line 1) has no time: the order of the file"), "{page}");
}

/// Such a history was violated without a word, or "further" anomalies were spoken of although none
/// was shown.
#[test]
fn what_is_wrong_whichever_append_a_list_shows_is_explained() {
    let folder = Folder::new();
    let text = "{\"seriatim\":1}\n\
        {\"session\":1,\"ops\":[[\"r\",\"y\",[4,3]],[\"append\",\"x\",4]]}\n\
        {\"session\":1,\"ops\":[[\"append\",\"y\",4],[\"append\",\"y\",3]]}\n\
        {\"session\":2,\"status\":\"unknown\",\"ops\":[[\"append\",\"y\",3]]}\n";
    let page = run(&["check", &folder.file("h.jsonl", text)]).stdout;
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "t3 and t4 appended 3 to y, so that a list does not tell which of them it shows. \
                Whichever it is, something is wrong.";
    assert!(words.contains(told), "{page}");
    for append in ["t3", "t4"] {
        let choice = format!("If lists show the 3 that {append} appended to y");
        assert!(words.contains(&choice), "{page}");
    }
    assert!(!page.contains("further"), "{page}");
}
