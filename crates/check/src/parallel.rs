//! The few lines of fork and join that the checker needs, on scoped threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Splits `0..weights.len()-1` (weights are prefix sums) into at most `parts` ranges of about equal
/// weight.
pub(crate) fn split_by_weight(prefix: &[u32], parts: usize) -> Vec<Range<usize>> {
    let items = prefix.len() - 1;
    let total = u64::from(prefix[items] - prefix[0]);
    let mut ranges = Vec::with_capacity(parts);
    let mut start = 0;
    for part in 1..=parts as u64 {
        let goal = prefix[0] + (total * part / parts as u64) as u32;
        let end = if part == parts as u64 {
            items
        } else {
            prefix.partition_point(|&sum| sum < goal).min(items)
        };
        if end > start {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges
}

/// Runs `work` on each of `jobs` and returns the results in order; the first job runs on the
/// calling thread.
pub(crate) fn run<J: Send, R: Send>(jobs: Vec<J>, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    let mut jobs = jobs.into_iter();
    let Some(first) = jobs.next() else { return Vec::new() };
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs.map(|job| scope.spawn(move || work(job))).collect();
        let mut results = vec![work(first)];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

/// Runs `work` on each of `jobs` on up to `threads` threads, each of which takes the next job when
/// it is done with one: for jobs whose cost one cannot tell. Returns the results in order.
pub(crate) fn run_each<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = |_: usize| {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { return done };
            done.push((number, work(job)));
        }
    };
    let mut results: Vec<(usize, R)> =
        run((0..threads.clamp(1, jobs.len().max(1))).collect(), worker)
            .into_iter()
            .flatten()
            .collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Cuts `slice` into consecutive pieces of the given lengths.
pub(crate) fn cut<T>(mut slice: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = slice.split_at_mut(length);
        pieces.push(piece);
        slice = rest;
    }
    pieces
}
