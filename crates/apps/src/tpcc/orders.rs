//! New orders and their delivery.

use super::{
    CUSTOMER, CUSTOMERS, DISTRICT, ITEM, LINES_ORDERED, NEW_ORDER, ORDER, ORDER_LINE, STOCK, W,
    WAREHOUSE, customer_key, district_key, line_key, lines_of, order_key, stock_key,
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
pub(crate) struct Request {
    district: i64,
    customer: i64,
    lines: Vec<Line>,
}

impl Request {
    /// An order of some customer.
    pub fn draw(random: &mut Random, district: i64) -> Request {
        let customer = random.between(1, CUSTOMERS);
        let (least, most) = LINES_ORDERED;
        let count = random.between(least, most);
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
    CUSTOMER.look_at(db, &customer, ["c_discount", "c_last", "c_credit"])?;
    WAREHOUSE.look_at(db, W, ["w_tax"])?;
    let number = DISTRICT.columns(db, &district, ["d_next_o_id", "d_tax"])?[0].number();
    DISTRICT.set(db, &district, "d_next_o_id", number + 1)?;
    let count = request.lines.len() as i64;
    let order = order_key(request.district, number);
    ORDER.insert(
        db,
        &order,
        &[("o_c_id", Value::Int(request.customer)), ("o_ol_cnt", Value::Int(count))],
    )?;
    NEW_ORDER.insert(db, &order, &[])?;
    let mut stocks = Vec::new();
    for line in &request.lines {
        if !ITEM.exists(db, line.item)? {
            return Ok(End::Abort);
        }
        let price = ITEM.columns(db, line.item, ["i_price", "i_name", "i_data"])?[0].number();
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
        let columns = ["s_dist", "s_data", "s_quantity", "s_ytd", "s_order_cnt", "s_remote_cnt"];
        let [_, _, quantity, ytd, orders, remote] =
            STOCK.columns(db, &stock_key(), columns)?.map(|cell| cell.number());
        Ok(Stock { quantity, ytd, orders, remote })
    }

    fn take(&self, db: &mut dyn Db, quantity: i64) -> Result<(), DbError> {
        let left = self.quantity - quantity;
        let cells = [
            ("s_quantity", if left >= 10 { left } else { left + 91 }),
            ("s_ytd", self.ytd + quantity),
            ("s_order_cnt", self.orders + 1),
            ("s_remote_cnt", self.remote),
        ];
        STOCK.update(db, &stock_key(), &cells.map(|(column, number)| (column, Value::Int(number))))
    }
}

/// Delivers the oldest open order of each of the first `districts` districts.
pub(super) fn delivery(
    db: &mut dyn Db,
    districts: i64,
    carrier: i64,
    orders_max: i64,
) -> Result<End, DbError> {
    for district in 1..=districts {
        let open = NEW_ORDER.rows(db, (1..=orders_max).map(|order| order_key(district, order)))?;
        let Some(order) = open.first() else { continue };
        NEW_ORDER.delete(db, order)?;
        let customer = ORDER.int(db, order, "o_c_id")?;
        ORDER.set(db, order, "o_carrier_id", carrier)?;
        let mut total = 0;
        ORDER_LINE.each(db, lines_of(order), |db, line| {
            ORDER_LINE.set(db, &line, "ol_delivery_d", "1970-01-02")?;
            total += ORDER_LINE.int(db, &line, "ol_amount")?;
            Ok(())
        })?;
        let customer = customer_key(district, customer);
        let balance = CUSTOMER.int(db, &customer, "c_balance")?;
        CUSTOMER.set(db, &customer, "c_balance", balance + total)?;
        let deliveries = CUSTOMER.int(db, &customer, "c_delivery_cnt")?;
        CUSTOMER.set(db, &customer, "c_delivery_cnt", deliveries + 1)?;
    }
    Ok(End::Commit)
}
