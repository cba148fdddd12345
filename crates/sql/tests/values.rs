//! Values are read and written, and functions of numbers, dates, times, json, addresses and bits
//! return, as a real PostgreSQL did (`data/values.tsv` and `data/value_functions.tsv`, written by
//! `data/values.py`).

mod support;

use seriatim_sql::functions::{self, Call, DateOrder, DateStyle, IntervalStyle, Style};
use seriatim_sql::types::{self, Modifier, RecordValue, Zone, compare, io};
use seriatim_sql::{Datum, Oid, Result, SqlError};
use std::collections::BTreeMap;
use support::{Builtin, Procs, style, unescape};

/// Differences by what they are about, with how many of them are printed.
#[derive(Default)]
struct Differences {
    compared: usize,
    by_name: BTreeMap<String, Vec<String>>,
}

impl Differences {
    fn check(&mut self, name: &str, about: String, found: &str, expected: &str) {
        self.compared += 1;
        if found != expected {
            let line = format!("{about}: {found} instead of {expected}");
            self.by_name.entry(name.to_owned()).or_default().push(line);
        }
    }

    fn finish(self) {
        let total: usize = self.by_name.values().map(Vec::len).sum();
        for (name, lines) in &self.by_name {
            println!("{name}: {} differ", lines.len());
            for line in lines.iter().take(support::shown()) {
                println!("    {line}");
            }
        }
        println!("{} compared, {total} differ", self.compared);
        assert_eq!(total, 0, "of {} results differ", self.compared);
    }
}

fn failure(error: &SqlError) -> String {
    format!("!{} {}", error.code(), support::escape(error.message()))
}

fn written(result: Result<Option<String>>) -> String {
    match result {
        Ok(None) => "\\N".to_owned(),
        Ok(Some(text)) => format!("={}", support::escape(&text)),
        Err(error) => failure(&error),
    }
}

/// The settings of a session with changes such as `datestyle=SQL, DMY;timezone=UTC`.
fn style_of(settings: &str) -> Style {
    let mut style = style();
    for setting in settings.split(';').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').expect("a setting");
        match name {
            "timezone" => style.zone = Zone::parse(value).expect("a zone"),
            "datestyle" => set_date_style(&mut style, value),
            "intervalstyle" => {
                style.interval_style = match value {
                    "postgres_verbose" => IntervalStyle::PostgresVerbose,
                    "sql_standard" => IntervalStyle::SqlStandard,
                    "iso_8601" => IntervalStyle::Iso8601,
                    _ => IntervalStyle::Postgres,
                }
            }
            "extra_float_digits" => style.extra_float_digits = value.parse().expect("a number"),
            "bytea_output" => style.bytea_escape = value == "escape",
            _ => panic!("{name} is not known"),
        }
    }
    style
}

fn set_date_style(style: &mut Style, value: &str) {
    for word in value.split(", ") {
        match word {
            "ISO" => style.date_style = DateStyle::Iso,
            "SQL" => style.date_style = DateStyle::Sql,
            "Postgres" => style.date_style = DateStyle::Postgres,
            "German" => (style.date_style, style.date_order) = (DateStyle::German, DateOrder::Dmy),
            "DMY" => style.date_order = DateOrder::Dmy,
            "YMD" => style.date_order = DateOrder::Ymd,
            _ => style.date_order = DateOrder::Mdy,
        }
    }
}

/// A type as SQL writes it: its identifier and modifier.
fn type_of(name: &str, types: &Builtin) -> (Oid, i32) {
    let element = name.strip_suffix("[]").unwrap_or(name);
    let (base, rest) = match element.find(['(', ' ']) {
        Some(at) => element.split_at(at),
        None => (element, ""),
    };
    let oid = match base {
        "\"char\"" => Oid::CHAR,
        "char" => Oid::BPCHAR,
        _ => types.named(base),
    };
    let oid = if name.ends_with("[]") { types.array(oid) } else { oid };
    let mut modifiers: Vec<Modifier> = Vec::new();
    let words = rest.split('(').next().unwrap_or("").trim();
    if !words.is_empty() {
        modifiers.push(Modifier::Fields(words.to_owned()));
    }
    if let Some((_, numbers)) = rest.split_once('(') {
        let numbers = numbers.trim_end_matches(')').split(',');
        modifiers.extend(numbers.map(|n| Modifier::Number(n.parse().expect("a number"))));
    }
    if modifiers.is_empty() && matches!(element, "char" | "bit") {
        modifiers.push(Modifier::Number(1));
    }
    (oid, seriatim_sql::types::typmod_in(oid, &modifiers).expect("modifiers"))
}

fn read_and_write(text: &str, ty: Oid, typmod: i32, call: &Call<'_>) -> Result<Option<String>> {
    // A literal is read without its modifier and cast explicitly; only intervals need the fields.
    let first = if ty == Oid::INTERVAL { typmod } else { -1 };
    let value = types::input(text, ty, first, call)?;
    let value = types::apply_typmod(value, ty, typmod, true, call)?;
    let written = types::output(&value, ty, call);
    check_round_trips(&value, &written, ty, call);
    Ok(Some(written))
}

/// What is written reads back the same, as text and as bytes.
fn check_round_trips(value: &Datum, written: &str, ty: Oid, call: &Call<'_>) {
    let bytes = types::send(value, ty, call);
    let received = match types::recv(&bytes, ty, -1, call) {
        Ok(received) => received,
        // Rounding may lead out of the range of timestamps.
        Err(error) => return assert_eq!(error.message(), "timestamp out of range"),
    };
    assert!(types::not_distinct(ty, value, &received), "{value:?} is {received:?} from bytes");
    assert_eq!(types::output(&received, ty, call), written, "from bytes");
    let lossy =
        call.style.extra_float_digits <= 0 && matches!(value, Datum::Float4(_) | Datum::Float8(_));
    // An abbreviation of a zone or an order of day and month may not be read as it was written.
    let plain = call.style.date_style == DateStyle::Iso
        && call.style.interval_style != IntervalStyle::SqlStandard;
    if !lossy && plain {
        let read = types::input(written, ty, -1, call).expect("text of a value");
        assert!(types::not_distinct(ty, value, &read), "{value:?} is {read:?} from text");
    }
}

#[test]
fn values_are_read_and_written_as_by_postgresql() {
    let types = Builtin::default();
    let mut differences = Differences::default();
    for line in include_str!("data/values.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [settings, ty, text, expected] = fields[..] else { panic!("{line}") };
        let style = style_of(settings);
        let (oid, typmod) = type_of(ty, &types);
        let call = Call { args: &[], result: oid, style: &style, types: &types };
        let text = unescape(text).expect("a text");
        let found = written(read_and_write(&text, oid, typmod, &call));
        differences.check(&format!("{settings} {ty}"), format!("{text:?}"), &found, expected);
    }
    differences.finish();
}

/// One line of the table of functions.
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

    fn datums(&self, call: &Call<'_>) -> Result<Vec<Datum>> {
        let read = |(text, ty): (&Option<String>, &Oid)| match text {
            Some(text) => io::input(text, *ty, -1, call),
            None => Ok(Datum::Null),
        };
        self.args.iter().zip(&self.types).map(read).collect()
    }

    fn run(&self, procs: &Procs, call: &Call<'_>) -> Option<String> {
        let proc = procs.get(self.proc_oid);
        let args = match self.datums(call) {
            Ok(args) => args,
            Err(error) => return Some(failure(&error)),
        };
        if proc.strict && args.iter().any(Datum::is_null) {
            return Some("\\N".to_owned());
        }
        if let Some(function) = functions::function(self.proc_oid, &proc.source) {
            let text =
                |value: Datum| (!value.is_null()).then(|| io::output(&value, self.result, call));
            return Some(written(function(call, &args).map(text)));
        }
        let function = functions::set_function(self.proc_oid, &proc.source)?;
        Some(written(self.rows(function, call, &args).map(Some)))
    }

    fn rows(
        &self,
        function: functions::SetFunction,
        call: &Call<'_>,
        args: &[Datum],
    ) -> Result<String> {
        let mut rows = Vec::new();
        for row in function(call, args)?.take(20) {
            rows.push(self.row_text(row?, call));
        }
        Ok(format!("[{}", rows.join("|")))
    }

    fn row_text(&self, row: Vec<Datum>, call: &Call<'_>) -> String {
        if row.len() == 1 {
            let null = row[0].is_null();
            return if null { String::new() } else { io::output(&row[0], self.result, call) };
        }
        let types = vec![Oid::TEXT; row.len()];
        io::write_record(&RecordValue { types, names: Vec::new(), fields: row }, call)
    }
}

#[test]
fn functions_of_values_return_what_postgresql_returns() {
    let (types, procs) = (Builtin::default(), Procs::default());
    let style = style_of("timezone=Europe/Berlin");
    let mut differences = Differences::default();
    let mut missing = std::collections::BTreeSet::new();
    for case in include_str!("data/value_functions.tsv").lines().map(Case::parse) {
        let call = Call { args: &case.types, result: case.result, style: &style, types: &types };
        match case.run(&procs, &call) {
            Some(found) => {
                let about = format!("{}{:?}", case.name, case.args);
                let name = format!("{} {}", case.proc_oid, case.name);
                differences.check(&name, about, &found, case.expected);
            }
            None => {
                missing.insert(format!("{} {}", case.proc_oid, case.name));
            }
        }
    }
    println!("without implementation: {missing:?}");
    differences.finish();
    assert!(missing.is_empty());
}

#[test]
fn equal_values_have_equal_hashes() {
    use std::hash::{BuildHasher, RandomState};
    let types = Builtin::default();
    let style = style();
    let call = Call { args: &[], result: Oid::TEXT, style: &style, types: &types };
    let hasher = RandomState::new();
    for (ty, a, b) in [
        (Oid::NUMERIC, "1.50", "1.5"),
        (Oid::NUMERIC, "0.00", "0"),
        (Oid::FLOAT8, "-0", "0"),
        (Oid::FLOAT8, "NaN", "nan"),
        (Oid::INTERVAL, "1 month", "30 days"),
        (Oid::INTERVAL, "24:00", "1 day"),
        (Oid::BPCHAR, "a  ", "a"),
        (Oid::JSONB, "{\"a\":1.0}", "{\"a\":1}"),
        (Oid::NUMERIC_ARRAY, "{1.0,2}", "{1,2.00}"),
        (Oid::BPCHAR_ARRAY, "{\"a \",b}", "{a,b}"),
    ] {
        let read = |text| types::input(text, ty, -1, &call).expect("a value");
        let key = |text| types::HashKey { ty, value: read(text) };
        assert!(compare::not_distinct(ty, &read(a), &read(b)), "{a} and {b}");
        assert_eq!(key(a), key(b));
        assert_eq!(hasher.hash_one(key(a)), hasher.hash_one(key(b)), "{a} and {b}");
    }
}
