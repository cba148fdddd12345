//! Transactions that are at a higher level than they ask for, because they begin like others do.

mod common;

use common::{connect, run};
use seriatim_sql::cells::TxnLevel;
use seriatim_sql::database::Cluster;
use seriatim_sql::memory::Memory;
use seriatim_sql::parse::shape;
use std::sync::Arc;

#[test]
fn a_transaction_is_raised_by_its_first_statement() {
    let mut cluster = Cluster::new(Arc::new(Memory::default()));
    cluster.raised = vec![
        (shape("SELECT 1"), TxnLevel::Serializable),
        (shape("SELECT 1, 2"), TxnLevel::RepeatableRead),
    ];
    let mut session = connect(&Arc::new(cluster));
    let mut level = |begin: &str, first: &str| {
        run(&mut session, &format!("BEGIN {begin}; {first}; SELECT 1"));
        let level = run(&mut session, "SHOW transaction_isolation");
        run(&mut session, "COMMIT");
        level
    };
    assert_eq!(level("", "SELECT 7 /* any number */"), "serializable");
    assert_eq!(level("", "SELECT 7, 8"), "repeatable read");
    assert_eq!(level("", "SELECT 7, 8, 9"), "read committed");
    // Nothing is lowered.
    assert_eq!(level("ISOLATION LEVEL SERIALIZABLE", "SELECT 7, 8"), "serializable");
    assert_eq!(level("ISOLATION LEVEL READ COMMITTED", "SELECT 7"), "serializable");
}
