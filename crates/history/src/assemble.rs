//! From pieces of a file, each in file order, to the arrays of a history in session order.
//!
//! A [`Block`] is what one thread parsed: columns of operations, and the runs of neighbouring
//! operations that belong to one transaction. Because a recorder writes transactions more or less
//! in one piece, there are far fewer runs than operations; sorting means to give each run its
//! target and then to copy slices, one column at a time (so that only one column exists twice),
//! each thread filling its own part of the target.

use crate::atom::Value;
use crate::ids::KeyId;
use crate::large_columns;
use crate::model::OpKind;
use crate::place::Places;
use std::thread;

/// Neighbouring operations of one transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The transaction in file order, or [`Run::DROPPED`]; after [`order_runs`] the number of its
    /// first operation.
    pub txn: u32,
    /// How many operations.
    pub len: u32,
}

impl Run {
    /// In place of a transaction: these operations do not belong to the history.
    pub const DROPPED: u32 = u32::MAX;
}

/// Operations of a piece of a file, in file order.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub kind: Vec<OpKind>,
    pub key: Vec<KeyId>,
    pub value: Vec<Value>,
    pub places: Places,
    pub runs: Vec<Run>,
}

/// The operations of a history, sorted.
pub(crate) struct Sorted {
    pub kind: Vec<OpKind>,
    pub key: Vec<KeyId>,
    pub value: Vec<Value>,
    pub places: Places,
}

/// The runs of a column that names the transaction of each operation.
pub(crate) fn runs_of(op_txn: &[u32]) -> Vec<Run> {
    op_txn
        .chunk_by(|a, b| a == b)
        .map(|chunk| Run { txn: chunk[0], len: chunk.len() as u32 })
        .collect()
}

/// Boundaries of the transactions (renumbered by `new_of_old`) in the operations.
pub(crate) fn txn_bounds(blocks: &[Block], new_of_old: &[u32]) -> Vec<u32> {
    let mut bounds = vec![0u32; new_of_old.len() + 1];
    for run in blocks.iter().flat_map(|block| &block.runs) {
        if run.txn != Run::DROPPED {
            bounds[new_of_old[run.txn as usize] as usize + 1] += run.len;
        }
    }
    prefix_sums(&mut bounds);
    bounds
}

/// Turns counts into the sums of all counts up to each.
pub(crate) fn prefix_sums(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// Sorts the operations of `blocks` into the transactions that `bounds` delimits, with up to
/// `threads` threads.
pub(crate) fn sort(
    mut blocks: Vec<Block>,
    new_of_old: &[u32],
    bounds: &[u32],
    threads: usize,
) -> Sorted {
    if order_runs(&mut blocks, new_of_old, bounds) {
        return concatenate(blocks);
    }
    let target = Target { cuts: cuts(bounds, threads) };
    let runs: Vec<Vec<Run>> =
        blocks.iter_mut().map(|block| std::mem::take(&mut block.runs)).collect();
    let value = target.fill(
        blocks.iter_mut().map(|block| std::mem::take(&mut block.value)),
        &runs,
        Value::NULL,
    );
    let key =
        target.fill(blocks.iter_mut().map(|block| std::mem::take(&mut block.key)), &runs, KeyId(0));
    let kind = target.fill(
        blocks.iter_mut().map(|block| std::mem::take(&mut block.kind)),
        &runs,
        OpKind::Read,
    );
    let places = target.fill_places(blocks.into_iter().map(|block| block.places).collect(), &runs);
    Sorted { kind, key, value, places }
}

/// Replaces the transaction of each run by the number of its first operation; whether they were
/// sorted already.
fn order_runs(blocks: &mut [Block], new_of_old: &[u32], bounds: &[u32]) -> bool {
    let mut next = bounds.to_vec();
    let mut sorted = true;
    let mut expected = 0;
    for run in blocks.iter_mut().flat_map(|block| &mut block.runs) {
        if run.txn == Run::DROPPED {
            sorted = false;
            continue;
        }
        let slot = &mut next[new_of_old[run.txn as usize] as usize];
        sorted &= *slot == expected;
        expected += run.len;
        run.txn = *slot;
        *slot += run.len;
    }
    sorted
}

fn concatenate(blocks: Vec<Block>) -> Sorted {
    let mut all =
        Sorted { kind: Vec::new(), key: Vec::new(), value: Vec::new(), places: Places::None };
    for (i, mut block) in blocks.into_iter().enumerate() {
        if i == 0 {
            all = Sorted {
                kind: block.kind,
                key: block.key,
                value: block.value,
                places: block.places,
            };
            continue;
        }
        all.places = join_places(all.places, all.kind.len(), block.places, block.kind.len());
        all.kind.append(&mut block.kind);
        all.key.append(&mut block.key);
        all.value.append(&mut block.value);
    }
    all
}

fn join_places(left: Places, left_len: usize, right: Places, right_len: usize) -> Places {
    match (&left, &right) {
        (Places::None, _) | (_, Places::None) => Places::None,
        (Places::Consecutive { first }, Places::Consecutive { first: second })
            if first + left_len as u64 == *second || right_len == 0 =>
        {
            left
        }
        _ => {
            let mut numbers = place_numbers(left, left_len);
            numbers.append(&mut place_numbers(right, right_len));
            Places::Each(numbers)
        }
    }
}

fn place_numbers(places: Places, len: usize) -> Vec<u32> {
    match places {
        Places::None => vec![0; len],
        Places::Consecutive { first } => (0..len as u64).map(|i| narrow(first + i)).collect(),
        Places::Each(numbers) => numbers,
    }
}

/// Places are 32 bits wide where each is stored; beyond that they all show the last one.
fn narrow(place: u64) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Where to cut the operations for `threads` threads: only between transactions, so that no run
/// crosses a cut.
fn cuts(bounds: &[u32], threads: usize) -> Vec<u32> {
    let total = bounds.last().copied().unwrap_or(0);
    // A thread is not worth starting for fewer operations than this.
    let parts = (total as usize / 100_000).clamp(1, threads.max(1)) as u64;
    let mut cuts: Vec<u32> = (0..parts)
        .map(|part| (u64::from(total) * part / parts) as u32)
        .map(|ideal| bounds[bounds.partition_point(|&bound| bound < ideal)])
        .collect();
    cuts[0] = 0;
    cuts.push(total);
    cuts
}

/// The parts of the sorted operations, one for each thread.
struct Target {
    cuts: Vec<u32>,
}

impl Target {
    /// One sorted column from the columns of the blocks.
    fn fill<T: Copy + Send + Sync>(
        &self,
        from: impl Iterator<Item = Vec<T>>,
        runs: &[Vec<Run>],
        fill: T,
    ) -> Vec<T> {
        let from: Vec<Vec<T>> = from.collect();
        self.each_part(fill, |first, part| {
            for (column, runs) in from.iter().zip(runs) {
                copy_runs(column, runs, first, part);
            }
        })
    }

    fn fill_places(&self, from: Vec<Places>, runs: &[Vec<Run>]) -> Places {
        if from.contains(&Places::None) {
            return Places::None;
        }
        Places::Each(self.each_part(0, |first, part| {
            for (places, runs) in from.iter().zip(runs) {
                match places {
                    Places::None => {}
                    Places::Consecutive { first: line } => number_runs(*line, runs, first, part),
                    Places::Each(lines) => copy_runs(lines, runs, first, part),
                }
            }
        }))
    }

    /// A column whose parts are filled by `work(number of the first operation, part)`, each in a
    /// thread.
    fn each_part<T: Copy + Send>(&self, fill: T, work: impl Fn(u32, &mut [T]) + Sync) -> Vec<T> {
        let total = self.cuts.last().copied().unwrap_or(0) as usize;
        let mut column = large_columns::filled(fill, total);
        thread::scope(|scope| {
            let mut rest = column.as_mut_slice();
            let work = &work;
            for pair in self.cuts.windows(2) {
                let (part, tail) = rest.split_at_mut((pair[1] - pair[0]) as usize);
                rest = tail;
                if pair[1] as usize == total {
                    work(pair[0], part);
                } else {
                    scope.spawn(move || work(pair[0], part));
                }
            }
        });
        column
    }
}

/// For each run that lands in the part: its source range and its place in the part.
fn landing<'a>(
    runs: &'a [Run],
    first: u32,
    part_len: usize,
) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
    let mut from = 0usize;
    runs.iter().filter_map(move |run| {
        let (start, len) = (from, run.len as usize);
        from += len;
        // Runs before the part wrap around to numbers far beyond its end; dropped runs are beyond
        // it anyway.
        let at = run.txn.wrapping_sub(first) as usize;
        (at < part_len && run.txn != Run::DROPPED).then_some((start, at, len))
    })
}

fn copy_runs<T: Copy>(column: &[T], runs: &[Run], first: u32, part: &mut [T]) {
    for (start, at, len) in landing(runs, first, part.len()) {
        part[at..at + len].copy_from_slice(&column[start..start + len]);
    }
}

fn number_runs(line: u64, runs: &[Run], first: u32, part: &mut [u32]) {
    for (start, at, len) in landing(runs, first, part.len()) {
        for (i, slot) in part[at..at + len].iter_mut().enumerate() {
            *slot = narrow(line + (start + i) as u64);
        }
    }
}
