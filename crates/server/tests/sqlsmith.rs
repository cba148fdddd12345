//! Queries of `sqlsmith`, a generator that knows the catalog: none may end a session, take for ever
//! or fail with an internal error. Ignored, because it takes its time and needs the program:
//! `SERIATIM_MINUTES=10 cargo nextest run -p seriatim-server --run-ignored only --test sqlsmith`
//! `SERIATIM_SHOW` is an SQLSTATE whose statements are shown.

#[path = "common/frames.rs"]
mod frames;
mod random;
#[path = "common/target.rs"]
mod target;

use random::dice::Dice;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use target::{Client, LOST, Target};

/// So long may a query take.
const QUERY_TIMEOUT: &str = "SET statement_timeout = '5s'";
/// So many findings are enough.
const FINDINGS_MAX: usize = 20;

fn connect(target: &Target) -> Client {
    let mut client = target.connect("postgres");
    client.run(QUERY_TIMEOUT).unwrap();
    client
}

/// The statements that sqlsmith writes: each ends with a semicolon at the end of a line.
fn statements(output: impl BufRead) -> impl Iterator<Item = String> {
    let mut statement = String::new();
    output.lines().map_while(Result::ok).filter_map(move |line| {
        statement.push_str(&line);
        statement.push('\n');
        line.trim_end().ends_with(';').then(|| std::mem::take(&mut statement))
    })
}

#[test]
#[ignore = "takes minutes and needs sqlsmith"]
fn queries_of_sqlsmith_break_nothing() {
    let target = Target::mock();
    let mut client = connect(&target);
    random::schema::make(&mut Dice::new(1)).1.iter().for_each(|sql| {
        client.run(sql).unwrap();
    });
    let address = target.address();
    let connection = format!(
        "--target=host={} port={} user=postgres dbname=postgres",
        address.ip(),
        address.port()
    );
    let seed = format!("--seed={}", std::env::var("SERIATIM_SEED").unwrap_or("1".to_owned()));
    let mut sqlsmith = Command::new("sqlsmith")
        .args(["--dry-run", &connection, &seed])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("sqlsmith is installed");
    let minutes: u64 =
        std::env::var("SERIATIM_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let until = Instant::now() + Duration::from_secs(60 * minutes);
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    let shown = std::env::var("SERIATIM_SHOW").ok();
    for sql in statements(BufReader::new(sqlsmith.stdout.take().unwrap())) {
        let code = match client.run(&sql) {
            Ok(_) => "ok".to_owned(),
            Err(refusal) => {
                if refusal.code == LOST {
                    client = connect(&target);
                }
                if matches!(refusal.code.as_str(), LOST | "XX000") {
                    findings.push(format!("{refusal}\n{sql}"));
                }
                if shown.as_ref() == Some(&refusal.code) {
                    println!("{refusal}\n{sql}");
                }
                refusal.code
            }
        };
        *answers.entry(code).or_default() += 1;
        if Instant::now() > until || findings.len() >= FINDINGS_MAX {
            break;
        }
    }
    let _ = sqlsmith.kill();
    let _ = sqlsmith.wait();
    println!("{answers:?}");
    assert!(answers.contains_key("ok"), "sqlsmith could not start");
    assert!(findings.is_empty(), "{}\n{} findings", findings.join("\n"), findings.len());
}
