//! A round: sessions run one workload for a while, and what they saw is recorded.
//!
//! Rounds share neither registers nor rows, and no transaction of a round begins before all of the
//! round before it have ended. So every edge between two rounds, of session order or of real time,
//! goes from the earlier to the later one, no cycle leaves a round, and rounds can be checked one
//! by one: what holds in each of them holds for all of them together.

use crate::driver::{DriverError, Role, Sent};
use crate::error::AuditError;
use crate::lost::{Final, Losses, LostWrite, lost_writes};
use crate::record::{Outcome, RecordedTxn};
use crate::round::{
    Ground, Round, Seat, Shared, Tally, existence, list_existence, list_op, read_op, row_op,
    rows_found,
};
use crate::session::Session;
use crate::template::Template;
use crate::workload::Workload;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the end of a round is read before what is missing on all nodes is lost.
const FINAL_READS: u32 = 10;
/// How long to wait in between.
const FINAL_PAUSE: Duration = Duration::from_millis(300);
/// How long nodes may take to answer, and to agree: they may lag behind.
const FINAL_MAX: Duration = Duration::from_secs(60);

impl Round {
    /// The transaction that made the registers, which ended before the round began.
    fn made(&self) -> RecordedTxn {
        let used = self.registers().take(self.shape.keys as usize);
        let of_register =
            |number| [json!(["w", existence(number), "true"]), json!(["w", number, 0])];
        let of_list = |number| [json!(["w", list_existence(number), "true"])];
        let ops = used.flat_map(|number| match self.workload {
            Workload::ListAppend => of_list(number).to_vec(),
            Workload::Own => of_register(number).into_iter().chain(of_list(number)).collect(),
            _ => of_register(number).to_vec(),
        });
        RecordedTxn {
            session: format!("{}.set-up", self.number),
            begin: 0,
            end: 0,
            outcome: Outcome::Committed,
            ops: ops.collect(),
            statements: Vec::new(),
        }
    }

    fn uses_lists(&self) -> bool {
        self.workload == Workload::ListAppend
    }

    /// Runs it. What was acknowledged and is gone in the end is told.
    pub(crate) fn run(
        self,
        ground: &Ground<'_>,
        seats: &mut [Seat],
    ) -> Result<(Tally, Losses), AuditError> {
        let shared = Shared {
            ground,
            round: self,
            left: AtomicU64::new(self.transactions),
            rows: AtomicU64::new(0),
            parts: Mutex::new(BTreeSet::new()),
            problem: Mutex::new(None),
            acknowledged: Mutex::new(Vec::new()),
        };
        ground.record(&self.made());
        let mut tally = Tally::default();
        std::thread::scope(|scope| {
            let running: Vec<_> = seats
                .iter_mut()
                .zip(0..)
                .map(|(seat, number)| {
                    let shared = &shared;
                    scope.spawn(move || Session::new(shared, seat, number).work())
                })
                .collect();
            for session in running {
                if let Ok(done) = session.join() {
                    tally.add(done);
                }
            }
        });
        if let Some(problem) = shared.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            return Err(problem);
        }
        let lost = self.end(&shared, seats);
        Ok((tally, lost))
    }

    /// Reads what is there in the end, as a transaction of the history, and says what is not.
    fn end(self, shared: &Shared<'_>, seats: &mut [Seat]) -> Losses {
        let writers = self.writers(shared);
        let Some(&first) = writers.first() else { return Losses::default() };
        let keep = |txn: Option<RecordedTxn>| txn.iter().for_each(|it| shared.ground.record(it));
        if !self.has_faults {
            // Nothing is lost then; what is missing is a stale read.
            let read = self.final_read(shared, &mut seats[first as usize], first);
            keep(read.map(|(_, txn)| txn));
            return Losses::default();
        }
        let (begun, mut agreed) = (Instant::now(), 0);
        loop {
            let look = self.look(shared, seats, &writers);
            agreed += u32::from(look.is_settled());
            let is_late = begun.elapsed() > FINAL_MAX
                || shared.ground.is_asked_to_end.load(Ordering::Relaxed);
            if look.is_whole() || agreed >= FINAL_READS || is_late {
                let (txn, losses) = look.told();
                keep(txn);
                return losses;
            }
            std::thread::sleep(FINAL_PAUSE);
        }
    }

    /// A session on each node that can be written to.
    fn writers(&self, shared: &Shared<'_>) -> Vec<u32> {
        let driver = shared.ground.driver;
        let mut nodes = BTreeSet::new();
        let may_write = |number: &u32| driver.role(*number) == Role::All;
        let sessions = (0..self.sessions).filter(may_write);
        sessions.filter(|number| nodes.insert(driver.node(*number))).collect()
    }

    /// Looks at each node once for what was acknowledged.
    fn look(&self, shared: &Shared<'_>, seats: &mut [Seat], writers: &[u32]) -> Look {
        let weather = shared.ground.weather;
        let before = weather.calm();
        let acknowledged = shared.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut look =
            Look { txn: None, missing: Vec::new(), nodes: writers.len(), is_calm: false };
        for &number in writers {
            let read = self.final_read(shared, &mut seats[number as usize], number);
            let Some((finals, txn)) = read else { continue };
            look.missing.push(lost_writes(&acknowledged, &finals));
            look.txn.get_or_insert(txn);
        }
        look.is_calm = before.is_some() && weather.calm() == before;
        look
    }

    fn final_read(
        &self,
        shared: &Shared<'_>,
        seat: &mut Seat,
        number: u32,
    ) -> Option<(Vec<Final>, RecordedTxn)> {
        let now = || u64::try_from(shared.ground.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let begin = now();
        let read = self.final_ops(shared, seat, number);
        let (finals, ops, statements) = match read {
            Ok(read) => read,
            Err(DriverError::Refused(_)) => {
                // The client is not of use to anybody if it cannot take the transaction back.
                if seat.client.as_mut().is_some_and(|client| client.rollback().is_err()) {
                    seat.client = None;
                }
                return None;
            }
            Err(_) => {
                seat.client = None;
                return None;
            }
        };
        let session = format!("{}.final", self.number);
        let outcome = Outcome::Committed;
        let txn = RecordedTxn { session, begin, end: now(), outcome, ops, statements };
        Some((finals, txn))
    }

    fn final_ops(
        &self,
        shared: &Shared<'_>,
        seat: &mut Seat,
        number: u32,
    ) -> Result<FinalOps, DriverError> {
        if seat.client.is_none() {
            seat.client = Some(shared.ground.driver.connect(number)?);
            seat.reconnects += 1;
        }
        let Some(client) = seat.client.as_mut() else { return Err(DriverError::unable("client")) };
        client.begin(self.setting)?;
        let (mut finals, mut ops, mut statements) = (Vec::new(), Vec::new(), Vec::new());
        let registers = self.registers().take(self.shape.keys as usize);
        for register in registers.clone().filter(|_| !self.uses_lists()) {
            let (value, sent) = client.read(register)?;
            finals.push(Final::Register(register, value));
            ops.push(read_op(register, value));
            statements.push((sent, 1));
        }
        let template = shared.ground.template.filter(|_| self.workload == Workload::Own);
        let reads_lists = self.uses_lists() || template.is_some_and(Template::uses_lists);
        for number in registers.filter(|_| reads_lists) {
            let (values, sent) = client.read_list(number)?;
            ops.push(list_op(number, values.as_deref()));
            finals.push(Final::List(number, values.unwrap_or_default()));
            statements.push((sent, 1));
        }
        // Without faults no row is lost, and there may be many of them.
        let parts = shared.parts.lock().unwrap_or_else(PoisonError::into_inner);
        for &part in parts.iter().filter(|_| self.has_faults) {
            let (rows, sent) = client.scan(part)?;
            let rows = rows_found(part, &rows);
            statements.push((sent, rows.len()));
            ops.extend(rows.iter().map(|&(row, found)| row_op(row, found)));
            finals.extend(rows.into_iter().map(|(row, found)| Final::Row(row, found)));
        }
        drop(parts);
        client.commit()?;
        Ok((finals, ops, statements))
    }
}

/// What is there in the end, as operations, and by which statements.
type FinalOps = (Vec<Final>, Vec<serde_json::Value>, Vec<(Sent, usize)>);

/// What a look at all nodes has found.
struct Look {
    /// That of the first node that has answered.
    txn: Option<RecordedTxn>,
    /// Of each node that has answered, what is missing there.
    missing: Vec<Vec<LostWrite>>,
    nodes: usize,
    /// Whether nothing was done to the servers meanwhile.
    is_calm: bool,
}

impl Look {
    fn has_all(&self) -> bool {
        self.missing.len() == self.nodes
    }

    /// Whether nothing is missing anywhere.
    fn is_whole(&self) -> bool {
        self.has_all() && self.missing.iter().all(Vec::is_empty)
    }

    /// Whether the nodes agree on what is missing: none of them is only behind the others.
    fn is_settled(&self) -> bool {
        let is_same = |missing: &Vec<LostWrite>| *missing == self.missing[0];
        self.has_all() && self.is_calm && self.missing.iter().all(is_same)
    }

    /// What is missing on every node is lost, if all were asked while nothing was done to them. Of
    /// anything else nobody can say what becomes of it.
    fn told(self) -> (Option<RecordedTxn>, Losses) {
        let (is_whole, is_settled) = (self.is_whole(), self.is_settled());
        let is_certain = self.has_all() && self.is_calm;
        let mut missing = self.missing.into_iter();
        let mut gone = missing.next().unwrap_or_default();
        missing.for_each(|other| gone.retain(|write| other.contains(write)));
        let lost = if is_certain { gone } else { Vec::new() };
        let is_unread = !is_whole && !is_settled;
        (self.txn, Losses { is_unread, ..Losses::of(lost) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(missing: &[&[i64]], nodes: usize, is_calm: bool) -> (Vec<i64>, bool) {
        let write = |value: &i64| LostWrite { key: "1".to_owned(), value: *value, acknowledged: 1 };
        let missing = missing.iter().map(|it| it.iter().map(write).collect()).collect();
        let (_, losses) = Look { txn: None, missing, nodes, is_calm }.told();
        (losses.named.iter().map(|lost| lost.value).collect(), losses.is_unread)
    }

    #[test]
    fn only_what_is_missing_on_every_node_is_lost() {
        assert_eq!(told(&[&[7], &[7]], 2, true), (vec![7], false));
        // One is behind.
        assert_eq!(told(&[&[7], &[]], 2, true), (vec![], true));
        assert_eq!(told(&[&[7, 8], &[8]], 2, true), (vec![8], true));
        // One does not answer, or is being stopped.
        assert_eq!(told(&[&[7]], 2, true), (vec![], true));
        assert_eq!(told(&[&[7], &[7]], 2, false), (vec![], true));
        assert_eq!(told(&[], 1, true), (vec![], true));
        assert_eq!(told(&[&[], &[]], 2, false), (vec![], false));
    }
}
