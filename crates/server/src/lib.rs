//! The store over the network: clients in any language talk to a database that may return anything
//! its isolation level allows.
//!
//! A [`Server`] listens until it is told to stop, and then hands over the history of everything
//! that happened. `hub.rs` has what the store's sessions share (transactions, settings); `http/` is
//! HTTP with JSON; `postgres/` is SQL with PostgreSQL's protocol, on a cluster of `seriatim-sql`,
//! and `mysql/` the same with MySQL's protocol and dialect. [`play`] is something else: a page on
//! which programs are led by hand.
//!
//! ```
//! use seriatim_server::{Config, Server};
//!
//! let server = Server::bind("127.0.0.1:0", Config::default())?;
//! let (address, stopper) = (server.http_address(), server.stopper());
//! let running = std::thread::spawn(move || server.run());
//! // Clients talk to that address …
//! stopper.stop();
//! let history = running.join().expect("the server does not panic");
//! assert_eq!(history.txn_count(), 0);
//! # let _ = address;
//! # Ok::<(), seriatim_server::ServeError>(())
//! ```

pub mod cells;
mod config;
mod contained;
mod error;
pub mod holding;
mod http;
mod hub;
pub mod mysql;
mod picks;
pub mod play;
pub mod postgres;
mod questions;
mod refusals;
mod server;
mod session;
mod waiting;

pub use config::Config;
pub use contained::is_contained;
pub use questions::Questions;
pub use refusals::Refusals;
pub use seriatim_store::{ChooserKind, UnknownChooser};
pub use server::{ServeError, Server, Stopper, Visitors};
