//! Any text as a certificate: no panic, and nothing false is confirmed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| seriatim_fuzz::certificate(bytes));
