//! Any text as a program: no panic, and what is explored of a program can be run again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| seriatim_fuzz::program(bytes));
