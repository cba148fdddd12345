//! For machines: one object for each input, on one line. The shape is documented by
//! [`crate::schema::CHECK`].

mod open;
mod steps;

use crate::checked::{Checked, Unread, Unreadable};
use crate::notes::notes;
use crate::prose;
use open::{Done, Open, open};
use serde::{Serialize, Serializer};
use seriatim_check::{Age, Alternative, AnomalyGroup, Answer, Violation};
use seriatim_history::TimeUnit;
use std::time::Duration;
use steps::{Operation, Step};

/// The line about an input that was checked, without a line end.
pub fn render(checked: &Checked) -> String {
    line(&CheckedObject::new(checked))
}

/// What [`render`] writes, as part of another object.
pub(crate) fn object(checked: &Checked) -> serde_json::Value {
    // As above: no error can occur.
    serde_json::to_value(CheckedObject::new(checked)).unwrap_or_default()
}

/// The line about an input that could not be read, without a line end.
pub fn render_error(unreadable: &Unreadable) -> String {
    line(&ErrorObject::new(unreadable))
}

/// The line about an input that was too large to be read, without a line end.
pub fn render_unread(unread: &Unread) -> String {
    let undecided = Answer::Undecided;
    line(&UnreadObject {
        input: &unread.input,
        levels: unread.levels.iter().map(|level| (level.code(), undecided.word())).collect(),
        undecided: unread.levels.iter().map(|&level| Open::unread(level)).collect(),
    })
}

fn line(object: &impl Serialize) -> String {
    // Maps with string keys, strings and numbers always serialise; no error can occur.
    serde_json::to_string(object).unwrap_or_default()
}

#[derive(Serialize)]
struct CheckedObject<'a> {
    input: &'a str,
    format: &'a str,
    order: &'a str,
    #[serde(serialize_with = "as_map")]
    levels: Vec<(&'a str, &'a str)>,
    strongest: Option<&'a str>,
    weakest_violated: Option<&'a str>,
    anomalies: Vec<Anomaly<'a>>,
    search_ended_early: bool,
    stale_reads: Option<StaleReads>,
    time_cycles: u64,
    undecided: Vec<Open<'a>>,
    sessions: usize,
    transactions: usize,
    operations: usize,
    keys: usize,
    skipped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unknown_content: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    time_ms: TimeMs,
    efforts: Vec<Done<'a>>,
}

/// Whether a count says nothing. (The signature is what serde asks for.)
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Pairs as an object that keeps their order.
fn as_map<S: Serializer>(pairs: &[(&str, &str)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

#[derive(Serialize)]
struct Anomaly<'a> {
    kind: &'a str,
    name: &'a str,
    tap: Option<char>,
    adya: Option<&'a str>,
    count: u64,
    counted: &'a str,
    levels: Vec<&'a str>,
    exemplar: Instance<'a>,
    instances: Vec<Instance<'a>>,
}

#[derive(Serialize)]
struct Instance<'a> {
    summary: String,
    operations: Vec<Operation<'a>>,
    cycle: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    age: Option<AgeObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<AlternativeObject<'a>>,
}

#[derive(Serialize)]
struct AlternativeObject<'a> {
    appends: Vec<Operation<'a>>,
    kind: &'a str,
    summary: String,
    cycle: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct StaleReads {
    count: u64,
    age_max: AgeObject,
}

#[derive(Serialize)]
struct AgeObject {
    amount: u64,
    unit: Option<&'static str>,
}

impl AgeObject {
    fn new(age: Age) -> AgeObject {
        let unit = match age.unit {
            TimeUnit::Nanoseconds => Some("nanoseconds"),
            TimeUnit::Unknown => None,
        };
        AgeObject { amount: age.amount, unit }
    }
}

#[derive(Serialize)]
struct UnreadObject<'a> {
    input: &'a str,
    #[serde(serialize_with = "as_map")]
    levels: Vec<(&'a str, &'a str)>,
    undecided: Vec<Open<'a>>,
}

#[derive(Serialize)]
struct TimeMs {
    read: f64,
    index: f64,
    decide: f64,
    explain: f64,
    total: f64,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    input: &'a str,
    error: ErrorPlace<'a>,
}

#[derive(Serialize)]
struct ErrorPlace<'a> {
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u64>,
    column: Option<u64>,
    byte: Option<u64>,
    hint: Option<&'a str>,
}

impl<'a> CheckedObject<'a> {
    fn new(checked: &'a Checked) -> Self {
        let Checked { input, format, counts, report, .. } = checked;
        CheckedObject {
            input,
            format,
            order: report.order.code(),
            levels: report
                .verdicts
                .iter()
                .map(|verdict| (verdict.level.code(), verdict.answer().word()))
                .collect(),
            strongest: report.strongest().map(|level| level.code()),
            weakest_violated: report.weakest_violated().map(|level| level.code()),
            anomalies: report.anomalies.iter().map(Anomaly::new).collect(),
            search_ended_early: report.search_ended_early,
            stale_reads: report.stale.map(|stale| StaleReads {
                count: stale.reads,
                age_max: AgeObject::new(stale.age_max),
            }),
            time_cycles: report.time_cycles,
            undecided: open(checked),
            sessions: counts.sessions,
            transactions: counts.transactions,
            operations: counts.operations,
            keys: counts.keys,
            skipped: counts.skipped,
            unknown_content: counts.unknown_content,
            notes: notes(checked),
            time_ms: TimeMs::new(checked),
            efforts: report
                .timings
                .efforts
                .iter()
                .map(|(level, effort)| Done::new(*level, effort))
                .collect(),
        }
    }
}

impl<'a> Anomaly<'a> {
    fn new(group: &'a AnomalyGroup) -> Self {
        let info = group.kind.info();
        Anomaly {
            kind: info.code,
            name: info.name,
            tap: info.tap,
            adya: info.adya,
            count: group.count,
            counted: group.counted.word(),
            levels: group.exemplar.levels.iter().map(|level| level.code()).collect(),
            exemplar: Instance::new(&group.exemplar),
            instances: group.instances.iter().map(Instance::new).collect(),
        }
    }
}

impl<'a> Instance<'a> {
    fn new(violation: &'a Violation) -> Self {
        Instance {
            summary: prose::summary(violation),
            operations: violation.ops.iter().map(Operation::new).collect(),
            cycle: violation.cycle.iter().map(Step::new).collect(),
            age: violation.age.map(AgeObject::new),
            alternatives: violation.alternatives.iter().map(AlternativeObject::new).collect(),
        }
    }
}

impl<'a> AlternativeObject<'a> {
    fn new(alternative: &'a Alternative) -> Self {
        let Alternative { appends, violation } = alternative;
        AlternativeObject {
            appends: appends.iter().map(Operation::new).collect(),
            kind: violation.kind.info().code,
            summary: prose::summary(violation),
            cycle: violation.cycle.iter().map(Step::new).collect(),
        }
    }
}

impl TimeMs {
    fn new(checked: &Checked) -> Self {
        let timings = &checked.report.timings;
        TimeMs {
            read: milliseconds(checked.times.read),
            index: milliseconds(timings.index),
            decide: milliseconds(timings.decide),
            explain: milliseconds(timings.explain),
            total: milliseconds(checked.times.total),
        }
    }
}

/// Milliseconds with three digits after the point.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

impl<'a> ErrorObject<'a> {
    fn new(unreadable: &'a Unreadable) -> Self {
        let spot = &unreadable.spot;
        ErrorObject {
            input: &unreadable.input,
            error: ErrorPlace {
                message: &unreadable.message,
                file: spot.file.as_deref(),
                line: spot.line,
                column: spot.column,
                byte: spot.byte,
                hint: unreadable.hint.as_deref(),
            },
        }
    }
}
