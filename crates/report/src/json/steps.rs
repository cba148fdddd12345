//! Operations, and the steps of a contradiction with their derivations.

use crate::prose;
use serde::Serialize;
use seriatim_check::{Edge, Excluded, OpRef, Origin, Reason, TxnRef, Why};
use seriatim_history::{PlaceUnit, Returned, StatementContent};

#[derive(Serialize)]
pub(super) struct Operation<'a> {
    transaction: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    action: &'a str,
    key: &'a str,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statement: Option<Asked<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<&'a str>,
}

/// What a client asked.
#[derive(Serialize)]
struct Asked<'a> {
    sql: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    params: &'a [Option<Box<str>>],
    #[serde(skip_serializing_if = "Option::is_none")]
    returned: Option<String>,
}

impl<'a> Asked<'a> {
    fn new(statement: &'a StatementContent) -> Self {
        let returned = statement.returned.as_ref().map(Returned::to_string);
        Asked { sql: &statement.text, params: &statement.params, returned }
    }
}

#[derive(Serialize)]
pub(super) struct Step<'a> {
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

impl<'a> Operation<'a> {
    pub fn new(op: &'a OpRef) -> Self {
        let number =
            |unit| op.place.as_ref().filter(|place| place.unit == unit).map(|place| place.number);
        Operation {
            transaction: &op.txn.name,
            session: session(&op.txn),
            action: op.action(),
            key: &op.key,
            value: op.value.to_string(),
            file: op.place.as_ref().map(|place| &*place.file),
            line: number(PlaceUnit::Line),
            byte: number(PlaceUnit::Byte),
            statement: op.statement.as_deref().map(Asked::new),
            scan: op.scan.as_deref(),
        }
    }
}

fn session(txn: &TxnRef) -> Option<&str> {
    txn.id.map(|_| txn.session.as_str())
}

impl<'a> Step<'a> {
    pub fn new(edge: &'a Edge) -> Self {
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
    /// Nothing if no other transaction wrote the value.
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
