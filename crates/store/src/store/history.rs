//! What has happened in a store, for those who check it.

use super::Store;
use crate::atoms::ToAtom;
use crate::clock::RunningClock;
use crate::log::State;
use crate::ranges::Group;
use crate::record::{self, Told};
use crate::scanned::GroupNames;
use seriatim_history::History;

impl<V: ToAtom> Store<V> {
    /// What has happened so far. Values that were written twice to a key are told apart by a
    /// number.
    pub fn history(&self) -> History {
        self.history_on(|_, _| None)
    }

    /// The same where the initial values of members are kept elsewhere: `base` knows that of a
    /// member of a group. It is called while the store is locked and must not use it.
    pub fn history_on(&self, base: impl Fn(Group, u32) -> Option<V>) -> History {
        let mut inner = self.0.lock();
        let now = inner.clock.as_mut().map(RunningClock::now);
        let inner = inner;
        let all = inner.engine.log.txns.iter().zip(inner.events.iter());
        let remembered = all.filter(|((_, record), _)| record.state != State::Settled);
        let txns = remembered.map(|((number, record), (_, events))| Told {
            times: now.map(|now| ended_by(inner.times[number], record.state, now)),
            number: number as u32,
            session: inner.txn_names[number].session,
            state: record.state,
            events: events.list(),
            writes_only: inner.horizon.is_some() && record.state == State::Aborted,
        });
        let unit = inner.clock.as_ref().map(RunningClock::unit).unwrap_or_default();
        let keys = 0..inner.names.count() as u32;
        let names = keys.clone().map(|key| inner.names.shown(key)).collect();
        let initial = keys.filter_map(|key| {
            let atom = match &inner.initial[key as usize] {
                Some(value) => value.to_atom(),
                None => {
                    let (group, member) = inner.names.member(key)?;
                    base(group, member)?.to_atom()
                }
            };
            Some((key, atom))
        });
        let groups = GroupNames { groups: &inner.engine.log.groups, names: &inner.names };
        record::history(names, groups, initial, inner.clients.len() as u32, txns)
            .with_time_unit(unit)
    }
}

/// The times of a transaction, of whose end its client may not have been told yet.
fn ended_by((begun, ended): (i64, i64), state: State, now: i64) -> (i64, i64) {
    if state == State::Open { (begun, ended) } else { (begun, ended.min(now)) }
}
