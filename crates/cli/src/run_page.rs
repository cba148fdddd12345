//! Pages about runs: what the terminal shows, the statements in their order, and the anomalies.

use crate::exit::Failure;
use crate::overview::overview;
use crate::page_file;
use seriatim_check::{Answer, Refs};
use seriatim_history::{History, OpId, OpKind, SessionId, TxnId};
use seriatim_report::Checked;
use seriatim_report::page::{self, Asked, CheckedInput, Sequence, Told};
use seriatim_store::{Choice, TxnName};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// How wide texts are on pages.
pub const PAGE_WIDTH: usize = 100;

/// What a page is made of.
pub struct RunPage<'r> {
    /// What it is about.
    pub title: &'r str,
    /// Whether that is good.
    pub answer: Answer,
    /// What the terminal shows.
    pub text: &'r str,
    /// The statements of the run.
    pub sequence: Option<&'r Sequence>,
    /// The run, and what the checker says of it.
    pub run: Option<(&'r Checked, &'r History)>,
}

/// Writes the page and the pictures alone, as far as they are wanted.
pub fn write(
    html: &Option<PathBuf>,
    svg: &Option<PathBuf>,
    about: &RunPage<'_>,
) -> Result<(), Failure> {
    page_file::write(svg, || page::svg(about.run.map(|(checked, _)| checked)))?;
    page_file::write(html, || {
        let overview = about.run.map(|(checked, history)| overview(history, &checked.report));
        let checked =
            about.run.map(|(checked, _)| CheckedInput { checked, overview: overview.as_ref() });
        let RunPage { title, answer, text, sequence, .. } = *about;
        page::told(&Told { title, answer, text, sequence, checked })
    })
}

/// The statements of a run in the order in which they began, as far as its history has them.
pub fn sequence(
    history: &History,
    order: &[TxnName],
    called: impl Fn(u32) -> Option<String>,
) -> Sequence {
    let client = |session: u32| match called(session) {
        Some(name) => format!("connection {session} ({name})"),
        None => format!("connection {session}"),
    };
    let clients = (0..history.session_count() as u32).map(client).collect();
    let mut next: HashMap<TxnName, usize> = HashMap::new();
    let mut asked = Vec::new();
    for &name in order.iter().filter(|name| (name.session as usize) < history.session_count()) {
        let place = next.entry(name).or_insert(0);
        let number = std::mem::replace(place, *place + 1);
        let mut txns = history.txns_of(SessionId(name.session));
        let Some(txn) = txns.nth(name.txn as usize).map(TxnId) else { continue };
        let statements = history.statements_of(txn);
        let Some(statement) = statements.get(number) else { continue };
        let text = statement.content.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let given: Vec<String> = statement
            .content
            .params
            .iter()
            .map(|it| it.as_ref().map_or("NULL".to_owned(), ToString::to_string))
            .collect();
        let with =
            if given.is_empty() { String::new() } else { format!(" [{}]", given.join(", ")) };
        asked.push(Asked {
            client: name.session as usize,
            txn: history.txn_label(txn),
            number: name.txn,
            statement: number as u32,
            text: text + &with,
            returned: statement.content.returned.as_ref().map(ToString::to_string),
            is_blamed: false,
            otherwise: None,
        });
    }
    Sequence { clients, asked, order: "in the order in which statements began" }
}

/// The reads and writes of a run without statements, transaction by transaction in the order in
/// which they began, with the reads that a failure needs.
pub fn operations(history: &History, weak: &[Choice]) -> Sequence {
    let begun = |txn: &TxnId| (history.times(*txn).map_or(0, |times| times.0), *txn);
    let mut txns: Vec<TxnId> = history.txns().collect();
    txns.sort_by_key(begun);
    let mut blamed: BTreeSet<OpId> = BTreeSet::new();
    for choice in weak.iter().filter(|it| (it.reader.session as usize) < history.session_count()) {
        let mut own = history.txns_of(SessionId(choice.reader.session));
        let Some(txn) = own.nth(choice.reader.txn as usize).map(TxnId) else { continue };
        let is_it = |op: &OpId| {
            let it = history.op(*op);
            it.kind == OpKind::Read && history.key_name(it.key).to_string() == choice.key
        };
        blamed.extend(history.ops_of(txn).map(OpId).find(is_it));
    }
    let mut asked = Vec::new();
    for txn in txns {
        for (place, op) in history.ops_of(txn).map(OpId).enumerate() {
            asked.push(operation(history, op, place as u32, blamed.contains(&op)));
        }
    }
    let client = |number: u32| format!("session {}", history.session_name(SessionId(number)));
    let clients = (0..history.session_count() as u32).map(client).collect();
    Sequence { clients, asked, order: "transaction by transaction as they began" }
}

fn operation(history: &History, op: OpId, place: u32, is_blamed: bool) -> Asked {
    let (it, txn) = (history.op(op), history.txn_of(op));
    let (key, value) = (history.key_name(it.key), Refs(history).value(it.value));
    let (text, returned) = match it.kind {
        OpKind::Read => (format!("read {key}"), Some(value.to_string())),
        OpKind::Write => (format!("write {key} = {value}"), None),
        OpKind::Append => (format!("append {value} to {key}"), None),
    };
    Asked {
        client: history.session_of(txn).index(),
        txn: history.txn_label(txn),
        number: history.place_in_session(txn),
        statement: place,
        text,
        returned,
        is_blamed,
        otherwise: None,
    }
}
