//! Servers that are stopped while they are audited, without servers.

use seriatim_audit::{Audit, Client, Driver, DriverError, Sent, Setting, audit};
use seriatim_isolation::Level;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A database in memory, one operation at a time, that cannot be reached a few times when it is
/// to be tidied up.
struct Memory {
    values: Arc<Mutex<BTreeMap<u64, i64>>>,
    refusals: AtomicU32,
}

impl Memory {
    fn new(refusals: u32) -> Memory {
        Memory { values: Arc::default(), refusals: AtomicU32::new(refusals) }
    }
}

struct Session(Arc<Mutex<BTreeMap<u64, i64>>>);

impl Client for Session {
    fn begin(&mut self, _: Setting) -> Result<(), DriverError> {
        Ok(())
    }

    fn read(&mut self, register: u64) -> Result<(Option<i64>, Sent), DriverError> {
        Ok((self.0.lock().unwrap().get(&register).copied(), Sent::default()))
    }

    fn write(&mut self, register: u64, value: i64) -> Result<Sent, DriverError> {
        self.0.lock().unwrap().insert(register, value);
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

    fn clean_up(&self) -> Result<(), DriverError> {
        if self.refusals.load(Ordering::SeqCst) > 0 {
            self.refusals.fetch_sub(1, Ordering::SeqCst);
            return Err(DriverError::Lost("it is being started".to_owned()));
        }
        Ok(())
    }

    fn connect(&self, _: u32) -> Result<Box<dyn Client>, DriverError> {
        Ok(Box::new(Session(Arc::clone(&self.values))))
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
