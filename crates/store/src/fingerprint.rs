//! Numbers that stand for values.

use rustc_hash::FxHasher;
use serde_core::Serialize;
use std::hash::Hasher;
use std::io;

struct Hashing(FxHasher);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same for values that are serialised in the same way.
pub(crate) fn fingerprint<V: Serialize>(value: Option<&V>) -> u64 {
    let mut hashing = Hashing(FxHasher::default());
    // What cannot be serialised counts as nothing.
    let _ = serde_json::to_writer(&mut hashing, &value);
    hashing.0.finish()
}
