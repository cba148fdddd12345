//! What a failed model says, and where. One test in a file of its own: it replaces the hook for
//! panics, which the whole process shares.

use seriatim::{Level, Model, model};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

#[test]
fn a_failure_says_where_and_what_whatever_hook_is_set() {
    a_failure_points_at_the_line_of_the_test();
    a_transaction_that_panics_is_told();
}

fn a_failure_points_at_the_line_of_the_test() {
    let model: Model<i64, i64> = model(Level::Causal, |program| {
        program.named_session("writer").transaction(|tx, _| tx.write("x", 1));
    });
    let place = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&place);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let told = info.location().map(|place| (place.file().to_owned(), place.line()));
        *seen.lock().unwrap() = told;
    }));
    let line = line!() + 1;
    let failed = panic::catch_unwind(AssertUnwindSafe(|| model.assert(|_| false)));
    panic::set_hook(usual);
    assert!(failed.is_err());
    let (file, told) = place.lock().unwrap().clone().expect("a place");
    assert!(file.ends_with("tests/failure_place.rs"), "{file}");
    assert_eq!(told, line);
}

/// The hook that is set here replaces that of the explorer.
fn a_transaction_that_panics_is_told() {
    let run = || {
        let model: Model<i64, i64> = model(Level::Causal, |program| {
            program.named_session("writer").transaction(|_, _| panic!("as the test says"));
        });
        let failed = panic::catch_unwind(AssertUnwindSafe(|| model.histories()));
        let payload = failed.expect_err("a failure");
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    assert!(run().contains("as the test says"));
    panic::set_hook(Box::new(|_| {}));
    assert!(run().contains("as the test says"));
    let _ = panic::take_hook();
}
