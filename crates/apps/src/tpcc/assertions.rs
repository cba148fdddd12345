//! What must hold under serializability: the consistency conditions of TPC-C, as MonkeyDB and
//! IsoPredict number them.

use super::{
    CUSTOMER, CUSTOMERS, DISTRICT, DISTRICTS, HISTORY, LINES_MAX, NEW_ORDER, ORDER, ORDER_LINE,
    Tpcc, W, WAREHOUSE, customer_key, district_key, line_key, order_key, orders_max,
};
use crate::db::{Db, DbError};
use crate::value::Value;

struct Line {
    amount: i64,
    is_delivered: bool,
}

struct Order {
    number: i64,
    customer: i64,
    lines_said: i64,
    has_carrier: bool,
    is_open: bool,
    lines: Vec<Line>,
}

struct Customer {
    number: i64,
    balance: i64,
    paid: i64,
}

struct District {
    number: i64,
    ytd: i64,
    next_order: i64,
    orders: Vec<Order>,
    /// Orders that are open, whether or not there is such an order.
    open: Vec<i64>,
    customers: Vec<Customer>,
}

/// A payment: the district that took it, the customer and the customer's district, how much.
struct Paid {
    district: i64,
    customer: (i64, i64),
    amount: i64,
}

/// The whole content.
pub(super) struct Books {
    ytd: i64,
    districts: Vec<District>,
    payments: Vec<Paid>,
}

impl Books {
    pub fn read(db: &mut dyn Db, app: &Tpcc) -> Result<Books, DbError> {
        let mut books = Books {
            ytd: WAREHOUSE.int(db, W, "w_ytd")?,
            districts: Vec::new(),
            payments: Vec::new(),
        };
        for district in 1..=DISTRICTS {
            books.districts.push(read_district(db, district, orders_max(app.0.total()))?);
        }
        let customers =
            |district| (1..=CUSTOMERS).map(move |customer| customer_key(district, customer));
        let loaded = (1..=DISTRICTS).flat_map(customers).map(|key| format!("load-{key}"));
        let of =
            |client: usize| (0..app.0.transactions).map(move |number| format!("{client}-{number}"));
        let rows = loaded.chain((0..app.0.sessions).flat_map(of));
        for row in HISTORY.rows(db, rows)? {
            books.payments.push(Paid {
                district: HISTORY.int(db, &row, "h_d_id")?,
                customer: (HISTORY.int(db, &row, "h_c_d_id")?, HISTORY.int(db, &row, "h_c_id")?),
                amount: HISTORY.int(db, &row, "h_amount")?,
            });
        }
        Ok(books)
    }

    /// Whether all conditions hold; otherwise the first that does not.
    pub fn agree(&self) -> Result<(), String> {
        let of_districts: i64 = self.districts.iter().map(|district| district.ytd).sum();
        equal("A1: the warehouse took", self.ytd, "and its districts", of_districts)?;
        let paid: i64 = self.payments.iter().map(|payment| payment.amount).sum();
        equal("A8: the warehouse took", self.ytd, "and the history says", paid)?;
        self.districts.iter().try_for_each(|district| self.district(district))
    }

    fn district(&self, district: &District) -> Result<(), String> {
        let here = |number: &str| format!("{number}: in district {}", district.number);
        let paid: i64 = self
            .payments
            .iter()
            .filter(|paid| paid.district == district.number)
            .map(|paid| paid.amount)
            .sum();
        equal(&(here("A9") + " were taken"), district.ytd, "and the history says", paid)?;
        district.numbers()?;
        district.lines()?;
        district.orders.iter().try_for_each(|order| order.agrees(district.number))?;
        district.customers.iter().try_for_each(|customer| self.customer(district, customer))
    }

    fn customer(&self, district: &District, customer: &Customer) -> Result<(), String> {
        let orders = district.orders.iter().filter(|order| order.customer == customer.number);
        let lines = orders.flat_map(|order| &order.lines).filter(|line| line.is_delivered);
        let delivered: i64 = lines.map(|line| line.amount).sum();
        let mine = (district.number, customer.number);
        let paid: i64 =
            self.payments.iter().filter(|paid| paid.customer == mine).map(|paid| paid.amount).sum();
        let who = |number: &str| {
            format!("{number}: customer {} of district {}", customer.number, district.number)
        };
        equal(
            &(who("A10") + " has a balance of"),
            customer.balance,
            "and deliveries less payments of",
            delivered - paid,
        )?;
        let both = customer.balance + customer.paid;
        equal(&(who("A12") + " has balance and payments of"), both, "and deliveries of", delivered)
    }
}

impl District {
    /// A2, A3, A11: the numbers of the orders.
    fn numbers(&self) -> Result<(), String> {
        let here = |number: &str| format!("{number}: in district {}", self.number);
        if let Some(last) = self.orders.iter().map(|order| order.number).max() {
            equal(
                &(here("A2") + " the last order should be"),
                self.next_order - 1,
                "and is",
                last,
            )?;
        }
        let (Some(&first), Some(&last)) = (self.open.first(), self.open.last()) else {
            return Ok(());
        };
        equal(
            &(here("A2") + " the last open order should be"),
            self.next_order - 1,
            "and is",
            last,
        )?;
        equal(
            &(here("A3") + " open orders span"),
            last - first + 1,
            "and are",
            self.open.len() as i64,
        )?;
        let closed = self.orders.len() as i64 - self.open.len() as i64;
        if closed >= 2 || self.orders.is_empty() {
            return Ok(());
        }
        Err(here("A11") + &format!(" only {closed} orders are not open, and 2 were so at first"))
    }

    /// A4: the number of lines.
    fn lines(&self) -> Result<(), String> {
        let said: i64 = self.orders.iter().map(|order| order.lines_said).sum();
        let found: usize = self.orders.iter().map(|order| order.lines.len()).sum();
        let what = format!("A4: the orders of district {} say that they have", self.number);
        equal(&what, said, "lines, and there are", found as i64)
    }
}

impl Order {
    /// A5, A6, A7: what an order says about itself.
    fn agrees(&self, district: i64) -> Result<(), String> {
        let what = |number: &str| format!("{number}: order {} of district {district}", self.number);
        if self.has_carrier && self.is_open {
            return Err(what("A5") + " has a carrier and is open");
        }
        equal(
            &(what("A6") + " says that it has"),
            self.lines_said,
            "lines and has",
            self.lines.len() as i64,
        )?;
        match self.lines.last() {
            Some(line) if line.is_delivered != self.has_carrier => {
                Err(what("A7") + " has a carrier or a delivered last line, but not both")
            }
            _ => Ok(()),
        }
    }
}

fn equal(left: &str, one: i64, right: &str, other: i64) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{left} {one} {right} {other}")) }
}

fn read_district(db: &mut dyn Db, number: i64, orders: i64) -> Result<District, DbError> {
    let key = district_key(number);
    let mut district = District {
        number,
        ytd: DISTRICT.int(db, &key, "d_ytd")?,
        next_order: DISTRICT.int(db, &key, "d_next_o_id")?,
        orders: Vec::new(),
        open: Vec::new(),
        customers: Vec::new(),
    };
    for order in 1..=orders {
        let key = order_key(number, order);
        let is_open = NEW_ORDER.exists(db, &key)?;
        if is_open {
            district.open.push(order);
        }
        if ORDER.exists(db, &key)? {
            district.orders.push(read_order(db, number, order, is_open)?);
        }
    }
    for customer in 1..=CUSTOMERS {
        let key = customer_key(number, customer);
        let (balance, paid) =
            (CUSTOMER.int(db, &key, "c_balance")?, CUSTOMER.int(db, &key, "c_ytd_payment")?);
        district.customers.push(Customer { number: customer, balance, paid });
    }
    Ok(district)
}

fn read_order(
    db: &mut dyn Db,
    district: i64,
    number: i64,
    is_open: bool,
) -> Result<Order, DbError> {
    let key = order_key(district, number);
    let mut lines = Vec::new();
    for line in 1..=LINES_MAX {
        let line = line_key(district, number, line);
        if ORDER_LINE.exists(db, &line)? {
            let is_delivered = ORDER_LINE.get(db, &line, "ol_delivery_d")? != Value::Null;
            lines.push(Line { amount: ORDER_LINE.int(db, &line, "ol_amount")?, is_delivered });
        }
    }
    Ok(Order {
        number,
        customer: ORDER.int(db, &key, "o_c_id")?,
        lines_said: ORDER.int(db, &key, "o_ol_cnt")?,
        has_carrier: ORDER.get(db, &key, "o_carrier_id")? != Value::Null,
        is_open,
        lines,
    })
}
