//! Verdicts as text for people, JSON for machines and DOT for pictures.
//!
//! Everything here is rendered from data: of a [`seriatim_check::Report`], or of structs of this
//! crate that the caller fills. No renderer looks into a history or knows how a level is checked
//! ([`Counts`] and [`Duplicate`] are what the caller takes from the history beforehand). One file
//! or folder an output:
//!
//! * [`text`] – what the terminal shows,
//! * `json` – one object for each input, described by the schema in `schema`,
//! * [`dot`] – the exemplars as a Graphviz graph,
//! * [`explored`] – what the exploration of a program came to, as text and JSON,
//! * `runs` – what `fuzz`, `replay` and `observe` did with an application, as text and JSON,
//! * `stats` – what is in a history, counted, as text and JSON,
//! * `certificate` – every verdict with its proof, for `seriatim verify`; the one output that is
//!   read again,
//! * `predicted` (a feature) – what `seriatim predict` found: text, JSON, DOT, SVG and HTML,
//! * `page` (the feature `pages`) – pages and pictures to look at, without a network,
//! * [`knowledge`] – what is known about each anomaly and each level, for `seriatim explain`.
//!
//! `json`, `schema`, `runs`, `stats` and `certificate` need the feature `json`.
//!
//! ```
//! use seriatim_check::Checker;
//! use seriatim_history::notation;
//! use seriatim_report::{style, text, Checked, Times};
//!
//! let history = notation::parse("a: w(x,1) w(y,1)\nb: r(y,1) r(x,nil)").unwrap();
//! let checked = Checked {
//!     input: "example".to_owned(),
//!     format: "notation",
//!     counts: history.counts(),
//!     report: Checker::new().check(&history),
//!     times: Times::default(),
//!     duplicate: None,
//!     kinds: Vec::new(),
//! };
//! let page = text::render(&checked, &text::Layout::default());
//! assert!(style::strip(&page).starts_with("example: violates read committed (and above)\n"));
//! ```

#[cfg(feature = "json")]
pub mod audited;
#[cfg(feature = "json")]
pub mod certificate;
mod checked;
pub mod dot;
mod effort;
pub mod explored;
#[cfg(feature = "json")]
pub mod json;
pub mod knowledge;
mod notes;
mod numbers;
#[cfg(feature = "pages")]
pub mod page;
#[cfg(feature = "predicted")]
pub mod predicted;
mod prose;
#[cfg(feature = "json")]
pub mod runs;
#[cfg(feature = "json")]
pub mod schema;
#[cfg(feature = "json")]
pub mod stats;
pub mod style;
pub mod text;
mod wrap;

pub use checked::{Checked, Size, Times, Unread, Unreadable};
pub use notes::left_out;
pub use prose::{clean, steps, summary};
pub use seriatim_check::Duplicate;
pub use seriatim_history::Counts;
pub use wrap::wrap;
