//! What a page shows of a whole history: transactions counted by session and place, and those
//! around each anomaly. It is small whatever the size of the history.

use seriatim_check::{OpRef, Report, ValueRef};
use seriatim_history::{History, OpId, OpKind, SessionId, Status, TxnId};
use seriatim_report::page::{Neighbour, Overview, Strip, Window};
use std::collections::BTreeSet;

/// Into how many parts a history is divided at most.
const PARTS_MAX: u32 = 240;
/// Sessions that have a strip of their own.
const SESSIONS_MAX: usize = 24;
/// Transactions of a session before and after one of an anomaly, where no times are known.
const AROUND: u32 = 3;
/// Transactions around an anomaly that are shown.
const NEIGHBOURS_MAX: usize = 40;
/// The same if all of them are of the anomaly.
const GUILTY_MAX: usize = 200;
/// Operations of a transaction that are told, and characters of each.
const ACTS_MAX: usize = 8;
const CHARS_MAX: usize = 160;

/// The history of a report, for its page.
pub fn overview(history: &History, report: &Report) -> Overview {
    let guilty: Vec<BTreeSet<TxnId>> =
        report.anomalies.iter().map(|group| guilty(&group.exemplar.ops)).collect();
    let scale = Scale::of(history);
    let all: BTreeSet<TxnId> = guilty.iter().flatten().copied().collect();
    Overview {
        transactions: history.txn_count() as u64,
        sessions: strips(history, &all, scale),
        by_time: scale.span.is_some(),
        windows: guilty.iter().map(|guilty| window(history, guilty)).collect(),
    }
}

fn guilty(ops: &[OpRef]) -> BTreeSet<TxnId> {
    ops.iter().filter_map(|op| op.txn.id).collect()
}

/// The first begin and the last end, if all transactions have times.
fn span(history: &History) -> Option<(i64, i64)> {
    let mut span: Option<(i64, i64)> = None;
    for txn in history.txns() {
        let (begin, end) = history.times(txn)?;
        let (first, last) = span.unwrap_or((begin, end));
        span = Some((first.min(begin), last.max(end)));
    }
    span
}

/// How a history is divided.
#[derive(Clone, Copy)]
struct Scale {
    /// From the first begin to the last end, if all transactions have times.
    span: Option<(i64, i64)>,
    /// How many transactions the longest session has.
    longest: u32,
    parts: u32,
}

impl Scale {
    fn of(history: &History) -> Scale {
        let sessions = (0..history.session_count() as u32).map(SessionId);
        let longest = sessions.map(|it| history.txns_of(it).len() as u32).max().unwrap_or(0);
        let span = span(history);
        let parts = if span.is_some() { PARTS_MAX } else { longest.clamp(1, PARTS_MAX) };
        Scale { span, longest, parts }
    }
}

/// The part of the history in which a transaction is.
fn part(history: &History, txn: TxnId, scale: Scale) -> u32 {
    let (at, all) = match (scale.span, history.times(txn)) {
        (Some((first, last)), Some((begin, _))) => {
            (begin.abs_diff(first) as f64, last.abs_diff(first) as f64)
        }
        _ => (f64::from(history.place_in_session(txn)), f64::from(scale.longest)),
    };
    ((at / all.max(1.0) * f64::from(scale.parts)) as u32).min(scale.parts - 1)
}

fn strips(history: &History, guilty: &BTreeSet<TxnId>, scale: Scale) -> Vec<Strip> {
    let count = history.session_count();
    let involved: BTreeSet<u32> = guilty.iter().map(|&txn| history.session_of(txn).0).collect();
    // Those with anomalies first, then in their order.
    let others = (0..count as u32).filter(|session| !involved.contains(session));
    let mut shown: Vec<u32> = involved.iter().copied().chain(others).take(SESSIONS_MAX).collect();
    shown.sort_unstable();
    let mut row_of = vec![shown.len(); count];
    shown.iter().enumerate().for_each(|(row, &session)| row_of[session as usize] = row);
    let name = |session: &u32| history.session_name(SessionId(*session)).to_string();
    let mut strips: Vec<Strip> = shown.iter().map(|session| strip(name(session), scale)).collect();
    if count > shown.len() {
        strips.push(strip(format!("{} others", count - shown.len()), scale));
    }
    for txn in history.txns() {
        let row = row_of[history.session_of(txn).0 as usize];
        let part = part(history, txn, scale);
        strips[row].counts[part as usize] += 1;
        if guilty.contains(&txn) && !strips[row].marks.contains(&part) {
            strips[row].marks.push(part);
        }
    }
    strips
}

fn strip(name: String, scale: Scale) -> Strip {
    Strip { name, counts: vec![0; scale.parts as usize], marks: Vec::new() }
}

/// The transactions of an anomaly and those around them.
fn window(history: &History, guilty: &BTreeSet<TxnId>) -> Window {
    let mut near = match interval(history, guilty) {
        Some(interval) => overlapping(history, guilty, interval),
        None => beside(history, guilty),
    };
    let shown = NEIGHBOURS_MAX.max(guilty.len().min(GUILTY_MAX));
    let more = near.len().saturating_sub(shown) as u64;
    // Those of the anomaly come first.
    near.sort_by_key(|txn| !guilty.contains(txn));
    near.truncate(shown);
    near.sort_unstable();
    let txns = near.into_iter().map(|txn| neighbour(history, txn, guilty.contains(&txn)));
    Window { txns: txns.collect(), more }
}

/// From the first begin to the last end of these transactions, if all have times.
fn interval(history: &History, guilty: &BTreeSet<TxnId>) -> Option<(i64, i64)> {
    let times: Option<Vec<(i64, i64)>> = guilty.iter().map(|&txn| history.times(txn)).collect();
    let times = times?;
    Some((times.iter().map(|it| it.0).min()?, times.iter().map(|it| it.1).max()?))
}

fn overlapping(history: &History, guilty: &BTreeSet<TxnId>, (from, to): (i64, i64)) -> Vec<TxnId> {
    let is_near = |txn: &TxnId| {
        let times = history.times(*txn);
        guilty.contains(txn) || times.is_some_and(|(begin, end)| begin <= to && from <= end)
    };
    history.txns().filter(is_near).collect()
}

fn beside(history: &History, guilty: &BTreeSet<TxnId>) -> Vec<TxnId> {
    let mut near = BTreeSet::new();
    for &txn in guilty {
        let all = history.txns_of(history.session_of(txn));
        let from = txn.0.saturating_sub(AROUND).max(all.start);
        near.extend((from..txn.0.saturating_add(AROUND + 1).min(all.end)).map(TxnId));
    }
    near.into_iter().collect()
}

fn neighbour(history: &History, txn: TxnId, is_guilty: bool) -> Neighbour {
    let statements = history.statements_of(txn);
    let (acts, count): (Vec<String>, usize) = match statements.is_empty() {
        true => {
            let ops = history.ops_of(txn);
            let count = ops.len();
            (ops.take(ACTS_MAX).map(|op| act(history, OpId(op))).collect(), count)
        }
        false => {
            let told = statements.iter().take(ACTS_MAX).map(|it| match &it.content.returned {
                Some(returned) => format!("{} returned {returned}", it.content.text),
                None => it.content.text.to_string(),
            });
            (told.collect(), statements.len())
        }
    };
    Neighbour {
        name: history.txn_label(txn),
        session: history.session_name(history.session_of(txn)).to_string(),
        times: history.times(txn),
        more: count.saturating_sub(acts.len()) as u64,
        acts: acts.into_iter().map(cut).collect(),
        is_guilty,
        note: match history.status(txn) {
            Status::Committed => None,
            Status::Aborted => Some("aborted"),
            Status::Unknown => Some("outcome unknown"),
        },
    }
}

fn act(history: &History, op: OpId) -> String {
    let it = history.op(op);
    let word = match it.kind {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Append => "append",
    };
    let value: ValueRef = seriatim_check::Refs(history).value(it.value);
    format!("{word} {} = {value}", history.key_name(it.key))
}

fn cut(text: String) -> String {
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    text.chars().take(CHARS_MAX - 1).chain(['…']).collect()
}
