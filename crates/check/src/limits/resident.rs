//! How much memory the process has resident. Where the system does not tell (it is asked through
//! `/proc`), the answer is 0: then only the estimates before large allocations bound the memory.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Asking takes some microseconds, and in this time no search fills more than a few megabytes.
const FRESH_MS: u64 = 10;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
/// When the answer grows old, in milliseconds since the start.
static FRESH_UNTIL: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);

/// Bytes, a few milliseconds ago at most.
pub(crate) fn recently() -> u64 {
    let elapsed_ms = START.elapsed().as_millis() as u64;
    if elapsed_ms >= FRESH_UNTIL.load(Ordering::Relaxed) {
        FRESH_UNTIL.store(elapsed_ms + FRESH_MS, Ordering::Relaxed);
        return now();
    }
    LAST.load(Ordering::Relaxed)
}

/// Bytes.
pub(crate) fn now() -> u64 {
    let bytes = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| in_status(&status))
        .unwrap_or(0);
    LAST.store(bytes, Ordering::Relaxed);
    bytes
}

/// The line is `VmRSS:     1234 kB`, whatever the size of a page.
fn in_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found() {
        assert_eq!(in_status("Name:\tx\nVmRSS:\t    1234 kB\nThreads:\t1\n"), Some(1234 * 1024));
        assert_eq!(in_status("Name:\tx\n"), None);
        assert_eq!(in_status("VmRSS: many kB"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_large_allocation_shows() {
        let before = now();
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(now() >= before + (48 << 20));
        drop(block);
        assert!(recently() > 0);
    }
}
