//! Any bytes behind the magic number of gzip or zstd, and any bytes compressed properly.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| seriatim_fuzz::compressed(bytes));
