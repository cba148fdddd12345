//! Anomalies planted on purpose: a few transactions in sessions of their own, on keys of their own,
//! so that the rest of the history neither excuses nor changes them.

use seriatim_history::{Columns, KeyId, KeyNames, OpKind, Status, Value};
use seriatim_isolation::Anomaly;

/// The smallest history of each kind: sessions by line, transactions separated by `|`, operations
/// `w`/`r`, key, value; a trailing `!` marks an aborted transaction. The transactions commit in the
/// order in which the text is read.
fn recipe(kind: Anomaly) -> &'static [&'static str] {
    match kind {
        Anomaly::ThinAirRead => &["rx9"],
        Anomaly::AbortedRead => &["wx1!", "rx1"],
        Anomaly::FutureRead => &["rx1 wx1"],
        Anomaly::NotMyOwnWrite => &["wx1", "wx2 rx1"],
        Anomaly::NotMyLastWrite => &["wx1 wx2 rx1"],
        Anomaly::IntermediateRead => &["wx1 wx2", "rx1"],
        Anomaly::CyclicCausality => &["rx1 wy1", "ry1 wx1"],
        Anomaly::NonMonotonicReadCausal => &["wx1 | wx2 wy2", "ry2 rx1"],
        Anomaly::NonMonotonicReadCommit => &["wx1 wz1", "wx2 wy2", "ry2 rx1", "rz1 rx2"],
        Anomaly::NonRepeatableRead => &["wx1", "wx2", "rx1 rx2"],
        Anomaly::FracturedReadCausal => &["wx1 | wx2 wy2", "rx1 ry2"],
        Anomaly::FracturedReadCommit => &["wx1 wz1", "wx2 wy2", "rx1 ry2", "rx2 rz1"],
        Anomaly::CausalityViolation => &["wx1 | wx2 | wy1", "ry1 rx1"],
        Anomaly::ConflictingCommitOrder => &["wx1 | wz1", "wx2 | wy1", "ry1 rx1", "rz1 rx2"],
        Anomaly::DirtyWrite => {
            &["wx1 wy1", "wx2 wy2", "rx1 rz0", "wz1", "rz1 rx2", "ry2 ra0", "wa1", "ra1 ry1"]
        }
        Anomaly::ReadSkew => &["wx1 wy1", "rx0 wy2", "ry1 | ry2"],
        Anomaly::LongFork => &["wx1", "wy1", "rx1 ry0", "ry1 rx0"],
        Anomaly::NonAdjacent => &["wx1 wz1", "ry0 wz2", "wy1", "ry1 rx0", "rz1 | rz2"],
        Anomaly::LostUpdate => &["wx1", "rx1 wx2", "rx1 wx3"],
        Anomaly::WriteSkew => &["rx0 wy1", "ry0 wx1"],
        Anomaly::AntiDependencyCycle => &["rx0 wy1", "ry0 wz1", "rz0 wx1"],
        _ => &[],
    }
}

/// The keys of recipes.
const KEYS: &str = "xyza";

/// Whether an anomaly of this kind can be planted: those of lists cannot, nor those of real time.
pub fn can_be_planted(kind: Anomaly) -> bool {
    !recipe(kind).is_empty()
}

/// Adds one instance of each of `kinds` at the end of the columns.
pub(crate) fn plant(kinds: &[Anomaly], columns: &mut Columns) {
    for &kind in kinds {
        let first_key = columns.key_names.len() as u32;
        for line in recipe(kind) {
            let session = columns.session_count;
            for txn in line.split('|') {
                plant_txn(txn.trim(), session, first_key, columns);
            }
        }
        columns.key_names = KeyNames::Numbers { count: first_key + KEYS.len() as u32 };
    }
}

fn plant_txn(text: &str, session: u32, first_key: u32, columns: &mut Columns) {
    let (text, status) = match text.strip_suffix('!') {
        Some(text) => (text, Status::Aborted),
        None => (text, Status::Committed),
    };
    let txn = columns.push_txn(session, status);
    for op in text.split_whitespace() {
        let [kind, key, value] = *op.as_bytes() else { continue };
        let kind = if kind == b'w' { OpKind::Write } else { OpKind::Read };
        let value = Value::small(u64::from(value - b'0')).unwrap_or(Value::NULL);
        columns.push_op(
            txn,
            kind,
            KeyId(first_key + KEYS.find(char::from(key)).unwrap_or(0) as u32),
            value,
        );
    }
}
