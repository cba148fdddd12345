//! pg_proc, pg_operator, pg_cast and pg_aggregate: of what is built in, from the same facts that
//! names are resolved by.

use super::facts::OWNER;
use super::maker::{Maker, array, flag, oid, text, vector};
use crate::catalog::builtin::{Aggregate, CastContext, CastMethod, Operator, Proc, builtin};
use crate::catalog::schema;
use crate::types::{Datum, Oid};

/// The functions.
pub(super) fn pg_proc(maker: &mut Maker) {
    for proc in &builtin().procs {
        add_proc(maker, proc);
    }
}

fn oids(types: &[Oid]) -> Vec<Datum> {
    types.iter().map(|&ty| oid(ty)).collect()
}

fn add_proc(maker: &mut Maker, proc: &Proc) {
    let letter = |byte: u8| Datum::text(char::from(byte).to_string());
    let some = |is_there: bool, value: Datum| if is_there { value } else { Datum::Null };
    let modes = proc.modes.iter().map(|&mode| letter(mode)).collect();
    let names = proc.names.iter().map(|name| text(name)).collect();
    maker.add([
        ("oid", Datum::Oid(proc.oid)),
        ("proname", text(proc.name)),
        ("pronamespace", oid(schema::PG_CATALOG)),
        ("proowner", oid(OWNER)),
        ("prolang", Datum::Oid(12)),
        ("procost", Datum::Float4(proc.cost)),
        ("prorows", Datum::Float4(if proc.returns_set { 1000.0 } else { 0.0 })),
        ("provariadic", oid(proc.variadic)),
        ("prokind", letter(proc.kind)),
        ("proisstrict", flag(proc.strict)),
        ("proretset", flag(proc.returns_set)),
        ("provolatile", letter(proc.volatility)),
        ("proparallel", text("s")),
        ("pronargs", Datum::Int2(proc.args.len() as i16)),
        ("pronargdefaults", Datum::Int2(proc.defaults as i16)),
        ("prorettype", oid(proc.result)),
        ("proargtypes", vector(Oid::OID, oids(&proc.args))),
        ("proallargtypes", some(!proc.all_args.is_empty(), array(Oid::OID, oids(&proc.all_args)))),
        ("proargmodes", some(!proc.modes.is_empty(), array(Oid::CHAR, modes))),
        ("proargnames", some(!proc.names.is_empty(), array(Oid::TEXT, names))),
        ("prosrc", text(proc.source)),
    ]);
}

/// The operators.
pub(super) fn pg_operator(maker: &mut Maker) {
    for it in &builtin().operators {
        add_operator(maker, it);
    }
}

fn add_operator(maker: &mut Maker, it: &Operator) {
    maker.add([
        ("oid", Datum::Oid(it.oid)),
        ("oprname", text(it.name)),
        ("oprnamespace", oid(schema::PG_CATALOG)),
        ("oprowner", oid(OWNER)),
        ("oprkind", text(if it.left == Oid::NONE { "l" } else { "b" })),
        ("oprcanmerge", flag(it.hashable)),
        ("oprcanhash", flag(it.hashable)),
        ("oprleft", oid(it.left)),
        ("oprright", oid(it.right)),
        ("oprresult", oid(it.result)),
        ("oprcom", Datum::Oid(it.commutator)),
        ("oprnegate", Datum::Oid(it.negator)),
        ("oprcode", Datum::Oid(it.proc)),
    ]);
}

/// The casts.
pub(super) fn pg_cast(maker: &mut Maker) {
    let mut casts: Vec<_> = builtin().casts.iter().collect();
    casts.sort_by_key(|(types, _)| **types);
    for (number, ((source, target), (method, context))) in (10_000u32..).zip(casts) {
        let (function, method) = match method {
            CastMethod::Function(function) => (*function, "f"),
            CastMethod::Binary => (0, "b"),
            CastMethod::InOut => (0, "i"),
        };
        let context = match context {
            CastContext::Implicit => "i",
            CastContext::Assignment => "a",
            CastContext::Explicit => "e",
        };
        maker.add([
            ("oid", Datum::Oid(number)),
            ("castsource", oid(*source)),
            ("casttarget", oid(*target)),
            ("castfunc", Datum::Oid(function)),
            ("castcontext", text(context)),
            ("castmethod", text(method)),
        ]);
    }
}

/// The aggregates.
pub(super) fn pg_aggregate(maker: &mut Maker) {
    let mut all: Vec<(&u32, &Aggregate)> = builtin().aggregates.iter().collect();
    all.sort_by_key(|(function, _)| **function);
    for (function, aggregate) in all {
        maker.add([
            ("aggfnoid", Datum::Oid(*function)),
            ("aggkind", Datum::text(char::from(aggregate.kind).to_string())),
            ("aggnumdirectargs", Datum::Int2(aggregate.direct_args as i16)),
            ("aggfinalmodify", text("r")),
            ("aggmfinalmodify", text("r")),
        ]);
    }
}
