//! A history as a program: each transaction does what it did, but its reads may return something
//! else. An append reads its list and writes it with one element more, as databases do that have no
//! lists of their own.

use super::kind::Observed;
use seriatim_explore::play::Named;
use seriatim_explore::{Program, Tx};
use seriatim_history::{History, KeyId, Op, OpKind, Status, TxnId, Value, ValueKind};
use seriatim_report::clean;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// More than the explorer keeps track of, or than there is room for on a page.
const TXNS_MAX: usize = 100;
const SESSIONS_MAX: usize = 24;
const OPS_MAX: usize = 1_000;

/// A value, as the history tells it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell(Arc<str>);

impl Default for Cell {
    fn default() -> Cell {
        Cell("nil".into())
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A history as a program.
pub(super) struct Recorded {
    pub program: Program<Cell, ()>,
    pub observed: Observed,
    /// All that the program is made of, as text.
    pub content: String,
}

/// What a transaction does again.
#[derive(Clone, Debug)]
enum Does {
    Read(String),
    Write(String, Cell),
    /// An element at the end of a list.
    Append(String, String),
    Abort,
}

impl Cell {
    /// A list with one element more.
    fn with(&self, element: &str) -> Cell {
        Cell(match self.0.strip_suffix(']') {
            None | Some("[") => format!("[{element}]").into(),
            Some(elements) => format!("{elements} {element}]").into(),
        })
    }
}

impl Recorded {
    pub fn of(history: &History) -> Result<Recorded, String> {
        refuse(history)?;
        let (mut program, mut content) = (Program::new(), String::new());
        let (writers, mut observed) = (writers(history), HashMap::new());
        for (key, value) in initial(history, &writers) {
            content += &format!("{} = {}\n", name(history, key), history.value_text(value));
            program.initial(&name(history, key), cell(history, value));
        }
        for (session, id) in history.sessions().enumerate() {
            let described = program.named_session(&clean(&history.session_name(id).to_string()));
            for (txn, number) in history.txns_of(id).enumerate() {
                let named = Named { session: session as u32, txn: txn as u32 };
                note_observed(history, TxnId(number), named, &writers, &mut observed);
                let does = does(history, TxnId(number));
                content += &format!("{session} {does:?}\n");
                described.transaction(move |tx, ()| again(tx, &does));
            }
        }
        Ok(Recorded { program, observed, content })
    }
}

fn refuse(history: &History) -> Result<(), String> {
    let (sessions, txns, ops) = (history.session_count(), history.txn_count(), history.op_count());
    if sessions > SESSIONS_MAX || txns > TXNS_MAX || ops > OPS_MAX {
        return Err(format!(
            "the history has {sessions} sessions, {txns} transactions and {ops} operations, which \
             is too large to be played: at most {SESSIONS_MAX}, {TXNS_MAX} and {OPS_MAX}; \
             `seriatim minimize` writes the part that violates a level"
        ));
    }
    Ok(())
}

fn name(history: &History, key: KeyId) -> String {
    history.key_name(key).to_string()
}

/// What registers hold at first: what the history says of one by name, or what was read of it and
/// nobody wrote. The others hold nil, beside which a format may allow one other value for all.
fn initial(history: &History, writers: &Writers) -> BTreeMap<KeyId, Value> {
    let mut values: BTreeMap<KeyId, Value> =
        history.initial().values.iter().map(|(&key, &value)| (key, value)).collect();
    let txns = (0..history.txn_count() as u32).map(TxnId);
    for op in txns.flat_map(|txn| ops(history, txn)).filter(|op| !op.kind.is_write()) {
        let is_initial = history.initial().value_of(op.key) == Some(op.value);
        if is_initial && !writers.contains_key(&(op.key, op.value)) {
            values.entry(op.key).or_insert(op.value);
        }
    }
    values
}

fn cell(history: &History, value: Value) -> Cell {
    Cell(history.value_text(value).into())
}

/// Who wrote a value of a key last of all transactions that did.
type Writers = HashMap<(KeyId, Value), Named>;

fn writers(history: &History) -> Writers {
    let mut writers = Writers::new();
    for (session, id) in history.sessions().enumerate() {
        for (txn, number) in history.txns_of(id).enumerate() {
            let named = Named { session: session as u32, txn: txn as u32 };
            for op in ops(history, TxnId(number)).filter(|op| op.kind.is_write()) {
                writers.insert((op.key, op.value), named);
            }
        }
    }
    writers
}

fn ops(history: &History, txn: TxnId) -> impl Iterator<Item = Op> {
    history.ops_of(txn).map(|number| history.op(seriatim_history::OpId(number)))
}

fn note_observed(
    history: &History,
    txn: TxnId,
    named: Named,
    writers: &Writers,
    observed: &mut Observed,
) {
    let (mut number, mut own) = (0, Vec::new());
    for op in ops(history, txn) {
        let is_own = own.contains(&op.key);
        if !op.kind.is_write() && !is_own {
            let writer = observed_writer(history, op, writers);
            observed.extend(writer.map(|writer| ((named, number), writer)));
        }
        // An append reads, too, and nobody saw what.
        number += usize::from(op.kind != OpKind::Write && !is_own);
        if op.kind.is_write() {
            own.push(op.key);
        }
    }
}

/// Who wrote what a read returned, if that is known.
fn observed_writer(history: &History, read: Op, writers: &Writers) -> Option<Option<Named>> {
    let written = match read.value.kind() {
        // A list is that of its last element.
        ValueKind::List(number) => history.list(number).last().copied().unwrap_or(Value::NULL),
        _ => read.value,
    };
    let writer = writers.get(&(read.key, written)).copied();
    let initial = history.initial().value_of(read.key);
    let is_known = writer.is_some() || written == Value::NULL || initial == Some(written);
    is_known.then_some(writer)
}

fn does(history: &History, txn: TxnId) -> Vec<Does> {
    let each = ops(history, txn).map(|op| match op.kind {
        OpKind::Write => Does::Write(name(history, op.key), cell(history, op.value)),
        OpKind::Append => Does::Append(name(history, op.key), history.value_text(op.value)),
        OpKind::Read => Does::Read(name(history, op.key)),
    });
    let abort = (history.status(txn) == Status::Aborted).then_some(Does::Abort);
    each.chain(abort).collect()
}

fn again(tx: &mut Tx<'_, Cell>, does: &[Does]) -> Result<(), seriatim_explore::Stop> {
    for each in does {
        match each {
            Does::Read(key) => {
                tx.read(key)?;
            }
            Does::Write(key, value) => tx.write(key, value.clone())?,
            Does::Append(key, element) => {
                let list = tx.read(key)?;
                tx.write(key, list.with(element))?;
            }
            Does::Abort => return tx.abort(),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_explore::play::{Play, Step};
    use seriatim_history::notation;
    use seriatim_isolation::Level;

    const ANN: Named = Named { session: 0, txn: 0 };
    const BEN: Named = Named { session: 1, txn: 0 };

    #[test]
    fn what_reads_returned_is_known_and_they_may_return_something_else() {
        let history = notation::parse("ann: r(x,nil) w(x,1) r(x,1)\nben: r(x,1) w(x,2)").unwrap();
        let Recorded { program, observed, .. } = Recorded::of(&history).unwrap();
        // The last read of ann is one of its own write.
        assert_eq!(observed, HashMap::from([((ANN, 0), None), ((BEN, 0), Some(ANN))]));
        let mut play = Play::new(&program, Level::PrefixConsistency).unwrap();
        let steps = [Step::Pick(0, None), Step::Go(0), Step::Go(0), Step::Go(0)];
        steps.into_iter().for_each(|step| assert!(play.step(step).is_ok()));
        let values: Vec<String> =
            play.candidates(1).unwrap().iter().map(|it| it.value.to_string()).collect();
        assert_eq!(values, ["nil", "1"]);
        let steps = [Step::Pick(1, None), Step::Go(1), Step::Go(1)];
        steps.into_iter().for_each(|step| assert!(play.step(step).is_ok()));
        assert_eq!(play.holds(Level::SnapshotIsolation), Some(false));
    }

    #[test]
    fn a_value_that_nobody_wrote_was_there_at_first() {
        let history = notation::parse("ann: r(x,0) w(x,1)\nben: r(x,1) r(y,nil)").unwrap();
        let Recorded { program, .. } = Recorded::of(&history).unwrap();
        let mut play = Play::new(&program, Level::PrefixConsistency).unwrap();
        assert_eq!(play.candidates(0).unwrap()[0].value.to_string(), "0");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let many: String = (0..30).map(|number| format!("s{number}: w(x,{number})\n")).collect();
        let problem = Recorded::of(&notation::parse(&many).unwrap()).err().unwrap();
        assert!(problem.contains("30 sessions") && problem.contains("minimize"), "{problem}");
    }

    #[test]
    fn an_append_reads_a_list_and_writes_it_with_one_element_more() {
        let history = notation::parse("ann: a(x,1) a(x,2)\nben: a(x,3)\ncid: r(x,[1 2])").unwrap();
        let Recorded { program, observed, .. } = Recorded::of(&history).unwrap();
        let cid = Named { session: 2, txn: 0 };
        assert_eq!(observed, HashMap::from([((cid, 0), Some(ANN))]));
        let mut play = Play::new(&program, Level::PrefixConsistency).unwrap();
        // Both begin with the empty list, and one of them gets lost.
        let steps = [Step::Pick(0, None), Step::Pick(1, None)];
        let rest = [0, 0, 0, 0, 1, 1].map(Step::Go);
        for step in steps.into_iter().chain(rest) {
            assert!(play.step(step).is_ok(), "{step}");
        }
        let values: Vec<String> =
            play.candidates(2).unwrap().iter().map(|it| it.value.to_string()).collect();
        assert_eq!(values, ["nil", "[1 2]", "[3]"]);
        assert_eq!(play.holds(Level::SnapshotIsolation), Some(false));
    }
}
