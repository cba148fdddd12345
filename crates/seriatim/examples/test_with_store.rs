//! Code that talks to a database, tested against one that may answer anything its level allows.
//!
//!     cargo run -p seriatim --example test_with_store

use seriatim::Level;
use seriatim::store::{Random, Session, Store, StoreError};

/// The code under test: two clerks sell tickets from one counter. At strong levels a transaction
/// may be refused, as in real databases, and is tried again.
fn sell(clerk: &Session<i64>, count: i64) -> Result<(), StoreError> {
    for _ in 0..100 {
        match try_to_sell(clerk, count) {
            Err(StoreError::SerializationFailure(_)) => {}
            done => return done,
        }
    }
    try_to_sell(clerk, count)
}

fn try_to_sell(clerk: &Session<i64>, count: i64) -> Result<(), StoreError> {
    let mut sale = clerk.begin()?;
    let left = sale.read("tickets")?.unwrap_or(0);
    sale.write("tickets", left - count)?;
    sale.commit()
}

/// How many tickets are left after two sales, if the store answers as this seed likes.
fn left_after_sales(level: Level, seed: u64) -> Result<i64, StoreError> {
    let store: Store<i64> = Store::<i64>::builder(level).chooser(Random::new(seed)).build()?;
    store.load("tickets", 5);
    sell(&store.session(), 2)?;
    sell(&store.session(), 1)?;
    // What a later client finds, in the latest version.
    store.set_chooser(seriatim::store::Latest);
    Ok(store.session().begin()?.read("tickets")?.unwrap_or(0))
}

fn main() -> Result<(), StoreError> {
    for level in [Level::Serializable, Level::Causal] {
        let mut wrong = 0;
        for seed in 0..100 {
            wrong += u32::from(left_after_sales(level, seed)? != 2);
        }
        println!("{level}: {wrong} of 100 runs lose a sale");
    }
    // A level that no store can keep by itself is an error, not something else in silence.
    assert!(Store::<i64>::new(Level::StrictSerializable).is_err());
    Ok(())
}
