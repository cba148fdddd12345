//! What isolation levels mean.
//!
//! - [`Level`]: the levels, their names and their order; [`Order`]: what each of them exists with,
//! - [`axioms`]: the definition of each level, stated once, for executions with a level for each
//!   transaction and any [`Order`],
//! - [`Anomaly`]: the anomalies that people know by name, and the levels that forbid them,
//! - [`oracle`]: the definition applied to recorded histories, literally.
//!
//! The checker, the store, the explorer and the predictor decide the same questions fast; property
//! tests compare each of them with [`oracle`] or [`axioms::Execution`].
#![doc = include_str!("../DEFINITIONS.md")]

mod anomalies;
pub mod axioms;
mod level;
pub mod oracle;
mod order;

pub use anomalies::{Anomaly, AnomalyInfo};
pub use level::{Level, UnknownLevel};
pub use order::{Guarantee, Order, UnknownOrder};
