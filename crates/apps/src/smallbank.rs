//! SmallBank: customers with a savings and a checking account, between which money moves.
//!
//! The workload of MonkeyDB and IsoPredict: amalgamate 30 %, balance 30 %, send payment 40 %, 5
//! customers. Their driver sends payments from a customer to the same customer; here the receiver
//! is another one, as meant. Money is counted in cents.

use crate::app::App;
use crate::db::{Db, DbError};
use crate::tables::Table;
use crate::value::Value;
use crate::workload::{End, Random, Workload, attempt, look};

const ACCOUNTS: Table = Table("accounts");
const SAVINGS: Table = Table("savings");
const CHECKING: Table = Table("checking");
const CUSTOMERS: i64 = 5;
const BALANCE: i64 = 250_000;
const PAYMENT: i64 = 500;

/// The application.
#[derive(Debug)]
pub struct SmallBank(pub Workload);

#[derive(Clone, Copy)]
enum Kind {
    Amalgamate,
    Balance,
    SendPayment,
}

const WEIGHTS: [(Kind, i64); 3] =
    [(Kind::Amalgamate, 30), (Kind::Balance, 30), (Kind::SendPayment, 40)];

fn name(customer: i64) -> String {
    format!("{customer:064}")
}

fn customers() -> impl Iterator<Item = String> {
    (0..CUSTOMERS).map(|customer| customer.to_string())
}

/// Reads an account; whether it exists.
fn account(db: &mut dyn Db, customer: &str) -> Result<bool, DbError> {
    let exists = ACCOUNTS.exists(db, customer)?;
    if exists {
        ACCOUNTS.look_at(db, customer, ["custid", "name"])?;
    }
    Ok(exists)
}

/// Moves all that `from` has to the checking account of `to`.
fn amalgamate(db: &mut dyn Db, from: &str, to: &str) -> Result<End, DbError> {
    if !account(db, from)? || !account(db, to)? {
        return Ok(End::Abort);
    }
    if !SAVINGS.exists(db, from)? || !CHECKING.exists(db, from)? {
        return Ok(End::Abort);
    }
    let total = SAVINGS.int(db, from, "bal")? + CHECKING.int(db, from, "bal")?;
    CHECKING.set(db, from, "bal", 0i64)?;
    SAVINGS.set(db, from, "bal", 0i64)?;
    let balance = CHECKING.int(db, to, "bal")?;
    CHECKING.set(db, to, "bal", balance + total)?;
    Ok(End::Commit)
}

fn balance(db: &mut dyn Db, customer: i64) -> Result<End, DbError> {
    let found = ACCOUNTS.select(db, customers(), "name", &Value::from(name(customer)))?;
    let Some(customer) = found.first() else { return Ok(End::Abort) };
    ACCOUNTS.look_at(db, customer, ["custid"])?;
    SAVINGS.int(db, customer, "bal")?;
    CHECKING.int(db, customer, "bal")?;
    Ok(End::Commit)
}

fn send_payment(db: &mut dyn Db, from: &str, to: &str) -> Result<End, DbError> {
    if !account(db, from)? || !account(db, to)? {
        return Ok(End::Abort);
    }
    let has = CHECKING.int(db, from, "bal")?;
    if has < PAYMENT {
        return Ok(End::Abort);
    }
    CHECKING.set(db, from, "bal", has - PAYMENT)?;
    let balance = CHECKING.int(db, to, "bal")?;
    CHECKING.set(db, to, "bal", balance + PAYMENT)?;
    Ok(End::Commit)
}

fn two_customers(random: &mut Random) -> (i64, i64) {
    let one = random.between(0, CUSTOMERS - 1);
    let other = random.between(0, CUSTOMERS - 2);
    (one, if other >= one { other + 1 } else { other })
}

impl App for SmallBank {
    fn name(&self) -> &'static str {
        "smallbank"
    }

    fn assertion(&self) -> &'static str {
        "no money appears or disappears (A13)"
    }

    fn workload(&self) -> Option<Workload> {
        Some(self.0)
    }

    fn load(&self) -> Vec<(String, Value)> {
        let rows = (0..CUSTOMERS).flat_map(|customer| {
            let key = customer.to_string();
            [
                ACCOUNTS.load(
                    &key,
                    &[("custid", Value::Int(customer)), ("name", Value::from(name(customer)))],
                ),
                SAVINGS.load(&key, &[("bal", Value::Int(BALANCE))]),
                CHECKING.load(&key, &[("bal", Value::Int(BALANCE))]),
            ]
        });
        rows.flatten().collect()
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
        for _ in 0..self.0.transactions {
            let kind = random.weighted(&WEIGHTS);
            let (one, other) = two_customers(&mut random);
            let committed = attempt(db, |db| match kind {
                Kind::Amalgamate => amalgamate(db, &one.to_string(), &other.to_string()),
                Kind::Balance => balance(db, one),
                Kind::SendPayment => send_payment(db, &one.to_string(), &other.to_string()),
            })?;
            see(if committed { "done" } else { "refused" }.into());
        }
        Ok(())
    }

    fn verify(&self, _: &[Vec<Value>], db: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let total = look(db, |db| {
            let mut total = 0;
            for customer in customers() {
                total += SAVINGS.int(db, &customer, "bal")? + CHECKING.int(db, &customer, "bal")?;
            }
            Ok(total)
        })?;
        let expected = 2 * BALANCE * CUSTOMERS;
        Ok(if total == expected {
            Ok(())
        } else {
            Err(format!("A13: all accounts together have {total} cents instead of {expected}"))
        })
    }
}
