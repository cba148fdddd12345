//! Every behaviour of a program, before there is any database: in a `#[test]`, `assert` fails with
//! the counterexample, what the checker says of it, and how to run it again.
//!
//!     cargo run -p seriatim --example model_a_program

use seriatim::explore::{End, Program};
use seriatim::{Level, Model, model};

/// Two doctors go off duty if the other one is on duty.
fn doctors(p: &mut Program<i64, ()>) {
    p.initial("alice", 1).initial("bob", 1);
    for me in ["alice", "bob"] {
        p.named_session(me).transaction(move |tx, _| {
            if tx.read("alice")? + tx.read("bob")? > 1 {
                tx.write(me, 0)?;
            }
            Ok(())
        });
    }
}

/// Whatever the database may hold in the end, a doctor is on duty.
fn somebody_is_on_duty(end: &End<'_, i64, ()>) -> bool {
    let check = |read: &mut dyn FnMut(&str) -> i64| match read("alice") + read("bob") {
        0 => Err("nobody is on duty".to_owned()),
        _ => Ok(()),
    };
    end.finally(check).is_ok()
}

fn main() {
    let serializable: Model<i64, ()> = model(Level::Serializable, doctors);
    println!("holds in all {} histories", serializable.assert(somebody_is_on_duty));
    let snapshot: Model<i64, ()> = model(Level::SnapshotIsolation, doctors);
    let found = snapshot.violate(somebody_is_on_duty);
    let name = found.report.anomalies[0].kind.info().name;
    println!("snapshot isolation: {name}, again with the token {}", found.token);
}
