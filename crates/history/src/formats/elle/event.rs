//! A map of the file: who did what, when, and how it ended.

use super::Problem;
use super::edn::Edn;
use super::operations::{self, Mop, Workload};
use crate::atom::Atom;
use crate::formats::text::{excerpt, key_atom};

/// What a map says of its operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// When something happened, in the units that the file offers.
#[derive(Clone, Copy, Default)]
pub(super) struct Stamp {
    pub time: Option<i64>,
    pub index: Option<i64>,
    pub position: i64,
    pub line: u64,
}

/// A map of the file.
pub(super) struct ElleEvent {
    pub kind: Type,
    /// The session; a number of its own where the map has none.
    pub process: Atom,
    pub has_process: bool,
    pub stamp: Stamp,
    /// None where the map says nothing: then they are those of the invocation.
    pub operations: Result<Option<Vec<Mop>>, Problem>,
    /// How the operations are spelled, if there are any.
    pub workload: Option<Workload>,
    /// Whether `:f` names an operation of a register.
    pub is_register: bool,
    pub line: u64,
}

impl ElleEvent {
    /// Whether its operations are not understood.
    pub fn is_unknown(&self) -> bool {
        self.operations.is_err()
    }

    /// Whether it says what was done.
    pub fn says(&self) -> bool {
        matches!(self.operations, Ok(Some(_)))
    }
}

/// The fields of a map that matter.
#[derive(Default)]
struct Fields {
    kind: Option<Edn>,
    process: Option<Edn>,
    f: Option<Edn>,
    value: Option<Edn>,
    stamp: Stamp,
}

/// The problem of a value that is no map.
pub(super) fn no_map(value: &Edn) -> Problem {
    format!("expected a map like {{:type :ok, …}}, found {}", describe(value)).into()
}

/// What the map with these keys and values says; `None` if it is not about a client.
pub(super) fn read(
    items: Vec<Edn>,
    line: u64,
    position: i64,
) -> Result<Option<ElleEvent>, Problem> {
    let fields = fields(items, position)?;
    let process = match &fields.process {
        None => Atom::Int(position.into()),
        Some(Edn::Nil) => return Err("this map has no :process".to_owned().into()),
        // The nemesis breaks things; what it does is no transaction.
        Some(process) if word(process) == Some("nemesis") => return Ok(None),
        Some(process) => process_name(process)?,
    };
    let has_process = fields.process.is_some();
    let kind = kind(fields.kind.as_ref())?;
    let f = fields.f.as_ref();
    let is_register = f.and_then(word).is_some_and(operations::is_of_register);
    let operations = operations::read(f, fields.value, kind);
    let workload = operations.as_ref().ok().and_then(|said| said.as_ref().map(|said| said.0));
    let operations = operations.map(|said| said.map(|said| said.1));
    let stamp = Stamp { line, ..fields.stamp };
    Ok(Some(ElleEvent {
        kind,
        process,
        has_process,
        stamp,
        operations,
        workload,
        is_register,
        line,
    }))
}

/// The session: a number, which JSON may write as a string, or any other name.
fn process_name(process: &Edn) -> Result<Atom, Problem> {
    match process {
        Edn::Int(number) => Ok(Atom::Int(*number)),
        Edn::Str(text) => Ok(key_atom(text)),
        Edn::Keyword(text) => Ok(Atom::Keyword(text.clone())),
        Edn::Other(text) => Ok(Atom::Str(text.clone())),
        other => {
            let found = describe(other);
            Err(format!("expected a :process (a number or a name), found {found}").into())
        }
    }
}

fn kind(kind: Option<&Edn>) -> Result<Type, Problem> {
    match kind.and_then(word) {
        Some("invoke") => Ok(Type::Invoke),
        Some("ok") => Ok(Type::Ok),
        Some("fail") => Ok(Type::Fail),
        Some("info") => Ok(Type::Info),
        _ => {
            let found = kind.map_or("none".to_owned(), describe);
            Err(format!("expected a :type of invoke, ok, fail or info, found {found}").into())
        }
    }
}

fn fields(items: Vec<Edn>, position: i64) -> Result<Fields, Problem> {
    let mut fields = Fields { stamp: Stamp { position, ..Stamp::default() }, ..Fields::default() };
    let mut qualified = Vec::new();
    let mut items = items.into_iter();
    while let (Some(name), Some(value)) = (items.next(), items.next()) {
        let Some(name) = word(&name) else { continue };
        match name.rsplit_once('/') {
            // A name without a namespace comes first, wherever it stands.
            Some((_, name)) => qualified.push((name.to_owned(), value)),
            None if Fields::is_unknown(name) => {}
            None if fields.has(name) => return Err(format!(":{name} stands here twice").into()),
            None => fields.set(name, value)?,
        }
    }
    for (name, value) in qualified {
        if !fields.has(&name) {
            fields.set(&name, value)?;
        }
    }
    Ok(fields)
}

impl Fields {
    fn set(&mut self, name: &str, value: Edn) -> Result<(), Problem> {
        match name {
            "type" => self.kind = Some(value),
            "process" => self.process = Some(value),
            "f" => self.f = Some(value),
            "value" => self.value = Some(value),
            "time" => self.stamp.time = stamp(&value, "time")?,
            "index" => self.stamp.index = stamp(&value, "index")?,
            _ => {}
        }
        Ok(())
    }

    /// Whether a name means nothing here.
    fn is_unknown(name: &str) -> bool {
        !matches!(name, "type" | "process" | "f" | "value" | "time" | "index")
    }

    fn has(&self, name: &str) -> bool {
        match name {
            "type" => self.kind.is_some(),
            "process" => self.process.is_some(),
            "f" => self.f.is_some(),
            "value" => self.value.is_some(),
            "time" => self.stamp.time.is_some(),
            "index" => self.stamp.index.is_some(),
            _ => true,
        }
    }
}

fn stamp(value: &Edn, name: &str) -> Result<Option<i64>, Problem> {
    match value {
        Edn::Int(number) => match i64::try_from(*number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("the :{name} {number} does not fit into 64 bits").into()),
        },
        Edn::Nil => Ok(None),
        // Without it real time would be taken from the order of the lines.
        other => {
            let found = describe(other);
            Err(format!("expected a :{name} that is a whole number, found {found}").into())
        }
    }
}

/// The text of a keyword, or of a string (JSON has no keywords).
pub(super) fn word(value: &Edn) -> Option<&str> {
    match value {
        Edn::Keyword(text) => Some(text),
        Edn::Str(text) => Some(text.strip_prefix(':').unwrap_or(text)),
        _ => None,
    }
}

/// A value in few words.
pub(super) fn describe(value: &Edn) -> String {
    match value {
        Edn::Nil => "nil".to_owned(),
        Edn::Int(number) => number.to_string(),
        Edn::Str(text) | Edn::Other(text) => excerpt(text.as_bytes()),
        Edn::Keyword(text) => excerpt(format!(":{text}").as_bytes()),
        Edn::Map(_) => "a map".to_owned(),
        Edn::Set(items) => format!("a set of {}", items.len()),
        Edn::Seq(items) => match items.first() {
            Some(first @ (Edn::Keyword(_) | Edn::Str(_))) => {
                format!("a sequence of {} that starts with {}", items.len(), describe(first))
            }
            _ => format!("a sequence of {}", items.len()),
        },
    }
}
