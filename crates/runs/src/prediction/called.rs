//! The names that transactions had in the observed run.

use super::plan::PlannedTxn;
use seriatim_history::{Atom, History, TxnId};
use seriatim_store::TxnName;
use std::collections::HashMap;

/// The history of a run with the names of the observed one. What was not predicted is called by its
/// place.
pub fn as_observed(history: History, plan: &[PlannedTxn]) -> History {
    let named = plan.iter().filter_map(|txn| Some((txn.txn(), txn.name.as_deref()?)));
    let names: HashMap<TxnName, &str> = named.collect();
    // Files of earlier versions, or written by hand: one way for all.
    if names.len() < plan.len() {
        return history;
    }
    let places: Vec<TxnName> = history.txns().map(|txn| place(&history, txn)).collect();
    history.with_txn_names(|txn| {
        let place = places[txn.index()];
        names.get(&place).map_or_else(|| unpredicted(place), |name| atom(name))
    })
}

/// A transaction as the store counts.
fn place(history: &History, txn: TxnId) -> TxnName {
    let session = history.session_of(txn);
    TxnName { session: session.0, txn: txn.0 - history.txns_of(session).start }
}

fn unpredicted(place: TxnName) -> Atom {
    Atom::Str(format!("{}.{}-unpredicted", place.session, place.txn).into())
}

/// A name as a file has it.
fn atom(name: &str) -> Atom {
    name.parse().map_or_else(|_| Atom::Str(name.into()), Atom::Int)
}
