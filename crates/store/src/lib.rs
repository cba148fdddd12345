//! A database that may return anything its isolation level allows.
//!
//! A [`Store`] keeps every version of every key, unless it has a horizon. When a transaction reads,
//! the store works out which versions its isolation level allows, given everything that has been
//! read and written so far, and a [`Chooser`] picks one: at random, always the latest, as a script
//! says, or as an adversary who wants things to go wrong. Any behaviour of any database at that
//! level can come out, and nothing else.

mod adversary;
mod all_runs;
mod atoms;
mod builder;
mod chooser;
mod chooser_kind;
mod clock;
mod cycles;
mod delay;
mod engine;
mod events;
mod experience;
mod fingerprint;
mod forgetting_list;
mod key_set;
mod log;
mod names;
mod node;
mod past;
mod ranges;
mod reach;
mod record;
mod recorded;
mod run_plan;
mod scanned;
mod schedule;
mod shrink;
mod store;
#[cfg(test)]
mod tests;
mod tried;
mod turns;
#[cfg(feature = "async")]
mod wait;
mod weak;
mod witness;
mod witness_search;
mod writers;

pub use adversary::Adversary;
pub use all_runs::AllRuns;
pub use atoms::ToAtom;
#[cfg(feature = "json")]
pub use atoms::json_atom;
pub use builder::Builder;
pub use chooser::{
    Choice, Chooser, Divergence, Ended, Latest, LatestPerSession, PendingRead, Random, Script,
    Stale, Track, TxnName, Version,
};
pub use chooser_kind::{ChooserKind, UnknownChooser};
pub use clock::Clock;
pub use delay::Delay;
pub use node::Node;
pub use ranges::Group;
pub use run_plan::RunPlan;
pub use schedule::{Schedule, Turn, by_chance, by_turns, interleave, interleave_by};
pub use seriatim_history::Atom;
pub use store::{
    Asker, Glance, LEVELS, Question, Seen, SeenOp, SeenSession, Session, SettledCell, Store,
    StoreError, Txn,
};
