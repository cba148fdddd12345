//! How far a reader has come, for a progress line in another thread.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts bytes. Readers of files that are never large leave it alone.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicU64,
    total: AtomicU64,
}

impl Meter {
    /// Bytes read and bytes in all; `None` if the reader does not count, or if everything has been
    /// read.
    pub fn bytes(&self) -> Option<(u64, u64)> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (done < total).then_some((done, total))
    }

    pub(crate) fn start(&self, total: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total as u64, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.done.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ReadOptions, read_bytes};
    use std::sync::Arc;

    #[test]
    fn a_file_of_several_pieces_is_counted_to_its_end() {
        let text: String = (0..100_000).map(|i| format!("w({i},1,{},{i})\n", i % 3)).collect();
        let meter = Arc::new(Meter::default());
        let options =
            ReadOptions { meter: Some(Arc::clone(&meter)), threads: 2, ..ReadOptions::default() };
        read_bytes(text.as_bytes(), "h", &options).unwrap();
        assert_eq!(meter.bytes(), None);
        assert_eq!(meter.done.load(Ordering::Relaxed), text.len() as u64);
    }
}
