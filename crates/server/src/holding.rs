//! Holds statements before they run, or their answers after they have run, for a short time, so
//! that other clients overlap with them: what a server under load does by itself.
//!
//! A [`Holder`] decides whom, where and for how long. Decisions are about points, which are named
//! by the session, by the number of the statement in it and by the place, so that they can be
//! recorded and made again. A statement is held for a bounded time, all places together, and never
//! when no other client could use it: when each of them waits for a lock, is held itself, or has
//! sent nothing for a while.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long one statement is held at most, unless said otherwise.
pub const HOLD_MAX: Duration = Duration::from_millis(20);
/// A client that sends nothing for this long is idle: those who are busy answer sooner.
const IDLE_MIN: Duration = Duration::from_millis(2);
/// How often one that holds looks at the others.
const LOOK: Duration = Duration::from_millis(1);
/// So many decisions are remembered.
const DECISIONS_MAX: usize = 1 << 20;

/// Where a statement can be held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// It has arrived, and nothing of it has happened.
    Before,
    /// It has run, and its client was not told.
    After,
}

/// A statement at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Point {
    /// The number of the session.
    pub session: u32,
    /// The number of the statement in its session, from 0.
    pub statement: u32,
    /// The place.
    pub place: Place,
}

/// That a statement was to be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The statement, and where.
    pub point: Point,
    /// For how long.
    pub time: Duration,
}

/// Decides which statements are held.
pub trait Holder: Send {
    /// For how long to hold the statement at this point; more than `most` counts as `most`.
    fn hold(&mut self, point: Point, most: Duration) -> Duration;
}

impl<H: Holder + ?Sized> Holder for Box<H> {
    fn hold(&mut self, point: Point, most: Duration) -> Duration {
        (**self).hold(point, most)
    }
}

/// Holds some statements, by chance. What it decides about a point depends on the seed alone.
#[derive(Clone, Copy, Debug)]
pub struct ByChance {
    seed: u64,
}

impl ByChance {
    /// The same seed makes the same decisions.
    pub fn new(seed: u64) -> ByChance {
        ByChance { seed }
    }
}

impl Holder for ByChance {
    fn hold(&mut self, point: Point, most: Duration) -> Duration {
        let Point { session, statement, place } = point;
        let number = (u64::from(session) << 33) | (u64::from(statement) << 1) | place as u64;
        let chance = mix(self.seed ^ mix(number));
        // One of four is held, for any part of the time.
        if chance.is_multiple_of(4) {
            most.mul_f64((chance >> 11) as f64 / 2f64.powi(53))
        } else {
            Duration::ZERO
        }
    }
}

/// The finalizer of SplitMix64: numbers that are near each other become far apart.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Makes recorded decisions again.
#[derive(Clone, Default, Debug)]
pub struct HoldScript(FxHashMap<Point, Duration>);

impl HoldScript {
    /// A script of these decisions; nothing else is held.
    pub fn new(decisions: impl IntoIterator<Item = Decision>) -> HoldScript {
        HoldScript(decisions.into_iter().map(|it| (it.point, it.time)).collect())
    }
}

impl Holder for HoldScript {
    fn hold(&mut self, point: Point, _most: Duration) -> Duration {
        self.0.get(&point).copied().unwrap_or_default()
    }
}

/// What a client is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    Idle,
    Works,
    IsHeld,
}

#[derive(Clone, Copy, Debug)]
struct Client {
    doing: Doing,
    since: Instant,
    /// How many statements it has sent.
    statements: u32,
    /// For how long its statement may still be held.
    left: Duration,
}

struct Inner {
    holder: Box<dyn Holder>,
    decisions: Vec<Decision>,
    clients: BTreeMap<u32, Client>,
}

/// Holds the statements of all clients of a server.
pub struct Holding {
    most: Duration,
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl fmt::Debug for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Holding(at most {:?})", self.most)
    }
}

impl Holding {
    /// Holds each statement for at most `most`, as `holder` decides.
    pub fn new(holder: impl Holder + 'static, most: Duration) -> Holding {
        let inner =
            Inner { holder: Box::new(holder), decisions: Vec::new(), clients: BTreeMap::new() };
        Holding { most, inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// The decisions to hold something that were made so far.
    pub fn decisions(&self) -> Vec<Decision> {
        self.lock().decisions.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, session: u32, doing: Doing) {
        let mut inner = self.lock();
        let left = self.most;
        let client = inner.clients.entry(session).or_insert_with(|| Client {
            doing,
            since: Instant::now(),
            statements: 0,
            left,
        });
        (client.doing, client.since) = (doing, Instant::now());
        self.changed.notify_all();
    }

    /// The client was answered: what it does next is up to it.
    pub fn idles(&self, session: u32) {
        self.note(session, Doing::Idle);
    }

    /// Something of the client has arrived.
    pub fn works(&self, session: u32) {
        self.note(session, Doing::Works);
    }

    /// A statement of the client begins.
    pub fn begin_statement(&self, session: u32) {
        self.works(session);
        if let Some(client) = self.lock().clients.get_mut(&session) {
            (client.statements, client.left) = (client.statements + 1, self.most);
        }
    }

    /// The client is gone.
    pub fn leaves(&self, session: u32) {
        self.lock().clients.remove(&session);
        self.changed.notify_all();
    }

    /// Holds the statement of a session as long as that is decided, and as long as another client
    /// could overlap with it. `waits` says of sessions whether they wait for a lock.
    pub fn hold(&self, session: u32, place: Place, waits: &dyn Fn(u32) -> bool) {
        let Some(time) = self.decide(session, place) else { return };
        let begun = Instant::now();
        self.note(session, Doing::IsHeld);
        let mut inner = self.lock();
        loop {
            let left = time.saturating_sub(begun.elapsed());
            if left.is_zero() || !inner.has_active(session, waits) {
                break;
            }
            let waited = self.changed.wait_timeout(inner, left.min(LOOK));
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(inner);
        self.note(session, Doing::Works);
    }

    /// For how long the statement is to be held, if at all.
    fn decide(&self, session: u32, place: Place) -> Option<Duration> {
        let mut inner = self.lock();
        let Inner { holder, decisions, clients } = &mut *inner;
        let client = clients.get_mut(&session)?;
        let point = Point { session, statement: client.statements.checked_sub(1)?, place };
        let time = holder.hold(point, client.left).min(client.left);
        if time.is_zero() {
            return None;
        }
        client.left -= time;
        if decisions.len() < DECISIONS_MAX {
            decisions.push(Decision { point, time });
        }
        Some(time)
    }
}

impl Inner {
    /// Whether another client does something, or has done so lately.
    fn has_active(&self, session: u32, waits: &dyn Fn(u32) -> bool) -> bool {
        self.clients.iter().any(|(&number, client)| {
            let is_active = match client.doing {
                Doing::IsHeld => false,
                Doing::Idle => client.since.elapsed() < IDLE_MIN,
                Doing::Works => !waits(number),
            };
            number != session && is_active
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Holds everything for as long as it may.
    struct Always;

    impl Holder for Always {
        fn hold(&mut self, _: Point, most: Duration) -> Duration {
            most
        }
    }

    const LONG: Duration = Duration::from_secs(5);

    fn held_for(holding: &Holding, session: u32, waits: &dyn Fn(u32) -> bool) -> Duration {
        let begun = Instant::now();
        holding.begin_statement(session);
        holding.hold(session, Place::Before, waits);
        begun.elapsed()
    }

    #[test]
    fn nobody_is_held_when_all_others_wait_or_are_idle_or_held() {
        let holding = Arc::new(Holding::new(Always, LONG));
        assert!(held_for(&holding, 1, &|_| false) < LONG / 10);
        holding.works(2);
        assert!(held_for(&holding, 1, &|session| session == 2) < LONG / 10);
        holding.idles(2);
        assert!(held_for(&holding, 1, &|_| false) < LONG / 10);
        // Two that are held do not hold each other: one is let go, works, and is done. The other
        // one works before it is held, so that the order of the threads does not matter.
        holding.works(2);
        let held_and_done = |holding: &Holding, session: u32| {
            let time = held_for(holding, session, &|_| false);
            holding.idles(session);
            time
        };
        let other = Arc::clone(&holding);
        let thread = std::thread::spawn(move || held_and_done(&other, 2));
        assert!(held_and_done(&holding, 1) < LONG / 10);
        assert!(thread.join().unwrap() < LONG / 10);
    }

    #[test]
    fn one_is_held_for_a_bounded_time_while_another_works() {
        let most = Duration::from_millis(30);
        let holding = Holding::new(Always, most);
        holding.works(2);
        let time = held_for(&holding, 1, &|_| false);
        assert!(time >= most && time < LONG, "{time:?}");
        // Nothing is left of the time of this statement.
        let begun = Instant::now();
        holding.hold(1, Place::After, &|_| false);
        assert!(begun.elapsed() < most);
        let point = Point { session: 1, statement: 0, place: Place::Before };
        assert_eq!(holding.decisions(), [Decision { point, time: most }]);
    }

    #[test]
    fn decisions_are_made_again_by_a_script_and_by_the_same_seed() {
        let points = (0..200).map(|number| Point {
            session: number % 5,
            statement: number / 5,
            place: if number % 2 == 0 { Place::Before } else { Place::After },
        });
        let points: Vec<Point> = points.collect();
        let ask = |mut holder: Box<dyn Holder>| -> Vec<Duration> {
            points.iter().map(|&point| holder.hold(point, HOLD_MAX)).collect()
        };
        let first = ask(Box::new(ByChance::new(7)));
        assert_eq!(first, ask(Box::new(ByChance::new(7))));
        assert_ne!(first, ask(Box::new(ByChance::new(8))));
        let held = first.iter().filter(|time| !time.is_zero()).count();
        assert!((20..100).contains(&held), "{held}");
        let decisions = points.iter().zip(&first).filter(|(_, time)| !time.is_zero());
        let decisions = decisions.map(|(&point, &time)| Decision { point, time });
        assert_eq!(first, ask(Box::new(HoldScript::new(decisions))));
    }
}
