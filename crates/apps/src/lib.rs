//! Small database applications, written once against a small [`Db`] trait, with assertions that
//! hold under serializability.

mod app;
mod benchmarks;
mod cart;
pub mod clients;
mod courseware;
mod db;
mod layout;
mod small;
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
pub use benchmarks::{BENCHMARKS, benchmark};
pub use db::{Db, DbError, StoreDb, transact};
pub use layout::Layout;
pub use small::{APPS, SmallApp};
pub use value::Value;
use workload::SEED_DEFAULT;
pub use workload::Workload;

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
