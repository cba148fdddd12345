//! Small database applications, written once against a small [`Db`] trait, with assertions that
//! hold under serializability.

mod app;
mod benchmarks;
mod cart;
pub mod clients;
mod courseware;
mod db;
mod layout;
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
pub use value::Value;
use workload::SEED_DEFAULT;
pub use workload::Workload;

/// The small applications: each of their assertions breaks at causal consistency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SmallApp {
    /// A stack of which no element is popped twice.
    Stack,
    /// A course that never has more students than places.
    Overflow,
    /// A course that has no students any more when it is removed.
    RemovedCourse,
    /// A cart to which no deleted item comes back.
    Cart,
    /// A feed that lacks nothing that was seen.
    Twitter,
}

impl SmallApp {
    /// All of them.
    pub const ALL: [SmallApp; 5] = [
        SmallApp::Stack,
        SmallApp::Overflow,
        SmallApp::RemovedCourse,
        SmallApp::Cart,
        SmallApp::Twitter,
    ];

    /// The application.
    pub const fn app(self) -> &'static dyn App {
        match self {
            SmallApp::Stack => &stack::Stack,
            SmallApp::Overflow => &courseware::Overflow,
            SmallApp::RemovedCourse => &courseware::RemovedCourse,
            SmallApp::Cart => &cart::Cart,
            SmallApp::Twitter => &twitter::Twitter,
        }
    }
}

/// The applications of [`SmallApp::ALL`].
pub const APPS: [&dyn App; 5] = [
    SmallApp::Stack.app(),
    SmallApp::Overflow.app(),
    SmallApp::RemovedCourse.app(),
    SmallApp::Cart.app(),
    SmallApp::Twitter.app(),
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
