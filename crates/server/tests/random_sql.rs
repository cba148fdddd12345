//! Random statements, asked of the mock and of a real PostgreSQL: every result and every SQLSTATE
//! must be the same. Needs a real server, whose URL is in `SERIATIM_TEST_PG`.
//!
//! `SERIATIM_SEED` is the first seed and `SERIATIM_MINUTES` the time to go on for; without it a few
//! seeds are tried. What is found is kept in `sqllogic/found.slt`.

#[path = "common/frames.rs"]
mod frames;
mod random;
#[path = "common/target.rs"]
mod target;

use random::dice::Dice;
use random::expressions::Maker;
use random::schema::{self, Table};
use std::time::{Duration, Instant};
use target::{Answer, Client, Refusal, Target};

/// Statements for each schema.
const STATEMENTS: usize = 60;
/// Seeds that are tried if no time is given.
const SEEDS: u64 = 20;
/// So many differences are enough.
const DIFFERENCES_MAX: usize = 40;
/// Types that are made here have other numbers in each server.
const FIRST_OWN_TYPE: u32 = 16384;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The two that are compared.
struct Pair {
    mock: Client,
    real: Client,
}

impl Pair {
    /// Asks both; what they do not agree on.
    fn ask(&mut self, sql: &str, is_ordered: bool) -> Option<String> {
        let expected = comparable(self.real.run(sql), is_ordered);
        let found = comparable(self.mock.run(sql), is_ordered);
        if expected == found {
            return None;
        }
        let plan = self.plan(sql);
        Some(format!("{sql};\n  expected {expected:?}\n  got      {found:?}\n{plan}"))
    }

    /// How the real server does it: that often says why it did not meet an error.
    fn plan(&mut self, sql: &str) -> String {
        let Ok(plan) = self.real.run(&format!("EXPLAIN {sql}")) else { return String::new() };
        let lines = plan.rows.into_iter().flatten().flatten().map(|line| format!("    {line}\n"));
        lines.collect()
    }

    /// Puts the rows of the real table into the order that they have in the mock, where a row keeps
    /// its place when it is updated. The order is nobody's promise, but it decides which of several
    /// rows is the first to fail, and so which error is told.
    fn align(&mut self, table: &Table) {
        let name = &table.name;
        let order = |client: &mut Client| {
            let rows = client.run(&format!("SELECT id FROM {name}")).unwrap().rows;
            rows.into_iter().map(|row| row[0].clone().unwrap()).collect::<Vec<String>>().join(",")
        };
        let (wanted, present) = (order(&mut self.mock), order(&mut self.real));
        if wanted == present {
            return;
        }
        for sql in [
            format!(
                "CREATE TEMP TABLE ordered AS SELECT {name}.* FROM {name} JOIN \
                 unnest('{{{wanted}}}'::int[]) WITH ORDINALITY AS o(id, place) USING (id) \
                 ORDER BY place"
            ),
            format!("TRUNCATE {name}"),
            format!("INSERT INTO {name} SELECT * FROM ordered"),
            "DROP TABLE ordered".to_owned(),
        ] {
            self.real.run(&sql).unwrap();
        }
    }
}

/// What of an answer must agree.
fn comparable(answer: Result<Answer, Refusal>, is_ordered: bool) -> Result<Answer, String> {
    let mut answer = answer.map_err(|refusal| match refusal.code.as_str() {
        // The message says what is missing.
        "0A000" | "XX000" => refusal.to_string(),
        _ => refusal.code,
    })?;
    if !is_ordered {
        answer.rows.sort();
    }
    for column in answer.columns.iter_mut().flatten() {
        column.1 = column.1.min(FIRST_OWN_TYPE);
    }
    Ok(answer)
}

/// Runs the statements of a seed; what differs.
fn run(pair: &mut Pair, seed: u64) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let (tables, statements) = schema::make(&mut dice);
    let mut differences: Vec<String> =
        statements.iter().filter_map(|sql| pair.ask(sql, false)).collect();
    for _ in 0..STATEMENTS {
        let mut maker = Maker { dice: &mut dice, tables: &tables, aliases: 0 };
        if maker.dice.percent(75) {
            let query = maker.query();
            differences.extend(pair.ask(&query.text, query.is_ordered));
        } else {
            let (change, table) = maker.change();
            differences.extend(pair.ask(&change, false));
            differences.extend(compare_table(pair, &table));
            pair.align(&table);
        }
    }
    let told = |text: &String| format!("seed {seed}: {text}");
    differences.iter().map(told).collect()
}

fn compare_table(pair: &mut Pair, table: &Table) -> Option<String> {
    pair.ask(&format!("SELECT * FROM {} ORDER BY id", table.name), true)
}

#[test]
fn random_statements_get_the_answers_of_postgresql() {
    let Some(real) = Target::real() else {
        return;
    };
    let mock = Target::mock();
    let database = format!("random_sql_{}", std::process::id());
    let connect = |target: &Target| {
        target.create_database(&database);
        let mut client = target.connect(&database);
        client.run("SET statement_timeout = '20s'").unwrap();
        client
    };
    let mut pair = Pair { mock: connect(&mock), real: connect(&real) };
    let minutes = number("SERIATIM_MINUTES");
    let until = Instant::now() + Duration::from_secs(60 * minutes.unwrap_or(600));
    let first = number("SERIATIM_SEED").unwrap_or(1);
    let last = if minutes.is_some() { u64::MAX } else { first + SEEDS };
    let (mut differences, mut seeds) = (Vec::new(), 0);
    for seed in first..last {
        let found = run(&mut pair, seed);
        // An hour is long: with `--no-capture` what differs is told at once.
        found.iter().for_each(|difference| println!("{difference}"));
        differences.extend(found);
        seeds += 1;
        if Instant::now() > until || differences.len() >= DIFFERENCES_MAX {
            break;
        }
    }
    drop(pair);
    real.drop_database(&database);
    println!("{seeds} seeds from {first} with {STATEMENTS} statements each");
    assert!(
        differences.is_empty(),
        "{}\n{} differences",
        differences.join("\n"),
        differences.len()
    );
}
