//! Leads a command into a predicted run (sections 5 and 6 of the IsoPredict paper, for any
//! application).
//!
//! Transactions run one at a time, in an order that extends session order and who reads from whom;
//! each read returns what the prediction says if that version exists and the level allows it, else
//! the latest one. After the predicted part the command goes on to its end, one transaction at a
//! time, with the latest versions. Reads are matched by their keys and not by their numbers: a scan
//! reads rows that the prediction does not mention.
//!
//! Connections are known by the order in which they are made. Where that depends on how threads of
//! the command run, another try may do better, so that a few are made.

use crate::error::TrialError;
use crate::place::{Deciders, Family, State, Timing};
use crate::run::{Application, Run};
use seriatim_check::{Answer, Checker};
use seriatim_history::{History, KeyId, OpId, OpKind, SessionId, Status, TxnId, Value};
use seriatim_isolation::{Level, Order};
use seriatim_runs::{PlanDeparture, PlannedTxn, named_as_observed, plan_order};
use seriatim_store::{Chooser, PendingRead, TxnName};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How often a command is led before it is believed not to follow.
const TRIES: u32 = 5;

/// How long the checker may take to decide whether a run is serializable.
const CHECK_MAX: Duration = Duration::from_secs(30);

/// What became of a prediction, in the best of some tries.
#[derive(Debug)]
#[must_use]
pub struct DirectedCommand {
    /// The run. Transactions are called as in the observed one.
    pub run: Run,
    /// The first point at which it left the prediction.
    pub departure: Option<PlanDeparture>,
    /// Whether it is serializable; `None` if that could not be decided.
    pub is_serializable: Option<bool>,
    /// The number of this try, from 1.
    pub number: u32,
    /// How many tries there were.
    pub tries: u32,
}

impl DirectedCommand {
    /// Whether it went as predicted and is not serializable.
    pub fn is_validated(&self) -> bool {
        self.departure.is_none() && self.is_serializable == Some(false)
    }

    /// How much a try shows: one that is as predicted and not serializable, then one that fails or
    /// is not serializable on another way.
    fn worth(&self) -> (bool, bool, bool, bool) {
        let is_weak = self.is_serializable == Some(false);
        let is_failed = self.run.failure.is_some();
        (self.is_validated(), is_weak && is_failed, is_weak || is_failed, self.departure.is_none())
    }
}

impl Application {
    /// Runs it as `plan` says.
    pub fn directed(
        &self,
        state: &State,
        level: Level,
        plan: &[PlannedTxn],
        is_asked_to_end: &AtomicBool,
    ) -> Result<DirectedCommand, TrialError> {
        let order = plan_order(plan)?;
        let try_it = || self.led(state, level, plan, &order, is_asked_to_end);
        let (mut best, mut tries) = (try_it()?, 1);
        while !best.is_validated() && tries < TRIES {
            let tried = match try_it() {
                // What was found so far is told.
                Err(TrialError::Interrupted) => break,
                tried => tried?,
            };
            tries += 1;
            if tried.worth() > best.worth() {
                best = DirectedCommand { number: tries, ..tried };
            }
        }
        Ok(DirectedCommand { tries, ..best })
    }

    /// One try.
    fn led(
        &self,
        state: &State,
        level: Level,
        plan: &[PlannedTxn],
        order: &[TxnName],
        is_asked_to_end: &AtomicBool,
    ) -> Result<DirectedCommand, TrialError> {
        let family = Family::Level { level, order: Order::Sessions };
        let chooser = Box::new(Predicted { reads: Reads::of(plan) });
        let deciders = Deciders { chooser, timing: Timing::InTurn(order.to_vec()), number: 0 };
        let run = self.run(state, family, deciders, &[], is_asked_to_end)?;
        self.must_have_connected(&run)?;
        let departure = departure(plan, &run);
        let is_serializable = is_serializable(&run.history);
        let history = named_as_observed(run.history, plan);
        let run = Run { history, ..run };
        Ok(DirectedCommand { run, departure, is_serializable, number: 1, tries: 1 })
    }
}

fn is_serializable(history: &History) -> Option<bool> {
    let report = Checker::new().levels([Level::Serializable]).budget(CHECK_MAX).check(history);
    match report.verdict(Level::Serializable)?.answer() {
        Answer::Holds => Some(true),
        Answer::Violated => Some(false),
        Answer::Undecided => None,
    }
}

/// Which transactions the reads of a key are to read from, one after the other.
#[derive(Debug)]
struct Reads {
    expected: HashMap<(TxnName, String), Vec<Option<TxnName>>>,
    /// How often a key was read.
    seen: HashMap<(TxnName, String), usize>,
}

impl Reads {
    fn of<'p>(plan: impl IntoIterator<Item = &'p PlannedTxn>) -> Reads {
        let mut expected: HashMap<_, Vec<_>> = HashMap::new();
        for txn in plan {
            for (key, writer) in txn.reads() {
                expected.entry((txn.txn(), key.to_owned())).or_default().push(writer);
            }
        }
        Reads { expected, seen: HashMap::new() }
    }

    /// The writer of the next read of a key, if that is predicted. A key that is read more often
    /// than predicted is read from the same writer again.
    fn next(&mut self, reader: TxnName, key: &str) -> Option<Option<TxnName>> {
        let place = (reader, key.to_owned());
        let writers = self.expected.get(&place)?;
        let seen = self.seen.entry(place).or_default();
        let writer = writers.get(*seen).or(writers.last()).copied();
        *seen += 1;
        writer
    }
}

/// Picks what is predicted.
struct Predicted {
    reads: Reads,
}

impl Chooser for Predicted {
    fn choose(&mut self, read: &PendingRead<'_>) -> usize {
        let latest = read.versions.len() - 1;
        let Some(writer) = self.reads.next(read.reader, read.key) else { return latest };
        read.versions.iter().position(|version| version.writer == writer).unwrap_or(latest)
    }
}

/// The first point at which a run left its plan: a read, else how a transaction ended or what it
/// wrote.
fn departure(plan: &[PlannedTxn], run: &Run) -> Option<PlanDeparture> {
    // What a transaction read that aborts again does not matter.
    let mut reads = Reads::of(plan.iter().filter(|txn| !txn.aborted));
    for (choice, _) in &run.choices {
        let Some(expected) = reads.next(choice.reader, &choice.key) else { continue };
        if expected != choice.writer {
            let (txn, key, found) = (choice.reader, choice.key.clone(), choice.writer);
            return Some(PlanDeparture::OtherWriter { txn, key, found, expected });
        }
    }
    let needed = || plan.iter().filter(|txn| txn.needed && !txn.aborted);
    let writers = Writers::of(&run.history);
    let by_latest = needed().find_map(|txn| wrong_latest(txn, run, &writers));
    by_latest.or_else(|| needed().find_map(|txn| wrong_end(txn, run)))
}

/// A read of the latest version that had another writer than predicted: nobody chose it, so that it
/// is in the history alone. The last read of a key that was predicted is looked at.
fn wrong_latest(planned: &PlannedTxn, run: &Run, writers: &Writers) -> Option<PlanDeparture> {
    let (txn, history) = (planned.txn(), &run.history);
    let id = find(history, txn)?;
    let mut expected: BTreeMap<&str, (usize, Option<TxnName>)> = BTreeMap::new();
    for (key, writer) in planned.reads() {
        let known = expected.entry(key).or_insert((0, writer));
        *known = (known.0 + 1, writer);
    }
    expected.into_iter().find_map(|(key, (count, expected))| {
        let is_read = |op: &OpId| {
            let op = history.op(*op);
            op.kind == OpKind::Read && history.key_name(op.key).to_string() == key
        };
        let reads: Vec<OpId> = history.ops_of(id).map(OpId).filter(is_read).collect();
        let read = *reads.get(count - 1).or(reads.last())?;
        let found = writers.of_read(history, read)?;
        let key = key.to_owned();
        (found != expected).then_some(PlanDeparture::OtherWriter { txn, key, found, expected })
    })
}

/// Which committed transactions left which values in which keys.
struct Writers(HashMap<(KeyId, Value), Vec<TxnId>>);

impl Writers {
    fn of(history: &History) -> Writers {
        let mut writers: HashMap<(KeyId, Value), Vec<TxnId>> = HashMap::new();
        for txn in history.txns().filter(|&txn| history.status(txn) == Status::Committed) {
            let ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
            let last: HashMap<KeyId, Value> =
                ops.filter(|op| op.kind.is_write()).map(|op| (op.key, op.value)).collect();
            last.into_iter().for_each(|written| writers.entry(written).or_default().push(txn));
        }
        Writers(writers)
    }

    /// The writer of what a read returned, `Some(None)` if that was there before; `None` if it is
    /// not clear.
    fn of_read(&self, history: &History, read: OpId) -> Option<Option<TxnName>> {
        let op = history.op(read);
        let is_initial = op.value == Value::NULL
            || history.initial().value_of(op.key).is_some_and(|initial| initial == op.value);
        match (self.0.get(&(op.key, op.value)).map_or(&[][..], Vec::as_slice), is_initial) {
            ([], true) => Some(None),
            (&[writer], false) if writer != history.txn_of(read) => {
                let session = history.session_of(writer);
                let txn = history.place_in_session(writer);
                Some(Some(TxnName { session: session.0, txn }))
            }
            _ => None,
        }
    }
}

fn wrong_end(planned: &PlannedTxn, run: &Run) -> Option<PlanDeparture> {
    let (txn, history) = (planned.txn(), &run.history);
    let committed = find(history, txn).filter(|&id| history.status(id) == Status::Committed);
    let Some(id) = committed else { return Some(PlanDeparture::NotCommitted { txn }) };
    if has_read_less(planned, history, id) {
        let reads = history.ops_of(id).filter(|&op| history.op(OpId(op)).kind == OpKind::Read);
        let (found, expected) = (reads.count(), planned.reads().count());
        return Some(PlanDeparture::OtherReads { txn, found, expected });
    }
    if !planned.whole {
        return None;
    }
    let ops = history.ops_of(id).map(|op| history.op(OpId(op)));
    let writes = ops.filter(|op| op.kind != OpKind::Read);
    let written: BTreeSet<String> = writes.map(|op| history.key_name(op.key).to_string()).collect();
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    let key = written.symmetric_difference(&planned.writes()).next().map(|key| (*key).to_owned());
    key.map(|key| PlanDeparture::OtherWrites { txn, key })
}

/// Whether a read that was predicted did not happen. Of what a scan reads only some is told, so
/// that a transaction with scans may have read everything.
fn has_read_less(planned: &PlannedTxn, history: &History, txn: TxnId) -> bool {
    if !history.scans_of(txn).is_empty() {
        return false;
    }
    let ops = history.ops_of(txn).map(|op| history.op(OpId(op)));
    let reads = ops.filter(|op| op.kind == OpKind::Read);
    let read: BTreeSet<String> = reads.map(|op| history.key_name(op.key).to_string()).collect();
    planned.reads().any(|(key, _)| !read.contains(key))
}

fn find(history: &History, txn: TxnName) -> Option<TxnId> {
    if txn.session as usize >= history.session_count() {
        return None;
    }
    history.txns_of(SessionId(txn.session)).nth(txn.txn as usize).map(TxnId)
}
