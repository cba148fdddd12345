//! `fuzz`, `replay` and `observe` with commands of a user, who writes scripts for psql: what they
//! find, and what they say when a command does not do as it should.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const SETUP: &str = "\
CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL);
CREATE TABLE sale (id serial PRIMARY KEY, item int REFERENCES item);
INSERT INTO item VALUES (7, 1);
";

/// Two of these sell one item twice if neither sees the other.
const SELL: &str = "\
BEGIN;
SELECT stock FROM item WHERE id = 7 /* sell.sql:2 */ \\gset
SELECT :stock > 0 AS is_left \\gset
\\if :is_left
UPDATE item SET stock = :stock - 1 WHERE id = 7;
INSERT INTO sale (item) VALUES (7);
\\endif
COMMIT;
";

const SOLD: &str = "test $(psql -qAtc 'SELECT count(*) FROM sale') -le 1";

/// A folder with the scripts.
struct Shop(PathBuf);

impl Shop {
    fn new(name: &str) -> Shop {
        let folder = std::env::temp_dir().join(format!("seriatim-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("setup.sql"), SETUP).unwrap();
        fs::write(folder.join("sell.sql"), SELL).unwrap();
        Shop(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seriatim"));
        command.current_dir(&self.0).args(arguments).env("NO_COLOR", "1");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Fuzzes two sellers.
    fn fuzz(&self, arguments: &[&str]) -> Output {
        let mut all = vec!["fuzz", "--setup", "psql -qv ON_ERROR_STOP=1 -f setup.sql"];
        all.extend(["--clients", "2", "--check", SOLD]);
        all.extend(arguments);
        all.extend(["--", "psql", "-qf", "sell.sql"]);
        self.run(&all)
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn told(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn has_psql() -> bool {
    let found = Command::new("psql").arg("--version").stdout(Stdio::null()).status().is_ok();
    // The test command installs it.
    assert!(found || std::env::var_os("CI").is_none(), "psql is not installed");
    found
}

#[test]
fn an_oversell_is_found_blamed_kept_and_seen_again() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("oversell");
    let (page, errors, code) = told(&shop.fuzz(&[
        "--level",
        "rc",
        "--output",
        "run.json",
        "--junit",
        "junit.xml",
        "--save",
        "run.jsonl",
    ]));
    assert_eq!(code, Some(1), "{page}{errors}");
    assert!(page.contains("failed in run"), "{page}");
    assert!(page.contains("SELECT stock FROM item WHERE id = 7"), "{page}");
    assert!(page.contains("sent by sell.sql:2"), "{page}");
    assert!(page.contains("returned 1; a serializable database would have returned 0"), "{page}");
    assert!(page.contains("helps: FOR UPDATE on SELECT stock FROM item"), "{page}");
    let junit = fs::read_to_string(shop.0.join("junit.xml")).unwrap();
    assert!(junit.contains("failures=\"1\"") && junit.contains("&lt;"), "{junit}");
    let run = fs::read_to_string(shop.0.join("run.json")).unwrap();
    assert!(run.len() < 4096, "{run}");
    let (checked, _, code) = told(&shop.run(&["check", "run.jsonl", "--level", "ser"]));
    assert_eq!(code, Some(1), "{checked}");
    // It depends on how two processes run whether one replay of an overlap fails.
    let fails = |_| {
        let replayed = shop.run(&["replay", "run.json", "--", "psql", "-qf", "sell.sql"]);
        let (page, errors, code) = told(&replayed);
        assert!(matches!(code, Some(0 | 1)), "{page}{errors}");
        code == Some(1)
    };
    assert!((0..10).any(fails), "never seen again");
}

#[test]
fn nothing_is_found_where_rows_are_locked() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("locked");
    let locked = SELL.replace("id = 7 /*", "id = 7 FOR UPDATE /*");
    fs::write(shop.0.join("sell.sql"), locked).unwrap();
    let (page, errors, code) = told(&shop.fuzz(&["--level", "rc", "--runs", "40"]));
    assert_eq!(code, Some(0), "{page}{errors}");
    assert!(page.contains("passed in 40 runs"), "{page}");
}

#[test]
fn without_locks_a_locked_row_guards_nothing_as_in_the_paper() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("lockless");
    let locked = SELL.replace("id = 7 /*", "id = 7 FOR UPDATE /*");
    fs::write(shop.0.join("sell.sql"), locked).unwrap();
    let weak = ["--level", "rc", "--locks", "off", "--output", "run.json"];
    let (page, errors, code) = told(&shop.fuzz(&weak));
    assert_eq!(code, Some(1), "{page}{errors}");
    // What is kept says so, too.
    let run = fs::read_to_string(shop.0.join("run.json")).unwrap();
    assert!(run.contains("\"without_locks\": true"), "{run}");
    let (page, errors, code) = told(&shop.fuzz(&["--locks", "off"]));
    assert_eq!(code, Some(3), "{page}{errors}");
    assert!(errors.contains("--locks off needs --level"), "{errors}");
}

#[test]
fn with_real_time_what_was_acknowledged_is_seen() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("real-time");
    // One seller after the other, each with a connection of its own.
    let command = "psql -qf sell.sql && psql -qf sell.sql";
    let setup = "psql -qv ON_ERROR_STOP=1 -f setup.sql";
    let fuzz = |order: &str| {
        shop.run(&[
            "fuzz", "--setup", setup, "--check", SOLD, "--level", "rc", "--order", order, "--runs",
            "20", "--", "sh", "-c", command,
        ])
    };
    let (page, errors, code) = told(&fuzz("sessions"));
    assert_eq!(code, Some(1), "{page}{errors}");
    let (page, errors, code) = told(&fuzz("real-time"));
    assert_eq!(code, Some(0), "{page}{errors}");
}

#[test]
fn what_machines_read_follows_its_schema() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("json");
    let (line, errors, code) =
        told(&shop.fuzz(&["--level", "rc", "--format", "json", "--output", "run.json"]));
    assert_eq!(code, Some(1), "{line}{errors}");
    let line = following(seriatim_report::schema::TRIAL, &line);
    assert_eq!(line["failure"]["blame"][0]["returned"], "1");
    let json = ["replay", "run.json", "--format", "json", "--", "psql", "-qf", "sell.sql"];
    let (line, errors, code) = told(&shop.run(&json));
    assert!(matches!(code, Some(0 | 1)), "{line}{errors}");
    let line = following(seriatim_report::schema::RETRIAL, &line);
    assert_eq!(line["outcome"] == "failed", code == Some(1), "{line}");
}

/// A line that follows its schema.
fn following(schema: &str, line: &str) -> serde_json::Value {
    let schema = serde_json::from_str(schema).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator.iter_errors(&line).map(|it| it.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}\n{line}");
    line
}

#[test]
fn one_client_at_a_time_is_told() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("alone");
    let setup = "psql -qf setup.sql";
    let (page, errors, code) = told(&shop.run(&[
        "fuzz", "--setup", setup, "--level", "si", "--runs", "3", "--", "psql", "-qf", "sell.sql",
    ]));
    assert_eq!(code, Some(0), "{page}{errors}");
    assert!(page.contains("one client at a time"), "{page}");
}

#[test]
fn commands_that_cannot_be_tried_are_told_why() {
    let shop = Shop::new("wrong");
    for (arguments, expected) in [
        (&["fuzz", "--", "true"][..], "never connected to the database"),
        (&["fuzz", "--", "no-such-program"], "cannot start `no-such-program`"),
        (&["fuzz", "--", "sh", "-c", "echo because; exit 3"], "failed with exit code 3 on a"),
        (&["fuzz", "--setup", "echo oh; exit 5", "--", "true"], "failed with exit code 5:\noh"),
        (&["fuzz", "--", "sh", "-c", "kill -SEGV $$"], "was ended by signal 11"),
        (&["fuzz", "--timeout", "300ms", "--", "sleep", "60"], "did not end in time"),
        (&["observe", "-o", "run.jsonl", "--", "false"], "failed with exit code 1"),
        (&["fuzz"], "required"),
        (&["fuzz", "cart", "--", "true"], "cannot be used with"),
        (&["replay", "setup.sql", "--", "true"], "setup.sql"),
    ] {
        let (page, errors, code) = told(&shop.run(arguments));
        assert_eq!(code, Some(3), "{arguments:?}: {page}{errors}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_run_of_a_command_that_does_not_connect_any_more_is_no_pass() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("silent");
    let found = shop.fuzz(&["--level", "rc", "--output", "run.json"]);
    assert_eq!(told(&found).2, Some(1));
    let (page, errors, code) = told(&shop.run(&["replay", "run.json", "--", "true"]));
    assert_eq!(code, Some(3), "{page}{errors}");
    assert!(errors.contains("never connected"), "{errors}");
}

/// What is read and what is written are in different transactions. Each waits until the other one
/// has read, or until it has waited for long: then it is alone. The second writes after the first.
const APART: &str = "\
psql -qAtc 'SELECT stock FROM item WHERE id = 7' > stock.$SERIATIM_CLIENT.$PGPORT
for _ in $(seq 50); do
    [ $(ls stock.*.$PGPORT | wc -l) -lt 2 ] || break
    sleep 0.05
done
for _ in $(seq 50); do
    [ $SERIATIM_CLIENT -eq 1 -a ! -e done.0.$PGPORT ] || break
    sleep 0.05
done
psql -qc \"UPDATE item SET stock = $(cat stock.$SERIATIM_CLIENT.$PGPORT) - 1 WHERE id = 7\"
touch done.$SERIATIM_CLIENT.$PGPORT
";

#[test]
fn copies_that_fail_together_at_any_level_are_told_apart_from_broken_ones() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("apart");
    fs::write(shop.0.join("apart.sh"), APART).unwrap();
    let check = "test $(psql -qAtc 'SELECT stock FROM item') -eq -1";
    let start = ["fuzz", "--setup", "psql -qf setup.sql", "--clients", "2", "--check", check];
    let (page, errors, code) = told(&shop.run(&[&start[..], &["--", "sh", "apart.sh"]].concat()));
    assert_eq!(code, Some(3), "{page}{errors}");
    assert!(errors.contains("not one after the other"), "{errors}");
}

/// Two of these leave nobody on duty, at the level that they ask for.
const LEAVE: &str = "\
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) > 1 AS may_leave FROM duty WHERE here \\gset
\\if :may_leave
UPDATE duty SET here = false WHERE id = (SELECT min(id) FROM duty WHERE here AND id > :who);
\\endif
COMMIT;
";

#[test]
fn levels_are_tried_also_on_transactions_that_ask_for_one() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("asking");
    let duty = "CREATE TABLE duty (id int PRIMARY KEY, here bool); \
                INSERT INTO duty VALUES (1, true), (2, true)";
    fs::write(shop.0.join("setup.sql"), duty).unwrap();
    fs::write(shop.0.join("leave.sql"), LEAVE).unwrap();
    let check = "test $(psql -qAtc 'SELECT count(*) FROM duty WHERE here') -ge 1";
    let leave = "psql -q -v who=$SERIATIM_CLIENT -v ON_ERROR_STOP=1 -f leave.sql";
    let (page, errors, code) = told(&shop.run(&[
        "fuzz",
        "--setup",
        "psql -qf setup.sql",
        "--clients",
        "2",
        "--check",
        check,
        "--",
        "sh",
        "-c",
        leave,
    ]));
    assert_eq!(code, Some(1), "{page}{errors}");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let helps = "helps if refused transactions are tried again: all transactions at SERIALIZABLE";
    assert!(page.contains(helps), "{page}");
    // Rows that are counted cannot be locked.
    assert!(!page.contains("FOR UPDATE on SELECT count(*)"), "{page}");
    assert!(page.contains("lock a row that stands for all of them"), "{page}");
}

/// Whether a process with this in its command line is there.
fn is_running(mark: &str) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.map(|entry| entry.path().join("cmdline"))
        .filter_map(|path| fs::read(path).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(mark))
}

#[test]
fn nothing_is_left_running() {
    let shop = Shop::new("left");
    // One that is in the group of the command, and one that has left it.
    let mark = format!("{}.5", 10_000_000 + std::process::id());
    let line = format!("sleep {mark} & setsid sleep {mark} & sleep 0.2; exit 1");
    let (_, errors, code) = told(&shop.run(&["fuzz", "--", "sh", "-c", &line]));
    assert_eq!(code, Some(3), "{errors}");
    assert!(!is_running(&mark));
    let line = format!("trap '' TERM; sleep {mark} & while true; do sleep 0.1; done");
    let (_, errors, code) =
        told(&shop.run(&["fuzz", "--timeout", "500ms", "--", "sh", "-c", &line]));
    assert_eq!(code, Some(3), "{errors}");
    assert!(!is_running(&mark));
}

#[test]
fn an_interrupt_ends_everything() {
    let shop = Shop::new("interrupt");
    let mark = format!("{}.25", 20_000_000 + std::process::id());
    let mut running =
        shop.command(&["fuzz", "--", "sleep", &mark]).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !is_child_running(&mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = nix_pid(&running);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let status = running.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(!is_child_running(&mark));
}

fn nix_pid(child: &std::process::Child) -> nix::unistd::Pid {
    nix::unistd::Pid::from_raw(child.id() as i32)
}

/// Interrupts a fuzz when its command has written so many lines to a file; what it says then.
fn interrupted(shop: &Shop, arguments: &[&str], file: &str, lines: usize) -> Output {
    let mut command = shop.command(arguments);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let written = || fs::read_to_string(shop.0.join(file)).unwrap_or_default().lines().count();
    while written() < lines && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    nix::sys::signal::kill(nix_pid(&running), nix::sys::signal::Signal::SIGINT).unwrap();
    running.wait_with_output().unwrap()
}

#[test]
fn what_was_done_before_an_interrupt_is_told() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("stopped");
    let line = "psql -qAtc 'SELECT 1' && echo >> ran";
    let fuzz = ["fuzz", "--runs", "1000000", "--junit", "junit.xml", "--", "sh", "-c", line];
    let (page, errors, code) = told(&interrupted(&shop, &fuzz, "ran", 12));
    assert_eq!(code, Some(130), "{page}{errors}");
    assert!(page.contains("passed in the first"), "{page}{errors}");
    assert!(page.contains("Interrupted."), "{page}");
    let junit = fs::read_to_string(shop.0.join("junit.xml")).unwrap();
    assert!(junit.contains("not all runs were done"), "{junit}");
}

#[test]
fn a_failure_that_was_found_before_an_interrupt_is_told_and_kept() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("stopped-late");
    // The second time is when it is tried again.
    let check = format!("{SOLD} || {{ echo >> failed; false; }}");
    let setup = "psql -qv ON_ERROR_STOP=1 -f setup.sql";
    let mut fuzz = vec!["fuzz", "--setup", setup, "--clients", "2", "--check", &check];
    fuzz.extend(["--level", "rc", "--output", "run.json", "--", "psql", "-qf", "sell.sql"]);
    let (page, errors, code) = told(&interrupted(&shop, &fuzz, "failed", 2));
    assert_eq!(code, Some(1), "{page}{errors}");
    assert!(page.contains("failed in run"), "{page}{errors}");
    assert!(shop.0.join("run.json").exists(), "{page}{errors}");
}

#[test]
fn more_connections_than_there_is_room_for_are_refused_and_all_of_them_end() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("thousand");
    let run = |connections: u32| {
        let line = format!(
            "for it in {{1..{connections}}}; do exec {{fd}}<>/dev/tcp/$PGHOST/$PGPORT || exit 9; \
             done; exec psql -qAtc 'SELECT 1'"
        );
        told(&shop.run(&["fuzz", "--runs", "2", "--jobs", "1", "--", "bash", "-c", &line]))
    };
    let (page, errors, code) = run(300);
    assert_eq!(code, Some(0), "{page}{errors}");
    let (page, errors, code) = run(1000);
    assert_eq!(code, Some(3), "{page}{errors}");
    let is_told = errors.contains("closed the connection") || errors.contains("too many clients");
    assert!(is_told, "{errors}");
}

/// The command line of the program itself has the mark, too.
fn is_child_running(mark: &str) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.map(|entry| entry.path().join("cmdline"))
        .filter_map(|path| fs::read(path).ok())
        .any(|line| line.starts_with(b"sleep") && contains(&line, mark))
}

fn contains(line: &[u8], mark: &str) -> bool {
    String::from_utf8_lossy(line).contains(mark)
}

#[test]
fn a_run_is_observed_with_its_statements() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("observed");
    let setup = "psql -qf setup.sql";
    let arguments =
        ["observe", "--setup", setup, "-o", "run.jsonl", "--", "psql", "-qf", "sell.sql"];
    let (_, errors, code) = told(&shop.run(&arguments));
    assert_eq!(code, Some(0), "{errors}");
    let written = fs::read_to_string(Path::new(&shop.0).join("run.jsonl")).unwrap();
    assert!(written.contains("SELECT stock FROM item WHERE id = 7"), "{written}");
    let (page, errors, code) = told(&shop.run(&["check", "run.jsonl"]));
    assert_eq!(code, Some(0), "{page}{errors}");
}

/// Each books a seat after a look at how many are taken.
const BOOK: &str = "\
BEGIN;
SELECT count(*) FROM sale;
INSERT INTO sale (item) VALUES (7);
COMMIT;
";

#[test]
fn a_prediction_is_tried_on_the_command() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("predicted");
    fs::write(shop.0.join("book.sql"), BOOK).unwrap();
    let command = ["--", "psql", "-qf", "book.sql"];
    let mut observe = vec!["observe", "--setup", "psql -qf setup.sql", "--clients", "2"];
    observe.extend(["-o", "run.jsonl"]);
    observe.extend(command);
    let (_, errors, code) = told(&shop.run(&observe));
    assert_eq!(code, Some(0), "{errors}");
    let (page, errors, code) = told(&shop.run(&[
        "predict",
        "run.jsonl",
        "--level",
        "cc",
        "--boundary",
        "relaxed",
        "-o",
        "p.json",
    ]));
    assert_eq!(code, Some(1), "{page}{errors}");
    assert!(page.contains("SELECT count(*) FROM sale returned 1"), "{page}");
    let mut replay = vec!["replay", "p.json", "--save", "again.jsonl"];
    replay.extend(command);
    let (page, errors, code) = told(&shop.run(&replay));
    assert_eq!(code, Some(1), "{page}{errors}");
    assert!(page.contains("validated: the run was as predicted"), "{page}{errors}");
    let (page, _, code) = told(&shop.run(&["check", "again.jsonl", "--level", "ser"]));
    assert_eq!(code, Some(1), "{page}");
}

/// Books; but once it is replayed it fails in the first try, and does nothing in the others.
const FICKLE: &str = "\
test -e replayed || exec psql -qf book.sql
psql -qAtc 'SELECT 1'
touch ran.$PGPORT
test $(ls ran.* | wc -l) -gt 1
";

#[test]
fn of_several_tries_the_one_that_shows_most_is_told() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("fickle");
    fs::write(shop.0.join("book.sql"), BOOK).unwrap();
    fs::write(shop.0.join("fickle.sh"), FICKLE).unwrap();
    let observe = ["observe", "--setup", "psql -qf setup.sql", "--clients", "2", "-o", "run.jsonl"];
    let command = ["--", "sh", "fickle.sh"];
    let (_, errors, code) = told(&shop.run(&[&observe[..], &command].concat()));
    assert_eq!(code, Some(0), "{errors}");
    let predict =
        ["predict", "run.jsonl", "--level", "cc", "--boundary", "relaxed", "-o", "p.json"];
    let (page, errors, code) = told(&shop.run(&predict));
    assert_eq!(code, Some(1), "{page}{errors}");
    fs::write(shop.0.join("replayed"), "").unwrap();
    let (page, errors, code) = told(&shop.run(&[&["replay", "p.json"][..], &command].concat()));
    assert_eq!(code, Some(0), "{page}{errors}");
    assert!(page.contains("This is try 1 of 5"), "{page}{errors}");
    assert!(page.contains("The assertion broke"), "{page}{errors}");
}

#[test]
fn a_replay_can_be_followed_step_by_step() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("paused");
    let (page, errors, code) = told(&shop.fuzz(&["--level", "rc", "--output", "run.json"]));
    assert_eq!(code, Some(1), "{page}{errors}");
    let replay = ["replay", "run.json", "--pause", "--", "psql", "-qf", "sell.sql"];
    let output = shop.command(&replay).stdin(Stdio::null()).output().unwrap();
    let (page, errors, code) = told(&output);
    assert!(matches!(code, Some(0 | 1)), "{page}{errors}");
    assert!(errors.contains("press Enter"), "{page}{errors}");
}

#[test]
fn assertions_may_ask_for_the_latest_versions() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("latest");
    let test = |look: &str| {
        let line = format!("psql -qc 'UPDATE item SET stock = 0' && test $({look}) -eq 0");
        let setup = "psql -qf setup.sql";
        let fuzz = ["fuzz", "--setup", setup, "--level", "cc", "--runs", "12", "--", "sh", "-c"];
        told(&shop.run(&[&fuzz[..], &[&line]].concat()))
    };
    let select = "SELECT stock FROM item";
    // Another connection may miss what the first one did.
    let (page, errors, code) = test(&format!("psql -qAtc \"{select}\""));
    assert_eq!(code, Some(1), "{page}{errors}");
    for look in [
        format!("psql -qAtc \"{select} /* seriatim: latest */\""),
        format!("psql -qAtc \"SET seriatim.reads = latest\" -c \"{select}\""),
        format!("PGOPTIONS=\"-c seriatim.reads=latest\" psql -qAtc \"{select}\""),
    ] {
        let (page, errors, code) = test(&look);
        assert_eq!(code, Some(0), "{look}: {page}{errors}");
    }
}

/// Two of these sell one item twice, after a transaction that may be refused and is tried again,
/// of which a line tells; the number of their order has that of the refusal in it.
const TELLING: &str = "\
until psql -qAt -v ON_ERROR_STOP=1 -f count.sql; do true; done
psql -qAt -v ON_ERROR_STOP=1 -f sell.sql
echo order 40001
";

/// At REPEATABLE READ one of two that overlap is refused.
const COUNT: &str = "\
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT visits FROM counter /* count.sql */;
UPDATE counter SET visits = visits + 1;
COMMIT;
";

#[test]
fn a_failure_counts_whatever_was_refused_and_tried_again() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("telling");
    fs::write(shop.0.join("telling.sh"), TELLING).unwrap();
    fs::write(shop.0.join("count.sql"), COUNT).unwrap();
    let tables = format!("{SETUP}CREATE TABLE counter AS SELECT 0 AS visits;");
    fs::write(shop.0.join("setup.sql"), tables).unwrap();
    let setup = "psql -qv ON_ERROR_STOP=1 -f setup.sql";
    let start = ["fuzz", "--setup", setup, "--clients", "2", "--level", "rc", "--runs"];
    let run = |flags: &[&str], line: &str| {
        told(&shop.run(&[&start[..], flags, &["--", "sh", "-c", line]].concat()))
    };
    let (page, errors, code) = run(&["60", "--check", SOLD], "sh telling.sh");
    assert_eq!(code, Some(1), "{page}{errors}");
    // A client that says by its exit code that it has seen two sales has not been refused either.
    let sold = format!("sh telling.sh && {SOLD}");
    let (page, errors, code) = run(&["60"], &sold);
    assert_eq!(code, Some(1), "{page}{errors}");
    // Whoever does not try again is not to blame for what a database refuses that keeps a level.
    let (page, errors, code) = run(&["12"], "psql -qAt -v ON_ERROR_STOP=1 -f count.sql");
    assert_eq!(code, Some(0), "{page}{errors}");
}

#[test]
fn what_is_expected_is_found_however_much_is_written() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("loud");
    let loud = format!("psql -qf sell.sql; {SOLD} || echo sold twice; seq 40000");
    let setup = "psql -qf setup.sql";
    let start = ["fuzz", "--setup", setup, "--clients", "2", "--level", "rc"];
    let expecting = |flags: &[&str], line: &str| {
        told(&shop.run(&[&start[..], flags, &["--", "sh", "-c", line]].concat()))
    };
    let (page, errors, code) = expecting(&["--expect", "sold twice"], &loud);
    assert_eq!(code, Some(1), "{page}{errors}");
    assert!(page.contains("wrote `sold twice`"), "{page}{errors}");
    // The check says by its exit code what it has seen, as always.
    let checked = ["--expect", "no such line", "--check", SOLD];
    let (page, errors, code) = expecting(&checked, "psql -qf sell.sql; exit 7");
    assert_eq!(code, Some(1), "{page}{errors}");
    assert!(page.contains("failed with exit code 1"), "{page}{errors}");
}

#[test]
fn what_cannot_be_written_takes_nothing_from_what_can() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("full");
    // A file that is there when the search begins, and cannot be made when it ends.
    let setup = "psql -qf setup.sql && rm -r pages";
    fs::create_dir(shop.0.join("pages")).unwrap();
    let (page, errors, code) = told(&shop.run(&[
        "fuzz",
        "--setup",
        setup,
        "--clients",
        "2",
        "--check",
        SOLD,
        "--level",
        "rc",
        "--budget",
        "10s",
        "--junit",
        "pages/junit.xml",
        "--html",
        "pages/page.html",
        "--output",
        "run.json",
        "--save",
        "run.jsonl",
        "--",
        "psql",
        "-qf",
        "sell.sql",
    ]));
    assert_eq!(code, Some(3), "{page}{errors}");
    assert!(errors.contains("pages/junit.xml") && errors.contains("pages/page.html"), "{errors}");
    assert!(page.contains("failed in run"), "{page}{errors}");
    assert!(shop.0.join("run.json").exists() && shop.0.join("run.jsonl").exists(), "{errors}");
}

#[test]
fn a_transaction_at_serializable_is_tried_alone() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("raised");
    let duty = "CREATE TABLE duty (id int PRIMARY KEY, here bool); \
                INSERT INTO duty VALUES (1, true), (2, true)";
    fs::write(shop.0.join("setup.sql"), duty).unwrap();
    let leave = LEAVE.replace("ISOLATION LEVEL REPEATABLE READ", "");
    let own = leave.replace("(SELECT min(id) FROM duty WHERE here AND id > :who)", ":who + 1");
    fs::write(shop.0.join("leave.sql"), own).unwrap();
    let check = "test $(psql -qAtc 'SELECT count(*) FROM duty WHERE here') -ge 1";
    // Whoever is refused tries again.
    let leave = "until psql -q -v who=$SERIATIM_CLIENT -v ON_ERROR_STOP=1 -f leave.sql; do true; \
                 done";
    let start = ["fuzz", "--setup", "psql -qf setup.sql", "--clients", "2", "--check", check];
    let (page, errors, code) = told(&shop.run(&[&start[..], &["--", "sh", "-c", leave]].concat()));
    assert_eq!(code, Some(1), "{page}{errors}");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let helps = "helps if refused transactions are tried again: SERIALIZABLE for transactions that \
                 begin with SELECT count(*) > 1 AS may_leave FROM duty WHERE here";
    assert!(page.contains(helps), "{page}{errors}");
    assert!(page.contains("does not help: all transactions at REPEATABLE READ"), "{page}");
}

#[test]
fn an_update_that_could_compute_is_named_and_not_tried() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("computes");
    let computed = SELL.replace("AS is_left", "AS is_left, :stock - 1 AS rest");
    fs::write(shop.0.join("sell.sql"), computed.replace("= :stock - 1", "= :rest")).unwrap();
    let (page, errors, code) = told(&shop.fuzz(&[]));
    assert_eq!(code, Some(1), "{page}{errors}");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("What was not tried, because it is a change of code:"), "{page}");
    assert!(page.contains("(SET stock = stock - 1)"), "{page}");
}

#[test]
fn a_server_of_mysql_may_have_snapshot_isolation() {
    let shop = Shop::new("innodb");
    let flag = "--innodb-snapshot-isolation";
    let (_, errors, code) = told(&shop.run(&["fuzz", "--like", "postgres", flag, "--", "true"]));
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("--like mysql"), "{errors}");
    for command in [&["fuzz"][..], &["observe", "-o", "run.jsonl"]] {
        let (_, errors, code) = told(&shop.run(&[command, &[flag, "--", "true"]].concat()));
        assert_eq!(code, Some(3), "{errors}");
        assert!(errors.contains("never connected"), "{errors}");
    }
}
