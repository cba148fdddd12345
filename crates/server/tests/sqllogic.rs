//! Statements with what a real PostgreSQL answered to them: `sqllogic/*.slt`, in the format of
//! sqllogictest. The mock must give the same answers; so must a real server, if one is named.
//!
//! `sqllogic/fill.py` writes the answers. A value is NULL, `(empty)` or its text; values of a row
//! are separated by tabs. A record that the mock cannot answer has `skipif seriatim` and a reason.

#[path = "common/frames.rs"]
mod frames;
#[path = "common/target.rs"]
mod target;

use sqllogictest::{
    ColumnType, Condition, DB, DBOutput, Normalizer, Record, Runner, TestErrorKind,
};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use target::{Answer, Client, LOST, Refusal, Target};

/// Files that are run at the same time.
const WORKERS: usize = 4;

/// The types of a result, as letters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Letter(char);

impl ColumnType for Letter {
    fn from_char(value: char) -> Option<Letter> {
        Some(Letter(value))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

impl Letter {
    fn of(ty: u32) -> Letter {
        Letter(match ty {
            16 => 'B',
            21 => 'S',
            23 => 'I',
            20 => 'L',
            1700 => 'N',
            700 | 701 => 'F',
            25 | 1043 | 1042 | 19 | 18 | 705 => 'T',
            1082 | 1083 | 1266 | 1114 | 1184 | 1186 => 'D',
            114 | 3802 => 'J',
            _ => '?',
        })
    }
}

/// A session of a file.
struct Session<'a> {
    client: Client,
    target: &'a Target,
    database: &'a str,
}

impl DB for Session<'_> {
    type Error = Refusal;
    type ColumnType = Letter;

    fn run(&mut self, sql: &str) -> Result<DBOutput<Letter>, Refusal> {
        let answer = self.client.run(sql);
        if answer.as_ref().is_err_and(|refusal| refusal.code == LOST) {
            self.client = self.target.connect(self.database);
        }
        Ok(output(answer?))
    }

    fn error_sql_state(refusal: &Refusal) -> Option<String> {
        Some(refusal.code.clone())
    }

    fn engine_name(&self) -> &str {
        self.target.engine
    }
}

fn output(answer: Answer) -> DBOutput<Letter> {
    match answer.columns {
        Some(columns) if !columns.is_empty() => {
            let mut types: Vec<Letter> =
                columns.iter().map(|column| Letter::of(column.1)).collect();
            types.truncate(columns.len());
            let rows = answer.rows.into_iter();
            let rows = rows.map(|row| row.into_iter().map(shown).collect()).collect();
            DBOutput::Rows { types, rows }
        }
        _ => {
            let count = answer.tag.rsplit(' ').next().and_then(|word| word.parse().ok());
            DBOutput::StatementComplete(count.unwrap_or(0))
        }
    }
}

/// A value on one line, so that every other value is shown differently; `fill.py` does the same.
fn shown(value: Option<String>) -> String {
    let Some(mut text) = value else {
        return "NULL".to_owned();
    };
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    if text.contains(['\n', '\t', '\r']) {
        text = text.replace('\\', "\\\\");
        text = text.replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r");
    }
    if text.ends_with(' ') {
        text.replace_range(text.len() - 1.., "\\s");
    }
    text
}

fn are_equal(_: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.iter().map(|row| row.join("\t")).eq(expected.iter().cloned())
}

/// What a file has: how many statements, and what is answered otherwise.
#[derive(Default)]
struct Outcome {
    statements: usize,
    skipped: usize,
    differences: Vec<String>,
}

/// Runs a file in a database of its own.
fn run(target: &Target, path: &Path) -> Outcome {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let database = format!("slt_{stem}");
    target.create_database(&database);
    let mut runner = Runner::new(|| async {
        Ok(Session { client: target.connect(&database), target, database: &database })
    });
    runner.with_validator(are_equal);
    runner.with_column_validator(|actual, expected| actual == expected);
    let mut outcome = Outcome::default();
    let records = sqllogictest::parse_file::<Letter>(path).unwrap();
    for record in records {
        outcome.skipped += usize::from(is_skipped(&record, target.engine));
        outcome.statements += usize::from(is_statement(&record));
        if let Err(error) = runner.run(record) {
            let place = format!("{stem}.slt:{}", error.location().line());
            outcome.differences.push(format!("{place}\n{}", told(&error.kind())));
        }
    }
    drop(runner);
    target.drop_database(&database);
    outcome
}

fn is_statement(record: &Record<Letter>) -> bool {
    matches!(record, Record::Statement { .. } | Record::Query { .. })
}

fn is_skipped(record: &Record<Letter>, engine: &str) -> bool {
    match record {
        Record::Statement { conditions, .. } | Record::Query { conditions, .. } => {
            let is_named = |condition: &Condition| match condition {
                Condition::SkipIf { label } => label == engine,
                Condition::OnlyIf { label } => label != engine,
            };
            conditions.iter().any(is_named)
        }
        _ => false,
    }
}

fn told(error: &TestErrorKind) -> String {
    match error {
        TestErrorKind::QueryResultMismatch { sql, expected, actual } => {
            format!("{sql}\n  expected\n{expected}\n  got\n{actual}\n")
        }
        other => format!("{other}\n"),
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sqllogic");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "slt")).collect();
    if let Ok(only) = std::env::var("SERIATIM_SLT") {
        found
            .retain(|path| path.file_stem().is_some_and(|stem| only.split(',').any(|s| stem == s)));
    }
    found.sort();
    found
}

/// Runs all files, each on a server that `target` gives, and tells of every difference.
fn run_all(target: &(impl Fn() -> Target + Sync)) -> Outcome {
    let (files, next, total) = (files(), AtomicUsize::new(0), Mutex::new(Outcome::default()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run(&target(), path);
                    let mut total = total.lock().unwrap();
                    total.statements += found.statements;
                    total.skipped += found.skipped;
                    total.differences.extend(found.differences);
                }
            });
        }
    });
    total.into_inner().unwrap()
}

fn agree(target: impl Fn() -> Target + Sync) {
    let found = run_all(&target);
    println!("{} statements, of which {} are skipped", found.statements, found.skipped);
    let differences = &found.differences;
    assert!(
        differences.is_empty(),
        "{}\n{} differences in {} statements",
        differences.join("\n"),
        differences.len(),
        found.statements
    );
}

#[test]
fn the_mock_answers_as_postgresql_did() {
    agree(Target::mock);
}

#[test]
fn a_real_postgresql_answers_as_it_did() {
    if Target::real().is_some() {
        agree(|| Target::real().expect("it was there before"));
    }
}
