//! Could this observed run have gone wrong? From one serializable run of an application, a feasible
//! history of the same application that a weak isolation level allows and that is not serializable
//! (IsoPredict, PLDI 2024).
//!
//! [`predict`] answers *found*, *none exists within the boundary* or *undecided*; [`predict_all`]
//! goes on to predictions with other cycles. [`confirm`] checks a prediction without the code that
//! found it, [`oracle`] enumerates all predictions of a tiny run.
//!
//! # What a prediction is
//!
//! Each session keeps a prefix of its events (reads from others, and last writes). What an
//! application does after a read that returns something else than observed is not known, so a
//! session ends with the read (*strict*) or the transaction (*relaxed*) in which that happens:
//!
//! - strict: a session keeps whole transactions and then, perhaps, the beginning of one that ends
//!   with a read. This last read may have another writer; all other reads are as observed.
//! - relaxed: a session keeps whole transactions. All reads of the last one may have other writers;
//!   if one has, no transaction reads from this one.
//!
//! Every kept read reads from a kept write; what a transaction wrote before a strict boundary may
//! be read, as in the paper (its tool forbids it). *None exists* means that there is nothing of
//! this kind at all.
//!
//! What is predicted is a prefix of a run, and a run must have it (the paper's footnote 2). Not
//! every strict prediction is one. A read that is as observed may end a transaction, which then
//! would have gone on. And with the writes that the boundary leaves out the level may no longer
//! hold, at any level: if `t: w(p) r(a) w(x)` is cut at its read and another transaction reads p
//! from it and an older x, RA forbids that as soon as t writes x; at SI the database may refuse the
//! write, and the transaction with it. Such predictions are looked for only after all others, and
//! their [`Outlook`] says so.
//!
//! # Lists
//!
//! A list is read from the transaction that appended its last element. The appends that are kept
//! stay in the order that they had in the run (where nothing shows it: in the serial order that was
//! found), so a read with another writer returns the elements up to that one's, without those that
//! are cut. A read is as observed only if the whole list is, for an application looks at all of it.
//! Level and serializability are judged of the history with these lists: what they show of the
//! order of versions counts, what nobody sees does not. So nothing is predicted that a store at the
//! level could not show.
//!
//! ```
//! use seriatim_isolation::Level;
//! use seriatim_history::notation;
//! use seriatim_predict::{Answer, Boundary, Options, predict};
//!
//! // Two deposits one after the other: the second reads what the first wrote.
//! let run = notation::parse("initial x=50\na: r(x,50) w(x,60)\nb: r(x,60) w(x,70)").unwrap();
//! let relaxed = Options { boundary: Boundary::Relaxed, ..Options::new(Level::Causal) };
//! let Answer::Found(prediction) = predict(&run, &relaxed).unwrap() else {
//!     panic!("one update may be lost")
//! };
//! assert_eq!(prediction.changed.len(), 1);
//! // If the second deposit reads something else, the strict boundary does not trust its write.
//! let strict = Options { boundary: Boundary::Strict, ..relaxed };
//! assert!(matches!(predict(&run, &strict).unwrap(), Answer::NoneExists(_)));
//! ```

mod answer;
mod build;
mod candidate;
pub mod confirm;
mod encode;
mod error;
mod formula;
pub mod oracle;
mod pco;
mod pivot;
mod plan;
mod predict;
mod prediction;
mod problem;
mod question;
mod reduced;
mod run;
mod search;
mod wiring;

pub use answer::{Answer, Open};
pub use confirm::Outlook;
pub use error::PredictError;
pub use predict::{predict, predict_all};
pub use prediction::{
    ChangedRead, Cut, Fate, Planned, PlannedTxn, Prediction, SessionEnd, ShownEvent, ShownTxn,
    TxnPlace,
};
pub use question::{Boundary, Effort, LEVELS, Mode, Options, is_of_sql};
