//! Locks of rows, keys, tables and of applications' own choice: who holds what, who waits for whom,
//! and who has to give up because waiting would never end. A lock that becomes free wakes those who
//! get it now, and nobody else: at a hot row all others would only look and wait again.

use crate::cells::{HeapId, KeyNo, RowNo};
use crate::error::{Result, SqlError, code};
use crate::interrupt::Interrupt;
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
    waits: FxHashMap<Owner, Wait>,
}

/// An owner that waits.
#[derive(Debug)]
struct Wait {
    target: Target,
    mode: Mode,
    /// Is told when the owner gets the lock.
    granted: Arc<Condvar>,
}

/// The locks of a database.
#[derive(Default, Debug)]
pub struct LockTable {
    table: Mutex<Table>,
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
        if table.is_free(owner, target, mode, false) {
            table.take(owner, target, mode);
            return Ok(Outcome::Held);
        }
        let until = match patience {
            Patience::None => return Ok(Outcome::Busy),
            Patience::Until(until) => until,
        };
        let granted = table.join_queue(owner, target, mode);
        let mut ended = match table.is_deadlock(owner) {
            true => Err(deadlock()),
            false => is_over(until, interrupt),
        };
        while ended.is_ok() && !table.is_free(owner, target, mode, true) {
            table = granted.wait_timeout(table, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            ended = is_over(until, interrupt);
        }
        table.leave_queue(owner, target);
        if ended.is_ok() {
            table.take(owner, target, mode);
        }
        // Those behind may have waited for this owner's place in the queue alone.
        table.wake(target);
        ended.map(|()| Outcome::Held)
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
            table.wake(target);
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
            } else {
                table.wake(target);
            }
        }
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

    /// Behind all who wait for the same; what tells the owner that the lock is its own.
    fn join_queue(&mut self, owner: Owner, target: Target, mode: Mode) -> Arc<Condvar> {
        let granted = Arc::new(Condvar::new());
        self.locks.entry(target).or_default().waiting.push((owner, mode));
        self.waits.insert(owner, Wait { target, mode, granted: Arc::clone(&granted) });
        granted
    }

    /// Wakes those who get a lock that has changed.
    fn wake(&self, target: Target) {
        let Some(lock) = self.locks.get(&target) else { return };
        for &(owner, mode) in &lock.waiting {
            if self.is_free(owner, target, mode, true)
                && let Some(wait) = self.waits.get(&owner)
            {
                wait.granted.notify_one();
            }
        }
    }

    fn leave_queue(&mut self, owner: Owner, target: Target) {
        self.waits.remove(&owner);
        if let Some(lock) = self.locks.get_mut(&target) {
            lock.waiting.retain(|it| it.0 != owner);
            if lock.holders.is_empty() && lock.waiting.is_empty() {
                self.locks.remove(&target);
            }
        }
    }

    /// Whether an owner waits, through others, for itself.
    fn is_deadlock(&self, owner: Owner) -> bool {
        let mut seen = vec![owner];
        let mut todo = vec![owner];
        while let Some(next) = todo.pop() {
            let Some(&Wait { target, mode, .. }) = self.waits.get(&next) else { continue };
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

/// Whether to go on waiting.
fn is_over(until: Option<Instant>, interrupt: &Interrupt) -> Result<()> {
    if until.is_some_and(|until| Instant::now() >= until) {
        let message = "canceling statement due to lock timeout";
        return Err(SqlError::new(code::LOCK_NOT_AVAILABLE, message));
    }
    interrupt.check()
}

fn deadlock() -> SqlError {
    SqlError::new(code::DEADLOCK_DETECTED, "deadlock detected")
        .hint("See server log for query details.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const ROW: Target = Target::Object(Oid(1));

    fn wait_for(locks: &LockTable, owner: u64, mode: Mode) -> Result<Outcome> {
        let interrupt = Interrupt::default();
        let until = Instant::now() + Duration::from_secs(60);
        locks.acquire(Owner(owner), ROW, mode, Patience::Until(Some(until)), &interrupt)
    }

    #[test]
    fn a_lock_goes_from_one_to_the_next_until_all_have_had_it() {
        let locks = LockTable::default();
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for owner in 1..=8 {
                let (locks, inside) = (&locks, &inside);
                scope.spawn(move || {
                    for _ in 0..200 {
                        assert_eq!(wait_for(locks, owner, Mode::Update).unwrap(), Outcome::Held);
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        locks.release_all(Owner(owner));
                    }
                });
            }
        });
        assert!(locks.all().is_empty());
    }

    #[test]
    fn who_gives_up_lets_those_behind_pass() {
        let locks = LockTable::default();
        wait_for(&locks, 1, Mode::KeyShare).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let until = Instant::now() + Duration::from_millis(200);
                let interrupt = Interrupt::default();
                locks.acquire(Owner(2), ROW, Mode::Update, Patience::Until(Some(until)), &interrupt)
            });
            while !locks.is_waiting(Owner(2)) {
                std::thread::yield_now();
            }
            // Waits only because the writer was first.
            assert_eq!(wait_for(&locks, 3, Mode::RowForShare).unwrap(), Outcome::Held);
            assert_eq!(writer.join().unwrap().unwrap_err().code(), code::LOCK_NOT_AVAILABLE);
        });
    }
}
