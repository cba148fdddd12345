//! The benchmark applications by name.

use crate::app::App;
use crate::workload::Workload;
use crate::{smallbank, tpcc, voter, wikipedia};

/// The names of the benchmark applications.
pub const BENCHMARKS: [&str; 4] = ["smallbank", "voter", "tpcc", "wikipedia"];

/// A benchmark application with a workload; `None` if there is none of this name.
pub fn benchmark(name: &str, workload: Workload) -> Option<Box<dyn App>> {
    match name {
        "smallbank" => Some(Box::new(smallbank::SmallBank(workload))),
        "voter" => Some(Box::new(voter::Voter(workload))),
        "tpcc" => Some(Box::new(tpcc::Tpcc(workload))),
        "wikipedia" => Some(Box::new(wikipedia::Wikipedia(workload))),
        _ => None,
    }
}
