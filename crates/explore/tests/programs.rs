//! Programs as closures: mixed levels, clients, tokens, and what happens to programs that are not
//! deterministic.

use seriatim_explore::{Exploration, ExploreError, Explorer, Program, Tx, explore, replay};
use seriatim_isolation::Level;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

fn nothing_to_show<L>(result: Result<Exploration<L>, ExploreError>) -> ExploreError {
    match result {
        Ok(_) => panic!("it was explored"),
        Err(error) => error,
    }
}

#[test]
fn a_program_that_is_not_deterministic_is_reported_with_its_place() {
    let runs = AtomicI64::new(0);
    let mut program: Program<i64, i64> = Program::new();
    program
        .named_session("writer")
        .transaction(|tx, _| tx.write("x", 1))
        .transaction(|tx, _| tx.write("x", 2));
    program.named_session("careless").transaction(|tx, _| tx.write("y", 1)).transaction(
        move |tx, _| {
            tx.read("y")?;
            tx.write("z", runs.fetch_add(1, Ordering::Relaxed))?;
            tx.read("x")?;
            Ok(())
        },
    );
    let error = nothing_to_show(explore(&program, Level::Causal, |_| Ok(())));
    assert_eq!(
        error.to_string(),
        "the program is not deterministic: session careless, transaction 2, operation 2: with the \
         same reads it did `write z=0` \
         the first time and `write z=1` the second; transactions may depend on what they read and \
         on their session's local state, \
         and on nothing else"
    );
}

#[test]
fn a_client_that_is_not_deterministic_is_reported_too() {
    let runs = AtomicI64::new(0);
    let mut program: Program<i64, i64> = Program::new();
    program.client("careless", move |client, _| {
        for _ in 0..2 {
            client.begin()?;
            client.write("x", runs.fetch_add(1, Ordering::Relaxed))?;
            client.commit()?;
        }
        Ok(())
    });
    let error = nothing_to_show(explore(&program, Level::Causal, |_| Ok(())));
    assert!(error.to_string().contains("session careless, transaction 1, operation 1"), "{error}");
}

#[test]
fn a_program_is_run_again_before_it_is_said_to_be_right() {
    let runs = AtomicI64::new(0);
    let mut program: Program<i64, i64> = Program::new();
    // Nothing is read, so that there is one behaviour, and nothing would be run again.
    program
        .named_session("careless")
        .transaction(move |tx, _| tx.write("x", runs.fetch_add(1, Ordering::Relaxed)));
    let error = nothing_to_show(explore(&program, Level::Causal, |_| Ok(())));
    let place = "session careless, transaction 1, operation 1";
    assert!(error.to_string().contains(place), "{error}");
    let robust = nothing_to_show(Explorer::new(&program, Level::Causal).robust());
    assert!(robust.to_string().contains(place), "{robust}");
}

#[test]
fn an_assertion_inside_of_a_transaction_that_fails_is_a_counterexample() {
    let mut program: Program<i64, i64> = Program::new();
    program.named_session("writer").transaction(|tx, _| {
        tx.write("x", 1)?;
        tx.write("y", 1)
    });
    program
        .named_session("reader")
        .transaction(|tx, _| {
            let (x, y) = (tx.read("x")?, tx.read("y")?);
            assert_eq!(x, y, "a part of a transaction is seen");
            tx.write("seen", 1)
        })
        .transaction(|tx, seen| {
            *seen = tx.read("seen")?;
            Ok(())
        });
    let run = |level| Explorer::new(&program, level).run(&|_| Ok(())).unwrap();
    let found = run(Level::ReadCommitted).counterexample.expect("reads may be fractured");
    assert!(found.reason.starts_with("reader-1 panicked: "), "{}", found.reason);
    assert!(found.reason.contains("a part of a transaction is seen"), "{}", found.reason);
    assert!(found.reason.contains("programs.rs:"), "{}", found.reason);
    // The session ends with the panic, and the behaviour can be run again.
    let transactions = replay(&program, Level::ReadCommitted, &found.token, |end| {
        (end.is_committed(1, 0), end.is_committed(1, 1), end.panicked().is_some())
    });
    assert_eq!(transactions, Ok((Some(false), None, true)));
    let atomic = run(Level::ReadAtomic);
    assert!(atomic.counterexample.is_none() && atomic.is_complete);
}

#[test]
fn a_client_must_use_its_connection_as_databases_allow() {
    for misuse in 0..3 {
        let mut program: Program<i64, i64> = Program::new();
        program.client("odd", move |client, _| {
            client.begin()?;
            match misuse {
                0 => client.begin()?,
                1 => {
                    client.commit()?;
                    client.read("x")?;
                }
                _ => {
                    client.abort();
                    client.commit()?;
                }
            }
            Ok(())
        });
        let error = nothing_to_show(explore(&program, Level::Causal, |_| Ok(())));
        assert!(matches!(error, ExploreError::Client { .. }), "{error}");
    }
}

#[test]
fn a_client_steps_and_transactions_do_the_same() {
    let as_client = || {
        let mut program: Program<i64, Vec<i64>> = Program::new();
        for number in 0..3i64 {
            program.client(&format!("c{number}"), move |client, seen: &mut Vec<i64>| {
                for key in ["x", "y"] {
                    client.begin()?;
                    let value = client.read(key)?;
                    seen.push(value);
                    if value > 1 {
                        client.abort();
                        continue;
                    }
                    client.write(key, value + number)?;
                    client.commit()?;
                }
                Ok(())
            });
        }
        program
    };
    let as_transactions = || {
        let mut program: Program<i64, Vec<i64>> = Program::new();
        for number in 0..3i64 {
            let session = program.session();
            for key in ["x", "y"] {
                session.transaction(move |tx: &mut Tx<'_, i64>, seen: &mut Vec<i64>| {
                    let value = tx.read(key)?;
                    seen.push(value);
                    if value > 1 {
                        return tx.abort();
                    }
                    tx.write(key, value + number)
                });
            }
        }
        program
    };
    let as_steps = || {
        let mut program: Program<i64, Vec<i64>> = Program::new();
        for number in 0..3i64 {
            let has_more = |seen: &Vec<i64>| seen.len() < 2;
            program.steps(&format!("s{number}"), has_more, move |tx, seen| {
                let key = ["x", "y"][seen.len()];
                let value = tx.read(key)?;
                seen.push(value);
                if value > 1 {
                    return tx.abort();
                }
                tx.write(key, value + number)
            });
        }
        program
    };
    let ends = |program: &Program<i64, Vec<i64>>| {
        let all = Mutex::new(Vec::new());
        let result = explore(program, Level::Causal, |end| {
            all.lock().unwrap().push((end.locals().to_vec(), end.token()));
            Ok(())
        });
        assert!(result.unwrap().is_complete);
        all.into_inner().unwrap()
    };
    let (clients, transactions) = (ends(&as_client()), ends(&as_transactions()));
    assert_eq!(clients, transactions);
    assert_eq!(clients, ends(&as_steps()));
    assert!(clients.len() > 50);
    // Every token reruns its behaviour, and no other.
    let program = as_client();
    for (locals, token) in &clients {
        replay(&program, Level::Causal, token, |end| {
            assert_eq!((end.locals(), &end.token()), (&locals[..], token));
        })
        .unwrap();
    }
    let tokens: BTreeSet<&String> = clients.iter().map(|(_, token)| token).collect();
    assert_eq!(tokens.len(), clients.len());
}

#[test]
fn sessions_without_transactions_are_fine() {
    let mut program: Program<i64, i64> = Program::new();
    program.session();
    program.client("silent", |_, _| Ok(()));
    program.steps("still", |_| false, |tx, _| tx.write("x", 1));
    for level in [Level::ReadCommitted, Level::Serializable] {
        assert_eq!(explore(&program, level, |_| Ok(())).unwrap().tally.histories, 1);
    }
    let error = nothing_to_show(explore(&program, Level::StrictSerializable, |_| Ok(())));
    assert_eq!(error, ExploreError::Level(Level::StrictSerializable));
    let base = Explorer::new(&program, Level::Serializable).base(Level::SnapshotIsolation);
    assert_eq!(
        nothing_to_show(base.run(&|_| Ok(()))),
        ExploreError::Base(Level::SnapshotIsolation)
    );
}

#[test]
fn too_many_transactions_are_refused() {
    let mut program: Program<i64, i64> = Program::new();
    let session = program.session();
    (0..200).for_each(|_| {
        session.transaction(|tx, _| tx.write("x", 1));
    });
    assert_eq!(
        nothing_to_show(explore(&program, Level::Causal, |_| Ok(()))),
        ExploreError::TooManyTransactions
    );
}

#[test]
fn too_many_operations_are_refused() {
    let mut program: Program<i64, i64> = Program::new();
    program
        .session()
        .transaction(|tx, _| (0..100_000).try_for_each(|number| tx.write("x", number)));
    let error = nothing_to_show(explore(&program, Level::Causal, |_| Ok(())));
    assert!(matches!(error, ExploreError::TooManyOperations { .. }), "{error}");
}

/// The paper's condition (3) for swapped reads is about reads of the same transaction alone; with
/// it, histories of this program are missed (see `ce.rs`).
#[test]
fn a_read_from_the_session_past_of_a_swapped_source_can_be_swapped() {
    let mut program: Program<i64, Vec<i64>> = Program::new();
    program.session().transaction(|tx, seen: &mut Vec<i64>| {
        *seen = vec![tx.read("x")?, tx.read("y")?];
        Ok(())
    });
    program.session().transaction(|tx, _| tx.write("y", 1)).transaction(|tx, _| tx.write("x", 2));
    program.session().transaction(|tx, _| tx.write("y", 3));
    let all = Mutex::new(BTreeSet::new());
    let _ = explore(&program, Level::Causal, |end| {
        assert!(all.lock().unwrap().insert(end.locals()[0].clone()), "twice");
        Ok(())
    })
    .unwrap();
    let all = all.into_inner().unwrap();
    assert!(all.contains(&vec![2, 3]), "{all:?}");
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [[0, 0], [0, 1], [0, 3], [2, 1], [2, 3]]);
}

/// A client that waits for another one, without end if it never sees what the other one wrote: its
/// code, and step by step.
fn waiting(by_steps: bool) -> Program<i64, i64> {
    let mut program = Program::new();
    let wait = |tx: &mut Tx<'_, i64>, seen: &mut i64| {
        *seen = tx.read("x")?;
        Ok(())
    };
    if by_steps {
        program.steps("waits", |seen| *seen == 0, wait);
    } else {
        program.client("waits", |client, seen: &mut i64| {
            while *seen == 0 {
                client.begin()?;
                *seen = client.read("x")?;
                client.commit()?;
            }
            Ok(())
        });
    }
    program.named_session("writes").transaction(|tx, _| tx.write("x", 1));
    program
}

#[test]
fn behaviours_without_end_are_cut_and_nothing_is_known_to_hold() {
    for (threads, by_steps) in [(1, false), (3, false), (1, true), (3, true)] {
        let program = waiting(by_steps);
        let explorer = Explorer::new(&program, Level::ReadCommitted).threads(threads);
        let held = explorer.run(&|_| Ok(())).unwrap();
        assert_eq!((held.holds(), held.is_done, held.is_complete), (None, true, false));
        assert!(held.tally.cut > 0, "{:?}", held.tally);
        // Where the waiting client sees it after any number of rounds up to the limit.
        assert_eq!(held.tally.histories, 127);
        let seen = explorer.run(&|end| {
            if *end.local("waits").unwrap() == 1 { Err("seen".to_owned()) } else { Ok(()) }
        });
        assert_eq!(seen.unwrap().holds(), Some(false));
    }
}
