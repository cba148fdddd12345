//! Many inputs over the cores: each worker takes the next input, results come back in the order of
//! the inputs.
//!
//! Workers are detached: if the consumer of the results fails (a closed pipe), the program does not
//! wait for work that is not wanted any more.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// Does `work` on each item with up to `workers` threads, and hands each result to `sink` in the
/// order of the items.
pub fn in_order<T, R, E>(
    items: Vec<T>,
    workers: usize,
    work: impl Fn(&T) -> R + Send + Sync + 'static,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let results = start(items, workers, work);
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (index, result) in results {
        early.insert(index, result);
        while let Some(result) = early.remove(&next) {
            sink(result)?;
            next += 1;
        }
    }
    Ok(())
}

fn start<T, R>(
    items: Vec<T>,
    workers: usize,
    work: impl Fn(&T) -> R + Send + Sync + 'static,
) -> mpsc::Receiver<(usize, R)>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::new((items, AtomicUsize::new(0), work));
    for _ in 0..workers.clamp(1, shared.0.len().max(1)) {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        std::thread::spawn(move || {
            let (items, next, work) = &*shared;
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return };
                if sender.send((index, work(item))).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use std::time::Duration;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let work = |&item: &u64| {
            std::thread::sleep(Duration::from_millis(20 - item));
            item * 10
        };
        let mut results = Vec::new();
        in_order((0..20).collect(), 4, work, |result| {
            results.push(result);
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(results, (0..20).map(|item| item * 10).collect::<Vec<_>>());
    }

    #[test]
    fn a_failing_sink_ends_the_run() {
        let mut seen = 0;
        let result = in_order(
            (0..1000).collect(),
            2,
            |&item: &u32| item,
            |_| {
                seen += 1;
                if seen == 3 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((result, seen), (Err("enough"), 3));
    }
}
