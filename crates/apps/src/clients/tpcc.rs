//! TPC-C: new order, payment, order status, delivery, stock level; one warehouse, two districts, three customers each, one item.
//!
//! Rows are single cells. What is loaded is one delivered and one undelivered order a district; a new order has one or two lines.

use super::{Dice, Step, add, column, insert, row, with_column};
use crate::db::{Db, DbError};
use crate::value::Value;

const DISTRICTS: i64 = 2;
const CUSTOMERS: i64 = 3;

/// Columns of rows, by their names in the benchmark.
const W_YTD: usize = 0;
const D_NEXT_O_ID: usize = 0;
const D_YTD: usize = 1;
const C_BALANCE: usize = 0;
const C_YTD_PAYMENT: usize = 1;
const C_DELIVERY_CNT: usize = 2;
const O_C_ID: usize = 0;
const O_CARRIER_ID: usize = 1;
const S_QUANTITY: usize = 0;
const S_YTD: usize = 1;
const OL_AMOUNT: usize = 0;
const OL_DELIVERED: usize = 1;

fn district(d: i64) -> String {
    format!("district:{d}")
}

fn customer(d: i64, c: i64) -> String {
    format!("customer:{d}:{c}")
}

fn orders(d: i64) -> String {
    format!("orders:{d}")
}

fn order(d: i64, o: i64) -> String {
    format!("order:{d}:{o}")
}

fn new_orders(d: i64) -> String {
    format!("new_orders:{d}")
}

fn lines(d: i64, o: i64) -> String {
    format!("lines:{d}:{o}")
}

pub(super) fn load() -> Vec<(String, Value)> {
    let mut cells = vec![
        ("warehouse".to_owned(), row(&[60])),
        ("item:1".to_owned(), row(&[5])),
        ("stock:1".to_owned(), row(&[50, 0])),
        ("history".to_owned(), Value::List(Vec::new())),
    ];
    for d in 1..=DISTRICTS {
        cells.push((district(d), row(&[3, 30])));
        cells.extend((1..=CUSTOMERS).map(|c| (customer(d, c), row(&[-10, 10, 0]))));
        cells.push((orders(d), row(&[1, 2])));
        cells.push((new_orders(d), row(&[2])));
        cells.push((order(d, 1), row(&[1, 1])));
        cells.push((order(d, 2), row(&[2, 0])));
        cells.push((lines(d, 1), row(&[0, 1])));
        cells.push((lines(d, 2), row(&[7, 0])));
    }
    cells
}

pub(super) fn step(dice: &mut Dice, number: usize) -> Step {
    let (d, c) = (dice.from(1, DISTRICTS), dice.from(1, CUSTOMERS));
    match dice.below(5) {
        0 => {
            let quantities: Vec<i64> = (0..1 + dice.below(2)).map(|_| dice.from(1, 10)).collect();
            Step::new(format!("new order of {c} in {d}"), move |db| new_order(db, d, c, &quantities))
        }
        1 => {
            let amount = dice.from(1, 5000);
            Step::new(format!("payment of {c} in {d}"), move |db| payment(db, d, c, amount, number as i64))
        }
        2 => Step::new(format!("order status of {c} in {d}"), move |db| order_status(db, d, c)),
        3 => {
            let carrier = dice.from(1, 10);
            Step::new("delivery".to_owned(), move |db| delivery(db, carrier))
        }
        _ => Step::new(format!("stock level in {d}"), move |db| stock_level(db, d)),
    }
}

fn new_order(db: &mut dyn Db, d: i64, c: i64, quantities: &[i64]) -> Result<Option<Value>, DbError> {
    db.read(&customer(d, c))?;
    db.read("warehouse")?;
    let o = column(&add(db, &district(d), D_NEXT_O_ID, 1)?, D_NEXT_O_ID) - 1;
    insert(db, &orders(d), Value::Int(o))?;
    db.write(&order(d, o), row(&[c, 0]))?;
    insert(db, &new_orders(d), Value::Int(o))?;
    let price = column(&db.read("item:1")?, 0);
    let mut stock = db.read("stock:1")?;
    for &quantity in quantities {
        let left = column(&stock, S_QUANTITY) - quantity;
        stock = with_column(&stock, S_QUANTITY, if left >= 10 { left } else { left + 91 });
        stock = with_column(&stock, S_YTD, column(&stock, S_YTD) + quantity);
    }
    db.write("stock:1", stock)?;
    db.write(&lines(d, o), row(&[quantities.iter().sum::<i64>() * price, 0]))?;
    Ok(Some(Value::Int(o)))
}

fn payment(db: &mut dyn Db, d: i64, c: i64, amount: i64, number: i64) -> Result<Option<Value>, DbError> {
    add(db, "warehouse", W_YTD, amount)?;
    add(db, &district(d), D_YTD, amount)?;
    let old = db.read(&customer(d, c))?;
    let paid = with_column(&old, C_BALANCE, column(&old, C_BALANCE) - amount);
    let paid = with_column(&paid, C_YTD_PAYMENT, column(&old, C_YTD_PAYMENT) + amount);
    db.write(&customer(d, c), paid.clone())?;
    insert(db, "history", row(&[d, c, amount, number]))?;
    Ok(Some(paid))
}

/// The lines of the newest order of a customer.
fn order_status(db: &mut dyn Db, d: i64, c: i64) -> Result<Option<Value>, DbError> {
    db.read(&customer(d, c))?;
    let mut newest = 0;
    for o in numbers(&db.read(&orders(d))?) {
        if column(&db.read(&order(d, o))?, O_C_ID) == c {
            newest = newest.max(o);
        }
    }
    if newest == 0 {
        return Ok(Some(Value::Null));
    }
    db.read(&lines(d, newest)).map(Some)
}

/// Delivers the oldest order of each district.
fn delivery(db: &mut dyn Db, carrier: i64) -> Result<Option<Value>, DbError> {
    let mut delivered = Vec::new();
    for d in 1..=DISTRICTS {
        let open = db.read(&new_orders(d))?;
        let Some(o) = numbers(&open).into_iter().min() else { continue };
        db.write(&new_orders(d), open.without(&Value::Int(o)))?;
        let of = db.read(&order(d, o))?;
        db.write(&order(d, o), with_column(&of, O_CARRIER_ID, carrier))?;
        let line = db.read(&lines(d, o))?;
        db.write(&lines(d, o), with_column(&line, OL_DELIVERED, 1))?;
        let who = customer(d, column(&of, O_C_ID));
        let old = db.read(&who)?;
        let new = with_column(&old, C_BALANCE, column(&old, C_BALANCE) + column(&line, OL_AMOUNT));
        db.write(&who, with_column(&new, C_DELIVERY_CNT, column(&old, C_DELIVERY_CNT) + 1))?;
        delivered.push(Value::Int(o));
    }
    Ok(Some(Value::List(delivered)))
}

/// The stock, if the last orders needed it.
fn stock_level(db: &mut dyn Db, d: i64) -> Result<Option<Value>, DbError> {
    let next = column(&db.read(&district(d))?, D_NEXT_O_ID);
    for o in (next - 20).max(1)..next {
        db.read(&lines(d, o))?;
    }
    db.read("stock:1").map(Some)
}

fn numbers(rows: &Value) -> Vec<i64> {
    rows.items().iter().filter_map(|item| if let Value::Int(number) = item { Some(*number) } else { None }).collect()
}
