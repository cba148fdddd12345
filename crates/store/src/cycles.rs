//! Cycles of session order, reads and overwrites in what has happened so far: what makes a history unserializable.

use crate::chooser::PendingRead;
use crate::log::{Log, State};
use rustc_hash::FxHashSet;

/// How many transactions a search for a cycle looks at.
const REACH_MAX: usize = 1000;

/// Whether reading from `source` closes a cycle, at once or when the key is written.
pub(crate) fn closes(read: &PendingRead<'_>, source: u32, updated: bool) -> bool {
    let over = overwriters(read.log, read.key_number, source, read.txn);
    let update = |&writer: &u32| {
        let mut reads = read.log.txn(writer).reads.iter();
        reads.any(|other| other.key == read.key_number && other.source == source)
    };
    (updated && over.iter().any(update)) || reaches(read.log, over, read.txn) || overtakes(read, source)
}

/// Whether a version that the reader knows of must come behind `source`: reading from `source` puts it before.
fn overtakes(read: &PendingRead<'_>, source: u32) -> bool {
    if read.log.is_settled(source) {
        return false;
    }
    let writers = read.log.keys.get(read.key_number as usize).map_or(&[][..], |writers| &writers.all);
    let known = writers.iter().filter(|&&writer| writer != source && read.log.precedes(writer, read.txn));
    known.into_iter().any(|&writer| {
        let mut next = Vec::new();
        successors(read.log, source, &mut next);
        next.contains(&writer) || reaches(read.log, next, writer)
    })
}

/// Who wrote `key` behind `source` for certain, beside `txn`.
pub(crate) fn overwriters(log: &Log, key: u32, source: u32, txn: u32) -> Vec<u32> {
    let writers = log.keys.get(key as usize).map_or(&[][..], |writers| &writers.all);
    let behind =
        |&&writer: &&u32| writer != txn && writer != source && (log.is_settled(source) || log.precedes(source, writer));
    writers.iter().filter(behind).copied().collect()
}

/// Whether one of `start` must come before `target` in every serial order, as far as it is easily seen.
fn reaches(log: &Log, start: Vec<u32>, target: u32) -> bool {
    let mut seen: FxHashSet<u32> = start.iter().copied().collect();
    let mut waiting = start;
    while let Some(txn) = waiting.pop() {
        let mut next = Vec::new();
        successors(log, txn, &mut next);
        for later in next {
            if later == target {
                return true;
            }
            if seen.len() < REACH_MAX && seen.insert(later) {
                waiting.push(later);
            }
        }
    }
    false
}

/// Whom `txn` must come before: the next of its session, its readers, and those who overwrote what it read.
fn successors(log: &Log, txn: u32, next: &mut Vec<u32>) {
    let record = log.txn(txn);
    if record.state == State::Committed {
        let session = &log.sessions[record.session as usize];
        next.extend(session.get(record.number + 1).or(session.open));
    }
    next.extend(&record.readers);
    for read in &record.reads {
        next.extend(overwriters(log, read.key, read.source, txn));
    }
}

/// Whether some committed transaction must come before itself. Looks at those that ended last.
pub(crate) fn is_broken(log: &Log) -> bool {
    let lasts = log.sessions.iter().filter_map(|session| session.committed.back().copied());
    lasts.into_iter().any(|txn| {
        let mut next = Vec::new();
        successors(log, txn, &mut next);
        next.contains(&txn) || reaches(log, next, txn)
    })
}
