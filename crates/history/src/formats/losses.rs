//! What a format does not carry although the history can be written in it: no verdict depends on
//! it, but a user who converts a history should know.

use super::renumbered::renumbered;
use super::{Format, cobra, isopredict};
use crate::atom::{Atom, Value, ValueKind};
use crate::ids::{OpId, TxnId};
use crate::model::{History, OpKind, Status};
use std::fmt;

/// Something of a history that a format does not carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// How many are concerned; never 0.
    pub count: u64,
    /// What they are, one and several.
    what: [&'static str; 2],
    /// What becomes of them.
    fate: &'static str,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what[usize::from(self.count != 1)];
        write!(f, "{} {what} {}", self.count, self.fate)
    }
}

/// What of `history` is lost in `format`. Looks at every operation.
pub fn losses(history: &History, format: Format) -> Vec<Loss> {
    let carried = Carried::by(format);
    let loss = |count: usize, what, fate| Loss { count: count as u64, what, fate };
    let all = [
        loss(
            initial_values(history, carried.initial),
            ["initial value", "initial values"],
            carried.initial.fate(),
        ),
        loss(
            if carried.values { 0 } else { values(history, format) },
            VALUES,
            "replaced by what tells the writes apart",
        ),
        loss(
            if carried.aborted { 0 } else { merged(history) },
            ABORTED,
            "merged with the one before",
        ),
        loss(
            if carried.aborted { 0 } else { aborted_reads(history) },
            ABORTED_READS,
            "without effect",
        ),
        loss(if carried.empty { 0 } else { empty(history) }, EMPTY, "left out"),
        loss(if carried.times { 0 } else { timed(history, format) }, TIMED, "without them"),
        loss(if carried.names { 0 } else { named(history, format) }, NAMED, "numbered instead"),
        loss(renumbered(history, format), NUMBERED, "numbered anew"),
        loss(
            if carried.names { 0 } else { named_sessions(history) },
            NAMED_SESSIONS,
            "numbered instead",
        ),
        loss(
            if carried.extras { 0 } else { extras(history) },
            ["unknown field", "unknown fields"],
            "left out",
        ),
        loss(if carried.extras { 0 } else { history.scans().len() }, SCANS, "written out as reads"),
        loss(if carried.extras { 0 } else { history.statements().len() }, STATEMENTS, "left out"),
    ];
    all.into_iter().filter(|loss| loss.count > 0).collect()
}

const VALUES: [&str; 2] = ["written value", "written values"];
const ABORTED: [&str; 2] = ["aborted transaction", "aborted transactions"];
const ABORTED_READS: [&str; 2] =
    ["read of an aborted transaction", "reads of aborted transactions"];
const EMPTY: [&str; 2] = ["transaction without operations", "transactions without operations"];
const TIMED: [&str; 2] =
    ["transaction with begin and end time", "transactions with begin and end times"];
const NAMED: [&str; 2] = ["named transaction", "named transactions"];
const NUMBERED: [&str; 2] = ["numbered transaction", "numbered transactions"];
const SCANS: [&str; 2] = ["scan", "scans"];
const STATEMENTS: [&str; 2] = ["statement", "statements"];
const NAMED_SESSIONS: [&str; 2] = ["named session", "named sessions"];

/// What a format says about initial values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InitialValues {
    /// What they are.
    Any,
    /// That they are 0.
    Zero,
    /// That they are none of the values that transactions write.
    Nil,
}

impl InitialValues {
    fn fate(self) -> &'static str {
        match self {
            InitialValues::Zero => "written as 0",
            _ => "written as no value",
        }
    }
}

/// What a format carries.
struct Carried {
    initial: InitialValues,
    /// Written values, whatever they are.
    values: bool,
    /// Aborted transactions, each by itself, with its reads.
    aborted: bool,
    /// Transactions without operations.
    empty: bool,
    /// Begin and end.
    times: bool,
    /// Names of transactions and sessions that are not numbers.
    names: bool,
    /// Fields that mean nothing to us, scans and statements.
    extras: bool,
}

const ALL: Carried = Carried {
    initial: InitialValues::Any,
    values: true,
    aborted: true,
    empty: true,
    times: true,
    names: true,
    extras: true,
};

/// Most formats. Where transactions that did not commit are refused, none are lost.
const USUAL: Carried =
    Carried { initial: InitialValues::Nil, times: false, names: false, extras: false, ..ALL };

impl Carried {
    fn by(format: Format) -> Carried {
        match format {
            Format::Plume => {
                Carried { initial: InitialValues::Zero, aborted: false, empty: false, ..USUAL }
            }
            Format::Cobra => Carried { values: false, ..USUAL },
            Format::DbcopBincode => Carried { initial: InitialValues::Zero, ..USUAL },
            Format::DbcopHist | Format::DbcopJson => USUAL,
            Format::Awdit => Carried { empty: false, ..USUAL },
            Format::ElleEdn | Format::ElleJson => Carried { times: true, ..USUAL },
            Format::IsoPredict => Carried { values: false, empty: false, ..USUAL },
            Format::Viper => Carried { initial: InitialValues::Any, ..USUAL },
            Format::Jsonl => ALL,
        }
    }
}

/// Initial values that the input gave. Those that a format gives to every key are not the user's.
fn initial_values(history: &History, carried: InitialValues) -> usize {
    let given = history.initial().values.values();
    given
        .filter(|&&value| match carried {
            InitialValues::Any => false,
            InitialValues::Zero => value != Value::NULL && value.raw() != 0,
            InitialValues::Nil => value != Value::NULL,
        })
        .count()
}

/// Written values that are lost where the format has no room for them.
fn values(history: &History, format: Format) -> usize {
    let writes = history.kinds().iter().zip(history.values()).filter(|(kind, _)| kind.is_write());
    let is_kept =
        |value: &Value| format == Format::Cobra && matches!(value.kind(), ValueKind::Int(_));
    writes.filter(|(_, value)| !is_kept(value)).count()
}

fn is_aborted(history: &History, txn: TxnId) -> bool {
    history.status(txn) == Status::Aborted
}

/// Aborted transactions that directly follow another one of their session.
fn merged(history: &History) -> usize {
    let mut order = history.txns_in_file_order();
    order.retain(|&txn| !history.ops_of(txn).is_empty());
    let aborted = |txn: TxnId| is_aborted(history, txn).then(|| history.session_of(txn));
    order
        .windows(2)
        .filter(|pair| aborted(pair[1]).is_some() && aborted(pair[0]) == aborted(pair[1]))
        .count()
}

fn aborted_reads(history: &History) -> usize {
    let aborted = history.txns().filter(|&txn| is_aborted(history, txn));
    aborted
        .flat_map(|txn| history.ops_of(txn))
        .filter(|&op| history.op(OpId(op)).kind == OpKind::Read)
        .count()
}

fn empty(history: &History) -> usize {
    history.txns().filter(|&txn| history.ops_of(txn).is_empty()).count()
}

fn timed(history: &History, format: Format) -> usize {
    let kept = format == Format::Cobra && cobra::carries_times(history);
    if history.has_times() && !kept { history.txn_count() } else { 0 }
}

fn named(history: &History, format: Format) -> usize {
    if format == Format::IsoPredict && isopredict::carries_names(history) {
        return 0;
    }
    history.txns().filter(|&txn| !matches!(history.txn_name(txn), Atom::Int(_))).count()
}

fn named_sessions(history: &History) -> usize {
    history
        .sessions()
        .filter(|&session| !matches!(history.session_name(session), Atom::Int(_)))
        .count()
}

fn extras(history: &History) -> usize {
    history.txn_extras.len() + usize::from(history.extra.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ReadOptions, read_bytes};

    const TEXT: &str = r#"{"seriatim":1,"initial":{"1":7,"2":0}}
{"session":1,"txn":"a","begin":1,"end":2,"ops":[["w",1,1]]}
{"session":1,"txn":"b","status":"aborted","ops":[["w",1,2],["r",1,1]]}
{"session":1,"txn":"c","status":"aborted","ops":[["w",1,3]],"note":"why"}
{"session":"bob","txn":"d","status":"aborted","ops":[["w",1,4]]}
{"session":1,"txn":"e","status":"aborted","ops":[["w",1,5]]}
{"session":"bob","txn":"f","ops":[]}
"#;

    fn lost(format: Format) -> Vec<String> {
        let (history, _) = read_bytes(TEXT.as_bytes(), "h", &ReadOptions::default()).unwrap();
        losses(&history, format).iter().map(Loss::to_string).collect()
    }

    #[test]
    fn our_own_format_loses_nothing() {
        assert_eq!(lost(Format::Jsonl), Vec::<String>::new());
    }

    #[test]
    fn every_loss_is_counted() {
        let expected = [
            "1 initial value written as 0",
            "1 aborted transaction merged with the one before",
            "1 read of an aborted transaction without effect",
            "1 transaction without operations left out",
            "6 transactions with begin and end times without them",
            "6 named transactions numbered instead",
            "1 named session numbered instead",
            "1 unknown field left out",
        ];
        assert_eq!(lost(Format::Plume), expected);
        let expected = [
            "2 initial values written as no value",
            "6 named transactions numbered instead",
            "1 named session numbered instead",
            "1 unknown field left out",
        ];
        assert_eq!(lost(Format::ElleEdn), expected);
    }

    #[test]
    fn what_is_merged_is_what_is_missing_when_it_is_read_back() {
        let (history, _) = read_bytes(TEXT.as_bytes(), "h", &ReadOptions::default()).unwrap();
        let mut bytes = Vec::new();
        crate::formats::write(&history, Format::Plume, &mut bytes).unwrap();
        let (back, _) = read_bytes(&bytes, "h", &ReadOptions::default()).unwrap();
        assert_eq!(history.txn_count() - back.txn_count(), merged(&history) + empty(&history));
    }

    #[test]
    fn traces_keep_their_own_names_and_lose_values() {
        let text = b"WRITE KEY[x] Txn(7, 3)\nREAD KEY[x] Txn(9, 12) From(7, 3)\n";
        let (trace, _) = read_bytes(text, "h", &ReadOptions::default()).unwrap();
        let lost: Vec<String> =
            losses(&trace, Format::IsoPredict).iter().map(Loss::to_string).collect();
        assert_eq!(lost, ["1 written value replaced by what tells the writes apart"]);
    }
}
