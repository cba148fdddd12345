//! Elle's and Jepsen's histories: maps of operations, in EDN or as JSON objects.
//!
//! A transaction is an invocation and its completion by one process, which is the session. `:ok`
//! committed, `:fail` aborted, `:info` (or no completion at all) is unknown. What an unfinished or
//! failed transaction read is often not known (`nil`): such reads are dropped. In an `:ok`
//! transaction `nil` and `[]` are the initial value. Times are only meaningful between invocations
//! and completions, so a file without invocations has none.
//!
//! A completion repeats its invocation with what it read filled in, and a process does one thing at
//! a time: where that is not so the file is refused, because a verdict about it would be about
//! something else. A process that goes on after `:info`, which Jepsen's never do, goes on as the
//! same session: this is how other formats say that a client did not wait for an answer.
//!
//! A file in which no map has a process tells of completed transactions alone, as the examples of
//! Elle's documentation do: each is a session of its own. If only some maps have one, a part of the
//! sessions would be guessed, and the file is refused.
//!
//! What a client did and we do not understand is an error, or, if the user wants that, a
//! transaction of unknown content.

mod edn;
mod event;
mod operations;
mod write;

pub(super) use write::{json_value, txn_numbers, write_edn, write_json};

use super::ReadOptions;
use super::build::Builder;
use super::json::{Json, Values};
use super::text::Source;
use crate::atom::{Atom, Value};
use crate::error::ReadError;
use crate::model::{History, OpKind, Status, TimeUnit};
use crate::place::PlaceUnit;
use crate::repairs::Tally;
use edn::{Edn, Form, Forms, Start};
use event::{ElleEvent, Stamp, Type};
use operations::{Argument, Mop, Workload};
use rustc_hash::FxHashMap;

/// Reads EDN.
pub(super) fn read_edn(
    bytes: &[u8],
    source: &Source,
    options: &ReadOptions,
) -> Result<History, ReadError> {
    let mut reader = Reader::new(options);
    let mut forms = Forms::new(bytes, source);
    while let Some(form) = forms.next() {
        let form = form?;
        let start = form.start;
        reader.form(form).map_err(|problem| {
            let (line, column) =
                problem.mop.and_then(|mop| forms.operation(start, mop)).unwrap_or(start.place());
            source.at_with_hint(line, column, problem.text, problem.hint)
        })?;
    }
    reader.finish(source)
}

/// Reads JSON objects, one a line or in an array.
pub(super) fn read_json(
    bytes: &[u8],
    source: &Source,
    options: &ReadOptions,
) -> Result<History, ReadError> {
    let mut reader = Reader::new(options);
    for item in Values::new(bytes, source) {
        let item = item?;
        let value = of_json(item.parse(source)?);
        let start = Start { at: 0, line: item.line, line_start: 1 - item.column as isize };
        reader.form(Form { value, start }).map_err(|problem| {
            let operations =
                || item.member("value", source).or_else(|| item.member(":value", source));
            let place =
                problem.mop.and_then(|mop| operations()?.element(mop, source)).unwrap_or(item);
            source.at_with_hint(place.line, place.column, problem.text, problem.hint)
        })?;
    }
    reader.finish(source)
}

/// The same in EDN's terms. The parser limits the depth, and with it this recursion.
fn of_json(json: Json) -> Edn {
    match json {
        Json::Null => Edn::Nil,
        Json::Int(number) => Edn::Int(number),
        Json::Number(number) => Edn::Other(number),
        Json::Bool(value) => Edn::Other(value.to_string().into()),
        Json::String(text) => Edn::Str(text.into()),
        Json::Array(items) => Edn::Seq(items.into_iter().map(of_json).collect()),
        Json::Object(members) => Edn::Map(
            members
                .into_vec()
                .into_iter()
                .flat_map(|(name, value)| [Edn::Str(name.into()), of_json(value)])
                .collect(),
        ),
    }
}

/// What is wrong with a map, with which of its operations, and what to do.
#[derive(Debug, Default)]
struct Problem {
    text: String,
    mop: Option<usize>,
    hint: Option<String>,
}

impl Problem {
    fn hinted(text: String, hint: &str) -> Problem {
        Problem { text, mop: None, hint: Some(hint.to_owned()) }
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Problem { text, ..Problem::default() }
    }
}

/// Where a process last completed something, and the like: for messages.
type Line = u64;

#[derive(Default)]
struct Reader {
    builder: Builder,
    /// Whether what is not understood is passed over.
    skips_unknown: bool,
    /// The invocation of each process that has not completed.
    open: FxHashMap<Atom, ElleEvent>,
    /// Where each process completed last.
    completed: FxHashMap<Atom, Line>,
    /// The first invocation of the file.
    invoked: Option<Line>,
    /// The first completion that had no invocation.
    uninvoked: Option<Line>,
    /// The first map of a client with a process, and the first one without.
    with_process: Option<Line>,
    without_process: Option<Line>,
    /// How the file spells registers, and where that was seen first.
    workload: Option<(Workload, Line)>,
    /// Invocation and completion of each transaction.
    stamps: Vec<(Option<Stamp>, Option<Stamp>)>,
    forms: i64,
}

impl Reader {
    fn new(options: &ReadOptions) -> Reader {
        Reader { skips_unknown: options.skip_unknown, ..Reader::default() }
    }

    fn form(&mut self, form: Form) -> Result<(), Problem> {
        self.forms += 1;
        let Edn::Map(items) = form.value else { return Err(event::no_map(&form.value)) };
        match event::read(items, form.start.line, self.forms) {
            Ok(None) => self.builder.columns.skipped += 1,
            Ok(Some(event)) => self.event(event)?,
            Err(problem) => self.not_understood(problem)?,
        }
        Ok(())
    }

    fn event(&mut self, mut event: ElleEvent) -> Result<(), Problem> {
        if let Err(problem) = &mut event.operations
            && !self.skips_unknown
        {
            return Err(std::mem::take(problem));
        }
        self.keep_to_processes(&event)?;
        self.keep_to_one_workload(&event)?;
        if event.kind == Type::Invoke {
            return self.invoke(event);
        }
        let invocation = self.open.remove(&event.process);
        match &invocation {
            Some(invocation) => operations::fit(invocation, &event)?,
            None => self.without_invocation(&event)?,
        }
        self.completed.insert(event.process.clone(), event.line);
        let status = match event.kind {
            Type::Ok => Status::Committed,
            Type::Fail => Status::Aborted,
            _ => Status::Unknown,
        };
        self.txn(status, invocation, Some(event))
    }

    /// An error, or a transaction of unknown content.
    fn not_understood(&mut self, problem: Problem) -> Result<(), Problem> {
        if !self.skips_unknown {
            return Err(problem);
        }
        self.builder.columns.unknown_content += 1;
        Ok(())
    }

    /// All maps have a process or none has, and invocations have one.
    fn keep_to_processes(&mut self, event: &ElleEvent) -> Result<(), Problem> {
        let (own, other) = match event.has_process {
            true => (&mut self.with_process, self.without_process),
            false => (&mut self.without_process, self.with_process),
        };
        own.get_or_insert(event.line);
        match (event.has_process, other) {
            (true, Some(line)) => Err(Problem::hinted(
                format!("this map has a :process, but that in line {line} has none"),
                "give every map a :process, or none: then each is a session of its own",
            )),
            (false, Some(line)) => Err(Problem::hinted(
                format!("this map has no :process, but that in line {line} has one"),
                "give every map a :process, or none: then each is a session of its own",
            )),
            (false, None) if event.kind == Type::Invoke => Err(Problem::hinted(
                "this map has no :process, so that its completion is not known".to_owned(),
                "give every map a :process, or leave out the invocations",
            )),
            _ => Ok(()),
        }
    }

    fn keep_to_one_workload(&mut self, event: &ElleEvent) -> Result<(), Problem> {
        let Some(workload) = event.workload.filter(|workload| *workload != Workload::Txn) else {
            return Ok(());
        };
        match self.workload {
            Some((known, line)) if known != workload => Err(Problem::hinted(
                format!("{workload} here, but {known} in line {line}"),
                "a file has one register, or several whose values are all [key value]",
            )),
            Some(_) => Ok(()),
            None => {
                self.workload = Some((workload, event.line));
                Ok(())
            }
        }
    }

    fn invoke(&mut self, event: ElleEvent) -> Result<(), Problem> {
        if let Some(line) = self.uninvoked {
            let text = format!(
                "this file has invocations from here on, but the completion in line {line} has none"
            );
            return Err(Problem::hinted(text, "is the beginning of the file missing?"));
        }
        self.invoked.get_or_insert(event.line);
        if let Some(open) = self.open.get(&event.process) {
            let text = format!(
                "process {} begins an operation before the one that it began in line {} has ended",
                event.process, open.line
            );
            return Err(Problem::hinted(text, "give clients that overlap processes of their own"));
        }
        self.open.insert(event.process.clone(), event);
        Ok(())
    }

    /// Only a file that has no invocations at all may have completions without one.
    fn without_invocation(&mut self, event: &ElleEvent) -> Result<(), Problem> {
        let Some(first) = self.invoked else {
            self.uninvoked.get_or_insert(event.line);
            return Ok(());
        };
        let process = &event.process;
        let since = match self.completed.get(process) {
            Some(line) => format!("its last one ended in line {line}"),
            None => format!("it has begun none; the first of the file is in line {first}"),
        };
        let text = format!("process {process} ends an operation that it has not begun: {since}");
        Err(Problem::hinted(text, "is a part of the file missing, or are two tests in it?"))
    }

    /// Adds a transaction from its invocation, its completion, or both.
    fn txn(
        &mut self,
        status: Status,
        begin: Option<ElleEvent>,
        end: Option<ElleEvent>,
    ) -> Result<(), Problem> {
        let Some(event) = end.as_ref().or(begin.as_ref()) else { return Ok(()) };
        let (process, stamps) = (event.process.clone(), (stamp(&begin), stamp(&end)));
        let is_unknown = [&begin, &end].into_iter().flatten().any(ElleEvent::is_unknown);
        if is_unknown {
            return self.not_understood(Problem::default());
        }
        // What a register was set to is known from its invocation.
        let is_told = begin.as_ref().is_some_and(|begin| begin.is_register && begin.says());
        if status == Status::Committed && !is_told && end.as_ref().is_some_and(|end| !end.says()) {
            let text = "a completion of type ok needs a :value with its operations";
            return Err(text.to_owned().into());
        }
        self.stamps.push(stamps);
        let session = self.builder.session(process);
        let txn = self.builder.txn(session, status);
        let Some(event) = end.filter(ElleEvent::says).or(begin) else { return Ok(()) };
        let is_register = event.is_register;
        for mop in event.operations.ok().flatten().into_iter().flatten() {
            // What a register operation that failed was to find is not what it found.
            if !(is_register && status == Status::Aborted && mop.kind == OpKind::Read) {
                self.mop(txn, status, mop, event.line);
            }
        }
        Ok(())
    }

    fn mop(&mut self, txn: u32, status: Status, mop: Mop, line: u64) {
        let value = match mop.argument {
            Argument::Nil if status != Status::Committed => return,
            Argument::Nil | Argument::Initial => Value::NULL,
            Argument::One(atom) => self.builder.value(atom),
            Argument::List(items) => self.builder.list(items),
        };
        let key = self.builder.key(mop.key);
        self.builder.op(txn, mop.kind, key, value, line);
    }

    fn finish(mut self, source: &Source) -> Result<History, ReadError> {
        let mut open: Vec<ElleEvent> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|event| event.stamp.position);
        for event in open {
            let line = event.line;
            self.txn(Status::Unknown, Some(event), None)
                .map_err(|problem| source.at_with_hint(line, 1, problem.text, problem.hint))?;
        }
        if let Some(line) = self.without_process {
            let count = self.stamps.len() as u64;
            self.builder.columns.repairs.without_process = Tally { count, first_line: line };
        }
        let unit = Unit::of(&self.stamps);
        if self.invoked.is_some() {
            self.builder.columns.txn_times = Some(self.times(unit));
            self.tell_of_times(unit);
            if unit == Unit::Time {
                self.builder.columns.time_unit = TimeUnit::Nanoseconds;
            }
        }
        if let Some(names) = self.names() {
            self.builder.columns.txn_names = crate::model::Names::Numbers(names);
        }
        self.builder.finish(source, PlaceUnit::Line)
    }

    /// What never completed, or without our knowing, may take effect at any later time.
    fn times(&self, unit: Unit) -> Vec<(i64, i64)> {
        let unknown = self.builder.columns.txns.iter().map(|txn| txn.status == Status::Unknown);
        let times = self.stamps.iter().zip(unknown).map(|((begin, end), unknown)| {
            let begin = begin.map_or(i64::MIN, |stamp| unit.read(stamp));
            let end = end.filter(|_| !unknown).map_or(i64::MAX, |stamp| unit.read(stamp));
            (begin, end.max(begin))
        });
        times.collect()
    }

    /// Counts what of the times is not as it should be.
    fn tell_of_times(&mut self, unit: Unit) {
        let repairs = &mut self.builder.columns.repairs;
        let ends_early = |(begin, end): &&(Option<Stamp>, Option<Stamp>)| match (begin, end) {
            (Some(begin), Some(end)) => unit.read(*end) < unit.read(*begin),
            _ => false,
        };
        let early = self.stamps.iter().filter(ends_early);
        repairs.ends_before_begin =
            Tally::of(early.filter_map(|(_, end)| Some(end.as_ref()?.line)));
        let all = || self.stamps.iter().flat_map(|&(begin, end)| [begin, end]).flatten();
        if all().any(|stamp| stamp.time.is_some()) {
            let without = all().filter(|stamp| stamp.time.is_none());
            repairs.events_without_time = Tally::of(without.map(|stamp| stamp.line));
        }
    }

    /// The index of the completion (or invocation) of each transaction, if the file has them.
    fn names(&self) -> Option<Vec<i64>> {
        self.stamps.iter().map(|(begin, end)| end.or(*begin)?.index).collect()
    }
}

fn stamp(event: &Option<ElleEvent>) -> Option<Stamp> {
    event.as_ref().map(|event| event.stamp)
}

/// Which of its times a file has throughout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Time,
    Index,
    Position,
}

impl Unit {
    fn of(stamps: &[(Option<Stamp>, Option<Stamp>)]) -> Unit {
        let all = || stamps.iter().flat_map(|&(begin, end)| [begin, end]).flatten();
        if all().all(|stamp| stamp.time.is_some()) {
            Unit::Time
        } else if all().all(|stamp| stamp.index.is_some()) {
            Unit::Index
        } else {
            Unit::Position
        }
    }

    fn read(self, stamp: Stamp) -> i64 {
        let chosen = match self {
            Unit::Time => stamp.time,
            Unit::Index => stamp.index,
            Unit::Position => None,
        };
        chosen.unwrap_or(stamp.position)
    }
}

#[cfg(test)]
mod tests;
