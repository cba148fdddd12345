//! The subcommands, one file each.

pub mod check;
pub mod completions;
pub mod convert;
pub mod demo;
pub mod explain;
pub mod explore;
pub mod fuzz;
pub mod generate;
pub mod man;
pub mod minimize;
pub mod observe;
pub mod predict;
pub mod replay;
pub mod schema;
pub mod serve;
pub mod stats;
pub mod verify;

use crate::cli::Task;
use crate::exit::{Exit, Failure};

/// Does the task.
pub fn run(task: &Task) -> Result<Exit, Failure> {
    match task {
        Task::Check(args) => check::run(args),
        Task::Verify(args) => verify::run(args),
        Task::Minimize(args) => minimize::run(args),
        Task::Observe(args) => observe::run(args),
        Task::Predict(args) => predict::run(args),
        Task::Fuzz(args) => fuzz::run(args),
        Task::Replay(args) => replay::run(args),
        Task::Explore(args) => explore::run(args),
        Task::Explain(args) => explain::run(args),
        Task::Convert(args) => convert::run(args),
        Task::Generate(args) => generate::run(args),
        Task::Serve(args) => serve::run(args),
        Task::Stats(args) => stats::run(args),
        Task::Demo(args) => demo::run(args),
        Task::Schema(args) => schema::run(args),
        Task::Man(args) => man::run(args),
        Task::Completions(args) => completions::run(args),
    }
}
