//! Shopping carts: two users, two items; add, delete, change the quantity, look.

use super::{Slot, Step};
use crate::cart::change_in;
use crate::value::Value;
use crate::workload::Random;

pub(super) fn load() -> Vec<(String, Value)> {
    (0..2).map(|user| (format!("cart:{user}"), Value::from(vec![Value::Int(0)]))).collect()
}

pub(super) fn step(random: &mut Random, _: Slot) -> Step {
    let (cart, item) = (format!("cart:{}", random.below(2)), random.below(2) as i64);
    match random.below(4) {
        0 => Step::new(format!("add {item} to {cart}"), move |db| {
            change_in(db, &cart, |items| items.with(item.into()))
        }),
        1 => Step::new(format!("delete {item} from {cart}"), move |db| {
            change_in(db, &cart, |items| items.without(&item.into()))
        }),
        2 => {
            let quantity = random.below(3);
            Step::new(format!("{quantity} of {item} in {cart}"), move |db| {
                let set = |items: &Value| {
                    (0..quantity).fold(items.without(&item.into()), |all, _| all.with(item.into()))
                };
                change_in(db, &cart, set)
            })
        }
        _ => Step::new(format!("get {cart}"), move |db| db.read(&cart).map(Some)),
    }
}
