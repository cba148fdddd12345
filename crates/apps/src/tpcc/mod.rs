//! TPC-C: a wholesale supplier with one warehouse, two districts, three customers each, and one
//! item.
//!
//! The workload of MonkeyDB and IsoPredict: new orders 45 %, payments 43 %, order status, delivery
//! and stock level 4 % each; joins, aggregates and orderings are loops of the client. Money is
//! counted in cents. `load.rs` has the initial content, `orders.rs`, `payment.rs` and `queries.rs`
//! the transactions, `assertions.rs` what must hold (A1 to A12).

mod assertions;
mod load;
mod orders;
mod payment;
mod queries;

pub(crate) use load::rows;
pub(crate) use orders::Request;
pub(crate) use payment::Payment;

use crate::app::App;
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{End, Random, Workload, attempt, look};

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
pub(crate) const DISTRICTS: i64 = 2;
const CUSTOMERS: i64 = 3;
const LOADED_ORDERS: i64 = 3;
const LINES_MAX: i64 = 15;
/// The least and the most lines of an order that clients ask for.
const LINES_ORDERED: (i64, i64) = (5, LINES_MAX);
pub(crate) const CARRIERS: i64 = 10;
/// The last name of every customer.
const LAST_NAME: &str = "BARBARBAR";

/// The application.
#[derive(Debug)]
pub struct Tpcc(pub Workload);

#[derive(Clone, Copy)]
enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

const WEIGHTS: [(Kind, i64); 5] = [
    (Kind::NewOrder, 45),
    (Kind::Payment, 43),
    (Kind::OrderStatus, 4),
    (Kind::Delivery, 4),
    (Kind::StockLevel, 4),
];

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

/// The lines that an order can have.
fn lines_of(order: &str) -> impl Iterator<Item = String> {
    (1..=LINES_MAX).map(move |line| format!("{order}-{line}"))
}

fn stock_key() -> String {
    format!("{W}-{I}")
}

/// The largest number that an order can have after `transactions`.
pub(crate) fn orders_max(transactions: usize) -> i64 {
    LOADED_ORDERS + transactions as i64
}

/// A transaction with its parameters.
pub(crate) enum Txn {
    NewOrder(Request),
    Payment(Payment),
    OrderStatus {
        district: i64,
        by: By,
    },
    /// In the first so many districts.
    Delivery {
        districts: i64,
        carrier: i64,
    },
    StockLevel {
        district: i64,
    },
}

impl Txn {
    /// Does it, inside of a transaction.
    pub fn run(&self, db: &mut dyn Db, orders_max: i64) -> Result<End, DbError> {
        match *self {
            Txn::NewOrder(ref request) => orders::new_order(db, request),
            Txn::Payment(ref payment) => payment::payment(db, payment),
            Txn::OrderStatus { district, by } => {
                queries::order_status(db, district, by, orders_max)
            }
            Txn::Delivery { districts, carrier } => {
                orders::delivery(db, districts, carrier, orders_max)
            }
            Txn::StockLevel { district } => queries::stock_level(db, district),
        }
    }
}

impl Tpcc {
    /// What a client does next.
    fn draw(&self, random: &mut Random, client: usize, number: usize) -> Txn {
        let district = home(client);
        match random.weighted(&WEIGHTS) {
            Kind::NewOrder => Txn::NewOrder(Request::draw(random, district)),
            Kind::Payment => {
                Txn::Payment(Payment::draw(random, district, format!("{client}-{number}")))
            }
            Kind::OrderStatus => Txn::OrderStatus { district, by: By::draw(random) },
            Kind::Delivery => Txn::Delivery {
                districts: delivered_districts(client),
                carrier: random.between(1, CARRIERS),
            },
            Kind::StockLevel => Txn::StockLevel { district },
        }
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
pub(crate) enum By {
    Id(i64),
    Name,
}

/// The numbers of a customer and of the rows that were read to find the customer.
fn find_customer(db: &mut dyn Db, district: i64, by: By) -> Result<Option<i64>, DbError> {
    match by {
        By::Id(customer) => {
            Ok(CUSTOMER.exists(db, &customer_key(district, customer))?.then_some(customer))
        }
        By::Name => {
            let rows = (1..=CUSTOMERS).map(|customer| customer_key(district, customer));
            let found = CUSTOMER.select(db, rows, "c_last", &LAST_NAME.into())?;
            let mut named = Vec::new();
            for key in found {
                let [first, number] = CUSTOMER.columns(db, &key, ["c_first", "c_id"])?;
                named.push((first, number.number()));
            }
            named.sort();
            // The middle row, rounded up.
            Ok(named.len().checked_sub(1).map(|last| named[last.div_ceil(2)].1))
        }
    }
}

impl By {
    pub fn draw(random: &mut Random) -> By {
        match random.percent(60) {
            true => By::Name,
            false => By::Id(random.between(1, CUSTOMERS)),
        }
    }
}

impl App for Tpcc {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn assertion(&self) -> &'static str {
        "the books of the warehouse, its districts, customers and orders agree (A1 to A12)"
    }

    fn workload(&self) -> Option<Workload> {
        Some(self.0)
    }

    fn load(&self) -> Vec<(String, Value)> {
        rows()
    }

    fn clients(&self) -> usize {
        self.0.sessions
    }

    fn run(
        &self,
        client: usize,
        db: &mut dyn Db,
        see: &mut dyn FnMut(Value),
    ) -> Result<(), DbError> {
        let mut random = self.0.random(client);
        for number in 0..self.0.transactions {
            let txn = self.draw(&mut random, client, number);
            let committed = attempt(db, |db| txn.run(db, orders_max(self.0.total())))?;
            see(if committed { "done" } else { "refused" }.into());
        }
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let books = look(db, |db| assertions::Books::read(db, self))?;
        Ok(books.agree())
    }
}
