//! A session of a round: transactions, one after the other, on one connection.

use crate::driver::{Client, DriverError, Role, Sent};
use crate::error::AuditError;
use crate::lost::{Acknowledged, Written};
use crate::record::{ABSENT, Outcome, RecordedTxn};
use crate::round::{Seat, Shared, Tally, list, list_op, read_op, row_key, row_op, rows_found};
use crate::template::{Effect, Letters, Line};
use crate::workload::{self, ROWS_OF_PART, Step, Workload, account, balance, part_of};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a session tries to connect again before it gives up.
const RECONNECT_MAX: Duration = Duration::from_secs(90);
/// A longer pause is made of such parts.
const PAUSE_PART: Duration = Duration::from_millis(50);
/// How long it waits in between.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// One session of a round.
pub(crate) struct Session<'s, 'a> {
    shared: &'s Shared<'a>,
    seat: &'s mut Seat,
    number: u32,
    dice: Pcg64Mcg,
    /// How many values it has written.
    written: i64,
    tally: Tally,
}

/// A transaction that is under way.
#[derive(Default)]
struct Doing {
    ops: Vec<Value>,
    statements: Vec<(Sent, usize)>,
    writes: Vec<Written>,
    /// The money that it found, if it counted all.
    total: Option<i64>,
}

impl<'s, 'a> Session<'s, 'a> {
    pub fn new(shared: &'s Shared<'a>, seat: &'s mut Seat, number: u32) -> Session<'s, 'a> {
        let (seed, round) = (shared.round.seed, shared.round.number);
        let seed = seed ^ (round << 32) ^ u64::from(number);
        let dice = Pcg64Mcg::seed_from_u64(seed);
        Session { shared, seat, number, dice, written: 0, tally: Tally::default() }
    }

    pub fn work(mut self) -> Tally {
        while self.may_begin() {
            let client = self.seat.client.take().or_else(|| self.connect());
            let Some(mut client) = client else { break };
            match self.transaction(client.as_mut()) {
                Ok(Outcome::Committed) => self.tally.committed += 1,
                Ok(Outcome::Aborted) => self.tally.aborted += 1,
                Ok(Outcome::Unknown) => {
                    self.tally.unknown += 1;
                    self.lose();
                    continue;
                }
                Err(DriverError::Lost(_)) => {
                    self.tally.aborted += 1;
                    self.lose();
                    continue;
                }
                // A server that is stopped and started says all kinds of things.
                Err(_) if self.shared.round.has_faults => {
                    self.tally.aborted += 1;
                    self.lose();
                    std::thread::sleep(RECONNECT_PAUSE);
                    continue;
                }
                Err(error) => {
                    self.fail(error);
                    break;
                }
            }
            self.seat.client = Some(client);
        }
        self.tally
    }

    fn lose(&mut self) {
        self.tally.lost_connections += 1;
        self.seat.reconnects += 1;
    }

    fn may_go_on(&self) -> bool {
        let round = &self.shared.round;
        let is_late = round.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let problem = self.shared.problem.lock().unwrap_or_else(PoisonError::into_inner);
        let is_asked = self.shared.ground.is_asked_to_end.load(Ordering::Relaxed);
        !is_late && problem.is_none() && !is_asked
    }

    fn may_begin(&self) -> bool {
        if !self.may_go_on() {
            return false;
        }
        let left = &self.shared.left;
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Waits, unless the round is over meanwhile.
    fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || (time > PAUSE_PART && !self.may_go_on()) {
                return;
            }
            std::thread::sleep(left.min(PAUSE_PART));
        }
    }

    fn fail(&self, error: DriverError) {
        let mut problem = self.shared.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert(AuditError::Driver(error));
    }

    /// A connection; a server that comes back within a while is waited for.
    fn connect(&mut self) -> Option<Box<dyn Client>> {
        let begun = Instant::now();
        let is_again = self.seat.reconnects > 0 || self.shared.round.has_faults;
        loop {
            match self.shared.ground.driver.connect(self.number) {
                Ok(client) => return Some(client),
                Err(error) if !is_again || begun.elapsed() > RECONNECT_MAX => {
                    self.fail(error);
                    return None;
                }
                Err(_) if !self.may_go_on() => return None,
                Err(_) => std::thread::sleep(RECONNECT_PAUSE),
            }
        }
    }

    fn name(&self) -> String {
        let (round, number) = (self.shared.round.number, self.number);
        let mut name = format!("{round}.{number}");
        if let Some(node) = self.shared.ground.driver.node(self.number) {
            name += &format!("@{}", node + 1);
        }
        if self.seat.reconnects > 0 {
            name += &format!("/{}", self.seat.reconnects);
        }
        name
    }

    fn now(&self) -> u64 {
        u64::try_from(self.shared.ground.clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// One transaction, from its first statement to its end.
    fn transaction(&mut self, client: &mut dyn Client) -> Result<Outcome, DriverError> {
        let (begin, mut doing) = (self.now(), Doing::default());
        let ended = self.body(client, &mut doing);
        let outcome = match ended {
            Ok(()) => match client.commit() {
                Ok(()) => Ok(Outcome::Committed),
                Err(DriverError::Refused(_)) => Ok(Outcome::Aborted),
                // Whatever else is said of a COMMIT leaves open whether it happened.
                Err(_) => Ok(Outcome::Unknown),
            },
            // A connection that cannot take its transaction back is of no use any more.
            Err(DriverError::Refused(_)) => match client.rollback() {
                Ok(()) => Ok(Outcome::Aborted),
                Err(error) => Err(DriverError::Lost(error.to_string())),
            },
            Err(error) => Err(error),
        };
        let recorded = match &outcome {
            Ok(outcome) => *outcome,
            Err(DriverError::Lost(_)) => Outcome::Aborted,
            Err(_) if self.shared.round.has_faults => Outcome::Aborted,
            Err(_) => return outcome,
        };
        self.keep(doing, begin, recorded);
        outcome
    }

    /// Records a transaction that has ended.
    fn keep(&mut self, doing: Doing, begin: u64, outcome: Outcome) {
        let end = self.now();
        let Doing { ops, statements, writes, total } = doing;
        if outcome == Outcome::Committed {
            self.tally.totals += u64::from(total.is_some());
            self.tally.wrong_totals += u64::from(total.is_some_and(|total| total != 0));
        }
        if outcome != Outcome::Aborted && !writes.is_empty() {
            let is_certain = outcome == Outcome::Committed;
            let known = Acknowledged { begin, end, is_certain, writes };
            let mut all = self.shared.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(known);
        }
        let session = self.name();
        self.shared.ground.record(&RecordedTxn { session, begin, end, outcome, ops, statements });
    }

    fn body(&mut self, client: &mut dyn Client, doing: &mut Doing) -> Result<(), DriverError> {
        let round = self.shared.round;
        let first = round.registers().start;
        let reads_only = self.shared.ground.driver.role(self.number) == Role::Read;
        if let (Workload::Own, Some(template)) = (round.workload, self.shared.ground.template) {
            let (lines, letters) = template.next(first, round.shape.keys, &mut self.dice);
            client.begin(round.setting)?;
            return lines
                .iter()
                .filter(|line| {
                    !reads_only || !matches!(line.effect, Effect::Writes(_) | Effect::Appends(_))
                })
                .try_for_each(|line| self.line(client, line, letters, doing));
        }
        let part = part_of(round.number, self.shared.rows.load(Ordering::Relaxed));
        let mut steps = workload::next(round.workload, round.shape, first, part, &mut self.dice);
        if reads_only {
            steps = steps.into_iter().filter_map(Step::reading).collect();
        }
        client.begin(round.setting)?;
        steps.into_iter().try_for_each(|step| self.step(client, step, doing))
    }

    fn step(
        &mut self,
        client: &mut dyn Client,
        step: Step,
        doing: &mut Doing,
    ) -> Result<(), DriverError> {
        match step {
            Step::Pause(micros) => self.pause(Duration::from_micros(micros)),
            Step::Read(register) => drop(doing.read(client, register)?),
            Step::Write(register) => {
                let value = self.fresh();
                doing.write(client, register, value)?;
            }
            Step::ReadList(number) => {
                let (values, sent) = client.read_list(number)?;
                doing.push(sent, vec![list_op(number, values.as_deref())]);
            }
            Step::Append(number) => {
                let value = self.fresh();
                // What was sent may have been done, whatever is answered.
                doing.ops.push(json!(["append", list(number), value]));
                doing.writes.push(Written::Append(number, value));
                let sent = client.append(number, value)?;
                doing.statements.push((sent, 1));
            }
            Step::Add(register) => doing.add(client, register)?,
            Step::Transfer(from, to) => self.transfer(client, from, to, doing)?,
            Step::Total(first, last) => {
                let mut total = 0;
                for register in first..=last {
                    total += balance(doing.read(client, register)?.unwrap_or(0));
                }
                let is_all = last - first + 1 == self.shared.round.shape.keys;
                doing.total = is_all.then_some(total);
            }
            Step::Scan(part) => {
                self.shared.declare(part);
                doing.scan(client, part)?;
            }
            Step::Insert(part) => self.insert(client, part, doing)?,
            Step::Delete(part) => {
                let row = part * ROWS_OF_PART + self.dice.random_range(0..ROWS_OF_PART);
                let place = doing.ops.len();
                self.shared.declare(part);
                doing.ops.push(json!(["w", row_key(row), ABSENT]));
                doing.writes.push(Written::Delete(row));
                let (was_there, sent) = client.delete(part, row)?;
                // What is not there cannot be deleted. That is no read that has to repeat: a change
                // may look at newer rows than a query.
                if !was_there {
                    doing.ops.truncate(place);
                    doing.writes.pop();
                }
                doing.statements.push((sent, doing.ops.len() - place));
            }
        }
        Ok(())
    }

    fn transfer(
        &mut self,
        client: &mut dyn Client,
        from: u64,
        to: u64,
        doing: &mut Doing,
    ) -> Result<(), DriverError> {
        let amount = self.dice.random_range(1..10);
        // An error ends the transaction: nothing may be sent after it.
        let held_from = balance(doing.read(client, from)?.unwrap_or(0));
        let held_to = balance(doing.read(client, to)?.unwrap_or(0));
        for (register, held) in [(from, held_from - amount), (to, held_to + amount)] {
            self.written += 1;
            let number = (i64::from(self.number + 1) << 32) | self.written;
            doing.write(client, register, account(number, held))?;
        }
        Ok(())
    }

    fn insert(
        &mut self,
        client: &mut dyn Client,
        part: u64,
        doing: &mut Doing,
    ) -> Result<(), DriverError> {
        let number = self.shared.rows.fetch_add(1, Ordering::Relaxed);
        // The part may be full by now; then the row belongs to the next one.
        let part = part.max(part_of(self.shared.round.number, number));
        let row = part * ROWS_OF_PART + number % ROWS_OF_PART;
        self.shared.declare(part);
        let value = self.fresh();
        doing.ops.push(json!(["w", row_key(row), value]));
        doing.writes.push(Written::Insert(row, value));
        let sent = client.insert(part, row, value)?;
        doing.statements.push((sent, 1));
        Ok(())
    }

    /// A statement of the user's.
    fn line(
        &mut self,
        client: &mut dyn Client,
        line: &Line,
        letters: Letters,
        doing: &mut Doing,
    ) -> Result<(), DriverError> {
        let new = self.fresh();
        let text = line.filled(self.shared.ground.driver.prefix(), letters, new);
        let (ops, writes) = (doing.ops.len(), doing.writes.len());
        match line.effect {
            Effect::Writes(letter) => {
                doing.ops.push(json!(["w", letters.register(letter), new]));
                doing.writes.push(Written::Register(letters.register(letter), new));
            }
            Effect::Appends(letter) => {
                doing.ops.push(json!(["append", list(letters.register(letter)), new]));
                doing.writes.push(Written::Append(letters.register(letter), new));
            }
            _ => {}
        }
        let answer = client.say(&text)?;
        // A comparison may have failed: UPDATE … WHERE value = ….
        if line.has_changed_nothing(&answer) {
            doing.ops.truncate(ops);
            doing.writes.truncate(writes);
        }
        let value = answer.rows.as_ref().and_then(|rows| rows.first()?.first()?.clone());
        match line.effect {
            Effect::Reads(letter) => {
                let value = value.and_then(|value| value.parse().ok());
                doing.ops.push(read_op(letters.register(letter), value));
            }
            Effect::ReadsList(letter) => {
                let values = value.as_deref().map(crate::driver::numbers);
                doing.ops.push(list_op(letters.register(letter), values.as_deref()));
            }
            _ => {}
        }
        doing.statements.push((Sent { text, rows: answer.rows }, doing.ops.len() - ops));
        Ok(())
    }

    /// A value that nobody else writes.
    fn fresh(&mut self) -> i64 {
        self.written += 1;
        (i64::from(self.number + 1) << 40) | self.written
    }
}

impl Doing {
    fn push(&mut self, sent: Sent, ops: Vec<Value>) {
        self.statements.push((sent, ops.len()));
        self.ops.extend(ops);
    }

    fn read(&mut self, client: &mut dyn Client, register: u64) -> Result<Option<i64>, DriverError> {
        let (value, sent) = client.read(register)?;
        self.push(sent, vec![read_op(register, value)]);
        Ok(value)
    }

    fn write(
        &mut self,
        client: &mut dyn Client,
        register: u64,
        value: i64,
    ) -> Result<(), DriverError> {
        // What was sent may have been done, whatever is answered.
        self.ops.push(json!(["w", register, value]));
        self.writes.push(Written::Register(register, value));
        let sent = client.write(register, value)?;
        self.statements.push((sent, 1));
        Ok(())
    }

    /// One that adds to a register has read what was there. Until it is answered nobody knows what
    /// that was; then the transaction has no effect.
    fn add(&mut self, client: &mut dyn Client, register: u64) -> Result<(), DriverError> {
        let (value, sent) = client.add(register)?;
        let ops = vec![json!(["r", register, value - 1]), json!(["w", register, value])];
        self.writes.push(Written::Register(register, value));
        for (place, sent) in sent.into_iter().enumerate() {
            self.push(sent, if place == 0 { ops.clone() } else { Vec::new() });
        }
        Ok(())
    }

    fn scan(&mut self, client: &mut dyn Client, part: u64) -> Result<(), DriverError> {
        let (rows, sent) = client.scan(part)?;
        let reads = rows_found(part, &rows).into_iter().map(|(row, found)| row_op(row, found));
        self.push(sent, reads.collect());
        Ok(())
    }
}
