//! Shopping carts: add, delete, change the quantity, look.

use super::Slot;
use crate::cart::{ITEM, Op};
use crate::value::Value;
use crate::workload::Random;

const ITEMS: [&str; 2] = [ITEM, "pen"];

/// Anything with two items.
pub(super) fn anything(random: &mut Random) -> Op {
    let item = ITEMS[random.index(ITEMS.len())];
    match random.case(3) {
        0 => Op::add(item),
        1 => Op::delete(item),
        _ => Op::get(),
    }
}

/// Anything but adding, with the item of the assertion.
pub(super) fn not_adding(random: &mut Random) -> Op {
    if random.case(3) == 0 { Op::delete(ITEM) } else { Op::get() }
}

/// Two users with a cart each.
pub(super) fn load() -> Vec<(String, Value)> {
    (0..2).map(|user| (format!("cart:{user}"), Value::from(vec![Value::Int(0)]))).collect()
}

/// A transaction of these users.
pub(super) fn transaction(random: &mut Random, _: Slot) -> Op {
    let (cart, item) = (format!("cart:{}", random.below(2)), Value::Int(random.below(2) as i64));
    match random.below(4) {
        0 => Op::Add { cart, item },
        1 => Op::Delete { cart, item },
        2 => Op::Quantity { cart, item, quantity: random.below(3) },
        _ => Op::Get { cart },
    }
}
