//! A file for each database.

pub mod fjall;
pub mod redb;
pub mod rocksdb;
pub mod surrealkv;
pub mod turso;
