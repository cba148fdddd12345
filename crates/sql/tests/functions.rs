//! Functions return what a real PostgreSQL returned for the same arguments
//! (`data/functions.tsv`, written by `data/functions.py`).

mod support;

use seriatim_sql::functions::{self, Call};
use seriatim_sql::types::io;
use seriatim_sql::{Datum, Oid, Result};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Builtin, Procs, style, unescape};

/// Functions whose last digit depends on the C library of the server.
const INEXACT: [&str; 2] = ["cbrt", "dcbrt"];

/// One line of the table.
struct Case<'l> {
    proc_oid: u32,
    name: &'l str,
    types: Vec<Oid>,
    result: Oid,
    expected: &'l str,
    args: Vec<Option<String>>,
}

impl<'l> Case<'l> {
    fn parse(line: &'l str) -> Case<'l> {
        let fields: Vec<&str> = line.split('\t').collect();
        Case {
            proc_oid: fields[0].parse().expect("an identifier"),
            name: fields[1],
            types: support::oids(fields[2]),
            result: Oid(fields[3].parse().expect("a type")),
            expected: fields[4],
            args: fields[5..].iter().map(|text| unescape(text)).collect(),
        }
    }

    fn call<'c>(&'c self, types: &'c Builtin, style: &'c functions::Style) -> Call<'c> {
        Call { args: &self.types, result: self.result, style, types }
    }

    fn datums(&self, call: &Call<'_>) -> Result<Vec<Datum>> {
        let read = |(text, ty): (&Option<String>, &Oid)| match text {
            Some(text) => io::input(text, *ty, -1, call),
            None => Ok(Datum::Null),
        };
        self.args.iter().zip(&self.types).map(read).collect()
    }

    /// The result in the form of the table.
    fn run(&self, procs: &Procs, call: &Call<'_>) -> Option<String> {
        let source = &procs.get(self.proc_oid).source;
        let strict = procs.get(self.proc_oid).strict;
        let args = match self.datums(call) {
            Ok(args) => args,
            Err(error) => return Some(failure(&error)),
        };
        if strict && args.iter().any(Datum::is_null) {
            return Some("\\N".to_owned());
        }
        if let Some(function) = functions::function(self.proc_oid, source) {
            return Some(written(function(call, &args).and_then(|value| self.text(&value, call))));
        }
        let function = functions::set_function(self.proc_oid, source)?;
        Some(written(self.rows(function, call, &args).map(Some)))
    }

    /// Whether a function of the platform's C library, which is not exact, differs in the last bit.
    fn nearly(&self, found: &str) -> bool {
        let number = |text: &str| text.strip_prefix('=').and_then(|text| text.parse::<f64>().ok());
        match (number(found), number(self.expected)) {
            (Some(a), Some(b)) if INEXACT.contains(&self.name) => (a - b).abs() <= a.abs() * 4e-16,
            _ => false,
        }
    }

    fn text(&self, value: &Datum, call: &Call<'_>) -> Result<Option<String>> {
        if value.is_null() {
            return Ok(None);
        }
        Ok(Some(io::output(value, self.result, call)))
    }

    fn rows(
        &self,
        function: functions::SetFunction,
        call: &Call<'_>,
        args: &[Datum],
    ) -> Result<String> {
        let mut rows = Vec::new();
        for row in function(call, args)?.take(20) {
            rows.push(self.text(&row?[0], call)?.unwrap_or_default());
        }
        Ok(format!("[{}", rows.join("|")))
    }
}

fn failure(error: &seriatim_sql::SqlError) -> String {
    format!("!{} {}", error.code(), error.message().replace('\\', "\\\\").replace('\n', "\\n"))
}

fn written(result: Result<Option<String>>) -> String {
    match result {
        Ok(None) => "\\N".to_owned(),
        Ok(Some(text)) => format!("={}", support::escape(&text)),
        Err(error) => failure(&error),
    }
}

#[test]
fn functions_return_what_postgresql_returns() {
    // Another table can be tried without compiling it in.
    let other = std::env::var("FUNCTIONS_TSV").map(|path| std::fs::read_to_string(path).unwrap());
    let table = other.as_deref().unwrap_or(include_str!("data/functions.tsv"));
    let (types, style, procs) = (Builtin::default(), style(), Procs::default());
    let mut differences: HashMap<&str, Vec<String>> = HashMap::new();
    let (mut count, mut missing) = (0, Vec::new());
    for case in table.lines().map(Case::parse) {
        let call = case.call(&types, &style);
        // A panic is a difference like any other, and one that says more than where it was.
        let run = AssertUnwindSafe(|| case.run(&procs, &call));
        let found = catch_unwind(run).unwrap_or_else(|_| Some("a panic".to_owned()));
        let Some(found) = found else {
            missing.push(format!("{}{:?}", case.name, case.types));
            continue;
        };
        count += 1;
        if found != case.expected && !case.nearly(&found) {
            let line =
                format!("{}{:?}: {found} instead of {}", case.name, case.args, case.expected);
            differences.entry(case.name).or_default().push(line);
        }
    }
    missing.dedup();
    let total: usize = differences.values().map(Vec::len).sum();
    let mut names: Vec<_> = differences.into_iter().collect();
    names.sort();
    for (_, lines) in &names {
        for line in lines.iter().take(support::shown()) {
            println!("{line}");
        }
    }
    println!("{count} compared, {total} differ; without implementation: {missing:?}");
    assert!(count > 1_000, "the table is not there");
    assert_eq!(total, 0, "of {count} results differ");
    assert!(missing.is_empty(), "without implementation: {missing:?}");
}
