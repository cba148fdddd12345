//! What a renderer is given: an input with its verdicts, or an input that could not be read.

use seriatim_check::{OpRef, Report, TxnRef, Undecided};
use seriatim_history::{
    ColumnsError, History, KeyId, Op, OpId, OpKind, ReadError, Spot, Status, Value, ValueKind,
};
use seriatim_isolation::Level;
use std::time::Duration;

/// How many writes of one value are named.
const WRITES_NAMED_MAX: usize = 6;

/// How large a history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sessions.
    pub sessions: usize,
    /// Transactions, aborted and unknown ones included.
    pub transactions: usize,
    /// Operations.
    pub operations: usize,
    /// Keys.
    pub keys: usize,
    /// Lines or records that the reader passed over because they match nothing.
    pub skipped: u64,
    /// Whether it says when transactions began and ended.
    pub has_times: bool,
}

impl Counts {
    /// The size of `history`.
    pub fn of(history: &History) -> Self {
        Counts {
            sessions: history.session_count(),
            transactions: history.txn_count(),
            operations: history.op_count(),
            keys: history.keys_that_occur(),
            skipped: history.skipped(),
            has_times: history.has_times(),
        }
    }
}

/// How long an input took beside what [`seriatim_check::Timings`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Times {
    /// Reading and parsing.
    pub read: Duration,
    /// Everything, from opening the input to the last verdict.
    pub total: Duration,
}

/// An input that was read and checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The input as the user named it.
    pub input: String,
    /// The short name of its format.
    pub format: &'static str,
    /// How large it is.
    pub counts: Counts,
    /// The verdicts and the anomalies.
    pub report: Report,
    /// How long it took.
    pub times: Times,
    /// The value that was written twice, if verdicts are undecided for that reason.
    pub duplicate: Option<Duplicate>,
}

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

fn find_read(history: &History, key: &str, value: &str) -> Option<Op> {
    let named: Vec<bool> = (0..history.key_count())
        .map(|id| history.key_name(KeyId::from(id)).to_string() == key)
        .collect();
    let reads = all_ops(history).map(|op| history.op(op)).filter(|op| op.kind == OpKind::Read);
    reads.filter(|op| named[op.key.index()]).find(|op| history.value_text(op.value) == value)
}

/// Whether others may read what `op` wrote to `key`: nobody reads from aborted transactions, or
/// what was overwritten in its own.
fn may_be_read(history: &History, op: OpId, key: KeyId) -> bool {
    let content = history.op(op);
    if content.kind == OpKind::Read || content.key != key {
        return false;
    }
    let txn = history.txn_of(op);
    let overwrites = |later: u32| {
        let later = history.op(OpId(later));
        later.kind == OpKind::Write && later.key == key
    };
    history.status(txn) != Status::Aborted && !(op.0 + 1..history.ops_of(txn).end).any(overwrites)
}

fn duplicate_value(reason: &Undecided) -> Option<(&str, &str)> {
    match reason {
        Undecided::DuplicateValue { key, value, .. } => Some((key, value)),
        _ => None,
    }
}

fn all_ops(history: &History) -> impl Iterator<Item = OpId> + use<> {
    (0..history.op_count() as u32).map(OpId)
}

fn reference(history: &History, op: OpId) -> OpRef {
    let (content, txn) = (history.op(op), history.txn_of(op));
    let session = history.session_of(txn);
    OpRef {
        id: Some(op),
        txn: TxnRef {
            id: Some(txn),
            name: history.txn_name(txn).to_string(),
            session: history.session_name(session).to_string(),
            index: txn.0 - history.txns_of(session).start,
            is_unknown: history.status(txn) == Status::Unknown,
        },
        action: if content.kind == OpKind::Append { "append" } else { "write" },
        key: history.key_name(content.key).to_string(),
        value: history.value_text(content.value),
        place: history.place(op),
        element: None,
    }
}

/// An input that is too large to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The input as the user named it.
    pub input: String,
    /// The levels that were asked for, all undecided.
    pub levels: Vec<Level>,
    /// How many bytes it might have.
    pub bytes_max: u64,
    /// How large it is, if that is known without reading it.
    pub size: Option<Size>,
}

/// The size of an input that was not read; of a compressed one this is only the least that it can
/// be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many bytes it has at least.
    pub bytes: u64,
    /// The memory limit that would let so many in.
    pub memory: u64,
}

/// An input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The input as the user named it.
    pub input: String,
    /// What is wrong, without the place.
    pub message: String,
    /// Where.
    pub spot: Spot,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Unreadable {
    /// Takes `error` apart into place, cause and next step.
    pub fn new(input: &str, error: &ReadError) -> Self {
        let (message, spot, hint) = match error {
            ReadError::Syntax { spot, problem, hint } => {
                (problem.clone(), spot.clone(), hint.clone())
            }
            ReadError::Io { file, source } => (source.to_string(), in_file(file), None),
            ReadError::UnknownFormat { spot, detail } => {
                let hint = "name the format with --from".to_owned();
                (format!("not a history in any known format ({detail})"), spot.clone(), Some(hint))
            }
            ReadError::OverLimit { file, bytes_max } => {
                let hint = Some("raise --memory".to_owned());
                (format!("larger than the {bytes_max} bytes that may be read"), in_file(file), hint)
            }
            ReadError::TooLarge { file, source } => (too_large(source), in_file(file), None),
            other => (other.to_string(), in_file(input), None),
        };
        Unreadable { input: input.to_owned(), message, spot, hint }
    }
}

fn in_file(file: &str) -> Spot {
    Spot { file: Some(file.into()), ..Spot::default() }
}

fn too_large(error: &ColumnsError) -> String {
    error.to_string()
}
