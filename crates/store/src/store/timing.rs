//! When statements arrive and when they are answered, for stores that simulate one node of a
//! server: what was acknowledged before a statement arrived must be visible to it, and everything
//! that happened since may be.
//!
//! Whoever serves clients says both; sessions of which nobody says anything are answered at once.
//! A client has seen what its answers prove: the least position that its snapshots may have, the
//! versions that locks and constraints showed, and its own commits. When it is answered, that is
//! acknowledged, to itself and to all others, because clients may talk to each other.

use super::{Inner, Session, StoreError, Txn, value};
use crate::node::Node;
use crate::past::INITIAL;
use crate::ranges::Group;
use crate::recorded::Recorded;

/// What the timing of one session has come to.
#[derive(Clone, Default, Debug)]
pub(super) struct Timing {
    /// Its statement that is not answered yet.
    arrival: Option<Arrival>,
    /// How many commits its answers prove.
    seen: u32,
    /// Transactions that have ended, and of whose end the client was not told yet.
    untold: Vec<u32>,
}

/// A statement that has arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// How many commits were acknowledged by then.
    acknowledged: u32,
    /// When that was, if the store has a clock.
    time: Option<i64>,
}

impl<V> Session<V> {
    /// A statement of this session, or several, have arrived: what is acknowledged to others from
    /// now on they may miss. Has no effect unless the store simulates a node.
    pub fn arrived(&self) {
        let mut inner = self.shared.lock();
        if inner.engine.node.is_none() {
            return;
        }
        let time = inner.clock.as_mut().map(|clock| clock.now());
        let arrival = Arrival { acknowledged: inner.acknowledged, time };
        inner.clients[self.number as usize].timing.arrival = Some(arrival);
    }

    /// The client is about to be answered what it asked since [`Session::arrived`]. Must be called
    /// before the answer can reach it.
    pub fn answered(&self) {
        self.shared.lock().answered(self.number);
    }
}

/// A session that is gone holds up nothing.
impl<V> Drop for Session<V> {
    fn drop(&mut self) {
        let mut inner = self.shared.lock();
        inner.clients[self.number as usize].is_gone = true;
        inner.answered(self.number);
    }
}

impl<V> Inner<V> {
    fn answered(&mut self, session: u32) {
        let Some(node) = &self.engine.node else { return };
        let client = &mut self.clients[session as usize];
        client.timing.arrival = None;
        let snapshot = client.open.filter(|&txn| node.has_snapshot(txn));
        let proven = snapshot.map_or(0, |txn| node.first(&self.engine.log, txn));
        client.timing.seen = client.timing.seen.max(proven);
        self.acknowledged = self.acknowledged.max(client.timing.seen);
        for txn in std::mem::take(&mut client.timing.untold) {
            // It may have been settled by now.
            if self.times.get(txn as usize).is_some()
                && let Some(clock) = &mut self.clock
            {
                self.times[txn as usize].1 = clock.now();
            }
        }
    }

    /// When a transaction that begins now has begun: its client had asked for it before.
    pub(super) fn time_of_begin(&mut self, session: u32) -> Option<i64> {
        let now = self.clock.as_mut()?.now();
        let arrival = self.clients[session as usize].timing.arrival;
        Some(arrival.and_then(|arrival| arrival.time).unwrap_or(now))
    }

    /// A transaction of the session has ended. Whether its client does not know yet.
    pub(super) fn note_end(&mut self, session: u32, txn: u32) -> bool {
        if self.engine.node.is_none() {
            return false;
        }
        let commits = self.engine.log.commits;
        let timing = &mut self.clients[session as usize].timing;
        // One that failed proves that others have committed.
        timing.seen = commits;
        if timing.arrival.is_none() {
            self.acknowledged = commits;
            return false;
        }
        timing.untold.push(txn);
        true
    }

    /// The least position that the snapshots of statements may have that are yet to begin.
    pub(super) fn bound(&self) -> u32 {
        let bounds = self.clients.iter().filter_map(|client| {
            let acknowledged = client.timing.arrival?.acknowledged;
            Some(acknowledged.max(client.timing.seen))
        });
        bounds.min().unwrap_or(u32::MAX).min(self.acknowledged)
    }

    /// A statement of `txn` begins, or a read that is part of none.
    pub(super) fn begin_statement(&mut self, txn: u32) {
        let session = self.txn_names[txn as usize].session;
        let client = &mut self.clients[session as usize];
        client.statements += 1;
        let timing = &client.timing;
        let log = &mut self.engine.log;
        let acknowledged = timing.arrival.map_or(log.commits, |arrival| arrival.acknowledged);
        let bound = acknowledged.max(timing.seen);
        match &mut self.engine.node {
            Some(node) => node.begin_statement(log, txn, bound),
            None => log.begin_statement(txn),
        }
    }

    /// A read or write needs a snapshot, also where no statement began.
    pub(super) fn need_snapshot(&mut self, txn: u32) {
        if self.engine.node.as_ref().is_some_and(|node| !node.has_snapshot(txn)) {
            self.begin_statement(txn);
        }
    }

    /// The client of `txn` gets to know that this version has committed.
    pub(super) fn note_seen(&mut self, txn: u32, source: u32) {
        if self.engine.node.is_none() || source == INITIAL {
            return;
        }
        let position = self.engine.log.txn(source).commit + 1;
        self.note_position(txn, position);
    }

    fn note_position(&mut self, txn: u32, position: u32) {
        let session = self.txn_names[txn as usize].session;
        let timing = &mut self.clients[session as usize].timing;
        timing.seen = timing.seen.max(position);
    }

    /// Whether others have changed `key` since the snapshot of `txn`. If that depends on where the
    /// snapshot is, the chooser decides, as for a read.
    pub(super) fn is_changed(&mut self, txn: u32, key: u32) -> bool {
        self.need_snapshot(txn);
        let Some(node) = &self.engine.node else { return false };
        if self.engine.log.writes(txn, key) {
            return false;
        }
        let newest = self.engine.last_version(key);
        let known = node.is_changed(&self.engine.log, txn, key);
        let is_changed = known.unwrap_or_else(|| self.resolve(txn, key) != newest);
        if is_changed {
            self.note_seen(txn, newest);
        }
        is_changed
    }

    /// The version of `key` that the snapshot shows. If that depends on where it is, the chooser
    /// decides, and that is a read.
    fn resolve(&mut self, txn: u32, key: u32) -> u32 {
        let shown = self.engine.admissible(txn, key);
        if let [source] = shown[..] {
            return source;
        }
        let source = self.choose(txn, key).unwrap_or(INITIAL);
        self.engine.read(txn, key, source);
        self.events[txn as usize].push(Recorded::Read { key, source });
        source
    }

    /// Whether `txn` may write `key`: at levels with one snapshot, not if others have changed it.
    pub(super) fn may_write(&mut self, txn: u32, key: u32) -> bool {
        let keeps_snapshot = self.engine.log.txn(txn).level.is_strong();
        let refuses = self.engine.node.as_ref().is_some_and(|it| it.node == Node::Postgres);
        !refuses || !keeps_snapshot || !self.is_changed(txn, key)
    }
}

impl<V: Clone> Txn<V> {
    /// On a node: a lock was got, so the client knows that whoever held it has ended.
    pub fn note_lock(&mut self) {
        let Ok(mut inner) = self.open() else { return };
        let commits = inner.engine.log.commits;
        inner.note_position(self.number, commits);
    }

    /// The server whose node the store simulates, if it does, so that reads are by snapshots.
    pub fn node(&self) -> Option<Node> {
        self.shared.lock().engine.node.as_ref().map(|state| state.node)
    }

    /// On a node: the present statement reads by the snapshot. In InnoDB a transaction with one
    /// snapshot for all its statements has it from the first such statement on.
    pub fn fix_snapshot(&mut self) {
        let Ok(mut inner) = self.open() else { return };
        if let Some(node) = &mut inner.engine.node {
            node.fix_snapshot(self.number);
        }
    }

    /// What another transaction that is open has written to a member: some value, which may be
    /// none.
    pub fn pending_member(&self, group: Group, member: u32) -> Option<Option<V>> {
        let inner = self.shared.lock();
        let key = inner.names.find_member(group, member)?;
        let log = &inner.engine.log;
        let writer = log.open().find(|&txn| txn != self.number && log.writes(txn, key))?;
        Some(inner.events[writer as usize].written(key).cloned().flatten())
    }

    /// On a node: whether others have changed a member since the snapshot, of the statement or of
    /// the transaction.
    pub fn is_member_changed(&mut self, group: Group, member: u32) -> Result<bool, StoreError> {
        let mut inner = self.open()?;
        // What has no key was not changed for as long as the store remembers.
        let Some(key) = inner.names.find_member(group, member) else { return Ok(false) };
        Ok(inner.is_changed(self.number, key))
    }

    /// On a node: what the snapshot shows of a member, without a read, for those who keep
    /// constraints.
    pub fn glimpse_member(&mut self, group: Group, member: u32) -> Result<Option<V>, StoreError> {
        let mut inner = self.open()?;
        let Some(key) = inner.names.find_member(group, member) else { return Ok(None) };
        if inner.engine.log.writes(self.number, key) {
            return Ok(inner.events[self.number as usize].written(key).cloned().flatten());
        }
        inner.need_snapshot(self.number);
        let source = inner.resolve(self.number, key);
        Ok(value(&inner.initial, &inner.events, source, key).cloned())
    }

    /// Whether another transaction that is open has written a member.
    pub fn is_member_pending(&self, group: Group, member: u32) -> bool {
        let inner = self.shared.lock();
        let Some(key) = inner.names.find_member(group, member) else { return false };
        let log = &inner.engine.log;
        log.open().any(|txn| txn != self.number && log.writes(txn, key))
    }
}
