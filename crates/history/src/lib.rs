//! What happened: sessions, transactions and events, and the file formats that hold them.
//!
//! A [`History`] is what every other part of Seriatim looks at. It is read from a file
//! ([`History::open`], module [`formats`]), built by [`Columns`] (for anything that records
//! transactions itself), or parsed from a line of readable text for tests and documentation
//! ([`notation`]).
//!
//! ```
//! use seriatim_history::{notation, Status};
//! let history = notation::parse("a: w(x,1) | r(x,1) w(y,2)\nb: r(y,2)! ").unwrap();
//! assert_eq!(history.session_count(), 2);
//! assert_eq!(history.txn_count(), 3);
//! assert_eq!(history.status(history.txns().last().unwrap()), Status::Aborted);
//! ```

mod assemble;
mod atom;
mod beside;
mod columns;
mod compression;
mod counts;
mod error;
mod fingerprint;
pub mod formats;
mod ids;
mod input;
mod intervals;
mod labels;
pub mod large_columns;
mod locks;
mod meter;
mod mixed_keys;
mod model;
pub mod notation;
mod numbering;
mod open;
mod orders;
mod own_elements;
mod own_lists;
mod place;
mod rematch;
mod repairs;
mod restrict;
mod scans;
mod statements;
mod write_out;

pub use atom::{Atom, Atoms, Value, ValueKind};
pub use columns::{Columns, ColumnsError, Mark, ScanMeta, StatementMeta, TXNS_MAX, TxnMeta};
pub use counts::Counts;
pub use error::{ENABLE_COMPRESSION, ReadError, Spot, WriteError};
pub use ids::{KeyId, OpId, SessionId, TxnId};
pub use input::{Input, is_special};
pub use intervals::Intervals;
pub use locks::{advisory_lock, is_lock, lock_of};
pub use meter::Meter;
pub use model::{History, Initial, KeyNames, Names, Op, OpKind, Status, TimeUnit};
pub use numbering::Numbering;
pub use orders::Moments;
pub use own_lists::list_of_others;
pub use place::{Place, PlaceUnit, Places};
pub use repairs::{Repairs, Tally};
pub use scans::{Group, Scan, ScanContent};
pub use statements::{Returned, Statement, StatementContent};
pub use write_out::TooManyReads;
