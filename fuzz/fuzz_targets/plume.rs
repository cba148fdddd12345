//! Any bytes as a file of this format: no panic, and what is read can be walked and written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seriatim_history::formats::Format;

fuzz_target!(|bytes: &[u8]| seriatim_fuzz::read_and_walk(bytes, Some(Format::Plume)));
