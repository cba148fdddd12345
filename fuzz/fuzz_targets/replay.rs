//! Any bytes as a kept run or a prediction: no panic, and whatever can be run comes to an end.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| seriatim_fuzz::kept_or_predicted(bytes));
