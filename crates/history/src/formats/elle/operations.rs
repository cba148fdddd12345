//! What the `:value` of a map says was done: transactions of micro-operations, and registers.
//!
//! Jepsen's workloads differ in `:f` and in the shape of `:value`. Transactions are vectors of
//! micro-operations, whatever `:f` calls them. An operation of a register (`:read`, `:write`,
//! `:cas`) is a transaction of its own, so that strict serializability of the whole is
//! linearizability; `jepsen.independent` makes several registers of it by values `[key value]`.
//! Everything else is named and not understood.

use super::Problem;
use super::edn::Edn;
use super::event::{ElleEvent, Type, describe, word};
use crate::atom::Atom;
use crate::formats::text::excerpt;
use crate::model::OpKind;
use std::fmt;

/// The key of a register that has no name.
const REGISTER: &str = "register";

/// How operations are spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Workload {
    /// Micro-operations.
    Txn,
    /// One register.
    Register,
    /// Several registers: each value is a key and a value.
    Independent,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Workload::Txn => "transactions",
            Workload::Register => "values of one register",
            Workload::Independent => "[key value] of several registers",
        })
    }
}

/// An operation of a transaction, not yet interned.
#[derive(PartialEq, Debug)]
pub(super) struct Mop {
    pub kind: OpKind,
    pub key: Atom,
    pub argument: Argument,
}

/// What was read or written.
#[derive(PartialEq, Debug)]
pub(super) enum Argument {
    /// What an operation that did not commit read is not known; otherwise it is the initial value.
    Nil,
    /// The initial value, which a compare-and-set expects.
    Initial,
    One(Atom),
    List(Vec<Atom>),
}

/// Operations and how they are spelled; `None` where nothing is said.
type Said = Option<(Workload, Vec<Mop>)>;

/// What a map with this `:f` and `:value` did.
pub(super) fn read(f: Option<&Edn>, value: Option<Edn>, kind: Type) -> Result<Said, Problem> {
    let value = value.unwrap_or(Edn::Nil);
    let name = match f {
        None | Some(Edn::Nil) => "txn",
        Some(f) => word(f).unwrap_or_default(),
    };
    if name == "txn" || is_transaction(&value) {
        return txn(value);
    }
    if is_of_register(name) {
        return register(name, value, kind);
    }
    // A completion that says nothing may be of any workload: its invocation says of which.
    if value == Edn::Nil && kind != Type::Invoke && kind != Type::Ok {
        return Ok(None);
    }
    Err(unknown_workload(f))
}

/// Whether this is an operation of a register.
pub(super) fn is_of_register(name: &str) -> bool {
    matches!(name, "read" | "write" | "cas")
}

/// Whether these are micro-operations, whatever `:f` calls them (long-fork: `:read`, `:write`).
fn is_transaction(value: &Edn) -> bool {
    let is_mop = |item: &Edn| {
        matches!(item, Edn::Seq(parts)
            if parts.first().and_then(word).is_some_and(|name| mop_kind(name).is_some()))
    };
    matches!(value, Edn::Seq(items) if !items.is_empty() && items.iter().all(is_mop))
}

fn txn(value: Edn) -> Result<Said, Problem> {
    match value {
        Edn::Nil => Ok(None),
        Edn::Seq(mops) => {
            let mops = mops.into_iter().enumerate().map(numbered_mop);
            Ok(Some((Workload::Txn, mops.collect::<Result<_, _>>()?)))
        }
        other => {
            let found = describe(&other);
            Err(format!("expected a :value like [[:r x nil]], found {found}").into())
        }
    }
}

/// `:read v`, `:write v` or `:cas [old new]`, where `v` may be `[key v]`, and the pair
/// `[key [old new]]`.
fn register(name: &str, value: Edn, kind: Type) -> Result<Said, Problem> {
    let is_silent = value == Edn::Nil
        && match name {
            "read" => matches!(kind, Type::Fail | Type::Info),
            _ => kind != Type::Invoke,
        };
    if is_silent {
        return Ok(None);
    }
    let (workload, key, value) = keyed(name, value)?;
    let mops = match (name, value) {
        ("read", value) => vec![read_of(&key, value)?],
        ("write", value) => vec![write_of(&key, value)?],
        (_, Edn::Seq(pair)) => match <[Edn; 2]>::try_from(pair) {
            Ok([Edn::Nil, new]) => {
                let argument = Argument::Initial;
                let expected = Mop { kind: OpKind::Read, key: key.clone(), argument };
                vec![expected, write_of(&key, new)?]
            }
            Ok([old, new]) => vec![read_of(&key, old)?, write_of(&key, new)?],
            Err(other) => return Err(no_pair(&Edn::Seq(other))),
        },
        (_, other) => return Err(no_pair(&other)),
    };
    Ok(Some((workload, mops)))
}

fn no_pair(value: &Edn) -> Problem {
    format!("expected a :cas of [old new], found {}", describe(value)).into()
}

/// The register that a value is about, and the rest of it.
fn keyed(name: &str, value: Edn) -> Result<(Workload, Atom, Edn), Problem> {
    let is_pair = |value: &Edn| matches!(value, Edn::Seq(pair) if pair.len() == 2);
    let is_keyed = match &value {
        Edn::Seq(pair) if name == "cas" => pair.get(1).is_some_and(is_pair),
        value => is_pair(value),
    };
    match value {
        Edn::Seq(pair) if is_keyed => {
            let mut pair = pair.into_iter();
            let (key, value) = (pair.next().unwrap_or(Edn::Nil), pair.next().unwrap_or(Edn::Nil));
            Ok((Workload::Independent, atom(key, "a key")?, value))
        }
        value => Ok((Workload::Register, Atom::Str(REGISTER.into()), value)),
    }
}

fn read_of(key: &Atom, value: Edn) -> Result<Mop, Problem> {
    let argument = match value {
        Edn::Nil => Argument::Nil,
        Edn::Map(_) => return Err(read_of_other("bank", "maps")),
        Edn::Set(_) | Edn::Seq(_) => return Err(read_of_other("set", "collections")),
        value => Argument::One(atom(value, "a value")?),
    };
    Ok(Mop { kind: OpKind::Read, key: key.clone(), argument })
}

fn write_of(key: &Atom, value: Edn) -> Result<Mop, Problem> {
    let argument = Argument::One(atom(value, "a value")?);
    Ok(Mop { kind: OpKind::Write, key: key.clone(), argument })
}

/// Other workloads read too, but no registers.
fn read_of_other(workload: &str, what: &str) -> Problem {
    Problem::hinted(
        format!("this is a {workload} workload, whose :read returns {what}; {UNDERSTOOD}"),
        WHAT_TO_DO,
    )
}

const UNDERSTOOD: &str = "what is understood are transactions of reads, writes and appends \
                          ([[:r x nil] [:append y 1]]) and registers (:f :read, :write and :cas)";
const WHAT_TO_DO: &str = "record transactions, or pass over what is not understood with \
                          --skip-unknown: then no level is said to hold";

fn unknown_workload(f: Option<&Edn>) -> Problem {
    let name = f.and_then(word).unwrap_or_default();
    let shown = f.map_or_else(|| "none".to_owned(), describe);
    let text = match workload_of(name) {
        Some(workload) => format!("this is a {workload} workload (:f {shown}); {UNDERSTOOD}"),
        None => format!("an operation of a client with the :f {shown}; {UNDERSTOOD}"),
    };
    Problem::hinted(text, WHAT_TO_DO)
}

/// Which of Jepsen's workloads has operations of this name.
fn workload_of(f: &str) -> Option<&'static str> {
    Some(match f {
        "transfer" => "bank",
        "add" | "add-unique" => "set or counter",
        "inc" | "increment" | "decrement" | "dec" => "counter",
        "enqueue" | "dequeue" | "drain" => "queue",
        "acquire" | "release" => "lock",
        "insert" => "G2 (adya)",
        "upsert" => "upsert",
        "send" | "poll" | "assign" | "subscribe" => "Kafka",
        "generate" => "unique-ids",
        "read-init" => "causal",
        "strong-read" | "refresh" => "dirty-read",
        _ => return None,
    })
}

fn mop_kind(name: &str) -> Option<OpKind> {
    match name {
        "r" => Some(OpKind::Read),
        "w" => Some(OpKind::Write),
        "append" => Some(OpKind::Append),
        _ => None,
    }
}

fn numbered_mop((number, value): (usize, Edn)) -> Result<Mop, Problem> {
    mop(value).map_err(|problem| Problem { mop: Some(number), ..problem })
}

fn mop(value: Edn) -> Result<Mop, Problem> {
    let description = describe(&value);
    let bad = || {
        let text = format!(
            "expected an operation like [:append x 1], [:w x 1] or [:r x nil], found {description}"
        );
        Problem::from(text)
    };
    let Edn::Seq(parts) = value else { return Err(bad()) };
    let is_flag =
        |part: &Edn| matches!(part, Edn::Other(text) if &**text == "true" || &**text == "false");
    let known_length = parts.len() == 3 || (parts.len() == 4 && is_flag(&parts[3]));
    let mut parts = parts.into_iter();
    let (Some(name), Some(key), Some(argument), true) =
        (parts.next(), parts.next(), parts.next(), known_length)
    else {
        return Err(bad());
    };
    let Some(kind) = word(&name).and_then(mop_kind) else { return Err(bad()) };
    let argument = match (argument, kind) {
        (Edn::Nil, OpKind::Read) => Argument::Nil,
        (Edn::Seq(items), OpKind::Read) => Argument::List(
            items.into_iter().map(|item| atom(item, "an element")).collect::<Result<_, _>>()?,
        ),
        (other, _) => Argument::One(atom(other, "a value")?),
    };
    Ok(Mop { kind, key: atom(key, "a key")?, argument })
}

fn atom(value: Edn, what: &str) -> Result<Atom, Problem> {
    match value {
        Edn::Int(number) => Ok(Atom::Int(number)),
        Edn::Str(text) => Ok(Atom::Str(text)),
        Edn::Keyword(text) => Ok(Atom::Keyword(text)),
        Edn::Other(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
            Err(format!("{what} {} does not fit into 64 bits", excerpt(text.as_bytes())).into())
        }
        other => Err(format!(
            "expected {what} (an integer, a string or a keyword), found {}",
            describe(&other)
        )
        .into()),
    }
}

/// Whether a completion is that of this invocation: the same operations, with only what was read
/// filled in.
pub(super) fn fit(invocation: &ElleEvent, completion: &ElleEvent) -> Result<(), Problem> {
    let (Ok(Some(begun)), Ok(Some(ended))) = (&invocation.operations, &completion.operations)
    else {
        return Ok(());
    };
    let line = invocation.line;
    // What a compare-and-set expects to read it knows from the beginning.
    let expected = |begun: &Mop| completion.is_register && begun.argument != Argument::Nil;
    let fits = |begun: &Mop, ended: &Mop| {
        ended.completes(begun) && (!expected(begun) || ended.argument == begun.argument)
    };
    let differing = begun.iter().zip(ended).position(|(begun, ended)| !fits(begun, ended));
    let (text, mop) = match differing {
        Some(at) => {
            let (ended, begun) = (&ended[at], &begun[at]);
            let text = format!("{ended} ends what began as {begun} in line {line}");
            (text, (completion.workload == Some(Workload::Txn)).then_some(at))
        }
        None if begun.len() != ended.len() => {
            let end = if ended.len() == 1 { "ends" } else { "end" };
            let (ended, begun) = (operations(ended.len()), operations(begun.len()));
            (format!("{ended} here {end} what began in line {line} with {begun}"), None)
        }
        None => return Ok(()),
    };
    let hint = "a completion repeats its invocation and fills in what was read; was the file \
                changed, or are two tests in it?";
    Err(Problem { text, mop, hint: Some(hint.to_owned()) })
}

fn operations(count: usize) -> String {
    if count == 1 { "1 operation".to_owned() } else { format!("{count} operations") }
}

impl Mop {
    fn completes(&self, begun: &Mop) -> bool {
        let same = self.kind == begun.kind && self.key == begun.key;
        same && (self.kind == OpKind::Read || self.argument == begun.argument)
    }
}

impl fmt::Display for Mop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            OpKind::Read => "r",
            OpKind::Write => "w",
            OpKind::Append => "append",
        };
        write!(f, "[:{name} {}", self.key)?;
        match &self.argument {
            Argument::One(value) => write!(f, " {value}]"),
            Argument::Initial => f.write_str(" nil]"),
            _ => f.write_str(" …]"),
        }
    }
}
