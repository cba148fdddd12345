//! Servers that are stopped while they are audited, without servers.

use seriatim_audit::{
    Audit, AuditError, Audited, Client, Driver, DriverError, Kept, Sent, Setting, Shape, audit,
    audit_again,
};
use seriatim_isolation::{Level, Order};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A database in memory, one operation at a time, that cannot be reached a few times when it is
/// to be tidied up.
struct Memory {
    values: Arc<Mutex<BTreeMap<u64, i64>>>,
    refusals: AtomicU32,
    /// How many writes it keeps; it acknowledges the others, too.
    room: Arc<AtomicU32>,
    /// Whether all nodes see what was made on one of them.
    follows: bool,
    /// How many connections there may be before all nodes are gone.
    connections: AtomicU32,
}

impl Memory {
    fn new(refusals: u32) -> Memory {
        let room = Arc::new(AtomicU32::new(u32::MAX));
        let (refusals, connections) = (AtomicU32::new(refusals), AtomicU32::new(u32::MAX));
        Memory { values: Arc::default(), refusals, room, follows: true, connections }
    }
}

struct Session {
    values: Arc<Mutex<BTreeMap<u64, i64>>>,
    room: Arc<AtomicU32>,
    /// Whether a write that there is no room for breaks the connection.
    breaks: bool,
}

impl Client for Session {
    fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
        Ok(())
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        Ok((self.values.lock().unwrap().get(&register).copied(), Sent::default()))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        let less = |room: u32| room.checked_sub(1);
        if self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
            self.values.lock().unwrap().insert(register, value);
        } else if self.breaks {
            return Err(DriverError::Lost("the node is gone".to_owned()));
        }
        Ok(Sent::default())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        Ok(())
    }
}

impl Driver for Memory {
    fn product(&self) -> String {
        "memory".to_owned()
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::ReadUncommitted]
    }

    fn promise(&self, _: Setting) -> Level {
        Level::Unconstrained
    }

    fn make(&self, registers: Range<u64>) -> Result<(), DriverError> {
        self.values.lock().unwrap().extend(registers.map(|register| (register, 0)));
        Ok(())
    }

    fn has_arrived(&self, _: u64) -> Result<bool, DriverError> {
        Ok(self.follows)
    }

    fn clean_up(&self) -> Result<(), DriverError> {
        if self.refusals.load(Ordering::SeqCst) > 0 {
            self.refusals.fetch_sub(1, Ordering::SeqCst);
            return Err(DriverError::Lost("it is being started".to_owned()));
        }
        Ok(())
    }

    fn connect(&self, _: u32) -> Result<Box<dyn Client>, DriverError> {
        let less = |left: u32| left.checked_sub(1);
        let is_there = self.connections.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        is_there.map_err(|_| DriverError::Lost("all nodes are gone".to_owned()))?;
        let (values, room) = (Arc::clone(&self.values), Arc::clone(&self.room));
        let breaks = self.connections.load(Ordering::SeqCst) < u32::MAX / 2;
        Ok(Box::new(Session { values, room, breaks }))
    }
}

fn asked(faults: &[&str]) -> Audit {
    Audit {
        faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        transactions: Some(50),
        duration: Duration::from_secs(20),
        ..Audit::new(Setting::ReadUncommitted)
    }
}

#[test]
fn a_server_that_was_stopped_last_is_waited_for_and_tidied_up() {
    let memory = Memory::new(3);
    let audited = audit(&memory, &asked(&["at 1h: true"])).unwrap();
    assert_eq!(audited.problem, None);
    assert_eq!(memory.refusals.load(Ordering::SeqCst), 0);
}

#[test]
fn without_faults_what_is_left_behind_is_told_at_once() {
    let memory = Memory::new(3);
    let audited = audit(&memory, &asked(&[])).unwrap();
    assert!(audited.problem.unwrap().contains("may be left in the database"));
    assert_eq!(memory.refusals.load(Ordering::SeqCst), 2);
}

#[test]
fn what_is_not_recorded_is_counted() {
    let audited = audit(&Memory::new(0), &Audit { is_recorded: false, ..asked(&[]) }).unwrap();
    assert_eq!(audited.tally.attempted(), 50);
    assert_eq!(audited.bytes_checked, 0);
}

#[test]
fn lost_writes_and_faults_are_told_again() {
    let memory = Memory { room: Arc::new(AtomicU32::new(20)), ..Memory::new(0) };
    let path = std::env::temp_dir().join(format!("seriatim-lost-{}.jsonl", std::process::id()));
    let asked = Audit { output: Some(path.clone()), ..asked(&["at 0s: true"]) };
    let audited = audit(&memory, &asked).unwrap();
    assert!(audited.lost_count > 0);
    assert_eq!(audited.keeps_promise(), Kept::No);
    let never = AtomicBool::new(false);
    let again = audit_again(&path, None, Order::Sessions, &|_: &Audited| {}, &never).unwrap();
    assert_eq!((again.lost_count, &again.lost), (audited.lost_count, &audited.lost));
    assert_eq!((again.faults, again.tally), (audited.faults, audited.tally));
    assert_eq!(again.exemplar.unwrap().workload, audited.exemplar.unwrap().workload);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn nobody_waits_for_nodes_that_do_not_follow_when_asked_to_end() {
    let memory = Memory { follows: false, ..Memory::new(0) };
    let (is_asked, begun) = (AtomicBool::new(false), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            is_asked.store(true, Ordering::SeqCst);
        });
        let audited = asked(&["at 1h: true"]).run(&memory, None, &|_: &Audited| {}, &is_asked);
        assert_eq!(audited.unwrap().tally.attempted(), 0);
    });
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let usual = Shape::default();
    for shape in [Shape { keys: 0, ..usual }, Shape { keys: 21, ..usual }] {
        let refused = audit(&Memory::new(0), &Audit { shape: Some(shape), ..asked(&[]) });
        assert!(matches!(refused, Err(AuditError::Shape(_))), "{shape:?}");
    }
    let refused = audit(&Memory::new(0), &Audit { sessions: 0, ..asked(&[]) });
    assert!(matches!(refused, Err(AuditError::Shape(_))));
}

#[test]
fn when_all_nodes_are_gone_what_was_seen_is_told() {
    let room = Arc::new(AtomicU32::new(30));
    let memory = Memory {
        connections: AtomicU32::new(8),
        refusals: AtomicU32::new(u32::MAX),
        room: Arc::clone(&room),
        ..Memory::new(0)
    };
    let path = std::env::temp_dir().join(format!("seriatim-gone-{}.jsonl", std::process::id()));
    let asked = Audit { output: Some(path.clone()), ..asked(&["at 1h: true"]) };
    let is_asked = AtomicBool::new(false);
    let audited = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Connections break when there is no more room, and there are no others.
            while room.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(50));
            is_asked.store(true, Ordering::SeqCst);
        });
        asked.run(&memory, None, &|_: &Audited| {}, &is_asked).unwrap()
    });
    assert!(audited.tally.committed > 0 && audited.tally.lost_connections > 0);
    assert_eq!((audited.lost_count, audited.unread_ends), (0, 1));
    assert_eq!(audited.keeps_promise(), Kept::Unknown);
    assert!(audited.problem.unwrap().contains("may be left in the database"));
    // The recording is whole, and says the same.
    let never = AtomicBool::new(false);
    let again = audit_again(&path, None, Order::Sessions, &|_: &Audited| {}, &never).unwrap();
    assert_eq!((again.tally, again.unread_ends), (audited.tally, 1));
    std::fs::remove_file(&path).unwrap();
}
