//! SQL on any transactional store of cells, with PostgreSQL's meaning.
//!
//! A statement goes one way: text, [`parse`]d to a syntax tree, bound to the catalog and typed
//! ([`bind`]), planned ([`plan`]), executed ([`execute`]) on a [`cells::CellTxn`]. Nothing here
//! knows a network or who chooses the version that a read returns.
//!
//! What PostgreSQL's own catalogs say about its types, functions, operators and casts is data
//! (`data/*.tsv`), so that names are resolved and values converted by the same rules from the same
//! facts; `functions/` has what the functions do, by the name that they have inside of PostgreSQL.

pub mod activity;
pub mod bind;
pub mod catalog;
pub mod cell_names;
pub mod cells;
pub mod channels;
pub mod database;
pub mod ddl;
pub mod deparse;
pub mod env;
pub mod error;
pub mod execute;
pub mod functions;
pub mod heap;
pub mod interrupt;
pub mod ir;
pub mod locks;
pub mod memory;
pub mod parse;
pub mod plan;
mod regex;
pub mod roles;
pub mod session;
pub mod settings;
pub mod transaction;
pub mod types;
pub mod virtual_tables;

pub use error::{Result, SqlError};
pub use types::{Datum, Oid};
