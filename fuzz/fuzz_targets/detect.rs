//! Any bytes without a format: whatever is recognised is read by its reader.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| seriatim_fuzz::read_and_walk(bytes, None));
