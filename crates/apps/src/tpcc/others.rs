//! Payments, and the transactions that only read.

use super::{
    By, CUSTOMER, DISTRICT, DISTRICTS, HISTORY, ORDER, ORDER_LINE, W, WAREHOUSE, customer_key,
    district_key, find_customer, lines_of, order_key,
};
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{End, Random};

const ADDRESS: [&str; 5] = ["name", "street_1", "city", "state", "zip"];
/// How many orders back the stock level looks.
const LEVEL_ORDERS: i64 = 20;

/// A payment that is asked for.
pub(crate) struct Payment {
    district: i64,
    /// The district of the customer.
    customer_district: i64,
    by: By,
    amount: i64,
    /// The row of the history that it writes.
    row: String,
}

impl Payment {
    pub fn draw(random: &mut Random, district: i64, row: String) -> Payment {
        let customer_district =
            if random.percent(85) { district } else { random.between(1, DISTRICTS) };
        let by = By::draw(random);
        Payment { district, customer_district, by, amount: random.between(100, 500_000), row }
    }
}

fn add(db: &mut dyn Db, table: Table, key: &str, column: &str, amount: i64) -> Result<(), DbError> {
    let before = table.int(db, key, column)?;
    table.set(db, key, column, before + amount)
}

pub(super) fn payment(db: &mut dyn Db, payment: &Payment) -> Result<End, DbError> {
    let district = district_key(payment.district);
    add(db, WAREHOUSE, W, "w_ytd", payment.amount)?;
    WAREHOUSE.look_at(db, W, ADDRESS)?;
    add(db, DISTRICT, &district, "d_ytd", payment.amount)?;
    DISTRICT.look_at(db, &district, ADDRESS)?;
    let Some(customer) = find_customer(db, payment.customer_district, payment.by)? else {
        return Ok(End::Abort);
    };
    let key = customer_key(payment.customer_district, customer);
    let columns = ["c_balance", "c_ytd_payment", "c_payment_cnt", "c_credit"];
    let [balance, paid, payments, credit] = CUSTOMER.columns(db, &key, columns)?;
    let cells = [
        ("c_balance", balance.number() - payment.amount),
        ("c_ytd_payment", paid.number() + payment.amount),
        ("c_payment_cnt", payments.number() + 1),
    ];
    CUSTOMER.update(db, &key, &cells.map(|(column, number)| (column, Value::Int(number))))?;
    if credit == "BC".into() {
        let data = CUSTOMER.get(db, &key, "c_data")?;
        let note = format!("{customer} {} {}|{data}", payment.district, payment.amount);
        CUSTOMER.set(db, &key, "c_data", note.chars().take(500).collect::<String>())?;
    }
    HISTORY.insert(
        db,
        &payment.row,
        &[
            ("h_c_id", Value::Int(customer)),
            ("h_c_d_id", Value::Int(payment.customer_district)),
            ("h_d_id", Value::Int(payment.district)),
            ("h_amount", Value::Int(payment.amount)),
        ],
    )?;
    Ok(End::Commit)
}

/// The newest order of a customer, and its lines.
pub(super) fn order_status(
    db: &mut dyn Db,
    district: i64,
    by: By,
    orders_max: i64,
) -> Result<End, DbError> {
    let Some(customer) = find_customer(db, district, by)? else { return Ok(End::Abort) };
    CUSTOMER.look_at(db, &customer_key(district, customer), ["c_balance", "c_first", "c_last"])?;
    let mut newest = None;
    ORDER.each(db, (1..=orders_max).map(|order| order_key(district, order)), |db, order| {
        if ORDER.int(db, &order, "o_c_id")? == customer {
            newest = Some(order);
        }
        Ok(())
    })?;
    let Some(order) = newest else { return Ok(End::Commit) };
    ORDER.look_at(db, &order, ["o_carrier_id"])?;
    let look = |db: &mut dyn Db, line: String| {
        ORDER_LINE.look_at(db, &line, ["ol_i_id", "ol_amount", "ol_delivery_d"])
    };
    ORDER_LINE.each(db, lines_of(&order), look)?;
    Ok(End::Commit)
}

/// What the last orders of a district need of the stock. As in the benchmark, the lines of the last
/// 20 orders are looked at only if there are more than that, which is never so here.
pub(super) fn stock_level(db: &mut dyn Db, district: i64) -> Result<End, DbError> {
    let next = DISTRICT.int(db, &district_key(district), "d_next_o_id")?;
    let first = if next <= LEVEL_ORDERS { next } else { next - LEVEL_ORDERS };
    for order in first..next {
        let order = order_key(district, order);
        ORDER_LINE
            .each(db, lines_of(&order), |db, line| ORDER_LINE.look_at(db, &line, ["ol_i_id"]))?;
    }
    Ok(End::Commit)
}
