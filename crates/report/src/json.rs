//! For machines: one object for each input, on one line. The shape is documented by
//! [`crate::schema::CHECK`].

use crate::checked::{Checked, Duplicate, Unread, Unreadable};
use crate::effort;
use crate::prose;
use serde::{Serialize, Serializer};
use seriatim_check::{
    AnomalyGroup, Answer, Edge, Effort, Excluded, OpRef, Origin, Reason, Report, TxnRef, Undecided,
    Verdict, Violation, Why,
};
use seriatim_history::PlaceUnit;
use seriatim_isolation::Level;
use std::time::Duration;

/// The line about an input that was checked, without a line end.
pub fn render(checked: &Checked) -> String {
    line(&CheckedObject::new(checked))
}

/// The line about an input that could not be read, without a line end.
pub fn render_error(unreadable: &Unreadable) -> String {
    line(&ErrorObject::new(unreadable))
}

/// The line about an input that was too large to be read, without a line end.
pub fn render_unread(unread: &Unread) -> String {
    let undecided = Answer::Undecided;
    let open = |&level: &Level| Open { reason: "memory", ..Open::empty(level) };
    line(&UnreadObject {
        input: &unread.input,
        levels: unread.levels.iter().map(|level| (level.code(), undecided.word())).collect(),
        undecided: unread.levels.iter().map(open).collect(),
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
    #[serde(serialize_with = "as_map")]
    levels: Vec<(&'a str, &'a str)>,
    strongest: Option<&'a str>,
    weakest_violated: Option<&'a str>,
    anomalies: Vec<Anomaly<'a>>,
    undecided: Vec<Open<'a>>,
    sessions: usize,
    transactions: usize,
    operations: usize,
    keys: usize,
    skipped: u64,
    time_ms: TimeMs,
    efforts: Vec<Done<'a>>,
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
    levels: Vec<&'a str>,
    exemplar: Instance<'a>,
    instances: Vec<Instance<'a>>,
}

#[derive(Serialize)]
struct Instance<'a> {
    summary: String,
    operations: Vec<Operation<'a>>,
    cycle: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Operation<'a> {
    transaction: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    action: &'a str,
    key: &'a str,
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
}

#[derive(Serialize)]
struct Step<'a> {
    from: &'a str,
    to: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    because: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<Operation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    visible: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    begin: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Derived<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Source<'a>>,
}

/// How one knows that one version precedes another.
#[derive(Serialize)]
struct Derived<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Operation<'a>>,
}

/// How one knows which write was read, where several wrote the value.
#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<Other<'a>>,
}

#[derive(Serialize)]
struct Other<'a> {
    write: Operation<'a>,
    cycle: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Open<'a> {
    level: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<Operation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proved: Option<Proved<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<Done<'a>>,
}

/// What is known of the levels, whichever were asked for.
#[derive(Serialize)]
struct Proved<'a> {
    holds: Option<&'a str>,
    violated: Option<&'a str>,
}

/// What was done at a strong level.
#[derive(Serialize)]
struct Done<'a> {
    level: &'a str,
    orders: u64,
    forced: u64,
    broken_first: u64,
    broken_last: u64,
    choices: u64,
    models: u64,
    decisions: u64,
    conflicts: u64,
    time_ms: StepMs,
}

#[derive(Serialize)]
struct StepMs {
    build: f64,
    prune: f64,
    solve: f64,
    explain: f64,
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
            levels: report
                .verdicts
                .iter()
                .map(|verdict| (verdict.level.code(), verdict.answer().word()))
                .collect(),
            strongest: report.strongest().map(|level| level.code()),
            weakest_violated: report.weakest_violated().map(|level| level.code()),
            anomalies: report.anomalies.iter().map(Anomaly::new).collect(),
            undecided: open(checked),
            sessions: counts.sessions,
            transactions: counts.transactions,
            operations: counts.operations,
            keys: counts.keys,
            skipped: counts.skipped,
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
        }
    }
}

impl<'a> Operation<'a> {
    fn new(op: &'a OpRef) -> Self {
        let number =
            |unit| op.place.as_ref().filter(|place| place.unit == unit).map(|place| place.number);
        Operation {
            transaction: &op.txn.name,
            session: session(&op.txn),
            action: op.action,
            key: &op.key,
            value: &op.value,
            file: op.place.as_ref().map(|place| &*place.file),
            line: number(PlaceUnit::Line),
            byte: number(PlaceUnit::Byte),
        }
    }
}

fn session(txn: &TxnRef) -> Option<&str> {
    txn.id.map(|_| txn.session.as_str())
}

impl<'a> Step<'a> {
    fn new(edge: &'a Edge) -> Self {
        let plain = Step {
            from: &edge.from.name,
            to: &edge.to.name,
            kind: kind_of(&edge.reason),
            because: prose::because(edge),
            operations: operations_of(&edge.reason).into_iter().map(Operation::new).collect(),
            visible: Vec::new(),
            end: None,
            begin: None,
            why: None,
            origin: None,
        };
        match &edge.reason {
            // Edges of a visible path are session order and write-read, so this does not nest
            // further.
            Reason::Overwritten { visible, .. } => {
                Step { visible: visible.iter().map(Step::new).collect(), ..plain }
            }
            Reason::RealTime { end, begin } => {
                Step { end: Some(*end), begin: Some(*begin), ..plain }
            }
            Reason::WriteRead { origin, .. } => Step { origin: Source::new(origin), ..plain },
            Reason::WriteWrite { why, .. } => Step { why: Some(Derived::new(why)), ..plain },
            Reason::ReadWrite { origin, why, .. } => {
                Step { origin: Source::new(origin), why: Some(Derived::new(why)), ..plain }
            }
            _ => plain,
        }
    }
}

fn kind_of(reason: &Reason) -> &'static str {
    match reason {
        Reason::SessionOrder => "session-order",
        Reason::Initial => "initial",
        Reason::WriteRead { .. } => "write-read",
        Reason::Overwritten { .. } => "commit-order",
        Reason::VersionOrder { .. } => "version-order",
        Reason::RealTime { .. } => "real-time",
        Reason::WriteWrite { .. } => "write-write",
        Reason::ReadWrite { .. } => "read-write",
    }
}

fn operations_of(reason: &Reason) -> Vec<&OpRef> {
    match reason {
        Reason::SessionOrder | Reason::Initial | Reason::RealTime { .. } => vec![],
        Reason::WriteRead { write, read, .. } => vec![write, read],
        Reason::Overwritten { read, source, other, .. } => vec![other, source, read],
        Reason::VersionOrder { earlier, later, read } => vec![earlier, later, read],
        Reason::WriteWrite { earlier, later, .. } => vec![earlier, later],
        Reason::ReadWrite { read, source, overwrite, .. } => vec![source, read, overwrite],
    }
}

impl<'a> Derived<'a> {
    fn new(why: &'a Why) -> Self {
        let (kind, steps, read) = match why {
            Why::Initial => ("initial", [].as_slice(), None),
            Why::Known(path) => ("known", path.as_slice(), None),
            Why::Listed(read) => ("listed", [].as_slice(), Some(Operation::new(read))),
            Why::Supposed => ("supposed", [].as_slice(), None),
            Why::Otherwise(cycle) => ("otherwise", cycle.as_slice(), None),
            Why::Repeated => ("repeated", [].as_slice(), None),
            Why::TooDeep => ("too-deep", [].as_slice(), None),
        };
        // How deeply this nests is bounded where violations are made.
        Derived { kind, steps: steps.iter().map(Step::new).collect(), read }
    }
}

impl<'a> Source<'a> {
    /// Nothing if nobody else wrote the value.
    fn new(origin: &'a Origin) -> Option<Self> {
        let (kind, others) = match origin {
            Origin::Only => return None,
            Origin::Others(others) => ("others-excluded", others.as_slice()),
            Origin::Supposed => ("supposed", [].as_slice()),
            Origin::Repeated => ("repeated", [].as_slice()),
            Origin::TooDeep => ("too-deep", [].as_slice()),
        };
        let other = |other: &'a Excluded| Other {
            write: Operation::new(&other.write),
            cycle: other.cycle.iter().map(Step::new).collect(),
        };
        Some(Source { kind, others: others.iter().map(other).collect() })
    }
}

fn open(checked: &Checked) -> Vec<Open<'_>> {
    let undecided =
        checked.report.verdicts.iter().filter(|verdict| verdict.answer() == Answer::Undecided);
    undecided.map(|verdict| Open::new(verdict, checked)).collect()
}

impl<'a> Open<'a> {
    fn new(verdict: &'a Verdict, checked: &'a Checked) -> Self {
        let empty = Open::empty(verdict.level);
        match verdict.undecided() {
            Some(Undecided::DuplicateValue { key, value, reads }) => Open {
                reason: "duplicate-value",
                key: Some(key),
                value: Some(value),
                reads: Some(*reads),
                writes: writes(checked.duplicate.as_ref()),
                ..empty
            },
            Some(Undecided::Budget) => Open::given_up(verdict.level, "budget", &checked.report),
            Some(Undecided::Memory) => Open::given_up(verdict.level, "memory", &checked.report),
            Some(Undecided::NoTimes) => Open { reason: "no-times", ..empty },
            _ => empty,
        }
    }

    fn empty(level: Level) -> Self {
        Open {
            level: level.code(),
            reason: "other",
            key: None,
            value: None,
            reads: None,
            writes: Vec::new(),
            proved: None,
            effort: None,
        }
    }

    /// A search that came to no end: what is known all the same, and how far it came.
    fn given_up(level: Level, reason: &'a str, report: &'a Report) -> Self {
        let effort = effort::of_level(report, level).map(|effort| Done::new(level, effort));
        let code = |level: Level| level.code();
        let proved = Proved {
            holds: report.proved.holds.map(code),
            violated: report.proved.violated.map(code),
        };
        Open { reason, proved: Some(proved), effort, ..Open::empty(level) }
    }
}

fn writes(duplicate: Option<&Duplicate>) -> Vec<Operation<'_>> {
    duplicate.map_or(&[][..], |duplicate| &duplicate.writes).iter().map(Operation::new).collect()
}

impl Done<'_> {
    fn new(level: Level, effort: &Effort) -> Self {
        Done {
            level: level.code(),
            orders: effort.rounds,
            forced: effort.forced,
            broken_first: effort.broken_first,
            broken_last: effort.broken_last,
            choices: effort.choices,
            models: effort.models,
            decisions: effort.decisions,
            conflicts: effort.conflicts,
            time_ms: StepMs {
                build: milliseconds(effort.build),
                prune: milliseconds(effort.prune),
                solve: milliseconds(effort.solve),
                explain: milliseconds(effort.explain),
            },
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
