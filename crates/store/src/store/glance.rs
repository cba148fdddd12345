//! What goes on in a store right now, for somebody who looks at it. Costs no more than what is
//! shown, however much the store remembers.

use super::{Client, Inner, Store, shown_value};
use crate::atoms::ToAtom;
use crate::chooser::TxnName;
use crate::log::State;
use crate::past::INITIAL;
use crate::recorded::Recorded;
use seriatim_history::StatementContent;
use seriatim_isolation::Level;
use std::cmp::Reverse;
use std::sync::Arc;

/// The last transactions of a store.
#[derive(Clone, Debug, Default)]
pub struct Glance {
    /// How many transactions have begun.
    pub begun: u64,
    /// How many sessions there have been.
    pub sessions: u32,
    /// Those that are there, by their numbers; if they are many, those that have an open
    /// transaction or began one last.
    pub present: Vec<SeenSession>,
    /// How many others are there.
    pub others: usize,
    /// The last of them that began, and all that are open, in the order of their begins.
    pub txns: Vec<Seen>,
}

/// A session that somebody looks at.
#[derive(Clone, Debug)]
pub struct SeenSession {
    /// Its number.
    pub number: u32,
    /// How many transactions it has begun.
    pub begun: u32,
    /// The one that is open.
    pub open: Option<TxnName>,
    /// The statement that began last, if its last transaction is remembered and has one.
    pub statement: Option<Arc<StatementContent>>,
}

/// A transaction that somebody looks at.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its session and its number in it.
    pub name: TxnName,
    /// Its level.
    pub level: Level,
    /// Whether it committed; `None` while it is open.
    pub committed: Option<bool>,
    /// The statement that began last, if it is divided into statements.
    pub statement: Option<Arc<StatementContent>>,
    /// The last of its operations.
    pub ops: Vec<SeenOp>,
    /// How many operations came before these.
    pub ops_before: usize,
}

/// An operation that somebody looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenOp {
    /// A read of what others wrote.
    Read {
        /// The key.
        key: String,
        /// What it returned; `None` if the key holds nothing.
        value: Option<String>,
        /// Who wrote that; `None` for the initial state.
        writer: Option<TxnName>,
    },
    /// A read of its own last write.
    OwnRead {
        /// The key.
        key: String,
    },
    /// A write.
    Write {
        /// The key.
        key: String,
        /// What it wrote; `None` if the key holds nothing from then on.
        value: Option<String>,
    },
}

/// So many sessions are told of.
const SESSIONS_MAX: usize = 24;

impl<V: ToAtom> Store<V> {
    /// The last `txns_max` transactions and those that are open, each with its last `ops_max`
    /// operations.
    pub fn glance(&self, txns_max: usize, ops_max: usize) -> Glance {
        let inner = self.0.lock();
        let next = inner.events.next();
        let first = next.saturating_sub(txns_max);
        let open = inner.clients.iter().filter_map(|client| client.open);
        let mut numbers: Vec<usize> =
            open.map(|txn| txn as usize).filter(|&txn| txn < first).chain(first..next).collect();
        numbers.sort_unstable();
        let txns = numbers.into_iter().filter_map(|number| inner.seen(number, ops_max)).collect();
        let (present, others) = inner.present();
        Glance { begun: next as u64, sessions: inner.clients.len() as u32, present, others, txns }
    }
}

impl<V: ToAtom> Inner<V> {
    /// The sessions that are there, and how many more.
    fn present(&self) -> (Vec<SeenSession>, usize) {
        let clients = self.clients.iter().enumerate();
        let mut present: Vec<(usize, &Client)> =
            clients.filter(|(_, client)| client.open.is_some() || !client.is_gone).collect();
        let others = present.len().saturating_sub(SESSIONS_MAX);
        if others > 0 {
            let rank = |client: &Client| Reverse((client.open.is_some(), client.last));
            present.select_nth_unstable_by_key(SESSIONS_MAX, |(_, client)| rank(client));
            present.truncate(SESSIONS_MAX);
            present.sort_unstable_by_key(|(number, _)| *number);
        }
        let seen = present.into_iter().map(|(number, client)| {
            let name = |txn: u32| self.txn_names.get(txn as usize).copied();
            let events = client.last.and_then(|txn| self.events.get(txn as usize));
            SeenSession {
                number: number as u32,
                begun: client.begun,
                open: client.open.and_then(name),
                statement: events.and_then(|events| events.last_statement()).cloned(),
            }
        });
        (seen.collect(), others)
    }

    /// A transaction, unless it was forgotten.
    fn seen(&self, number: usize, ops_max: usize) -> Option<Seen> {
        let record = self.engine.log.txns.get(number)?;
        let events = self.events.get(number)?;
        let ops = events.list().iter().filter(|event| {
            matches!(
                event,
                Recorded::Read { .. } | Recorded::OwnRead { .. } | Recorded::Write { .. }
            )
        });
        let ops_before = ops.clone().count().saturating_sub(ops_max);
        Some(Seen {
            name: *self.txn_names.get(number)?,
            level: record.level,
            committed: match record.state {
                State::Open => None,
                State::Committed | State::Settled => Some(true),
                State::Withdrawn | State::Aborted => Some(false),
            },
            statement: events.last_statement().cloned(),
            ops: ops.skip(ops_before).filter_map(|event| self.seen_op(event)).collect(),
            ops_before,
        })
    }

    fn seen_op(&self, event: &Recorded<V>) -> Option<SeenOp> {
        let name = |key: u32| self.names.shown(key).to_string();
        Some(match event {
            Recorded::Read { key, source } => SeenOp::Read {
                key: name(*key),
                value: shown_value(super::value(&self.initial, &self.events, *source, *key)),
                writer: (*source != INITIAL)
                    .then(|| self.txn_names.get(*source as usize).copied())
                    .flatten(),
            },
            Recorded::OwnRead { key } => SeenOp::OwnRead { key: name(*key) },
            Recorded::Write { key, value } => {
                SeenOp::Write { key: name(*key), value: shown_value(value.as_ref()) }
            }
            Recorded::Range(_) | Recorded::Asked | Recorded::Statement(_) => return None,
        })
    }
}
