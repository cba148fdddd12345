//! Models in tests: what they find, and what a test that fails prints.

use seriatim::explore::Program;
use seriatim::{Level, Model, model};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};

#[test]
fn a_lost_update_is_found_and_excluded_by_snapshot_isolation() {
    let counters = |level| {
        model(level, |p| {
            for _ in 0..2 {
                p.session().transaction(|tx, seen: &mut i64| {
                    *seen = tx.read("x")?;
                    tx.write("x", *seen + 1)
                });
            }
        })
    };
    let once = |end: &seriatim::explore::End<'_, i64, i64>| end.locals().iter().sum::<i64>() == 1;
    assert_eq!(counters(Level::SnapshotIsolation).assert(once), 2);
    let found = counters(Level::PrefixConsistency).violate(once);
    assert_eq!((found.locals, found.token.as_str()), (vec![0, 0], "0:0,1:0"));
    assert_eq!(found.report.strongest(), Some(Level::PrefixConsistency));
    counters(Level::Causal).replay("0:0,1:1", |end| assert_eq!(end.locals(), [0, 1]));
    assert!(counters(Level::SnapshotIsolation).is_robust() && !counters(Level::Causal).is_robust());
    assert_eq!(counters(Level::Causal).histories(), 3);
}

/// Two counters that may both see nothing.
fn counters(p: &mut Program<i64, i64>) {
    for name in ["ann", "ben"] {
        p.named_session(name).transaction(|tx, seen: &mut i64| {
            *seen = tx.read("x")?;
            tx.write("x", *seen + 1)
        });
    }
}

/// What `run` says when it panics.
fn message<R>(run: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).err().expect("it panics");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn an_assertion_that_fails_prints_what_the_command_would() {
    let model: Model<i64, i64> = model(Level::Causal, counters);
    let told = message(|| model.assert(|end| end.locals() != [0, 0]));
    insta::assert_snapshot!(told);
}

#[test]
fn an_assertion_inside_of_a_transaction_does_the_same() {
    let model: Model<i64, i64> = model(Level::ReadCommitted, |p| {
        p.named_session("writer").transaction(|tx, _| {
            tx.write("x", 1)?;
            tx.write("y", 1)
        });
        p.named_session("reader").transaction(|tx, _| {
            let (x, y) = (tx.read("x")?, tx.read("y")?);
            assert_eq!(x, y, "a part of a transaction was seen");
            Ok(())
        });
    });
    for told in [message(|| model.histories()), message(|| model.is_robust())] {
        // Pages are wrapped.
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("reader-1 panicked: "), "{told}");
        assert!(told.contains("a part of a transaction was seen"), "{told}");
        assert!(told.contains("tests/models.rs:"), "{told}");
        assert!(told.contains("fractured read"), "{told}");
        assert!(told.contains("model.replay("), "{told}");
    }
}

#[test]
fn a_model_that_is_not_deterministic_is_found_out() {
    let model: Model<i64, i64> = model(Level::Causal, |p| {
        let runs = AtomicI64::new(0);
        p.named_session("careless")
            .transaction(move |tx, _| tx.write("x", runs.fetch_add(1, Ordering::Relaxed)));
    });
    for told in [message(|| model.assert(|_| true)), message(|| model.is_robust())] {
        assert!(told.contains("not deterministic: session careless, transaction 1"), "{told}");
    }
}

#[test]
fn levels_that_programs_cannot_be_explored_at_are_refused() {
    let told = message(|| model::<i64, i64>(Level::StrictSerializable, counters));
    assert!(told.contains("strict serializability"), "{told}");
}
