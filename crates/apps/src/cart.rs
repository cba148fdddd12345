//! A shopping cart: one cell holds a multiset of items. Adding reads it, adds one and writes it;
//! deleting takes all of an item away.
//!
//! Under serializability a cart that was seen empty after a delete never has two of the item again.

use crate::app::App;
use crate::db::{Db, DbError, transact};
use crate::harness::Operation;
use crate::value::Value;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// One client adds an item, one deletes it, one looks at the cart.
pub struct Cart;

const CART: &str = "cart";
const ITEM: &str = "book";

/// Changes what is in a cart, inside of a transaction.
pub(crate) fn change_in(
    db: &mut dyn Db,
    cart: &str,
    by: impl Fn(&Value) -> Value,
) -> Result<Option<Value>, DbError> {
    let items = by(&db.read(cart)?);
    db.write(cart, items.clone())?;
    Ok(Some(items))
}

fn change(db: &mut dyn Db, by: impl Fn(&Value) -> Value) -> Result<(), DbError> {
    transact(db, |db| change_in(db, CART, &by))?;
    Ok(())
}

fn get(db: &mut dyn Db) -> Result<Value, DbError> {
    Ok(transact(db, |db| db.read(CART).map(Some))?.unwrap_or(Value::Null))
}

impl App for Cart {
    fn name(&self) -> &'static str {
        "cart"
    }

    fn assertion(&self) -> &'static str {
        "an item does not come back after it was deleted"
    }

    fn load(&self) -> Vec<(String, Value)> {
        vec![(CART.to_owned(), Value::from(vec![ITEM.into()]))]
    }

    fn clients(&self) -> usize {
        3
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        match client {
            0 => change(db, |cart| cart.with(ITEM.into())),
            1 => change(db, |cart| cart.without(&ITEM.into())),
            _ => {
                for _ in 0..3 {
                    see(get(db)?);
                }
                Ok(())
            }
        }
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        Ok(seen.iter().try_for_each(|carts| does_not_return(carts.iter())))
    }
}

/// Whether the item, of which one is there and one is added, is not seen twice after it was gone.
fn does_not_return<'a>(carts: impl Iterator<Item = &'a Value>) -> Result<(), String> {
    let count = |cart: &Value| cart.items().iter().filter(|item| **item == ITEM.into()).count();
    let mut since = carts.skip_while(|cart| count(cart) > 0);
    match since.any(|cart| count(cart) == 2) {
        true => Err("the cart was seen empty, and later with two of the item".to_owned()),
        false => Ok(()),
    }
}

/// The same for a client of a harness.
pub(crate) fn stays_away<'a>(
    answered: impl Iterator<Item = (&'a Op, &'a Value)>,
) -> Result<(), String> {
    does_not_return(
        answered.filter(|(operation, _)| matches!(operation, Op::Get)).map(|(_, cart)| cart),
    )
}

/// What a client of a random harness does to the cart.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Add(&'static str),
    Delete(&'static str),
    Get,
}

const ITEMS: [&str; 2] = [ITEM, "pen"];

impl Op {
    /// Adds the item of the assertion.
    pub const ADD: Op = Op::Add(ITEM);

    /// Anything but adding.
    pub fn of_return(random: &mut Pcg64Mcg) -> Op {
        if random.random_range(0..3) == 0 { Op::Delete(ITEM) } else { Op::Get }
    }

    pub fn random(random: &mut Pcg64Mcg) -> Op {
        let item = ITEMS[random.random_range(0..ITEMS.len())];
        match random.random_range(0..3) {
            0 => Op::Add(item),
            1 => Op::Delete(item),
            _ => Op::Get,
        }
    }
}

impl Operation for Op {
    fn run(&self, db: &mut dyn Db) -> Result<Value, DbError> {
        match *self {
            Op::Add(item) => change(db, |cart| cart.with(item.into())).map(|()| Value::Null),
            Op::Delete(item) => change(db, |cart| cart.without(&item.into())).map(|()| Value::Null),
            Op::Get => get(db),
        }
    }
}
