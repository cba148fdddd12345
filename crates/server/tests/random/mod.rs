//! Random schemas, rows, queries and changes.

#![allow(dead_code)]

pub mod changes;
pub mod dice;
pub mod expressions;
pub mod kinds;
pub mod queries;
pub mod schema;
