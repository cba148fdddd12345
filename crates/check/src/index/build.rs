//! Which transaction reads from which: matches every read to its write, key by key, and finds the
//! reads that no level but CI allows.
//!
//! Idea: sort the operations by key (a counting sort, each thread a range of keys), then resolve
//! each key alone with a small hash table that stays in the cache. One visit of a key finds the
//! source of each read, Plume's patterns a to f, non-repeatable reads (j) and ambiguous reads
//! (duplicate values). Time O(n), memory O(n).
//!
//! What counts (`DEFINITIONS.md` of seriatim-isolation): only the last write of a transaction to a
//! key is visible; only reads that do not follow a write of their own transaction to the key are
//! external; aborted transactions are no source; transactions of unknown outcome count iff a
//! transaction that counts reads from them. Among several writes of one value those that cannot be
//! the source of a legal read are no candidates, so a read is ambiguous only if two or more legal
//! sources are left.

use super::faults::sort_faults;
use super::ids::{Source, SourceVersion, VersionId};
use super::lists::{self, ListFacts};
use super::match_reads::{Entry, FROM_INITIAL, KeyFindings, UNRESOLVED, VISIBLE, resolve_keys};
use super::tables::{Index, Reads, Versions};
use crate::parallel;
use rustc_hash::FxHashSet;
use seriatim_history::{History, KeyId, OpId, Status, TxnId, large_columns};
use seriatim_isolation::Anomaly;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

impl Index {
    /// Matches all reads of `history`, on `threads` threads.
    pub fn build(history: &History, threads: usize) -> Index {
        let key_start = key_histogram(history, threads);
        let ranges = parallel::split_by_weight(&key_start, threads.max(1));
        let jobs = parallel::run(ranges, |keys| Job::resolve(history, &key_start, keys));
        let counts = transactions_that_count(history, &key_start, &jobs);
        let lists = lists::examine(history, &counts);
        let (mut index, found) = assemble(history, &key_start, jobs, counts, lists);
        index.collect_findings(history, found);
        index
    }

    /// Keeps the findings of transactions that count, in the order of the history.
    fn collect_findings(&mut self, history: &History, found: Vec<KeyFindings>) {
        let counts = |op: OpId| self.counts[history.txn_of(op).index()];
        for part in found {
            self.faults.extend(part.faults.into_iter().filter(|fault| counts(fault.reader())));
            self.unrepeated.extend(part.unrepeated.into_iter().filter(|pair| counts(pair.first)));
            self.ambiguous.extend(part.ambiguous.into_iter().filter(|&op| counts(op)));
        }
        let known: FxHashSet<(Anomaly, OpId)> =
            self.faults.iter().map(|fault| (fault.kind, fault.reader())).collect();
        let new = self
            .lists
            .faults
            .drain(..)
            .filter(|fault| !known.contains(&(fault.kind, fault.reader())));
        self.faults.extend(new);
        self.ambiguous.append(&mut self.lists.ambiguous);
        sort_faults(&mut self.faults);
        self.unrepeated.sort_unstable();
        self.ambiguous.sort_unstable();
        self.ambiguous.dedup();
    }
}

/// Prefix sums of the number of operations per key.
fn key_histogram(history: &History, threads: usize) -> Vec<u32> {
    let keys = history.keys();
    let chunk = keys.len().div_ceil(threads.max(1)).max(1);
    let counts = parallel::run(keys.chunks(chunk).collect(), |chunk: &[KeyId]| {
        let mut counts = vec![0u32; history.key_count() + 1];
        for key in chunk {
            counts[key.index() + 1] += 1;
        }
        counts
    });
    let mut sums = vec![0u32; history.key_count() + 1];
    let mut sum = 0;
    for key in 0..sums.len() {
        sum += counts.iter().map(|counts| counts[key]).sum::<u32>();
        sums[key] = sum;
    }
    sums
}

/// A range of keys, worked on by one thread.
struct Job {
    keys: Range<usize>,
    /// The operations on these keys, key by key, in the order of the history.
    entries: Vec<Entry>,
    found: KeyFindings,
}

impl Job {
    fn resolve(history: &History, key_start: &[u32], keys: Range<usize>) -> Job {
        let length = (key_start[keys.end] - key_start[keys.start]) as usize;
        let mut entries = large_columns::filled(Entry::EMPTY, length);
        sort_by_key(history, key_start, &keys, &mut entries);
        let found = resolve_keys(history, key_start, &keys, &mut entries);
        Job { keys, entries, found }
    }

    /// The entries of each key.
    fn by_key<'j>(&'j self, key_start: &'j [u32]) -> impl Iterator<Item = &'j [Entry]> + 'j {
        let base = key_start[self.keys.start] as usize;
        self.keys.clone().map(move |key| {
            &self.entries[key_start[key] as usize - base..key_start[key + 1] as usize - base]
        })
    }
}

/// Puts the operations on `keys` into `entries`, key by key, in the order of the history.
fn sort_by_key(history: &History, key_start: &[u32], keys: &Range<usize>, entries: &mut [Entry]) {
    let base = key_start[keys.start];
    let mut next: Vec<u32> =
        key_start[keys.start..keys.end].iter().map(|&start| start - base).collect();
    let (kinds, op_keys, values) = (history.kinds(), history.keys(), history.values());
    let bounds = history.txn_bounds();
    for txn in 0..history.txn_count() {
        let ops = bounds[txn] as usize..bounds[txn + 1] as usize;
        for op in ops {
            let key = op_keys[op].index();
            if !keys.contains(&key) {
                continue;
            }
            let place = &mut next[key - keys.start];
            entries[*place as usize] = Entry::new(kinds[op], values[op], op.into(), txn.into());
            *place += 1;
        }
    }
}

/// Committed transactions, and unknown ones that a transaction that counts reads from.
fn transactions_that_count(history: &History, key_start: &[u32], jobs: &[Job]) -> Vec<bool> {
    let mut counts: Vec<bool> =
        history.txns().map(|txn| history.status(txn) == Status::Committed).collect();
    if !history.txns().any(|txn| history.status(txn) == Status::Unknown) {
        return counts;
    }
    let mut read_from = lists::read_from(history);
    for entries in jobs.iter().flat_map(|job| job.by_key(key_start)) {
        for entry in entries.iter().filter(|entry| !entry.is_write() && entry.slot < FROM_INITIAL) {
            read_from.push((entry.txn(), entries[entry.slot as usize].txn()));
        }
    }
    read_from.retain(|&(_, writer)| history.status(writer) == Status::Unknown);
    read_from.sort_unstable();
    let mut found: Vec<TxnId> = history.txns().filter(|txn| counts[txn.index()]).collect();
    while let Some(reader) = found.pop() {
        let first = read_from.partition_point(|pair| pair.0 < reader);
        for &(_, writer) in read_from[first..].iter().take_while(|pair| pair.0 == reader) {
            if !counts[writer.index()] {
                counts[writer.index()] = true;
                found.push(writer);
            }
        }
    }
    counts
}

/// Builds the arrays that the levels work on from the resolved entries.
fn assemble(
    history: &History,
    key_start: &[u32],
    jobs: Vec<Job>,
    counts: Vec<bool>,
    lists: ListFacts,
) -> (Index, Vec<KeyFindings>) {
    let mut source_txn: Vec<AtomicU32> = large_columns::column(history.op_count());
    source_txn.resize_with(history.op_count(), || AtomicU32::new(Source::NONE.raw()));
    let (version_start, read_start) = count_per_key(key_start, &jobs, &counts);
    let (version_total, read_total) = (last(&version_start), last(&read_start));
    // Plain numbers until the threads have filled them: only of these the allocator knows that
    // zeros need not be written.
    let mut version_txn: Vec<u32> = large_columns::zeros(version_total);
    let [mut read_txn, mut read_op, mut read_source] = [(); 3].map(|()| vec![0u32; read_total]);
    let lengths = |start: &[u32]| -> Vec<usize> {
        jobs.iter().map(|job| (start[job.keys.end] - start[job.keys.start]) as usize).collect()
    };
    let version_pieces = parallel::cut(&mut version_txn, lengths(&version_start).into_iter());
    let read_lengths = lengths(&read_start);
    let txn_pieces = parallel::cut(&mut read_txn, read_lengths.iter().copied());
    let op_pieces = parallel::cut(&mut read_op, read_lengths.iter().copied());
    let source_pieces = parallel::cut(&mut read_source, read_lengths.iter().copied());
    let read_pieces = txn_pieces.into_iter().zip(op_pieces).zip(source_pieces);
    let read_pieces =
        read_pieces.map(|((txn, op), source)| ReadsPiece { txn, op, source, filled: 0 });
    let pieces = jobs.into_iter().zip(version_pieces).zip(read_pieces);
    let found = parallel::run(
        pieces.collect(),
        |((Job { keys, mut entries, found }, versions), mut reads)| {
            let (entry_base, version_base) =
                (key_start[keys.start] as usize, version_start[keys.start] as usize);
            for key in keys {
                let entries = &mut entries[key_start[key] as usize - entry_base
                    ..key_start[key + 1] as usize - entry_base];
                let first_version = version_start[key];
                let own = first_version as usize - version_base
                    ..version_start[key + 1] as usize - version_base;
                number_versions(entries, &counts, first_version, &mut versions[own]);
                reads.add_key(entries, &counts, &source_txn);
            }
            found
        },
    );
    let txn_session = history
        .sessions()
        .flat_map(|session| std::iter::repeat_n(session, history.txns_of(session).len()))
        .collect();
    let index = Index {
        counts,
        txn_session,
        source_txn: named(source_txn, |source| Source::from_raw(source.into_inner())),
        versions: Versions { start: version_start, txn: named(version_txn, TxnId) },
        reads: Reads {
            start: read_start,
            txn: named(read_txn, TxnId),
            op: named(read_op, OpId),
            source: named(read_source, SourceVersion::from_raw),
        },
        faults: Vec::new(),
        unrepeated: Vec::new(),
        ambiguous: Vec::new(),
        lists,
        overlaps: Vec::new(),
        told: Vec::new(),
    };
    (index, found)
}

/// A column of numbers as one of what they stand for, in the same memory.
fn named<N, T>(column: Vec<N>, name: impl Fn(N) -> T) -> Vec<T> {
    column.into_iter().map(name).collect()
}

fn last(sums: &[u32]) -> usize {
    sums.last().map_or(0, |&sum| sum as usize)
}

impl Entry {
    /// Whether this is a visible write of a transaction that counts.
    fn is_version(self, counts: &[bool]) -> bool {
        self.is_write() && self.slot == VISIBLE && counts[self.txn().index()]
    }

    /// Whether this is an external read with a source, of a transaction that counts.
    fn is_sourced_read(self, counts: &[bool]) -> bool {
        !self.is_write() && self.slot != UNRESOLVED && counts[self.txn().index()]
    }
}

/// Prefix sums of the versions and of the reads of each key.
fn count_per_key(key_start: &[u32], jobs: &[Job], counts: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let parts = parallel::run(jobs.iter().collect(), |job: &Job| {
        let of_key = |entries: &[Entry]| {
            let versions = entries.iter().filter(|entry| entry.is_version(counts)).count() as u32;
            let reads = entries.iter().filter(|entry| entry.is_sourced_read(counts)).count() as u32;
            (versions, reads)
        };
        job.by_key(key_start).map(of_key).collect::<Vec<_>>()
    });
    let (mut versions, mut reads) = (vec![0], vec![0]);
    let (mut version_sum, mut read_sum) = (0, 0);
    for (version_count, read_count) in parts.into_iter().flatten() {
        version_sum += version_count;
        read_sum += read_count;
        versions.push(version_sum);
        reads.push(read_sum);
    }
    versions.resize(key_start.len(), version_sum);
    reads.resize(key_start.len(), read_sum);
    (versions, reads)
}

/// Writes down the versions of a key, and in each visible write's entry the number of its version.
fn number_versions(entries: &mut [Entry], counts: &[bool], first: u32, versions: &mut [u32]) {
    let visible = entries.iter_mut().filter(|entry| entry.is_version(counts));
    for (local, (entry, version)) in visible.zip(versions).enumerate() {
        entry.slot = u64::from(first) + local as u64;
        *version = entry.txn().0;
    }
}

/// The reads of a range of keys, as plain numbers, filled key by key.
struct ReadsPiece<'r> {
    txn: &'r mut [u32],
    op: &'r mut [u32],
    source: &'r mut [u32],
    filled: usize,
}

impl ReadsPiece<'_> {
    fn add_key(&mut self, entries: &[Entry], counts: &[bool], source_txn: &[AtomicU32]) {
        for entry in entries.iter().filter(|entry| entry.is_sourced_read(counts)) {
            let (source, writer) = if entry.slot == FROM_INITIAL {
                (SourceVersion::INITIAL, Source::INITIAL)
            } else {
                let writer = entries[entry.slot as usize];
                (VersionId(writer.slot as u32).into(), writer.txn().into())
            };
            self.txn[self.filled] = entry.txn().0;
            self.op[self.filled] = entry.op.0;
            self.source[self.filled] = source.raw();
            self.filled += 1;
            source_txn[entry.op.index()].store(writer.raw(), Ordering::Relaxed);
        }
    }
}
