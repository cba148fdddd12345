//! Locks of rows, keys, tables and of applications' own choice: who holds what, who waits for whom,
//! and who has to give up because waiting would never end.

use crate::cells::{HeapId, KeyNo, RowNo};
use crate::error::{Result, SqlError, code};
use crate::interrupt::Interrupt;
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Who holds locks: a transaction, or a session for locks that outlive transactions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Owner(pub u64);

/// What is locked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A row.
    Row(HeapId, RowNo),
    /// A key of a unique index.
    Key(HeapId, KeyNo),
    /// The place of rows that are not there yet: anywhere in a table.
    Gap(HeapId),
    /// The same with a key of an index.
    KeyGap(HeapId, KeyNo),
    /// A table, or any other object of the catalog.
    Object(Oid),
    /// Whatever the application means by this number (database, and how it was given).
    Advisory(u32, i64, bool),
}

/// How strong a lock is: for rows the four of PostgreSQL, for tables its eight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Mode {
    KeyShare,
    RowForShare,
    NoKeyUpdate,
    Update,
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
    /// No row may come; whoever holds it minds nobody else who does.
    Gap,
    /// A row comes.
    InsertIntention,
}

impl Mode {
    /// Whether two owners cannot hold both.
    pub fn conflicts(self, other: Mode) -> bool {
        use Mode as M;
        let bit = |mode: Mode| 1u16 << (mode as u16);
        let mask = match self {
            M::KeyShare => bit(M::Update),
            M::RowForShare => bit(M::NoKeyUpdate) | bit(M::Update),
            M::NoKeyUpdate => bit(M::RowForShare) | bit(M::NoKeyUpdate) | bit(M::Update),
            M::Update => 0b1111,
            M::AccessShare => bit(M::AccessExclusive),
            M::RowShare => bit(M::Exclusive) | bit(M::AccessExclusive),
            M::RowExclusive => {
                bit(M::Share)
                    | bit(M::ShareRowExclusive)
                    | bit(M::Exclusive)
                    | bit(M::AccessExclusive)
            }
            M::ShareUpdateExclusive => {
                bit(M::ShareUpdateExclusive)
                    | bit(M::Share)
                    | bit(M::ShareRowExclusive)
                    | bit(M::Exclusive)
                    | bit(M::AccessExclusive)
            }
            M::Share => {
                bit(M::RowExclusive)
                    | bit(M::ShareUpdateExclusive)
                    | bit(M::ShareRowExclusive)
                    | bit(M::Exclusive)
                    | bit(M::AccessExclusive)
            }
            M::ShareRowExclusive => {
                bit(M::RowExclusive)
                    | bit(M::ShareUpdateExclusive)
                    | bit(M::Share)
                    | bit(M::ShareRowExclusive)
                    | bit(M::Exclusive)
                    | bit(M::AccessExclusive)
            }
            M::Exclusive => 0b1111_1111_0000 & !bit(M::AccessShare),
            M::AccessExclusive => 0b1111_1111_0000,
            M::Gap => bit(M::InsertIntention),
            M::InsertIntention => 0,
        };
        mask & bit(other) != 0
    }
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Not at all.
    None,
    /// Until this time, if there is one.
    Until(Option<Instant>),
}

/// What came of asking for a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is held.
    Held,
    /// Others hold it.
    Busy,
}

#[derive(Default, Debug)]
struct Lock {
    holders: Vec<(Owner, Mode, u32)>,
    waiting: Vec<(Owner, Mode)>,
}

#[derive(Default, Debug)]
struct Table {
    locks: FxHashMap<Target, Lock>,
    held: FxHashMap<Owner, Vec<Target>>,
    /// What each owner waits for.
    waits: FxHashMap<Owner, (Target, Mode)>,
}

/// The locks of a database.
#[derive(Default, Debug)]
pub struct LockTable {
    table: Mutex<Table>,
    changed: Condvar,
}

/// How often those who wait look whether they were interrupted.
const LOOK: Duration = Duration::from_millis(20);

impl LockTable {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a lock, and waits for it as long as there is patience.
    pub fn acquire(
        &self,
        owner: Owner,
        target: Target,
        mode: Mode,
        patience: Patience,
        interrupt: &Interrupt,
    ) -> Result<Outcome> {
        let mut table = self.lock();
        let mut queued = false;
        loop {
            if table.is_free(owner, target, mode, queued) {
                table.leave_queue(owner, target);
                table.take(owner, target, mode);
                return Ok(Outcome::Held);
            }
            let until = match patience {
                Patience::None => return Ok(Outcome::Busy),
                Patience::Until(until) => until,
            };
            if !queued {
                queued = true;
                table.locks.entry(target).or_default().waiting.push((owner, mode));
                table.waits.insert(owner, (target, mode));
                if table.is_deadlock(owner) {
                    table.leave_queue(owner, target);
                    return Err(deadlock());
                }
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                table.leave_queue(owner, target);
                self.changed.notify_all();
                return Err(SqlError::new(
                    code::LOCK_NOT_AVAILABLE,
                    "canceling statement due to lock timeout",
                ));
            }
            if let Err(error) = interrupt.check() {
                table.leave_queue(owner, target);
                self.changed.notify_all();
                return Err(error);
            }
            table =
                self.changed.wait_timeout(table, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Gives up one lock; whether it was held.
    pub fn release(&self, owner: Owner, target: Target, mode: Mode) -> bool {
        let mut table = self.lock();
        let Some(lock) = table.locks.get_mut(&target) else { return false };
        let is_it = |it: &&mut (Owner, Mode, u32)| it.0 == owner && it.1 == mode;
        let Some(holder) = lock.holders.iter_mut().find(is_it) else { return false };
        holder.2 -= 1;
        if holder.2 == 0 {
            lock.holders.retain(|it| !(it.0 == owner && it.1 == mode));
            let still = lock.holders.iter().any(|it| it.0 == owner);
            if !still && let Some(held) = table.held.get_mut(&owner) {
                held.retain(|it| *it != target);
            }
            self.changed.notify_all();
        }
        true
    }

    /// Gives up all locks of an owner.
    pub fn release_all(&self, owner: Owner) {
        let mut table = self.lock();
        for target in table.held.remove(&owner).unwrap_or_default() {
            let Some(lock) = table.locks.get_mut(&target) else { continue };
            lock.holders.retain(|it| it.0 != owner);
            if lock.holders.is_empty() && lock.waiting.is_empty() {
                table.locks.remove(&target);
            }
        }
        self.changed.notify_all();
    }

    /// All locks of one kind that an owner holds.
    pub fn held(&self, owner: Owner) -> Vec<(Target, Mode, u32)> {
        let table = self.lock();
        let targets = table.held.get(&owner).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for target in targets {
            if let Some(lock) = table.locks.get(&target) {
                let own = lock.holders.iter().filter(|it| it.0 == owner);
                all.extend(own.map(|it| (target, it.1, it.2)));
            }
        }
        all
    }

    /// A mode in which an owner holds something.
    pub fn held_mode(&self, owner: Owner, target: Target) -> Option<Mode> {
        let table = self.lock();
        let lock = table.locks.get(&target)?;
        lock.holders.iter().find(|it| it.0 == owner).map(|it| it.1)
    }

    /// Whether an owner waits for a lock.
    pub fn is_waiting(&self, owner: Owner) -> bool {
        self.lock().waits.contains_key(&owner)
    }

    /// Everything that is held or waited for, for pg_locks.
    pub fn all(&self) -> Vec<(Target, Owner, Mode, bool)> {
        let table = self.lock();
        let mut all = Vec::new();
        for (&target, lock) in &table.locks {
            all.extend(lock.holders.iter().map(|it| (target, it.0, it.1, true)));
            all.extend(lock.waiting.iter().map(|it| (target, it.0, it.1, false)));
        }
        all
    }
}

impl Table {
    fn is_free(&self, owner: Owner, target: Target, mode: Mode, queued: bool) -> bool {
        let Some(lock) = self.locks.get(&target) else { return true };
        let blocked = lock.holders.iter().any(|it| it.0 != owner && it.1.conflicts(mode));
        if blocked {
            return false;
        }
        // First come, first served, except for those who hold it already.
        let holds = lock.holders.iter().any(|it| it.0 == owner);
        let mut before = lock.waiting.iter().take_while(|it| !queued || it.0 != owner);
        holds || !before.any(|it| it.0 != owner && it.1.conflicts(mode))
    }

    fn take(&mut self, owner: Owner, target: Target, mode: Mode) {
        let lock = self.locks.entry(target).or_default();
        // A load holds a lock for each row: looking through all that is held would be quadratic.
        let is_first = !lock.holders.iter().any(|it| it.0 == owner);
        match lock.holders.iter_mut().find(|it| it.0 == owner && it.1 == mode) {
            Some(holder) => holder.2 += 1,
            None => {
                lock.holders.reserve_exact(1);
                lock.holders.push((owner, mode, 1));
            }
        }
        if is_first {
            self.held.entry(owner).or_default().push(target);
        }
    }

    fn leave_queue(&mut self, owner: Owner, target: Target) {
        self.waits.remove(&owner);
        if let Some(lock) = self.locks.get_mut(&target) {
            lock.waiting.retain(|it| it.0 != owner);
        }
    }

    /// Whether an owner waits, through others, for itself.
    fn is_deadlock(&self, owner: Owner) -> bool {
        let mut seen = vec![owner];
        let mut todo = vec![owner];
        while let Some(next) = todo.pop() {
            let Some(&(target, mode)) = self.waits.get(&next) else { continue };
            let Some(lock) = self.locks.get(&target) else { continue };
            let holders = lock.holders.iter().filter(|it| it.0 != next && it.1.conflicts(mode));
            let ahead = lock.waiting.iter().take_while(|it| it.0 != next);
            let ahead = ahead.filter(|it| it.1.conflicts(mode)).map(|it| it.0);
            for blocker in holders.map(|it| it.0).chain(ahead) {
                if blocker == owner {
                    return true;
                }
                if !seen.contains(&blocker) {
                    seen.push(blocker);
                    todo.push(blocker);
                }
            }
        }
        false
    }
}

fn deadlock() -> SqlError {
    SqlError::new(code::DEADLOCK_DETECTED, "deadlock detected")
        .hint("See server log for query details.")
}
