//! What is built in: types, functions, operators, casts and aggregates, as PostgreSQL's catalogs
//! have them (`data/*.tsv`), read once.

use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A built-in type.
#[derive(Debug)]
pub struct BuiltinType {
    /// Its identifier.
    pub oid: Oid,
    /// Its name.
    pub name: &'static str,
    /// Bytes, or -1 if that varies, -2 for a C string.
    pub len: i16,
    /// Whether it is passed by value.
    pub by_value: bool,
    /// `b`ase, `p`seudo, `r`ange, …
    pub kind: u8,
    /// The letter of its category.
    pub category: u8,
    /// Whether it is the preferred one of its category.
    pub preferred: bool,
    /// What separates elements of arrays of it.
    pub delimiter: &'static str,
    /// The type of elements, if it can be subscripted.
    pub element: Oid,
    /// The type of arrays of it.
    pub array: Oid,
    /// The names of its functions: input, output, receive, send, modifier input and output.
    pub io: [&'static str; 6],
    /// Alignment and storage.
    pub align: &'static str,
    /// Storage.
    pub storage: &'static str,
    /// Collation, 0 if it has none.
    pub collation: u32,
    /// The function that subscripts.
    pub subscript: &'static str,
}

impl BuiltinType {
    /// Whether it is an array of another type, with any number of dimensions.
    pub fn is_true_array(&self) -> bool {
        self.subscript == "array_subscript_handler"
    }
}

/// A built-in function.
#[derive(Debug)]
pub struct Proc {
    /// Its identifier.
    pub oid: u32,
    /// Its name.
    pub name: &'static str,
    /// `f`unction, `a`ggregate, `w`indow function or `p`rocedure.
    pub kind: u8,
    /// Whether a null argument makes it null without a call.
    pub strict: bool,
    /// Whether it returns a set.
    pub returns_set: bool,
    /// `i`mmutable, `s`table or `v`olatile.
    pub volatility: u8,
    /// How many of its last arguments have defaults.
    pub defaults: usize,
    /// What it returns.
    pub result: Oid,
    /// The types of its input arguments.
    pub args: Vec<Oid>,
    /// The element type of its variadic argument, or none.
    pub variadic: Oid,
    /// All arguments, where there are output arguments.
    pub all_args: Vec<Oid>,
    /// Their modes.
    pub modes: Vec<u8>,
    /// Their names.
    pub names: Vec<&'static str>,
    /// The defaults, as text.
    pub default_text: &'static str,
    /// What it is called inside.
    pub source: &'static str,
    /// What a call costs, in operators.
    pub cost: f32,
}

/// A built-in operator.
#[derive(Debug)]
pub struct Operator {
    /// Its identifier.
    pub oid: u32,
    /// Its name.
    pub name: &'static str,
    /// Its left argument, none for a prefix operator.
    pub left: Oid,
    /// Its right argument.
    pub right: Oid,
    /// What it returns.
    pub result: Oid,
    /// The operator with its arguments exchanged.
    pub commutator: u32,
    /// The operator that says the opposite.
    pub negator: u32,
    /// The function that does it.
    pub proc: u32,
    /// Whether it is an equality that may be hashed.
    pub hashable: bool,
}

/// When a cast is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CastContext {
    /// Wherever the types do not fit.
    Implicit,
    /// In assignments too.
    Assignment,
    /// Only where it is written.
    Explicit,
}

/// How a cast is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastMethod {
    /// By this function.
    Function(u32),
    /// Both types are represented alike.
    Binary,
    /// Through text.
    InOut,
}

/// A built-in aggregate.
#[derive(Debug)]
pub struct Aggregate {
    /// `n`ormal, `o`rdered-set or `h`ypothetical-set.
    pub kind: u8,
    /// How many of its arguments are not aggregated.
    pub direct_args: usize,
}

/// All of it.
#[derive(Debug)]
pub struct Builtin {
    /// Types by identifier.
    pub types: FxHashMap<Oid, BuiltinType>,
    /// Types by name.
    pub type_names: FxHashMap<&'static str, Oid>,
    /// Functions.
    pub procs: Vec<Proc>,
    by_name: FxHashMap<&'static str, Vec<u32>>,
    by_oid: FxHashMap<u32, u32>,
    /// Operators.
    pub operators: Vec<Operator>,
    operators_by_name: FxHashMap<&'static str, Vec<u32>>,
    operators_by_oid: FxHashMap<u32, u32>,
    /// Casts by source and target.
    pub casts: FxHashMap<(Oid, Oid), (CastMethod, CastContext)>,
    /// Aggregates by function.
    pub aggregates: FxHashMap<u32, Aggregate>,
}

/// What is built in.
pub fn builtin() -> &'static Builtin {
    static BUILTIN: OnceLock<Builtin> = OnceLock::new();
    BUILTIN.get_or_init(read)
}

impl Builtin {
    /// The functions of a name.
    pub fn procs_named(&self, name: &str) -> impl Iterator<Item = &'static Proc> + use<> {
        let places = builtin_ref().by_name.get(name).map_or(&[][..], |places| places);
        places.iter().map(|&place| &builtin_ref().procs[place as usize])
    }

    /// The function of an identifier.
    pub fn proc(&self, oid: u32) -> Option<&'static Proc> {
        self.by_oid.get(&oid).map(|&place| &builtin_ref().procs[place as usize])
    }

    /// The operators of a name.
    pub fn operators_named(&self, name: &str) -> impl Iterator<Item = &'static Operator> + use<> {
        let places = builtin_ref().operators_by_name.get(name).map_or(&[][..], |places| places);
        places.iter().map(|&place| &builtin_ref().operators[place as usize])
    }

    /// The operator of an identifier.
    pub fn operator(&self, oid: u32) -> Option<&'static Operator> {
        self.operators_by_oid.get(&oid).map(|&place| &builtin_ref().operators[place as usize])
    }
}

/// Whether a built-in function of this name makes one value of many rows.
pub fn is_aggregate_name(name: &str) -> bool {
    let all = builtin();
    all.procs_named(name).any(|it| all.aggregates.contains_key(&it.oid))
}

fn builtin_ref() -> &'static Builtin {
    builtin()
}

const TYPES: &str = include_str!("../../data/types.tsv");
const PROCS: &str = include_str!("../../data/procs.tsv");
const OPERATORS: &str = include_str!("../../data/operators.tsv");
const CASTS: &str = include_str!("../../data/casts.tsv");
const AGGREGATES: &str = include_str!("../../data/aggregates.tsv");

/// The files are part of the program: a field that is not a number would be found by any test.
fn number(field: &str) -> u32 {
    field.parse().unwrap_or(0)
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().map(|line| line.split('\t').collect())
}

fn oids(field: &str) -> Vec<Oid> {
    if field == "\\N" {
        return Vec::new();
    }
    field.split(' ').filter(|part| !part.is_empty()).map(|part| Oid(number(part))).collect()
}

fn letter(field: &str) -> u8 {
    field.as_bytes().first().copied().unwrap_or(0)
}

fn read_type(f: &[&'static str]) -> BuiltinType {
    BuiltinType {
        oid: Oid(number(f[0])),
        name: f[1],
        len: f[2].parse().unwrap_or(-1),
        by_value: f[3] == "t",
        kind: letter(f[4]),
        category: letter(f[5]),
        preferred: f[6] == "t",
        delimiter: f[7],
        element: Oid(number(f[9])),
        array: Oid(number(f[10])),
        io: [f[11], f[12], f[13], f[14], f[15], f[16]],
        align: f[17],
        storage: f[18],
        collation: number(f[19]),
        subscript: f[20],
    }
}

pub(super) fn read_proc(f: &[&'static str]) -> Proc {
    Proc {
        oid: number(f[0]),
        name: f[1],
        kind: letter(f[2]),
        strict: f[3] == "t",
        returns_set: f[4] == "t",
        volatility: letter(f[5]),
        defaults: number(f[7]) as usize,
        result: Oid(number(f[8])),
        args: oids(f[9]),
        variadic: Oid(number(f[10])),
        all_args: oids(f[11]),
        modes: if f[12] == "\\N" { Vec::new() } else { f[12].split(' ').map(letter).collect() },
        names: if f[13] == "\\N" { Vec::new() } else { f[13].split(' ').collect() },
        default_text: f[14],
        source: f[15],
        // Functions of extensions have the cost of those in C.
        cost: f.get(16).and_then(|it| it.parse().ok()).unwrap_or(1.0),
    }
}

fn read_operator(f: &[&'static str]) -> Operator {
    Operator {
        oid: number(f[0]),
        name: f[1],
        left: Oid(number(f[5])),
        right: Oid(number(f[6])),
        result: Oid(number(f[7])),
        commutator: number(f[8]),
        negator: number(f[9]),
        proc: number(f[10]),
        hashable: f[4] == "t",
    }
}

fn read_cast(f: &[&'static str]) -> ((Oid, Oid), (CastMethod, CastContext)) {
    let method = match f[4] {
        "f" => CastMethod::Function(number(f[2])),
        "b" => CastMethod::Binary,
        _ => CastMethod::InOut,
    };
    let context = match f[3] {
        "i" => CastContext::Implicit,
        "a" => CastContext::Assignment,
        _ => CastContext::Explicit,
    };
    ((Oid(number(f[0])), Oid(number(f[1]))), (method, context))
}

fn read() -> Builtin {
    let types: FxHashMap<Oid, BuiltinType> =
        rows(TYPES).map(|f| read_type(&f)).map(|ty| (ty.oid, ty)).collect();
    let type_names = types.values().map(|ty| (ty.name, ty.oid)).collect();
    let procs: Vec<Proc> = rows(PROCS).map(|f| read_proc(&f)).collect();
    let operators: Vec<Operator> = rows(OPERATORS).map(|f| read_operator(&f)).collect();
    let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (place, proc) in procs.iter().enumerate() {
        by_name.entry(proc.name).or_default().push(place as u32);
    }
    let mut operators_by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (place, operator) in operators.iter().enumerate() {
        operators_by_name.entry(operator.name).or_default().push(place as u32);
    }
    let places = |oids: Vec<u32>| oids.into_iter().zip(0..).collect::<FxHashMap<u32, u32>>();
    Builtin {
        by_oid: places(procs.iter().map(|proc| proc.oid).collect()),
        operators_by_oid: places(operators.iter().map(|operator| operator.oid).collect()),
        types,
        type_names,
        procs,
        by_name,
        operators,
        operators_by_name,
        casts: rows(CASTS).map(|f| read_cast(&f)).collect(),
        aggregates: rows(AGGREGATES)
            .map(|f| {
                let direct_args = number(f[2]) as usize;
                (number(f[0]), Aggregate { kind: letter(f[1]), direct_args })
            })
            .collect(),
    }
}
