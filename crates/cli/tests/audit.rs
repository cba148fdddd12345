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
    let server = Server::at(level);
    let arguments = [&server.url, "--isolation", "rc", "--check", level, "--sessions", "6"];
    let enough = ["--duration", "60s", "--transactions", "4000", "--format", "json"];
    let (line, errors, code) = audit(&[&arguments[..], &enough[..]].concat());
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
    assert_eq!(violated("cc"), ["pc", "ser", "si"]);
    assert_eq!(violated("si"), ["ser"]);
    assert!(violated("ser").is_empty());
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
