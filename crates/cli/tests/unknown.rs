//! What clients did and the reader does not understand: an error, or, with `--skip-unknown`,
//! transactions that may have done anything.

mod common;

use common::{Folder, run, schema};

/// A bank workload beside transactions; the reads of 9 and of 8 come from nobody that is known.
const BANK: &str = "\
{:type :invoke, :process 0, :f :txn, :value [[:w :x 1] [:r :y nil]]}
{:type :ok, :process 0, :f :txn, :value [[:w :x 1] [:r :y 9]]}
{:type :invoke, :process 1, :f :transfer, :value {:from 0, :to 1, :amount 5}}
{:type :info, :process :nemesis, :f :kill, :value nil}
{:type :ok, :process 1, :f :transfer, :value {:from 0, :to 1, :amount 5}}
{:type :invoke, :process 2, :f :txn, :value [[:r :x nil] [:r :z nil]]}
{:type :ok, :process 2, :f :txn, :value [[:r :x 1] [:r :z 8]]}
";
/// A lost update beside something else.
const LOST: &str = "\
{:type :ok, :process 0, :f :txn, :value [[:r :x nil] [:w :x 1]]}
{:type :ok, :process 1, :f :txn, :value [[:r :x nil] [:w :x 2]]}
{:type :ok, :process 2, :f :enqueue, :value 7}
";

/// Both were skipped with a note, the read out of thin air with them, and the exit code was 0.
#[test]
fn transactions_under_another_name_are_not_lost() {
    let folder = Folder::new();
    let thin = "{\"type\":\"ok\",\"process\":\"0\",\"f\":\"txn\",\"value\":[[\"r\",5,7]]}\n\
                {\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"w\",6,1]]}\n";
    let edn = "{:type :ok, :process 0, :f :transaction, :value [[:r 5 7]]}\n\
               {:type :ok, :process 1, :f :txn, :value [[:w 6 1]]}\n";
    for (name, text) in [("h.json", thin), ("h.edn", edn)] {
        let ran = run(&["check", &folder.file(name, text)]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stdout.contains("thin-air read"), "{ran:?}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_for_every_command() {
    let folder = Folder::new();
    let (bank, out) = (folder.file("bank.edn", BANK), folder.at("out"));
    let certificate = folder.file("certificate", "");
    for args in [
        &["check", &bank][..],
        &["stats", &bank],
        &["convert", &bank, &out],
        &["minimize", &bank, "-l", "si", "-o", &out],
        &["predict", &bank, "-l", "cc"],
        &["verify", &bank, &certificate],
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{args:?}: {ran:?}");
        let told = "bank.edn:3:1: this is a bank workload (:f `:transfer`)";
        assert!(args[0] == "verify" || ran.stderr.contains(told), "{args:?}: {ran:?}");
    }
    assert!(run(&["check", &bank]).stderr.contains("--skip-unknown"));
}

#[test]
fn what_is_passed_over_leaves_undecided_what_would_hold() {
    let folder = Folder::new();
    let bank = folder.file("bank.edn", BANK);
    let ran = run(&["check", "--skip-unknown", &bank]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    insta::assert_snapshot!(ran.stdout.replace(&bank, "bank.edn"));
    let ran = run(&["check", "--skip-unknown", "--format", "json", &bank]);
    let line = &ran.json()[0];
    assert!(schema("check").is_valid(line), "{line}");
    assert_eq!((&line["unknown_content"], &line["strongest"]), (&1.into(), &().into()));
    let open = &line["undecided"][0];
    assert_eq!((&open["reason"], &open["transactions"]), (&"unknown-content".into(), &1.into()));
}

#[test]
fn what_the_rest_violates_stays_violated() {
    let folder = Folder::new();
    let lost = folder.file("lost.edn", LOST);
    let ran = run(&["check", "--skip-unknown", &lost]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("lost update: 1 instance"), "{ran:?}");
    assert!(!ran.stdout.contains("holds"), "{ran:?}");
    let small = folder.at("small.jsonl");
    let ran = run(&["minimize", "--skip-unknown", &lost, "-l", "si", "-o", &small]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("passed over 1 transaction of unknown content"), "{ran:?}");
    assert_eq!(run(&["check", "-l", "si", &small]).code, Some(1));
}

#[test]
fn a_copy_knows_what_was_passed_over() {
    let folder = Folder::new();
    let (bank, copy) = (folder.file("bank.edn", BANK), folder.at("copy.jsonl"));
    let ran = run(&["convert", "--skip-unknown", &bank, &copy]);
    assert_eq!(ran.code, Some(0));
    let left_out = "2 reads (the first in line 2) were left out: only what was passed over";
    assert!(ran.stderr.contains(left_out), "{ran:?}");
    let nemesis = "passed over 1 event of the nemesis, which breaks things for the test";
    assert!(ran.stderr.contains(nemesis), "{ran:?}");
    assert_eq!(run(&["check", &copy]).code, Some(2));
    let ran = run(&["stats", "--format", "json", &copy]);
    assert!(schema("stats").is_valid(&ran.json()[0]), "{ran:?}");
    assert_eq!(ran.json()[0]["unknown_content"], 1);
    assert!(run(&["stats", &copy]).stdout.contains("transactions of unknown content"));
    let ran = run(&["convert", "--skip-unknown", &bank, &folder.at("copy.edn")]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("write jsonl instead"), "{ran:?}");
    let ran = run(&["predict", "--skip-unknown", &bank, "-l", "cc"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stdout.contains("it has transactions whose content was not"), "{ran:?}");
}

#[test]
fn no_certificate_says_that_something_holds_beside_unknown_content() {
    let folder = Folder::new();
    let (bank, certificate) = (folder.file("bank.edn", BANK), folder.at("certificate"));
    let ran = run(&["check", "--skip-unknown", &bank, "--certificate", &certificate]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let text = std::fs::read_to_string(&certificate).unwrap();
    let ran = run(&["verify", "--skip-unknown", &bank, &certificate]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let forged = text.replace(
        r#"{"level":"rc","verdict":"undecided"}"#,
        r#"{"level":"rc","verdict":"holds","order":[0,1]}"#,
    );
    assert_ne!(forged, text);
    let ran = run(&["verify", "--skip-unknown", &bank, &folder.file("forged", forged)]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("lacks transactions of unknown content (1)"), "{ran:?}");
}
