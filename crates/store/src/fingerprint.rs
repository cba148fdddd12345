//! Numbers that stand for values.

use crate::atoms::ToAtom;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The same for values that a history calls by the same name.
pub(crate) fn fingerprint<V: ToAtom>(value: Option<&V>) -> u64 {
    let mut hasher = FxHasher::default();
    value.map(ToAtom::to_atom).hash(&mut hasher);
    hasher.finish()
}
