//! What the own session has prepared and declared.

use super::maker::{Maker, flag, text};
use crate::env::Env;
use crate::types::{Array, Datum, Oid};
use std::sync::Arc;

/// The prepared statements that have a name.
pub(super) fn pg_prepared_statements(env: &Env, maker: &mut Maker) {
    for it in &env.listed.statements {
        let types = it.params.iter().map(|ty| Datum::Oid(ty.0)).collect();
        maker.add([
            ("name", text(&it.name)),
            ("statement", text(&it.text)),
            ("prepare_time", Datum::Timestamp(it.at)),
            ("parameter_types", Datum::Array(Arc::new(Array::of(Oid::REGTYPE, types)))),
            ("from_sql", flag(it.from_sql)),
            ("generic_plans", Datum::Int8(0)),
            ("custom_plans", Datum::Int8(0)),
        ]);
    }
}

/// The cursors.
pub(super) fn pg_cursors(env: &Env, maker: &mut Maker) {
    for it in &env.listed.cursors {
        maker.add([
            ("name", text(&it.name)),
            ("statement", text(&it.text)),
            ("is_holdable", flag(it.hold)),
            ("is_binary", flag(it.binary)),
            ("is_scrollable", flag(it.scroll)),
            ("creation_time", Datum::Timestamp(it.at)),
        ]);
    }
}
