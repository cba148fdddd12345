//! An application of your own, with an assertion that must hold: it runs against the adversary
//! until the assertion breaks, then every behaviour of it is explored at two levels.
//!
//!     cargo run -p seriatim --features apps --example own_application

use seriatim::Level;
use seriatim::apps::{App, Db, DbError, Value, transact};
use seriatim::runs::{Fuzz, Setting, explore};
use seriatim::store::ChooserKind;

/// Two clients withdraw from an account that must not be overdrawn.
struct Account;

impl App for Account {
    fn name(&self) -> &'static str {
        "account"
    }

    fn assertion(&self) -> &'static str {
        "no more is paid out than there was"
    }

    fn load(&self) -> Vec<(String, Value)> {
        vec![("balance".to_owned(), Value::Int(100))]
    }

    fn clients(&self) -> usize {
        2
    }

    fn run(&self, _: usize, db: &mut dyn Db, see: &mut dyn FnMut(Value)) -> Result<(), DbError> {
        let paid = transact(db, |db| {
            let balance = db.read("balance")?.number();
            if balance < 80 {
                return Ok(None);
            }
            db.write("balance", Value::Int(balance - 80))?;
            Ok(Some(80))
        })?;
        see(Value::Int(paid.unwrap_or(0)));
        Ok(())
    }

    fn verify(&self, seen: &[Vec<Value>], _: &mut dyn Db) -> Result<Result<(), String>, DbError> {
        let paid: i64 = seen.iter().flatten().map(Value::number).sum();
        Ok(if paid <= 100 { Ok(()) } else { Err(format!("{paid} were paid out of 100")) })
    }
}

static ACCOUNT: Account = Account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let setting = Setting { level: Level::Causal, interleaved: false };
    let mut fuzz = Fuzz::new(&ACCOUNT, setting, ChooserKind::Adversary, 1);
    let broken = (0..100).map(|number| fuzz.run(number)).find_map(|run| run.ok()?.failure);
    println!("fuzz at {}: {}", setting.level, broken.as_deref().unwrap_or("nothing found"));

    let program = explore::program(&ACCOUNT);
    for level in [Level::Causal, Level::SnapshotIsolation] {
        let all = seriatim::explore::explore(&program, level, |end| explore::verify(&ACCOUNT, end));
        match all?.counterexample {
            Some(found) => println!("explore at {level}: {}", found.reason),
            None => println!("explore at {level}: holds in every history"),
        }
    }
    Ok(())
}
