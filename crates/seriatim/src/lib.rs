//! Seriatim checks recorded histories of databases against isolation levels and explains every
//! anomaly.
//!
//! This crate is the facade: it re-exports the stages of the pipeline, in the order in which data
//! flows through them, and has [`model()`] for tests. It is slim, so that a project that only wants
//! to write `#[test]`s compiles little: no command line, no network, no asynchronous runtime. The
//! command `seriatim` and the store over the network are the crates `seriatim-cli` and
//! `seriatim-server`.
//!
//! * [`history`] – what happened: sessions, transactions and events; reading and writing file
//!   formats,
//! * [`isolation`] – what the levels mean: their order, their axioms, the anomalies that they
//!   forbid,
//! * [`check`](mod@check) – does it satisfy a level, and if not, why,
//! * `predict` – could an observed run have gone wrong at a weak level,
//! * `generate` – histories made to order, for tests and benchmarks,
//! * [`store`] – a database that may return anything its isolation level allows,
//! * [`explore`](mod@explore) – every behaviour of a transactional program, each exactly once,
//! * `apps`, `runs` – small applications with assertions, to run on both,
//! * [`report`] – text for people, JSON for machines, DOT for pictures,
//! * `certificate` – why each verdict is true, to be kept and to be confirmed without a search.
//!
//! The features `predict`, `generate` and `apps` turn on the modules of these names, `json` the
//! JSON of reports and certificates.
//!
//! Read a file, check it, print the answer:
//!
//! ```no_run
//! use seriatim::{Checker, History, Level};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let history = History::open("run.edn")?;
//! let report = Checker::new().check(&history);
//! if report.violates(Level::ReadAtomic) {
//!     for group in &report.anomalies {
//!         let story = seriatim::report::summary(&group.exemplar);
//!         println!("{} × {}: {story}", group.count, group.kind.info().name);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Small histories can be written down directly. An auditor who reads in the middle of a transfer:
//!
//! ```
//! use seriatim::history::notation;
//! use seriatim::{Anomaly, Checker, Level};
//!
//! let history = notation::parse(
//!     "teller:  w(alice,70) w(bob,80)
//!      auditor: r(bob,nil) r(alice,70)",
//! )?;
//! let report = Checker::new().check(&history);
//! assert_eq!(report.strongest(), Some(Level::ReadCommitted));
//! assert_eq!(report.weakest_violated(), Some(Level::ReadAtomic));
//!
//! let [fractured] = report.anomalies.as_slice() else { panic!("one anomaly") };
//! assert_eq!((fractured.kind, fractured.count), (Anomaly::FracturedReadCausal, 1));
//! let story = seriatim::report::summary(&fractured.exemplar);
//! let start = "t2 (session auditor) reads the initial bob=nil, then alice=70 from t1.";
//! assert!(story.starts_with(start), "{story}");
//! # Ok::<(), notation::NotationError>(())
//! ```
//!
//! Programs can be explored before there is any history. Whatever a causally consistent database
//! does, two clients that count up may lose an update:
//!
//! ```
//! use seriatim::Level;
//!
//! let counters = seriatim::model(Level::Causal, |p| {
//!     for _ in 0..2 {
//!         p.session().transaction(|tx, seen: &mut i64| {
//!             *seen = tx.read("x")?;
//!             tx.write("x", *seen + 1)
//!         });
//!     }
//! });
//! let found = counters.violate(|end| end.locals().iter().sum::<i64>() == 1);
//! assert_eq!(found.report.anomalies[0].kind, seriatim::Anomaly::LostUpdate);
//! ```

#[cfg(feature = "json")]
pub mod certificate;
mod model;
mod stories;

pub use model::{Model, model};
#[cfg(feature = "apps")]
pub use seriatim_apps as apps;
pub use seriatim_check as check;
pub use seriatim_explore as explore;
#[cfg(feature = "generate")]
pub use seriatim_generate as generate;
pub use seriatim_history as history;
#[cfg(feature = "predict")]
pub use seriatim_predict as predict;
pub use seriatim_report as report;
#[cfg(feature = "apps")]
pub use seriatim_runs as runs;
pub use seriatim_store as store;
pub use seriatim_verify as verify;
pub use stories::stories;

pub use seriatim_check::check;
pub use seriatim_check::{Answer, Checker, Outcome, Report, Verdict, Violation};
pub use seriatim_history::History;
pub use seriatim_isolation as isolation;
pub use seriatim_isolation::{Anomaly, Level};

/// The Rust examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

/// The Rust examples of the page about exploring.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/exploring.md")]
mod exploring {}
