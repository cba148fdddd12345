//! TPC-C: a wholesale supplier with one warehouse, two districts, three customers each, and one item.
//!
//! The workload of MonkeyDB and IsoPredict: new orders 45 %, payments 43 %, order status, delivery and stock level 4 % each; joins,
//! aggregates and orderings are loops of the client. Money is counted in cents. `load.rs` has the initial content, `orders.rs` and
//! `others.rs` the transactions, `assertions.rs` what must hold (A1 to A12).

mod assertions;
mod load;
mod orders;
mod others;

use crate::app::App;
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{Random, Workload, attempt, look};

const WAREHOUSE: Table = Table("warehouse");
const DISTRICT: Table = Table("district");
const CUSTOMER: Table = Table("customer");
const ORDER: Table = Table("oorder");
const NEW_ORDER: Table = Table("new_order");
const ORDER_LINE: Table = Table("order_line");
const HISTORY: Table = Table("history");
const ITEM: Table = Table("item");
const STOCK: Table = Table("stock");

/// The only warehouse.
const W: &str = "1";
/// The only item.
const I: &str = "1";
const DISTRICTS: i64 = 2;
const CUSTOMERS: i64 = 3;
const LOADED_ORDERS: i64 = 3;
const LINES_MAX: i64 = 15;
/// Everybody has this name.
const LAST_NAME: &str = "BARBARBAR";

/// The application.
pub struct Tpcc(pub Workload);

#[derive(Clone, Copy)]
enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

const WEIGHTS: [(Kind, i64); 5] =
    [(Kind::NewOrder, 45), (Kind::Payment, 43), (Kind::OrderStatus, 4), (Kind::Delivery, 4), (Kind::StockLevel, 4)];

fn district_key(district: i64) -> String {
    format!("{W}-{district}")
}

fn customer_key(district: i64, customer: i64) -> String {
    format!("{W}-{district}-{customer}")
}

fn order_key(district: i64, order: i64) -> String {
    format!("{W}-{district}-{order}")
}

fn line_key(district: i64, order: i64, line: i64) -> String {
    format!("{W}-{district}-{order}-{line}")
}

fn stock_key() -> String {
    format!("{W}-{I}")
}

impl Tpcc {
    /// The largest number that an order can have.
    fn orders_max(&self) -> i64 {
        LOADED_ORDERS + self.0.total() as i64
    }
}

/// The district of a client: two of three work in the first one.
fn home(client: usize) -> i64 {
    if client % 3 == 2 { 2 } else { 1 }
}

/// The districts that a client delivers in: the first client has none.
fn delivered_districts(client: usize) -> i64 {
    (client % 3) as i64
}

/// How a transaction finds its customer.
#[derive(Clone, Copy)]
enum By {
    Id(i64),
    Name,
}

/// The numbers of a customer and of the rows that were read to find him.
fn find_customer(db: &mut dyn Db, district: i64, by: By) -> Result<Option<i64>, DbError> {
    match by {
        By::Id(customer) => Ok(CUSTOMER.exists(db, &customer_key(district, customer))?.then_some(customer)),
        By::Name => {
            let rows = (1..=CUSTOMERS).map(|customer| customer_key(district, customer));
            let found = CUSTOMER.select(db, rows, "c_last", &LAST_NAME.into())?;
            let mut named = Vec::new();
            for key in found {
                named.push((CUSTOMER.get(db, &key, "c_first")?, CUSTOMER.int(db, &key, "c_id")?));
            }
            named.sort();
            // The middle row, rounded up.
            Ok(named.len().checked_sub(1).map(|last| named[last.div_ceil(2)].1))
        }
    }
}

fn draw_customer(random: &mut Random) -> By {
    match random.percent(60) {
        true => By::Name,
        false => By::Id(random.between(1, CUSTOMERS)),
    }
}

impl App for Tpcc {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn assertion(&self) -> &'static str {
        "the books of the warehouse, its districts, customers and orders agree (A1 to A12)"
    }

    fn load(&self) -> Vec<(String, Value)> {
        load::rows()
    }

    fn clients(&self) -> usize {
        self.0.sessions
    }

    fn run(&self, client: usize, db: &mut dyn Db, see: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        let mut random = self.0.random(client);
        for number in 0..self.0.transactions {
            let district = home(client);
            let committed = match random.weighted(&WEIGHTS) {
                Kind::NewOrder => {
                    let order = orders::Request::draw(&mut random, district);
                    attempt(db, |db| orders::new_order(db, &order))?
                }
                Kind::Payment => {
                    let payment = others::Payment::draw(&mut random, district, format!("{client}-{number}"));
                    attempt(db, |db| others::payment(db, &payment))?
                }
                Kind::OrderStatus => {
                    let by = draw_customer(&mut random);
                    attempt(db, |db| others::order_status(db, district, by, self.orders_max()))?
                }
                Kind::Delivery => {
                    let carrier = random.between(1, 10);
                    let districts = delivered_districts(client);
                    attempt(db, |db| orders::delivery(db, districts, carrier, self.orders_max()))?
                }
                Kind::StockLevel => attempt(db, |db| others::stock_level(db, district))?,
            };
            see(if committed { "done" } else { "refused" }.into());
        }
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let books = look(db, |db| assertions::Books::read(db, self))?;
        Ok(books.agree())
    }
}
