//! Small database applications, written once against a small [`Db`] trait, with assertions that hold under serializability.

mod app;
mod cart;
pub mod clients;
mod courseware;
mod db;
pub mod explore;
mod fuzz;
mod harness;
mod stack;
mod twitter;
mod value;

pub use app::{App, Run, RunError, Setting, run};
pub use db::{Db, DbError, StoreDb, transact};
pub use fuzz::{Fuzz, Recording, ReplayError};
pub use harness::Harness;
pub use value::Value;

/// All applications.
pub const APPS: [&dyn App; 5] =
    [&stack::Stack, &courseware::Overflow, &courseware::RemovedCourse, &cart::Cart, &twitter::Twitter];

/// The application of that name.
pub fn find(name: &str) -> Option<&'static dyn App> {
    APPS.into_iter().find(|app| app.name() == name)
}
