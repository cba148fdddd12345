//! Lost writes: what a database has acknowledged, and what is gone in the end.
//!
//! A register in the end holds what its last writer wrote. If a transaction that wrote another
//! value was acknowledged, and began after the writer of the last value had ended, then its write
//! has vanished: no order of the transactions that agrees with real time has it where it was
//! acknowledged. A list has lost what was appended to it for certain and is not in it. A row is
//! inserted once: it has vanished if nobody has perhaps deleted it, and come back if somebody has
//! for certain.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many lost writes of a round are named.
const NAMED_MAX: usize = 100;

/// What a transaction wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// A value to a register.
    Register(u64, i64),
    /// A value to the end of a list.
    Append(u64, i64),
    /// A row, with what it holds.
    Insert(u64, i64),
    /// A row that was there and is no more.
    Delete(u64),
}

/// A transaction that wrote, and that perhaps committed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acknowledged {
    pub begin: u64,
    pub end: u64,
    /// Whether it committed for certain.
    pub is_certain: bool,
    pub writes: Vec<Written>,
}

/// What is there in the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Final {
    /// What a register holds.
    Register(u64, Option<i64>),
    /// What a list holds.
    List(u64, Vec<i64>),
    /// What a row holds, if it is there.
    Row(u64, Option<i64>),
}

/// A write that was acknowledged and is gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostWrite {
    /// The register, or the list.
    pub key: String,
    /// What was written.
    pub value: i64,
    /// When it was acknowledged, in nanoseconds since the audit began.
    pub acknowledged: u64,
}

/// What is gone at the end of a round.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Losses {
    pub count: u64,
    /// The first of them.
    pub named: Vec<LostWrite>,
    /// Whether something is missing of which nobody can say that it is gone for good.
    pub is_unread: bool,
}

impl Losses {
    /// All of these.
    pub fn of(mut lost: Vec<LostWrite>) -> Losses {
        let count = lost.len() as u64;
        lost.truncate(NAMED_MAX);
        Losses { count, named: lost, is_unread: false }
    }

    pub fn json(&self) -> Value {
        let named = self.named.iter().map(|it| json!([it.key, it.value, it.acknowledged]));
        json!({
            "count": self.count,
            "named": named.collect::<Vec<_>>(),
            "undecided": self.is_unread,
        })
    }

    pub fn from_json(value: &Value) -> Losses {
        let named = |it: &Value| {
            let (key, value) = (it[0].as_str()?.to_owned(), it[1].as_i64()?);
            Some(LostWrite { key, value, acknowledged: it[2].as_u64()? })
        };
        let all = value["named"].as_array().into_iter().flatten();
        Losses {
            count: value["count"].as_u64().unwrap_or_default(),
            named: all.filter_map(named).take(NAMED_MAX).collect(),
            is_unread: value["undecided"].as_bool().unwrap_or_default(),
        }
    }
}

/// All that is lost.
pub(crate) fn lost_writes(acknowledged: &[Acknowledged], finals: &[Final]) -> Vec<LostWrite> {
    let mut lost = lost_rows(acknowledged, finals);
    for found in finals {
        match found {
            Final::Register(register, value) => {
                let ended = ends(acknowledged, *register, *value);
                let writes = of_register(acknowledged, *register);
                let later = writes.filter(|(txn, _)| txn.is_certain && txn.begin > ended);
                lost.extend(later.map(|(txn, value)| LostWrite {
                    key: register.to_string(),
                    value,
                    acknowledged: txn.end,
                }));
            }
            Final::List(list, values) => lost.extend(not_in(acknowledged, *list, values)),
            // All of them at once.
            Final::Row(..) => {}
        }
    }
    lost
}

/// Rows that are not there although they should be, and the other way round.
fn lost_rows(acknowledged: &[Acknowledged], finals: &[Final]) -> Vec<LostWrite> {
    let (mut inserted, mut deleted) = (BTreeMap::new(), BTreeMap::new());
    let mut perhaps_deleted = BTreeSet::new();
    for txn in acknowledged {
        for write in &txn.writes {
            match write {
                Written::Insert(row, value) if txn.is_certain => {
                    inserted.insert(*row, (*value, txn.end));
                }
                Written::Delete(row) => {
                    perhaps_deleted.insert(*row);
                    if txn.is_certain {
                        deleted.insert(*row, txn.end);
                    }
                }
                _ => {}
            }
        }
    }
    let mut lost = Vec::new();
    for found in finals {
        let Final::Row(row, found) = found else { continue };
        match (found, inserted.get(row), deleted.get(row)) {
            (None, Some(&(value, acknowledged)), _) if !perhaps_deleted.contains(row) => {
                lost.push(LostWrite { key: format!("row {row}"), value, acknowledged });
            }
            (Some(value), _, Some(&acknowledged)) => {
                let key = format!("deletion of row {row}");
                lost.push(LostWrite { key, value: *value, acknowledged });
            }
            _ => {}
        }
    }
    lost
}

/// The last value that each transaction wrote to a register.
fn of_register(all: &[Acknowledged], register: u64) -> impl Iterator<Item = (&Acknowledged, i64)> {
    all.iter().filter_map(move |txn| {
        let own = txn.writes.iter().rev().find_map(|write| match write {
            Written::Register(it, value) if *it == register => Some(*value),
            _ => None,
        });
        own.map(|value| (txn, value))
    })
}

/// When the writer of what is there in the end ended, at the latest.
fn ends(all: &[Acknowledged], register: u64, value: Option<i64>) -> u64 {
    let Some(value) = value.filter(|value| *value != 0) else { return 0 };
    let writers = of_register(all, register).filter(|(_, own)| *own == value);
    // Of a writer that nobody knows of, or that may have committed at any time, nothing is said.
    let end = |txn: &Acknowledged| if txn.is_certain { txn.end } else { u64::MAX };
    writers.map(|(txn, _)| end(txn)).max().unwrap_or(u64::MAX)
}

fn not_in(all: &[Acknowledged], list: u64, values: &[i64]) -> Vec<LostWrite> {
    let mut missing = BTreeMap::new();
    for txn in all.iter().filter(|txn| txn.is_certain) {
        for write in &txn.writes {
            if let Written::Append(it, value) = write
                && *it == list
            {
                missing.insert(*value, txn.end);
            }
        }
    }
    missing.retain(|value, _| !values.contains(value));
    let told =
        |(value, acknowledged)| LostWrite { key: format!("list {list}"), value, acknowledged };
    missing.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn txn(begin: u64, end: u64, value: i64) -> Acknowledged {
        let writes = vec![Written::Register(1, value)];
        Acknowledged { begin, end, is_certain: true, writes }
    }

    fn lost(all: &[Acknowledged], value: Option<i64>) -> Vec<i64> {
        let found = lost_writes(all, &[Final::Register(1, value)]);
        found.into_iter().map(|lost| lost.value).collect()
    }

    #[test]
    fn what_was_overwritten_is_not_lost_and_what_vanished_is() {
        let all = [txn(1, 2, 10), txn(3, 4, 20)];
        assert!(lost(&all, Some(20)).is_empty());
        assert_eq!(lost(&all, Some(10)), [20]);
        assert_eq!(lost(&all, Some(0)), [10, 20]);
        assert_eq!(lost(&all, None), [10, 20]);
        // Those that overlap may have any order.
        assert!(lost(&[txn(1, 4, 10), txn(3, 5, 20)], Some(10)).is_empty());
    }

    #[test]
    fn of_unknown_outcomes_nothing_is_said() {
        let mut open = txn(1, 2, 10);
        open.is_certain = false;
        assert!(lost(&[open.clone(), txn(3, 4, 20)], Some(10)).is_empty());
        assert!(lost(&[open], Some(0)).is_empty());
        assert!(lost(&[txn(3, 4, 20)], Some(77)).is_empty());
    }

    #[test]
    fn a_list_has_lost_what_is_not_in_it() {
        let writes = vec![Written::Append(3, 7), Written::Append(3, 8)];
        let all = [Acknowledged { begin: 1, end: 2, is_certain: true, writes }];
        let found = lost_writes(&all, &[Final::List(3, vec![7])]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].value, found[0].key.as_str()), (8, "list 3"));
    }

    #[test]
    fn a_row_is_lost_if_nobody_has_perhaps_deleted_it() {
        let rows = |all: &[(bool, Written)], found| {
            let txn = |(is_certain, write): &(bool, Written)| {
                let writes = vec![*write];
                Acknowledged { begin: 1, end: 2, is_certain: *is_certain, writes }
            };
            let all: Vec<Acknowledged> = all.iter().map(txn).collect();
            let lost = lost_writes(&all, &[Final::Row(5, found)]);
            lost.into_iter().map(|lost| lost.key).collect::<Vec<_>>()
        };
        let (insert, delete) = (Written::Insert(5, 70), Written::Delete(5));
        assert_eq!(rows(&[(true, insert)], None), ["row 5"]);
        assert!(rows(&[(true, insert)], Some(70)).is_empty());
        assert!(rows(&[(false, insert)], None).is_empty());
        assert!(rows(&[(true, insert), (false, delete)], None).is_empty());
        assert!(rows(&[(true, insert), (true, delete)], None).is_empty());
        assert_eq!(rows(&[(true, insert), (true, delete)], Some(70)), ["deletion of row 5"]);
        assert!(rows(&[(true, insert), (false, delete)], Some(70)).is_empty());
    }

    #[test]
    fn losses_are_the_same_after_they_were_written_down() {
        let write = LostWrite { key: "row 5".to_owned(), value: -7, acknowledged: 9 };
        let losses = Losses { is_unread: true, ..Losses::of(vec![write; 3]) };
        assert_eq!(Losses::from_json(&losses.json()), losses);
        assert_eq!(Losses::from_json(&Value::Null), Losses::default());
        let many = LostWrite { key: "1".to_owned(), value: 0, acknowledged: 0 };
        let losses = Losses::of(vec![many; 1000]);
        assert_eq!((losses.count, losses.named.len()), (1000, NAMED_MAX));
    }
}
