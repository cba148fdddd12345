//! Every behaviour of a transactional program under an isolation level, each exactly once.
//!
//! A [`Program`] has sessions; a session has transactions, which are closures that read and write
//! keys. [`explore`] visits every history that the program can have at a
//! [`Level`](seriatim_isolation::Level): who read what from whom. Histories are not repeated, and
//! memory stays small however many there are. (`seriatim::model` is this for tests, with a report
//! of what goes wrong.)
//!
//! ```
//! use seriatim_explore::{End, Program, explore};
//! use seriatim_isolation::{Anomaly, Level};
//!
//! // Two doctors go off duty if somebody else is on duty.
//! let mut doctors: Program<i64, ()> = Program::new();
//! doctors.initial("alice", 1).initial("bob", 1);
//! for me in ["alice", "bob"] {
//!     doctors.named_session(me).transaction(move |tx, _| {
//!         if tx.read("alice")? + tx.read("bob")? > 1 {
//!             tx.write(me, 0)?;
//!         }
//!         Ok(())
//!     });
//! }
//! // Whatever the database may hold in the end, somebody must be on duty.
//! let somebody = |end: &End<'_, i64, ()>| {
//!     end.finally(|read| match read("alice") + read("bob") {
//!         0 => Err("nobody is on duty".to_owned()),
//!         _ => Ok(()),
//!     })
//! };
//! let serializable = explore(&doctors, Level::Serializable, somebody)?;
//! assert_eq!((serializable.is_complete, serializable.tally.histories), (true, 2));
//! let found = explore(&doctors, Level::SnapshotIsolation, somebody)?.counterexample.unwrap();
//! assert_eq!(found.report.anomalies[0].kind, Anomaly::WriteSkew);
//! assert_eq!(found.token, "0:0.0,1:0.0");
//! # Ok::<(), seriatim_explore::ExploreError>(())
//! ```
//!
//! What is explored: at read committed, read atomic and causal consistency (also if each
//! transaction has its own of these levels) the algorithm EXPLORE-CE of Bouajjani, Enea and
//! Román-Calvo (PLDI 2023), which never takes a step in vain; at prefix consistency, snapshot
//! isolation and serializability EXPLORE-CE*, which visits the histories of a weaker level and
//! passes over those that the level does not allow. An aborted transaction is part of the history
//! as one that wrote nothing: what it read obeys the level, because a database answers a read
//! before it can know of the abort. (A recorded history is judged without its aborted
//! transactions.)
//!
//! [`Explorer`] has more: threads, a budget, parts for several machines, work that can be kept and
//! resumed, all counterexamples grouped by the cycle that they show, robustness, the baseline
//! without reduction. [`lang`] is a small language for programs.

mod ce;
mod closure;
mod cycles;
mod determinism;
mod dfs;
mod end;
mod engine;
mod error;
mod explain;
mod explorer;
pub mod lang;
mod levels;
mod ordered;
mod panics;
pub mod play;
mod program;
mod reader;
mod to_history;
mod token;
mod trail;
mod txn_set;
mod valid;
mod work;

pub use end::End;
pub use engine::Algorithm;
pub use error::{ExploreError, Place};
pub use explain::{Counterexample, replay};
pub use explorer::{Exploration, Explorer, Observer, Property, explore};
pub use levels::LEVELS;
pub use program::{Client, Local, Program, Session, Stop, Tx, Value};
pub use work::{Cycle, FoundBehaviour, Group, Groups, Part, Tally, Work};
