//! TPC-C: new order, payment, order status, delivery, stock level, in either district.

use super::program::{LAYOUT, Slot, Step};
use crate::tpcc::{self, By, CARRIERS, DISTRICTS, Payment, Request, Txn};
use crate::value::Value;
use crate::workload::Random;

pub(super) fn load() -> Vec<(String, Value)> {
    LAYOUT.arrange(tpcc::rows())
}

pub(super) fn step(random: &mut Random, slot: Slot) -> Step {
    let district = random.between(1, DISTRICTS);
    let (name, txn) = match random.below(5) {
        0 => (format!("new order in {district}"), Txn::NewOrder(Request::draw(random, district))),
        1 => (
            format!("payment in {district}"),
            Txn::Payment(Payment::draw(random, district, slot.key())),
        ),
        2 => (
            format!("order status in {district}"),
            Txn::OrderStatus { district, by: By::draw(random) },
        ),
        3 => {
            let carrier = random.between(1, CARRIERS);
            ("delivery".to_owned(), Txn::Delivery { districts: DISTRICTS, carrier })
        }
        _ => (format!("stock level in {district}"), Txn::StockLevel { district }),
    };
    let orders_max = tpcc::orders_max(slot.total);
    Step::silent(name, move |db| txn.run(db, orders_max))
}
