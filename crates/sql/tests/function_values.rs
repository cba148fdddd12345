//! Functions of user-defined types and of the session, and all functions with arguments of others:
//! an error is fine, a panic is not.

mod support;

use seriatim_sql::functions::{Call, function, seed_random};
use seriatim_sql::types::{EnumValue, RecordValue, TypeKind, TypeLookup, io};
use seriatim_sql::{Datum, Oid, Result};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use support::{Builtin, Procs, style, unescape};

const MOOD: Oid = Oid(20_000);

/// The built-in types and `CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')`.
#[derive(Default)]
struct WithMood(Builtin);

fn mood(order: usize) -> Arc<EnumValue> {
    let label = ["sad", "ok", "happy"][order].into();
    Arc::new(EnumValue { order: order as f32, label })
}

impl TypeLookup for WithMood {
    fn kind(&self, ty: Oid) -> Option<TypeKind> {
        if ty == MOOD {
            return Some(TypeKind::Enum((0..3).map(mood).collect()));
        }
        self.0.kind(ty)
    }
    fn type_name(&self, ty: Oid, typmod: i32) -> String {
        match ty {
            MOOD => "mood".to_owned(),
            Oid::INT4 => "integer".to_owned(),
            ty => self.0.type_name(ty, typmod),
        }
    }
    fn array_of(&self, ty: Oid) -> Option<Oid> {
        self.0.array_of(ty)
    }
    fn reg_in(&self, ty: Oid, text: &str) -> Result<u32> {
        self.0.reg_in(ty, text)
    }
    fn reg_out(&self, ty: Oid, value: u32) -> String {
        self.0.reg_out(ty, value)
    }
    fn check_domain(&self, _domain: Oid, _value: &Datum) -> Result<()> {
        Ok(())
    }
}

/// What a function returns, as text, or its error.
fn call(name: &str, ty: Oid, args: &[Datum]) -> String {
    let (types, style, all) = (WithMood::default(), style(), vec![ty; args.len()]);
    let call = Call { args: &all, result: ty, style: &style, types: &types };
    match function(0, name).expect(name)(&call, args) {
        Ok(Datum::Null) => "NULL".to_owned(),
        Ok(value) => io::output(&value, ty, &call),
        Err(error) => error.to_string(),
    }
}

fn moods(name: &str, orders: &[Option<usize>]) -> String {
    let datum = |order: &Option<usize>| order.map_or(Datum::Null, |order| Datum::Enum(mood(order)));
    call(name, MOOD, &orders.iter().map(datum).collect::<Vec<_>>())
}

#[test]
fn labels_have_the_order_of_their_type() {
    assert_eq!(moods("enum_first", &[None]), "sad");
    assert_eq!(moods("enum_last", &[None]), "happy");
    assert_eq!(moods("enum_range_all", &[None]), "{sad,ok,happy}");
    assert_eq!(moods("enum_range_bounds", &[Some(1), None]), "{ok,happy}");
    assert_eq!(moods("enum_range_bounds", &[None, Some(1)]), "{sad,ok}");
    assert_eq!(moods("enum_range_bounds", &[Some(2), Some(0)]), "{}");
    assert_eq!(moods("enum_cmp", &[Some(0), Some(1)]), "-1");
    assert_eq!(moods("enum_lt", &[Some(0), Some(1)]), "t");
    assert_eq!(moods("enum_larger", &[Some(0), Some(2)]), "happy");
    assert_eq!(moods("enum_smaller", &[Some(0), Some(2)]), "sad");
}

fn row(types: &[Oid], fields: &[Datum]) -> Datum {
    let names = (1..=fields.len()).map(|number| format!("f{number}").into()).collect();
    Datum::Record(Arc::new(RecordValue { types: types.to_vec(), names, fields: fields.to_vec() }))
}

fn numbers(fields: &[Option<i32>]) -> Datum {
    let datum = |field: &Option<i32>| field.map_or(Datum::Null, Datum::Int4);
    row(&vec![Oid::INT4; fields.len()], &fields.iter().map(datum).collect::<Vec<_>>())
}

#[test]
fn rows_are_compared_field_by_field_with_nulls_last() {
    let compare = |name: &str, a: &[Option<i32>], b: &[Option<i32>]| {
        call(name, Oid::RECORD, &[numbers(a), numbers(b)])
    };
    assert_eq!(compare("record_eq", &[Some(1), None], &[Some(1), None]), "t");
    assert_eq!(compare("record_lt", &[Some(1), None], &[Some(1), Some(2)]), "f");
    assert_eq!(compare("record_lt", &[Some(1), Some(2)], &[Some(1), None]), "t");
    assert_eq!(compare("record_gt", &[Some(2), Some(1)], &[Some(1), Some(5)]), "t");
    assert_eq!(
        compare("record_eq", &[Some(1), Some(2)], &[Some(1)]),
        "cannot compare record types with different numbers of columns (42804)"
    );
    let text = row(&[Oid::INT4, Oid::TEXT], &[Datum::Int4(1), Datum::text("a")]);
    assert_eq!(
        call("record_eq", Oid::RECORD, &[numbers(&[Some(1), Some(2)]), text.clone()]),
        "cannot compare dissimilar column types integer and text at record column 2 (42804)"
    );
    assert_eq!(call("record_eq", Oid::RECORD, &[numbers(&[Some(2), Some(2)]), text]), "f");
}

#[test]
fn random_numbers_after_a_seed_are_those_of_postgresql() {
    let random = || call("drandom", Oid::FLOAT8, &[]);
    let seed = |seed| call("setseed", Oid::VOID, &[Datum::Float8(seed)]);
    seed(0.5);
    assert_eq!(random(), "0.9851677175347999");
    assert_eq!(random(), "0.825301858027981");
    assert_eq!(random(), "0.12974610012450416");
    seed(-1.0);
    assert_eq!(random(), "0.725656831544149");
    seed(0.0);
    assert_eq!(random(), "0.8702553105818676");
    assert_eq!(seed(1.5), "setseed parameter 1.5 is out of allowed range [-1,1] (22023)");
}

#[test]
fn random_uuids_have_version_4_and_can_be_repeated() {
    seed_random(7);
    let first = call("gen_random_uuid", Oid::UUID, &[]);
    assert_eq!(&first[14..15], "4");
    assert!("89ab".contains(&first[19..20]), "{first}");
    assert_ne!(call("gen_random_uuid", Oid::UUID, &[]), first);
    seed_random(7);
    assert_eq!(call("gen_random_uuid", Oid::UUID, &[]), first);
}

/// Functions with the types of their arguments.
type Signatures = Vec<(u32, Vec<Oid>)>;

/// The calls in the table, and a pool of values for each type.
fn table() -> (Signatures, HashMap<Oid, Vec<String>>) {
    let (mut lines, mut pools) = (Vec::new(), HashMap::<Oid, Vec<String>>::new());
    // Results of these may have a gigabyte.
    const LARGE: [&str; 4] = ["repeat", "lpad", "rpad", "array_fill"];
    for line in include_str!("data/functions.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if LARGE.contains(&fields[1]) {
            continue;
        }
        let types = support::oids(fields[2]);
        for (ty, text) in types.iter().zip(&fields[5..]) {
            pools.entry(*ty).or_default().extend(unescape(text));
        }
        lines.push((fields[0].parse().expect("an identifier"), types));
    }
    for pool in pools.values_mut() {
        pool.sort();
        pool.dedup();
    }
    (lines, pools)
}

#[test]
fn no_function_panics_on_arguments_of_others() {
    let (types, style, procs) = (Builtin::default(), style(), Procs::default());
    let (lines, pools) = table();
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) as usize % below
    };
    for (oid, args) in lines.iter().cycle().take(lines.len() * 3) {
        let source = &procs.get(*oid).source;
        let Some(function) = function(*oid, source) else {
            continue;
        };
        let call = Call { args, result: Oid::TEXT, style: &style, types: &types };
        let texts: Vec<&String> =
            args.iter().map(|ty| &pools[ty][random(pools[ty].len())]).collect();
        let read = |(text, ty): (&&String, &Oid)| io::input(text, *ty, -1, &call).ok();
        let Some(datums) = texts.iter().zip(args).map(read).collect::<Option<Vec<Datum>>>() else {
            continue;
        };
        let run = AssertUnwindSafe(|| drop(function(&call, &datums)));
        assert!(catch_unwind(run).is_ok(), "{source} panics on {texts:?}");
    }
}
