//! A shopping cart: one cell holds a multiset of items. Adding reads it, adds one and writes it;
//! deleting takes all of an item away.
//!
//! Under serializability a cart that was seen empty after a delete never has two of the item again.

use crate::app::App;
use crate::db::{Db, DbError, Operation, Transaction};
use crate::value::Value;
use std::fmt;

/// One client adds an item, one deletes it, one looks at the cart.
#[derive(Debug)]
pub struct Cart;

const CART: &str = "cart";
pub(crate) const ITEM: &str = "book";

/// What a user does with a cart.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Add {
        cart: String,
        item: Value,
    },
    Delete {
        cart: String,
        item: Value,
    },
    /// Makes it so many of an item.
    Quantity {
        cart: String,
        item: Value,
        quantity: usize,
    },
    Get {
        cart: String,
    },
}

impl Op {
    /// Adds an item to the cart of the assertion.
    pub fn add(item: &str) -> Op {
        Op::Add { cart: CART.to_owned(), item: item.into() }
    }

    /// Takes an item from the cart of the assertion.
    pub fn delete(item: &str) -> Op {
        Op::Delete { cart: CART.to_owned(), item: item.into() }
    }

    /// Looks at the cart of the assertion.
    pub fn get() -> Op {
        Op::Get { cart: CART.to_owned() }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Add { cart, item } => write!(f, "add {item} to {cart}"),
            Op::Delete { cart, item } => write!(f, "delete {item} from {cart}"),
            Op::Quantity { cart, item, quantity } => write!(f, "{quantity} of {item} in {cart}"),
            Op::Get { cart } => write!(f, "get {cart}"),
        }
    }
}

impl Transaction for Op {
    fn body(&self, db: &mut dyn Db) -> Result<Option<Value>, DbError> {
        match self {
            Op::Add { cart, item } => change(db, cart, |items| items.with(item.clone())),
            Op::Delete { cart, item } => change(db, cart, |items| items.without(item)),
            Op::Quantity { cart, item, quantity } => change(db, cart, |items| {
                (0..*quantity).fold(items.without(item), |all, _| all.with(item.clone()))
            }),
            Op::Get { cart } => db.read(cart).map(Some),
        }
    }

    /// Only looking shows the cart.
    fn answer(&self, left: Option<Value>) -> Value {
        match self {
            Op::Get { .. } => left.unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }
}

fn change(
    db: &mut dyn Db,
    cart: &str,
    by: impl Fn(&Value) -> Value,
) -> Result<Option<Value>, DbError> {
    let items = by(&db.read(cart)?);
    db.write(cart, items.clone())?;
    Ok(Some(items))
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
            0 => Op::add(ITEM).run(db).map(drop),
            1 => Op::delete(ITEM).run(db).map(drop),
            _ => (0..3).try_for_each(|_| Op::get().run(db).map(&mut *see)),
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

/// Whether the item stays away for a client whose operations got these answers.
pub(crate) fn stays_away<'a>(
    answered: impl Iterator<Item = (&'a Op, &'a Value)>,
) -> Result<(), String> {
    let looks = answered.filter(|(operation, _)| matches!(operation, Op::Get { .. }));
    does_not_return(looks.map(|(_, cart)| cart))
}
