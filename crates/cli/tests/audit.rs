//! `audit` of a database whose isolation level is known: the mock one. (Real ones are audited by
//! `crates/audit/tests/real_databases.rs`.)

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

/// A mock PostgreSQL at a level.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn at(level: &str) -> Server {
        Server::start(&["--force-level", "--level", level, "--chooser", "random"])
    }

    fn start(arguments: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_seriatim"))
            .args(["serve", "--postgres", "127.0.0.1:0"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("postgres://").nth(1).unwrap().split(' ').next().unwrap();
        Server { url: format!("postgres://postgres@{}/postgres", address.trim()), child }
    }
}

/// A folder with a certificate of `localhost` and its key.
struct Certificate(std::path::PathBuf);

impl Certificate {
    fn new(name: &str) -> Certificate {
        let folder = format!("seriatim-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        Certificate(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Certificate {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn audit(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_seriatim"))
        .arg("audit")
        .args(arguments)
        .env("NO_COLOR", "1")
        .env_remove("SERIATIM_DUCKDB")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// The levels that were seen violated.
fn violated(level: &str) -> Vec<String> {
    violated_on(&Server::at(level), level, "adaptive")
}

fn violated_on(server: &Server, level: &str, workload: &str) -> Vec<String> {
    let arguments = [&server.url, "--isolation", "rc", "--check", level, "--sessions", "6"];
    let enough = ["--duration", "60s", "--transactions", "4000", "--format", "json"];
    let work = ["--workload", workload];
    let (line, errors, code) = audit(&[&arguments[..], &enough[..], &work[..]].concat());
    assert_eq!(code, Some(0), "{level}: {line}{errors}");
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let schema = serde_json::from_str(seriatim_report::schema::AUDIT).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator.iter_errors(&line).map(|it| it.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    violated_in(&line)
}

fn violated_in(line: &serde_json::Value) -> Vec<String> {
    let levels = line["levels"].as_object().unwrap();
    let is_violated = |(_, word): &(&String, &serde_json::Value)| *word == "violated";
    levels.iter().filter(is_violated).map(|(code, _)| code.clone()).collect()
}

#[test]
fn a_level_is_kept_and_those_above_are_not() {
    assert_eq!(violated("rc"), ["cc", "ci", "pc", "ra", "ser", "si"]);
    assert_eq!(violated("ra"), ["cc", "pc", "ser", "si"]);
    assert_eq!(violated("cc"), ["pc", "ser", "si"]);
    assert_eq!(violated("si"), ["ser"]);
    assert!(violated("ser").is_empty());
}

/// With locks an UPDATE of a row that has changed is refused, which makes snapshot isolation of it.
#[test]
fn prefix_consistency_is_kept_and_snapshot_isolation_is_not_without_locks() {
    let level = ["--force-level", "--level", "pc", "--chooser", "random"];
    let server = Server::start(&[&level[..], &["--locks", "off"]].concat());
    assert_eq!(violated_on(&server, "pc", "read-modify-write"), ["ser", "si"]);
}

#[test]
fn what_was_recorded_can_be_checked_and_nothing_is_left_behind() {
    let server = Server::at("cc");
    let path = std::env::temp_dir().join(format!("seriatim-audit-{}.jsonl", std::process::id()));
    let file = path.to_str().unwrap();
    let arguments = ["--isolation", "rc", "--transactions", "400", "--sessions", "4", "-o", file];
    let (page, errors, code) = audit(&[&[&*server.url], &arguments[..]].concat());
    assert_eq!(code, Some(0), "{page}{errors}");
    assert!(page.contains("keeps read committed, as it promises"), "{page}");
    let (page, errors, code) = audit(&["--again", file]);
    assert_eq!(code, Some(0), "{page}{errors}");
    assert!(page.contains("READ COMMITTED: keeps read committed, as it promises"), "{page}");
    let checked = Command::new(env!("CARGO_BIN_EXE_seriatim"))
        .args(["check", "--quiet", "--level", "cc", file])
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    std::fs::remove_file(&path).unwrap();
    // Another one makes its tables anew.
    let (page, errors, code) = audit(&[&[&*server.url], &arguments[..6]].concat());
    assert_eq!(code, Some(0), "{page}{errors}");
}

#[test]
fn databases_that_cannot_be_audited_are_told_why() {
    for (arguments, expected) in [
        (&["oracle://x"][..], "is no database that can be audited"),
        (
            &["postgres://ann:secret@127.0.0.1:1/x"],
            "cannot connect to postgres://ann@127.0.0.1:1/x",
        ),
        (&["mysql://ann:secret@127.0.0.1:1/x"], "cannot connect to mysql://ann@127.0.0.1:1/x"),
        (&["postgres://127.0.0.1/x", "--isolation", "si"], "use ru, rc, rr or ser, or all"),
        (&["postgres://127.0.0.1/x", "--workload", "no"], "there are adaptive, general"),
        (&["read=redis://127.0.0.1:1", "read=redis://127.0.0.1:2"], "a node that is written to"),
        (&["duckdb:x.db"], "set SERIATIM_DUCKDB to its path"),
    ] {
        let (page, errors, code) = audit(arguments);
        assert_eq!(code, Some(3), "{arguments:?}: {page}{errors}");
        let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
        assert!(!errors.contains("secret"), "{errors}");
    }
}

#[test]
fn connections_are_encrypted_as_the_address_asks() {
    let (known, other) = (Certificate::new("known"), Certificate::new("other"));
    let (cert, key) = (known.file("cert.pem"), known.file("key.pem"));
    let encrypted = Server::start(&["--tls-cert", &cert, "--tls-key", &key]);
    let plain = Server::start(&[]);
    let by_name = encrypted.url.replace("127.0.0.1", "localhost");
    let asked = |url: &str, how: &str| {
        let url = format!("{url}?{how}");
        let few = ["--isolation", "rc", "--transactions", "40", "--sessions", "2"];
        audit(&[&[&*url], &few[..]].concat())
    };
    let roots = |of: &Certificate| format!("sslrootcert={}", of.file("cert.pem"));
    let verified = format!("sslmode=verify-full&{}", roots(&known));
    for (url, how) in [
        (&encrypted.url, "sslmode=disable"),
        (&encrypted.url, "sslmode=prefer"),
        (&encrypted.url, "sslmode=require"),
        (&plain.url, "sslmode=prefer"),
        (&by_name, &*verified),
    ] {
        let (page, errors, code) = asked(url, how);
        assert_eq!(code, Some(0), "{url} {how}: {page}{errors}");
    }
    let by_others = format!("sslmode=verify-full&{}", roots(&other));
    let nowhere = "sslmode=verify-full&sslrootcert=/nowhere.pem";
    for (url, how, expected) in [
        (&plain.url, "sslmode=require", "TLS"),
        // Another name than that of the certificate.
        (&encrypted.url, &*verified, "certificate"),
        // Somebody vouches for it whom nobody knows.
        (&by_name, "sslmode=verify-full", "certificate"),
        (&by_name, &*by_others, "certificate"),
        (&by_name, nowhere, "/nowhere.pem"),
        (&by_name, "sslmode=perhaps", "sslmode"),
    ] {
        let (page, errors, code) = asked(url, how);
        assert_eq!(code, Some(3), "{url} {how}: {page}{errors}");
        assert!(errors.contains(expected), "{how}: {errors}");
    }
}

/// The mock that does what one PostgreSQL does is told from a real one by nothing (its matrix is
/// that of `crates/audit/tests/real_databases.rs`).
#[test]
fn the_mock_like_postgresql_has_the_matrix_of_a_real_one() {
    let server = Server::start(&["--like", "postgres"]);
    let enough = ["--duration", "60s", "--transactions", "2500", "--sessions", "8"];
    let arguments = [&[&*server.url, "--format", "json"], &enough[..]].concat();
    let (lines, errors, code) = audit(&arguments);
    assert_eq!(code, Some(0), "{lines}{errors}");
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<Vec<String>> = lines.iter().map(violated_in).collect();
    assert!(rows[0].contains(&"si".to_owned()) && !rows[0].contains(&"rc".to_owned()), "{rows:?}");
    assert_eq!(rows[1..], [vec!["ser".to_owned()], vec![]]);
}

#[test]
fn a_broken_recording_is_told_with_its_line() {
    let path = std::env::temp_dir().join(format!("seriatim-again-{}.jsonl", std::process::id()));
    let lines = [
        r#"{"seriatim":1,"source":"audit"}"#,
        r#"{"session":"0.1","ops":[["w",1,1]]}"#,
        r#"{"session":"0.2","ops":[["w",1,2],["x"]]}"#,
        "",
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let file = path.to_str().unwrap();
    let (_, errors, code) = audit(&["--again", file]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("line 3 of the recording: "), "{errors}");
    assert_eq!(errors.matches(file).count(), 1, "{errors}");
    std::fs::write(&path, "{}\n").unwrap();
    let (_, errors, code) = audit(&["--again", file]);
    assert_eq!(code, Some(3), "{errors}");
    assert_eq!(errors.matches(file).count(), 1, "{errors}");
    std::fs::remove_file(&path).unwrap();
}

/// A name for a file of this test alone, which goes away with it.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("seriatim-audit-{}-{name}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }

    fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A recording of a run on a server that is serializable.
fn recorded(name: &str) -> Scratch {
    let (server, file) = (Server::at("ser"), Scratch::new(name));
    let few = ["--isolation", "ser", "--transactions", "300", "--sessions", "4"];
    let work = ["--workload", "general", "--keys", "4", "-o", file.name()];
    let (page, errors, code) = audit(&[&[&*server.url], &few[..], &work[..]].concat());
    assert_eq!(code, Some(0), "{page}{errors}");
    file
}

#[test]
fn a_recording_that_was_cut_shows_no_violation() {
    let file = recorded("cut.jsonl");
    let text = file.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.last().unwrap().contains("\"whole\":true"), "{}", lines.last().unwrap());
    // A reader is there and its writer is not: killed in between.
    let is_read = |line: &&str| {
        let written = line.split("[\"w\",").nth(1).and_then(|it| it.split(']').next());
        let read = written.map(|it| format!("[\"r\",{it}]"));
        let is_own = |other: &&str| other == line;
        let is_session = line.contains("\"session\":\"0.") && !line.contains("set-up");
        let is_elsewhere = |read: String| lines.iter().any(|it| !is_own(it) && it.contains(&read));
        is_session && line.contains("committed") && read.is_some_and(is_elsewhere)
    };
    let missing =
        *lines.iter().find(|line| is_read(line)).expect("somebody reads what another has written");
    let left = |has_mark: bool| {
        let is_kept = |line: &&str| {
            *line != missing
                && (has_mark || !line.contains("\"whole\":true"))
                && !line.contains("0.final")
        };
        let kept: Vec<&str> = lines.iter().copied().filter(is_kept).collect();
        std::fs::write(&file.0, kept.join("\n") + "\n{\"session\":\"0.1\",\"o").unwrap();
    };
    left(false);
    let (page, errors, code) = audit(&["--again", file.name()]);
    assert_eq!(code, Some(2), "{page}{errors}");
    assert!(!page.contains("thin-air"), "{page}");
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seriatim"));
        let output = command.args(["check", "--level", "rc", file.name()]).output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let (page, code) = check();
    assert_eq!(code, Some(2), "{page}");
    // The mark says that nothing is missing: then it comes out of thin air.
    left(true);
    let (page, errors, code) = audit(&["--again", file.name()]);
    assert_eq!(code, Some(1), "{page}{errors}");
    assert_eq!(check().1, Some(1));
}

#[test]
fn nothing_is_written_over_a_recording_that_is_read() {
    let file = recorded("kept.jsonl");
    let before = file.text();
    for flag in ["--html", "--markdown", "--svg", "-o"] {
        let (_, errors, code) = audit(&["--again", file.name(), flag, file.name()]);
        assert_eq!(code, Some(3), "{flag}: {errors}");
        assert!(errors.contains("is what is read"), "{errors}");
    }
    // Recordings of levels have names of their own.
    let page = file.name().replace(".jsonl", ".rc.jsonl");
    let url = "postgres://127.0.0.1:1/x";
    let (_, errors, code) = audit(&[url, "-o", file.name(), "--html", &page]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("is named twice"), "{errors}");
    assert_eq!(file.text(), before);
}

#[test]
fn a_file_that_was_not_there_is_gone_afterwards() {
    let file = Scratch::new("new.db");
    for (asked, expected) in [
        (&["--hermitage", "--transactions", "60", "--sessions", "3"][..], 0),
        (&["--isolation", "rc"], 3),
    ] {
        let url = format!("sqlite:{}?journal=wal", file.name());
        let (page, errors, code) = audit(&[&[&*url], asked].concat());
        assert_eq!(code, Some(expected), "{asked:?}: {page}{errors}");
        for ending in ["", "-wal", "-shm", "-journal"] {
            let name = format!("{}{ending}", file.name());
            assert!(!std::path::Path::new(&name).exists(), "{asked:?}: {name}");
        }
    }
}

/// As if the disk were full: files of this process may not be longer.
#[test]
fn a_full_disk_ends_the_recording_at_a_whole_line() {
    let (server, file) = (Server::at("ser"), Scratch::new("full.jsonl"));
    let script = "trap '' XFSZ; ulimit -f 400; exec \"$0\" audit \"$@\"";
    let few = ["--isolation", "ser", "--transactions", "2000", "--sessions", "4"];
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_seriatim"), &server.url])
        .args(few)
        .args(["-o", file.name()])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("not all of the recording is on disk"), "{errors}");
    let text = file.text();
    // What fits is there, not only what was written at a time.
    assert!(text.ends_with('\n') && text.len() > 190_000, "{}", text.len());
    let (page, errors, code) = audit(&["--again", file.name()]);
    assert!(matches!(code, Some(0 | 2)), "{code:?}: {page}{errors}");
}

fn interrupt(child: &Child) {
    let number = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(number, nix::sys::signal::Signal::SIGINT).unwrap();
}

/// Waits until something is the case.
fn wait_until(is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn an_interrupted_audit_tells_what_it_found_and_tidies_up() {
    let (database, file) = (Scratch::new("interrupted.db"), Scratch::new("interrupted.jsonl"));
    let child = Command::new(env!("CARGO_BIN_EXE_seriatim"))
        .args(["audit", &format!("sqlite:{}", database.name()), "--duration", "1h"])
        // A pause that nobody wants to wait for.
        .args(["--pause", "1h", "--sessions", "3", "-o", file.name()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| std::fs::read_to_string(&file.0).is_ok_and(|text| text.lines().count() > 1));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{page}{errors}");
    assert!(page.contains("SERIALIZABLE: "), "{page}{errors}");
    assert!(!database.0.exists());
    assert!(file.text().lines().last().unwrap().contains("\"whole\":true"));
}

#[test]
fn who_insists_ends_the_server_too() {
    // It accepts connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://{}/x", silent.local_addr().unwrap());
    let file = Scratch::new("insisted");
    let server = format!("echo $$ > {}; exec sleep 1000", file.name());
    let child = Command::new(env!("CARGO_BIN_EXE_seriatim"))
        .args(["audit", "--server", &server, &url])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let number = || std::fs::read_to_string(&file.0).ok()?.trim().parse::<i32>().ok();
    wait_until(|| number().is_some());
    let server = nix::unistd::Pid::from_raw(number().unwrap());
    interrupt(&child);
    // What comes at once is the same signal.
    std::thread::sleep(std::time::Duration::from_millis(300));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    wait_until(|| {
        let about = std::fs::read_to_string(format!("/proc/{server}/stat"));
        about.map_or(true, |about| about.contains(") Z"))
    });
}

#[test]
fn a_server_that_never_answers_is_told_so() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let told = ["postgres", "redis"].map(|scheme| {
        let url = format!("{scheme}://{address}");
        std::thread::spawn(move || audit(&[&url]))
    });
    for told in told {
        let (page, errors, code) = told.join().unwrap();
        assert_eq!(code, Some(3), "{page}{errors}");
        assert!(errors.contains("no answer within 10 s"), "{errors}");
    }
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let url = "postgres://127.0.0.1:1/x";
    let (_, errors, code) = audit(&["--server", "echo no such folder >&2; exit 1", url]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("no such folder"), "{errors}");
}
