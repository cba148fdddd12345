//! Aggregates return what a real PostgreSQL returned for the same rows (`data/aggregates.tsv`,
//! written by `data/aggregates.py`).

mod support;

use seriatim_sql::functions::{self, Accumulator, AggregateKind, Call};
use seriatim_sql::types::{compare_as, io};
use seriatim_sql::{Datum, Oid, Result, SqlError};
use support::{Builtin, style, unescape};

/// One line of the table.
struct Case<'l> {
    name: &'l str,
    direct_types: Vec<Oid>,
    types: Vec<Oid>,
    result: Oid,
    expected: &'l str,
    direct: &'l str,
    rows: Vec<&'l str>,
}

impl<'l> Case<'l> {
    fn parse(line: &'l str) -> Case<'l> {
        let fields: Vec<&str> = line.split('\t').collect();
        Case {
            name: fields[0],
            direct_types: support::oids(fields[1]),
            types: support::oids(fields[2]),
            result: Oid(fields[3].parse().expect("a type")),
            expected: fields[4],
            direct: fields[5],
            rows: fields[6..].to_vec(),
        }
    }

    fn ordered(&self) -> bool {
        self.name == "mode" || !self.direct_types.is_empty()
    }

    fn rows(&self, call: &Call<'_>) -> Result<Vec<Vec<Datum>>> {
        let mut rows = Vec::new();
        for row in &self.rows {
            rows.push(values(row, &self.types, call)?);
        }
        if self.ordered() {
            rows.sort_by(|a, b| compare_as(self.types[0], &a[0], &b[0]));
        }
        Ok(rows)
    }

    fn start(&self, kind: &AggregateKind, call: &Call<'_>) -> Result<Box<dyn Accumulator>> {
        match kind.direct {
            Some(direct) => direct(call, &values(self.direct, &self.direct_types, call)?),
            None => Ok((kind.start)(call)),
        }
    }

    fn run(&self, types: &Builtin) -> Result<Datum> {
        let missing = || SqlError::unsupported(self.name);
        let kind = functions::aggregate(self.name, &self.types).ok_or_else(missing)?;
        let (all, style) = ([&self.direct_types[..], &self.types[..]].concat(), style());
        let call = Call { args: &all, result: self.result, style: &style, types };
        let mut accumulator = self.start(&kind, &call)?;
        for row in self.rows(&call)? {
            if kind.skips_nulls && row.iter().any(Datum::is_null) {
                continue;
            }
            accumulator.add(&call, &row)?;
            // Windows ask for results in between.
            let _ = accumulator.finish(&call);
        }
        accumulator.finish(&call)
    }

    /// The result in the form of the table.
    fn found(&self, types: &Builtin) -> String {
        let style = style();
        let call = Call { args: &self.types, result: self.result, style: &style, types };
        match self.run(types) {
            Ok(Datum::Null) => "\\N".to_owned(),
            Ok(value) => format!("={}", support::escape(&io::output(&value, self.result, &call))),
            Err(error) => format!("!{} {}", error.code(), error.message()),
        }
    }
}

fn values(row: &str, types: &[Oid], call: &Call<'_>) -> Result<Vec<Datum>> {
    let fields = if types.is_empty() { Vec::new() } else { row.split('\x1f').collect() };
    let read = |(text, ty): (&str, &Oid)| match unescape(text) {
        Some(text) => io::input(&text, *ty, -1, call),
        None => Ok(Datum::Null),
    };
    fields.into_iter().zip(types).map(read).collect()
}

#[test]
fn aggregates_return_what_postgresql_returns() {
    let types = Builtin::default();
    let (mut count, mut differences) = (0, 0);
    for case in include_str!("data/aggregates.tsv").lines().map(Case::parse) {
        count += 1;
        let found = case.found(&types);
        if found != case.expected {
            differences += 1;
            println!(
                "{}{:?} {:?} {:?}: {found} instead of {}",
                case.name, case.types, case.direct, case.rows, case.expected
            );
        }
    }
    println!("{count} compared, {differences} differ");
    assert!(count > 1_000, "the table is not there");
    assert_eq!(differences, 0, "of {count} results differ");
}
