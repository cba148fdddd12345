//! Where a client may be held while the others go on: before each statement that names a table that
//! somebody writes, as a run without anything weak has shown them.

use crate::run::Run;
use seriatim_history::{Atom, History, OpKind, SessionId, TxnId};
use seriatim_server::holding::AtOne;
use seriatim_sql::parse::shape;
use std::collections::{BTreeMap, BTreeSet};

/// So many places are tried in turn.
const POINTS_MAX: usize = 500;

/// A place in a session.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HoldPoint {
    /// The shape of the statement.
    pub shape: String,
    /// How many statements of this shape the session has sent before.
    pub number: u32,
}

impl HoldPoint {
    pub(crate) fn holder(&self) -> AtOne {
        AtOne::new(self.shape.clone(), self.number)
    }
}

impl Run {
    /// The places where it pays to hold a client, each once, in the order of the run.
    pub fn hold_points(&self) -> Vec<HoldPoint> {
        points(&self.history)
    }
}

fn points(history: &History) -> Vec<HoldPoint> {
    let written = written_tables(history);
    let (mut known, mut all) = (BTreeSet::new(), Vec::new());
    for session in (0..history.session_count() as u32).map(SessionId) {
        let mut sent: BTreeMap<String, u32> = BTreeMap::new();
        let txns = history.txns_of(session).map(TxnId);
        for statement in txns.flat_map(|txn| history.statements_of(txn)) {
            let text = &statement.content.text;
            if !written.iter().any(|table| text.contains(table.as_str())) {
                continue;
            }
            let shape = shape(text);
            let number = sent.entry(shape.clone()).or_default();
            let point = HoldPoint { shape, number: *number };
            *number += 1;
            if known.insert(point.clone()) && all.len() < POINTS_MAX {
                all.push(point);
            }
        }
    }
    all
}

/// The tables that were written: a cell is called `item[7].stock`, the rows of a key
/// `item(name='x')`.
fn written_tables(history: &History) -> BTreeSet<String> {
    let writes = (0..history.op_count()).filter(|&op| history.kinds()[op] != OpKind::Read);
    let keys: BTreeSet<_> = writes.map(|op| history.keys()[op]).collect();
    let table = |name: &str| {
        let end = name.find(['[', '(', '.']).unwrap_or(name.len());
        name[..end].to_owned()
    };
    let names = keys.into_iter().filter_map(|key| match history.key_name(key) {
        Atom::Str(name) => Some(table(&name)),
        _ => None,
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// Goes through all of so many places, those that follow each other far apart.
pub(crate) fn place(turn: u64, seed: u64, count: usize) -> usize {
    let count = count as u64;
    let mut step = count * 5 / 8 + 1;
    while common_divisor(step, count) > 1 {
        step += 1;
    }
    ((seed % count + turn % count * step) % count) as usize
}

fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::formats::{ReadOptions, read_bytes};

    #[test]
    fn every_place_has_its_turn() {
        for count in 1..60 {
            for seed in [0, 7, u64::MAX] {
                let all: BTreeSet<usize> =
                    (0..count as u64).map(|turn| place(turn, seed, count)).collect();
                assert_eq!(all.len(), count, "{count}");
            }
        }
    }

    #[test]
    fn clients_are_held_before_statements_that_name_what_is_written() {
        let statement = |sql: &str, first: u32, ops: u32| {
            format!("{{\"sql\":\"{sql}\",\"first\":{first},\"ops\":{ops},\"done\":\"\"}}")
        };
        let line = |session: u32| {
            let look = |row: u32| format!("SELECT stock FROM item WHERE id = {row}");
            let all = [
                statement(&look(1), 0, 1),
                statement(&look(2), 1, 1),
                statement("SELECT name FROM person", 2, 1),
                statement("UPDATE item SET stock = 0 WHERE id = 1", 3, 1),
            ];
            let ops = format!(
                "[\"r\",\"item[1].stock\",null],[\"r\",\"item[2].stock\",null],\
                 [\"r\",\"person[1].name\",null],[\"w\",\"item[1].stock\",\"{session}\"]"
            );
            let all = all.join(",");
            format!("{{\"session\":\"{session}\",\"ops\":[{ops}],\"statements\":[{all}]}}\n")
        };
        let text = format!("{{\"seriatim\":1}}\n{}{}", line(0), line(1));
        let bytes = text.into_bytes();
        let (history, _) = read_bytes(&bytes, "the run", &ReadOptions::default()).unwrap();
        let look = shape("SELECT stock FROM item WHERE id = 1");
        let update = shape("UPDATE item SET stock = 0 WHERE id = 1");
        let expected = [(&look, 0), (&look, 1), (&update, 0)];
        let expected = expected.map(|(shape, number)| HoldPoint { shape: shape.clone(), number });
        assert_eq!(points(&history), expected);
    }
}
