//! New orders and their delivery.

use super::{
    CUSTOMER, CUSTOMERS, DISTRICT, ITEM, LINES_MAX, NEW_ORDER, ORDER, ORDER_LINE, STOCK, W, WAREHOUSE, customer_key,
    district_key, line_key, order_key, stock_key,
};
use crate::db::{Db, DbError};
use crate::value::Value;
use crate::workload::{End, Random};

/// An item that does not exist.
const INVALID: &str = "-12345";

/// A line of an order that is asked for.
struct Line {
    item: &'static str,
    quantity: i64,
}

/// An order that is asked for.
pub(super) struct Request {
    district: i64,
    customer: i64,
    lines: Vec<Line>,
}

impl Request {
    pub fn draw(random: &mut Random, district: i64) -> Request {
        let customer = random.between(1, CUSTOMERS);
        let count = random.between(5, LINES_MAX);
        let is_invalid = random.percent(1);
        let mut line = |number: i64| Line {
            item: if is_invalid && number == count { INVALID } else { super::I },
            quantity: random.between(1, 10),
        };
        let lines = (1..=count).map(&mut line).collect();
        Request { district, customer, lines }
    }
}

pub(super) fn new_order(db: &mut dyn Db, request: &Request) -> Result<End, DbError> {
    let district = district_key(request.district);
    let customer = customer_key(request.district, request.customer);
    CUSTOMER.look_at(db, &customer, &["c_discount", "c_last", "c_credit"])?;
    WAREHOUSE.look_at(db, W, &["w_tax"])?;
    let number = DISTRICT.int(db, &district, "d_next_o_id")?;
    DISTRICT.look_at(db, &district, &["d_tax"])?;
    DISTRICT.set(db, &district, "d_next_o_id", number + 1)?;
    let count = request.lines.len() as i64;
    let order = order_key(request.district, number);
    ORDER.insert(db, &order, &[("o_c_id", Value::Int(request.customer)), ("o_ol_cnt", Value::Int(count))])?;
    NEW_ORDER.insert(db, &order, &[])?;
    let mut stocks = Vec::new();
    for line in &request.lines {
        if !ITEM.exists(db, line.item)? {
            return Ok(End::Abort);
        }
        let price = ITEM.int(db, line.item, "i_price")?;
        ITEM.look_at(db, line.item, &["i_name", "i_data"])?;
        stocks.push((price, Stock::read(db)?));
    }
    for (place, (line, (price, _))) in request.lines.iter().zip(&stocks).enumerate() {
        let key = line_key(request.district, number, place as i64 + 1);
        let cells = [
            ("ol_i_id", Value::from(line.item)),
            ("ol_quantity", Value::Int(line.quantity)),
            ("ol_amount", Value::Int(line.quantity * price)),
        ];
        ORDER_LINE.insert(db, &key, &cells)?;
    }
    // Each update is computed from what was read before any of them, as in the benchmark.
    for (line, (_, stock)) in request.lines.iter().zip(&stocks) {
        stock.take(db, line.quantity)?;
    }
    Ok(End::Commit)
}

/// What is there of the item.
struct Stock {
    quantity: i64,
    ytd: i64,
    orders: i64,
    remote: i64,
}

impl Stock {
    fn read(db: &mut dyn Db) -> Result<Stock, DbError> {
        let key = stock_key();
        STOCK.look_at(db, &key, &["s_dist", "s_data"])?;
        Ok(Stock {
            quantity: STOCK.int(db, &key, "s_quantity")?,
            ytd: STOCK.int(db, &key, "s_ytd")?,
            orders: STOCK.int(db, &key, "s_order_cnt")?,
            remote: STOCK.int(db, &key, "s_remote_cnt")?,
        })
    }

    fn take(&self, db: &mut dyn Db, quantity: i64) -> Result<(), DbError> {
        let key = stock_key();
        let left = self.quantity - quantity;
        STOCK.set(db, &key, "s_quantity", if left >= 10 { left } else { left + 91 })?;
        STOCK.set(db, &key, "s_ytd", self.ytd + quantity)?;
        STOCK.set(db, &key, "s_order_cnt", self.orders + 1)?;
        STOCK.set(db, &key, "s_remote_cnt", self.remote)
    }
}

/// Delivers the oldest open order of each of the first `districts` districts.
pub(super) fn delivery(db: &mut dyn Db, districts: i64, carrier: i64, orders_max: i64) -> Result<End, DbError> {
    for district in 1..=districts {
        let mut oldest = None;
        for order in 1..=orders_max {
            let is_open = NEW_ORDER.exists(db, &order_key(district, order))?;
            oldest = oldest.or(is_open.then_some(order));
        }
        let Some(order) = oldest else { continue };
        let key = order_key(district, order);
        NEW_ORDER.delete(db, &key)?;
        let customer = ORDER.int(db, &key, "o_c_id")?;
        ORDER.set(db, &key, "o_carrier_id", carrier)?;
        let mut total = 0;
        for line in 1..=LINES_MAX {
            let line = line_key(district, order, line);
            if ORDER_LINE.exists(db, &line)? {
                ORDER_LINE.set(db, &line, "ol_delivery_d", "1970-01-02")?;
                total += ORDER_LINE.int(db, &line, "ol_amount")?;
            }
        }
        let customer = customer_key(district, customer);
        let balance = CUSTOMER.int(db, &customer, "c_balance")?;
        CUSTOMER.set(db, &customer, "c_balance", balance + total)?;
        let deliveries = CUSTOMER.int(db, &customer, "c_delivery_cnt")?;
        CUSTOMER.set(db, &customer, "c_delivery_cnt", deliveries + 1)?;
    }
    Ok(End::Commit)
}
