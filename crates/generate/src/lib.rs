//! Makes histories with known properties: valid at a chosen level by construction, with anomalies
//! planted on demand.
//!
//! A [`Workload`] says how large and how contended; [`generate`] simulates a store that keeps
//! exactly what the level promises and no more. All is decided by the seed.
//!
//! ```
//! use seriatim_check::Checker;
//! use seriatim_isolation::{Anomaly, Level};
//! use seriatim_generate::{Workload, generate};
//!
//! let workload =
//!     Workload { sessions: 4, level: Level::Causal, ..Workload::default() };
//! let report = Checker::new().check(&generate(&workload).unwrap());
//! assert!(report.strongest() >= Some(Level::Causal));
//!
//! let flawed = Workload { plant: vec![Anomaly::CausalityViolation], ..workload };
//! let report = Checker::new().check(&generate(&flawed).unwrap());
//! assert_eq!(report.anomalies[0].kind, Anomaly::CausalityViolation);
//! ```

mod initial;
mod keys;
mod plant;
mod store;
mod workload;
mod zipf;

pub use plant::can_be_planted;
pub use workload::{KeyChoice, LEVELS, Workload, WorkloadError};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use seriatim_history::History;

/// The history that `workload` describes.
pub fn generate(workload: &Workload) -> Result<History, WorkloadError> {
    workload.validate()?;
    let mut random = Pcg64Mcg::seed_from_u64(workload.seed);
    let mut columns = store::simulate(workload, &mut random)?;
    plant::plant(&workload.plant, &mut columns);
    if workload.initial_writes {
        initial::write(&mut columns);
    }
    if let Some(times) = &mut columns.txn_times {
        // What came later has no times.
        times.resize(columns.txns.len(), (i64::MIN, i64::MAX));
    }
    Ok(columns.finish()?)
}
