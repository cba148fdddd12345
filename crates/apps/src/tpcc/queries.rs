//! The transactions that only read: order status and stock level.

use super::{
    By, CUSTOMER, DISTRICT, ORDER, ORDER_LINE, customer_key, district_key, find_customer, lines_of,
    order_key,
};
use crate::db::{Db, DbError};
use crate::workload::End;

/// How many orders back the stock level looks.
const LEVEL_ORDERS: i64 = 20;

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
