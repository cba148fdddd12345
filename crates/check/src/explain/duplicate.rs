//! Which writes make a verdict undecided because several have the value that was read.

use crate::outcome::{OpRef, Refs, Report, Undecided, ValueRef};
use seriatim_history::{History, KeyId, Op, OpId, OpKind, Status, Value, ValueKind};

/// How many writes of one value are named.
const WRITES_NAMED_MAX: usize = 6;

/// A value that several transactions wrote and that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The writes, in the order of the history; the first few.
    pub writes: Vec<OpRef>,
    /// How many further writes there are.
    pub more: u64,
    /// Whether the value is the initial value of the key as well.
    pub is_initial: bool,
}

impl Duplicate {
    /// The first value that makes a verdict of `report` undecided. Looks at every operation.
    pub fn of(history: &History, report: &Report) -> Option<Self> {
        let reasons = report.verdicts.iter().filter_map(|verdict| verdict.undecided());
        let (key, value) = reasons.filter_map(duplicate_value).next()?;
        let read = find_read(history, key, value)?;
        let candidates = match read.value.kind() {
            ValueKind::List(number) => history.list(number).to_vec(),
            _ => vec![read.value],
        };
        candidates.into_iter().find_map(|value| Duplicate::of_value(history, read.key, value))
    }

    /// `None` if the value can come from one write only.
    fn of_value(history: &History, key: KeyId, value: Value) -> Option<Self> {
        let is_source =
            |op: &OpId| history.op(*op).value == value && may_be_read(history, *op, key);
        let writes: Vec<OpId> = all_ops(history).filter(is_source).collect();
        let initial = history.initial();
        let is_initial = initial.value_of(key) == Some(value) && !initial.yields(key);
        (writes.len() + usize::from(is_initial) > 1).then(|| Duplicate {
            writes: writes
                .iter()
                .take(WRITES_NAMED_MAX)
                .map(|&op| reference(history, op))
                .collect(),
            more: writes.len().saturating_sub(WRITES_NAMED_MAX) as u64,
            is_initial,
        })
    }
}

fn find_read(history: &History, key: &str, value: &ValueRef) -> Option<Op> {
    let named: Vec<bool> = (0..history.key_count())
        .map(|id| history.key_name(KeyId::from(id)).to_string() == key)
        .collect();
    let reads = all_ops(history).map(|op| history.op(op)).filter(|op| op.kind == OpKind::Read);
    reads.filter(|op| named[op.key.index()]).find(|op| Refs(history).value(op.value) == *value)
}

/// Whether others may read what `op` wrote to `key`: no transaction reads from an aborted one, or
/// what was overwritten in its own.
fn may_be_read(history: &History, op: OpId, key: KeyId) -> bool {
    let content = history.op(op);
    if content.kind == OpKind::Read || content.key != key {
        return false;
    }
    let txn = history.txn_of(op);
    let overwrites = |later: OpId| {
        let later = history.op(later);
        later.kind == OpKind::Write && later.key == key
    };
    let mut after = (op.0 + 1..history.ops_of(txn).end).map(OpId);
    history.status(txn) != Status::Aborted && !after.any(overwrites)
}

fn duplicate_value(reason: &Undecided) -> Option<(&str, &ValueRef)> {
    match reason {
        Undecided::DuplicateValue { key, value, .. } => Some((key, value)),
        _ => None,
    }
}

fn all_ops(history: &History) -> impl Iterator<Item = OpId> + use<> {
    (0..history.op_count() as u32).map(OpId)
}

/// As [`Refs`] names it, but with the transaction's name as it stands in the input.
fn reference(history: &History, op: OpId) -> OpRef {
    let mut named = Refs(history).op(op);
    named.txn.name = history.txn_name(history.txn_of(op)).to_string();
    named
}
