//! The subcommands, one file each.

mod application;
pub mod audit;
pub mod check;
pub mod completions;
pub mod convert;
pub mod demo;
pub mod explain;
pub mod explore;
pub mod fuzz;
mod fuzz_command;
pub mod generate;
pub mod man;
pub mod minimize;
pub mod observe;
mod observe_command;
pub mod play;
pub mod predict;
mod program_file;
pub mod replay;
pub mod schema;
pub mod serve;
mod serve_sql;
pub mod stats;
pub mod verify;
