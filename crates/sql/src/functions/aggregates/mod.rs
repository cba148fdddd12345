//! What aggregates compute: one accumulator for each kind, found by name and the types of the
//! arguments.
//!
//! DISTINCT, FILTER and ORDER BY are with the executor, which gives an accumulator the rows that
//! count, in their order.

mod collect;
mod extremes;
mod json;
mod ordered;
mod regression;
mod simple;
mod sums;
mod variance;

use super::{Accumulator, AggregateKind, Call};
use crate::types::Oid;

type Start = fn(&Call<'_>) -> Box<dyn Accumulator>;

/// A new accumulator with nothing in it.
fn new<A: Accumulator + Default + 'static>(_call: &Call<'_>) -> Box<dyn Accumulator> {
    Box::new(A::default())
}

/// An aggregate over rows without nulls.
fn strict(start: Start) -> Option<AggregateKind> {
    Some(AggregateKind { skips_nulls: true, start, direct: None })
}

/// An aggregate that looks at nulls itself.
fn lenient(start: Start) -> Option<AggregateKind> {
    Some(AggregateKind { skips_nulls: false, start, direct: None })
}

/// How the aggregate of this name is computed over arguments of these types.
pub(super) fn find(name: &str, args: &[Oid]) -> Option<AggregateKind> {
    match name {
        "count" => strict(new::<simple::Count>),
        "bool_and" | "every" => strict(simple::all),
        "bool_or" => strict(simple::any),
        "bit_and" => strict(simple::bit_and),
        "bit_or" => strict(simple::bit_or),
        "bit_xor" => strict(simple::bit_xor),
        "min" => strict(extremes::min),
        "max" => strict(extremes::max),
        "sum" => sums::sum(*args.first()?).and_then(strict),
        "avg" => sums::average(*args.first()?).and_then(strict),
        "string_agg" => lenient(collect::string(*args.first()?)),
        "array_agg" => lenient(collect::array),
        "json_agg" | "json_object_agg" | "jsonb_agg" | "jsonb_object_agg" => {
            json::find(name).and_then(lenient)
        }
        "mode" | "percentile_cont" | "percentile_disc" => ordered::find(name, args),
        _ => variance::find(name, args).or_else(|| regression::find(name)).and_then(strict),
    }
}
