//! What a page shows of a whole history: transactions counted by session and place, and those
//! around each anomaly. It is small whatever the size of the history.

use seriatim_check::{OpRef, Report, ValueRef};
use seriatim_history::{History, KeyId, OpId, OpKind, SessionId, Statement, Status, TxnId};
use seriatim_report::page::{Lasting, Mark, Neighbour, Overview, Strip, Window};
use std::collections::{BTreeMap, BTreeSet};

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

/// Marks of an anomaly in the strip.
const MARKS_MAX: usize = 100;
/// Keys and sessions of an anomaly that are named, and characters of each.
const NAMES_MAX: usize = 12;
const NAME_CHARS_MAX: usize = 40;

/// The history of a report, for its page.
pub fn overview(history: &History, report: &Report) -> Overview {
    let guilty: Vec<Guilty> =
        report.anomalies.iter().map(|group| Guilty::of(history, &group.exemplar.ops)).collect();
    let scale = Scale::of(history);
    let counted = Counted::of(history, &guilty, scale);
    Overview {
        transactions: history.txn_count() as u64,
        sessions: counted.single,
        others: counted.others,
        span: scale.span,
        unit: history.time_unit(),
        longest: scale.longest,
        timeless: counted.timeless,
        windows: guilty.iter().map(|guilty| window(history, guilty)).collect(),
    }
}

/// What an anomaly is about.
struct Guilty {
    txns: BTreeSet<TxnId>,
    ops: BTreeSet<OpId>,
    keys: BTreeSet<KeyId>,
}

impl Guilty {
    fn of(history: &History, ops: &[OpRef]) -> Guilty {
        let txns = ops.iter().filter_map(|op| op.txn.id).collect();
        let ops: BTreeSet<OpId> = ops.iter().filter_map(|op| op.id).collect();
        let keys = ops.iter().map(|&op| history.op(op).key).collect();
        Guilty { txns, ops, keys }
    }

    /// How much an operation matters: those of the anomaly first, then those on its keys.
    fn rank(&self, history: &History, op: OpId) -> u8 {
        match self.ops.contains(&op) {
            true => 0,
            false if self.keys.contains(&history.op(op).key) => 1,
            false => 2,
        }
    }
}

fn lasting(history: &History, txn: TxnId) -> Option<Lasting> {
    history.times(txn).map(Lasting::of)
}

/// The first and the last time that is known, if there is any.
fn span(history: &History) -> Option<(i64, i64)> {
    let known = history.txns().filter_map(|txn| lasting(history, txn)?.known());
    known.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// How a history is divided.
#[derive(Clone, Copy)]
struct Scale {
    /// From the first begin to the last end, if times are known.
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

/// The part of the history in which a transaction is; nothing if no time of it is known.
fn part(history: &History, txn: TxnId, scale: Scale) -> Option<u32> {
    let (at, all) = match scale.span {
        Some((first, last)) => {
            let (begin, _) = lasting(history, txn)?.known()?;
            (begin.abs_diff(first) as f64, last.abs_diff(first) as f64)
        }
        None => (f64::from(history.place_in_session(txn)), f64::from(scale.longest)),
    };
    Some(((at / all.max(1.0) * f64::from(scale.parts)) as u32).min(scale.parts - 1))
}

/// Transactions by session and part.
struct Counted {
    single: Vec<Strip>,
    others: Option<Strip>,
    timeless: u64,
}

impl Counted {
    fn of(history: &History, guilty: &[Guilty], scale: Scale) -> Counted {
        let count = history.session_count();
        let all = guilty.iter().flat_map(|it| &it.txns);
        let involved: BTreeSet<u32> = all.map(|&txn| history.session_of(txn).0).collect();
        // Those with anomalies first, then in their order.
        let others = (0..count as u32).filter(|session| !involved.contains(session));
        let mut shown: Vec<u32> =
            involved.iter().copied().chain(others).take(SESSIONS_MAX).collect();
        shown.sort_unstable();
        let mut row_of = vec![shown.len(); count];
        shown.iter().enumerate().for_each(|(row, &session)| row_of[session as usize] = row);
        let name = |session: &u32| history.session_name(SessionId(*session)).to_string();
        let mut rows: Vec<Strip> =
            shown.iter().map(|session| strip(name(session), scale)).collect();
        rows.push(strip(format!("{} others", count - shown.len()), scale));
        let mut timeless = 0;
        for txn in history.txns() {
            let row = row_of[history.session_of(txn).0 as usize];
            match part(history, txn, scale) {
                Some(part) => rows[row].counts[part as usize] += 1,
                None => timeless += 1,
            }
        }
        for (anomaly, guilty) in guilty.iter().enumerate() {
            for &txn in guilty.txns.iter().take(MARKS_MAX) {
                let row = &mut rows[row_of[history.session_of(txn).0 as usize]];
                let mark = part(history, txn, scale).map(|part| Mark { part, anomaly });
                row.marks.extend(mark.filter(|mark| !row.marks.contains(mark)));
            }
        }
        let others = rows.pop().filter(|_| count > shown.len());
        Counted { single: rows, others, timeless }
    }
}

fn strip(name: String, scale: Scale) -> Strip {
    Strip { name, counts: vec![0; scale.parts as usize], marks: Vec::new() }
}

/// The transactions of an anomaly and those around them.
fn window(history: &History, guilty: &Guilty) -> Window {
    let mut near = match interval(history, &guilty.txns) {
        Some(interval) => overlapping(history, &guilty.txns, interval),
        None => beside(history, &guilty.txns),
    };
    let shown = NEIGHBOURS_MAX.max(guilty.txns.len().min(GUILTY_MAX));
    let more = near.len().saturating_sub(shown) as u64;
    if near.len() > shown {
        // Those of the anomaly, then those on its keys, then those that are nearest to it.
        let on_keys = |txn: TxnId| {
            history.ops_of(txn).any(|op| guilty.keys.contains(&history.op(OpId(op)).key))
        };
        near.sort_by_cached_key(|&(txn, far)| {
            (!guilty.txns.contains(&txn), !on_keys(txn), far, txn)
        });
        near.truncate(shown);
    }
    near.sort_unstable_by_key(|(txn, _)| *txn);
    let txns = near.into_iter().map(|(txn, _)| neighbour(history, txn, guilty));
    let keys = guilty.keys.iter().take(NAMES_MAX);
    let sessions: BTreeSet<SessionId> =
        guilty.txns.iter().map(|&txn| history.session_of(txn)).collect();
    let sessions = sessions.into_iter().take(NAMES_MAX);
    Window {
        txns: txns.collect(),
        more,
        keys: keys.map(|&key| cut(history.key_name(key).to_string(), NAME_CHARS_MAX)).collect(),
        sessions: sessions
            .map(|it| cut(history.session_name(it).to_string(), NAME_CHARS_MAX))
            .collect(),
    }
}

/// From the first begin to the last end that is known of these transactions.
fn interval(history: &History, guilty: &BTreeSet<TxnId>) -> Option<(i64, i64)> {
    let known = guilty.iter().filter_map(|&txn| lasting(history, txn)?.known());
    known.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// A transaction, and how far it is from an anomaly: first how long the time between them is,
/// then how much of it they do not share.
type Near = (TxnId, (u64, u64));

/// Transactions that were at work at the same time. One that nobody saw end is at work from its
/// begin on, and yet as far away as its begin.
fn overlapping(history: &History, guilty: &BTreeSet<TxnId>, (from, to): (i64, i64)) -> Vec<Near> {
    let near = |txn: TxnId| {
        if guilty.contains(&txn) {
            return Some((txn, (0, 0)));
        }
        let times = lasting(history, txn)?;
        let (first, last) = times.known()?;
        let end = times.end.unwrap_or(i64::MAX);
        let shared = last.min(to).saturating_sub(first.max(from)).max(0);
        let between = from.saturating_sub(last).max(first.saturating_sub(to)).max(0);
        let missing = to.abs_diff(from).saturating_sub(shared.unsigned_abs());
        (first <= to && from <= end).then_some((txn, (between.unsigned_abs(), missing)))
    };
    history.txns().filter_map(near).collect()
}

/// Transactions before and after, where no times are known.
fn beside(history: &History, guilty: &BTreeSet<TxnId>) -> Vec<Near> {
    let mut near = BTreeMap::new();
    for &txn in guilty {
        let all = history.txns_of(history.session_of(txn));
        let from = txn.0.saturating_sub(AROUND).max(all.start);
        for other in from..txn.0.saturating_add(AROUND + 1).min(all.end) {
            let far = u64::from(other.abs_diff(txn.0));
            let known = near.entry(TxnId(other)).or_insert(far);
            *known = far.min(*known);
        }
    }
    near.into_iter().map(|(txn, far)| (txn, (far, 0))).collect()
}

fn neighbour(history: &History, txn: TxnId, guilty: &Guilty) -> Neighbour {
    let statements = history.statements_of(txn);
    let ops: Vec<OpId> = history.ops_of(txn).map(OpId).collect();
    let (acts, count): (Vec<String>, usize) = match statements.is_empty() {
        true => {
            let shown = foremost(&ops, |op| guilty.rank(history, *op));
            (shown.into_iter().map(|&op| act(history, op)).collect(), ops.len())
        }
        false => {
            let told = |it: &&Statement| match &it.content.returned {
                Some(returned) => format!("{} returned {returned}", it.content.text),
                None => it.content.text.to_string(),
            };
            let is_own = |it: &Statement| {
                guilty.ops.range(OpId(it.ops.start)..OpId(it.ops.end)).next().is_some()
            };
            let rank = |it: &Statement| u8::from(!is_own(it));
            let shown = foremost(statements, rank);
            (shown.iter().map(told).collect(), statements.len())
        }
    };
    Neighbour {
        name: history.txn_label(txn),
        session: history.session_name(history.session_of(txn)).to_string(),
        times: lasting(history, txn),
        more: count.saturating_sub(acts.len()) as u64,
        acts: acts.into_iter().map(|act| cut(act, CHARS_MAX)).collect(),
        is_guilty: guilty.txns.contains(&txn),
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

/// As many as are told, in their order: those of the lowest rank before others.
fn foremost<T>(all: &[T], rank: impl Fn(&T) -> u8) -> Vec<&T> {
    let mut ranked: Vec<(usize, &T)> = all.iter().enumerate().collect();
    ranked.sort_by_key(|(_, it)| rank(it));
    ranked.truncate(ACTS_MAX);
    ranked.sort_unstable_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, it)| it).collect()
}

fn cut(text: String, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_check::Checker;
    use seriatim_history::notation;

    fn of(text: &str) -> Overview {
        let history = notation::parse(text).unwrap();
        let report = Checker::new().check(&history);
        assert!(!report.anomalies.is_empty(), "{text}");
        overview(&history, &report)
    }

    #[test]
    fn of_many_neighbours_the_nearest_are_shown() {
        // A lost update at 1000 to 1100, and others beside it.
        let mut text = "a: r(x,nil) w(x,1)@1000-1100\nb: r(x,nil) w(x,2)@1010-1090".to_owned();
        for place in 0..80 {
            // All overlap the anomaly: the later ones less of it.
            text += &format!("\nc{place}: w(y{place},1)@{}-2000", 1020 + place);
        }
        text += "\nd: w(x,7)@1099-1200";
        let window = &of(&text).windows[0];
        let sessions: Vec<&str> = window.txns.iter().map(|it| it.session.as_str()).collect();
        assert_eq!(sessions.len(), NEIGHBOURS_MAX);
        assert!(
            ["a", "b", "d", "c0", "c36"].iter().all(|it| sessions.contains(it)),
            "{sessions:?}"
        );
        assert!(!sessions.contains(&"c37") && !sessions.contains(&"c79"), "{sessions:?}");
        assert_eq!(window.more, 83 - NEIGHBOURS_MAX as u64);
        assert_eq!((&window.keys[..], window.sessions.len()), (&["x".to_owned()][..], 2));
    }

    #[test]
    fn the_operations_of_an_anomaly_are_told_before_others() {
        let many: String = (0..20).map(|key| format!("w(k{key},1) ")).collect();
        let text = format!("a: r(x,nil) {many}w(x,1)\nb: r(x,nil) {many}w(x,2)");
        let text = text.replacen("w(k", "w(a", 20);
        let window = &of(&text).windows[0];
        for txn in &window.txns {
            let is_told = |act: &str| txn.acts.iter().any(|it| it.starts_with(act));
            assert!(is_told("read x") && is_told("write x"), "{:?}", txn.acts);
            assert_eq!((txn.acts.len(), txn.more), (ACTS_MAX, 14));
        }
    }

    #[test]
    fn sessions_that_are_not_shown_are_counted_together() {
        let mut text = "a: r(x,nil) w(x,1)\nb: r(x,nil) w(x,2)".to_owned();
        for place in 0..98 {
            text += &format!("\nc{place}: w(y{place},1)");
        }
        let all = of(&text);
        let count = |strip: &Strip| strip.counts.iter().sum::<u32>();
        assert_eq!(all.sessions.len(), SESSIONS_MAX);
        assert_eq!(all.sessions.iter().map(count).max(), Some(1));
        assert_eq!(all.others.as_ref().map(count), Some(76));
        let marks: Vec<&Mark> = all.sessions.iter().flat_map(|it| &it.marks).collect();
        assert_eq!(marks, [&Mark { part: 0, anomaly: 0 }; 2]);
        assert_eq!((all.span, all.timeless), (None, 0));
    }
}
