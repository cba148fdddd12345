//! The operator that a function is called through.

use crate::catalog::builtin::builtin;
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Functions that people call by their own name although there is an operator, too.
const BY_NAME: &[&str] = &["starts_with"];

/// The name of the operator that a function implements.
pub(super) fn operator_of(proc: u32) -> Option<&'static str> {
    static NAMES: OnceLock<FxHashMap<u32, &'static str>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = FxHashMap::default();
        for operator in &builtin().operators {
            let own = builtin().proc(operator.proc).map_or("", |proc| proc.name);
            if !BY_NAME.contains(&own) {
                names.entry(operator.proc).or_insert(operator.name);
            }
        }
        names
    });
    names.get(&proc).copied()
}

/// Whether a function makes the cast from one type to another.
pub(super) fn is_cast(proc: u32, from: Oid, to: Oid) -> bool {
    use crate::catalog::builtin::CastMethod;
    matches!(
        builtin().casts.get(&(from, to)),
        Some((CastMethod::Function(function), _)) if *function == proc
    )
}
