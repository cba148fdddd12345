//! Payments.

use super::{
    By, CUSTOMER, DISTRICT, DISTRICTS, HISTORY, W, WAREHOUSE, customer_key, district_key,
    find_customer,
};
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{End, Random};

const ADDRESS: [&str; 5] = ["name", "street_1", "city", "state", "zip"];

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
