//! Statements with what a real MariaDB answered to them: `mysql/*.slt`, in the format of
//! sqllogictest. The mock must give the same answers; so must a real server, if one is named.
//!
//! `mysql/fill.py` writes the answers from `mysql/*.sql`. A value is NULL, `(empty)` or its text;
//! values of a row are separated by tabs. A record that the mock cannot answer has `skipif
//! seriatim` and a reason.

#[path = "common/mysql_target.rs"]
mod mysql_target;

use mysql_target::{Answer, Client, Refusal, Target};
use seriatim_server::mysql::MysqlConfig;
use seriatim_sql::memory::Memory;
use sqllogictest::{ColumnType, DB, DBOutput, Normalizer, Record, Runner, TestErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    fn of(ty: u8) -> Letter {
        Letter(match ty {
            1 | 2 | 3 | 8 | 9 | 13 => 'I',
            0 | 246 => 'N',
            4 | 5 => 'F',
            7 | 10 | 11 | 12 => 'D',
            15 | 250..=254 => 'T',
            _ => '?',
        })
    }
}

struct Session<'a> {
    client: Client,
    target: &'a Target,
}

impl DB for Session<'_> {
    type Error = Refusal;
    type ColumnType = Letter;

    fn run(&mut self, sql: &str) -> Result<DBOutput<Letter>, Refusal> {
        self.client.run(sql).map(output)
    }

    fn engine_name(&self) -> &str {
        self.target.engine
    }
}

fn output(answer: Answer) -> DBOutput<Letter> {
    let texts = answer.texts();
    match answer.columns {
        Some(columns) => {
            let types = columns.iter().map(|column| Letter::of(column.1)).collect();
            let rows = texts.into_iter().map(|row| row.into_iter().map(shown).collect()).collect();
            DBOutput::Rows { types, rows }
        }
        None => DBOutput::StatementComplete(answer.affected),
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

/// Runs a file in a database of its own: how many statements, and what is answered otherwise.
fn run(target: &Target, path: &Path) -> (usize, Vec<String>) {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let database = format!("slt_{stem}");
    let mut admin = target.connect(None);
    admin.run(&format!("DROP DATABASE IF EXISTS {database}")).unwrap();
    admin.run(&format!("CREATE DATABASE {database}")).unwrap();
    let mut runner =
        Runner::new(|| async { Ok(Session { client: target.connect(Some(&database)), target }) });
    runner.with_validator(are_equal);
    runner.with_column_validator(|actual, expected| actual == expected);
    let (mut statements, mut differences) = (0, Vec::new());
    for record in sqllogictest::parse_file::<Letter>(path).unwrap() {
        let is_statement = matches!(record, Record::Statement { .. } | Record::Query { .. });
        statements += usize::from(is_statement);
        if let Err(error) = runner.run(record) {
            let place = format!("{stem}.slt:{}", error.location().line());
            differences.push(format!("{place}\n{}", told(&error.kind())));
        }
    }
    drop(runner);
    admin.run(&format!("DROP DATABASE {database}")).unwrap();
    (statements, differences)
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mysql");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "slt")).collect();
    found.sort();
    found
}

fn agree(target: &Target) {
    let (mut statements, mut differences) = (0, Vec::new());
    for path in files() {
        let (count, found) = run(target, &path);
        statements += count;
        differences.extend(found);
    }
    println!("{statements} statements");
    let count = differences.len();
    let told = differences.join("\n");
    assert!(count == 0, "{told}\n{count} differences in {statements} statements");
}

#[test]
fn the_mock_answers_as_mariadb_did() {
    agree(&Target::mock(Arc::new(Memory::default()), MysqlConfig::default()).0);
}

#[test]
fn a_real_mariadb_answers_as_it_did() {
    if let Some(real) = Target::real() {
        agree(&real);
    }
}
