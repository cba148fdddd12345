//! Lost writes: what a database has acknowledged, and what is gone in the end.
//!
//! A register in the end holds what its last writer wrote. If a transaction that wrote another
//! value was acknowledged, and began after the writer of the last value had ended, then its write
//! has vanished: no order of the transactions that agrees with real time has it where it was
//! acknowledged. A list has lost what was appended to it for certain and is not in it.

use std::collections::BTreeMap;

/// What a transaction wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// A value to a register.
    Register(u64, i64),
    /// A value to the end of a list.
    Append(u64, i64),
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

/// All that is lost.
pub(crate) fn lost_writes(acknowledged: &[Acknowledged], finals: &[Final]) -> Vec<LostWrite> {
    let mut lost = Vec::new();
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
}
