//! Small database applications, written once against a small [`Db`] trait, with assertions that
//! hold under serializability.

mod app;
mod cart;
pub mod clients;
mod courseware;
mod db;
mod drawn;
mod harness;
mod smallbank;
mod stack;
mod tables;
mod tpcc;
mod twitter;
mod value;
mod voter;
mod wikipedia;
mod workload;

pub use app::App;
pub use db::{Db, DbError, StoreDb, transact};
pub use drawn::Drawn;
pub use harness::Harness;
pub use tables::Layout;
pub use value::Value;
use workload::SEED_DEFAULT;
pub use workload::{BENCHMARKS, Workload, benchmark};

/// The small applications: each of their assertions breaks at causal consistency.
pub const APPS: [&dyn App; 5] = [
    &stack::Stack,
    &courseware::Overflow,
    &courseware::RemovedCourse,
    &cart::Cart,
    &twitter::Twitter,
];

/// The benchmark applications with a small workload; [`benchmark`] has others.
pub const BENCHMARK_APPS: [&dyn App; 4] = [
    &smallbank::SmallBank(Workload::small(SEED_DEFAULT)),
    &voter::Voter(Workload::small(SEED_DEFAULT)),
    &tpcc::Tpcc(Workload::small(SEED_DEFAULT)),
    &wikipedia::Wikipedia(Workload::small(SEED_DEFAULT)),
];

/// The application of that name.
pub fn find(name: &str) -> Option<&'static dyn App> {
    APPS.into_iter().chain(BENCHMARK_APPS).find(|app| app.name() == name)
}
