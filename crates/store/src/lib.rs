//! A database that may return anything its isolation level allows.
//!
//! A [`Store`] keeps every version of every key. When a transaction reads, the store works out
//! which versions its isolation level allows, given everything that has been read and written so
//! far, and a [`Chooser`] picks one: at random, always the latest, as a script says, or as an
//! adversary who wants things to go wrong. Any behaviour of any database at that level can come
//! out, and nothing else.

mod adversary;
mod builder;
mod chooser;
mod cycles;
mod delay;
mod engine;
mod experience;
mod explorer;
mod fingerprint;
mod kept;
mod kind;
mod log;
mod plot;
mod reach;
mod record;
mod schedule;
mod search;
mod store;
#[cfg(test)]
mod tests;
mod tried;
#[cfg(feature = "async")]
mod wait;
mod weak;
mod witness;
mod writers;

pub use adversary::Adversary;
pub use builder::Builder;
pub use chooser::{
    Choice, Chooser, Divergence, Ended, Latest, LatestPerSession, PendingRead, Random, Script,
    Stale, Track, TxnName, Version,
};
pub use delay::Delay;
pub use explorer::Explorer;
pub use kind::{ChooserKind, UnknownChooser};
pub use plot::Plot;
pub use schedule::{Schedule, Turn, by_chance, by_turns, interleave, interleave_by};
pub use store::{LEVELS, Session, Store, StoreError, Txn};
